"""A description as an estimator, which is what recorders fit."""

from sklearn.base import BaseEstimator

from skdp.statistics import describe


class Describing(BaseEstimator):
    def __init__(
        self,
        *,
        epsilon=1.0,
        delta="auto",
        adjacency="zero_out",
        crosstabs=(),
        ledger=None,
        random_state=None,
    ):
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.crosstabs = crosstabs
        self.ledger = ledger
        self.random_state = random_state

    def fit(self, X, groups=None):
        self.found_ = describe(X, groups=groups, **self.get_params())
        self.privacy_report_ = self.found_.privacy_report_
        return self
