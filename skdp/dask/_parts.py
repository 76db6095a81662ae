"""Rows that lie in parts: their digests, what is kept of each part, and what it answers."""

from contextlib import contextmanager, nullcontext
from functools import lru_cache
from hashlib import blake2b, shake_128
from typing import NamedTuple

import numpy as np
from scipy.sparse import issparse

from skdp._ball._solver import Ball
from skdp._rows.bounds import BoundedRows, null_records, void_records
from skdp._rows.coded_rows import is_sparse
from skdp._rows.containers import refuse_unreadable
from skdp._rows.fused import sums_compiled
from skdp._rows.groups import dense_in_groups, shares_of
from skdp._rows.numbers import numbers_of
from skdp._rows.queries import COLUMNS, CUT, PLACED, PUBLIC, RAW, SAMPLED, TABLE, TARGETS
from skdp._rows.raw_rows import RawRows
from skdp._rows.rows_in_ball import RowsInUnits, in_units
from skdp._rows.sparse import canonical
from skdp._rows.threads import single_threaded_blas
from skdp._sklearn import validate_arrays
from skdp.dask._beside import Beside
from skdp.dask._groups import Groups, read_groups
from skdp.dask._tables import RawTable, null_records_of
from skdp.linear_model.walr._queries import LabelledRows
from skdp.linear_model.walr._solver import PublicRows
from skdp.preprocessing._solver import CountedColumns

_OTHER_SIZE = "a partition has another number of rows than the collection states."
_OTHER_COLUMNS = "a partition of {} has other columns than the collection states."
_OTHER_ROWS = (
    "partitions of X and of what belongs to its rows (y, groups, exposure) have other rows, or in "
    "another order: their indexes differ. What a shuffle returns may be in another order each time "
    "that it is computed: write it to a file, and take all of them from that."
)
_FLOATS = [np.float64, np.float32]
# A digest multiplies so many 64-bit words at a time.
_WORDS, _WORD_BYTES = 8192, 8
_DIGEST_BYTES = 16


class KeyedDigest(NamedTuple):
    """What takes digests of arrays, alike on every machine and for one fit.

    The 64-bit words w of an array, 8192 at a time, give two sums modulo 2**64, of ``k w`` and of
    ``k`` times w with its bytes in reverse, where the multipliers k follow from the key. If arrays
    differ, so do the lower 32 bits of a word or those of its reverse, and over the choice of the
    key a sum is the same with probability at most 2**-33. The sums are hashed, together with the
    last bytes that fill no word. The key is secret, so that nobody can write rows whose digest is
    that of others.
    """

    key: bytes

    def of(self, rows):
        """Return the digest of a C-contiguous array of numbers, or of sparse rows."""
        if not issparse(rows):
            return _digest(rows, self.key)
        digest = blake2b(repr(rows.shape).encode(), digest_size=_DIGEST_BYTES)
        for part in (rows.data, rows.indices, rows.indptr):
            digest.update(_digest(np.ascontiguousarray(part), self.key))
        return digest.digest()


def _digest(array, key):
    digest = blake2b(f"{array.dtype.str}{array.shape}".encode(), digest_size=_DIGEST_BYTES)
    content = array.reshape(-1).view(np.uint8)
    n_bytes = content.size - content.size % _WORD_BYTES
    words, multipliers = content[:n_bytes].view(np.uint64), _multipliers(key)
    whole = words.size - words.size % _WORDS
    for part in (words[:whole].reshape(-1, _WORDS), words[np.newaxis, whole:]):
        for seen in (part, part.view(part.dtype.newbyteorder())):
            digest.update(np.einsum("ij,j->i", seen, multipliers[: part.shape[1]]))
    digest.update(content[n_bytes:])
    return digest.digest()


@lru_cache(maxsize=8)
def _multipliers(key):
    drawn = shake_128(key).digest(_WORDS * _WORD_BYTES)
    return np.frombuffer(drawn, "<u8").astype(np.uint64)


# Mapped rows are of float64, and rows may be of float32.
_COPIES_OF_GROUPS = 3


class PartitionSpec(NamedTuple):
    """What a collection states of a part; see `Table`."""

    size: int
    n_features: int
    names: list | None
    n_targets: int | None
    # Null records, see `skdp._rows.bounds.null_records`.
    null_rows: list | None
    # The sums of a table are compiled if it has so many entries that this is worthwhile.
    compiled: bool = False
    # The number of its first row among those of all parts.
    first: int = 0

    def fault_of(self, X, y):
        """Return in what a part differs from this, or None."""
        if np.shape(X)[1:] != (self.n_features,) or self.names != _names(X):
            return _OTHER_COLUMNS.format("X")
        if np.shape(y)[1:] != (() if self.n_targets is None else (self.n_targets,)):
            return _OTHER_COLUMNS.format("y")
        return None if np.shape(X)[0] == self.size else _OTHER_SIZE


class RejectedPartition(NamedTuple):
    """Why a part can't be used, in words that quote no entry."""

    message: str


class Kept(NamedTuple):
    """What is kept of the m rows of a part from one pass to the next, besides the rows."""

    # They have the shape (m, k).
    targets: np.ndarray
    # It is that of the rows and the targets.
    digest: bytes
    is_sparse: bool
    # Sums of a part are to be alike wherever they are made, so that this travels with it.
    compiled: bool = False
    # The number of its first row among those of all parts.
    first: int = 0
    # See `skdp._rows.bounds.BoundedRows`.
    scale: np.ndarray | None = None
    bias: float = 0.0
    norm: np.ndarray | None = None
    # In whose units rows are, and what they count; see `skdp._rows.bounds.BoundedRows`.
    ball: Ball | None = None
    weight: np.ndarray | None = None
    # Lengths of mapped rows; where records are groups, the mapped rows. See `bound_slopes` of
    # `CertifiedRows` and of `GroupedRows`.
    lengths: np.ndarray | None = None
    # There are some if records are groups of rows.
    groups: Groups | None = None
    # There is one if rows are raw.
    table: RawTable | None = None
    # Where targets were moved: as they were before.
    targets_as_read: np.ndarray | None = None


class RowReader:
    """What workers get to know of whoever asks for rows of numbers: no seed, ledger or client.

    A reader has a `name` for messages, `checks_of_targets` (arguments of
    `sklearn.utils.check_X_y`), `checked`, `certified_rows(X)`, `targets(y, exposure)` of shape
    (m, k) and `n_jobs`. Where steps are made, it has `asked(rows, targets, n_threads, codes)`, and
    `bounded_by(ball, X, is_null)` to place parts in a ball; where columns are counted,
    `counted(X)`; and of raw tables, `mapped_rows(X)`. It is foreseen that each column becomes
    `columns_of_each`: whether sums are compiled follows from that.
    """

    columns_of_each = 1

    def void_rows(self, targets):
        """Tell which rows add nothing to any release, as these targets say; None if none does."""
        return

    def checked(self, X, y):
        """Return rows and y as scikit-learn's contract has them, and of raw rows a `RawTable`."""
        refuse_unreadable(X, dtype=_FLOATS)
        # A reader may refuse sparse rows.
        checks = {"accept_sparse": "csr", **self.checks_of_targets}
        X, y, _ = validate_arrays(self.name, numbers_of(X), y, dtype=_FLOATS, **checks)
        return X, y, None


def own_part(reader, stated, seal, X, y):
    """Return a private copy of the rows of a part, and what is kept of the copy.

    None and a `RejectedPartition` where the part can't be used: an error would be logged by the
    worker together with what it was computing. For the reader see `RowReader`. Where
    rows have more than targets, y is a `Beside`.
    """
    try:
        X, kept = _copied(reader, stated, seal, X, y)
        null = nullcontext() if stated.null_rows is None else null_records(stated.null_rows)
        is_void = reader.void_rows(kept.targets)
        with null, void_records(is_void), sums_compiled(kept.compiled):
            rows = reader.certified_rows(X)
    except (TypeError, ValueError) as error:
        return None, RejectedPartition(str(error))
    return X, kept._replace(scale=rows.scale, bias=rows.bias, norm=rows.norm)


def copy_part(*part):
    """Return what `own_part` does, without bounds, of a part that is read once more."""
    try:
        return _copied(*part)
    except (TypeError, ValueError) as error:
        return None, RejectedPartition(str(error))


def verdict_of_part(*part):
    """Return what `verdict` tells of a part that is read once more."""
    return verdict(copy_part(*part)[1])


def verdict(kept):
    """Return why a part can't be used, or what it is: its digest, and whether it is sparse."""
    return kept if isinstance(kept, RejectedPartition) else (kept.digest, kept.is_sparse)


def _copied(reader, stated, seal, X, y):
    """Return a copy of the rows of a part, and what is kept of it but bounds."""
    y, ids, exposure = y if isinstance(y, Beside) else Beside(y)
    if fault := stated.fault_of(X, y) or _fault_of_order(X, y, ids, exposure):
        raise ValueError(fault)
    X, y, table = reader.checked(X, y)
    # Another task or process may write to a file, or to what a worker holds, at any time. What
    # bounds rows and targets is made of copies, which nobody else can write to.
    X, targets = _own_copy(dense_in_groups(X, ids)), reader.targets(np.array(y), exposure)
    groups = read_groups(ids, X.shape[0], seal.key)
    others = [targets, *(groups or ())[:2]] + ([] if table is None else table.arrays)
    digests = b"".join(map(seal.of, (X, *map(np.ascontiguousarray, others))))
    digest = blake2b(digests, digest_size=_DIGEST_BYTES).digest()
    # As in memory, see `skdp._rows.fused.sums_of`.
    compiled = stated.compiled and ids is None
    kept = Kept(targets, digest, issparse(X), compiled, stated.first, groups=groups, table=table)
    return X, kept


def copies_of(kept):
    """Return as how many copies of its rows a part counts: of groups mapped rows are kept, too."""
    return 1 if kept.groups is None else _COPIES_OF_GROUPS


def without_rows(kept):
    """Return what is kept of a part for whose rows there is no room: no mapped rows, either."""
    return kept if kept.groups is None else kept._replace(groups=kept.groups.unheld())


def of_part(function, reader, n_threads, X, kept, *args):
    """Return what a function makes of a part, by compiled sums where all parts' are."""
    # A warning about an overflow would reveal something of the data.
    with sums_compiled(kept.compiled), np.errstate(all="ignore"):
        X = X if kept.table is None else kept.table.rows(X)
        return function(reader, n_threads, X, kept, *args)


def answer(reader, n_threads, X, kept, query, view, given):
    """Return what a part answers to a query about a view of its rows.

    Given is a `Cut` for the view `CUT`, and for `SAMPLED` the `DrawnBlocks` of the rows of all
    parts; otherwise None.
    """
    with _VIEWS[view](reader, n_threads, X, kept, query, given) as rows:
        return rows.ask(query)


def _raw_rows(reader, n_threads, X, kept, query, given):
    return RawRows(X, kept.norm == 0.0, n_threads, _shares(kept)).at_work()


def _sampled_rows(reader, n_threads, X, kept, query, drawn):
    X, kept = _of_sample(X, kept, drawn)
    return RawRows(X, kept.norm == 0.0, n_threads).at_work()


def _of_sample(X, kept, drawn):
    """Return those rows of a part that are of the sample of all, and what is kept of them."""
    chosen = drawn.rows(kept.first, kept.first + kept.norm.size) - kept.first
    is_null = not chosen.size
    if is_null:
        # A part without rows of the sample answers as one whose only row is a null record.
        chosen = np.zeros(1, dtype=np.int64)

    def taken(numbers):
        return None if numbers is None else numbers[chosen]

    sampled = kept._replace(
        targets=taken(kept.targets),
        scale=taken(kept.scale),
        norm=np.zeros(1) if is_null else taken(kept.norm),
        weight=taken(kept.weight),
        lengths=np.zeros(1) if is_null else taken(kept.lengths),
    )
    return X[chosen], sampled


def _targets(reader, n_threads, X, kept, query, given):
    shares = None if query.of_rows_alone else _shares(kept)
    return RawRows(kept.targets, kept.norm == 0.0, n_threads, shares).at_work()


def _placed_rows(reader, n_threads, X, kept, query, given):
    return _asked(reader, n_threads, X, kept).at_work()


@contextmanager
def _cut_rows(reader, n_threads, X, kept, query, cut):
    if cut.drawn is not None:
        X, kept = _of_sample(X, kept, cut.drawn)
    with _asked(reader, n_threads, X, kept).at_work() as rows:
        if kept.lengths is None:
            # There was no room for the mapped rows of groups.
            rows.bound_slopes(cut.A, cut.bound)
        else:
            rows.bound_measured_slopes(cut.A, cut.bound, kept.lengths)
        if cut.longest is not None:
            rows.shorten(cut.longest)
        yield rows


@contextmanager
def _columns(reader, n_threads, X, kept, query, given):
    yield CountedColumns(reader.counted(X[kept.norm > 0.0]))


@contextmanager
def _table(reader, n_threads, X, kept, query, given):
    codes = None if kept.groups is None else kept.groups.codes
    with null_records_of(kept):
        yield kept.table.frame(X, codes)


@contextmanager
def _public_rows(reader, n_threads, X, kept, query, given):
    with single_threaded_blas:
        yield LabelledRows(PublicRows(_rows(X, kept)), kept.targets)


_VIEWS = {
    RAW: _raw_rows,
    SAMPLED: _sampled_rows,
    TARGETS: _targets,
    PLACED: _placed_rows,
    CUT: _cut_rows,
    COLUMNS: _columns,
    TABLE: _table,
    PUBLIC: _public_rows,
}


class Cut(NamedTuple):
    """How the slopes of all parts are cut; see `bound_slopes` and `shorten` of `CertifiedRows`.

    Those that are asked are of the rows of some `DrawnBlocks`, or of all where there are none.
    """

    A: object
    bound: float
    longest: float | None = None
    drawn: object = None


def part_groups(reader, n_threads, X, kept):
    """Return the groups of a part, without what rows they have."""
    return kept.groups._replace(codes=None)


def move_targets(reader, n_threads, X, kept, units):
    """Return what is kept of a part whose targets are in other units from now on."""
    as_read = kept.targets if kept.targets_as_read is None else kept.targets_as_read
    return kept._replace(targets=units.move(as_read), targets_as_read=as_read)


def replace_targets(reader, n_threads, X, kept, step):
    """Return what is kept of a part with what a step makes of it in the place of targets."""
    return kept._replace(targets=step.of(X, kept.targets))


def place_part(reader, n_threads, X, kept, ball):
    """Return what is kept of a part whose rows are in a ball's units from now on.

    Where the ball is None, they are clipped instead. Null records stay such.
    """
    with null_records([]):
        rows = reader.bounded_by(ball, X, kept.norm == 0.0)
    return kept._replace(
        ball=ball, scale=rows.scale, bias=rows.bias, norm=rows.norm, weight=rows.weight
    )


def measure_part(reader, n_threads, X, kept, A, bound):
    """Return what is kept of a part, lengths of mapped rows included."""
    if kept.groups is not None and not kept.groups.is_held:
        return kept
    with _asked(reader, n_threads, X, kept).at_work() as rows:
        return kept._replace(lengths=rows.bound_slopes(A, bound))


def _asked(reader, n_threads, X, kept):
    codes = None if kept.groups is None else kept.groups.codes
    return reader.asked(_rows(X, kept), kept.targets, n_threads, codes)


def _shares(kept):
    return None if kept.groups is None else shares_of(kept.groups.codes)


def _rows(X, kept):
    """Return the rows of a part, in the units of their ball if there is one, and their bounds."""
    shift = None
    if kept.ball is not None:
        is_void = kept.norm == 0.0
        if is_sparse(X):
            X, shift = in_units(X, kept.ball, is_void)
        else:
            X = RowsInUnits(X, kept.ball, is_void)
    return BoundedRows(X, kept.scale, kept.bias, kept.norm, kept.weight, shift)


def _fault_of_order(*parts):
    """Return what is told of parts whose indexes, where they have some, differ, or None."""
    indexes = [part.index for part in parts if hasattr(part, "iloc")]
    return None if all(index.equals(indexes[0]) for index in indexes) else _OTHER_ROWS


def _names(X):
    return list(X.columns) if hasattr(X, "columns") else None


def _own_copy(X):
    """Return a copy of rows, in C order or CSR, that nothing can be written to."""
    X = canonical(X.copy()) if issparse(X) else np.array(X, order="C")
    for array in (X.data, X.indices, X.indptr) if issparse(X) else (X,):
        array.flags.writeable = False
    return X
