"""A study on one page of HTML, to hand on or to file."""

import base64
import html
import io
from math import isinf
from numbers import Real
from pathlib import Path

from sklearn.base import BaseEstimator, clone

from skdp._estimator import is_of_skdp
from skdp.accountant import PrivacyReport, compose

# Nothing is loaded and nothing runs, whatever a part holds.
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
_STYLE = """\
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
.guarantee { border-left: 0.3rem solid currentColor; padding: 0.2rem 1rem; font-size: 1.1rem; }
.wide { overflow-x: auto; }
.table { white-space: pre; }
.table th:first-child { position: sticky; left: 0; background: Canvas; }
img { max-width: 100%; background: white; }
pre { white-space: pre-wrap; }
table { border-collapse: collapse; font-size: 0.85rem; }
th, td { padding: 0.15rem 0.6rem; text-align: left; vertical-align: top; }
"""
_ONE_FOR_ALL = (
    "This is the guarantee of these parts together, composed from their reports: {}. It holds "
    "whether they were made from the same records or from different ones, provided that nobody "
    "looked at the records to choose who is in which."
)
_OF_LEDGER = (
    "This is the guarantee of the whole budget of the ledger. It covers what was charged to it; "
    "whether all parts of this page were, the ledger can't tell."
)
_NO_TOTAL = (
    "No guarantee is stated for this page as a whole, because the reports of its parts can't be "
    "composed: {} Each part has a guarantee of its own, below."
)
_NO_REPORT = (
    "No part of this page has a report, and so no guarantee is stated. That a part is on this page "
    "doesn't make it private."
)
_NO_NOISE = (
    "These parts have an infinite epsilon, by themselves already: {}. Leave them out of a page "
    "that is handed on."
)
_WITHOUT = (
    "These parts have no report of their own, and the guarantee covers them only where they were "
    "computed from parts that have one, and from nothing else of the records: {}."
)


def report_page(parts, path, *, title="A private study", ledger=None):
    """Write a study on one page of HTML, with its guarantee in two sentences at the top.

    The page is one file: figures are in it, and it has no scripts and no links. All texts are
    escaped. The guarantee at the top is that of all parts together. Where it can't be known, the
    page says so instead.

    **Privacy.** The page holds what the parts show, as it is. A frame of private rows stays
    private, and so does an explanation of one: make pages that are published of released parts
    alone.

    Parameters
    ----------
    parts : dict, or list of (str, object)
        Titles and what is below them: text, numbers, reports, fitted models (their report, and
        parameters but for seeds), displays and figures of matplotlib, frames of pandas, scorecards,
        results of :func:`skdp.statistics.describe` and of scores and curves, or a list or dict of
        these.
    path : str or path-like
        File to write. One that is there is replaced.
    title : str, default="A private study"
        Heading of the page.
    ledger : skdp.ledger.PrivacyLedger, default=None
        A ledger to which all parts were charged. The guarantee of its budget is at the top then,
        instead of one that is composed from the parts. A part of a ledger has none.

    Returns
    -------
    path : pathlib.Path
        The file.

    Raises
    ------
    TypeError
        If a part, its title or the ledger is something else.
    ValueError
        If there are no parts, or if the guarantee of a part is weaker than that of the ledger.

    See Also
    --------
    skdp.accountant.PrivacyReport.to_markdown : One report for a file, with facts of your own.

    Examples
    --------
    >>> import os, tempfile
    >>> from skdp.datasets import load_visits
    >>> from skdp.plotting import report_page
    >>> from skdp.statistics import describe
    >>> visits = load_visits()
    >>> found = describe(visits.data, epsilon=0.5, groups=visits.patient)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = report_page({"The table": found}, os.path.join(folder, "study.html"))
    ...     text = page.read_text(encoding="utf-8")
    >>> "with epsilon = 0.5, delta = 1e-05." in text
    True
    """
    pairs = _checked_parts(parts)
    if not isinstance(title, str):
        raise TypeError("title must be a string.")
    # Most studies keep no ledger, and importing figures is to take no longer for those that do.
    from skdp.ledger import PrivacyLedger

    if ledger is not None and not isinstance(ledger, PrivacyLedger):
        raise TypeError(f"ledger must be a PrivacyLedger or None, got {type(ledger).__name__}.")
    sections = [
        f"<section><h2>{html.escape(name)}</h2>{_shown(part, name)}</section>"
        for name, part in pairs
    ]
    reports = [
        (name, report)
        for name, part in pairs
        # It is shown in its place.
        if not isinstance(part, PrivacyReport)
        for report in _distinct(_reports_of(part))
    ]
    if reports:
        tables = "".join(
            f'<h3>{html.escape(name)}</h3><div class="wide">{report._repr_html_()}</div>'
            for name, report in reports
        )
        sections.append(f"<section><h2>What is guaranteed, part by part</h2>{tables}</section>")
    text = "".join(
        (
            f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{html.escape(title)}</title><style>{_STYLE}</style></head><body><main>",
            f"<h1>{html.escape(title)}</h1>",
            *(f"<p{mark}>{html.escape(said)}</p>" for mark, said in _top(pairs, ledger)),
            *sections,
            "</main></body></html>\n",
        )
    )
    path = Path(path)
    path.write_text(text, encoding="utf-8")
    return path


def _checked_parts(parts):
    """Return titles and parts, of which there is at least one."""
    pairs = list(parts.items()) if isinstance(parts, dict) else parts
    if not isinstance(pairs, (list, tuple)) or not all(
        isinstance(pair, (list, tuple)) and len(pair) == 2 and isinstance(pair[0], str)
        for pair in pairs
    ):
        raise TypeError("parts must be a dict by title, or a list of pairs of a title and a part.")
    if not pairs:
        raise ValueError("parts must hold at least one part.")
    return [tuple(pair) for pair in pairs]


def _top(pairs, ledger):
    """Give what is said at the top: a mark for the style, and a text."""
    by_part = {name: _distinct(_reports_of(part)) for name, part in pairs}
    reports = _distinct(report for own in by_part.values() for report in own)
    with_report = ", ".join(repr(name) for name, own in by_part.items() if own)
    marked = ' class="guarantee"'
    if ledger is not None:
        budget = ledger.report()
        for report in reports:
            _check_within(report, budget)
        yield marked, budget.guarantee
        yield "", _OF_LEDGER
    elif not reports:
        yield marked, _NO_REPORT
        return
    else:
        try:
            joint = compose(reports) if len(reports) > 1 else reports[0]
            yield marked, joint.guarantee
        except ValueError as error:
            yield marked, _NO_TOTAL.format(error)
        else:
            exact = [repr(n) for n, own in by_part.items() if any(isinf(r.epsilon) for r in own)]
            if exact:
                yield "", _NO_NOISE.format(", ".join(exact))
            yield "", _ONE_FOR_ALL.format(with_report)
    without = [
        repr(name) for name, part in pairs if not by_part[name] and not isinstance(part, str)
    ]
    if without:
        yield "", _WITHOUT.format(", ".join(without))


def _check_within(report, budget):
    """Refuse a part that can't have been charged to a ledger.

    That would have refused a seed if its budget holds without one, and named what isn't protected.
    """
    same = report.adjacency == budget.adjacency and report.unit == budget.unit
    is_seeded = report.reproducible and not budget.reproducible
    is_open = not set(report.unprotected) <= set(budget.unprotected)
    is_dearer = report.epsilon_at(budget.delta) > budget.epsilon * (1 + 1e-9)
    if not same or is_seeded or is_open or is_dearer:
        raise ValueError(
            "the guarantee of a part is weaker than that of the ledger, or is of another kind: it "
            "was not charged to it."
        )


def _reports_of(part):
    """Give the reports of a part and of what is in it."""
    if isinstance(part, PrivacyReport):
        yield part
    elif isinstance(part, dict):
        for one in part.values():
            yield from _reports_of(one)
    elif isinstance(part, (list, tuple)):
        for one in part:
            yield from _reports_of(one)
    else:
        for name in ("privacy_report_", "report"):
            report = getattr(part, name, None)
            if isinstance(report, PrivacyReport):
                yield report
                return


def _distinct(reports):
    """Return reports, each object once: scores of one call share theirs, and equal fits don't."""
    return list({id(report): report for report in reports}.values())


class Html(str):
    """A table as HTML, whose maker escaped all texts in it."""


def _shown(part, name):
    """Return a part as HTML.

    A part of ours that isn't text, a frame or a figure may say by `_page_parts` of which parts it
    is made.
    """
    if isinstance(part, Html):
        return f'<div class="wide table">{part}</div>'
    if isinstance(part, str):
        texts = (html.escape(text) for text in part.split("\n\n"))
        return "".join(f"<p>{text}</p>" for text in texts)
    if isinstance(part, Real):
        return f"<p>{html.escape(f'{part:g}')}</p>"
    if isinstance(part, dict):
        items = (
            f"<h3>{html.escape(str(key))}</h3>{_shown(one, name)}" for key, one in part.items()
        )
        return "".join(items)
    if isinstance(part, (list, tuple)):
        return "".join(_shown(one, name) for one in part)
    if hasattr(part, "_page_parts"):
        return _shown(part._page_parts(), name)
    figure = getattr(part, "figure_", part)
    if hasattr(figure, "savefig"):
        return _drawn(figure, name)
    if isinstance(part, BaseEstimator):
        return f"<pre>{html.escape(repr(_without_seeds(part)))}</pre>"
    if is_of_skdp(part):
        if hasattr(part, "_repr_html_"):
            return f'<div class="wide">{part._repr_html_()}</div>'
        return f"<pre>{html.escape(repr(part))}</pre>"
    if hasattr(part, "to_html") or hasattr(part, "to_frame"):
        # A series and an index of pandas become a frame.
        frame = part if hasattr(part, "to_html") else part.to_frame()
        return _shown(Html(frame.to_html(border=0)), name)
    raise TypeError(
        f"the part {name!r} is of a type that a page doesn't show: {type(part).__name__}. "
        "Give text, a report, a model, a display, a figure or a data frame."
    )


class _Secret:
    """In place of a seed."""

    def __repr__(self):
        return "<secret>"


def _without_seeds(part):
    """Return a model whose seeds aren't shown: whoever reads one can take the noise off."""
    seeds = [
        name
        for name, value in part.get_params().items()
        if name.rpartition("__")[2] == "random_state" and value is not None
    ]
    return clone(part).set_params(**dict.fromkeys(seeds, _Secret())) if seeds else part


def _drawn(figure, name):
    """Return a figure as an image that is in the page itself."""
    import matplotlib

    buffer = io.BytesIO()
    # The same figure gives the same file.
    with matplotlib.rc_context({"svg.hashsalt": "skdp"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None}, bbox_inches="tight")
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    return f'<img alt="{html.escape(name)}" src="data:image/svg+xml;base64,{data}">'
