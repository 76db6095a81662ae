"""Scores against epsilon, from a given table."""

import math
from dataclasses import dataclass
from numbers import Real

import numpy as np

from skdp.plotting._axes import draw_curve, label_plainly, open_axes

_COLUMNS = ("epsilon", "seed", "score")


@dataclass(eq=False, repr=False, kw_only=True)
class PrivacyUtilityDisplay:
    """The cost of privacy: scores against epsilon, with a band, and the score without privacy.

    Created by :meth:`from_results` from a table of scores. All parameters are stored as attributes.

    **Privacy.** Nothing is fitted and no data are read, so drawing costs nothing. **The scores are
    not private** if they were computed on private records; nor is the figure, nor any choice made
    by looking at it. Use public or generated records, or do not share the figure.

    Parameters
    ----------
    epsilon : ndarray of shape (n_epsilons,)
        Finite epsilons, increasing.
    score : ndarray of shape (n_epsilons,)
        Mean score of the fits at each epsilon.
    low, high : ndarray of shape (n_epsilons,)
        Ends of the band.
    band : float or "std", default=0.8
        Meaning of the band: the central share of the fits, or one standard deviation.
    non_private : float, default=None
        Mean score without privacy.
    baseline : float, default=None
        Score of a prediction without features, such as the most frequent class.
    score_name : str, default="score"
        Title of the axis.
    name : str, default=None
        Name of the method in the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The mean scores.
    band_ : matplotlib PolyCollection
        The band.
    non_private_ : matplotlib Line2D or None
        The line without privacy.
    baseline_ : matplotlib Line2D or None
        The line of the baseline.
    ax_ : matplotlib Axes
        Axes with the scores.
    figure_ : matplotlib Figure
        Figure of the axes.

    Examples
    --------
    >>> from skdp.plotting import PrivacyUtilityDisplay
    >>> results = {
    ...     "epsilon": [0.5, 0.5, 2.0, 2.0, float("inf")],
    ...     "seed": [0, 1, 0, 1, 0],
    ...     "score": [0.71, 0.75, 0.86, 0.88, 0.92],
    ... }
    >>> display = PrivacyUtilityDisplay.from_results(results, score_name="accuracy")
    >>> display.epsilon, display.score, display.non_private
    (array([0.5, 2. ]), array([0.73, 0.87]), 0.92)
    """

    epsilon: np.ndarray
    score: np.ndarray
    low: np.ndarray
    high: np.ndarray
    band: float | str = 0.8
    non_private: float | None = None
    baseline: float | None = None
    score_name: str = "score"
    name: str | None = None

    @classmethod
    def from_results(
        cls, results, *, band=0.8, baseline=None, score_name="score", ax=None, name=None, **kwargs
    ):
        """Draw a table of scores.

        Parameters
        ----------
        results : DataFrame, dict, structured array or list of (epsilon, seed, score)
            One row a fit, with columns "epsilon", "seed" and "score"; other columns are ignored.
            ``epsilon=inf`` is without privacy. No two rows may have the same epsilon and seed.
        band : float or "std", default=0.8
            Share of the fits that is between the ends of the band, in (0, 1): 0.8 goes from the
            10 % quantile of their scores to the 90 % quantile. "std" is one standard deviation to
            each side of the mean.
        baseline : float, default=None
            Score of something that reads no features, drawn as a line.
        score_name : str, default="score"
            Title of the axis.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure. Several methods may share axes.
        name : str, default=None
            Name of the method in the legend.
        **kwargs : dict
            Passed to matplotlib's ``plot`` for the mean scores.

        Returns
        -------
        display : PrivacyUtilityDisplay
            What was drawn.

        Raises
        ------
        TypeError
            If `results` is no table, or `ax` something else than axes.
        ValueError
            If a column is missing or has other values than these, or an option is no choice.
        ImportError
            If matplotlib is missing.
        """
        epsilons, scores = _read(results)
        is_share = _is_finite(band) and 0 < band < 1
        if not (is_share or (isinstance(band, str) and band == "std")):
            raise ValueError(f"band must be between 0 and 1, or 'std', got {band!r}.")
        if baseline is not None and not _is_finite(baseline):
            raise ValueError(f"baseline must be None or a number, got {baseline!r}.")
        levels = np.unique(epsilons[np.isfinite(epsilons)])
        if not levels.size:
            raise ValueError("results must hold at least one finite epsilon.")
        groups = [scores[epsilons == level] for level in levels]
        public = scores[np.isinf(epsilons)]
        mean = np.array([group.mean() for group in groups])
        if band == "std":
            spread = np.array([group.std(ddof=1) if group.size > 1 else 0.0 for group in groups])
            low, high = mean - spread, mean + spread
        else:
            ends = (0.5 - band / 2, 0.5 + band / 2)
            low, high = np.array([np.quantile(group, ends) for group in groups]).T
        display = cls(
            epsilon=levels,
            score=mean,
            low=low,
            high=high,
            non_private=float(public.mean()) if public.size else None,
            band=band,
            baseline=baseline,
            score_name=score_name,
            name=name,
        )
        return display.plot(ax, **kwargs)

    def plot(self, ax=None, *, name=None, **kwargs):
        """Draw the scores.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        name : str, default=None
            Name of the method in the legend; None takes that of the display.
        **kwargs : dict
            Passed to matplotlib's ``plot`` for the mean scores.

        Returns
        -------
        display : PrivacyUtilityDisplay
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
        style = {"label": "private" if name is None else name, **kwargs}
        self.line_ = draw_curve(ax, self, self.epsilon, self.score, markers=True, **style)
        colour = self.line_.get_color()
        self.band_ = ax.fill_between(
            self.epsilon, self.low, self.high, color=colour, alpha=0.18, linewidth=0
        )
        self.non_private_ = self.baseline_ = None
        if self.non_private is not None:
            label = "no privacy" if name is None else f"{name}, no privacy"
            self.non_private_ = ax.axhline(
                self.non_private, color=colour, linestyle="--", zorder=1, label=label
            )
        if self.baseline is not None:
            is_known = "baseline" in ax.get_legend_handles_labels()[1]
            label = "_nolegend_" if is_known else "baseline"
            self.baseline_ = ax.axhline(
                self.baseline, color="0.5", linestyle=":", zorder=1, label=label
            )
        ax.set(xscale="log", ylabel=self.score_name)
        ax.set_xlabel(r"$\varepsilon$  (stronger privacy to the left)")
        label_plainly(ax.xaxis)
        share = "one standard deviation"
        if self.band != "std":
            share = f"middle {100 * self.band:g} % of the fits"
        ax.legend(title=f"Mean; band: {share}", alignment="left")
        return self


def _is_finite(value):
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def _read(results):
    """Return the epsilons and scores of a table."""
    epsilons, seeds, scores = _columns(results)
    try:
        epsilons, scores = np.asarray(epsilons, dtype=float), np.asarray(scores, dtype=float)
        seeds = np.asarray(seeds)
    except (TypeError, ValueError):
        raise ValueError("epsilon and score must be columns of numbers.") from None
    if epsilons.ndim != 1 or not epsilons.shape == seeds.shape == scores.shape:
        raise ValueError("epsilon, seed and score must be columns of the same length.")
    if not (epsilons > 0).all():
        raise ValueError("epsilon must be positive, or infinite for no privacy.")
    if not np.isfinite(scores).all():
        raise ValueError("score must be finite.")
    if len(set(zip(epsilons.tolist(), seeds.tolist(), strict=True))) < len(epsilons):
        raise ValueError(
            "results must have one row for each epsilon and seed; draw each method by itself."
        )
    return epsilons, scores


def _columns(results):
    names = getattr(getattr(results, "dtype", None), "names", None)
    # Frames have columns, structured arrays have names, and a dict has keys.
    names = getattr(results, "columns", names)
    names = results if isinstance(results, dict) else names
    if names is not None:
        missing = [column for column in _COLUMNS if column not in names]
        if missing:
            raise ValueError(f"results must have the columns {_COLUMNS}; {missing} are missing.")
        return [results[column] for column in _COLUMNS]
    try:
        rows = [tuple(row) for row in results]
    except TypeError:
        raise TypeError("results must be a table of epsilon, seed and score.") from None
    if not rows or any(len(row) != len(_COLUMNS) for row in rows):
        raise ValueError("results must be rows of (epsilon, seed, score).")
    return list(zip(*rows, strict=True))
