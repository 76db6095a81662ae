"""What is lost of partitions: columns are named by released counts, and no rows are counted."""

import warnings

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from skdp.dask import DaskDPAdditiveRegressor, fit, transform
from skdp.exceptions import LostDataWarning
from skdp.preprocessing import DPTableVectorizer

N = 4_000
GIVEN = {"numeric_features": ["pay", "few"], "random_state": 0}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    age = rng.integers(18, 90, N).astype(float)
    few = np.where(np.arange(N) < 5, "77 kg", age.astype(str))
    pay = [f"{x:.2f}".replace(".", ",") for x in rng.lognormal(10, 1, N)]
    return dd.from_pandas(pd.DataFrame({"age": age, "pay": pay, "few": few}), npartitions=2)


def lost(function):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function()
    return result, [str(w.message) for w in caught if issubclass(w.category, LostDataWarning)]


@pytest.mark.long
def test_columns_are_named_in_fits_alone(table):
    vectorizer = DPTableVectorizer(**GIVEN)
    _, (text,) = lost(lambda: fit(vectorizer, table, compute_chunk_sizes=True))
    assert "columns 'pay' could" in text
    assert lost(lambda: transform(vectorizer, table).compute())[1] == []
    model = DaskDPAdditiveRegressor(target_bounds=(0, 1), compute_chunk_sizes=True, **GIVEN)
    y = da.from_array(np.linspace(0, 1, N), chunks=N // 2)
    _, (text,) = lost(lambda: model.fit(table, y))
    assert "columns 'pay' could" in text
    assert lost(lambda: model.predict(table).compute(scheduler="synchronous"))[1] == []
    # Rows in memory are predicted as by any other model.
    _, (text,) = lost(lambda: model.predict(table.compute()))
    assert f"'pay' ({N} that are no numbers), 'few' (5 that" in text


def test_dates_that_can_be_read_are_not_lost():
    """Before partitions are read, a row of nothing in particular is, which isn't told of."""
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(N) % 366, "D")
    table = dd.from_pandas(pd.DataFrame({"day": days}), npartitions=2)
    y = da.from_array(np.linspace(0, 1, N), chunks=N // 2)
    given = {"target_bounds": (0, 1), "compute_chunk_sizes": True, "random_state": 0}
    model = DaskDPAdditiveRegressor(**given).fit(table, y)
    assert lost(lambda: model.predict(table).compute(scheduler="synchronous"))[1] == []
