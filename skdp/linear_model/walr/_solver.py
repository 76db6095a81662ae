"""Noisy sums by label, and logistic regression from them, which reads nothing else but rows."""

from functools import cached_property

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import minimize
from scipy.sparse import issparse

from skdp._families.losses import class_probabilities, log_partition
from skdp._release.sampling import PartitionSampler
from skdp._rows.batches import TailAverage
from skdp._rows.bounds import BoundedRows, row_norms
from skdp._rows.threads import single_threaded_blas
from skdp.linear_model.walr import _tuned as tuned


def expected_losses(public, means, noise_cov, w, alphas=None):
    r"""Return strengths of regularisation and the loss that each is expected to cost.

    Near its optimum the objective is a quadratic of curvature H. In an eigenvector of H of
    eigenvalue h, the released means are off by noise of a known variance v (that of the release,
    and h / n of the labels themselves), so that with weight u the excess loss is expected to be
    :math:`\frac{1}{2} h (v + \alpha^2 u^2) / (h + \alpha)^2`. The sizes of the weights are taken
    from a normal distribution of variance :math:`\tau^2 h^{-1/2}`, where :math:`\tau` makes the
    released means likeliest. doc/theory/walr.rst derives and measures this. The curvature is taken
    at weights `w` that follow from the release; without `alphas` there is a grid of them.
    """
    p = class_probabilities(public.scores(w))
    gaps = means - public.sums(p) / public.n_rows
    curvatures = (public.weighted_moment(of_class * (1.0 - of_class)) for of_class in p.T)
    parts = [
        directions(curvature, gap, noise_cov, weights, public.bias)
        for curvature, gap, weights in zip(curvatures, gaps, w, strict=True)
    ]
    h, r, v = (np.concatenate(values) for values in zip(*parts, strict=True))
    v += h / public.n_rows
    seen = h > 1e-12 * h.max(initial=0.0)
    h, r, v = h[seen], r[seen], v[seen]
    if not h.size:
        alphas = np.ones(1) if alphas is None else alphas
        return alphas, np.zeros(alphas.shape)
    typical = h.mean()
    if alphas is None:
        alphas = np.geomspace(min(1e-8 * typical, 1e-2 * h.min()), 1e3 * h.max(), tuned.N_ALPHAS)
    sizes = (h / typical) ** -tuned.WEIGHT_POWER / typical
    squares = sizes * np.exp(tuned.LOG_WEIGHT_SIZES)[:, np.newaxis]
    spread = squares * h**2 + v
    likely = (np.log(spread) + r**2 / spread).sum(axis=1).argmin()
    return alphas, excess_losses(h, v, squares[likely], alphas)


def excess_losses(h, v, squares, alphas):
    """Return the loss that each strength costs along directions, see `expected_losses`.

    These have curvatures h, variances v of the means and expected squares of the weights.
    """
    column = alphas[:, np.newaxis]
    return 0.5 * (h * (v + column**2 * squares) / (h + column) ** 2).sum(axis=1)


def best_alpha(public, means, noise_cov, w):
    """Return the strength of regularisation that is expected to cost least."""
    alphas, losses = expected_losses(public, means, noise_cov, w)
    return float(np.clip(alphas[losses.argmin()], 1e-300, 1e300))


def penalties(alpha, n_columns, bias):
    """Return the strength of the L2 penalty for each column: none for the intercept's."""
    strengths = np.full(n_columns, alpha)
    if bias:
        strengths[-1] = 0.0
    return strengths


def directions(curvature, gap, noise_cov, weights, bias):
    """Return curvature, response and noise variance by eigenvector of the curvature of a class.

    The intercept, which isn't penalised, follows the other weights: its row and column are
    eliminated.
    """
    if bias:
        along = curvature[:-1, -1] / max(curvature[-1, -1], 1e-300)
        curvature = curvature[:-1, :-1] - np.multiply.outer(along, curvature[-1, :-1])
        gap = gap[:-1] - along * gap[-1]
        weights = weights[:-1]
        eliminate = np.hstack([np.eye(along.size), -along[:, np.newaxis]])
        noise_cov = eliminate @ noise_cov @ eliminate.T
    h, vectors = eigh(curvature)
    h = np.maximum(h, 0.0)
    response = vectors.T @ gap + h * (vectors.T @ weights)
    noise = (vectors * (noise_cov @ vectors)).sum(axis=0)
    return h, response, np.maximum(noise, 0.0)


BLOCK = 2048


class PublicRows:
    """Sums over certified rows, block by block, so that no copy of the data is made.

    Rows count `weights` times in sums, and are multiplied by `factors`; None is 1 for all.
    """

    def __init__(self, rows: BoundedRows, weights=None, factors=None):
        self._rows, self._weights, self._factors = rows, weights, factors
        self.n_rows = rows.norm.size
        self.n_columns = rows.n_columns
        self.bias = rows.bias

    def multiplied(self):
        """Return the rows times their weights, each of which counts once: what labels pick from."""
        return self if self._weights is None else PublicRows(self._rows, factors=self._weights)

    def _counted(self, values, which):
        """Return what belongs to some rows times their weights."""
        if self._weights is None:
            return values
        counted = self._weights[which]
        return values * (counted if values.ndim == 1 else counted[:, np.newaxis])

    def blocks(self):
        """Yield slices of the rows and those rows, the intercept's column last."""
        X, scale, bias = self._rows.X, self._rows.scale, self._rows.bias
        for start in range(0, self.n_rows, BLOCK):
            block = slice(start, min(start + BLOCK, self.n_rows))
            x = np.empty((block.stop - block.start, self.n_columns))
            rows = X[block]
            x[:, : X.shape[1]] = rows.toarray() if issparse(rows) else rows
            if scale is not None:
                x[:, : X.shape[1]] *= scale[block, np.newaxis]
            x[:, X.shape[1] :] = bias
            if self._factors is not None:
                x *= self._factors[block, np.newaxis]
            yield block, x

    def take(self, indices):
        """Return the chosen rows."""
        x = self._rows.augmented(indices)
        return x if self._factors is None else x * self._factors[indices, np.newaxis]

    def mean_gradient(self, w, indices):
        """Return the gradient of the mean log-partition of the chosen rows."""
        x = self.take(indices)
        return self._counted(class_probabilities(x @ w.T), indices).T @ x / indices.size

    def sums(self, weights):
        """Return the sums of the rows times weights of shape (n, k), an array of shape (k, d)."""
        total = np.zeros((weights.shape[1], self.n_columns))
        for block, x in self.blocks():
            total += self._counted(weights[block], block).T @ x
        return total

    @cached_property
    def total(self):
        """Sum of the rows, of shape (d,)."""
        return self.sums(np.ones((self.n_rows, 1)))[0]

    @cached_property
    def second_moment(self):
        """Mean outer product of a row with itself, of shape (d, d)."""
        return self.weighted_moment(None)

    @cached_property
    def mean_squares(self):
        """Diagonal of the second moment."""
        squares = (np.einsum("ij,ij->j", self._counted(x, block), x) for block, x in self.blocks())
        return sum(squares) / self.n_rows

    @property
    def norms(self):
        """Lengths of the rows."""
        return self._rows.norm if self._factors is None else self._rows.norm * self._factors

    @property
    def longest(self):
        """Length of the longest row; rows of zeros alone reveal nothing, and any will do."""
        return float(self.norms.max()) or 1.0

    def weighted_moment(self, weights):
        """Return the mean outer product of a row with itself, with weights of shape (n,) or 1."""
        total = np.zeros((self.n_columns, self.n_columns))
        for block, x in self.blocks():
            weighted = x if weights is None else x * weights[block, np.newaxis]
            total += x.T @ self._counted(weighted, block)
        return total / self.n_rows

    def mapped_norms(self, transform):
        """Return the lengths of the rows after a linear map of shape (r, d)."""
        return np.concatenate([row_norms(x @ transform.T) for _, x in self.blocks()])

    def scores(self, w):
        """Return the products of the rows with weights of shape (k, d), of shape (n, k)."""
        return np.concatenate([x @ w.T for _, x in self.blocks()])

    def loss_and_gradient(self, w):
        """Return the mean log-partition at weights of shape (k, d), and its gradient."""
        value, gradient = 0.0, np.zeros_like(w)
        for block, x in self.blocks():
            m = x @ w.T
            value += self._counted(log_partition(m), block).sum()
            gradient += self._counted(class_probabilities(m), block).T @ x
        return value / self.n_rows, gradient / self.n_rows


def consistent_means(aggregate):
    """Return released sums over n, moved to what is possible for labels and these public rows.

    The sums of all classes add up to the sum of the rows, and with an intercept its column holds
    the shares of the classes. Shares are drawn to equal ones as far as their noise asks for it,
    and kept between half a row and all rows but half a one; the other columns move with them by the
    regression of their noise on that of the shares.

    The second value is the covariance of the noise that is left of each, before shares were moved.
    """
    n_rows, bias = aggregate.n_rows, aggregate.bias
    means, noise_cov = aggregate.sums / n_rows, aggregate.noise_cov / n_rows**2
    n_outputs = len(means)
    if n_outputs > 1:
        means = means + (aggregate.feature_sums / n_rows - means.sum(axis=0)) / n_outputs
        noise_cov = noise_cov * aggregate.share_left
    if not bias:
        return means, noise_cov
    shares, last = means[:, -1] / bias, noise_cov[:, -1]
    variance = last[-1] / bias**2
    prior = 1.0 / max(2, n_outputs)
    prior_variance = tuned.CLASS_SHARE_VARIANCE
    drawn = prior + (shares - prior) * prior_variance / (prior_variance + variance)
    least = 0.5 / n_rows
    drawn = np.clip(drawn, least, 1.0 - least)
    if n_outputs > 1:
        drawn /= drawn.sum()
    regression = last / last[-1] if last[-1] > 0.0 else np.zeros(last.size)
    means = means + np.multiply.outer(bias * (drawn - shares), regression)
    means[:, -1] = bias * drawn
    return means, noise_cov


def start_of(means, bias):
    """Return weights of 0, and intercepts that give the classes their shares."""
    w = np.zeros(means.shape)
    if bias:
        shares = means[:, -1] / bias
        if shares.size == 1:
            w[:, -1] = np.log(shares / (1.0 - shares)) / bias
        else:
            w[:, -1] = (np.log(shares) - np.log(shares).mean()) / bias
    return w


def solve_lbfgs(public, means, *, alpha, max_iter, start):
    r"""Minimise the perturbed objective to its optimum by L-BFGS.

    .. math:: F(W) = \frac{1}{n} \sum_i \log \sum_k e^{w_k^\top x_i} - \sum_k w_k^\top s_k
              + \frac{\alpha}{2} \|W\|^2

    with released means :math:`s_k` in place of those of the rows of class k. Intercepts are not
    penalised; of two classes the first has w = 0. The variables are those in which the curvature
    of a model without features is the identity, where few iterations are needed.

    It returns the weights, the number of iterations, at least 1, and whether they were enough.
    """
    penalty = penalties(alpha, public.n_columns, public.bias)
    root = _inverse_root(public, means, penalty)

    def objective(flat):
        w = start + flat.reshape(start.shape) @ root
        value, gradient = public.loss_and_gradient(w)
        value += 0.5 * (penalty * w * w).sum() - (w * means).sum()
        return value, ((gradient + penalty * w - means) @ root).ravel()

    options = {
        "maxiter": max_iter,
        "maxfun": 2 * max_iter + 20,
        "maxcor": 20,
        "gtol": tuned.GRADIENT_TOLERANCE,
        "ftol": 0.0,
    }
    zeros = np.zeros(start.size)
    with single_threaded_blas:
        result = minimize(objective, zeros, jac=True, method="L-BFGS-B", options=options)
    w = start + result.x.reshape(start.shape) @ root
    return w, max(1, int(result.nit)), result.status != 1


def _inverse_root(public, means, penalty):
    """Return the inverse square root of the curvature of a model without features."""
    spread = 0.25
    if public.bias:
        shares = means[:, -1] / public.bias
        spread = float((shares * (1.0 - shares)).mean())
    if public.n_columns > tuned.LARGEST_DENSE_COLUMNS:
        return np.diag(1.0 / np.sqrt(spread * public.mean_squares + penalty + 1e-300))
    values, vectors = eigh(spread * public.second_moment + np.diag(penalty))
    floor = max(values[-1] * 1e-14, 1e-300)
    return (vectors / np.sqrt(np.maximum(values, floor))) @ vectors.T


def solve_descent(public, means, *, alpha, max_iter, eta0, batch_size, average, stream):
    """Run the note's gradient descent, of full batches or "hybrid" with mini-batches.

    A step moves against the mean over a batch of probabilities times rows, minus the released
    means, which are those of all rows (WALR note, "Hybrid Minibatch GD").
    """
    penalty = penalties(alpha, public.n_columns, public.bias)
    sampler = PartitionSampler(public.n_rows, batch_size, max_iter)
    w = np.zeros(means.shape)
    mean = TailAverage(w.shape, sampler.n_steps, average)
    full = batch_size >= public.n_rows
    with single_threaded_blas:
        for batch in sampler.batches(stream):
            gradient = public.loss_and_gradient(w)[1] if full else public.mean_gradient(w, batch)
            # Proximal in the penalty: stable for any strength.
            w = (w - eta0 * (gradient - means)) / (1.0 + eta0 * penalty)
            mean.add(w)
    return mean.value()


def automatic_alpha(public, means, noise_cov, start):
    """Return the automatic strength of the penalty, and weights near its optimum.

    Curvature falls where the model is sure, so it is looked at once more with weights; within
    bounds, because weights that fit the noise are sure of everything.
    """
    first = best_alpha(public, means, noise_cov, start)
    w, _, _ = solve_lbfgs(public, means, alpha=first, max_iter=1000, start=start)
    second = best_alpha(public, means, noise_cov, w)
    factor = tuned.LARGEST_ALPHA_CORRECTION
    return min(max(second, first / factor), first * factor), w


def stable_step(public, n_outputs):
    """Return the reciprocal of the largest curvature of the loss of all rows."""
    largest = float(np.linalg.norm(public.second_moment, 2))
    return 1.0 / max((0.25 if n_outputs == 1 else 0.5) * largest, 1e-300)
