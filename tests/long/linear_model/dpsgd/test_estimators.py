"""Long tests beside the quick ones of `tests/linear_model/dpsgd/test_estimators.py`."""

import numpy as np
import pytest
from sklearn.base import clone

from skdp.linear_model import DPSGDClassifier
from tests.linear_model.dpsgd.test_estimators import parts

pytestmark = pytest.mark.filterwarnings("ignore:(target_bounds=N|the size of)")


def patients(n_rows, generator):
    """Rows and labels of a logistic model."""
    X = generator.uniform(-1.0, 1.0, (n_rows, 5))
    odds = 0.3 + X @ [4.0, -3.0, 2.0, 1.0, -1.0]
    return X, (generator.random(n_rows) < 1.0 / (1.0 + np.exp(-odds))).astype(int)


def two_kinds(share):
    """Personal budgets of 0.1, for a share of the records, and 2."""
    return lambda n_rows, generator: np.where(generator.random(n_rows) < share, 0.1, 2.0)


def all_kinds(n_rows, generator):
    """Personal budgets of any size between 0.1 and 2."""
    return np.exp(generator.uniform(np.log(0.1), np.log(2.0), n_rows))


@pytest.mark.parametrize("options", [{}, {"batch_size": 30}], ids=["auto", "30"])
@pytest.mark.parametrize(
    "budgets",
    [*map(two_kinds, (0.001, 0.01, 0.1, 0.5)), all_kinds],
    ids=["0.001", "0.01", "0.1", "0.5", "all kinds"],
)
def test_personal_budgets_pay(budgets, options):
    """They beat the strictest epsilon for all, and cost next to nothing beside leaving out."""
    scores = []
    for seed in range(6):
        generator = np.random.default_rng([5, seed])
        X, y = patients(6000, generator)
        others = patients(10_000, generator)
        asked = budgets(6000, generator)
        model = DPSGDClassifier(
            ball_budget=0,
            mechanism="laplace",
            data_norm=1.5,
            classes=[0, 1],
            random_state=seed,
            **options,
        )
        kept = asked >= np.sqrt(asked.min() * asked.max())
        strictest = clone(model).set_params(epsilon=asked.min()).fit(X, y)
        left_out = clone(model).set_params(epsilon=asked[kept].min()).fit(X[kept], y[kept])
        mixed = model.set_params(epsilon=2.0).fit(X, y, sample_epsilon=asked)
        scores.append([fit.score(*others) for fit in (mixed, strictest, left_out)])
    mixed, strictest, left_out = np.mean(scores, axis=0)
    assert mixed > strictest + 0.012
    assert mixed > left_out - 0.003


def test_a_stream_learns_and_averages(cancer):
    """The mean of the later calls has less noise than the last."""
    X, y = cancer
    tiled = np.tile(X, (40, 1)), np.tile(y, 40)
    scores, spread = {}, {}
    for average in (True, False):
        models = [
            DPSGDClassifier(mechanism="laplace", average=average, random_state=seed)
            for seed in range(4)
        ]
        for model in models:
            for rows, labels in parts(*tiled, 100):
                model.partial_fit(rows, labels, classes=[0, 1])
        scores[average] = np.mean([model.score(X, y) for model in models])
        spread[average] = np.var([model.coef_ for model in models], axis=0).sum()
    assert scores[True] > 0.8
    assert spread[True] < 0.8 * spread[False]
