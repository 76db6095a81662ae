"""Long tests beside the quick ones of `tests/privacy/test_mutants.py`."""

import ast
import functools
import os
import signal
import subprocess
import sys
from itertools import zip_longest

import pytest

from tests._loops import for_each
from tests.privacy.mutants import INTERRUPTED, ROOT, plant, read_mutants
from tests.privacy.test_mutants import TESTS, project

AT_NIGHT = pytest.mark.skipif(
    os.environ.get("SKDP_NIGHTLY") != "1", reason="runs a tool of nights: SKDP_NIGHTLY=1"
)


@functools.cache
def statements(path):
    """The outermost statements of a file, each as text."""
    return [ast.dump(node) for node in ast.parse((ROOT / path).read_text(encoding="utf-8")).body]


@for_each("mutant", read_mutants(), parts=4)
def test_a_mutant_changes_one_place_and_names_tests(mutant):
    planted = plant(mutant, ROOT)
    changed = (ast.dump(node) for node in ast.parse(planted.text).body)
    sound = statements(planted.path)
    assert any(one != other for one, other in zip_longest(changed, sound))
    assert mutant.tests
    assert all((ROOT / path).is_file() for path in mutant.tests)


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


@AT_NIGHT
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


@AT_NIGHT
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


@AT_NIGHT
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
