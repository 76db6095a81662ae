"""scikit-learn's tests of LogisticRegression, of DPLogisticRegression without privacy."""

from tests.long.upstream import _adapters as ours
from tests.long.upstream._load import upstream

globals().update(
    upstream(
        "sklearn.linear_model.tests.test_logistic",
        {"sklearn.linear_model.LogisticRegression": ours.LogisticRegression},
    )
)
