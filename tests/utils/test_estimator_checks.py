"""Planted faults: each is convicted by the check that is there for it."""

import dataclasses
import math
import warnings

import numpy as np
import pytest

from skdp.linear_model import DPSCDClassifier
from skdp.preprocessing import DPOneHotEncoder, DPSimpleImputer, DPStandardScaler
from skdp.utils.estimator_checks import check_private_estimator


class Honest(DPSCDClassifier):
    def fit(self, X, y):
        super().fit(X, y)
        self.tamper(np.asarray(X), np.asarray(y))
        return self

    def tamper(self, X, y):
        pass


class KeepsTheDual(Honest):
    def tamper(self, X, y):
        self.dual_coef_ = np.zeros(len(X))


class CountsPositives(Honest):
    def tamper(self, X, y):
        self.largest_ = float(np.abs(X).max())


class ScalesByTheData(Honest):
    def tamper(self, X, y):
        self.coef_ = self.coef_ * np.linalg.norm(X, axis=1).max()


class SharesNoise(Honest):
    def tamper(self, X, y):
        self.coef_ = np.tile(self.coef_[:1], (len(self.coef_), 1))


class SmallerEpsilonInReport(Honest):
    def tamper(self, X, y):
        *of_ball, steps = self.privacy_report_.events
        steps = dataclasses.replace(steps, noise_multiplier=50.0)
        self.privacy_report_ = dataclasses.replace(self.privacy_report_, events=(*of_ball, steps))


class ForgetsTheSeed(Honest):
    def tamper(self, X, y):
        self.privacy_report_ = dataclasses.replace(self.privacy_report_, reproducible=False)


class FollowsTheGlobalState(DPSCDClassifier):
    def fit(self, X, y):
        seed, self.random_state = self.random_state, np.random.randint(2**31)
        super().fit(X, y)
        self.random_state = seed
        return self


class SpendsTwice(DPSCDClassifier):
    def fit(self, X, y):
        super().fit(X, y)
        return super().fit(X, y)


class IgnoresEpsilon(DPSCDClassifier):
    def fit(self, X, y):
        epsilon, self.epsilon = self.epsilon, 1.0 if math.isfinite(self.epsilon) else math.inf
        super().fit(X, y)
        self.epsilon = epsilon
        return self


class HonestScaler(DPStandardScaler):
    def fit(self, X, y=None):
        super().fit(X, y)
        self.tamper(np.asarray(X))
        return self

    def tamper(self, X):
        pass


class CentresByTheData(HonestScaler):
    def tamper(self, X):
        self.mean_ = self.mean_ + 1e-3 * np.median(X, axis=0)


class OneNoiseForAllColumns(HonestScaler):
    def tamper(self, X):
        self.mean_ = np.full_like(self.mean_, self.mean_[0])


class ForgetsTheReport(HonestScaler):
    @property
    def privacy_report_(self):
        return self._kept

    @privacy_report_.setter
    def privacy_report_(self, report):
        self._kept = report


class PromisesTooLittle(HonestScaler):
    def tamper(self, X):
        self.norm_bound_ *= 0.5


class PromisesOneSide(HonestScaler):
    def transform(self, X):
        transformed = super().transform(X)
        self.feature_bounds_[0][:] = 0.0
        return transformed


class KeepsAnExtremeInPrivate(HonestScaler):
    def tamper(self, X):
        self._lowest = float(X.min())


class TransformsByTheData(HonestScaler):
    def tamper(self, X):
        self._largest = X.max(axis=0)

    def transform(self, X):
        return np.minimum(super().transform(X), self._largest)


class HonestImputer(DPSimpleImputer):
    def fit(self, X, y=None):
        super().fit(X, y)
        self.tamper(np.asarray(X))
        return self

    def tamper(self, X):
        pass


class AddsHardlyNoise(HonestImputer):
    def tamper(self, X):
        mean = np.nanmean(np.clip(X.astype(float), -1.0, 1.0), axis=0)
        self.statistics_ = mean + 1e-9 * self.statistics_


class TellsOfAGap(HonestImputer):
    def tamper(self, X):
        if np.isnan(X.astype(float)).any():
            self.statistics_ = self.statistics_.astype(object)


class TellsOfTypes(HonestImputer):
    def tamper(self, X):
        self.statistics_ = self.statistics_.astype(X.dtype)


class FillsBeyondTheRange(HonestImputer):
    def transform(self, X):
        filled = super().transform(X)
        filled[np.isnan(np.asarray(X, dtype=float))] = 50.0
        return filled


class HonestEncoder(DPOneHotEncoder):
    def fit(self, X, y=None):
        super().fit(X, y)
        self.tamper(np.asarray(X))
        return self

    def tamper(self, X):
        pass


class PublishesAllCategories(HonestEncoder):
    def tamper(self, X):
        self.categories_ = [np.unique(column) for column in X.T]
        n_outputs = sum(self._widths())
        self.feature_bounds_ = np.zeros(n_outputs), np.ones(n_outputs)


class PublishesRareCategories(HonestEncoder):
    def _plan(self, *sizes, **unit):
        return dataclasses.replace(super()._plan(*sizes, **unit), threshold=-1e9)


class CountsRareCategories(HonestEncoder):
    def tamper(self, X):
        self.n_distinct_ = len(set(X.ravel().tolist()))


FAULTS = {
    KeepsAnExtremeInPrivate: "_lowest depends on the data",
    TransformsByTheData: "_largest depends on the data",
    AddsHardlyNoise: "statistics_ depends on the data",
    TellsOfAGap: "statistics_ depends on the data",
    TellsOfTypes: "statistics_ depends on the data",
    FillsBeyondTheRange: "exceeds norm_bound_",
    PublishesAllCategories: "category of one record",
    PublishesRareCategories: "category of one record",
    CountsRareCategories: "n_distinct_ depends on the data",
    CentresByTheData: "mean_ depends on the data",
    OneNoiseForAllColumns: "mean_ has one noise",
    PromisesTooLittle: "exceeds norm_bound_",
    ForgetsTheReport: "privacy_report_ is missing",
    PromisesOneSide: "below feature_bounds_",
    KeepsTheDual: "dimension of n_samples|pickle",
    CountsPositives: "largest_ depends on the data",
    ScalesByTheData: "beyond the clip",
    SharesNoise: "occur twice",
    SmallerEpsilonInReport: "isn't the noise in the report",
    ForgetsTheSeed: "doesn't say it is reproducible",
    FollowsTheGlobalState: "unseeded fits agree",
    SpendsTwice: "number of releases",
    IgnoresEpsilon: "exceeds the request",
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_planted_fault_is_convicted(fault):
    with pytest.raises(AssertionError, match=FAULTS[fault]):
        check_private_estimator(fault())


@pytest.mark.long
@pytest.mark.parametrize("estimator", [Honest, HonestScaler, HonestImputer, HonestEncoder])
def test_an_honest_estimator_passes_and_numpys_state_is_left_alone(estimator):
    np.random.seed(5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_private_estimator(estimator())
    drawn = np.random.random()
    np.random.seed(5)
    assert drawn == np.random.random()
