"""What fills the gaps of columns: noisy means and medians, in ranges that are public."""

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression

from skdp._rows.naming import sort_categories
from skdp._rows.queries import COLUMNS, Query
from skdp._rows.threads import single_threaded_blas
from skdp.preprocessing import _tuned as tuned
from skdp.preprocessing._plan import (
    CONTRIBUTION_STEP,
    COUNTS,
    DISTRIBUTIONS,
    MEANS,
    MEDIANS,
    MOMENTS,
    root_weights,
)

# No scale is smaller: what is divided by it stays a number.
_SMALLEST_SCALE = 1e-100
_EPSILON = 2.0**-52
# Rows that are worked on at once, in the processor's caches.
_BLOCK = 2**14


class CountedColumns(NamedTuple):
    """Columns of numbers in memory, of the records that count."""

    X: np.ndarray

    def ask(self, query):
        """Return the answer to a `Query`."""
        return query.total(self)


@dataclass(frozen=True, eq=False)
class CountsBelow(Query):
    """How many entries of each column are below each threshold, edges but the first and last."""

    edges: np.ndarray

    # Whole numbers add up exactly.
    view, grid = COLUMNS, 1.0

    def total(self, columns):
        # Sorting first is several times faster than to look for the cell of each.
        each = zip(columns.X.T, self.edges, strict=True)
        return np.array([np.searchsorted(np.sort(x), ends[1:-1]) for x, ends in each])


@dataclass(frozen=True, eq=False)
class SumsOfMoments(Query):
    """The sums of `sum_moments`, of shape (n_columns, 2)."""

    middle: np.ndarray
    half: np.ndarray

    view, grid = COLUMNS, 1.0

    def total(self, columns):
        each = zip(columns.X.T, self.middle, self.half, strict=True)
        return np.array([sum_moments(*column) for column in each])


@np.errstate(all="ignore")
def find_quantiles(columns, *, plan, quantiles, run):
    """Return a low and a high quantile of each column, noisy where the plan is private.

    Shares of records that noise hides can't be cut off: quantiles further out move inwards. Without
    noise `columns` are `CountedColumns`.
    """
    if not plan.budget.is_private:
        exact = np.quantile(columns.X.astype(np.float64), quantiles, axis=0)
        return _finite(run.release(DISTRIBUTIONS, exact))
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
        return _finite([run.release(DISTRIBUTIONS, mean), run.release(MOMENTS, scale)])
    quantiles = plan.tail, 1.0 - plan.tail
    low, high = find_quantiles(columns, plan=plan, quantiles=quantiles, run=run)
    middle = 0.5 * low + 0.5 * high
    half = np.maximum(0.5 * high - 0.5 * low, _SMALLEST_SCALE)
    mechanism, moments = run.mechanism(MOMENTS), columns.ask(SumsOfMoments(middle, half))
    means = run.release(MOMENTS, moments * CONTRIBUTION_STEP) / plan.n_rows
    mean = np.clip(means[:, 0], -1.0, 1.0)
    least = min(mechanism.noise_std / plan.n_rows, 1.0)
    variance = np.clip(1.0 - means[:, 1] - mean**2, least, 1.0)
    return middle + half * mean, np.maximum(half * np.sqrt(variance), _SMALLEST_SCALE)


def _release_shares(columns, plan, run):
    """Return by column the share of records below each threshold, rising from 0 to 1."""
    weights = root_weights()
    with single_threaded_blas:
        between = [np.diff(below, prepend=0) for below in columns.ask(CountsBelow(plan.edges))]
        roots = [np.convolve(counts, weights)[: tuned.N_THRESHOLDS] for counts in between]
        released = run.release(DISTRIBUTIONS, np.array(roots))
        counts = [np.convolve(root, weights)[: tuned.N_THRESHOLDS] for root in released]
    rising = [isotonic_regression(column / plan.n_rows).x for column in counts]
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


def release_counts(columns, given, *, plan, run, name=COUNTS):
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
    name : str
        Of the release.

    Returns
    -------
    counted : list of (categories, counts)
        Of each column, a sorted list, and an array with a noisy count for each.
    """
    listed, counts = [], []
    for column, of_given in zip(columns, given, strict=True):
        table = Counter(column)
        categories = sort_categories(table) if of_given is None else of_given
        listed.append(categories)
        counts.append(np.array([table[category] for category in categories], dtype=np.float64))
    parts = release_together(run, name, counts)
    counted = list(zip(listed, parts, strict=True))
    for j, (categories, part) in enumerate(counted):
        if given[j] is None:
            counted[j] = _take(categories, part, np.flatnonzero(part > plan.threshold))
    return counted


def release_together(run, name, parts):
    """Release several arrays of counts as one, and return them apart."""
    released = run.release(name, np.concatenate(parts))
    return np.split(released, np.cumsum([part.size for part in parts])[:-1])


def keep_largest(categories, counts, n_kept):
    """Return the categories of the largest counts and these, in order; all if `n_kept` is None."""
    return _take(categories, counts, np.sort(np.argsort(-counts, kind="stable")[:n_kept]))


def _take(categories, counts, places):
    return [categories[place] for place in places], counts[places]


# Entries are whole numbers of these parts of half a range, so that sums of up to 2^33 are exact.
_PARTS = 2.0**20


@np.errstate(all="ignore")
def release_means(X, *, low, high, plan, run):
    """Release the mean of the entries of each column, clipped to its range.

    It is pulled to the middle of the range by as much as few entries or much noise ask for. Gaps
    are NaN; how many there are is released, too.
    """
    mechanism = run.mechanism(MEANS)
    is_private = mechanism.noise_multiplier > 0.0
    middle, half = 0.5 * low + 0.5 * high, 0.5 * high - 0.5 * low
    sums = np.zeros((2, low.size))
    for j, column in enumerate(X.T):
        shares = (column.astype(np.float64) - middle[j]) / half[j]
        if is_private:
            shares = np.rint(np.clip(shares, -1.0, 1.0) * _PARTS) / _PARTS
        sums[:, j] = np.nansum(shares), np.isnan(shares).sum()
    deviations, gaps = run.release(MEANS, sums.ravel()).reshape(2, -1)
    entries = np.maximum(plan.n_rows - gaps, 0.0)
    doubt = mechanism.noise_std**2 / tuned.PRIOR_VARIANCE_OF_MEAN
    means = deviations * entries / np.maximum(entries**2 + doubt, 1.0)
    fills = middle + half * means
    return np.clip(fills, low, high) if is_private else fills


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
        return np.array(
            [np.median(c) if c.size else m for c, m in zip(columns, middle, strict=True)]
        )
    release = run.steps(MEDIANS)
    for _ in range(tuned.N_HALVINGS):
        # A comparison with a gap is false.
        balance = (middle < X).sum(axis=0, dtype=np.float64) - (middle > X).sum(axis=0)
        balance = release(balance)
        is_told = np.abs(balance) > mechanism.noise_std
        low = np.where(is_told & (balance < 0.0), low, middle)
        high = np.where(is_told & (balance > 0.0), high, middle)
        middle = 0.5 * low + 0.5 * high
    return middle
