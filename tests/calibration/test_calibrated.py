"""A classifier and its calibration in one budget."""

import copy

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from skdp.accountant import GaussianEvent, PrivacyReport
from skdp.calibration import DPCalibratedClassifier
from skdp.exceptions import BudgetExceededError
from skdp.ledger import PrivacyLedger
from skdp.linear_model import (
    DPCDClassifier,
    DPLogisticRegression,
    DPSCDClassifier,
    DPSGDClassifier,
    WALRClassifier,
)
from skdp.preprocessing import NormClipper
from tests.door import (
    GaussianMechanism,
    fit_sigmoid,
    gaussian_cost,
    null_records,
    plan_module as _base,
)

TWO = {"classes": [0, 1]}
INF = float("inf")


def records(n, seed=0):
    """Rows in the unit ball and labels of a logistic model."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-0.5, 0.5, (n, 4))
    return X, (rng.random(n) < expit(X @ [6.0, -4.0, 2.0, 0.0] - 1.0)).astype(int)


def test_scores_are_excused_with_noise_alone():
    for epsilon, poor in ((1.0, True), (INF, False), ("one", True)):
        tags = get_tags(DPCalibratedClassifier(DPLogisticRegression(), epsilon=epsilon))
        assert tags.classifier_tags.poor_score is poor


CLASSIFIERS = [
    DPLogisticRegression(**TWO),
    DPLogisticRegression(moment_budget=0.0, **TWO),
    DPSCDClassifier(loss="hinge", max_iter=2, **TWO),
    DPSCDClassifier(solver="sequential", max_iter=2, **TWO),
    DPSGDClassifier(max_iter=2, **TWO),
    DPCDClassifier(max_iter=2, smoothness="bounds", **TWO),
]


@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
@pytest.mark.parametrize("model", CLASSIFIERS, ids=str)
def test_both_parts_together_spend_the_budget(model, adjacency):
    X, y = records(500)
    model = DPCalibratedClassifier(model, epsilon=0.7, adjacency=adjacency, random_state=0)
    model.fit(X, y)
    report, own = model.privacy_report_, model.estimator_.privacy_report_
    *first, counts = report.events
    assert tuple(first) == own.events
    assert isinstance(counts, GaussianEvent)
    assert counts.pairwise == (adjacency == "replace_one")
    assert (report.epsilon, report.delta, report.adjacency) == (0.7, 1e-5, adjacency)
    # Worked out again from the events alone.
    fields = {"adjacency": adjacency, "clipping": None, "accountant": "pld"}
    bare = PrivacyReport(epsilon=INF, delta=1e-5, events=report.events, **fields)
    assert 0.97 * 0.7 <= bare.epsilon_at(1e-5) <= 0.7 * (1 + 1e-9)
    assert own.epsilon < 0.7
    assert own.delta == 1e-5
    if report.mu is not None:
        assert (counts.mu(adjacency) / report.mu) ** 2 == pytest.approx(0.1, rel=1e-3)


def test_renyi_divergences_and_pure_classifiers_leave_enough():
    X, y = records(500)
    rdp = DPSCDClassifier(accountant="rdp", max_iter=2, **TWO)
    pure = DPSGDClassifier(mechanism="laplace", **TWO)
    for model in (rdp, pure):
        model = DPCalibratedClassifier(model, random_state=0, calibration_share=0.3).fit(X, y)
        assert model.privacy_report_.epsilon == pytest.approx(1.0)
        assert 0.97 <= model.privacy_report_.epsilon_at(1e-5) <= 1.0 + 1e-9


@pytest.mark.long
@pytest.mark.parametrize("loss", ["log_loss", "hinge"])
def test_probabilities_become_true(loss):
    """The hinge loss has none; those of the logistic loss are about right with little noise."""
    X, y = records(20_000)
    test = records(20_000, seed=1)
    # The paper's algorithm is far off in few passes.
    given = DPSCDClassifier(loss=loss, proximal=0, data_norm=1.0, max_iter=3, **TWO)
    model = DPCalibratedClassifier(given, epsilon=0.5, random_state=0).fit(X, y)
    p = model.predict_proba(test[0])
    known = LogisticRegression(C=1e6).fit(X, y).predict_proba(test[0])
    raw = expit(model.estimator_.decision_function(test[0]))
    assert log_loss(test[1], p) < log_loss(test[1], known) + 0.03
    better_by = 0.02 if loss == "hinge" else 0.0
    assert log_loss(test[1], p) < log_loss(test[1], raw) - better_by
    assert model.slope_ > 0.0
    assert roc_auc_score(test[1], p[:, 1]) == roc_auc_score(test[1], raw)
    np.testing.assert_array_equal(model.predict(test[0]), (p[:, 1] > 0.5).astype(int))
    np.testing.assert_allclose(p.sum(axis=1), 1.0)


@pytest.mark.long
def test_without_noise_a_logistic_model_is_left_as_it_is():
    X, y = records(20_000)
    given = DPLogisticRegression(alpha=1e-9, average=False, max_iter=300, **TWO)
    model = DPCalibratedClassifier(given, epsilon=INF).fit(X, y)
    assert model.slope_ == pytest.approx(1.0, abs=0.05)
    assert model.offset_ == pytest.approx(0.0, abs=0.05)
    assert np.isinf(model.privacy_report_.epsilon)


def counts_of(slope, offset, n, n_cells=30):
    values = np.linspace(-4.0, 4.0, n_cells)
    p = expit(slope * values + offset)
    return n / n_cells * (1.0 - p), n / n_cells * p, values


@pytest.mark.long
@pytest.mark.parametrize(("slope", "offset"), [(1.0, 0.0), (0.3, -1.0), (3.0, 0.7), (0.05, 0.0)])
def test_a_sigmoid_is_found_again(slope, offset):
    found = fit_sigmoid(*counts_of(slope, offset, 1e6), 0.0)
    assert found == pytest.approx((slope, offset), rel=0.02, abs=0.02)
    rng = np.random.default_rng(0)
    negative, positive, values = counts_of(slope, offset, 1e5)
    noisy = [
        fit_sigmoid(
            negative + 30.0 * rng.standard_normal(30),
            positive + 30.0 * rng.standard_normal(30),
            values,
            30.0,
        )
        for _ in range(20)
    ]
    assert np.mean(noisy, axis=0) == pytest.approx((slope, offset), rel=0.05, abs=0.05)


@pytest.mark.long
def test_what_noise_drowns_is_left_nearly_as_it_is():
    """Of 50 fits to noise alone no slope is off by as much as what was thought beforehand."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        negative, positive = 1000.0 * rng.standard_normal((2, 20)) + 1.0
        slope, offset = fit_sigmoid(negative, positive, np.linspace(-4, 4, 20), 1000.0)
        assert abs(np.log(slope)) < 2.5
        assert abs(offset) < 1.5


class Script:
    """Releases that are recorded, or repeated."""

    def __init__(self, patch, script=None):
        self.values, self.released = [], []
        original = GaussianMechanism.release

        def release(mechanism, value, stream):
            self.values.append(np.array(value))
            out = original(mechanism, value, stream)
            self.released.append(out if script is None else script[len(self.released)])
            return self.released[-1]

        patch.setattr(GaussianMechanism, "release", release)


def run(model, X, y, script=None, null=()):
    with pytest.MonkeyPatch.context() as patch, null_records(null):
        seen = Script(patch, script)
        seen.model = clone(model).fit(X, y)
    return seen


@pytest.mark.long
@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
@pytest.mark.parametrize("row", [[0.5, -0.5, 0.5, 0.0], [9e9, -9e9, 0, 0], [0, 0, 0, 0]])
def test_given_the_releases_a_record_moves_one_count_and_its_place_alone(adjacency, row):
    X, y = records(300)
    inner = DPLogisticRegression(**TWO)
    model = DPCalibratedClassifier(inner, adjacency=adjacency, random_state=0)
    base = run(model, X, y)
    for label in (0, 1):
        X[7], y[7] = row, label
        other = run(model, X, y, script=base.released)
        gone = run(model, X, y, script=base.released, null=[7])
        counts, places = np.split(np.abs(base.values[-1] - other.values[-1]), 2)
        assert counts.sum() in (0, 2)
        assert places.sum() <= 0.5
        counts, places = np.split(other.values[-1] - gone.values[-1], 2)
        assert counts[counts != 0].tolist() == [1]
        assert places.sum() == 0.25
        assert places.min() == 0.0
        for name in ("slope_", "offset_", "privacy_report_"):
            assert getattr(base.model, name) == getattr(other.model, name)
        np.testing.assert_array_equal(base.model.estimator_.coef_, other.model.estimator_.coef_)


def test_a_seed_gives_counts_other_noise_than_the_classifier():
    from tests.door import CalibrationPlan, HistogramPlan, Plan

    keys = {Plan.stream_key, CalibrationPlan.stream_key, HistogramPlan.stream_key}
    assert len(keys) == 3
    X, y = records(300)
    fits = [
        DPCalibratedClassifier(DPLogisticRegression(**TWO), random_state=0).fit(X, y)
        for _ in range(2)
    ]
    assert fits[0].slope_ == fits[1].slope_
    assert fits[0].privacy_report_.reproducible


def used(generator):
    """Return a copy from which a stream was seeded."""
    generator = copy.deepcopy(generator)
    generator.randint(0, 2**32, size=8, dtype=np.uint32)
    return generator


@pytest.mark.parametrize(
    ("seed", "again"), [(5, 5), (np.random.RandomState(5), used(np.random.RandomState(5)))]
)
def test_a_plain_fit_that_a_ledger_takes_after_a_calibrated_one_has_other_noise(
    tmp_path, seed, again
):
    X, y = records(500)
    ledger = PrivacyLedger(tmp_path / "study.db", epsilon=9.0, delta=1e-4, allow_seeds=True)
    given = DPLogisticRegression(**TWO)
    runs = [
        run(DPCalibratedClassifier(given, random_state=seed, ledger=ledger), X, y),
        run(clone(given).set_params(random_state=again, ledger=ledger), X, y),
    ]
    noises = [(seen.released[0] - seen.values[0]).ravel() for seen in runs]
    ratios = np.divide(*noises)
    assert ratios.size > 3
    # Equal noise has one ratio, that of its scales.
    assert np.ptp(ratios) > 1e-6 * np.abs(ratios).max()


@pytest.mark.parametrize("random_state", [0, np.random.RandomState(0)])
def test_the_published_classifier_holds_no_seed(random_state):
    model = DPCalibratedClassifier(DPLogisticRegression(**TWO), random_state=random_state)
    model.fit(*records(500))
    assert model.estimator_.random_state is None
    assert model.estimator_.privacy_report_.reproducible
    assert model.privacy_report_.reproducible


def test_the_classifier_given_stays_as_it_is_and_may_come_after_others():
    X, y = records(500)
    given = DPLogisticRegression(**TWO)
    model = make_pipeline(NormClipper(), DPCalibratedClassifier(given, epsilon=0.5)).fit(X, y)
    assert given.epsilon == 1.0
    assert not hasattr(given, "coef_")
    assert model.predict_proba(X).shape == (500, 2)


def test_a_pipeline_inside_is_refused_as_one_whatever_it_takes():
    words = np.array([["a"], ["b"]] * 10, dtype=object)
    model = DPCalibratedClassifier(make_pipeline(NormClipper(), DPLogisticRegression()))
    with pytest.raises(ValueError, match="goes around"):
        model.fit(words, [0, 1] * 10)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LogisticRegression(), "private classifier that protects rows"),
        (WALRClassifier(), "private classifier that protects rows"),
        (make_pipeline(NormClipper(), DPLogisticRegression()), "goes around"),
    ],
)
def test_what_cannot_be_calibrated_is_refused(model, message):
    X, y = records(50)
    with pytest.raises(ValueError, match=message):
        DPCalibratedClassifier(model, delta=1e-3).fit(X, y)


def test_a_class_is_refused_as_one():
    with pytest.raises(TypeError, match="DPLogisticRegression is a class: give DPLogisticRegr"):
        DPCalibratedClassifier(DPLogisticRegression).fit([[0.0], [1.0]], [0, 1])


def test_a_delta_that_pays_for_all_is_refused_by_name():
    model = DPCalibratedClassifier(DPLogisticRegression(**TWO), epsilon=1e-3, delta=0.01)
    with pytest.raises(ValueError, match="delta alone pays for the classifier"):
        model.fit(*records(50))


def test_the_whole_is_charged_once(tmp_path, monkeypatch):
    X, y = records(500)
    ledger = PrivacyLedger(tmp_path / "study.db", epsilon=3.0, delta=1e-5)
    monkeypatch.setenv("SKDP_LEDGER", str(ledger.path))
    model = DPCalibratedClassifier(DPLogisticRegression(**TWO), ledger=ledger).fit(X, y)
    (line,) = ledger.to_frame().itertuples()
    assert line.estimator == "DPCalibratedClassifier"
    assert 0.97 < ledger.spent <= 1.001
    cost = gaussian_cost(model.privacy_report_.events, "zero_out", erasure=0.0)
    assert line.mu == pytest.approx(cost.mu, rel=1e-9)
    small = PrivacyLedger(tmp_path / "small.db", epsilon=0.5, delta=1e-5)
    drawn = []
    monkeypatch.setattr(_base, "make_stream", lambda *args, **options: drawn.append(args))
    with pytest.raises(BudgetExceededError):
        model.set_params(ledger=small).fit(X, y)
    assert not drawn
