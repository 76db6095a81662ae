"""What a page folds is what follows, to the next fold or heading, and nothing is lost."""

import sys
from importlib import import_module
from pathlib import Path

import pytest
from docutils.core import publish_doctree
from docutils.parsers.rst import directives
from docutils.readers.standalone import Reader

DOC = Path(__file__).parents[2] / "doc"


@pytest.fixture
def extension(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(DOC / "_ext"), *sys.path])
    return import_module("fold")


@pytest.fixture
def parsed(extension, monkeypatch):
    """Return a function that parses a page."""
    monkeypatch.setitem(directives._directives, "fold", extension.Fold)

    class WithFolds(Reader):
        def get_transforms(self):
            return [*super().get_transforms(), extension.FillFolds]

    def parse(text):
        settings = {"report_level": 5, "doctitle_xform": False}
        return publish_doctree(text, reader=WithFolds(), settings_overrides=settings)

    return parse


PAGE = """
One
---

Shown.

.. fold:: First, with *emphasis*

Folded.

>>> 1
1

.. fold:: Second

Folded, too.

Below
~~~~~

Shown again.

Two
---

Shown at the end.
"""


def test_a_fold_ends_at_the_next_one_or_at_a_heading(extension, parsed):
    document = parsed(PAGE)
    first, second = document.findall(extension.fold)
    assert [child.astext() for child in first] == ["First, with emphasis", "Folded.", ">>> 1\n1"]
    assert [child.astext() for child in second] == ["Second", "Folded, too."]
    one = first.parent
    assert [type(child).__name__ for child in one] == [
        "title",
        "paragraph",
        "fold",
        "fold",
        "section",
    ]
    assert document.astext().count("Shown") == 3


def test_a_fold_of_nothing_is_an_error(parsed):
    with pytest.raises(ValueError, match="nothing is in the fold 'Empty'"):
        parsed("One\n---\n\n.. fold:: Empty\n\nBelow\n~~~~~\n\nShown.\n")
