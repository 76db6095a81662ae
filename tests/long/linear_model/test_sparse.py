"""Long tests beside the quick ones of `tests/linear_model/test_sparse.py`."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from skdp.linear_model import WALRClassifier
from tests.linear_model.test_sparse import MODELS, make_rows, make_targets, weights

pytestmark = pytest.mark.filterwarnings(
    "ignore:(target_bounds=N|the size of)",
    "ignore:.*delta:skdp.exceptions.PrivacyWarning",
)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_sparse_fits_are_dense_ones(model, n_classes, dtype, rng):
    X, y = make_rows(rng, dtype), make_targets(model, rng, n_classes)
    model = clone(model).set_params(random_state=0)
    dense = clone(model).fit(X, y)
    fitted = clone(model).fit(sparse.csr_array(X), y)
    scale = max(np.abs(weights(dense)).max(), 1.0)
    # WALR's releases are the same, and so is a descent from them; L-BFGS stops at a tolerance.
    stops = getattr(model, "solver", None) == "lbfgs"
    near = 1e-6 if stops else 1e-10
    if dtype == np.float32 and hasattr(dense, "radius_"):
        # Dense rows are moved in their own precision, sparse ones in double.
        near = 1e-6
    np.testing.assert_allclose(weights(fitted), weights(dense), rtol=0.0, atol=near * scale)
    if isinstance(model, WALRClassifier):
        one, other = fitted.aggregate_.sums, dense.aggregate_.sums
        np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-10 * np.abs(other).max())
    assert stops or fitted.n_iter_ == dense.n_iter_
    assert repr(fitted.privacy_report_) == repr(dense.privacy_report_)
    assert dense.coef_.dtype == fitted.coef_.dtype
    for kind in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        np.testing.assert_allclose(dense.predict(kind(X)), dense.predict(X), rtol=1e-6, atol=1e-6)
