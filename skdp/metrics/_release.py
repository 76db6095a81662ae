"""What a call may spend on scores, and the noisy counts that it gets."""

import math
from functools import cache
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np

from skdp._bounds import counted_rows
from skdp._estimator import BUDGET_CONSTRAINTS
from skdp._groups import encode_groups
from skdp._sklearn import Interval, StrOptions
from skdp.accountant import PrivacyReport
from skdp.ledger._account import resolve_account
from skdp.metrics._plan import GroupScoreBudget, ScoreBudget, plan_histogram
from skdp.metrics._solver import release_histogram
from skdp.metrics._statistics import Shares

CONSTRAINTS = BUDGET_CONSTRAINTS | {
    "delta": [Interval(Real, 0, 1, closed="left")],
    "mechanism": [StrOptions({"auto", "laplace", "gaussian"})],
    "level": [Interval(Real, 0, 1, closed="neither")],
    "groups": ["array-like", None],
}
BINS = [Interval(Integral, 2, 4096, closed="both"), StrOptions({"auto"})]


class Released(NamedTuple):
    """Noisy counts of the cells of a grid, the noise of each, and the report of the call."""

    counts: np.ndarray
    n_rows: int
    noise_std: float
    report: PrivacyReport

    @property
    def shares(self):
        """Shares of the records in each cell."""
        return Shares.of(self.counts, self.n_rows, self.noise_std)


def score_budget(function, spent, design, groups, ledger):
    """Return what a call may spend: epsilon and delta, under an adjacency by a mechanism."""
    named = dict(zip(("epsilon", "delta", "adjacency", "mechanism"), spent, strict=True))
    account = resolve_account(ledger, function, named | design)
    make_budget = ScoreBudget if groups is None else GroupScoreBudget
    return make_budget(**named, account=account)


def records_of(groups):
    """Return a function that gives the number of records, a public one, from that of rows."""
    return cache(lambda n_rows: encode_groups(groups, n_rows)[1])


def count_records(grids, budget, groups, random_state, n_releases=1):
    """Return noisy counts of the records on each of as many public grids as were asked for.

    The grids are lists of `Axis`, and each has any of the records once.
    """
    n_rows = grids[0][0].position.size
    codes, n_records = encode_groups(groups, n_rows)
    sizes = [math.prod(axis.size for axis in axes) for axes in grids]
    plan = plan_histogram(budget, n_rows=n_records, n_cells=max(sizes), n_steps=n_releases)
    stream = plan.start(random_state)
    coins, noise = stream.spawn(2)
    rows = counted_rows(grids[0][0].position, codes, coins)
    report = plan.report(reproducible=stream.reproducible)
    released = []
    for _, axes in zip(range(plan.counts.event.n_steps), grids, strict=True):
        counts = release_histogram(axes, plan.mechanism, coins, noise, rows)
        released.append(Released(counts, n_records, plan.mechanism.noise_std, report))
    return released
