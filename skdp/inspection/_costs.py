"""The joint cost of the steps of a fitted pipeline."""

import dataclasses
import math

import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline

from skdp._checks import check_count, check_word
from skdp._estimator import PrivateEstimator, RecordPrivateEstimator, model_of, report_of
from skdp._release.plan import OpenPart, unprotected_names
from skdp.accountant import compose
from skdp.inspection._refits import refits, refits_inside
from skdp.metrics._plan import GroupScoreBudget, ScoreBudget, plan_histogram
from skdp.metrics._scorings import SCORES, n_releases
from skdp.pipeline._steps import (
    SEPARATOR,
    all_leaves,
    find_leaks,
    step_list,
    tree,
    why_container_is_refused,
)

_NOISES = ("laplace", "gaussian")
_ITSELF = "the pipeline itself"
_NO_REPORT = (
    "{} has no report, and no step of it has one. A search that isn't private has none of all its "
    "fits, each of which spent its epsilon: a ledger adds them up, and "
    "skdp.model_selection.DPGridSearch has one budget for all of them. `best_estimator_` has the "
    "report of the last one."
)
_LAST_FITS = (
    "fits of a step before its last one, and steps that were exchanged: this is the cost of the "
    "fits that the steps hold now"
)
_UNKNOWN_CHAIN = (
    f"{_ITSELF} ({{}}): what it does to rows between its steps; where one record becomes "
    "several (resampling), the guarantee of a step isn't one for that record"
)


def preview(estimator, n_samples, n_features, n_outputs=1):
    """Return the report that a fit would have, without data and without spending anything.

    Parameters
    ----------
    estimator : estimator of skdp
        An estimator with a guarantee of its own, such as ``DPLogisticRegression()`` or a
        ``DPPipeline``; for scikit-learn's Pipeline, give its last step. It need not be fitted, and
        isn't changed.
    n_samples, n_features : int
        Numbers of training rows and columns. For a fit with `groups`, `n_samples` is the number of
        groups; its report differs only in the unit, and in what is assumed.
    n_outputs : int, default=1
        For a regression the number of targets. For a classification 1 with two classes, and the
        number of classes if there are more; where the estimator has `classes`, their number is
        used.

    Returns
    -------
    report : PrivacyReport or None
        The future `privacy_report_`, except for numbers that follow from releases: the number of
        steps of private whitening, which doesn't change their total cost, and thresholds of DP-CD
        that follow from mean squares. None for a transformer that learns nothing with its
        parameters.

    Raises
    ------
    TypeError
        If `estimator` has no plan to show, or a plan that follows from public rows, as that of
        WALR.
    ValueError
        If one of its parameters or a size is invalid.

    Examples
    --------
    >>> from skdp.inspection import preview
    >>> from skdp.linear_model import DPSGDClassifier
    >>> report = preview(DPSGDClassifier(epsilon=0.5), n_samples=20_000, n_features=30)
    >>> report, report.epsilon_at(1e-7) < 0.7
    ((0.5, 5e-06)-DP, True)
    """
    if not isinstance(estimator, RecordPrivateEstimator):
        raise TypeError(
            "preview is of estimators of skdp that protect rows (of a pipeline, give its last "
            f"step), got {type(estimator).__name__}."
        )
    sizes = {"n_samples": n_samples, "n_features": n_features, "n_outputs": n_outputs}
    n_records, n_columns, n_outputs = (check_count(size, name) for name, size in sizes.items())
    estimator._validate_params()
    n_outputs = count_outputs(estimator, n_outputs)
    if hasattr(estimator, "transform"):
        return estimator._preview(n_records, n_columns)
    return estimator._preview(n_records, n_columns, n_outputs)


def count_outputs(estimator, n_outputs):
    """Return the number of outputs of an estimator that was asked for; classes that it has win."""
    if not is_classifier(estimator):
        return n_outputs
    if n_outputs == 2:
        raise ValueError("n_outputs must be 1 for two classes, or 3 and more classes.")
    classes = model_of(estimator).classes
    n_classes = 0 if classes is None else len(set(classes))
    return n_classes if n_classes > 2 else n_outputs


def preview_score(
    scoring="accuracy",
    *,
    epsilon,
    delta,
    adjacency="zero_out",
    mechanism="auto",
    n_classes=2,
    unit="one row",
):
    """Return the report that a private score with a ledger would have, without data.

    It can be put into the list of a ledger of planned charges, as what :func:`preview` returns. A
    curve or a table of :mod:`skdp.metrics` has the report of one score.

    Parameters
    ----------
    scoring : str or list of str, default="accuracy"
        The score, or several of one call, as for :func:`skdp.metrics.private_score`.
    epsilon : float
        Privacy loss, above 0.
    delta : float
        That of the score, in [0, 1): by default a score has that of its ledger.
    adjacency : {"zero_out", "replace_one"}, default="zero_out"
        Which data sets are neighbouring. One record is replaced by a null record that contributes
        nothing ("zero_out"), or by any other record ("replace_one"). The second needs about twice
        the noise.
    mechanism : {"auto", "laplace", "gaussian"}, default="auto"
        Noise; "auto" is Gaussian where there is a delta, as always with a ledger.
    n_classes : int, default=2
        Number of classes of the model: "roc_auc_ovr" makes a release for each.
    unit : {"one row", "one group"}, default="one row"
        "one group" for a score with `groups`. The report is that of ``average_over="groups"``; a
        score that counts rows costs the same, with more noise in its counts.

    Returns
    -------
    report : PrivacyReport
        The future report.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    See Also
    --------
    preview : The same for a fit.
    skdp.ledger.PrivacyLedger : Takes such reports as `planned`.

    Examples
    --------
    >>> from skdp.inspection import preview_score
    >>> report = preview_score(["accuracy", "roc_auc"], epsilon=0.5, delta=1e-6)
    >>> report, report.n_releases
    ((0.5, 1e-06)-DP, 2)
    """
    names = (scoring,) if isinstance(scoring, str) else tuple(scoring)
    kinds = {"one row": ScoreBudget, "one group": GroupScoreBudget}
    if mechanism == "auto":
        mechanism = "gaussian" if delta > 0 else "laplace"
    budget = kinds[check_word(unit, "unit", kinds)](
        epsilon, delta, adjacency, mechanism=check_word(mechanism, "mechanism", _NOISES)
    )
    for name in names:
        check_word(name, "scoring", SCORES)
    n_steps = n_releases(names, np.arange(check_count(n_classes, "n_classes")))
    # Noise and cost of a count follow neither from their number nor from that of the records.
    average_over = "groups" if budget.of_groups else "rows"
    plan = plan_histogram(
        budget, n_records=1, n_cells=1, n_steps=n_steps, average_over=average_over
    )
    return plan.report(reproducible=False)


def total_report(pipeline):
    """Return the joint report of a fitted pipeline, and name the steps that it doesn't cover.

    Parameters
    ----------
    pipeline : estimator
        A fitted Pipeline of scikit-learn, or any estimator. Steps inside ColumnTransformer,
        FeatureUnion and Pipeline are included. For a :class:`skdp.pipeline.DPPipeline` the result
        is its own report, unless one of its steps was fitted again or exchanged.

    Returns
    -------
    report : PrivacyReport
        The composition of the reports of the steps, by :func:`skdp.accountant.compose`.
        It is the cost of the fits that the steps hold now. ``unprotected`` names the steps without
        a report that learn from the records, or may; steps that were fitted without noise; and
        steps that were fitted again, because others may have learnt from an earlier fit. With any
        of them ``differentially_private`` is False, and ``not_covered`` begins with the reasons.

    Raises
    ------
    NotFittedError
        If a private step isn't fitted.
    TypeError
        If `pipeline` isn't an estimator.
    ValueError
        If no step has a report, or the reports can't be composed: they protect different units, or
        several were fitted with a seed.

    See Also
    --------
    skdp.pipeline.DPPipeline : Give all steps one budget, and refuse the others.

    Notes
    -----
    A step that others learn from was fitted again if its object had more than one fit, or if it was
    fitted in this process, or came here from another or from a file, after one of them was. Copies
    keep both; files keep the number of fits alone. What can't be seen: a step that was exchanged
    for one that was fitted earlier; and in a model that was read from a file, an exchange, or
    another fit of a ColumnTransformer, before it was written. For a total that holds, fit a clone
    of the pipeline once. Of a last step that was fitted again ``not_covered`` names the earlier
    fits.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from skdp.inspection import total_report
    >>> from skdp.linear_model import DPLogisticRegression
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), DPLogisticRegression(classes=[0, 1])).fit(X, y)
    >>> report = total_report(model)
    >>> report
    (1, 1e-05)-DP, unprotected: 'standardscaler'
    >>> report.not_covered[0]
    "step 'standardscaler' (StandardScaler): it keeps means and variances; no report covers it"
    >>> report.unprotected, report.differentially_private
    (('standardscaler',), False)
    """
    if not hasattr(pipeline, "get_params"):
        raise TypeError(f"pipeline must be an estimator, got {type(pipeline).__name__}.")
    if (report := report_of(pipeline)) is not None:
        return _with_open_parts(report, refits_inside(pipeline))
    is_outermost = isinstance(pipeline, Pipeline)
    steps = pipeline.steps if is_outermost else [("estimator", pipeline)]
    trees = step_list(steps, fitted=True)
    reports = {}
    for leaf in all_leaves(trees):
        is_private = isinstance(leaf.estimator, PrivateEstimator)
        if is_private and not hasattr(leaf.estimator, "privacy_report_"):
            raise NotFittedError(f"step {leaf.path!r} is private and isn't fitted.")
        if (report := report_of(leaf.estimator)) is not None:
            reports[leaf.path] = report
    if not reports:
        raise ValueError(_NO_REPORT.format(type(pipeline).__name__))
    missing = []
    if is_outermost and type(pipeline) is not Pipeline:
        text = _UNKNOWN_CHAIN.format(type(pipeline).__name__)
        missing.append(OpenPart(_ITSELF, text, is_unprotected=True))
    elif is_outermost and (leak := why_container_is_refused(tree("", pipeline))):
        text = f"{_ITSELF}: {leak[0]}; no report covers it"
        missing.append(OpenPart(_ITSELF, text, is_unprotected=True))
    for step, (reason, _) in find_leaks(trees):
        if step.path not in reports:
            text = f"step {step.path!r} ({step.kind}): {reason}; no report covers it"
            missing.append(OpenPart(step.path, text, is_unprotected=True))
    for leaf in all_leaves(trees):
        if leaf.path in reports and math.isinf(reports[leaf.path].epsilon):
            text = f"step {leaf.path!r} ({leaf.kind}): it was fitted without noise"
            missing.append(OpenPart(leaf.path, text, is_unprotected=True))
    joint = compose(_named_by_step(report, path) for path, report in reports.items())
    joint = dataclasses.replace(joint, not_covered=(*joint.not_covered, _LAST_FITS))
    return _with_open_parts(joint, [*missing, *refits(trees)])


def _named_by_step(report, path):
    """Return a step's report that names unprotected parts by their path in the pipeline."""
    names = tuple(f"{path}{SEPARATOR}{name}" for name in report.unprotected)
    return dataclasses.replace(report, unprotected=names)


def _with_open_parts(report, open_parts):
    """Return a report that also names these parts: the unprotected first, and the others last."""
    if not open_parts:
        return report
    unprotected = [part.text for part in open_parts if part.is_unprotected]
    others = [part.text for part in open_parts if not part.is_unprotected]
    return dataclasses.replace(
        report,
        not_covered=(*unprotected, *report.not_covered, *others),
        unprotected=tuple(dict.fromkeys((*unprotected_names(open_parts), *report.unprotected))),
    )
