"""Noise that is expected of fits against epsilon, beside a typical effect."""

from dataclasses import dataclass

import numpy as np

from skdp.plotting._axes import draw_curve, label_plainly, open_axes

_COLUMNS = ("term", "prediction", "effect", "most_features")


@dataclass(eq=False, repr=False, kw_only=True)
class PredictedNoiseDisplay:
    """The noise of terms and of predictions that fits are expected to have, against epsilon.

    Created by :meth:`from_frame` from what :func:`skdp.inspection.predicted_noise` returns. All
    parameters are stored as attributes.

    **Privacy.** No data are read: all numbers are public.

    Parameters
    ----------
    epsilon : ndarray of shape (n_epsilons,)
        Values of epsilon, increasing.
    term, prediction : ndarray of shape (n_epsilons,)
        Standard deviations that noise gives the effect of a column, and a prediction.
    effect : ndarray of shape (n_epsilons,)
        What a fit finds of a typical effect of a column.
    most_features : ndarray of shape (n_epsilons,)
        With how many columns a typical effect is told from noise.
    unit : str, default=None
        Unit of all but the last, such as "log-odds".

    Attributes
    ----------
    lines_ : tuple of matplotlib Line2D
        The curves of terms, of predictions and of the effect.
    texts_ : tuple of matplotlib Text
        How many columns are told from noise, for each epsilon.
    ax_ : matplotlib Axes
        Axes with the curves.
    figure_ : matplotlib Figure
        Figure of the axes.

    Examples
    --------
    >>> from skdp.inspection import predicted_noise
    >>> from skdp.linear_model import DPRidge
    >>> from skdp.plotting import PredictedNoiseDisplay
    >>> noise = predicted_noise(DPRidge(), 5000, 30, epsilons=[0.5, 2.0])
    >>> display = PredictedNoiseDisplay.from_frame(noise)
    >>> display.epsilon, display.unit
    (array([0.5, 2. ]), 'half the range of the target')
    """

    epsilon: np.ndarray
    term: np.ndarray
    prediction: np.ndarray
    effect: np.ndarray
    most_features: np.ndarray
    unit: str | None = None

    @classmethod
    def from_frame(cls, frame, *, ax=None):
        """Draw a table of expected noise.

        Parameters
        ----------
        frame : DataFrame
            What :func:`skdp.inspection.predicted_noise` returns.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        display : PredictedNoiseDisplay
            What was drawn.

        Raises
        ------
        TypeError
            If `frame` is no such table, or `ax` something else than axes.
        ValueError
            If a column is missing, or there is no row.
        ImportError
            If matplotlib is missing.
        """
        if not hasattr(frame, "columns"):
            raise TypeError(
                "frame must be a table of skdp.inspection.predicted_noise, got "
                f"{type(frame).__name__}."
            )
        missing = [name for name in _COLUMNS if name not in frame.columns]
        if missing or not len(frame):
            raise ValueError(f"frame must have rows and the columns {_COLUMNS}.")
        frame = frame.sort_index()
        display = cls(
            epsilon=frame.index.to_numpy(dtype=np.float64),
            term=frame["term"].to_numpy(),
            prediction=frame["prediction"].to_numpy(),
            effect=frame["effect"].to_numpy(),
            most_features=frame["most_features"].to_numpy(),
            unit=frame.columns.name,
        )
        return display.plot(ax)

    def plot(self, ax=None):
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        display : PredictedNoiseDisplay
            The display itself.

        Raises
        ------
        ImportError
            If matplotlib is missing.
        TypeError
            If `ax` isn't a matplotlib Axes.
        """
        self.ax_, self.figure_ = ax, _ = open_axes(ax, self)
        curves = {
            "noise of a prediction": self.prediction,
            "noise of a term": self.term,
            "effect of a typical column": self.effect,
        }
        self.lines_ = tuple(
            draw_curve(ax, self, self.epsilon, values, markers=True, label=label)
            for label, values in curves.items()
        )
        ax.set(xscale="log", yscale="log", ylabel=self.unit or "")
        ax.set_xlabel(r"$\varepsilon$  (stronger privacy to the left)")
        label_plainly(ax.xaxis)
        label_plainly(ax.yaxis)
        self.texts_ = tuple(
            ax.annotate(
                f"{n}",
                (epsilon, 1.0),
                xycoords=("data", "axes fraction"),
                xytext=(0, 3),
                textcoords="offset points",
                ha="center",
            )
            for epsilon, n in zip(self.epsilon, self.most_features, strict=True)
        )
        ax.set_title("Columns that are told from noise, at most:", fontsize="medium", pad=18)
        ax.legend()
        return self
