"""Standard errors and intervals of a fit, and the table that shows them."""

import html
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from skdp._checks import check_real
from skdp.exceptions import NoIntervalError

INFERRED = (
    "coef_std_error_",
    "intercept_std_error_",
    "inference_quality_",
    "inference_reasons_",
    "weighted_share_",
    "_std_error_parts",
    "_estimand",
)
_COLUMNS = ("coefficient", "sampling", "privacy", "std error", "low", "high")
_CUT = (
    ", and many may have been: nearly all are that long. A fit of rows as they are may lie outside"
)
_VERDICTS = {
    "yes": "can be trusted",
    "wide": "can be trusted, but are wider than necessary",
    "weighted": "of the weighted regression, in which rows beyond the radius count less",
    "no": "none: the releases don't determine them",
}


def _infers(estimator):
    if not estimator.inference:
        raise AttributeError("conf_int and summary are available for inference=True only.")
    return True


class InferenceMixin:
    """Standard errors of a linear model of one target or two classes."""

    @available_if(_infers)
    def conf_int(self, level=0.95):
        """Return confidence intervals of the coefficients, for sampling and privacy noise together.

        They cover the coefficients that a fit of the whole population would have without noise,
        with the penalty `alpha`. Every row within `data_norm` counts whole in it; longer ones
        count less (with ``ball_budget=0`` they are clipped to `data_norm`), and targets are clipped
        to `target_bounds`. Where many rows are longer, intervals don't cover the coefficients of
        rows that count whole. Without `data_norm` rows longer than ``radius_`` count less:
        intervals are of the weighted regression, not of the unweighted coefficient, and
        ``inference_quality_`` is "weighted". However few such rows are, the two may be far apart.
        Errors in a few rows that are far larger than all others can't be detected: `summary` says
        in how many rows. The intervals need no further release. `summary` also has the interval of
        the intercept.

        Where clipping may bias a coefficient, standard errors contain a bound of that, and
        intervals may be longer than they make them: they hold at any `level`.

        Parameters
        ----------
        level : float, default=0.95
            Probability, in (0, 1), that the interval of a coefficient covers it.

        Returns
        -------
        intervals : ndarray of shape (n_features, 2)
            Low and high ends, in the units of `coef_`.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        AttributeError
            If `inference` is False.
        NoIntervalError
            If ``inference_quality_`` is "no": an interval would be wrong.
        ValueError
            If `level` isn't in (0, 1).
        """
        check_is_fitted(self, "inference_quality_")
        level = _check_level(level)
        if self.inference_quality_ == "no":
            raise NoIntervalError(f"There is no interval: {'; '.join(self.inference_reasons_)}.")
        values = np.ravel(self.coef_)
        bias = _bias_of(self._std_error_parts)[: len(values)]
        return _ends(values, np.ravel(self.coef_std_error_), bias, level)

    @available_if(_infers)
    def summary(self, level=0.95, feature_names=None):
        """Return a table of coefficients, their standard errors and intervals.

        Parameters
        ----------
        level : float, default=0.95
            Level of the intervals, in (0, 1).
        feature_names : sequence of str, default=None
            Names of the columns in the table. None takes those of the data frame that was fitted,
            or x0, x1 and so on.

        Returns
        -------
        summary : InferenceSummary
            Displayed as text, and as a table in notebooks. Where ``inference_quality_`` is "no",
            errors and intervals are dashes, and the reason is below.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        AttributeError
            If `inference` is False.
        ValueError
            If `level` isn't in (0, 1), or there isn't one name for each column.
        """
        check_is_fitted(self, "inference_quality_")
        names = feature_names
        if names is None:
            default = [f"x{j}" for j in range(self.n_features_in_)]
            names = getattr(self, "feature_names_in_", default)
        if len(names) != self.n_features_in_:
            raise ValueError(f"feature_names must have {self.n_features_in_} names.")
        values = np.ravel(self.coef_)
        # The intercept is last, as it was in the fit.
        if self._std_error_parts.shape[1] > len(values):
            names, values = [*names, "intercept"], np.append(values, self.intercept_)
        return InferenceSummary(
            tuple(map(str, names)),
            values,
            self._std_error_parts[:2],
            _check_level(level),
            self.inference_quality_,
            self.inference_reasons_,
            self._estimand,
            repr(self.privacy_report_),
            _bias_of(self._std_error_parts),
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if self.inference:
            tags.target_tags.multi_output = False
            if tags.classifier_tags is not None:
                tags.classifier_tags.multi_class = False
        return tags


def attributes_of_errors(method, training, errors, linear):
    """Return what a fit publishes of `Errors` of weights, the intercept's last, by `INFERRED`."""
    # Three rows: the deviation of sampling, that of noise and of what clipping may take, and
    # the part of the latter for which there is a bound and no estimate.
    privacy = np.hypot(errors.privacy, errors.bias)
    unit = training.family.unit(training.units)
    parts = unit * np.array([errors.sampling, privacy, errors.bias])
    if training.bias:
        parts[:, -1] *= training.bias
    total = np.hypot(*parts[:2])
    weighted_share = None
    if errors.share_shortened is not None:
        weighted_share = min(training.ball.share_beyond + errors.share_shortened, 1.0)
    n_features = np.shape(linear.coef)[-1]
    of_intercept = total[-1] if training.bias else 0.0
    found = {
        "coef_std_error_": total[:n_features].reshape(linear.coef.shape),
        "intercept_std_error_": np.full(np.shape(linear.intercept), of_intercept)[()],
        "inference_quality_": errors.quality,
        "inference_reasons_": errors.reasons,
        "_std_error_parts": parts,
        "_estimand": _estimand_of(method, training, errors, linear, weighted_share),
    }
    return found if weighted_share is None else {**found, "weighted_share_": weighted_share}


def _estimand_of(method, training, errors, linear, weighted_share):
    """Return what intervals cover, in words."""
    kind, of_rows, rule = "", "", "every row counts whole"
    if weighted_share is not None:
        kind, of_rows = "weighted ", f"radius_={training.ball.radius:.3g}, "
        rule = (
            f"rows longer than r count less (about {100.0 * weighted_share:.2g} % of "
            "the rows); not the unweighted coefficient"
        )
    elif method.is_private:
        of_rows = f"data_norm={method.data_norm:g}, "
        cut = "scaled" if method.ball_budget == 0 else "weighted"
        rule = f"rows that are longer are {cut} down (all others count whole)"
    estimand = (
        f"they cover the {kind}fit of the population with {of_rows}"
        f"{_targets_in_words(training.family, linear.ends)}"
        f"alpha={method.alpha:g}: {rule}{_CUT if errors.is_full else ''}"
    )
    if errors.n_unseen:
        few = f"about {errors.n_unseen:.2g} rows or fewer"
        estimand += f"; long errors of {few} can't be seen"
    return estimand


def _targets_in_words(family, ends):
    """Return what intervals say of the range of targets, in words: nothing of labels."""
    if ends is None or not np.isfinite(ends[0]):
        return ""
    place = "clipped to the learnt range" if family.learns_targets else "in"
    return f"targets {place} [{ends[0]:g}, {ends[1]:g}], "


@dataclass(eq=False, repr=False)
class InferenceSummary:
    """A table of coefficients with their errors, as text and HTML. Created by ``summary()``.

    Parameters
    ----------
    names : tuple of str
    values : ndarray of shape (p,)
    parts : ndarray of shape (2, p)
        Standard deviations of sampling and of privacy.
    level : float
    quality : {"yes", "wide", "weighted", "no"}
    reasons : tuple of str
    estimand : str
        The quantity that the intervals cover.
    guarantee : str
    bias : ndarray of shape (p,)
        Bounds of what clipping may take from the values, which is a part of privacy; zeros where
        an estimate is.
    """

    names: tuple
    values: np.ndarray
    parts: np.ndarray
    level: float
    quality: str
    reasons: tuple
    estimand: str
    guarantee: str
    bias: np.ndarray

    def _cells(self):
        errors = np.hypot(*self.parts)
        columns = np.column_stack(
            [self.values, *self.parts, errors, _ends(self.values, errors, self.bias, self.level)]
        )
        return [[f"{x:.4g}" if np.isfinite(x) else "-" for x in row] for row in columns]

    def _below(self):
        verdict = f"{self.level:.4g} intervals: {_VERDICTS[self.quality]}"
        verdict += f" (inference_quality_ = {self.quality!r})"
        return [verdict, *self.reasons, self.estimand, f"privacy: {self.guarantee}"]

    def __str__(self):
        rows = zip(self.names, self._cells(), strict=True)
        table = [["", *_COLUMNS], *([name, *cells] for name, cells in rows)]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = [
            "  ".join([name.ljust(widths[0]), *map(str.rjust, cells, widths[1:])])
            for name, *cells in table
        ]
        rule = "-" * len(lines[0])
        return "\n".join([lines[0], rule, *lines[1:], rule, *self._below()])

    __repr__ = __str__

    def _repr_html_(self):
        head = "".join(f"<th>{name}</th>" for name in ("", *_COLUMNS))
        rows = "".join(
            f"<tr><th>{html.escape(name)}</th>"
            + "".join(f'<td style="text-align:right">{cell}</td>' for cell in cells)
            + "</tr>"
            for name, cells in zip(self.names, self._cells(), strict=True)
        )
        below = "".join(f"<div>{html.escape(line)}</div>" for line in self._below())
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{below}"


def _check_level(level):
    level = check_real(level, "level")
    if not 0.0 < level < 1.0:
        raise ValueError("level must be in (0, 1).")
    return level


def _bias_of(parts):
    """Return bounds of bias from parts of standard errors; models of version 0.3.0 have none."""
    return parts[2] if len(parts) > 2 else np.zeros(parts.shape[1])


def _ends(values, errors, bias, level):
    """Return ends of intervals from errors, and from bounds of bias that are in them.

    A bias that is as large as its bound isn't a normal error: at low levels it is longer than a
    normal quantile of them.
    """
    factor = ndtri(0.5 + 0.5 * level)
    rest = np.sqrt(np.maximum(errors**2 - bias**2, 0.0))
    reach = np.maximum(factor * errors, np.where(bias > 0.0, bias + factor * rest, 0.0))
    return np.column_stack([values - reach, values + reach])
