"""The privacy profile: delta against epsilon."""

import math

import numpy as np

from skdp.plotting._axes import check_increasing, draw_curve

_N_POINTS = 56
# Epsilon for a group takes ten times as long.
_N_GROUP_POINTS = 28
# Parts that the line between two of them is drawn in.
_N_BETWEEN = 8


def profile_of(report, group_size, deltas):
    """Return epsilons and deltas that a report guarantees, and its own pair if it is one.

    None chooses the deltas.
    """
    own = report.epsilon if group_size == 1 else report.epsilon_at(report.delta, group_size)
    deltas = _default_deltas(report, group_size) if deltas is None else _check_deltas(deltas)
    point = (own, report.delta) if math.isfinite(own) else None
    if math.isinf(report.epsilon):
        return np.array([1.0, 0.0]), np.ones(2), point
    epsilons = np.array([report.epsilon_at(float(delta), group_size) for delta in deltas])
    # Beyond the first zero all are guaranteed; infinity is none.
    shown = np.isfinite(epsilons)
    shown[1:] &= epsilons[:-1] > 0.0
    return epsilons[shown], deltas[shown], point


def draw_profile(ax, display, **style):
    """Draw a profile, and return its line, and the marker of the report's own pair or None."""
    epsilons, deltas = _above(np.asarray(display.x, float), np.asarray(display.y, float))
    line = draw_curve(ax, display, epsilons, deltas, **style)
    point = None if display.point is None else _draw_point(ax, *display.point, line.get_color())
    ax.set(yscale="log", xlabel=r"$\varepsilon$", ylabel=r"$\delta$")
    # Later lines may be longer.
    ax.set_xlim(left=0.0, auto=True)
    ax.legend(title="Guaranteed on a line and above it", alignment="left")
    return line, point


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


def _check_deltas(deltas):
    deltas = check_increasing(deltas, "at")
    if deltas[0] <= 0 or deltas[-1] >= 1:
        raise ValueError("at must be deltas in (0, 1).")
    return deltas


def _draw_point(ax, epsilon, delta, colour):
    """Mark a pair, on the lower edge if its delta has no logarithm."""
    if delta > 0:
        return ax.plot(epsilon, delta, "o", color=colour)[0]
    edge = ax.get_xaxis_transform()
    return ax.plot(epsilon, 0.0, "v", color=colour, transform=edge, clip_on=False)[0]
