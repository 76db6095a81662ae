"""Shape functions: what each term of an additive model adds, in panels of one shared axis."""

import math
import textwrap

import numpy as np

from skdp.additive._reading import are_flat
from skdp.plotting import _tuned as tuned
from skdp.plotting._axes import as_label, open_grid, plain
from skdp.plotting._effects import (
    are_ratios,
    check_explains,
    check_max_terms,
    outputs_of,
    show_ratios,
)
from skdp.plotting._terms import (
    draw_number,
    draw_places,
    draw_surface,
    is_number,
    is_surface,
    number_of,
    places_of,
)

_BAND = "Bands and bars: 2 standard deviations of the noise added for privacy, no sampling error."
_SHARES = "At the bottom: shares of the records, as they were released."
_ALL_NOISE = "The noise hides the effects of all columns here: they change no prediction."
_GREY = "Grey: values that are no larger than noise alone would make them."
_HATCHED = "Hatched: cells that the noise hides, or that have no records by the counts."


class ShapeFunctionDisplay:
    """The terms of an additive model, the strongest first, on one shared axis.

    Numbers have curves, and points where they are few; words are sorted by their effect. A pair is
    one number, or a surface. The axis has odds ratios for two classes, ratios of the mean for
    counts and amounts, and else units of the target. Bands and bars are two predicted standard
    deviations of the noise that was added for privacy; they are **not a sampling error**. At the
    bottom of a panel are the released shares of the records, or "shares unknown" where none were
    released.

    Created by :meth:`from_estimator`. All parameters are stored as attributes.

    **Privacy.** Drawing costs nothing: everything in the drawing was released.

    Parameters
    ----------
    terms : tuple of objects
        Terms of a fitted additive model.
    outputs : tuple of str
        Names of the outputs, one for each value at a place.
    ratios : bool, default=False
        Whether values are logarithms of ratios, which the axis prints.
    pairs : {"number", "surface"}, default="number"
        How to draw pairs and products. "number" is the coefficient of a product, and the mean
        absolute value of a pair, each with its interval. "surface" has all cells; those that the
        noise hides, or that have no records by the counts, are hatched.
    n_noise, n_weak : int, default=0
        How many terms were left out because they are noise, and because others are stronger.

    Attributes
    ----------
    axes_ : list of matplotlib Axes
        One for each term.
    figure_ : matplotlib Figure
        Figure of the axes.
    note_ : str
        What stands below a figure: how to read it, and what was left out.

    See Also
    --------
    skdp.additive.DPAdditiveClassifier : A model with such terms.
    ExplanationDisplay : What the terms add to one prediction.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.additive import DPAdditiveRegressor
    >>> from skdp.plotting import ShapeFunctionDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, (5000, 1))
    >>> model = DPAdditiveRegressor(random_state=0).fit(X, np.sin(X[:, 0]))
    >>> ShapeFunctionDisplay.from_estimator(model)
    ShapeFunctionDisplay of 1 term: x0
    """

    def __init__(self, *, terms, outputs, ratios=False, pairs="number", n_noise=0, n_weak=0):
        self.terms = terms
        self.outputs = outputs
        self.ratios = ratios
        self.pairs = pairs
        self.n_noise = n_noise
        self.n_weak = n_weak

    @classmethod
    def from_estimator(
        cls, estimator, terms=None, *, max_terms=tuned.MOST_TERMS, pairs="number", ax=None
    ):
        """Draw the terms of a fitted additive model.

        Parameters
        ----------
        estimator : estimator
            A fitted additive model, a search that chose one, or a calibrated one.
        terms : list of int or str, default=None
            Terms to draw, by position or name, in this order. None draws the strongest, by their
            importance, and leaves out terms that are no larger than noise alone would make them,
            unless all are. Terms that are named are all drawn, however many they are.
        max_terms : int or None, default=12
            So many terms at most are drawn by themselves. None sets no limit.
        pairs : {"number", "surface"}, default="number"
            How to draw pairs and products. "number" is the coefficient of a product, and the mean
            absolute value of a pair, each with its interval. "surface" has all cells; those that
            the noise hides, or that have no records by the counts, are hatched.
        ax : matplotlib Axes, default=None
            Axes to replace by the drawing; None makes a figure.

        Returns
        -------
        display : ShapeFunctionDisplay
            What was drawn.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator isn't fitted.
        TypeError
            If the estimator has no terms, or `ax` is something else.
        ValueError
            If there is no such term, or `max_terms` or `pairs` is something else.
        """
        check_explains(estimator)
        check_max_terms(max_terms)
        if pairs not in ("number", "surface"):
            raise ValueError("pairs must be 'number' or 'surface'.")
        n_noise = n_weak = 0
        if terms is None:
            shown, n_noise, n_weak = _strongest(estimator.terms_, max_terms)
        else:
            shown = _chosen(estimator.terms_, terms)
        display = cls(
            terms=shown,
            outputs=outputs_of(estimator),
            ratios=are_ratios(estimator),
            pairs=pairs,
            n_noise=n_noise,
            n_weak=n_weak,
        )
        return display.plot(ax=ax)

    def plot(self, *, ax=None):
        """Draw the terms.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to replace by the drawing; None makes a figure.

        Returns
        -------
        self : object
            This display.

        Raises
        ------
        TypeError
            If `ax` is something else.
        """
        is_new, is_alone = ax is None, len(self.terms) == 1
        shared = [j for j, one in enumerate(self.terms) if not is_surface(one, self.pairs)]
        of_places = {
            j: places_of(term, is_alone=is_alone)
            for j, term in enumerate(self.terms)
            if term.kind not in ("pair", "product")
        }
        below = [self._height_below(j, of_places) for j in range(len(self.terms))]
        panel = tuned.PANEL
        if is_alone:
            n_places = max([1, *(len(one.x) for one in of_places.values())])
            panel = max(tuned.ONLY_PANEL[0], tuned.WIDTH_OF_WORD * n_places), tuned.ONLY_PANEL[1]
        self.axes_, self.figure_ = open_grid(ax, self, below, shared=shared, panel=panel)
        for j, (one, term) in enumerate(zip(self.axes_, self.terms, strict=True)):
            if j in of_places:
                draw_places(one, term, self.outputs, of_places[j])
            elif j in shared:
                draw_number(one, term, self.ratios)
            else:
                draw_surface(one, term, self.ratios)
            name = as_label(term.name, tuned.LONGEST_TITLE)
            one.set_title(f"{name} (noise)" if term.is_noise else name, fontsize="medium")
        if shared:
            self._share_axis([self.axes_[j] for j in shared])
        named = [one for one in self.axes_ if one.get_legend_handles_labels()[1]]
        if len(self.outputs) > 1 and named:
            named[0].legend(fontsize="small")
        self.note_ = self._note()
        if is_new:
            self.figure_.supylabel(plain(self._unit()), fontsize="medium")
            width = int(self.figure_.get_figwidth() / tuned.CHARACTER_OF_NOTE)
            lines = [line for part in self.note_.split("\n") for line in textwrap.wrap(part, width)]
            height = self.figure_.get_figheight() + tuned.LINE * len(lines)
            self.figure_.set_figheight(height)
            self.figure_.supxlabel("\n".join(lines), fontsize="small")
        return self

    def __repr__(self):
        n_terms, names = len(self.terms), [term.name for term in self.terms[: tuned.MOST_NAMES]]
        more = [f"{n_terms - len(names)} more"] if n_terms > len(names) else []
        terms = f"{n_terms} terms" if n_terms > 1 else "1 term"
        left_out = self._left_out()
        return f"ShapeFunctionDisplay of {terms}: {', '.join(names + more)}" + (
            f" ({left_out})" if left_out else ""
        )

    def _height_below(self, j, of_places):
        term = self.terms[j]
        if j in of_places:
            return of_places[j].height
        if is_number(term, self.pairs):
            return 2.0 * tuned.LINE
        longest = max(len(label) - len(term.features[0]) for label in term.sides[0])
        return tuned.CHARACTER * min(longest, tuned.LONGEST_TEXT) + tuned.LINE

    def _share_axis(self, axes):
        """Give axes limits that show all values, with room for the shares below them."""
        low, high = _limits(self.terms, self.pairs)
        room = tuned.HEIGHT_OF_SHARES + tuned.ROOM_ABOVE_SHARES
        low -= (high - low) * room / (1.0 - room)
        axes[0].set_ylim(low, high)
        if self.ratios:
            show_ratios(axes[0].yaxis, low + room * (high - low), high)
        for ax in axes:
            ax.grid(axis="y", alpha=0.3, linewidth=0.6)
            ax.tick_params("y", labelsize="small")
            ax.spines[["top", "right"]].set_visible(False)

    def _unit(self):
        """Return what the shared axis says."""
        if len(self.outputs) > 1:
            return "contribution"
        return self.outputs[0]

    def _note(self):
        """Return how the figure is read, and what was left out."""
        left_out = self._left_out()
        has_noise = not all(is_surface(term, self.pairs) for term in self.terms)
        has_shares = any(term.kind not in ("pair", "product") for term in self.terms)
        parts = [f"{_BAND} {_SHARES}" if has_shares else _BAND] if has_noise else []
        if any(is_surface(term, self.pairs) for term in self.terms):
            parts.append(_HATCHED)
        if any(term.is_noise for term in self.terms):
            parts.append(_ALL_NOISE if are_flat(self.terms) else _GREY)
        if left_out:
            parts.append(f"Left out: {left_out}.")
        return "\n".join(parts)

    def _left_out(self):
        """Return how many terms were left out, and by which rule, in words."""
        parts = []
        if self.n_noise:
            terms, them = ("terms that are", "them") if self.n_noise > 1 else ("term that is", "it")
            parts.append(f"{self.n_noise} {terms} no larger than noise alone would make {them}")
        if self.n_weak:
            parts.append(f"{self.n_weak} weaker {'terms' if self.n_weak > 1 else 'term'}")
        return ", and ".join(parts)


def _strongest(terms, max_terms):
    """Return terms that are more than noise, the strongest first, and how many others there are.

    Where all are noise, the strongest of them are returned.
    """
    order = sorted(terms, key=lambda term: -term.importance)
    above_noise = [term for term in order if not term.is_noise]
    n_noise = len(order) - len(above_noise) if above_noise else 0
    candidates = above_noise or order
    shown = candidates[:max_terms]
    return tuple(shown), n_noise, len(candidates) - len(shown)


def _chosen(terms, wanted):
    names = [term.name for term in terms]
    places = [names.index(one) if one in names else one for one in wanted]
    if not places or not all(isinstance(j, int) and 0 <= j < len(names) for j in places):
        raise ValueError("terms must be places or names of terms of the model, at least one.")
    return tuple(terms[j] for j in places)


def _limits(terms, pairs):
    """Return the ends of the axis that terms share; bands may leave it where they are wide."""
    values, ends = [np.zeros(1)], [np.zeros(1)]
    for term in terms:
        if is_number(term, pairs):
            # Its text stands above its interval.
            value, std = number_of(term)
            values.append(np.array([value - std, value + std]))
            ends.append(values[-1])
        elif not is_surface(term, pairs):
            of_term = term.values.reshape(len(term.labels), -1)
            band = 2.0 * term.std[:, np.newaxis]
            values.append(of_term.ravel())
            ends.append(np.concatenate([of_term - band, of_term + band]).ravel())
    values, ends = np.concatenate(values), np.concatenate(ends)
    low, high = float(values.min()), float(values.max())
    wider = tuned.LARGEST_PART_OF_BANDS * (high - low) if high > low else math.inf
    low, high = max(float(ends.min()), low - wider), min(float(ends.max()), high + wider)
    if low == high:
        low, high = low - 1.0, high + 1.0
    pad = 0.05 * (high - low)
    return low - pad, high + pad
