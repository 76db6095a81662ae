"""Plan of histograms: releases of counts, of which a record moves one each."""

import math
from dataclasses import dataclass
from typing import ClassVar

from skdp._mechanisms import DiscreteLaplaceMechanism, GaussianMechanism
from skdp._plans._base import HISTOGRAM_KEY, PART_OF_GROUP, Budget, GroupBudget, Plan
from skdp.accountant import GaussianEvent, LaplaceEvent


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
    mechanism : DiscreteLaplaceMechanism or GaussianMechanism
    n_cells : int
        Number of counts of a release.
    n_steps : int, default=1
        Number of releases.
    """

    mechanism: DiscreteLaplaceMechanism | GaussianMechanism
    n_cells: int
    n_steps: int = 1

    # Scores of the records that a fit of the same seed had must not have its noise.
    stream_key: ClassVar = (HISTOGRAM_KEY,)

    @property
    def events(self):
        """The releases, which are alike."""
        return (_event(self.mechanism, self.budget.adjacency, self.n_steps),)

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
        mechanism=_choose_mechanism(budget, n_rows, n_cells, n_steps),
        n_cells=n_cells,
        n_steps=n_steps,
    )


def count_noise(budget, n_steps=1):
    """Return the standard deviation that each count's noise will have, whatever the cells are."""
    return _choose_mechanism(budget, 1, 1, n_steps).noise_std


def gaussian_counts(noise_multiplier, adjacency, *, n_rows, n_cells):
    """Return Gaussian noise for counts whose multiplier is relative to a pair's distance."""
    return GaussianMechanism(
        contribution_bound=math.sqrt(2.0) if adjacency == "replace_one" else 1.0,
        noise_multiplier=noise_multiplier,
        size=n_cells,
        n_records=n_rows,
    )


def _choose_mechanism(budget, n_rows, n_cells, n_steps):
    """Return the noise that was asked for, or that of the smaller variance.

    That is the discrete Laplace mechanism's unless delta is so large that nobody should take it:
    one release of counts of which a record moves one is what it is best for.
    """
    made = []
    if budget.mechanism != "gaussian" or not budget.is_private:
        made.append(DiscreteLaplaceMechanism(budget.calibrate_pure(n_steps)))
    if budget.mechanism == "gaussian" or (budget.mechanism == "auto" and budget.delta > 0.0):
        noise = budget.calibrate(pairwise=True, n_steps=n_steps)
        made.append(gaussian_counts(noise, budget.adjacency, n_rows=n_rows, n_cells=n_cells))
    return min(made, key=lambda mechanism: mechanism.noise_std)


def _event(mechanism, adjacency, n_steps):
    noise = mechanism.noise_multiplier
    if isinstance(mechanism, DiscreteLaplaceMechanism):
        return LaplaceEvent(noise, n_steps, counts=True)
    return GaussianEvent(noise, n_steps=n_steps, pairwise=adjacency == "replace_one")
