"""Public weights of rows and of classes, in every method that takes them."""

import inspect
import json
import pickle

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone, is_classifier
from sklearn.linear_model import ElasticNet, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from skdp.calibration import DPCalibratedClassifier
from skdp.inspection import duality_gap, preview
from skdp.linear_model import (
    DPCDClassifier,
    DPCDElasticNet,
    DPLogisticRegression,
    DPRidge,
    DPSCDClassifier,
    DPSCDRegressor,
    DPSGDClassifier,
    DPSGDRegressor,
    LabelAggregate,
    WALRClassifier,
    label_aggregate,
    walr_path,
)
from skdp.model_selection import DPGridSearch
from skdp.preprocessing import NormClipper
from tests._listed import LINEAR, suited
from tests._loops import for_each
from tests.door import EVEN, Plan, class_scale, clip_rows, weigh

pytestmark = pytest.mark.filterwarnings("ignore:(target_bounds=N|the size of)")

N, ALPHA = 200, 1e-2
INF = float("inf")
OF_CLASSES = {"0": 0.6, "1": 3.0}
LABELS = np.array(["0", "1"])
LAST = {"average": False}
# Without a learnt ball, whose stages have no weights: rows stay as they are.
PLAIN = {"ball_budget": 0, "data_norm": 1.0}
FULL = {"batch_size": N, "max_iter": 3000, "ball_budget": 0, **LAST}


def in_the_long_tier(*models):
    """These take seconds: one model of each method is enough for the quick tests."""
    return [pytest.param(model, marks=pytest.mark.long) for model in models]


CLASSIFIERS = [
    DPLogisticRegression(max_iter=2000, **PLAIN, **LAST),
    DPSCDClassifier(max_iter=300, solver="primal", **LAST),
    DPCDClassifier(max_iter=300, ball_budget=0),
    DPSGDClassifier(**FULL),
    *in_the_long_tier(
        DPSCDClassifier(max_iter=150, ball_budget=0, **LAST),
        DPSCDClassifier(max_iter=100, noisy_dual=True, **LAST),
        DPSCDClassifier(max_iter=150, proximal=0.1, ball_budget=0, **LAST),
        DPSCDClassifier(max_iter=20, solver="sequential", **LAST),
        DPSGDClassifier(mechanism="laplace", **FULL),
    ),
]
REGRESSORS = [
    DPRidge(max_iter=200, **PLAIN, **LAST),
    DPSCDRegressor(max_iter=200, ball_budget=0, **LAST),
    DPSCDRegressor(max_iter=50, solver="sequential", **LAST),
    DPSCDRegressor(max_iter=300, solver="primal", **LAST),
    DPCDElasticNet(max_iter=300, ball_budget=0),
    DPCDElasticNet(max_iter=500, smoothness=[0.4, 0.3, 0.1, 0.05]),
    DPSGDRegressor(**FULL),
]
PRIVATE = [
    *(estimator() for estimator in LINEAR),
    DPSCDRegressor(solver="sequential", max_iter=2),
    DPSCDRegressor(solver="primal"),
    DPSCDClassifier(noisy_dual=True),
    DPSGDClassifier(mechanism="laplace"),
    WALRClassifier(mechanism="randomized_response"),
    WALRClassifier(mechanism="analytic"),
]
WEIGH_CLASSES = [model for model in PRIVATE if "class_weight" in model.get_params()]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (N, 4)) * [1.0, 0.8, 0.5, 0.3]
    y = LABELS[(X @ [2.0, -1.0, 1.0, 3.0] + rng.logistic(size=N) > 1.0).astype(int)]
    t = X @ [0.4, -0.3, 0.2, 0.1] + 0.1 * rng.standard_normal(N)
    counts = rng.integers(0, 4, N)
    return X, y, t, counts


def target_of(model, data):
    return data[1] if is_classifier(model) else suited(model, data[2])


def fitted(model, X, y, **given):
    changes = {"epsilon": INF, "fit_intercept": False, "random_state": 0, "alpha": ALPHA}
    return clone(model).set_params(**changes).fit(X, y, **given)


def same(one, other):
    return np.array_equal(one.coef_, other.coef_) and np.array_equal(
        one.intercept_, other.intercept_
    )


def test_weights_are_relative_to_their_mean_and_those_of_classes_are_not():
    given, targets = np.array([1.0, 0.0, 3.0, 4.0]), np.array([[1.0], [-1.0], [-1.0], [1.0]])
    of_rows = weigh(given)
    np.testing.assert_allclose(of_rows.expand(4), [0.5, 0.0, 1.5, 2.0])
    assert of_rows.scale.largest == 2.0
    assert of_rows.scale.typical == pytest.approx(np.sqrt((0.25 + 2.25 + 4.0) / 3))
    both = weigh(given, class_weight={"0": 0.1, "1": 9.0}, classes=LABELS, targets=targets)
    np.testing.assert_allclose(both.expand(4), [4.5, 0.0, 0.15, 18.0])
    assert both.scale.largest == pytest.approx(18.0)
    assert both.scale.typical == pytest.approx(of_rows.scale.typical * np.sqrt(0.9))
    assert both.scale.wanted == pytest.approx(of_rows.scale.typical * 9.0)
    three = np.array([[1.0, -1.0, -1.0], [-1.0, -1.0, 1.0]])
    several = weigh(class_weight={2: 5.0}, classes=np.arange(3), targets=three)
    np.testing.assert_array_equal(several.expand(2), [1.0, 5.0])
    for alike in (weigh(), weigh(np.full(4, 0.3)), weigh(None, class_weight={}, classes=LABELS)):
        assert alike.of_rows is None
        assert alike.scale == EVEN
        np.testing.assert_array_equal(alike.expand(3), np.ones(3))


def test_weights_that_balance_two_classes_have_the_typical_size_of_rows():
    share = 0.03
    found = class_scale({0: 0.5 / (1.0 - share), 1: 0.5 / share}, 2)
    squares = (1.0 - share) * (0.5 / (1.0 - share)) ** 2 + share * (0.5 / share) ** 2
    assert found.typical == pytest.approx(np.sqrt(squares))


def test_what_a_plan_knows_of_class_weights_is_the_same_before_and_in_a_fit(data):
    model = DPSGDClassifier(class_weight=OF_CLASSES, classes=LABELS, random_state=0)
    before = preview(model, N, 4)
    assert before.clipping == model.fit(*data[:2]).privacy_report_.clipping
    assert before.clipping > preview(clone(model).set_params(class_weight=None), N, 4).clipping


@pytest.mark.long
@pytest.mark.parametrize("model", CLASSIFIERS, ids=str)
def test_without_noise_a_classifier_is_scikit_learns(model, data):
    X, y, _, counts = data
    for given, chosen in (({}, OF_CLASSES), (counts, None), (counts, OF_CLASSES)):
        weights = {} if given is not counts else {"public_weight": counts}
        total = N if given is not counts else counts.sum()
        found = fitted(clone(model).set_params(class_weight=chosen), X, y, **weights)
        # scikit-learn's looks for numbers where labels are words.
        of_codes = {int(label): weight for label, weight in (chosen or {}).items()}
        best = LogisticRegression(
            C=1 / (total * ALPHA), class_weight=of_codes or None, fit_intercept=False, tol=1e-12
        ).fit(X, y.astype(int), sample_weight=counts if weights else None)
        np.testing.assert_allclose(found.coef_, best.coef_, atol=2e-5)
    assert not np.allclose(found.coef_, fitted(model, X, y).coef_, atol=1e-2)


@pytest.mark.parametrize("model", REGRESSORS, ids=str)
def test_without_noise_a_regressor_is_scikit_learns(model, data):
    X, _, t, counts = data
    found = fitted(model, X, t, public_weight=counts)
    best = Ridge(alpha=counts.sum() * ALPHA, fit_intercept=False)
    if isinstance(model, DPCDElasticNet):
        best = ElasticNet(alpha=ALPHA, fit_intercept=False, tol=1e-12, max_iter=10**5)
    best.fit(X, t, sample_weight=counts)
    np.testing.assert_allclose(found.coef_, best.coef_, atol=1e-8)


@pytest.mark.long
@pytest.mark.parametrize("model", [*CLASSIFIERS, *REGRESSORS, WALRClassifier()], ids=str)
def test_without_noise_a_weight_of_two_is_a_row_that_is_there_twice(model, data):
    """The loss of a row of weight 0 isn't there, and the divisor is the sum of the weights."""
    X, counts, y = data[0], data[3], target_of(model, data)
    rows = np.repeat(np.arange(N), counts)
    found = fitted(model, X, y, public_weight=counts)
    if "batch_size" in model.get_params() and model.batch_size == N:
        model = clone(model).set_params(batch_size=rows.size)
    expected = fitted(model, X[rows], y[rows])
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=2e-5)


def test_without_noise_whitening_takes_the_same_way_as_with_rows_repeated(data):
    """Weights are in the second moment, too: steps are as long and as many before the optimum."""
    X, y, t, counts = data
    rows = np.repeat(np.arange(N), counts)
    for model, target in ((DPLogisticRegression(max_iter=3), y), (DPRidge(max_iter=3), t)):
        model.set_params(epsilon=INF, **PLAIN)
        found = clone(model).fit(X, target, public_weight=counts)
        expected = clone(model).fit(X[rows], target[rows])
        np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-9)
        np.testing.assert_allclose(found.intercept_, expected.intercept_, rtol=1e-9)


@pytest.mark.parametrize("model", PRIVATE, ids=str)
def test_weights_that_are_all_alike_change_no_bit(model, data):
    X, y = data[0], target_of(model, data)
    model = clone(model).set_params(random_state=0)
    plain = clone(model).fit(X, y)
    for alike in (np.ones(N), np.full(N, 0.7), [2] * N):
        assert same(plain, clone(model).fit(X, y, public_weight=alike))
    if "class_weight" in model.get_params():
        assert same(plain, clone(model).set_params(class_weight={"1": 1}).fit(X, y))


@pytest.mark.parametrize("model", PRIVATE, ids=str)
def test_a_record_of_weight_0_is_not_there(model, data):
    """Whatever is in it, the intercept and moments included; its weight stays with the place."""
    X, y = data[0], target_of(model, data).copy()
    model = clone(model).set_params(random_state=0)
    if hasattr(model, "data_norm"):
        model.set_params(data_norm=1.0)
    weights = np.linspace(0.5, 2.0, N)
    weights[7] = 0.0
    plain = clone(model).fit(X, y, public_weight=weights)
    if not isinstance(model, WALRClassifier):
        X = X.copy()
        X[7] = 1e3
    y[7] = 3.0 if y.dtype.kind == "f" else {"0": "1", "1": "0"}[y[7]]
    assert same(plain, clone(model).fit(X, y, public_weight=weights))
    weights[7], weights[8] = weights[8], 0.0
    assert not same(plain, clone(model).fit(X, y, public_weight=weights))


@pytest.mark.parametrize("model", PRIVATE, ids=str)
def test_reports_say_that_there_were_weights_and_not_which(model, data):
    X, y = data[0], target_of(model, data)
    weights = np.full(N, 1.0)
    weights[:2] = 0.123456789, 1.987654321
    fit = clone(model).fit(X, y, public_weight=weights)
    told = "the weights of the rows (public_weight)"
    assert told in fit.privacy_report_.assumed_public
    assert told not in clone(model).fit(X, y).privacy_report_.assumed_public
    texts = pickle.dumps(fit, protocol=0).decode("latin-1") + fit.privacy_report_.to_json()
    for weight in (*weights[:2], *(weights[:2] * N / weights.sum())):
        assert repr(float(weight))[:9] not in texts
        assert np.float64(weight).tobytes() not in pickle.dumps(fit)


@pytest.mark.parametrize("model", PRIVATE, ids=str)
def test_public_weight_is_routed_and_sample_weight_is_refused(model, data):
    X, y, counts = data[0], target_of(model, data), data[3]
    model = clone(model).set_params(random_state=0)
    direct = clone(model).fit(X, y, public_weight=counts)
    with pytest.raises(TypeError, match="sample_weight"):
        model.fit(X, y, sample_weight=counts)
    name = type(model).__name__.lower()
    piped = make_pipeline(NormClipper(1e9), clone(model))
    piped.fit(X, y, **{f"{name}__public_weight": counts})
    assert same(piped[-1], direct)
    with config_context(enable_metadata_routing=True):
        model.set_fit_request(public_weight=True)
        routed = make_pipeline(NormClipper(1e9), model).fit(X, y, public_weight=counts)
        assert same(routed[-1], direct)
        search = GridSearchCV(model, {"epsilon": [1.0]}, cv=2).fit(X, y, public_weight=counts)
        assert same(search.best_estimator_, direct)


@pytest.mark.long
@for_each("model", PRIVATE)
@for_each(
    "weights",
    [
        np.ones(N - 1),
        np.ones((N, 1)),
        np.full(N, -1.0),
        np.full(N, np.nan),
        np.full(N, np.inf),
        np.zeros(N),
        np.full(N, 1e16),
        np.full(N, 1e-16),
        ["a"] * N,
        2.0,
    ],
)
def test_weights_that_are_none_are_refused_before_there_is_noise(weights, model, data, no_start):
    with pytest.raises(ValueError, match="public_weight must"):
        clone(model).fit(data[0], target_of(model, data), public_weight=weights)


@pytest.fixture
def no_start(monkeypatch):
    def start(plan, random_state):
        raise AssertionError("noise has begun")

    monkeypatch.setattr(Plan, "start", start)


REFUSED = {
    "balanced": "1 / \\(n_classes \\* share\\)",
    "none of the classes": "a key that is none of the classes",
    "negative": "0 or within",
    "all of them none": "above 0",
    "text": "must be a real number",
}
WRONG = {
    "balanced": "balanced",
    "none of the classes": {"2": 1.0},
    "negative": {"0": -1.0},
    "all of them none": {"0": 0.0, "1": 0.0},
    "text": {"0": "1"},
}


@pytest.mark.long
@for_each("wrong", REFUSED)
@for_each("model", WEIGH_CLASSES)
@pytest.mark.parametrize("classes", [None, LABELS], ids=["read", "declared"])
def test_class_weights_that_are_none_are_refused_before_there_is_noise(
    classes, model, wrong, data, no_start
):
    model = clone(model).set_params(class_weight=WRONG[wrong], classes=classes)
    calibrated = DPCalibratedClassifier(model)
    search = DPGridSearch(model, {"alpha": [1e-3, 1e-2]})
    for private in (model, calibrated, search):
        with pytest.raises(ValueError, match=REFUSED[wrong]):
            private.fit(*data[:2])


@pytest.mark.long
@pytest.mark.parametrize("model", WEIGH_CLASSES[:3], ids=str)
def test_what_surrounds_a_fit_weighs_classes_and_refuses_weights_of_rows(model, data):
    X, y, _, counts = data
    model = clone(model).set_params(class_weight={"1": 30.0})
    for surrounding in (
        DPCalibratedClassifier(model, epsilon=50.0, random_state=0),
        DPGridSearch(model, {"alpha": [1e-3]}, epsilon=50.0, random_state=0),
    ):
        with pytest.raises((TypeError, ValueError), match="public_weight"):
            surrounding.fit(X, y, public_weight=counts)
        surrounding.fit(X, y)
        inner = getattr(surrounding, "estimator_", getattr(surrounding, "best_estimator_", None))
        assert (inner.predict(X) == "1").mean() > (y == "1").mean() + 0.1
    # Calibration counts all records alike: probabilities are of the records as they are.
    calibrated = DPCalibratedClassifier(model, epsilon=50.0, random_state=0).fit(X, y)
    assert abs(calibrated.predict_proba(X)[:, 1].mean() - (y == "1").mean()) < 0.1


def test_walr_has_no_weights_of_classes():
    assert "class_weight" not in inspect.signature(WALRClassifier).parameters


def test_calls_are_divided_by_their_own_weights(data):
    """One step of a weighted mean, with and without weights of classes."""
    X, y, t, counts = data
    options = {"mechanism": "laplace", "epsilon": INF, "average": False, "eta0": 0.1}
    options |= {"fit_intercept": False, "alpha": 1e-30}
    rows, signs = (
        clip_rows(X, data_norm=1.0, fit_intercept=False, clip=False).X,
        np.sign((y == "1") - 0.5),
    )
    found = DPSGDRegressor(**options).partial_fit(X, t, public_weight=counts)
    np.testing.assert_allclose(found.coef_, 0.1 * (counts * t) @ rows / counts.sum())
    model = DPSGDClassifier(class_weight=OF_CLASSES, **options)
    found = model.partial_fit(X, y, classes=LABELS, public_weight=counts)
    of_labels = np.where(y == "1", 3.0, 0.6)
    np.testing.assert_allclose(
        found.coef_[0], 0.05 * (counts * of_labels * signs) @ rows / counts.sum()
    )


@pytest.mark.long
@pytest.mark.parametrize("model", [DPLogisticRegression(), DPSGDClassifier(), DPSCDClassifier()])
def test_threads_change_no_bit_of_weighted_fits(model, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30_000, 60)), rng.integers(0, 2, 30_000)
    model = clone(model).set_params(class_weight={1: 7.0}, random_state=0, delta=1e-6)
    if hasattr(model, "batch_size"):
        model.set_params(batch_size=20_000, max_iter=2)
    weights = rng.uniform(0.0, 3.0, 30_000)
    one, two = (
        clone(model).set_params(n_jobs=n_jobs).fit(X, y, public_weight=weights) for n_jobs in (1, 2)
    )
    assert same(one, two)


@pytest.mark.long
@pytest.mark.parametrize("loss", ["log_loss", "hinge"])
def test_the_duality_gap_is_that_of_the_weighted_objective(loss, data):
    X, y, _, counts = data
    model = DPSCDClassifier(loss=loss, class_weight=OF_CLASSES, max_iter=300, **LAST, **PLAIN)
    found = fitted(model, X, y, public_weight=counts)
    assert duality_gap(found, X, y, public_weight=counts) < 1e-4
    assert duality_gap(found, X, y) > 1e-3


@pytest.mark.parametrize("mechanism", ["analytic", "randomized_response"])
def test_aggregates_are_of_weighted_rows(mechanism, data):
    X, y, _, counts = data
    options = {"mechanism": mechanism, "classes": LABELS, "epsilon": 2.0, "random_state": 0}
    made = label_aggregate(X, y, public_weight=counts, **options)
    direct = WALRClassifier(**options).fit(X, y, public_weight=counts)
    assert direct.aggregate_.to_json().split('"names"')[0] == made.to_json().split('"names"')[0]
    read = LabelAggregate.from_json(made.to_json())
    assert read.weighted
    assert same(direct, WALRClassifier(epsilon=2.0).fit_aggregate(X, read, public_weight=counts))
    assert len(walr_path(X, read, public_weight=counts, alphas=3)[0]) == 3
    for train in (
        lambda: WALRClassifier(epsilon=2.0).fit_aggregate(X, read),
        lambda: walr_path(X, read, public_weight=counts[::-1]),
    ):
        with pytest.raises(ValueError, match="other scales or weights"):
            train()
    plain = label_aggregate(X, y, **options)
    assert not plain.weighted
    if mechanism == "analytic":
        # The longest row is longer by its weight.
        lengths = np.hypot(np.linalg.norm(X, axis=1), plain.bias)
        longest = (counts * lengths).max() * N / counts.sum()
        assert made.sensitivity / plain.sensitivity == pytest.approx(
            longest / lengths.max(), rel=0.01
        )
    content = json.loads(plain.to_json())
    del content["weighted"]
    assert LabelAggregate.from_json(json.dumps(content)) == plain


@pytest.fixture(scope="module")
def rare():
    """Rows of which 21 % are positive, by a model that is known."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 5))
    return X, (X[:, 0] - X[:, 1] + rng.standard_normal(20_000) > 1.2).astype(int)


@pytest.mark.long
@pytest.mark.parametrize("weights", [{0: 1.0, 1: 20.0}, {0: 20.0, 1: 20.0}], ids=str)
def test_dpcd_with_a_large_budget_is_near_the_fit_without_noise(weights, rare):
    model = DPCDClassifier(
        alpha=1e-4, classes=[0, 1], class_weight=weights, data_norm=4.0, random_state=0
    )
    quiet, exact = (clone(model).set_params(epsilon=epsilon).fit(*rare) for epsilon in (1e3, INF))
    np.testing.assert_allclose(quiet.coef_, exact.coef_, atol=0.1)
    np.testing.assert_allclose(quiet.intercept_, exact.intercept_, atol=0.1)


@pytest.mark.long
@pytest.mark.parametrize("weights", [{0: 50.0, 1: 50.0}, {0: 1.0, 1: 50.0}], ids=str)
def test_dpcd_without_noise_reaches_the_optimum_of_heavy_classes(weights, rare):
    X, y = rare
    n, bias = len(y), 10.0 / 3.0
    model = DPCDClassifier(
        penalty="l2",
        alpha=0.5,
        epsilon=INF,
        classes=[0, 1],
        class_weight=weights,
        data_norm=10.0,
        ball_budget=0,
        random_state=0,
    ).fit(X, y)
    # Intercepts are penalised through a column of a third of data_norm.
    exact = LogisticRegression(C=1.0 / (0.5 * n), fit_intercept=False, tol=1e-10)
    exact.fit(np.c_[X, np.full(n, bias)], y, sample_weight=np.where(y, weights[1], weights[0]))
    np.testing.assert_allclose(model.coef_, exact.coef_[:, :5], atol=1e-4)
    np.testing.assert_allclose(model.intercept_, bias * exact.coef_[:, 5], atol=1e-4)


@pytest.mark.long
@pytest.mark.parametrize(
    "weights", [{0: 1.0, 1: 20.0}, {0: 5.0, 1: 50.0}, {0: 20.0, 1: 20.0}], ids=str
)
def test_private_whitening_is_near_the_optimum_of_heavy_classes(weights, rare):
    model = DPLogisticRegression(
        classes=[0, 1], class_weight=weights, data_norm=4.0, delta=1e-6, random_state=0
    )
    exact = clone(model).set_params(epsilon=INF, max_iter=300).fit(*rare)
    for epsilon in (1.0, 1e3):
        found = clone(model).set_params(epsilon=epsilon).fit(*rare)
        np.testing.assert_allclose(found.coef_, exact.coef_, atol=0.25)
        np.testing.assert_allclose(found.intercept_, exact.intercept_, atol=0.25)


@pytest.mark.long
def test_steps_are_shorter_for_heavy_classes_alone(rare):
    X, y = rare
    model = DPLogisticRegression(classes=[0, 1], random_state=0)
    weights = np.linspace(0.0, 2.0, len(y))
    for of_classes, size in ((None, 4.0), ({0: 0.1, 1: 0.2}, 4.0), ({0: 4.0, 1: 16.0}, 0.5)):
        fit = clone(model).set_params(class_weight=of_classes).fit(X, y, public_weight=weights)
        assert fit.step_size_ == pytest.approx(size)
    assert model.set_params(class_weight={1: 16.0}, epsilon=INF).fit(X, y).step_size_ == 4.0


def test_weights_of_a_sum_of_aggregates_are_those_of_each_over_their_mean(data):
    X, y, _, counts = data
    halves = slice(0, N // 2), slice(N // 2, N)
    options = {"mechanism": "analytic", "noise_shape": "spherical", "classes": LABELS}
    options |= {"data_norm": 2.0}
    one, two = counts[halves[0]], 3.0 * counts[halves[1]]
    first, second = (
        label_aggregate(X[half], y[half], public_weight=weights, **options)
        for half, weights in zip(halves, (one, two), strict=True)
    )
    weights = np.concatenate([one / np.mean(one), two / np.mean(two)])
    model = WALRClassifier(**options).fit_aggregate(X, first + second, public_weight=weights)
    assert np.isfinite(model.coef_).all()
    with pytest.raises(ValueError, match="other scales or weights"):
        clone(model).fit_aggregate(X, first + second, public_weight=np.concatenate([one, two]))


def test_calls_count_ratios_alone_and_not_all_may_be_0(data):
    X, _, t, counts = data
    model = DPSGDRegressor(mechanism="laplace", random_state=0)
    one, two = (clone(model).partial_fit(X, t, public_weight=c) for c in (counts, 8.0 * counts))
    assert same(one, two)
    with pytest.raises(ValueError, match="an entry above 0"):
        one.partial_fit(X, t, public_weight=0.0 * counts)
