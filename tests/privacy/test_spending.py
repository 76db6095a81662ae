"""What the replay's own account says, by hand and against ours."""

import math

import pytest
from scipy.stats import norm

from skdp.accountant import calibrate, get_epsilon
from skdp.linear_model import DPSGDClassifier
from tests.door import PoissonSampler
from tests.privacy._cases import Case
from tests.privacy._recipes import TWO
from tests.privacy._replay import broken_accounts, record
from tests.privacy._spending import Release, epsilon_of


@pytest.mark.parametrize(("adjacency", "factor"), [("zero_out", 1.0), ("replace_one", 2.0)])
def test_pure_releases_add_their_epsilons(adjacency, factor):
    releases = [Release(4.0, pure=True), Release(4.0, pure=True), Release(8.0, pure=True)]
    assert epsilon_of(releases, 0.0, adjacency) == pytest.approx(factor * 0.625)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_gaussian_releases_of_all_rows_add_their_squares(epsilon):
    """Of noise 2 four times and of noise 1 there are the squares of one of noise 1 / sqrt(2)."""
    mu = math.sqrt(2.0)
    delta = norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
    assert epsilon_of([Release(2.0)] * 4 + [Release(1.0)], delta, "zero_out") == pytest.approx(
        epsilon
    )
    pairs = [Release(2.0, pairwise=True)] * 4 + [Release(2.0)]
    assert epsilon_of(pairs, delta, "replace_one") == pytest.approx(epsilon)
    assert epsilon_of([Release(1.0)], 0.9, "zero_out") == 0.0
    assert epsilon_of([Release(0.0)], 0.1, "zero_out") == math.inf


@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
@pytest.mark.parametrize(("noise", "rate", "n_steps"), [(1.0, 0.1, 30), (3.0, 0.5, 7)])
def test_sampled_releases_agree_with_our_accountant(noise, rate, n_steps, adjacency):
    """Which is apart from it, and looser by up to 0.3 %."""
    found = epsilon_of([Release(noise, rate)] * n_steps, 1e-4, adjacency)
    ours = get_epsilon(noise, 1e-4, sampling_rate=rate, n_steps=n_steps, adjacency=adjacency)
    assert 0.995 * ours < found <= ours


@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
@pytest.mark.parametrize(("rate", "n_steps"), [(0.1, 100), (0.01, 2000), (0.5, 3)])
@pytest.mark.parametrize("epsilon", [1e-4, 1e-3, 0.1, 10.0])
def test_the_grid_adds_less_than_calibration_leaves(epsilon, rate, n_steps, adjacency):
    noise = calibrate(epsilon, 1e-5, sampling_rate=rate, n_steps=n_steps, adjacency=adjacency)
    found = epsilon_of([Release(noise, rate)] * n_steps, 1e-5, adjacency)
    assert 0.995 * epsilon < found <= epsilon


def test_coins_of_another_probability_are_convicted(monkeypatch):
    """Of 600 coins; an honest sampler is convicted less than once in 10**8 times."""
    case = Case(DPSGDClassifier(**TWO))
    assert broken_accounts(record(case, *case.records())) == set()
    batches = PoissonSampler.batches

    def doubled(self, stream):
        return batches(PoissonSampler(self.n_rows, 2.0 * self.rate, self.n_steps), stream)

    monkeypatch.setattr(PoissonSampler, "batches", doubled)
    assert broken_accounts(record(case, *case.records())) == {"coins"}
