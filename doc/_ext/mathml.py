"""Formulas as MathML, which browsers draw by themselves: no script, and none from elsewhere."""

import re

from docutils.nodes import SkipNode
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

_logger = logging.getLogger(__name__)
# Signs that Chromium would draw far taller than what stands between them.
FENCES = "{}|‖"
# A digit without braces, of which docutils would make one number with those behind it.
NUMERATOR = re.compile(r"(\\[dt]?frac)\s*(\d)")
DENOMINATOR = re.compile(r"(\\[dt]?frac\s*(?:\{[^{}]*\}|[a-zA-Z]))\s*(\d)")


def drawn(latex, *, as_block):
    """Return a formula as MathML."""
    latex = DENOMINATOR.sub(r"\1{\2}", NUMERATOR.sub(r"\1{\2}", latex))
    formula = tex2mathml(latex, as_block=as_block)
    for sign in FENCES:
        formula = formula.replace(f"<mo>{sign}</mo>", f'<mo stretchy="false">{sign}</mo>')
    return formula.replace(r"\_", "_")


def _formula(translator, node, *, as_block):
    try:
        return drawn(node.astext(), as_block=as_block)
    except MathError as error:
        _logger.warning("formula not understood: %s", error, location=node)
        return translator.encode(node.astext())


def visit_math(translator, node):
    """Write a formula within a line."""
    translator.body.append(_formula(translator, node, as_block=False))
    raise SkipNode


def visit_displaymath(translator, node):
    """Write a formula on a line of its own."""
    formula = _formula(translator, node, as_block=True)
    # What has the second class the theme lets the keyboard scroll, where it is too wide.
    classes = "formula pst-scrollable-table-container"
    translator.body.append(f'<div class="{classes}">{formula}</div>\n')
    raise SkipNode


def setup(app):
    """Register the renderer ``html_math_renderer = "mathml"``."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_displaymath, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
