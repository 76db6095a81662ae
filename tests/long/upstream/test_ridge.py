"""scikit-learn's tests of Ridge, of DPRidge without privacy."""

from tests.long.upstream import _adapters as ours
from tests.long.upstream._load import upstream

globals().update(
    upstream("sklearn.linear_model.tests.test_ridge", {"sklearn.linear_model.Ridge": ours.Ridge})
)
