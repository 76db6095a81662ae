"""Plan of histograms: releases of counts, of which a record moves one each.

The proof is in the documentation, "theory/scores".
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from skdp._checks import check_count
from skdp._release.plan import HISTOGRAM_KEY, Budget, GroupBudget, OfGroups, Plan
from skdp._release.release import Release, named
from skdp.accountant._report import PART_OF_GROUP
from skdp.metrics import _tuned as tuned

# Runs and reports call the release so.
COUNTS = "counts of records by score"


@dataclass(frozen=True)
class ScoreBudget(Budget):
    """What may be spent on scores, by which noise, and how it is counted."""

    accountant: str = "pld"
    mechanism: str = "auto"

    assumed_public: ClassVar[tuple[str, ...]] = (
        "every argument of the call but the records",
        "the estimator: it was trained on other records, or its training is composed with this "
        "report; and it predicts each row by itself, whatever the other rows are",
        "the number of rows, and the names of the columns",
        "that the input was well formed (malformed input raises an error)",
    )
    not_covered: ClassVar[tuple[str, ...]] = (
        "running time and memory use",
        "the estimator's training, where it saw these records, and preprocessing fitted on them",
        "other releases of the same records: add them up with skdp.accountant.compose",
    )


@dataclass(frozen=True)
class GroupScoreBudget(OfGroups, ScoreBudget):
    """What may be spent on scores of groups, of each of which one row or a few are counted."""

    assumed_public: ClassVar[tuple[str, ...]] = (
        *ScoreBudget.assumed_public[:2],
        "the number of groups, and the names of the columns",
        ScoreBudget.assumed_public[3],
        GroupBudget.assumed_public[-1],
    )
    not_covered: ClassVar[tuple[str, ...]] = (PART_OF_GROUP, *ScoreBudget.not_covered)


@dataclass(frozen=True, eq=False, kw_only=True)
class HistogramPlan(Plan):
    """The release of a histogram's counts, once or several times alike, and its guarantee.

    Of a record as many rows are counted as `rows_per_group` at most.
    """

    counts: Release
    rows_per_group: float = 1
    average_over: str = "rows"

    # Scores of the records that a fit of the same seed had must not have its noise.
    stream_key: ClassVar[tuple[int, ...]] = (HISTOGRAM_KEY,)

    @property
    def releases(self):
        """The releases, which are alike."""
        return named(COUNTS, self.counts)

    @property
    def mechanism(self):
        """What adds noise to counts."""
        return self.counts.mechanism

    @property
    def most_rows_of_record(self):
        """How many rows of a record are counted at most; 1 where there is no noise, nor a bound."""
        return self.rows_per_group if self.budget.is_private else 1

    @property
    def clipping(self):
        """What a record moves counts by, or where it is known what a pair moves theirs by."""
        return self.mechanism.contribution_bound

    @property
    def notes(self):
        """What is counted of groups."""
        if not self.budget.of_groups:
            return ()
        return (f"counted: {describe_counted(self.average_over, self.rows_per_group)}",)


def describe_counted(average_over, rows_per_group):
    """Return in words which rows of groups are counted."""
    if average_over == "groups":
        return "groups, one row of each, drawn at random"
    if rows_per_group is None or math.isinf(rows_per_group):
        return "rows, all of each group"
    return f"rows, at most {rows_per_group} of each group, drawn at random"


def caption_of(result):
    """Return in words what a result counts of groups, or None if it knows of none."""
    if result.report.unit != OfGroups.unit:
        return None
    return describe_counted(result.average_over, result.rows_per_group)


def check_counted(by_group, average_over, rows_per_group):
    """Refuse to be told how the rows of groups are counted where there are no groups to count."""
    if average_over == "groups" and not by_group:
        raise ValueError(
            "average_over='groups' needs groups=..., the group of each row: without it each row is "
            "a record, and counts once."
        )
    if rows_per_group != "auto" and not (by_group and average_over == "rows"):
        raise ValueError(
            "rows_per_group is for average_over='rows' and a call with groups=...: otherwise one "
            "row of each record counts."
        )


def resolve_rows_counted(
    average_over, rows_per_group, budget, n_groups, noise_std, quiet_share=tuned.QUIET_SHARE
):
    """Return how many rows of a group are counted at most, from public numbers.

    `noise_std` is that of counts of one row a group. Noise grows with the number, and rows beyond
    it are lost to the score. "auto" takes as many as leave the noise of a count below a share of
    the number of groups, within the limits that fits have. Without privacy all rows are counted.
    """
    if average_over == "groups":
        return 1
    if not budget.is_private:
        return math.inf
    if rows_per_group != "auto":
        return check_count(rows_per_group, "rows_per_group")
    quiet = quiet_share * n_groups / max(noise_std, 1e-300)
    return int(min(max(quiet, tuned.LEAST_ROWS_PER_GROUP), tuned.MOST_ROWS_PER_GROUP))


def plan_histogram(budget, *, n_records, n_cells, n_steps=1, average_over="rows", rows_per_group=1):
    """Plan releases of counts, which spend a budget together.

    A row is in one cell of each. A null record is in no cell: another moves counts by as many as
    are counted of its rows, k at most, which may all be in one cell. One record that replaces
    another moves counts by the difference of two such vectors without a negative entry: an L1
    distance of 2 k, which the accountant makes of k by itself, and an L2 distance of sqrt(2) k,
    which is a bound of a pair and never doubled.
    """
    counts = _choose_release(budget, n_records, n_cells, n_steps, rows_per_group)
    return HistogramPlan(
        budget=budget,
        n_records=n_records,
        counts=counts,
        average_over=average_over,
        rows_per_group=rows_per_group,
    )


def count_noise(budget, n_steps=1, rows_per_group=1):
    """Return the standard deviation that each count's noise will have, whatever the cells are."""
    return _choose_release(budget, 1, 1, n_steps, rows_per_group).mechanism.noise_std


def gaussian_counts(budget, n_records, n_cells, n_steps=1, bound=1.0):
    """Return releases of counts with Gaussian noise, which a record moves by a bound at most."""
    bound = float(bound) if budget.is_private else 1.0
    return budget.release(
        bound=bound,
        pair_bound=math.sqrt(2.0) * bound,
        n_records=n_records,
        size=n_cells,
        n_steps=n_steps,
    )


def _choose_release(budget, n_records, n_cells, n_steps, rows_per_group):
    """Return the noise that was asked for, or that of the smaller variance.

    That is the discrete Laplace mechanism's unless delta is so large that nobody should take it:
    one release of counts of which a record moves one is what it is best for. What a ledger adds up
    is Gaussian wherever there is a delta, whatever was charged before: many such releases cost less
    than half together.
    """
    made, added_up = [], budget.account is not None and budget.delta > 0.0
    is_pure = budget.mechanism == "laplace" or (budget.mechanism == "auto" and not added_up)
    if is_pure or not budget.is_private:
        laplace = Release(
            bound=float(rows_per_group) if budget.is_private else 1.0,
            noise_multiplier=budget.calibrate_pure(n_steps),
            noise="counts",
            size=n_cells,
            n_records=n_records,
            design={"n_steps": n_steps},
        )
        made.append(laplace)
    if budget.mechanism == "gaussian" or (budget.mechanism == "auto" and budget.delta > 0.0):
        made.append(gaussian_counts(budget, n_records, n_cells, n_steps, rows_per_group))
    return min(made, key=lambda release: release.mechanism.noise_std)
