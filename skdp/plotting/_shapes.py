"""Shape functions: the contribution of each term of an additive model, in one picture."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skdp.additive._reading import are_flat
from skdp.plotting._axes import open_grid, plain, shortened, show_dates

_BAND = "2 standard deviations of the noise added for privacy (without sampling error)"
# Room below curves for the histogram, over its height.
_ROOM = 4.0
_ALL_NOISE = "The noise hides the effects of all columns here: they change no prediction."


class ShapeFunctionDisplay:
    """All terms of an additive model: curves, dots for words, and surfaces or numbers of pairs.

    Bands and bars are two predicted standard deviations of the noise that was added for privacy;
    they are **not a sampling error**. Below a term is the released share of the records at each
    place, or "shares unknown" where none was released. The titles of terms that are noise say so.

    Created by :meth:`from_estimator`. All parameters are stored as attributes.

    **Privacy.** Drawing costs nothing: everything in the drawing was released.

    Parameters
    ----------
    terms : tuple of objects
        Terms of a fitted additive model.
    outputs : tuple of str
        Names of the outputs, one for each value at a place.

    Attributes
    ----------
    axes_ : list of matplotlib Axes
        One for each term.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    skdp.additive.DPAdditiveClassifier : A model with such terms.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.additive import DPAdditiveRegressor
    >>> from skdp.plotting import ShapeFunctionDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, (5000, 1))
    >>> model = DPAdditiveRegressor(random_state=0).fit(X, np.sin(X[:, 0]))
    >>> display = ShapeFunctionDisplay.from_estimator(model)
    >>> len(display.axes_)
    1
    """

    def __init__(self, *, terms, outputs):
        self.terms = terms
        self.outputs = outputs

    @classmethod
    def from_estimator(cls, estimator, terms=None, *, ax=None):
        """Draw the terms of a fitted additive model.

        Parameters
        ----------
        estimator : DPAdditiveClassifier or DPAdditiveRegressor
            A fitted one.
        terms : list of int or str, default=None
            Terms to draw, by position or name. None draws all.
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
            If there is no such term.
        """
        if not hasattr(estimator, "explain"):
            raise TypeError("estimator must be an additive model of skdp.additive.")
        check_is_fitted(estimator)
        return cls(terms=_chosen(estimator.terms_, terms), outputs=_outputs(estimator)).plot(ax=ax)

    def plot(self, *, ax=None):
        """Draw the terms.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to replace by the drawing; None makes a figure.

        Returns
        -------
        self : ShapeFunctionDisplay
            This display, drawn.

        Raises
        ------
        TypeError
            If `ax` is something else.
        """
        is_new = ax is None
        self.axes_, self.figure_ = open_grid(ax, self, len(self.terms))
        for one, term in zip(self.axes_, self.terms, strict=True):
            _DRAWN[term.kind](one, term, self.outputs)
            name = plain(term.name)
            one.set_title(f"{name} (noise)" if term.is_noise else name, fontsize="medium")
        named = [one for one in self.axes_ if one.get_legend_handles_labels()[1]]
        if len(self.outputs) > 1 and named:
            named[0].legend(fontsize="small")
        if is_new:
            only = plain(self.outputs[0]) if len(self.outputs) == 1 else ""
            self.figure_.supylabel(only, fontsize="medium")
            note = _ALL_NOISE if are_flat(self.terms) else f"Bands: {_BAND}."
            self.figure_.suptitle(note, fontsize="small")
        return self


def _chosen(terms, wanted):
    if wanted is None:
        return tuple(terms)
    names = [term.name for term in terms]
    places = [names.index(one) if one in names else one for one in wanted]
    if not places or not all(isinstance(j, int) and 0 <= j < len(names) for j in places):
        raise ValueError("terms must be places or names of terms of the model, at least one.")
    return tuple(terms[j] for j in places)


def _outputs(estimator):
    values = estimator.terms_[0].values
    names = getattr(estimator, "classes_", None)
    if values.ndim == 1:
        return ("contribution" if names is None else f"log-odds of {names[-1]}",)
    return tuple(map(str, range(values.shape[1]) if names is None else names))


def _draw_curve(ax, term, outputs):
    """Draw a curve on its knots; a spike and gaps stand at the right."""
    n_knots = len(term.knots)
    x, values = np.asarray(term.knots), term.values.reshape(len(term.labels), -1)
    std, labels = 2.0 * term.std, term.labels[n_knots:]
    step = 0.08 * (x[-1] - x[0] or 1.0)
    others = x[-1] + step * np.arange(1, len(labels) + 1)
    for k, name in enumerate(outputs):
        curve = values[:n_knots, k]
        (line,) = ax.plot(x, curve, marker=".", label=plain(name))
        ax.fill_between(x, curve - std[:n_knots], curve + std[:n_knots], alpha=0.25, linewidth=0)
        colour = line.get_color()
        if n_knots == 1:  # which has no width to fill
            ax.errorbar(x, curve, yerr=std[:1], fmt=".", color=colour, markersize=4)
        beside, errors = values[n_knots:, k], std[n_knots:]
        ax.errorbar(others, beside, yerr=errors, fmt="s", color=colour, markersize=4)
    texts = [text.replace("is_", "is ") for text in _short(labels, term.name)]
    for place, text, value in zip(others, texts, values[n_knots:].max(axis=1), strict=True):
        ax.annotate(
            text,
            (place, value),
            (2, 5),
            textcoords="offset points",
            fontsize="x-small",
            ha="right",
        )
    if term.holds_dates:
        show_dates(ax.xaxis)
    else:
        # Long numbers would run into each other.
        ax.locator_params("x", nbins=4)
        ax.ticklabel_format(axis="x", scilimits=(-4, 7))
    if n_knots == 1:
        ax.set_xticks(x)
    _draw_shares(ax, np.append(x, others), term.weights, 0.5 * step)


def _draw_words(ax, term, outputs):
    """Draw a dot for each word."""
    x, values = np.arange(len(term.labels)), term.values.reshape(len(term.labels), -1)
    for k, name in enumerate(outputs):
        ax.errorbar(x, values[:, k], yerr=2.0 * term.std, fmt="o", markersize=4, label=plain(name))
    ax.set_xticks(x, _short(term.labels, term.name), rotation=60, ha="right", fontsize="x-small")
    _draw_shares(ax, x, term.weights, 0.6)


def _draw_product(ax, term, outputs):
    """Draw the coefficient of a product of two curves."""
    ax.errorbar([0.0], term.values, yerr=2.0 * term.std, fmt="D", label=plain(outputs[-1]))
    ax.axhline(0.0, color="0.6", linewidth=0.5)
    ax.set_xticks([])


def _draw_shares(ax, x, shares, width):
    """Draw a released histogram in the lower part."""
    low, high = ax.get_ylim()
    ax.set_ylim(low - (high - low) / _ROOM, high)
    if np.isnan(shares).any():
        place = (0.02, 0.03)
        ax.annotate(
            "shares unknown", place, xycoords="axes fraction", fontsize="x-small", color="0.4"
        )
        ax.axhline(0.0, color="0.6", linewidth=0.5)
        return
    below = ax.twinx()
    below.bar(x, shares, width=width, color="0.8", zorder=0)
    below.set_ylim(0.0, _ROOM * 1.25 * max(shares.max(), 1e-9))
    below.set_yticks([])
    ax.set_zorder(below.get_zorder() + 1)
    ax.patch.set_visible(False)
    ax.axhline(0.0, color="0.6", linewidth=0.5)


def _draw_surface(ax, term, outputs):
    """Draw the values of a pair, those of the last output where there are several."""
    sizes = [len(side) for side in term.sides]
    values = term.values.reshape(*sizes, -1)[:, :, -1]
    largest = np.abs(values).max() or 1.0
    image = ax.imshow(
        values.T, origin="lower", aspect="auto", cmap="RdBu_r", vmin=-largest, vmax=largest
    )
    ax.figure.colorbar(image, ax=ax)
    for feature, side, axis in zip(term.features, term.sides, (ax.xaxis, ax.yaxis), strict=True):
        axis.set_ticks(range(len(side)), _short(side, feature), fontsize="x-small")
        axis.set_label_text(plain(feature), fontsize="small")
    ax.tick_params("x", rotation=60)


def _short(labels, feature):
    """Return labels of a term without the name of its column."""
    return shortened([label.removeprefix(f"{feature}_") for label in labels])


_DRAWN = {
    "hats": _draw_curve,
    "line": _draw_curve,
    "words": _draw_words,
    "pair": _draw_surface,
    "product": _draw_product,
}
