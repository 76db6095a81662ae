"""scikit-learn's checks of a private pipeline, as it runs them on its own."""

import pytest
from sklearn.base import clone
from sklearn.utils import estimator_checks

from skdp.linear_model import DPLogisticRegression, DPRidge, DPSCDClassifier
from skdp.pipeline import DPPipeline, make_private_pipeline
from skdp.preprocessing import DPStandardScaler, NormClipper
from tests._checks import with_checks

INF = float("inf")


def instances():
    for last in (DPLogisticRegression(), DPRidge(target_bounds=(-9, 9)), DPSCDClassifier()):
        for epsilon in (1.0, INF, 1e-3):
            steps = [("scaler", DPStandardScaler((-9, 9))), ("final_estimator", clone(last))]
            yield DPPipeline(steps, epsilon=epsilon)
    yield DPPipeline([("clipper", NormClipper()), ("scaler", DPStandardScaler((-9, 9)))])


# Of these scikit-learn excuses its own Pipeline, for the same reason: its `steps` become fitted.
# One's name changed.
EXCUSED = {
    "check_dont_overwrite_attributes",
    "check_dont_overwrite_parameters",
    "check_estimators_overwrite_params",
}


@with_checks(list(instances()), excused=EXCUSED)
@pytest.mark.filterwarnings("default::sklearn.exceptions.SkipTestWarning")
def test_check_estimator(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore:X .* feature names:UserWarning")
def test_checks_that_check_estimator_does_not_yield():
    name = "DPPipeline"
    made = make_private_pipeline(DPStandardScaler((-9, 9)), DPLogisticRegression())
    estimator_checks.check_param_validation(name, made)
    estimator_checks.check_dataframe_column_names_consistency(name, made)
    scaler = make_private_pipeline(DPStandardScaler((-9, 9)))
    estimator_checks.check_set_output_transform(name, scaler)
    estimator_checks.check_set_output_transform_pandas(name, scaler)
