"""Private estimators of one's own, which doc/extending.rst explains."""

import math

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from skdp.extend import Choice, DPBaseClassifier, DPBaseEstimator, DPBaseRegressor, Sum, Value


class DPNearestCentroid(DPBaseClassifier):
    """Predict the class whose mean is nearest; means are of rows within `data_norm`."""

    def __init__(
        self,
        *,
        classes=None,
        data_norm=1.0,
        epsilon=1.0,
        delta="auto",
        adjacency="zero_out",
        ledger=None,
        random_state=None,
    ):
        self.classes = classes
        self.data_norm = data_norm
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.ledger = ledger
        self.random_state = random_state

    def plan_releases(self, sizes):
        # A record adds its row and a 1, both to its class.
        shape = (sizes.n_classes, sizes.n_features + 1)
        return [Sum("rows by class", shape, bound=math.hypot(self.data_norm, 1.0))]

    def learn(self, X, y, run):
        def part(X, y):
            rows = np.column_stack([run.clip_rows(X, self.data_norm), np.ones(len(X))])
            is_class = np.eye(len(self.classes_))[y]
            return is_class[:, :, np.newaxis] * rows[:, np.newaxis, :]

        sums = run.sum("rows by class", part, X, y)
        self.centroids_ = sums[:, :-1] / np.maximum(sums[:, -1:], 1.0)

    def predict(self, X):
        gaps = self.read_rows(X)[:, np.newaxis, :] - self.centroids_
        return self.classes_[(gaps**2).sum(axis=2).argmin(axis=1)]


class DPPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, DPBaseEstimator):
    """Project rows on the leading directions of the second moment of rows within `data_norm`."""

    def __init__(
        self,
        n_components=1,
        *,
        data_norm=1.0,
        epsilon=1.0,
        delta="auto",
        adjacency="zero_out",
        ledger=None,
        random_state=None,
    ):
        self.n_components = n_components
        self.data_norm = data_norm
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.ledger = ledger
        self.random_state = random_state

    def plan_releases(self, sizes):
        # The matrix x x^T has the Frobenius norm ||x||^2.
        shape = (sizes.n_features, sizes.n_features)
        return [Sum("second moment", shape, bound=self.data_norm**2)]

    def learn(self, X, y, run):
        def part(X):
            rows = run.clip_rows(X, self.data_norm)
            return rows[:, :, np.newaxis] * rows[:, np.newaxis, :]

        moment = run.sum("second moment", part, X)
        directions = np.linalg.eigh(0.5 * (moment + moment.T)).eigenvectors.T
        self.components_ = directions[::-1][: self.n_components]

    def transform(self, X):
        return self.read_rows(X) @ self.components_.T

    @property
    def _n_features_out(self):
        return len(self.components_)


class DPMedian(DPBaseEstimator):
    """Find the median of the first column among public candidates."""

    def __init__(
        self,
        candidates,
        *,
        epsilon=1.0,
        delta="auto",
        adjacency="zero_out",
        ledger=None,
        random_state=None,
    ):
        self.candidates = candidates
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.ledger = ledger
        self.random_state = random_state

    def plan_releases(self, sizes):
        return [Choice("median", bound=1)]

    def learn(self, X, y, run):
        candidates = np.asarray(self.candidates)
        below = (X[:, :1] < candidates).sum(axis=0)
        above = (X[:, :1] > candidates).sum(axis=0)
        self.median_ = candidates[run.choose("median", -np.abs(below - above))]


class CarelessMean(DPBaseRegressor):
    """Predict the mean of targets, with half of the noise that it needs."""

    def __init__(
        self,
        *,
        epsilon=1.0,
        delta="auto",
        adjacency="zero_out",
        ledger=None,
        random_state=None,
    ):
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.ledger = ledger
        self.random_state = random_state

    def plan_releases(self, sizes):
        return [Value("sum of targets", shape=(), bound=1.0)]

    def learn(self, X, y, run):
        self.mean_ = run.release("sum of targets", run.clip(y, -2.0, 2.0).sum()) / run.n_records

    def predict(self, X):
        return np.full(len(self.read_rows(X)), self.mean_)
