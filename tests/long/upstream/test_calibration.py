"""scikit-learn's tests of its calibration, of our estimators without privacy."""

from tests.long.upstream import _adapters as ours
from tests.long.upstream._load import upstream

globals().update(
    upstream(
        "sklearn.tests.test_calibration",
        {
            "sklearn.linear_model.LogisticRegression": ours.LogisticRegression,
            "sklearn.svm.LinearSVC": ours.LinearSVC,
        },
    )
)
