"""What officials ask of a guarantee beyond the report: a card's facts, and a registry's entry."""

import datetime
import json
import math
import re
from numbers import Real

from skdp._checks import check_count
from skdp.accountant import (
    _filter,
    _profile,
    _report_formats,
    _report_questions,
    _report_words,
)
from skdp.accountant._report_words import rounded_up
from skdp.accountant._selection_event import SelectionEvent

# Facts of a card that are a text or a list of texts, and what tables call them.
_FACTS = {
    "name": "Name",
    "description": "Description",
    "curator": "Curator",
    "purpose": "Purpose",
    "region": "Region",
    "sector": "Sector",
    "product_type": "Product",
    "publication_date": "Published",
    "collection_dates": "Collected",
    "unit": "A record is",
    "domain": "Domain",
    "justification": "Justification",
    "sources": "Sources",
    "authors": "Authors of this card",
}
CARD_KEYS = (*_FACTS, "model", "n_records", "score", "audit")
# Parameters that bound the records.
_RANGES = {"feature_bounds", "target_bounds", "norm_bounds", "data_norm", "classes", "categories"}
_NOT_SET = (
    "None is not used, a constant, learnt within the guarantee, or named where it is said what is "
    "assumed to be public"
)
# Facts that the registry asks for in its first tier, and in its third.
_FIRST_TIER = (
    "name",
    "description",
    "curator",
    "purpose",
    "region",
    "sector",
    "product_type",
    "publication_date",
)
_THIRD_TIER = ("domain", "justification")
_MU = "Gaussian DP"
_OTHERS = {"zero_out": "replace_one", "replace_one": "zero_out"}
# A Gaussian guarantee may leave this part of delta to an event that reveals everything.
_ERASED = 0.01

_CENTRAL = (
    "central: a curator holds the records and is trusted with them; noise is added to what is "
    "computed from them, and only that is published"
)
_SYSTEM = "the operating system: skdp draws noise and coins from its generator (os.urandom)"
_SEEDED = (
    "a seed (random_state), by a generator that isn't cryptographic: anyone who learns the seed "
    "can remove the noise"
)
_FLOATS = (
    "sums and noise are rounded to one grid, whose step is a power of two and follows from public "
    "and released numbers, and are added exactly, so low-order bits reveal nothing about the sum "
    "(Mironov, 2012); rounding is counted in the sensitivity; Gaussian noise has the digits of "
    "double precision; counts, choices and replaced labels have whole numbers and exact coins"
)
_ITERATES = (
    "the guarantee is of all noisy numbers on the way to the result, not only of the last ones: "
    "all may be published"
)
_BATCHES = ", but not which records were in a batch"
_TRIALS = "; of the trials of a private selection only the chosen one, and not their number"
_HIDDEN = "; of counts that are held against a threshold, only those above it"
_POST = "what is computed from the published numbers alone has the same guarantee"
_SELECTED = "covered: the choice among the trials of a private selection"
_OUTSIDE = (
    "not covered: preprocessing fitted on the same records and parameters chosen by looking at "
    "them, where this was done outside of this fit"
)
_SCORE = "its release is counted above only where both reports were composed"
_AUDIT = (
    "a lower bound, and no proof; not private: computed from the training data, so that this line "
    "is published only where those were public or made up"
)
_TOO_LARGE = "a guarantee with it allows some records to be published outright"
_NO_REGISTRY = (
    "epsilon is infinite, so that there is no guarantee to register; fit with a finite epsilon."
)


def card_markdown(report, card):
    """Write a report's entries with a card's facts, and with what officials ask for besides."""
    entries = list(_entries(report, _checked(card)))
    if math.isfinite(report.epsilon):
        entries += _report_questions.answers({title for title, _ in entries})
    entries.append(("Made by", f"skdp {report.skdp_version}"))
    return _report_formats.report_markdown(("Privacy report", repr(report)), entries)


def _entries(report, card):
    yield from ((title, _line(card[name])) for name, title in _FACTS.items() if name in card)
    is_finite = math.isfinite(report.epsilon)
    for title, text in report._entries():
        if title == "Released" and not isinstance(text, str):
            text = tuple(" ".join(line.split()) for line in text)
        # Among the numbers it stands for all kinds of noise.
        if title != _MU:
            yield title, text
        if title == "Protects" and is_finite:
            yield from _numbers(report, card)
    yield "Adjacency", report.adjacency
    if is_finite and not report.released:
        yield "Noise", _report_formats.explain_numbers(report.event)
    if is_finite:
        yield "Trust model", _CENTRAL
        yield "Randomness", _source(report)
        yield "Floating point", _FLOATS
        yield "Covers", _covered(report)
        yield "Preparation and tuning", _preparation(report)
    yield from _evidence(card)


def registry_yaml(report, card):
    """Write the entry of the registry of deployments."""
    if math.isinf(report.epsilon):
        raise ValueError(_NO_REGISTRY)
    card = _checked(card)
    texts = {name: _line(card.get(name, "")) for name in _FACTS}
    rows = dict(report._rows())
    numbers = (f"{title}: {text}" for title, text in _numbers(report, card))
    evidence = (f"{title}: {text}" for title, text in _evidence(card))
    dates = texts["collection_dates"]
    collected = f"collected: {dates}" if dates else ""
    rho = _rho(report)
    spent = {"epsilon": report.epsilon, "delta": report.delta}
    product = {
        "name": texts["name"],
        "description": texts["description"],
        "data_curators": _items(card.get("curator", "")),
        "intended_use": texts["purpose"],
        "data_product_type": texts["product_type"],
        "data_product_region": texts["region"],
        "data_product_sector": texts["sector"],
        "publication_date": texts["publication_date"],
    }
    flavor = {
        "name": "Approximate DP" if report.delta > 0.0 else "Pure DP",
        "data_domain": _joined(texts["domain"], collected),
        "unprotected_quantities": _joined(*report.assumed_public, _unprotected(report)),
    }
    loss = {
        "privacy_unit": report.unit,
        "privacy_unit_description": _joined(texts["unit"], rows["Protects"]),
        "privacy_parameters": spent if rho is None else {**spent, "rho": rho},
        "privacy_parameters_description": _joined(rows["Guarantee"], *numbers),
    }
    model = {
        "model_name": "Central",
        "model_name_description": _CENTRAL,
        "release_type_description": _covered(report),
    }
    accounting = {
        "post_processing": _POST,
        "composition": _joined(rows["Accountant"], _listed("not covered: ", report._left_open())),
    }
    noise = (f"randomness: {_source(report)}", f"floating point: {_FLOATS}")
    implementation = {
        "pre_processing_eda_hyperparameter_tuning": _preparation(report),
        "mechanisms": _joined(
            _in_turn(rows["Released"]), *noise, f"software: skdp {report.skdp_version}"
        ),
        "justification": _joined(texts["justification"], *evidence),
    }
    resources = {"sources": texts["sources"], "registry_authors": _items(card.get("authors", ""))}
    deployment = {
        "product": product,
        "dp_flavor": flavor,
        "privacy_loss": loss,
        "model": model,
        "accounting": accounting,
        "implementation": implementation,
        "resources": resources,
    }
    entry = {"status": "Draft", "tier": _tier(card), "deployment": deployment}
    return "\n".join(_yaml_lines(entry)) + "\n"


def _checked(card):
    """Return a card with texts, lists of texts and whole numbers, or an error that names a key."""
    if card is None:
        return {}
    if not isinstance(card, dict):
        raise TypeError(f"card must be a dict, with keys of {CARD_KEYS}.")
    if not set(card) <= set(CARD_KEYS):
        raise ValueError(f"the keys of card must be of {CARD_KEYS}.")
    checks = {"model": _ranges, "n_records": check_count, "score": _scores, "audit": _audit}
    card = {name: checks.get(name, _fact)(value, name) for name, value in card.items()}
    if card.get("model"):
        card["domain"] = _joined(_line(card.get("domain", "")), card["model"], _NOT_SET)
    return card


def _fact(value, name):
    """Return a text, or a list of some: dates and numbers are texts, too."""
    if isinstance(value, (list, tuple)):
        return [_fact(None if isinstance(item, (list, tuple)) else item, name) for item in value]
    if isinstance(value, datetime.datetime):
        value = value.date()
    if isinstance(value, datetime.date):
        return value.isoformat()
    if not isinstance(value, (str, Real)) or isinstance(value, bool):
        raise TypeError(f"{name!r} of card must be a text, a date, a number, or a list of some.")
    return str(value)


def _ranges(value, name):
    """Return the parameters of a model and its steps that bound the records, in words."""
    if not hasattr(value, "get_params"):
        raise TypeError(f"{name!r} of card must be an estimator.")
    parameters = value.get_params().items()
    return "; ".join(
        f"{key} = {one!r}" for key, one in parameters if key.split("__")[-1] in _RANGES
    )


def _scores(value, name):
    """Return private scores as a list; a score without a guarantee would be no private one."""
    scores = list(value.values()) if isinstance(value, dict) else value
    scores = list(scores) if isinstance(scores, (list, tuple)) else [scores]
    # Scores are known by what they have, a guarantee and an interval: metrics build on this
    # package.
    if not all(hasattr(score, "report") and hasattr(score, "level") for score in scores):
        raise TypeError(f"{name!r} of card must be what skdp.metrics.private_score returned.")
    return scores


def _audit(value, name):
    if not hasattr(value, "epsilon_lower_bound"):
        raise TypeError(f"{name!r} of card must be what skdp.audit.audit returned.")
    return value


def _line(fact):
    return fact if isinstance(fact, str) else "; ".join(fact)


def _items(fact):
    return [fact] if isinstance(fact, str) else fact


def _in_turn(released):
    if isinstance(released, str):
        return released
    return ", then ".join(" ".join(line.split()) for line in released)


def _joined(*texts):
    return ". ".join(text.rstrip(".") for text in texts if text)


def _listed(title, texts):
    return title + "; ".join(texts) if texts else ""


def _tier(card):
    """Return the registry's tier whose facts are all there, and those of the tiers below."""
    if not all(card.get(name) for name in _FIRST_TIER):
        return 1
    return 3 if all(card.get(name) for name in _THIRD_TIER) else 2


def _source(report):
    return _SEEDED if report.reproducible else _SYSTEM


def _covered(report):
    selects = any(type(event) is SelectionEvent for event in report.events)
    samples = any(event.sampling_rate < 1.0 for event in report.events)
    hides = any(event.erasure or getattr(event, "erasure_inside", 0.0) for event in report.events)
    return _ITERATES + _BATCHES * samples + _HIDDEN * hides + _TRIALS * selects


def _preparation(report):
    """Say in a line whether preprocessing and tuning are covered."""
    selects = any(type(event) is SelectionEvent for event in report.events)
    return _joined(_SELECTED * selects, _unprotected(report), _OUTSIDE)


def _unprotected(report):
    return _listed("learnt without this guarantee: ", report.unprotected)


def _evidence(card):
    """Give what was measured of the result: scores and an attack."""
    for score in card.get("score", ()):
        yield "Score", f"{score!r}; {_SCORE}"
    if "audit" in card:
        result = card["audit"]
        yield "Audit", f"{result!r} ({result.method}, confidence {result.confidence:g}); {_AUDIT}"


def _numbers(report, card):
    """Give the guarantee by other measures, each rounded to the private side."""
    yield _MU, _gaussian(report)
    yield "Delta", _delta(report, card.get("n_records"))
    other = _OTHERS.get(report.adjacency)
    if other:
        yield f"Under {other}", _elsewhere(report, other)
    rho = _rho(report)
    known = (
        f"rho = {rounded_up(rho)}"
        if rho is not None
        else "none: not all noise has such a guarantee"
    )
    yield "zCDP", known


def _gaussian(report):
    """Say which Gaussian release tells at least as much as all of these."""
    erased = _ERASED * report.delta if report.mu is None else 0.0
    try:
        cost = _filter.cost_of_report(report, report.adjacency, erasure=erased)
    except _filter.ErasureTooSmallError:
        return "no mu can be computed at this delta"
    text = _report_words.gaussian_words(cost.mu, rounded_up(cost.mu), report._record)
    if cost.erasure > 0.0:
        probability = rounded_up(cost.erasure)
        text += f", except with a probability of {probability} for which nothing is claimed"
    return text


def _delta(report, n_records):
    if report.delta == 0.0:
        return "delta = 0: epsilon holds without exception"
    if n_records is None:
        return f"delta = {report.delta:g}, to be compared with one over the number of records"
    share, records = report.delta * n_records, "groups" if report.unit == "one group" else "records"
    text = (
        f"delta = {report.delta:g} is {rounded_up(share)} times 1 / n = {1.0 / n_records:.4g}, "
        f"for the n = {n_records} {records}, whose number is public"
    )
    return text if share <= 1.0 else f"{text}; that is too large: {_TOO_LARGE}"


def _elsewhere(report, adjacency):
    """Say what epsilon is where neighbouring data sets differ in another way."""
    events = _filter.events_under(report, adjacency)
    if adjacency == "zero_out" and report.released:
        # Events may stand for distances between neighbours' values, which are never halved.
        return f"epsilon = {rounded_up(report.epsilon)} at the same delta"
    try:
        epsilon = _profile.epsilon_of(events, adjacency, "pld", report.delta)
    except ValueError:
        epsilon = math.inf
    if adjacency == "replace_one":
        # One record goes and another comes: a chain of two neighbours.
        profile = report._profile()
        epsilon = min(epsilon, _profile.group_epsilon(profile, report.delta, 2))
    if math.isinf(epsilon):
        return "no epsilon is known at this delta"
    return f"epsilon = {rounded_up(epsilon)} at the same delta"


def _rho(report):
    """Return the parameter of zero-concentrated privacy of full batches and of pure noise."""
    pure = [event for event in report.events if event.is_pure]
    others = [event for event in report.events if not event.is_pure]
    mu = _profile.full_batch_mu(others, report.adjacency)
    if mu is None:
        return None
    return 0.5 * math.fsum(x * x for x in (mu, *(e.epsilon(report.adjacency) for e in pure)))


# YAML doesn't allow these as they are: controls, line ends of Unicode, halves of pairs, marks of
# order.
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")


def _yaml_lines(value, indent=""):
    """Write nested dicts and lists of scalars; texts are in double quotes, as in JSON."""
    for name, item in value.items():
        if isinstance(item, dict):
            yield f"{indent}{name}:"
            yield from _yaml_lines(item, indent + "  ")
        elif isinstance(item, list):
            yield f"{indent}{name}:"
            yield from (f"{indent}  - {_scalar(one)}" for one in item)
        else:
            yield f"{indent}{name}: {_scalar(item)}"


def _scalar(value):
    if isinstance(value, str):
        quoted = json.dumps(value, ensure_ascii=False)
        return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)
    if isinstance(value, float):
        # YAML 1.1 takes a number without a point for a text.
        digits, *exponent = repr(value).split("e")
        return "e".join([digits if "." in digits else f"{digits}.0", *exponent])
    return str(value)
