"""A directive that lists all that the pages of the reference list, one line each, by module."""

import re
from importlib import import_module
from pathlib import Path

from sphinx.util.docutils import SphinxDirective

FOLDER = Path(__file__).parents[1] / "api"


def listed(path):
    """Return the module that a page is about and the names in its table, as they are there."""
    text = path.read_text(encoding="utf-8")
    module = re.search(r"currentmodule:: (\S+)", text)
    return module[1], text.split(":nosignatures:")[1].split()


def section(path):
    """Return the lines of a page's section in the list."""
    module, names = listed(path)
    return [
        f":doc:`{module} <{path.stem}>`",
        "~" * 80,
        "",
        (import_module(module).__doc__ or "").partition("\n")[0],
        "",
        f".. currentmodule:: {module}",
        "",
        ".. autosummary::",
        "   :nosignatures:",
        "",
        *(f"   {name}" for name in names),
        "",
    ]


class Everything(SphinxDirective):
    """All pages but this, those that are named first, in this order."""

    optional_arguments = 1
    final_argument_whitespace = True

    def run(self):
        """Make a section for each page."""
        first = self.arguments[0].split() if self.arguments else []
        rest = sorted(path.stem for path in FOLDER.glob("*.rst") if path.stem != "index")
        order = [*first, *(stem for stem in rest if stem not in first)]
        paths = [FOLDER / f"{stem}.rst" for stem in order]
        for path in paths:
            self.env.note_dependency(str(path))
        lines = [line for path in paths for line in section(path)]
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def setup(app):
    """Register the directive."""
    app.add_directive("everything", Everything)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
