"""Raw tables: columns of numbers or of words, with gaps, from data frames, arrays and lists."""

from collections import Counter
from dataclasses import dataclass, replace
from decimal import Decimal
from numbers import Real

import narwhals as nw
import numpy as np

from skdp._bounds import present_records
from skdp._rows.columns import is_gap, number_in_words, sort_categories
from skdp._sklearn import quietly, validate_data

NUMERIC, WORD = "numeric", "word"
_EMPTY = "X must have at least one row and one column, and has the shape {}."
_TWICE = "two columns of X have the same name: give each its own."
_TIMES = "column {!r} holds times: give them as numbers, such as days since a date."
_NESTED = "column {!r} holds lists or records: give each of their fields a column."
_NEITHER = "a column of words holds something that is neither text nor a number (it is withheld)."
_UNTYPED = (
    "X is a list, which has no types, and one of its columns holds text: give a data frame, whose "
    "columns have types, or name such columns in categorical_features, where there is that."
)
_DECLARED = "{} must hold names or places of columns, each once and in one of the two lists."


@dataclass(frozen=True, eq=False)
class Words:
    """A column of words: the place of each entry in a tuple, in which ``np.nan`` is for a gap."""

    codes: np.ndarray
    known: tuple


@dataclass(frozen=True, eq=False)
class Frame:
    """A table as it was read.

    Columns are float64 arrays, NaN for a gap, or `Words`. `kinds` are "numeric" or "word", and
    `read` names the columns whose kind was read from their type. A record is a row, or a group of
    rows if `groups` has the number of each row's. What its methods return is without null records,
    or of those `rows` alone that are counted, if there is an index of them.
    """

    names: tuple
    kinds: tuple
    read: tuple
    columns: tuple
    n_rows: int
    groups: np.ndarray | None = None
    rows: np.ndarray | slice | None = None

    def counted(self, entries):
        """Return those of an array with an entry for each row that are counted."""
        return present_records(entries) if self.rows is None else entries[self.rows]

    def take(self, is_kept):
        """Return the table of some rows, where each is a record."""
        columns = (
            Words(c.codes[is_kept], c.known) if isinstance(c, Words) else c[is_kept]
            for c in self.columns
        )
        return replace(self, columns=tuple(columns), n_rows=int(np.count_nonzero(is_kept)))

    def numbers(self, place):
        """Return the entries of a column of numbers."""
        return self.counted(self.columns[place])

    def parts(self, grid):
        """Return which part of a record each row is, None where all are whole.

        Parts of a group are equal, and on the grid, if there is one: they add up to 1 at most.
        """
        if self.groups is None:
            return None
        parts = 1.0 / np.bincount(self.groups)[self.groups]
        return present_records(np.floor(parts / grid) * grid if grid > 0.0 else parts)

    def distinct(self, places):
        """Return the numbers that columns hold, each once, sorted."""
        return [np.unique(x[~np.isnan(x)]) for x in map(self.numbers, places)]

    def bins(self, places, bounds, ends, grid):
        """Return how many records are in each bin of columns of numbers, see `count_bins`.

        Numbers are clipped to the bounds of their column where these aren't None. For the grid see
        `parts`.
        """
        parts, columns = self.parts(grid), map(self.numbers, places)
        clipped = (x if b is None else np.clip(x, *b) for x, b in zip(columns, bounds, strict=True))
        return [count_bins(x, e, parts) for x, e in zip(clipped, ends, strict=True)]

    def words(self, places):
        """Return for columns how many records have each word: of a group the one of most rows."""
        return [self._words(self.columns[place]) for place in places]

    def _words(self, column):
        codes = self.counted(column.codes)
        if self.groups is not None:
            codes = _most_frequent(codes, present_records(self.groups), column.known)
        counts, total = np.bincount(codes, minlength=len(column.known)), Counter()
        for code in np.flatnonzero(counts):
            # A word that had two codes would not lose the records of one.
            total[column.known[code]] += int(counts[code])
        return total


def count_bins(x, ends, parts=None):
    """Return how many entries, or parts of such, are in each bin of such ends, gaps in the last."""
    below = np.searchsorted(ends, x)
    is_end = np.append(ends, np.nan)[below] == x
    bins = np.where(np.isnan(x), 2 * ends.size + 1, 2 * below + is_end)
    return np.bincount(bins, parts, minlength=2 * ends.size + 2).astype(np.float64)


def _most_frequent(codes, groups, known):
    """Return for each group the word that most of its rows have, of several the first by text."""
    ranks = {word: rank for rank, word in enumerate(sort_categories(known))}
    rank_of = np.array([ranks[word] for word in known])
    pairs = groups * len(known) + rank_of[codes]
    found, counts = np.unique(pairs, return_counts=True)
    group, rank = np.divmod(found, len(known))
    order = np.lexsort((rank, -counts, group))
    first = np.unique(group[order], return_index=True)[1]
    return np.argsort(rank_of)[rank[order[first]]]


def read_frame(estimator, X, *, reset):
    """Read a table as an estimator's parameters say, or as its fit found it.

    The estimator has `numeric_features` and `categorical_features`. With `reset` its
    ``n_features_in_`` and ``feature_names_in_`` are set, otherwise the table must have these, and
    the kinds are those in ``_kinds``.
    """
    source = _open(estimator, X, reset)
    n_features = estimator.n_features_in_
    names = getattr(estimator, "feature_names_in_", [f"x{j}" for j in range(n_features)])
    names = tuple(map(str, names))
    typed = [source.kind(j) for j in range(n_features)]
    for name, kind in zip(names, typed, strict=True):
        # Of times and of nested columns there is no kind.
        if kind in (_TIMES, _NESTED):
            raise TypeError(kind.format(name))
    if reset:
        lists = estimator.numeric_features, estimator.categorical_features
        declared = _declared(*lists, names)
        kinds = tuple(kind or by_type for kind, by_type in zip(declared, typed, strict=True))
        read = tuple(n for n, kind in zip(names, declared, strict=True) if kind is None)
    else:
        kinds, read = estimator._kinds, ()
    strict = () if source.has_types else read
    columns = tuple(_READERS[kind](source, j, names[j] in strict) for j, kind in enumerate(kinds))
    return Frame(names, kinds, read, columns, source.n_rows)


def _open(estimator, X, reset):
    if not hasattr(X, "__array__") or hasattr(X, "columns"):
        # Of Arrow's tables the columns are no index.
        names = getattr(X, "column_names", ())
        if not getattr(getattr(X, "columns", None), "is_unique", len(set(names)) == len(names)):
            raise ValueError(_TWICE)
        frame = quietly(nw.from_native, _dense(X), eager_only=True, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            # scikit-learn would make one array of all columns.
            validate_data(estimator, X, reset=reset, skip_check_array=True)
            if 0 in frame.shape:
                raise ValueError(_EMPTY.format(frame.shape))
            return _OfFrame(frame)
    has_types = hasattr(X, "dtype")
    dtype = None if has_types else object
    checks = {"dtype": dtype, "ensure_all_finite": False}
    return _OfArray(validate_data(estimator, X, reset=reset, **checks), has_types)


def _dense(X):
    """Return a data frame of pandas without sparse columns, of whose types narwhals knows none."""
    kinds = X.dtypes.items() if hasattr(getattr(X, "dtypes", None), "items") else ()
    sparse = {name: kind.subtype for name, kind in kinds if hasattr(kind, "fill_value")}
    return quietly(X.astype, sparse) if sparse else X


class _OfFrame:
    """The columns of a data frame."""

    has_types = True

    def __init__(self, frame):
        self._frame, self.n_rows = frame, frame.shape[0]

    def kind(self, place):
        dtype = self._frame[:, place].dtype
        if dtype.is_temporal():
            return _TIMES
        if dtype.is_nested():
            return _NESTED
        return NUMERIC if dtype.is_numeric() else WORD

    def numbers(self, place):
        """Return a column as floats, None where it isn't of numbers."""
        column = self._frame[:, place]
        if not column.dtype.is_numeric():
            return None
        try:
            return quietly(lambda: column.cast(nw.Float64).to_numpy())
        except ValueError:
            # Arrow refuses a whole number that no float is; one by one they are rounded.
            return None

    def entries(self, place):
        """Return entries, each once where that is fast, and which of them each row has."""
        column = self._frame[:, place]
        dtype = getattr(column.to_native(), "dtype", None)
        # What pandas holds in Python, it takes for equal where words differ: True and 1, or texts
        # up to a null character. Of other types of Arrow it may lose gaps.
        kind = type(dtype).__name__, getattr(dtype, "storage", None)
        if kind in (("StringDtype", "pyarrow"), ("CategoricalDtype", None)):
            chosen, entries = quietly(column.to_native().factorize, use_na_sentinel=False)
            return entries.tolist(), chosen
        return quietly(column.to_list), slice(None)


class _OfArray:
    """The columns of an array, which has one type for all."""

    def __init__(self, array, has_types):
        self._array, self.n_rows, self.has_types = array, len(array), has_types

    def kind(self, place):
        kind = self._array.dtype.kind
        if kind in "mM":
            return _TIMES
        return NUMERIC if kind in "iuf" or not self.has_types else WORD

    def numbers(self, place):
        column = self._array[:, place]
        return quietly(column.astype, float, copy=False) if column.dtype.kind in "biuf" else None

    def entries(self, place):
        return self._array[:, place].tolist(), slice(None)


def _read_numbers(source, place, is_strict):
    """Return a column of numbers; words and what isn't finite are gaps."""
    column = source.numbers(place)
    if column is None:
        entries, chosen = source.entries(place)
        if is_strict and any(isinstance(entry, str) for entry in entries):
            raise TypeError(_UNTYPED)
        column = np.array([_number(entry) for entry in entries], dtype=np.float64)[chosen]
    is_finite = np.isfinite(column)
    return column if is_finite.all() else np.where(is_finite, column, np.nan)


def _number(entry):
    """Return an entry as a float; one that is no number, nor the text of one, is a gap."""
    if isinstance(entry, (Real, np.bool_, str, Decimal)):
        try:
            return float(entry)
        except (TypeError, ValueError, OverflowError):
            return np.nan
    return np.nan


def _read_words(source, place, is_strict):
    entries, chosen = source.entries(place)
    places = {}
    codes = [places.setdefault(word, len(places)) for word in map(_word, entries)]
    return Words(np.array(codes, dtype=np.int64)[chosen], tuple(places))


def _word(entry):
    """Return the word of an entry, which follows from it alone; numbers of any type have one."""
    if type(entry) is str:
        return entry
    if is_gap(entry):
        return np.nan
    if isinstance(entry, str):
        return str(entry)
    if isinstance(entry, (bool, np.bool_)):
        return str(bool(entry))
    if isinstance(entry, (Real, Decimal)):
        number = _number(entry)
        return number_in_words(number) if np.isfinite(number) else np.nan
    raise TypeError(_NEITHER)


_READERS = {NUMERIC: _read_numbers, WORD: _read_words}


def _declared(numeric, categorical, names):
    """Return for each column its declared kind or None."""
    kinds = [None] * len(names)
    lists = (("numeric_features", numeric, NUMERIC), ("categorical_features", categorical, WORD))
    for parameter, chosen, kind in lists:
        for column in () if chosen is None else chosen:
            place = find_column(column, names)
            if place is None or kinds[place] is not None:
                raise ValueError(_DECLARED.format(parameter))
            kinds[place] = kind
    return kinds


def find_column(column, names):
    """Return the place of a column that is given by its name or place, None if there is none."""
    if isinstance(column, str):
        return names.index(column) if column in names else None
    # A mask holds no places.
    is_place = isinstance(column, (int, np.integer)) and not isinstance(column, bool)
    return int(column) if is_place and 0 <= column < len(names) else None


def check_words(listed):
    """Return declared categories as words, in the order given, ``np.nan`` for a gap."""
    if isinstance(listed, str) or not hasattr(listed, "__iter__"):
        raise ValueError("an entry of categories must be a list of categories.")
    words = [_word(entry) for entry in listed]
    if not words or len(set(words)) < len(words):
        raise ValueError("a list of categories must hold at least one, and none of them twice.")
    return words
