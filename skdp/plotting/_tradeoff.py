"""The trade-off of errors: the best attack that a guarantee allows, and the result of one."""

import numpy as np
from scipy.stats import binomtest

from skdp.plotting._axes import check_increasing, draw_curve

# Dense at both ends, and down to rates that only a sure attack has: strong curves bend there.
_RATES = np.union1d(
    np.sin(np.linspace(0.0, np.pi / 2.0, 41)) ** 2, np.geomspace(1e-6, 2e-2, 24)
).clip(0.0, 1.0)
_CHANCE_LEVEL = "blind guess"


def tradeoff_of(report, rates):
    """Return false positive rates, which None chooses, and the smallest false negative rates."""
    rates = _RATES if rates is None else _check_rates(rates)
    return rates, np.array([1.0 - report.tpr_at(float(rate)) for rate in rates])


def draw_tradeoff(ax, display, **style):
    """Draw a trade-off; return its line, what is below, blind guesses, and the audit or None."""
    rates, errors = _below(np.asarray(display.x, float), np.asarray(display.y, float))
    line = draw_curve(ax, display, rates, errors, **style)
    colour = line.get_color()
    fill = ax.fill_between(rates, errors, color=colour, alpha=0.12, linewidth=0)
    chance_level = _draw_chance_level(ax)
    audit = None if display.audit is None else _draw_audit(ax, display.audit, colour)
    ax.set_xlabel("False positive rate of the attack")
    ax.set_ylabel("False negative rate of the attack")
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
    ax.legend(loc="upper right", title="No attack is below its line", alignment="left")
    return line, fill, chance_level, audit


def _below(x, y):
    """Return a line through points of a convex, decreasing function that is nowhere above it.

    Between two points such a function is above the lines through the two points before and the two
    after, so the drawn line follows these to where they meet. At the ends, where there is one of
    them or none, it drops.
    """
    if x.size < 3:
        return np.repeat(x, 2)[:-1], np.repeat(y, 2)[1:]
    slopes = np.diff(y) / np.diff(x)
    drawn = [(x[0], y[0]), (x[0], y[1] + slopes[1] * (x[0] - x[1]))]
    for i in range(1, x.size - 2):
        before, after = slopes[i - 1], slopes[i + 1]
        if after > before:
            meet = (y[i + 1] - y[i] + before * x[i] - after * x[i + 1]) / (before - after)
            meet = min(max(meet, x[i]), x[i + 1])
            chord = y[i] + slopes[i] * (meet - x[i])
            drawn += [(x[i], y[i]), (meet, min(chord, y[i] + before * (meet - x[i])))]
        else:
            drawn.append((x[i], y[i]))
    end = y[-2] + slopes[-2] * (x[-1] - x[-2])
    drawn.append((x[-2], y[-2]))
    if end < 0.0:
        drawn.append((x[-2] - y[-2] / slopes[-2], 0.0))
    drawn += [(x[-1], max(end, 0.0)), (x[-1], y[-1])]
    return tuple(np.array(drawn).T)


def _check_rates(rates):
    rates = check_increasing(rates, "at")
    if rates[0] < 0 or rates[-1] > 1:
        raise ValueError("at must be rates in [0, 1].")
    return rates


def check_audit(audit, report):
    """Refuse the result of an attack that has no place beside the trade-off of a report."""
    if not hasattr(audit, "epsilon_lower_bound"):
        raise TypeError(f"audit must be an AuditResult, got {type(audit).__name__}.")
    if audit.method != "threshold":
        raise ValueError(
            "audit must be of method='threshold': one run guesses the surest canaries only, and "
            "has no rates of an attack."
        )
    if audit.adjacency != report.adjacency:
        raise ValueError(f"audit must be of the adjacency of the report, {report.adjacency!r}.")


def _draw_chance_level(ax):
    """Draw the diagonal, or find that of an earlier display: dotted lines don't overlap well."""
    for line in ax.lines:
        if line.get_label() == _CHANCE_LEVEL:
            return line
    style = {"color": "0.5", "linestyle": ":", "zorder": 1}
    return ax.plot([0, 1], [1, 0], label=_CHANCE_LEVEL, **style)[0]


def _draw_audit(ax, audit, colour):
    missed = audit.positives - audit.true_positives
    counts = ((audit.false_positives, audit.negatives), (missed, audit.positives))
    rates, errors = [], []
    for count, total in counts:
        interval = binomtest(count, total).proportion_ci(audit.confidence, method="exact")
        rates.append(count / total)
        errors.append([[rates[-1] - interval.low], [interval.high - rates[-1]]])
    # Bounds and rates are rounded apart.
    x_error, y_error = np.maximum(errors, 0.0)
    style = {"color": colour, "marker": "o", "capsize": 2, "linestyle": "none", "zorder": 3}
    label = f"an attack ({audit.confidence:.0%} intervals)"
    return ax.errorbar(*rates, y_error, x_error, label=label, **style)
