"""What no partition is read from: what is told names column, type and what to do."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from skdp.dask import DaskDPAdditiveRegressor, DaskDPRidge, fit, transform
from skdp.preprocessing import BoundsScaler, DPStandardScaler, DPTableVectorizer
from tests._loops import for_each

N = 60
NUMBERS, DAYS = np.linspace(7777.0, 7779.0, N), pd.date_range("1977-07-07", periods=N)
SIZES = {"compute_chunk_sizes": True}
READERS = {
    "DaskDPRidge": lambda X, y: DaskDPRidge(target_bounds=(0, 1), **SIZES).fit(X, y),
    "DPStandardScaler": lambda X, y: fit(DPStandardScaler(feature_bounds=(0, 9)), X, **SIZES),
    "BoundsScaler": lambda X, y: transform(BoundsScaler(feature_bounds=(0, 9)), X).compute(),
}
OF_TABLES = {
    "DaskDPAdditiveRegressor": lambda X, y: DaskDPAdditiveRegressor(
        target_bounds=(0, 1), **SIZES
    ).fit(X, y),
    "DPTableVectorizer": lambda X, y: fit(DPTableVectorizer(), X, **SIZES),
}
COLUMNS = {
    "band": (lambda: pd.cut(NUMBERS, 4), r"labels=\[\.\.\.\]"),
    "z": (lambda: NUMBERS * 1j, "imaginary part"),
    "raw": (lambda: pd.Series([b"hush"] * N, dtype=object), "decode"),
    "day": (lambda: DAYS, "give days as a number"),
}


@pytest.mark.long
@for_each("name", COLUMNS)
def test_columns_are_named(name):
    make, match = COLUMNS[name]
    with dask.config.set({"dataframe.convert-string": False}):
        table = dd.from_pandas(pd.DataFrame({"age": NUMBERS, name: make()}), npartitions=2)
    X = table.to_dask_array(lengths=True) if name == "z" else table
    y = da.from_array(np.linspace(0, 1, N), chunks=N // 2)
    for reader, read in (READERS if name == "day" else READERS | OF_TABLES).items():
        with pytest.raises((TypeError, ValueError), match=match) as caught:
            read(X, y)
        text = str(caught.value)
        assert name in text or "complex128" in text, reader
        assert not any(secret in text for secret in ("7777", "7779", "1977", "hush"))
