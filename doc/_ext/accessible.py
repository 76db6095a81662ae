"""Mends what docutils writes for screen readers: roles of references that aren't allowed there."""

FAULTS = (' role="list" class="citation-list"', ' role="doc-biblioentry"', ' role="doc-backlink"')


def _mend(app, pagename, templatename, context, doctree):
    body = context.get("body", "")
    for fault in FAULTS:
        body = body.replace(fault, "")
    context["body"] = body


def setup(app):
    """Mend each page before it is written."""
    app.connect("html-page-context", _mend)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
