"""Long tests beside the quick ones of `tests/ledger/test_command.py`."""

import os
import subprocess
import sys

import pytest


def test_from_the_shell(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "skdp.ledger", "show", str(tmp_path / "none.db")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("error: the ledger ")
    assert "Traceback" not in done.stderr
