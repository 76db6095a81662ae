"""The plan of DP-CD: releases of a coordinate of the gradient, and of columns' mean squares.

The proof is in the documentation, "theory/passes".
"""

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from skdp._checks import check_count, check_positive
from skdp._release.plan import SPLIT_SLACK
from skdp._release.release import Release, named
from skdp._release.sampling import SingleCoordinateSampler
from skdp.linear_model._plan import STEPS, Problem, SteppedPlan, learnt_before, scaled
from skdp.linear_model.dpcd import _tuned as tuned

# Runs and reports call releases besides steps so.
SQUARES, INTERCEPT_STEPS = "mean squares of columns", "steps of the intercept"


@dataclass(frozen=True, kw_only=True)
class DPCDProblem(Problem):
    """With the number of columns without the intercept's.

    `reach` is a public bound on the norm of a row's features in units of their bounds, and
    `square_slack` the rounding slack of mean squares.
    """

    n_features: int
    reach: float
    square_slack: float

    @property
    def has_intercept(self):
        """Whether the last column is the intercept's."""
        return self.n_columns > self.n_features


@dataclass(frozen=True, eq=False, kw_only=True)
class DPCDPlan(SteppedPlan):
    """A sampler, mechanisms, and the guarantee that running them gives.

    `n_passes` are updates divided by the number of columns. A `period` is so many steps between
    averagings, at which the iterate is replaced by their mean if there is to be an `average`; with
    `tail` the mean of the second half of the passes is released instead.

    Steps are ``step_size / M_j``, and thresholds ``C_j = sqrt(M_j / sum(M)) C``, with C the
    `clipping_norm`, infinite without noise. Where the plan `scales`, a row's slope is divided by
    how far the larger of its labels' is beyond the threshold, rather than cut. `shrinkage` is the
    strength of the penalty on the mean squares of the columns' parts of predictions. A feature that
    has an L1 penalty has the coefficient 0 within `doubt` standard deviations of its own noise.
    `noise_of_pass` is the standard deviation that noise would have, summed over columns of mean
    square 1, if one pass were the fit and thresholds were 1.

    In units of thresholds `step` releases entries of the summed gradient that belong to features,
    and `alone` the intercept's, None if there is none. Cut `by_row`, a record's entries of a whole
    pass have a bounded norm, and `step` is one release for each pass, made one entry at a time;
    otherwise each entry has a bound, and is a release. `squares`, None if nothing is bought,
    releases the sums of squares of the features in units of their bounds, and of the features times
    `weight_of_means`.
    """

    weight_of_means: ClassVar = tuned.WEIGHT_OF_MEANS

    problem: DPCDProblem
    n_passes: int
    period: int
    average: bool
    tail: bool
    step_size: float
    clipping_norm: float | str
    scales: bool
    shrinkage: float
    doubt: float
    noise_of_pass: float
    sampler: SingleCoordinateSampler
    by_row: bool
    alone: Release | None
    squares: Release | None

    def clip(self, smoothness):
        """Return C for the columns' smoothness constants M."""
        if self.clipping_norm != "auto":
            return self.clipping_norm
        return self._width * math.sqrt(smoothness.sum() / self.problem.loss.smoothness)

    @property
    def _width(self):
        width = auto_width(
            self.noise_of_pass,
            self.n_passes,
            self.problem,
            scales=self.scales,
            by_row=self.by_row,
        )
        return width * self.problem.scale.typical

    def weights_of_curvature(self, mean_weight):
        """Return curvatures over mean squares: of the features' columns, and of the intercept's.

        No release weighs the mean square of the intercept's column. Rows that are heavier than
        typical are cut. Where nothing is cut, released mean squares are those of weighted rows;
        where mean squares were given, the heaviest row could make up all of one.
        """
        scale = self.problem.scale
        if self.budget.is_private:
            return scale.typical, scale.typical
        return 1.0 if self.squares is not None else scale.largest, mean_weight

    def public_clip(self, smoothness):
        """Return C, or None if it follows from mean squares that were bought."""
        bought = self.squares is not None and self.clipping_norm == "auto"
        return None if bought else self.clip(smoothness)

    def units(self, smoothness):
        """Return the thresholds C_j, which columns are divided by, and steps in those units.

        Without clipping any common factor would do.
        """
        total = smoothness.sum()
        clip = self.clip(smoothness)
        scale = clip if math.isfinite(clip) else math.sqrt(total)
        unit = scale * np.sqrt(smoothness / total)
        if self.clipping_norm == "auto" and self.problem.has_intercept:
            # The intercept's slopes are the loss's: of labels of a rare class all are needed.
            one, loss = self.problem.scale.typical, self.problem.loss
            width = min(max(self._width, one), one * loss.lipschitz)
            unit[-1] = width * math.sqrt(smoothness[-1] / loss.smoothness)
        return unit, self.step_size * unit**2 / smoothness

    def shrinkages(self, smoothness):
        """Return the strengths of the L2 penalty that shrinkage is, none on the intercept."""
        strengths = self.shrinkage * smoothness / self.problem.loss.smoothness
        strengths[self.problem.n_features :] = 0.0
        return strengths

    @property
    def buys_means(self):
        """Whether the features' means are released with their mean squares, to be taken away."""
        return _buys_means(self.problem, self.budget)

    def likely_moments(self, squares, means):
        """Return mean squares of centred features, and centres, from what was released of both.

        All in units of the bounds. The squares of a record add up to the square of
        ``problem.reach`` at most, so that is their scale if they are told by nothing else. Released
        numbers count the less for it the larger their noise is, as they would if mean squares and
        means had been drawn at that scale. Twice the standard deviation of its noise, or that scale
        if it is smaller, is then added to a mean square: a step that trusted one that noise made
        too small could be too long to settle, and below this a column can't be told from an empty
        one. Without noise and bounds nothing is moved.
        """
        if self.squares.mechanism.noise_multiplier == 0.0:
            return squares, means
        noise = self.squares.mechanism.noise_std / self.n_records
        scale = self.problem.reach**2 / self.problem.n_features
        means = means / (1.0 + (noise / tuned.WEIGHT_OF_MEANS) ** 2 / scale)
        means = np.clip(means, -1.0, 1.0)
        squares = scale + (squares - scale) / (1.0 + (noise / scale) ** 2)
        doubt = min(2.0 * noise, scale)
        return np.clip(squares - means**2 + doubt, doubt, 1.0), means

    @property
    def releases(self):
        """Those of targets and ball, of mean squares, if they are bought, and of the steps."""
        return (
            *learnt_before(self.target_releases, self.ball),
            *named(SQUARES, self.squares),
            *named(STEPS, self.step),
            *named(INTERCEPT_STEPS, self.alone),
        )

    def following(self, radius, stretch, outside):
        """Return the plan for rows of a ball of this radius: a clip that was given follows it."""
        if not self.budget.is_private:
            return self
        clip = scaled(self.clipping_norm, radius / self.ball.data_norm)
        return replace(self, clipping_norm=clip)

    @property
    def clipping(self):
        """C where that bounds all that a record adds, and else None.

        By row a pass may add more than C to columns of large thresholds, and an automatic C doesn't
        bound the intercept's entries.
        """
        alone = self.squares is self.target_releases is self.ball is None
        bounds_all = alone and not self.by_row and self.clipping_norm != "auto"
        return self.clipping_norm if bounds_all else None


def plan_dpcd(
    problem,
    budget,
    *,
    max_iter,
    clipping_norm,
    clip_by,
    step_size,
    average_every,
    shrinkage,
    bought_share,
    target_releases=None,
    ball=None,
    spent=0.0,
):
    """Plan DP-CD: one release of a coordinate of the full gradient per step.

    `bought_share` is the share of the squared Gaussian-DP parameter that buys the mean squares of
    the columns; 0 buys none. It is a share of what `target_releases` and `ball` leave, which have
    spent the share `spent` before. T full-batch Gaussians at multiplier s have mu = sqrt(T) / s
    (half that bound under "replace_one", which the accountant sees to), and squares of mu add up.
    So the steps get ``1 - bought_share`` of it by a multiplier that is larger by the root of that,
    and the release of the moments the rest.
    """
    # Parameters may come unvalidated (`sklearn.set_config`).
    if not 0.0 <= bought_share < 1.0:
        raise ValueError("smoothness_budget must be in (0, 1).")
    private, loss = budget.is_private, problem.loss
    left = 1.0 - spent
    rest = 1.0 / (left * (1.0 - bought_share))
    noise_of_pass = budget.calibrate() * math.sqrt(rest) * problem.n_columns / problem.n_records
    scales = clipping_norm == "auto" and _scales(noise_of_pass, problem)
    if max_iter == "auto":
        max_iter = auto_passes(noise_of_pass, problem, scales=scales)
    n_passes = check_count(max_iter, "max_iter")
    tail = average_every == "auto" and private
    if average_every == "auto":
        average_every = None
    elif average_every is not None:
        average_every = check_count(average_every, "average_every")
    n_alone = tuned.STEPS_OF_INTERCEPT if tail and problem.has_intercept else 0
    n_steps = n_passes * problem.n_columns + n_alone
    multiplier = budget.calibrate(n_steps=n_steps) * math.sqrt(rest)
    squares = None
    if bought_share > 0.0:
        multiplier *= SPLIT_SLACK
        squares = budget.release(
            bound=_distance_of_moments(problem, budget, both=False),
            pair_bound=_distance_of_moments(problem, budget, both=True),
            share=left * bought_share,
            size=problem.n_features * (2 if _buys_means(problem, budget) else 1),
            n_records=problem.n_records,
            slack=problem.square_slack,
        )
    by_row = clip_by == "row"
    step, alone = _releases(problem, multiplier, n_passes, n_alone, private=private, by_row=by_row)
    if clipping_norm != "auto":
        clipping_norm = check_positive(clipping_norm, "clipping_norm")
    doubt = 0.0
    if shrinkage != "auto":
        shrinkage = float(shrinkage)
        if not 0.0 <= shrinkage < math.inf:
            raise ValueError("shrinkage must be 'auto' or a number that isn't negative.")
    elif not private:
        shrinkage = 0.0
    else:
        wanted = tuned.SHRINKAGE * (tuned.SCALED_CURVATURE if scales else 1.0) * noise_of_pass
        shrinkage = min(wanted / loss.typical_prediction, tuned.LARGEST_SHRINKAGE * loss.smoothness)
        # The largest of so many normal variables is seldom beyond.
        doubt = math.sqrt(2.0 * math.log(max(problem.n_features, 2)))
    return DPCDPlan(
        budget=budget,
        n_records=problem.n_records,
        problem=problem,
        n_passes=n_passes,
        period=min(int(average_every or 1), n_passes) * problem.n_columns,
        average=average_every is not None,
        tail=tail,
        step_size=tuned.STEP_SIZE if step_size == "auto" else float(step_size),
        clipping_norm=clipping_norm if private else math.inf,
        scales=scales,
        shrinkage=shrinkage,
        doubt=doubt,
        noise_of_pass=noise_of_pass,
        sampler=SingleCoordinateSampler(problem.n_columns, n_steps, n_alone),
        by_row=by_row,
        step=step,
        alone=alone,
        squares=squares,
        target_releases=target_releases,
        ball=ball,
    )


def _releases(problem, multiplier, n_passes, n_alone, *, private, by_row):
    """Return the releases of features' entries, and of the intercept's or None.

    All entries have the same noise. By row, a pass of them has a bound that is the root of their
    number, and noise that is as much smaller relative to it: see doc/theory/passes.rst.
    """
    n_outputs, together = problem.n_outputs, problem.n_features if by_row else 1

    def release(together, n_steps):
        return problem.release(
            bound=math.sqrt(together) if private else math.inf,
            noise_multiplier=multiplier / math.sqrt(together),
            size=together * n_outputs,
            design={"sampling_rate": 1.0, "n_steps": n_steps},
            n_calls=together,
        )

    step = release(together, n_passes * problem.n_features // together)
    return step, release(1, n_passes + n_alone) if problem.has_intercept else None


def auto_passes(noise_of_pass, problem, *, scales):
    """Return the number of passes; see doc/theory/default_rules.rst."""
    if noise_of_pass == 0.0:
        return tuned.PASSES_WITHOUT_PRIVACY
    passes = tuned.PASSES_PER_NOISE / (tuned.SCALED_CURVATURE if scales else 1.0)
    fewest = tuned.FEWEST_PASSES
    if math.isfinite(problem.loss.lipschitz):
        settled = tuned.SETTLED_PASSES_PER_NOISE / math.sqrt(noise_of_pass)
        fewest = min(max(settled, tuned.FEWEST_SETTLED_PASSES), fewest)
    return round(min(max(passes / math.sqrt(noise_of_pass), fewest), tuned.LARGEST_N_PASSES))


def auto_width(noise_of_pass, n_passes, problem, *, scales, by_row):
    """Return the thresholds over the roots of the columns' mean squares."""
    if noise_of_pass == 0.0:
        return math.inf
    loss = problem.loss
    max_noise = tuned.LARGEST_NOISE_OF_PREDICTION * loss.typical_prediction * loss.smoothness
    shorter = tuned.CLIP_FACTOR_BY_ROW if by_row and math.isinf(loss.lipschitz) else 1.0
    curvature = tuned.SCALED_CURVATURE if scales else 1.0
    return min(
        shorter * tuned.CLIP * curvature / math.sqrt(noise_of_pass),
        max_noise / (noise_of_pass * math.sqrt(n_passes)),
        shorter * tuned.LARGEST_CLIP,
    )


def _scales(noise_of_pass, problem):
    """Return whether slopes are scaled rather than cut.

    Scaling divides a slope by the largest that any label has. So there must be such a bound, and
    records may not have the weight of their class, which tells their label.
    """
    even = problem.scale.typical == problem.scale.largest == 1.0
    bounded = math.isfinite(problem.loss.lipschitz) and problem.n_outputs == 1 and even
    return bounded and 0.0 < noise_of_pass <= tuned.LARGEST_NOISE_TO_SCALE


def _buys_means(problem, budget):
    """Return whether means are worth buying: without an intercept nothing can be taken away."""
    return budget.is_private and problem.has_intercept


def _distance_of_moments(problem, budget, *, both):
    """Return how far one record moves the release of squares and means, or `both` of a pair do.

    In units of their bounds, the features of a record have a norm of at most ``problem.reach``, and
    none of them exceeds that or 1. So the squares have a norm of at most the reach times the
    smaller of both. This is how far a record is from a null record. The features of two records are
    up to twice as far apart. Their squares, which have no sign, are up to the root of 2 times as
    far apart.
    """
    squares = problem.reach * min(problem.reach, 1.0) * (math.sqrt(2.0) if both else 1.0)
    squares = min(squares, math.sqrt(problem.n_features))
    if not _buys_means(problem, budget):
        return squares
    return math.hypot(squares, tuned.WEIGHT_OF_MEANS * problem.reach * (2.0 if both else 1.0))
