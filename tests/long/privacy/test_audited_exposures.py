"""An attack on rates by all that a fit with exposures releases: ranges, means, ball, moment, steps.

The record is far from all others, and its amount or its exposure is as large or as small as numbers
get. The attacker knows the others, and adds up the likelihood ratios.
"""

import numpy as np
import pandas as pd
import pytest

from skdp.additive import DPAdditiveRegressor
from skdp.linear_model import DPGammaRegressor, DPPoissonRegressor, DPTweedieRegressor
from tests.privacy._recorded import check_attack

N_RECORDS = 40
pytestmark = pytest.mark.filterwarnings("ignore")
GIVEN = {"exposure_bounds": (0.0, 1.0), "target_bounds": (0.0, 5.0)}
# Amount and exposure of the record.
RECORDS = {
    "both large": (1e6, 1e6),
    "large amount": (1e6, 1e-6),
    "large exposure": (1e-6, 1e6),
    "like others": (5.0, 1.0),
}
MODELS = {
    "learnt": DPPoissonRegressor(epsilon=4.0),
    "given": DPPoissonRegressor(epsilon=4.0, **GIVEN),
    "gamma": DPGammaRegressor(epsilon=4.0),
    "between": DPTweedieRegressor(power=1.5, epsilon=4.0, exposure_bounds=(0.0, 1.0)),
}


def attacked(name, n_rows_of_first=1, y_of_others=0.1):
    """The first record, or all rows of it as of a person, and others that are all alike."""
    people = np.repeat(
        np.arange(N_RECORDS), np.append(n_rows_of_first, np.ones(N_RECORDS - 1, dtype=int))
    )
    is_first, (amount, exposure) = people == 0, RECORDS[name]
    X = np.where(is_first, 1e6, 0.0)[:, None]
    y, seen = np.where(is_first, amount, y_of_others), np.where(is_first, exposure, 1.0)
    return X, y, seen, people


@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("model", MODELS)
def test_a_record_tells_what_is_claimed_and_half_of_the_noise_is_convicted(model, name):
    X, y, exposure, _ = attacked(name)
    check_attack(MODELS[model], X, y, exposure=exposure)


@pytest.mark.parametrize("model", ["learnt", "given"])
def test_a_person_of_several_rows_tells_no_more_than_a_record(model):
    X, y, exposure, people = attacked("large amount", 3)
    check_attack(MODELS[model], X, y, exposure=exposure, groups=people)


@pytest.mark.parametrize("n_rows", [1, 3])
def test_a_record_of_an_additive_model(n_rows):
    X, y, exposure, people = attacked("large amount", n_rows)
    table = pd.DataFrame({"x": X[:, 0], "w": np.where(people == 0, "b", "a")})
    model = DPAdditiveRegressor(loss="poisson", epsilon=4.0, categories={"w": ["a", "b"]})
    given = {} if n_rows == 1 else {"groups": people}
    check_attack(model, table, y, exposure=exposure, **given)
