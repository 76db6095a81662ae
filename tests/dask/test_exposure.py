"""Exposures of rows in partitions."""

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from dask import dataframe

from skdp.additive import DPAdditiveRegressor
from skdp.dask import (
    DaskDPAdditiveRegressor,
    DaskDPGammaRegressor,
    DaskDPPoissonRegressor,
    DaskDPTweedieRegressor,
)
from skdp.linear_model import DPGammaRegressor, DPPoissonRegressor
from tests._loops import for_each

N_ROWS, N_PARTS = 1200, 4
LITTLE_NOISE = {"epsilon": 20.0, "random_state": 0}


@pytest.fixture
def policies():
    rng = np.random.default_rng(0)
    X, exposure = rng.uniform(-1.0, 1.0, (N_ROWS, 3)), rng.uniform(0.0, 2.0, N_ROWS)
    exposure[::50] = 0.0
    return X, rng.poisson(exposure * np.exp(X[:, 0])) + (exposure > 0.0) * 0.1, exposure


def in_parts(array):
    return da.from_array(array, chunks=(N_ROWS // N_PARTS, *array.shape[1:]))


@pytest.mark.long
@for_each("groups", [None, np.arange(N_ROWS) // 3])
@for_each(
    "local, model",
    [
        (DPPoissonRegressor(**LITTLE_NOISE), DaskDPPoissonRegressor(**LITTLE_NOISE)),
        (
            DPGammaRegressor(exposure_bounds=(0, 1.5), **LITTLE_NOISE),
            DaskDPGammaRegressor(exposure_bounds=(0, 1.5), **LITTLE_NOISE),
        ),
        (
            DPAdditiveRegressor(loss="poisson", **LITTLE_NOISE),
            DaskDPAdditiveRegressor(loss="poisson", **LITTLE_NOISE),
        ),
    ],
)
def test_rates_are_those_of_a_fit_in_memory(local, model, groups, policies):
    X, y, exposure = policies
    if isinstance(local, DPGammaRegressor):
        y = y + 0.5
    ids = None if groups is None else in_parts(groups)
    local.fit(X, y, groups, exposure=exposure)
    model.fit(in_parts(X), in_parts(y), ids, exposure=in_parts(exposure))
    np.testing.assert_allclose(model.predict(X), local.predict(X), rtol=1e-6)
    seen = model.predict(in_parts(X), exposure=in_parts(exposure))
    np.testing.assert_allclose(seen.compute(), local.predict(X, exposure=exposure), rtol=1e-6)
    assert model.score(X, y, exposure=exposure) == pytest.approx(
        local.score(X, y, exposure=exposure), abs=1e-6
    )


@pytest.mark.long
def test_columns_of_a_frame(policies):
    X, y, exposure = policies
    frame = pd.DataFrame(X, columns=list("abc")).assign(y=y, exposure=exposure)
    parts = dataframe.from_pandas(frame, npartitions=N_PARTS)
    model = DaskDPPoissonRegressor(compute_chunk_sizes=True, **LITTLE_NOISE)
    model.fit(parts[list("abc")], parts["y"], exposure=parts["exposure"])
    local = DPPoissonRegressor(**LITTLE_NOISE).fit(X, y, exposure=exposure)
    np.testing.assert_allclose(model.coef_, local.coef_, rtol=1e-6)
    shuffled = parts["exposure"].map_partitions(lambda part: part.iloc[::-1])
    with pytest.raises(ValueError, match="their indexes differ"):
        model.fit(parts[list("abc")], parts["y"], exposure=shuffled)


def test_what_does_not_fit_is_refused(policies):
    X, y, exposure = policies
    model, data = DaskDPPoissonRegressor(**LITTLE_NOISE), (in_parts(X), in_parts(y))
    for wrong, words in (
        (-exposure, "exposure must have finite entries"),
        (exposure[:, np.newaxis], "exposure must have one dimension"),
        (exposure[:400], "other numbers of rows"),
    ):
        with pytest.raises(ValueError, match=words):
            model.fit(*data, exposure=in_parts(wrong))
    fitted = model.fit(*data, exposure=in_parts(exposure))
    with pytest.raises(ValueError, match="exposure must have finite entries"):
        fitted.predict(data[0], exposure=in_parts(-exposure)).compute()
    with pytest.raises(TypeError, match="exposure must be a Dask"):
        model.fit(*data, exposure=exposure)
    with pytest.raises(ValueError, match="was given no exposure"):
        DaskDPPoissonRegressor(exposure_bounds=(0, 1)).fit(*data)
    for model in (DaskDPTweedieRegressor(power=0), DaskDPAdditiveRegressor()):
        with pytest.raises(ValueError, match="exposure is for counts"):
            model.fit(*data, exposure=in_parts(exposure))
