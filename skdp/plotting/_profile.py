"""The privacy profile: delta against epsilon."""

import math

import numpy as np

from skdp.plotting._axes import check_increasing, check_report, draw_curve, open_axes, report_label

_N_POINTS = 56
# Epsilon for a group takes ten times as long.
_N_GROUP_POINTS = 28
# Parts that the line between two of them is drawn in.
_N_BETWEEN = 8


class PrivacyProfileDisplay:
    """All pairs of epsilon and delta that the same releases guarantee.

    A report names one pair. Its releases guarantee many: a larger epsilon with a smaller delta, and
    the reverse. **Every point on the line or above it is a guarantee.** The marker is the report's
    own pair; at the lower edge it means delta = 0.

    Created by :meth:`from_report`. All parameters are stored as attributes.

    **Privacy.** Drawing a report costs nothing: a report holds public numbers only.

    Parameters
    ----------
    epsilon : ndarray of shape (n_points,)
        Epsilons, not increasing.
    delta : ndarray of shape (n_points,)
        The deltas that go with them.
    point : pair of float, default=None
        Epsilon and delta that are marked.
    name : str, default=None
        Name of the line in the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The profile.
    point_ : matplotlib Line2D or None
        The marker.
    ax_ : matplotlib Axes
        Axes with the profile.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    TradeoffDisplay : The same guarantee as the errors of an attack.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from skdp.linear_model import DPSCDClassifier
    >>> from skdp.plotting import PrivacyProfileDisplay
    >>> X, y = make_classification(n_samples=1000, random_state=0)
    >>> report = DPSCDClassifier(epsilon=1.0, classes=[0, 1]).fit(X, y).privacy_report_
    >>> display = PrivacyProfileDisplay.from_report(report)
    >>> display.point
    (1.0, 1e-05)
    >>> family = PrivacyProfileDisplay.from_report(report, group_size=4, ax=display.ax_)
    >>> family.point[0] > 2.0
    True
    """

    def __init__(self, *, epsilon, delta, point=None, name=None):
        self.epsilon = epsilon
        self.delta = delta
        self.point = point
        self.name = name

    @classmethod
    def from_report(cls, report, *, group_size=1, delta=None, ax=None, name=None, **kwargs):
        """Draw the profile of a report.

        Parameters
        ----------
        report : skdp.accountant.PrivacyReport
            Such as the ``privacy_report_`` of a fitted estimator, or a composition.
        group_size : int, default=1
            Number of records that may change together.
        delta : array-like of shape (n_points,), default=None
            Deltas at which epsilon is computed, in (0, 1). None takes values from a thousandth of
            the report's delta (of 1e-5 if that is 0) upwards.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure. Several reports or groups may share axes.
        name : str, default=None
            Name of the line in the legend; None writes the guarantee, and the group if there is
            one.
        **kwargs : dict
            Passed to matplotlib's ``plot`` for the line.

        Returns
        -------
        display : PrivacyProfileDisplay
            What was drawn.

        Raises
        ------
        TypeError
            If `report` or `ax` is something else.
        ValueError
            If `group_size` isn't a positive integer, or `delta` isn't an increasing list.
        ImportError
            If matplotlib is missing.
        """
        check_report(report)
        own = report.epsilon_at(report.delta, group_size)
        point = (report.epsilon if group_size == 1 else own, report.delta)
        deltas = _default_deltas(report, group_size) if delta is None else _check_deltas(delta)
        if math.isinf(report.epsilon):
            epsilons, deltas = np.array([1.0, 0.0]), np.ones(2)
        else:
            epsilons = np.array([report.epsilon_at(float(one), group_size) for one in deltas])
        # Beyond the first zero all are guaranteed; infinity is none.
        shown = np.isfinite(epsilons)
        shown[1:] &= epsilons[:-1] > 0.0
        if name is None:
            name = report_label(report) + (f", groups of {group_size}" if group_size > 1 else "")
        point = point if math.isfinite(point[0]) else None
        display = cls(epsilon=epsilons[shown], delta=deltas[shown], point=point, name=name)
        return display.plot(ax, **kwargs)

    def plot(self, ax=None, *, name=None, **kwargs):
        """Draw the profile.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        name : str, default=None
            Name of the line in the legend; None takes that of the display.
        **kwargs : dict
            Passed to matplotlib's ``plot`` for the line.

        Returns
        -------
        display : PrivacyProfileDisplay
            The display itself.

        Raises
        ------
        ImportError
            If matplotlib is missing.
        TypeError
            If `ax` isn't a matplotlib Axes.
        """
        self.ax_, self.figure_ = ax, _ = open_axes(ax, self)
        name = self.name if name is None else name
        drawn = _above(np.asarray(self.epsilon, dtype=float), np.asarray(self.delta, dtype=float))
        self.line_ = draw_curve(ax, self, *drawn, **{"label": name, **kwargs})
        self.point_ = None
        if self.point is not None:
            self.point_ = _draw_point(ax, *self.point, self.line_.get_color())
        ax.set(yscale="log", xlabel=r"$\varepsilon$", ylabel=r"$\delta$")
        # Later lines may be longer.
        ax.set_xlim(left=0.0, auto=True)
        ax.legend(title="Guaranteed on a line and above it", alignment="left")
        return self


def _above(epsilon, delta):
    """Return a line through points of a profile, that of larger epsilon first, nowhere below it.

    Delta is convex as a function of ``exp(epsilon)``, so between two points it is below their chord
    there. Each part of the chord gets the delta of its far end, the larger one, whatever the scale
    of the axis.
    """
    share = np.linspace(0.0, 1.0, _N_BETWEEN + 1)
    drawn = []
    for high, low, small, large in zip(epsilon, epsilon[1:], delta, delta[1:], strict=False):
        between = high + share * (low - high)
        scale = -np.expm1(low - high)
        weight = -np.expm1(between - high) / scale if scale > 0 else share
        drawn.append((between[:-1], small + weight[1:] * (large - small)))
    drawn.append((epsilon[-1:], delta[-1:]))
    return tuple(np.concatenate(parts) for parts in zip(*drawn, strict=True))


def _default_deltas(report, group_size):
    lowest, highest = 1e-3 * (report.delta or 1e-5), 1.0 - 1e-9
    if group_size > 1:
        return np.geomspace(lowest, highest, _N_GROUP_POINTS)
    if math.isfinite(report.epsilon):
        highest = min(max(report.delta_at(0.0), 10.0 * lowest), highest)
    return np.geomspace(lowest, highest, _N_POINTS)


def _check_deltas(delta):
    deltas = check_increasing(delta, "delta")
    if deltas[0] <= 0 or deltas[-1] >= 1:
        raise ValueError("delta must be in (0, 1).")
    return deltas


def _draw_point(ax, epsilon, delta, colour):
    """Mark a pair, on the lower edge if its delta has no logarithm."""
    if delta > 0:
        return ax.plot(epsilon, delta, "o", color=colour)[0]
    edge = ax.get_xaxis_transform()
    return ax.plot(epsilon, 0.0, "v", color=colour, transform=edge, clip_on=False)[0]
