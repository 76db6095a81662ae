"""Passes over the rows of a table, where they are computed."""

import os
import pickle
import shutil
import tempfile
from contextlib import contextmanager
from functools import partial
from itertools import chain
from secrets import token_hex

import dask
import numpy as np
import psutil
from distributed.system import MEMORY_LIMIT
from joblib import effective_n_jobs

from skdp._progress import progress
from skdp._rows.bounds import present_records, stretch_of
from skdp._rows.clipping import check_rebound
from skdp._rows.fused import can_compile, sums_compiled
from skdp._rows.queries import CUT, SAMPLED, TARGETS, Asked, AskedSlopes
from skdp._rows.threads import map_in_order
from skdp._sklearn import as_configured_here
from skdp.additive._table import are_coded
from skdp.dask import _parts, _tables
from skdp.dask._clients import CHANGED, RowsChangedError, call_locally, culled
from skdp.dask._groups import count_groups
from skdp.dask._parts import (
    Cut,
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

# Rows and what is kept of them may take so many bytes of memory, or this part of what is free.
_LEAST_IN_MEMORY, _SHARE_OF_MEMORY = 2**27, 0.125
# Rows may take this part of what is free where temporary files are.
_SHARE = 0.5
# Bytes of which the places of arrays in a file are multiples.
_ALIGNED = 64


class PartitionedRows:
    """Rows in parts, which answer queries together.

    The answer of a part is on the grid of the mechanism that will release the whole. So parts may
    be added in any order, and a part that was asked twice counts as it did before. Without noise
    there is no grid: answers are then joined in the order of parts. For the reader see `RowReader`.
    Sums of all parts are `compiled`, or of none.

    Subclasses have `read`, which reads all parts twice and keeps what is kept of them (a ValueError
    that quotes no entry if one can't be used, or changed) and tells by `_is_sparse` whether the
    rows of any are sparse, `_keep`, which keeps what a function makes of that and the rows,
    `map_table`, after which the rows of a raw table are the columns of a basis, and `_answers`,
    which gives what a function makes of parts: of each in their order, or of several where they may
    be joined in any order. All that holds rows is dropped by `close`.
    """

    def __init__(self, table, reader, compiled):
        self._table, self._reader = table, reader
        # Targets, and so digests, follow from who reads a part. It is read as at first whenever it
        # is, whoever asks.
        self._first_reader = reader
        self._seal, self._cut = KeyedDigest(token_hex(16).encode()), None
        self.n_records, self.are_grouped = table.n_rows, False
        null_rows = _null_rows_of_parts(table.sizes)
        shape = table.n_features, table.names, table.n_targets
        sizes = zip(table.sizes, null_rows, strict=True)
        self._are_compiled = compiled
        firsts = np.cumsum([0, *table.sizes])
        self._stated = [
            PartitionSpec(size, *shape, null, compiled, int(first))
            for (size, null), first in zip(sizes, firsts, strict=False)
        ]

    def close(self):
        """Drop what is held of the rows."""

    @property
    def n_rows(self):
        """Number of rows in all parts."""
        return self._table.n_rows

    @property
    def sizes(self):
        """See `Rows.sizes`."""
        n_targets = self.treatment.family.n_columns(self._table.n_targets or 1)
        return self.n_records, self._table.n_features, n_targets

    @property
    def scale(self):
        """Rows of parts have no weights, so that nothing but the family says how they weigh."""
        return

    def count_records(self, groups):
        """Count groups of rows, which are the records where there are some.

        A ValueError if a group is in two parts.
        """
        if groups is None:
            return
        # As in memory, see `skdp._rows.fused.sums_of`.
        self._are_compiled = False
        groups_of_parts = list(self._answers("groups", _parts.part_groups, ()))
        self.n_records, self.are_grouped = count_groups(groups_of_parts), True

    def ask(self, query):
        """Return the answer to a `Query`."""
        return self._ask_about(query.view, self._cut if query.view == CUT else None, query)

    def _ask_about(self, view, given, query):
        """Return the answer to a `Query` about a view of rows, for which something is given."""
        args, is_exact = (query, view, given), query.grid > 0.0
        return query.join(
            self._answers(view, _parts.answer, args, join=query.join if is_exact else None)
        )

    def decided(self, kinds):
        """Return these rows, of a table in which the kinds of columns, by place, are decided."""
        self._keep(_tables.settle_part, kinds)
        return self

    @property
    def treatment(self):
        """What a fit does with the rows, see `RowTreatment`."""
        return self._reader.treatment

    def map_to(self, treatment, basis):
        """Have rows be, from now on, the columns of a basis, treated as such."""
        self._reader = self._reader.of(treatment)
        self.map_table(basis)
        with sums_compiled(self._are_compiled):
            self._is_sparse = are_coded(basis, self.n_rows)
        return self

    @contextmanager
    def at_work(self):
        """See `Rows.at_work`: workers close what they open."""
        yield self

    @contextmanager
    def view(self, treatment, view):
        """See `Rows.view`: rows are mapped once more in every pass."""
        self._reader, self._is_sparse = self._reader.of(treatment), False
        self._keep(_tables.view_part, view)
        yield

    def stretch(self, shift, length):
        """See `Rows.stretch`."""
        return stretch_of(shift, length) if self._is_sparse else 1.0

    def of_targets(self, *, weighted=False):
        """See `Rows.of_targets`. Rows of parts have no weights."""
        return Asked(partial(self._ask_about, TARGETS, None))

    def sampled(self, drawn):
        """See `Rows.sampled`."""
        return Asked(partial(self._ask_about, SAMPLED, drawn))

    def sampled_slopes(self, drawn):
        """See `Rows.sampled_slopes`."""
        cut = self._cut._replace(drawn=drawn)
        return AskedSlopes(partial(self._ask_about, CUT, cut), cut.bound)

    def move_targets(self, units):
        """See `Rows.move_targets`."""
        self._keep(_parts.move_targets, units)

    def replace_targets(self, step):
        """See `Rows.replace_targets`."""
        self._keep(_parts.replace_targets, step)

    def place(self, ball):
        """See `Rows.place`."""
        self._keep(_parts.place_part, ball)

    def bound_slopes(self, A, bound):
        """See `Rows.bound_slopes`; parts keep what was measured."""
        self._cut = Cut(A, bound)
        self._keep(_parts.measure_part, A, bound)

    def rebound_slopes(self, bound):
        """See `Rows.rebound_slopes`."""
        check_rebound(self._cut.bound, bound)
        self._cut = self._cut._replace(bound=bound)

    @property
    def slope_bound(self):
        """See `Rows.slope_bound`."""
        return self._cut.bound

    def shorten(self, longest):
        """See `Rows.shorten`."""
        self._cut = self._cut._replace(longest=longest)


class LocalRows(PartitionedRows):
    """Parts that are read in order by this process, as many at a time as it has threads.

    Copies of rows, and what is kept of them, lie in memory where there is room for them, or else in
    a file without a name, where temporary files are. Rows for which that has no room are read again
    in each pass.
    """

    def __init__(self, table, reader):
        n_entries = table.n_entries * reader.columns_of_each
        super().__init__(table, reader, can_compile(n_entries))
        # One graph computes once what both are made of, such as the part of a file.
        parts = zip(culled(table.rows), culled(table.targets), strict=True)
        joint = [({**one, **other}, [key, key_y]) for (one, key), (other, key_y) in parts]
        self._parts = list(zip(self._stated, joint, strict=True))
        n_threads = effective_n_jobs(reader.n_jobs)
        self._n_parts = min(n_threads, len(self._parts))
        self._n_threads = n_threads // self._n_parts

    def read(self):
        shown, n_parts = progress(), len(self._parts)
        own = shown.each("reading", n_parts, self._map(self._own, self._parts))
        self._owned = self._stored(own, _with_room)
        again = self._map(partial(self._read, verdict_of_part), self._parts)
        again = shown.each("checking", n_parts, again)
        if list(again) != [verdict(kept) for _, kept in self._owned]:
            raise ValueError(CHANGED)
        self._is_sparse = any(kept.is_sparse for _, kept in self._owned)

    def _read(self, function, stated, joint):
        X, y = call_locally(dask.get, *joint)
        return call_locally(function, self._first_reader, stated, self._seal, X, y)

    def _own(self, *part):
        X, kept = self._read(own_part, *part)
        refuse_rejected([kept])
        return X, kept

    def _keep(self, function, *args):
        kept = self._stored(self._each(function, args))
        self._owned = [(X, k) for (X, _), k in zip(self._owned, kept, strict=True)]

    def map_table(self, basis):
        pairs = zip(self._owned, self._each(_tables.map_table, (basis,)), strict=True)
        mapped = ((None if owned is None else X, kept) for (owned, _), (X, kept) in pairs)
        # Raw rows stay where there is no room for their columns.
        two = zip(self._owned, self._stored(mapped, _with_room), strict=True)
        self._owned = [(x, k) if X is None else (X, _tables.of_mapped(k)) for (x, _), (X, k) in two]

    def _answers(self, name, function, args, join=None):
        return self._each(function, args)

    def _each(self, function, args):
        def call(part, owned):
            X, kept = owned
            if X is None:
                X, again = self._read(copy_part, *part)
                call_locally(refuse_other, again, verdict(kept))
            return call_locally(of_part, function, self._reader, self._n_threads, X, kept, *args)

        return self._map(call, zip(self._parts, self._owned, strict=True))

    def _map(self, function, arguments):
        return map_in_order(as_configured_here(function), arguments, self._n_parts)

    def _stored(self, parts, for_file=iter):
        """Return what parts give, moved to a file where it is many bytes."""
        parts = iter(parts)
        first = next(parts)
        of_all = _bytes_of(first) / self._stated[0].size * self._table.n_rows
        if of_all <= _memory_for_rows():
            return [first, *parts]
        return _in_file(for_file(chain([first], parts)))


def _memory_for_rows():
    """Return how many bytes of rows, and of what is kept of them, may lie in memory.

    It follows from the machine alone, and decides no bit of a result.
    """
    free = MEMORY_LIMIT - psutil.Process().memory_info().rss
    free = min(free, psutil.virtual_memory().available)
    return max(_LEAST_IN_MEMORY, _SHARE_OF_MEMORY * free)


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


def refuse_rejected(kept):
    """Refuse parts of which any can't be used."""
    for part in kept:
        if isinstance(part, RejectedPartition):
            raise ValueError(part.message)


def refuse_other(kept, seen):
    """Refuse a part that is read again, if it is another."""
    if verdict(kept) != seen:
        raise RowsChangedError
