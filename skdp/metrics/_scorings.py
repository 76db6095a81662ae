"""What each score needs of a record, and where a record lies on a public grid."""

import math
from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple

import numpy as np
from scipy.special import expit, kl_div
from sklearn.base import is_classifier, is_regressor
from sklearn.utils import check_consistent_length, column_or_1d

from skdp._checks import check_bounds, check_finite_input, check_is_object
from skdp._families.targets import encode_labels
from skdp._rows.bounds import clip_scores
from skdp._rows.containers import RefusedValueError, refuse_container, refuse_foreign
from skdp._rows.private_rows import private_rows
from skdp._sklearn import quietly, read_list
from skdp.metrics import _statistics as statistics, _tuned as tuned
from skdp.metrics._solver import Axis

_LARGEST_LOG_LOSS = float(-np.log(tuned.LEAST_PROBABILITY))


class Options(NamedTuple):
    """What scores are asked for with, besides a model and records.

    `n_records` gives the number of records from that of rows, and `labels` reads the labels, once
    for all scores of them.
    """

    bins: int | str
    noise_std: float
    target_bounds: tuple | None = None
    n_records: Callable | None = None
    labels: Callable | None = None


def read_labels(estimator, X, y):
    """Return the classes of a classifier and the code of each label."""
    classes = getattr(estimator, "classes_", None)
    if not isinstance(classes, np.ndarray) or classes.ndim != 1:
        raise ValueError("estimator must be a fitted classifier, with classes_.")
    y = _read(X, y)
    classes, targets = encode_labels(y, classes)
    codes = targets.argmax(axis=1) if classes.size > 2 else (targets[:, 0] > 0.0)
    return classes, codes.astype(np.int64)


def read_targets(X, y):
    """Return targets of a regression as float64, of shape (n,), or (n, k) if they are several."""
    y = quietly(np.asarray, _read(X, y, is_table=True), dtype=np.float64)
    check_finite_input(y, "y")
    return y


def _read(X, y, is_table=False):
    refuse_foreign(X, "X")
    refuse_foreign(y, "y")
    y = quietly(np.asarray, quietly(read_list, y))
    if not (is_table and y.ndim == 2 and y.shape[1] > 1):
        y = quietly(column_or_1d, y)
    _check_lengths(X, y)
    if not y.size:
        raise ValueError("X and y must hold at least one record.")
    return y


def _check_lengths(X, y):
    """Check that X has a row for each target; and say what it is only where that fails.

    Estimators may take what a model of ours doesn't, such as a series of texts.
    """
    try:
        quietly(check_consistent_length, X, y)
    except (TypeError, ValueError):
        refuse_container(X)
        raise


def predict(estimator, X, method="predict", width=None):
    """Call a method of the estimator, of which no error or warning tells of an entry.

    There must be `width` columns; None is a single number a row, in a column or not.
    """
    with private_rows():
        predictions = np.asarray(read_list(quietly(getattr(estimator, method), X)))
    if width is None and predictions.ndim == 2 and predictions.shape[1] == 1:
        predictions = predictions[:, 0]
    expected = 1 if width is None else 2
    if predictions.ndim != expected or (width is not None and predictions.shape[1] != width):
        needed = "one number" if width is None else f"{width} numbers"
        text = f"{method} must give {needed} for each row, and gives an array of another shape."
        raise RefusedValueError(text)
    return predictions


def ranks_by_probability(estimator):
    """Return whether the estimator has probabilities, and not decision values alone."""
    if hasattr(estimator, "predict_proba"):
        return True
    if hasattr(estimator, "decision_function"):
        return False
    raise ValueError("the estimator needs predict_proba or decision_function.")


def binary_scores(estimator, X):
    """Return a score within 0 and 1 of each row's second class, by which they are ranked.

    It is the probability, and without one what a logistic model would make of a decision value.
    """
    if ranks_by_probability(estimator):
        return predict(estimator, X, "predict_proba", width=2)[:, 1]
    return expit(np.asarray(predict(estimator, X, "decision_function"), dtype=np.float64))


def probabilities(estimator, X, n_classes):
    """Return the probability of each class."""
    needs_probabilities(estimator)
    return predict(estimator, X, "predict_proba", width=n_classes)


def needs_probabilities(estimator):
    """Refuse an estimator without probabilities."""
    if not hasattr(estimator, "predict_proba"):
        raise ValueError("this needs an estimator with predict_proba.")


def two_classes(classes, what):
    """Refuse more than two classes."""
    if classes.size != 2:
        raise ValueError(f"{what} needs a classifier of two classes, this one has {classes.size}.")


def grade(probability, power=tuned.GRADE):
    """Return positions in [0, 1] of probabilities, at which bins are narrower near 0 and 1.

    The odds are raised to a power below 1: bins of one width would have most rows of a rare class
    in one of them, and bins even in log-odds would often be empty.
    """
    return probability**power / (probability**power + (1.0 - probability) ** power)


# A score needs to know of a record's labels whether the prediction is right, or the class, too, or
# also what another class it is taken for. Scores that are released together need the most.
RIGHT, OF_CLASS, TAKEN_FOR = range(3)


def is_of_labels(name):
    """Return whether a score is of labels alone."""
    return SCORES[name].detail is not None


def reader_of_labels(names, estimator, X, y):
    """Return a function that gives `label_axes` for these scores, and predicts once."""
    detail = max((SCORES[name].detail for name in names if is_of_labels(name)), default=RIGHT)
    return cache(partial(label_axes, estimator, X, y, detail))


def label_axes(estimator, X, y, detail=TAKEN_FOR):
    """Return the classes, the axes of a grid of what is known of labels, and its right cells."""
    classes, codes = read_labels(estimator, X, y)
    predicted, of_class = predict(estimator, X), Axis(codes, classes.size)
    if detail == TAKEN_FOR:
        _, predicted = read_labels(estimator, X, predicted)
        return classes, [of_class, Axis(predicted, classes.size)], np.eye(classes.size)
    right = Axis((predicted == classes[codes]).astype(np.float64), 2)
    return classes, [of_class, right] if detail == OF_CLASS else [right], np.array([0.0, 1.0])


def _accuracy(estimator, X, y, options):
    _, axes, is_right = options.labels()
    return partial(statistics.accuracy, is_right=is_right), axes


def _balanced_accuracy(estimator, X, y, options):
    _, axes, is_right = options.labels()
    return partial(statistics.balanced_accuracy, is_right=is_right), axes


def _of_label(estimator, X, y, options, *, true, taken, macro=False):
    classes, axes, _ = options.labels()
    if not macro:
        two_classes(classes, "a score of one label, unlike its mean over classes (_macro),")
    labels = range(classes.size) if macro else [1]
    return partial(statistics.of_label, true=true, taken=taken, labels=labels), axes


def roc_axes(estimator, X, y, options):
    """Return the axes of a histogram of the score by class, for two classes."""
    classes, codes = read_labels(estimator, X, y)
    two_classes(classes, "a ROC curve")
    position = grade(clip_scores(binary_scores(estimator, X), 0.0, 1.0))
    return _by_score(codes, position, options)


def _by_score(codes, position, options):
    bins = options.bins
    if bins == "auto":
        bins = statistics.auto_bins(options.n_records(codes.size), options.noise_std)
    return [Axis(codes, 2), Axis(bins * position, bins)]


def _roc_auc(estimator, X, y, options):
    return statistics.roc_auc, roc_axes(estimator, X, y, options)


def _roc_auc_ovr(estimator, X, y, options):
    classes, codes = read_labels(estimator, X, y)
    if classes.size == 2:
        return _roc_auc(estimator, X, y, options)
    positions = grade(clip_scores(probabilities(estimator, X, classes.size), 0.0, 1.0)).T
    grids = (_by_score(codes == code, position, options) for code, position in enumerate(positions))
    return statistics.one_vs_rest_auc, *grids


def n_releases(scoring, classes):
    """Return how many histograms a score needs; only classifiers have classes.

    Of several scores, those of labels share one.
    """
    names = [scoring] if isinstance(scoring, str) else scoring
    others = [name for name in names if not is_of_labels(name)]
    of_labels = len(others) < len(names)
    several = "roc_auc_ovr" in others and np.size(classes) > 2
    return of_labels + len(others) + (classes.size - 1 if several else 0)


def _mean(losses, largest, options):
    """Return the statistic of a mean loss, and the one axis that it needs."""
    nodes = options.bins
    if nodes == "auto":
        nodes = statistics.auto_nodes(options.n_records(losses.size), options.noise_std)
    # A value that isn't a number counts as the worst.
    losses = clip_scores(np.nan_to_num(losses, nan=largest), 0.0, largest)
    position = statistics.graded_positions(losses, nodes)
    statistic = partial(statistics.negative_mean_loss, largest=largest)
    return statistic, [Axis(position, nodes, "linear")]


def _of_losses(losses, estimator, X, y, options):
    """Return the statistic of a mean loss, and its axis, from a function that gives the losses."""
    return _mean(*losses(estimator, X, y, options), options)


def _wrong(estimator, X, y, options):
    _, (right,), _ = label_axes(estimator, X, y, RIGHT)
    return 1.0 - right.position, 1.0


def _log_losses(estimator, X, y, options):
    classes, codes = read_labels(estimator, X, y)
    of_classes = probabilities(estimator, X, classes.size)
    right = of_classes[np.arange(codes.size), codes]
    losses = -np.log(np.clip(right, tuned.LEAST_PROBABILITY, 1.0))
    return losses, _LARGEST_LOG_LOSS


@np.errstate(all="ignore")
def _brier_losses(estimator, X, y, options):
    classes, codes = read_labels(estimator, X, y)
    of_classes = probabilities(estimator, X, classes.size)
    if classes.size == 2:
        return (of_classes[:, 1] - codes) ** 2, 1.0
    truth = codes[:, np.newaxis] == np.arange(classes.size)
    return ((of_classes - truth) ** 2).sum(axis=1), 2.0


def _bounds_of(options):
    if options.target_bounds is None:
        raise ValueError(
            "scores of a regression need target_bounds=(low, high): public ones, or those that a "
            "private fit released, model.target_bounds_. Those of losses with a log link are far "
            "too wide for that: give public ones."
        )
    return check_bounds(options.target_bounds, "target_bounds")


def _residuals(estimator, X, y, options):
    """Return targets and errors, of shape (n, k), in units of the targets' range, and its width."""
    low, high = _bounds_of(options)
    target = read_targets(X, y)
    predicted = predict(estimator, X, width=target.shape[1] if target.ndim == 2 else None)
    predicted = np.asarray(predicted, dtype=np.float64).reshape(len(target), -1)
    target = clip_scores(target.reshape(len(target), -1), low, high)
    # A prediction beyond the bounds, or one that isn't a number, can be wrong by the whole range.
    with np.errstate(all="ignore"):
        error = np.abs((predicted - low) / (high - low) - target)
    return target, clip_scores(np.nan_to_num(error, nan=1.0), 0.0, 1.0), high - low


def _absolute_errors(estimator, X, y, options):
    _, error, width = _residuals(estimator, X, y, options)
    return width * error.mean(axis=1), width


def _squared_errors(estimator, X, y, options):
    _, error, width = _residuals(estimator, X, y, options)
    return ((width * error) ** 2).mean(axis=1), width**2


@np.errstate(all="ignore")
def _deviances(estimator, X, y, options, power):
    """Return targets within the range, deviances of predictions there, and what these are cut to.

    Those of counts are cut to twice the largest target: what a target of 0 has there.
    """
    low, high = _bounds_of(options)
    if high <= 0.0 or (power > 1.0 and low <= 0.0):
        raise ValueError(
            "target_bounds of a deviance must be positive numbers; of counts the lower may be 0."
        )
    target = np.clip(read_targets(X, y), low, high)
    _one_target(1 if target.ndim == 1 else target.shape[1])
    predicted = np.clip(np.asarray(predict(estimator, X), dtype=np.float64), low, high)
    if power > 1.0:
        ratio = target / predicted
        return target, 2.0 * (ratio - 1.0 - np.log(ratio)), tuned.LARGEST_GAMMA_DEVIANCE
    return target, 2.0 * kl_div(target, predicted), 2.0 * high


def _losses_of_power(estimator, X, y, options, *, power):
    return _deviances(estimator, X, y, options, power)[1:]


def _d2(estimator, X, y, options, *, power):
    target, losses, largest = _deviances(estimator, X, y, options, power)
    options = options._replace(noise_std=options.noise_std * math.sqrt(tuned.NULL_NODES))
    # A node of the losses has the noise of all nodes of the targets.
    _, (axis,) = _mean(losses, largest, options)
    low, high = np.maximum(_bounds_of(options), 0.0)
    if power > 1.0:
        nodes = np.geomspace(low, high, tuned.NULL_NODES)
    else:
        nodes = low + (high - low) * np.linspace(0.0, 1.0, tuned.NULL_NODES) ** 2
    position = np.interp(target, nodes, np.arange(tuned.NULL_NODES))
    axes = [axis, Axis(position, tuned.NULL_NODES, "linear")]
    return partial(statistics.d2, largest=largest, targets=nodes, power=power), axes


def _one_target(n_targets):
    if n_targets > 1:
        raise ValueError(
            "scoring by 'r2', D2 or a deviance is of one target: score targets one by one, or all "
            "by 'neg_mean_squared_error'."
        )


def _r2(estimator, X, y, options):
    target, error, _ = _residuals(estimator, X, y, options)
    _one_target(target.shape[1])
    target, error = target[:, 0], error[:, 0]
    nodes, noise_std = options.bins, options.noise_std
    n_records = options.n_records(error.size)
    of_targets = min(max(statistics.auto_nodes(n_records, noise_std), 4), tuned.MOST_TARGET_NODES)
    if nodes == "auto":
        # A node of the errors has the noise of all nodes of the targets.
        nodes = statistics.auto_nodes(n_records, noise_std * math.sqrt(of_targets))
    # Quadratic weights reach a node and a half to both sides, so that this is all of the range.
    reach = of_targets - 2.0
    axes = [
        Axis(statistics.graded_positions(error**2, nodes), nodes, "linear"),
        Axis(0.5 + reach * target, of_targets, "quadratic"),
    ]
    return partial(statistics.r2, error_scale=reach**2), axes


class _Score(NamedTuple):
    """A score: what makes its axes, and what else is known of it."""

    axes: Callable
    # About what standard deviation rows' scores have, as a part of their range, where the score is
    # their mean: losses are mostly near its end.
    row_spread: float | None = None
    # A score of labels needs to know this of them.
    detail: int | None = None
    # It gives rows' losses and the largest, where the score is their mean, or one less that.
    losses: Callable | None = None

    @classmethod
    def of_losses(cls, losses, row_spread):
        """Return a score that is minus the mean of losses."""
        return cls(partial(_of_losses, losses), row_spread, losses=losses)


_f1 = partial(_of_label, true=0.5, taken=0.5)
_precision = partial(_of_label, true=0.0, taken=1.0)
_recall = partial(_of_label, true=1.0, taken=0.0)
SCORES = {
    "accuracy": _Score(_accuracy, 0.5, RIGHT, _wrong),
    "balanced_accuracy": _Score(_balanced_accuracy, detail=OF_CLASS),
    "f1": _Score(_f1, detail=TAKEN_FOR),
    "f1_macro": _Score(partial(_f1, macro=True), detail=TAKEN_FOR),
    "precision": _Score(_precision, detail=TAKEN_FOR),
    "precision_macro": _Score(partial(_precision, macro=True), detail=TAKEN_FOR),
    "recall": _Score(_recall, detail=TAKEN_FOR),
    "recall_macro": _Score(_balanced_accuracy, detail=OF_CLASS),
    "roc_auc": _Score(_roc_auc),
    "roc_auc_ovr": _Score(_roc_auc_ovr),
    "neg_log_loss": _Score.of_losses(_log_losses, 0.05),
    "neg_brier_score": _Score.of_losses(_brier_losses, 0.1),
    "r2": _Score(_r2),
    "neg_mean_squared_error": _Score.of_losses(_squared_errors, 0.05),
    "neg_mean_absolute_error": _Score.of_losses(_absolute_errors, 0.1),
    "neg_mean_poisson_deviance": _Score.of_losses(partial(_losses_of_power, power=1.0), 0.1),
    "neg_mean_gamma_deviance": _Score.of_losses(partial(_losses_of_power, power=2.0), 0.2),
    "d2_poisson": _Score(partial(_d2, power=1.0)),
    "d2_gamma": _Score(partial(_d2, power=2.0)),
}
_OF_REGRESSORS = {name for name in SCORES if name.startswith(("r2", "d2_", "neg_mean_"))}


def check_kind(estimator, scoring):
    """Refuse the scores of classifiers for what has no classes, and those of regressors else."""
    check_is_object(estimator, "estimator")
    if hasattr(estimator, "classes_") is (scoring in _OF_REGRESSORS):
        kind, others = "fitted classifier", "'r2' or 'neg_mean_absolute_error'"
        if scoring in _OF_REGRESSORS:
            kind, others = "regressor", "'accuracy' or 'roc_auc'"
        raise ValueError(
            f"scoring={scoring!r} is of a {kind}, which this estimator isn't: choose another, "
            f"for example {others}."
        )


def check_scoring(estimator, scoring, classes, n_targets):
    """Refuse a score that an estimator, fitted or not, will not have by its parameters alone."""
    kind = "regressor" if scoring in _OF_REGRESSORS else "classifier"
    if not {"regressor": is_regressor, "classifier": is_classifier}[kind](estimator):
        raise ValueError(f"scoring={scoring!r} is of a {kind}.")
    if scoring in ("neg_log_loss", "neg_brier_score") or n_releases(scoring, classes) > 1:
        needs_probabilities(estimator)
    if scoring == "roc_auc":
        two_classes(classes, "a ROC curve")
    if scoring in ("f1", "precision", "recall"):
        two_classes(classes, f"scoring={scoring!r}, unlike '{scoring}_macro',")
    if scoring in ("roc_auc", "roc_auc_ovr"):
        ranks_by_probability(estimator)
    if scoring.startswith(("r2", "d2")) or scoring.endswith("deviance"):
        _one_target(n_targets)


def row_scores(estimator, X, y, scoring, target_bounds):
    """Return a score within 0 and 1 of each row, of whose mean a score is an increasing function.

    It takes the scorings that have a `row_spread`.
    """
    # There are two nodes, 0 and the largest loss.
    labels = reader_of_labels([scoring], estimator, X, y)
    options = Options(bins=2, noise_std=0.0, target_bounds=target_bounds, labels=labels)
    _, (axis,) = SCORES[scoring].axes(estimator, X, y, options)
    return axis.position if scoring == "accuracy" else 1.0 - axis.position
