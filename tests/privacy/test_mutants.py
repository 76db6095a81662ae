"""The list of mutants is in step with the source; `mutants.py` runs them."""

import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.privacy.mutants import (
    ROOT,
    Mutant,
    Verdicts,
    digest_of,
    find_fragment,
    plant,
    read_mutants,
    read_properties,
)

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
# The folder of tests of the project that the script runs in here.
TESTS = "tests"


@pytest.mark.long
def test_there_are_enough_and_each_room_has_some():
    mutants = read_mutants()
    assert len(mutants) >= 400
    assert set(Counter(mutant.name for mutant in mutants).values()) == {1}
    rooms = {plant(mutant, ROOT).path.split("/")[1] for mutant in mutants}
    assert rooms >= PUBLIC


def test_each_mutant_says_which_property_it_breaks():
    others = {mutant.name for mutant in read_mutants() if mutant.property not in read_properties()}
    assert not others, "The head of mutants.toml lists the words for `property`."
    assert {mutant.property for mutant in read_mutants()} == set(read_properties())


def test_all_tests_that_are_named_are_there():
    named = {path for mutant in read_mutants() for path in mutant.tests}
    assert sorted(path for path in named if not (ROOT / path).is_file()) == []


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


@pytest.fixture
def project(tmp_path):
    """A project of its own with the script, two functions and three mutants of them.

    The test of the second mutant waits for a file that is called `go`.
    """
    for folder in ("skdp", "tests/privacy"):
        (tmp_path / folder).mkdir(parents=True)
    go = tmp_path / "go"
    mutants = [("one", "one", "test_one"), ("two", "two", "test_two"), ("three", "one", "test_one")]
    listed = (
        f'[[mutant]]\nname = "{name} is wrong"\nproperty = "{symbol}"\nsymbol = "{symbol}"\n'
        f'old = "return True"\nnew = "return {name!r}"\ntests = ["{TESTS}/{test}.py"]\n'
        for name, symbol, test in mutants
    )
    texts = {
        "skdp/__init__.py": "def one():\n    return True\n\n\ndef two():\n    return True\n",
        f"{TESTS}/test_one.py": "import skdp\n\n\ndef test_one():\n    assert skdp.one() is True\n",
        f"{TESTS}/test_two.py": (
            "import time\nfrom pathlib import Path\n\nimport skdp\n\n\ndef test_two():\n"
            f"    while not Path({str(go)!r}).exists():\n        time.sleep(0.01)\n"
            "    assert skdp.two() is True\n"
        ),
        "tests/conftest.py": (
            "def pytest_addoption(parser):\n"
            "    parser.addoption('--all-cases', action='store_true')\n"
        ),
        "tests/privacy/mutants.toml": '[properties]\none = "1"\ntwo = "2"\n' + "\n".join(listed),
    }
    for path, text in texts.items():
        (tmp_path / path).write_text(text, encoding="utf-8")
    script = tmp_path / "tests/privacy/mutants.py"
    shutil.copy(Path(__file__).with_name("mutants.py"), script)
    # Nothing else that takes long to import is of use to these tests.
    text = script.read_text(encoding="utf-8").replace("in PRELOADED:", "in ['pytest']:")
    script.write_text(text, encoding="utf-8")
    return tmp_path


def test_a_digest_follows_fault_file_and_tests(project):
    mutant = Mutant("two is wrong", "two", "return True", "return 2", [f"{TESTS}/test_two.py"])
    digest = digest_of(mutant, project)
    assert digest == digest_of(mutant._replace(name="another"), project)
    assert digest != digest_of(mutant._replace(new="return 3"), project)
    (project / TESTS / "test_one.py").write_text("", encoding="utf-8")
    assert digest == digest_of(mutant, project)
    whole = digest_of(mutant, project, whole=True)
    (project / TESTS / "test_new.py").write_text("", encoding="utf-8")
    assert whole != digest_of(mutant, project, whole=True)


def test_verdicts_last_and_are_forgotten_but_for_the_order_of_tests(tmp_path):
    mutant = Mutant("name", "f", "1", "2", ["a"])
    path = tmp_path / "cache" / "verdicts.json"
    Verdicts(path).add(mutant, "digest", ["a::test"])
    assert Verdicts(path).is_noticed(mutant, "digest")
    assert not Verdicts(path).is_noticed(mutant, "another")
    Verdicts(path).forget([mutant])
    assert not Verdicts(path).is_noticed(mutant, "digest")
    assert Verdicts(path).noticing_tests(mutant) == ["a::test"]
    assert [file.name for file in path.parent.iterdir()] == ["verdicts.json"]
