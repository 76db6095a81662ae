"""Two models on the same rows: the mean of differences, its interval, and what is refused."""

import math
import pickle

import numpy as np
import pytest

from skdp.ledger import PrivacyLedger
from skdp.metrics import PrivateComparison, private_compare, private_score
from tests._loops import for_each
from tests.metrics._models import (
    COMPARED,
    DEVIANCES,
    Knows,
    Off,
    Ranks,
    Says,
    Three,
    binary_records,
)

INF = float("inf")


class Shy(Knows):
    """Two thirds of the log-odds."""

    def predict(self, X):
        return (X[:, 0] > 0.5).astype(int)

    def predict_proba(self, X):
        return super().predict_proba(X / 1.5)


@pytest.mark.parametrize("scoring", COMPARED)
def test_without_noise_it_is_the_difference_of_scores(scoring, rng):
    X, y = binary_records(rng, 5000)
    one, other = (
        private_score(model, X, y, scoring=scoring, epsilon=INF, random_state=0)
        for model in (Knows(), Shy())
    )
    found = private_compare(Knows(), Shy(), X, y, scoring=scoring, epsilon=INF, random_state=0)
    # Losses are rounded at random, and 1,024 nodes leave little of that.
    assert float(found) == pytest.approx(one.value - other.value, abs=3e-4)
    turned = private_compare(Shy(), Knows(), X, y, scoring=scoring, epsilon=INF, random_state=0)
    assert turned.difference == pytest.approx(-found.difference, abs=3e-4)
    # What labels differ by is too little for so few records.
    told = scoring != "accuracy"
    assert [one.better for one in (found, turned)] == (["first", "second"] if told else [None] * 2)


@pytest.mark.parametrize("scoring", [*DEVIANCES[:2], "neg_mean_absolute_error"])
def test_regressors(scoring, rng):
    f = rng.uniform(0.2, 0.8, 4000)
    X, y = f[:, np.newaxis], np.clip(rng.gamma(5.0, f / 5.0), 0.1, 6.0)
    options = {"scoring": scoring, "target_bounds": (0.1, 6.0), "random_state": 0}
    one, other = (
        private_score(model, X, y, epsilon=INF, **options).value for model in (Says(), Off())
    )
    found = private_compare(Says(), Off(), X, y, epsilon=INF, **options)
    assert found.difference == pytest.approx(one - other, abs=5e-3)
    private = private_compare(Says(), Off(), X, y, epsilon=1.0, **options)
    assert private.low < found.difference < private.high


@pytest.mark.long
@pytest.mark.parametrize("scoring", COMPARED)
def test_intervals_cover_the_difference_of_the_population(scoring):
    """Of 100 intervals of 95 %, 81 at least: with a coverage of .94 fewer are seen once in 1e6."""
    rng = np.random.default_rng(3)
    X, y = binary_records(rng, 400_000)
    known = private_compare(Knows(), Shy(), X, y, scoring=scoring, epsilon=INF).difference
    found = []
    for seed in range(100):
        records = binary_records(rng, 1000)
        one = private_compare(
            Knows(), Shy(), *records, scoring=scoring, epsilon=1.0, random_state=seed
        )
        found.append((one.low <= known <= one.high, one.difference - known, one.high - one.low))
    covered, errors, widths = np.array(found).T
    assert covered.sum() >= 81
    assert abs(errors.mean()) < 5.0 * errors.std() / 10.0
    assert 0.8 < widths.mean() / (2.0 * 1.96 * errors.std()) < 1.35


def test_pairs_tell_more_than_two_scores(rng):
    """Where models mostly agree, most of the sampling error is gone."""
    X, y = binary_records(rng, 4000)
    found = private_compare(Knows(), Shy(), X, y, epsilon=4.0, random_state=0)
    score = private_score(Knows(), X, y, epsilon=2.0, random_state=0)
    assert found.high - found.low < 0.8 * math.sqrt(2.0) * (score.high - score.low)


def test_equal_models_are_told_apart_by_nobody(rng):
    X, y = binary_records(rng, 500)
    found = private_compare(Knows(), Knows(), X, y, epsilon=INF)
    assert (found.difference, found.better) == (0.0, None)
    assert found.low < 0.0 < found.high


@for_each("scoring", COMPARED)
@for_each("epsilon", [1e-3, 1.0])
def test_few_records_give_values_within_their_range(scoring, epsilon):
    rng = np.random.default_rng(0)
    for n in (1, 2, 9):
        X, y = binary_records(rng, n)
        found = private_compare(Knows(), Shy(), X, y, scoring=scoring, epsilon=epsilon)
        assert -10.0 <= found.low <= found.difference <= found.high <= 10.0


def test_a_comparison_reads_well(rng):
    X, y = binary_records(rng, 3000)
    found = private_compare(Knows(), Shy(), X, y, epsilon=1.0)
    assert repr(found).startswith("accuracy, first minus second: 0.")
    assert repr(found).endswith(", (1, 0)-DP")
    assert pickle.loads(pickle.dumps(found)) == found
    low = PrivateComparison(-0.5, -0.6, -0.4, found.report, scoring="neg_log_loss")
    assert "loss, first minus second: -0.50 (95 % interval -0.60 to -0.40), " in repr(low)
    assert low.better == "second"
    none = PrivateComparison(-1e-4, -0.01, 0.01, found.report, scoring="neg_log_loss")
    assert ": 0.000 (95 % interval -0.010 to 0.010), " in repr(none)
    with pytest.raises(TypeError, match="low"):
        PrivateComparison(0.0, "x", 1.0, found.report)


def test_a_ledger_is_charged_once(rng, tmp_path):
    X, y = binary_records(rng, 300)
    ledger = PrivacyLedger(tmp_path / "study.db", epsilon=1.0, delta=1e-6)
    private_compare(Knows(), Shy(), X, y, epsilon=0.2, ledger=ledger)
    (charge,) = ledger.to_frame()["estimator"]
    assert charge == "private_compare"


class OfTexts(Knows):
    classes_ = np.array(["no", "yes"])


@pytest.mark.parametrize(
    ("models", "options", "message"),
    [
        ((Knows(), Three()), {}, "same classes_"),
        ((Knows(), OfTexts()), {}, "same classes_"),
        ((Knows(), Says()), {}, "fitted classifier"),
        ((Ranks(), Knows()), {"scoring": "neg_log_loss"}, "predict_proba"),
        ((Knows(), Knows()), {"scoring": "roc_auc"}, "scoring"),
        ((Says(), Says()), {"scoring": "neg_mean_squared_error"}, "target_bounds"),
    ],
)
def test_what_cannot_be_compared_is_refused(models, options, message, rng):
    X, y = binary_records(rng, 30)
    with pytest.raises(ValueError, match=message):
        private_compare(*models, X, y, epsilon=1.0, **options)


def test_what_is_no_number_is_the_worst_for_both(rng):
    X, y = binary_records(rng, 400)
    rows = X.copy()
    rows[:100] = np.nan
    found = private_compare(Knows(), Shy(), rows, y, scoring="neg_brier_score", epsilon=INF)
    rest = private_compare(Knows(), Shy(), X[100:], y[100:], scoring="neg_brier_score", epsilon=INF)
    assert found.difference == pytest.approx(0.75 * rest.difference, abs=2e-3)


def test_exact_differences_of_labels_need_three_counts(rng):
    X, y = binary_records(rng, 1000)
    right = [(model.predict(X) == y).astype(float) for model in (Knows(), Shy())]
    found = private_compare(Knows(), Shy(), X, y, epsilon=INF)
    assert found.difference == pytest.approx((right[0] - right[1]).mean(), abs=1e-12)
