"""Automatic settings of DP-SCD with a proximal centre, from public numbers alone.

`doc/theory/default_rules.rst` derives them. What is public of a column is its mean square at most:
R^2 / d on average over d columns of rows of norm R, and R^2 / 9 for the intercept's.
"""

import math

# Strength of the pull, in R^2 s / n for a direction of mean square R^2 / d: what a column asks for,
# and what it asks for in proportion to the noise.
_PER_COLUMN = 1.0 / 30.0
_PER_NOISY_COLUMN = 3.0
# Of more columns, such as pixels, few directions hold most of the mean squares.
_MOST_COLUMNS = 100
# Columns as short as the intercept's, a third of R, would be this many.
_INTERCEPT_AS = 9
# Curvature of a batch, relative to the loss's, up to which dual variables move fast enough.
_CURVATURE = 20.0
# The u of `_excess` from which small batches cost a tenth of the noise at most.
_LARGE_ENOUGH = 2.0
# What dual variables may reach, as a share of their range: at most all of it, at least half.
_LEAST_SHARE = 0.6
_SHARE_PER_NOISE = 150.0


def proximal_strength(row_norm, n_columns, noise, noise_of_steps=None):
    """Return the strength of the pull that the noise asks for.

    Parameters
    ----------
    row_norm : float
        R.
    n_columns : int
        d, or what stands for it.
    noise : float
        Noise multiplier of one release of all rows, over their number.
    noise_of_steps : float, default=None
        The same for the steps that are run, where it differs.
    """
    steps = noise if noise_of_steps is None else noise_of_steps
    asked = min(n_columns, _MOST_COLUMNS) * (_PER_COLUMN + _PER_NOISY_COLUMN * noise)
    return row_norm**2 * asked * steps


def intercept_share(n_columns):
    """Return the intercept's strength as a share of the others', between 1/9 and 1."""
    alike = _INTERCEPT_AS / min(n_columns, _MOST_COLUMNS)
    return min(1.0, max(alike, 1.0 / _INTERCEPT_AS))


def strength_for_batch(row_norm, batch_share):
    """Return the strength at which a batch of a share of the rows is fast enough."""
    return row_norm**2 * batch_share / _CURVATURE


def proximal_batch_size(n_rows, n_columns, *, max_iter, noise_of_pass, at_least):
    """Return the batch that costs least where dual variables still move fast enough.

    Small batches amplify badly: their noise grows by `_excess`. Large ones ask for a strong pull,
    as the noise does; the batch where both ask for the same is taken, or the first that leaves
    little excess.
    """
    if noise_of_pass == 0.0:
        return at_least
    asked = _CURVATURE * proximal_strength(1.0, n_columns, noise_of_pass / n_rows) * n_rows
    per_row = max_iter * noise_of_pass**2 / n_rows
    size = float(at_least)
    # A contraction: the excess falls with the root of the size at most.
    for _ in range(40):
        size = 0.5 * (size + asked * _excess(per_row * size))
    size = min(size, _LARGE_ENOUGH / per_row, 0.1 * n_rows)
    return min(n_rows, max(at_least, math.ceil(size)))


def dual_share(noise):
    """Return the share of its range that a dual variable may reach in all passes."""
    return max(_LEAST_SHARE, 1.0 / (1.0 + _SHARE_PER_NOISE * noise))


def _excess(u):
    """Return the noise of P passes at a sampling rate q over that of large batches, u = P q s^2.

    From the central limit theorem of subsampled Gaussians (Bu et al. 2020): mu is
    ``q sqrt(T (exp(1 / sigma^2) - 1))`` for T = P / q steps, and 1 / s for a single release.
    """
    return 1.0 / math.sqrt(u * math.log1p(1.0 / u))
