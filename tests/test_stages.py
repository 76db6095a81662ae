"""Stages of continuous integration may run side by side, and none of them may fail unseen."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

STAGES = Path(__file__).parents[1] / ".ci" / "stages"
SCRIPT = """
set -euo pipefail
. {stages}
one() {{ echo one begins; {one}; echo one ends; }}
two() {{ echo two begins; {two}; echo two ends; }}
begin one two
finish one two
echo goes on
"""


@pytest.mark.skipif(
    sys.platform == "win32" or shutil.which("bash") is None or not STAGES.is_file(),
    reason="needs bash and the source",
)
@pytest.mark.every
@pytest.mark.parametrize(
    ("one", "two", "ended"),
    [
        ("false", "true", {"two"}),
        ("true", "false", {"one"}),
        ("(exit 3)", "echo no | grep yes", set()),
        ("sleep .1", "true", {"one", "two"}),
    ],
)
def test_a_stage_that_fails_ends_the_run_and_outputs_are_not_mixed(one, two, ended):
    script = SCRIPT.format(stages=STAGES, one=one, two=two)
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60)
    lines = done.stdout.splitlines()
    said = [line for line in lines if line.startswith(("one", "two"))]
    assert said == [
        f"{stage} {word}"
        for stage in ("one", "two")
        for word in ("begins", "ends")
        if word == "begins" or stage in ended
    ]
    assert (done.returncode == 0) == ("goes on" in lines) == (ended == {"one", "two"})
    for stage in ("one", "two"):
        assert (f"== {stage} failed" in lines) == (stage not in ended)
