"""Plan of histograms: releases of counts, of which a record moves one each."""

import math
from dataclasses import dataclass
from typing import ClassVar

from skdp._plans._base import HISTOGRAM_KEY, Budget, GroupBudget, OfGroups, Plan
from skdp._plans._release import Release
from skdp.accountant._report import PART_OF_GROUP


@dataclass(frozen=True)
class ScoreBudget(Budget):
    """What may be spent on scores, by which noise, and how it is counted."""

    accountant: str = "pld"
    mechanism: str = "auto"

    assumed_public: ClassVar = (
        "every argument of the call but the records",
        "the estimator: it was trained on other records, or its training is composed with this "
        "report; and it predicts each row by itself, whatever the other rows are",
        "the number of rows, and the names of the columns",
        "that the input was well formed (malformed input raises an error)",
    )
    not_covered: ClassVar = (
        "running time and memory use",
        "the estimator's training, where it saw these records, and preprocessing fitted on them",
        "other releases of the same records: add them up with skdp.accountant.compose",
    )


@dataclass(frozen=True)
class GroupScoreBudget(OfGroups, ScoreBudget):
    """What may be spent on scores of groups, of each of which one row is seen."""

    assumed_public: ClassVar = (
        *ScoreBudget.assumed_public[:2],
        "the number of groups, and the names of the columns",
        ScoreBudget.assumed_public[3],
        GroupBudget.assumed_public[-1],
    )
    not_covered: ClassVar = (PART_OF_GROUP, *ScoreBudget.not_covered)


@dataclass(frozen=True, eq=False, kw_only=True)
class HistogramPlan(Plan):
    """The release of a histogram's counts, once or several times alike, and its guarantee."""

    counts: Release

    # Scores of the records that a fit of the same seed had must not have its noise.
    stream_key: ClassVar = (HISTOGRAM_KEY,)

    @property
    def events(self):
        """The releases, which are alike."""
        return (self.counts.event,)

    @property
    def mechanism(self):
        """What adds noise to counts."""
        return self.counts.mechanism

    @property
    def clipping(self):
        """What a record moves its count by, or where it is known what a pair moves theirs by."""
        return self.mechanism.contribution_bound


def plan_histogram(budget, *, n_rows, n_cells, n_steps=1):
    """Plan releases of counts, which spend a budget together; a record is in one cell of each.

    A null record is in no cell: it moves one count by one. One record that replaces another moves
    two counts by one, or none: an L1 distance of 2, which the accountant makes of 1 by itself, and
    an L2 distance of sqrt(2), which is a bound of a pair and never doubled.
    """
    counts = _choose_release(budget, n_rows, n_cells, n_steps)
    return HistogramPlan(budget=budget, n_rows=n_rows, counts=counts)


def count_noise(budget, n_steps=1):
    """Return the standard deviation that each count's noise will have, whatever the cells are."""
    return _choose_release(budget, 1, 1, n_steps).mechanism.noise_std


def gaussian_counts(budget, n_rows, n_cells, n_steps=1):
    """Return releases of counts with Gaussian noise."""
    sizes = {"n_records": n_rows, "size": n_cells, "n_steps": n_steps}
    return budget.release(bound=1.0, pair_bound=math.sqrt(2.0), **sizes)


def _choose_release(budget, n_rows, n_cells, n_steps):
    """Return the noise that was asked for, or that of the smaller variance.

    That is the discrete Laplace mechanism's unless delta is so large that nobody should take it:
    one release of counts of which a record moves one is what it is best for. What a ledger adds up
    is Gaussian wherever there is a delta, whatever was charged before: many such releases cost less
    than half together.
    """
    made, added_up = [], budget.account is not None and budget.delta > 0.0
    is_pure = budget.mechanism == "laplace" or (budget.mechanism == "auto" and not added_up)
    if is_pure or not budget.is_private:
        how = {"size": n_cells, "n_records": n_rows, "design": {"n_steps": n_steps}}
        noise = budget.calibrate_pure(n_steps)
        made.append(Release(bound=1.0, noise_multiplier=noise, noise="counts", **how))
    if budget.mechanism == "gaussian" or (budget.mechanism == "auto" and budget.delta > 0.0):
        made.append(gaussian_counts(budget, n_rows, n_cells, n_steps))
    return min(made, key=lambda release: release.mechanism.noise_std)
