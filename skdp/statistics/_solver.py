"""What is released of a table to describe it: bins and words, sums for means, and counts."""

import math
from dataclasses import dataclass, replace

import numpy as np

from skdp._release.mechanisms import GaussianMechanism
from skdp._rows.kinds import DATE
from skdp._rows.naming import as_array
from skdp._rows.queries import TABLE, BoundedQuery, Cells, CountsByCell
from skdp.preprocessing._plan import CONTRIBUTION_STEP, MOMENTS
from skdp.preprocessing._solver import sum_moments
from skdp.preprocessing.table._solver import find_bins, find_words
from skdp.statistics._columns import Counts, NumberColumn, RangesAxis, WordColumn
from skdp.statistics._plan import CELLS


@dataclass(frozen=True, eq=False)
class MomentsOfNumbers(BoundedQuery):
    """The sums of (t, 1 - t**2) over columns of numbers, t being the place in a column's range.

    `ranges` are pairs (middle, half). With noise numbers are cut to them: see `sum_moments`.
    """

    places: list
    ranges: list
    mechanism: GaussianMechanism

    view = TABLE

    def record_bound(self, place):
        return math.sqrt(len(self.places))

    def total(self, frame):
        each = zip(map(frame.numbers, self.places), self.ranges, strict=True)
        return np.array([self._of_column(x[~np.isnan(x)], *within) for x, within in each])

    def _of_column(self, x, middle, half):
        if self.mechanism.noise_multiplier > 0.0:
            return sum_moments(x, middle, half) * CONTRIBUTION_STEP
        t = (x - middle) / half
        return np.array([t.sum(), (1.0 - t**2).sum()])


def release_description(frame, specs, pairs, *, plan, run):
    """Release what describes a table.

    Parameters
    ----------
    frame : Frame
    specs : ColumnSpecs
    pairs : list of pairs of int
        Places of the columns that crosstabs are of.
    plan : TablePlan
        Of `plan_description`.
    run : Run

    Returns
    -------
    columns : list of NumberColumn and WordColumn
    crosstabs : list of (names, words, counts)
        Of each pair the names of the columns, the words of both, and `Counts` of the cells.
    """
    columns, axes = {}, {}
    if specs.numeric:
        histograms = find_bins(frame, specs, plan, run)
        for j, histogram in zip(specs.numeric, histograms, strict=True):
            name, holds_dates = frame.names[j], specs.kinds[j] == DATE
            columns[j] = NumberColumn.of(name, histogram, plan.n_records, holds_dates)
            axes[j] = RangesAxis(name, j, columns[j].cuts, holds_dates)
    if specs.words:
        terms = find_words(frame, specs, plan, run, None)
        axes |= {j: _with_gap(term) for j, term in terms.items()}
    if columns:
        _add_moments(columns, frame, run)
    cells = _release_cells([*((j,) for j in specs.words), *pairs], axes, frame, plan, run)
    for j, ((name,), (words,), counts) in zip(specs.words, cells, strict=False):
        columns[j] = WordColumn(name, words, axes[j].categories.tolist(), counts)
    return [columns[j] for j in range(len(frame.names))], cells[len(specs.words) :]


def _with_gap(term):
    """Return a term of words in which gaps have a place of their own, the last but one."""
    words = [word for word in term.categories.tolist() if word == word]
    return replace(term, categories=as_array([*words, np.nan]))


def _add_moments(columns, frame, run):
    """Release sums for the means of columns of numbers, cut to the ranges where these show."""
    mechanism = run.mechanism(MOMENTS)
    ranges = [column.middle_and_half for column in columns.values()]
    released = run.ask(MOMENTS, frame, MomentsOfNumbers(list(columns), ranges, mechanism))
    for j, moments in zip(columns, released, strict=True):
        columns[j] = replace(columns[j], moments=(moments, mechanism.noise_std))


def _release_cells(asked, axes, frame, plan, run):
    """Release how many records are in each cell of columns and pairs of columns, together."""
    if not asked:
        return []
    mechanism, cells_of_rows, sizes, tables = run.mechanism(CELLS), [], [], []
    for places in asked:
        of_cells = [axes[j] for j in places]
        shape = [len(axis.words) for axis in of_cells]
        cells = np.ravel_multi_index([axis.places(frame) for axis in of_cells], shape)
        cells_of_rows.append(frame.counted(cells))
        sizes.append(math.prod(shape))
        names = tuple(axis.name for axis in of_cells)
        tables.append((names, [axis.words for axis in of_cells]))
    query = CountsByCell(tuple(sizes), mechanism)
    released = run.ask(CELLS, Cells(tuple(cells_of_rows)), query).astype(np.float64)
    each = np.split(released, np.cumsum(sizes)[:-1])
    return [
        (names, words, Counts.of(counts, plan.n_records, mechanism.noise_std))
        for (names, words), counts in zip(tables, each, strict=True)
    ]
