"""What a fit asks of rows, wherever they are."""

from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np

from skdp._rows.queries import Query


class AsksRows(Protocol):
    """Rows that answer queries."""

    def ask(self, query: Query) -> Any:
        """Return the answer to a `Query`, without noise: only a run makes it public."""


class AsksSlopes(AsksRows, Protocol):
    """Rows whose slopes are cut."""

    @property
    def slope_bound(self) -> float:
        """What slopes are cut to."""


class Rows(AsksSlopes, Protocol):
    """Rows and their targets, which a fit moves, places and asks: the same steps wherever they are.

    They are in memory (`skdp.linear_model._memory.MemoryRows`) or in partitions
    (`skdp.dask._partitioned.PartitionedRows`). Whatever is kept of a row follows from the row, what
    was kept of it before, and released or public numbers alone. So a place may do a step again.
    """

    @property
    def treatment(self) -> Any:
        """How rows are bounded and what their loss is, as a `RowTreatment`."""

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Numbers of records, of features and of columns of targets, which are public."""

    @property
    def are_grouped(self) -> bool:
        """Whether records are groups of rows."""

    @property
    def scale(self) -> Any:
        """The public `WeightScale` of records, or None where the family alone says it."""

    def at_work(self) -> AbstractContextManager:
        """Close in the end what answers queries."""

    def of_targets(self, *, weighted: bool = False) -> AsksRows:
        """Return the targets as rows; if weighted, no record counts for more than one."""

    def move_targets(self, units: Any) -> None:
        """Have targets be in these units from now on."""

    def replace_targets(self, step: Any) -> None:
        """Have what `step.of(X, targets)` makes of rows and targets in the place of targets.

        For each row it follows from the row, its targets and released numbers alone.
        """

    def sampled(self, drawn: Any) -> AsksRows:
        """Return the rows of some `DrawnBlocks`, as they were read, until rows are placed."""

    def stretch(self, shift: np.ndarray, length: float) -> float:
        """Return by how much moving sparse rows by a shift makes rounding errors larger.

        Relative to rows that are then cut to a length.
        """

    def place(self, ball: Any) -> None:
        """Put rows into the units of a ball, or clip them to a public bound where it is None."""

    def bound_slopes(self, A: np.ndarray, bound: float) -> None:
        """Have slopes of rows z cut so that ``||A z||`` times their length is within a bound."""

    def rebound_slopes(self, bound: float) -> None:
        """Have slopes cut to another bound, by the same A."""

    def shorten(self, longest: float) -> None:
        """Have no row count as one whose mapped length, times its weight, is more."""

    def sampled_slopes(self, drawn: Any) -> AsksSlopes:
        """Return the rows of some `DrawnBlocks`, placed, with slopes cut as those of all."""

    def view(self, treatment: Any, view: Any) -> AbstractContextManager:
        """Have rows be what `view.of_columns` makes of them, treated otherwise, from now on."""
