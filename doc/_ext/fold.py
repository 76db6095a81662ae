"""A directive that folds what follows in its section, so that a long page can be looked over.

.. code-block:: rst

    .. fold:: Why the noise off the diagonal is smaller

The fold ends at the next one, or at the next heading. Browsers open it where a link or a search
leads into it, and ``skdp.css`` opens all of them on paper. No script is needed.
"""

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.transforms import Transform


class fold(nodes.General, nodes.Element):
    """What can be folded, and before it the line that is always there."""


class summary(nodes.General, nodes.TextElement):
    """The line that says what is folded."""


class Fold(Directive):
    """Where a fold begins."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self):
        """Make a fold that has its line alone, because what follows isn't parsed yet."""
        if not isinstance(self.state.parent, nodes.section):
            raise self.error("a fold is a part of a section, not of a list or a table")
        parts, messages = self.state.inline_text(self.arguments[0], self.lineno)
        return [fold("", summary("", "", *parts)), *messages]


class FillFolds(Transform):
    """Moves what follows into each fold."""

    default_priority = 10

    def apply(self):
        """Fill all folds of a page."""
        for found in list(self.document.findall(fold)):
            section = found.parent
            after = section.children[section.index(found) + 1 :]
            n_inside = next(
                (i for i, node in enumerate(after) if isinstance(node, (fold, nodes.section))),
                len(after),
            )
            if not n_inside:
                raise ValueError(f"nothing is in the fold {found.astext()!r}")
            for node in after[:n_inside]:
                section.remove(node)
            found.extend(after[:n_inside])


def _open_fold(self, node):
    self.body.append(self.starttag(node, "details", CLASS="fold"))


def _close_fold(self, node):
    self.body.append("</details>\n")


def _open_summary(self, node):
    self.body.append(self.starttag(node, "summary", ""))


def _close_summary(self, node):
    self.body.append("</summary>\n")


def setup(app):
    """Register the directive, and how folds are written."""
    app.add_directive("fold", Fold)
    app.add_transform(FillFolds)
    app.add_node(fold, html=(_open_fold, _close_fold))
    app.add_node(summary, html=(_open_summary, _close_summary))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
