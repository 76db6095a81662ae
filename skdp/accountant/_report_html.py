"""A report as HTML, for a notebook."""

import html

# No colour but the notebook's own, so that light and dark themes both work.
_CELL = "text-align:left;vertical-align:top;padding:2px 8px;white-space:normal"
_NAME = "text-align:left;vertical-align:top;padding:2px 8px;white-space:nowrap"
_TABLE = (
    "border:1px solid currentColor;border-collapse:collapse;color:inherit;"
    "background:transparent;max-width:60em;margin:0.5em 0"
)
_LIST = "margin:0;padding-left:1.2em"


def report_html(title, entries):
    """Write a table of titles and texts; a tuple of texts becomes a list.

    Parameters
    ----------
    title : str
    entries : iterable of (str, str or tuple of str)

    Returns
    -------
    text : str
    """
    body = "".join(
        f'<tr style="background:transparent"><th scope="row" style="{_NAME}">{html.escape(name)}'
        f'</th><td style="{_CELL}">{_content(value)}</td></tr>'
        for name, value in entries
    )
    return (
        f'<table style="{_TABLE}"><caption style="{_CELL};font-weight:bold;color:inherit">'
        f"{html.escape(title)}</caption><tbody>{body}</tbody></table>"
    )


def _content(value):
    if isinstance(value, str):
        return html.escape(value)
    items = "".join(f"<li>{html.escape(item)}</li>" for item in value)
    return f'<ul style="{_LIST}">{items}</ul>'
