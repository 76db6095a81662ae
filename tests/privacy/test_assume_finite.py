"""Where scikit-learn doesn't look for NaN: rows are refused, or a record's bound holds for any."""

import inspect
import itertools
import warnings

import numpy as np
import pytest
import sklearn
from scipy.sparse import csr_array
from sklearn.base import clone, is_classifier
from sklearn.utils import get_tags

from skdp.calibration import DPCalibratedClassifier, DPConformalClassifier
from skdp.exceptions import PrivacyWarning
from skdp.linear_model import (
    DPLogisticRegression,
    DPRidge,
    WALRClassifier,
    label_aggregate,
    walr_path,
)
from skdp.metrics import private_score
from skdp.model_selection import DPGridSearch
from skdp.pipeline import DPPipeline
from skdp.preprocessing import (
    DPNormClipper,
    DPOneHotEncoder,
    DPQuantileClipper,
    DPSimpleImputer,
    DPStandardScaler,
    DPTableVectorizer,
    NormClipper,
)
from skdp.utils.discovery import all_estimators
from tests._listed import LINEAR, suited
from tests._loops import for_each
from tests.door import SCORES, GaussianMechanism, metrics_release_module as _release, null_records

ENTRIES = (np.nan, np.inf, -np.inf, 1e308, -1e308, 0.5)
LISTED = [[0.5, 1.0, -1.0]] * 2
# For gaps there is another number, so that NaN is none.
TRANSFORMERS = [
    DPStandardScaler(),
    DPQuantileClipper(),
    DPQuantileClipper(scale="log"),
    DPNormClipper(),
    DPSimpleImputer(missing_values=-5.0),
    DPSimpleImputer(missing_values=-5.0, strategy="median"),
    DPSimpleImputer(missing_values=-5.0, strategy="most_frequent", categories=LISTED),
    DPOneHotEncoder(),
    DPTableVectorizer(),
]


def fit(estimator, X, script=None, null=()):
    """Return a fitted clone, what went into its releases, what came out, and their bounds."""
    made = []

    def release(self, value, stream, original=GaussianMechanism.release):
        out = original(self, value, stream)
        if script is not None and script[len(made)][1].shape == out.shape:
            out = script[len(made)][1].copy()
        made.append((value.copy(), out.copy(), self))
        return out

    with pytest.MonkeyPatch.context() as patch, null_records(null), warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        patch.setattr(GaussianMechanism, "release", release)
        with sklearn.config_context(assume_finite=True):
            fitted = clone(estimator).set_params(random_state=0, delta=1e-3).fit(X)
    return fitted, made


def test_all_private_transformers_are_here():
    private = dict(all_estimators("private"))
    kinds = {kind for name, kind in all_estimators("transformer") if name in private}
    assert kinds == {type(transformer) for transformer in TRANSFORMERS}


@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_record_that_is_not_finite_has_no_more_influence_than_others(transformer, dtype, rng):
    X = np.vstack([np.sign(rng.standard_normal((60, 2))), np.zeros((1, 2))])
    _, none = fit(transformer, X, null=[60])
    for row in itertools.product(ENTRIES, repeat=2):
        with np.errstate(over="ignore"):
            X[60] = np.asarray(row, dtype=dtype)
        if isinstance(transformer, DPOneHotEncoder) and np.isinf(X[60]).any():
            with pytest.raises(ValueError, match="holds infinite numbers"):
                fit(transformer, X.astype(dtype))
            continue
        fitted, made = fit(transformer, X.astype(dtype), script=none)
        for (value, _, mechanism), (without, _, _) in zip(made, none, strict=True):
            if value.shape != without.shape:
                # A category of its own, which a threshold hides.
                value = value[value > 1.0]
            moved = np.linalg.norm(value - without)
            assert moved <= mechanism.sensitivity * (1.0 + 1e-12)
        for name in ("mean_", "scale_", "statistics_"):
            assert np.isfinite(getattr(fitted, name, 0.0)).all()


NOT_FINITE = (np.nan, np.inf, -np.inf)
CLASSES = {"classes": [0.0, 1.0]}
COMPOSED = [
    DPCalibratedClassifier(DPLogisticRegression(**CLASSES)),
    DPConformalClassifier(DPLogisticRegression(**CLASSES)),
    DPGridSearch(DPLogisticRegression(**CLASSES), {"alpha": [0.1, 1.0]}, scoring="accuracy"),
    DPPipeline([("clip", NormClipper()), ("model", DPLogisticRegression(**CLASSES))]),
]


def predictors():
    for kind in LINEAR:
        known = CLASSES if is_classifier(kind()) else {"target_bounds": (0.0, 1.0)}
        yield kind(data_norm=1.0, **known)
    yield from COMPOSED


def certified(model):
    """Give the ways in which rows of a model are certified."""
    parameters = inspect.signature(model.fit).parameters
    yield {}
    if "groups" in parameters:
        yield {"groups": np.arange(60) // 2}
    if "public_weight" in parameters:
        yield {"public_weight": np.linspace(1.0, 2.0, 60)}


def refused(function, *args, told="contains (NaN|infinity)|words or gaps", **options):
    with warnings.catch_warnings(), sklearn.config_context(assume_finite=True):
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match=told):
            function(*args, **options)


@pytest.mark.long
@pytest.mark.parametrize("entry", NOT_FINITE)
@for_each("model", predictors())
def test_a_row_that_is_not_finite_is_refused(model, entry, rng):
    y = suited(model, np.arange(60) % 2.0)
    for dtype in (np.float32, np.float64):
        X = rng.uniform(-1.0, 1.0, (60, 2)).astype(dtype)
        X[17, 1] = entry
        for how in certified(model):
            refused(clone(model).fit, X, y, **how)
            if get_tags(model).input_tags.sparse:
                refused(clone(model).fit, csr_array(X), y, **how)
        if hasattr(model, "partial_fit"):
            refused(clone(model).partial_fit, X, y)


@for_each("entry", NOT_FINITE)
@for_each("model", predictors())
def test_a_target_that_is_not_finite_is_refused(model, entry, rng):
    X = rng.uniform(-1.0, 1.0, (60, 2))
    for dtype in (np.float32, np.float64):
        y = suited(model, np.arange(60) % 2).astype(dtype)
        y[17] = entry
        refused(clone(model).fit, X, y, told="contains (NaN|infinity)|Unknown label|not among")


@pytest.mark.parametrize("entry", NOT_FINITE)
def test_weights_that_are_not_finite_are_refused(entry):
    weights = np.ones(60)
    weights[17] = entry
    X, y = np.ones((60, 2)), np.arange(60) % 2.0
    for model in predictors():
        if "public_weight" in inspect.signature(model.fit).parameters:
            refused(
                clone(model).fit,
                X,
                suited(model, y),
                public_weight=weights,
                told="public_weight must have",
            )


@pytest.mark.parametrize("entry", NOT_FINITE)
def test_rows_of_aggregates_that_are_not_finite_are_refused(entry):
    X, y = np.ones((60, 2)), np.arange(60) % 2.0
    aggregate = label_aggregate(X, y, data_norm=2.0, **CLASSES)
    X[17, 1] = entry
    refused(label_aggregate, X, y, data_norm=2.0, **CLASSES)
    refused(WALRClassifier().fit_aggregate, X, aggregate)
    refused(walr_path, X, aggregate)


@pytest.mark.parametrize("scoring", SCORES)
def test_a_score_that_is_not_finite_is_in_the_grid(scoring, rng, monkeypatch):
    """So that it moves as much as any other record's."""
    X, y = rng.uniform(-1.0, 1.0, (60, 2)), np.arange(60) % 2.0
    bounds = (
        {} if "neg_mean" not in scoring and "2" not in scoring else {"target_bounds": (0.1, 1.0)}
    )
    model = (DPRidge(**bounds) if bounds else DPLogisticRegression(**CLASSES)).fit(X, y)
    grids = []

    def release(axes, *how, original=_release.release_histogram):
        grids.append(axes)
        return original(axes, *how)

    monkeypatch.setattr(_release, "release_histogram", release)
    for entry in NOT_FINITE:
        X[17, 1] = entry
        with sklearn.config_context(assume_finite=True):
            private_score(model, X, y, epsilon=1.0, scoring=scoring, **bounds)
    for axis in itertools.chain(*grids):
        assert np.isfinite(axis.position).all()
        assert ((axis.position >= 0) & (axis.position <= axis.size)).all()
