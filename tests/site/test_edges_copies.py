"""What the page of sharp edges says of copies, caches and formats."""

import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import Pipeline

from skdp.accountant import compose
from skdp.exceptions import PrivacyWarning
from skdp.ledger import PrivacyLedger
from skdp.linear_model import DPSCDClassifier
from skdp.preprocessing import BoundsScaler, DPStandardScaler
from tests.door import containers_module as _containers
from tests.site._edges import FITS, covers, make_classifier, make_records

NAMES = list("abcd")


@pytest.fixture
def data():
    return make_records()


def frames(library, X):
    module = pytest.importorskip(library)
    if library == "pyarrow":
        return module.table({name: X[:, j] for j, name in enumerate(NAMES)})
    return module.DataFrame({name: X[:, j] for j, name in enumerate(NAMES)})


@covers("clone")
def test_a_clone_has_the_seed_and_no_report(data):
    model = DPSCDClassifier(random_state=3, ledger="study.db")
    assert clone(model).get_params() == model.get_params()
    model = make_classifier(random_state=3).fit(*data)
    copy = clone(model)
    assert not hasattr(copy, "privacy_report_")
    np.testing.assert_array_equal(copy.fit(*data).coef_, model.coef_)


@covers("FrozenEstimator")
def test_a_frozen_model_is_the_same_everywhere(data):
    X, y = data
    model = make_classifier().fit(X, y)
    FITS.clear()
    frozen = FrozenEstimator(model)
    assert clone(frozen).fit(X, y).privacy_report_ is model.privacy_report_
    scores = [model.score(X[test], y[test]) for _, test in KFold(3).split(X)]
    np.testing.assert_array_equal(cross_val_score(frozen, X, y, cv=KFold(3)), scores)
    assert not FITS


@covers("Pipeline")
def test_a_memory_keeps_rows_and_a_release(data, tmp_path):
    ledger = PrivacyLedger(tmp_path / "study.db", epsilon=3.0, delta=1e-4)
    scaler = DPStandardScaler(feature_bounds=(-1, 1), ledger=ledger)
    steps = [("scaler", scaler), ("model", make_classifier())]
    first, again = (
        Pipeline(steps, memory=str(tmp_path / "cache")).fit(*data)["scaler"] for _ in range(2)
    )
    (kept,) = (tmp_path / "cache").rglob("output.pkl")
    rows, _ = joblib.load(kept)
    np.testing.assert_array_equal(rows, first.transform(data[0]))
    np.testing.assert_array_equal(rows, again.transform(data[0]))
    assert len(ledger.to_frame()) == 1
    assert compose([first.privacy_report_, again.privacy_report_]).epsilon > 1.2


@covers("set_output")
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_outputs_have_names(library, data):
    pytest.importorskip(library)
    frame = pd.DataFrame(data[0], columns=NAMES, index=[f"id {i}" for i in range(len(data[0]))])
    out = BoundsScaler((-1, 1)).set_output(transform=library).fit_transform(frame)
    assert type(out).__module__.startswith(library)
    assert list(out.columns) == NAMES
    assert make_classifier().fit(out, data[1]).feature_names_in_.tolist() == NAMES
    if library == "pandas":
        assert list(out.index) == list(frame.index)


@covers("pandas", "polars", "pyarrow")
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_are_read(library, data):
    X, y = data
    alone, named = (
        make_classifier(random_state=0).fit(rows, y) for rows in (X, frames(library, X))
    )
    np.testing.assert_array_equal(named.coef_, alone.coef_)
    assert named.feature_names_in_.tolist() == NAMES


@covers("array_api_dispatch")
def test_arrays_of_other_libraries_are_refused(data, monkeypatch):
    class Array(list):
        def __array_namespace__(self):
            raise AssertionError("no look at the array")

    monkeypatch.setattr(_containers, "get_config", lambda: {"array_api_dispatch": True})
    with pytest.raises(TypeError, match="array_api_dispatch=True asks to compute"):
        make_classifier().fit(Array(data[0].tolist()), data[1])


def by_joblib(model, folder):
    joblib.dump(model, folder / "model")
    return joblib.load(folder / "model")


def by_skops(model, folder):
    skops = pytest.importorskip("skops.io")
    written = skops.dumps(model)
    return skops.loads(written, trusted=skops.get_untrusted_types(data=written))


@covers("pickle", "joblib.dump", "skops")
@pytest.mark.parametrize(
    "through", [lambda model, _: pickle.loads(pickle.dumps(model)), by_joblib, by_skops]
)
def test_files_hold_the_report_and_the_seed(through, data, tmp_path):
    model = DPSCDClassifier(random_state=3).fit(*data)
    with pytest.warns(PrivacyWarning, match="the copy holds it as random_state"):
        copy = through(model, tmp_path)
    assert copy.random_state == 3
    assert copy.privacy_report_ == model.privacy_report_
    np.testing.assert_array_equal(copy.coef_, model.coef_)


@covers("skl2onnx")
def test_an_onnx_file_holds_neither_seed_nor_report(data):
    skl2onnx = pytest.importorskip("skl2onnx")
    pytest.importorskip("skdp.onnx")
    model = DPSCDClassifier(random_state=3).fit(*data)
    X = data[0].astype(np.float32)
    written = skl2onnx.to_onnx(model, X[:1]).SerializeToString()
    del model.privacy_report_
    model.random_state = 4
    assert skl2onnx.to_onnx(model, X[:1]).SerializeToString() == written
