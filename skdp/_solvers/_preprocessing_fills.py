"""What fills the gaps of columns: noisy means and medians, in ranges that are public."""

import numpy as np

# Entries are whole numbers of these parts of half a range, so that sums of up to 2^33 are exact.
_PARTS = 2.0**20
# Variance of a column's mean in units of half its range, before anything is known of it.
_PRIOR_VARIANCE = 1.0 / 3.0


@np.errstate(all="ignore")
def release_means(X, *, low, high, n_rows, mechanism, noise):
    """Release the mean of the entries of each column, clipped to its range.

    Parameters
    ----------
    X : ndarray of shape (m, d)
        Gaps are NaN.
    low, high : ndarray of shape (d,)
    n_rows : int
        Number of records, null ones included: what of it are gaps is released.
    mechanism : GaussianMechanism
    noise : stream

    Returns
    -------
    means : ndarray of shape (d,)
        Pulled to the middle of the range by as much as few entries or much noise ask for.
    """
    is_private = mechanism.noise_multiplier > 0.0
    middle, half = 0.5 * low + 0.5 * high, 0.5 * high - 0.5 * low
    sums = np.zeros((2, low.size))
    for j, column in enumerate(X.T):
        shares = (column.astype(np.float64) - middle[j]) / half[j]
        if is_private:
            shares = np.rint(np.clip(shares, -1.0, 1.0) * _PARTS) / _PARTS
        sums[:, j] = np.nansum(shares), np.isnan(shares).sum()
    deviations, gaps = mechanism.release(sums.ravel(), noise).reshape(2, -1)
    entries = np.maximum(n_rows - gaps, 0.0)
    doubt = mechanism.noise_std**2 / _PRIOR_VARIANCE
    means = deviations * entries / np.maximum(entries**2 + doubt, 1.0)
    fills = middle + half * means
    return np.clip(fills, low, high) if is_private else fills


@np.errstate(all="ignore")
def release_medians(X, *, low, high, n_steps, mechanism, noise):
    """Release the median of the entries of each column, by halving its range.

    Every step releases how many more entries lie above the middle of what is left of the range than
    below. A balance that noise explains ends a column's search: its middle is then as good a median
    as can be told.

    Parameters
    ----------
    X : ndarray of shape (m, d)
        Gaps are NaN.
    low, high : ndarray of shape (d,)
    n_steps : int
        Number of releases, all of them made.
    mechanism : GaussianMechanism
        Without noise the medians are exact, whatever the ranges.
    noise : stream

    Returns
    -------
    medians : ndarray of shape (d,)
    """
    middle = 0.5 * low + 0.5 * high
    if mechanism.noise_multiplier == 0.0:
        columns = (column[~np.isnan(column)].astype(np.float64) for column in X.T)
        return np.array(
            [np.median(c) if c.size else m for c, m in zip(columns, middle, strict=True)]
        )
    for _ in range(n_steps):
        # A comparison with a gap is false.
        balance = (middle < X).sum(axis=0, dtype=np.float64) - (middle > X).sum(axis=0)
        balance = mechanism.release(balance, noise)
        is_told = np.abs(balance) > mechanism.noise_std
        low = np.where(is_told & (balance < 0.0), low, middle)
        high = np.where(is_told & (balance > 0.0), high, middle)
        middle = 0.5 * low + 0.5 * high
    return middle
