"""scikit-learn's tests of Poisson's and other log-linear models, of ours without privacy."""

from inspect import signature

import pytest

from tests.long.upstream import _adapters as ours
from tests.long.upstream._load import upstream

globals().update(
    upstream(
        "sklearn.linear_model._glm.tests.test_glm",
        {
            "sklearn.linear_model.PoissonRegressor": ours.PoissonRegressor,
            "sklearn.linear_model.GammaRegressor": ours.GammaRegressor,
            "sklearn.linear_model.TweedieRegressor": ours.TweedieRegressor,
        },
    )
)

# The first set of data is of a model that ours hasn't.
for name, test in list(globals().items()):
    if name.startswith("test_") and "glm_dataset" in signature(test).parameters:
        globals()[name] = pytest.mark.every(test)
