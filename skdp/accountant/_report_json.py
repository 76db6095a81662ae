"""Reports as entries that JSON knows, and back."""

import dataclasses
import math

from skdp._checks import check_real
from skdp.accountant._events import GaussianEvent, LaplaceEvent
from skdp.accountant._loss_distribution import LARGEST_PLD_STEPS, smallest_pld_delta
from skdp.accountant._profile import build_profile

_COMPARED = ("sampling", "sampling_rate", "n_steps", "n_releases", "noise_multiplier", "mu")
# Wording may change from one version to the next, and isn't compared.
_DERIVED = ("event", *_COMPARED)
_KINDS = {kind.__name__: kind for kind in (GaussianEvent, LaplaceEvent)}
_LONGEST_NAME = 40
# By how much versions and machines may differ in epsilon, and in what is derived otherwise.
_TOLERANCE, _ROUNDING = 0.01, 1e-9


def write_entries(report):
    """Fields of a report and what is derived from them, as types that JSON knows."""
    entries = {name: getattr(report, name) for name in (*_names(report), *_DERIVED)}
    entries["events"] = [
        {"type": type(event).__name__, **dataclasses.asdict(event)} for event in report.events
    ]
    return _json_safe(entries)


def read_entries(cls, entries):
    """Report of the class that `write_entries` gave the entries of, or a ValueError."""
    names = _names(cls)
    _check_names(entries, (*names, *_DERIVED), "report")
    report = cls(**{name: _READERS[name](entries[name], name) for name in names})
    for name in ("accountant", *_COMPARED):
        if not _agree(entries[name], getattr(report, name), name):
            raise ValueError(f"entry {name!r} doesn't agree with its events.")
    if report.epsilon * (1 + _TOLERANCE) < _smallest_epsilon(report):
        raise ValueError("entry 'epsilon' doesn't agree with its events: they allow no such value.")
    return report


def _smallest_epsilon(report):
    """Epsilon that the events have at least, up to errors of the loss distribution.

    Renyi divergences, and sums of epsilons, may be above or below each other, but not below this.
    Where the loss distribution is unreliable, a larger delta and fewer steps bound it from below.
    """
    events, delta, n_steps = report.events, report.delta, report.n_steps
    if delta > 0 and any(event.sampling_rate < 1 for event in events):
        if n_steps > LARGEST_PLD_STEPS:
            # Half of the steps that can be composed: each event keeps one, however many there are.
            share = 0.5 * LARGEST_PLD_STEPS / n_steps
            events = tuple(
                dataclasses.replace(event, n_steps=max(int(share * event.n_steps), 1))
                for event in events
            )
            n_steps = sum(event.n_steps for event in events)
        delta = max(delta, smallest_pld_delta(n_steps))
    return build_profile(events, report.adjacency, "pld").epsilon(delta)


def _agree(stated, derived, name):
    if isinstance(derived, float):
        return math.isclose(_number(stated, name), derived, rel_tol=_ROUNDING)
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


def _number(value, name):
    if isinstance(value, str) and value in ("inf", "-inf"):
        return float(value)
    if not isinstance(value, (int, float)):
        raise ValueError(f"entry {name!r} must be a number.")
    return check_real(value, name)


def _number_or_none(value, name):
    return None if value is None else _number(value, name)


def _count(value, name):
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"entry {name!r} must be an integer of at least 1.")
    return value


def _flag(value, name):
    if not isinstance(value, bool):
        raise ValueError(f"entry {name!r} must be true or false.")
    return value


def _text(value, name):
    if not isinstance(value, str) or not value.isprintable():
        raise ValueError(f"entry {name!r} must be a printable string.")
    return value


def _texts(value, name):
    if not isinstance(value, list):
        raise ValueError(f"entry {name!r} must be a list of strings.")
    return tuple(_text(item, name) for item in value)


def _events(value, name):
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ValueError(f"entry {name!r} must be a list of events.")
    return tuple(_event(item) for item in value)


def _event(entries):
    kind = entries.get("type")
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ValueError(f"entry 'type' of an event must be one of {tuple(_KINDS)}.")
    names = _names(_KINDS[kind])
    _check_names(entries, ("type", *names), kind)
    return _KINDS[kind](**{name: _READERS[name](entries[name], name) for name in names})


_READERS = {
    "epsilon": _number,
    "delta": _number,
    "adjacency": _text,
    "events": _events,
    "clipping": _number_or_none,
    "accountant": _text,
    "accountant_version": _text,
    "skdp_version": _text,
    "unit": _text,
    "assumed_public": _texts,
    "not_covered": _texts,
    "reproducible": _flag,
    "notes": _texts,
    "noise_multiplier": _number,
    "sampling_rate": _number,
    "n_steps": _count,
    "n_parts": _count,
    "pairwise": _flag,
    "largest_multiplier": _number_or_none,
}
