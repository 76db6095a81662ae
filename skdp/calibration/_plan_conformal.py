"""Plan of the noisy counts that give predictions a coverage, and of a fit of other records.

The proof is in the documentation, "theory/conformal".
"""

import math
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from skdp._release.plan import CONFORMAL_KEY, SPLIT_SLACK
from skdp._release.release import Cost, Release, costs_of, made_by_fit, named
from skdp.accountant import PrivacyReport, SelectionEvent
from skdp.calibration import _tuned as tuned
from skdp.metrics._plan import GroupScoreBudget, HistogramPlan, ScoreBudget, plan_histogram

# Runs and reports call the releases so.
OCTAVES = "counts of calibration records by the octave of their score"
SCORES = "counts of calibration records by score"
FIT_AND_COUNTS = "a fit of some records, and counts of the others by score"

# A number that is whole but for rounding is not rounded up by this.
_DOWN = 1.0 - 1e-12


class Design(NamedTuple):
    """How a quantile of scores is found from noisy counts, by public numbers.

    Attributes
    ----------
    n_bins : int
        Number of bins that are counted.
    failure : float
        Largest probability that the noise leaves its band.
    rank : int
        The quantile is at least the score of this rank, or infinite if there is none.
    band : float
        About how far the noise may move a sum of counts without leaving its band.
    excess : float
        About how much more than the level is covered in the mean, without the width of bins.
    """

    n_bins: int
    failure: float
    rank: int
    band: float
    excess: float


def numbers_of_bins():
    """Return numbers of bins, and how much wider than needed intervals are by them."""
    beyond = len(tuned.BINS_BEYOND) + 2
    return [(2 * fine + beyond, 0.5 * math.log(2.0) / fine) for fine in tuned.BINS_OF_AN_OCTAVE]


def ends_of_bins(n_bins, octave):
    """Return the ends of all bins but the last, which has none: of equal ratios about an octave."""
    fine = (n_bins - len(tuned.BINS_BEYOND) - 2) // 2
    exponents = [octave - 1.0 + i / fine for i in range(2 * fine + 1)]
    return np.exp2([*exponents, *(octave + float(more) for more in tuned.BINS_BEYOND)])


@dataclass(frozen=True, eq=False, kw_only=True)
class ConformalPlan(HistogramPlan):
    """Counts of calibration records, and the fit of a model to the others, if it is made here.

    A record is in one part only. `fit` says what the fit is to cost, and is None where the model
    was fitted before. `octaves` is the release that tells where bins are to be.
    """

    octaves: Release
    design: Design
    level: float
    n_calibration: int
    fit: PrivacyReport | None

    stream_key: ClassVar[tuple[int, ...]] = (CONFORMAL_KEY,)

    @property
    def releases(self):
        """What the fit releases, and the counts."""
        fitted = () if self.fit is None else made_by_fit(self.fit)
        return (*fitted, *named(OCTAVES, self.octaves), *named(SCORES, self.counts))

    @property
    def costs(self):
        """A record costs what the part costs that it is in: the larger of both."""
        if self.fit is None:
            return super().costs
        counts = self.octaves.event, self.counts.event
        event = SelectionEvent((self.fit.events, counts), eta=0.0, stopping_rate=1.0)
        return (Cost(FIT_AND_COUNTS, event),)

    @property
    def events_of_run(self):
        """The releases of both parts."""
        return tuple(cost.event for cost in costs_of(self.releases))

    @property
    def clipping(self):
        """What a record moves counts by; those of both parts have bounds of their own."""
        return super().clipping if self.fit is None else None

    @property
    def notes(self):
        """What is covered, and on which records that rests."""
        n, of_groups = self.n_calibration, self.budget.of_groups
        records = "groups" if of_groups else "records"
        held = "" if self.fit is None else ", which chance alone kept apart from those of the fit"
        covered = (
            "a new group, by a row of it that is drawn at random," if of_groups else "a new record"
        )
        said = (
            f"{covered} is covered with probability {self.level:g} at least: by {n} {records}{held}"
        )
        return (said, *super().notes)


def plan_conformal(budget, *, level, n_records, calibration_size, fit_report=None, by_group=False):
    """Plan the counts of calibration records, and how many records these are.

    A record is in one bin of each of two histograms. `fit_report` says what a fit of so many
    records is to cost; without it all records are for calibration.
    """
    whole = plan_histogram(score_budget(budget), n_records=n_records, n_cells=1).counts
    octaves = _part_of(whole, tuned.OCTAVE_SHARE, tuned.N_OCTAVES)
    # The noise of a count doesn't depend on how many there are, but for rounding.
    noise_std = _part_of(whole, 1.0 - tuned.OCTAVE_SHARE, 1).mechanism.noise_std
    n_calibration = n_records
    if fit_report is not None:
        n_calibration = _n_calibration(calibration_size, level, n_records, noise_std)
    design = choose_design(level, n_calibration, noise_std)
    return ConformalPlan(
        budget=budget,
        n_records=n_records,
        counts=_part_of(whole, 1.0 - tuned.OCTAVE_SHARE, design.n_bins),
        octaves=octaves,
        design=design,
        level=level,
        n_calibration=n_calibration,
        fit=None if fit_report is None else fit_report(n_records - n_calibration),
        average_over="groups" if by_group else "rows",
    )


def score_budget(budget):
    """Return what counts may spend that are alone in spending a budget."""
    kind = GroupScoreBudget if budget.of_groups else ScoreBudget
    return kind(budget.epsilon, budget.delta, budget.adjacency, account=budget.account)


def choose_design(level, n_records, noise_std):
    """Return the design of the narrowest intervals, by rules of thumb on public numbers.

    Where the tail of scores is exponential, covering x more than 1 - alpha makes an interval wider
    by ``x / (alpha log(1 / alpha))`` of its width. Noise on so many bins leaves a band with
    probability ``exp(-2 band^2 / (variance n_bins))``, if it is normal.
    """
    alpha = 1.0 - level
    widening = -1.0 / (alpha * math.log(alpha))
    choices = numbers_of_bins()
    if noise_std == 0.0:
        n_bins = choices[-1][0]
        return Design(n_bins, 0.0, _rank(level, n_records, 0.0), 0.0, 1.0 / n_records)
    designs = []
    for n_bins, width in choices:
        for part in tuned.FAILURE_PARTS:
            failure = part * alpha
            band = noise_std * math.sqrt(0.5 * n_bins * -math.log(failure))
            excess = failure + (band + 1.0) / n_records
            rank = _rank(level, n_records, failure)
            designs.append((width + widening * excess, Design(n_bins, failure, rank, band, excess)))
    return min(designs)[1]


def n_needed(level, noise_std):
    """Return about how many records a finite interval needs."""
    n_bins = numbers_of_bins()[0][0]
    alpha, needed = 1.0 - level, []
    for part in tuned.FAILURE_PARTS if noise_std > 0.0 else (0.0,):
        logarithm = -math.log(part * alpha) if noise_std > 0.0 else 0.0
        band = noise_std * math.sqrt(0.5 * n_bins * logarithm)
        needed.append((level + part * alpha + band) / ((1.0 - part) * alpha))
    return math.ceil(min(needed) * _DOWN)


def _rank(level, n_records, failure):
    """Return the rank of the score that covers a new record well enough beside such a failure."""
    return math.ceil((level + failure) * (n_records + 1) * _DOWN)


def _n_calibration(size, level, n_records, noise_std):
    """Return the number of calibration records, both parts having one at least."""
    if n_records < 2:
        raise ValueError(
            f"a fit and its calibration need at least 2 records, got n_samples = {n_records}."
        )
    shares = (size,)
    if size == "auto":
        ends = tuned.LEAST_CALIBRATION_SHARE, tuned.MOST_CALIBRATION_SHARE
        shares = np.linspace(*ends, tuned.N_CALIBRATION_SHARES).tolist()
    for share in shares:
        n_calibration = min(math.ceil(share * n_records), n_records - 1)
        excess = choose_design(level, n_calibration, noise_std).excess
        if excess <= tuned.ENOUGH_COVERAGE * (1.0 - level):
            break
    return n_calibration


def _part_of(release, share, n_bins):
    """Return a release of so many counts that spends a share of a budget instead of all of it.

    Of pure noise epsilons add up, and of Gaussian noise squares of mu.
    """
    part = share if release.noise == "counts" else math.sqrt(share)
    noise_multiplier = SPLIT_SLACK * release.noise_multiplier / part
    return replace(release, noise_multiplier=noise_multiplier, size=n_bins)
