"""Noisy distribution functions of columns, and what is read off them."""

import numpy as np
from scipy.optimize import isotonic_regression

from skdp._bounds import present_records
from skdp._plans._distribution import CONTRIBUTION_STEP, N_THRESHOLDS, root_weights
from skdp._solvers._parallel import single_threaded_blas

# No scale is smaller: what is divided by it stays a number.
_SMALLEST_SCALE = 1e-100
# However much noise hides, the middle half of the records is looked for.
_MOST_HIDDEN = 0.25
_EPSILON = 2.0**-52


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
        return _finite(*_exact_quantiles(X, quantiles))
    hidden = min(plan.hidden_share, _MOST_HIDDEN)
    low, high = np.clip(quantiles, hidden, 1.0 - hidden)
    found = []
    for edges, shares in zip(plan.edges, _release_shares(X, plan, noise), strict=True):
        # The last threshold below the first share, and the first above the second.
        first = np.searchsorted(shares, low, side="right")
        last = np.searchsorted(shares, high, side="left") + 1
        found.append(edges[[first, max(last, first + 1)]])
    return np.transpose(found)


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
        return _finite(*_exact_scales(X))
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
    """Return the share of records below each threshold, rising, of shape (n_columns, k)."""
    weights = root_weights()
    with single_threaded_blas:
        roots = [_root_sums(*column) for column in zip(X.T, plan.edges, strict=True)]
        released = plan.mechanisms["distribution"].release(np.array(roots), noise)
        sums = [np.convolve(root, weights)[:N_THRESHOLDS] for root in released]
    return [isotonic_regression(column / plan.n_rows).x for column in sums]


def _root_sums(x, edges):
    """Return what the root of a running sum makes of counts between thresholds."""
    cells = np.searchsorted(edges[1:-1], present_records(x), side="right")
    counts = np.bincount(cells, minlength=N_THRESHOLDS + 1)[:N_THRESHOLDS]
    return np.convolve(counts, root_weights())[:N_THRESHOLDS]


def _sum_moments(x, middle, half):
    """Return what (t, 1 - t**2) add up to in steps, t being x by its place in a range."""
    t = (np.clip(present_records(x), middle - half, middle + half) - middle) / half
    np.clip(t, -1.0, 1.0, out=t)
    parts = np.rint(np.stack([t, 1.0 - t**2]) / CONTRIBUTION_STEP)
    return parts.astype(np.int64).sum(axis=1)


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


def _finite(*found):
    """Return what was found without privacy, so that it may be looked at, unless it overflowed."""
    if not np.isfinite(found).all():
        raise ValueError("The fit overflowed: scale the features to moderate size.")
    return found
