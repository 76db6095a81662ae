"""skops files: they hold the guarantee, and need no other types than those that are listed."""

import pydoc
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline

from skdp.additive import DPAdditiveClassifier, DPAdditiveRegressor
from skdp.calibration import DPCalibratedClassifier, DPConformalClassifier
from skdp.exceptions import PrivacyWarning
from skdp.ledger import PrivacyLedger
from skdp.linear_model import (
    DPLogisticRegression,
    DPRidge,
    DPSCDClassifier,
    DPSGDClassifier,
    WALRClassifier,
    label_aggregate,
)
from skdp.model_selection import DPGridSearch, DPRandomizedSearch
from skdp.pipeline import DPPipeline
from skdp.preprocessing import (
    BoundsScaler,
    DPOneHotEncoder,
    DPSimpleImputer,
    DPStandardScaler,
    NormClipper,
)
from skdp.statistics import describe
from skdp.utils.discovery import all_estimators
from skdp.utils.persistence import trusted_types
from tests._listed import PRIVATE, suited
from tests._loops import points_at

sio = pytest.importorskip("skops.io", reason="skops isn't installed")

pytestmark = pytest.mark.filterwarnings("ignore:(target_bounds=N|the size of)")

RNG = np.random.default_rng(5)
X = RNG.uniform(-1.0, 1.0, (300, 3))
Y = (X[:, 0] > 0.0).astype(int)
FRAME = pd.DataFrame({"x": X[:, 0], "job": np.where(Y == 1, "nurse", "clerk")})
LOGISTIC = DPLogisticRegression(classes=[0, 1])
SETTINGS = {"alpha": [1e-3, 1e-2]}

MODELS = [
    *(kind() for _, kind in all_estimators()),
    DPLogisticRegression(inference=True, classes=[0, 1]),
    DPSGDClassifier(mechanism="laplace", delta=0.0),
    WALRClassifier(solver="hybrid", classes=["no", "yes"]),
    WALRClassifier(mechanism="randomized_response", delta=0.0, classes=[0, 1]),
    DPCalibratedClassifier(DPSCDClassifier(loss="hinge", classes=[0, 1])),
    DPConformalClassifier(LOGISTIC),
    DPGridSearch(LOGISTIC, SETTINGS, delta=1e-3),
    DPGridSearch(
        DPSGDClassifier(classes=[0, 1], mechanism="laplace", delta=0.0), SETTINGS, delta=0
    ),
    DPRandomizedSearch(LOGISTIC, SETTINGS, n_iter=2, delta=1e-3),
    DPPipeline([("bounds", BoundsScaler()), ("scale", DPStandardScaler()), ("fit", LOGISTIC)]),
    make_pipeline(BoundsScaler(), NormClipper(), LOGISTIC),
]


# In column transformers of scikit-learn 1.6, and skops doesn't know it.
UNKNOWN_TO_SKOPS = {"sklearn.compose._column_transformer._RemainderColsList"}


def check_round_trip(model, rows):
    kept = sio.dumps(model)
    others = UNKNOWN_TO_SKOPS & set(sio.get_untrusted_types(data=kept))
    loaded = sio.loads(kept, trusted=[*trusted_types(), *others])
    assert repr(loaded) == repr(model)
    if hasattr(model, "privacy_report_"):
        assert loaded.privacy_report_ == model.privacy_report_
        assert loaded.privacy_report_.to_text() == model.privacy_report_.to_text()
    for method in ("predict", "predict_proba", "transform"):
        if hasattr(model, method):
            before, after = (getattr(one, method)(rows) for one in (model, loaded))
            np.testing.assert_array_equal(after, before)
    return loaded


@pytest.mark.parametrize("model", MODELS, ids=lambda model: repr(model)[:60])
def test_a_fit_comes_back(model):
    labels = Y
    if getattr(model, "classes", None) == ["no", "yes"]:
        labels = np.array(model.classes)[Y]
    check_round_trip(model.fit(X, labels if is_classifier(model) else suited(model, X[:, 0])), X)


@pytest.mark.long
def test_columns_of_strings_come_back():
    columns = ColumnTransformer(
        [("job", DPOneHotEncoder(), ["job"]), ("x", DPSimpleImputer(), ["x"])]
    )
    model = DPPipeline([("columns", columns), ("fit", DPRidge(target_bounds=(0, 1)))])
    check_round_trip(model.fit(FRAME, Y), FRAME)


@pytest.mark.long
def test_words_of_a_description_come_back():
    """The file has the counts of the fitted term, and of the parameter the words alone."""
    table = FRAME.loc[FRAME.index.repeat(10), ["job"]]
    words = describe(table, epsilon=10.0).categories()
    model = DPAdditiveClassifier(categories=words, classes=[0, 1])
    loaded = check_round_trip(model.fit(table, Y.repeat(10)), table)
    np.testing.assert_array_equal(loaded.terms_[0].weights, model.terms_[0].weights)
    assert loaded.categories == words
    refitted = loaded.fit(table, Y.repeat(10))
    assert np.isnan(refitted.terms_[0].weights).all()


@pytest.mark.long
def test_products_of_curves_come_back():
    rng = np.random.default_rng(0)
    rows = rng.uniform(-1.0, 1.0, (500, 2))
    model = DPAdditiveRegressor(interactions="auto", epsilon=20.0)
    loaded = check_round_trip(model.fit(rows, rows.prod(axis=1)), rows)
    assert loaded.terms_[-1].kind == "product"


def test_a_stream_goes_on():
    stream = DPSGDClassifier(mechanism="laplace", delta=0.0)
    stream.partial_fit(X[:100], Y[:100], classes=[0, 1])
    loaded = check_round_trip(stream, X).partial_fit(X[100:], Y[100:])
    assert loaded.privacy_report_.n_releases == 2 * stream.privacy_report_.n_releases


@pytest.mark.parametrize("mechanism", ["analytic", "randomized_response"])
def test_aggregates_of_labels_come_back(mechanism):
    delta = 1e-5 if mechanism == "analytic" else 0.0
    options = {"epsilon": 1.0, "delta": delta, "classes": [0, 1], "mechanism": mechanism}
    aggregate = label_aggregate(X, Y, **options)
    loaded = sio.loads(sio.dumps(aggregate), trusted=trusted_types())
    assert type(loaded) is type(aggregate)
    assert loaded == aggregate


@pytest.mark.long
@pytest.mark.parametrize("estimator", PRIVATE)
def test_a_file_of_a_seeded_fit_warns(estimator, tmp_path):
    """As a pickle does, at the line of the user; skops reads what is copied twice."""
    model = estimator(random_state=918273)
    y = suited(model, Y)
    model.fit(X, y)
    with pytest.warns(PrivacyWarning, match="random_state") as caught:
        sio.dump(model, tmp_path / "model.skops")
    for warning in caught:
        assert f"This {estimator.__name__} was fitted with a seed" in str(warning.message)
        assert "918273" not in str(warning.message)
        assert points_at(warning, __file__)
    fresh = sio.dumps(estimator().fit(X, y))
    assert b"918273" not in fresh


def test_a_file_holds_no_row(tmp_path):
    """Released numbers and public ones, in arrays of its own."""
    marked = X.copy()
    marked[17] = [0.12345678912345, -0.98765432198765, 0.5512345512345]
    path = tmp_path / "model.skops"
    sio.dump(DPLogisticRegression(classes=[0, 1]).fit(marked, Y), path)
    with zipfile.ZipFile(path) as archive:
        kept = b"".join(archive.read(name) for name in archive.namelist())
    for value in marked[17]:
        assert value.tobytes() not in kept
        assert repr(float(value)).encode() not in kept


def test_every_type_is_there():
    for name in trusted_types():
        assert isinstance(pydoc.locate(name), type), name


def test_a_ledger_is_not_trusted_unasked(tmp_path):
    ledger = PrivacyLedger(tmp_path / "l.db", epsilon=2.0, delta=1e-4, dataset="d")
    kept = sio.dumps(DPLogisticRegression(classes=[0, 1], ledger=ledger).fit(X, Y))
    assert sio.get_untrusted_types(data=kept)
    with pytest.raises(sio.exceptions.UntrustedTypesFoundException, match="PrivacyLedger"):
        sio.loads(kept, trusted=trusted_types())
    trusted = [*trusted_types(), "skdp.ledger._ledger.PrivacyLedger"]
    assert sio.loads(kept, trusted=trusted).ledger == ledger


def test_a_file_does_not_name_the_ledger_of_the_environment(tmp_path, monkeypatch):
    ledger = PrivacyLedger(tmp_path / "study.db", epsilon=2.0, delta=1e-4)
    monkeypatch.setenv("SKDP_LEDGER", ledger.path)
    model = make_pipeline(BoundsScaler(), DPLogisticRegression(classes=[0, 1])).fit(X, Y)
    file = tmp_path / "model.skops"
    sio.dump(model, file)
    with zipfile.ZipFile(file) as archive:
        assert b"study.db" not in b"".join(archive.read(name) for name in archive.namelist())
    loaded = sio.load(file, trusted=trusted_types())
    assert loaded[-1].ledger is None
    loaded.fit(X, Y)
    assert len(ledger.to_dict()["charges"]) == 2


def test_a_stranger_file_names_a_ledger_until_you_do(tmp_path, monkeypatch):
    names = ("strangers.db", "study.db")
    strangers, study = (PrivacyLedger(tmp_path / name, epsilon=9.0, delta=1e-4) for name in names)
    step = DPLogisticRegression(classes=[0, 1], ledger=strangers.path)
    loaded = sio.loads(sio.dumps(make_pipeline(step)), trusted=trusted_types())
    monkeypatch.setenv("SKDP_LEDGER", study.path)
    loaded.fit(X, Y)
    loaded.set_params(dplogisticregression__ledger=None).fit(X, Y)
    assert [len(one.to_dict()["charges"]) for one in (strangers, study)] == [1, 1]


def test_a_forged_report_is_refused():
    model = DPLogisticRegression(classes=[0, 1]).fit(X, Y)
    object.__setattr__(model.privacy_report_, "adjacency", "<img src=x>")
    with pytest.raises(ValueError, match="adjacency must be one of") as caught:
        sio.loads(sio.dumps(model), trusted=trusted_types())
    assert "img" not in str(caught.value)


def test_a_model_card_takes_the_guarantee():
    card = pytest.importorskip("skops.card", reason="skops isn't installed")
    model = LOGISTIC.fit(X, Y)
    written = card.Card(model).add(**{"Privacy": model.privacy_report_.to_markdown()}).render()
    assert "# Privacy\n\n| Privacy report | (1, 1e-05)-DP |\n| --- | --- |\n" in written
    assert "\n**Not covered**\n\n- running time and memory use\n" in written
