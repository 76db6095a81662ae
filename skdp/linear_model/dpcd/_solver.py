"""Proximal coordinate descent with released coordinates of the gradient."""

import math
from itertools import islice

import numpy as np
from scipy.linalg.blas import daxpy

from skdp._rows.batches import CoordinateMean
from skdp._rows.bounds import SMALLEST_NORM
from skdp._rows.clipping import clip_contributions
from skdp._rows.fused import kernels_for_columns
from skdp._rows.sparse import nonzero_part
from skdp._rows.threads import single_threaded_blas
from skdp.linear_model._plan import STEPS
from skdp.linear_model.dpcd._plan import INTERCEPT_STEPS, SQUARES
from skdp.linear_model.dpcd._queries import ColumnMoments

# Weights within this range keep predictions finite, so that a null record's stay 0.
_LARGEST_WEIGHT = 1e100
# NumPy adds up numbers that lie side by side in blocks of at most this many, and then the blocks.
SUM_BLOCK = 128


@np.errstate(all="ignore")
def solve_dpcd(columns, targets, *, plan, loss, penalty, steps, coins, run, bias=0.0, weights=None):
    r"""Run Algorithm 1 of Mangold et al. (2022).

    Works on columns divided by units u_j, so on coordinates u_j w_j. In units of the thresholds C_j
    one record's part of every release has the bound 1. The predictions follow each update, and are
    computed afresh at the end of a period, when the iterate may be replaced by the mean of the
    period's iterates.

    With ``plan.tail`` there is one period. The intercept begins at the best constant, unless
    classes are weighted, and the penalty's proximal operator is applied once more, to the mean of
    what it was applied to in the second half of the passes: so coefficients are exactly 0 where
    they are on average, or, under an L1 penalty, where noise alone would explain them. Then the
    intercept follows, with some steps of its own.

    Takes targets of shape (n, k), the penalty of the coefficients w, the intercept's included,
    `steps` of shape (d,) in the units' coordinates, for the gradient of the mean loss, `bias`, the
    constant of the last column before it was divided (0 if there is no intercept), and weights of
    shape (n,). Returns w of shape (k, d).
    """
    coordinates = plan.sampler.coordinates(coins)
    descent = _Descent(columns, targets, plan, loss, penalty, steps, run, weights)
    with single_threaded_blas:
        if plan.tail:
            _descend_to_tail(descent, coordinates, plan, loss, bias / columns.unit[-1])
        else:
            _descend_in_periods(descent, coordinates, plan)
    return np.clip(np.array(descent.w) / columns.unit, penalty.low, penalty.high)


def _descend_in_periods(descent, coordinates, plan):
    n_steps, period = plan.sampler.n_steps, plan.period
    for first in range(0, n_steps, period):
        mean = CoordinateMean(descent.n_outputs, descent.n_columns)
        for done, j in enumerate(islice(coordinates, period)):
            times = mean.uncounted(j, done)
            for total, row in zip(mean.total, descent.w, strict=True):
                total[j] += times * row[j]
            descent.update(j)
        averaged = descent.w
        if plan.average:
            averaged = mean.value(descent.w, min(period, n_steps - first))
            # The mean of numbers within an interval may leave it by rounding.
            averaged = np.clip(averaged, descent.penalty.low, descent.penalty.high).tolist()
        descent.move(averaged)


def _descend_to_tail(descent, coordinates, plan, loss, bias):
    sampler = plan.sampler
    if sampler.n_alone:
        j = next(coordinates)
        if plan.problem.scale.of_classes:
            # Slopes of weighted labels tell no share of them.
            descent.update(j)
        else:
            _start(descent, j, loss, bias)
    n_skipped = plan.n_passes // 2 * sampler.n_columns
    for j in islice(coordinates, n_skipped):
        descent.update(j)
    doubts = np.zeros(sampler.n_columns)
    doubts[: plan.problem.n_features] = plan.doubt
    _take_mean(descent, islice(coordinates, sampler.n_shared - n_skipped), doubts)
    last = list(coordinates)
    for j in last[: len(last) // 2]:
        descent.update(j)
    _take_mean(descent, last[len(last) // 2 :], doubts)


def _start(descent, j, loss, bias):
    """Release the slopes of the intercept, and move it to the best constant."""
    error = 2.0 * descent.noise_of_slope / bias
    constant, curvature = loss.constant(descent.slopes(j) / (descent.n_rows * bias), error)
    for row, steps, best, bend in zip(descent.w, descent.steps, constant, curvature, strict=True):
        row[j] = descent.penalties[j].prox_of_number(float(best) / bias, 0.0)
        # A step's noise moves predictions by a quarter at most.
        steps[j] *= loss.smoothness / max(float(bend), 2.0 * error)
    descent.move(descent.w)


def _take_mean(descent, coordinates, doubts):
    """Update, and move to the proximal operator of the mean of what it is applied to.

    Under an L1 penalty a mean that is within so many standard deviations of its own noise is 0.
    """
    total = np.zeros((descent.n_outputs, descent.n_columns))
    counts = [0] * descent.n_columns
    for j in coordinates:
        total[:, j] += descent.update(j)
        counts[j] += 1
    w = descent.w
    for j, count in enumerate(counts):
        if count:
            penalty = descent.penalties[j]
            quiet = doubts[j] * descent.noise_of_slope / math.sqrt(count) if penalty.l1 else 0.0
            for row, steps, mean in zip(w, descent.steps, total[:, j] / count, strict=True):
                mean = 0.0 if abs(mean) <= steps[j] * quiet else float(mean)
                row[j] = penalty.prox_of_number(mean, steps[j])
    descent.move(w)


class _Descent:
    """An iterate and its predictions, in the units' coordinates.

    A step reads and changes only the rows in which its column isn't 0.
    """

    def __init__(self, columns, targets, plan, loss, penalty, steps, run, weights):
        self.X, unit = columns
        self.n_rows, self.n_outputs = targets.shape
        self.n_columns = unit.size
        self._plan, self._loss = plan, loss
        # By row a pass over the features is one release, whose entries are made one by one.
        self._release = run.steps(STEPS)
        self._release_alone = run.steps(INTERCEPT_STEPS) if run.plans(INTERCEPT_STEPS) else None
        self._weights = weights
        self.noise_of_slope = self._release.mechanism.noise_std / self.n_rows
        # NumPy is faster on one axis than on two of which one has length 1.
        shape = (self.n_rows,) if self.n_outputs == 1 else (self.n_outputs, self.n_rows)
        self._targets = np.ascontiguousarray(targets.T).reshape(shape)
        self.penalty = penalty.in_units(unit).within(_LARGEST_WEIGHT)
        self.penalties = [self.penalty.of_coefficient(j) for j in range(self.n_columns)]
        self.steps = [steps.tolist() for _ in range(self.n_outputs)]
        self._x = self.X.T
        self._norm = _norms(self._x, plan.problem.n_features) if plan.by_row else None
        # Never from the entries that sparse rows have: a record must not change others' rounding.
        n_slopes = self.n_rows * plan.sampler.n_steps
        self._kernels = kernels_for_columns(n_slopes, loss) if self.n_outputs == 1 else None
        self._predictions = np.empty(shape)
        self._of_output = list(self._predictions.reshape(self.n_outputs, self.n_rows))
        start = [alone.prox_of_number(0.0, 0.0) for alone in self.penalties]
        self.move([start.copy() for _ in self.steps])

    def move(self, w):
        """Replace the iterate."""
        self.w = w
        self._predictions[...] = (self.X @ np.array(w).T).T.reshape(self._predictions.shape)

    def slopes(self, j):
        """Release the sum of the records' slopes along a coordinate, for each output."""
        is_alone = j >= self._plan.problem.n_features
        release = self._release_alone if is_alone else self._release
        rows, x = nonzero_part(self._x, j)
        norm = None if is_alone or self._norm is None else _of_rows(self._norm, rows)
        total = self._sum(rows, x, np.abs(x) if norm is None else norm, release.mechanism)
        return release(total).reshape(-1)

    def _sum(self, rows, x, length, mechanism):
        """Return the sum of the slopes of rows, None for all, times entries of a column."""
        bound, scales = mechanism.contribution_bound, self._plan.scales
        targets, m, weights = (
            _of_rows(values, rows) for values in (self._targets, self._predictions, self._weights)
        )
        if self._kernels is not None and not math.isinf(bound):
            kind = self._kernels.LOSSES[self._loss.name]
            total = self._kernels.sum_slopes(kind, scales, targets, m, x, length, weights, bound)
            return np.asarray(total)
        slopes = self._loss.gradient(targets, m)
        if weights is not None:
            slopes *= weights
        if not math.isinf(bound):
            if scales:
                slopes /= self._excess(m, length, weights, bound)
            clip_contributions(slopes.T, length, bound)
        slopes *= x
        return np.add.reduce(slopes, axis=-1)

    def _excess(self, m, length, weights, bound):
        """Return how far beyond the bound the larger of a row's labels' slopes is, at least 1.

        It doesn't know the label: at the true odds slopes divided by it still add up to 0.
        """
        largest = self._loss.largest_slope(m)
        largest *= length
        if weights is not None:
            largest *= weights
        largest /= bound
        return np.maximum(largest, 1.0, out=largest)

    def update(self, j):
        """Take a proximal step along a coordinate; return what the operator was applied to."""
        arguments = []
        prox, (rows, x) = self.penalties[j].prox_of_number, nonzero_part(self._x, j)
        for output, slope in enumerate(self.slopes(j).tolist()):
            row, step = self.w[output], self.steps[output][j]
            old = row[j]
            argument = old - step / self.n_rows * slope
            new = prox(argument, step)
            arguments.append(argument)
            row[j] = new
            # Under an L1 penalty most coordinates stay where they are.
            if new == old:
                continue
            if rows is None:
                daxpy(x, self._of_output[output], a=new - old)
            else:
                self._of_output[output][rows] += (new - old) * x
        return arguments


def _of_rows(values, rows):
    """Return the values of some rows, which are the last axis; None stands for all rows."""
    return values if rows is None or values is None else values.take(rows, axis=-1)


def _norms(columns, n_features):
    """Return the norms of rows of the first columns; 0 where squares have too few digits.

    Such rows, and those whose squares overflow, have no slopes.
    """
    squares = np.zeros_like(columns[0])
    for j in range(n_features):
        rows, x = nonzero_part(columns, j)
        squares[slice(None) if rows is None else rows] += np.square(x)
    norms = np.sqrt(squares)
    norms[norms < SMALLEST_NORM] = 0.0
    return norms


def feature_moments(columns, reach, plan, run):
    """Release the mean square of each column, and its mean where the plan buys it.

    The columns are `BallColumns`, of the first d of which no entry exceeds `reach`, of shape (d,),
    in size. Means that aren't bought are 0. The squares are of what is left after means are taken
    away.
    """
    query = ColumnMoments(
        mechanism=run.mechanism(SQUARES),
        reach=reach,
        longest=plan.problem.reach,
        weight_of_sums=plan.weight_of_means if plan.buys_means else 0.0,
    )
    released = run.ask(SQUARES, columns, query) / columns.X.shape[0]
    d = reach.size
    with np.errstate(all="ignore"):
        means = released[d:] / plan.weight_of_means if plan.buys_means else np.zeros(d)
        squares, means = plan.likely_moments(released[:d], means)
        return squares * reach**2, means * reach
