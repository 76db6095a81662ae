"""Raw tables in parts: what is kept of them, and counts of their numbers and words."""

import datetime
import json
from collections import Counter
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from skdp._bounds import clip_rows, null_records
from skdp._rows.entries import as_plain
from skdp._rows.frames import Frame, Untyped, Words, read_frame
from skdp._rows.sources import Entries
from skdp._sklearn import validate_arrays
from skdp.preprocessing.table._terms import Basis


class RawTable(NamedTuple):
    """What is kept of a part of a raw table besides its entries.

    These are an array of float64: numbers, NaN for a gap, and of other columns the place of each in
    a tuple.
    """

    # The words of each column, or the entries of one without a kind, None for numbers, as a text in
    # bytes.
    words: np.ndarray
    # What the table is mapped to, and whether the rows that are held are what it gives.
    basis: Basis | None = None
    is_mapped: bool = False

    @classmethod
    def of(cls, frame):
        """Return the entries of a frame, and the rest of it."""
        columns = [c if isinstance(c, np.ndarray) else c.codes for c in frame.columns]
        entries = np.column_stack(columns).astype(np.float64, copy=False)
        words = json.dumps(list(map(_column_as_json, frame.columns)))
        return entries, cls(np.frombuffer(words.encode(), np.uint8))

    def frame(self, X, codes=None):
        """Return the frame of such entries, in groups if there are codes of these."""
        columns = map(_column_of_json, X.T, json.loads(self.words.tobytes()))
        return Frame((), (), (), tuple(columns), len(X), codes)

    def rows(self, X):
        """Return the rows of a model: entries, or what they are mapped to."""
        if self.basis is None or self.is_mapped:
            return X
        return self.basis.matrix(self.frame(X))


def _column_as_json(column):
    """Return what a column holds besides the place of each row's entry, in types that JSON has."""
    if isinstance(column, Words):
        return [None if word != word else _as_json(word) for word in column.known]
    if isinstance(column, Untyped):
        entries = [_as_json(as_plain(entry)) for entry in column.entries.entries]
        return {"entries": entries, "classes": column.classes.tolist()}
    return None


def _column_of_json(x, held):
    """Return the column of which `_column_as_json` told, with such places or numbers."""
    if held is None:
        return x
    codes = x.astype(np.int64)
    if isinstance(held, list):
        words = (np.nan if word is None else _of_json(word) for word in held)
        return Words(codes, tuple(words))
    entries = list(map(_of_json, held["entries"]))
    return Untyped(Entries(entries, codes), np.array(held["classes"], dtype=np.int8))


def _as_json(entry):
    """Return a text as one of letters below 256, and a date in a list; others are JSON's own.

    JSON itself would join two code units, which are another word, to the letter that they stand
    for.
    """
    if isinstance(entry, str):
        return entry.encode("utf-8", "surrogatepass").decode("latin-1")
    return [entry.isoformat()] if isinstance(entry, datetime.datetime) else entry


def _of_json(entry):
    if isinstance(entry, str):
        return entry.encode("latin-1").decode("utf-8", "surrogatepass")
    return datetime.datetime.fromisoformat(entry[0]) if isinstance(entry, list) else entry


def _with_gap(word):
    # A gap is found by identity, which it loses where it is sent or written.
    return np.nan if word != word else word


@dataclass(frozen=True)
class TableReader:
    """What workers get to know of what reads a table; see `skdp.dask._parts.own_part`."""

    # It knows the kinds of the columns.
    table: BaseEstimator

    @property
    def name(self):
        return type(self.table).__name__

    n_jobs = None
    checks_of_targets = {}  # noqa: RUF012

    def checked(self, X, y):
        X, table = RawTable.of(read_frame(self.table, X, reset=False))
        y = validate_arrays(self.name, np.zeros((len(X), 1)), y, **self.checks_of_targets)[1]
        return X, y, table

    def certified_rows(self, X):
        # Counts bound what is in them: this tells null records alone.
        return clip_rows(np.ones((len(X), 1)), data_norm=1.0, fit_intercept=False)

    def targets(self, y):
        return y[:, np.newaxis]


def part_bins(*args):
    """Return what `Frame.bins` gives for a part, one after another."""
    return np.concatenate(part_of_table(*args))


def part_of_table(reader, n_threads, X, kept, name, *args):
    """Return what a method of `Frame` gives for a part."""
    codes = None if kept.groups is None else kept.groups.codes
    with null_records(np.flatnonzero(kept.norm == 0.0).tolist()):
        return getattr(kept.table.frame(X, codes), name)(*args)


def map_table(reader, n_threads, X, kept, basis):
    """Return the columns that a basis makes of a part, and what is kept of it from now on."""
    table = kept.table._replace(basis=basis)
    X = table.rows(X)
    X.flags.writeable = False
    with null_records(np.flatnonzero(kept.norm == 0.0).tolist()):
        rows = reader.mapped_rows(X)
    return X, kept._replace(table=table, scale=rows.scale, bias=rows.bias, norm=rows.norm)


def of_mapped(kept):
    """Return what is kept of a part of which the mapped rows are held."""
    return kept._replace(table=kept.table._replace(is_mapped=True, words=None))


def add_words(parts):
    """Return for each column how many records have each word, from such counts of parts."""
    totals = [Counter() for _ in parts[0]]
    for total, table in chain.from_iterable(zip(totals, part, strict=True) for part in parts):
        for word, count in table.items():
            total[_with_gap(word)] += count
    return totals


def unite(parts):
    """Return for each column the numbers that it holds, from those of parts."""
    return [np.unique(np.concatenate(columns)) for columns in zip(*parts, strict=True)]
