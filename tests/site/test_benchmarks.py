"""Each script of benchmarks/ has a line that says what it measures, and which data it needs."""

import re
import tomllib
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
pytestmark = pytest.mark.skipif(
    not BENCHMARKS.is_dir(), reason="benchmarks are not part of an installed package"
)


def scripts():
    """Return the scripts that a user may run, but for those of peers."""
    found = (path.relative_to(BENCHMARKS) for path in BENCHMARKS.rglob("*.py"))
    return {path.as_posix() for path in found if path.name[0] != "_" and path.parts[0] != "peers"}


def rows():
    """Return what the table of README says, by script."""
    text = (BENCHMARKS / "README.rst").read_text(encoding="utf-8")
    table = text[text.index("\nScript ") :].split("\n====")[1]
    parts = re.split(r"(?m)^(\S+\.py) +", table)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_each_script_is_listed_and_says_which_data_to_bring():
    listed = rows()
    assert set(listed) == scripts()
    facts = tomllib.loads((BENCHMARKS / "data_sets.toml").read_text(encoding="utf-8"))
    files = {name.partition(".")[0] for about in facts.values() for name in about.get("files", ())}
    for script, said in listed.items():
        words = set(re.findall(r"\w+", said))
        assert words & files or "No data." in " ".join(said.split()), script


def test_each_result_is_of_a_script_that_is_listed():
    listed = rows()
    for path in (BENCHMARKS / "results").glob("*.csv"):
        command = path.read_text(encoding="utf-8").partition("\n")[0]
        assert re.match(r"# python benchmarks/(\S+\.py)\b", command)[1] in listed, path.name


def test_each_peer_is_listed():
    text = (BENCHMARKS / "peers" / "README.rst").read_text(encoding="utf-8")
    for path in (BENCHMARKS / "peers").glob("*.py"):
        assert path.name[0] == "_" or path.name in text, path.name
