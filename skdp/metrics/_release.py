"""What a call may spend on scores, and the noisy counts that it gets."""

import math
from dataclasses import dataclass
from functools import cache, cached_property
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np

from skdp._estimator import BUDGET_CONSTRAINTS
from skdp._rows.bounds import counted_rows
from skdp._rows.groups import encode_groups
from skdp._sklearn import Interval, StrOptions, quietly
from skdp.accountant import PrivacyReport
from skdp.ledger._account import resolve_account
from skdp.metrics._plan import (
    COUNTS,
    GroupScoreBudget,
    ScoreBudget,
    check_counted,
    count_noise,
    plan_histogram,
    resolve_rows_counted,
)
from skdp.metrics._solver import release_histogram
from skdp.metrics._statistics import Shares

# These parameters say which rows of groups are counted.
COUNTED = {
    "average_over": [StrOptions({"rows", "groups"})],
    "rows_per_group": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
}
CONSTRAINTS = BUDGET_CONSTRAINTS | {
    "delta": [Interval(Real, 0, 1, closed="left"), StrOptions({"auto"})],
    "mechanism": [StrOptions({"auto", "laplace", "gaussian"})],
    "level": [Interval(Real, 0, 1, closed="neither")],
    "groups": ["array-like", None],
    **COUNTED,
}
BINS = [Interval(Integral, 2, 4096, closed="both"), StrOptions({"auto"})]


class Released(NamedTuple):
    """Noisy counts of the cells of a grid, the noise of each, and the report of the call."""

    counts: np.ndarray
    n_records: int
    noise_std: float
    report: PrivacyReport
    # So many rows of a record are counted at most.
    rows_per_group: int = 1

    @property
    def shares(self):
        """Shares of the counted rows in each cell."""
        counted = self.counts, self.n_records, self.noise_std
        if self.rows_per_group == 1:
            return Shares.of(*counted)
        return Shares.of_groups(*counted, self.rows_per_group)


@dataclass(frozen=True)
class Counting:
    """What a call counts of its records, and what it may spend on that.

    Attributes
    ----------
    budget : ScoreBudget
    n_releases : int
        Of the call, which are alike.
    groups : array-like or None
        The group of each row, as it was given.
    average_over : {"rows", "groups"}
    rows_per_group : float
        How many rows of a record are counted at most; 1 without groups.
    """

    budget: ScoreBudget
    n_releases: int
    groups: object
    average_over: str
    rows_per_group: float

    @cached_property
    def noise_std(self):
        """The standard deviation that each count's noise will have, whatever the cells are."""
        return count_noise(self.budget, self.n_releases, self.rows_per_group)

    @cached_property
    def n_records(self):
        """A function that gives the number of records, a public one, from that of rows."""
        return cache(lambda n_rows: encode_groups(self.groups, n_rows)[1])

    @property
    def rows_counted(self):
        """How many rows of a group results say that they count; None where there is no such number.

        There is none without groups, where groups are averaged, and where all rows are counted.
        """
        if self.groups is None or self.average_over == "groups" or math.isinf(self.rows_per_group):
            return None
        return self.rows_per_group


def plan_counting(
    function,
    epsilon,
    delta,
    adjacency,
    mechanism,
    *,
    design,
    groups,
    average_over,
    rows_per_group,
    ledger,
    n_releases=1,
):
    """Return what a call counts and may spend, by its parameters; the number of groups is public.

    `design` has what else a ledger notes of them.
    """
    if groups is not None:
        design = design | {"average_over": average_over}
    parameters = {"epsilon": epsilon, "delta": delta, "adjacency": adjacency}
    account = resolve_account(ledger, function, {**parameters, "mechanism": mechanism, **design})
    make_budget = ScoreBudget if groups is None else GroupScoreBudget
    delta = _resolve_delta(epsilon, delta, mechanism, account)
    budget = make_budget(epsilon, delta, adjacency, mechanism=mechanism, account=account)
    check_counted(groups is not None, average_over, rows_per_group)
    if groups is None:
        return Counting(budget, n_releases, None, average_over, 1)
    n_groups = encode_groups(groups, quietly(len, groups))[1]
    noise = count_noise(budget, n_releases)
    rows_per_group = resolve_rows_counted(average_over, rows_per_group, budget, n_groups, noise)
    return Counting(budget, n_releases, groups, average_over, rows_per_group)


def _resolve_delta(epsilon, delta, mechanism, account):
    """Return the delta of a call; "auto" is 0 but where a ledger adds up Gaussian noise for less.

    That follows from the ledger's budget and not from what was charged there before.
    """
    if delta != "auto":
        return delta
    if account is None or mechanism == "laplace":
        return 0.0
    return account.ledger._delta_of_counts(epsilon, mechanism)


def count_records(grids, counting, random_state):
    """Return noisy counts of the records on each of as many public grids as were asked for.

    The grids are lists of `Axis`, and each has any of the counted rows once.
    """
    n_rows = grids[0][0].position.size
    codes, n_records = encode_groups(counting.groups, n_rows)
    sizes = [math.prod(axis.size for axis in axes) for axes in grids]
    plan = plan_histogram(
        counting.budget,
        n_records=n_records,
        n_cells=max(sizes),
        n_steps=counting.n_releases,
        average_over=counting.average_over,
        rows_per_group=counting.rows_per_group,
    )
    run = plan.start(random_state)
    coins, steps = run.coins(), run.steps(COUNTS)
    rows = counted_rows(grids[0][0].position, codes, coins, plan.rows_per_group)
    # Where there is no noise, all rows of a group are counted: those of the largest bound it.
    rows_per_group = plan.rows_per_group
    if math.isinf(rows_per_group):
        rows_per_group = int(np.bincount(codes).max())
    most = plan.most_rows_of_record
    released = [release_histogram(axes, steps, coins, rows, most) for axes in grids]
    run.finish()
    report, noise_std = plan.report(reproducible=run.reproducible), plan.mechanism.noise_std
    return [Released(counts, n_records, noise_std, report, rows_per_group) for counts in released]
