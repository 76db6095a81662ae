"""scikit-learn's tests of its pipelines, around our classifier without privacy."""

from tests.long.upstream import _adapters as ours
from tests.long.upstream._load import upstream

globals().update(
    upstream(
        "sklearn.tests.test_pipeline",
        {
            "sklearn.linear_model.LogisticRegression": ours.LogisticRegression,
        },
    )
)
