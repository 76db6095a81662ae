"""The noise that the steps of a plan are expected to leave, by public numbers alone.

The derivation is in the documentation, "theory/whitening", "Noise before a fit".
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import block_diag, eigh
from scipy.sparse import issparse
from scipy.special import ndtri

from skdp._ball._tuned import TYPICAL_ENTRY
from skdp._release.mechanisms import as_symmetric
from skdp.linear_model.whitened import _tuned as tuned
from skdp.linear_model.whitened._solver import choose_steps, noise_covariance, whiten


class ExpectedNoise(NamedTuple):
    """Standard deviations of what noise adds, in the units of training.

    `effect` is what steps leave of a typical effect of a column, as a root mean square over rows:
    those that stop early, as they do where noise is loud, don't arrive.
    """

    of_term: float
    of_prediction: float
    effect: float

    @property
    def hides_most(self):
        """Whether what is left of a typical effect can't be told from noise."""
        return tuned.TOLD_IN_DEVIATIONS * self.of_term > self.effect


class ExpectedSteps(NamedTuple):
    """What the steps of a fit are expected to do to predictions."""

    # The variance that noise gives them.
    variance: float
    # The share of effects that the steps arrive at.
    reached: float
    n_columns: int


def expected_steps(plan, rules, *, moment=None, radius=None):
    """Return the `ExpectedSteps` of a plan.

    Steps follow from the released second moment of the rows. In place of the true one comes
    `moment`, of rows about their centre and without the intercept's column, in units in which a
    ball that is learnt has the radius `radius`; by default of independent columns of one size. Its
    noise is a fixed matrix that looks like that of a release.
    """
    n_columns = plan.problem.n_columns - (plan.problem.bias > 0.0)
    if not plan.budget.is_private:
        return ExpectedSteps(0.0, 1.0, n_columns)
    if plan.ball is not None:
        if radius is None:
            radius = TYPICAL_ENTRY * math.sqrt(n_columns / tuned.SHARE_OF_LONGEST_SQUARE)
        plan = plan.following(radius, 1.0, None)
    problem = plan.problem
    if moment is None:
        of_rows = problem.row_norm**2 - problem.bias**2
        moment = tuned.SHARE_OF_LONGEST_SQUARE * of_rows / n_columns * np.eye(n_columns)
    of_features = moment
    if problem.bias:
        moment = block_diag(moment, problem.bias**2)
    known = moment
    if plan.moment is not None:
        known = moment + plan.moment_noise / problem.n_records * _typical_noise(problem.n_columns)
    elif plan.public_moment is None:
        known = None
    steps = choose_steps(whiten(known, plan), plan, rules)
    A = steps.white.A.toarray() if issparse(steps.white.A) else steps.white.A
    # Errors shrink along the axes of mapped rows.
    lengths, axes = eigh(A @ moment @ A)
    shares = _reached(steps, rules.curvature * problem.smoothness * np.maximum(lengths, 0.0))
    arrived = (A @ (axes * shares) @ np.linalg.solve(A, axes).T)[:n_columns, :n_columns]
    return ExpectedSteps(
        variance=float(np.sum(noise_covariance(steps) * moment)),
        reached=float(np.sum(arrived * of_features) / np.trace(of_features)),
        n_columns=n_columns,
    )


def _reached(steps, curvature):
    """Return what steps reach of the way to where they would end, by curvature."""
    w, v, total = (np.zeros_like(curvature) for _ in range(3))
    for t in range(steps.n_steps):
        v = steps.momentum * v + curvature * (1.0 - w)
        w = w + steps.size * v
        if t >= steps.first:
            total += w
    return total / (steps.n_steps - steps.first)


def _typical_noise(n_columns):
    """Return a symmetric matrix like the noise of a moment, of deviation 1: the same every time.

    Its entries are normal quantiles of the fractions of a sequence of squares (Weyl 1916).
    """
    places = np.arange(1.0, n_columns * (n_columns + 1) // 2 + 1.0)
    even = np.mod(places * np.mod(places * math.sqrt(2.0), 1.0), 1.0)
    # The first of 2**53 fractions is 0.
    return as_symmetric(ndtri(np.clip(even, 2.0**-53, 1.0 - 2.0**-53)), n_columns)


def expected_noise(fits, loss):
    """Return the `ExpectedNoise` of fits one after the other, by their `ExpectedSteps`.

    Terms share the noise of a fit alike, with the intercept. The first fit gives effects their
    size. Predictions of two classes are shrunk by what is noise of their variance.
    """
    of_prediction = sum(fit.variance for fit in fits)
    of_term = sum(fit.variance / (fit.n_columns + 1) for fit in fits)
    effect = fits[0].reached * tuned.TYPICAL_EFFECTS[loss]
    left = 1.0
    if loss == "log_loss":
        of_effects = fits[0].n_columns * effect**2
        left = max(of_effects / (of_effects + of_prediction), 1.0 - tuned.LARGEST_SHARE_OF_NOISE)
    return ExpectedNoise(
        of_term=left * tuned.NOISE_OF_ALIKE_TERMS * math.sqrt(of_term),
        of_prediction=left * math.sqrt(of_prediction),
        effect=left * effect,
    )


def most_told(noise_of, n_features):
    """Return with how many features, up to `n_features`, a typical effect is told from noise.

    `noise_of` gives the `ExpectedNoise` of so many features. It grows with their number, but for
    where the knots or the schedule change. Few features are tried first, as they take less time.
    """
    if not noise_of(n_features).hides_most:
        return n_features
    low, high = 0, 1
    while high < n_features and not noise_of(high).hides_most:
        low, high = high, min(2 * high, n_features)
    while low + 1 < high:
        middle = (low + high) // 2
        if noise_of(middle).hides_most:
            high = middle
        else:
            low = middle
    return low
