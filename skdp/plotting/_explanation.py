"""One prediction as a sum: what each term of an additive model adds for one row."""

import math

import numpy as np
from scipy.special import expit, logit
from sklearn.base import is_classifier

from skdp.additive._explaining import entry_text
from skdp.plotting import _tuned as tuned
from skdp.plotting._axes import as_label, open_axes, plain
from skdp.plotting._effects import (
    are_ratios,
    check_explains,
    check_max_terms,
    chosen_by,
    outputs_of,
)

# Probabilities that people say: multiples of a step, or for wide axes small ones and large ones.
_STEPS = (0.1, 0.05, 0.02, 0.01, 0.005, 0.001)
_SMALL = np.array([1e-9, 1e-6, 1e-4, 1e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4])
_PROBABILITIES = np.concatenate([_SMALL, [0.5], 1.0 - _SMALL[::-1]])
# Log-odds over which multiples of a step would leave out too much.
_WIDE = 4.0
_GREY = "0.55"
_UP, _DOWN = "C1", "C0"
_NOTE = "Grey: terms that are no larger than noise alone would make them."


class ExplanationDisplay:
    """What the terms of an additive model add to the prediction for one row, as a waterfall.

    It begins where all terms have their mean, at the base rate of a classifier, and ends at the
    prediction. The strongest terms have a bar each, and all others one together. The axis has
    probabilities for two classes, and else units of the target, or for counts and amounts their
    mean; bars say how many times as large the odds or the mean become, or what is added.

    Created by :meth:`from_estimator`. All parameters are stored as attributes.

    **Privacy.** The model was released, and the row was not: the picture of a private row is as
    private as the row.

    Parameters
    ----------
    terms : tuple of str
        What the row has in each term, such as "age = 40".
    contributions : array-like of float
        What each adds.
    base : float
        Prediction where all terms have their mean, on the scale of contributions.
    axis : {"probability", "ratio", "linear"}, default="linear"
        What predictions are: log-odds, logarithms of a mean, or units of the target.
    output : str, default=""
        Name of the prediction.
    are_noise : array-like of bool or None, default=None
        Which terms are no larger than noise alone would make them.
    max_terms : int or None, default=12
        So many terms at most are drawn by themselves. None sets no limit.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the drawing.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    ShapeFunctionDisplay : The terms of a model, whatever the row.
    skdp.additive.DPAdditiveClassifier.explain : The numbers that are drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.additive import DPAdditiveRegressor
    >>> from skdp.plotting import ExplanationDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, (5000, 1))
    >>> model = DPAdditiveRegressor(random_state=0).fit(X, np.sin(X[:, 0]))
    >>> ExplanationDisplay.from_estimator(model, [[2.0]])
    ExplanationDisplay of the prediction: 1 term
    """

    def __init__(
        self,
        *,
        terms,
        contributions,
        base,
        axis="linear",
        output="",
        are_noise=None,
        max_terms=tuned.MOST_TERMS,
    ):
        self.terms = terms
        self.contributions = contributions
        self.base = base
        self.axis = axis
        self.output = output
        self.are_noise = are_noise
        self.max_terms = max_terms

    @classmethod
    def from_estimator(cls, estimator, row, *, target=None, max_terms=tuned.MOST_TERMS, ax=None):
        """Draw what the terms add for a row.

        Parameters
        ----------
        estimator : estimator
            A fitted additive model, a search that chose one, or a calibrated one.
        row : array-like of shape (1, n_features)
            A table of one row, such as ``X.iloc[[0]]``.
        target : label or int, default=None
            The class, or the number of the target, whose prediction is drawn, where there are
            several outputs.
        max_terms : int or None, default=12
            So many terms at most are drawn by themselves. None sets no limit.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        display : ExplanationDisplay
            What was drawn.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator isn't fitted.
        TypeError
            If the estimator has no terms, or `ax` is something else.
        ValueError
            If there is more than one row, or `target` or `max_terms` is something else.
        """
        check_explains(estimator)
        check_max_terms(max_terms)
        contributions = estimator.explain(row)
        if len(contributions) != 1:
            raise ValueError("row must be a table of one row, such as X.iloc[[0]].")
        place, output = _output(estimator, target)
        of_outputs = contributions.reshape(1, contributions.shape[1], -1)[0]
        model = chosen_by(estimator)
        display = cls(
            terms=tuple(_entries(row, estimator)),
            contributions=of_outputs[:, place],
            base=float(np.ravel(model.intercept_)[place]),
            axis=_axis(estimator),
            output=output,
            are_noise=tuple(term.is_noise for term in estimator.terms_),
            max_terms=max_terms,
        )
        return display.plot(ax=ax)

    def plot(self, *, ax=None):
        """Draw the contributions.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        self : object
            This display.

        Raises
        ------
        TypeError
            If `ax` is something else.
        """
        is_new = ax is None
        self.ax_, self.figure_ = open_axes(ax, self)
        names, added, colours = self._bars()
        # From the top down: the base, a bar for each, and the prediction.
        ends = self.base + np.concatenate([[0.0], np.cumsum(added)])
        places = np.arange(len(added)) + 1.0
        if is_new:
            height = tuned.HEIGHT_OF_BAR * (len(added) + 2) + tuned.MARGIN_OF_BARS
            self.figure_.set_size_inches(tuned.WIDTH_OF_BARS, height)
            self.figure_.set_layout_engine("constrained")
        self.ax_.barh(places, added, left=ends[:-1], height=0.6, color=colours)
        edges = np.repeat(ends, 2)
        steps = np.concatenate([[0.0], np.repeat(places, 2), [len(added) + 1.0]])
        for one, other, end in zip(steps[::2], steps[1::2], ends, strict=True):
            self.ax_.plot([end, end], [one, other], color="0.5", linewidth=0.8, zorder=0)
        low, high = self._limits(edges)
        for place, left, step in zip(places, ends, added, strict=False):
            self._say(place, max(left, left + step), self._step_text(step))
        self._say(0.0, ends[0], self._text(ends[0]))
        self._say(len(added) + 1.0, ends[-1], self._text(ends[-1]))
        self.ax_.plot([ends[0], ends[-1]], [0.0, len(added) + 1.0], "D", color="0.5", markersize=6)
        shown = [
            "base",
            *(plain(as_label(name, tuned.LONGEST_TITLE)) for name in names),
            "this row",
        ]
        self.ax_.set_yticks(range(len(shown)), shown, fontsize="small")
        self.ax_.set_ylim(len(added) + 1.6, -0.6)
        self._show_axis(low, high)
        self.ax_.spines[["top", "right", "left"]].set_visible(False)
        self.ax_.tick_params("y", length=0)
        if _GREY in colours and is_new:
            self.figure_.supxlabel(_NOTE, fontsize="small")
        return self

    def __repr__(self):
        # The row's entries and its prediction are private, so that only numbers of terms are shown.
        n_terms = len(self.contributions)
        n_own = n_terms if self.max_terms is None else min(n_terms, self.max_terms)
        terms = f"{n_own} term" if n_own == 1 else f"{n_own} terms"
        rest = f" and the sum of {n_terms - n_own} others" if n_terms > n_own else ""
        return f"ExplanationDisplay of the {self.output or 'prediction'}: {terms}{rest}"

    def _bars(self):
        """Return names, lengths and colours of bars: the strongest first, and the rest together."""
        added = np.asarray(self.contributions, dtype=float)
        order = np.argsort(-np.abs(added), kind="stable")
        own = order[: self.max_terms]
        are_noise = np.zeros(added.size, bool) if self.are_noise is None else self.are_noise
        names = [self.terms[j] for j in own]
        colours = [_GREY if are_noise[j] else _UP if added[j] > 0.0 else _DOWN for j in own]
        lengths = added[own].tolist()
        if own.size < added.size:
            rest = float(added[order[own.size :]].sum())
            n_rest = added.size - own.size
            names.append(f"{n_rest} other {'terms' if n_rest > 1 else 'term'}")
            lengths.append(rest)
            colours.append(_UP if rest > 0.0 else _DOWN)
        return names, np.array(lengths), colours

    def _limits(self, ends):
        """Set limits with room for texts at the right of bars, and return them."""
        low, high = float(ends.min()), float(ends.max())
        width = (high - low) or 1.0
        low, high = low - 0.08 * width, high + 0.25 * width
        self.ax_.set_xlim(low, high)
        return low, high

    def _say(self, place, end, text):
        self.ax_.annotate(
            text,
            (end, place),
            (8, 0),
            textcoords="offset points",
            va="center",
            fontsize="small",
        )

    def _text(self, value):
        """Return a prediction as people say it."""
        if self.axis == "probability":
            return _percent(float(expit(value)))
        return f"{_exp(value):.3g}" if self.axis == "ratio" else f"{value:.3g}"

    def _step_text(self, step):
        """Return what a bar does to a prediction."""
        if self.axis == "linear":
            return f"{step:+.2g}"
        return f"x {_exp(step):.2f}" if abs(step) < 4.0 else f"x {_exp(step):.2g}"

    def _show_axis(self, low, high):
        """Print the axis in units of predictions."""
        from matplotlib.ticker import FixedLocator, FuncFormatter

        self.ax_.set_xlabel(plain(self.output), fontsize="medium")
        self.ax_.tick_params("x", labelsize="small")
        if self.axis == "linear":
            return
        is_probability = self.axis == "probability"
        ticks = _probability_ticks(low, high) if is_probability else _log_ticks(low, high)
        self.ax_.xaxis.set_major_locator(FixedLocator(_apart(ticks, low, high)))
        self.ax_.xaxis.set_major_formatter(FuncFormatter(lambda value, _: self._text(value)))


def _output(estimator, target):
    """Return the place of an output, and its name."""
    names = outputs_of(estimator)
    if is_classifier(estimator):
        classes = estimator.classes_.tolist()
        if len(names) == 1:
            if target not in (None, classes[-1]):
                raise ValueError(f"target must be None or {classes[-1]!r}, the class predicted.")
            label = classes[-1]
            return 0, f"probability of {'' if isinstance(label, str) else 'class '}{label!r}"
        if target not in classes:
            raise ValueError("target must be one of the classes, as there are several.")
        return classes.index(target), f"score of {target!r}"
    if len(names) == 1:
        if target not in (None, 0):
            raise ValueError("target must be None where there is one.")
        return 0, "prediction"
    if target not in range(len(names)):
        raise ValueError("target must be the number of a target, as there are several.")
    return int(target), f"prediction of target {target}"


def _axis(estimator):
    if not are_ratios(estimator):
        return "linear"
    return "probability" if is_classifier(estimator) else "ratio"


def _entries(row, estimator):
    """Give what a row has in each term."""
    explained = estimator.explain(row, as_frame=True)
    for name, value in zip(explained["term"], explained["value"], strict=True):
        yield f"{name} = {entry_text(value)}"


def _percent(share):
    percents = 100.0 * share
    if 1.0 <= percents <= 99.0:
        return f"{percents:.3g} %"
    rest = min(percents, 100.0 - percents)
    n_digits = min(max(1 - math.floor(math.log10(rest)), 0), 8) if rest > 0.0 else 0
    return f"{percents:.{n_digits}f} %"


def _exp(value):
    return math.exp(min(value, 700.0))


def _probability_ticks(low, high):
    """Return log-odds of probabilities of few digits between two log-odds."""
    for step in _STEPS if high - low < _WIDE else ():
        ticks = logit(np.arange(1, round(1.0 / step)) * step)
        if np.count_nonzero((ticks >= low) & (ticks <= high)) >= tuned.FEWEST_TICKS - 1:
            return ticks
    return logit(_PROBABILITIES)


def _log_ticks(low, high):
    """Return logarithms of 1, 2 and 5 times powers of ten between two logarithms."""
    powers = np.arange(math.floor(low / math.log(10.0)), math.ceil(high / math.log(10.0)) + 1)
    if powers.size > tuned.MOST_TICKS:
        return powers[:: powers.size // tuned.MOST_TICKS] * math.log(10.0)
    return np.add.outer(powers * math.log(10.0), np.log([1.0, 2.0, 5.0])).ravel()


def _apart(ticks, low, high):
    """Return those of some ticks that are within limits and don't run into each other."""
    least, shown = (high - low) / tuned.MOST_TICKS, []
    for tick in sorted(ticks[(ticks >= low) & (ticks <= high)]):
        if not shown or tick - shown[-1] >= least:
            shown.append(tick)
    return shown
