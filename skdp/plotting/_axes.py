"""What displays share: axes, checks, and curves that differ by more than colour."""

import math

import numpy as np

from skdp.accountant import PrivacyReport

_DASHES = ("-", (0, (6, 1.5)), (0, (6, 1.5, 1.5, 1.5)), (0, (2.5, 1)))
_MARKERS = ("o", "s", "^", "D", "v", "P")
# Largest number of columns of a grid of small axes, and size of each in inches.
_MOST_COLUMNS, _CELL = 4, (3.2, 2.6)
# Longest label, in characters.
_LONGEST_TEXT = 16


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


def open_grid(ax, display, n_axes):
    """Return so many small axes in place of the given ones, or in a new figure, and the figure."""
    n_columns = min(n_axes, _MOST_COLUMNS)
    n_rows = math.ceil(n_axes / n_columns)
    is_new = ax is None
    ax, figure = open_axes(ax, display)
    if is_new:
        figure.set_size_inches(_CELL[0] * n_columns, _CELL[1] * n_rows + 0.5)
        figure.set_layout_engine("constrained")
    ax.set_axis_off()
    grid = ax.get_subplotspec().subgridspec(n_rows, n_columns)
    places = [grid[j // n_columns, j % n_columns] for j in range(n_axes)]
    return [figure.add_subplot(place) for place in places], figure


def show_dates(axis):
    """Print few of the days since 1970 of an axis, as dates."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator(minticks=2, maxticks=4)
    axis.set_major_locator(locator)
    axis.set_major_formatter(ConciseDateFormatter(locator))


def shortened(texts):
    """Return texts as labels, cut off where they are long, but not where different ones differ."""
    longest, n_different = _LONGEST_TEXT, len(set(texts))
    while len(set(labels := [_cut(text, longest) for text in texts])) < n_different:
        longest *= 2
    return labels


def _cut(text, longest):
    is_short = len(text) <= longest
    return plain(text if is_short else f"{text[: longest - 1]}\N{HORIZONTAL ELLIPSIS}")


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
