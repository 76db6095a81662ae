"""Estimators that are written as doc/extending.rst says: right ones, wrong ones, and their use."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator

from skdp.calibration import DPCalibratedClassifier, DPConformalClassifier
from skdp.exceptions import BudgetExceededError, PrivacyWarning
from skdp.extend import Choice, DPBaseRegressor, Sum, Value
from skdp.inspection import preview, total_report
from skdp.ledger import PrivacyLedger
from skdp.linear_model import DPLogisticRegression
from skdp.model_selection import DPGridSearch
from skdp.pipeline import DPPipeline
from skdp.preprocessing import DPStandardScaler
from skdp.utils.estimator_checks import check_private_estimator
from tests._loops import for_each, run_all
from tests.extend._templates import own_estimators

DPNearestCentroid, DPPCA = own_estimators.DPNearestCentroid, own_estimators.DPPCA
DPMedian, CarelessMean = own_estimators.DPMedian, own_estimators.CarelessMean
CANDIDATES = np.linspace(-1.0, 1.0, 41)
LONG = pytest.mark.long


class DPDecisions(DPNearestCentroid):
    def decision_function(self, X):
        return self.predict(X)


class CentresByTheBlock(DPNearestCentroid):
    """A part follows from other records of the block."""

    def learn(self, X, y, run):
        super().learn(1e3 * (X - np.median(X, axis=0)), y, run)


class KeepsTheMedian(DPNearestCentroid):
    def learn(self, X, y, run):
        super().learn(X, y, run)
        self.median_ = np.median(X, axis=0)


class KeepsTheMedianInPrivate(DPNearestCentroid):
    def learn(self, X, y, run):
        super().learn(X, y, run)
        self._median = np.median(X, axis=0)


class KeepsTheMeanTarget(CarelessMean):
    def plan_releases(self, sizes):
        return [Value("sum of targets", (), bound=2.0)]

    def learn(self, X, y, run):
        super().learn(X, y, run)
        self.mean_target_ = y.mean()


class CountsAClass(DPNearestCentroid):
    def learn(self, X, y, run):
        super().learn(X, y, run)
        self.n_first_ = int((y == 0).sum())


class WarnsOfRows(DPNearestCentroid):
    def learn(self, X, y, run):
        super().learn(X, y, run)
        warnings.warn(f"the largest entry is {X.max():.3f}", PrivacyWarning, stacklevel=2)


class KeepsRows(DPPCA):
    def learn(self, X, y, run):
        super().learn(X, y, run)
        self.signs_ = X @ self.components_.T > 0.0


class SquaresTooLittle(DPPCA):
    """The length of the second moment of a row is its squared length."""

    def plan_releases(self, sizes):
        return [Value("second moment", 2 * (sizes.n_features,), self.data_norm)]

    def learn(self, X, y, run):
        rows = run.clip_rows(X, self.data_norm)
        moment = run.release("second moment", rows.T @ rows)
        self.components_ = np.linalg.eigh(moment).eigenvectors.T[: self.n_components]


class TrustsPairs(CarelessMean):
    """Two records may be four apart."""

    def plan_releases(self, sizes):
        return [Value("sum of targets", (), bound=2.0, pair_bound=3.0)]


class ScoresTwice(DPMedian):
    def plan_releases(self, sizes):
        return [Choice("median", bound=1)]

    def learn(self, X, y, run):
        super().learn(np.repeat(X, 2, axis=0), y, run)


class StepsByTheData(CarelessMean):
    """How many releases there are follows from the records."""

    def plan_releases(self, sizes):
        return [Value("sum of targets", (), bound=2.0, n_steps=2)]

    def learn(self, X, y, run):
        for _ in range(2 if y.mean() > 0.0 else 1):
            super().learn(X, y, run)


class LeastSquares(DPBaseRegressor):
    """A linear model without an intercept."""

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
        return [Sum("moment", 2 * (sizes.n_features,), 4.0), Sum("products", sizes.n_features, 2.0)]

    def learn(self, X, y, run):
        def squares(X):
            return X[:, :, np.newaxis] * X[:, np.newaxis, :]

        moment = run.sum("moment", squares, X)
        products = run.sum("products", lambda X, y: X * y[:, np.newaxis], X, y)
        ridge = 4.0 * run.noise_std("moment") * np.eye(len(products))
        self.coef_ = np.linalg.lstsq(moment + ridge, products, rcond=None)[0]

    def predict(self, X):
        return self.read_rows(X) @ self.coef_


FAULTS = {
    CarelessMean(): "'sum of targets' moves by 2 times its bound .* a record that is far",
    CentresByTheBlock(): "'rows by class' moves by",
    KeepsTheMedian(): "median_ depends on the data",
    KeepsTheMedianInPrivate(): "_median depends on the data",
    KeepsTheMeanTarget(): "mean_target_ depends on the data",
    CountsAClass(): "n_first_ depends on the data",
    WarnsOfRows(): "a warning depends on the data",
    KeepsRows(): "signs_ has a dimension of n_samples",
    SquaresTooLittle(data_norm=3.0): "'second moment' moves by 3 times its bound",
    TrustsPairs(adjacency="replace_one"): "'sum of targets' moves by 1.333 times its bound",
    ScoresTwice(CANDIDATES): "'median' moves by 2 times its bound",
}


@pytest.mark.long
@pytest.mark.parametrize(
    "estimator",
    [
        DPNearestCentroid(),
        DPPCA(),
        pytest.param(DPNearestCentroid(data_norm=0.3, adjacency="replace_one"), marks=LONG),
        pytest.param(DPPCA(2, data_norm=3.0), marks=LONG),
        DPMedian(CANDIDATES),
        LeastSquares(),
    ],
    ids=str,
)
def test_a_template_is_private_as_far_as_checks_tell(estimator):
    check_private_estimator(estimator)


@pytest.mark.long
@for_each("estimator, message", FAULTS.items())
def test_a_wrong_one_is_convicted(estimator, message):
    with pytest.raises(AssertionError, match=message):
        check_private_estimator(estimator)


def test_a_fit_whose_releases_follow_from_records_ends_with_an_error():
    model = StepsByTheData().fit(np.zeros((20, 1)), np.ones(20))
    with pytest.raises(RuntimeError, match="of 'sum of targets' not as many"):
        model.fit(np.zeros((20, 1)), -np.ones(20))


@pytest.mark.long
@pytest.mark.parametrize(
    "estimator",
    [
        DPNearestCentroid(),
        DPPCA(),
        *(
            pytest.param(kind(epsilon=epsilon), marks=LONG)
            for kind in (DPNearestCentroid, DPPCA)
            for epsilon in (float("inf"), 1e-3)
        ),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_a_template_passes_checks_of_scikit_learn(estimator):
    checks = estimator_checks_generator(estimator)
    cases = [{"estimator": one, "check": check} for one, check in checks]
    run_all(lambda estimator, check: check(estimator), cases)


@pytest.fixture
def blobs(rng):
    y = rng.integers(3, size=600)
    return np.eye(3)[y] * 0.6 + 0.1 * rng.standard_normal((600, 3)), y


def test_a_template_learns(blobs):
    X, y = blobs
    assert DPNearestCentroid(random_state=0).fit(X, y).score(X, y) > 0.95
    exact = DPNearestCentroid(epsilon=float("inf")).fit(X, y)
    means = np.array([X[y == k].mean(axis=0) for k in range(3)])
    np.testing.assert_allclose(exact.centroids_, means)
    _, _, directions = np.linalg.svd(X)
    found = DPPCA(epsilon=float("inf")).fit(X).components_
    np.testing.assert_allclose(abs(found @ directions[0]), 1.0)
    assert abs(DPMedian(CANDIDATES, random_state=0).fit(X).median_ - np.median(X[:, 0])) < 0.3


def test_pipelines_searches_copies_and_files(blobs):
    X, y = blobs
    chain = make_pipeline(DPStandardScaler((-1, 2)), DPPCA(2), DPNearestCentroid(classes=[0, 1, 2]))
    report = total_report(chain.fit(X, y))
    assert report.differentially_private
    assert report.names[-1] == "second moment, rows by class"
    search = GridSearchCV(DPNearestCentroid(), {"data_norm": [0.1, 1.0]}, cv=2).fit(X, y)
    assert search.best_params_["data_norm"] in (0.1, 1.0)
    fitted = DPNearestCentroid().fit(X, y)
    assert not hasattr(clone(fitted), "centroids_")
    copied = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(copied.predict(X), fitted.predict(X))
    assert copied.privacy_report_ == fitted.privacy_report_


def test_a_ledger_is_charged_before_and_refuses(blobs, tmp_path):
    X, y = blobs
    path = tmp_path / "study.db"
    ledger = PrivacyLedger(path, epsilon=1.5, delta=1e-4)
    model = DPNearestCentroid(ledger=path).fit(X, y)
    assert ledger.to_frame()["estimator"].tolist() == ["DPNearestCentroid"]
    before = model.centroids_
    with pytest.raises(BudgetExceededError):
        model.set_params(epsilon=1.4).fit(X, y)
    assert model.centroids_ is before


def test_a_preview_is_the_report_of_the_fit(blobs):
    X, y = blobs
    model = DPNearestCentroid(classes=[0, 1, 2])
    assert preview(model, len(X), 3) == model.fit(X, y).privacy_report_
    assert preview(DPPCA(), len(X), 3) == DPPCA().fit(X).privacy_report_


def test_class_sets_that_are_read_are_reported(blobs):
    X, y = blobs
    declared, read = (DPNearestCentroid(classes=one).fit(X, y) for one in ([0, 1, 2], None))
    public = read.privacy_report_.assumed_public
    assert set(public) - set(declared.privacy_report_.assumed_public) == {public[-1]}
    assert "set of classes" in public[-1]


REFUSED = {
    "groups': this estimator protects rows": lambda m, X, y: m.fit(X, y, groups=y),
    "dense data is required": lambda m, X, y: m.fit(__import__("scipy.sparse").sparse.eye(9), y),
    "sample_weight': rows have no w": lambda m, X, y: m.fit(X, y, sample_weight=y),
    "public_weight': rows have no w": lambda m, X, y: m.fit(X, y, public_weight=y),
    "class of skdp itself": lambda m, X, y: DPPipeline([("m", m)]).fit(X, y),
    "got DPDecisions. For label": lambda m, X, y: DPGridSearch(m, {"data_norm": [1]}).fit(X, y),
    "got DPDecisions. A pipeline of": lambda m, X, y: DPCalibratedClassifier(m).fit(X, y),
    "got DPDecisions. A pipeline or": lambda m, X, y: DPConformalClassifier(m).fit(X, y),
}


@for_each("message, call", REFUSED.items())
def test_what_is_refused(message, call, blobs):
    with pytest.raises((ValueError, TypeError), match=message):
        call(DPDecisions(), *blobs)


class Peeking(DPLogisticRegression):
    """What it publishes besides our model nobody knows."""

    def fit(self, X, y, groups=None):
        self.mean_ = X.mean(axis=0)
        return super().fit(X, y, groups)


@for_each("message, call", list(REFUSED.items())[4:])
def test_subclasses_of_our_models_are_refused_alike(message, call, blobs):
    X, y = blobs
    with pytest.raises((ValueError, TypeError), match=message.replace("DPDecisions", "Peeking")):
        call(Peeking(), X, y % 2)


def test_no_message_quotes_an_entry(blobs):
    X, y = blobs
    rows = X.astype(object)
    rows[3, 1] = "a secret"
    with pytest.raises(ValueError, match="could not convert") as raised:
        DPNearestCentroid().fit(rows, y)
    assert "secret" not in str(raised.value)
    fitted = DPNearestCentroid().fit(X, y)
    with pytest.raises(ValueError, match="could not convert") as raised:
        fitted.predict(rows)
    assert "secret" not in str(raised.value)
