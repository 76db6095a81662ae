"""Which steps a private pipeline takes, and why it refuses the others.

A step passes if it is private and of skdp, or if what it makes of a row follows from this row and
public parameters alone. scikit-learn's tags don't tell: `requires_fit=False` is also that of
FunctionTransformer, whose function may look at all rows. So steps that pass are listed, with what
must be true of their parameters, and what isn't listed is refused.
"""

import contextlib
import operator

import numpy as np
from scipy import special
from sklearn.base import is_classifier, is_regressor
from sklearn.utils import get_tags

from skdp._estimator import PrivateEstimator, RecordPrivateEstimator, is_of_skdp
from skdp.preprocessing import BoundsScaler, NormClipper

_GIVE_CATEGORIES = (
    "give the categories as OneHotEncoder(categories=[[...]], handle_unknown='ignore', "
    "sparse_output=False), or find them by skdp.preprocessing.DPOneHotEncoder"
)
_SCALE = "use skdp.preprocessing.DPStandardScaler, or BoundsScaler with ranges that you know"
_CLIP = "use skdp.preprocessing.DPQuantileClipper, or BoundsScaler with ranges that you know"
_IMPUTE = (
    "use skdp.preprocessing.DPSimpleImputer, or SimpleImputer(strategy='constant', "
    "fill_value=..., keep_empty_features=True)"
)
_PROJECT = (
    "use GaussianRandomProjection(n_components=...), which reads no row, or choose columns by "
    "knowledge"
)
_SELECT = "choose columns by knowledge, or use skdp.linear_model.DPCDLasso as the last step"
_EDGES = (
    "map columns to ranges that you know by BoundsScaler, and use PolynomialFeatures, or "
    "SplineTransformer(knots=[[...]])"
)
_WORDS = "use HashingVectorizer, or CountVectorizer(vocabulary=[...])"
_KERNEL = "use RBFSampler(gamma=...), which reads no row"
_LOGISTIC = "use skdp.linear_model.DPLogisticRegression"
_HINGE = "use skdp.linear_model.DPSCDClassifier(loss='hinge')"
_AROUND = "put it around the private pipeline: TransformedTargetRegressor(DPPipeline([...]))"
_LASSO = "use skdp.linear_model.DPCDLasso or DPCDElasticNet"

# Classes of scikit-learn, what they keep of the records, and what to use instead.
_LEARNS = {
    name: (content, instead)
    for names, content, instead in (
        ("StandardScaler", "means and variances", _SCALE),
        ("MinMaxScaler MaxAbsScaler", "single records' values", _SCALE),
        ("RobustScaler", "quantiles", _CLIP),
        ("QuantileTransformer", "quantiles, which are single records' values", _CLIP),
        ("PowerTransformer", "a power that suits all values", _SCALE),
        ("KBinsDiscretizer", "edges of bins", _EDGES),
        ("TargetEncoder", "means of the target by category", _GIVE_CATEGORIES),
        ("LabelBinarizer LabelEncoder", "the labels that occur", _GIVE_CATEGORIES),
        ("MultiLabelBinarizer", "the labels that occur", _GIVE_CATEGORIES),
        ("KNNImputer", "all records", _IMPUTE),
        ("IterativeImputer", "models of the columns", _IMPUTE),
        ("PCA IncrementalPCA SparsePCA TruncatedSVD", "directions of all rows", _PROJECT),
        ("FastICA NMF FactorAnalysis PLSRegression", "directions of all rows", _PROJECT),
        ("KernelPCA", "all rows", _KERNEL),
        ("LinearDiscriminantAnalysis", "means of the classes", _PROJECT),
        ("SelectKBest SelectPercentile SelectFpr", "which columns explain the target", _SELECT),
        ("SelectFdr SelectFwe", "which columns explain the target", _SELECT),
        ("GenericUnivariateSelect", "which columns explain the target", _SELECT),
        ("SelectFromModel", "a model of all rows", _SELECT),
        ("RFE RFECV SequentialFeatureSelector", "models of all rows", _SELECT),
        ("VarianceThreshold", "which columns vary", _SELECT),
        ("Nystroem", "single rows as they are", _KERNEL),
        ("KernelCenterer", "means of all rows", _KERNEL),
        ("TfidfVectorizer", "words and in how many records they are", _WORDS),
        ("TfidfTransformer", "in how many records words are", _WORDS),
        ("DictVectorizer", "the keys that occur", "use FeatureHasher"),
        ("KMeans", "means of groups of rows", _PROJECT),
        ("LogisticRegression LogisticRegressionCV", "a model of all rows", _LOGISTIC),
        ("SGDClassifier", "a model of all rows", "use skdp.linear_model.DPSGDClassifier"),
        ("SGDRegressor", "a model of all rows", "use skdp.linear_model.DPSGDRegressor"),
        ("LinearSVC SVC", "a model of all rows", _HINGE),
        ("LinearRegression Ridge RidgeCV", "a model of all rows", "use skdp.linear_model.DPRidge"),
        ("TransformedTargetRegressor", "a model of all rows", _AROUND),
        ("Lasso ElasticNet", "a model of all rows", _LASSO),
    )
    for name in names.split()
}

# Functions of one entry, given the entry: what they make of a row is its own.
_BY_ENTRY = {
    *(np.log, np.log1p, np.log2, np.log10, np.exp, np.expm1, np.exp2, np.sqrt, np.cbrt),
    *(np.square, np.absolute, np.fabs, np.sign, np.negative, np.positive, np.reciprocal),
    *(np.floor, np.ceil, np.trunc, np.rint, np.isnan, np.isfinite, np.deg2rad, np.rad2deg),
    *(np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan, np.sinh, np.cosh, np.tanh),
    *(np.arcsinh, np.arccosh, np.arctanh, np.nan_to_num),
    *(special.expit, special.logit, special.log_expit, special.ndtr, special.ndtri),
}
_TO_DENSE = operator.methodcaller("toarray").__reduce__()


def _one_hot(step):
    if isinstance(step.categories, str):
        return "it keeps the categories that occur", _GIVE_CATEGORIES
    if step.min_frequency is not None or step.max_categories is not None:
        return "it keeps which categories are rare", "leave min_frequency and max_categories out"
    return None


def _ordinal(step):
    leak = _one_hot(step)
    return leak and (leak[0], "give the categories as OrdinalEncoder(categories=[[...]])")


def _simple_imputer(step):
    if step.strategy != "constant":
        return "it keeps what is missing and what isn't in sums or counts", _IMPUTE
    if not step.keep_empty_features:
        return "it drops columns in which everything is missing", "set keep_empty_features=True"
    if step.add_indicator:
        instead = "set add_indicator=False, and put MissingIndicator(features='all') beside it"
        return "it keeps in which columns something is missing", instead
    return None


def _missing_indicator(step):
    reason = "it keeps in which columns something is missing"
    return step.features != "all" and (reason, "set features='all'")


def _count_vectorizer(step):
    return step.vocabulary is None and ("it keeps the words that occur", _WORDS)


def _spline(step):
    reason = "its knots are ends or quantiles of columns"
    return isinstance(step.knots, str) and (reason, "give knots as an array")


def _rbf_sampler(step):
    reason = "its gamma follows from the variance of the rows"
    return step.get_params(deep=False)["gamma"] == "scale" and (reason, "give gamma as a number")


def _random_projection(step):
    reason = "its number of components follows from that of rows, which is private with groups"
    is_number = not isinstance(step.n_components, str)
    return None if is_number else (reason, "give a number, n_components=...")


def _function(step):
    # The inverse is tried on every k-th row, where k follows from how many there are.
    functions = [one for one in (step.func, step.inverse_func) if one is not None]
    is_known = all(map(_is_by_entry, functions))
    return (not is_known or step.kw_args or step.inv_kw_args) and (
        "its function may look at all rows, as one that divides by a mean does",
        "use functions of one entry, such as numpy.log1p",
    )


def _is_by_entry(function):
    if isinstance(function, operator.methodcaller):
        return function.__reduce__() == _TO_DENSE
    # Whatever it says that it is equal to.
    return any(function is known for known in _BY_ENTRY)


_ALWAYS_BY_ROW = (
    "Normalizer Binarizer PolynomialFeatures HashingVectorizer FeatureHasher AdditiveChi2Sampler "
    "SkewedChi2Sampler PolynomialCountSketch"
)
# Classes of scikit-learn that learn nothing under a condition, which returns what is wrong.
_BY_ROW = {
    **dict.fromkeys(_ALWAYS_BY_ROW.split(), lambda step: None),
    "OneHotEncoder": _one_hot,
    "OrdinalEncoder": _ordinal,
    "SimpleImputer": _simple_imputer,
    "MissingIndicator": _missing_indicator,
    "CountVectorizer": _count_vectorizer,
    "SplineTransformer": _spline,
    "RBFSampler": _rbf_sampler,
    "GaussianRandomProjection": _random_projection,
    "SparseRandomProjection": _random_projection,
    "FunctionTransformer": _function,
}
# These keep of their parameters what has the types of the rows.
_KEEP_TYPES = {"OneHotEncoder", "OrdinalEncoder", "SimpleImputer"}
_TYPES = (
    "it keeps types of what it was fitted on, which follow from gaps",
    "use it without freezing: its parameters determine all that it does",
)


def why_refused(step, is_last, is_frozen):
    """Return why a step leaks, and what to use instead, or None if it doesn't.

    A step that `is_last` is where a pipeline predicts; one that `is_frozen` was fitted before, and
    isn't fitted again.
    """
    kind = type(step)
    if step is None or isinstance(step, str):
        return None if step in (None, "passthrough", "drop") else _unknown(step)
    if isinstance(step, (BoundsScaler, NormClipper, PrivateEstimator)):
        return _why_private_is_refused(step, is_last, is_frozen)
    if hasattr(step, "fit_resample"):
        return (
            "it drops, repeats or makes rows by looking at others, so that one record is many",
            "leave it out: clipping does what is needed of outliers, and for a rare class give the "
            "model class_weight={label: weight}, by shares that are known without the records",
        )
    if kind.__module__.partition(".")[0] == "sklearn":
        if kind.__name__ in _BY_ROW:
            leak = _BY_ROW[kind.__name__](step)
            return leak or (_TYPES if is_frozen and kind.__name__ in _KEEP_TYPES else None)
        if kind.__name__ in _LEARNS:
            content, instead = _LEARNS[kind.__name__]
            return f"it keeps {content}", instead
    return _unknown(step)


def _with_wrapped(step):
    """Yield a step and the private estimators that it wraps."""
    yield step
    if isinstance(inner := getattr(step, "estimator", None), PrivateEstimator):
        yield from _with_wrapped(inner)


def _why_private_is_refused(step, is_last, is_frozen):
    if not all(map(is_of_skdp, _with_wrapped(step))):
        return (
            "its class isn't one of skdp's, and may do anything",
            "use a class of skdp itself; or scikit-learn's Pipeline, in which private steps have "
            "budgets of their own, and skdp.inspection.total_report",
        )
    if isinstance(step, (BoundsScaler, NormClipper)):
        return None
    if not is_frozen and not isinstance(step, RecordPrivateEstimator):
        return (
            "it protects something else than rows, or makes fits of its own",
            "give the pipeline an estimator of skdp that protects rows; for a search, search over "
            "the pipeline: DPGridSearch(DPPipeline([...]), {'step__parameter': [...]})",
        )
    if not is_frozen and step._is_outermost:
        name = type(step).__name__
        return "it keeps some of the records apart", f"put it around: {name}(DPPipeline([...]))"
    if hasattr(step, "steps") and not is_frozen:
        return "it is a private pipeline of its own", "put its steps in its place"
    if hasattr(step, "predict") and not is_last:
        return "it predicts, and isn't the last step", "put it last"
    return None


def _unknown(step):
    if is_classifier(step) or is_regressor(step):
        return "it fits a model without privacy", "use an estimator of skdp.linear_model"
    with contextlib.suppress(AttributeError, TypeError, ValueError):
        if not get_tags(step).requires_fit:
            return (
                "it isn't known to treat each row by itself, which its tag requires_fit=False "
                "doesn't say",
                "use a step that is",
            )
    return "it may learn from the records, and nothing here knows what", "use a private step"
