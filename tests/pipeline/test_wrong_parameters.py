"""Errors that follow from parameters and public facts come before anything is charged.

Each wrong parameter is tried as the only step of a pipeline, behind a step that learns, within
containers there, and in what is around a pipeline: nothing is charged.
"""

import contextlib

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.frozen import FrozenEstimator
from sklearn.kernel_approximation import AdditiveChi2Sampler
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    SplineTransformer,
)
from sklearn.random_projection import GaussianRandomProjection

from skdp.additive import DPAdditiveClassifier
from skdp.calibration import DPCalibratedClassifier
from skdp.ledger import PrivacyLedger
from skdp.linear_model import (
    DPCDClassifier,
    DPLogisticRegression,
    DPSCDClassifier,
    DPSGDClassifier,
)
from skdp.model_selection import DPGridSearch
from skdp.pipeline import make_private_pipeline
from skdp.preprocessing import (
    BoundsScaler,
    DPNormClipper,
    DPOneHotEncoder,
    DPQuantileClipper,
    DPSimpleImputer,
    DPStandardScaler,
    DPTableVectorizer,
    NormClipper,
)

N_ROWS = 200
LABELS = np.arange(N_ROWS) % 2
ROWS = pd.DataFrame(np.random.default_rng(0).uniform(-1, 1, (N_ROWS, 3)), columns=list("abc"))


class Charges(PrivacyLedger):
    """A ledger that counts charges."""

    def __init__(self):
        self.n = 0

    def _charge(self, *args, **kwargs):
        self.n += 1


def additive(**options):
    return DPAdditiveClassifier(classes=[0, 1], **options)


# Names that no step gives a column.
WRONG_MODELS = {
    "interactions": additive(interactions=[("a", "zzz")]),
    "interactions of one": additive(interactions=[("x0", "x0")]),
    "knots": additive(knots={"zzz": [0.0, 1.0]}),
    "knots that are none": additive(knots={0: [1.0, 1.0]}),
    "categories": additive(categories={"zzz": ["p"]}),
    "categories of numbers": additive(categories={0: ["p"]}),
    "monotonic_cst": additive(monotonic_cst={"zzz": 1}),
    "monotonic_cst too long": additive(monotonic_cst=[1, 0, 0, 0, 0]),
    "numeric_features": additive(numeric_features=["zzz"]),
    "bounds of columns": additive(feature_bounds={"zzz": (0, 1)}),
    "alpha": DPLogisticRegression(classes=[0, 1], alpha=-1.0),
    "weight of no class": DPLogisticRegression(classes=[0, 1], class_weight={7: 1.0}),
    "classes": DPLogisticRegression(classes=[0]),
    "norm": DPSGDClassifier(classes=[0, 1], data_norm=-1.0),
    "bounds of features": DPCDClassifier(classes=[0, 1], feature_bounds=([0, 0], [1, 1])),
    "batch": DPSCDClassifier(classes=[0, 1], batch_size=0),
}
WRONG_STEPS = {
    "ranges of a scaler": DPStandardScaler(feature_bounds=([0, 0], [1, 1])),
    "clip": DPStandardScaler(clip=-1.0),
    "quantiles": DPQuantileClipper(quantiles=(0.9, 0.1)),
    "quantile": DPNormClipper(quantile=2.0),
    "categories too few": DPOneHotEncoder(categories=[[0.0]]),
    "categories twice": DPOneHotEncoder(categories=[[0.0, 0.0]] * 3),
    "strategy": DPSimpleImputer(strategy="mode"),
    "indicators": DPSimpleImputer(strategy="median", add_indicator=["zzz"]),
    "knots of a table": DPTableVectorizer(knots={"zzz": [0.0, 1.0]}),
    "categories of a table": DPTableVectorizer(categories={"zzz": ["p"]}),
    "columns of a table": DPTableVectorizer(numeric_features=["zzz"]),
    "public ranges": BoundsScaler(feature_bounds=([0, 0], [1, 1])),
    "public norm": NormClipper(data_norm=-1.0),
    "degree": PolynomialFeatures(degree=-1),
    "degrees": PolynomialFeatures(degree=(3, 2)),
    "splines": SplineTransformer(degree=-1, knots=np.zeros((3, 3))),
    "knots of splines": SplineTransformer(knots=np.zeros((3, 3))),
    "categories of a step": OneHotEncoder(categories=[[0.0]], sparse_output=False),
    "components": GaussianRandomProjection(n_components=-1),
    "no code of unknown values": OrdinalEncoder(
        categories=[[0.0]] * 3, handle_unknown="use_encoded_value"
    ),
    "code of a known value": OrdinalEncoder(
        categories=[[0.0]] * 3, handle_unknown="use_encoded_value", unknown_value=0
    ),
    "code of what is refused": OrdinalEncoder(categories=[[0.0]] * 3, unknown_value=-1),
    "periods": SplineTransformer(knots=np.eye(2, 3), degree=2, extrapolation="periodic"),
}
LAST = DPLogisticRegression(classes=[0, 1])
SCALER = DPStandardScaler()
BEFORE = {
    "first": (),
    "behind a scaler": (SCALER,),
    "behind two": (SCALER, DPQuantileClipper()),
    "behind columns": (make_column_transformer((SCALER, [0, 1]), remainder="passthrough"),),
    "behind an imputer": (DPSimpleImputer(),),
    "behind a pipeline": (make_pipeline(NormClipper(), SCALER),),
}


def n_charges(model, X=ROWS):
    ledger = Charges()
    model.set_params(ledger=ledger)
    with pytest.raises((TypeError, ValueError)):
        model.fit(X, LABELS)
    return ledger.n


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("name", WRONG_MODELS)
def test_wrong_models_are_refused_before_a_charge(name, before):
    model = make_private_pipeline(*BEFORE[before], WRONG_MODELS[name])
    assert n_charges(model) == 0


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("name", WRONG_STEPS)
def test_wrong_steps_are_refused_before_a_charge(name, before):
    wrong = WRONG_STEPS[name]
    for step in (
        wrong,
        make_pipeline("passthrough", wrong),
        make_union("passthrough", wrong),
        make_column_transformer((wrong, [0, 1, 2])),
        make_column_transformer((NormClipper(), []), remainder=wrong),
    ):
        assert n_charges(make_private_pipeline(*BEFORE[before], step, LAST)) == 0


def test_columns_that_no_step_makes_are_refused_before_a_charge():
    chosen = make_column_transformer((DPQuantileClipper(), ["zzz"]))
    assert n_charges(make_private_pipeline(SCALER, chosen, LAST)) == 0


@pytest.mark.long
@pytest.mark.parametrize("name", WRONG_MODELS)
@pytest.mark.parametrize("method", ["repeat", "compose"])
def test_no_wrong_candidate_loses_in_silence(name, method):
    right = make_private_pipeline(SCALER, LAST)
    for wrong in (
        make_private_pipeline(SCALER, WRONG_MODELS[name]),
        make_pipeline(NormClipper(), WRONG_MODELS[name]),
        DPCalibratedClassifier(WRONG_MODELS[name]),
        DPCalibratedClassifier(make_private_pipeline(SCALER, WRONG_MODELS[name])),
    ):
        around = make_pipeline(right)
        grid = {around.steps[0][0]: [right, wrong]}
        assert n_charges(DPGridSearch(around, grid, method=method, delta=1e-3)) == 0


@pytest.mark.parametrize("name", WRONG_MODELS)
def test_calibration_refuses_before_a_charge(name):
    for inner in (WRONG_MODELS[name], make_private_pipeline(SCALER, WRONG_MODELS[name])):
        assert n_charges(DPCalibratedClassifier(inner)) == 0


POSITIVE = DPQuantileClipper(feature_bounds=(0.1, 2.0))
RIGHT = {
    "names that data frames have": (
        DPStandardScaler().set_output(transform="pandas"),
        additive(interactions=[("a", "b")]),
    ),
    "names of arrays": (SCALER, additive(interactions=[("x0", "x2")])),
    "learnt categories": (DPOneHotEncoder(), additive(interactions=[("x0", 1)])),
    "names of an imputer": (DPSimpleImputer(add_indicator=["c"]), additive(interactions=[(0, 3)])),
    "unknown values are refused by a step": (
        SCALER,
        SplineTransformer(knots=np.repeat([[-90.0], [90.0]], 3, axis=1), extrapolation="error"),
        LAST,
    ),
    "frozen steps that refuse values": (
        SCALER,
        FrozenEstimator(
            SplineTransformer(
                knots=np.repeat([[-9.0], [-8.0]], 3, axis=1), extrapolation="error", degree=1
            ).fit(np.full((2, 3), -8.5))
        ),
        LAST,
    ),
    "a logarithm": (DPQuantileClipper(feature_bounds=(0.1, 2.0)), LAST),
    "a logarithm among columns": (
        make_column_transformer(
            (make_pipeline(POSITIVE, FunctionTransformer(np.log), SCALER), [0])
        ),
        PolynomialFeatures(2),
        LAST,
    ),
    "a logarithm in data frames": (
        clone(POSITIVE).set_output(transform="pandas"),
        FunctionTransformer(np.log).set_output(transform="pandas"),
        SCALER,
        LAST,
    ),
    "periods": (
        SCALER,
        SplineTransformer(knots=np.linspace([0.0] * 3, [1.0] * 3, 4), extrapolation="periodic"),
        DPStandardScaler(feature_bounds=([0.0] * 9, [1.0] * 9)),
        LAST,
    ),
    "codes without a sign": (
        SCALER,
        Binarizer(),
        OrdinalEncoder(categories=[[0.0, 1.0]] * 3, dtype=np.uint8),
        SCALER,
        LAST,
    ),
    "what takes no negative number": (
        make_union(make_pipeline(POSITIVE, AdditiveChi2Sampler()), "drop", "passthrough"),
        SCALER,
        LAST,
    ),
}
WORDS = [*(["a", None, "b"] * (N_ROWS // 3)), "a", "b"]
MODE = DPSimpleImputer(strategy="most_frequent")
RIGHT_OF_WORDS = {
    "listed words": (MODE, DPOneHotEncoder(categories=[["a", "b"]]), SCALER, LAST),
    "filled twice": (MODE, MODE, DPOneHotEncoder(), LAST),
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_a_fit_takes_is_charged_once(name):
    """Rows that stand for others refuse nothing that those wouldn't."""
    ledger, is_refused = Charges(), name.startswith("frozen")
    with pytest.raises(ValueError, match="withheld") if is_refused else contextlib.nullcontext():
        make_private_pipeline(*RIGHT[name], ledger=ledger).fit(ROWS, LABELS)
    assert ledger.n == 1


@pytest.mark.parametrize("name", RIGHT_OF_WORDS)
def test_what_a_fit_takes_of_words_is_charged_once(name):
    ledger, words = Charges(), pd.DataFrame({"a": pd.Series(WORDS, dtype=object)})
    make_private_pipeline(*RIGHT_OF_WORDS[name], epsilon=50.0, ledger=ledger).fit(words, LABELS)
    assert ledger.n == 1


def test_columns_of_all_types_are_parted():
    """A choice of columns asks of no type that it goes with others."""
    table = pd.DataFrame({"word": pd.array(WORDS, dtype="string"), "number": 0.5})
    columns = make_column_transformer((SCALER, ["number"]), (DPOneHotEncoder(), ["word"]))
    ledger = Charges()
    make_private_pipeline(columns, LAST, ledger=ledger).fit(table, LABELS)
    assert ledger.n == 1


def test_what_a_fit_draws_of_global_states_stays():
    """What a step draws of NumPy's global state is what scikit-learn draws."""
    projection = GaussianRandomProjection(n_components=2)
    np.random.seed(0)
    fitted = make_private_pipeline(SCALER, projection, LAST).fit(ROWS, LABELS).steps[1][1]
    np.random.seed(0)
    np.testing.assert_array_equal(fitted.components_, projection.fit(ROWS).components_)
