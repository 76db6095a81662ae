"""Bounds of two features in a table of two rows: a range for each, or lows and highs."""

import copy
import json
import pickle

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from skdp.dask import fit
from skdp.ledger import PrivacyLedger
from skdp.linear_model import DPCDClassifier, DPCDElasticNet, DPCDLasso
from skdp.pipeline import DPPipeline
from skdp.preprocessing import BoundsScaler, DPQuantileClipper, DPStandardScaler
from skdp.utils.discovery import all_estimators
from tests.door import PassedBounds

N_ROWS = 200
rng = np.random.default_rng(0)
X = np.column_stack([rng.uniform(18.0, 90.0, N_ROWS), rng.uniform(90.0, 1e4, N_ROWS)])
Y = rng.integers(0, 2, N_ROWS)
# Both readings are possible.
TABLE = [(18.0, 90.0), (20.0, 1e6)]
UNCLEAR = {
    "list of tuples": TABLE,
    "list of lists": [list(row) for row in TABLE],
    "list of arrays": [np.array(row) for row in TABLE],
    "tuple of tuples": tuple(TABLE),
    "array": np.array(TABLE),
    "array of objects": np.array(TABLE, dtype=object),
    "array of integers": np.array(TABLE).astype(np.int64),
    "list of equal ends": [(0.0, 0.0), (1e6, 1e6)],
    "list whose rows alone are ranges": [(0.0, 1.0), (-5.0, 5.0)],
}
LOWS, HIGHS = [18.0, 20.0], [90.0, 1e6]
CLEAR = {
    "tuple of lists": (LOWS, HIGHS),
    "tuple of arrays": (np.array(LOWS), np.array(HIGHS)),
    "tuple of series": (pd.Series(LOWS), pd.Series(HIGHS)),
    "list and tuple": (LOWS, tuple(HIGHS)),
    "passed on": PassedBounds((np.array(LOWS), np.array(HIGHS))),
}
# No row with equal or falling ends is a range.
LOWS_AND_HIGHS = {"array": np.array([[20.0, 18.0], [1e6, 90.0]]), "tuples": ((0, 0), (1, 1))}
WITH_BOUNDS = [cls for _, cls in all_estimators() if "feature_bounds" in cls._parameter_constraints]


def takes_a_table(cls):
    """Whether the bounds are of columns of numbers of a table, of which all have one range."""
    return dict in cls._parameter_constraints["feature_bounds"]


def made(cls, **settings):
    taken = cls._parameter_constraints
    known = {"classes": [0, 1], "target_bounds": (0.0, 1.0), "solver": "primal", "ball_budget": 0}
    known = {name: value for name, value in known.items() if name in taken}
    if "DPSCD" not in cls.__name__:
        known.pop("solver", None)
    return cls(**known, **settings)


def trained(model):
    if type(model).__module__.startswith("skdp.dask"):
        return model.fit(da.from_array(X, (100, 2)), da.from_array(Y, 100))
    return model.fit(X, Y)


@pytest.mark.every
@pytest.mark.parametrize("cls", WITH_BOUNDS, ids=lambda cls: cls.__name__)
def test_all_takers_refuse_what_has_two_readings(cls):
    expected = "must be a pair of numbers" if takes_a_table(cls) else "two ways for two features"
    for bounds in UNCLEAR.values():
        if isinstance(bounds, np.ndarray) and takes_a_table(cls):
            continue
        with pytest.raises(ValueError, match=expected):
            trained(made(cls, feature_bounds=bounds))


@pytest.mark.parametrize(
    "bounds",
    [{0: (18.0, 90.0), 1: (20.0, 1e6)}, {0: 18.0, 90: 1e6}, {18.0, 90.0}, pd.DataFrame(TABLE)],
    ids=["ranges by place", "dict", "set", "frame"],
)
@pytest.mark.parametrize("cls", [BoundsScaler, DPStandardScaler, DPCDLasso])
def test_keys_and_names_of_columns_are_no_bounds(cls, bounds):
    """A dict or a frame of two columns would unpack to the numbers 0 and 1."""
    with pytest.raises(ValueError, match="feature_bounds must be"):
        trained(made(cls, feature_bounds=bounds))


def test_the_error_spells_out_both_readings():
    with pytest.raises(ValueError, match="feature_bounds can be read in two ways") as caught:
        BoundsScaler(feature_bounds=TABLE).fit(X)
    text = str(caught.value)
    assert "18 to 90 for the first and 20 to 1e+06 for the second" in text
    assert "18 to 20 for the first and 90 to 1e+06 for the second" in text
    assert "([18, 20], [90, 1e+06]) for the former" in text
    assert "([18, 90], [20, 1e+06]) for the latter" in text


def test_a_tuple_of_lists_is_lows_and_highs():
    for bounds in CLEAR.values():
        low, high = BoundsScaler(feature_bounds=bounds, feature_range=(0, 1)).fit(X)._map[:2]
        np.testing.assert_array_equal([low, high], [LOWS, HIGHS])
    for bounds in LOWS_AND_HIGHS.values():
        low, high = BoundsScaler(feature_bounds=bounds).fit(X)._map[:2]
        np.testing.assert_array_equal([low, high], np.asarray(bounds))
    low, high = BoundsScaler(feature_bounds=[18, 90]).fit(X)._map[:2]
    np.testing.assert_array_equal([low, high], [[18, 18], [90, 90]])


def test_tables_of_another_number_of_features_have_one_reading():
    three = np.column_stack([X, X[:, 0]])
    for bounds in ([[0.0] * 3, [1e6] * 3], np.array([[0.0] * 3, [1e6] * 3])):
        assert BoundsScaler(feature_bounds=bounds).fit(three)._map[1].tolist() == [1e6] * 3
    with pytest.raises(ValueError, match="not one pair for each feature"):
        BoundsScaler(feature_bounds=[(0.0, 1.0)] * 3).fit(three)
    one = BoundsScaler(feature_bounds=[[18.0], [90.0]]).fit(X[:, :1])
    assert one._map[1].tolist() == [90.0]


@pytest.mark.parametrize("cls", [DPCDClassifier, DPCDElasticNet, DPCDLasso])
def test_bounds_of_coefficients(cls):
    for bounds in (*UNCLEAR.values(), ((0.0, 0.0), (1.0, 1.0))):
        with pytest.raises(ValueError, match="coef_bounds can be read in two ways"):
            trained(made(cls, coef_bounds=bounds))
    model = trained(made(cls, coef_bounds=([0.0, -1.0], [0.5, -0.5])))
    assert (np.ravel(model.coef_) >= [0.0, -1.0]).all()
    assert (np.ravel(model.coef_) <= [0.5, -0.5]).all()


def test_copies_keep_what_was_meant():
    """Of `clone`, copies and pickles; JSON has no tuples, and what comes back is refused."""
    for bounds in CLEAR.values():
        scaler = BoundsScaler(feature_bounds=bounds)
        others = [clone(scaler), copy.deepcopy(scaler), pickle.loads(pickle.dumps(scaler))]
        others.append(BoundsScaler(**scaler.get_params()))
        for other in others:
            assert other.fit(X)._map[1].tolist() == HIGHS
    told = json.loads(json.dumps({"feature_bounds": (LOWS, HIGHS)}))
    with pytest.raises(ValueError, match="two ways"):
        BoundsScaler(**told).fit(X)
    assert (
        BoundsScaler(feature_bounds=tuple(told["feature_bounds"])).fit(X)._map[1].tolist() == HIGHS
    )


def test_what_a_step_promises_is_taken_by_the_next():
    scaler = BoundsScaler(feature_bounds=(LOWS, HIGHS)).fit(X)
    again = BoundsScaler(feature_bounds=scaler.feature_bounds_).fit(X)
    np.testing.assert_array_equal(again._map[1], scaler.feature_bounds_[1])
    model = made(DPCDClassifier)
    chain = DPPipeline([("scale", BoundsScaler(feature_bounds=(LOWS, HIGHS))), ("model", model)])
    chain.fit(X, Y)
    with pytest.raises(ValueError, match="two ways"):
        chain.set_params(scale__feature_bounds=TABLE).fit(X, Y)


def test_on_dask():
    rows = da.from_array(X, (100, 2))
    for cls in (DPStandardScaler, DPQuantileClipper):
        with pytest.raises(ValueError, match="two ways"):
            fit(cls(feature_bounds=TABLE), rows)


@pytest.mark.every
@pytest.mark.parametrize("cls", WITH_BOUNDS, ids=lambda cls: cls.__name__)
def test_nothing_is_charged(cls, tmp_path):
    if "ledger" not in cls._parameter_constraints:
        pytest.skip("It learns nothing of the data.")
    ledger = PrivacyLedger(tmp_path / "study.db", epsilon=2.0, delta=1e-5)
    with pytest.raises(ValueError, match=r"two ways|pair of numbers"):
        trained(made(cls, feature_bounds=TABLE, ledger=ledger))
    assert ledger.left == 2.0
