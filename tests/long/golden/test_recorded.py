"""Long tests beside the quick ones of `tests/golden/test_recorded.py`."""

import json

import pytest

from tests.golden.record import (
    RECORDED,
    TOLERANCE,
    differences,
    record,
    subjects,
    versions,
    without_digests,
)

# Every third subject, from each of the first three: the subjects of a kind follow each other.
N_PARTS = 3
ADVICE = "If the change is meant, run `python tests/golden/record.py` and say so in what's new."


@pytest.mark.parametrize("part", range(N_PARTS))
def test_what_is_released_is_as_it_was(part):
    pytest.importorskip("distributed", reason="needs the extra dask")
    pytest.importorskip("numba", reason="needs the extra fast")
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    if versions() != recorded["versions"]:
        pytest.skip("recorded with other versions, of which numbers depend")
    names = list(subjects())
    assert {"versions", *names} == recorded.keys(), ADVICE
    chosen = names[part::N_PARTS]
    of_part = {name: recorded[name] for name in ("versions", *chosen)}
    found = list(differences(without_digests(record(chosen)), of_part, TOLERANCE))
    assert not found, "\n".join([*found[:20], ADVICE])
