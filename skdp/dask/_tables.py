"""Raw tables in parts: how they are read, what is kept of them, and the rows that they become."""

import json
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from skdp._rows.bounds import clip_rows, null_records
from skdp._rows.frames import Frame, Words, read_frame
from skdp._rows.kinds import DATE, NUMERIC, WORD, holds_numbers, reader_of
from skdp._sklearn import validate_arrays
from skdp.additive._table import rows_of
from skdp.preprocessing.table._terms import Basis

_CLASS = "class"
# A column without a kind keeps these of its entries, in this order.
_READINGS = _CLASS, NUMERIC, DATE


class RawTable(NamedTuple):
    """What is kept of a part of a raw table besides its entries.

    These are an array of float64: numbers, NaN for a gap, and of a column of words, or of one whose
    kind isn't decided yet, the place of each in a tuple.
    """

    # The words of each column, None for numbers, as a text in bytes.
    words: np.ndarray
    # By place of the columns without a kind, of each entry the class, and what it is as a number
    # and as a day: arrays of shape (n_entries, 3).
    untyped: dict
    # By place of the columns whose kind was decided: each entry as a number, or as a word's place.
    decided: dict
    # The basis that the table is mapped to, and whether the rows that are held are mapped by it.
    basis: Basis | None = None
    is_mapped: bool = False
    # Where rows of the basis are mapped once more, they become this, which has `of_columns`.
    view: object = None

    @classmethod
    def of(cls, frame):
        """Return the entries of a frame, and the rest of it."""
        columns = [c if isinstance(c, np.ndarray) else c.codes for c in frame.columns]
        words = [_words_of(column) for column in frame.columns]
        untyped = {place: _readings(frame.columns[place]) for place in frame.untyped}
        entries = np.column_stack(columns).astype(np.float64, copy=False)
        return entries, cls(_in_bytes(words), untyped, {})

    @property
    def arrays(self):
        """What the entries are together with, as arrays."""
        return [self.words, *self.untyped.values()]

    def settled(self, kinds):
        """Return what is kept once the kinds of columns, by place, are decided."""
        words, decided = _from_bytes(self.words), {}
        for place, kind in kinds.items():
            if holds_numbers(kind):
                words[place] = None
                decided[place] = self.untyped[place][:, _READINGS.index(kind)]
            else:
                places = {}
                codes = [places.setdefault(word, len(places)) for word in words[place]]
                words[place], decided[place] = list(places), np.array(codes)
        return self._replace(words=_in_bytes(words), untyped={}, decided=decided)

    def frame(self, X, codes=None):
        """Return the frame of such entries, in groups if there are codes of these."""
        each = enumerate(zip(X.T, _from_bytes(self.words), strict=True))
        columns = tuple(self._column(place, x, words) for place, (x, words) in each)
        return Frame((), (), (), columns, len(X), codes)

    def _column(self, place, x, words):
        if place in self.decided:
            x = self.decided[place][x.astype(np.int64)]
        if words is None:
            return x
        codes = x.astype(np.int64, copy=False)
        if place in self.untyped:
            return _Tallied(codes, self.untyped[place][:, _READINGS.index(_CLASS)].astype(np.int8))
        return Words(codes, _decoded(words))

    def rows(self, X):
        """Return the rows of a model: entries, or what they are mapped to."""
        if self.basis is not None and not self.is_mapped:
            X = rows_of(self.basis, self.frame(X))
        return X if self.view is None else self.view.of_columns(X)


class _Tallied(NamedTuple):
    """Of a column without a kind, what `CountsByClass` asks for."""

    codes: np.ndarray
    classes: np.ndarray


def _words_of(column):
    """Return the words of a column as `_encoded` has them, None of a column of numbers."""
    if isinstance(column, np.ndarray):
        return None
    if isinstance(column, Words):
        return _encoded(column.known)
    return _encoded(map(reader_of(WORD), column.entries.entries))


def _readings(column):
    """Return of each entry of an untyped column its class, and what it is as a number or a day."""
    entries = column.entries.entries
    read = [[reader_of(kind)(entry) for entry in entries] for kind in (NUMERIC, DATE)]
    readings = np.column_stack([column.classes, *read]).astype(np.float64)
    return np.where(np.isfinite(readings), readings, np.nan)


def _in_bytes(words):
    return np.frombuffer(json.dumps(words).encode(), np.uint8)


def _from_bytes(packed):
    return json.loads(packed.tobytes())


def _encoded(words):
    """Return words as texts of letters below 256, and None for a gap, which JSON keeps apart.

    JSON itself would join two code units, which are another word, to the letter that they stand
    for.
    """
    return [
        None if word != word else word.encode("utf-8", "surrogatepass").decode("latin-1")
        for word in words
    ]


def _decoded(texts):
    """Return the words of which `_encoded` made texts."""
    return tuple(
        np.nan if text is None else text.encode("latin-1").decode("utf-8", "surrogatepass")
        for text in texts
    )


@dataclass(frozen=True)
class TableReader:
    """What workers get to know of what reads a table; see `skdp.dask._parts.RowReader`."""

    # It knows the kinds of the columns.
    table: BaseEstimator

    @property
    def name(self):
        return type(self.table).__name__

    n_jobs, columns_of_each = None, 1
    checks_of_targets: ClassVar[dict[str, object]] = {}

    def checked(self, X, y):
        X, table = RawTable.of(read_frame(self.table, X, reset=False))
        y = validate_arrays(self.name, np.zeros((len(X), 1)), y, **self.checks_of_targets)[1]
        return X, y, table

    def certified_rows(self, X):
        # Counts bound what is in them: this tells null records alone.
        return clip_rows(np.ones((len(X), 1)), data_norm=1.0, fit_intercept=False)

    def targets(self, y, exposure=None):
        return y[:, np.newaxis]

    def void_rows(self, targets):
        return None


def settle_part(reader, n_threads, X, kept, kinds):
    """Return what is kept of a part once the kinds of columns, by place, are decided."""
    return kept._replace(table=kept.table.settled(kinds))


def null_records_of(kept):
    """Have the null records of a part be such for whatever reads its rows within the context."""
    return null_records(np.flatnonzero(kept.norm == 0.0).tolist())


def map_table(reader, n_threads, X, kept, basis):
    """Return the columns that a basis makes of a part, and what is kept of it from now on."""
    table = kept.table._replace(basis=basis)
    X = table.rows(X)
    if isinstance(X, np.ndarray):
        X.flags.writeable = False
    with null_records_of(kept):
        rows = reader.mapped_rows(X)
    return X, kept._replace(table=table, scale=rows.scale, bias=rows.bias, norm=rows.norm)


def view_part(reader, n_threads, X, kept, view):
    """Return what is kept of a part whose rows of a basis are mapped once more, in every pass."""
    X = view.of_columns(X)
    with null_records_of(kept):
        rows = reader.mapped_rows(X)
    return kept._replace(
        table=kept.table._replace(view=view),
        targets_as_read=None,
        ball=None,
        lengths=None,
        scale=rows.scale,
        bias=rows.bias,
        norm=rows.norm,
        weight=rows.weight,
    )


def of_mapped(kept):
    """Return what is kept of a part of which the mapped rows are held."""
    return kept._replace(table=kept.table._replace(is_mapped=True, words=None, decided={}))
