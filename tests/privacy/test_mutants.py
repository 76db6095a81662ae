"""The list of mutants is in step with the source; `mutants.py` runs them."""

from pathlib import Path

import pytest

import skdp
from tests.privacy.mutants import MUTANTS, ROOT

PACKAGE = Path(skdp.__file__).parent


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_changes_one_place_and_names_tests(mutant):
    text = (PACKAGE / mutant.path).read_text(encoding="utf-8")
    assert text.count(mutant.old) == 1
    assert mutant.new not in ("", text) or mutant.old.strip()
    changed = text.replace(mutant.old, mutant.new)
    assert changed != text
    compile(changed, mutant.path, "exec")
    assert mutant.tests
    assert all((ROOT / path).is_file() for path in mutant.tests)


def test_there_are_enough_and_each_room_has_some():
    assert len(MUTANTS) >= 25
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
    rooms = {mutant.path.split("/")[0].removesuffix(".py") for mutant in MUTANTS}
    assert rooms >= {"_mechanisms", "_sampling", "_bounds", "_plans", "_solvers", "accountant"}
