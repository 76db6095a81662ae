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
    record,
    versions,
    without_digests,
)

ADVICE = "If the change is meant, run `python tests/golden/record.py` and say so in what's new."


@pytest.mark.long
def test_what_is_released_is_as_it_was():
    pytest.importorskip("distributed", reason="needs the extra dask")
    pytest.importorskip("numba", reason="needs the extra fast")
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    if versions() != recorded["versions"]:
        pytest.skip("recorded with other versions, of which numbers depend")
    found = list(differences(without_digests(record()), recorded, TOLERANCE))
    assert not found, "\n".join([*found[:20], ADVICE])


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
