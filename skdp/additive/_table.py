"""A raw table in memory, with its targets, on its way through a fit."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from skdp._families.weights import Weights
from skdp._rows.bounds import null_records_among, void_records
from skdp._rows.coded_rows import MOST_COLUMNS
from skdp._rows.frames import Frame
from skdp._rows.fused import are_compiled, kernels_of_codes, sums_of
from skdp.additive import _tuned as tuned
from skdp.linear_model._memory import MemoryRows
from skdp.preprocessing.table._given import ColumnSpecs


class TableSettings(NamedTuple):
    """What is known of a table and asked for, wherever its rows are."""

    # Names of the columns whose types say what they hold.
    typed: tuple
    specs: ColumnSpecs
    # Pairs of columns that are to have a surface, and 1 or -1 for curves that rise or fall.
    pairs: tuple
    signs: tuple


@dataclass(eq=False)
class MemoryTable:
    """A table in memory that answers queries, and becomes rows in the columns of a basis.

    Tables in partitions (`skdp.dask._partitioned.PartitionedRows`) have the same methods. The rows
    that are `counted`, at such `places`, have a weight, and rows that are void add nothing.
    """

    frame: Frame | None
    counted: Frame | None
    places: np.ndarray | slice
    targets: np.ndarray
    weights: Weights
    is_void: np.ndarray | None

    @classmethod
    def of(cls, frame, targets, weights, is_void):
        """Return a table in which rows of weight 0 aren't counted."""
        if weights.is_zero is None:
            return cls(frame, frame, slice(None), targets, weights, is_void)
        places = np.flatnonzero(~weights.is_zero)
        return cls(frame, frame.take(~weights.is_zero), places, targets, weights, is_void)

    def ask(self, query):
        """Return the answer to a `Query`."""
        is_void = None if self.is_void is None else self.is_void[self.places]
        with null_records_among(self.places, self.frame.n_rows), void_records(is_void):
            return self.counted.ask(query)

    def decided(self, kinds):
        """Return the table in which the kinds of columns, by place, are decided."""
        frame = self.frame.decided(kinds)
        counted = frame if self.counted is self.frame else self.counted.decided(kinds)
        return replace(self, frame=frame, counted=counted)

    def map_to(self, treatment, basis):
        """Return the rows in the columns of a basis, treated as a linear model does.

        The table isn't asked for anything after that, and lets go of its own columns.
        """
        frame, self.frame, self.counted = self.frame, None, None
        with sums_of(frame.groups):
            X = rows_of(basis, frame)
        return MemoryRows(treatment, X, self.targets, self.weights, frame.groups)


def rows_of(basis, frame):
    """Return a frame's rows in the columns of a basis, written out or as codes."""
    if not are_coded(basis, frame.n_rows):
        return basis.matrix(frame)
    return basis.coded_rows(frame, kernels_of_codes()[1])


def are_coded(basis, n_rows):
    """Return whether rows of a basis are codes, by public numbers alone.

    They are where sums over them are compiled. Those over rows of groups aren't, nor those over few
    rows, which gain less by it than it takes.
    """
    n_columns = basis.n_columns
    are_sparse = basis.n_entries <= tuned.SHARE_OF_ENTRIES * n_columns
    return are_sparse and n_columns <= MOST_COLUMNS and are_compiled(n_rows * n_columns)
