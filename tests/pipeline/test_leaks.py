"""Which steps a private pipeline takes and refuses, and that safe ones learn nothing."""

import operator
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.special import expit
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.frozen import FrozenEstimator
from sklearn.impute import KNNImputer, MissingIndicator, SimpleImputer
from sklearn.kernel_approximation import (
    AdditiveChi2Sampler,
    Nystroem,
    PolynomialCountSketch,
    RBFSampler,
    SkewedChi2Sampler,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion, make_pipeline, make_union
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
    scale,
)
from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection

from skdp.calibration import DPCalibratedClassifier
from skdp.inspection import preview, total_report
from skdp.linear_model import DPLogisticRegression, DPSCDClassifier, WALRClassifier
from skdp.pipeline import DPPipeline, make_private_pipeline
from skdp.preprocessing import BoundsScaler, DPOneHotEncoder, DPStandardScaler, NormClipper
from tests._loops import for_each
from tests.door import as_floats


class ByRow(TransformerMixin, BaseEstimator):
    """Says that it needs no fit, as scikit-learn's tags can't be held to it."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags


class Resampler(BaseEstimator):
    """As those of imbalanced-learn, which transform nothing."""

    def fit(self, X, y=None):
        return self

    def fit_resample(self, X, y):
        return X[::2], y[::2]


class Quiet(Normalizer):
    """A subclass may do anything."""


class Peeking(DPStandardScaler):
    """So may one of a private class."""

    def fit(self, X, y=None):
        self.largest_ = np.max(X)
        return super().fit(X, y)


class PeekingScaler(BoundsScaler):
    pass


class PeekingModel(DPLogisticRegression):
    pass


class LooksLikeLog:
    """A function that claims to be another."""

    def __eq__(self, other):
        return True

    def __hash__(self):
        return hash(np.log1p)

    def __call__(self, X):
        return X - X.mean()


def frozen(step):
    """A step that was fitted before, on some other rows."""
    return FrozenEstimator(step.fit(np.random.default_rng(1).uniform(0.1, 2.0, (50, 3))))


KNOTS = np.linspace(-3, 3, 5)[:, np.newaxis].repeat(3, axis=1)
GIVEN = {"categories": [["a", "b"]] * 3, "sparse_output": False}
DENSE = {"sparse_threshold": 0}
LEAKING = {
    "scaler": (StandardScaler(), "DPStandardScaler"),
    "extremes": (MinMaxScaler(), "DPStandardScaler"),
    "robust": (RobustScaler(), "DPQuantileClipper"),
    "quantiles": (QuantileTransformer(), "DPQuantileClipper"),
    "power": (PowerTransformer(), "DPStandardScaler"),
    "bins": (KBinsDiscretizer(), "SplineTransformer"),
    "one hot": (OneHotEncoder(), "DPOneHotEncoder"),
    "rare": (OneHotEncoder(min_frequency=2, **GIVEN), "min_frequency"),
    "ordinal": (OrdinalEncoder(), r"OrdinalEncoder\(categories"),
    "by target": (TargetEncoder(), "DPOneHotEncoder"),
    "mean": (SimpleImputer(), "DPSimpleImputer"),
    "empty dropped": (SimpleImputer(strategy="constant", fill_value=0.0), "keep_empty_features"),
    "indicator of gaps": (
        SimpleImputer(strategy="constant", keep_empty_features=True, add_indicator=True),
        "MissingIndicator",
    ),
    "some indicators": (MissingIndicator(), "features='all'"),
    "neighbours": (KNNImputer(), "DPSimpleImputer"),
    "directions": (PCA(), "GaussianRandomProjection"),
    "svd": (TruncatedSVD(), "GaussianRandomProjection"),
    "best": (SelectKBest(k=1), "by knowledge"),
    "constant columns": (VarianceThreshold(), "by knowledge"),
    "knots": (SplineTransformer(), "knots"),
    "components by rows": (GaussianRandomProjection(), "give a number"),
    "sparse components by rows": (SparseRandomProjection("auto"), "give a number"),
    "components by rows inside": (
        make_column_transformer((make_pipeline(GaussianRandomProjection()), [0, 1, 2])),
        "give a number",
    ),
    "words": (TfidfVectorizer(), "HashingVectorizer"),
    "counts": (CountVectorizer(), "vocabulary"),
    "kernel": (Nystroem(), "RBFSampler"),
    "width of kernel": (RBFSampler(gamma="scale"), "gamma"),
    "any function": (FunctionTransformer(scale), "numpy.log1p"),
    "arguments": (FunctionTransformer(np.log1p, kw_args={"where": True}), "numpy.log1p"),
    "an inverse": (FunctionTransformer(np.log1p, inverse_func=scale), "numpy.log1p"),
    "another method": (FunctionTransformer(operator.methodcaller("cumsum")), "numpy.log1p"),
    "unknown": (ByRow(), "requires_fit=False"),
    "subclass": (Quiet(), "a step that is"),
    "private subclass": (Peeking(), "class of skdp itself"),
    "public subclass": (PeekingScaler(), "class of skdp itself"),
    "an equal function": (FunctionTransformer(LooksLikeLog()), "numpy.log1p"),
    "resampler": (Resampler(), "leave it out"),
    "model inside": (make_column_transformer((DPSCDClassifier(), [0])), "put it last"),
    "pipeline inside": (make_private_pipeline(DPStandardScaler()), "put its steps"),
    "in a pipeline": (make_pipeline(NormClipper(), StandardScaler()), "DPStandardScaler"),
    "beside": (make_union(NormClipper(), PCA()), "GaussianRandomProjection"),
    "in columns": (make_column_transformer((PCA(), [0])), "GaussianRandomProjection"),
    "of the rest": (
        make_column_transformer((NormClipper(), [0]), remainder=StandardScaler()),
        "DPStandardScaler",
    ),
    "columns by a function": (
        make_column_transformer((NormClipper(), lambda frame: [0])),
        "names or places",
    ),
    "sparse if few": (
        make_column_transformer((OneHotEncoder(categories=[["a"]]), [0]), remainder="passthrough"),
        "sparse_threshold=0",
    ),
    "sparse gaps": (
        make_column_transformer((MissingIndicator(features="all", sparse=True), [0])),
        "sparse_threshold=0",
    ),
    "sparse if asked for": (
        make_column_transformer(("passthrough", [0]), sparse_threshold=1.0),
        "sparse_threshold=0",
    ),
    "memory": (make_pipeline(NormClipper(), memory="cache"), "memory=None"),
    "frozen function": (frozen(FunctionTransformer(lambda X: X - X.mean())), "numpy.log1p"),
    "frozen scaler": (frozen(StandardScaler()), "DPStandardScaler"),
    "frozen twice": (FrozenEstimator(frozen(StandardScaler())), "DPStandardScaler"),
    "frozen unknown": (frozen(ByRow()), "requires_fit=False"),
    "frozen private subclass": (frozen(Peeking()), "class of skdp itself"),
    "frozen pipeline": (frozen(make_pipeline(NormClipper(), StandardScaler())), "DPStandardScaler"),
    "frozen union": (frozen(make_union(NormClipper(), PCA())), "GaussianRandomProjection"),
    "frozen columns": (
        frozen(make_column_transformer((PCA(1), [0, 1]), **DENSE)),
        "GaussianRandomProjection",
    ),
    "frozen rest": (
        frozen(make_column_transformer((NormClipper(), [0]), remainder=MinMaxScaler(), **DENSE)),
        "DPStandardScaler",
    ),
    "frozen choice": (
        frozen(make_column_transformer(("passthrough", lambda X: [0]), **DENSE)),
        "names or places",
    ),
    "frozen density": (
        frozen(make_column_transformer(("passthrough", [0, 1]))),
        "sparse_threshold=0",
    ),
    "frozen in columns": (
        make_column_transformer((frozen(StandardScaler()), [0, 1, 2])),
        "DPStandardScaler",
    ),
    "frozen in a pipeline": (make_pipeline(frozen(StandardScaler())), "DPStandardScaler"),
    "frozen components by rows": (
        FrozenEstimator(GaussianRandomProjection(eps=0.9).fit(np.zeros((5, 99)))),
        "give a number",
    ),
    "frozen types": (
        frozen(OneHotEncoder(categories=[[0, 1]] * 3, handle_unknown="ignore")),
        "without freezing",
    ),
    "frozen types of fills": (
        frozen(SimpleImputer(strategy="constant", keep_empty_features=True)),
        "without freezing",
    ),
    "frozen with permission": (
        frozen(
            make_private_pipeline(StandardScaler(), DPStandardScaler(), allow=("standardscaler",))
        ),
        "BoundsScaler",
    ),
    "frozen without a fit": (
        FrozenEstimator(make_private_pipeline(FunctionTransformer(scale), NormClipper())),
        "numpy.log1p",
    ),
}


@for_each("name", LEAKING)
def test_what_leaks_is_refused_by_name_with_what_to_use(name):
    step, instead = LEAKING[name]
    model = DPPipeline([("odd one", step), ("model", DPLogisticRegression(classes=[0, 1]))])
    with pytest.raises(ValueError, match=instead) as caught:
        model.fit(np.zeros((40, 3)), np.arange(40) % 2)
    assert "step 'odd one" in str(caught.value)
    assert not hasattr(model, "privacy_report_")


def test_resampling_is_refused_whatever_is_allowed():
    model = make_private_pipeline(Resampler(), DPLogisticRegression(), allow=("resampler",))
    with pytest.raises(ValueError, match="class_weight=") as caught:
        model.fit(np.zeros((40, 3)), np.arange(40) % 2)
    assert "allow" not in str(caught.value)


def test_last_steps_that_leak_are_refused(rng):
    X, y = rng.uniform(-1, 1, (40, 3)), np.arange(40) % 2
    lasts = {
        LogisticRegression(): "DPLogisticRegression",
        PCA(): "GaussianRandomProjection",
        WALRClassifier(): "protects rows",
        PeekingModel(): "class of skdp itself",
    }
    for last, instead in lasts.items():
        with pytest.raises(ValueError, match=instead):
            make_private_pipeline(DPStandardScaler(), last).fit(X, y)


NUMBERS = np.random.default_rng(0).uniform(0.1, 2.0, (60, 3))
WORDS = np.array(["ab ab", "b a", "c"] * 20)[:, np.newaxis].repeat(3, axis=1)
GAPS = np.where(NUMBERS > 1.0, np.nan, NUMBERS)
SAFE = {
    "bounds": (BoundsScaler((0, 3)), NUMBERS),
    "norm": (NormClipper(), NUMBERS),
    "normalizer": (Normalizer(), NUMBERS),
    "binarizer": (Binarizer(), NUMBERS),
    "polynomials": (PolynomialFeatures(), NUMBERS),
    "given knots": (SplineTransformer(knots=KNOTS), NUMBERS),
    "logarithm": (FunctionTransformer(np.log1p), NUMBERS),
    "logistic": (FunctionTransformer(expit), NUMBERS),
    "identity": (FunctionTransformer(), NUMBERS),
    "given categories": (OneHotEncoder(handle_unknown="ignore", **GIVEN), WORDS),
    "two columns": (OneHotEncoder(handle_unknown="ignore", drop="if_binary", **GIVEN), WORDS),
    "given order": (
        OrdinalEncoder(
            categories=[["c", "b a"]] * 3, handle_unknown="use_encoded_value", unknown_value=-1
        ),
        WORDS,
    ),
    "constant": (
        SimpleImputer(strategy="constant", fill_value=0.5, keep_empty_features=True),
        GAPS,
    ),
    "all indicators": (MissingIndicator(features="all"), GAPS),
    "random features": (RBFSampler(gamma=0.5, random_state=0, n_components=4), NUMBERS),
    "sketch": (PolynomialCountSketch(random_state=0, n_components=4), NUMBERS),
    "projection": (GaussianRandomProjection(2, random_state=0), NUMBERS),
    "sparse projection": (SparseRandomProjection(2, random_state=0), NUMBERS),
    "additive kernel": (AdditiveChi2Sampler(), NUMBERS),
    "skewed kernel": (SkewedChi2Sampler(random_state=0, n_components=4), NUMBERS),
    "frozen": (frozen(GaussianRandomProjection(2, random_state=0)), NUMBERS),
    "frozen twice": (FrozenEstimator(frozen(Normalizer())), NUMBERS),
    "frozen pipeline": (frozen(make_pipeline(NormClipper(), Binarizer())), NUMBERS),
    "frozen columns": (
        frozen(make_column_transformer((NormClipper(), [0, 1]), **DENSE)),
        NUMBERS,
    ),
    "frozen private": (frozen(make_pipeline(DPStandardScaler())), NUMBERS),
    "frozen private pipeline": (frozen(make_private_pipeline(DPStandardScaler())), NUMBERS),
    "frozen private encoder": (
        frozen(
            make_private_pipeline(
                OneHotEncoder(categories=[[0.0]] * 3, handle_unknown="ignore", sparse_output=False),
                DPStandardScaler(),
            )
        ),
        NUMBERS,
    ),
    "hashed words": (
        make_pipeline(
            HashingVectorizer(n_features=8), FunctionTransformer(operator.methodcaller("toarray"))
        ),
        WORDS[:, 0],
    ),
    "hashed pairs": (
        make_pipeline(
            FeatureHasher(8, input_type="string"),
            FunctionTransformer(operator.methodcaller("toarray")),
        ),
        WORDS,
    ),
    "given words": (
        make_pipeline(
            CountVectorizer(vocabulary=["ab", "c"]),
            FunctionTransformer(operator.methodcaller("toarray")),
        ),
        WORDS[:, 0],
    ),
    "columns": (
        make_column_transformer((NormClipper(), [0, 1]), remainder="passthrough"),
        NUMBERS,
    ),
    "columns by pattern": (
        make_column_transformer((BoundsScaler(), make_column_selector("a|b"))),
        pd.DataFrame(NUMBERS, columns=list("abc")),
    ),
    "union": (make_union(NormClipper(), Binarizer()), NUMBERS),
    "dropped": (FeatureUnion([("a", NormClipper()), ("b", "drop"), ("c", "passthrough")]), NUMBERS),
}


class Made(DPLogisticRegression):
    pass


@pytest.mark.long
def test_what_a_calibrated_classifier_wraps_is_looked_at():
    """As a step it would be refused, or named as not covered."""
    y = np.arange(60) % 2
    two = {"classes": [0, 1]}
    refused = {
        "its class isn't one of skdp's": Made(**two),
        "keeps means and variances": make_private_pipeline(
            StandardScaler(), DPLogisticRegression(**two)
        ),
        "private classifier that protects rows": LogisticRegression(),
    }
    for message, inner in refused.items():
        model = make_private_pipeline(BoundsScaler(), DPCalibratedClassifier(inner))
        with pytest.raises(ValueError, match=message):
            model.fit(NUMBERS, y)
    allowing = refused["keeps means and variances"].set_params(allow=("standardscaler",))
    model = make_private_pipeline(BoundsScaler(), DPCalibratedClassifier(allowing))
    told = model.fit(NUMBERS, y).privacy_report_.not_covered[0]
    assert told.startswith("within step 'dpcalibratedclassifier': step 'standardscaler'")
    assert told in preview(model, *NUMBERS.shape).not_covered
    alone = DPCalibratedClassifier(allowing)
    frozen = make_private_pipeline(DPStandardScaler(), FrozenEstimator(alone.fit(NUMBERS, y)))
    with pytest.raises(ValueError, match=r"__standardscaler' \(StandardScaler\) leaks"):
        frozen.fit(NUMBERS, y)
    told = alone.fit(NUMBERS, y).privacy_report_.not_covered[0]
    assert "step 'standardscaler'" in told
    assert told in preview(alone, *NUMBERS.shape).not_covered


@pytest.mark.parametrize("name", SAFE)
@pytest.mark.filterwarnings("ignore:Found unknown categories")
def test_what_is_safe_passes_and_learns_nothing(name):
    step, X = SAFE[name]
    y = np.arange(60) % 2
    model = make_private_pipeline(step, DPLogisticRegression(classes=[0, 1]), random_state=0)
    model.fit(X, y)
    named = [words for words in model.privacy_report_.not_covered if "step" in words]
    assert len(named) == ("frozen private" in name)
    # Other rows of the same size leave the same behind, and make the same of a row.
    other = X.iloc[::-1] * 0.5 if hasattr(X, "iloc") else X[::-1]
    other = np.where(other == "c", "ab ab", other) if X is WORDS else other
    fits = [clone(step).fit(rows, y) for rows in (X, other)]
    states = [pickle.dumps({**vars(fit), "_tfidf": None}) for fit in fits]
    whole = [np.asarray(fit.transform(X), dtype=float) for fit in fits]
    np.testing.assert_array_equal(*whole)
    if not isinstance(step, (ColumnTransformer, FeatureUnion)):
        assert states[0] == states[1]
    alone = [np.asarray(fits[0].transform(X[i : i + 1]), dtype=float)[0] for i in range(5)]
    np.testing.assert_allclose(alone, whole[0][:5], rtol=1e-12)


TO_SPARSE = CountVectorizer(token_pattern="[a-d]", vocabulary=list("abcd"))
TO_SPARSE = FrozenEstimator(TO_SPARSE.fit(["a b c d"]))


@pytest.mark.parametrize(
    ("inside", "first"),
    [
        (("passthrough", slice(0, 3)), False),
        ((MissingIndicator(features="all"), slice(0, 3)), False),
        (("passthrough", slice(0, 4)), True),
        ((TO_SPARSE, "w"), False),
    ],
)
def test_whether_rows_are_sparse_knows_no_number_of_zeros(inside, first):
    """One word or number more would be told by whether the rest is kept as zeros."""
    kept = []
    for n_full in (3, 35):
        words = ["a b c d"] * n_full + [""] * (40 - n_full)
        X = csr_array(np.arange(40)[:, np.newaxis] < n_full * np.ones(3)) * 0.5
        steps = [make_column_transformer(inside), DPLogisticRegression(classes=[0, 1])]
        if first:
            X, steps = words, [HashingVectorizer(n_features=4, norm=None), *steps]
        elif inside[0] is TO_SPARSE:
            X = pd.DataFrame({"w": words})
        model = make_private_pipeline(*steps).fit(X, np.arange(40) % 2)
        kept.append(model[-2].sparse_output_)
        assert steps[-2].sparse_threshold == 0.3
    assert kept == [False, False]


def test_there_are_as_many_cases_as_were_asked_for():
    assert len(LEAKING) >= 25
    assert len(SAFE) >= 15


def test_allow_lets_a_step_through_and_the_report_says_so(rng):
    X, y = rng.uniform(-1, 1, (60, 3)), np.arange(60) % 2
    inside = make_column_transformer((StandardScaler(), [0]), (DPStandardScaler(), [1, 2]))
    last = DPLogisticRegression(classes=[0, 1])
    name = "columntransformer__standardscaler"
    model = make_private_pipeline(inside, last, allow=(name,)).fit(X, y)
    first = model.privacy_report_.not_covered[0]
    assert name in first
    assert "StandardScaler" in first
    for allow in (("columntransformer",), ("dplogisticregression",), (name, "other")):
        with pytest.raises(ValueError, match=r"allow|leaks"):
            make_private_pipeline(inside, last, allow=allow).fit(X, y)


def test_allow_lets_through_what_is_frozen_and_the_report_says_so(rng):
    X, y = rng.uniform(-1, 1, (60, 3)), np.arange(60) % 2
    inside = frozen(make_column_transformer((StandardScaler(), [0]), ("passthrough", [1])))
    names = ("frozenestimator", "frozenestimator__standardscaler")
    last = DPLogisticRegression(classes=[0, 1])
    model = make_private_pipeline(inside, last, allow=names).fit(X, y)
    named = model.privacy_report_.not_covered[:2]
    assert [words.split("'")[1] for words in named] == list(names)
    assert "frozen StandardScaler" in named[1]
    # What is frozen stays as it is.
    assert inside.estimator.sparse_threshold == 0.3
    with pytest.raises(ValueError, match="StandardScaler"):
        make_private_pipeline(inside, last, allow=names[:1]).fit(X, y)


class OfSteps(TransformerMixin, BaseEstimator):
    """Has a parameter that is called as those of pipelines are."""

    def __init__(self, steps=3):
        self.steps = steps

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return X


def test_allow_lets_through_what_has_steps_and_is_no_pipeline(rng):
    X, y = rng.uniform(-1, 1, (60, 3)), np.arange(60) % 2
    before, last = FrozenEstimator(OfSteps().fit(X)), DPLogisticRegression(classes=[0, 1])
    model = make_private_pipeline(before, last, allow=("frozenestimator",)).fit(X, y)
    assert "frozen OfSteps" in model.privacy_report_.not_covered[0]


@pytest.mark.parametrize(
    "before",
    [
        DPStandardScaler(epsilon=0.5),
        make_pipeline(DPStandardScaler(epsilon=0.5)),
        make_private_pipeline(DPStandardScaler(), epsilon=0.5),
    ],
    ids=["step", "pipeline", "private pipeline"],
)
def test_what_a_frozen_step_spent_is_named(before, rng):
    X, y = rng.uniform(-1, 1, (60, 3)), np.arange(60) % 2
    steps = FrozenEstimator(before.fit(X)), DPLogisticRegression(classes=[0, 1])
    state = pickle.dumps(vars(before))
    model = make_private_pipeline(*steps)
    expected = preview(model, n_samples=60, n_features=3)
    report = model.fit(X, y).privacy_report_
    (named,) = [words for words in report.not_covered if "frozenestimator" in words]
    assert named in expected.not_covered
    assert "(0.5, 1e-05)-DP" in named
    assert "compose" in named
    assert report.epsilon <= 1.0
    assert pickle.dumps(vars(before)) == state
    # A Pipeline of scikit-learn has no budget: its total counts what is frozen, too.
    assert total_report(make_pipeline(*steps).fit(X, y)).epsilon > 1.05


def test_what_is_frozen_in_a_frozen_pipeline_is_named_with_its_unit(rng):
    X, y = rng.uniform(-1, 1, (60, 3)), np.arange(60) % 2
    inside = FrozenEstimator(DPStandardScaler(epsilon=3.0).fit(X))
    fitted = make_private_pipeline(inside, DPStandardScaler(epsilon=1.0)).fit(X)
    # Its steps were fitted one by one, and it has no report.
    unfitted = make_private_pipeline(DPStandardScaler(epsilon=2.0).fit(X), NormClipper().fit(X))
    for before, said in ((fitted, ["(1, 1e-05)", "(3, 1e-05)"]), (unfitted, ["(2, 1e-05)"])):
        model = make_private_pipeline(FrozenEstimator(before), DPLogisticRegression(classes=[0, 1]))
        named = [w for w in model.fit(X, y).privacy_report_.not_covered if "was fitted before" in w]
        assert [words.split("reports ")[1].split("-DP")[0] for words in named] == said
    labels = FrozenEstimator(WALRClassifier().fit(X, y))
    report = make_private_pipeline(DPStandardScaler(), labels).fit(X, y).privacy_report_
    assert "for the label of one row under 'replace_label'" in report.not_covered[0]


def test_allow_takes_subclasses_with_a_part_of_the_budget(rng):
    X, y = rng.uniform(-1, 1, (60, 3)), np.arange(60) % 2
    model = make_private_pipeline(Peeking(), PeekingModel(classes=[0, 1]))
    model.set_params(allow=("peeking", "peekingmodel")).fit(X, y)
    report = model.privacy_report_
    assert [words.split("'")[1] for words in report.not_covered[:2]] == ["peeking", "peekingmodel"]
    assert len(report.notes) == 2
    assert report.events == sum((step.privacy_report_.events for step in model), start=())


def test_no_message_or_warning_tells_of_a_safe_step_s_rows(recwarn):
    X = WORDS.copy()
    X[7, 1] = "secret"
    y = np.arange(60) % 2
    known = OneHotEncoder(categories=[["ab ab", "b a", "c"]] * 3, sparse_output=False)
    model = make_private_pipeline(known, DPLogisticRegression(classes=[0, 1]))
    model.fit(WORDS, y)
    with pytest.raises(ValueError, match="withheld") as caught:
        model.fit(X, y)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert "secret" not in str(caught.value)
    ignoring = clone(known).set_params(handle_unknown="ignore", drop="first")
    make_private_pipeline(ignoring, DPLogisticRegression(classes=[0, 1])).fit(X, y)
    assert not recwarn


def test_private_steps_pass_wherever_they_are(rng):
    frame = pd.DataFrame({"a": rng.uniform(0, 1, 300), "w": ["x", "y", "z"] * 100})
    model = make_private_pipeline(
        make_column_transformer(
            (make_pipeline(DPStandardScaler()), ["a"]), (DPOneHotEncoder(), ["w"])
        ),
        DPLogisticRegression(classes=[0, 1]),
    ).fit(frame, np.arange(300) % 2)
    assert len(model.privacy_report_.notes) == 3


def shelves(column):
    """A frame with a column that steps are tried on, and one of floats."""
    return pd.DataFrame({"a": column, "b": np.linspace(0, 1, 60)})


GIVEN_NUMBERS = {"categories": [[0, 1, 2]], "handle_unknown": "ignore", "sparse_output": False}
KINDS = {
    "integers": lambda v: v.astype("int16"),
    "booleans": lambda v: v > 0,
    "nullable integers": lambda v: v.astype("int64").astype("Int64"),
    "nullable booleans": lambda v: (v > 0).astype("boolean"),
    "nullable floats": lambda v: v.astype("Float64"),
    "categories": lambda v: v.astype("int64").astype("category"),
}
PUBLISHING = {
    "one hot": OneHotEncoder(**GIVEN_NUMBERS),
    "order": OrdinalEncoder(
        categories=[[0, 1, 2]], handle_unknown="use_encoded_value", unknown_value=-1
    ),
    "constant": SimpleImputer(strategy="constant", fill_value=0, keep_empty_features=True),
    "indicator": MissingIndicator(features="all"),
    "bins": make_pipeline(
        SimpleImputer(strategy="constant", fill_value=0, keep_empty_features=True), Binarizer()
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PUBLISHING)
def test_one_gap_shows_in_no_type_that_is_published(name, kind):
    numbers = pd.Series(np.arange(60) % 3)
    whole = KINDS[kind](numbers)
    gap = whole.astype(object).mask(numbers.index == 5)
    # What pandas makes of them: objects of booleans. A type of its own keeps gaps.
    if kind != "booleans":
        gap = gap.astype(whole.dtype if "nullable" in kind else float)
    gap = gap.astype("category") if kind == "categories" else gap
    found = []
    for column in (whole, gap):
        inside = ColumnTransformer(
            [("step", PUBLISHING[name], ["a"]), ("rest", "passthrough", ["b"])]
        )
        model = make_private_pipeline(inside, DPLogisticRegression(classes=[0, 1]))
        model.fit(shelves(column), np.arange(60) % 2)
        columns = model[0]
        names = list(columns.get_feature_names_out())
        found.append((names, pickle.dumps(columns.named_transformers_["step"])))
        assert np.isfinite(model.decision_function(shelves(gap))).all()
    assert found[0] == found[1]


@pytest.mark.long
@pytest.mark.parametrize("as_rows", [pd.DataFrame, np.array], ids=["frame", "array"])
@pytest.mark.parametrize("values", [[0, 1, 2], [False, True, True]], ids=["integers", "booleans"])
@pytest.mark.parametrize("name", PUBLISHING)
def test_a_gap_changes_nothing_among_objects(name, values, as_rows):
    """A gap among booleans makes objects of a column, and of a whole array.

    Among integers, too, in an array: that is another type than one of integers, and public.
    """
    found = []
    for first in (values[0], None):
        for dtype in (None, object):
            column = [first, *(values * 20)[1:]]
            X = as_rows(np.array([column, values * 20], dtype=dtype).T)
            inside = ColumnTransformer([("step", PUBLISHING[name], [0])], remainder="passthrough")
            model = make_private_pipeline(inside, DPLogisticRegression(classes=[0, 1]))
            model.fit(X, np.arange(60) % 2)
            names = list(model[0].get_feature_names_out())
            found.append((names, pickle.dumps(model[0].named_transformers_["step"])))
            assert np.isfinite(model.decision_function(X)).all()
    assert found[1:] == [found[1]] * 3
    if values[0] is False:
        assert found[0] == found[1]


@pytest.mark.parametrize("words", [["x", "y"], ["x", 1], ["x", None]])
def test_objects_that_hold_words_stay(words):
    frame = shelves(pd.Series(words * 30, dtype=object))
    meant = frame.assign(a=[np.nan if word is None else word for word in frame["a"]])
    pd.testing.assert_frame_equal(as_floats(frame), meant.astype({"a": object}))
    array = np.array([words, words], dtype=object)
    meant = pd.DataFrame([[np.nan if word is None else word for word in words]] * 2, dtype=object)
    pd.testing.assert_frame_equal(pd.DataFrame(as_floats(array), dtype=object), meant)
    assert as_floats(np.array([["x", "y"]])).dtype == object


def nullable(X):
    return pd.DataFrame(X).astype("Int64")


@pytest.mark.parametrize(
    "as_rows", [np.asarray, csr_array, pd.DataFrame, np.ndarray.tolist, nullable]
)
def test_steps_get_numbers_alike_in_fit_and_prediction(as_rows):
    """The reciprocal of an integer would be 0, and small ones would wrap."""
    whole = np.arange(1, 181, dtype=np.int64).reshape(60, 3) % 7 + 2
    y = np.arange(60) % 2
    dense = FunctionTransformer(operator.methodcaller("toarray"))
    first = [dense] if as_rows is csr_array else []
    steps = (FunctionTransformer(np.reciprocal), DPLogisticRegression(classes=[0, 1]))
    model = make_private_pipeline(*first, *steps, random_state=0).fit(as_rows(whole), y)
    of_floats = make_private_pipeline(*steps, random_state=0).fit(whole.astype(float), y)
    np.testing.assert_allclose(model[-1].coef_, of_floats[-1].coef_, rtol=1e-9)
    methods = ["predict_proba", "predict", "predict_log_proba", "decision_function"]
    for method in methods:
        found, meant = getattr(model, method), getattr(of_floats, method)
        np.testing.assert_allclose(found(as_rows(whole)), meant(whole.astype(float)), rtol=1e-9)
    assert model.score(as_rows(whole), y) == of_floats.score(whole.astype(float), y)
    rows = model[:-1].transform(as_rows(whole))
    np.testing.assert_allclose(np.asarray(rows), 1.0 / whole)
    if as_rows is pd.DataFrame:
        assert list(as_rows(whole).dtypes) == [np.dtype(np.int64)] * 3


@pytest.mark.parametrize(
    "step", ["passthrough", FunctionTransformer(), BoundsScaler(), DPStandardScaler(), None]
)
def test_lists_are_rows_too(step):
    X, y = NUMBERS.tolist(), np.arange(60) % 2
    steps = [("step", step)] if step is not None else []
    model = DPPipeline([*steps, ("model", DPLogisticRegression(classes=[0, 1]))], random_state=0)
    found = model.fit(X, y.tolist()).decision_function(X)
    np.testing.assert_array_equal(found, clone(model).fit(NUMBERS, y).decision_function(NUMBERS))


@pytest.mark.long
def test_gaps_in_lists_and_words_beside_numbers():
    y = np.arange(60) % 2
    impute = SimpleImputer(strategy="constant", fill_value=0, keep_empty_features=True)
    last = DPLogisticRegression(classes=[0, 1])
    states = []
    for gap in (1, None, pd.NA, np.nan):
        X = [[1, True], [gap, False]] * 30
        model = make_private_pipeline(impute, last).fit(X, y)
        states.append(pickle.dumps(model[0]))
        assert np.isfinite(model.decision_function(X)).all()
    assert len(set(states)) == 1
    encoder = OneHotEncoder(categories=[["x", "y"], [1, 2]], sparse_output=False)
    X = [["x", 1], ["y", 2]] * 30
    np.testing.assert_array_equal(
        make_private_pipeline(encoder, last).fit(X, y)[:-1].transform(X), encoder.fit_transform(X)
    )


def test_tables_of_others_are_read():
    class Table:
        def to_pandas(self):
            return pd.DataFrame({"a": np.arange(60)})

    model = make_private_pipeline(Binarizer(threshold=9), DPStandardScaler()).fit(Table())
    assert list(model.feature_names_in_) == ["a"]
    assert model[:1].transform(Table()).sum() == 50


def test_columns_of_the_same_name_keep_their_places():
    frame = pd.DataFrame(np.arange(180).reshape(60, 3), columns=["a", "b", "a"])
    found = as_floats(frame)
    assert list(found.dtypes) == [np.dtype(float)] * 3
    np.testing.assert_array_equal(found.to_numpy(), frame.to_numpy())
    assert list(found.columns) == list(frame.columns)


@pytest.mark.parametrize("how", ["swapped", "fitted again", "inside columns"])
def test_what_was_fitted_after_a_frozen_pipeline_is_told(how, rng):
    X, y = rng.uniform(-1, 1, (300, 2)), rng.integers(0, 2, 300)
    first = DPStandardScaler(feature_bounds=(-1, 1))
    if how == "inside columns":
        first = make_column_transformer((first, [0]), ("passthrough", [1]))
    inside = make_private_pipeline(first, DPStandardScaler(feature_bounds=(-9, 9)), epsilon=0.1)
    inside.fit(X)
    loud = DPStandardScaler(feature_bounds=(-1, 1), epsilon=50.0)
    if how == "swapped":
        inside.steps[0] = (inside.steps[0][0], loud.fit(X))
    elif how == "fitted again":
        inside.steps[0][1].set_params(epsilon=50.0).fit(X)
    else:
        columns = inside.steps[0][1]
        name, _, chosen = columns.transformers_[0]
        columns.transformers_[0] = (name, loud.fit(X[:, :1]), chosen)
    copied = pickle.loads(pickle.dumps(inside))
    for held in (inside, copied):
        outer = make_private_pipeline(FrozenEstimator(held), DPLogisticRegression(classes=[0, 1]))
        outer.fit(X, y)
        told = " ".join(outer.privacy_report_.not_covered)
        assert "(50, 1e-05)-DP" in told
        assert "(0.1, 1e-05)-DP" in told
