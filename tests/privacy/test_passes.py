"""What a record may move over passes of DP-CD: the theorem by numbers, and an attack."""

import math

import numpy as np
import pytest
from scipy import stats

from skdp.linear_model import DPCDClassifier, DPCDLasso
from tests.privacy._cases import Case
from tests.privacy._replay import loss_of, record

MU = 1.3


def greedy(loss, left):
    """Spend most of what is left where the past told little of the record."""
    return left * np.where(loss < 0.0, 0.9, 0.2)


def stopping(loss, left):
    """Spend nothing any more once the past told much."""
    return left * (0.3 + 0.0 * loss) * (loss < 0.5 * MU**2)


def by_signs(loss, left):
    return left * (0.5 + 0.5 * np.sin(40.0 * loss)) ** 2


STRATEGIES = [greedy, stopping, by_signs]


def gaussian_delta(epsilon, mu=MU):
    return stats.norm.cdf(mu / 2 - epsilon / mu) - np.exp(epsilon) * stats.norm.cdf(
        -mu / 2 - epsilon / mu
    )


def losses_of(strategy, *, padded, n_paths=200_000, n_steps=6, seed=0):
    """Log-likelihood ratios of paths on which a share of the squared mu that is left is spent."""
    rng = np.random.default_rng(seed)
    loss, left = np.zeros(n_paths), np.full(n_paths, MU**2)
    for t in range(n_steps):
        spent = left if padded and t == n_steps - 1 else strategy(loss, left)
        loss += np.sqrt(spent) * rng.standard_normal(n_paths) + spent / 2.0
        left -= spent
    return loss


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_losses_of_padded_paths_have_the_law_of_one_release(strategy):
    law = stats.norm(MU**2 / 2.0, MU)
    assert stats.kstest(losses_of(strategy, padded=True), law.cdf).pvalue > 1e-6
    # Without the pad the law is another one, so that this test can fail.
    assert stats.kstest(losses_of(strategy, padded=False), law.cdf).pvalue < 1e-6


# Past losses, in squared mu, where strategies jump: no piece of a quadrature reaches over one.
JUMPS = np.array([0.0, 0.2, 0.5])


def delta_of_two_steps(strategy, epsilon):
    """The hockey-stick divergence by quadrature over the first result, exact in the second."""
    first = 0.4 * MU**2
    jumps = (JUMPS * MU**2 - first / 2.0) / math.sqrt(first)
    edges = np.sort(np.append(np.linspace(-9.0, 9.0, 400), jumps))
    nodes, weights = np.polynomial.legendre.leggauss(20)
    half = np.diff(edges)[:, np.newaxis] / 2.0
    z = edges[:-1, np.newaxis] + half * (nodes + 1.0)
    loss = math.sqrt(first) * z + first / 2.0
    spent, rest = strategy(loss, MU**2 - first), epsilon - loss
    mu = np.sqrt(np.maximum(spent, 1e-12))
    second = np.where(spent > 1e-12, gaussian_delta(rest, mu), -np.expm1(rest))
    return (half * weights * np.maximum(second, 0.0) * stats.norm.pdf(z)).sum()


@pytest.mark.parametrize("epsilon", [-1.0, 0.1, 3.0])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_two_steps_give_no_more_than_one_release(strategy, epsilon):
    assert delta_of_two_steps(strategy, epsilon) <= gaussian_delta(epsilon) + 1e-6


def test_a_bound_on_average_is_none():
    """Twice what is left where the past told much, which it does in half of the paths."""
    found = delta_of_two_steps(lambda loss, left: 2.0 * left * (loss > 0.2 * MU**2), 3.0)
    assert found > 1.2 * gaussian_delta(3.0)


def attacked(estimator, **options):
    """A record that is long in all columns, whose slopes are cut in every step."""
    rng = np.random.default_rng(3)
    X, y = rng.uniform(-1.0, 1.0, (25, 6)), rng.uniform(-1.0, 1.0, 25)
    X[0], y[0] = [1.0, -1.0, 0.9, 0.8, -0.7, 1.0], 1.0
    if estimator is DPCDClassifier:
        options["classes"], y = [0, 1], (y > 0.0).astype(int)
    else:
        options["target_bounds"] = (-1.0, 1.0)
    made = estimator(clipping_norm=1e-3, max_iter=4, smoothness="bounds", ball_budget=0, **options)
    return made, X, y


@pytest.mark.parametrize("estimator", [DPCDLasso, DPCDClassifier])
def test_the_bound_of_all_passes_is_reached_and_not_exceeded(estimator):
    """Given the releases the losses of a record add up, exactly, to what the report has."""
    model, X, y = attacked(estimator, epsilon=2.0)
    case = Case(model)
    base = record(case, X, y)
    null = record(case, X, y, script=base.released, null=0)
    mu = base.estimator.privacy_report_.mu
    assert 0.999 * mu < loss_of(base, null) <= mu * (1.0 + 1e-9)
