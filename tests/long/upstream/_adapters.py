"""Our estimators without privacy, under the names, parameters and attributes of scikit-learn's.

An adapter translates what scikit-learn's constructor takes into what ours takes, fits ours, and
shows what ours publishes. Nothing of it computes a model. A parameter of a model that ours hasn't
is refused, so that a test of it fails. Parameters of solvers (`solver`, `tol`, `max_iter`,
`intercept_scaling`, `random_state`) are taken and say nothing to ours, which has one solver and
takes all its steps.

Ours penalises the intercept, over the square of the constant column that stands for it. Without
privacy `data_norm` clips nothing, and only sets that column: a very long one leaves nearly nothing
of the penalty, and the optimum is that of an intercept without one.
"""

from math import inf

import numpy as np
from sklearn import linear_model
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import _num_samples, check_is_fitted

from skdp.linear_model import (
    DPGammaRegressor,
    DPLogisticRegression,
    DPPoissonRegressor,
    DPRidge,
    DPSCDClassifier,
    DPTweedieRegressor,
)

# Without privacy a bound clips nothing, see above. It grows with the root of the penalty.
LONG, LONGEST = 1e6, 1e10
# Our smallest penalty, for scikit-learn's 0.
NO_PENALTY = 1e-30
# Ours takes as many steps as it is told, as many as optima take here. Squared loss takes one and
# what rounding leaves. Labels that are hardly mixed take many where the penalty is weak.
STEPS_SQUARED, STEPS, STEPS_WEAK_PENALTY = 20, 300, 1500

FITS = []


class NotOurs(ValueError):
    """A parameter of scikit-learn's that ours hasn't, by design."""


def refuse(**given):
    """Refuse parameters of scikit-learn's that aren't at the value that ours always has."""
    told = ", ".join(name for name, (value, always) in given.items() if value is not always)
    if told:
        raise NotOurs(f"ours has no {told}")


class Translated(BaseEstimator):
    """Fits ours with translated parameters, and has its attributes and methods."""

    def fit(self, X, y=None, sample_weight=None):
        FITS.append(type(self).__name__)
        public_weight = None if sample_weight is None else _weights(sample_weight, X)
        counts = np.ones(_num_samples(X)) if sample_weight is None else public_weight
        ours = self._ours(counts, y)
        ours.fit(X, y, public_weight=public_weight)
        for name, value in vars(ours).items():
            if name.endswith("_") and not name.startswith("_") and name != "privacy_report_":
                setattr(self, name, value)
        self.fitted_ = ours
        return self

    def _shared(self, alpha, n_steps):
        alpha = NO_PENALTY if 0 <= alpha < NO_PENALTY else alpha
        return {
            "alpha": alpha,
            "epsilon": inf,
            "ball_budget": 0,
            "data_norm": min(LONG * np.sqrt(max(alpha, 1.0)), LONGEST),
            "max_iter": n_steps,
            "average": False,
            "fit_intercept": self.fit_intercept,
        }

    def predict(self, X):
        check_is_fitted(self)
        return self._fitted().predict(X)

    def _fitted(self):
        # Tests write to attributes.
        for name in ("coef_", "intercept_"):
            setattr(self.fitted_, name, getattr(self, name))
        return self.fitted_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        ours = self._kind().__sklearn_tags__()
        tags.input_tags, tags.target_tags = ours.input_tags, ours.target_tags
        return tags


def _weights(sample_weight, X):
    """Return weights by row: scikit-learn takes a number for that of all, and ours doesn't."""
    if np.ndim(sample_weight) == 0:
        return np.full(_num_samples(X), float(sample_weight))
    return sample_weight


class LogisticRegression(ClassifierMixin, Translated):
    """DPLogisticRegression, whose alpha is 1 / (n C), with the sum of weights for n."""

    _kind = DPLogisticRegression

    def __init__(
        self,
        penalty="deprecated",
        *,
        C=1.0,
        l1_ratio=0.0,
        dual=False,
        tol=1e-4,
        fit_intercept=True,
        intercept_scaling=1,
        class_weight=None,
        random_state=None,
        solver="lbfgs",
        max_iter=100,
        verbose=0,
        warm_start=False,
        n_jobs=None,
    ):
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    def _ours(self, counts, y):
        penalty = "l2" if self.penalty in ("deprecated", None) else self.penalty
        refuse(
            penalty=(penalty, "l2"),
            dual=(self.dual, False),
            warm_start=(self.warm_start, False),
            l1_ratio=(bool(self.l1_ratio), False),
        )
        C = inf if self.penalty is None else self.C
        return DPLogisticRegression(
            class_weight=self.class_weight,
            verbose=self.verbose,
            **self._shared(1 / (np.sum(counts) * C), STEPS_WEAK_PENALTY if C > 10 else STEPS),
        )

    def decision_function(self, X):
        check_is_fitted(self)
        return self._fitted().decision_function(X)

    def predict_proba(self, X):
        check_is_fitted(self)
        return self._fitted().predict_proba(X)

    def predict_log_proba(self, X):
        check_is_fitted(self)
        return self._fitted().predict_log_proba(X)


class Ridge(RegressorMixin, Translated):
    """DPRidge, whose alpha is scikit-learn's over n, or over the sum of weights."""

    _kind = DPRidge

    def __init__(
        self,
        alpha=1.0,
        *,
        fit_intercept=True,
        copy_X=True,
        max_iter=None,
        tol=1e-4,
        solver="auto",
        positive=False,
        random_state=None,
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.positive = positive
        self.random_state = random_state

    def _ours(self, counts, y):
        refuse(positive=(self.positive, False))
        if np.ndim(self.alpha) and np.size(self.alpha) > 1:
            raise NotOurs("ours has one alpha for all targets")
        alpha = float(np.ravel(self.alpha)[0])
        return DPRidge(**self._shared(alpha / np.sum(counts), STEPS_SQUARED))


class _Generalized(RegressorMixin, Translated):
    """Ours has scikit-learn's alpha for targets that are divided by their mean.

    A deviance of power p is a mean to the power of 2 - p times that of what is divided by it.
    """

    # What tests make their data from.
    _upstream: type

    def _power(self):
        return {DPPoissonRegressor: 1.0, DPGammaRegressor: 2.0}[self._kind]

    def _ours(self, counts, y):
        refuse(warm_start=(self.warm_start, False))
        return self._kind(
            verbose=self.verbose,
            **self._shared(self.alpha / self._mean(counts, y) ** (2 - self._power()), STEPS),
        )

    def _mean(self, counts, y):
        # What is wrong with them is ours to say. Without an intercept ours divides by nothing.
        is_wrong = np.ndim(y) != 1 or len(y) != len(counts) or not np.all(np.isfinite(y))
        if is_wrong or not self.fit_intercept or np.sum(y) <= 0:
            return 1.0
        return np.average(y, weights=counts)

    # scikit-learn's mixin has R2.
    def score(self, X, y, sample_weight=None):
        return self._fitted().score(X, y, sample_weight)

    def _get_loss(self, *args, **kwargs):
        return self._upstream(**self.get_params(deep=False))._get_loss(*args, **kwargs)


class PoissonRegressor(_Generalized):
    """DPPoissonRegressor."""

    _kind, _upstream = DPPoissonRegressor, linear_model.PoissonRegressor

    def __init__(
        self,
        *,
        alpha=1.0,
        fit_intercept=True,
        solver="lbfgs",
        max_iter=100,
        tol=1e-4,
        warm_start=False,
        verbose=0,
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.verbose = verbose


class GammaRegressor(PoissonRegressor):
    """DPGammaRegressor."""

    _kind, _upstream = DPGammaRegressor, linear_model.GammaRegressor


class TweedieRegressor(_Generalized):
    """DPTweedieRegressor, which has a log link, and powers from 1."""

    _kind, _upstream = DPTweedieRegressor, linear_model.TweedieRegressor

    def __init__(
        self,
        *,
        power=0.0,
        alpha=1.0,
        fit_intercept=True,
        link="auto",
        solver="lbfgs",
        max_iter=100,
        tol=1e-4,
        warm_start=False,
        verbose=0,
    ):
        self.power = power
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.link = link
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.verbose = verbose

    def _ours(self, counts, y):
        ours = super()._ours(counts, y)
        if self.link not in ("auto", "identity" if self.power <= 0 else "log"):
            raise NotOurs("ours has the link that `auto` takes")
        return ours.set_params(power=self.power)

    def _power(self):
        return self.power


class LinearSVC(ClassifierMixin, Translated):
    """DPSCDClassifier of hinge loss, where scikit-learn's squares it: a classifier with a C."""

    _kind = DPSCDClassifier

    def __init__(
        self,
        penalty="l2",
        loss="squared_hinge",
        *,
        dual="auto",
        tol=1e-4,
        C=1.0,
        multi_class="ovr",
        fit_intercept=True,
        intercept_scaling=1,
        class_weight=None,
        verbose=0,
        random_state=None,
        max_iter=1000,
    ):
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter

    def _ours(self, counts, y):
        return DPSCDClassifier(
            loss="hinge",
            epsilon=inf,
            alpha=1 / (np.sum(counts) * self.C),
            fit_intercept=self.fit_intercept,
            class_weight=self.class_weight,
            # The constant column of scikit-learn's is 1; ours is a third of this.
            data_norm=3.0,
            ball_budget=0,
            random_state=self.random_state,
        )

    def decision_function(self, X):
        check_is_fitted(self)
        return self._fitted().decision_function(X)
