"""Descriptions of tables: how many records have each word or number, with intervals."""

import numpy as np

from skdp._rows.labels import texts_apart
from skdp.plotting import _tuned as tuned
from skdp.plotting._axes import (
    as_label,
    as_labels,
    date_ticks,
    number_ticks,
    open_grid,
    show_thousands,
)

_BARS, _LINES = "C0", "0.5"
_HIDDEN = "no number stands out of the noise"


class DescriptionDisplay:
    """How many records have each word or number of a table, or lie in each range.

    Bars of ranges have one width, so their heights may be compared; a range has its lower end.
    Lines are intervals for the table itself, without the noise.

    Created by :meth:`skdp.statistics.PrivateDescription.plot`. All parameters are stored as
    attributes.

    **Privacy.** Drawing costs nothing: everything in the drawing was released.

    Parameters
    ----------
    bars : tuple of objects
        The bars of each column.
    level : float
        Level of the intervals.

    Attributes
    ----------
    axes_ : list of matplotlib Axes
        One for each column.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    skdp.statistics.describe : Describe a table.

    Examples
    --------
    >>> import pandas as pd
    >>> from skdp.statistics import describe
    >>> table = pd.DataFrame({"smokes": ["yes", "no", "no"] * 1000})
    >>> describe(table, epsilon=1.0, random_state=0).plot()
    DescriptionDisplay of 1 column: smokes
    """

    def __init__(self, *, bars, level):
        self.bars = bars
        self.level = level

    def plot(self, *, ax=None):
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to replace by the drawing; None makes a figure.

        Returns
        -------
        self : object
            This display.

        Raises
        ------
        TypeError
            If `ax` is something else.
        """
        is_new = ax is None
        shown = [_shown_words(one) if one.kind == "words" else None for one in self.bars]
        height = max([tuned.PANEL[1], *(_height(one) for one in shown if one)])
        panel = tuned.WIDTH_OF_BAR_PANEL, height
        notes = [_notes(one) for one in self.bars]
        below = [tuned.LINE * (1 + len(lines)) for lines in notes]
        self.axes_, self.figure_ = open_grid(ax, self, below, panel=panel)
        for own, column, words, lines in zip(self.axes_, self.bars, shown, notes, strict=True):
            own.set_title(as_label(column.name, tuned.LONGEST_TITLE), fontsize="medium")
            own.tick_params(labelsize="small")
            _DRAWN[column.kind](own, column, words)
            if lines:
                own.set_xlabel("\n".join(lines), fontsize="small")
            own.spines[["top", "right"]].set_visible(False)
        if is_new:
            self.figure_.supylabel("records", fontsize="medium")
            note = f"Lines: {100 * self.level:g} % intervals for the table itself."
            if any(column.kind == "ranges" for column in self.bars):
                note += " Ranges leave out at most 0.5 % of the entries at each end."
            self.figure_.supxlabel(note, fontsize="small")
        return self

    def __repr__(self):
        n_columns, names = len(self.bars), [one.name for one in self.bars[: tuned.MOST_NAMES]]
        more = [f"{n_columns - len(names)} more"] if n_columns > len(names) else []
        columns = f"{n_columns} columns" if n_columns > 1 else "1 column"
        return f"DescriptionDisplay of {columns}: {', '.join(names + more)}"


def _notes(column):
    """Return lines on the entries of a column that have no bar."""
    gaps = [] if column.gaps is None else [("missing", column.gaps[0])]
    return [f"{text}: {count:,.0f}" for text, count in (*column.beyond, *gaps)]


def _height(words):
    """Return what the labels of words need, in inches."""
    _, texts = words
    most_lines = max((text.count("\n") + 1 for text in texts), default=1)
    return tuned.LINE_OF_BAR * most_lines * len(texts)


def _shown_words(column):
    """Return the places of the most frequent words, the first at the top, and their labels.

    Gaps and infrequent words, which are last in the column, stand below these, and only where there
    are any for sure.
    """
    n_words = len(column.places) - 2
    words = np.argsort(-column.counts[:n_words], kind="stable")[: tuned.MOST_BARS_OF_WORDS]
    others = n_words + np.flatnonzero(column.low[n_words:] > 0.0)
    order = np.concatenate([words, others])
    texts = [column.places[j] for j in order]
    return order, as_labels(texts, tuned.LONGEST_LINE_OF_BAR)


def _draw_words(ax, column, words):
    order, texts = words
    places = np.arange(order.size)
    ax.barh(places, column.counts[order], color=_BARS, alpha=0.6)
    _draw_intervals(ax.hlines, places, column, order)
    ax.set_yticks(places, texts)
    ax.tick_params("y", labelsize="x-small")
    ax.set_ylim(max(order.size, 1) - 0.4, -0.6)
    ax.set_xlim(left=0.0)
    show_thousands(ax.xaxis)
    n_others = len(column.places) - 2 - tuned.MOST_BARS_OF_WORDS
    if n_others > 0:
        text, place = f"{n_others} more words", (0.97, 0.03)
        ax.annotate(text, place, xycoords="axes fraction", ha="right", fontsize="x-small")


def _draw_numbers(ax, column, _):
    numbers = np.asarray(column.places)
    places, width = numbers, 0.8 * np.diff(numbers).min(initial=np.inf)
    if numbers.size <= tuned.MOST_POINTS:
        # However far apart they are.
        places, width = np.arange(numbers.size), 0.8
        texts = texts_apart(numbers, column.holds_dates)
        ax.set_xticks(places, [as_label(text, tuned.LONGEST_FLAT_LABEL) for text in texts])
    else:
        _show_numbers(ax, column, float(numbers[0]), float(numbers[-1]))
    ax.bar(places, column.counts, width=width, color=_BARS, alpha=0.6)
    _draw_intervals(ax.vlines, places, column, slice(None))
    ax.set_ylim(bottom=0.0)
    show_thousands(ax.yaxis)


def _draw_ranges(ax, column, _):
    ends = np.asarray(column.places)
    widths = np.diff(ends)
    ax.bar(ends[:-1], column.counts, width=widths, align="edge", color=_BARS, alpha=0.6)
    middles = 0.5 * ends[:-1] + 0.5 * ends[1:]
    _draw_intervals(ax.vlines, middles, column, slice(None))
    ax.set_ylim(bottom=0.0)
    _show_numbers(ax, column, float(ends[0]), float(ends[-1]))
    show_thousands(ax.yaxis)


def _draw_intervals(lines, places, column, order):
    """Draw thin lines, which leave the bars to be seen."""
    lines(places, column.low[order], column.high[order], color=_LINES, linewidth=1.0)


def _show_numbers(ax, column, low, high):
    if column.holds_dates:
        ticks, texts, common = date_ticks(low, high)
        ax.set_xticks(ticks, texts)
        if common and not _notes(column):
            ax.set_xlabel(common, fontsize="small")
        return
    ticks, texts = number_ticks(low, high)
    ax.set_xticks(ticks, texts)


def _draw_nothing(ax, column, _):
    ax.set_axis_off()
    ax.text(0.5, 0.5, _HIDDEN, ha="center", fontsize="small", transform=ax.transAxes)


_DRAWN = {
    "words": _draw_words,
    "numbers": _draw_numbers,
    "ranges": _draw_ranges,
    "hidden": _draw_nothing,
}
