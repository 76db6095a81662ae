"""Steps of pipelines read each record alike whatever another one holds."""

import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from skdp.linear_model import DPLogisticRegression
from skdp.pipeline import DPPipeline
from skdp.preprocessing import BoundsScaler, DPOneHotEncoder, DPSimpleImputer, DPStandardScaler
from tests._loops import for_each
from tests.door import GAP_ENTRY, class_of
from tests.rows._grid import ANY, COLUMNS, OF_OBJECTS
from tests.rows.test_neighbours import NEIGHBOURS, OBJECTS, REFUSED

pytest.importorskip("polars")

NUMBERS = {
    "whole numbers": [3, None, 0, 1, -128, np.nan, 3],
    "numbers": [1.5, None, 0.0, 0.1, 30.0, None, 1.0],
    "booleans": [True, False, None, True],
    "decimals": [Decimal("1.50"), None, Decimal("0.3"), 2],
    "fractions": [Fraction(1, 3), Fraction(2), None, 0.5],
    "texts of numbers": ["1", None, "?", "2.5", " -3 ", "nan", "1e1"],
    "numbers of all types": [1, 2.5, True, Decimal(3), np.int8(1), "4", None],
}
WORDS = {
    name: (COLUMNS | OF_OBJECTS)[name]
    for name in (
        *("texts, gaps", "texts of numbers, gaps", "codes", "texts of dates", "booleans, gaps"),
        *("whole numbers, gaps", "decimals, gaps", "dates, gaps", "spans, gaps", "mixed"),
        *("words and numbers", "texts without a pair", "numbers of all types"),
    )
}
ENDLESS = float("inf")


def of_words():
    return [("encode", DPOneHotEncoder())]


def of_numbers():
    return [("fill", DPSimpleImputer()), ("scale", DPStandardScaler())]


def of_bounds():
    return [("scale", BoundsScaler(feature_bounds=(-200, 50)))]


CASES = [
    *((name, of_words, container) for name in WORDS for container in OBJECTS),
    *((name, of_numbers, container) for name in NUMBERS for container in OBJECTS),
    *((name, of_bounds, container) for name in NUMBERS for container in OBJECTS),
]


def fitted(steps, X):
    n_rows = len(X)
    model = DPPipeline(
        [*steps, ("model", DPLogisticRegression(classes=[0, 1]))],
        epsilon=ENDLESS,
        delta=1e-5,
        random_state=0,
    )
    with warnings.catch_warnings(action="ignore"):
        return model.fit(X, np.arange(n_rows) % 2)


@pytest.mark.long
@for_each("name, steps, container", CASES, parts=len(CASES) // 2)
def test_predictions_are_alike_beside_any_other(name, steps, container):
    """Or the table is refused for what the other holds, in one text for all tables."""
    own = (WORDS if steps is of_words else NUMBERS)[name]
    if steps is of_bounds:
        # It refuses gaps.
        own = [entry for entry in own if class_of(entry) != GAP_ENTRY]
    make = ANY[container]
    model = fitted(steps(), make(own * 6))
    alone = model.decision_function(make(own))
    for neighbour, entry in (NEIGHBOURS | REFUSED).items():
        for column, kept in (([*own, entry], slice(-1)), ([entry, *own], slice(1, None))):
            try:
                found = model.decision_function(make(column))
            except (TypeError, ValueError) as error:
                refusals.setdefault((steps.__name__, neighbour), set()).add(
                    str(error).replace("'x0'", "'x'")
                )
            else:
                assert (steps.__name__, neighbour) not in refusals, neighbour
                np.testing.assert_array_equal(found[kept], alone, err_msg=neighbour)
    assert all(len(texts) <= 1 for texts in refusals.values()), refusals


# Of steps and a neighbour, in what texts tables were refused for it.
refusals = {}


@pytest.mark.long
@for_each("name, container", [(n, c) for n in WORDS for c in OBJECTS], parts=26)
def test_categories_are_those_of_each_record(name, container):
    own, make = WORDS[name] * 6, ANY[container]
    alone = set(map(repr, categories(make(own))))
    for neighbour, entry in NEIGHBOURS.items():
        try:
            of_entry = set(map(repr, categories(make([entry] * len(own)))))
        except ValueError:
            with pytest.raises(ValueError, match="infinite numbers, or"):
                categories(make([*own, entry]))
            continue
        # One record is too few for a category of its own.
        found = set(map(repr, categories(make([*own, entry]))))
        assert alone <= found <= alone | of_entry, neighbour


def categories(X):
    with warnings.catch_warnings(action="ignore"):
        encoder = DPOneHotEncoder(epsilon=ENDLESS, delta=1e-5, random_state=0).fit(X)
    return encoder.categories_[0].tolist()
