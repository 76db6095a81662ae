"""Rows of the file as what they mean: terms, totals, charges and seeds."""

import dataclasses
import datetime
import hashlib
import json
import unicodedata

from skdp.accountant import PrivacyReport
from skdp.exceptions import LedgerError
from skdp.ledger import _filter, _rules, _schedule, _store

_SUMS = """SELECT part, sum(mu * mu) AS square, sum(erasure) AS erasure, count(*) AS n_charges,
    max(coalesce(alone, 0.0)) AS alone FROM charge WHERE dataset = ? GROUP BY part"""
_PAID = """SELECT mu, erasure, planned FROM stream JOIN charge ON charge.id = stream.charge
    LEFT JOIN planned_use ON planned_use.charge = charge.id
    WHERE name = ? AND dataset = ? AND part = ?"""
_USED = """SELECT planned, count(*) AS n_charges FROM planned_use
    JOIN planned ON planned.id = planned_use.planned WHERE dataset = ? GROUP BY planned"""
# Each guess at a seed takes some milliseconds.
_HASH_ROUNDS = 20_000
_LONGEST_NAME = 200
# In place of a hash: a report says that there was a seed, but not which.
UNKNOWN_SEED = "unknown"


def now():
    """Return the time of a charge as text."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def checked(report):
    """Return a report whose epsilon is what its events give, or raise an error."""
    if not isinstance(report, PrivacyReport):
        raise TypeError(f"report must be a PrivacyReport, got {type(report).__name__}.")
    # It is checked anew: one that was unpickled, or changed behind a frozen object's back, never
    # was.
    return dataclasses.replace(report)


def check_name(name, parameter):
    """Return the name of a dataset or a part in its one spelling, or raise a ValueError."""
    is_short = isinstance(name, str) and 0 < len(name) <= _LONGEST_NAME
    if not (is_short and name.isprintable() and name == name.strip()):
        raise ValueError(
            f"{parameter} must be a string of 1 to {_LONGEST_NAME} printable letters that neither "
            "begins nor ends with a space."
        )
    # Keyboards write one letter in several ways, and two names were two parts.
    return unicodedata.normalize("NFC", name)


def read_terms(file, dataset, path):
    """Return the terms of a dataset's budget; a LedgerError says that there is none."""
    row = _store.find_budget(file, dataset)
    if row is None:
        problem = f"the ledger {path!r} has no budget for the dataset {dataset!r}"
        raise LedgerError(f"{problem}: {_store.HOW_TO_CREATE}.")
    terms = _rules.Terms(
        epsilon=row["epsilon"],
        delta=row["delta"],
        erasure=row["erasure"],
        adjacency=row["adjacency"],
        unit=row["unit"],
        allow_seeds=bool(row["allow_seeds"]),
        salt=row["salt"],
    )
    try:
        _ = terms.limits
    except ValueError as error:
        raise LedgerError(f"the ledger {path!r} has a budget that is none: {error}") from error
    return terms


def read_totals(file, dataset, part):
    """Return the totals that a charge to a part adds to; see `joint_totals`."""
    rows = _store.select(file, _SUMS, dataset)
    sums = {row.pop("part"): _rules.Total(**row) for row in rows}
    return _rules.joint_totals(sums, part)


def read_stated(file, dataset, part):
    """Return what the charges that count in a part state of themselves."""
    names = ("part", "epsilon", "delta")
    return [
        {name: row[name] for name in names} | {"adjacency": json.loads(row["report"])["adjacency"]}
        for row in read_charges(file, dataset, part)
    ]


def read_charges(file, dataset, part):
    """Return the rows of the charges that count in a part, "" for all."""
    query, values = "SELECT * FROM charge WHERE dataset = ?", [dataset]
    if part:
        query, values = f"{query} AND part IN ('', ?)", [*values, part]
    return list(_store.select(file, f"{query} ORDER BY id", *values))


def read_standing(file, dataset, part, path):
    """Return what a budget stands at for charges to a part, "" for those to all records."""
    terms = read_terms(file, dataset, path)
    plan = _read_plan(file, dataset)
    if plan is None:
        return _filter.Filter(terms, tuple(read_totals(file, dataset, part)))
    rows = _store.select(file, "SELECT * FROM planned WHERE dataset = ? ORDER BY id", dataset)
    counted = [row for row in rows if not part or row["part"] in ("", part)]
    items = {row["id"]: _schedule.read_item(row) for row in counted}
    used = {row["planned"]: row["n_charges"] for row in _store.select(file, _USED, dataset)}
    return _schedule.PlannedList(terms, plan["bound"], items, used, part)


def _read_plan(file, dataset):
    if not _store.has_table(file, "plan"):
        return None
    return next(_store.select(file, "SELECT * FROM plan WHERE dataset = ?", dataset), None)


def goes_on(file, dataset, part, states, report, standing):
    """Return whether a charge covers a call in a stream, which then leaves the second state.

    Nothing goes on from the first any more: calls that a charge covers follow one another, in one
    copy of the stream.
    """
    before, after = states
    paid = next(_store.select(file, _PAID, before, dataset, part), None)
    if paid is None or not standing.covers_call(report, paid):
        return False
    file.execute("UPDATE stream SET name = ? WHERE name = ?", (after, before))
    return True


def hash_seed(seed, terms, where):
    """Return what may be kept of a seed, None for none; a LedgerError if none is allowed."""
    if seed is None:
        return None
    if not terms.allow_seeds:
        raise LedgerError(
            f"{where} takes no fits with a seed (random_state), as equal seeds share their noise: "
            "fit with random_state=None, or make a ledger with allow_seeds=True."
        )
    if seed == UNKNOWN_SEED:
        return seed
    salt = bytes.fromhex(terms.salt)
    return hashlib.pbkdf2_hmac("sha256", seed.encode(), salt, _HASH_ROUNDS).hex()


def keep_seed(file, dataset, hashed, where):
    """Write the hash of a seed; a LedgerError if it, or one that might be it, is there."""
    kept = "SELECT 1 FROM seed WHERE dataset = ? AND hash = ?"
    any_kept = "SELECT 1 FROM seed WHERE dataset = ?"
    if any(_store.select(file, kept, dataset, UNKNOWN_SEED)) or (
        hashed == UNKNOWN_SEED and any(_store.select(file, any_kept, dataset))
    ):
        raise LedgerError(
            f"two seeds might be equal in {where}, as a report charged by charge() doesn't say "
            "which it had, and equal seeds have equal noise: take none."
        )
    if any(_store.select(file, kept, dataset, hashed)):
        raise LedgerError(
            f"a fit with this seed, and so the same noise, was charged to {where}: take another "
            "seed, or better none."
        )
    _store.insert(file, "seed", {"dataset": dataset, "hash": hashed})
