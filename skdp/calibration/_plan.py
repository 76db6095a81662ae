"""Plan of a classifier and the counts that recalibrate it: two parts of one budget."""

import dataclasses
import math
from dataclasses import dataclass
from typing import ClassVar

from skdp._plans._base import CALIBRATION_KEY, SPLIT_SLACK
from skdp.accountant import GaussianEvent, PrivacyReport, get_epsilon
from skdp.accountant._calibration import largest_within
from skdp.metrics._plan import HistogramPlan, gaussian_counts

# What is spent is at least this part of what may be.
_SPENT = 0.98


@dataclass(frozen=True, eq=False, kw_only=True)
class CalibrationPlan(HistogramPlan):
    """The mechanism of the counts, beside a classifier whose releases are known.

    Parameters
    ----------
    budget, n_rows, counts, n_cells
        See `HistogramPlan`.
    classifier : PrivacyReport
        What the classifier's fit will cost.
    """

    classifier: PrivacyReport

    stream_key: ClassVar = (CALIBRATION_KEY,)

    @property
    def events(self):
        """The classifier's releases and the counts."""
        return (*self.classifier.events, *super().events)

    @property
    def clipping(self):
        """None: the two parts have bounds of their own."""
        return None

    def joint_report(self, classifier, *, reproducible):
        """Return the report of the classifier and the counts together.

        Parameters
        ----------
        classifier : PrivacyReport
        reproducible : bool
        """
        return dataclasses.replace(
            classifier,
            epsilon=self.budget.epsilon,
            delta=self.budget.delta,
            events=(*classifier.events, *super().events),
            clipping=None,
            accountant=_accountant(classifier),
            accountant_version=None,
            reproducible=classifier.reproducible or reproducible,
        )


def classifier_epsilon(budget, share):
    """Return the epsilon of a classifier that leaves a share of the squared Gaussian parameter.

    Raises
    ------
    ValueError
        If delta alone would pay for such a classifier, so that it has no epsilon.
    """
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


def plan_calibration(budget, classifier, share, *, n_rows, n_cells):
    """Plan the counts so that they and the classifier spend the budget together.

    The classifier's events are composed with that of the counts. Where all are Gaussian on full
    batches the shares of the squared parameter add up exactly. Otherwise the noise is found by
    trying, from public numbers: what the classifier's fit was to cost.

    Parameters
    ----------
    budget : Budget
    classifier : PrivacyReport
        What the classifier's fit will cost.
    share : float
    n_rows, n_cells : int

    Raises
    ------
    ValueError
        If the classifier left nothing.
    """
    noise = 0.0
    if budget.is_private:
        noise = _fill(budget, classifier, share)
    counts = gaussian_counts(noise, budget.adjacency, n_rows=n_rows, n_cells=n_cells)
    return CalibrationPlan(
        budget=budget, n_rows=n_rows, counts=counts, n_cells=n_cells, classifier=classifier
    )


def _fill(budget, classifier, share):
    """Return the noise multiplier of counts with which a budget is spent and not exceeded."""

    def spent(quietness):
        event = GaussianEvent(1.0 / quietness, pairwise=True)
        together = dataclasses.replace(
            classifier,
            epsilon=math.inf,
            delta=budget.delta,
            events=(*classifier.events, event),
            clipping=None,
            accountant=_accountant(classifier),
            accountant_version=None,
        )
        return together.epsilon_at(budget.delta) / budget.epsilon

    start = math.sqrt(share) / (SPLIT_SLACK * budget.calibrate(pairwise=True))
    quietness = largest_within(spent, start, enough=_SPENT)
    if quietness is None:
        raise ValueError("the classifier's fit leaves nothing of the budget for its calibration.")
    return 1.0 / quietness


def _accountant(report: PrivacyReport):
    """Return the method that was asked for: others are what it came to."""
    return "rdp" if report.accountant == "rdp" else "pld"
