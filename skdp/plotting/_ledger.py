"""How the budget of a study was spent."""

import datetime

import numpy as np

from skdp.plotting._axes import open_axes

_HATCHES = ("", "//", "..", "xx", "\\\\", "++")
_AXES = {"charge": "charges, in the order in which they were made", "time": "time (UTC)"}


class LedgerDisplay:
    """How the budget of a ledger was spent, fit by fit, stacked by estimator.

    Heights are shares of the budget, or of the list of a ledger of planned charges. They add up,
    and epsilons don't. **The guarantee is the line at
    1**, whatever is spent so far: the rest is for orientation.

    Created by :meth:`from_ledger`. All parameters are stored as attributes.

    **Privacy.** Drawing a ledger costs nothing: it holds public numbers only.

    Parameters
    ----------
    x : ndarray of shape (n_charges + 1,)
        Start of the step of each charge, and end of the last one.
    shares : dict of str to ndarray of shape (n_charges + 1,)
        By estimator, the share of the budget that its fits have spent in each step; the last value
        twice.
    axis : {"charge", "time"}, default="charge"
        The meaning of x.
    name : str, default=None
        Title of the legend.

    Attributes
    ----------
    areas_ : list of matplotlib PolyCollection
        One for each estimator, the lowest first.
    budget_ : matplotlib Line2D
        The line of the whole budget.
    ax_ : matplotlib Axes
        Axes with the areas.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    skdp.ledger.PrivacyLedger : The budget that is drawn.

    Examples
    --------
    >>> import os, tempfile
    >>> from skdp.accountant import GaussianEvent, PrivacyReport, calibrate
    >>> from skdp.ledger import PrivacyLedger
    >>> from skdp.plotting import LedgerDisplay
    >>> events = [GaussianEvent(calibrate(0.5, 1e-5))]
    >>> fields = {"adjacency": "zero_out", "clipping": 1.0, "accountant": "pld"}
    >>> report = PrivacyReport(epsilon=0.5, delta=1e-5, events=events, **fields)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = PrivacyLedger(os.path.join(folder, "study.db"), epsilon=1.0, delta=1e-5)
    ...     ledger.charge(report)
    ...     display = LedgerDisplay.from_ledger(ledger)
    >>> display.shares["other"].round(2)
    array([0.28, 0.28])
    """

    def __init__(self, *, x, shares, axis="charge", name=None):
        self.x = x
        self.shares = shares
        self.axis = axis
        self.name = name

    @classmethod
    def from_ledger(cls, ledger, *, axis="charge", ax=None, name=None, **kwargs):
        """Draw the charges of a ledger.

        Parameters
        ----------
        ledger : skdp.ledger.PrivacyLedger
            If it has parts, the part that has spent most is drawn, with the charges to the whole.
        axis : {"charge", "time"}, default="charge"
            Whether steps are one charge apart, or at their times. A clock that was set back is
            drawn as standing still.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        name : str, default=None
            Title of the legend; None names the dataset and the part.
        **kwargs : dict
            Passed to matplotlib's ``stackplot``.

        Returns
        -------
        display : LedgerDisplay
            What was drawn.

        Raises
        ------
        TypeError
            If `ledger` or `ax` is something else.
        ValueError
            If `axis` isn't one of the choices.
        LedgerError
            If the file can't be used.
        ImportError
            If matplotlib is missing.
        """
        from skdp.ledger import PrivacyLedger

        if not isinstance(ledger, PrivacyLedger):
            raise TypeError(f"ledger must be a PrivacyLedger, got {type(ledger).__name__}.")
        if axis not in _AXES:
            raise ValueError(f"axis must be one of {tuple(_AXES)}, got {axis!r}.")
        content = ledger.to_dict()
        charges, part = _of_worst_part(content["charges"])
        if name is None:
            names = (content["dataset"], content["part"] or part)
            name = ", ".join(one for one in names if one)
        shares = {
            one: np.cumsum([*(c["share"] if c["estimator"] == one else 0.0 for c in charges), 0.0])
            for one in dict.fromkeys(charge["estimator"] for charge in charges)
        }
        x = _times(charges) if axis == "time" and charges else np.arange(len(charges) + 1)
        return cls(x=x, shares=shares, axis=axis, name=name).plot(ax, **kwargs)

    def plot(self, ax=None, *, name=None, **kwargs):
        """Draw the shares.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        name : str, default=None
            Title of the legend; None takes that of the display.
        **kwargs : dict
            Passed to matplotlib's ``stackplot``.

        Returns
        -------
        display : LedgerDisplay
            The display itself.

        Raises
        ------
        ImportError
            If matplotlib is missing.
        TypeError
            If `ax` isn't a matplotlib Axes.
        """
        self.ax_, self.figure_ = ax, _ = open_axes(ax, self)
        style = {"step": "post", "labels": list(self.shares), "alpha": 0.75, **kwargs}
        self.areas_ = ax.stackplot(self.x, *self.shares.values(), **style) if self.shares else []
        for number, area in enumerate(self.areas_):
            # For eyes that see no colours.
            area.set_hatch(_HATCHES[number % len(_HATCHES)])
            area.set_edgecolor("white")
        self.budget_ = ax.axhline(1.0, color="black", linestyle="--", label="budget: guaranteed")
        ax.set(ylim=(0.0, 1.08), xlabel=_AXES[self.axis], ylabel="share of the budget spent")
        if self.axis == "time":
            ax.tick_params(axis="x", rotation=25)
        else:
            ax.xaxis.get_major_locator().set_params(integer=True)
        handles, labels = ax.get_legend_handles_labels()
        title = self.name if name is None else name
        # The highest area first, as they lie, and below the line.
        ax.legend(
            handles[::-1],
            labels[::-1],
            title=title,
            alignment="left",
            loc="upper left",
            bbox_to_anchor=(0.0, 0.91),
        )
        return self


def _of_worst_part(charges):
    """Return the charges that count in the part that has spent most, and its name or None."""
    sums = {}
    for charge in charges:
        if charge["part"] is not None:
            sums[charge["part"]] = sums.get(charge["part"], 0.0) + charge["share"]
    part = max(sums, key=sums.get, default=None)
    return [charge for charge in charges if charge["part"] in (None, part)], part


def _times(charges):
    times = [datetime.datetime.fromisoformat(charge["time"]) for charge in charges]
    # Without a zone, which numpy has none of.
    starts = np.array([time.replace(tzinfo=None) for time in times], dtype="datetime64[s]")
    starts = np.maximum.accumulate(starts)
    width = max((starts[-1] - starts[0]) // 20, np.timedelta64(1, "s"))
    return np.append(starts, starts[-1] + width)
