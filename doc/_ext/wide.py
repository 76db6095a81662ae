"""Lets wide pictures scroll on a phone, where they would be too small to read."""

import re
import struct
from pathlib import Path

from docutils import nodes

# A single plot is narrower; several side by side are wider.
WIDEST = 800  # pixels


def _width(path):
    if path.suffix == ".png":
        return struct.unpack(">I", path.read_bytes()[16:20])[0]
    points = re.search(r'<svg [^>]*?width="([\d.]+)pt"', path.read_text(encoding="utf-8"))
    return float(points[1]) * 4 / 3


def _wrap(app, doctree, docname):
    # The gallery has a node of its own.
    kinds = ("image", "imgsgnode")
    for image in list(doctree.findall(lambda node: node.tagname in kinds)):
        path = Path(app.srcdir) / image["uri"].lstrip("/")
        is_plot = "thumb" not in path.parts and path.suffix in (".png", ".svg")
        if is_plot and path.is_file() and _width(path) > WIDEST:
            start = nodes.raw("", '<div class="wide" tabindex="0">', format="html")
            end = nodes.raw("", "</div>", format="html")
            image.replace_self([start, image.deepcopy(), end])


def setup(app):
    """Wrap each wide picture before its page is written."""
    app.connect("doctree-resolved", _wrap)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
