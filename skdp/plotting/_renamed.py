"""Displays of 0.3 under their old names, which go in 0.5."""

from skdp.exceptions import warn_user
from skdp.plotting._privacy import PrivacyDisplay, curve_of


class TradeoffDisplay(PrivacyDisplay):
    """The old name of :class:`PrivacyDisplay` with ``kind="tradeoff"``."""

    def __init__(self, *, fpr, fnr, audit=None, name=None):
        _warn("TradeoffDisplay", "tradeoff")
        super().__init__(kind="tradeoff", x=fpr, y=fnr, audit=audit, name=name)

    @property
    def fpr(self):
        """False positive rates."""
        return self.x

    @property
    def fnr(self):
        """Smallest false negative rates there."""
        return self.y

    @classmethod
    def from_report(cls, report, *, fpr=None, audit=None, ax=None, name=None, **kwargs):
        """Draw the trade-off of a report."""
        curve = curve_of(report, "tradeoff", at=fpr, audit=audit, name=name)
        display = cls(fpr=curve.x, fnr=curve.y, audit=audit, name=curve.name)
        return display.plot(ax, **kwargs)


class PrivacyProfileDisplay(PrivacyDisplay):
    """The old name of :class:`PrivacyDisplay` with ``kind="profile"``."""

    def __init__(self, *, epsilon, delta, point=None, name=None):
        _warn("PrivacyProfileDisplay", "profile")
        super().__init__(kind="profile", x=epsilon, y=delta, point=point, name=name)

    @property
    def epsilon(self):
        """Epsilons."""
        return self.x

    @property
    def delta(self):
        """The deltas that go with them."""
        return self.y

    @classmethod
    def from_report(cls, report, *, group_size=1, delta=None, ax=None, name=None, **kwargs):
        """Draw the profile of a report."""
        curve = curve_of(report, "profile", at=delta, group_size=group_size, name=name)
        display = cls(epsilon=curve.x, delta=curve.y, point=curve.point, name=curve.name)
        return display.plot(ax, **kwargs)


def _warn(name, kind):
    warn_user(
        f"{name} is called PrivacyDisplay, with kind={kind!r}, and goes in 0.5. Its from_report "
        "takes the points of the curve as at=..., and its curve is in x and y.",
        FutureWarning,
        depth=5,
    )
