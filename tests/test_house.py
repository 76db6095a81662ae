import ast
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests import house
from tests._loops import for_each
from tests.conftest import is_named

LONG = house.TESTS / "long"

# A line of each kind, and what counts it.
PLANTED = {
    "self._keep(locals())": house.calls_with_locals,
    "@shared_docs\nclass Model: pass": house.shared_docstrings,
    "# Whether rows count, and\n# what goes on.": lambda: len(house.fragments()),
    "solve(X, **how)": house.unpacked_dictionaries,
    "frame = sys._getframe(1)": lambda: house.uses_of("_getframe"),
    "model.__class__ = Other": lambda: house.uses_of("__class__"),
}


@pytest.mark.every
@pytest.mark.parametrize("line", PLANTED)
def test_each_kind_is_counted(line, tmp_path, monkeypatch):
    monkeypatch.setattr(house, "PACKAGE", tmp_path)
    assert PLANTED[line]() == 0
    (tmp_path / "one.py").write_text(f"{line}\n", encoding="utf-8")
    assert PLANTED[line]() == 1
    assert sum(count() for count in PLANTED.values()) == 1


@pytest.mark.every
def test_comments_of_the_package_are_sentences():
    assert house.fragments() == []


@pytest.mark.every
@pytest.mark.parametrize(
    ("line", "is_private"),
    [
        ("from skdp._rows.bounds import clip_rows", True),
        ("from skdp.linear_model import DPRidge, _base", True),
        ("import skdp.linear_model._base", True),
        ('monkeypatch.setattr("skdp._rows.fused.SIZE", 0)', True),
        ("from skdp.linear_model import DPRidge", False),
        ("from skdp import __version__", False),
        ("from tests.door import clip_rows", False),
    ],
)
def test_private_modules_are_found(line, is_private):
    assert bool(house.private_names(ast.parse(line))) == is_private


def test_long_tests_are_left_out_unless_they_are_asked_for(request):
    config = request.config
    mirrored = [item for item in request.session.items if not item.path.is_relative_to(LONG)]
    long = [item.nodeid for item in mirrored if item.get_closest_marker("long")]
    is_asked_for = any(config.getoption(option) for option in ("all_cases", "first_cases"))
    names_files = any(name.partition("::")[0].endswith(".py") for name in config.args)
    assert is_asked_for or names_files or not long


@for_each(
    "argument, expected",
    [
        ("{}", True),
        ("{}::test_this", True),
        ("{}::test_this[1-a::b]", True),
        ("{}::test_that", False),
        ("{}/../test_other.py::test_this", False),
        ("tests", False),
    ],
)
def test_a_test_is_named_by_its_name_or_by_its_file(argument, expected):
    config = SimpleNamespace(args=["tests/long", argument.format(__file__)])
    assert is_named(Path(__file__), "test_this", config) == expected


@pytest.mark.long
def test_the_table_is_printed(capsys, monkeypatch):
    monkeypatch.setattr(house, "files_with_private_imports", lambda: 0)
    house.main(["--quick"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 10
    assert all(line.split()[-1].isdigit() for line in lines)
