"""Calibration of people's rows, of raw tables, of pipelines, and of several classes."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.metrics import log_loss

from skdp.accountant import PrivacyReport
from skdp.additive import DPAdditiveClassifier
from skdp.calibration import DPCalibratedClassifier
from skdp.inspection import preview
from skdp.ledger import PrivacyLedger
from skdp.linear_model import (
    DPCDClassifier,
    DPLogisticRegression,
    DPSCDClassifier,
    DPSGDClassifier,
)
from skdp.model_selection import DPGridSearch
from skdp.pipeline import make_private_pipeline
from skdp.preprocessing import BoundsScaler, DPStandardScaler, DPTableVectorizer
from tests.calibration.test_calibrated import records, run
from tests.door import CountsAndPlaces

INF = float("inf")
TWO, THREE = {"classes": [0, 1]}, {"classes": ["a", "b", "c"]}
RAW = {
    "additive": DPAdditiveClassifier(**TWO),
    "table": make_private_pipeline(DPTableVectorizer(), DPLogisticRegression(**TWO)),
    "pipeline": make_private_pipeline(DPAdditiveClassifier(**TWO)),
}
ROWS = {
    "whitened": DPLogisticRegression(**TWO),
    "scaled": make_private_pipeline(DPStandardScaler(), DPLogisticRegression(**TWO)),
}


def table(n, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": rng.uniform(18.0, 90.0, n)})
    frame["job"] = rng.choice(["nurse", "clerk", None], n)
    risk = 0.1 + 0.4 * (frame.age > 60) + 0.3 * (frame.job == "nurse")
    return frame, (rng.random(n) < risk).to_numpy().astype(int)


def check_spent(report, epsilon, least=0.97):
    fields = {"adjacency": report.adjacency, "clipping": None, "accountant": "pld"}
    bare = PrivacyReport(epsilon=INF, delta=report.delta, events=report.events, **fields)
    assert report.epsilon == epsilon
    assert least * epsilon <= bare.epsilon_at(report.delta) <= epsilon * (1.0 + 1e-9)


@pytest.mark.long
@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
@pytest.mark.parametrize("name", RAW)
def test_raw_tables_are_calibrated_in_one_budget(name, adjacency):
    X, y = table(3000)
    model = DPCalibratedClassifier(RAW[name], epsilon=2.0, adjacency=adjacency, random_state=0)
    model.fit(X, y)
    check_spent(model.privacy_report_, 2.0, least=0.95)
    p = model.predict_proba(X)[:, 1]
    assert abs(p.mean() - y.mean()) < 0.05
    assert list(model.feature_names_in_) == ["age", "job"]
    assert model.privacy_report_.unit == "one row"
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X.rename(columns={"age": "years"}))


@pytest.mark.long
@pytest.mark.parametrize("name", [*RAW, *ROWS])
def test_people_are_calibrated_in_one_budget(name):
    X, y = table(3000) if name in RAW else records(3000)
    groups = np.arange(3000) // 3
    model = DPCalibratedClassifier({**RAW, **ROWS}[name], epsilon=3.0, random_state=0)
    report = model.fit(X, y, groups=groups).privacy_report_
    assert report.unit == model.estimator_.privacy_report_.unit == "one group"
    check_spent(report, 3.0, least=0.95)
    assert any("`groups`" in line for line in report.assumed_public)


# Rows of the person who is last.
PERSONS = {"one": [[0.5, -0.5, 0.5, 0.0]], "many": [[9e9, -9e9, 0.0, 1.0], [0.0] * 4] * 50}


@pytest.mark.long
@pytest.mark.parametrize("counted", [{"average_over": "groups"}, {"rows_per_group": 5}, {}])
@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
@pytest.mark.parametrize("name", ROWS)
def test_a_person_of_any_rows_moves_counts_by_what_is_bounded(name, adjacency, counted):
    X, y = records(300)
    model = DPCalibratedClassifier(ROWS[name], adjacency=adjacency, random_state=0, **counted)
    most = 1 if "average_over" in counted else 5 if counted else 2

    class OfPeople:
        """Takes people from the last column, as the recorder hands rows and labels on."""

        def __sklearn_clone__(self):
            return self

        def fit(self, X, y):
            return clone(model).fit(X[:, :-1], y, groups=X[:, -1])

    def tried(rows, **options):
        ids = np.append(np.arange(300) // 2, np.full(len(rows), 999))
        data = np.column_stack([np.vstack([X, rows]), ids])
        labels = np.append(y, np.arange(len(rows)) % 2)
        return run(OfPeople(), data, labels, **options)

    base = tried(PERSONS["one"])
    for rows in PERSONS.values():
        other = tried(rows, script=base.released)
        null = 300 + np.arange(len(rows))
        gone = tried(rows, script=base.released, null=null)
        moved = other.values[-1] - gone.values[-1]
        assert moved.min() >= 0
        counts, places = np.split(moved, 2)
        assert counts.sum() == min(most, len(rows))
        assert places.sum() == 0.25 * counts.sum()
        apart = np.linalg.norm(base.values[-1] - other.values[-1])
        assert apart <= math.sqrt(2.0) * CountsAndPlaces.bound_of_rows(most)
        assert np.split(gone.values[-1], 2)[0].sum() == min(most, 2) * 150
        for name in ("slope_", "offset_", "privacy_report_"):
            assert getattr(base.model, name) == getattr(other.model, name)


@pytest.mark.parametrize("name", RAW)
def test_rows_that_are_none_are_an_error_that_quotes_none(name):
    X, y = table(300)
    model = DPCalibratedClassifier(RAW[name])
    with pytest.raises(ValueError, match="1D array") as caught:
        model.fit(X["age"].tolist(), y)
    assert str(X["age"][0]) not in str(caught.value)
    with pytest.raises(ValueError, match="1D array"):
        model.fit(X, y).predict(X["age"].tolist())


@pytest.mark.long
def test_what_is_charged_is_what_a_pipeline_of_unknown_width_releases():
    """Once it knows the width it could spend its epsilon in ways that cost a ledger more."""
    X, y = records(300)
    last = DPSGDClassifier(max_iter=1, batch_size=2, ball_budget=0, data_norm=1.0, **TWO)
    columns = make_column_transformer((BoundsScaler(), [0, 1]))
    model = DPCalibratedClassifier(make_private_pipeline(columns, last), random_state=0)
    charged = model._plan(*X.shape).events
    assert model.fit(X, y).privacy_report_.events == charged


def of_three(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-0.5, 0.5, (n, 4))
    p = softmax(X @ rng.standard_normal((4, 3)) * 6.0 + [0.5, 0.0, -0.5], axis=1)
    y = (p.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    return X, np.array(THREE["classes"])[y], p


@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
@pytest.mark.parametrize("model", [DPLogisticRegression(**THREE), DPSCDClassifier(**THREE)])
def test_several_classes_are_calibrated_in_one_budget(model, adjacency):
    X, y, _ = of_three(2000)
    model = DPCalibratedClassifier(model, epsilon=1.5, adjacency=adjacency, random_state=0)
    check_spent(model.fit(X, y).privacy_report_, 1.5)
    assert model.privacy_report_.events[-1].n_steps == 3
    assert model.slope_.shape == model.offset_.shape == (3,)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(X), model.classes_[p.argmax(axis=1)])
    assert model.decision_function(X).shape == (2000, 3)


@pytest.mark.long
def test_probabilities_of_several_classes_become_true():
    X, y, _ = of_three(20_000)
    test_X, test_y, known = of_three(20_000, seed=0)
    hinge = DPSCDClassifier(loss="hinge", data_norm=1.0, **THREE)
    model = DPCalibratedClassifier(hinge, epsilon=1.0, random_state=0).fit(X, y)
    found = log_loss(test_y, model.predict_proba(test_X))
    raw = softmax(model.estimator_.decision_function(test_X), axis=1)
    best = log_loss(test_y, known)
    assert found < best + 0.5 * (log_loss(test_y, raw) - best)


def test_each_class_of_a_record_moves_one_count_and_says_where_in_the_bin_it_is():
    X, y, _ = of_three(300)
    model = DPCalibratedClassifier(DPLogisticRegression(**THREE), random_state=0)
    base = run(model, X, y)
    gone = run(model, X, y, script=base.released, null=[5])
    moved = [a - b for a, b in zip(base.values[-3:], gone.values[-3:], strict=True)]
    for m in moved:
        counts, places = np.split(m, 2)
        assert counts[counts != 0.0].tolist() == [1.0]
        assert places.sum() == 0.25
        assert places.min() == 0.0
        (bin_of_record,) = np.unique(np.flatnonzero(places) % (places.size // 2))
        assert counts.reshape(2, -1)[:, bin_of_record].sum() == 1.0


@pytest.mark.long
def test_a_calibrated_pipeline_is_charged_once(tmp_path):
    X, y = table(2000)
    ledger = PrivacyLedger(tmp_path / "study.db", epsilon=3.0, delta=1e-5, unit="one group")
    model = DPCalibratedClassifier(RAW["table"], ledger=ledger)
    with pytest.raises(ValueError, match=r"estimator \(DPCDClassifier\).* takes no groups"):
        clone(model).set_params(estimator=DPCDClassifier(**TWO)).fit(
            records(30)[0], records(30)[1], groups=np.arange(30) // 2
        )
    assert len(ledger.to_frame()) == 0
    model.fit(X, y, groups=np.arange(2000) // 2)
    assert len(ledger.to_frame()) == 1
    assert 0.9 < ledger.spent <= 1.001
    assert preview(clone(model).set_params(ledger=None), 1000, 2).epsilon == 1.0


def test_the_message_about_a_search_names_what_works():
    search = DPGridSearch(DPLogisticRegression(**TWO), {"alpha": [1e-4]})
    with pytest.raises(ValueError, match="search over the calibrated classifier"):
        DPCalibratedClassifier(search).fit(*records(50))


def stays(n_people=6000, seed=0):
    """Return rows, labels and ids; people who come often have more risk, which no feature tells."""
    rng = np.random.default_rng(seed)
    often = rng.random(n_people) < 0.25
    ids = np.repeat(np.arange(n_people), np.where(often, 6, 1))
    X = rng.uniform(-1.0, 1.0, (len(ids), 2))
    risk = expit(X[:, 0] + np.where(often[ids], -0.5, -3.0))
    return X, (rng.random(len(ids)) < risk).astype(int), ids


@pytest.mark.parametrize("average_over", ["rows", "groups"])
def test_probabilities_are_frequencies_of_what_is_counted(average_over):
    """By row 29 % are positive, and by person 13 %; a classifier is fitted and used by row."""
    X, y, ids = stays()
    new, labels, of_new = stays(seed=1)
    inner = DPLogisticRegression(**TWO)
    known = {"average_over": average_over, "epsilon": 8.0, "random_state": 0}
    model = DPCalibratedClassifier(inner, **known).fit(X, y, groups=ids)
    p = model.predict_proba(new)[:, 1]
    one = np.unique(of_new, return_index=True)[1]
    rates = {"rows": labels.mean(), "groups": labels[one].mean()}
    assert rates["rows"] - rates["groups"] > 0.1
    assert abs(p.mean() - rates[average_over]) < 0.03
    before = log_loss(labels, model.estimator_.predict_proba(new))
    assert (log_loss(labels, p) < before + 2e-3) is (average_over == "rows")
    assert model.rows_per_group_ == (1 if average_over == "groups" else 16)
    text = {"rows": "rows, at most 16 of each group", "groups": "one row of each"}[average_over]
    assert any(text in line for line in model.privacy_report_.notes)


def test_what_is_counted_of_no_groups_is_refused(tmp_path):
    X, y = records(300)
    ledger = PrivacyLedger(tmp_path / "study.db", epsilon=2.0, delta=1e-5)
    for counted in ({"average_over": "groups"}, {"rows_per_group": 3}):
        model = DPCalibratedClassifier(DPLogisticRegression(**TWO), ledger=ledger, **counted)
        with pytest.raises(ValueError, match="groups"):
            model.fit(X, y)
    assert ledger.left == 2.0
    model = DPCalibratedClassifier(DPLogisticRegression(**TWO)).fit(X, y)
    assert model.rows_per_group_ is None
