"""Passes over the rows of a table, where they are computed."""

import os
import pickle
import shutil
import tempfile
from functools import partial
from itertools import chain
from secrets import token_hex
from types import SimpleNamespace

import dask
import numpy as np
from joblib import effective_n_jobs

from skdp._rows.bounds import present_records, stretch_of
from skdp._rows.fused import can_compile
from skdp._rows.threads import map_in_order, sum_in_order
from skdp._sklearn import as_configured_here
from skdp.dask import _parts, _tables
from skdp.dask._clients import CHANGED, RowsChangedError, call_locally, culled
from skdp.dask._groups import count_groups
from skdp.dask._parts import (
    KeyedDigest,
    PartitionSpec,
    RejectedPartition,
    copies_of,
    copy_part,
    of_part,
    own_part,
    verdict,
    verdict_of_part,
    without_rows,
)

# Bytes of rows and of what is kept of them, above which they lie in a file.
_MOST_IN_MEMORY = 2**27
# Rows may take this part of what is free where temporary files are.
_SHARE = 0.5
# Bytes of which the places of arrays in a file are multiples.
_ALIGNED = 64


class PartedSums:
    """What `learn_ball` and `solve_whitened` ask of rows, summed over parts.

    The sum of a part is on the grid of the mechanism that will release the whole. So parts may be
    added in any order, and a part that was computed twice counts as it did before. Without noise
    there is no grid: sums are then added in the order of parts. `on_pass` is called at the end of
    every pass over the rows; for the reader see `own_part`. Sums of all parts are `compiled`, or of
    none.

    Subclasses have `read`, which reads all parts twice and keeps what is kept of them (a ValueError
    that quotes no entry if one can't be used, or changed) and tells by `_is_sparse` whether the
    rows of any are sparse, `_keep`, which keeps what a function makes of that and the rows,
    `map_table`, after which the rows of a raw table are the columns of a basis, and `_sums`, which
    gives sums that add up to the whole: in the order of parts where they aren't exact. All that
    holds rows is dropped by `close`.
    """

    def __init__(self, table, reader, on_pass, compiled):
        self._table, self._reader, self._on_pass = table, reader, on_pass
        self._seal, self._longest = KeyedDigest(token_hex(16).encode()), None
        null_rows = _null_rows_of_parts(table.sizes)
        shape = table.n_features, table.names, table.n_targets
        sizes = zip(table.sizes, null_rows, strict=True)
        self._stated = [PartitionSpec(size, *shape, null, compiled) for size, null in sizes]

    def close(self):
        """Drop what is held of the rows."""

    @property
    def n_rows(self):
        """Number of rows in all parts."""
        return self._table.n_rows

    def count_records(self, groups):
        """Return how many records there are, and whether these are groups of rows.

        A ValueError if a group is in two parts.
        """
        if groups is None:
            return self.n_rows, False
        return count_groups(self._of_each("groups", _parts.part_groups)), True

    def bins(self, places, bounds, ends, grid):
        """See `Frame.bins`."""
        # Numbers of rows are exact without a grid, too, but parts of them aren't.
        args = "bins", places, bounds, ends, grid
        counts = self._total("bins", _tables.part_counts, *args, grid=grid)
        return np.split(counts, np.cumsum([2 * e.size + 2 for e in ends])[:-1])

    def tallies(self, places, grid):
        """See `Frame.tallies`."""
        counts = self._total("tallies", _tables.part_counts, "tallies", places, grid, grid=grid)
        return np.split(counts, len(places))

    def decided(self, kinds):
        """Return these sums, of a table in which the kinds of columns, by place, are decided."""
        self._keep("kinds", _tables.settle_part, kinds)
        self._on_pass()
        return self

    def words(self, places):
        """See `Frame.words`."""
        return _tables.add_words(self._of_each("table", _tables.part_of_table, "words", places))

    def distinct(self, places):
        """See `Frame.distinct`."""
        return _tables.unite(self._of_each("table", _tables.part_of_table, "distinct", places))

    def read_by(self, reader):
        """Have parts read as this reader says from now on."""
        self._reader = reader

    def view(self, view):
        """Have rows of a basis mapped once more, by `of_columns`, from now on."""
        self._keep("view", _tables.view_part, view)
        self._on_pass()

    def counts(self, *args):
        """See `BallSums.counts`."""
        return self._of_ball("counts", *args)

    def counts_by_column(self, *args):
        """See `BallSums.counts_by_column`."""
        return self._of_ball("counts_by_column", *args)

    def moved(self, *args):
        """See `BallSums.moved`."""
        return self._of_ball("moved", *args)

    def squares(self, *args):
        """See `BallSums.squares`."""
        return self._of_ball("squares", *args)

    def longest(self, *args):
        """See `BallSums.longest`."""
        return max(self._of_each("ball", _parts.part_of_ball, "longest", *args))

    def stretch(self, shift, length):
        """See `BallSums.stretch`."""
        return stretch_of(shift, length) if self._is_sparse else 1.0

    def _of_ball(self, name, *args, function=_parts.part_of_ball):
        return self._total("ball", function, name, *args, grid=args[-1].grid)

    def of_targets(self):
        """Return what `learn_targets` asks of targets, as rows; see `BallSums`."""
        of_ball = partial(self._of_ball, function=_parts.part_of_targets)
        return SimpleNamespace(
            counts_by_side=partial(of_ball, "counts_by_side"), moved=partial(of_ball, "moved")
        )

    def move_targets(self, bounds):
        """Have targets moved to bounds, and mapped as training takes them, from now on."""
        self._keep("targets", _parts.move_targets, bounds)
        self._on_pass()

    def place(self, ball):
        """Have rows put into the units of a ball from now on, or clipped where it is None."""
        self._keep("place", _parts.place_part, ball)
        self._on_pass()

    def moment(self, mechanism):
        """See `RowSums.moment`."""
        return self._total("moment", _parts.part_moment, mechanism, grid=mechanism.grid)

    def bound_slopes(self, A, bound, is_measured=False):
        """See `RowSums.bound_slopes`; instead of lengths, tell that parts keep them."""
        self._A, self._bound = A, bound
        if not is_measured:
            self._keep("measure", _parts.measure_part, A, bound)
            self._on_pass()
        return True

    def shorten(self, longest):
        """See `InferenceSums.shorten`."""
        self._longest = longest

    def lengths(self, *args):
        """See `InferenceSums.lengths`."""
        return self._at_slopes("lengths", *args)

    def means(self, *args):
        """See `InferenceSums.means`."""
        return self._at_slopes("means", *args)

    def matrix(self, *args):
        """See `InferenceSums.matrix`."""
        return self._at_slopes("matrix", *args)

    def _at_slopes(self, name, *args):
        slopes = self._A, self._bound, self._longest
        return self._total(name, _parts.part_at_slopes, *slopes, name, *args, grid=args[-1].grid)

    def slopes(self, w, mechanism):
        """See `RowSums.slopes`."""
        return self._at_slopes("slopes", w, mechanism)

    def of_columns(self):
        """Return what transformers ask of columns; see `ColumnSums`."""
        total = partial(self._total, "columns", _parts.part_of_columns, grid=1.0)
        return SimpleNamespace(below=partial(total, "below"), moments=partial(total, "moments"))

    def by_label(self, mechanism):
        """Return the sum of the rows of each class, see `part_by_label`."""
        return self._total("labels", _parts.part_by_label, mechanism, grid=mechanism.grid)

    def of_rows(self):
        """Return the sum of the rows, of shape (p,)."""
        return self._total("rows", _parts.part_of_rows)

    def _of_each(self, name, function, *args):
        """Return what a function makes of each part, in their order."""
        results = list(self._sums(name, function, args, is_exact=False))
        self._on_pass()
        return results

    def _total(self, name, function, *args, grid=0.0):
        total = _sum(self._sums(name, function, args, is_exact=grid > 0.0))
        self._on_pass()
        return total


class LocalSums(PartedSums):
    """Parts that are read in order by this process, as many at a time as it has threads.

    Copies of rows, and what is kept of them, lie in memory, or if they are many in a file without a
    name, where temporary files are. Rows for which that has no room are read again in each pass.
    """

    def __init__(self, table, reader, on_pass):
        super().__init__(table, reader, on_pass, can_compile(table.n_entries))
        parts = zip(culled(table.rows), culled(table.targets), strict=True)
        self._parts = list(zip(self._stated, *zip(*parts, strict=True), strict=True))
        n_threads = effective_n_jobs(reader.n_jobs)
        self._n_parts = min(n_threads, len(self._parts))
        self._n_threads = n_threads // self._n_parts

    def read(self):
        self._owned = self._stored(self._map(self._own, self._parts), _with_room)
        again = self._map(partial(self._read, verdict_of_part), self._parts)
        if list(again) != [verdict(kept) for _, kept in self._owned]:
            raise ValueError(CHANGED)
        self._is_sparse = any(kept.is_sparse for _, kept in self._owned)
        self._on_pass()

    def _read(self, function, stated, *pair):
        X, y = (call_locally(dask.get, *part) for part in pair)
        return call_locally(function, self._reader, stated, self._seal, X, y)

    def _own(self, *part):
        X, kept = self._read(own_part, *part)
        _refuse_if_any([kept])
        return X, kept

    def _keep(self, name, function, *args):
        kept = self._stored(self._each(function, args))
        self._owned = [(X, k) for (X, _), k in zip(self._owned, kept, strict=True)]

    def map_table(self, basis):
        pairs = zip(self._owned, self._each(_tables.map_table, (basis,)), strict=True)
        mapped = ((None if owned is None else X, kept) for (owned, _), (X, kept) in pairs)
        # Raw rows stay where there is no room for their columns.
        two = zip(self._owned, self._stored(mapped, _with_room), strict=True)
        self._owned = [(x, k) if X is None else (X, _tables.of_mapped(k)) for (x, _), (X, k) in two]
        self._on_pass()

    def _sums(self, name, function, args, is_exact):
        return self._each(function, args)

    def _each(self, function, args):
        def call(part, owned):
            X, kept = owned
            if X is None:
                X, again = self._read(copy_part, *part)
                call_locally(_check, again, verdict(kept))
            return call_locally(of_part, function, self._reader, self._n_threads, X, kept, *args)

        return self._map(call, zip(self._parts, self._owned, strict=True))

    def _map(self, function, arguments):
        return map_in_order(as_configured_here(function), arguments, self._n_parts)

    def _stored(self, parts, for_file=iter):
        """Return what parts give, moved to a file where it is many bytes."""
        parts = iter(parts)
        first = next(parts)
        if _bytes_of(first) / self._stated[0].size * self._table.n_rows <= _MOST_IN_MEMORY:
            return [first, *parts]
        return _in_file(for_file(chain([first], parts)))


def _with_room(parts):
    """Give parts, without the rows of those for which there is no room in temporary files."""
    room = _SHARE * shutil.disk_usage(tempfile.gettempdir()).free
    for X, kept in parts:
        room -= copies_of(kept) * _bytes_of((X, kept.table))
        yield (X, kept) if room >= 0.0 else (None, without_rows(kept))


def _null_rows_of_parts(sizes):
    """Return the null records of each part, counted within it, or None for each."""
    rows = range(sum(sizes))
    present = present_records(rows)
    if present is rows:
        return [None] * len(sizes)
    null, ends = np.setdiff1d(rows, present), np.cumsum(sizes)
    parts = np.searchsorted(ends, null, side="right")
    starts = ends - sizes
    return [(null[parts == part] - starts[part]).tolist() for part in range(len(sizes))]


def _pickled(value):
    """Return what is pickled of a value but its arrays, and the bytes of these."""
    buffers = []
    rest = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    return rest, [buffer.raw() for buffer in buffers]


def _bytes_of(value):
    return sum(buffer.nbytes for buffer in _pickled(value)[1])


def _in_file(values):
    """Return values whose arrays lie in one file, which has no name and can only be read."""
    made = []
    with tempfile.TemporaryFile() as file:
        for value in values:
            rest, buffers = _pickled(value)
            places = []
            for buffer in buffers:
                start = file.seek(-file.tell() % _ALIGNED, os.SEEK_CUR)
                file.write(buffer)
                places.append(slice(start, file.tell()))
            made.append((rest, places))
        file.flush()
        mapped = memoryview(np.memmap(file, mode="r"))
    return [pickle.loads(rest, buffers=[mapped[p] for p in places]) for rest, places in made]


def _refuse_if_any(kept):
    for part in kept:
        if isinstance(part, RejectedPartition):
            raise ValueError(part.message)


def _check(kept, seen):
    """Refuse a part that is read again, if it is another."""
    if verdict(kept) != seen:
        raise RowsChangedError


def _sum(parts):
    """Return the sum of arrays, none of which changes: a task may be run again on the same."""
    parts = iter(parts)
    return sum_in_order(chain([next(parts).copy()], parts))
