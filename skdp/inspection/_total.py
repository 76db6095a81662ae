"""What the steps of a fitted pipeline cost together."""

import dataclasses

from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline

from skdp._estimator import PrivateEstimator
from skdp.accountant import PrivacyReport, compose
from skdp.pipeline._tree import forest, tree, whatever_leaks, why_container_is_refused

_NOT_COVERED = "step {!r} ({}): {}; no report covers it"
_OUTERMOST = "the pipeline itself: {}; no report covers it"


def total_report(pipeline):
    """Return the report of all that a fitted pipeline released, and name what it doesn't cover.

    Parameters
    ----------
    pipeline : estimator
        A fitted Pipeline of scikit-learn, or any estimator. ColumnTransformer, FeatureUnion and
        Pipeline inside are looked into. Of a :class:`skdp.pipeline.DPPipeline` it is the report
        that it has.

    Returns
    -------
    report : PrivacyReport
        What :func:`skdp.accountant.compose` makes of the steps' reports; ``not_covered`` begins
        with the steps that learn from the records, or may, and have none.

    Raises
    ------
    NotFittedError
        If a private step isn't fitted.
    TypeError
        If `pipeline` is no estimator.
    ValueError
        If no step has a report, or they can't be added up: they protect different things, or
        several were fitted with a seed.

    See Also
    --------
    skdp.pipeline.DPPipeline : Give all steps one budget, and refuse the others.

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
    (1, 1e-05)-DP
    >>> report.not_covered[0]
    "step 'standardscaler' (StandardScaler): it keeps means and variances; no report covers it"
    """
    if not hasattr(pipeline, "get_params"):
        raise TypeError(f"pipeline must be an estimator, got {type(pipeline).__name__}.")
    if isinstance(getattr(pipeline, "privacy_report_", None), PrivacyReport):
        return pipeline.privacy_report_
    is_outermost = type(pipeline) is Pipeline
    steps = pipeline.steps if is_outermost else [("estimator", pipeline)]
    trees = forest(steps, fitted=True)
    reports, covered = [], set()
    for leaf in (leaf for step in trees for leaf in step.leaves()):
        report = getattr(leaf.estimator, "privacy_report_", None)
        if isinstance(report, PrivacyReport):
            reports.append(report)
            covered.add(leaf.path)
        elif isinstance(leaf.estimator, PrivateEstimator) and not hasattr(
            leaf.estimator, "privacy_report_"
        ):
            raise NotFittedError(f"step {leaf.path!r} is private and isn't fitted.")
    if not reports:
        raise ValueError("no step of the pipeline has a report: nothing was fitted privately.")
    missing = [
        _NOT_COVERED.format(step.path, step.kind, reason)
        for step, (reason, _) in whatever_leaks(trees)
        if step.path not in covered
    ]
    if is_outermost and (found := why_container_is_refused(tree("", pipeline))):
        missing.insert(0, _OUTERMOST.format(found[0]))
    joint = compose(reports)
    return dataclasses.replace(joint, not_covered=(*missing, *joint.not_covered))
