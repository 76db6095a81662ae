"""Lets wide pictures scroll on a phone, where they would be too small to read."""

import re
import struct
from pathlib import Path

# A single plot is narrower; several side by side are wider.
WIDEST = 750  # pixels


def _width(path):
    if path.suffix == ".png":
        return struct.unpack(">I", path.read_bytes()[16:20])[0]
    points = re.search(r'<svg [^>]*?width="([\d.]+)pt"', path.read_text(encoding="utf-8"))
    return float(points[1]) * 4 / 3


def _wrap(app, pagename, templatename, context, doctree):
    sources = {name: Path(app.srcdir) / uri for uri, name in app.builder.images.items()}

    def wrap(image):
        name = Path(image[1]).name
        # The gallery copies its pictures itself.
        path = sources.get(name, Path(app.outdir) / "_images" / name)
        is_plot = not path.stem.endswith("_thumb") and path.suffix in (".png", ".svg")
        if is_plot and path.is_file() and _width(path) > WIDEST:
            return f'<div class="wide" tabindex="0">{image[0]}</div>'
        return image[0]

    context["body"] = re.sub(r'<img [^>]*?src="([^"]+)"[^>]*>', wrap, context.get("body", ""))


def setup(app):
    """Wrap each wide picture of a page before it is written."""
    app.connect("html-page-context", _wrap)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
