"""A directive that lists what fits release, by name, with proof, code and tests of each.

All of it is read from the code: names are constants of plans, the first lines of a plan's file say
where the proof is, and the tests are those that must notice faults which `mutants.toml` plants in
the files of the same folder.
"""

import ast
import functools
import importlib.util
import re
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "skdp"
# Methods and functions that take a name of a release, to plan it or to make it.
TAKES_NAMES = {"named", "Planned", "release", "steps", "mechanism"}
# Faults of these kinds void a guarantee.
CONVICTING = {"bound", "noise", "account", "sampling"}
N_TESTS = 4


class NamedRelease(NamedTuple):
    """What a room releases under a name."""

    name: str
    room: str
    constant: str
    proofs: tuple
    code: tuple
    tests: tuple


@functools.cache
def _tree(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def _plans():
    return sorted(PACKAGE.rglob("_plan*.py"))


def _constants(path):
    """Yield public names of texts that a file defines, with the texts."""
    for node in _tree(path).body:
        if not isinstance(node, ast.Assign):
            continue
        (target,), value = node.targets, node.value
        pairs = [(target, value)]
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = zip(target.elts, value.elts, strict=True)
        for name, text in pairs:
            is_text = isinstance(text, ast.Constant) and isinstance(text.value, str)
            # A text that begins with a space is the end of other names.
            if is_text and name.id.isupper() and name.id[0] != "_" and text.value[0] != " ":
                yield name.id, text.value


@functools.cache
def _imported(path):
    """Return what a file imports by name, as pairs of the module's path and the name there."""
    found = {}
    for node in _tree(path).body:
        if isinstance(node, ast.ImportFrom):
            source = ROOT.joinpath(*node.module.split(".")).with_suffix(".py")
            found |= {one.asname or one.name: (source, one.name) for one in node.names}
    return found


def _used(path):
    """Return the constants that a file hands to what takes names of releases."""
    imported = _imported(path)
    used = set()
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Name):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if called in TAKES_NAMES:
                name = node.args[0].id
                used.add(imported.get(name, (path, name)))
    return used


def _convicting_tests():
    """Return by folder how often tests must notice a fault in it."""
    spec = importlib.util.spec_from_file_location("_mutants", ROOT / "tests/privacy/mutants.py")
    mutants = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = mutants
    spec.loader.exec_module(mutants)
    modules = mutants.read_package(ROOT)
    by_folder = {}
    for mutant in mutants.read_mutants():
        named = [module for module in modules if mutant.symbol in module.symbols]
        # Planting would find the one place among several, and takes a minute for all.
        if mutant.property in CONVICTING and len(named) == 1:
            folder = (ROOT / named[0].path).parent
            by_folder.setdefault(folder, Counter()).update(mutant.tests)
    return by_folder


@functools.cache
def named_releases():
    """Return all releases that have a name, room by room."""
    texts = {(path, name): text for path in _plans() for name, text in _constants(path)}
    tests = _convicting_tests()
    rooms = sorted({path.parent for path in _plans()})
    used_in = {path: _used(path) for room in rooms for path in sorted(room.glob("*.py"))}
    found = []
    for room in rooms:
        plans = [path for path in _plans() if path.parent == room]
        documented = " ".join(ast.get_docstring(_tree(path)) or "" for path in plans)
        proofs = tuple(dict.fromkeys(re.findall(r'"((?:theory|user_guide)/\w+)"', documented)))
        if not proofs:
            continue
        own = {key for key in texts if key[0].parent == room}
        here = {key for path, keys in used_in.items() if path.parent == room for key in keys}
        for key in sorted((own | here) & set(texts), key=lambda key: texts[key]):
            code = {key[0]} | {path for path in used_in if key in _imported(path).values()}
            code = {path for path in code if path.parent in (room, key[0].parent)}
            noticed = tests.get(room, Counter()) or tests.get(room.parent, Counter())
            found.append(
                NamedRelease(
                    name=texts[key],
                    room=room.relative_to(ROOT).as_posix(),
                    constant=key[1],
                    proofs=proofs,
                    code=tuple(sorted(path.relative_to(ROOT).as_posix() for path in code)),
                    tests=tuple(name for name, _ in noticed.most_common(N_TESTS)),
                )
            )
    return tuple(found)


def lines():
    """Return a section for each room: where its proofs and tests are, and a table of its names."""
    by_room = {}
    for release in named_releases():
        by_room.setdefault(release.room, []).append(release)
    for room, releases in by_room.items():
        title = room.removeprefix("skdp/")
        proofs = ", ".join(f":doc:`/{page}`" for page in releases[0].proofs)
        tests = ", ".join(f"``{path}``" for path in releases[0].tests)
        yield from (f"``{title}``", "~" * (len(title) + 4), "")
        yield from (
            f"Proof: {proofs}. Tests that must notice faults here, most first: {tests}.",
            "",
        )
        yield from (".. list-table::", "   :header-rows: 1", "   :widths: 36 64", "")
        yield from ("   * - Release", "     - Code")
        for release in releases:
            code = ", ".join(f"``{path.removeprefix('skdp/')}``" for path in release.code)
            yield from (f"   * - {release.name}", f"     - ``{release.constant}``: {code}")
        yield ""


class Releases(SphinxDirective):
    """The index of releases."""

    def run(self):
        """Make a section for each room."""
        return self.parse_text_to_nodes("\n".join(lines()), allow_section_headings=True)


def setup(app):
    """Register the directive."""
    app.add_directive("releases", Releases)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
