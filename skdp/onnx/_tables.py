"""Graphs of columns of a raw table: words, categories, and curves of numbers."""

import numpy as np
from skl2onnx.common import data_types as tensors

from skdp._rows.entries import same_word
from skdp._rows.kinds import BOOLEAN, DATE, WORD
from skdp._rows.naming import number_in_words
from skdp.additive._tuned import LARGEST_CURVE

NUMBERS = (
    tensors.FloatTensorType,
    tensors.DoubleTensorType,
    tensors.Int64TensorType,
    tensors.BooleanTensorType,
)
# Strings have these in place of a gap: ONNX has none, and onnxruntime writes NaN so.
GAPS = ("", "nan")
_AS_NUMBERS = "numbers", "floats, integers or booleans"
_AS_DATES = "dates", "floats or integers, which are days since 1970-01-01"
# From this version of the domain "ai.onnx.ml" on, keys may be strings and values integers.
_LABEL_ENCODER = 2


def convert_encoder(graph):
    """Add the graph of DPOneHotEncoder; each column has the type of the input that it is in."""
    model = graph.model
    columns, parts = graph.columns(model.n_features_in_), []
    for place, ((column, kind), known) in enumerate(zip(columns, model.categories_, strict=True)):
        known = known.tolist()
        if kind is tensors.StringTensorType:
            _check_strings(place, known)
        else:
            known = [_number_of(word, known, kind) for word in known]
        if known or model._n_last:
            hits = _HITS[kind](graph, column, known)
            parts.append(_indicators(graph, hits, len(known), model._n_last))
    if not parts:
        raise ValueError("This DPOneHotEncoder found no category: its output has no columns.")
    graph.publish(graph.join(parts))


def _check_strings(place, known):
    """Refuse a column of strings for categories that ONNX doesn't find in it."""
    if any(value != value for value in known):
        raise ValueError(
            "ONNX has no missing values among strings, and this DPOneHotEncoder a category for "
            "them: put a word in their place, before the fit."
        )
    if not all(isinstance(value, str) for value in known):
        raise TypeError(
            f"categories of column {place} are numbers, which ONNX doesn't read from text: give it "
            "an input of its own, of floats, integers or booleans."
        )


def _indicators(graph, hits, n_known, n_last):
    """Return columns of 0 and 1; a row of no category is in the last one, if there is one."""
    width = n_known + n_last
    spread = np.eye(max(n_known, 1), width, dtype=graph.dtype)
    unknown = np.zeros(width, dtype=graph.dtype)
    if n_last:
        spread[:, -1], unknown[-1] = -1.0, 1.0
    return graph.add("Add", graph.add("MatMul", graph.floats(hits), spread), unknown)


def _number_hits(graph, column, known):
    """Return where numbers are equal to categories; where there are none, in a column of false."""
    # As in Python: .1 in float32 isn't the category .1.
    column = graph.floats(column, np.float64)
    is_gap = np.array([value != value for value in known], dtype=bool)
    numbers = [value if isinstance(value, float) else np.nan for value in known] or [np.nan]
    hits = graph.add("Equal", column, np.array([numbers]))
    if is_gap.any():
        missing = graph.add("And", graph.add("IsNaN", column), is_gap[np.newaxis])
        hits = graph.add("Or", hits, missing)
    return hits


def _string_hits(graph, column, known, others=None):
    gaps = {text: j for j, value in enumerate(known) if value != value for text in GAPS}
    words = {value: j for j, value in enumerate(known) if isinstance(value, str)}
    places = gaps | {word: j for word, j in (others or {}).items() if word is not None} | words
    # No string is at the place of a number.
    places = places or {"": -1}
    place_of_word = graph.add(
        "LabelEncoder",
        column,
        keys_strings=list(places),
        values_int64s=list(places.values()),
        default_int64=-1,
        op_version=_LABEL_ENCODER,
    )
    return graph.add("Equal", place_of_word, np.arange(max(len(known), 1))[np.newaxis])


_HITS = {tensors.StringTensorType: _string_hits, **dict.fromkeys(NUMBERS, _number_hits)}
# Columns may come in tensors of these types.
TYPES = tuple(_HITS)


def convert_vectorizer(graph):
    """Add the graph of DPTableVectorizer."""
    graph.publish(terms_of(graph, graph.model))


def terms_of(graph, model):
    """Return the columns of the terms of a table; pairs are of those before."""
    columns, parts = graph.columns(model.n_features_in_), []
    for term in model._basis.terms:
        if term.kind == "pair":
            first, second = (parts[place] for place in term.features)
            parts.append(_products(graph, term, first, second))
        elif term.kind == "product":
            curves = zip(term.features, term.curves, strict=True)
            parts.append(graph.add("Mul", *[_bent(graph, parts[j], curve) for j, curve in curves]))
        else:
            kind_at_fit = model._kinds[term.feature]
            parts.append(_TERMS[term.kind](graph, term, kind_at_fit, *columns[term.feature]))
    return graph.join(parts)


def _bent(graph, part, curve):
    """Return a bounded curve of the columns of a term."""
    weights, shift = curve.weights[:, np.newaxis], np.array([curve.shift])
    height = np.array([LARGEST_CURVE])
    weights, shift, height = (each.astype(graph.dtype) for each in (weights, shift, height))
    slope = graph.add("Sub", graph.add("MatMul", part, weights), shift)
    return graph.add("Mul", graph.add("Tanh", slope), height)


def _products(graph, term, first, second):
    sizes = term.first.n_columns, term.second.n_columns
    parts = zip((first, second), np.indices(sizes).reshape(2, -1), strict=True)
    return graph.add("Mul", *[graph.add("Gather", part, at, axis=1) for part, at in parts])


def _word_columns(graph, term, kind_at_fit, column, kind):
    known = term.categories.tolist()
    if kind is tensors.StringTensorType:
        if kind_at_fit != WORD:
            raise TypeError(
                f"column {term.name!r} held booleans or numbers in the fit, whose texts ONNX "
                "doesn't read: give it an input of its own, of booleans, integers or floats."
            )
        # Where one of 1 and True is a word, it stands for both.
        others = [same_word(word) for word in known]
        hits = _string_hits(graph, column, known, dict(zip(others, range(len(known)), strict=True)))
    else:
        known = [_number_of(word, known, kind, is_boolean=kind_at_fit == BOOLEAN) for word in known]
        column = graph.floats(column, np.float64)
        column = graph.add("Where", graph.add("IsInf", column), np.array([np.nan]), column)
        hits = _number_hits(graph, column, known)
    return _indicators(graph, hits, len(known), 1)


_TRUTH = {"False": 0.0, "True": 1.0}


def _number_of(word, known, kind, *, is_boolean=False):
    """Return the number of which a column makes one of the known words, or the word if none.

    A boolean is its own word, or else that of 0 or 1; a number that of 0 or 1, or else a boolean's.
    """
    if not isinstance(word, str):
        return word
    other = same_word(word)
    if other is not None:
        number = _TRUTH.get(word, _TRUTH.get(other))
        is_first = (word in _TRUTH) == (is_boolean or kind is tensors.BooleanTensorType)
        return number if number not in known and (is_first or other not in known) else word
    try:
        number = float(word)
    except ValueError:
        return word
    is_read = np.isfinite(number) and number_in_words(number) == word and number not in known
    return number if is_read else word


def _number_columns(graph, term, kind_at_fit, column, kind):
    if kind not in NUMBERS:
        content, as_what = _AS_DATES if kind_at_fit == DATE else _AS_NUMBERS
        raise TypeError(
            f"column {term.name!r} is one of {content}, which ONNX doesn't read from text: give it "
            f"an input of its own, of {as_what}."
        )
    # Near knots and spikes float32 may have too few digits.
    x, knots = graph.floats(column, np.float64), term.knots
    is_gap = graph.add("Or", graph.add("IsNaN", x), graph.add("IsInf", x))
    filled = graph.add("Where", is_gap, knots[[knots.size // 2]], x)
    shape = _SHAPES[term.kind](graph, graph.cut(filled, knots[:1], knots[-1:]), knots)
    flags = [is_gap] if term.has_gap else []
    if term.spike is not None:
        near = filled if term.bounds is None else graph.cut(filled, *np.array([term.bounds]).T)
        is_spike = graph.add("Equal", near, np.array([term.spike]))
        flags.insert(0, graph.add("And", is_spike, graph.add("Not", is_gap)))
    for flag in flags:
        shape = graph.add("Where", flag, np.zeros(1), shape)
    return graph.join([graph.floats(part) for part in (shape, *flags)])


def _hats(graph, x, knots):
    """Return hats: one begins to fall where the next begins to rise."""
    # With one knot there is no step, and a step of 1 stands for it: not every runtime multiplies
    # empty matrices.
    starts, steps = (knots[:-1], np.diff(knots)) if knots.size > 1 else (knots, np.ones(1))
    risen = graph.add("Div", graph.add("Sub", x, starts), steps)
    risen = graph.cut(risen, np.zeros(1), np.ones(1))
    shift = np.eye(starts.size, knots.size, 1) - np.eye(starts.size, knots.size)
    return graph.add("Add", graph.add("MatMul", risen, shift), np.eye(1, knots.size))


def _line(graph, x, knots):
    middle, half = 0.5 * knots[:1] + 0.5 * knots[-1:], 0.5 * knots[-1:] - 0.5 * knots[:1]
    return graph.add("Div", graph.add("Sub", x, middle), half)


_SHAPES = {"hats": _hats, "line": _line}
_TERMS = {**dict.fromkeys(_SHAPES, _number_columns), "words": _word_columns}
