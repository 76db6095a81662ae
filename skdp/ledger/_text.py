"""What a person sees of a ledger."""

import json
import math
from collections import Counter

from skdp.accountant._filter import GaussianCost
from skdp.accountant._report_formats import UNRECORDED
from skdp.ledger import _rules

_OF_FIT = ("time", "part", "estimator", "parameters", "epsilon", "delta", "adjacency", "events")
_COLUMNS = (*_OF_FIT, "mu", "erasure", "share", "process", "user", "report")


def summarise(ledger, terms, totals, rows):
    """Return a title and pairs of names and texts."""
    title = f"Privacy ledger {ledger.path}"
    seeds = ", seeds allowed" if terms.allow_seeds else ""
    budget = f"epsilon = {terms.epsilon:g}, delta = {terms.delta:g}"
    spent = f"epsilon = {_rules.epsilon_spent(totals, terms):.4g}"
    spent += f" in {_counted(len(rows), 'charge')}"
    n_parts = len({row["part"] for row in rows if row["part"]})
    if n_parts > 1:
        spent += f", the most of {_counted(n_parts, 'part')}"
    left = f"epsilon = {_rules.epsilon_left(totals, terms):.4g} for one more Gaussian fit"
    if rows:
        last = rows[-1]
        n_fits = _rules.n_more(GaussianCost(last["mu"], last["erasure"]), totals, terms)
        left += f"; {_counted(n_fits, 'more fit')} like the last ({last['estimator']})"
    entries = {
        "Dataset": ledger.dataset,
        "Part": ledger.part_name,
        "Budget": f"{budget}; {terms.adjacency}, {terms.unit}{seeds}",
        "Spent": spent,
        "Left": left,
        "Note": _rules.ORIENTATION,
    }
    return title, [(name, text) for name, text in entries.items() if text]


def released(rows):
    """Say what was charged, by what made it."""
    counts = Counter(row["estimator"] for row in rows)
    found = ", ".join(f"{number} x {name}" for name, number in counts.items())
    return f"so far: {found}" if found else "nothing yet"


def unprotected(rows):
    """Name what the fits learnt without privacy; charges of skdp 0.3.0 don't say."""
    found = (json.loads(row["report"]).get("unprotected", (UNRECORDED,)) for row in rows)
    return tuple(dict.fromkeys(name for names in found for name in names))


def _counted(number, what):
    return f"{number} {what}{'s' * (number != 1)}"


def as_dict(ledger, terms, totals, rows):
    """Return everything as types that JSON knows."""
    shown = ("epsilon", "delta", "adjacency", "unit", "allow_seeds")
    spent = _rules.epsilon_spent(totals, terms)
    return {
        "path": ledger.path,
        "dataset": ledger.dataset,
        "part": ledger.part_name,
        **{name: getattr(terms, name) for name in shown},
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
