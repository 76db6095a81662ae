"""Numbers of private whitening that were chosen, each with its reason.

doc/theory/whitening.rst derives the forms that they are in, and doc/theory/inference.rst those of
standard errors; sections are named here. The numbers were chosen on public tables, mostly of some
thousand to some ten thousand rows, by log loss and R2 on test rows at epsilon from 0.1 to 2
("How the constants were chosen"), and those of standard errors on simulated populations, by
benchmarks/inference.py ("What can be trusted"). Whatever they are, the guarantee holds. Shares are
of mu squared.
"""

import math
from typing import NamedTuple

# The share that buys the moment for moment_budget="auto". Shares of 0.03 and 0.25 were no better
# ("Failed alternatives").
MOMENT_BUDGET = 0.1
# With more columns "auto" buys no moment: its products and eigenvectors, whose time grows with the
# square and the cube of that number, would take longer than the rest ("Constants").
LARGEST_WHITENED_COLUMNS = 2000
# The moment of more columns takes more than three gigabytes.
LARGEST_N_COLUMNS = 20_000
# The rows of full length that those of a group may come to in the moment, at least and at most. In
# between it is this over the noise of a mean of all (doc/theory/people.rst, "Accuracy").
FEWEST_ROWS_OF_GROUP, LARGEST_N_ROWS_OF_GROUP = 2.0, 16.0
ROWS_OF_GROUP_PER_NOISE = 0.18

# The map of rows. No trace of a moment is believed below this share of the largest possible one:
# rows that short would be all noise.
SMALLEST_TRACE = 0.01
# Mapped rows are taken to fill at least so many columns, so that a clip isn't 0.
SMALLEST_EFFECTIVE_COLUMNS = 0.01


class Schedule(NamedTuple):
    """A way to take the steps, if it is predicted to give a prediction less than this variance."""

    n_steps: int
    momentum: float
    # The share of the iterates before those that are averaged.
    burn_in: float
    noise: float


class QuietSchedule(NamedTuple):
    """A number of steps that follow the curvature, if so little noise and so much of rows is there.

    They are taken if they are predicted to give a prediction less than the variance `noise`, and if
    mapped rows fill this share of their columns.
    """

    n_steps: int
    # The share of the iterates before those that are averaged.
    burn_in: float
    noise: float
    share: float


class Rules(NamedTuple):
    """What is automatic for a loss ("The automatic settings")."""

    # The clip over the root of the number of columns that rows fill. A slope may be about as long.
    clip: float
    # The typical slope of the loss's derivative over its bound, by which noise is predicted.
    curvature: float
    # The first schedule that is quiet enough is taken.
    schedules: tuple
    # It is tried before the others, with half the largest clip, where the rows fill few of many
    # columns. The noise of a prediction is then counted by the share that is filled.
    few: Schedule | None = None
    # The largest clip is the one whose noise is this many times what rows at it add to a mean.
    clip_noise: float = 0.08
    # These are tried first of all ("Steps that follow the curvature"). In whole steps predictions
    # move by the second number at most, as a root mean square.
    quiet: tuple = ()
    longest_move: float = math.inf


# A logistic slope is at most 1, so that only rows of high leverage are clipped at 1.2.
# Probabilities of about 0.1 or 0.9 have the curvature 0.4 / 4. Momentum reaches weak directions
# sooner, but more of it moves the intercept of a rare class beyond its place.
_LOG_LOSS = Rules(
    clip=1.2,
    curvature=0.4,
    schedules=(
        Schedule(40, 0.65, 0.5, 0.01),
        Schedule(40, 0.5, 0.3, 0.06),
        Schedule(40, 0.0, 0.3, 0.3),
        Schedule(20, 0.0, 0.3, 0.3),
        Schedule(10, 0.0, 0.3, math.inf),
    ),
    few=Schedule(40, 0.7, 0.5, 0.05),
)
# The curvature is that of two classes, 0.1, over its bound of 1/2.
_MULTINOMIAL = Rules(
    clip=1.2,
    curvature=0.2,
    schedules=(
        Schedule(40, 0.7, 0.5, 0.01),
        Schedule(40, 0.6, 0.4, 0.3),
        Schedule(40, 0.5, 0.3, 3.0),
        Schedule(20, 0.0, 0.3, math.inf),
    ),
)
# The curvature of squares is the moment, but directions that its noise hides in part are flat, and
# momentum is there sooner. Where noise is loud, fewer steps and no momentum are early stopping.
_SQUARED_ERROR = Rules(
    clip=1.6,
    curvature=0.8,
    schedules=(
        Schedule(40, 0.5, 0.3, 1e-3),
        Schedule(10, 0.0, 0.3, math.inf),
    ),
)
RULES = {
    "log_loss": _LOG_LOSS,
    "multinomial": _MULTINOMIAL,
    "squared_error": _SQUARED_ERROR,
    # Linear predictors of counts are as far from 0 as those of two classes.
    "tweedie": _LOG_LOSS._replace(few=None),
    # Targets are in units of their spread, so that slopes are about as long as those of labels.
    "huber": _LOG_LOSS._replace(curvature=0.6, few=None),
    "pinball": _LOG_LOSS._replace(curvature=0.3, few=None),
}
# Where noise is quiet, few steps that follow the curvature arrive where many steps along gradients
# do. Twelve weren't enough for amounts whose tails are as heavy as Pareto's. There the mean of the
# last six of sixteen is better than that of eight; squares arrive sooner. Six are enough for
# squares, whose curvature doesn't bend, in rows that fill their columns. With more noise than this,
# R2 or log loss was worse by more than .0003 on some table; log loss also was where rows fill fewer
# of their columns than .7.
_QUIET_SQUARES = (QuietSchedule(6, 0.5, 3e-6, 0.9), QuietSchedule(16, 0.5, 3e-6, 0.0))
_QUIET_LOG_LOSS = (QuietSchedule(16, 0.625, 3e-4, 0.7),)
# The first half of such steps only has to come near, and is of the ball's sample of the rows where
# that has so many rows for each column at least, and where noise of as many times the variance as
# its sums have, over their size, would be so many times the limit at most. The optimum of the
# sample is within .00017 of log loss then; the other steps leave little of that, and of the noise
# ("First steps on a sample").
SHARE_OF_STEPS_ON_SAMPLE = 0.5
LEAST_SAMPLED_ROWS_OF_COLUMN, LARGEST_NOISE_ON_SAMPLE = 3000.0, 6.0
# A pair of gradients makes the curvature between them no smaller than this share of what it was
# (Powell 1978).
LEAST_MEASURED_CURVATURE = 0.2
# Half of the clip of labels: half the noise was worth more than the slopes that are cut, because
# the mean is mended in the end ("The mean in the end").
CLIP_OF_AMOUNTS = 0.6
# In a learnt ball columns are centred and of one size, and few slopes are far longer than others.
# Smaller clips and more steps lose less there.
RULES_IN_BALL = {
    **RULES,
    "log_loss": _LOG_LOSS._replace(
        clip_noise=0.07,
        schedules=(
            Schedule(40, 0.65, 0.5, 0.01),
            Schedule(40, 0.5, 0.3, 0.06),
            Schedule(40, 0.3, 0.3, 0.1),
            Schedule(40, 0.0, 0.3, 1.2),
            Schedule(10, 0.0, 0.3, math.inf),
        ),
        quiet=_QUIET_LOG_LOSS,
        # About as far as the curvature of a probability of a half tells.
        longest_move=2.0,
    ),
    "tweedie": RULES["tweedie"]._replace(clip=CLIP_OF_AMOUNTS, clip_noise=0.1),
    "huber": RULES["huber"]._replace(clip_noise=0.1),
    "pinball": RULES["pinball"]._replace(clip_noise=0.07),
    "squared_error": _SQUARED_ERROR._replace(
        clip_noise=0.035,
        schedules=(
            Schedule(40, 0.5, 0.3, 1e-3),
            Schedule(20, 0.0, 0.3, 7e-4),
            Schedule(40, 0.0, 0.3, math.inf),
        ),
        quiet=_QUIET_SQUARES,
    ),
}
# Rows of few columns, each of which tells something, are cut less where steps begin at an earlier
# fit: a cut would move that.
RULES_FROM_START = {
    **{name: rules._replace(quiet=()) for name, rules in RULES_IN_BALL.items()},
    "log_loss": RULES_IN_BALL["log_loss"]._replace(clip_noise=0.1, quiet=()),
    "tweedie": RULES["tweedie"]._replace(clip_noise=0.1),
}
# Without a moment, more steps with much momentum replace the whitening ("Constants").
SCHEDULES_WITHOUT_MOMENT = (Schedule(100, 0.9, 0.3, math.inf),)
# Rows fill few of many columns from so many columns on, below this share ("Few of many columns").
FEWEST_OF_MANY_COLUMNS, SHARE_OF_MANY_COLUMNS = 4.0, 0.1
# Without noise the momentum leaves this of an error after all steps.
ERROR_LEFT_WITHOUT_NOISE = 1e-9
# For each unit of a prediction's predicted noise, so much of the balance of the intercept is left
# out: where noise is loud, steps stop before they arrive ("Calibration").
BALANCE_LEFT_OUT_PER_NOISE = 2.0
# At most this share of the variance of predictions is taken to be noise: the law of predictions is
# known by noisy releases, and a model shouldn't vanish by their chance ("Calibration").
LARGEST_SHARE_OF_NOISE = 0.95
# The slope of cut predictions is mended where rows fill so many columns. With fewer, the lengths of
# mapped rows, and where they are cut, differ too much from what is typical ("Calibration").
FEWEST_COLUMNS_OF_SLOPE = 4.0
# Where steps stop early, predictions are too near to their mean by a factor that isn't known well.
# So at most this part of what noise takes from them, as a power of it, is given back: halfway
# between all and nothing ("Calibration").
LARGEST_PART_GIVEN_BACK = 0.5
# No smaller share of a gradient is believed to be left by the map of rows.
SMALLEST_SHARE_OF_GRADIENT = 0.02
# The mean log-odds and their variance are moved to within this: probabilities don't change beyond.
FARTHEST_LOG_ODDS = 20.0
# A mean over normal log-odds has so many nodes. Against 151 of them the mean risk is off by less
# than .0002 up to a spread of 3. Its root is sought within so many spreads.
NODES_OF_PREDICTIONS, ROOTS_IN_SPREADS = 21, 8.0
# The slope of true log-odds over that of predictions is sought from here: it is near 1 where few
# slopes are cut and steps arrive. A root is taken if no more than this is left of the equations.
FIRST_SLOPE, LARGEST_REST = 0.9, 1e-6

# Rows that stand for those of a table before a fit have independent columns of one size, and this
# share of the longest row's square as a mean square of lengths. It is .2 to .6 on 13 public tables.
# .3 and other laws of sizes foresee noise as well ("Noise before a fit").
SHARE_OF_LONGEST_SQUARE = 0.4
# Columns of a table resemble each other, so that noise moves their terms against each other. A term
# has so many times as much as its part of the noise of predictions, in the middle of these tables.
NOISE_OF_ALIKE_TERMS = 1.4
# The root mean square of what a column adds to predictions, in log-odds and in half ranges of the
# target: in the middle of these tables, at epsilon 4.
TYPICAL_EFFECTS = {"log_loss": 0.25, "multinomial": 0.25, "squared_error": 0.05}
# A term is told from noise by its mean square, which noise raises, too. With one to three numbers
# it has to be 1.3 to 1.7 deviations of noise large, by the rule that terms are called noise by.
TOLD_IN_DEVIATIONS = 1.5

# Robust losses bend as if their derivative's slope were this: that of the pinball is steep where
# errors are small, but its mean over rows, whose errors vary, is not ("Quantiles and outliers").
MEAN_SMOOTHNESS = {"huber": 1.0, "pinball": 1.0}
# Without privacy some losses take so many steps: the curvature of robust ones may be a small part
# of its bound, and that of an exponential many times what steps are made for. Then gradients grow,
# and steps go back where these are so many times the smallest. Momentum may do that near the
# optimum, too, and nothing is lost then.
STEPS_WITHOUT_PRIVACY = {"huber": 1000, "pinball": 1000, "tweedie": 200}
LARGEST_GROWTH_OF_GRADIENT = 4.0


class InferenceRules(NamedTuple):
    """What is chosen for a loss where standard errors are inferred."""

    # The clip of the steps that settle, over the root of the number of columns that rows fill.
    settling_clip: float
    # No step moves predictions by more, as a root mean square.
    largest_move: float
    # The variance of predictions that noise may cause from step to step.
    calm: float
    # The largest noise of predictions, as a root mean square, with which the curvature is known.
    largest_jitter: float
    # The matrix is raised to this share of what was expected of it.
    smallest_share: float


INFERENCE_RULES = {
    # The curvature is the same everywhere, so that neither moves nor noise have a limit. Rows that
    # were clipped make the matrix of their errors small ("The matrix of weights").
    "squared_error": InferenceRules(
        settling_clip=1.6,
        largest_move=math.inf,
        calm=math.inf,
        largest_jitter=math.inf,
        smallest_share=1.0,
    ),
    # The curvature bends with predictions, in logits. To raise the matrix, which is the curvature,
    # would make errors small ("The steps", "The matrix of weights").
    "log_loss": InferenceRules(
        settling_clip=2.0,
        largest_move=2.0,
        calm=0.01,
        largest_jitter=1.0,
        smallest_share=0.25,
    ),
}

# The shares of what standard errors are made of, of what a ball leaves. The rest goes to the steps
# ("The releases"). The moment has more than without inference, because a direction that its noise
# hides has no interval.
INFERENCE_MOMENT_BUDGET = 0.3
SHARE_OF_FIRST_MEAN = 0.02
SHARE_OF_MEANS = 0.12
SHARE_OF_MATRIX = 0.05
# The ball that is learnt before holds this share of the rows. It doesn't follow the noise, so that
# what intervals are of is the same for each epsilon. A longer radius has more noise ("What clipping
# may take at most").
SHARE_IN_BALL_OF_INFERENCE = 0.9
# Counts of lengths are only made where a ball is learnt.
SHARE_OF_LENGTHS = 0.04
# A larger share of the moment would leave too little for the steps.
LARGEST_INFERENCE_MOMENT_BUDGET = 0.7
# The number of steps, the smallest that can be asked for, and the share that is taken before one is
# kept, in which errors of the start die out.
INFERENCE_STEPS, FEWEST_INFERENCE_STEPS = 32, 12
SETTLING_SHARE = 0.25

# The clip of squares ("The clip"). It is so many root mean squares of what is clipped, at most and
# at least; in between, it is so many that noise is 1.5 times the sampling error. A clip that adds
# less than this share to the variance of the result may be larger.
LARGEST_CLIP_IN_RESIDUALS, SMALLEST_CLIP_IN_RESIDUALS = 5.25, 3.75
NOISE_OVER_SAMPLING_ERROR = 1.5
LARGEST_ADDED_VARIANCE = 0.03
# At least this share of the mean square of what is clipped isn't taken to be noise of the weights.
SMALLEST_SHARE_WITHOUT_JITTER = 0.25
# A row's part of the matrix is clipped to this many times the mean ("Sensitivity").
MATRIX_CLIP = 16.0
# The curvature of normal scores may be off by this factor, and no smaller mean is believed.
LARGEST_CORRECTION, SMALLEST_MEAN_CURVATURE = 2.0, 1e-3
# The gain of kept steps is at most this once there are some: curvature that noise doesn't bend can
# be followed that fast ("The steps").
LARGEST_GAIN = 0.5
# Shortening rows may take this share of a direction ("Rows that are shortened").
LARGEST_SHARE_TAKEN = 0.3

# When intervals can be trusted ("What can be trusted"). The weakest direction of the rows is
# compared with the radius of the noise of their moment: below the first there are no intervals, and
# none below so many standard deviations of one entry; below the second they are wide.
SMALLEST_DIRECTION, SMALLEST_DIRECTION_IN_DEVIATIONS = 0.2, 3.5
SURE_DIRECTION = 1.0
# Above this noise of the matrix over a typical entry of its diagonal, intervals are wide.
LARGEST_MATRIX_NOISE = 0.8
# Above this share of the largest jitter, intervals are wide.
SHARE_OF_LARGEST_JITTER = 0.15
# Rows are taken to lose so many times as much by clipping as is counted of it.
LOSS_OVER_COUNTED_LOSS = 2.0
# Intervals are wide where clipping may take more than this from a coefficient, in standard errors,
# or more than this share of what rows tell of a direction, beyond so many deviations of its noise.
LARGEST_DRIFT = 0.3
LARGEST_CLIPPED_SHARE = 0.4
DEVIATIONS_OF_CLIPPING = 1.3
# They are wide, too, where the deviations of these two are larger than this: then neither is seen.
LARGEST_DEVIATION_OF_DRIFT = 0.75
LARGEST_DEVIATION_OF_CLIPPED_SHARE = 0.3
# No larger clipped share is made up for, but where all that clipping may take is allowed for.
LARGEST_SHARE_MADE_UP_FOR = 0.8
# Rows fewer than so many deviations of the noise of their count can't be seen.
DEVIATIONS_OF_UNSEEN_ROWS = 2.0
# Many rows may have been cut where their mean square length is above this share of the largest.
FULL_LENGTH = 0.9
# A direction has at least this mean square of mapped rows: less would give leverages of noise.
SMALLEST_MEAN_SQUARE = 0.1
# Rows of a rare category fill this share of their squared length by it. Few rows may be all that
# there is of a direction where that is above what typical rows have in all directions by this.
SHARE_OF_RARE_DIRECTION, RARE_DIRECTION = 0.5, 8.0
