"""Plan of histograms: releases of counts, of which a record moves one each."""

import math
from dataclasses import dataclass
from typing import ClassVar

from skdp._plans._base import HISTOGRAM_KEY, Budget, GroupBudget, Plan
from skdp._plans._release import Release
from skdp.accountant._report import PART_OF_GROUP


@dataclass(frozen=True)
class ScoreBudget(Budget):
    """What may be spent on scores, by which noise, and how it is counted."""

    accountant: str = "pld"
    mechanism: str = "auto"

    assumed_public: ClassVar = (
        "every argument of the call but the records",
        "the estimator: it was trained on other records, or what its training costs is added up "
        "with this report; and it predicts each row by itself, whatever the other rows are",
        "the number of rows, and the names of the columns",
        "that the input was well formed (malformed input raises an error)",
    )
    not_covered: ClassVar = (
        "running time and memory use",
        "the estimator's training, where it saw these records, and preprocessing fitted on them",
        "other releases of the same records: add them up with skdp.accountant.compose",
    )


@dataclass(frozen=True)
class GroupScoreBudget(ScoreBudget):
    """What may be spent on scores of groups, of each of which one row is seen."""

    unit: ClassVar = GroupBudget.unit
    assumed_public: ClassVar = (
        *ScoreBudget.assumed_public[:2],
        "the number of groups, and the names of the columns",
        ScoreBudget.assumed_public[3],
        GroupBudget.assumed_public[-1],
        "that which row of a group is scored follows from nothing that other groups' rows tell",
    )
    not_covered: ClassVar = (PART_OF_GROUP, *ScoreBudget.not_covered)
    count: ClassVar = GroupBudget.count


@dataclass(frozen=True, eq=False, kw_only=True)
class HistogramPlan(Plan):
    """The mechanism of a histogram's counts and the guarantee that it gives.

    Parameters
    ----------
    budget, n_rows
        See `Plan`.
    counts : Release
        Of a histogram of `n_cells` counts, once or several times alike.
    n_cells : int
    """

    counts: Release
    n_cells: int

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
    """Plan releases of counts, each record being in one cell of each.

    Parameters
    ----------
    budget : Budget
    n_rows, n_cells : int
    n_steps : int, default=1
        Number of releases, which spend the budget together.

    Notes
    -----
    A null record is in no cell: it moves one count by one. One record that replaces another moves
    two counts by one, or none: an L1 distance of 2, which the accountant makes of 1 by itself, and
    an L2 distance of sqrt(2), which is a bound of a pair and never doubled.
    """
    return HistogramPlan(
        budget=budget,
        n_rows=n_rows,
        counts=_choose_release(budget, n_rows, n_cells, n_steps),
        n_cells=n_cells,
    )


def count_noise(budget, n_steps=1):
    """Return the standard deviation that each count's noise will have, whatever the cells are."""
    return _choose_release(budget, 1, 1, n_steps).mechanism.noise_std


def gaussian_counts(noise_multiplier, adjacency, *, n_rows, n_cells, n_steps=1):
    """Return a release of counts with Gaussian noise, whose multiplier is relative to a pair."""
    pairwise = adjacency == "replace_one"
    return Release(
        bound=math.sqrt(2.0) if pairwise else 1.0,
        noise_multiplier=noise_multiplier,
        size=n_cells,
        n_records=n_rows,
        pairwise=pairwise,
        design={"n_steps": n_steps},
    )


def _choose_release(budget, n_rows, n_cells, n_steps):
    """Return the noise that was asked for, or that of the smaller variance.

    That is the discrete Laplace mechanism's unless delta is so large that nobody should take it:
    one release of counts of which a record moves one is what it is best for.
    """
    sizes = {"n_rows": n_rows, "n_cells": n_cells, "n_steps": n_steps}
    made = []
    if budget.mechanism != "gaussian" or not budget.is_private:
        made.append(
            Release(
                bound=1.0,
                noise_multiplier=budget.calibrate_pure(n_steps),
                size=n_cells,
                n_records=n_rows,
                noise="counts",
                design={"n_steps": n_steps},
            )
        )
    if budget.mechanism == "gaussian" or (budget.mechanism == "auto" and budget.delta > 0.0):
        noise = budget.calibrate(pairwise=True, n_steps=n_steps)
        made.append(gaussian_counts(noise, budget.adjacency, **sizes))
    return min(made, key=lambda release: release.mechanism.noise_std)
