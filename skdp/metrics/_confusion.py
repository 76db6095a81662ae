"""Private confusion matrices."""

from dataclasses import dataclass

import numpy as np
from sklearn.metrics import ConfusionMatrixDisplay

from skdp._solvers._histogram import Axis
from skdp.accountant import PrivacyReport
from skdp.metrics._release import CONSTRAINTS, Request, predict, read_labels
from skdp.utils._sklearn import validate_params


@dataclass(frozen=True, eq=False)
class PrivateConfusionMatrix:
    """A private confusion matrix.

    Parameters
    ----------
    matrix : ndarray of shape (n_classes, n_classes)
        Noisy counts, which are unbiased: whole, true classes by row, and below 0 at times. Sums of
        them have a mean of what is true; what is shown has none below 0.
    labels : ndarray of shape (n_classes,)
        Classes in the order of rows and columns.
    noise_std : float
        Standard deviation of the noise of each count.
    report : skdp.accountant.PrivacyReport
        The guarantee.

    Raises
    ------
    ValueError
        If the matrix isn't square, with a row for each label.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skdp.metrics import private_confusion_matrix
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(max_iter=1000).fit(X[::2], y[::2])
    >>> found = private_confusion_matrix(model, X[1::2], y[1::2], epsilon=2.0, random_state=0)
    >>> found.matrix.shape, f"{found.noise_std:.2f}"
    ((3, 3), '0.60')
    """

    matrix: np.ndarray
    labels: np.ndarray
    noise_std: float
    report: PrivacyReport

    def __post_init__(self):
        if np.shape(self.matrix) != 2 * (len(self.labels),):
            raise ValueError("matrix must be square, with a row for each label.")

    def display(self):
        """Give the matrix to scikit-learn, whole and not below 0.

        Returns
        -------
        display : sklearn.metrics.ConfusionMatrixDisplay
            Its `plot` draws the matrix, and needs matplotlib.

        Raises
        ------
        TypeError
            If the matrix isn't of numbers.
        """
        shown = np.maximum(np.rint(self.matrix), 0.0).astype(np.int64)
        return ConfusionMatrixDisplay(shown, display_labels=self.labels)


@validate_params(
    {name: CONSTRAINTS[name] for name in CONSTRAINTS if name != "level"},
    prefer_skip_nested_validation=True,
)
def private_confusion_matrix(
    estimator,
    X,
    y,
    *,
    epsilon,
    delta=0.0,
    adjacency="zero_out",
    mechanism="auto",
    groups=None,
    random_state=None,
    ledger=None,
):
    """Count how often private records of each class are taken for each other class.

    **Guarantee.** As of :func:`private_score`.

    Parameters
    ----------
    estimator : estimator
        A fitted classifier that predicts each row by itself.
    X : array-like of shape (n_samples, n_features)
        Rows, as the estimator takes them.
    y : array-like of shape (n_samples,)
        Their labels, which must be among ``estimator.classes_``.
    epsilon : float
        Privacy loss, above 0. ``float("inf")`` adds no noise.
    delta : float, default=0.0
        Probability, in [0, 1), that the loss may exceed `epsilon`.
    adjacency : {"zero_out", "replace_one"}, default="zero_out"
        What the guarantee compares; see :func:`private_score`.
    mechanism : {"auto", "laplace", "gaussian"}, default="auto"
        Noise; see :func:`private_score`.
    groups : array-like of shape (n_samples,), default=None
        See :func:`private_score`.
    random_state : int, RandomState instance or None, default=None
        See :func:`private_score`.
    ledger : str, PathLike, PrivacyLedger or None, default=None
        Where the release is charged; see :mod:`skdp.ledger`.

    Returns
    -------
    matrix : PrivateConfusionMatrix
        With the fields matrix, labels, noise_std and report.

    Raises
    ------
    ValueError
        If a parameter or the input is invalid, or the estimator doesn't fit them; no message quotes
        an entry of the data. If a group has several rows.
    TypeError
        If X or y is of a kind that can't be read, or an id can't be hashed.
    skdp.exceptions.LedgerError
        If there is a ledger, and it doesn't take this release.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skdp.metrics import private_confusion_matrix
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(max_iter=1000).fit(X[::2], y[::2])
    >>> found = private_confusion_matrix(model, X[1::2], y[1::2], epsilon=2.0, random_state=0)
    >>> found.labels.tolist(), found.report
    ([0, 1, 2], (2, 0)-DP while the seed stays secret)
    """
    name = "private_confusion_matrix"
    how = {"design": {}, "groups": groups}
    request = Request(name, epsilon, delta, adjacency, mechanism, random_state, ledger, **how)
    classes, codes = read_labels(estimator, X, y)
    _, predicted = read_labels(estimator, X, predict(estimator, X))
    size = classes.size
    (released,) = request.count([Axis(codes, size, "down"), Axis(predicted, size, "down")])
    return PrivateConfusionMatrix(released.counts, classes, released.noise_std, released.report)
