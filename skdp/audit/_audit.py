"""The audit: a lower bound on epsilon from an attack."""

import functools
import warnings
from numbers import Integral
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import norm
from sklearn import config_context
from sklearn.base import clone, is_classifier
from sklearn.covariance import ledoit_wolf
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from skdp._checks import check_count, check_n_jobs, check_within, check_word
from skdp._estimator import report_of
from skdp._release.random import make_stream
from skdp._rows.bounds import null_records
from skdp._rows.containers import (
    refuse_columns,
    refuse_entries,
    refuse_equal_names,
    refuse_foreign,
    refuse_rows,
)
from skdp._rows.threads import single_threaded_blas
from skdp._sklearn import quietly, validate_params
from skdp.audit._canaries import check_replaceable, class_set, default_canaries, given_canaries
from skdp.audit._result import AuditResult, epsilon_from_guesses, epsilon_from_rates
from skdp.exceptions import PrivacyWarning

_CHUNK = 25
_N_SEEDS = 2**32
_FEWEST_FITS = 12
# One fit in so many chooses score and threshold. The bound is counted on the others.
_TRAINING = 3
_THRESHOLDS = 200
# Shares of the canaries that one-run guesses are made about, the surest ones.
_SHARES = (1, 2, 4, 8)
_CONSTRAINTS = {"n_jobs": [Integral, None], "random_state": ["random_state"]}


# Parameters of the estimator are checked, too, when it is fitted.
@validate_params(_CONSTRAINTS, prefer_skip_nested_validation=False)
def audit(
    estimator,
    X,
    y,
    *,
    canary=None,
    n_fits=200,
    confidence=0.95,
    delta=None,
    method="threshold",
    n_jobs=None,
    random_state=None,
):
    r"""Attack an estimator to bound its epsilon from below; **not private**.

    **The result is computed from the data without noise**, by many fits that no report counts. Use
    it for public or generated data, or if you may see the data anyway.

    A canary is added to the rows. Half of the fits use it, and the other half use a neighbouring
    data set, under the adjacency that the estimator's ``privacy_report_`` names: the canary is a
    null record (zero_out), another record (replace_one) or has another label (replace_label). The
    attacker knows everything but the noise, and guesses from the published coefficients which of
    the two data sets was used. The success rate bounds epsilon from below. A bound above the claim
    refutes the claim or the code. A bound below it proves nothing, because a better attack may
    exist.

    Parameters
    ----------
    estimator : estimator instance
        Classifier or regressor, not a pipeline, that publishes ``coef_``, ``intercept_`` and
        ``privacy_report_`` and has parameters `epsilon` and `random_state`. For
        ``adjacency="zero_out"`` it must be of this package or bound its rows with it. It is
        cloned. A parameter ``classes=None`` is set to the classes in y and the canaries, because
        the class set is public.
    X : array-like of shape (n_samples, n_features)
        The other rows. Few rows, and rows of zeros, make the attack strong; there may be none.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Their labels or targets.
    canary : tuple (x, y) or (x, y, other_x, other_y), default=None
        A record, and the record that replaces it. Without the second one, the label or target is
        moved to the other end of its range. For ``method="one_run"`` each is an array with an entry
        for each canary. None takes a row as long as `data_norm` in the direction in which X varies
        least (for `feature_bounds` without a `data_norm`: a corner), with the last class, the upper
        end of `target_bounds` or a target of 1e6. For ``method="one_run"`` it takes as many such
        rows as features, in random orthogonal directions.
    n_fits : int, default=200
        Number of fits, at least 12. A third of them choose score and threshold. At a confidence of
        0.95, 200 fits can show an epsilon of at most 2.8, and 2000 fits one of 5.2: ``has_power``
        of the result says whether a claim could fail at all. One more fit provides the report.
        Ignored for ``method="one_run"``.
    confidence : float, default=0.95
        Least probability, in (0, 1), that the bound holds.
    delta : float, default=None
        Delta at which epsilon is compared with the claim of the report. None takes the delta of the
        report. A larger delta finds faults with fewer fits, because rates need not be near 0:
        halved noise is detected in 2000 fits at 0.05.
    method : {"threshold", "one_run"}, default="threshold"
        "one_run" makes a single fit in which each of many canaries takes part with probability one
        half, and guesses those with the clearest scores. It is weak for linear models with few
        features, because canaries need directions of their own; it needs 14 of them to refute an
        epsilon of 1.
    n_jobs : int, default=None
        Processes that share the fits, as in joblib. The result doesn't depend on their number.
    random_state : int, RandomState instance or None, default=None
        None: every fit draws from the operating system, whatever the estimator's `random_state` is.
        A seed makes the audit reproducible; every fit gets a seed of its own.

    Returns
    -------
    result_not_private : AuditResult
        The bound, the claim, and the counts from which the bound was computed.

    Raises
    ------
    ValueError
        If a parameter or the input is invalid.
    TypeError
        If the estimator lacks a method or attribute that an audit needs.

    See Also
    --------
    skdp.utils.estimator_checks.check_private_estimator : Promises that need no attack.

    Notes
    -----
    The score is the canary's decision value, or the linear discriminant of the weights (and of the
    sums of a published ``aggregate_``) of a third of the fits, whichever gives the larger bound
    there; the threshold is also chosen there. Rates are counted on the other fits, with the exact
    bounds of [1]_ at a level at which both hold with the given confidence. They give, as in [2]_,

    .. math:: \varepsilon \ge \max\left( \log \frac{\mathrm{tpr} - \delta}{\mathrm{fpr}},
              \log \frac{1 - \mathrm{fpr} - \delta}{1 - \mathrm{tpr}} \right) .

    "one_run" follows [3]_. It guesses about the highest and lowest scores of all, half, a quarter
    or an eighth of the canaries, each at a quarter of the error, and uses the bound of theorem 3.1.

    References
    ----------
    .. [1] Clopper and Pearson (1934). The use of confidence or fiducial limits illustrated in the
       case of the binomial. Biometrika 26.
    .. [2] Jagielski, Ullman and Oprea (2020). Auditing differentially private machine learning: how
       private is private SGD? NeurIPS. Section 3.
    .. [3] Steinke, Nasr and Jagielski (2023). Privacy auditing with one (1) training run. NeurIPS.
       Theorem 3.1.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.audit import audit
    >>> from skdp.linear_model import DPSGDRegressor
    >>> X, y = np.zeros((20, 2)), np.zeros(20)
    >>> model = DPSGDRegressor(epsilon=1.0, delta=1e-3, target_bounds=(-1, 1))
    >>> result = audit(model, X, y, n_fits=100, random_state=0)
    >>> result.passed, result.has_power
    (True, True)
    """
    usable = hasattr(estimator, "get_params") and not isinstance(estimator, type)
    if not usable or not {"epsilon", "random_state"} <= set(estimator.get_params()):
        raise TypeError("estimator must be an instance with parameters epsilon and random_state.")
    if check_count(n_fits, "n_fits") < _FEWEST_FITS:
        raise ValueError(f"n_fits must be at least {_FEWEST_FITS}.")
    confidence = check_within(confidence, "confidence", 0.0, 1.0, "()")
    delta = None if delta is None else check_within(delta, "delta", 0.0, 1.0, "[)")
    check_word(method, "method", ("threshold", "one_run"))
    check_n_jobs(n_jobs)
    refuse_rows(X)
    refuse_equal_names(X)
    refuse_columns(X, numbers_alone=True)
    refuse_entries(X, numbers_alone=True)
    refuse_foreign(y, "y")
    X = quietly(
        check_array, X, input_name="X", dtype=[np.float64, np.float32], ensure_min_samples=0
    )
    y = quietly(check_array, y, dtype=None, input_name="y", ensure_2d=False, ensure_min_samples=0)
    several = method == "one_run"
    if not len(X):
        if not isinstance(canary, tuple) or len(canary) < 2:
            raise ValueError("canary must be a tuple (x, y) where X has no rows.")
        # Labels of no rows have the type and the shape of a canary's.
        y = np.asarray(canary[1] if several else [canary[1]])[:0]
    elif is_classifier(estimator):
        # Strings that came as objects count as strings.
        y = quietly(lambda: np.asarray(column_or_1d(y).tolist()))
    quietly(check_consistent_length, X, y)
    choices, seeds = make_stream(random_state).spawn(2)
    if canary is None:
        canaries = default_canaries(estimator, X, y, stream=choices if several else None)
    else:
        canaries = given_canaries(estimator, X, y, canary, several=several)
    estimator = clone(estimator)
    if "classes" in estimator.get_params() and estimator.classes is None:
        everyone = np.concatenate([y, canaries.y, canaries.other_y])
        estimator.set_params(classes=class_set(estimator, everyone))
    fitter = Fitter(estimator, seeds, n_jobs)
    everywhere = np.ones(len(canaries), dtype=bool)
    probe = fitter.probe(canaries.world(X, y, "zero_out", everywhere))
    report = probe.privacy_report_
    check_replaceable(canaries, report.adjacency)
    claimed = report.epsilon if delta is None else report.epsilon_at(delta)
    if np.isinf(claimed) and np.isfinite(report.epsilon):
        raise ValueError("delta is so small that the report claims no epsilon there.")
    delta = report.delta if delta is None else delta
    contrasts = canaries.contrasts(estimator, getattr(probe, "classes_", None), report.adjacency)
    error = 1.0 - confidence

    if several:
        present = choices.uniform(len(canaries)) <= 0.5
        weights = fitter.weights([canaries.world(X, y, report.adjacency, present)])
        # The intercept is what all canaries share.
        n_coef = probe.coef_.size
        n_fits = 1
        attack = _one_run(contrasts[:, :n_coef], weights[0, :n_coef], present, delta, error)
    else:
        both = [canaries.world(X, y, report.adjacency, here) for here in (everywhere, ~everywhere)]
        weights = fitter.weights(both * (n_fits // 2))
        n_fits = len(weights)
        attack = _threshold(contrasts[0], weights[::2], weights[1::2], delta, error)
    return AuditResult(
        epsilon_lower_bound=attack.bound,
        epsilon=claimed,
        delta=delta,
        adjacency=report.adjacency,
        method=method,
        n_fits=n_fits,
        n_canaries=len(canaries),
        positives=attack.positives,
        true_positives=attack.true_positives,
        negatives=attack.negatives,
        false_positives=attack.false_positives,
        threshold=attack.threshold,
        largest_bound=attack.largest_bound,
        confidence=confidence,
    )


class _Attack(NamedTuple):
    """What an attack refuted, what it could have refuted at most, and what it counted."""

    bound: float
    largest_bound: float
    threshold: float | None
    positives: int
    true_positives: int
    negatives: int
    false_positives: int


class Fitter:
    """Fits clones of an estimator again and again, never twice with the same randomness.

    With a reproducible `stream` every fit gets a seed of its own. Otherwise every fit draws from
    the operating system, whatever seed the estimator had.
    """

    def __init__(self, estimator, stream, n_jobs):
        self._estimator = estimator
        self._n_jobs = n_jobs
        reproducible = stream.reproducible
        self._next_seed = int(stream.uniform(1)[0] * _N_SEEDS) if reproducible else None

    def probe(self, world):
        """Return an estimator fitted to a world, if it publishes what an audit needs."""
        with warnings.catch_warnings(action="ignore", category=PrivacyWarning):
            fitted = _fit(self._estimator, world, *self._seeds(1))
        if report_of(fitted) is None:
            raise TypeError("estimator must publish a PrivacyReport as privacy_report_.")
        if not (hasattr(fitted, "coef_") and hasattr(fitted, "intercept_")):
            raise TypeError("estimator must publish coef_ and intercept_.")
        return fitted

    def weights(self, worlds):
        """Return the weights of one fit to each world, of shape (n_fits, n_weights)."""
        jobs = list(zip(worlds, self._seeds(len(worlds)), strict=True))
        with warnings.catch_warnings(action="ignore", category=PrivacyWarning):
            chunks = Parallel(n_jobs=self._n_jobs)(
                delayed(_fit_all)(self._estimator, jobs[start : start + _CHUNK])
                for start in range(0, len(jobs), _CHUNK)
            )
        weights = np.array([weights for chunk in chunks for weights in chunk])
        if not np.isfinite(weights).all():
            raise ValueError("a fit published coefficients that aren't finite.")
        return weights

    def _seeds(self, n_fits):
        if self._next_seed is None:
            return [None] * n_fits
        # Neighbouring seeds give independent streams, as do any.
        seeds = [(self._next_seed + i) % _N_SEEDS for i in range(n_fits)]
        self._next_seed += n_fits
        return seeds


def _fit_all(estimator, jobs):
    # Held throughout, it needn't be taken and left in each of many short fits, all of whose
    # parameters the probe has checked.
    with single_threaded_blas, config_context(skip_parameter_validation=True):
        return [weights_of(_fit(estimator, world, seed)) for world, seed in jobs]


def _fit(estimator, world, seed):
    estimator = clone(estimator).set_params(random_state=seed)
    # In the thread that fits.
    with null_records(world.null) as asked:
        fitted = estimator.fit(world.X, world.y)
    if world.null and not asked.consulted:
        raise TypeError(
            "estimator doesn't bound its rows by this package in the thread that calls fit, so "
            "no null record can be made for it; audit adjacency='replace_one'."
        )
    return fitted


def weights_of(fitted):
    """Return coefficients, intercepts and, where they are published, noisy sums as one vector."""
    coef = np.atleast_2d(fitted.coef_)
    intercept = np.broadcast_to(fitted.intercept_, len(coef))
    published = [coef.ravel(), intercept]
    if hasattr(fitted, "aggregate_"):
        published.append(fitted.aggregate_.sums.ravel())
    return np.concatenate(published)


def _threshold(contrast, present, absent, delta, error):
    """Choose a score and a threshold on a part of the fits, and count on the others."""
    n_training = len(present) // _TRAINING
    training = present[:n_training], absent[:n_training]
    present, absent = present[n_training:], absent[n_training:]
    positives, negatives = len(present), len(absent)
    refuted = functools.partial(
        epsilon_from_rates, positives=positives, negatives=negatives, delta=delta, error=error
    )
    candidates = [np.pad(contrast, (0, present.shape[1] - contrast.size)), _discriminant(*training)]
    thresholds = [
        _best_threshold(*(part @ score for part in training), positives, negatives, refuted)
        for score in candidates
    ]
    best = max(range(len(thresholds)), key=lambda place: thresholds[place][0])
    _, threshold, sign = thresholds[best]
    score = sign * candidates[best]
    true_positives = int((present @ score >= threshold).sum())
    false_positives = int((absent @ score >= threshold).sum())
    return _Attack(
        bound=float(refuted(true_positives=true_positives, false_positives=false_positives)),
        largest_bound=float(refuted(true_positives=positives, false_positives=0)),
        threshold=threshold,
        positives=positives,
        true_positives=true_positives,
        negatives=negatives,
        false_positives=false_positives,
    )


def _discriminant(present, absent):
    """Return the direction that separates two sets of weights best, by their shrunk covariance."""
    residuals = np.vstack([present - present.mean(axis=0), absent - absent.mean(axis=0)])
    scale = residuals.std(axis=0)
    scale[scale == 0.0] = 1.0
    covariance = ledoit_wolf(residuals / scale, assume_centered=True)[0]
    covariance += 1e-9 * np.eye(scale.size)
    difference = (present.mean(axis=0) - absent.mean(axis=0)) / scale
    return np.linalg.solve(covariance, difference) / scale


def _best_threshold(present, absent, positives, negatives, refuted):
    """Return the bound that normal scores promise, the threshold for it, and the score's sign.

    There are so many fits of each kind to count on, whose counts `refuted` gives the bound of.
    """
    sign = 1.0 if present.mean() >= absent.mean() else -1.0
    centres = sign * present.mean(), sign * absent.mean()
    # Scores without any spread are told apart anywhere between.
    least = 1e-3 * (centres[0] - centres[1]) or 1.0
    spreads = max(present.std(ddof=1), least), max(absent.std(ddof=1), least)
    ends = centres[1] - 3.0 * spreads[1], centres[0] + 3.0 * spreads[0]
    thresholds = np.linspace(*ends, _THRESHOLDS)
    hits = positives * norm.sf(thresholds, centres[0], spreads[0])
    alarms = negatives * norm.sf(thresholds, centres[1], spreads[1])
    promised = refuted(true_positives=hits, false_positives=alarms)
    # Where nothing is promised, between the two.
    best = int(promised.argmax()) if promised.max() > 0.0 else _THRESHOLDS // 2
    return float(promised[best]), float(thresholds[best]), sign


def _one_run(contrasts, weights, present, delta, error):
    """Guess the surest canaries; each number of guesses has its share of the error."""
    lengths = np.linalg.norm(contrasts, axis=1)
    order = np.argsort(-(contrasts @ weights) / np.where(lengths > 0.0, lengths, 1.0))
    best, largest = None, 0.0
    for share in _SHARES:
        n_guesses = max(1, len(order) // share)
        highest, lowest = order[: (n_guesses + 1) // 2], order[len(order) - n_guesses // 2 :]
        true_positives, missed = int(present[highest].sum()), int(present[lowest].sum())
        false_positives = highest.size - true_positives
        refuted = functools.partial(
            epsilon_from_guesses,
            n_canaries=len(order),
            n_guesses=n_guesses,
            delta=delta,
            error=error / len(_SHARES),
        )
        bound = refuted(n_right=true_positives + lowest.size - missed)
        largest = max(largest, refuted(n_right=n_guesses))
        if best is None or bound > best.bound:
            n_present = true_positives + missed
            best = _Attack(
                bound=bound,
                largest_bound=largest,
                threshold=None,
                positives=n_present,
                true_positives=true_positives,
                negatives=n_guesses - n_present,
                false_positives=false_positives,
            )
    return best._replace(largest_bound=largest)
