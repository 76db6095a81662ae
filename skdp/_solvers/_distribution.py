"""Noisy distribution functions of columns, and what is read off them."""

import numpy as np
from scipy.optimize import isotonic_regression

from skdp._bounds import present_records
from skdp._plans._distribution import CONTRIBUTION_STEP, N_THRESHOLDS, root_weights
from skdp._solvers._parallel import single_threaded_blas

# No scale is smaller: what is divided by it stays a number.
_SMALLEST_SCALE = 1e-100
_EPSILON = 2.0**-52
# Rows that are worked on at once, in the processor's caches.
_BLOCK = 2**14


def find_quantiles(X, *, plan, quantiles, noise):
    """Return a low and a high quantile of each column, noisy where the plan is private.

    Shares of records that noise hides can't be cut off: quantiles further out move inwards.

    Parameters
    ----------
    X : ndarray of shape (n, n_columns)
    plan : DistributionPlan
    quantiles : tuple of two floats
    noise : stream

    Returns
    -------
    low, high : ndarray of shape (n_columns,)
    """
    if not plan.budget.is_private:
        exact = _exact_quantiles(X, quantiles)
        return _finite(plan.mechanisms["distribution"].release(exact, noise))
    within = np.clip(quantiles, plan.hidden_share, 1.0 - plan.hidden_share)
    released = zip(_release_shares(X, plan, noise), plan.edges, strict=True)
    return np.transpose([np.interp(within, shares, edges) for shares, edges in released])


def scale_columns(X, *, plan, noise):
    """Return a centre and a scale of each column, noisy where the plan is private.

    Where the records are is found first, all but tails; then means and mean squares of what is
    clipped to that. No variance is taken to be below the spread of its noise.

    Parameters
    ----------
    X : ndarray of shape (n, n_columns)
    plan : ScalerPlan
    noise : stream

    Returns
    -------
    centre, scale : ndarray of shape (n_columns,)
    """
    if not plan.budget.is_private:
        exact = zip(plan.mechanisms.values(), _exact_scales(X), strict=True)
        return _finite([mechanism.release(numbers, noise) for mechanism, numbers in exact])
    low, high = find_quantiles(X, plan=plan, quantiles=(plan.tail, 1.0 - plan.tail), noise=noise)
    middle = 0.5 * low + 0.5 * high
    half = np.maximum(0.5 * high - 0.5 * low, _SMALLEST_SCALE)
    sums = np.array([_sum_moments(*column) for column in zip(X.T, middle, half, strict=True)])
    mechanism = plan.mechanisms["moments"]
    means = mechanism.release(sums * CONTRIBUTION_STEP, noise) / plan.n_rows
    mean = np.clip(means[:, 0], -1.0, 1.0)
    least = min(mechanism.noise_std / plan.n_rows, 1.0)
    variance = np.clip(1.0 - means[:, 1] - mean**2, least, 1.0)
    return middle + half * mean, np.maximum(half * np.sqrt(variance), _SMALLEST_SCALE)


def _release_shares(X, plan, noise):
    """Return by column the share of records below each threshold, rising from 0 to 1."""
    weights = root_weights()
    with single_threaded_blas:
        roots = [_root_sums(*column) for column in zip(X.T, plan.edges, strict=True)]
        released = plan.mechanisms["distribution"].release(np.array(roots), noise)
        sums = [np.convolve(root, weights)[:N_THRESHOLDS] for root in released]
    rising = [isotonic_regression(column / plan.n_rows).x for column in sums]
    return [np.concatenate([[0.0], np.clip(shares, 0.0, 1.0), [1.0]]) for shares in rising]


def _root_sums(x, edges):
    """Return what the root of a running sum makes of counts between thresholds."""
    # Sorting first is several times faster than to look for the cell of each.
    below = np.searchsorted(np.sort(present_records(x)), edges[1:-1])
    return np.convolve(np.diff(below, prepend=0), root_weights())[:N_THRESHOLDS]


def _sum_moments(x, middle, half):
    """Return what (t, 1 - t**2) add up to in steps, t being x by its place in a range."""
    x, sums = present_records(x), np.zeros(2, dtype=np.int64)
    for start in range(0, x.size, _BLOCK):
        block = np.clip(x[start : start + _BLOCK], middle - half, middle + half)
        # Under `assume_finite` nobody looked for NaN, of which a record may have but one bound.
        t = np.nan_to_num(np.clip((block - middle) / half, -1.0, 1.0))
        parts = np.rint(np.stack([t, 1.0 - t**2]) / CONTRIBUTION_STEP)
        sums += parts.astype(np.int64).sum(axis=1)
    return sums


@np.errstate(all="ignore")
def _exact_quantiles(X, quantiles):
    return np.quantile(present_records(X).astype(np.float64), quantiles, axis=0)


@np.errstate(all="ignore")
def _exact_scales(X):
    """Return means and standard deviations, 1 for columns of one value, as StandardScaler does."""
    X = present_records(X).astype(np.float64, copy=False)
    mean, variance = X.mean(axis=0), X.var(axis=0)
    rounding = len(X) * _EPSILON * variance + (len(X) * mean * _EPSILON) ** 2
    return mean, np.where(variance <= rounding, 1.0, np.sqrt(variance))


def _finite(found):
    """Return what was found without privacy, so that it may be looked at, unless it overflowed."""
    if not np.isfinite(found).all():
        raise ValueError("The fit overflowed: scale the features to moderate size.")
    return found
