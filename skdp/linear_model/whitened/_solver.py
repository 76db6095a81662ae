"""Full-batch steps with clipped slopes, on rows whitened by a released second moment."""

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh, solve
from scipy.optimize import isotonic_regression
from scipy.sparse import dia_array, issparse

from skdp._release.mechanisms import as_symmetric
from skdp._rows.rows import AsksSlopes, Rows
from skdp._rows.slope_queries import SecondMoment, SumOfSlopes
from skdp.linear_model._plan import STEPS
from skdp.linear_model.whitened import _tuned as tuned
from skdp.linear_model.whitened._plan import MOMENT
from skdp.linear_model.whitened._ways_solver import CautiousSteps, CurvatureSteps, GradientSteps


class Whitening(NamedTuple):
    """A map of rows under which their second moment is about the identity where it is known."""

    # Symmetric, of shape (p, p): an ndarray, or diagonal and sparse without a moment, where there
    # may be many columns.
    A: np.ndarray
    # By eigenvector of the moment: the share of the mapped rows' second moment, as it is allowed
    # for, that is expected to be there; and what it is allowed to be: its root divides the rows.
    signal: np.ndarray
    scale: np.ndarray
    # Half of the largest eigenvalue that noise alone is expected to give the moment.
    noise: float
    # The map makes one direction longer than another by this factor at most.
    stretch: float
    # The moment that is allowed for, without the penalty; or None.
    moment: np.ndarray | None = None
    # The penalty on weights, in the coordinates of rows, where there is more than alpha; or None.
    penalty: np.ndarray | None = None

    @property
    def effective_columns(self):
        """How many columns the mapped rows are expected to fill."""
        return float(self.signal.sum())


def whiten(moment, plan):
    """Return the map for a released second moment.

    The eigenvalues l of the moment are moved to what they are expected to be without noise, and
    what the noise hides, tau, is added, so that no direction is stretched by more than is known:
    the map is ``V (theta + tau + a)^(-1/2) V'``, with `a` the penalty's part of the curvature.
    The moment is the mean of outer products, or None: then rows are divided by their bound. A
    public one isn't shrunk: rows may be longer in it than they count, which is no reason to believe
    less of the rest.

    A penalty on how rough the weights are has other eigenvectors than the moment. Then the map is
    the inverse root of the sum of both, and `signal` is by eigenvector of that sum.
    """
    problem = plan.problem
    largest = problem.row_norm**2
    penalty = problem.alpha / problem.smoothness
    if moment is None:
        scale = np.full(problem.n_columns, largest + penalty)
        diagonal = scale[np.newaxis] ** -0.5
        A = dia_array((diagonal, [0]), shape=(scale.size, scale.size))
        return Whitening(A, np.full(scale.size, 1.0 / scale.size), scale, 0.0, 1.0)
    values, vectors = eigh(moment)
    if not plan.budget.is_private:
        signal = np.maximum(values, 0.0)
        hidden = values.size * max(values[-1], 1e-300) * 2.0**-50
    else:
        hidden = plan.moment_noise / problem.n_records * math.sqrt(values.size / 2.0)
        is_public = plan.moment is None
        signal = np.clip(values, 0.0, largest) if is_public else shrink(values, hidden)
        # Every row has the intercept's constant, and none is longer than its bound.
        trace = max(values.sum(), problem.bias**2, tuned.SMALLEST_TRACE * largest)
        trace = min(trace, largest)
        total = signal.sum()
        if total <= 0.0:
            signal = np.full(values.size, trace / values.size)
        elif not is_public:
            signal = signal * (trace / total)
    scale = signal + hidden + penalty
    roughness, penalties = plan.known_roughness, None
    if roughness is not None:
        there = (vectors * signal) @ vectors.T
        penalties = roughness + problem.alpha * np.eye(values.size)
        scale, axes = eigh(there + hidden * np.eye(values.size) + penalties / problem.smoothness)
        # Rounding errors of a strong penalty are no reason to stretch rows by more.
        scale = np.maximum(scale, hidden + penalty)
        of_axes = np.einsum("ji,jk,ki->i", axes, there, axes)
        A = (axes / np.sqrt(scale)) @ axes.T
    else:
        A, of_axes = (vectors / np.sqrt(scale)) @ vectors.T, signal
    # Lengths of rows and sums of rows are taken with the same matrix, to the last bit.
    A = 0.5 * (A + A.T)
    stretch = math.sqrt(scale.max() / scale.min())
    moment = (vectors * (signal + hidden)) @ vectors.T
    return Whitening(A, of_axes / scale, scale, hidden, stretch, moment, penalties)


def shrink(values, noise):
    r"""Return what eigenvalues of a noisy symmetric matrix are expected to be without the noise.

    The noise G has independent entries of variance :math:`\tau^2 / p`, off the diagonal, and twice
    that on it, so its own eigenvalues fill :math:`[-2 \tau, 2 \tau]`. Along the i-th eigenvector of
    the noisy matrix the clean one is expected to have

    .. math:: l_i - \frac{2 \tau^2}{p} \sum_j \frac{l_i - l_j}{(l_i - l_j)^2 + \tau^2 / p}

    (Ledoit and Peche 2011 for additive noise; the Cauchy kernel smooths the Hilbert transform of
    the eigenvalues' density). The values rise, and the results are made to; they aren't negative.
    """
    return np.maximum(shrink_signed(values, noise), 0.0)


def shrink_signed(values, noise):
    """Return what `shrink` does, of matrices that needn't be positive semidefinite."""
    gaps = (values[:, np.newaxis] - values) / noise
    pull = (gaps / (gaps**2 + 1.0 / values.size)).sum(axis=1)
    return isotonic_regression(values - 2.0 * noise / values.size * pull).x


class WhitenedSteps(NamedTuple):
    """The steps that are taken: each is ``v <- momentum v + gradient``, ``w <- w - size v``.

    Those that follow the curvature divide by it instead, and have no momentum. Their size is that
    where the curvature is typical.
    """

    n_steps: int
    size: float
    momentum: float
    # The first iterate that is averaged.
    first: int
    # A row's slopes times its mapped length are clipped to this.
    clip: float
    # Predicted variance of a prediction, where it is predicted.
    noise: float | None = None
    # `Errors` of the result; only inference has any.
    errors: object = None
    # The map of rows, and the variance of the result's noise along each eigenvector of it, in the
    # order of its `signal`.
    white: Whitening | None = None
    variances: np.ndarray | None = None
    # Where weights have a penalty of their own, the directions, as columns and in the coordinates
    # of rows, that the variances are of instead.
    axes: np.ndarray | None = None
    follow_curvature: bool = False
    # So many of the first steps are of a sample of the rows.
    n_of_sample: int = 0


# A warning about an overflow would reveal something of the data.
@np.errstate(all="ignore")
def solve_whitened(rows: Rows, *, plan, rules, run, start=None):
    r"""Minimise mean loss + alpha ||w - w_0||^2 / 2 by noisy gradient steps on whitened rows.

    Releases the rows' second moment, and takes steps in the coordinates u of ``w = A u``, in which
    the curvature of the loss is about that of its derivative wherever the moment is known:

    .. math:: v \leftarrow m v + \frac{1}{n} \Bigl(\sum_i c_i A z_i + \mathrm{noise}\Bigr)
              + \alpha A A (u - u_0), \quad u \leftarrow u - \eta v ,

    with :math:`c_i` the slope of row i, cut so that :math:`\|c_i\| \|A z_i\| \le C`; where noise is
    quiet, steps are those of `CurvatureSteps`, the first of which may be of a public sample of the
    rows: sums and means over that, with the bound and the noise of those over all. All that is kept
    from step to step is made of releases, and so are A, C, m and the number of steps.
    Steps begin at the weights `start` of shape (k, p), which follow from earlier releases, and the
    penalty is of the distance from there; None is 0.
    The weights that are returned, with the steps, have the shape (k, p).
    """
    problem = plan.problem
    moment = plan.known_moment
    if plan.moment is not None:
        query = SecondMoment(run.mechanism(MOMENT), largest_trace=problem.row_norm**2)
        released = run.ask(MOMENT, rows, query)
        moment = as_symmetric(released, problem.n_columns) / problem.n_records
        if not np.isfinite(moment).all():
            # Rows that nothing bounds: weights that aren't finite are refused by the caller.
            return np.full((problem.n_outputs, problem.n_columns), np.nan), None
    white = whiten(moment, plan)
    steps = choose_steps(white, plan, rules)
    rows.bound_slopes(white.A, steps.clip)
    decay = problem.alpha * (white.A @ white.A)
    if white.penalty is not None:
        decay = white.A @ white.penalty @ white.A
    first = np.zeros((problem.n_columns, problem.n_outputs))
    if start is not None:
        first = _from_mapped(white.A, start.T)
    w = first.copy()
    total = np.zeros_like(w)
    run.bound(STEPS, steps.clip, stretch=white.stretch * plan.stretch)
    release = run.steps(STEPS, steps.n_steps)
    noise_of_sum = release.mechanism.noise_std
    asked: AsksSlopes = rows
    n_asked = problem.n_records
    if steps.n_of_sample:
        asked, n_asked = rows.sampled_slopes(run.sample(plan.ball.sample)), plan.ball.n_sampled
    kind = GradientSteps if plan.budget.is_private else CautiousSteps
    way: CurvatureSteps | GradientSteps = kind(steps.size, steps.momentum)
    if steps.follow_curvature:
        way = curvature_steps(white, decay, plan, rules, noise_of_sum / n_asked)
    for t in range(steps.n_steps):
        if t and t == steps.n_of_sample:
            asked, n_asked = rows, problem.n_records
            way.change_rows(noise_of_sum / n_asked)
        released = release.ask(asked, SumOfSlopes(w, release.mechanism))
        w = way.moved(w, released / n_asked, decay @ (w - first))
        if t >= steps.first:
            total += w
    return (white.A @ (total / (steps.n_steps - steps.first))).T, steps


def curvature_steps(white, decay, plan, rules, noise_std):
    """Return the `CurvatureSteps` of a map of rows, whose mean gradients have this noise."""
    A, bias = white.A, plan.problem.bias
    known = white.moment - white.noise * np.eye(len(A))
    # The constant is public, whatever the moment says of it.
    mean = np.append(known[:-1, -1] / bias, bias)
    return CurvatureSteps(
        moment=A @ white.moment @ A,
        mean=A @ mean,
        penalty=decay,
        noise_std=noise_std,
        longest_move=rules.longest_move,
    )


def _from_mapped(A, weights):
    """Return the weights of mapped rows that are such weights of rows as they are."""
    if issparse(A):
        return weights / A.diagonal()[:, np.newaxis]
    return solve(A, weights, assume_a="pos")


def choose_steps(white, plan, rules):
    """Return the steps that suit a map of rows, where they aren't given."""
    if not plan.budget.is_private:
        n_steps = rules.schedules[0].n_steps if plan.max_iter == "auto" else plan.max_iter
        # Steps of momentum m leave sqrt(m) of an error each.
        momentum = min(tuned.ERROR_LEFT_WITHOUT_NOISE ** (2.0 / n_steps), 0.97)
        schedule = _as_asked(tuned.Schedule(n_steps, momentum, 0.5, math.inf), plan)
        return _take(schedule, math.inf, white, plan, rules)
    clip, max_clip = _choose_clip(white, plan, rules)
    share = white.effective_columns / plan.problem.n_columns
    if _may_follow_curvature(white, plan, clip):
        for quiet in rules.quiet:
            steps = _follow_curvature(quiet, clip, white, plan, rules)
            if steps.noise < quiet.noise and share >= quiet.share:
                return steps
    schedules = tuned.SCHEDULES_WITHOUT_MOMENT if white.moment is None else rules.schedules
    # A penalty leaves few of the columns that it is on, however many there are.
    are_few = white.penalty is None and share < tuned.SHARE_OF_MANY_COLUMNS
    are_few = are_few and white.effective_columns >= tuned.FEWEST_OF_MANY_COLUMNS
    if rules.few is not None and schedules is rules.schedules and are_few:
        few = _as_asked(rules.few, plan)
        steps = _take(few, min(clip, 0.5 * max_clip), white, plan, rules)
        if steps.noise * share < few.noise:
            return steps
    for schedule in schedules:
        steps = _take(_as_asked(schedule, plan), clip, white, plan, rules)
        if steps.noise < schedule.noise:
            break
    return steps


def _may_follow_curvature(white, plan, clip):
    """Return whether steps may follow the curvature: where it is known, and nothing else is asked.

    It is that of plain rows with one prediction each, of which typical ones aren't cut.
    """
    problem = plan.problem
    settings = {plan.max_iter, plan.clipping_norm, plan.step_size, plan.momentum}
    is_plain = {problem.typical_weight, problem.wanted_weight, problem.steepest} == {1.0}
    return (
        settings == {"auto"}
        and plan.average
        and plan.moment is not None
        and problem.n_outputs == 1
        and problem.bias > 0.0
        and is_plain
        and not plan.budget.of_groups
        and clip >= typical_length(white, problem)
    )


def _as_asked(schedule, plan):
    """Return a schedule with the number of steps and the momentum of the plan, where it has any."""
    if plan.max_iter != "auto":
        schedule = schedule._replace(n_steps=plan.max_iter)
    if plan.momentum != "auto":
        schedule = schedule._replace(momentum=plan.momentum)
    return schedule


def _choose_clip(white, plan, rules):
    """Return what slopes are clipped to, and the clip whose noise is as loud as may be."""
    if plan.clipping_norm != "auto":
        return plan.clipping_norm, math.inf
    problem = plan.problem
    max_clip = problem.typical_weight * rules.clip_noise * math.sqrt(plan.n_records / plan.noise)
    weight = problem.wanted_weight
    if white.moment is None:
        # Without whitening every direction is noisy: between the quiet clip and the fair one.
        weight = math.sqrt(weight * problem.typical_weight)
    clip = weight * rules.clip * typical_length(white, problem)
    return min(clip, max_clip), max_clip


def typical_length(white, problem):
    """Return the root of the mean square of mapped rows' lengths, as expected."""
    bias = problem.bias**2
    # The intercept's direction is always there, however large the noise of the moment.
    known = bias / (bias + white.noise) if bias else 0.0
    return math.sqrt(max(white.effective_columns, known, tuned.SMALLEST_EFFECTIVE_COLUMNS))


def _take(schedule, clip, white, plan, rules):
    """Return the steps of a schedule."""
    problem, n_steps = plan.problem, schedule.n_steps
    # A released moment counts no row more than once; without noise it has the weights.
    smoothness = problem.smoothness * (problem.steepest if plan.budget.is_private else 1.0)
    size = 1.0 / smoothness if plan.step_size == "auto" else plan.step_size
    first = min(int(schedule.burn_in * n_steps), n_steps - 1) if plan.average else n_steps - 1
    noise, variances, axes = 0.0, np.zeros(white.signal.size), None
    if plan.budget.is_private:
        signal, curvature, axes = _curvatures(white, rules.curvature * smoothness, problem.alpha)
        power = _noise_power(n_steps, schedule.momentum, first, size * curvature)
        unit = size * clip * plan.steps.noise_multiplier * math.sqrt(n_steps) / plan.n_records
        noise, variances = float((power * signal).sum() * unit**2), power * unit**2
    return WhitenedSteps(
        n_steps=n_steps,
        size=size,
        momentum=schedule.momentum,
        first=first,
        clip=clip,
        noise=noise,
        white=white,
        variances=variances,
        axes=axes,
    )


def _follow_curvature(quiet, clip, white, plan, rules):
    """Return steps that follow the curvature, by a `QuietSchedule`."""
    problem, n_steps = plan.problem, quiet.n_steps
    typical = rules.curvature * problem.smoothness
    first = int(quiet.burn_in * n_steps)
    signal, curvature, axes = _curvatures(white, typical, problem.alpha)
    # Where noise hides a direction, or a part of it, rows are taken to be there all the same.
    assumed = np.maximum(curvature, typical)
    unit = clip * plan.steps.noise_multiplier * math.sqrt(n_steps) / plan.n_records

    def variances_with(louder):
        power = _noise_power(n_steps, 0.0, first, curvature / assumed, louder)
        return power / assumed**2 * unit**2

    variances = variances_with(())
    n_of_sample, times = _steps_of_sample(quiet, float(variances @ signal), plan)
    if n_of_sample:
        variances = variances_with((times,) * n_of_sample)
    return WhitenedSteps(
        n_steps=n_steps,
        size=1.0 / typical,
        momentum=0.0,
        first=first,
        clip=clip,
        noise=float(variances @ signal),
        white=white,
        variances=variances,
        axes=axes,
        follow_curvature=True,
        n_of_sample=n_of_sample,
    )


def _steps_of_sample(quiet, noise, plan):
    """Return how many steps are of the ball's sample, and how many times as loud their noise is.

    Louder in variance. `noise` is that of a prediction if all steps are of all rows.
    """
    sample = None if plan.ball is None else plan.ball.sample
    if sample is None:
        return 0, 1.0
    times = (plan.n_records / sample.n_drawn) ** 2
    has_many = sample.n_drawn >= tuned.LEAST_SAMPLED_ROWS_OF_COLUMN * plan.problem.n_columns
    is_taken = has_many and noise * times < tuned.LARGEST_NOISE_ON_SAMPLE * quiet.noise
    return int(tuned.SHARE_OF_STEPS_ON_SAMPLE * quiet.n_steps) if is_taken else 0, times


def _curvatures(white, of_loss, alpha):
    """Return the directions in which errors of steps shrink by themselves.

    Returned are the shares of the mapped rows' moment that are expected in them, and how curved the
    objective is there, if the loss is `of_loss` where the moment is 1; and, if these aren't the
    moment's eigenvectors, the directions as columns, in the coordinates of rows.
    """
    if white.penalty is None:
        return white.signal, of_loss * white.signal + alpha / white.scale, None
    A = white.A
    there = A @ (white.moment - white.noise * np.eye(len(A))) @ A
    curvature, directions = eigh(of_loss * there + A @ white.penalty @ A)
    signal = np.einsum("ji,jk,ki->i", directions, there, directions)
    return np.maximum(signal, 0.0), np.maximum(curvature, 0.0), A @ directions


def noise_covariance(steps):
    """Return the covariance that the steps' noise gives the weights of one output, as predicted."""
    A = steps.white.A
    if steps.axes is not None:
        return (steps.axes * steps.variances) @ steps.axes.T
    if issparse(A):
        return np.diag(A.diagonal() ** 2 * steps.variances)
    # The signal rises along with the moment that is allowed for, and the map falls.
    stretch, axes = eigh(A)
    return (axes * (stretch**2 * steps.variances[::-1])) @ axes.T


def _noise_power(n_steps, momentum, first, x, louder=()):
    """Return the variance that unit noise of every step gives the mean of iterates from `first` on.

    `x` is the step size times the curvature, by direction. The variance is in units of the squared
    step size. That of the first steps' noise is so many times as large as `louder` has.
    """
    n_averaged, power = n_steps - first, np.zeros_like(x)
    # One is what the sum of all later iterates makes of the noise, the other the same of those that
    # aren't averaged.
    summed, skipped = (_sums_of_response(momentum, x) for _ in range(2))
    for lag in range(1, n_steps + 1):
        moved = next(summed)
        if lag > n_averaged:
            moved = moved - next(skipped)
        step = n_steps - lag
        power += moved**2 * (louder[step] if step < len(louder) else 1.0)
    return power / n_averaged**2


def _sums_of_response(momentum, x):
    """Give the sums of 1, 2, ... iterates that follow one unit of noise."""
    w, v, total = np.zeros_like(x), np.ones_like(x), np.zeros_like(x)
    while True:
        w = w - v
        v = momentum * v + x * w
        total = total + w
        yield total
