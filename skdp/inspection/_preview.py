"""What a fit would cost."""

from sklearn.base import is_classifier

from skdp._checks import check_count
from skdp._estimator import RecordPrivateEstimator


def preview(estimator, n_samples, n_features, n_outputs=1):
    """Return the report that a fit would have, without data and without spending anything.

    Parameters
    ----------
    estimator : estimator of skdp
        With a guarantee of its own, such as ``DPLogisticRegression()`` or a ``DPPipeline``; of
        scikit-learn's Pipeline, its last step. It need not be fitted, and isn't changed.
    n_samples, n_features : int
        Size of the training rows. Of a fit with `groups`, `n_samples` is the number of groups; its
        report differs in the unit alone, and in what is assumed.
    n_outputs : int, default=1
        Of a regression the number of targets. Of a classification 1 for two classes, and the number
        of classes if there are more; where the estimator has `classes`, they say it.

    Returns
    -------
    report : PrivacyReport or None
        What `privacy_report_` will be, but for what follows from releases: how many steps private
        whitening takes, which doesn't change what they come to, and thresholds of DP-CD that follow
        from mean squares. None for a transformer that learns nothing with its parameters.

    Raises
    ------
    TypeError
        If `estimator` has no plan to show, or as that of WALR one that follows from public rows.
    ValueError
        If a parameter of it or a size is invalid.

    Examples
    --------
    >>> from skdp.inspection import preview
    >>> from skdp.linear_model import DPSGDClassifier
    >>> report = preview(DPSGDClassifier(epsilon=0.5), n_samples=20_000, n_features=30)
    >>> report, report.epsilon_at(1e-7) < 0.7
    ((0.5, 1e-05)-DP, True)
    """
    if not isinstance(estimator, RecordPrivateEstimator):
        raise TypeError(
            "preview is of estimators of skdp that protect rows (of a pipeline, give its last "
            f"step), got {type(estimator).__name__}."
        )
    sizes = {"n_samples": n_samples, "n_features": n_features, "n_outputs": n_outputs}
    n_rows, n_columns, n_outputs = (check_count(size, name) for name, size in sizes.items())
    estimator._validate_params()
    if is_classifier(estimator):
        if n_outputs == 2:
            raise ValueError("n_outputs must be 1 for two classes, or 3 and more classes.")
        # Of a pipeline they are its last step's.
        last = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
        n_classes = 0 if last.classes is None else len(set(last.classes))
        if n_classes > 2:
            n_outputs = n_classes
    if hasattr(estimator, "transform"):
        return estimator._preview(n_rows, n_columns)
    return estimator._preview(n_rows, n_columns, n_outputs)
