"""What a fit costs in a currency that adds up however the next fit was chosen.

A fit costs (mu, d0) if its privacy profile is at most ``d0 + (1 - d0) * delta_mu(epsilon)`` for
every epsilon >= 0 and in both directions, where delta_mu is that of mu-Gaussian privacy. It is
then post-processing of one mu-Gaussian release and of an erasure, which reveals everything with
probability d0. Squares of mu and logarithms of 1 - d0 add up also where each fit is chosen from
the results of those before it. The proof is in the documentation, "theory/ledger".
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np
from scipy.special import log_expit, ndtri_exp

from skdp._checks import check_fields, check_within, check_word
from skdp.accountant._calibration import calibrate
from skdp.accountant._events import (
    ErasureEvent,
    GaussianEvent,
    check_not_negative,
    joint_erasure,
    total,
)
from skdp.accountant._loss_distribution import smallest_pld_delta
from skdp.accountant._profile import ADJACENCIES, build_profile, epsilon_of, full_batch_mu
from skdp.accountant._selection_event import both_directions, checked_releases

# Share of a budget's delta that is kept for erasures, and share of that for one Poisson fit: 200
# of these can be charged. Full batches lose some 0.1 % of epsilon by it, ten usual Poisson fits of
# rates from 0.01 on a few percent, and rare large losses much more with any share.
ERASURE_SHARE, FIT_SHARE = 0.02, 0.005
# Share of mu that one more line may save.
_TOLERANCE = 2e-4
_MAX_LINES = 200
_SMALLEST_EPSILON, _LARGEST_EPSILON = 1e-12, 1e12
# Relative and absolute margins of mu: quantiles are accurate to a few units in the last place, and
# what they are taken of to 1e-14, which is less than this in them.
_ROUNDING, _ABSOLUTE_ROUNDING = 1e-9, 1e-12


@dataclass(frozen=True)
class GaussianCost:
    """What is spent or may be spent: a Gaussian release, and the probability of an erasure."""

    mu: float
    erasure: float = 0.0

    def __post_init__(self):
        check_fields(self, mu=check_not_negative, erasure=partial(check_within, low=0.0, high=1.0))

    def __add__(self, other):
        if not isinstance(other, GaussianCost):
            return NotImplemented
        erasure = joint_erasure((self.erasure, other.erasure))
        return GaussianCost(math.hypot(self.mu, other.mu), erasure)

    def is_within(self, budget):
        """Return whether both numbers are at most those of a budget, up to rounding.

        Only for a budget that was fixed beforehand in both numbers: whoever chooses, from results,
        which of two budgets to exhaust may learn more than with either.
        """
        slack = 1 + _ROUNDING
        return self.mu <= budget.mu * slack and self.erasure <= budget.erasure * slack

    def events(self):
        """Events that cost this, for a report; none if nothing is spent."""
        gaussian = (GaussianEvent(1 / self.mu, pairwise=True),) if self.mu > 0 else ()
        return gaussian + ((ErasureEvent(self.erasure),) if self.erasure > 0 else ())

    def epsilon(self, delta):
        """Epsilon at a delta; infinite where delta is below the erasure's probability."""
        return epsilon_of(self.events(), "zero_out", "analytic", delta)


class ErasureTooSmallError(ValueError):
    """The cost of releases can't be computed beside an erasure below `least`, if it can at all."""

    def __init__(self, message, least):
        super().__init__(message)
        self.least = least


def gaussian_budget(epsilon, delta, erasure=None):
    """Largest cost that gives (epsilon, delta), with a default share of delta for erasures.

    Both numbers of it are to be fixed before the first release: a budget of epsilon and delta
    alone, met by any mu and erasure, is not private where the analyst chooses between the two.
    Whatever `is_within` the cost is (epsilon, delta)-private. A Poisson fit may spend the share
    `FIT_SHARE` of its erasure.
    """
    delta = check_within(delta, "delta", 0.0, 1.0)
    erasure = ERASURE_SHARE * delta if erasure is None else erasure
    erasure = check_within(erasure, "erasure", 0.0, delta)
    rest = (delta - erasure) / (1 - erasure) * (1 - 2 * _ROUNDING)
    noise = calibrate(epsilon, rest, pairwise=True)
    return GaussianCost((1 - 2 * _ROUNDING) / noise if noise > 0 else math.inf, erasure)


def cost_of_report(report, adjacency, *, erasure):
    """Cost of what a report says was released, for a budget of some adjacency.

    It is that of the events; what the report states beside them is not believed. A budget of
    "zero_out" takes reports of "replace_one" at what their events cost when a record is nulled:
    contributions lie in a ball that holds zero. In the other direction a distance between
    neighbours' values counts twice, for a record that goes and one that comes.
    """
    return gaussian_cost(events_under(report, adjacency), adjacency, erasure=erasure)


def events_under(report, adjacency):
    """Events of a report as they are accounted under an adjacency, see `cost_of_report`."""
    events = checked_releases(report.events)
    if report.adjacency != adjacency:
        if "replace_label" in (report.adjacency, adjacency):
            raise ValueError("of release and budget, one protects a label, the other a record.")
        if adjacency == "replace_one":
            events = both_directions(events)
    return events


def gaussian_cost(events, adjacency, *, erasure):
    """Least mu that events cost beside an erasure, a probability in [0, 1).

    The erasure is spent where batches are Poisson samples or trials are repeated, and nowhere else;
    an `ErasureTooSmallError` says that no mu can be computed with it. Full batches have their own
    mu. Of each pure release it is that of randomised response, which dominates it. Of Poisson
    batches it is about 0.02 % above the least that their accountant's profile allows; 0.2 % from
    mu = 10 on, and more beyond 16, where deltas round to 1. Erasures among the events are added.
    """
    check_word(adjacency, "adjacency", ADJACENCIES)
    erasure = check_within(erasure, "erasure", 0.0, 1.0, "[)")
    events = checked_releases(tuple(events))
    # Only a distance between neighbours' values says how far a label moves them.
    if adjacency == "replace_label" and not all(event.pairwise for event in events):
        raise ValueError("adjacency='replace_label' needs pairwise Gaussian events.")
    return _gaussian_cost(events, adjacency, erasure)


@lru_cache(maxsize=1024)
def _gaussian_cost(events, adjacency, erasure):
    spent = GaussianCost(0.0, joint_erasure(event.erasure for event in events))
    if any(event.noise_multiplier == 0 for event in events):
        return spent + GaussianCost(math.inf)
    noisy = [event for event in events if event.noise_multiplier < math.inf]
    pure = [event for event in noisy if event.is_pure]
    full = [event for event in noisy if full_batch_mu((event,), adjacency) is not None]
    others = tuple(event for event in noisy if event not in (*pure, *full))
    spent += GaussianCost(full_batch_mu(full, adjacency))
    spent += GaussianCost(math.sqrt(total(_squared_pure_mu(event, adjacency) for event in pure)))
    if others:
        # The profile of trials includes the erasure inside them, and falls to no less.
        inside = (getattr(event, "erasure_inside", 0.0) for event in others)
        erasure = joint_erasure((erasure, *inside))
        profile = _numerical_profile(others, adjacency, erasure)
        spent += GaussianCost(dominating_mu(profile, erasure), erasure)
    return spent


def _squared_pure_mu(event, adjacency):
    """Sum over the steps of a pure event of the squares of what each costs."""
    return event.n_steps * pure_mu(replace(event, n_steps=1).epsilon(adjacency)) ** 2


def pure_mu(epsilon):
    """Mu of a Gaussian release that dominates every release of (epsilon, 0)."""
    # The power curve of randomised response is two lines, and that of a Gaussian is concave: it is
    # above them if it is at the corner, where both kinds of error have probability 1 / (1 + e^eps).
    return -2.0 * float(ndtri_exp(log_expit(-epsilon))) * (1 + _ROUNDING)


def _numerical_profile(events, adjacency, erasure):
    """Profile that falls to an erasure: of loss distributions, and for less of Renyi moments."""
    n_steps = sum(event.n_steps for event in events)
    least = smallest_pld_delta(n_steps)
    methods = ["pld"] if least < math.inf else []
    if erasure < least:
        has_moments = all(type(event) is GaussianEvent for event in events)
        if adjacency == "replace_one" or erasure == 0 or not has_moments:
            raise ErasureTooSmallError(
                f"Poisson batches and searches of {n_steps} steps need an erasure of at least "
                f"{least:.2g}, got {erasure!r}: below it their profile can't be computed.",
                least,
            )
        methods.append("rdp")
    profiles = [build_profile(events, adjacency, method) for method in methods]
    return lambda epsilon: min(profile.delta(epsilon) for profile in profiles)


def dominating_mu(profile, erasure):
    """Least mu such that a mu-Gaussian release and an erasure dominate a privacy profile.

    It is infinite where the profile never falls to the erasure. The profile gives, of an epsilon of
    at least 0, a delta for both directions; it need be neither continuous nor monotone. Every pair
    (epsilon, delta) bounds the power of a test of level alpha by ``delta + exp(epsilon) * alpha``,
    and by that line's mirror image. The power curve of a Gaussian beside an erasure is concave and
    its own mirror image. So it is above the least of finitely many such lines if it is at the
    corners where they meet, however far apart these are, and at a corner mu has a closed form.
    Lines that were not asked for can only make mu smaller.
    """

    def delta_at(epsilon):
        delta = float(profile(epsilon))
        return 1.0 if math.isnan(delta) else min(max(delta, 0.0), 1.0)

    deltas = {0.0: delta_at(0.0)}
    # Deltas fall at an epsilon that is a few times the first one.
    epsilon = min(max(deltas[0.0], _SMALLEST_EPSILON), 1.0)
    while min(deltas.values()) > erasure:
        if epsilon > _LARGEST_EPSILON:
            return math.inf
        deltas[epsilon] = delta_at(epsilon)
        epsilon *= 2
    for _ in range(_MAX_LINES):
        mu, epsilon, bound, slope = _worst_corner(deltas, erasure)
        if not 0 < mu < math.inf or epsilon in deltas:
            break
        deltas[epsilon] = delta_at(epsilon)
        if bound - deltas[epsilon] <= _TOLERANCE * mu * slope:
            break
    return mu * (1 + _ROUNDING) + _ABSOLUTE_ROUNDING if mu > 0 else 0.0


def _worst_corner(deltas, erasure):
    """Largest mu that a corner of the least of some lines, a dict by epsilon, needs.

    With it are returned epsilon and delta of the line that touches the curve of this mu at the
    corner, and the derivative of its delta by mu.
    """
    epsilons, deltas, log_levels = _least_lines(sorted(deltas.items()))
    with np.errstate(divide="ignore"):
        # Where the least line meets its mirror image, and power is 1 - level.
        diagonal = np.max(np.log1p(-deltas) - np.logaddexp(0.0, epsilons))
        powers = deltas[1:] - np.diff(deltas) / -np.expm1(-np.diff(epsilons))
        is_before = powers + np.exp(log_levels) < 1
        log_levels = np.append(log_levels[is_before], diagonal)
        powers = np.append(powers[is_before], -np.expm1(diagonal))
        # Powers and levels from here on are those where nothing is revealed.
        rest = math.log1p(-erasure)
        log_powers = np.log(np.maximum(powers * (1 + 1e-14) - erasure, 0.0)) - rest
        log_misses = np.append(np.log1p(-powers[:-1]), diagonal) - rest
    starts = ndtri_exp(np.minimum(log_levels - rest, 0.0))
    ends = np.where(
        powers < 0.5,
        ndtri_exp(np.minimum(log_powers, 0.0)),
        -ndtri_exp(np.minimum(log_misses, 0.0)),
    )
    worst = int(np.argmax(ends - starts))
    start, end = float(starts[worst]), float(ends[worst])
    mu = end - start
    # The logarithm of the curve's slope.
    epsilon = max(-mu * (start + mu / 2), 0.0)
    bound = float(powers[worst]) - math.exp(epsilon + float(log_levels[worst]))
    return mu, epsilon, bound, math.exp(rest - end**2 / 2) / math.sqrt(2 * math.pi)


def _least_lines(lines):
    """Of lines, ascending in epsilon, those that are the least at some level.

    The last array has the logarithms of the levels at which each meets its next; they descend.
    """
    kept, met = lines[:1], []
    for epsilon, delta in lines[1:]:
        if delta >= kept[-1][1]:
            continue
        level = _log_meeting(kept[-1], epsilon, delta)
        while met and level >= met[-1]:
            kept.pop()
            met.pop()
            level = _log_meeting(kept[-1], epsilon, delta)
        kept.append((epsilon, delta))
        met.append(level)
    epsilons, deltas = np.array(kept).T
    return epsilons, deltas, np.array(met)


def _log_meeting(line, epsilon, delta):
    """Logarithm of the level at which a line meets a steeper one of a smaller delta."""
    return math.log(line[1] - delta) - epsilon - math.log(-math.expm1(line[0] - epsilon))
