"""A fit that noise is expected to hide warns once, by public numbers."""

import warnings

import numpy as np
import pytest

from skdp.additive import DPAdditiveClassifier
from skdp.inspection import predicted_noise

N_FEATURES = 20


def warnings_of(X, y, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        DPAdditiveClassifier(classes=[0, 1], random_state=0, **options).fit(X, y)
    return [str(one.message) for one in caught]


@pytest.mark.long
def test_the_warning_names_how_many_columns_would_do_and_follows_no_record():
    X = np.random.default_rng(0).standard_normal((1000, N_FEATURES))
    most = predicted_noise(DPAdditiveClassifier(), 1000, N_FEATURES, epsilons=[0.7])
    (n_told,) = most["most_features"]
    assert 0 < n_told < N_FEATURES / 2
    wanted = f"these 1000 records are enough for about {n_told} of {N_FEATURES} columns"
    first = warnings_of(X, (X[:, 0] > 0).astype(int), epsilon=0.7)
    other = warnings_of(-(X[::-1] ** 3), (X.sum(axis=1) > 0).astype(int), epsilon=0.7)
    assert first == other
    assert [wanted in text for text in first] == [True]
    assert "skdp.inspection.predicted_noise" in first[0]


def test_a_model_of_noise_alone_warns_once_with_the_same_advice():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((1000, N_FEATURES)), rng.integers(0, 2, 1000)
    (text,) = warnings_of(X, y, epsilon=0.7)
    assert text.startswith("The noise hides the effect of every column")
    assert "records are enough for about" in text


def test_few_columns_of_many_records_give_no_warning():
    X = np.random.default_rng(0).standard_normal((3000, 4))
    assert not warnings_of(X, (X[:, 0] > 0).astype(int), epsilon=2.0)
    assert not warnings_of(X[:300], (X[:300, 0] > 0).astype(int), epsilon=float("inf"))


def test_a_model_of_shares_alone_names_where_to_look():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((100, N_FEATURES)), rng.integers(0, 2, 100)
    with pytest.warns(UserWarning, match="predicted_noise tells for how many columns") as caught:
        DPAdditiveClassifier(classes=[0, 1], epsilon=0.5, random_state=0).fit(X, y)
    assert len(caught) == 1
