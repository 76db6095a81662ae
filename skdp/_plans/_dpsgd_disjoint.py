"""Disjoint batches: their sizes and noise, for one budget or for those of the records."""

import math

import numpy as np

from skdp._sampling import SortedPartitionSampler

# Disjoint batches are at most this share of the rows, so that there are some steps to take.
_FEWEST_PARTS = 40
# Relative error that sums of shares may have.
_ROUNDING = 1e-9


def auto_disjoint_size(n_rows, n_entries, noise_multiplier):
    """Return the size of disjoint batches, at least 8 and at most a share of the rows.

    Larger batches drown less in noise and leave fewer steps; in between, the best size was found to
    grow with the square root of the number of rows times the noise. Numbers or arrays.
    """
    noise = noise_multiplier * math.sqrt(n_entries + 1.0)
    size = np.rint(np.sqrt(n_rows * noise) / 3.0)
    return np.maximum(8, np.minimum(size, n_rows // _FEWEST_PARTS))


def sort_by_budget(multipliers, n_entries, n_passes, batch_size):
    """Return a sampler whose batches have records of about the same public noise multiplier.

    Parameters
    ----------
    multipliers : ndarray of shape (n_rows,)
        What each record asks for.
    n_entries : int
        Entries of a release.
    n_passes : int
    batch_size : int or "auto"
        "auto" gives each record a batch of the size that suits a fit of records like it. A quieter
        record, one of a smaller multiplier, counts as one of these, and a noisier one as the share
        of information that it has, which is inverse to the square of its noise.

    Returns
    -------
    sampler : SortedPartitionSampler
    noises : ndarray of shape (n_parts,)
        Noise multiplier of each batch over its size.
    """
    n_rows = multipliers.size
    ordered = np.sort(multipliers)
    if batch_size == "auto":
        information = ordered**-2.0
        noisier = np.cumsum(information[::-1])[::-1] - information
        n_alike = np.arange(1, n_rows + 1) + ordered**2 * noisier
        wanted = np.minimum(n_rows, auto_disjoint_size(n_alike, n_entries, ordered))
    else:
        wanted = np.full(n_rows, batch_size)
    ends = _ends(wanted)
    sizes = np.diff(ends, prepend=0)
    sampler = SortedPartitionSampler(multipliers, tuple(sizes.tolist()), n_passes)
    return sampler, ordered[ends - 1] / sizes


def full_step_noise(noises):
    """Return the noise over size up to which batches take full steps: that of the mean information.

    Noisier ones take steps that are shorter by the square of the ratio. Where noise is all that
    limits training, steps inverse to its variance make the most of the batches.
    """
    return 1.0 / math.sqrt(np.mean(noises**-2.0))


def mean_noise(noises):
    """Return the root mean square of what batches' noises come to, shorter steps included."""
    lengths = np.minimum(1.0, full_step_noise(noises) / noises) ** 2
    return math.sqrt(np.mean((lengths * noises) ** 2))


def _ends(wanted):
    """Return where batches end, if each row is to be in a batch of at most about its wanted size.

    A row fills a share of its batch; all batches are filled alike. Equal wishes give sizes that
    differ by at most one and are no larger than wished for.
    """
    filled = np.cumsum(1.0 / wanted)
    n_parts = math.ceil(filled[-1] * (1.0 - _ROUNDING))
    limits = filled[-1] * np.arange(1, n_parts + 1) / n_parts
    return np.searchsorted(filled, limits * (1.0 + _ROUNDING), side="right")
