"""The private estimators of the package, by what they do."""

from skdp.utils.discovery import all_estimators

PRIVATE = [estimator for _, estimator in all_estimators("private")]
TRANSFORMERS = [estimator for estimator in PRIVATE if hasattr(estimator, "transform")]
PREDICTORS = [estimator for estimator in PRIVATE if estimator not in TRANSFORMERS]
# Linear ones, which bound rows of numbers.
LINEAR = [estimator for estimator in PREDICTORS if "skdp.linear_model" in estimator.__module__]
