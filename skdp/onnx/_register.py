"""Which class has which graph."""

from skl2onnx import update_registered_converter
from skl2onnx.operator_converters.pipelines import convert_pipeline
from skl2onnx.shape_calculators.pipelines import pipeline_shape_calculator
from sklearn.base import ClassifierMixin, RegressorMixin

from skdp import additive, linear_model, preprocessing
from skdp.accountant import PrivacyReport
from skdp.calibration import (
    DPCalibratedClassifier,
    DPConformalClassifier,
    DPConformalRegressor,
)
from skdp.model_selection import DPGridSearch, DPRandomizedSearch
from skdp.onnx import _graphs, _tables
from skdp.pipeline import DPPipeline

_KEY = "skdp.privacy_report"
# For programs that don't know this package.
_IS_PRIVATE = "differentially_private"


def attach_report(model, report):
    """Write a guarantee into the metadata of an ONNX model.

    A converted model does not state its privacy: an ONNX file contains only what `predict` needs.

    Parameters
    ----------
    model : onnx.ModelProto
        The model, changed in place; an earlier guarantee is replaced.
    report : skdp.accountant.PrivacyReport
        As in the ``privacy_report_`` of a fitted estimator. All of it, including its words, is
        written as JSON under "skdp.privacy_report". Under "differentially_private" is "true", or
        "false" where epsilon is infinite, the guarantee depends on a seed, or the report names
        parts that are unprotected.

    Returns
    -------
    model : onnx.ModelProto
        The same object.

    Raises
    ------
    TypeError
        If `report` isn't a PrivacyReport.

    See Also
    --------
    read_report : Read it.

    Examples
    --------
    >>> import numpy as np
    >>> from skl2onnx import to_onnx
    >>> from skdp.linear_model import DPRidge
    >>> from skdp.onnx import attach_report, read_report
    >>> X = np.random.default_rng(0).uniform(-1, 1, (2000, 2)).astype(np.float32)
    >>> model = DPRidge(data_norm=2.0, target_bounds=(-2, 2)).fit(X, X.sum(axis=1))
    >>> read_report(attach_report(to_onnx(model, X[:1]), model.privacy_report_))
    (1, 1e-05)-DP
    """
    if not isinstance(report, PrivacyReport):
        raise TypeError("report must be a PrivacyReport.")
    is_private = str(report.differentially_private).lower()
    for key, value in ((_KEY, report.to_json()), (_IS_PRIVATE, is_private)):
        entry = _entry(model, key) or model.metadata_props.add(key=key)
        entry.value = value
    return model


def read_report(model):
    """Return the guarantee that `attach_report` wrote, as `PrivacyReport.from_json` checks it.

    Parameters
    ----------
    model : onnx.ModelProto
        As ``onnx.load`` returns it.

    Returns
    -------
    report : skdp.accountant.PrivacyReport
        As trustworthy as the file: anyone who can change the file can change the report.

    Raises
    ------
    ValueError
        If the model has no guarantee, or one that can't be read.

    See Also
    --------
    attach_report : Write it.

    Examples
    --------
    >>> import onnx
    >>> from skdp.onnx import read_report
    >>> read_report(onnx.ModelProto())
    Traceback (most recent call last):
        ...
    ValueError: the model says nothing of its privacy: attach_report writes it.
    """
    entry = _entry(model, _KEY)
    if entry is None:
        raise ValueError("the model says nothing of its privacy: attach_report writes it.")
    return PrivacyReport.from_json(entry.value)


def _entry(model, key):
    return next((entry for entry in model.metadata_props if entry.key == key), None)


# They are those of scikit-learn's LogisticRegression.
_OPTIONS = {
    "nocl": [True, False],
    "output_class_labels": [True, False],
    "raw_scores": [True, False],
    "zipmap": [True, False, "columns"],
}
_TRANSFORMERS = {
    preprocessing.BoundsScaler: _graphs.convert_bounds_scaler,
    preprocessing.NormClipper: _graphs.convert_norm_clipper,
    preprocessing.DPNormClipper: _graphs.convert_norm_clipper,
    preprocessing.DPOneHotEncoder: _tables.convert_encoder,
    preprocessing.DPQuantileClipper: _graphs.convert_quantile_clipper,
    preprocessing.DPSimpleImputer: _graphs.convert_imputer,
    preprocessing.DPStandardScaler: _graphs.convert_standard_scaler,
    preprocessing.DPTableVectorizer: _tables.convert_vectorizer,
}


def register():
    """Tell skl2onnx what it needs to convert estimators of this package."""
    classifiers = dict.fromkeys(_of_kind(ClassifierMixin), _graphs.convert_classifier)
    classifiers[additive.DPAdditiveClassifier] = _graphs.convert_classifier
    classifiers[DPCalibratedClassifier] = _graphs.convert_calibrated
    for kind, convert in classifiers.items():
        _tell(kind, _graphs.classifier_shape, convert, options=_OPTIONS)
    for kind in (*_of_kind(RegressorMixin), additive.DPAdditiveRegressor):
        _tell(kind, _graphs.regressor_shape, _graphs.convert_regressor)
    for kind, convert in _TRANSFORMERS.items():
        _tell(kind, _graphs.transformer_shape, convert)
    # As scikit-learn's, which reads the steps, with the options of the last one.
    functions = pipeline_shape_calculator, convert_pipeline
    update_registered_converter(DPPipeline, "SkdpDPPipeline", *functions, options="passthrough")
    for kind in (DPGridSearch, DPRandomizedSearch):
        _tell(kind, _refuse_search, _graphs.convert_regressor)
    for kind in (DPConformalClassifier, DPConformalRegressor):
        _tell(kind, _refuse_conformal, _graphs.convert_regressor)


def _of_kind(kind):
    members = (getattr(linear_model, name) for name in linear_model.__all__)
    return [one for one in members if isinstance(one, type) and issubclass(one, kind)]


def _tell(kind, shape, convert, options=None):
    def converter(scope, operator, container):
        convert(_graphs.Graph(scope, operator, container))

    name = f"Skdp{kind.__name__}"
    update_registered_converter(kind, name, shape, converter, options=options)


def _refuse_search(operator):
    name = type(operator.raw_operator).__name__
    raise TypeError(f"A {name} isn't converted, but its model is: best_estimator_.")


def _refuse_conformal(operator):
    name = type(operator.raw_operator).__name__
    raise TypeError(
        f"A {name} isn't converted, as a file has no intervals and no sets, but its model is: "
        "estimator_. quantile_ makes them of its output."
    )
