"""Reports as entries that JSON knows, and back."""

import dataclasses
import math

from skdp._checks import check_real
from skdp.accountant._events import EVENTS
from skdp.accountant._selection_event import INSIDE, NoisyMaxEvent, SelectionEvent

_COMPARED = ("sampling", "sampling_rate", "n_steps", "n_releases", "noise_multiplier", "mu")
# Wording may change from one version to the next, and isn't compared.
_DERIVED = ("event", *_COMPARED)
_KINDS = {kind.__name__: kind for kind in (*EVENTS, NoisyMaxEvent, SelectionEvent)}
_KINDS_INSIDE = {kind.__name__: kind for kind in INSIDE}
_LONGEST_NAME = 40
# By how much versions and machines may differ in what is derived.
_ROUNDING = 1e-9


def write_entries(report):
    """Fields of a report and what is derived from them, as types that JSON knows."""
    entries = {name: getattr(report, name) for name in (*_names(report), *_DERIVED)}
    entries["events"] = _write_events(report.events)
    return _json_safe(entries)


def _write_events(events):
    return [
        {"type": type(event).__name__}
        | {name: getattr(event, name) for name in _names(event)}
        | _write_alternatives(event)
        for event in events
    ]


def _write_alternatives(event):
    if type(event) is not SelectionEvent:
        return {}
    return {"alternatives": [_write_events(events) for events in event.alternatives]}


def read_entries(cls, entries):
    """Report of the class that `write_entries` gave the entries of, or a ValueError."""
    names = _names(cls)
    _check_names(entries, (*names, *_DERIVED), "report")
    read = {name: _READERS.get(name, _unless_infinite) for name in names}
    report = cls(**{name: read[name](entries[name], name) for name in names})
    for name in ("accountant", *_COMPARED):
        if not _agree(entries[name], getattr(report, name), name):
            raise ValueError(f"entry {name!r} doesn't agree with its events.")
    return report


def _agree(stated, derived, name):
    if isinstance(derived, float):
        return math.isclose(check_real(_unless_infinite(stated), name), derived, rel_tol=_ROUNDING)
    return type(stated) is type(derived) and stated == derived


def _check_names(entries, names, owner):
    for name in entries:
        if name not in names:
            shown = repr(name)
            shown = shown if len(shown) <= _LONGEST_NAME else f"{shown[:_LONGEST_NAME]}..."
            raise ValueError(f"a {owner} has no entry {shown}.")
    for name in names:
        if name not in entries:
            raise ValueError(f"entry {name!r} of the {owner} is missing.")


def _names(owner):
    return tuple(field.name for field in dataclasses.fields(owner))


def _json_safe(value):
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if isinstance(value, dict):
        return {key: _json_safe(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json_safe(item) for item in value]
    return value


def _unless_infinite(value, _=None):
    """Return a value as it is, for its owner to check, but for infinity, which JSON lacks."""
    return float(value) if isinstance(value, str) and value in ("inf", "-inf") else value


def _text(value, name):
    if not isinstance(value, str) or not value.isprintable():
        raise ValueError(f"entry {name!r} must be a printable string.")
    return value


def _texts(value, name):
    if not isinstance(value, list):
        raise ValueError(f"entry {name!r} must be a list of strings.")
    return tuple(_text(item, name) for item in value)


def _events(value, name, kinds=_KINDS):
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ValueError(f"entry {name!r} must be a list of events.")
    return tuple(_event(item, kinds) for item in value)


def _event(entries, kinds):
    kind = entries.get("type")
    if not isinstance(kind, str) or kind not in kinds:
        raise ValueError(f"entry 'type' of an event must be one of {tuple(kinds)}.")
    names = _names(kinds[kind])
    _check_names(entries, ("type", *names), kind)
    read = {"alternatives": _alternatives}
    return kinds[kind](**{n: read.get(n, _unless_infinite)(entries[n], n) for n in names})


def _alternatives(value, name):
    if not isinstance(value, list):
        raise ValueError(f"entry {name!r} must be a list of lists of events.")
    return tuple(_events(item, name, _KINDS_INSIDE) for item in value)


_READERS = {
    "events": _events,
    **dict.fromkeys(("adjacency", "accountant", "unit"), _text),
    **dict.fromkeys(("accountant_version", "skdp_version"), _text),
    **dict.fromkeys(("assumed_public", "not_covered", "notes"), _texts),
}
