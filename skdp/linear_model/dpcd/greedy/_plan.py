"""The plan of greedy DP-CD: in turn the choice of a coordinate, and a release of its slope.

The proof is in the documentation, "theory/greedy".
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from skdp._checks import check_count, check_positive
from skdp._release.plan import SPLIT_SLACK
from skdp._release.release import Release, named
from skdp.linear_model._plan import STEPS, Problem, SteppedPlan
from skdp.linear_model.dpcd.greedy import _tuned as tuned

# Runs and reports call the release besides steps so.
CHOICES = "choices of columns"
# The bound on a slope consists of so many parts. Up to the second number of them, whole numbers of
# parts can be added up in double precision.
_PARTS, _LARGEST_N_PARTS = 2**20, 2.0**49


@dataclass(frozen=True, eq=False, kw_only=True)
class GreedyPlan(SteppedPlan):
    """Mechanisms, their number of steps, and the guarantee that running them gives.

    Slopes are at most `clipping_norm` in size, all outputs of a row together; where the plan
    `scales`, a row's is divided by how far the larger of its labels' is beyond that, rather than
    cut. Columns are in units in which no value exceeds 1. `choice` tells the place of the largest
    of the sums of slopes along columns, in whole parts, and `step` the slopes along that column,
    and `weight_of_squares` times the sum of its squares. The first step of a model with an
    intercept is the intercept's, without a choice.
    """

    notes: ClassVar[tuple[str, ...]] = (
        "coordinates were chosen by exponential mechanisms (selection='greedy'), each of which is "
        "accounted as a Gaussian release that tells at least as much",
    )

    problem: Problem
    n_passes: int
    step_size: float
    clipping_norm: float
    scales: bool
    choice: Release

    @property
    def releases(self):
        """The choices and the steps."""
        return (*named(CHOICES, self.choice), *named(STEPS, self.step))

    @property
    def clipping(self):
        """None: choices and steps have bounds of their own."""

    @property
    def weight_of_squares(self):
        """What squares are multiplied by, to be in units of slopes."""
        return tuned.WEIGHT_OF_SQUARES * (self.clipping_norm if self.budget.is_private else 1.0)

    def parts(self, sums):
        """Return sums of slopes in whole parts of the bound on one; without a bound as they are."""
        if not self.budget.is_private:
            return sums
        # Their sums have fewer digits than numbers in double precision.
        n_parts = np.rint(sums * (_PARTS / self.clipping_norm))
        return np.clip(n_parts, -_LARGEST_N_PARTS, _LARGEST_N_PARTS)


def plan_greedy(problem, n_features, budget, *, max_iter, clipping_norm, step_size):
    """Plan greedy DP-CD: T choices, and T releases of a slope and of a mean square.

    All are Gaussian or accounted as such, so that squares of mu add up.
    """
    private, loss = budget.is_private, problem.loss
    scale, n_outputs = problem.scale, problem.n_outputs
    even = scale.typical == scale.largest == 1.0
    bounded = math.isfinite(loss.lipschitz)
    scales = private and clipping_norm == "auto" and bounded and n_outputs == 1 and even
    if clipping_norm == "auto":
        clip = scale.typical * (loss.lipschitz if bounded and not scales else tuned.CLIP)
    else:
        clip = check_positive(clipping_norm, "clipping_norm")
    if step_size == "auto":
        step_size = tuned.STEP_SIZE_OF_SCALED_SLOPES if scales else 1.0
    if max_iter == "auto":
        max_iter = auto_steps(budget.calibrate() * clip, problem)
    n_steps = check_count(max_iter, "max_iter")

    def noise_multiplier(share, n_steps):
        return SPLIT_SLACK * budget.calibrate(n_steps=n_steps) / math.sqrt(share)

    # The intercept's first step has no choice before it.
    n_released = n_steps + problem.n_columns - n_features
    # Parts are rounded to whole numbers, and so is the norm of several outputs' parts.
    rounded = 3.0 + 2.0 * n_outputs**1.5
    return GreedyPlan(
        budget=budget,
        n_records=problem.n_records,
        problem=problem,
        n_passes=n_steps,
        step_size=float(step_size),
        clipping_norm=clip if private else math.inf,
        scales=scales,
        choice=problem.release(
            bound=math.ceil(_PARTS * (1.0 + problem.rounding_slack) + rounded),
            noise_multiplier=noise_multiplier(tuned.SHARE_OF_CHOICES, n_steps),
            size=1,
            noise="choice",
            design={"n_steps": n_steps},
        ),
        step=problem.release(
            bound=clip * math.hypot(1.0, tuned.WEIGHT_OF_SQUARES) if private else math.inf,
            noise_multiplier=noise_multiplier(1.0 - tuned.SHARE_OF_CHOICES, n_released),
            size=n_outputs + 1,
            design={"n_steps": n_released},
        ),
    )


def auto_steps(noise, problem):
    """Return the number of steps, from the noise of a release of all the budget."""
    largest = min(tuned.PASSES_WITHOUT_PRIVACY * problem.n_columns, tuned.LARGEST_N_STEPS)
    if noise == 0.0:
        return largest
    information = problem.n_records / (noise * math.log(problem.n_columns + 1.0))
    n_steps = tuned.STEP_FACTOR * information ** (2.0 / 3.0)
    return round(min(max(n_steps, tuned.FEWEST_STEPS), largest))
