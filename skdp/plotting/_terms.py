"""Terms of an additive model in panels of one shared axis: curves, points, words and pairs."""

import math
from typing import NamedTuple

import numpy as np

from skdp._rows.labels import MISSING, texts_apart
from skdp.additive._reading import places_of as labels_of
from skdp.plotting import _tuned as tuned
from skdp.plotting._axes import as_label, as_labels, date_ticks, number_ticks, plain
from skdp.plotting._effects import show_ratios

# A term that is noise has no colour.
_GREY, _QUIET = "0.55", "0.5"


class Places(NamedTuple):
    """Where the values of a term stand in its panel.

    `shown` are the places of values in the term, and `x` where each stands. The first `n_on_curve`
    are joined by a line. `ticks` and their `texts` are what the axis says.
    """

    shown: np.ndarray
    x: np.ndarray
    n_on_curve: int
    ticks: list
    texts: list
    n_left_out: int = 0
    note: str = ""

    @property
    def angle(self):
        """How far labels are turned, in degrees."""
        lines = [text.splitlines() or [""] for text in self.texts]
        width = sum(max(map(len, of_text)) + 1 for of_text in lines)
        if self.n_on_curve > 1 or width <= tuned.MOST_FLAT_CHARACTERS:
            return 0
        # Lines of labels that are turned half would run into each other.
        is_broken = any(len(of_text) > 1 for of_text in lines)
        return 90 if is_broken or len(lines) >= tuned.FEWEST_UPRIGHT_LABELS else 45

    @property
    def height(self):
        """What the labels need below the panel, in inches."""
        texts = [text.splitlines() or [""] for text in self.texts]
        n_lines = max(map(len, texts), default=1)
        if self.angle == 0:
            return tuned.LINE * (n_lines + bool(self.note))
        longest = max(len(line) for lines in texts for line in lines)
        along = tuned.CHARACTER * longest * math.sin(math.radians(self.angle))
        return along + tuned.LINE * n_lines * math.cos(math.radians(self.angle)) + tuned.LINE


def is_surface(term, pairs):
    """Return whether a term is drawn as a surface, which has an axis y of its own."""
    return term.kind in ("pair", "product") and pairs == "surface"


def is_number(term, pairs):
    """Return whether a term is drawn as one number."""
    return term.kind in ("pair", "product") and pairs == "number"


def number_of(term):
    """Return the one number of a pair or a product, and two deviations of its noise.

    A pair has the mean absolute value of its surface. As noise moves no absolute value by more than
    the value itself, the mean deviation is no smaller than that of the mean.
    """
    if term.kind == "product":
        return float(term.values[0]), 2.0 * float(term.std[0])
    weights = np.nan_to_num(term.weights, nan=1.0)
    return term.importance, 2.0 * float(np.average(term.std, weights=weights))


def places_of(term, *, is_alone=False):
    """Return where the values of a curve or of words stand."""
    if term.kind == "words":
        return _places_of_words(term, is_alone)
    n_numbers = len(term.knots) + (term.spike is not None)
    if term.has_few_numbers and n_numbers <= tuned.MOST_POINTS:
        return _places_of_points(term, n_numbers)
    return _places_of_curve(term)


def _places_of_words(term, is_alone):
    """Return words by their effect; of many, those that do most."""
    values, weights = term.values.reshape(len(term.labels), -1), term.weights
    # A word that nobody has, by the counts, has the mean of all.
    is_empty = (weights == 0.0) & (values == 0.0).all(axis=1)
    sizes = np.abs(values).mean(axis=1) * np.nan_to_num(weights, nan=1.0)
    places = np.flatnonzero(~is_empty)
    largest = places[np.argsort(-sizes[places], kind="stable")]
    largest = largest if is_alone else largest[: tuned.MOST_WORDS]
    shown = largest[np.argsort(values[largest, -1], kind="stable")]
    texts = as_labels(labels_of(term))
    x, n_left_out = np.arange(shown.size), places.size - shown.size
    return Places(shown, x, 0, x.tolist(), [texts[j] for j in shown], n_left_out=n_left_out)


def _numbers(term):
    """Return knots, a spike after them if there is one, and their texts."""
    numbers = term.knots if term.spike is None else np.append(term.knots, term.spike)
    texts = texts_apart(numbers, term.holds_dates)
    if term.spike is not None and len(term.knots) == 1:
        texts[0] = f"not {texts[1]}"
    return numbers, texts


def _places_of_points(term, n_numbers):
    """Return few numbers in their order, side by side, and gaps."""
    numbers, texts = _numbers(term)
    order, labels = np.argsort(numbers), list(texts)
    # Beyond the largest number seen all have its value, which needn't be said of flags and codes.
    is_count = n_numbers > 2 and numbers.min() >= 0.0 and not term.holds_dates
    if is_count and term.spike != numbers.max():
        labels[order[-1]] += " or more"
    shown = np.append(order, np.arange(n_numbers, len(term.labels)))
    labels += [MISSING] * (len(term.labels) - n_numbers)
    x = np.arange(shown.size)
    return Places(
        shown, x, 0, x.tolist(), [as_label(labels[j], tuned.LONGEST_FLAT_LABEL) for j in shown]
    )


def _places_of_curve(term):
    """Return knots where their numbers are; a spike and gaps stand beside them."""
    knots, texts = np.asarray(term.knots), _numbers(term)[1]
    low, high = float(knots[0]), float(knots[-1])
    step = tuned.STEP_BESIDE * (0.5 * high - 0.5 * low) * 2.0 or 1.0
    x, labels, at_right = knots.tolist(), [], 0
    if len(knots) == 1:
        ticks, tick_texts, note = knots.tolist(), texts[:1], ""
    elif term.holds_dates:
        ticks, tick_texts, note = date_ticks(low, high)
    else:
        (ticks, tick_texts), note = number_ticks(low, high), ""
    if term.spike is not None:
        at_left = term.spike <= low
        x.append(low - step if at_left else high + step)
        labels.append(f"\n= {texts[-1]}")
        at_right += not at_left
    if len(term.labels) > len(x):
        x.append(high + step * (1.0 + at_right))
        labels.append("\n" * (1 + at_right) + MISSING)
    ticks, labels = [*ticks, *x[len(knots) :]], [*tick_texts, *labels]
    return Places(np.arange(len(x)), np.array(x), len(knots), ticks, labels, note=note)


def draw_places(ax, term, outputs, places):
    """Draw a curve or points with their noise, and below the shares of the records."""
    values = term.values.reshape(len(term.labels), -1)[places.shown]
    std, x, n = 2.0 * term.std[places.shown], places.x, places.n_on_curve
    ax.axhline(0.0, color=_QUIET, linewidth=0.8, zorder=1)
    offsets = 0.12 * (np.arange(len(outputs)) - 0.5 * (len(outputs) - 1)) * (n == 0)
    for k, name in enumerate(outputs):
        colour, label = _GREY if term.is_noise else f"C{k}", plain(name)
        if n > 1:
            ax.plot(x[:n], values[:n, k], color=colour, marker=".", label=label)
            band = values[:n, k] - std[:n], values[:n, k] + std[:n]
            ax.fill_between(x[:n], *band, color=colour, alpha=0.25, linewidth=0)
        first = n if n > 1 else 0
        if first < len(x):
            ax.errorbar(
                x[first:] + offsets[k],
                values[first:, k],
                yerr=std[first:],
                fmt="s" if n else "o",
                color=colour,
                markersize=5,
                label=None if n > 1 else label,
            )
    angle = places.angle
    ax.set_xticks(places.ticks, places.texts, fontsize="small", rotation=angle)
    if angle:
        for label in ax.get_xticklabels():
            label.set(ha="right", va="center" if angle == 90 else "top", rotation_mode="anchor")
    if n == 0:
        ax.set_xlim(-0.6, len(x) - 0.4)
    if places.note:
        ax.set_xlabel(places.note, fontsize="small")
    if places.n_left_out:
        _say(ax, f"{places.n_left_out} more words do less")
    _draw_shares(ax, x, term.weights[places.shown], n)


def _say(ax, text):
    ax.annotate(text, (0.03, 0.97), xycoords="axes fraction", va="top", fontsize="x-small")


def _draw_shares(ax, x, shares, n_on_curve):
    """Draw released shares of the records at the bottom of a panel."""
    if np.isnan(shares).any():
        place = (0.03, 0.03)
        ax.annotate("shares unknown", place, xycoords="axes fraction", fontsize="x-small")
        return
    width = 0.6 if n_on_curve == 0 else 0.025 * ((x.max() - x.min()) or 1.0)
    heights = tuned.HEIGHT_OF_SHARES * shares / max(shares.max(), 1e-9)
    # Heights are parts of the panel, whatever its values are.
    ax.bar(
        x,
        heights,
        width=width,
        color=_QUIET,
        alpha=0.45,
        linewidth=0,
        transform=ax.get_xaxis_transform(),
        zorder=0.5,
    )


def draw_number(ax, term, ratios):
    """Draw the one number of a pair or a product with its noise."""
    value, std = number_of(term)
    colour = _GREY if term.is_noise else "C0"
    ends = [value - std, value + std]
    if term.kind == "pair":
        ends[0] = max(ends[0], 0.0)
    ax.axhline(0.0, color=_QUIET, linewidth=0.8, zorder=1)
    bar = [[value - ends[0]], [ends[1] - value]]
    ax.errorbar([0.0], [value], yerr=bar, fmt="D", color=colour, markersize=6)
    numbers = np.exp(np.minimum([value, *ends], 700.0)) if ratios else [value, *ends]
    width = max(float(numbers[2] - numbers[1]), 1e-6)
    n_digits = max(math.ceil(1.0 - math.log10(width)), 0) if math.isfinite(width) else 0
    texts = [f"{x:.{n_digits}f}" for x in numbers]
    ax.annotate(
        f"{texts[0]} ({texts[1]} to {texts[2]})",
        (0.0, max(ends[1], 0.0)),
        (0, 5),
        textcoords="offset points",
        ha="center",
        fontsize="small",
    )
    ax.set_xlim(-1.0, 1.0)
    text = "both above\ntheir mean" if term.kind == "product" else "mean size"
    ax.set_xticks([0.0], [text], fontsize="small")


def draw_surface(ax, term, ratios):
    """Draw a pair's values of the last output; cells that noise or nobody fills are hatched."""
    sizes = [len(side) for side in term.sides]
    if term.kind == "product":
        values, std = term.values[0] * term.products, term.std[0] * np.abs(term.products)
        is_empty = np.zeros(sizes, bool)
    else:
        values = term.values.reshape(*sizes, -1)[:, :, -1]
        std = term.std.reshape(sizes)
        is_empty = term.weights.reshape(sizes) == 0.0
    # Cells that nobody is in, by the counts, would flatten the colours of all others.
    largest = float(np.abs(values).max(initial=0.0, where=~is_empty)) or 1.0
    image = ax.imshow(
        values.T, origin="lower", aspect="auto", cmap="RdBu_r", vmin=-largest, vmax=largest
    )
    is_hidden = is_empty | (np.abs(values) <= 2.0 * std)
    _hatch(ax, np.argwhere(is_hidden))
    bar = ax.figure.colorbar(image, ax=ax)
    if ratios:
        show_ratios(bar.ax.yaxis, -largest, largest)
    bar.ax.tick_params(labelsize="x-small")
    for feature, side, axis in zip(term.features, term.sides, (ax.xaxis, ax.yaxis), strict=True):
        texts = as_labels([label.removeprefix(f"{feature}_") for label in side], tuned.LONGEST_TEXT)
        axis.set_ticks(range(len(side)), texts, fontsize="x-small")
        axis.set_label_text(plain(feature), fontsize="small")
    ax.tick_params("x", rotation=90)


def _hatch(ax, cells):
    """Hatch cells of a surface."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    squares = [Rectangle(cell - 0.5, 1.0, 1.0) for cell in cells]
    hatched = PatchCollection(
        squares, hatch="////", facecolor="none", edgecolor=_QUIET, linewidth=0.0
    )
    ax.add_collection(hatched)
