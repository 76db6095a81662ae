"""What displays share: axes, checks, and curves that differ by more than colour."""

import numpy as np

from skdp.accountant import PrivacyReport

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
        found = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a list of numbers.") from None
    if found.ndim != 1 or found.size < 2 or not (np.diff(found) > 0).all():
        raise ValueError(f"{name} must be a list of at least two increasing numbers.")
    return found


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
