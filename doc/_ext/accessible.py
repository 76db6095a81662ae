"""Mends what docutils and the theme write for screen readers."""

# Roles of references that aren't allowed where docutils puts them.
ROLES = (' role="list" class="citation-list"', ' role="doc-biblioentry"', ' role="doc-backlink"')


def _mend(app, pagename, templatename, context, doctree):
    for role in ROLES:
        context["body"] = context.get("body", "").replace(role, "")
    draw = context["generate_toctree_html"]

    def draw_with_names(*args, **options):
        return str(draw(*args, **options)).replace(
            "<summary>", '<summary aria-label="Pages below">'
        )

    context["generate_toctree_html"] = draw_with_names


def setup(app):
    """Mend each page before it is written, after the theme has its say."""
    app.connect("html-page-context", _mend, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
