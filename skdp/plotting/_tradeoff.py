"""The trade-off curve: the best attack that a guarantee allows, and the result of an attack."""

import numpy as np
from scipy.stats import binomtest

from skdp.plotting._axes import check_increasing, check_report, draw_curve, open_axes, report_label

# Dense at both ends, and down to rates that only a sure attack has: strong curves bend there.
_RATES = np.union1d(
    np.sin(np.linspace(0.0, np.pi / 2.0, 41)) ** 2, np.geomspace(1e-6, 2e-2, 24)
).clip(0.0, 1.0)
_CHANCE_LEVEL = "blind guess"


class TradeoffDisplay:
    """Errors of the best attack that a guarantee allows: false negatives against false positives.

    An attacker sees what was published, knows every other record, and decides whether a given
    record took part (for the adjacency "replace_one": which of two records did; for
    "replace_label": which of two labels a record has). The curve is the smallest false negative
    rate at each false positive rate. **No attack can be below it**; a guess that ignores the
    published results is on the diagonal. The closer the curve is to the diagonal, the stronger the
    guarantee.

    Created by :meth:`from_report`. All parameters are stored as attributes.

    **Privacy.** Drawing a report costs nothing: a report holds public numbers only. An audit is
    **not private**: it reveals the data that it used.

    Parameters
    ----------
    fpr : ndarray of shape (n_points,)
        False positive rates.
    fnr : ndarray of shape (n_points,)
        Smallest false negative rates that an attack can have there.
    audit : skdp.audit.AuditResult, default=None
        Result of an attack with the method "threshold".
    name : str, default=None
        Name of the curve in the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve.
    fill_ : matplotlib PolyCollection
        The region that no attack can reach.
    chance_level_ : matplotlib Line2D
        The diagonal of blind guesses.
    audit_ : matplotlib ErrorbarContainer or None
        The attack of the audit.
    ax_ : matplotlib Axes
        Axes with the curve.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    PrivacyProfileDisplay : The same guarantee as delta against epsilon.
    skdp.audit.audit : Attacks on a fit.

    Notes
    -----
    The trade-off function of [1]_, computed by
    :meth:`skdp.accountant.PrivacyReport.tpr_at` from the whole privacy profile, in the direction
    that is easier for the attacker.

    References
    ----------
    .. [1] Dong, Roth and Su (2022). Gaussian differential privacy. JRSS B 84.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from skdp.linear_model import DPSCDClassifier
    >>> from skdp.plotting import TradeoffDisplay
    >>> X, y = make_classification(n_samples=1000, random_state=0)
    >>> report = DPSCDClassifier(epsilon=1.0, classes=[0, 1]).fit(X, y).privacy_report_
    >>> display = TradeoffDisplay.from_report(report)
    >>> bool((display.fnr <= 1.0 - display.fpr).all())
    True
    """

    def __init__(self, *, fpr, fnr, audit=None, name=None):
        self.fpr = fpr
        self.fnr = fnr
        self.audit = audit
        self.name = name

    @classmethod
    def from_report(cls, report, *, fpr=None, audit=None, ax=None, name=None, **kwargs):
        """Draw the curve of a report.

        Parameters
        ----------
        report : skdp.accountant.PrivacyReport
            Such as the ``privacy_report_`` of a fitted estimator, or a composition.
        fpr : array-like of shape (n_points,), default=None
            False positive rates at which the curve is computed, in [0, 1]. None chooses some that
            make it smooth.
        audit : skdp.audit.AuditResult, default=None
            Result of an attack with the method "threshold": a point, with exact intervals for both
            rates at the confidence of the audit. Its adjacency must be that of the report.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure. Several reports may share axes.
        name : str, default=None
            Name of the curve in the legend; None writes the guarantee.
        **kwargs : dict
            Passed to matplotlib's ``plot`` for the curve.

        Returns
        -------
        display : TradeoffDisplay
            What was drawn.

        Raises
        ------
        TypeError
            If `report`, `audit` or `ax` is something else.
        ValueError
            If `fpr` isn't an increasing list of rates, or the audit doesn't fit the report.
        ImportError
            If matplotlib is missing.
        """
        check_report(report)
        _check_audit(audit, report)
        rates = _RATES if fpr is None else _check_rates(fpr)
        fnr = np.array([1.0 - report.tpr_at(float(rate)) for rate in rates])
        name = report_label(report) if name is None else name
        return cls(fpr=rates, fnr=fnr, audit=audit, name=name).plot(ax, **kwargs)

    def plot(self, ax=None, *, name=None, **kwargs):
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        name : str, default=None
            Name of the curve in the legend; None takes that of the display.
        **kwargs : dict
            Passed to matplotlib's ``plot`` for the curve.

        Returns
        -------
        display : TradeoffDisplay
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
        fpr, fnr = _below(np.asarray(self.fpr, dtype=float), np.asarray(self.fnr, dtype=float))
        self.line_ = draw_curve(ax, self, fpr, fnr, **{"label": name, **kwargs})
        colour = self.line_.get_color()
        self.fill_ = ax.fill_between(fpr, fnr, color=colour, alpha=0.12, linewidth=0)
        self.chance_level_ = _draw_chance_level(ax)
        self.audit_ = None if self.audit is None else _draw_audit(ax, self.audit, colour)
        ax.set_xlabel("False positive rate of the attack")
        ax.set_ylabel("False negative rate of the attack")
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
        ax.legend(loc="upper right", title="No attack is below its line", alignment="left")
        return self


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


def _check_rates(fpr):
    rates = check_increasing(fpr, "fpr")
    if rates[0] < 0 or rates[-1] > 1:
        raise ValueError("fpr must be in [0, 1].")
    return rates


def _check_audit(audit, report):
    if audit is None:
        return
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
