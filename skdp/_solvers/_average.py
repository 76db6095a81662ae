"""Averaging of iterates: post-processing, so it costs no privacy."""

import math

import numpy as np


class TailAverage:
    """The mean of the last iterates, or the last one.

    Parameters
    ----------
    shape : tuple of int
        Shape of an iterate.
    n_steps : int
        Number of iterates to come.
    average : bool
        False: only the last counts.
    skipped : float, default=0.5
        Share of the iterates that don't count, in [0, 1).
    """

    def __init__(self, shape, n_steps, average, skipped=0.5):
        self._skipped = math.floor(skipped * n_steps) if average else n_steps - 1
        self._n_steps = n_steps
        self._seen = 0
        self._total = np.zeros(shape)

    def add(self, iterate):
        """Take in the next iterate."""
        if self._seen >= self._skipped:
            self._total += iterate
        self._seen += 1

    def value(self):
        """Return the mean of those that count."""
        return self._total / (self._n_steps - self._skipped)


def late_average(mean, iterate, n_seen):
    """Return the average of iterates that come without an end, the later ones counting more.

    The t-th of T has a weight of about ``4 t**3 / T**4`` (Shamir and Zhang 2013, with eta = 3).

    Parameters
    ----------
    mean : ndarray
        The average so far; anything of the same shape for the first.
    iterate : ndarray
        The next iterate.
    n_seen : int
        Number of iterates, this one included.
    """
    share = 4.0 / (n_seen + 3.0)
    return (1.0 - share) * mean + share * iterate


class CoordinateMean:
    """The mean of iterates that change in one coordinate at a time, at the cost of a coordinate.

    Parameters
    ----------
    n_outputs, n_columns : int
    """

    def __init__(self, n_outputs, n_columns):
        self.total = [[0.0] * n_columns for _ in range(n_outputs)]
        self._counted = [0] * n_columns

    def uncounted(self, j, n_iterates):
        """Return for how many of the first `n_iterates` coordinate `j` has yet to be counted.

        The caller adds so many times its value to ``total[output][j]``, before it changes.
        """
        times = n_iterates - self._counted[j]
        self._counted[j] = n_iterates
        return times

    def value(self, w, n_iterates):
        """Return the mean of all `n_iterates`, the last of which is `w`."""
        return (
            np.array(self.total) + np.array(w) * (n_iterates - np.array(self._counted))
        ) / n_iterates
