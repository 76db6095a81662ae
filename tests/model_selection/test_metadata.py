"""Arguments of a search's fit besides rows and labels."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.pipeline import make_pipeline

from skdp.ledger import PrivacyLedger
from skdp.linear_model import DPLogisticRegression, DPSGDClassifier
from skdp.preprocessing import NormClipper
from tests.model_selection._searches import records, search

ALPHAS = {"alpha": [1e-4, 1e-2]}
PERSONAL = DPSGDClassifier(mechanism="laplace", max_iter=1, classes=[0, 1])


@pytest.fixture
def ledger(tmp_path):
    """A ledger that nothing is charged to."""
    made = PrivacyLedger(tmp_path / "study", epsilon=8.0, delta=1e-2)
    yield made
    assert made.to_dict()["charges"] == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("dplogisticregression__groups", "groups are given to the search"),
        ("sample_epsilon", "spend the search's epsilon on every record"),
        ("public_weight", "a search takes no public_weight: scores count"),
        ("sample_weight", "takes no 'sample_weight' for its fits: what they release"),
    ],
)
@pytest.mark.parametrize("method", ["repeat", "compose"])
def test_what_fits_would_get_is_refused_before_any_noise(name, message, method, ledger):
    X, y = records()
    searched = search(method=method, ledger=ledger, random_state=None)
    with pytest.raises(ValueError, match=message) as caught:
        searched.fit(X, y, **{name: np.full(len(y), 8125.375)})
    assert "8125" not in str(caught.value)


@pytest.mark.long
def test_nothing_is_no_argument():
    fitted = search(param_grid=ALPHAS).fit(*records(), groups=None, sample_epsilon=None)
    assert fitted.best_params_["alpha"] in ALPHAS["alpha"]


def test_routing_is_that_of_scikit_learn(ledger):
    """Where nobody asked for an argument scikit-learn says so; where somebody did, we do."""
    X, y = records()
    budgets = np.full(len(y), 0.5)
    with config_context(enable_metadata_routing=True):
        searched = search(estimator=PERSONAL, param_grid=ALPHAS, ledger=ledger, random_state=None)
        with pytest.raises(UnsetMetadataPassedError, match="sample_epsilon"):
            searched.fit(X, y, sample_epsilon=budgets)
        searched.set_params(estimator=PERSONAL.set_fit_request(sample_epsilon=True))
        with pytest.raises(ValueError, match="spend the search's epsilon"):
            searched.fit(X, y, sample_epsilon=budgets)
        # And through what is around it.
        with pytest.raises(ValueError, match="spend the search's epsilon"):
            make_pipeline(NormClipper(), searched).fit(X, y, sample_epsilon=budgets)
        with pytest.raises(TypeError, match="unexpected argument"):
            searched.fit(X, y, other=budgets)


def test_a_router_says_what_the_estimator_asks_for():
    with config_context(enable_metadata_routing=True):
        model = make_pipeline(NormClipper(), PERSONAL.set_fit_request(sample_epsilon=True))
        router = search(estimator=model, param_grid={}).get_metadata_routing()
        assert router.consumes("fit", ["sample_epsilon", "groups"]) == {"sample_epsilon"}
        fitted = make_pipeline(NormClipper(), search(param_grid=ALPHAS)).fit(*records())
        assert isinstance(fitted[-1].best_estimator_, DPLogisticRegression)
