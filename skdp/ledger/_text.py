"""What a person sees of a ledger."""

import json
import math
from collections import Counter

from skdp.accountant._report_formats import UNRECORDED
from skdp.ledger._rules import ORIENTATION, counted

_OF_FIT = ("time", "part", "estimator", "parameters", "epsilon", "delta", "adjacency", "events")
_COLUMNS = (*_OF_FIT, "mu", "erasure", "share", "process", "user", "report")


def summarise(ledger, standing, rows):
    """Return a title and pairs of names and texts."""
    terms = standing.terms
    title = f"Privacy ledger {ledger.path}"
    seeds = ", seeds allowed" if terms.allow_seeds else ""
    budget = f"epsilon = {terms.epsilon:g}, delta = {terms.delta:g}"
    planned = "; for planned charges only" if standing.planned is not None else ""
    spent = f"epsilon = {standing.spent:.4g}, {standing.share:.1%} of the budget"
    if standing.planned is not None:
        spent = f"epsilon = {standing.spent:.4g}, {standing.share:.1%} of the planned charges"
    spent += f", in {counted(len(rows), 'charge')}"
    n_parts = len({row["part"] for row in rows if row["part"]})
    if n_parts > 1:
        spent += f", the most of {counted(n_parts, 'part')}"
    entries = {
        "Dataset": ledger.dataset,
        "Part": ledger.part_name,
        "Budget": f"{budget}; {terms.adjacency}, {terms.unit}{seeds}{planned}",
        "Spent": spent,
        "Left": standing.rest(rows),
        "Note": ORIENTATION,
    }
    return title, [(name, text) for name, text in entries.items() if text]


def released(rows):
    """Say what was charged, by what made it."""
    counts = Counter(row["estimator"] for row in rows)
    counted = ", ".join(f"{number} x {name}" for name, number in counts.items())
    return f"so far: {counted}" if counted else "nothing yet"


def unprotected(rows):
    """Name what the fits learnt without privacy; charges of skdp 0.3.0 don't say."""
    names_by_charge = (json.loads(row["report"]).get("unprotected", (UNRECORDED,)) for row in rows)
    return tuple(dict.fromkeys(name for names in names_by_charge for name in names))


def as_dict(ledger, standing, rows):
    """Return everything as types that JSON knows."""
    terms = standing.terms
    shown = ("epsilon", "delta", "adjacency", "unit", "allow_seeds")
    return {
        "path": ledger.path,
        "dataset": ledger.dataset,
        "part": ledger.part_name,
        **{name: getattr(terms, name) for name in shown},
        "spent": standing.spent if math.isfinite(standing.spent) else "inf",
        "left": standing.left,
        "share": standing.share,
        "planned": standing.planned,
        "charges": [_readable(row, standing) for row in rows],
    }


def _readable(row, standing):
    report = json.loads(row["report"])
    entries = {
        **row,
        "part": row["part"] or None,
        "parameters": json.loads(row["parameters"]),
        "adjacency": report["adjacency"],
        "events": report["event"],
        "share": standing.share_of(row),
    }
    return {name: entries[name] for name in _COLUMNS}


def charges_frame(charges):
    """Return charges as a table of pandas."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("PrivacyLedger.to_frame needs pandas; to_dict doesn't.") from error
    frame = pd.DataFrame(charges, columns=_COLUMNS)
    frame["time"] = pd.to_datetime(frame["time"], utc=True)
    return frame
