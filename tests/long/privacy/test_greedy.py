"""Long tests beside the quick ones of `tests/privacy/test_greedy.py`."""

import itertools
import math

import numpy as np
import pytest
from sklearn.base import clone

from skdp.linear_model import DPCDClassifier, DPCDLasso
from tests.door import ExponentialChoice, GaussianMechanism, null_records
from tests.privacy._recorded import claimed_mu
from tests.privacy.test_greedy import log_law
from tests.statistical._transcripts import noise_times


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
