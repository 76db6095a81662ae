"""Greedy selection: a Gaussian tells at least as much as a choice, by numbers and an attack."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import log_softmax
from sklearn.base import clone

from skdp.linear_model import DPCDClassifier, DPCDLasso
from tests.door import ExponentialChoice, GaussianMechanism, null_records
from tests.privacy._recorded import claimed_mu
from tests.statistical._transcripts import noise_times

EPSILONS = np.linspace(-3.0, 3.0, 25)
BOUND = 1000


def log_law(mechanism, scores):
    """Logarithms of the probabilities of places."""
    scale = math.ceil(math.sqrt(math.pi / 2.0) * mechanism.noise_std)
    return log_softmax(np.asarray(scores) / scale)


def deltas(one, two, epsilons):
    return np.maximum(np.exp(one) - np.exp(epsilons)[:, np.newaxis] * np.exp(two), 0.0).sum(axis=1)


def gaussian_deltas(epsilons, mu):
    return stats.norm.cdf(mu / 2 - epsilons / mu) - np.exp(epsilons) * stats.norm.cdf(
        -mu / 2 - epsilons / mu
    )


@pytest.mark.parametrize("noise", [0.3, 1.0, 4.0, 50.0])
def test_no_two_neighbouring_laws_are_further_apart_than_the_gaussian(noise):
    mechanism = ExponentialChoice(noise, BOUND)
    rng = np.random.default_rng(0)
    epsilons = np.append(EPSILONS / noise, 0.0)
    allowed, worst = gaussian_deltas(epsilons, 1.0 / noise), 0.0
    for n_scores in (2, 2, 3, 10, 100):
        for _ in range(200):
            scores = rng.integers(0, rng.choice([1, 10, 100]) * BOUND + 1, n_scores)
            moves = BOUND * rng.choice([-1, 1], n_scores)
            if n_scores == 2 and rng.random() < 0.2:
                # The farthest apart that there are: each of two leads by the bound.
                scores, moves = np.array([BOUND, 0]), np.array([-BOUND, BOUND])
            one, two = log_law(mechanism, scores), log_law(mechanism, scores + moves)
            found = deltas(one, two, epsilons)
            assert (found <= allowed + 1e-12).all()
            worst = max(worst, found[-1] / allowed[-1])
    # The constant is the least for little told at a time.
    assert worst <= 1.0
    assert worst > (0.998 if noise >= 4.0 else 0.8)


def replayed(model, X, y, *, null, script=None):
    """Fit and return releases, their inputs, and mechanisms, in order."""
    made = []

    def spied(kind, original):
        def release(self, value, stream):
            out = original(self, value, stream) if script is None else script[len(made)].copy()
            made.append((self, value.copy(), out.copy()))
            return out

        return release

    with pytest.MonkeyPatch.context() as patch, null_records([0] if null else []):
        for kind in (GaussianMechanism, ExponentialChoice):
            patch.setattr(kind, "release", spied(kind, kind.release))
        return model.fit(X, y), made


def log_likelihood(mechanism, value, out):
    if isinstance(mechanism, ExponentialChoice):
        return log_law(mechanism, value)[int(out)]
    return -((out - value) ** 2).sum() / (2.0 * mechanism.noise_std**2)


def measured_mu(model, X, y, n_fits=150):
    """What the likelihood ratio of choices and slopes together tells of record 0."""
    ratios = {False: [], True: []}
    for null, seed in itertools.product(ratios, range(n_fits)):
        model = clone(model).set_params(random_state=2 * seed + null, delta=1e-3)
        _, made = replayed(model, X, y, null=null)
        # Of one seed the fit in its own world, with its own results, is the same again.
        script = [out for *_, out in made]
        worlds = [made, replayed(model, X, y, null=not null, script=script)[1]]
        worlds = worlds[::-1] if null else worlds
        ratios[null].append(
            sum(
                log_likelihood(with_it, value, out) - log_likelihood(with_it, other, out)
                for (with_it, value, out), (_, other, _) in zip(*worlds, strict=True)
            )
        )
    apart = np.mean(ratios[False]) - np.mean(ratios[True])
    return apart / np.std(np.concatenate([r - np.mean(r) for r in ratios.values()]))


# Five standard deviations of the mean of as many ratios.
MARGIN = 5.0 * math.sqrt(2.0 / 150)


@pytest.mark.long
@pytest.mark.parametrize("estimator", [DPCDLasso, DPCDClassifier])
def test_an_attacker_learns_no_more_than_is_claimed_and_not_far_less(estimator):
    """A record that pulls one of two even columns up and the other down, with all its might."""
    rng = np.random.default_rng(3)
    X, y = rng.choice([-1.0, 1.0], (40, 2)), rng.uniform(-1.0, 1.0, 40)
    X[0], y[0] = [1.0, -1.0], 1.0
    options = {"classes": [0, 1]} if estimator is DPCDClassifier else {"target_bounds": (-1, 1)}
    y = (y > 0.0).astype(int) if estimator is DPCDClassifier else y
    # Slopes are cut in every step, and coefficients hardly move.
    model = estimator(
        selection="greedy", clipping_norm=1e-3, max_iter=10, epsilon=6.0, fit_intercept=False
    ).set_params(step_size=1e-9, feature_bounds=(-1, 1), **options)
    fitted = clone(model).set_params(random_state=0, delta=1e-3).fit(X, y)
    mu = claimed_mu(fitted.privacy_report_)
    found = measured_mu(model, X, y)
    assert 0.5 * mu < found <= mu + MARGIN
    with noise_times(0.4):
        assert measured_mu(model, X, y) > mu + MARGIN
