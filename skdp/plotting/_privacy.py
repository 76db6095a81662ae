"""What a guarantee means: as the errors of an attack, or as all pairs of epsilon and delta."""

from typing import NamedTuple

import numpy as np

from skdp.plotting._axes import check_report, open_axes, report_label
from skdp.plotting._profile import draw_profile, profile_of
from skdp.plotting._tradeoff import check_audit, draw_tradeoff, tradeoff_of

_KINDS = ("tradeoff", "profile")


class PrivacyDisplay:
    """What a guarantee means: the errors of the best attack, or all pairs of epsilon and delta.

    With ``kind="tradeoff"`` it shows errors. An attacker sees what was published, knows every other
    record, and decides whether a given record took part (for the adjacency "replace_one": which of
    two records did; for "replace_label": which of two labels a record has). The curve is the
    smallest false negative rate at each false positive rate. **No attack can be below it**; a guess
    that ignores the published results is on the diagonal. The closer the curve is to the diagonal,
    the stronger the guarantee.

    With ``kind="profile"`` it shows the privacy profile. A report names one pair of epsilon and
    delta. Its releases guarantee many: a larger epsilon with a smaller delta, and the reverse.
    **Every point on the line or above it is a guarantee.** The marker is the report's own pair; at
    the lower edge it means delta = 0.

    Created by :meth:`from_report`. All parameters are stored as attributes.

    **Privacy.** Drawing a report costs nothing: a report holds public numbers only. An audit is
    **not private**: it reveals the data that it used.

    Parameters
    ----------
    kind : {"tradeoff", "profile"}
        Whether to draw the errors of the best attack, or all pairs of epsilon and delta.
    x : ndarray of shape (n_points,)
        False positive rates, increasing; or epsilons, not increasing.
    y : ndarray of shape (n_points,)
        The smallest false negative rates that an attack can have there; or the deltas that go with
        the epsilons.
    point : pair of float, default=None
        Epsilon and delta that a profile marks.
    audit : skdp.audit.AuditResult, default=None
        Result of an attack with the method "threshold", beside a trade-off.
    name : str, default=None
        Name of the curve in the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve.
    fill_ : matplotlib PolyCollection or None
        The region that no attack can reach; None in a profile.
    chance_level_ : matplotlib Line2D or None
        The diagonal of blind guesses; None in a profile.
    audit_ : matplotlib ErrorbarContainer or None
        The attack of the audit.
    point_ : matplotlib Line2D or None
        The marker of a profile.
    ax_ : matplotlib Axes
        Axes with the curve.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    skdp.audit.audit : Attacks on a fit.
    PrivacyUtilityDisplay : What privacy costs.

    Notes
    -----
    The trade-off function of [1]_ is computed by
    :meth:`skdp.accountant.PrivacyReport.tpr_at` from the whole privacy profile, in the direction
    that is easier for the attacker.

    References
    ----------
    .. [1] Dong, Roth and Su (2022). Gaussian differential privacy. JRSS B 84.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from skdp.linear_model import DPSCDClassifier
    >>> from skdp.plotting import PrivacyDisplay
    >>> X, y = make_classification(n_samples=1000, random_state=0)
    >>> report = DPSCDClassifier(epsilon=1.0, classes=[0, 1]).fit(X, y).privacy_report_
    >>> display = PrivacyDisplay.from_report(report)
    >>> bool((display.y <= 1.0 - display.x).all())
    True
    >>> display = PrivacyDisplay.from_report(report, kind="profile")
    >>> display.point
    (1.0, 1e-05)
    >>> family = PrivacyDisplay.from_report(
    ...     report, kind="profile", group_size=4, ax=display.ax_
    ... )
    >>> family.point[0] > 2.0
    True
    """

    def __init__(self, *, kind, x, y, point=None, audit=None, name=None):
        self.kind = kind
        self.x = x
        self.y = y
        self.point = point
        self.audit = audit
        self.name = name

    @classmethod
    def from_report(
        cls,
        report,
        *,
        kind="tradeoff",
        at=None,
        group_size=1,
        audit=None,
        ax=None,
        name=None,
        **kwargs,
    ):
        """Draw what a report guarantees.

        Parameters
        ----------
        report : skdp.accountant.PrivacyReport
            Such as the ``privacy_report_`` of a fitted estimator, or a composition.
        kind : {"tradeoff", "profile"}, default="tradeoff"
            Whether to draw the errors of the best attack, or all pairs of epsilon and delta.
        at : array-like of shape (n_points,), default=None
            Where the curve is computed: false positive rates in [0, 1] for a trade-off, deltas in
            (0, 1) for a profile, increasing. None chooses rates that make the curve smooth, or
            deltas from a thousandth of the report's (of 1e-5 if that is 0) upwards.
        group_size : int, default=1
            Number of records that may change together. A trade-off is that of one record.
        audit : skdp.audit.AuditResult, default=None
            Result of an attack with the method "threshold": a point of a trade-off, with exact
            intervals for both rates at the confidence of the audit. Its adjacency must be that of
            the report.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure. Several reports or groups may share axes.
        name : str, default=None
            Name of the curve in the legend; None writes the guarantee, and the group if there is
            one.
        **kwargs : dict
            Passed to matplotlib's ``plot`` for the curve.

        Returns
        -------
        display : PrivacyDisplay
            What was drawn.

        Raises
        ------
        TypeError
            If `report`, `audit` or `ax` is something else.
        ValueError
            If `kind` is no choice, `at` isn't an increasing list of rates or of deltas,
            `group_size` isn't a positive integer, a trade-off is asked for a group or a profile
            with an audit, or the audit doesn't fit the report.
        ImportError
            If matplotlib is missing.
        """
        curve = curve_of(report, kind, at=at, group_size=group_size, audit=audit, name=name)
        display = cls(
            kind=kind, x=curve.x, y=curve.y, point=curve.point, audit=audit, name=curve.name
        )
        return display.plot(ax, **kwargs)

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
        display : PrivacyDisplay
            The display itself.

        Raises
        ------
        ImportError
            If matplotlib is missing.
        TypeError
            If `ax` isn't a matplotlib Axes.
        ValueError
            If the display is of no kind that there is.
        """
        _check_kind(self.kind)
        self.ax_, self.figure_ = open_axes(ax, self)
        style = {"label": self.name if name is None else name, **kwargs}
        self.fill_ = self.chance_level_ = self.audit_ = self.point_ = None
        if self.kind == "tradeoff":
            drawn = draw_tradeoff(self.ax_, self, **style)
            self.line_, self.fill_, self.chance_level_, self.audit_ = drawn
        else:
            self.line_, self.point_ = draw_profile(self.ax_, self, **style)
        return self


class Curve(NamedTuple):
    """Points of a curve, the pair that it marks, and its name."""

    x: np.ndarray
    y: np.ndarray
    point: tuple | None
    name: str


def curve_of(report, kind, *, at=None, group_size=1, audit=None, name=None):
    """Return what a report says of a kind of curve."""
    check_report(report)
    _check_kind(kind)
    if kind == "tradeoff":
        if group_size != 1:
            raise ValueError("group_size must be 1 for kind='tradeoff', which is of one record.")
        if audit is not None:
            check_audit(audit, report)
        x, y = tradeoff_of(report, at)
        point = None
    else:
        if audit is not None:
            raise ValueError("audit must be None for kind='profile', which shows no attacks.")
        x, y, point = profile_of(report, group_size, at)
    if name is None:
        name = report_label(report) + (f", groups of {group_size}" if group_size > 1 else "")
    return Curve(x, y, point, name)


def _check_kind(kind):
    if not (isinstance(kind, str) and kind in _KINDS):
        raise ValueError(f"kind must be one of {', '.join(map(repr, _KINDS))}, got {kind!r}.")
