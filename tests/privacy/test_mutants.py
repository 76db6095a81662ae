"""The list of mutants is in step with the source; `mutants.py` runs them."""

import ast
import functools
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from itertools import zip_longest
from pathlib import Path

import pytest

from tests._loops import for_each
from tests.privacy.mutants import (
    INTERRUPTED,
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


def test_each_mutant_says_which_property_it_breaks():
    others = {mutant.name for mutant in read_mutants() if mutant.property not in read_properties()}
    assert not others, "The head of mutants.toml lists the words for `property`."
    assert {mutant.property for mutant in read_mutants()} == set(read_properties())


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


def start_script(project, *options):
    return subprocess.Popen(
        [sys.executable, "tests/privacy/mutants.py", "--jobs", "1", *options],
        cwd=project,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def run_script(project, *options):
    """Return the status of a run and which mutants it ran."""
    with start_script(project, *options) as script:
        output, _ = script.communicate()
    lines = (line for line in output.splitlines() if " is wrong" in line and "/" in line)
    return script.returncode, [line.rpartition("  ")[2].split()[0] for line in lines], output


@pytest.mark.long
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_was_stopped_is_resumed_where_it_stopped(project, stop):
    with start_script(project) as script:
        assert "1/3  noticed" in script.stdout.readline()
        script.send_signal(stop)
        output, _ = script.communicate()
    assert script.returncode == INTERRUPTED
    assert output == "Stopped: 1 of 3 are noticed. --resume runs the others.\n"
    (project / "go").touch()
    status, run, output = run_script(project, "--resume")
    assert (status, run) == (0, ["two", "three"]), output
    # Tests of mutants that weren't run again must pass without a fault, too.
    assert f"{TESTS}/test_one.py" in output
    assert run_script(project, "--resume")[:2] == (0, [])


@pytest.mark.long
def test_what_changed_is_run_again_and_without_resume_all(project):
    (project / "go").touch()
    assert run_script(project)[:2] == (0, ["one", "two", "three"])
    test = project / TESTS / "test_two.py"
    test.write_text(test.read_text(encoding="utf-8") + "\n\n", encoding="utf-8")
    assert run_script(project, "--resume")[:2] == (0, ["two"])
    assert run_script(project, "--only", "three")[:2] == (0, ["three"])
    assert run_script(project, "--property", "one")[:2] == (0, ["one", "three"])
    assert run_script(project, "--symbol", "two")[:2] == (0, ["two"])
    status, _, output = run_script(project, "--symbol", "two", "--list")
    assert (status, output) == (0, f"two         two is wrong: {TESTS}/test_two.py\n")
    assert run_script(project)[:2] == (0, ["one", "two", "three"])


@pytest.mark.long
def test_a_mutant_that_survived_is_no_verdict(project):
    (project / "go").touch()
    test = project / TESTS / "test_two.py"
    test.write_text("def test_two():\n    pass\n", encoding="utf-8")
    for options in ([], ["--resume"]):
        status, run, output = run_script(project, *options)
        assert status == 1
        assert "two" in run
        assert "SURVIVED" in output
    assert run == ["two"]


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
