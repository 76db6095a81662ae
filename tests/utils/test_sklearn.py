"""Arrays of other libraries: read as scikit-learn reads them, or refused with a remedy."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from skdp.linear_model import DPSCDClassifier, DPSGDRegressor, WALRClassifier, label_aggregate
from skdp.preprocessing import BoundsScaler
from tests.door import containers_module as _containers, quietly

COMPUTE = r"is a Dask collection, and only arrays in memory are read here: call \.compute\(\)"
CONVERT = r"array_api_dispatch=True asks .* numpy\.asarray \(a PyTorch tensor by \.numpy\(\)\), or"


class Array:
    """What scikit-learn turns into a NumPy array without a word."""

    def __init__(self, values):
        self.values = values
        self.shape, self.dtype, self.ndim = values.shape, values.dtype, values.ndim

    def __len__(self):
        return len(self.values)

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype=dtype)


class Lazy(Array):
    def __dask_graph__(self):
        return {"chunk": self.values}


class Loaded(Array):
    def __dask_graph__(self):
        return None


class Standard(Array):
    def __array_namespace__(self, api_version=None):
        return np


class Tensor(Array):
    pass


Tensor.__module__ = "torch"


@pytest.fixture(scope="module")
def records():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (60, 3))
    return X, (X[:, 0] > 0).astype(int)


@pytest.fixture
def dispatch(monkeypatch):
    """scikit-learn wants SciPy told before its import, so only our look at the setting changes."""
    monkeypatch.setattr(_containers, "get_config", lambda: {"array_api_dispatch": True})


def assert_all_refuse(kind, X, y, message):
    """Fits, predictions, scores and releases, by X and where they take it by y."""
    model = DPSCDClassifier().fit(X, y)
    regressor = DPSGDRegressor(target_bounds=(0, 1), mechanism="laplace")
    for call in (
        lambda X, y: DPSCDClassifier().fit(X, y),
        lambda X, y: regressor.fit(X, y),
        lambda X, y: regressor.partial_fit(X, y),
        lambda X, y: label_aggregate(X, y, epsilon=1.0, delta=1e-5),
    ):
        for name, arguments in (("X", (kind(X), y)), ("y", (X, kind(y)))):
            with pytest.raises(TypeError, match=f"^{name} is an? .*{message}"):
                call(*arguments)
    aggregate = label_aggregate(X, y, epsilon=1.0, delta=1e-5)
    for call in (
        model.predict,
        model.predict_proba,
        lambda X: model.score(X, y),
        lambda X: WALRClassifier().fit_aggregate(X, aggregate),
        BoundsScaler().fit,
        BoundsScaler().fit(X).transform,
    ):
        with pytest.raises(TypeError, match=f"^X is an? .*{message}"):
            call(kind(X))


@pytest.mark.parametrize(
    ("entry", "public", "private"),
    [(np.nan, "SimpleImputer", "DPSimpleImputer"), ("secret", "OneHotEncoder", "DPOneHotEncoder")],
)
def test_gaps_and_words_are_refused_with_both_remedies(entry, public, private):
    X = np.array([[1.0], [entry]], dtype=object)
    with pytest.raises(
        ValueError, match=rf"sklearn\.\w+\.{public}.*skdp\.preprocessing\.{private}"
    ):
        DPSCDClassifier(classes=[0, 1]).fit(X, [0, 1])


def test_dask_collections_are_refused(records):
    assert_all_refuse(Lazy, *records, COMPUTE.removeprefix("is a "))


def test_what_could_hold_a_dask_array_and_does_not_is_read(records):
    X, y = records
    DPSCDClassifier().fit(Loaded(X), Loaded(y))


def test_refusals_quote_no_value(records):
    X, y = records
    with pytest.raises(TypeError) as error:
        DPSCDClassifier().fit(Lazy(X * 0 + 123456), y)
    assert "123456" not in str(error.value)
    assert error.value.__context__ is None


@pytest.mark.parametrize("kind", [Standard, Tensor])
@pytest.mark.usefixtures("dispatch")
def test_arrays_of_another_library_are_refused_under_dispatch(kind, records):
    assert_all_refuse(kind, *records, CONVERT)


@pytest.mark.parametrize("kind", [Standard, Tensor])
def test_arrays_of_another_library_are_read_without_dispatch(kind, records):
    X, y = records
    fits = [DPSCDClassifier(random_state=0).fit(*data) for data in (records, (kind(X), kind(y)))]
    np.testing.assert_array_equal(fits[0].coef_, fits[1].coef_)


@pytest.mark.usefixtures("dispatch")
def test_dispatch_hinders_no_others(records):
    X, y = records
    frame = pd.DataFrame(X, columns=list("abc"))
    for data in ((X, y), (X.tolist(), y.tolist()), (frame, pd.Series(y)), (X, list(map(str, y)))):
        DPSCDClassifier().fit(*data)
    with pytest.raises(TypeError, match="Sparse data was passed for X"):
        DPSCDClassifier(solver="primal").fit(csr_array(X), y)


def frames(library, X, y):
    if library == "polars":
        return library_of("polars").DataFrame(X, schema=list("abc")), library_of("polars").Series(y)
    arrow = library_of("pyarrow")
    return arrow.table({name: X[:, j] for j, name in enumerate("abc")}), arrow.array(y)


def library_of(name):
    return pytest.importorskip(name, reason=f"{name} isn't needed by skdp, nor installed")


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_frames_of_other_libraries_are_read(library, records):
    X, y = frames(library, *records)
    names = DPSCDClassifier().fit(X, y).feature_names_in_
    assert names.tolist() == list("abc")


@pytest.mark.parametrize("kind", ["array", "dataframe"])
def test_real_dask_collections_are_refused(kind, records):
    X, y = records
    dask = pytest.importorskip(f"dask.{kind}", reason="dask isn't needed by skdp, nor installed")
    wrap = dask.from_array if kind == "array" else lambda X: dask.from_pandas(pd.DataFrame(X), 2)
    with pytest.raises(TypeError, match=COMPUTE):
        DPSCDClassifier().fit(wrap(X), y)
    with pytest.raises(TypeError, match=COMPUTE):
        DPSCDClassifier().fit(X, wrap(y))


def test_refusals_of_our_own_are_told_and_the_same_words_of_others_are_withheld():
    def refuse(kind):
        raise kind("two columns of X have the same name 'age'")

    with pytest.raises(ValueError, match="the same name 'age'"):
        quietly(refuse, _containers.RefusedValueError)
    with pytest.raises(ValueError, match="the message is withheld"):
        quietly(refuse, ValueError)
