"""Long tests beside the quick ones of `tests/linear_model/ball/test_batches.py`."""

import pytest
from sklearn.base import clone

from skdp.inspection import duality_gap
from tests.linear_model.ball._far_rows import target
from tests.linear_model.ball.test_batches import INF, MODELS, rows


@pytest.mark.parametrize("model", MODELS[2:], ids=str)
def test_without_privacy_the_duality_gap_of_the_rows_closes(model, rows):
    X, Z = rows
    y = target(model, Z)
    model = clone(model).set_params(epsilon=INF, max_iter=100, average=False).fit(X, y)
    assert duality_gap(model, X, y) < 1e-6
