"""What a budget allows: scalars in, scalars and refusals out.

The proof is in the documentation, "theory/ledger". A fit costs a pair (mu, erasure). Squares of mu
add up, and so do erasures. Both have a limit of their own, fixed with the budget: a limit on the
epsilon that the two come to could be exceeded by an analyst who decides, after looking, which of
the two to spend the rest on.
"""

import math
from dataclasses import dataclass
from functools import cached_property

from skdp._checks import check_within
from skdp.accountant import (
    ErasureEvent,
    LaplaceEvent,
    PrivacyReport,
    RandomizedResponseEvent,
    calibrate,
)
from skdp.accountant._calibration import gaussian_mu
from skdp.accountant._filter import (
    ERASURE_SHARE,
    FIT_SHARE,
    ErasureTooSmallError,
    GaussianCost,
    cost_of_report,
    gaussian_budget,
    pure_mu,
)
from skdp.accountant._report import PART_OF_GROUP
from skdp.exceptions import LedgerError

ORIENTATION = (
    "the amount spent is for orientation; the guarantee is the budget, spent or not, because an "
    "analyst who sees the results may choose when to stop"
)
_ASSUMED_PUBLIC = (
    "what the privacy_report_ of each fit assumes to be public (the file has what was known before "
    "the fit, and not what it read, such as the set of classes)",
    "that no record was shown to two calls of partial_fit of one stream, which is charged once",
)
_NOT_COVERED = (
    "fits that weren't charged to this ledger, and those charged to copies or restored backups",
    "methods that make the number of rows of a fit depend on the data, such as "
    "SelfTrainingClassifier and OneVsOneClassifier: their charges add up, and guarantee nothing",
    "folds or parts that were chosen by reading the records, such as stratified ones",
    "repeated rows in a fit, as in bootstrap samples: k copies cost what a group of k does",
    "scores on private records, cross-validation's included: they carry no noise",
    "preprocessing fitted on the same records, and running time and memory use",
    "steps of charged fits that learnt without privacy: the report of each fit names them, but not "
    "one that skdp 0.3.0 made; find out from your programs whether there were any",
)
_MANY = 10**9
# Relative slack from (epsilon, delta) to the limits, which then round to the private side.
_ROUNDING = 2e-9


class Epsilon(float):
    """An epsilon, as a float, and the delta at which it is meant."""

    def __new__(cls, epsilon, delta):
        number = super().__new__(cls, epsilon)
        number.delta = delta
        return number

    @property
    def epsilon(self):
        """The epsilon as a plain float."""
        return float(self)

    def __reduce__(self):
        return Epsilon, (self.epsilon, self.delta)


@dataclass(frozen=True)
class Terms:
    """A budget as it stands in the file, with a salt for hashes of seeds.

    How far erasures may add up is fixed with it, before the first release.
    """

    epsilon: float
    delta: float
    erasure: float
    adjacency: str
    unit: str
    allow_seeds: bool
    salt: str

    @cached_property
    def limits(self):
        """The largest sums, as a `GaussianCost`."""
        if self.epsilon == 0 or self.delta <= self.erasure:  # lowered by hand
            return GaussianCost(0.0)
        rest = (self.delta - self.erasure) / (1 - self.erasure) * (1 - _ROUNDING)
        noise = calibrate(self.epsilon, rest, pairwise=True)
        return GaussianCost((1 - _ROUNDING) / noise, self.erasure)

    def report(self, released="nothing yet", unprotected=()):
        """Return the guarantee of all that this budget will ever pay for; `released` is in words.

        `unprotected` names parts of the fits so far that learnt without privacy.

        That is (epsilon, delta) and no more, so that the events are those which are the worst of
        all with this guarantee.
        """
        if self.adjacency == "replace_label":
            # Rounded such that its epsilon is no more; of smaller flips it is infinite.
            flips = (1 + 1e-15 * (2 + self.epsilon)) / (1 + math.exp(min(self.epsilon, 690.0)))
            pure = RandomizedResponseEvent(min(flips, 0.5))
        else:
            distance = 2.0 if self.adjacency == "replace_one" else 1.0
            pure = LaplaceEvent(distance / self.epsilon * (1 + 1e-15))
        events = (pure, ErasureEvent(self.delta))
        by_group = self.unit == "one group"
        return PrivacyReport(
            epsilon=self.epsilon,
            delta=self.delta,
            adjacency=self.adjacency,
            events=events,
            clipping=None,
            accountant="pld",
            unit=self.unit,
            assumed_public=_ASSUMED_PUBLIC,
            not_covered=(PART_OF_GROUP, *_NOT_COVERED) if by_group else _NOT_COVERED,
            unprotected=unprotected,
            reproducible=self.allow_seeds,
            notes=(
                "the budget of a ledger, within which all its fits stay; the events of this report "
                "stand for theirs, and are no better",
                ORIENTATION,
            ),
            released=released,
        )


def make_terms(*, epsilon, delta, adjacency, unit, allow_seeds, salt):
    """Return the terms of a new budget after checking them; a ValueError says what is wrong."""
    check_within(epsilon, "epsilon", 0.0, math.inf, "()")
    if not 0.0 < delta < 1.0:
        raise ValueError("delta must be in (0, 1): fits with Gaussian noise need one.")
    # Fits of labels are Gaussian, and erase nothing.
    erasure = 0.0 if adjacency == "replace_label" else gaussian_budget(epsilon, delta).erasure
    terms = Terms(
        epsilon=epsilon,
        delta=delta,
        erasure=erasure,
        adjacency=adjacency,
        unit=unit,
        allow_seeds=allow_seeds,
        salt=salt,
    )
    # It knows what units and adjacencies there are, and which go together.
    terms.report()
    return terms


def check_unit(report, terms):
    """Raise a LedgerError if a budget doesn't count fits that protect what this one does."""
    if report.unit != terms.unit or (
        "replace_label" in (report.adjacency, terms.adjacency)
        and report.adjacency != terms.adjacency
    ):
        forgotten = (report.unit, terms.unit) == ("one row", "one group")
        advice = "give it groups=, whose each row is, or " if forgotten else "give it "
        raise LedgerError(
            f"this ledger counts fits that protect {terms.unit} ({terms.adjacency}), and this one "
            f"protects {report.unit} ({report.adjacency}): {advice}a ledger of its own, in another "
            "file or with another dataset=."
        )


def assess(report, terms):
    """Return the `GaussianCost` of a fit under the terms of a budget that counts such fits."""
    check_unit(report, terms)
    try:
        return cost_of_report(report, terms.adjacency, erasure=FIT_SHARE * terms.limits.erasure)
    except ValueError as error:
        is_sampled = isinstance(error, ErasureTooSmallError)
        advice = least_delta(error.least / FIT_SHARE) if is_sampled else ""
        raise LedgerError(f"this fit's cost can't be bounded: {error}{advice}") from error


@dataclass(frozen=True)
class Total:
    """Sums of squared mu and of erasures over charges that one record may have met.

    `alone` is the epsilon of a fit that was taken for a whole budget, or 0.
    """

    square: float = 0.0
    erasure: float = 0.0
    n_charges: int = 0
    alone: float = 0.0

    def __add__(self, other):
        return Total(
            self.square + other.square,
            self.erasure + other.erasure,
            self.n_charges + other.n_charges,
            max(self.alone, other.alone),
        )

    @property
    def cost(self):
        """The sums as one cost."""
        return GaussianCost(math.sqrt(self.square), min(self.erasure, 1.0))

    def followed_by(self, cost, times=1):
        """Return the total after so many more charges."""
        return self + Total(times * cost.mu**2, times * cost.erasure, times)

    def share(self, limits):
        """Return the share of a budget that was charged: of squared mu, or all of it.

        Nothing can follow a fit that was taken for the whole budget, nor what exceeds a limit.
        """
        if self.alone or not self.cost.is_within(limits):
            return 1.0
        return min(self.square / limits.mu**2, 1.0) if self.square else 0.0


def joint_totals(sums, part):
    """Return the totals that a charge to a part adds to; "" means all records, and every part."""
    whole = sums.get("", Total())
    if part:
        return [whole + sums.get(part, Total())]
    return [whole, *(whole + total for name, total in sums.items() if name)]


def share_spent(totals, terms):
    """Return the share of a budget that was charged; the rest is what is left."""
    return max(total.share(terms.limits) for total in totals)


def epsilon_spent(totals, terms):
    """Return the epsilon, at the budget's delta, of what was charged.

    It is the whole budget where nothing is left of it, and only there.
    """
    taken = [total for total in totals if not total.alone]
    epsilon = max((total.cost.epsilon(terms.delta) for total in taken), default=0.0)
    return max(epsilon, terms.epsilon) if epsilon_left(totals, terms) == 0 else epsilon


def epsilon_left(totals, terms):
    """Return the epsilon, at the budget's delta, of the largest Gaussian fit that could follow."""
    if not any(total.n_charges for total in totals):
        return terms.epsilon
    return GaussianCost(_mu_left(totals, terms)).epsilon(terms.delta)


def leaves_more_than(epsilon, totals, terms):
    """Return whether `epsilon_left` is more than an epsilon, without a search for its root."""
    least = gaussian_mu(epsilon, terms.delta) if epsilon > 0.0 else 0.0
    return _mu_left(totals, terms) > least


def _mu_left(totals, terms):
    return terms.limits.mu * math.sqrt(1.0 - share_spent(totals, terms))


def has_no_erasure_left(totals, terms):
    """Return whether no sampled batches can follow, although full batches can."""
    limits = terms.limits
    least = GaussianCost(0.0, FIT_SHARE * limits.erasure)
    return bool(limits.erasure) and not takes(least, totals, limits)


def share_of(mu, alone, terms):
    """Return the share of a budget that a charge took: all of it if it took that for itself."""
    if alone is not None:
        return 1.0
    limits = terms.limits
    return min(mu**2 / limits.mu**2, 1.0) if limits.mu else float(mu > 0)


def n_more(cost, totals, terms):
    """Return how many fits of this cost could follow."""
    limits = terms.limits
    square = limits.mu**2 - max(total.square for total in totals)
    erasure = limits.erasure - max(total.erasure for total in totals)
    pairs = (cost.mu**2, square), (cost.erasure, erasure)
    shares = [max(left, 0.0) / one for one, left in pairs if one > 0]
    # One more than what rounding leaves, and down to what is taken.
    n_fits = 1 + int(min([_MANY, *shares]))
    while n_fits and not takes(cost, totals, limits, times=n_fits):
        n_fits -= 1
    return n_fits


@dataclass(frozen=True)
class Verdict:
    """Whether a fit may be made, and the epsilon of one that takes the whole budget, else None.

    Such a fit was decided on when there was nothing yet to look at, and nothing can follow: its
    own guarantee counts, which for sampled batches is better than its cost.
    """

    is_taken: bool
    alone: float | None = None


def judge(report, cost, totals, terms):
    """Return the `Verdict` on a fit of some cost."""
    if takes(cost, totals, terms.limits):
        return Verdict(True)
    alone = report.epsilon_at(terms.delta) if report.adjacency == terms.adjacency else math.inf
    if alone <= terms.epsilon and not any(total.n_charges for total in totals):
        return Verdict(True, alone)
    return Verdict(False)


def takes(cost, totals, limits, times=1):
    """Return whether so many fits of a cost stay within the limits, whatever they meet."""
    return all(total.followed_by(cost, times).cost.is_within(limits) for total in totals)


def delta_of_least_cost(epsilon, terms):
    """Return 0 or the budget's delta: at which one release of this epsilon costs a ledger less."""
    if math.isinf(epsilon):
        return terms.delta
    return terms.delta if gaussian_mu(epsilon, terms.delta) <= pure_mu(epsilon) else 0.0


def least_delta(erasure):
    """Return a sentence on the smallest budget that has so much for erasures."""
    least = erasure / ERASURE_SHARE * (1 + _ROUNDING)
    if not least < 1:
        return ""
    step = 10.0 ** (math.floor(math.log10(least)) - 1)
    return f" A ledger takes such a fit from a delta of {math.ceil(least / step) * step:.2g} on."


@dataclass(frozen=True)
class Admission:
    """How a fit is charged: its cost, and what is said before it is.

    `alone` is the epsilon of one that takes a whole budget, `planned` the number of the planned
    charge that it is.
    """

    cost: GaussianCost
    alone: float | None = None
    planned: int | None = None
    warning: str = ""


def counted(number, what):
    """Return a number of things in words."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
