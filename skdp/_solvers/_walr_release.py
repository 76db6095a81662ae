"""Releases of sums of rows by label: what is known of their noise beforehand, and the releases.

A design is made of public rows before any label is seen, and says how large the noise will be. The
cheapest of several may be chosen by it.
"""

from typing import NamedTuple

import numpy as np

from skdp._solvers._walr import BLOCK
from skdp._solvers._walr_noise import (
    adapted_coordinates,
    expected_excess,
    spherical_coordinates,
)


class Release(NamedTuple):
    """What is released of labels, and how.

    Attributes
    ----------
    sums : ndarray of shape (k, d)
    noise_cov : ndarray of shape (d, d)
        Covariance of the noise of each of the sums.
    sensitivity : float or None
        In the coordinates of the release.
    """

    sums: np.ndarray
    noise_cov: np.ndarray
    sensitivity: float | None


class GaussianDesign:
    """Sums with Gaussian noise.

    Parameters
    ----------
    public : PublicRows
    plan : WALRPlan
    adapted : bool
        Whether the noise suits the rows or is the same for every column.
    """

    def __init__(self, public, plan, *, adapted):
        self.plan = plan
        self._public = public
        if adapted and plan.noise_multiplier > 0.0:
            self._coordinates = adapted_coordinates(public, plan.noise_multiplier)
        else:
            self._coordinates = spherical_coordinates(public.n_columns, public.longest)
        stretch = float(np.linalg.norm(self._coordinates.transform))
        stretch *= 1.0 + public.n_columns / min(public.n_rows, BLOCK)
        self._mechanism = plan.mechanism(self._coordinates.longest, stretch)
        inverse = self._coordinates.inverse
        self.noise_cov = self._mechanism.noise_std**2 * inverse @ inverse.T

    def release(self, targets, stream):
        """Release the sums of the rows of each class: all that is taken from labels.

        Parameters
        ----------
        targets : ndarray of shape (n, k)
            1 for rows of a class, -1 for others; of two classes one column.
        stream : stream of `skdp._random`

        Returns
        -------
        Release
        """
        coordinates, mechanism = self._coordinates, self._mechanism
        ones = (targets > 0.0).astype(np.float64)
        totals = self._public.sums(ones) @ coordinates.transform.T
        sums = mechanism.release(totals, stream) @ coordinates.inverse.T
        return Release(sums, self.noise_cov, mechanism.sensitivity)


class ResponseDesign:
    """Unbiased sums of rows by labels that coins may have changed.

    With probability q of each of the other classes, ``(1[response is c] - q) / (1 - k q)`` has the
    mean ``1[label is c]``. Its variance for a row, times the row's outer product with itself, adds
    up to a public covariance; of three classes and more, whose variances hang on labels, that of
    classes of equal shares.

    Parameters
    ----------
    public : PublicRows
    plan : ResponsePlan
    """

    def __init__(self, public, plan):
        self.plan = plan
        self._public = public
        self.noise_cov = plan.noise_multiplier**2 * public.n_rows * public.second_moment

    def release(self, targets, stream):
        """Release labels, see `GaussianDesign.release`, and return the sums that follow."""
        several = targets.shape[1] > 1
        codes = targets.argmax(axis=1) if several else (targets[:, 0] > 0.0).astype(np.int64)
        codes = self.plan.mechanism().release(codes, stream)
        return Release(self._unbiased(codes), self.noise_cov, None)

    def _unbiased(self, codes):
        """Return the sums, of which nothing hangs on labels but by the released ones."""
        n_classes, flip = self.plan.n_classes, self.plan.flip_probability
        ones = np.equal.outer(codes, np.arange(1 if n_classes == 2 else 0, n_classes))
        sums = self._public.sums(ones.astype(np.float64))
        return (sums - flip * self._public.total) / (1.0 - n_classes * flip)


def cheapest(public, designs):
    """Return the design whose noise is expected to cost a regression least, by public rows only."""

    def cost(design):
        return expected_excess(public, design.plan.share_left * design.noise_cov)

    return min(designs, key=cost)
