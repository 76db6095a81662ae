"""What a person sees of a ledger."""

import json
import math

from skdp.accountant._filter import GaussianCost
from skdp.accountant._report_formats import report_html
from skdp.ledger import _rules

_COLUMNS = (
    "time",
    "part",
    "estimator",
    "parameters",
    "epsilon",
    "delta",
    "adjacency",
    "events",
    "mu",
    "erasure",
    "share",
    "process",
    "user",
    "report",
)
_SHOWN_TERMS = ("epsilon", "delta", "adjacency", "unit", "allow_seeds")


def summarise(ledger, terms, totals, rows):
    """Return a title and pairs of names and texts."""
    title = f"Privacy ledger {ledger.path}"
    entries = [("Dataset", ledger.dataset)]
    if ledger.part_name:
        entries.append(("Part", ledger.part_name))
    entries += [
        (
            "Budget",
            f"epsilon = {terms.epsilon:g}, delta = {terms.delta:g}; {terms.adjacency}, "
            f"{terms.unit}{', seeds allowed' if terms.allow_seeds else ''}",
        ),
        ("Spent", _spent(terms, totals, rows)),
        ("Left", _left(terms, totals, rows)),
        ("Note", _rules.ORIENTATION),
    ]
    return title, entries


def _spent(terms, totals, rows):
    shown = (
        f"epsilon = {_rules.epsilon_spent(totals, terms):.4g} in {_counted(len(rows), 'charge')}"
    )
    n_parts = len({row["part"] for row in rows if row["part"]})
    return shown + (f", the most of {_counted(n_parts, 'part')}" if n_parts > 1 else "")


def _left(terms, totals, rows):
    shown = f"epsilon = {_rules.epsilon_left(totals, terms):.4g} for one more Gaussian fit"
    if rows:
        last = rows[-1]
        cost = GaussianCost(last["mu"], last["erasure"])
        n_fits = _rules.n_more(cost, totals, terms)
        shown += f"; {_counted(n_fits, 'more fit')} like the last ({last['estimator']})"
    return shown


def _counted(number, what):
    return f"{number} {what}{'s' * (number != 1)}"


def plain(title, entries):
    """Write a summary for a terminal."""
    return "\n".join([title, *(f"{name:<10}{value}" for name, value in entries)])


def as_html(title, entries):
    """Write a summary for a notebook."""
    return report_html(title, entries)


def as_dict(ledger, terms, totals, rows):
    """Return everything as types that JSON knows."""
    budget = {name: getattr(terms, name) for name in _SHOWN_TERMS}
    spent = _rules.epsilon_spent(totals, terms)
    return {
        "path": ledger.path,
        "dataset": ledger.dataset,
        "part": ledger.part_name,
        **budget,
        "spent": spent if math.isfinite(spent) else "inf",
        "left": _rules.epsilon_left(totals, terms),
        "charges": [_readable(row, terms) for row in rows],
    }


def _readable(row, terms):
    report = json.loads(row["report"])
    found = {
        **row,
        "part": row["part"] or None,
        "parameters": json.loads(row["parameters"]),
        "adjacency": report["adjacency"],
        "events": report["event"],
        "share": _rules.share_of(GaussianCost(row["mu"], row["erasure"]), terms),
    }
    return {name: found[name] for name in _COLUMNS}


def charges_frame(charges):
    """Return charges as a table of pandas."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("PrivacyLedger.to_frame needs pandas; to_dict doesn't.") from error
    frame = pd.DataFrame(charges, columns=_COLUMNS)
    frame["time"] = pd.to_datetime(frame["time"], utc=True)
    return frame
