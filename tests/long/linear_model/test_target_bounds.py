"""Long tests beside the quick ones of `tests/linear_model/test_target_bounds.py`."""

import numpy as np
import pytest

from skdp.linear_model import DPHuberRegressor, DPQuantileRegressor, DPRidge
from tests.linear_model.test_target_bounds import LEARNT, LINE, TARGETS, drawn, has_l1


@pytest.mark.parametrize("estimator", LEARNT)
@pytest.mark.parametrize("kind", TARGETS)
def test_bounds_are_learnt_wherever_targets_lie(kind, estimator):
    X, y = drawn(kind)
    if kind == "small" and has_l1(estimator):
        pytest.skip("its penalty is in units of y, and allows no coefficient")
    model = estimator(epsilon=1.0, random_state=0).fit(X, y)
    low, high = model.target_bounds_
    assert low < np.quantile(y, 0.03)
    assert high > np.quantile(y, 0.97)
    assert high - low < 4.0 * np.subtract(*np.quantile(y, [0.999, 0.001]))
    told = estimator(epsilon=1.0, target_bounds=(low, high), random_state=0).fit(X, y)
    assert model.score(X, y) > told.score(X, y) - 0.02
    assert model.score(X, y) > 0.4
    assert not any(LINE in text for text in model.privacy_report_.assumed_public)
    assert model.privacy_report_.epsilon == 1.0


def test_few_records_tell_of_most_targets_far_from_0():
    """The share that is cut is .054, and the deviation of its mean .003."""
    cut = []
    for seed in range(400):
        y = 30.0 + 3.0 * np.random.default_rng(seed).standard_normal(500)
        low, high = DPRidge(max_iter=1, random_state=seed).fit(0.0 * y[:, None], y).target_bounds_
        cut.append(np.mean((y < low) | (y > high)))
    assert np.mean(cut) < 0.08


@pytest.mark.parametrize("estimator", LEARNT)
def test_fewer_targets_are_cut_the_more_records_there_are(estimator):
    """Ranges end at bins, so that a single one of few records may be lucky."""
    cut = []
    for n, n_seeds in ((1000, 8), (10_000, 8), (300_000, 1)):
        X, y = drawn("about 0", n)
        shares = []
        for seed in range(n_seeds):
            low, high = estimator(delta=1e-6, random_state=seed).fit(X, y).target_bounds_
            shares.append(np.mean((y < low) | (y > high)))
        cut.append(np.mean(shares))
    # The robust ones cut at twice a range of most targets, beyond which hardly any of these lies.
    if issubclass(estimator, (DPHuberRegressor, DPQuantileRegressor)):
        assert cut[0] < 0.005
        assert max(cut[1:]) < 1e-4
    else:
        assert cut[0] > cut[1] > cut[2]
        assert cut[2] < 1e-4
