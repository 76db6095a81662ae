"""What displays share: axes, checks, and curves that differ by more than colour."""

import math
import re

import numpy as np

from skdp.accountant import PrivacyReport
from skdp.plotting import _tuned as tuned

_DASHES = ("-", (0, (6, 1.5)), (0, (6, 1.5, 1.5, 1.5)), (0, (2.5, 1)))
_MARKERS = ("o", "s", "^", "D", "v", "P")


def check_report(report):
    """Refuse what isn't a report, an estimator above all."""
    if not isinstance(report, PrivacyReport):
        raise TypeError(
            "report must be a PrivacyReport, such as the privacy_report_ of a fitted estimator, "
            f"got {type(report).__name__}."
        )


def check_increasing(values, name):
    """Return at least two numbers that increase, as a float array."""
    try:
        numbers = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a list of numbers.") from None
    if numbers.ndim != 1 or numbers.size < 2 or not (np.diff(numbers) > 0).all():
        raise ValueError(f"{name} must be a list of at least two increasing numbers.")
    return numbers


def report_label(report):
    """Name of a curve: the guarantee, and what it compares."""
    return f"{report!r}, {report.adjacency}"


def open_axes(ax, display):
    """Return the given axes, or those of a new figure, and their figure."""
    if ax is None:
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise ImportError(
                f"{type(display).__name__}.plot needs matplotlib. "
                "Install it, or skdp with the extra [plot]."
            ) from error
        _, ax = plt.subplots()
    elif not hasattr(ax, "plot"):
        raise TypeError(f"ax must be matplotlib axes or None, got {type(ax).__name__}.")
    return ax, ax.figure


def open_grid(ax, display, below, *, shared=(), panel=tuned.PANEL):
    """Return small axes in place of the given ones, or in a new figure, and the figure.

    `below` has for each what its labels need below it, in inches, and `shared` the numbers of those
    that have one axis y.
    """
    n_axes, n_columns = len(below), _n_columns(len(below))
    n_rows = math.ceil(n_axes / n_columns)
    heights = [panel[1] + max(below[n_columns * j :][:n_columns]) for j in range(n_rows)]
    is_new = ax is None
    ax, figure = open_axes(ax, display)
    if is_new:
        figure.set_size_inches(panel[0] * n_columns, sum(heights) + tuned.MARGIN)
        figure.set_layout_engine("constrained")
    ax.set_axis_off()
    grid = ax.get_subplotspec().subgridspec(n_rows, n_columns)
    axes, first = [], None
    for j in range(n_axes):
        own = figure.add_subplot(
            grid[j // n_columns, j % n_columns], sharey=first if j in shared else None
        )
        if j in shared:
            # Axes between others have the ticks of those at the left.
            own.tick_params(labelleft=not any(k in shared for k in range(j - j % n_columns, j)))
            first = own if first is None else first
        axes.append(own)
    return axes, figure


def _n_columns(n_axes):
    """Return a number of columns that leaves few places of a grid empty."""
    return tuned.COLUMNS_OF_GRID.get(n_axes, tuned.LARGEST_N_COLUMNS)


def number_ticks(low, high):
    """Return few numbers between two, and their texts."""
    from matplotlib.ticker import MaxNLocator

    for n_bins in (4, 3, 2):
        ticks = MaxNLocator(n_bins).tick_values(low, high)
        ticks = ticks[(ticks >= low) & (ticks <= high)]
        texts = [f"{x:,.10g}" if 1e-4 < abs(x) < 1e7 or x == 0.0 else f"{x:.4g}" for x in ticks]
        if sum(map(len, texts)) <= tuned.MOST_CHARACTERS_OF_TICKS:
            break
    return ticks.tolist(), texts


def label_plainly(axis):
    """Write 0.1, 0.2, 0.5, 1 and so on at a logarithmic axis, as few as there is room for."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())


def show_thousands(axis):
    """Print few numbers of an axis in full, with commas."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis.set_major_locator(MaxNLocator(4))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))


def date_ticks(low, high):
    """Return few days since 1970 between two, their texts as dates, and what all have in common."""
    from matplotlib import dates

    locator = dates.AutoDateLocator(minticks=2, maxticks=4)
    # With so few ticks a unit's steps end before the next larger unit begins, as for 20 months.
    for unit, n in ((dates.MONTHLY, 12), (dates.HOURLY, 24), (dates.MINUTELY, 60)):
        locator.intervald[unit] = [*locator.intervald[unit], n]
    formatter = dates.ConciseDateFormatter(locator)
    ticks = np.asarray(locator.tick_values(*dates.num2date([low, high])))
    ticks = ticks[(ticks >= low) & (ticks <= high)].tolist()
    texts = formatter.format_ticks(ticks)
    return ticks, texts, formatter.get_offset()


def as_label(text, longest=tuned.LONGEST_LINE):
    """Return a text as lines of a label, broken at spaces and signs where it can be."""
    lines, line = [], ""
    for part in re.findall(r"[^\s_/-]*[\s_/-]+|[^\s_/-]+", text):
        if line and len(line) + len(part.rstrip()) > longest:
            lines.append(line)
            line = ""
        line += part
        while len(line.rstrip()) > longest:
            lines.append(line[:longest])
            line = line[longest:]
    return plain("\n".join(text.strip() for text in (*lines, line) if text.strip()))


def as_labels(texts, longest_line=tuned.LONGEST_LINE):
    """Return texts as labels, which are cut off only where they are no labels but long texts."""
    longest, n_different = tuned.LONGEST_TEXT, len(set(texts))
    while len({_cut(text, longest) for text in texts}) < n_different:
        longest *= 2
    return [as_label(_cut(text, longest), longest_line) for text in texts]


def _cut(text, longest):
    is_short = len(text) <= longest
    return text if is_short else f"{text[: longest - 1]}\N{HORIZONTAL ELLIPSIS}"


def plain(text):
    """Return a text that matplotlib takes for no formula."""
    return text.replace("$", r"\$")


def draw_curve(ax, display, x, y, *, markers=False, **style):
    """Draw a line that differs from those of earlier displays of the kind, for any eye."""
    kind = type(display).__name__
    n_before = sum(str(line.get_gid()).startswith(f"{kind}-") for line in ax.lines)
    # matplotlib takes short names too, and not both.
    if not {"linestyle", "ls"} & set(style):
        style["linestyle"] = "-" if markers else _DASHES[n_before % len(_DASHES)]
    if markers:
        style.setdefault("marker", _MARKERS[n_before % len(_MARKERS)])
    (line,) = ax.plot(x, y, **style)
    line.set_gid(f"{kind}-{n_before}")
    return line
