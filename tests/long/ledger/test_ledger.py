"""Long tests beside the quick ones of `tests/ledger/test_ledger.py`."""

import subprocess
import sys

import pytest


def test_sqlite_is_imported_when_it_is_needed():
    code = "import sys, skdp; sys.exit(bool({'sqlite3', 'skdp.ledger._ledger'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
