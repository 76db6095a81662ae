"""Effects as people say them: units of a target, or how many times as large odds become."""

import math
from numbers import Integral

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from skdp.model_selection._search import BaseSearch
from skdp.plotting import _tuned as tuned

# Ratios around 1 that have few digits, by their step, and those between 1/2 and 2.
_STEPS = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005)
_ROUND = (1 / 2, 2 / 3, 1.0, 3 / 2, 2.0)
# Logarithms from which on powers are enough.
_FAR = 2.0


def check_explains(estimator):
    """Refuse what has no terms to draw."""
    if not hasattr(estimator, "explain"):
        raise TypeError(
            "estimator must be an additive model of skdp.additive, a search that chose one, or a "
            "calibrated one of two classes."
        )
    check_is_fitted(estimator)


def check_max_terms(max_terms):
    """Refuse what is no number of terms."""
    if max_terms is not None and not (isinstance(max_terms, Integral) and max_terms > 0):
        raise ValueError("max_terms must be an int above 0, or None.")


def outputs_of(estimator):
    """Return what each value of a term is: names of classes or of targets, or of the effect."""
    values = estimator.terms_[0].values
    if values.ndim > 1:
        names = estimator.classes_ if is_classifier(estimator) else range(values.shape[1])
        return tuple(map(str, names))
    if is_classifier(estimator):
        label = estimator.classes_[-1]
        return (
            f"odds ratio of '{label}'"
            if isinstance(label, str)
            else f"odds ratio of class {label}",
        )
    if are_ratios(estimator):
        return ("ratio of the mean",)
    return ("effect, in units of the target",)


def are_ratios(estimator):
    """Return whether values of terms are logarithms of ratios: of odds, or of means."""
    if is_classifier(estimator):
        return estimator.terms_[0].values.ndim == 1
    return chosen_by(estimator).get_params()["loss"] != "squared_error"


def chosen_by(estimator):
    """Return the model that a search chose, or an estimator that is no search."""
    return estimator.best_estimator_ if isinstance(estimator, BaseSearch) else estimator


def log_ratio_ticks(low, high):
    """Return logarithms of ratios of few digits between two logarithms."""
    best = np.zeros(1)
    for ticks in _choices(low, high):
        inside = ticks[(ticks >= low) & (ticks <= high)]
        if inside.size > tuned.MOST_TICKS:
            break
        if inside.size > best.size:
            best = inside
        if inside.size >= tuned.FEWEST_TICKS:
            break
    return best


def _choices(low, high):
    """Give lists of logarithms of ratios, the coarsest first that may have enough."""
    reach = max(abs(low), abs(high))
    # Axes without privacy may reach far.
    power = 2.0 ** max(math.ceil(math.log2(max(reach / math.log(10.0), 1e-9) / 3.0)), 0)
    for base in (10.0**power if power < 256.0 else np.inf, 10.0, 4.0, 2.0):
        if np.isfinite(base):
            n = math.ceil(reach / math.log(base))
            if n <= 2 * tuned.MOST_TICKS:
                yield math.log(base) * np.arange(-n, n + 1)
    if reach < _FAR:
        yield np.log(_ROUND)
        for step in _STEPS:
            n = math.ceil(math.expm1(reach) / step)
            ratios = 1.0 + step * np.arange(-n, n + 1)
            yield np.log(ratios[ratios > 0.0])


def ratio_text(log_ratio):
    """Return a ratio as a text of few digits, such as "1/2" or "1.5"."""
    ratio = math.exp(min(log_ratio, 700.0))
    inverse = math.exp(min(-log_ratio, 700.0))
    if abs(ratio - _ROUND[1]) < 1e-6:
        return "2/3"
    if inverse > 1.5 and abs(inverse - round(inverse)) < 1e-6 * inverse:
        return f"1/{round(inverse):g}"
    return f"{ratio:.4g}"


def show_ratios(axis, low, high):
    """Print an axis of logarithms as ratios."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    axis.set_major_locator(FixedLocator(log_ratio_ticks(low, high)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: ratio_text(value)))
