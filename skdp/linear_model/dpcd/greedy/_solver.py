"""Proximal coordinate descent along privately chosen coordinates."""

import numpy as np

from skdp._rows.clipping import clip_contributions
from skdp._rows.threads import single_threaded_blas
from skdp.linear_model._plan import STEPS
from skdp.linear_model.dpcd.greedy._plan import CHOICES

# In units of what no value exceeds. Predictions stay finite, so that a null record's stay 0.
_LARGEST_WEIGHT = 1e100
_LEAST_CURVATURE = 1e-60


@np.errstate(all="ignore")
def solve_greedy(columns, targets, *, plan, loss, penalty, run, bias=0.0, weights=None):
    r"""Run greedy coordinate descent (Mangold et al. 2023, algorithm 1), with curvatures released.

    Takes columns divided by what no value exceeds, targets of shape (n, k), the penalty of the
    coefficients w, the intercept's included, `bias`, the constant of the last column before it was
    divided (0 if there is no intercept), and weights of shape (n,). Returns w of shape (k, d).
    """
    with single_threaded_blas:
        descent = _Greedy(columns, targets, plan, loss, penalty, run, weights)
        if bias:
            descent.start(of_classes=plan.problem.scale.of_classes)
        for _ in range(plan.n_passes):
            descent.step()
    return np.clip(descent.w / columns.unit, penalty.low, penalty.high)


class _Greedy:
    """An iterate and its predictions, in units in which no value of a column exceeds 1."""

    def __init__(self, columns, targets, plan, loss, penalty, run, weights):
        self._x = columns.X.T
        self._targets, self._plan, self._loss = targets, plan, loss
        # Places are chosen by coins, and have a stream of their own.
        run.coins()
        self._choose = run.steps(CHOICES, with_coins=True)
        self._release_slopes = run.steps(STEPS)
        self._weights = weights
        self._penalty = penalty.in_units(columns.unit).within(_LARGEST_WEIGHT)
        start = np.zeros((targets.shape[1], columns.unit.size))
        self.w = self._penalty.prox(start, 0.0)
        self._predictions = columns.X @ self.w.T
        self._ones = np.ones(len(targets))

    def start(self, *, of_classes):
        """Move the intercept, the last coordinate, to the best constant.

        Slopes of weighted classes tell no share of them: then it takes a step.
        """
        j = self.w.shape[1] - 1
        slopes, curvature = self._release(j, self._slopes())
        if of_classes:
            self._move(j, slopes, curvature)
            return
        n_rows = self._targets.shape[0]
        error = 2.0 * self._plan.mechanism.noise_std / n_rows
        constant, _ = self._loss.constant(slopes / n_rows, error)
        self._set(j, self._penalty.of_coefficient(j).prox(constant, 0.0))

    def step(self):
        """Choose a coordinate and take a proximal step along it."""
        slopes = self._slopes()
        scores = self._scores(self._x @ slopes)
        j = int(self._choose(scores))
        self._move(j, *self._release(j, slopes))

    def _slopes(self):
        """Return what the slopes of records count, of shape (n, k) and with bounded norms."""
        bound, m = self._plan.clipping_norm, self._predictions
        slopes = self._loss.gradient(self._targets, m)
        if self._plan.scales:
            # By what doesn't know the label: at the true odds they still add up to 0.
            slopes /= np.maximum(self._loss.largest_slope(m) / bound, 1.0)
        return clip_contributions(slopes, self._ones, bound, self._weights)

    def _scores(self, sums):
        """Return how steep the objective is along each coordinate, in whole parts.

        Steepness is 0 where a proximal step would stay. Given the iterate it is no farther apart
        than the sums are, and what is added to their parts is whole, so that nothing is rounded.
        """
        w, penalty, parts = self.w.T, self._penalty, self._plan.parts
        n_rows = len(self._targets)
        slopes = parts(sums) + parts(n_rows * (w.T * penalty.l2).T)
        threshold = parts(n_rows * np.broadcast_to(penalty.l1, w.shape[:1]))[:, np.newaxis]
        settled = np.sign(slopes) * np.maximum(np.abs(slopes) - threshold, 0.0)
        slopes = np.where(w == 0.0, settled, slopes + threshold * np.sign(w))
        slopes = np.where((penalty.low >= w.T).T, np.minimum(slopes, 0.0), slopes)
        slopes = np.where((penalty.high <= w.T).T, np.maximum(slopes, 0.0), slopes)
        norms = np.sqrt(np.square(slopes).sum(axis=1)) if w.shape[1] > 1 else np.abs(slopes[:, 0])
        return np.rint(norms).astype(np.int64) if self._plan.budget.is_private else norms

    def _release(self, j, slopes):
        """Release slopes along a coordinate; return them and the curvature of the mean loss."""
        plan, x, n_rows = self._plan, self._x[j], len(self._targets)
        # Without noise curvatures are of what rows count.
        squares = np.square(x)
        if not plan.budget.is_private and self._weights is not None:
            squares *= self._weights
        total = np.append(x @ slopes, plan.weight_of_squares * np.add.reduce(squares))
        released = self._release_slopes(total)
        # A step that trusted a square that noise made too small could be too long to settle.
        squares = max(released[-1], 0.0) + plan.mechanism.noise_std
        weight = plan.problem.scale.typical if plan.budget.is_private else 1.0
        curvature = weight * self._loss.smoothness * squares / (plan.weight_of_squares * n_rows)
        return released[:-1], max(curvature, _LEAST_CURVATURE)

    def _move(self, j, slopes, curvature):
        step = self._plan.step_size / curvature
        argument = self.w[:, j] - step * slopes / len(self._targets)
        self._set(j, self._penalty.of_coefficient(j).prox(argument, step))

    def _set(self, j, values):
        moves = values - self.w[:, j]
        self.w[:, j] = values
        self._predictions += np.multiply.outer(self._x[j], moves)
