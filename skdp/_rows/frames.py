"""Raw tables: columns of numbers, dates or words, with gaps, from data frames, arrays and lists."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import narwhals as nw
import numpy as np

from skdp._rows.bounds import present_records
from skdp._rows.containers import (
    RefusedTypeError,
    refuse_columns,
    refuse_entries,
    refuse_equal_names,
    refuse_rows,
)
from skdp._rows.entries import UnreadableEntryError, are_dates, is_gap_entry, same_word
from skdp._rows.kinds import (
    BOOLEAN,
    DATE,
    NUMERIC,
    UNTYPED,
    WORD,
    declared_number,
    declared_word,
    holds_numbers,
    reader_of,
)
from skdp._rows.sources import ColumnOfArray, ColumnOfFrame, Entries
from skdp._sklearn import quietly, validate_data
from skdp.exceptions import LostDataWarning, warn_user

_EMPTY = "X must have at least one row and one column, and has the shape {}."
_DECLARED = (
    "{} must hold names or places of columns of X, each once and in one of the two lists, and "
    "holds {!r}."
)
_UNREAD = (
    "Entries that aren't what their columns held in the fit count as missing, in columns of "
    "booleans as infrequent. There are so many, by column: {}. Numbers have a decimal point, and "
    "neither thousands separators nor units; dates are texts such as 2024-01-31; booleans are True "
    "and False, or 1 and 0."
)
_CONTENT = {NUMERIC: "numbers", DATE: "dates", BOOLEAN: "booleans"}
_NO_BOOLEANS = (
    "categories of the column {!r}, which is of booleans, must be among False and True, or 0 and 1."
)
_MALFORMED = "column {!r} {}"


@dataclass(frozen=True, eq=False)
class Words:
    """A column of words: the place of each entry in a tuple, in which ``np.nan`` is for a gap."""

    codes: np.ndarray
    known: tuple


@dataclass(frozen=True, eq=False)
class Untyped:
    """A column whose kind isn't decided yet.

    `entries` has what it holds, and `classes` which of `CLASSES` each of these is, as places in it.
    """

    entries: Entries
    classes: np.ndarray

    @classmethod
    def of(cls, entries):
        """Take entries; those that can't be read are refused."""
        return cls(entries, entries.classes())

    @property
    def codes(self):
        """Which entry each row has."""
        return self.entries.codes

    def read_as(self, kind):
        """Return the column as one of a kind."""
        return _column_of(self.entries, kind)


@dataclass(frozen=True, eq=False)
class Frame:
    """A table as it was read.

    Columns are float64 arrays, NaN for a gap, or `Words`, or `Untyped`, by `kinds`; see
    `skdp._rows.kinds`. `typed` names the columns whose kind was read from their type. A record is a
    row, or a group of rows if `groups` has the number of each row's. What its methods return is
    without null records, or of those `rows` alone that are counted, if there is an index of them.
    """

    names: tuple
    kinds: tuple
    typed: tuple
    columns: tuple
    n_rows: int
    groups: np.ndarray | None = None
    rows: np.ndarray | slice | None = None
    # After a fit this says in words, by a column's name, how many entries aren't of its kind.
    unread: Mapping | None = None

    def counted(self, entries):
        """Return those of an array with an entry for each row that are counted."""
        return present_records(entries) if self.rows is None else entries[self.rows]

    def take(self, is_kept):
        """Return the table of some rows, where each is a record."""
        columns = tuple(_of_rows(column, is_kept) for column in self.columns)
        return replace(self, columns=columns, n_rows=int(np.count_nonzero(is_kept)))

    @property
    def untyped(self):
        """Places of the columns whose kind isn't decided yet."""
        return [place for place, kind in enumerate(self.kinds) if kind == UNTYPED]

    def decided(self, kinds):
        """Return the table in which columns, by place, are of kinds that were decided."""
        columns = list(self.columns)
        for place, kind in kinds.items():
            columns[place] = columns[place].read_as(kind)
        all_kinds = tuple(kinds.get(place, kind) for place, kind in enumerate(self.kinds))
        return replace(self, kinds=all_kinds, columns=tuple(columns))

    def ask(self, query):
        """Return the answer to a `Query`; see `skdp._rows.table_queries`."""
        return query.total(self)

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


def count_bins(x, ends, parts=None):
    """Return how many entries, or parts of such, are in each bin of such ends, gaps in the last.

    The bins of n ends, which are sorted, are those of all numbers below the first of them, of this
    one itself, of all between it and the next one, and so on.
    """
    if parts is None:
        # To sort all entries takes less than to search a bin for each.
        in_order = np.sort(x)
        n_numbers = np.searchsorted(in_order, np.nan)
        firsts, lasts = (np.searchsorted(in_order, ends, side) for side in ("left", "right"))
        between = np.column_stack([firsts, lasts]).ravel()
        return np.diff(between, prepend=0, append=[n_numbers, x.size]).astype(np.float64)
    below = np.searchsorted(ends, x)
    is_end = np.append(ends, np.nan)[below] == x
    bins = np.where(np.isnan(x), 2 * ends.size + 1, 2 * below + is_end)
    return np.bincount(bins, parts, minlength=2 * ends.size + 2).astype(np.float64)


def _of_rows(column, is_kept):
    if isinstance(column, Words):
        return Words(column.codes[is_kept], column.known)
    if isinstance(column, Untyped):
        return replace(column, entries=column.entries.take(is_kept))
    return column[is_kept]


def read_frame(estimator, X, *, reset):
    """Read a table as an estimator's parameters say, or as its fit found it.

    The estimator has `numeric_features` and `categorical_features`, and what it is given of single
    columns says their kind, too. With `reset` its ``n_features_in_`` and ``feature_names_in_`` are
    set, otherwise the table must have these, and the kinds are those in ``_kinds``.

    Raises
    ------
    TypeError
        If a column has a type that can't be read, or entries of such a type.
    ValueError
        If the table is empty, or the parameters name other columns or one twice.
    """
    names, sources = open_columns(estimator, X, reset=reset)
    # In a column of numbers such an entry would be a gap.
    refuse_entries(X)
    by_type = [source.kind for source in sources]
    if reset:
        declared = _declared(estimator, names, by_type)
        kinds = tuple(kind or other for kind, other in zip(declared, by_type, strict=True))
        of_type = zip(names, declared, kinds, strict=True)
        typed = tuple(n for n, kind, used in of_type if kind is None and used != UNTYPED)
    else:
        kinds, typed = estimator._kinds, ()
    columns, entries = zip(*map(_read, sources, kinds, names), strict=True)
    unread = None if reset else _count_unread(names, kinds, columns, entries)
    return Frame(names, kinds, typed, columns, _n_rows(columns), unread=unread)


def _n_rows(columns):
    first = columns[0]
    return len(first) if isinstance(first, np.ndarray) else len(first.codes)


def open_columns(estimator, X, *, reset):
    """Return the names of a table's columns, and the columns as they came.

    With `reset` the estimator's ``n_features_in_`` and ``feature_names_in_`` are set, otherwise the
    table must have these.
    """
    opened = _open(estimator, X, reset)
    n_features = estimator.n_features_in_
    names = getattr(estimator, "feature_names_in_", [f"x{j}" for j in range(n_features)])
    return tuple(map(str, names)), list(map(opened, range(n_features)))


def _open(estimator, X, reset):
    """Return a function that gives a column by its place."""
    if not hasattr(X, "__array__") or hasattr(X, "columns"):
        refuse_rows(X)
        refuse_equal_names(X)
        frame = quietly(nw.from_native, dense(X), eager_only=True, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            # scikit-learn would make one array of all columns.
            validate_data(estimator, X, reset=reset, skip_check_array=True)
            refuse_columns(X)
            if 0 in frame.shape:
                raise ValueError(_EMPTY.format(frame.shape))
            return lambda place: ColumnOfFrame(frame[:, place])
    # A list has no types; what becomes an array has that of the array.
    dtype = None if hasattr(X, "dtype") or hasattr(X, "__array__") else object
    array = validate_data(estimator, X, reset=reset, dtype=dtype, ensure_all_finite=False)
    return lambda place: ColumnOfArray(array[:, place])


def dense(X):
    """Return a data frame of pandas without sparse columns, of whose types narwhals knows none."""
    kinds = X.dtypes.items() if hasattr(getattr(X, "dtypes", None), "items") else ()
    sparse = {name: kind.subtype for name, kind in kinds if hasattr(kind, "fill_value")}
    return quietly(X.astype, sparse) if sparse else X


def _read(source, kind, name):
    """Return a column of a kind, and the `Entries` where these were read one by one.

    What isn't finite is a gap.
    """
    if holds_numbers(kind):
        floats = source.floats(kind)
        if floats is not None:
            return _finite(floats), None
    entries = source.entries()
    try:
        if kind == UNTYPED:
            return quietly(Untyped.of, entries), entries
        return quietly(_column_of, entries, kind), entries
    except UnreadableEntryError as error:
        raise RefusedTypeError(_MALFORMED.format(name, error)) from None


def _count_unread(names, kinds, columns, entries):
    """Return how many entries are neither gaps nor what a column holds, by its name.

    That is told of numbers, dates and booleans, whose entries are known; any text is a word.
    """
    counts = {}
    for name, kind, column, raw in zip(names, kinds, columns, entries, strict=True):
        if kind in _CONTENT and raw is not None and (is_lost := _is_lost(column)).any():
            is_gap = np.array([is_gap_entry(entry) for entry in raw.entries], dtype=bool)
            if count := int(np.count_nonzero(is_lost & ~is_gap[raw.codes])):
                counts[name] = f"{count} that are no {_CONTENT[kind]}"
    return counts


def _is_lost(column):
    """Return where a column holds no number, and where one of booleans holds none of these."""
    if isinstance(column, Words):
        return np.array([same_word(word) is None for word in column.known])[column.codes]
    return np.isnan(column)


def warn_of_unread(frame):
    """Warn of what columns hold besides their kind; only where the rows are no records."""
    if frame.unread:
        texts = [f"{name!r} ({lost})" for name, lost in frame.unread.items()]
        warn_user(_UNREAD.format(", ".join(texts)), LostDataWarning)


def _column_of(entries, kind):
    reader = reader_of(kind)
    if holds_numbers(kind):
        return _finite(entries.read(reader))
    places = {}
    codes = [places.setdefault(word, len(places)) for word in map(reader, entries.entries)]
    # Most columns have few words, and then narrow codes of them.
    narrow = np.min_scalar_type(len(places))
    return Words(np.array(codes, dtype=narrow)[entries.codes], tuple(places))


def _finite(floats):
    is_finite = np.isfinite(floats)
    return floats if is_finite.all() else np.where(is_finite, floats, np.nan)


def _declared(estimator, names, typed):
    """Return for each column the kind that parameters give it, or None."""
    kinds = [None] * len(names)
    lists = (("numeric_features", declared_number), ("categorical_features", declared_word))
    for parameter, declared_as in lists:
        chosen = getattr(estimator, parameter)
        for column in () if chosen is None else chosen:
            place = find_column(column, names)
            if place is None or kinds[place] is not None:
                raise ValueError(_DECLARED.format(parameter, column))
            kinds[place] = declared_as(typed[place])
    for parameter, kind in (("knots", NUMERIC), ("feature_bounds", NUMERIC), ("categories", WORD)):
        by_column = getattr(estimator, parameter)
        for column, values in by_column.items() if isinstance(by_column, Mapping) else ():
            place = find_column(column, names)
            if place is not None and kinds[place] is None and typed[place] == UNTYPED:
                is_of_dates = kind == NUMERIC and np.iterable(values) and are_dates(values)
                kinds[place] = DATE if is_of_dates else kind
    return kinds


def find_column(column, names):
    """Return the place of a column that is given by its name or place, None if there is none."""
    if isinstance(column, str):
        return names.index(column) if column in names else None
    # A mask holds no places.
    is_place = isinstance(column, (int, np.integer)) and not isinstance(column, bool)
    return int(column) if is_place and 0 <= column < len(names) else None


def check_words(listed, kind, name):
    """Return categories declared for a column as its words, in the order given, NaN for a gap."""
    if isinstance(listed, str) or not hasattr(listed, "__iter__"):
        raise ValueError("an entry of categories must be a list of categories.")
    words = list(map(reader_of(kind), listed))
    if not words or len(set(words)) < len(words):
        raise ValueError("a list of categories must hold at least one, and none of them twice.")
    if kind == BOOLEAN and not any(map(same_word, words)):
        raise ValueError(_NO_BOOLEANS.format(name))
    return words
