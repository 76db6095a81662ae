"""What is released of a table to describe it: bins and words, sums for means, and counts."""

import math
from dataclasses import replace

import numpy as np

from skdp._rows.kinds import DATE
from skdp._rows.naming import as_array
from skdp.preprocessing._plan import CONTRIBUTION_STEP, MOMENTS
from skdp.preprocessing._solver import release_together, sum_moments
from skdp.preprocessing.table._solver import find_bins, find_words
from skdp.statistics._columns import Counts, NumberColumn, RangesAxis, WordColumn
from skdp.statistics._plan import CELLS


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
            columns[j] = NumberColumn.of(name, histogram, plan.n_rows, holds_dates)
            axes[j] = RangesAxis(name, j, columns[j].cuts, holds_dates)
    if specs.words:
        terms = find_words(frame, specs, plan, run, None)
        axes |= {j: _with_gap(term) for j, term in terms.items()}
    if columns:
        _add_moments(columns, frame, plan, run)
    cells = _release_cells([*((j,) for j in specs.words), *pairs], axes, frame, plan, run)
    for j, ((name,), (words,), counts) in zip(specs.words, cells, strict=False):
        columns[j] = WordColumn(name, words, axes[j].categories.tolist(), counts)
    return [columns[j] for j in range(len(frame.names))], cells[len(specs.words) :]


def _with_gap(term):
    """Return a term of words in which gaps have a place of their own, the last but one."""
    words = [word for word in term.categories.tolist() if word == word]
    return replace(term, categories=as_array([*words, np.nan]))


def _add_moments(columns, frame, plan, run):
    """Release sums for the means of columns of numbers, cut to the ranges where these show."""
    mechanism, sums = run.mechanism(MOMENTS), []
    for j, column in columns.items():
        x, (middle, half) = frame.numbers(j), column.middle_and_half
        x = x[~np.isnan(x)]
        if plan.budget.is_private:
            sums.append(sum_moments(x, middle, half) * CONTRIBUTION_STEP)
        else:
            t = (x - middle) / half
            sums.append([t.sum(), (1.0 - t**2).sum()])
    released = run.release(MOMENTS, np.array(sums))
    for j, moments in zip(columns, released, strict=True):
        columns[j] = replace(columns[j], moments=(moments, mechanism.noise_std))


def _release_cells(asked, axes, frame, plan, run):
    """Release how many records are in each cell of columns and pairs of columns, together."""
    if not asked:
        return []
    mechanism, exact, tables = run.mechanism(CELLS), [], []
    for places in asked:
        of_cells = [axes[j] for j in places]
        shape = [len(axis.words) for axis in of_cells]
        cells = np.ravel_multi_index([axis.places(frame) for axis in of_cells], shape)
        exact.append(np.bincount(frame.counted(cells), minlength=math.prod(shape)).astype(float))
        names = tuple(axis.name for axis in of_cells)
        tables.append((names, [axis.words for axis in of_cells]))
    released = release_together(run, CELLS, exact)
    return [
        (names, words, Counts.of(counts, plan.n_rows, mechanism.noise_std))
        for (names, words), counts in zip(tables, released, strict=True)
    ]
