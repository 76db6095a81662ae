"""Releases of two arrays as one vector, as the paper's algorithms make them."""

import numpy as np


def joint_reach(norm):
    """Return the factor by which clipping bounds both a row's dual update and what it adds to v."""
    return np.where(norm > 0.0, np.maximum(norm, 1.0), 0.0)


def release_jointly(mechanism, first, second, noise):
    """Release two arrays as one vector and return them in their shapes."""
    released = mechanism.release(np.concatenate([first.ravel(), second.ravel()]), noise)
    return released[: first.size].reshape(first.shape), released[first.size :].reshape(second.shape)
