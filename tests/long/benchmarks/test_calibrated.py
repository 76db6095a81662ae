"""The comparison of calibrated classifiers with plain ones."""

import numpy as np
import pytest
from sklearn.metrics import log_loss


def test_it_runs(run):
    arguments = "--problems breast_cancer --models default hinge --epsilons 1 --seeds 0 1"
    table = run("calibrated", arguments, "calibrated")
    assert table["model"].tolist() == ["default", "hinge"]
    losses = table[["plain", "calibrated", "without"]].to_numpy()
    # One class for certain, and wrong, would cost 9.2.
    assert ((losses > 0.0) & (losses < 1.0)).all()
    assert (table["without"] < table["calibrated"]).all()
    assert (table["se"] > 0.0).all()


def test_the_loss_is_that_of_probabilities_that_are_cut(load_script, data, rng):
    calibrated = load_script("calibrated")
    values, y = 3.0 * rng.standard_normal(200), rng.choice([-1.0, 1.0], 200)
    p = 1.0 / (1.0 + np.exp(-values))
    assert calibrated.log_loss(values, y) == pytest.approx(log_loss(y, p))
    assert calibrated.log_loss(np.array([1e3]), np.array([-1.0])) == pytest.approx(-np.log(1e-4))
