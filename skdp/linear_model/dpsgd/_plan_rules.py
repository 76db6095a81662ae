"""Automatic batches, clipping and steps of DP-SGD; doc/theory/default_rules.rst has the reasons."""

import math
from dataclasses import dataclass
from typing import NamedTuple

_SMALLEST_STEP, _LARGEST_STEP = 1e-30, 1e30
# Share of the reach that the subgradient method without noise takes the optimum to be away.
_OPTIMUM = 0.8
# Noise multiplier of a step from which on smaller batches hardly cost noise.
_LOUD = 1.25
# Larger batches leave at least this many steps.
_FEWEST_STEPS = 300
# The reach is the length of so many entries; where there are more, that of as many of them.
_MANY_COLUMNS = 64
# Momentum remembers no more than this share of the steps.
_MEMORY = 1.0 / 15.0
# Share of the reach that a step moves a prediction by at most, without smoothness.
_STRIDE = 0.2
# Noise of a prediction, over 1 / noise of the mean gradient, up to which it is worth its signal.
_WORTH = 0.1


class Step(NamedTuple):
    """The first step size, and the share of a step's direction that is that of the last one."""

    eta0: float
    momentum: float = 0.0


@dataclass(frozen=True)
class StepSizes:
    """What the parameters `learning_rate`, `eta0`, `power_t` and `alpha` ask for."""

    learning_rate: str
    eta0: float | str
    power_t: float
    alpha: float

    @property
    def power(self):
        """The p of step sizes proportional to ``t ** -p``."""
        return {"constant": 0.0, "invscaling": self.power_t, "inv_alpha": 1.0}[self.learning_rate]

    def first(self, problem, clip, noise, n_steps, *, with_momentum=True):
        """Return the first step.

        The noise of all steps, of standard deviation `noise` on each entry of a step's mean
        gradient over the clipping norm, moves an entry of w by up to eta0 * clip * noise *
        sqrt(sum of t ** (-2 p)). "auto" gives the vector of these, times a row, the length of the
        loss's reach. Steps longer than is stable without noise are taken with momentum.
        """
        if self.learning_rate == "inv_alpha":
            return Step(1.0 / self.alpha)
        if self.eta0 != "auto":
            return Step(float(self.eta0))
        total = math.sqrt(_sum_of_powers(n_steps, 2.0 * self.power))
        smooth = math.isfinite(problem.smoothness)
        most = 1.0 - 1.0 / max(1.0, _MEMORY * n_steps) if with_momentum else 0.0
        if noise == 0.0:
            # Without smoothness: what bounds the error of the subgradient method.
            slope = problem.typical_weight * problem.lipschitz
            found = _OPTIMUM * problem.noise_reach / (slope * problem.row_norm**2 * total)
            if smooth:
                found = 1.0 / (problem.typical_weight * problem.smoothness * problem.row_norm**2)
                longest = found * min(problem.typical_weight / problem.largest_weight, 1.0)
                return _with_momentum(found, longest, most)
            return Step(_within_range(found))
        entry = problem.noise_reach / math.sqrt(min(problem.n_columns, _MANY_COLUMNS))
        entry = min(entry, _WORTH * math.sqrt(n_steps) / noise)
        wanted = entry / (problem.row_norm * clip * noise * total)
        if not smooth:
            # No step moves a prediction by more than a share of the reach.
            longest = _STRIDE * problem.noise_reach / (problem.row_norm * clip)
            return Step(_within_range(min(wanted, longest)))
        # From this step on gradient descent can diverge; what is heavier than typical is cut.
        longest = 2.0 / (problem.typical_weight * problem.smoothness * problem.row_norm**2)
        return _with_momentum(wanted, longest, most)


def auto_poisson_size(problem, n_passes, noise_of_fit):
    """Return the expected size of Poisson batches.

    Parameters
    ----------
    problem : DPSGDProblem
    n_passes : int
    noise_of_fit : float
        Noise multiplier of one release of all rows that spends the whole budget.

    Notes
    -----
    The noise of all steps together hardly depends on the size while the multiplier of a step,
    ``noise_of_fit * sqrt(n_passes * size / n_rows)`` then, is `_LOUD` or more. Without smoothness
    steps can't be longer instead of more, and batches stay small.
    """
    n_rows = problem.n_rows
    size = math.sqrt(n_rows) / 4.0
    if noise_of_fit > 0.0 and math.isfinite(problem.smoothness):
        loud = (_LOUD / noise_of_fit) ** 2 * n_rows / n_passes
        size = max(2.0 * size, min(loud, n_rows * n_passes / _FEWEST_STEPS))
    return min(n_rows, max(8, round(size)))


def auto_slope(problem, noise):
    """Return the slope that gradients of rows at their bound are clipped at.

    Parameters
    ----------
    problem : DPSGDProblem
    noise : float
        Standard deviation of an entry of the mean of all released mean gradients, over the
        clipping norm.
    """
    return 1.0 / (1.0 + math.sqrt(problem.clip_decay * math.sqrt(problem.n_columns) * noise))


def _with_momentum(wanted, longest, most):
    """Return a step as long as wanted, with so much momentum that one of the longest is stable."""
    momentum = min(max(1.0 - longest / wanted, 0.0), most)
    return Step(_within_range(min(wanted, longest / (1.0 - momentum))), momentum)


def _within_range(step):
    return float(min(max(step, _SMALLEST_STEP), _LARGEST_STEP))


def _sum_of_powers(n_steps, exponent):
    """Return about the sum of ``t ** -exponent`` over t from 1 to `n_steps`; exact for 0."""
    if exponent == 1.0:
        return 1.0 + math.log(n_steps)
    return 1.0 + (float(n_steps) ** (1.0 - exponent) - 1.0) / (1.0 - exponent)
