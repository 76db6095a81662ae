"""An attack on additive models by all that they release: table, ball, range of targets and steps.

A record is all that a column tells, and its label is alone, so that it moves each release nearly
as far as the plan has it. The attacker knows the others, and adds up the likelihood ratios.
"""

import numpy as np
import pandas as pd
import pytest

from skdp.additive import DPAdditiveClassifier, DPAdditiveRegressor
from tests.door import additive_tuned
from tests.privacy._recorded import check_attack

N_ROWS = 40
GIVEN = {"epsilon": 4.0, "categories": {"w": ["a", "b"]}}
MODELS = {
    "classifier": DPAdditiveClassifier(classes=[0, 1], **GIVEN),
    "pair": DPAdditiveClassifier(classes=[0, 1], interactions=[("x", "w")], **GIVEN),
    "regressor": DPAdditiveRegressor(**GIVEN),
    "regressor, range given": DPAdditiveRegressor(target_bounds=(-1, 1), **GIVEN),
    "words learnt": DPAdditiveRegressor(epsilon=4.0, target_bounds=(-1, 1)),
    "products": DPAdditiveClassifier(classes=[0, 1], interactions="auto", **GIVEN),
}
PEOPLE = ("classifier", "regressor, range given", "products")
pytestmark = pytest.mark.filterwarnings("ignore")


def attacked(n_rows_of_first=1):
    """The first record, or all rows of it as of a person, far from all others."""
    people = np.repeat(np.arange(N_ROWS), np.append(n_rows_of_first, np.ones(N_ROWS - 1, int)))
    is_first = people == 0
    X = pd.DataFrame({"x": np.where(is_first, 1e6, 0.0), "w": np.where(is_first, "b", "a")})
    return X, is_first.astype(int), people


@pytest.fixture(autouse=True)
def room(monkeypatch):
    """So few records would have no second fit."""
    monkeypatch.setattr(additive_tuned, "LEAST_ROOM", 0.0)
    monkeypatch.setattr(additive_tuned, "LEAST_ROOM_BESIDE_CURVES", -2.0)


@pytest.mark.parametrize("name", MODELS)
def test_a_record_tells_what_is_claimed_and_half_of_the_noise_is_convicted(name):
    X, y, _ = attacked()
    if name == "words learnt":
        # A word that others have, for its count to be published.
        X["w"] = "a"
    check_attack(MODELS[name], X, y)


@pytest.mark.parametrize("name", PEOPLE)
def test_a_person_of_several_rows_tells_no_more_than_a_record(name):
    X, y, people = attacked(3)
    check_attack(MODELS[name], X, y, groups=people)
