"""Rows in memory, with their targets, on their way through a fit."""

from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from math import prod
from typing import NamedTuple

import numpy as np

from skdp._families.weights import Weights, joint_weights
from skdp._rows.bounds import BoundedRows, stretch_of, void_records
from skdp._rows.coded_rows import CodedRows, is_sparse
from skdp._rows.fused import are_compiled, sums_compiled, sums_of
from skdp._rows.groups import dense_in_groups, shares_of
from skdp._rows.queries import RAW, Asked
from skdp._rows.raw_rows import RawRows
from skdp._rows.rows_in_ball import some_bounded_rows, some_rows


class Records(NamedTuple):
    """Rows with certified norms, their targets and weights: a view for batches and columns."""

    rows: BoundedRows
    targets: np.ndarray
    weights: Weights

    @property
    def joint_weights(self):
        """What records count in their ball, by their weights; None if all are 1."""
        return joint_weights(self.weights.of_rows, self.rows.weight)


class MemoryRows:
    """Rows in memory, as `Rows` that also have `records`, for methods by batches and by columns.

    The treatment says how rows are bounded and placed. What answers queries is made when it is
    first asked, and dropped when rows are placed.
    """

    def __init__(self, treatment, X, targets, weights=None, codes=None):
        self._targets, self._targets_as_read = targets, targets
        self._weights, self._codes = Weights() if weights is None else weights, codes
        self._shares, self._opened = shares_of(codes), ExitStack()
        with sums_of(codes):
            self._take(treatment, dense_in_groups(X, codes))

    def _take(self, treatment, X):
        self.treatment, self._X = treatment, X
        with void_records(treatment.family.void_rows(self._targets)):
            certified = treatment.bounds.read(X, self._n_jobs_by_row)
        self._rows = self._weights.without_zero_weights(certified)
        self._is_null = self._rows.norm == 0.0
        self._raw, self._placed = None, None

    @property
    def sizes(self):
        """See `Rows.sizes`."""
        n_rows, n_features = self._X.shape
        n_records = n_rows if self._codes is None else int(self._codes.max()) + 1
        return n_records, n_features, self._targets.shape[1]

    @property
    def _n_jobs_by_row(self):
        """Threads for what is done with each row by itself: one where their number is private."""
        return self.treatment.n_jobs if self._codes is None else 1

    @property
    def are_grouped(self):
        """See `Rows.are_grouped`."""
        return self._codes is not None

    @property
    def scale(self):
        """See `Rows.scale`."""
        return self._weights.scale

    def records(self):
        """Return the `Records` as they are now, for methods that take batches or columns."""
        return Records(self._rows, self._targets, self._weights)

    @contextmanager
    def view(self, treatment, view):
        """Have rows be what `view.of_columns` makes of them, treated otherwise, from now on.

        In the context sums over these are compiled if those over rows of codes were.
        """
        self._opened.close()
        self._targets_as_read = self._targets
        with sums_compiled(True) if isinstance(self._X, CodedRows) else nullcontext():
            self._take(treatment, view.of_columns(self._X))
            yield

    @contextmanager
    def at_work(self):
        """See `Rows.at_work`."""
        with sums_of(self._codes), self._opened:
            yield self

    def ask(self, query):
        """See `Rows.ask`."""
        return (self._raw_rows() if query.view == RAW else self._placed_rows()).ask(query)

    def sampled(self, drawn):
        """See `Rows.sampled`."""
        X = self._rows.X
        numbers = drawn.rows(0, X.shape[0])
        chosen = some_rows(X, numbers, self._n_jobs_by_row)
        # These are part of a larger table: whether sums are compiled follows from its size.
        with sums_compiled(are_compiled(prod(X.shape))):
            rows = RawRows(chosen, self._is_null[numbers], self.treatment.n_jobs)
        return Asked(self._opened.enter_context(rows.at_work()).ask)

    def of_targets(self, *, weighted=False):
        """See `Rows.of_targets`."""
        return Asked(partial(self._ask_targets, weighted))

    def _ask_targets(self, weighted, query):
        """Return what targets answer to a `Query`; see `of_targets`."""
        shares = None if query.of_rows_alone else self._shares
        weights = self._weights.of_rows
        if weighted and weights is not None:
            shares = weights / weights.max()
        n_jobs = self.treatment.n_jobs
        with RawRows(self._targets, self._is_null, n_jobs, shares).at_work() as rows:
            return rows.ask(query)

    @np.errstate(all="ignore")
    def move_targets(self, units):
        """See `Rows.move_targets`."""
        self._set_targets(units.move(self._targets_as_read))

    @np.errstate(all="ignore")
    def replace_targets(self, step):
        """See `Rows.replace_targets`."""
        self._set_targets(step.of(self._X, self._targets))

    def _set_targets(self, targets):
        # Slopes follow from targets, so that what answers is made anew.
        self._targets, self._placed = targets, None

    def place(self, ball):
        """See `Rows.place`."""
        self._opened.close()
        self._raw = None
        bounds, n_jobs = self.treatment.bounds, self._n_jobs_by_row
        self._rows = bounds.place(ball, self._rows.X, self._is_null, n_jobs)

    def stretch(self, shift, length):
        """See `Rows.stretch`."""
        return stretch_of(shift, length) if is_sparse(self._X) else 1.0

    @property
    def slope_bound(self):
        """See `Rows.slope_bound`."""
        return self._placed_rows().slope_bound

    def bound_slopes(self, A, bound):
        """See `Rows.bound_slopes`."""
        self._placed_rows().bound_slopes(A, bound)

    def rebound_slopes(self, bound):
        """See `Rows.rebound_slopes`."""
        self._placed_rows().rebound_slopes(bound)

    def sampled_slopes(self, drawn):
        """See `Rows.sampled_slopes`. Records are rows."""
        placed, weights = self._placed_rows(), self._weights.of_rows
        numbers = drawn.rows(0, self._rows.norm.size)
        rows = some_bounded_rows(self._rows, numbers, self.treatment.n_jobs)
        with sums_compiled(placed.kernels is not None):
            sampled = self.treatment.answering(
                rows,
                self._targets[numbers],
                self.treatment.n_jobs,
                None if weights is None else weights[numbers],
            )
        sampled.bound_measured_slopes(placed.A, placed.bound, placed.lengths[numbers])
        return self._opened.enter_context(sampled.at_work())

    def shorten(self, longest):
        """See `Rows.shorten`."""
        self._placed_rows().shorten(longest)

    def _raw_rows(self):
        if self._raw is None:
            n_jobs = self.treatment.n_jobs
            rows = RawRows(self._rows.X, self._is_null, n_jobs, self._shares)
            self._raw = self._opened.enter_context(rows.at_work())
        return self._raw

    def _placed_rows(self):
        if self._placed is None:
            n_jobs = self.treatment.n_jobs
            rows = self.treatment.answering(
                self._rows, self._targets, n_jobs, self._weights.of_rows, codes=self._codes
            )
            self._placed = self._opened.enter_context(rows.at_work())
        return self._placed
