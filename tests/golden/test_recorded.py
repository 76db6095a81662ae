"""Multipliers, events and fits are those that were recorded; `record.py` records them."""

import json

import numpy as np
import pytest

from skdp.utils.discovery import all_estimators
from tests.golden.record import (
    RECORDED,
    TOLERANCE,
    describe,
    differences,
)


@pytest.mark.parametrize("name", [name for name, _ in all_estimators("private")])
def test_every_private_estimator_is_recorded(name):
    assert f'"class":"{name}"' in RECORDED.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("found", "recorded", "differs"),
    [
        (1.0, 1.0 + 1e-7, False),
        (1.0, 1.0 + 1e-5, True),
        (1, 2, True),
        (float("inf"), 1.0, True),
        ({"a": [1.0]}, {"a": [1.0, 2.0]}, True),
        ({"a": 1}, {"a": 1, "b": 2}, True),
        ({"a": 1, "b": 2}, {"a": 1}, True),
        (describe(float("nan")), describe(float("nan")), False),
        (describe(np.ones(9)), describe(np.ones(9, dtype=np.float32)), True),
        (describe(np.arange(9)), describe(np.minimum(np.arange(9), 7)), True),
    ],
)
def test_differences_are_found(found, recorded, differs):
    assert bool(list(differences(found, recorded, TOLERANCE))) == differs


def test_the_last_bit_is_recorded():
    one, other = (describe(np.array([value])) for value in (1.0, np.nextafter(1.0, 2.0)))
    assert list(differences(one, other, 0.0))
    assert json.loads(json.dumps(other)) == other
