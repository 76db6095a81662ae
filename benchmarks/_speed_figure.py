"""The figure of speed.py."""

import _common as bench
import numpy as np
from matplotlib.patches import Patch

_KINDS = {"skdp": "C0", "without privacy": "0.6", "private peers": "C1"}
_PEERS = ("Opacus", "diffprivlib", "published")
_TITLES = {"logistic": "Logistic regression", "ridge": "Linear regression"}
_MET = {"yes": "C2", "no": "C3"}
# Of claims with a target; what is beyond is drawn at the end.
_FURTHEST = (0.05, 10.0)


def draw(times, ratios, options):
    """Draw seconds beside those of peers, and every ratio that has a target over its target.

    Parameters
    ----------
    times, ratios : DataFrame
        The tables of speed.py.
    options : Namespace
    """
    judged = ratios[ratios["met"].isin(list(_MET))]
    shown = [name for name in _TITLES if (times["race"] == name).any()]
    n_rows = max(1, len(shown))
    height = max(5.0, 1.4 + 0.21 * len(judged)) / n_rows
    figure, axes = bench.panels(n_rows, 2, 7.5, height, sharex="col")
    for axis, name in zip(axes[:, 0], shown, strict=False):
        _draw_seconds(axis, times[times["race"] == name].dropna(subset="median"))
        axis.set_title(_TITLES[name])
    axes[-1, 0].set_xlabel("seconds of a fit, without calibration (median and quartiles)")
    axes[0, 0].legend(handles=[Patch(color=c, label=kind) for kind, c in _KINDS.items()])
    # The ratios take the whole height.
    for axis in axes[:, 1]:
        axis.remove()
    if len(judged):
        _draw_targets(figure.add_subplot(axes[0, 1].get_gridspec()[:, 1]), judged)
    bench.save_figure(figure, "speed.png", options)


def _kind_of(contender):
    if contender.startswith(_PEERS):
        return "private peers"
    return "skdp" if contender.startswith("DP") else "without privacy"


def _draw_seconds(axis, table):
    table = table.sort_values("median", ascending=False)
    spread = np.abs(table[["q1", "q3"]].to_numpy().T - table["median"].to_numpy())
    colors = [_KINDS[_kind_of(name)] for name in table["contender"]]
    bars = axis.barh(table["contender"], table["median"], xerr=spread, color=colors)
    axis.bar_label(bars, [f"{value:.3g}" for value in table["median"]], padding=4, fontsize=8)
    axis.set_xscale("log")
    axis.margins(x=0.15)
    axis.grid(axis="x", alpha=0.3)
    axis.grid(axis="y", visible=False)


def _draw_targets(axis, table):
    """Draw each ratio as the multiple of its target that it takes: below 1 is good."""
    words = table["target"].str.split(" ", expand=True)
    target = words[1].astype(float)
    at_most = words[0] == "<="
    used, low, high = (
        (table[name] / target).where(at_most, target / table[name]).clip(*_FURTHEST)
        for name in ("median", "q1", "q3")
    )
    places = np.arange(len(table))[::-1]
    colors = table["met"].map(_MET)
    axis.hlines(places, low, high, colors=colors, linewidth=2.5, alpha=0.5)
    axis.scatter(used, places, color=colors, zorder=3)
    axis.axvline(1.0, color="black", linewidth=1.0, linestyle="--")
    axis.set_yticks(places, table["claim"], fontsize=8)
    for place, value, text in zip(places, table["median"], table["target"], strict=True):
        where = {"xycoords": ("axes fraction", "data"), "va": "center", "fontsize": 8}
        axis.annotate(f"{value:.3g}  ({text})", (1.01, place), **where)
    axis.set(xscale="log", title="Ratios and their targets")
    axis.set_xlabel("part of the target (median and quartiles)")
    ticks = [0.25, 0.5, 1.0, 2.0]
    axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.minorticks_off()
    axis.set_ylim(-1, len(table))
    axis.grid(axis="x", alpha=0.3)
    axis.grid(axis="y", visible=False)
