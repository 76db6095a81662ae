"""What fills the gaps of columns: noisy means and medians, in ranges that are public."""

import math
from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression

from skdp._release.mechanisms import GaussianMechanism
from skdp._rows.queries import COLUMNS, BoundedQuery
from skdp._rows.table_queries import CountsOfNames
from skdp._rows.threads import single_threaded_blas
from skdp.preprocessing import _tuned as tuned
from skdp.preprocessing._plan import (
    CONTRIBUTION_STEP,
    COUNTS,
    DISTRIBUTIONS,
    MEANS,
    MEDIANS,
    MOMENTS,
    root_distance,
    root_norm,
    root_weights,
)

# No scale is smaller: what is divided by it stays a number.
_SMALLEST_SCALE = 1e-100
# Entries are whole numbers of these parts of half a range, so that sums of up to 2^33 are exact.
_PARTS = 2.0**20
_EPSILON = 2.0**-52
# Rows that are worked on at once, in the processor's caches.
_BLOCK = 2**14


class CountedColumns(NamedTuple):
    """Columns of numbers in memory, of the records that count."""

    X: np.ndarray

    def ask(self, query):
        """Return the answer to a `Query`."""
        return query.total(self)


class CountedEntries(NamedTuple):
    """Entries in memory of the records that count, by column, or how many have each entry."""

    columns: list

    def ask(self, query):
        """Return the answer to a `Query`."""
        return query.total(self)


@dataclass(frozen=True, eq=False)
class CountsBelow(BoundedQuery):
    """How many entries of each column are below each threshold, edges but the first and last.

    What leaves is the root of the running sum of counts between thresholds: see `root_weights`.
    """

    edges: np.ndarray
    mechanism: GaussianMechanism

    # Whole numbers add up exactly.
    view, grid = COLUMNS, 1.0

    def record_bound(self, place):
        return math.sqrt(len(self.edges)) * root_norm()

    def pair_bound(self, place):
        return math.sqrt(len(self.edges)) * root_distance()

    def total(self, columns):
        # Sorting first is several times faster than to look for the cell of each.
        each = zip(columns.X.T, self.edges, strict=True)
        return np.array([np.searchsorted(np.sort(x), ends[1:-1]) for x, ends in each])

    def noisy(self, below, release):
        weights = root_weights()
        between = [np.diff(counts, prepend=0) for counts in below]
        roots = [np.convolve(counts, weights)[: tuned.N_THRESHOLDS] for counts in between]
        return release(np.array(roots))


@dataclass(frozen=True, eq=False)
class SumsOfMoments(BoundedQuery):
    """The sums of `sum_moments`, of shape (n_columns, 2): an answer is in steps."""

    middle: np.ndarray
    half: np.ndarray
    mechanism: GaussianMechanism

    view, grid = COLUMNS, 1.0

    def record_bound(self, place):
        return math.sqrt(self.middle.size)

    def total(self, columns):
        each = zip(columns.X.T, self.middle, self.half, strict=True)
        return np.array([sum_moments(*column) for column in each])

    def noisy(self, sums, release):
        return release(sums * CONTRIBUTION_STEP)


@dataclass(frozen=True, eq=False)
class CountsByCategory(CountsOfNames):
    """How many records are in each category, by column."""

    view = COLUMNS

    def total(self, counted):
        return [Counter(column) for column in counted.columns]


@dataclass(frozen=True, eq=False)
class SumsAndGaps(BoundedQuery):
    """The sum of what is no gap, from the middle of a range and in units of its half, and gaps.

    By column, of shape (2, n_columns). Entries are cut to their range where there is noise.
    """

    middle: np.ndarray
    half: np.ndarray
    mechanism: GaussianMechanism

    view = COLUMNS

    def record_bound(self, place):
        # A record adds to the sum or to the gaps of a column, and by 1 at most.
        return math.sqrt(self.middle.size)

    def total(self, columns):
        is_private, sums = self.mechanism.noise_multiplier > 0.0, np.zeros((2, self.middle.size))
        for j, column in enumerate(columns.X.T):
            shares = (column.astype(np.float64) - self.middle[j]) / self.half[j]
            if is_private:
                shares = np.rint(np.clip(shares, -1.0, 1.0) * _PARTS) / _PARTS
            sums[:, j] = np.nansum(shares), np.isnan(shares).sum()
        return sums


@dataclass(frozen=True, eq=False)
class Balances(BoundedQuery):
    """How many more entries of each column are above a number than below; gaps are neither."""

    middle: np.ndarray
    mechanism: GaussianMechanism

    view = COLUMNS

    def record_bound(self, place):
        return math.sqrt(self.middle.size)

    def total(self, columns):
        # A comparison with a gap is false.
        above = (self.middle < columns.X).sum(axis=0, dtype=np.float64)
        return above - (self.middle > columns.X).sum(axis=0)


@np.errstate(all="ignore")
def find_quantiles(columns, *, plan, quantiles, run):
    """Return a low and a high quantile of each column, noisy where the plan is private.

    Shares of records that noise hides can't be cut off: quantiles further out move inwards. Without
    noise `columns` are `CountedColumns`.
    """
    if not plan.budget.is_private:
        exact = np.quantile(columns.X.astype(np.float64), quantiles, axis=0)
        return _finite(run.exactly(DISTRIBUTIONS, exact))
    within = np.clip(quantiles, plan.hidden_share, 1.0 - plan.hidden_share)
    released = zip(_release_shares(columns, plan, run), plan.edges, strict=True)
    return np.transpose([np.interp(within, shares, edges) for shares, edges in released])


def scale_columns(columns, *, plan, run):
    """Return a centre and a scale of each column, noisy where the plan is private.

    Where the records are is found first, all but tails; then means and mean squares of what is
    clipped to that. No variance is taken to be below the spread of its noise.
    """
    if not plan.budget.is_private:
        mean, scale = _exact_scales(columns.X)
        return _finite([run.exactly(DISTRIBUTIONS, mean), run.exactly(MOMENTS, scale)])
    quantiles = plan.tail, 1.0 - plan.tail
    low, high = find_quantiles(columns, plan=plan, quantiles=quantiles, run=run)
    middle = 0.5 * low + 0.5 * high
    half = np.maximum(0.5 * high - 0.5 * low, _SMALLEST_SCALE)
    mechanism = run.mechanism(MOMENTS)
    means = run.ask(MOMENTS, columns, SumsOfMoments(middle, half, mechanism)) / plan.n_records
    mean = np.clip(means[:, 0], -1.0, 1.0)
    least = min(mechanism.noise_std / plan.n_records, 1.0)
    variance = np.clip(1.0 - means[:, 1] - mean**2, least, 1.0)
    return middle + half * mean, np.maximum(half * np.sqrt(variance), _SMALLEST_SCALE)


def _release_shares(columns, plan, run):
    """Return by column the share of records below each threshold, rising from 0 to 1."""
    with single_threaded_blas:
        query = CountsBelow(plan.edges, run.mechanism(DISTRIBUTIONS))
        released = run.ask(DISTRIBUTIONS, columns, query)
        counts = [np.convolve(root, root_weights())[: tuned.N_THRESHOLDS] for root in released]
    rising = [isotonic_regression(column / plan.n_records).x for column in counts]
    return [np.concatenate([[0.0], np.clip(shares, 0.0, 1.0), [1.0]]) for shares in rising]


def sum_moments(x, middle, half):
    """Return what (t, 1 - t**2) add up to in steps, t being x by its place in a range."""
    sums = np.zeros(2, dtype=np.int64)
    for start in range(0, x.size, _BLOCK):
        block = np.clip(x[start : start + _BLOCK], middle - half, middle + half)
        # Under `assume_finite` nobody looked for NaN, of which a record may have but one bound.
        t = np.nan_to_num(np.clip((block - middle) / half, -1.0, 1.0))
        parts = np.rint(np.stack([t, 1.0 - t**2]) / CONTRIBUTION_STEP)
        sums += parts.astype(np.int64).sum(axis=1)
    return sums


@np.errstate(all="ignore")
def _exact_scales(X):
    """Return means and standard deviations, 1 for columns of one value, as StandardScaler does."""
    X = X.astype(np.float64, copy=False)
    mean, variance = X.mean(axis=0), X.var(axis=0)
    rounding = len(X) * _EPSILON * variance + (len(X) * mean * _EPSILON) ** 2
    return mean, np.where(variance <= rounding, 1.0, np.sqrt(variance))


def _finite(numbers):
    """Return numbers that were learnt without privacy, and so may be looked at, unless infinite."""
    if not np.isfinite(numbers).all():
        raise ValueError("The fit overflowed: scale the features to moderate size.")
    return numbers


def release_counts(columns, given, *, plan, run):
    """Release counts of categories, those that nobody listed only above the plan's threshold.

    Parameters
    ----------
    columns : list of list or dict
        Of each column, its entries, or how many have each category. None is a null record's.
    given : list of lists or None
        Of each column, its categories where they are listed; entries that aren't among them are in
        no category.
    plan : TransformerPlan
    run : Run

    Returns
    -------
    counted : list of (categories, counts)
        Of each column, a sorted list, and an array with a noisy count for each.
    """
    query = CountsByCategory(given, plan.threshold, run.mechanism(COUNTS))
    return run.ask(COUNTS, CountedEntries(columns), query)


def keep_largest(categories, counts, n_kept):
    """Return the categories of the largest counts and these, in order; all if `n_kept` is None."""
    places = np.sort(np.argsort(-counts, kind="stable")[:n_kept])
    return [categories[place] for place in places], counts[places]


@np.errstate(all="ignore")
def release_means(X, *, low, high, plan, run):
    """Release the mean of the entries of each column, clipped to its range.

    It is pulled to the middle of the range by as much as few entries or much noise ask for. Gaps
    are NaN; how many there are is released, too.
    """
    mechanism = run.mechanism(MEANS)
    middle, half = 0.5 * low + 0.5 * high, 0.5 * high - 0.5 * low
    query = SumsAndGaps(middle, half, mechanism)
    deviations, gaps = run.ask(MEANS, CountedColumns(X), query)
    entries = np.maximum(plan.n_records - gaps, 0.0)
    doubt = mechanism.noise_std**2 / tuned.PRIOR_VARIANCE_OF_MEAN
    means = deviations * entries / np.maximum(entries**2 + doubt, 1.0)
    fills = middle + half * means
    return np.clip(fills, low, high) if mechanism.noise_multiplier > 0.0 else fills


@np.errstate(all="ignore")
def release_medians(X, *, low, high, plan, run):
    """Release the median of the entries of each column, by halving its range; gaps are NaN.

    Every step releases how many more entries lie above the middle of what is left of the range than
    below. A balance that noise explains ends a column's search: its middle is then as good a median
    as can be told. Without noise medians are exact, whatever the ranges.
    """
    mechanism = run.mechanism(MEDIANS)
    middle = 0.5 * low + 0.5 * high
    if mechanism.noise_multiplier == 0.0:
        columns = (column[~np.isnan(column)].astype(np.float64) for column in X.T)
        medians = [np.median(c) if c.size else m for c, m in zip(columns, middle, strict=True)]
        return run.exactly(MEDIANS, np.array(medians))
    steps = run.steps(MEDIANS)
    for _ in range(tuned.N_HALVINGS):
        balance = steps.ask(CountedColumns(X), Balances(middle, mechanism))
        is_told = np.abs(balance) > mechanism.noise_std
        low = np.where(is_told & (balance < 0.0), low, middle)
        high = np.where(is_told & (balance > 0.0), high, middle)
        middle = 0.5 * low + 0.5 * high
    return middle
