"""The plan of DP-CD: releases of a coordinate of the gradient, and of columns' mean squares."""

import math
from dataclasses import dataclass

import numpy as np

from skdp._checks import check_count, check_positive
from skdp._mechanisms import GaussianMechanism
from skdp._plans._base import SPLIT_SLACK, Plan
from skdp._sampling import SingleCoordinateSampler
from skdp.accountant import GaussianEvent

# See doc/theory/default_rules.rst.
_AUTO_PASSES = 100
_AUTO_STEP = 1.0
_NOISE_SHARE = 0.1


@dataclass(frozen=True)
class DPCDProblem:
    """Public numbers of a training problem.

    Parameters
    ----------
    n_rows, n_columns, n_outputs : int
        Sizes, the intercept's column included.
    n_features : int
        Columns without the intercept's.
    loss_smoothness : float
        Bound on the slope of the loss's derivative.
    margin : float
        Size of a good prediction under the loss.
    row_norm : float
        Public bound on the norm of a row; infinite if there is none.
    rounding_slack, square_slack : float
        See `GaussianMechanism`; for the gradient's coordinates and the mean squares.
    """

    n_rows: int
    n_columns: int
    n_outputs: int
    n_features: int
    loss_smoothness: float
    margin: float
    row_norm: float
    rounding_slack: float
    square_slack: float


@dataclass(frozen=True, eq=False, kw_only=True)
class DPCDPlan(Plan):
    """A sampler, mechanisms, and the guarantee that running them gives.

    Parameters
    ----------
    budget, n_rows
        See `Plan`.
    problem : DPCDProblem
    n_passes : int
        Updates divided by the number of columns.
    period : int
        Steps between averagings.
    average : bool
        Whether there are any; without, a period is a pass.
    step_size : float
        Factor of the steps ``step_size / M_j``.
    clipping_norm : float or "auto"
        Factor C of the thresholds ``C_j = sqrt(M_j / sum(M)) C``; infinite without noise.
    clipping_scale : float
        Where `clipping_norm` is "auto", the largest C in units of the root of what M adds up to.
    sampler : SingleCoordinateSampler
    mechanism : GaussianMechanism
        Of a coordinate of the summed gradient in units of its threshold.
    square_mechanism : GaussianMechanism or None
        Of the sum of squares of the features in units of their bounds; None if nothing is bought.
    """

    problem: DPCDProblem
    n_passes: int
    period: int
    average: bool
    step_size: float
    clipping_norm: float | str
    clipping_scale: float
    sampler: SingleCoordinateSampler
    mechanism: GaussianMechanism
    square_mechanism: GaussianMechanism | None

    def clip(self, smoothness):
        """Return C for the columns' smoothness constants M."""
        if self.clipping_norm != "auto":
            return self.clipping_norm
        total = smoothness.sum()
        known = self.problem.loss_smoothness * self.problem.row_norm**2
        return min(math.sqrt(min(total, known)), self.clipping_scale * math.sqrt(total))

    def public_clip(self, smoothness):
        """Return C, or None if it follows from mean squares that were bought."""
        bought = self.square_mechanism is not None and self.clipping_norm == "auto"
        return None if bought else self.clip(smoothness)

    def units(self, smoothness):
        """Return what columns are divided by, and the step in those units' coordinates.

        The units are the thresholds C_j, and in them every coordinate has the same step; without
        clipping any common factor would do.
        """
        total = smoothness.sum()
        clip = self.clip(smoothness)
        scale = clip if math.isfinite(clip) else math.sqrt(total)
        return scale * np.sqrt(smoothness / total), self.step_size * scale**2 / total

    @property
    def square_range(self):
        """Range that released mean squares, in units of the bounds' squares, are moved to.

        They are at most 1, and at least the standard deviation of their noise: below, the release
        can't tell a column from an empty one, and a step that trusted it could be any number of
        times too long. Without noise and bounds nothing is moved.
        """
        if self.square_mechanism.noise_multiplier == 0.0:
            return 0.0, math.inf
        noise = self.square_mechanism.noise_std / self.problem.n_rows
        return min(1.0, noise), 1.0

    @property
    def events(self):
        """The release of mean squares, if they are bought, and the steps."""
        steps = GaussianEvent(self.mechanism.noise_multiplier, **self.sampler.design)
        if self.square_mechanism is None:
            return (steps,)
        return GaussianEvent(self.square_mechanism.noise_multiplier, pairwise=True), steps

    def report(self, *, clip=None, **facts):
        """Return the report of a run of this plan, see `Plan.report`, with C where it is public."""
        alone = self.square_mechanism is None
        return super().report(clipping=clip if alone else None, **facts)


def plan_dpcd(
    problem,
    budget,
    *,
    max_iter,
    clipping_norm,
    step_size,
    average_every,
    smoothness_budget,
):
    """Plan DP-CD: one release of a coordinate of the full gradient per step.

    Parameters
    ----------
    problem : DPCDProblem
    budget : Budget
    max_iter, clipping_norm, step_size, average_every
        As in the estimators.
    smoothness_budget : float
        Share of the squared Gaussian-DP parameter that buys the mean squares of the columns; 0 to
        buy none.

    Notes
    -----
    T full-batch Gaussians at multiplier s have mu = sqrt(T) / s (half that bound under
    "replace_one", which the accountant sees to), and squares of mu add up. So the steps get
    ``1 - smoothness_budget`` of it by a multiplier that is larger by the root of that, and the
    release of mean squares the rest. Its entries are in [0, 1] for each record, whose change moves
    the sum by at most ``sqrt(n_features)`` under either adjacency.
    """
    # Parameters may come unvalidated (`sklearn.set_config`).
    if not 0.0 <= smoothness_budget < 1.0:
        raise ValueError("smoothness_budget must be in (0, 1).")
    n_passes = _AUTO_PASSES if max_iter == "auto" else check_count(max_iter, "max_iter")
    if average_every is not None:
        average_every = check_count(average_every, "average_every")
    n_steps = n_passes * problem.n_columns
    multiplier = budget.calibrate(n_steps=n_steps)
    multiplier *= math.sqrt(1.0 / (1.0 - smoothness_budget))
    private = budget.is_private
    square_mechanism = None
    if smoothness_budget > 0.0:
        multiplier *= SPLIT_SLACK
        square_mechanism = GaussianMechanism(
            contribution_bound=math.sqrt(problem.n_features) if private else math.inf,
            noise_multiplier=SPLIT_SLACK
            * budget.calibrate(pairwise=True)
            / math.sqrt(smoothness_budget),
            size=problem.n_features,
            n_records=problem.n_rows,
            rounding_slack=problem.square_slack,
        )
    mechanism = GaussianMechanism(
        contribution_bound=1.0 if private else math.inf,
        noise_multiplier=multiplier,
        size=problem.n_outputs,
        n_records=problem.n_rows,
        rounding_slack=problem.rounding_slack,
    )
    if clipping_norm != "auto":
        clipping_norm = check_positive(clipping_norm, "clipping_norm")
    return DPCDPlan(
        budget=budget,
        n_rows=problem.n_rows,
        problem=problem,
        n_passes=n_passes,
        period=min(int(average_every or 1), n_passes) * problem.n_columns,
        average=average_every is not None,
        step_size=_AUTO_STEP if step_size == "auto" else float(step_size),
        clipping_norm=clipping_norm if private else math.inf,
        clipping_scale=_clipping_scale(problem, multiplier / math.sqrt(n_steps), n_passes),
        sampler=SingleCoordinateSampler(problem.n_columns, n_steps),
        mechanism=mechanism,
        square_mechanism=square_mechanism,
    )


def _clipping_scale(problem, one_step_noise, n_passes):
    """Return the C, per square root of what M adds up to, at which noise is a share of a margin.

    In coordinates in which every M_j is 1, an update at step size 1 adds noise of size
    ``C s sqrt(n_steps) / (n sqrt(sum(M)))`` to a coordinate and takes away what the last one left.
    Over all coordinates that moves a prediction by ``sqrt(n_columns / loss_smoothness)`` as much.
    """
    if one_step_noise == 0.0:
        return math.inf
    noise = one_step_noise * problem.n_columns * math.sqrt(n_passes) / problem.n_rows
    return _NOISE_SHARE * problem.margin * math.sqrt(problem.loss_smoothness) / noise
