"""What a model saw in its fit decides how rows of other types are read later, everywhere."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from skdp.additive import DPAdditiveClassifier
from skdp.calibration import DPCalibratedClassifier
from skdp.metrics import private_score
from skdp.model_selection import DPGridSearch
from skdp.pipeline import DPPipeline
from skdp.preprocessing import DPTableVectorizer

N = 900
RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "flag": RNG.random(N) < 0.5,
        "pay": np.round(RNG.normal(0, 2, N), 2),
        "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(RNG.integers(0, 900, N), "D"),
        "job": RNG.choice(["nurse", "clerk"], N),
    }
)
Y = (TABLE["pay"] + TABLE["flag"] > 0).astype(int).to_numpy()
TWO = {"classes": [0, 1]}


def objects(table):
    return table.astype(object)


def texts(table):
    return table.assign(**{name: table[name].astype(str) for name in table})


def decimals(table):
    pay = pd.Series([Decimal(str(one)) for one in table["pay"]], dtype=object)
    return table.assign(flag=table["flag"].astype(int), pay=pay)


def of_polars(table):
    return pytest.importorskip("polars").from_pandas(table)


def of_arrow(table):
    return pytest.importorskip("pyarrow").Table.from_pandas(table)


FORMS = [objects, texts, decimals, of_polars, of_arrow]
MODELS = {
    "additive": DPAdditiveClassifier(**TWO, epsilon=20.0, random_state=0),
    "calibrated": DPCalibratedClassifier(DPAdditiveClassifier(**TWO), epsilon=20.0, random_state=0),
    "search": DPGridSearch(
        DPAdditiveClassifier(**TWO), {"alpha": [1e-3, 1e-2]}, epsilon=20.0, random_state=0
    ),
    "pipeline": DPPipeline(
        [("none", "passthrough"), ("model", DPAdditiveClassifier(**TWO))],
        epsilon=20.0,
        random_state=0,
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("name", MODELS)
def test_rows_of_other_types_are_predicted_and_scored_alike(name):
    model = MODELS[name].fit(TABLE, Y)
    meant = model.predict_proba(TABLE)
    for form in FORMS:
        rows = form(TABLE)
        np.testing.assert_allclose(model.predict_proba(rows), meant, rtol=1e-12)
        assert model.score(rows, Y) == model.score(TABLE, Y)
        scores = [private_score(model, X, Y, epsilon=5.0, random_state=0) for X in (rows, TABLE)]
        assert scores[0].value == scores[1].value


def test_partitions_of_other_types_are_read_as_the_fit_read_them():
    dask = pytest.importorskip("dask.dataframe")
    from skdp.dask import transform

    table = DPTableVectorizer(epsilon=20.0, random_state=0).fit(TABLE)
    parts = [TABLE[:300], objects(TABLE[300:600]), texts(TABLE[600:])]
    rows = dask.from_map(lambda place: parts[place], range(3), meta=TABLE[:0])
    np.testing.assert_array_equal(transform(table, rows).compute(), table.transform(TABLE))
