"""Files of an earlier version: parameters that came later have their defaults."""

import pickle

import pytest
from sklearn.base import clone

from skdp.calibration import DPCalibratedClassifier
from skdp.linear_model import DPLogisticRegression
from skdp.model_selection import DPGridSearch

MODELS = [
    DPCalibratedClassifier(DPLogisticRegression(), epsilon=0.5),
    DPGridSearch(DPLogisticRegression(), {"alpha": [0.1, 1.0]}, epsilon=0.5),
]


class Earlier:
    """Pickles an estimator without some of its parameters."""

    def __init__(self, model, lacking):
        self.model, self.lacking = model, lacking

    def __reduce__(self):
        state = {k: v for k, v in self.model.__getstate__().items() if k not in self.lacking}
        return object.__new__, (type(self.model),), state


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_parameters_that_came_later_have_their_defaults(model):
    lacking = "average_over", "rows_per_group"
    loaded = pickle.loads(pickle.dumps(Earlier(model, lacking)))
    assert loaded.get_params(deep=False).keys() == model.get_params(deep=False).keys()
    assert (loaded.average_over, loaded.epsilon) == ("rows", 0.5)
    assert repr(clone(loaded)) == repr(model)
    loaded._repr_html_()
