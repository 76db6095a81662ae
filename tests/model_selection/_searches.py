"""Records and searches that tests share."""

import numpy as np

from skdp.linear_model import DPLogisticRegression
from skdp.model_selection import DPGridSearch

GRID = {"data_norm": [0.03, 3.0], "alpha": [1e-4, 1e-2]}


def records(n_rows=400, seed=20210214):
    """Return rows and labels 0 and 1 that depend on them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, 3))
    return X, (X[:, 0] + 0.5 * rng.standard_normal(n_rows) > 0.0).astype(int)


def search(**changes):
    """Return a search over few logistic regressions, with a seed."""
    options = {"param_grid": GRID, "delta": 1e-3, "random_state": 0} | changes
    model = options.pop("estimator", DPLogisticRegression(classes=[0, 1]))
    return DPGridSearch(model, options.pop("param_grid"), **options)


def published(fitted):
    """Return all that a fit left behind, in forms that can be compared."""
    found = {name: repr(value) for name, value in vars(fitted).items()}
    model = fitted.best_estimator_
    model = model[-1] if hasattr(model, "steps") else model
    return found | {
        name: value.tolist() if isinstance(value, np.ndarray) else repr(value)
        for name, value in vars(model).items()
    }
