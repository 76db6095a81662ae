"""Reports as entries that JSON knows, and back."""

import dataclasses
import html
import math
import re

from skdp._checks import check_real
from skdp.accountant._selection_event import INSIDE, RELEASES

# No colour but the notebook's own, so that light and dark themes both work.
_CELL = "text-align:left;vertical-align:top;padding:2px 8px;white-space:normal"
_NAME = "text-align:left;vertical-align:top;padding:2px 8px;white-space:nowrap"
_TABLE = (
    "border:1px solid currentColor;border-collapse:collapse;color:inherit;"
    "background:transparent;max-width:60em;margin:0.5em 0"
)
_LIST = "margin:0;padding-left:1.2em"
_INNER = "text-align:left;vertical-align:top;padding:0 16px 0 0;border:0"
_INNER_TABLE = "border:0;border-collapse:collapse;color:inherit;background:transparent;margin:0"


def report_html(title, entries):
    """Write a table of titles and texts; of tuples texts become a list, and pairs a table."""
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
    if not isinstance(value[0], str):
        rows = "".join(
            f'<tr style="background:transparent"><td style="{_INNER}">{html.escape(name)}</td>'
            f'<td style="{_INNER}">{html.escape(text)}</td></tr>'
            for name, text in value
        )
        return f'<table style="{_INNER_TABLE}"><tbody>{rows}</tbody></table>'
    items = "".join(f"<li>{html.escape(item)}</li>" for item in value)
    return f'<ul style="{_LIST}">{items}</ul>'


# These would mean something to a reader of Markdown, or of the HTML in it; GitHub makes links of
# addresses without markup, too.
_MARKUP = re.compile(r"([\\`*_\[\]<>#|~$&]|:(?=//)|(?<=www)\.)", re.IGNORECASE)
# GitHub looks for mail addresses and names of users after escapes are undone: to break them takes a
# character, which has no width.
_AT = "@\N{WORD JOINER}"
# Numbers that events show, by the word before them.
_NUMBERS = {
    "Gaussian": (
        "that of Gaussian is the noise's standard deviation over the bound on a contribution, or "
        "where it is called pairwise, over the distance between neighbours' values"
    ),
    "Poisson": "that of Poisson is the probability that a record takes part in a step",
    "Laplace": "that of Laplace is the noise's scale over the bound on a contribution",
    "NoisyMax": "that of NoisyMax is the scale of the noise on each score",
    "RandomizedResponse": "that of RandomizedResponse is the probability that a label is replaced",
    "Erasure": "that of Erasure is the probability that everything is revealed",
}


def explain_numbers(released):
    """Say what the numbers are in a report's words for what was released."""
    shown = [text for word, text in _NUMBERS.items() if f"{word}(" in released]
    return "; ".join([shown[0].replace("that of", "the number of", 1), *shown[1:]])


def report_markdown(title, entries):
    """Write a table of titles and texts, and below it a list for each tuple of texts."""
    table = [title, ("---", "---")]
    table += [pair for pair in entries if isinstance(pair[1], str)]
    lines = [f"| {_plain(name)} | {_plain(text)} |" for name, text in table]
    for name, items in entries:
        if not isinstance(items, str):
            lines += ["", f"**{_plain(name)}**", "", *(f"- {_plain(item)}" for item in items)]
    return "\n".join(lines) + "\n"


def _plain(text):
    """Return a text as one line that reads as it is."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split())).replace("@", _AT)


# The name of what a report of skdp 0.3.0 or before doesn't name, and what stands for that.
UNRECORDED = "steps that skdp 0.3.0 did not record"
_READ_WITH_CARE = (
    "steps that learnt from the records without privacy: skdp 0.3.0, which stored this report, "
    "kept no list of them. Fit again for a report that has one; or read the lines below with care, "
    "and make sure that every step of the fit was private or is named there"
)
# Notes of these versions began so if they said what was released where events stand for it.
_RELEASED = "released: "
_COMPARED = ("sampling", "sampling_rate", "n_steps", "n_releases", "noise_multiplier", "mu")
# Wording may change from one version to the next, and isn't compared.
_DERIVED = ("event", *_COMPARED)
_KINDS = {kind.__name__: kind for kind in RELEASES}
_KINDS_INSIDE = {kind.__name__: kind for kind in INSIDE}
_LONGEST_NAME = 40
# Versions and machines may differ by this share in what is derived.
_ROUNDING = 1e-9


def write_entries(report):
    """Fields of a report and what is derived from them, as types that JSON knows."""
    return _json_safe({name: getattr(report, name) for name in (*_names(report), *_DERIVED)})


def write_events(events):
    """Events as types that JSON knows."""
    return _json_safe(events)


def read_events(entries):
    """Events that `write_events` gave the entries of, or a ValueError."""
    return _events(entries, "events")


def read_entries(cls, entries):
    """Report of the class that `write_entries` gave the entries of, or a ValueError."""
    names = _names(cls)
    entries = complete(entries, list)
    _check_names(entries, (*names, *_DERIVED), "report")
    read = {name: _READERS.get(name, _unless_infinite) for name in names}
    report = cls(**{name: read[name](entries[name], name) for name in names})
    for name in ("accountant", *_COMPARED):
        if not _agree(entries[name], getattr(report, name), name):
            raise ValueError(f"entry {name!r} doesn't agree with its events.")
    return report


def complete(entries, sequence):
    """Return the fields of a stored report, with those that skdp 0.3.0 didn't have.

    Nobody knows which parts were unprotected then, and so the report names that. `sequence` is the
    type that holds several texts where the report was stored.
    """
    entries = dict(entries)
    if "unprotected" not in entries:
        entries["unprotected"] = sequence([UNRECORDED])
        if isinstance(texts := entries.get("not_covered"), sequence):
            entries["not_covered"] = sequence([_READ_WITH_CARE, *texts])
    if "released" not in entries:
        texts = entries.get("notes")
        notes = texts if isinstance(texts, sequence) else ()
        stated = [note for note in notes if isinstance(note, str) and note.startswith(_RELEASED)]
        entries["released"] = stated[0].removeprefix(_RELEASED) if stated else ""
        if stated:
            entries["notes"] = sequence(note for note in notes if note not in stated)
    # Nobody said what single events were.
    entries.setdefault("names", sequence())
    return entries


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
    if isinstance(value, RELEASES):
        parameters = {name: getattr(value, name) for name in _names(value)}
        return _json_safe({"type": type(value).__name__, **parameters})
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
    **dict.fromkeys(("accountant_version", "skdp_version", "released"), _text),
    **dict.fromkeys(("assumed_public", "not_covered", "unprotected", "notes", "names"), _texts),
}
