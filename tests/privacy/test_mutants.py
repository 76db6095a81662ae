"""The list of mutants is in step with the source; `mutants.py` runs them."""

import ast
import functools
from collections import Counter
from itertools import zip_longest

import pytest

from tests._loops import for_each
from tests.privacy.mutants import ROOT, Mutant, find_fragment, plant, read_mutants

# Folders of the package in which there is a fault to plant. A folder that moves keeps its faults.
PUBLIC = {
    "accountant",
    "calibration",
    "dask",
    "ledger",
    "linear_model",
    "metrics",
    "model_selection",
    "onnx",
    "pipeline",
    "preprocessing",
    "statistics",
}


@functools.cache
def statements(path):
    """The outermost statements of a file, each as text."""
    return [ast.dump(node) for node in ast.parse((ROOT / path).read_text(encoding="utf-8")).body]


@pytest.mark.long
@for_each("mutant", read_mutants(), parts=4)
def test_a_mutant_changes_one_place_and_names_tests(mutant):
    planted = plant(mutant, ROOT)
    changed = (ast.dump(node) for node in ast.parse(planted.text).body)
    sound = statements(planted.path)
    assert any(one != other for one, other in zip_longest(changed, sound))
    assert mutant.tests
    assert all((ROOT / path).is_file() for path in mutant.tests)


def test_there_are_enough_and_each_room_has_some():
    mutants = read_mutants()
    assert len(mutants) >= 400
    assert set(Counter(mutant.name for mutant in mutants).values()) == {1}
    rooms = {plant(mutant, ROOT).path.split("/")[1] for mutant in mutants}
    assert rooms >= PUBLIC


@pytest.mark.parametrize(
    ("text", "fragment", "found"),
    [
        ("x = f(\n    a,  # why\n    b,\n)", "f(a, b)", ["f(\n    a,  # why\n    b,\n)"]),
        ("x = f(a, b)", "f(\n  a,\n  b,\n)", ["f(a, b)"]),
        ("f(a, b=1)", "b=1,", ["b=1"]),
        ("f(a, b=1,)", "b=1,", ["b=1,"]),
        ("a = ab + a", "a", ["a", "a"]),
        ('say("a b")', 'say("ab")', []),
        ("a == b", "a =", []),
    ],
)
def test_layout_is_no_matter(text, fragment, found):
    assert [text[start:end] for start, end in find_fragment(text, fragment)] == found


@pytest.fixture
def package(tmp_path):
    """A package in which two modules define the same function."""
    folder = tmp_path / "skdp"
    folder.mkdir()
    for name, other in (("one.py", "FIRST = 1"), ("two.py", "SECOND = 2")):
        body = (
            "class A:\n    def f(self):\n        if self:\n            return 1\n        return 2\n"
        )
        (folder / name).write_text(f"{other}\n\n\n{body}", encoding="utf-8")
    return tmp_path


def test_a_fault_is_planted_with_its_indentation(package):
    mutant = Mutant("name", "A.f", "return 1", "x = 1\nreturn x", ["a"], beside="SECOND")
    planted = plant(mutant, package)
    assert planted.path.endswith("/two.py")
    assert "            x = 1\n            return x\n        return 2\n" in planted.text


@pytest.mark.parametrize(
    ("symbol", "old", "error"),
    [
        ("A.f", "return 1", "stands 2 times in A.f"),
        ("A.f", "return 3", "stands 0 times in A.f"),
        ("FIRST", "return 1", "stands 0 times in FIRST"),
        ("A.g", "return 1", "nothing is called A.g"),
    ],
)
def test_a_place_that_is_missing_or_not_the_only_one_is_an_error(package, symbol, old, error):
    with pytest.raises(ValueError, match=error):
        plant(Mutant("name", symbol, old, "", ["a"]), package)
