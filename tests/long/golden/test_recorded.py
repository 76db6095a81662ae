"""Long tests beside the quick ones of `tests/golden/test_recorded.py`."""

import json

import pytest

from tests.golden.record import RECORDED, TOLERANCE, differences, record, versions, without_digests

ADVICE = "If the change is meant, run `python tests/golden/record.py` and say so in what's new."


def test_what_is_released_is_as_it_was():
    pytest.importorskip("distributed", reason="needs the extra dask")
    pytest.importorskip("numba", reason="needs the extra fast")
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    if versions() != recorded["versions"]:
        pytest.skip("recorded with other versions, of which numbers depend")
    found = list(differences(without_digests(record()), recorded, TOLERANCE))
    assert not found, "\n".join([*found[:20], ADVICE])
