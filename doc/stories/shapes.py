"""The figure of the hospital's page, drawn by the page's own code up to the line that draws it."""

import doctest
from pathlib import Path

page = Path("hospital.rst").read_text(encoding="utf-8")
names = {}
for example in doctest.DocTestParser().get_examples(page):
    exec(example.source, names)
    if "display" in names:
        break
