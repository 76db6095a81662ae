"""A scorecard of whole points, as credit desks use them. It follows from what a fit released."""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from skdp._checks import check_fields, check_within
from skdp._rows.labels import MISSING, texts_apart
from skdp.additive import _tuned as tuned
from skdp.additive._reading import read_rows
from skdp.additive._shapes import Shape, shape_of

# Larger points would not be whole numbers of 64 bits.
_LARGEST_OF_SCALE = 1e6


def _check_base(value, name):
    return check_within(value, name, -_LARGEST_OF_SCALE, _LARGEST_OF_SCALE)


def _check_scale(value, name):
    return check_within(value, name, 0.0, _LARGEST_OF_SCALE, "(]")


@dataclass(frozen=True, eq=False)
class TermPoints:
    """Whole points of a term, whose `features` are its columns: one for each of its bins.

    `labels` are the bins: ranges of numbers, words, missing entries; of a pair, their combinations.
    `shares` are noisy shares of the records in them, NaN where none were released.
    """

    name: str
    features: tuple
    labels: tuple
    points: np.ndarray
    shares: np.ndarray


@dataclass(frozen=True, eq=False)
class Scorecard:
    """A scorecard of whole points.

    The points of a row are those of its bin of each term, and the base points. Larger is better:
    they fall with the log-odds of the second class, which is the bad one. `base` points stand for
    odds of good to bad of `odds` to 1, and `double` more points double these odds.

    Parameters
    ----------
    base, odds, double : float
        The scale.
    base_points : int
        What every row has.
    terms : tuple of objects
        One for each term of the model, in the order of its ``terms_``, with ``name``, ``features``,
        ``labels`` of bins, ``points`` and ``shares`` of the records.
    n_records : float
        The number of records, or of people, of which `shares` are; NaN where it isn't public.
    bins_of : callable
        What gives the bin of each row, of shape (n_samples, n_terms).

    Raises
    ------
    ValueError
        If `odds` or `double` isn't a number above 0, or a number is above 1e6.

    See Also
    --------
    DPAdditiveClassifier.to_points : Make one.

    Notes
    -----
    A curve has one bin around each of its knots, and a line has six of equal width. A bin has the
    mean of the curve under the released counts, or, where there are none, its value at the knot.
    A number that many records share has a bin of its own, such as "is 0", and is in no range.
    Bins and rounding lose some accuracy; doc/additive.rst says how much on public tables.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skdp.additive import DPAdditiveClassifier
    >>> rng = np.random.default_rng(0)
    >>> table = pd.DataFrame({"home": rng.choice(["owns", "rents"], 9000)})
    >>> late = rng.random(9000) < np.where(table.home == "rents", 0.2, 0.05)
    >>> model = DPAdditiveClassifier(classes=[False, True], random_state=0).fit(table, late)
    >>> card = model.to_points(base=600, odds=50, double=20)
    >>> card.points(pd.DataFrame({"home": ["owns", "rents"]})).tolist()
    [562, 526]
    """

    base: float
    odds: float
    double: float
    base_points: int
    terms: tuple
    n_records: float
    bins_of: Callable = field(repr=False)

    def __post_init__(self):
        check_fields(self, base=_check_base, odds=_check_scale, double=_check_scale)

    def __repr__(self):
        n_bins = sum(len(term.labels) for term in self.terms)
        return (
            f"Scorecard of {len(self.terms)} terms with {n_bins} bins: {self.base:g} points are "
            f"odds of {self.odds:g} to 1, and {self.double:g} more double them"
        )

    def points(self, X):
        """Return the points of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, as the model takes them.

        Returns
        -------
        points : ndarray of int of shape (n_samples,)
            Larger is better.

        Raises
        ------
        ValueError
            If X doesn't fit the model; no message quotes an entry of the data.
        """
        bins = self.bins_of(X)
        of_terms = [term.points[bins[:, j]] for j, term in enumerate(self.terms)]
        return np.sum(of_terms, axis=0, dtype=np.int64) + self.base_points

    def to_frame(self):
        """Return the scorecard as a data frame of pandas, with a row for each bin.

        Returns
        -------
        frame : DataFrame
            Columns term, label, points, share and n, which is the released number of records; the
            first row has the base points.

        Raises
        ------
        ImportError
            If pandas isn't installed.
        """
        # Only this function needs it.
        import pandas as pd

        rows = [("base points", "", self.base_points, 1.0)]
        for term in self.terms:
            bins = zip(term.labels, term.points.tolist(), term.shares.tolist(), strict=True)
            rows += [(term.name, label, points, share) for label, points, share in bins]
        frame = pd.DataFrame(rows, columns=["term", "label", "points", "share"])
        frame["n"] = (frame["share"] * self.n_records).round()
        return frame

    def _page_parts(self):
        """Return what a page shows: what it is in a sentence, and its points."""
        frame = self.to_frame().set_index("term").rename_axis(None)
        frame["share"] = frame["share"].map("{:.1%}".format, na_action="ignore")
        frame["n"] = frame["n"].map("{:,.0f}".format, na_action="ignore")
        return f"{self!r}.", frame.fillna("unknown")


@dataclass(frozen=True, eq=False)
class Bins:
    """The bins of a term of a table: of each released bin and of each row follows one.

    `columns` are those of the term in each bin, of shape (n_bins, n_columns).
    """

    part: object
    labels: tuple
    columns: np.ndarray
    shares: np.ndarray

    @classmethod
    def of(cls, part, shape):
        """Return the bins of a term, which `shape` says how to read."""
        labels = part.words if part.kind == "words" else [*_ranges(part), *_others(part)]
        columns = _middles(part, shape.nodes)
        shares = np.full(len(labels), np.nan)
        if shape.known_shares:
            place = places(part, shape.points)
            shares = np.bincount(place, shape.shares, len(labels))
            for j in np.flatnonzero(shares > 0.0):
                is_here = place == j
                columns[j] = shape.shares[is_here] @ shape.points[is_here] / shares[j]
        return cls(part, tuple(labels), columns, shares)


def places(part, columns):
    """Return the bin of each row of a term's columns."""
    if part.kind != "line":
        return columns.argmax(axis=1)
    n_bins = tuned.BINS_OF_LINE
    out = np.ceil(0.5 * n_bins * (columns[:, 0] + 1.0)).astype(np.int64) - 1
    out = out.clip(0, n_bins - 1)
    for j, is_other in enumerate(columns[:, 1:].T):
        out[is_other > 0.0] = n_bins + j
    return out


def _middles(part, nodes):
    """Return a term's columns in the middle of each bin."""
    if part.kind != "line":
        return nodes.copy()
    n_bins = tuned.BINS_OF_LINE
    out = np.zeros((n_bins + part.n_columns - 1, part.n_columns))
    out[:n_bins, 0] = (2.0 * np.arange(n_bins) + 1.0) / n_bins - 1.0
    out[n_bins:, 1:] = np.eye(part.n_columns - 1)
    return out


def _ranges(part):
    """Return the ranges of numbers that have a bin, as texts."""
    knots = part.knots
    if part.kind == "line":
        edges = np.linspace(knots[0], knots[-1], tuned.BINS_OF_LINE + 1)[1:-1]
    else:
        edges = 0.5 * knots[1:] + 0.5 * knots[:-1]
    if not edges.size:
        kind = "dates" if part.holds_dates else "numbers"
        return [f"{'all' if part.spike is None else 'other'} {kind}"]
    texts = texts_apart(edges.tolist(), part.holds_dates)
    between = [f"above {a} to {b}" for a, b in itertools.pairwise(texts)]
    return [f"up to {texts[0]}", *between, f"above {texts[-1]}"]


def _others(part):
    """Return what has a bin beside ranges."""
    spikes = [] if part.spike is None else [part.spike]
    # A range that a number lies in has all others of it.
    texts = [f"is {text}" for text in texts_apart(spikes, part.holds_dates)]
    return [*texts, *[MISSING] * part.has_gap]


@dataclass(frozen=True)
class Scale:
    """What points are: `base` of them stand for `odds` to 1, and `double` more double the odds."""

    base: float
    odds: float
    double: float

    def __post_init__(self):
        check_fields(self, base=_check_base, odds=_check_scale, double=_check_scale)

    @property
    def factor(self):
        """Points of a log-odds of good to bad."""
        return self.double / math.log(2.0)

    def of_line(self, slope, offset):
        """Return base, odds and double that give log-odds the points of a line of them."""
        base = self.base - self.factor * ((1.0 - slope) * math.log(self.odds) + offset)
        return base, self.odds, slope * self.double

    def of_intercept(self, log_odds):
        """Return the whole points of log-odds of bad to good that all rows have."""
        return round(self.base - self.factor * (math.log(self.odds) + log_odds))

    def of_terms(self, values):
        """Return the whole points of contributions to the log-odds of bad to good."""
        return np.rint(-self.factor * values).astype(np.int64)


def points_of(term, features, parts, coefs, scale):
    """Return the points of a term: `parts` are the `Bins` of its columns, `coefs` its own."""
    if term.kind == "product":
        curves = zip(term.curves, parts, strict=True)
        columns = np.kron(*[curve.of_columns(part.columns) for curve, part in curves])[:, None]
    else:
        columns = parts[0].columns if len(parts) == 1 else np.kron(*[p.columns for p in parts])
    shares, labels = parts[0].shares, parts[0].labels
    if len(parts) == 2:
        shares = np.kron(shares, parts[1].shares)
        labels = tuple(f"{a} x {b}" for a in labels for b in parts[1].labels)
    points = scale.of_terms((columns - shape_of(term).mean) @ coefs)
    return TermPoints(term.name, features, labels, points, shares)


def parts_of(term):
    """Return the terms of single columns that a term is made of."""
    return (term.first, term.second) if term.kind in ("pair", "product") else (term,)


def bins_of(model, X):
    """Return the bin of each row in each term of a fitted model."""
    frame, terms = read_rows(model, X), model._basis.terms
    out = np.zeros((frame.n_rows, len(terms)), dtype=np.int64)
    for j, term in enumerate(terms):
        for part in parts_of(term):
            place = places(part, part.columns(frame))
            out[:, j] = out[:, j] * n_bins_of(part) + place
    return out


def n_bins_of(part):
    """Return how many bins a term of a single column has."""
    return part.n_columns + (tuned.BINS_OF_LINE - 1 if part.kind == "line" else 0)


def make_scorecard(basis, coefs, intercept, scale, features, *, n_records, bins_of):
    """Return the scorecard of a model of two classes, whose means are in the intercept.

    `features` are the names of each term's columns.
    """
    terms = []
    for term, part, names in zip(basis.terms, basis.slices, features, strict=True):
        bins = [Bins.of(one, Shape.of(one)) for one in parts_of(term)]
        terms.append(points_of(term, names, bins, coefs[part], scale))
    return Scorecard(
        base=scale.base,
        odds=scale.odds,
        double=scale.double,
        base_points=scale.of_intercept(intercept),
        terms=tuple(terms),
        n_records=n_records,
        bins_of=bins_of,
    )
