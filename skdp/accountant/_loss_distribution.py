"""Privacy loss distributions of a list of Gaussian events, as a privacy profile."""

import functools
import math

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import ndtri

from skdp.accountant._divergences import privacy_loss, privacy_loss_variance, subsampled_delta

# Grid step of the privacy loss, in standard deviations of the loss of one step. Connecting the
# dots adds at most a sixth of the squared step to the variance of each loss on average, here
# 0.2 %, and half of that to epsilon in relative terms.
_GRID = 0.1
_MAX_GRID_POINTS = 2**16
# Share of the squared mu of all events below which one has no say in the grid.
_NEGLIGIBLE = 1e-6
# The grid is so many times coarser where a rough answer will do.
_COARSENING = 4
# Composition bounds the tails by Chernoff's inequality, at rates of at most 20 over the number of
# grid points. The best rate is that of 8 standard deviations of the sum; with so many grid points,
# times the root of the number of steps and the grid step in standard deviations, it is in reach.
_POINTS_FOR_TAILS = 0.6
# Mass of one direction that may be moved to an infinite loss by cutting the tails.
_TAIL_MASS = 1e-17
# Bounds on the rounding error of a composition by FFT, per step: of any delta, and relative to a
# large one. Twice the largest error found against exponentially tilted compositions.
_FFT_ERROR = 2e-16
_FFT_RELATIVE_ERROR = 4e-15
_LARGEST_EPSILON = 1e12
# Slopes of the lines that bound the power of an attack, as logarithms.
_POSITIVE_GRID = np.geomspace(1e-4, 700.0, 48)
_TPR_GRID = np.concatenate([-_POSITIVE_GRID[_POSITIVE_GRID < 50.0][::-1], [0.0], _POSITIVE_GRID])
# Compositions take time and memory that grow with the root of the number of steps.
_LARGEST_PLD_STEPS = 4 * 10**6


def smallest_pld_delta(n_steps):
    """Smallest delta of which the rounding errors of the FFT are at most a twentieth.

    Infinite where there are too many steps to compose.
    """
    return max(1e-12, 20 * _FFT_ERROR * n_steps) if n_steps <= _LARGEST_PLD_STEPS else math.inf


class PLDProfile:
    """Profile of composed privacy loss distributions, one for each direction.

    A direction is composed when it is first needed. `selections` are pairs of a SelectionProfile,
    whose bound is of both directions, and the number of times that it is composed with the events.
    A coarse grid gives a quick answer that is too high.
    """

    def __init__(self, events, adjacency, *, selections=(), is_coarse=False):
        self._events, self._selections = events, selections
        self._directions = ("replace",) if adjacency == "replace_one" else ("remove", "add")
        self._n_steps = sum(event.n_steps for event in events)
        self._n_steps += sum(n_steps for _, n_steps in selections)
        step = _grid_step(events, selections, self._directions)
        self._step = _COARSENING * step if is_coarse else step
        self._composed, self._on_grid = {}, {}

    def epsilon(self, delta):
        if delta <= self._delta_floor():
            return math.inf
        largest = 0.0
        for direction in self._directions:
            if largest < math.inf and self._delta(direction, largest) > delta:
                largest = self._epsilon(direction, delta, largest)
        return largest

    def _epsilon(self, direction, delta, lower):
        log_delta = math.log(delta)

        def excess(epsilon):
            return math.log(self._delta(direction, epsilon)) - log_delta

        upper = max(2 * lower, 1.0)
        while excess(upper) > 0:
            lower, upper = upper, 2 * upper
            if upper > _LARGEST_EPSILON:
                return math.inf
        return brentq(excess, lower, upper, xtol=1e-300, rtol=1e-10) * (1 + 1e-10)

    def delta(self, epsilon):
        return max(self._delta(direction, float(epsilon)) for direction in self._directions)

    def excess(self, epsilon, delta):
        """Difference of the log odds of delta at epsilon, in the first direction, to delta's.

        The first direction is most often the worse one.
        """
        delta_there = min(self._delta(self._directions[0], epsilon), 1 - 1e-16)
        return math.log(delta_there / delta) - math.log1p(-delta_there) + math.log1p(-delta)

    def _delta_floor(self):
        return _FFT_ERROR * self._n_steps

    def _delta(self, direction, epsilon):
        delta = max(float(self._pmf(direction).get_delta_for_epsilon(epsilon)), 0.0)
        delta *= 1 + _FFT_RELATIVE_ERROR * self._n_steps
        return min(delta + self._delta_floor(), 1.0)

    def tpr(self, fpr):
        return max(self._tpr(direction, fpr) for direction in self._directions)

    def _tpr(self, direction, fpr):
        # P(S) <= delta(e) + exp(e) Q(S) for every real e. The right side is convex in exp(e), but
        # flat where delta is 1 to the last digit, so the search starts around the best of a grid.
        if fpr == 0:
            return self._delta(direction, _LARGEST_EPSILON)

        def line(epsilon):
            return self._delta(direction, epsilon) + math.exp(epsilon) * fpr

        lines = self._deltas_on_grid(direction) + np.exp(_TPR_GRID) * fpr
        best = int(lines.argmin())
        bounds = _TPR_GRID[max(best - 1, 0)], _TPR_GRID[min(best + 1, lines.size - 1)]
        minimum = minimize_scalar(line, bounds=bounds, method="bounded")
        return min(float(minimum.fun), float(lines[best]), 1.0)

    def _deltas_on_grid(self, direction):
        if direction not in self._on_grid:
            deltas = [self._delta(direction, float(epsilon)) for epsilon in _TPR_GRID]
            self._on_grid[direction] = np.array(deltas)
        return self._on_grid[direction]

    @np.errstate(over="ignore", under="ignore")
    def _pmf(self, direction):
        if direction not in self._composed:
            step = self._step
            parts = [(_loss_pmf(event, direction, step), event.n_steps) for event in self._events]
            parts += [(_selection_pmf(one, step), n_steps) for one, n_steps in self._selections]
            repeated = (_repeated(pmf, n_steps) for pmf, n_steps in parts)
            joint = functools.reduce(lambda one, other: one.compose(other, 1e-15), repeated)
            self._composed[direction] = joint
        return self._composed[direction]


@np.errstate(over="ignore")
def _grid_step(events, selections, directions):
    steps = [_gaussian_grid_step(events, directions)] if events else []
    least = 0.0
    for profile, _ in selections:
        end, deviation = profile.spread
        steps.append(_GRID * deviation)
        least = max(least, 2 * end / _MAX_GRID_POINTS)
    for event in events:
        for direction in directions:
            low, high = _loss_range(event, direction)
            least = max(least, (high - low) / _MAX_GRID_POINTS)
    return max(min(steps), least)


def _gaussian_grid_step(events, directions):
    variance = sum(
        e.n_steps * privacy_loss_variance(e.noise_multiplier, e.sampling_rate, directions[0])
        for e in events
    )
    n_steps = sum(event.n_steps for event in events)
    # With little noise the loss has two modes; the inner spread of the far one counts too, but not
    # that of events which add next to nothing to the others.
    weights = [e.n_steps * (e.sampling_rate / e.noise_multiplier) ** 2 for e in events]
    spread = min(
        1 / event.noise_multiplier
        for event, weight in zip(events, weights, strict=True)
        if weight >= _NEGLIGIBLE * sum(weights)
    )
    return _GRID * min(math.sqrt(variance / n_steps), spread)


def _loss_range(event, direction):
    """Losses between which all but a negligible mass lies."""
    sigma, q = event.noise_multiplier, event.sampling_rate
    width = -float(ndtri(_TAIL_MASS / event.n_steps)) * sigma
    ends = np.array([-width, width if direction == "add" else width + 1])
    return tuple(sorted(privacy_loss(ends, sigma, q, direction).tolist()))


def _repeated(pmf, n_steps):
    return pmf if n_steps == 1 else pmf.self_compose(n_steps)


def _selection_pmf(profile, step):
    """Dominating discrete privacy loss of one selection, whose bound is a profile itself."""
    end, _ = profile.spread
    last = math.ceil(end / step)
    return _connect_the_dots(step, -last, last, profile.chord(np.arange(-last, last + 1) * step))


def _loss_pmf(event, direction, step):
    """Dominating discrete privacy loss of one step (Doroshenko et al. 2022, algorithm 1)."""
    low, high = _loss_range(event, direction)
    first, last = math.floor(low / step), math.ceil(high / step)
    last = max(last, first + math.ceil(_POINTS_FOR_TAILS / _GRID * math.sqrt(event.n_steps)))
    grid = np.arange(first, last + 1) * step
    deltas = subsampled_delta(grid, event.noise_multiplier, event.sampling_rate, direction)
    return _connect_the_dots(step, first, last, deltas)


def _connect_the_dots(step, first, last, deltas):
    from dp_accounting.pld import pld_pmf

    pmf = pld_pmf.create_pmf_pessimistic_connect_dots_fixed_gap(
        step, first, last, np.minimum.accumulate(deltas)
    )
    return pmf.to_dense_pmf()
