"""scikit-learn's tests of its searches, over our estimators without privacy."""

from tests.long.upstream import _adapters as ours
from tests.long.upstream._load import upstream

globals().update(
    upstream(
        "sklearn.model_selection.tests.test_search",
        {
            "sklearn.linear_model.LogisticRegression": ours.LogisticRegression,
            "sklearn.linear_model.Ridge": ours.Ridge,
            "sklearn.svm.LinearSVC": ours.LinearSVC,
        },
    )
)
