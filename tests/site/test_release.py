"""What a release states of itself: its version, changes and requirements, what an index shows."""

import re
import tomllib
from datetime import date
from pathlib import Path

import pytest
import yaml
from docutils.core import publish_doctree
from docutils.nodes import image, reference

import skdp

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_one_version_everywhere():
    version = skdp.__version__
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+|rc\d+)?", version)
    assert PROJECT["dynamic"] == ["version"]
    assert "version" not in PROJECT
    newest = re.search(r"^(\d\S*)(?: \(.*\))?\n-+$", text_of("doc/whats_new.rst"), re.MULTILINE)
    assert newest[1] == version
    citation = yaml.safe_load(text_of("CITATION.cff"))
    assert citation["version"] == version
    assert isinstance(citation["date-released"], date)


def test_citation_has_what_its_schema_requires():
    """Of Citation File Format 1.2.0, the parts that are used here."""
    citation = yaml.safe_load(text_of("CITATION.cff"))
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] == "software"
    assert citation["license"] == PROJECT["license"]
    for work in (citation, *citation["references"]):
        assert isinstance(work["title"], str)
        assert work["authors"]
        for author in work["authors"]:
            assert set(author) in ({"name"}, {"family-names", "given-names"})
    for work in citation["references"]:
        assert work["type"] == "conference-paper"
        assert isinstance(work["year"], int)
        assert set(work["conference"]) == {"name"}
    used = {"cff-version", "title", "message", "type", "authors", "license", "version"}
    assert set(citation) == used | {"date-released", "references"}


def requirements(names):
    """Names and least versions in `names`, with those of the package's own extras."""
    for requirement in names:
        name, extras, least = re.fullmatch(
            r"([\w-]+)(?:\[([\w,]+)\])?(?:>=([\d.]+))?(?:,<[\d.]+)?", requirement
        ).groups()
        if name == PROJECT["name"]:
            for extra in extras.split(","):
                yield from requirements(EXTRAS[extra])
        else:
            yield name, least


def test_oldest_versions_that_are_declared_are_those_that_are_tested():
    lines = [line for line in text_of(".ci/oldest.txt").splitlines() if line[:1] != "#"]
    pinned = dict(line.split("==") for line in lines if line)
    for name, least in requirements([*PROJECT["dependencies"], *EXTRAS["test"]]):
        kept, asked = pinned[name].removesuffix(".*").split("."), least.split(".")
        assert [*kept, "0"][: len(asked)] == asked, name


def test_install_page_names_every_extra():
    named = set(re.findall(r'install "[.\w]+\[(\w+)\]"', text_of("doc/install.rst")))
    assert set(EXTRAS) - {"dev"} <= named


@pytest.mark.long
def test_an_index_can_show_the_readme():
    """It knows docutils alone and inserts no files; pictures become links for a release."""
    settings = {"halt_level": 2, "raw_enabled": False, "file_insertion_enabled": False}
    page = publish_doctree(text_of("README.rst"), settings_overrides=settings)
    for node in page.findall(image):
        assert node["uri"].startswith("https://") or (ROOT / node["uri"]).is_file()
    for node in page.findall(reference):
        assert node.get("refid") or node["refuri"].startswith("https://")


def test_no_page_installs_a_name_that_is_not_ours():
    """Nor does a docstring or a message; CONTRIBUTING.rst says what to do on the day that it is."""
    folders = ("doc", "skdp", "examples", "benchmarks")
    files = [path for name in folders for path in (ROOT / name).rglob("*.*")]
    texts = [path for path in files if path.suffix in {".rst", ".py", ".toml", ".html", ".js"}]
    for path in [ROOT / "README.rst", ROOT / "SECURITY.rst", *texts]:
        if "_build" not in path.parts and "generated" not in path.parts:
            said = path.read_text(encoding="utf-8")
            found = re.search(r"(pip|uv|conda|pipx)\s.{0,40}(install|add)\W+skdp\b", said)
            assert found is None, (path.name, found)


def test_old_names_go_in_the_next_release():
    """They warn for one: this one."""
    major, minor = map(int, skdp.__version__.split(".")[:2])
    for path in (ROOT / "skdp").rglob("*.py"):
        text = " ".join(path.read_text(encoding="utf-8").split())
        if "FutureWarning," in text:
            ends = re.findall(r"\bgoes in (\d+\.\d+)\.", text)
            assert ends, f"{path.name} doesn't say when an old name goes"
            assert set(ends) == {f"{major}.{minor + 1}"}, path.name
