"""Long tests beside the quick ones of `tests/golden/test_stale.py`."""

import re

import pytest

from tests.golden import stale

PAGE = stale.ROOT / "doc" / "measured.rst"


def test_the_page_names_the_result_files_that_are_stale():
    try:
        found = stale.stale_files()
    except OSError as error:
        pytest.skip(f"needs the whole history: {error}")
    section = PAGE.read_text(encoding="utf-8").split("Older than the code\n")[1]
    named = set(re.findall(r"``(\w+\.csv)``", section))
    assert set(found) <= named, set(found) - named
