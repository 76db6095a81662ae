"""Plan of a classifier and the counts that recalibrate it: two parts of one budget.

The proof is in the documentation, "theory/scores".
"""

import dataclasses
import math
from dataclasses import dataclass
from typing import ClassVar

from skdp._release.plan import CALIBRATION_KEY, SPLIT_SLACK
from skdp._release.release import made_by_fit, named
from skdp.accountant import GaussianEvent, PrivacyReport, get_epsilon
from skdp.accountant._calibration import largest_within
from skdp.calibration import _tuned as tuned
from skdp.calibration._sigmoid import CountsAndPlaces
from skdp.metrics._plan import HistogramPlan, gaussian_counts

# Runs and reports call the release so.
SCORES = "counts and places of records by score"


@dataclass(frozen=True, eq=False, kw_only=True)
class CalibrationPlan(HistogramPlan):
    """The mechanism of the counts, beside a classifier of whose fit the cost is known.

    Each class has counts of its own, of records by class and bin; two classes have them once.
    """

    classifier: PrivacyReport
    n_bins: int

    stream_key: ClassVar[tuple[int, ...]] = (CALIBRATION_KEY,)
    # The two parts have bounds of their own.
    clipping: ClassVar = None

    @property
    def releases(self):
        """The classifier's releases and the counts."""
        return (*made_by_fit(self.classifier), *named(SCORES, self.counts))

    def joint_report(self, classifier, *, reproducible):
        """Return the report of the fitted classifier and the counts together."""
        return _together(
            classifier,
            events=(*classifier.events, self.counts.event),
            names=(*classifier.names, SCORES),
            epsilon=self.budget.epsilon,
            delta=self.budget.delta,
            reproducible=classifier.reproducible or reproducible,
            notes=(*classifier.notes, *self.notes),
        )


def classifier_epsilon(budget, share):
    """Return the epsilon of a classifier that leaves a share of the squared Gaussian parameter."""
    if not budget.is_private:
        return math.inf
    noise = budget.calibrate(pairwise=True) / math.sqrt(1.0 - share)
    epsilon = get_epsilon(SPLIT_SLACK * noise, budget.delta)
    if epsilon == 0.0:
        raise ValueError(
            f"epsilon = {budget.epsilon:g} is so small beside delta = {budget.delta:g} that delta "
            "alone pays for the classifier, which has to spend some epsilon: take a smaller delta, "
            "a larger epsilon or a smaller calibration_share."
        )
    return epsilon


def plan_calibration(
    budget,
    classifier,
    share,
    *,
    n_records,
    n_bins,
    n_steps=1,
    average_over="rows",
    rows_per_group=1,
):
    """Plan so many releases of counts that they and the classifier spend the budget together.

    The classifier's events are composed with that of the counts. Where all are Gaussian on full
    batches the shares of the squared parameter add up exactly. Otherwise the noise is found by
    trying, from public numbers: what the classifier's fit was to cost.
    """
    counts = _counts(budget, n_records, n_bins, n_steps, rows_per_group)
    if budget.is_private:
        noise = _fill(budget, classifier, share, n_steps)
        counts = dataclasses.replace(counts, noise_multiplier=noise)
    return CalibrationPlan(
        budget=budget,
        n_records=n_records,
        counts=counts,
        classifier=classifier,
        n_bins=n_bins,
        average_over=average_over,
        rows_per_group=rows_per_group,
    )


def noise_of_counts(budget, share, n_steps, rows_per_group=1):
    """Return the noise of a count, about, where counts have a share of the squared parameter."""
    counts = _counts(budget, 1, 1, n_steps, rows_per_group)
    return counts.mechanism.noise_std / math.sqrt(share)


def _counts(budget, n_records, n_bins, n_steps, rows_per_group):
    """Return releases of counts and places that spend a budget."""
    size, bound = CountsAndPlaces.size_of(n_bins), CountsAndPlaces.bound_of_rows(rows_per_group)
    return gaussian_counts(budget, n_records, size, n_steps, bound)


def _fill(budget, classifier, share, n_steps):
    """Return the noise multiplier of counts with which a budget is spent and not exceeded."""

    def spent(quietness):
        counts = GaussianEvent(1.0 / quietness, n_steps=n_steps, pairwise=True)
        events = (*classifier.events, counts)
        together = _together(
            classifier, events=events, names=(), epsilon=math.inf, delta=budget.delta
        )
        return together.epsilon_at(budget.delta) / budget.epsilon

    start = math.sqrt(share / n_steps) / (SPLIT_SLACK * budget.calibrate(pairwise=True))
    quietness = largest_within(spent, start, enough=tuned.LEAST_SHARE_SPENT)
    if quietness is None:
        raise ValueError("the classifier's fit leaves nothing of the budget for its calibration.")
    return 1.0 / quietness


def _together(classifier, **changes):
    """Return a classifier's report with other events."""
    # A user asks for one of these two; a report has another name where an exact method was found.
    accountant = "rdp" if classifier.accountant == "rdp" else "pld"
    return dataclasses.replace(
        classifier, clipping=None, accountant=accountant, accountant_version=None, **changes
    )
