"""Long tests beside the quick ones of `tests/linear_model/walr/test_estimators.py`."""

import math

import numpy as np
import pytest

from skdp.linear_model import WALRClassifier, label_aggregate, walr_path
from tests.door import consistent_means
from tests.linear_model.walr.test_estimators import N_ROWS, objective, records, several


@pytest.mark.parametrize(
    ("mechanism", "left"), [("analytic", 2.0 / 3.0), ("randomized_response", 1.0)]
)
def test_what_is_left_of_the_noise_where_all_classes_are_known(mechanism, left, several):
    """The variance that regularisation counts on, by 400 releases, to 7 standard errors."""
    X, labels = several
    options = {"mechanism": mechanism, "fit_intercept": False}
    releases = [label_aggregate(X, labels, random_state=seed, **options) for seed in range(400)]
    found = [consistent_means(release)[0] for release in releases]
    means, noise_cov = consistent_means(releases[0])
    np.testing.assert_allclose(noise_cov * N_ROWS**2, left * releases[0].noise_cov)
    ratios = np.var(found, axis=0).mean(axis=0) / np.diag(noise_cov)
    assert (np.abs(ratios - 1.0) < 7.0 * math.sqrt(2.0 / 400) / math.sqrt(2.0) + 0.1).all()
    np.testing.assert_allclose(means.sum(axis=0), X.mean(axis=0), atol=1e-12)


def test_automatic_regularisation_is_near_the_best(cancer):
    """Of strengths from 1e-5 to 10, by the log loss without noise: within 0.05 at 10 seeds."""
    X, y = cancer
    gaps = []
    for seed in range(10):
        auto = WALRClassifier(epsilon=2.0, random_state=seed).fit(X, y)
        _, coefs, intercepts, _ = walr_path(X, auto.aggregate_, alphas=np.geomspace(1e-5, 10.0, 13))
        losses = [
            (np.logaddexp(0.0, scores) - y * scores).mean()
            for scores in (X @ coefs[:, 0].T + intercepts[:, 0]).T
        ]
        gaps.append(objective(auto, X, y, 0.0) - min(losses))
    assert np.mean(gaps) < 0.05
