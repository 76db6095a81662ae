"""From records and an estimator to noisy counts: the steps that all scores share."""

import math
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
from scipy.special import expit
from sklearn.utils import check_consistent_length, column_or_1d

from skdp._checks import check_finite_input
from skdp._estimator import BUDGET_CONSTRAINTS
from skdp._groups import encode_groups
from skdp._sklearn import Interval, StrOptions, quietly, refuse_foreign
from skdp._targets import encode_labels
from skdp.accountant import PrivacyReport
from skdp.ledger._account import resolve_account
from skdp.metrics._plan import GroupScoreBudget, ScoreBudget, count_noise, plan_histogram
from skdp.metrics._solver import release_histogram
from skdp.metrics._statistics import Shares

CONSTRAINTS = BUDGET_CONSTRAINTS | {
    "mechanism": [StrOptions({"auto", "laplace", "gaussian"})],
    "level": [Interval(Real, 0, 1, closed="neither")],
    "groups": ["array-like", None],
}
# Chosen on seven sets of records, where it was best or near it for rare classes and even ones.
GRADE = 0.75
_SEVERAL_ROWS = (
    "groups has an id in more than one row, and scores count one row of each group: draw one, such "
    "as by table.sample(frac=1).drop_duplicates(name of the ids)."
)
BINS = [Interval(Integral, 2, 4096, closed="both"), StrOptions({"auto"})]


class Released(NamedTuple):
    """Noisy counts of the cells of a grid, the noise of each, and the report of the call."""

    counts: np.ndarray
    n_rows: int
    noise_std: float
    report: PrivacyReport

    @property
    def shares(self):
        """Shares of the records in each cell."""
        return Shares.of(self.counts, self.n_rows, self.noise_std)


class Request(NamedTuple):
    """What is asked for: public arguments of a call."""

    function: str
    epsilon: float
    delta: float
    adjacency: str
    mechanism: str
    random_state: object
    ledger: object
    groups: object
    design: dict
    n_releases: int = 1

    @property
    def _spent(self):
        names = ("epsilon", "delta", "adjacency", "mechanism")
        return {name: getattr(self, name) for name in names}

    @property
    def noise_std(self):
        """Standard deviation of each count's noise."""
        return count_noise(ScoreBudget(**self._spent), self.n_releases)

    def count(self, *grids):
        """Return noisy counts of the records on each of as many public grids as were asked for.

        The grids, lists of `Axis`, have the same sizes, and each has any of the records once.
        """
        n_rows = grids[0][0].position.size
        if encode_groups(self.groups, n_rows)[1] < n_rows:
            raise ValueError(_SEVERAL_ROWS)
        account = resolve_account(self.ledger, self.function, self._spent | self.design)
        make_budget = ScoreBudget if self.groups is None else GroupScoreBudget
        budget = make_budget(**self._spent, account=account)
        n_cells = math.prod(axis.size for axis in grids[0])
        plan = plan_histogram(budget, n_rows=n_rows, n_cells=n_cells, n_steps=self.n_releases)
        stream = plan.start(self.random_state)
        coins, noise = stream.spawn(2)
        report = plan.report(reproducible=stream.reproducible)
        released = []
        for _, axes in zip(range(plan.counts.event.n_steps), grids, strict=True):
            counts = release_histogram(axes, plan.mechanism, coins, noise)
            released.append(Released(counts, n_rows, plan.mechanism.noise_std, report))
        return released


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
    y = quietly(np.asarray, y)
    if not (is_table and y.ndim == 2 and y.shape[1] > 1):
        y = quietly(column_or_1d, y)
    quietly(check_consistent_length, X, y)
    if not y.size:
        raise ValueError("X and y must hold at least one record.")
    return y


def predict(estimator, X, method="predict", width=None):
    """Call a method of the estimator, of which no error or warning tells of an entry.

    There must be `width` columns; None is a single number a row, in a column or not.
    """
    found = np.asarray(quietly(getattr(estimator, method), X))
    if width is None and found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    expected = 1 if width is None else 2
    if found.ndim != expected or (width is not None and found.shape[1] != width):
        raise ValueError(f"{method} of the estimator gives an array of another shape than needed.")
    return found


def ranks_by_probability(estimator):
    """Tell whether the estimator has probabilities, and not decision values alone."""
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


def grade(probability, power=GRADE):
    """Return positions in [0, 1] of probabilities, at which bins are narrower near 0 and 1.

    The odds are raised to a power below 1: bins of one width would have most rows of a rare class
    in one of them, and bins even in log-odds would often be empty.
    """
    return probability**power / (probability**power + (1.0 - probability) ** power)


def check_lengths(*arrays):
    """Refuse arrays of a curve of different lengths."""
    if len({np.shape(array) for array in arrays}) != 1:
        raise ValueError("the arrays of a curve must be of one length.")
