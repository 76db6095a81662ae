"""Which class has which graph."""

from skl2onnx import update_registered_converter
from skl2onnx.operator_converters.pipelines import convert_pipeline
from skl2onnx.shape_calculators.pipelines import pipeline_shape_calculator

from skdp import linear_model, preprocessing
from skdp.calibration import DPCalibratedClassifier
from skdp.linear_model._base import LinearClassifierMixin, LinearRegressorMixin
from skdp.model_selection import DPGridSearch, DPRandomizedSearch
from skdp.onnx import _predictors, _transformers
from skdp.onnx._encoder import convert_encoder
from skdp.onnx._graph import regressor_shape, transformer_shape
from skdp.pipeline import DPPipeline

# As of scikit-learn's LogisticRegression.
_OPTIONS = {
    "zipmap": [True, False, "columns"],
    "nocl": [True, False],
    "output_class_labels": [False, True],
    "raw_scores": [True, False],
}
_TRANSFORMERS = {
    preprocessing.BoundsScaler: _transformers.convert_bounds_scaler,
    preprocessing.NormClipper: _transformers.convert_norm_clipper,
    preprocessing.DPNormClipper: _transformers.convert_norm_clipper,
    preprocessing.DPOneHotEncoder: convert_encoder,
    preprocessing.DPQuantileClipper: _transformers.convert_quantile_clipper,
    preprocessing.DPSimpleImputer: _transformers.convert_imputer,
    preprocessing.DPStandardScaler: _transformers.convert_standard_scaler,
}


def _of_kind(kind):
    members = (getattr(linear_model, name) for name in linear_model.__all__)
    return [one for one in members if isinstance(one, type) and issubclass(one, kind)]


def register():
    """Tell skl2onnx what it needs to convert estimators of this package."""
    classifiers = dict.fromkeys(_of_kind(LinearClassifierMixin), _predictors.convert_classifier)
    classifiers[DPCalibratedClassifier] = _predictors.convert_calibrated
    shape = _predictors.classifier_shape
    for kind, convert in classifiers.items():
        update_registered_converter(kind, _alias(kind), shape, convert, options=_OPTIONS)
    for kind in _of_kind(LinearRegressorMixin):
        convert = _predictors.convert_regressor
        update_registered_converter(kind, _alias(kind), regressor_shape, convert)
    for kind, convert in _TRANSFORMERS.items():
        update_registered_converter(kind, _alias(kind), transformer_shape, convert)
    # As scikit-learn's, which reads the steps, with the options of the last one.
    update_registered_converter(
        DPPipeline,
        _alias(DPPipeline),
        pipeline_shape_calculator,
        convert_pipeline,
        options="passthrough",
    )
    for kind in (DPGridSearch, DPRandomizedSearch):
        update_registered_converter(
            kind, _alias(kind), _refuse_search, _predictors.convert_regressor
        )


def _refuse_search(operator):
    name = type(operator.raw_operator).__name__
    raise TypeError(f"A {name} isn't converted, but its model is: best_estimator_.")


def _alias(kind):
    return f"Skdp{kind.__name__}"
