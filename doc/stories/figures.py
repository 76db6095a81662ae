"""The figures of two pages, each drawn by the page's own code up to the line that draws it."""

import doctest
from pathlib import Path


def hospital():
    """Draw the terms of the model of stays."""
    return _drawn_by("hospital.rst")


def study():
    """Draw some terms of the model of a census."""
    return _drawn_by("study.rst")


def _drawn_by(page):
    names = {}
    for example in doctest.DocTestParser().get_examples(Path(page).read_text(encoding="utf-8")):
        exec(example.source, names)
        if "display" in names:
            names["folder"].cleanup()
            return names["display"]
