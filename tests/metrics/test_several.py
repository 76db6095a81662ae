"""Several scores of one call: they share the budget, and scores of labels share a grid."""

import numpy as np
import pytest
from scipy.special import expit

from skdp.exceptions import BudgetExceededError
from skdp.ledger import PrivacyLedger
from skdp.metrics import (
    private_calibration_curve,
    private_confusion_matrix,
    private_roc_curve,
    private_score,
)
from tests.door import ALREADY_CHARGED, statistics_module as statistics
from tests.metrics._models import (
    CLASSIFICATION,
    OF_LABELS,
    REGRESSION,
    Knows,
    Says,
    Three,
    binary_records as records,
)
from tests.metrics.test_replay import ROWS, K, N, record

INF = float("inf")
CURVES = (private_roc_curve, private_confusion_matrix, private_calibration_curve)


def several(names, **options):
    return lambda X, y, **more: private_score(Knows(), X, y, scoring=names, **options, **more)


@pytest.mark.parametrize(
    ("names", "n_grids"),
    [(OF_LABELS, 1), (CLASSIFICATION, 4), (["roc_auc", "f1"], 2), (["neg_log_loss"], 1)],
)
def test_each_is_what_it_is_alone_without_noise(names, n_grids, rng):
    X, y = records(rng)
    found = several(names, epsilon=INF, random_state=0)(X, y)
    assert list(found) == list(names)
    for name, score in found.items():
        alone = private_score(Knows(), X, y, scoring=name, epsilon=INF, random_state=0)
        assert (score.value, score.scoring) == (pytest.approx(alone.value, abs=2e-3), name)
        assert score.report is found[names[0]].report
    spent = several(names, epsilon=1.0)(X, y)[names[0]].report
    assert spent.n_releases == n_grids
    assert spent.epsilon == pytest.approx(1.0)


@pytest.mark.parametrize("delta", [0.0, 1e-5])
@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_all_releases_together_spend_the_budget(mechanism, adjacency, delta, rng):
    if mechanism == "gaussian" and delta == 0.0:
        pytest.skip("Gaussian noise needs a delta")
    spent = {"epsilon": 0.7, "delta": delta, "adjacency": adjacency, "mechanism": mechanism}
    X, y = records(rng, N)
    found = several(["f1", "roc_auc", "neg_log_loss"], **spent)(X, y)
    report = found["f1"].report
    assert report.n_releases == 3
    # As many calls as this one has histograms would cost.
    one = {**spent, "epsilon": 0.7 / 3 if mechanism == "laplace" else 0.7}
    alone = private_score(Knows(), X, y, scoring="f1", **one).report
    ratio = report.events[0].noise_multiplier / alone.events[0].noise_multiplier
    assert ratio == pytest.approx(1.0 if mechanism == "laplace" else np.sqrt(3.0), rel=1e-3)
    assert report.epsilon_at(1e-5 if mechanism == "gaussian" else 0.0) <= 0.7 * (1 + 1e-6)


def test_a_record_moves_one_count_of_each_grid(rng):
    call = several(["f1", "accuracy", "roc_auc", "neg_log_loss"], epsilon=1.0)
    X, y = records(rng, N)
    null = record(call, X, y, null=[K])
    assert len(null.counts) == 3
    assert len({mechanism.noise_multiplier for mechanism in null.mechanisms}) == 1
    for row in ROWS:
        for label in (0, 1):
            X[K], y[K] = row, label
            other = record(call, X, y)
            assert other.log == null.log
            for one, two in zip(other.counts, null.counts, strict=True):
                moved = one - two
                assert sorted(moved[moved != 0]) == [1]


def test_given_the_counts_all_records_look_the_same(rng):
    call = several(["f1", "accuracy", "roc_auc", "neg_log_loss"], epsilon=1.0)
    X, y = records(rng, N)
    base = record(call, X, y)
    for rows, labels in ((np.zeros_like(X), 0 * y), (X[::-1] ** 3, 1 - y), (0 * X + np.nan, y)):
        other = record(call, rows, labels, script=base.released)
        assert other.log == base.log
        assert str(other.result) == str(base.result)


def test_of_several_classes_and_targets(rng):
    X = rng.dirichlet([1, 1, 1], 5000)
    y = np.array(["a", "b", "c"])[(X.cumsum(axis=1) < rng.random((5000, 1))).sum(axis=1)]
    names = ["accuracy", "f1_macro", "roc_auc_ovr", "balanced_accuracy"]
    found = private_score(Three(), X, y, scoring=names, epsilon=4.0, random_state=0)
    assert found["accuracy"].report.n_releases == 4
    for name, score in found.items():
        alone = private_score(Three(), X, y, scoring=name, epsilon=INF, random_state=0)
        assert score.low < alone.value < score.high
    f = rng.uniform(-0.5, 1.5, 5000)
    options = {"epsilon": 4.0, "target_bounds": (-1, 2), "random_state": 0}
    found = private_score(Says(), f[:, np.newaxis], f + 0.1, scoring=list(REGRESSION), **options)
    assert found["neg_mean_absolute_error"].value == pytest.approx(-0.1, abs=0.01)


@pytest.mark.parametrize("mechanism", ["auto", "laplace", "gaussian"])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_noise_of_a_ledger_is_gaussian_where_there_is_a_delta(mechanism, delta, rng, tmp_path):
    """Whatever was charged before."""
    if mechanism == "gaussian" and delta == 0.0:
        pytest.skip("Gaussian noise needs a delta")
    X, y = records(rng, N)
    ledger = PrivacyLedger(tmp_path / "ledger.db", epsilon=20.0, delta=1e-5)
    spent = {"epsilon": 0.5, "delta": delta, "mechanism": mechanism}
    is_gaussian = mechanism == "gaussian" or (mechanism == "auto" and delta > 0.0)
    for _ in range(3):
        report = private_score(Knows(), X, y, ledger=ledger, **spent).report
        assert type(report.events[0]).__name__ == ["LaplaceEvent", "GaussianEvent"][is_gaussian]
    alone = private_score(Knows(), X, y, **spent).report
    expected = "GaussianEvent" if mechanism == "gaussian" else "LaplaceEvent"
    assert type(alone.events[0]).__name__ == expected


@pytest.mark.parametrize("call", [private_score, *CURVES])
def test_the_default_delta_is_that_of_the_ledger_or_none(call, rng, tmp_path, monkeypatch):
    X, y = records(rng, N)
    ledger = PrivacyLedger(tmp_path / "ledger.db", epsilon=2.0, delta=1e-5)

    def report(**options):
        return call(Knows(), X, y, epsilon=0.5, **options).report

    for place in (ledger, str(ledger.path), ledger.part("held out")):
        assert (report(ledger=place).epsilon, report(ledger=place).delta) == (0.5, 1e-5)
    assert report().delta == report(mechanism="laplace").delta == 0.0
    assert report(ledger=ALREADY_CHARGED).delta == 0.0
    assert report(ledger=ledger, delta=1e-6).delta == 1e-6
    with pytest.raises(BudgetExceededError):
        report(ledger=ledger, delta=0.0)
    with pytest.raises(BudgetExceededError):
        report(ledger=ledger, mechanism="laplace")
    monkeypatch.setenv("SKDP_LEDGER", str(ledger.path))
    assert report().delta == 1e-5
    with pytest.raises(ValueError, match=r"delta"):
        report(ledger=ALREADY_CHARGED, mechanism="gaussian")


def test_a_default_score_costs_a_ledger_what_it_states(rng, tmp_path):
    X, y = records(rng, N)
    ledger = PrivacyLedger(tmp_path / "ledger.db", epsilon=2.0, delta=1e-5)
    for number in range(1, 10):
        private_score(Knows(), X, y, epsilon=0.5, ledger=ledger)
        assert ledger.spent <= 0.5 * number
    assert ledger.spent < 2.0


@pytest.mark.parametrize("epsilon", [0.01, 0.1])
@pytest.mark.parametrize("delta", [1e-5, 0.2])
def test_the_default_is_pure_where_that_costs_a_ledger_less(delta, epsilon, rng, tmp_path):
    X, y = records(rng, 4)
    mus = []
    for number, own in enumerate(("auto", 0.0, delta)):
        ledger = PrivacyLedger(tmp_path / f"{number}.db", epsilon=30.0, delta=delta)
        private_score(Knows(), X, y, epsilon=epsilon, delta=own, ledger=ledger)
        mus.append(ledger.to_dict()["charges"][0]["mu"])
    assert mus[0] == min(mus)
    assert (mus[0] == mus[1]) is (delta == 0.2)


def test_confusions_of_known_shares():
    """Precision 3 of 4, recall 3 of 5, F1 6 of 9."""
    z = np.array([3.0] * 3 + [-3.0] * 2 + [3.0] + [-3.0] * 4)
    y = np.array([1] * 5 + [0] * 5)
    assert (expit(z) > 0.5).sum() == 4
    found = several(["precision", "recall", "f1"], epsilon=INF)(z[:, np.newaxis], y)
    values = [score.value for score in found.values()]
    np.testing.assert_allclose(values, [3 / 4, 3 / 5, 6 / 9])


def test_a_class_that_noise_hides_moves_means_over_classes_by_its_share_alone():
    """However large what noise makes of it is: a share of it is none below 0 or above 1."""
    counts = np.array([[80.0, 20.0, 0.0], [10.0, 90.0, 0.0], [0.0, 0.0, 0.0]])
    for noise in (-30.0, 30.0):
        noisy = counts.copy()
        noisy[2] = [-noise, 0.0, noise]
        shares = statistics.Shares(noisy / 200.0, 200, 0.01)
        recall = (0.8 + 0.9 + (noise > 0.0)) / 3.0
        labels = {"labels": range(3), "level": 0.95}
        found = statistics.of_label(shares, true=1.0, taken=0.0, **labels)
        assert found[0] == pytest.approx(recall)
        assert found[1] <= 1.7 / 3.0 < found[2]
        balanced = statistics.balanced_accuracy(shares, is_right=np.eye(3), level=0.95)
        assert balanced[0] == pytest.approx(recall)
        assert balanced[1] <= 1.7 / 3.0 < balanced[2]


def test_the_interval_of_accuracy_has_the_noise_of_all_cells():
    """Those of a grid by class have as many noises as classes, which is not that of two cells."""
    right = np.array([0.0, 1.0])
    shares = statistics.Shares(np.full((10, 2), 0.05), 10**9, 1e-4)
    value, low, high = statistics.accuracy(shares, is_right=right, level=0.95)
    # Shares add up to 1, so that half of the noise of both sums is left.
    assert (value, high - low) == pytest.approx((0.5, 2 * 1.96 * np.sqrt(20 / 4 * 1e-4)), rel=1e-3)
    by_label = statistics.accuracy(shares, is_right=np.tile(right, (10, 1)), level=0.95)
    assert by_label == (value, low, high)


@pytest.mark.parametrize("said", [np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324])
def test_no_warning_tells_of_a_record_for_which_a_model_says_nonsense(said):
    """An overflow of one probability would; pytest makes an error of a warning."""
    rng = np.random.default_rng(0)
    X, y = rng.random((50, 3)), rng.choice(Three.classes_, 50)
    X[7] = said
    names = ["roc_auc_ovr", "neg_log_loss", "neg_brier_score"]
    found = private_score(Three(), X, y, scoring=names, epsilon=INF, random_state=0)
    assert all(np.isfinite(float(score)) for score in found.values())
