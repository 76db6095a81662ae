"""Terms: what becomes of a column of a table, and of a pair of them.

A term's part of a row has an L2 norm of at most 1, whatever the row: hats on knots are at least 0
and add up to 1, a line is cut to [-1, 1], and the indicator of a gap, a spike or a word stands in
place of all else. A pair's part is the outer product of two such parts.

Each has a `name`, a `kind`, its `features` (places of columns), `labels` of its columns, `columns`,
which makes them of a frame, and `profile`, which makes them of the bins that were released, with
the counts of these, or None if nothing was. One of a single column has `placed`, too, which tells
of a frame's rows where in the term they are: what `columns` makes is that, written out.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from skdp._rows.coded_rows import CodedRows
from skdp._rows.entries import same_word
from skdp._rows.labels import INFREQUENT, MISSING, label_beside, texts_apart
from skdp._rows.naming import make_unique
from skdp.preprocessing.table import _tuned as tuned
from skdp.preprocessing.table._places import Places, count_up_to, entries_of

# Rows of a matrix that fit into caches while all terms are written to them, and rows of codes.
_ROWS, _ROWS_OF_CODES = 2**11, 2**14


class _Term:
    """What terms share: their columns are written to zeros, for some rows at a time.

    Subclasses have `writer`, which gives what writes those of some of a frame's rows. A row has
    `n_entries` of them, of the `form` that `CodedRows` have: "hats", "ones" or "others". `codes`
    gives a function that returns them, see `Places.codes`.
    """

    n_columns: int
    n_entries: int
    form: str
    writer: Callable
    codes: Callable

    def columns(self, frame, dtype=np.float64):
        """Return the columns of a frame's rows."""
        out = np.zeros((frame.n_rows, self.n_columns), dtype=dtype, order="F")
        self.writer(frame)(slice(None), out)
        return out


class _TermOfColumn(_Term):
    """A term of a single column; subclasses tell by `placed` where rows are in it."""

    placed: Callable

    def writer(self, frame):
        """Return a function of some of a frame's rows that writes their columns to zeros."""
        placed = self.placed(frame)
        return lambda rows, out: placed(rows).fill(out)

    @property
    def n_entries(self):
        return 2 if self.form == "hats" else 1

    def codes(self, frame, kernels=None):
        """Return a function that gives the codes of some of a frame's rows; see `Places`."""
        placed = self.placed(frame, kernels)
        return lambda rows: placed(rows).codes(self.form, self.n_columns)


@dataclass(frozen=True, eq=False, kw_only=True)
class _NumberTerm(_TermOfColumn):
    """A shape on sorted knots, and the indicators of a spike and of gaps where there are any.

    The spike is a number that holds much of the column. Numbers beyond `bounds`, which are public,
    count as these. `points` are a number in each bin whose
    count stood out of the noise, NaN for gaps, and `counts` how many records are in it. Numbers may
    be days since 1970, which labels print as dates.
    """

    name: str
    feature: int
    knots: np.ndarray
    spike: float | None = None
    has_gap: bool = False
    points: np.ndarray | None = None
    counts: np.ndarray | None = None
    bounds: tuple | None = None
    holds_dates: bool = False

    @property
    def features(self):
        return (self.feature,)

    @property
    def _middle(self):
        return self.knots[self.knots.size // 2]

    @property
    def n_columns(self):
        return self._n_shape + (self.spike is not None) + self.has_gap

    @property
    def labels(self):
        """Names of the columns."""
        names = self._shape_labels()
        if self.spike is not None:
            names.append(f"{self.name}_is_{self._texts()[-1]}")
        return [*names, *[f"{self.name}_{MISSING}"] * self.has_gap]

    @property
    def knot_labels(self):
        """Names of the knots."""
        return [f"{self.name}_{text}" for text in self._texts()[: self.knots.size]]

    def _texts(self):
        """Return the knots, and last a spike, as texts that differ."""
        spikes = [] if self.spike is None else [self.spike]
        texts = texts_apart([*self.knots.tolist(), *spikes], self.holds_dates)
        # One hat is 1 at all numbers but the spike.
        return [f"is_not_{texts[-1]}", texts[-1]] if spikes and self.knots.size == 1 else texts

    def block(self, x):
        """Return the columns of such numbers."""
        out = np.zeros((x.size, self.n_columns), order="F")
        self.places_of(x).fill(out)
        return out

    def placed(self, frame, kernels=None):
        """Return a function that gives `Places` of some of a frame's rows."""
        x = frame.columns[self.feature]
        return lambda rows: self.places_of(x[rows], kernels)

    def places_of(self, x, kernels=None):
        """Return the `Places` of such numbers; gaps without an indicator are a middle one.

        Those that `kernels` has compiled are the same to the last bit.
        """
        is_gap = np.isnan(x)
        filled = np.where(is_gap, self._middle, x) if is_gap.any() else x
        places = self._places_on_shape(np.clip(filled, self.knots[0], self.knots[-1]))
        if self.spike is not None:
            is_spike = (x if self.bounds is None else np.clip(x, *self.bounds)) == self.spike
            places = places.moved(is_spike, self._n_shape)
        return places.moved(is_gap, self.n_columns - 1) if self.has_gap else places

    def profile(self):
        if self.counts is None:
            return None
        return self.block(self.points), self.counts


@dataclass(frozen=True, eq=False, kw_only=True)
class HatsTerm(_NumberTerm):
    """Hats: the j-th is 1 at the j-th knot, 0 at all others, and straight between."""

    kind: ClassVar = "hats"

    @property
    def _n_shape(self):
        return self.knots.size

    @property
    def form(self):
        return "ones" if self.knots.size == 1 else "hats"

    @property
    def low(self):
        return np.zeros(self.n_columns)

    def _shape_labels(self):
        return self.knot_labels

    def places_of(self, x, kernels=None):
        """Return the `Places` of such numbers; see `_NumberTerm.places_of`."""
        if kernels is None or self.knots.size == 1:
            return super().places_of(x)
        low, high = (-np.inf, np.inf) if self.bounds is None else map(float, self.bounds)
        columns, shares = np.empty(x.size, dtype=np.intp), np.empty((2, x.size))
        # Each argument has one type, so that one kernel is compiled: plain arrays in order, floats.
        kernels.place_numbers(
            np.array(x, order="C"),
            np.array(self.knots, dtype=np.float64),
            float(self._middle),
            np.nan if self.spike is None else float(self.spike),
            low,
            high,
            self._n_shape,
            self.n_columns - 1 if self.has_gap else -1,
            columns,
            shares,
        )
        return Places(columns, shares)

    def _places_on_shape(self, x):
        knots = self.knots
        if knots.size == 1:
            return Places(np.zeros(x.size, dtype=np.intp))
        left, shares = count_up_to(knots[1:-1], x), np.empty((2, x.size))
        np.subtract(x, knots.take(left), out=shares[1])
        shares[1] /= np.diff(knots).take(left)
        np.subtract(1.0, shares[1], out=shares[0])
        return Places(left, shares)


@dataclass(frozen=True, eq=False, kw_only=True)
class LineTerm(_NumberTerm):
    """A line from -1 at the first of two knots to 1 at the last, and flat beyond."""

    kind: ClassVar = "line"
    _n_shape: ClassVar = 1

    @property
    def form(self):
        return "others"

    @property
    def low(self):
        low = np.zeros(self.n_columns)
        low[0] = -1.0
        return low

    def _shape_labels(self):
        return [self.name]

    def _places_on_shape(self, x):
        first, last = self.knots[0], self.knots[-1]
        half = 0.5 * last - 0.5 * first
        on_line = np.clip((x - (0.5 * first + 0.5 * last)) / half, -1.0, 1.0)
        return Places(np.zeros(x.size, dtype=np.intp), np.stack([on_line, np.zeros_like(x)]))


@dataclass(frozen=True, eq=False, kw_only=True)
class WordsTerm(_TermOfColumn):
    """Indicators of categories, ``np.nan`` for gaps, and one that all other words share.

    `counts` are how many records are in each, with noise, or None.
    """

    kind: ClassVar = "words"

    name: str
    feature: int
    categories: np.ndarray
    counts: np.ndarray | None = None

    @property
    def form(self):
        return "ones"

    @property
    def features(self):
        return (self.feature,)

    @property
    def n_columns(self):
        return len(self.categories) + 1

    @property
    def low(self):
        return np.zeros(self.n_columns)

    @property
    def labels(self):
        """Names of the columns."""
        return [f"{self.name}_{word}" for word in self.words]

    @property
    def words(self):
        """The categories as texts that differ, and last what stands for all others."""
        known = [word for word in self.categories if word == word]
        gap, rare = label_beside(MISSING, known), label_beside(INFREQUENT, known)
        return [*(gap if word != word else word for word in self.categories), rare]

    def placed(self, frame, kernels=None):
        """Return a function that gives `Places` of some of a frame's rows."""
        words = frame.columns[self.feature]
        # The value that stands for a gap is one object, which is found by identity.
        places = {
            np.nan if w != w else w: place for place, w in enumerate(self.categories.tolist())
        }
        rare = len(self.categories)
        codes = [places.get(word, places.get(same_word(word), rare)) for word in words.known]
        column_of_word = np.array(codes, dtype=np.intp)
        return lambda rows: Places(column_of_word[words.codes[rows]])

    def places(self, frame):
        """Return the column in which each of a frame's rows is 1."""
        return self.placed(frame)(slice(None)).columns

    def profile(self):
        return None if self.counts is None else (np.eye(self.n_columns), self.counts)


def on_fewer_knots(term, n_knots):
    """Return a term on at most so many of its knots, the outermost and some between.

    Knots that were given, and have no counts, are all kept.
    """
    if term.kind != "hats" or term.counts is None or term.knots.size <= n_knots:
        return term
    places = np.linspace(0.0, term.knots.size - 1.0, n_knots).round().astype(int)
    return replace(term, knots=term.knots[places])


class TermOfTwo:
    """A term that is made of two others, `first` and `second`."""

    first: object
    second: object

    @property
    def name(self):
        return f"{self.first.name} x {self.second.name}"

    @property
    def features(self):
        return self.first.features + self.second.features


@dataclass(frozen=True, eq=False)
class PairTerm(TermOfTwo, _Term):
    """Products of the columns of two terms."""

    kind: ClassVar = "pair"

    first: object
    second: object

    @property
    def form(self):
        return "others"

    @property
    def n_columns(self):
        return self.first.n_columns * self.second.n_columns

    @property
    def n_entries(self):
        return self.first.n_entries * self.second.n_entries

    @property
    def low(self):
        return np.minimum.outer(self.first.low, self.second.low).ravel()

    @property
    def labels(self):
        """Names of the columns."""
        return [f"{one} x {other}" for one in self.first.labels for other in self.second.labels]

    def writer(self, frame):
        """Return a function of some of a frame's rows that writes their columns to zeros."""
        sides = [(term.n_columns, term.writer(frame)) for term in (self.first, self.second)]

        def write(rows, out):
            first, second = (np.zeros((len(out), n), dtype=out.dtype) for n, _ in sides)
            for block, (_, write_side) in zip((first, second), sides, strict=True):
                write_side(rows, block)
            out[:] = (first[:, :, np.newaxis] * second[:, np.newaxis, :]).reshape(out.shape)

        return write

    def codes(self, frame, kernels=None):
        """Return a function that gives the codes of some of a frame's rows; see `Places`."""
        sides = [(term.form, term.codes(frame, kernels)) for term in (self.first, self.second)]

        def of_rows(rows):
            first, second = (entries_of(form, *codes(rows)) for form, codes in sides)
            (columns, entries), (others, other_entries) = first, second
            columns = columns[:, :, np.newaxis] * self.second.n_columns + others[:, np.newaxis]
            entries = entries[:, :, np.newaxis] * other_entries[:, np.newaxis]
            return columns.reshape(len(columns), -1), entries.reshape(len(columns), -1)

        return of_rows

    def profile(self):
        """Return the columns of all pairs of bins, with counts as if columns were independent.

        Of a column with many bins, neighbours are taken together, as their mean.
        """
        profiles = self.first.profile(), self.second.profile()
        if None in profiles:
            return None
        (first, counts), (second, others) = (_fewer(*profile) for profile in profiles)
        total = max(counts.sum(), 1.0)
        return np.kron(first, second), np.outer(counts, others).ravel() / total


def _fewer(columns, counts):
    """Return a profile of no more rows than a pair takes, each the mean of neighbours."""
    if counts.size <= tuned.MOST_BINS_OF_PAIR:
        return columns, counts
    counts = np.maximum(counts, 0.0)
    reached = (np.cumsum(counts) - 0.5 * counts) / max(counts.sum(), 1.0)
    n_bins = tuned.MOST_BINS_OF_PAIR
    place = (reached * n_bins).astype(np.int64).clip(0, n_bins - 1)
    totals = np.bincount(place, counts, n_bins)
    sums = np.stack([np.bincount(place, c * counts, n_bins) for c in columns.T], axis=1)
    is_full = totals > 0.0
    return sums[is_full] / totals[is_full, np.newaxis], totals[is_full]


@dataclass(frozen=True, eq=False)
class Basis:
    """Terms side by side: the columns of a model that is linear in them."""

    terms: tuple

    @property
    def n_columns(self):
        return sum(term.n_columns for term in self.terms)

    @property
    def n_entries(self):
        """How many entries a row of `coded_rows` has."""
        return sum(term.n_entries for term in self.terms)

    @property
    def norm_bound(self):
        """L2 norm that no row exceeds."""
        return len(self.terms) ** 0.5

    @property
    def slices(self):
        """The columns of each term."""
        stops = np.cumsum([term.n_columns for term in self.terms]).tolist()
        return [slice(a, b) for a, b in zip([0, *stops], stops, strict=False)]

    @property
    def labels(self):
        """Names of the columns, which differ from each other."""
        return make_unique(label for term in self.terms for label in term.labels)

    @property
    def bounds(self):
        """Two arrays: the ranges of the columns."""
        return np.concatenate([term.low for term in self.terms]), np.ones(self.n_columns)

    def matrix(self, frame, dtype=np.float64):
        """Return the columns of a frame's rows."""
        out = np.zeros((frame.n_rows, self.n_columns), dtype=dtype)
        writers = list(zip(self.slices, (t.writer(frame) for t in self.terms), strict=True))
        for start in range(0, frame.n_rows, _ROWS):
            rows = slice(start, start + _ROWS)
            for part, write in writers:
                write(rows, out[rows, part])
        return out

    def coded_rows(self, frame, kernels=None):
        """Return the columns of a frame's rows as `CodedRows`; `kernels` find places of numbers.

        How many entries a row has follows from the terms alone.
        """
        layout = [(term.form, term.n_entries) for term in self.terms]
        rows, room = CodedRows.empty(frame.n_rows, self.n_columns, layout)
        given = [term.codes(frame, kernels) for term in self.terms]
        of_terms = list(zip(self.slices, given, room, strict=True))
        for start in range(0, frame.n_rows, _ROWS_OF_CODES):
            block = slice(start, start + _ROWS_OF_CODES)
            for part, codes, (of_columns, of_numbers) in of_terms:
                columns, numbers = codes(block)
                np.add(columns, part.start, out=of_columns[block], casting="unsafe")
                if numbers is not None:
                    of_numbers[block] = numbers
        return rows.sealed()
