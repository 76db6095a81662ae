"""Profile of private selection: the best of a random number of private trials.

The proofs are in the documentation, "theory/selection".
"""

import functools
import math

import numpy as np

from skdp.accountant._divergences import bisected, largest_power
from skdp.accountant._selection_event import any_of, any_of_inverse

_N_POINTS = 256
# Deltas of which one is where the grid ends, the first of finite epsilon.
_ENDS = (1e-16, 1e-13, 1e-10, 1e-7, 1e-4)
# Exponentials of these, and slopes of chords between them, are far from underflow. Below the
# first, 1 - exp(epsilon) is 1.
_FIRST_EPSILON, _LAST_EPSILON = -36.0, 600.0
_ROUNDING = 1e-12
_LEAST_MASS = 1e-12


class LargestProfile:
    """Profile of releases of which a record takes part in one only: the largest of theirs."""

    def __init__(self, profiles):
        self._profiles = profiles

    def delta(self, epsilon):
        return max(profile.delta(epsilon) for profile in self._profiles)

    def epsilon(self, delta):
        return max(profile.epsilon(delta) for profile in self._profiles)


class SelectionProfile:
    """Upper bound on the profile of the best of K trials, for both directions.

    With the generating function f of K, its odds c of going on and the profile delta_Q of a trial,
    ``delta(e) <= 1 - f(1 - delta_Q(max(e - (eta + 1) r, 0)))`` for every r such that
    ``1 + c delta_Q(r) <= exp(r)``, delta_Q being in the reverse direction. What is convex in
    exp(e) and below that is the second bound.
    Of a trial is meant the worse of both directions, which is asked for epsilons of at least 0.
    """

    def __init__(self, trial, repetitions):
        self._trial = trial
        self._repetitions = repetitions

    def delta(self, epsilon):
        if epsilon < 0:
            there = math.exp(epsilon)
            return min(1 - there * (1 - self.delta(-epsilon)) + _ROUNDING, 1.0)
        return min(self._direct_delta(epsilon), float(self.chord(epsilon)))

    def epsilon(self, delta):
        direct = self._direct_epsilon(delta)
        epsilons, deltas = self._vertices
        after = int(np.argmax(deltas * (1 + _ROUNDING) <= delta))
        if after == 0 or direct == 0:
            return direct
        low, high = epsilons[after - 1], epsilons[after]
        drop = deltas[after - 1] - deltas[after]
        share = min((deltas[after - 1] - delta * (1 - 2 * _ROUNDING)) / drop, 1.0)
        between = low + math.log1p(share * math.expm1(high - low))
        return max(min(direct, between * (1 + _ROUNDING)), 0.0)

    def tpr(self, fpr):
        epsilons, deltas = self._vertices
        inside = epsilons >= 0
        return largest_power(fpr, epsilons[inside], np.minimum(deltas[inside], 1.0))

    def chord(self, epsilons):
        """Values of a function that is convex in exp(epsilon) and an upper bound everywhere."""
        known, deltas = self._vertices
        epsilons = np.clip(epsilons, None, known[-1])
        after = np.clip(np.searchsorted(known, epsilons, side="right"), 1, known.size - 1)
        low, high = known[after - 1], known[after]
        # With hardly any noise there is one corner.
        width = np.expm1(high - low) if known.size > 1 else 1.0
        share = np.expm1(np.maximum(epsilons, low) - low) / width
        between = deltas[after - 1] + share * (deltas[after] - deltas[after - 1])
        before = 1 - np.exp(epsilons - known[0]) * (1 - deltas[0])
        return np.minimum(np.where(epsilons < known[0], before, between) * (1 + _ROUNDING), 1.0)

    @functools.cached_property
    def shift(self):
        """By how much more epsilon is than that of a trial, at deltas that go together."""

        def grown(epsilon):
            return math.log1p(self._repetitions.odds * self._trial.delta(epsilon))

        start = grown(0.0)
        high = bisected(lambda epsilon: grown(epsilon) <= epsilon, 0.0, start, n_halvings=60)
        return (self._repetitions.eta + 1) * high * (1 + _ROUNDING)

    @property
    def reveals_all(self):
        """Whether hardly any mass of the losses is finite, too little to be composed."""
        return self._vertices[1][-1] > 1 - _LEAST_MASS

    @functools.cached_property
    def spread(self):
        """Ends of the losses, and their standard deviation where they are finite."""
        epsilons, deltas = self._vertices
        drops, gaps = np.diff(deltas), np.diff(epsilons)
        masses = np.append(1 - deltas[0], drops / np.expm1(-gaps))
        masses += np.append(drops / np.expm1(gaps), 0.0)
        mean = masses @ epsilons
        return epsilons[-1], math.sqrt(max(masses @ (epsilons - mean) ** 2, 1e-30))

    def _direct_delta(self, epsilon):
        return any_of(self._repetitions, self._trial.delta(max(epsilon - self.shift, 0.0)))

    def _direct_epsilon(self, delta):
        if any_of(self._repetitions, self._trial.delta(0.0)) <= delta:
            return 0.0
        inner = self._trial.epsilon(any_of_inverse(self._repetitions, delta))
        return (inner + self.shift) * (1 + _ROUNDING)

    @functools.cached_property
    def _vertices(self):
        """Corners of the largest function below the direct bound that is convex in exp(epsilon).

        Chords between any points of an upper bound on a convex function are above it, so that an
        error in the choice of corners does no harm.
        """
        ends = (self._direct_epsilon(delta) for delta in _ENDS)
        end = min(next((end for end in ends if math.isfinite(end)), math.inf), _LAST_EPSILON)
        end = max(end, 1e-9)
        grid = np.concatenate(
            [
                [0.0, min(self.shift, end)],
                np.linspace(0.0, end, _N_POINTS),
                np.geomspace(1e-4 * end, end, _N_POINTS),
                min(self.shift, end) + np.geomspace(1e-4 * end, end, _N_POINTS),
            ]
        )
        grid = np.unique(grid[grid <= end])
        deltas = np.array([self._direct_delta(epsilon) for epsilon in grid.tolist()])
        near = (grid > 0) & (grid <= -_FIRST_EPSILON)
        mirrored = -np.expm1(-grid[near]) + np.exp(-grid[near]) * deltas[near]
        return _lower_hull(
            np.concatenate([-grid[near][::-1], grid]), np.append(mirrored[::-1], deltas)
        )


def _lower_hull(epsilons, deltas):
    """Corners of the lower convex hull of the points (exp(epsilon), delta) and (0, 1).

    The latter is left out, and so are points of which the exponential is that of one before.
    """
    powers, first = np.unique(np.exp(epsilons), return_index=True)
    epsilons, deltas = epsilons[first], deltas[first]
    corners = [(0.0, 1.0)]
    chosen = [-1]
    for index, (x, y) in enumerate(zip(powers.tolist(), deltas.tolist(), strict=True)):
        while len(corners) > 1:
            (x0, y0), (x1, y1) = corners[-2:]
            if (y1 - y0) / (x1 - x0) < (y - y1) / (x - x1):
                break
            corners.pop()
            chosen.pop()
        corners.append((x, y))
        chosen.append(index)
    return epsilons[chosen[1:]], deltas[chosen[1:]]
