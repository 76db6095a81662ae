"""What a person sees of a ledger."""

import json

from skdp.accountant._filter import GaussianCost
from skdp.accountant._report_html import report_html
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
    "process",
    "user",
    "report",
)


def summarise(ledger, terms, total, rows):
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
        ("Spent", _spent(terms, total, rows)),
        ("Left", _left(terms, total, rows)),
        ("Note", _rules.ORIENTATION),
    ]
    return title, entries


def _spent(terms, total, rows):
    shown = f"epsilon = {total.epsilon(terms.delta):.4g} in {_counted(len(rows), 'charge')}"
    n_parts = len({row["part"] for row in rows if row["part"]})
    return shown + (f", the most of {_counted(n_parts, 'part')}" if n_parts > 1 else "")


def _left(terms, total, rows):
    shown = f"epsilon = {_rules.epsilon_left(total, terms):.4g} for one more Gaussian fit"
    if rows:
        last = rows[-1]
        cost = GaussianCost(last["mu"], last["erasure"])
        n_fits = _rules.n_more(cost, total, terms)
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


def read_charges(rows):
    """Return rows of the file with what their JSON says."""
    charges = []
    for row in rows:
        report = json.loads(row["report"])
        found = {**row, "adjacency": report["adjacency"], "events": report["event"]}
        found["part"] = row["part"] or None
        found["parameters"] = json.loads(row["parameters"])
        charges.append({name: found[name] for name in _COLUMNS})
    return charges


def charges_frame(charges):
    """Return charges as a table of pandas."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("PrivacyLedger.to_frame needs pandas; charges() doesn't.") from error
    frame = pd.DataFrame(charges, columns=_COLUMNS)
    frame["time"] = pd.to_datetime(frame["time"], utc=True)
    return frame
