import copy
import math
import numbers
import pickle

import numpy as np
import pytest
import sklearn
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skdp.exceptions import PrivacyWarning
from skdp.linear_model import DPSGDClassifier, DPSGDRegressor
from tests._loops import for_each, points_at
from tests._objectives import penalty_value
from tests.door import (
    DPSGD,
    LOSSES,
    Huber,
    LaplaceMechanism,
    Multinomial,
    beside,
    make_penalty,
    row_bounds_module as module,
)

pytestmark = pytest.mark.filterwarnings("ignore:(target_bounds=N|the size of)")

INF = float("inf")
BOTH = [DPSGDClassifier, DPSGDRegressor]


def augmented(X, fit_intercept):
    return np.hstack([X, np.full((len(X), 1), 1.0 / 3.0)]) if fit_intercept else X


def objective(loss, X, y, weights, penalty):
    """Mean loss plus penalty of weights of shape (k, d) on targets of shape (n, k)."""
    return loss.value(y, X @ weights.T).sum() / len(X) + penalty_value(penalty, weights)


def fitted_weights(model):
    """Weights of the augmented rows, for data_norm=1."""
    coef, intercept = np.atleast_2d(model.coef_), np.reshape(model.intercept_, (-1, 1))
    return np.hstack([coef, 3.0 * intercept]) if model.fit_intercept else coef


def signed(y):
    return np.where(y == 1, 1.0, -1.0)[:, np.newaxis]


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize(
    ("loss", "alpha", "options"),
    [
        ("squared_error", 1e-2, {"batch_size": 442, "max_iter": 2000}),
        ("log_loss", 1e-3, {"batch_size": 569, "max_iter": 4000}),
        ("log_loss", 1e-2, {"max_iter": 100}),
        ("hinge", 1e-2, {"batch_size": 569, "max_iter": 5000}),
        ("hinge", 1e-2, {"learning_rate": "inv_alpha", "max_iter": 200}),
    ],
)
def test_without_privacy_scikit_learns_optimum_is_reached(
    loss, alpha, options, fit_intercept, cancer, diabetes, sklearn_optimum
):
    """Objective within 1e-3 of Ridge, LogisticRegression and LinearSVC on real records."""
    X, y = diabetes if loss == "squared_error" else cancer
    settings = {"alpha": alpha, "epsilon": INF, "fit_intercept": fit_intercept, "random_state": 0}
    if loss == "squared_error":
        model, targets = (
            DPSGDRegressor(ball_budget=0, **settings, **options).fit(X, y),
            y[:, np.newaxis],
        )
    else:
        model = DPSGDClassifier(ball_budget=0, loss=loss, **settings, **options).fit(X, y)
        targets = signed(y)
    X, penalty = augmented(X, fit_intercept), make_penalty("l2", alpha)
    best = sklearn_optimum(loss, X, targets[:, 0], alpha)[np.newaxis]
    best, found = (
        objective(LOSSES[loss], X, targets, w, penalty) for w in (best, fitted_weights(model))
    )
    assert found <= best * (1.0 + 1e-3)
    assert model.privacy_report_.epsilon == INF
    assert model.clipping_norm_ == INF


@pytest.mark.long
def test_without_privacy_sgd_classifiers_objective_is_reached(cancer):
    X, y = cancer
    penalty = make_penalty("elasticnet", 1e-3, 0.3)
    options = {"penalty": "elasticnet", "alpha": 1e-3, "l1_ratio": 0.3, "random_state": 0}
    theirs = SGDClassifier(
        loss="log_loss", fit_intercept=False, max_iter=3000, tol=None, average=True, **options
    ).fit(X, y)
    ours = DPSGDClassifier(
        ball_budget=0, epsilon=INF, fit_intercept=False, max_iter=3000, batch_size=569, **options
    ).fit(X, y)
    best, found = (
        objective(LOSSES["log_loss"], X, signed(y), model.coef_, penalty)
        for model in (theirs, ours)
    )
    assert found <= best + 1e-3
    # The proximal step gives exact zeros where the optimum has them.
    last = ours.set_params(average=False, penalty="l1", alpha=1e-2).fit(X, y).coef_
    assert 0 < np.count_nonzero(last) < 15


@pytest.mark.long
def test_several_classes_are_multinomial():
    """The objective of LogisticRegression's multinomial loss, and its probabilities."""
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    X /= np.linalg.norm(X, axis=1).max()
    alpha = 1e-3
    names = np.array(["barolo", "grignolino", "barbera"], dtype=object)[y]
    theirs = LogisticRegression(
        C=1.0 / (len(X) * alpha), fit_intercept=False, max_iter=10_000, tol=1e-10
    ).fit(X, names)
    ours = DPSGDClassifier(
        ball_budget=0,
        alpha=alpha,
        epsilon=INF,
        fit_intercept=False,
        max_iter=4000,
        batch_size=len(X),
    ).fit(X, names)
    assert list(ours.classes_) == list(theirs.classes_)
    targets = np.where(names[:, np.newaxis] == ours.classes_, 1.0, -1.0)
    best, found = (
        objective(Multinomial(3), X, targets, model.coef_, make_penalty("l2", alpha))
        for model in (theirs, ours)
    )
    assert found <= best * (1.0 + 1e-3)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=0.02)
    np.testing.assert_allclose(np.exp(ours.predict_log_proba(X)), ours.predict_proba(X), rtol=1e-12)
    hinge = DPSGDClassifier(ball_budget=0, loss="hinge").fit(X, names)
    assert hinge.coef_.shape == (3, 13)
    with pytest.raises(AttributeError, match="predict_proba"):
        hinge.predict_proba(X)


@pytest.mark.long
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("loss", ["squared_error", "huber"])
@pytest.mark.parametrize(
    "penalty", ["l2", "l1", pytest.param("elasticnet", marks=pytest.mark.long)]
)
def test_target_bounds_leave_the_objective_in_the_users_units(
    loss, penalty, fit_intercept, diabetes
):
    """Training on scaled targets finds the optimum of the objective on the targets as given."""
    X, y = diabetes
    y = 50.0 * y + (80.0 if fit_intercept else 0.0)
    bounds = (30.0, 130.0) if fit_intercept else (-20.0, 50.0)
    alpha = {"l2": 1e-2, "l1": 0.3, "elasticnet": 0.02}[penalty]
    model = DPSGDRegressor(
        ball_budget=0,
        loss=loss,
        huber_threshold=15.0,
        penalty=penalty,
        alpha=alpha,
        fit_intercept=fit_intercept,
        epsilon=INF,
        target_bounds=bounds,
        max_iter=4000,
        batch_size=len(X),
        random_state=0,
    ).fit(X, y)
    middle = 80.0 if fit_intercept else 0.0
    of_user = {"squared_error": LOSSES["squared_error"], "huber": Huber(15.0)}[loss]
    X, target = augmented(X, fit_intercept), (y - middle)[:, np.newaxis]
    strength = make_penalty(penalty, alpha, 0.5)
    weights = fitted_weights(model)
    weights[:, -1] -= 3.0 * middle
    found = objective(of_user, X, target, weights, strength)
    # A plain proximal gradient descent on the objective as the user states it.
    best = np.zeros_like(weights)
    for _ in range(8000):
        slope = of_user.gradient(target, X @ best.T).T @ X / len(X)
        best = strength.prox(best - slope / 2.0, 0.5)
    best = objective(of_user, X, target, best, strength)
    assert found <= best * (1.0 + 1e-4)
    assert found < 0.99 * objective(of_user, X, target, 0.0 * weights, strength)


@pytest.mark.long
def test_without_privacy_bounds_do_not_clip_and_the_projection_does_not_cut(diabetes):
    X, y = diabetes
    options = {"alpha": 1e-2, "epsilon": INF, "batch_size": 442, "max_iter": 2000}
    for loss in ("squared_error", "huber"):
        free, tight = (
            DPSGDRegressor(ball_budget=0, loss=loss, fit_intercept=False, **more, **options).fit(
                X, y
            )
            for more in ({}, {"data_norm": 0.1, "target_bounds": (-0.1, 0.1)})
        )
        np.testing.assert_allclose(tight.coef_, free.coef_, rtol=1e-4, atol=1e-6)
    ridge = Ridge(alpha=4.42, fit_intercept=False).fit(X, y)
    free = DPSGDRegressor(ball_budget=0, fit_intercept=False, **options).fit(X, y)
    np.testing.assert_allclose(free.coef_, ridge.coef_, atol=1e-3)


@pytest.mark.long
@pytest.mark.parametrize("data_norm", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
@pytest.mark.parametrize("loss", ["log_loss", "hinge"])
def test_the_ball_contains_the_optimum(loss, penalty, data_norm, cancer, monkeypatch):
    """With bounds that clip nothing and no noise to speak of, cutting changes nothing."""
    X, y = cancer
    radii = []
    original = DPSGD.plan

    def spy(*args, **options):
        plan = original(*args, **options)
        radii.append(plan.radius)
        return plan

    monkeypatch.setattr(DPSGD, "plan", spy)
    for alpha in (1e-4, 1e-1, 10.0):
        options = {"loss": loss, "penalty": penalty, "alpha": alpha, "data_norm": data_norm}
        DPSGDClassifier(ball_budget=0, max_iter=1, **options).fit(data_norm * X, y)
        free = DPSGDClassifier(
            ball_budget=0, epsilon=INF, batch_size=569, max_iter=300, **options
        ).fit(data_norm * X, y)
        length = math.hypot(np.linalg.norm(free.coef_), free.intercept_[0] / data_norm)
        assert length <= radii[-2] * (1.0 + 1e-9)
        assert radii[-1] == INF


@pytest.mark.long
def test_target_bounds_only_change_the_units(diabetes):
    X, y = diabetes
    options = {"random_state": 0, "clipping_norm": 0.1}
    plain = DPSGDRegressor(ball_budget=0, **options).fit(X, y)
    scaled = DPSGDRegressor(ball_budget=0, target_bounds=(60.0, 100.0), **options).fit(
        X, 80.0 + 20.0 * y
    )
    np.testing.assert_allclose(scaled.coef_, 20.0 * plain.coef_, rtol=1e-6)
    np.testing.assert_allclose(scaled.predict(X), 80.0 + 20.0 * plain.predict(X), rtol=1e-6)
    wild, tame = y.copy(), y.copy()
    wild[3:5], tame[3:5] = (1e300, -1e300), (1.0, -1.0)
    model = DPSGDRegressor(ball_budget=0, target_bounds=(-1.0, 1.0), random_state=0)
    np.testing.assert_array_equal(model.fit(X, wild).coef_, model.fit(X, tame).coef_)


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_threads_are_used_and_change_no_bit(n_outputs, mechanism, rng):
    from tests.door import threads_module as _threads

    n_rows, n_features = 24_000, 90
    X = rng.standard_normal((n_rows, n_features), dtype=np.float32)
    y = rng.uniform(-1, 1, (n_rows, n_outputs))
    calls = []

    class Spy(_threads.ThreadPoolExecutor):
        def submit(self, *args):
            calls.append(self._max_workers)
            return super().submit(*args)

    fits = []
    for n_jobs in (None, 2, 4):
        model = DPSGDRegressor(
            ball_budget=0,
            batch_size=n_rows,
            max_iter=2,
            random_state=0,
            n_jobs=n_jobs,
            mechanism=mechanism,
        )
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_threads, "ThreadPoolExecutor", Spy)
            fits.append(pickle.dumps((model.fit(X, y).coef_, model.intercept_)))
    assert fits[0] == fits[1] == fits[2]
    assert calls == [1] * 2 + [3] * 6


@pytest.mark.long
def test_rows_are_not_copied_or_changed(cancer, monkeypatch):
    X, y = cancer
    X = np.ascontiguousarray(100.0 * X)
    X.setflags(write=False)
    seen, original = [], module.clip_rows

    def spy(rows, **options):
        seen.append(original(rows, **options))
        return seen[0]

    monkeypatch.setattr(module, "clip_rows", spy)
    DPSGDClassifier(
        ball_budget=0,
    ).fit(X, y)
    assert np.shares_memory(seen[0].X, X)


@pytest.mark.long
@pytest.mark.parametrize("estimator", BOTH)
@pytest.mark.parametrize("name", ["plan_dpsgd", "plan_dpsgd_laplace", "plan_dpsgd_stream"])
def test_the_plan_is_made_of_public_scalars(estimator, name, cancer, monkeypatch):
    from tests.door import dpsgd_method_module as common

    mechanism = "gaussian" if name == "plan_dpsgd" else "laplace"
    calls, original = [], getattr(common, name)

    def spy(problem, budget, steps, **arguments):
        given = {**vars(problem), **vars(budget), **vars(steps), **arguments}
        given |= vars(given.pop("loss")) | given.pop("scale")._asdict()
        for learnt in ("target_releases", "ball"):
            given[learnt] = str(beside(given.get(learnt)))
        calls.append(given)
        return original(problem, budget, steps, **arguments)

    monkeypatch.setattr(common, name, spy)
    X, y = cancer
    for rows in (X, 1e5 * X[::-1] ** 3):
        model = estimator(mechanism=mechanism)
        if name == "plan_dpsgd_stream":
            model.partial_fit(rows, y, **({"classes": [0, 1]} if hasattr(model, "classes") else {}))
        else:
            model.fit(rows, y)
    assert calls[0] == calls[1]
    for value in calls[0].values():
        assert value is None or isinstance(value, numbers.Number | str)


@pytest.mark.long
def test_learning_rates_and_averaging_are_passed_on(cancer):
    X, y = cancer
    fits = [
        DPSGDClassifier(ball_budget=0, random_state=0, alpha=1e-2, **options).fit(X, y)
        for options in (
            {"eta0": 0.5},
            {"eta0": 0.5, "learning_rate": "invscaling"},
            {"eta0": 0.5, "learning_rate": "invscaling", "power_t": 0.9},
            {"eta0": 0.5, "learning_rate": "inv_alpha"},
            {"eta0": 0.5, "average": False},
        )
    ]
    assert np.unique([model.coef_[0, 0] for model in fits]).size == len(fits)
    assert [model.eta0_ for model in fits] == [0.5, 0.5, 0.5, 100.0, 0.5]
    flat = DPSGDClassifier(
        ball_budget=0, random_state=0, alpha=1e-2, eta0=0.5, learning_rate="invscaling", power_t=0.0
    )
    np.testing.assert_array_equal(flat.fit(X, y).coef_, fits[0].coef_)


BAD_PARAMETERS = [
    {"epsilon": 0.0},
    {"epsilon": 1e-10, "mechanism": "laplace"},
    {"epsilon": 1e7, "mechanism": "laplace"},
    {"delta": 0.0},
    {"delta": 1.0},
    {"penalty": "l0"},
    {"penalty": None},
    {"alpha": 0.0},
    {"l1_ratio": 1.5},
    {"l1_ratio": math.nan},
    {"mechanism": "exponential"},
    {"accountant": "rdp", "adjacency": "replace_one"},
    {"learning_rate": "optimal"},
    {"eta0": 0.0},
    {"eta0": -1.0},
    {"eta0": math.inf},
    {"eta0": "big"},
    {"power_t": -0.5},
    {"power_t": math.nan},
    {"max_iter": 0},
    {"max_iter": "many"},
    {"batch_size": 0},
    {"clipping_norm": 0.0},
    {"n_jobs": 0},
    {"loss": "modified_huber"},
]


@for_each("estimator", BOTH)
@for_each("parameters", BAD_PARAMETERS)
def test_bad_parameters_are_refused_by_name_before_any_noise(
    estimator, parameters, cancer, monkeypatch
):
    from tests.door import mechanisms_module as mechanisms

    def never(*args):
        raise AssertionError("noise was drawn")

    monkeypatch.setattr(mechanisms._OnGrid, "release", never)
    with pytest.raises(ValueError, match=next(iter(parameters))):
        estimator(**parameters).fit(*cancer)


@pytest.mark.parametrize("threshold", [0.0, -1.0, math.inf])
def test_bad_huber_thresholds_are_refused(threshold, diabetes):
    with pytest.raises(ValueError, match="huber_threshold"):
        DPSGDRegressor(ball_budget=0, loss="huber", huber_threshold=threshold).fit(*diabetes)


@pytest.mark.long
def test_public_warnings_point_to_the_caller(cancer):
    X, y = cancer
    for mechanism in ("gaussian", "laplace"):
        with pytest.warns(UserWarning, match=r"batch_size=1000 .* n_samples=569") as caught:
            model = DPSGDClassifier(ball_budget=0, batch_size=1000, mechanism=mechanism).fit(X, y)
        assert points_at(caught[0], __file__)
        assert model.batch_size_ == 569
    with pytest.warns(PrivacyWarning, match="delta is larger") as caught:
        DPSGDClassifier(ball_budget=0, delta=0.01).fit(X, y)
    assert points_at(caught[0], __file__)
    DPSGDClassifier(delta=0.01, mechanism="laplace").fit(X, y)


# The pure mechanism.


@pytest.mark.parametrize("estimator", BOTH)
@pytest.mark.parametrize(("adjacency", "factor"), [("zero_out", 1.0), ("replace_one", 2.0)])
@pytest.mark.parametrize("max_iter", ["auto", 1, 4])
def test_laplace_noise_gives_a_pure_guarantee(estimator, adjacency, factor, max_iter, cancer):
    X, y = cancer
    model = estimator(
        mechanism="laplace", adjacency=adjacency, max_iter=max_iter, epsilon=0.7, batch_size=40
    ).fit(X, y)
    report = model.privacy_report_
    n_passes = 1 if max_iter == "auto" else max_iter
    assert repr(report) == "(0.7, 0)-DP"
    assert (report.delta, report.adjacency, model.n_iter_) == (0.0, adjacency, n_passes)
    assert report.noise_multiplier == pytest.approx(factor * n_passes / 0.7)
    assert report.n_releases == n_passes * 15
    assert report.epsilon_at(0.0) <= 0.7
    assert model.batch_size_ == 40


def test_laplace_noise_learns_something(cancer):
    X, y = cancer
    scores = [
        DPSGDClassifier(mechanism="laplace", epsilon=5.0, random_state=seed).fit(X, y).score(X, y)
        for seed in range(5)
    ]
    assert np.mean(scores) > 0.75


# Personal budgets.


def spied_multipliers(model, *args, **options):
    """Noise multipliers of the releases of a fit."""
    made, original = [], LaplaceMechanism.release

    def release(self, value, stream):
        made.append(self.noise_multiplier)
        return original(self, value, stream)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LaplaceMechanism, "release", release)
        model.fit(*args, **options)
    return made


@pytest.mark.filterwarnings("ignore:This DPSGD\\w+ was fitted with a seed")
def test_a_batch_serves_its_most_demanding_member(cancer):
    X, y = cancer
    budgets = np.random.default_rng(0).uniform(0.1, 0.9, len(X))
    model = DPSGDClassifier(mechanism="laplace", max_iter=2, batch_size=30, random_state=0)
    made = spied_multipliers(model, X, y, sample_epsilon=budgets)
    assert len(made) == model.privacy_report_.n_releases == 2 * 19
    smallest = 2.0 / np.array(made)
    # Records of about the same budget share a batch, and batches come in random order.
    asked = np.sort(1.0 / budgets)
    ends = np.arange(1, 20) * len(X) // 19
    expected = np.sort(1.0 / asked[ends - 1])
    for part in (smallest[:19], smallest[19:]):
        np.testing.assert_allclose(np.sort(part), expected)
        assert part.min() == pytest.approx(budgets.min())
        assert not np.array_equal(np.argsort(part), np.arange(19))
    report = model.privacy_report_
    assert report.epsilon == budgets.max() <= model.epsilon
    assert report.events[0].largest_multiplier == pytest.approx(2.0 / budgets.min())
    assert "its own epsilon" in " ".join(report.to_text().split())
    assert len(pickle.dumps(model)) < len(pickle.dumps(budgets))
    alone = spied_multipliers(model, X, y, sample_epsilon=list(np.ones(len(X))))
    assert alone == spied_multipliers(model, X, y)


def test_the_plan_does_not_depend_on_the_rows_with_personal_budgets(cancer):
    X, y = cancer
    budgets = np.linspace(0.2, 1.0, len(X))
    model = DPSGDClassifier(mechanism="laplace", random_state=0)
    one = spied_multipliers(model, X, y, sample_epsilon=budgets)
    assert one == spied_multipliers(model, X[::-1] ** 3, 1 - y, sample_epsilon=budgets)


BAD_BUDGETS = {
    "above": lambda n: np.full(n, 1.5),
    "zero": lambda n: np.zeros(n),
    "negative": lambda n: np.full(n, -0.1),
    "nan": lambda n: np.where(np.arange(n) == 3, np.nan, 0.5),
    "short": lambda n: np.full(n - 1, 0.5),
    "two columns": lambda n: np.full((n, 2), 0.5),
    "number": lambda n: 0.5,
    "words": lambda n: ["much"] * n,
    "tiny": lambda n: np.full(n, 1e-12),
}


@pytest.mark.parametrize("estimator", BOTH)
@pytest.mark.parametrize("budget", BAD_BUDGETS)
def test_bad_personal_budgets_are_refused(estimator, budget, cancer):
    X, y = cancer
    with pytest.raises(ValueError, match="epsilon"):
        estimator(mechanism="laplace").fit(X, y, sample_epsilon=BAD_BUDGETS[budget](len(X)))


@pytest.mark.parametrize("options", [{}, {"mechanism": "laplace", "epsilon": INF}], ids=str)
def test_personal_budgets_need_laplace_noise_and_privacy(options, cancer):
    X, y = cancer
    with pytest.raises(ValueError, match="sample_epsilon needs"):
        DPSGDClassifier(ball_budget=0, **options).fit(X, y, sample_epsilon=np.full(len(X), 0.5))


@pytest.mark.long
def test_personal_budgets_are_routed(cancer):
    X, y = cancer
    budgets = np.linspace(0.2, 0.6, len(X))
    with sklearn.config_context(enable_metadata_routing=True):
        model = DPSGDClassifier(mechanism="laplace").set_fit_request(sample_epsilon=True)
        pipe = make_pipeline(StandardScaler(), model).fit(X, y, sample_epsilon=budgets)
        assert pipe[-1].privacy_report_.epsilon == 0.6
        search = GridSearchCV(model, {"alpha": [1e-3, 1e-2]}, cv=3)
        assert search.fit(X, y, sample_epsilon=budgets).best_estimator_.privacy_report_.epsilon < 1


# Streams.


def parts(X, y, n_parts=6):
    return zip(np.array_split(X, n_parts), np.array_split(y, n_parts), strict=True)


def test_streams_need_laplace_noise(cancer):
    assert not hasattr(
        DPSGDClassifier(
            ball_budget=0,
        ),
        "partial_fit",
    )
    assert not hasattr(
        DPSGDRegressor(
            ball_budget=0,
        ),
        "partial_fit",
    )
    with pytest.raises(AttributeError):
        DPSGDClassifier(
            ball_budget=0,
        ).partial_fit(*cancer, classes=[0, 1])
    assert hasattr(DPSGDRegressor(mechanism="laplace"), "partial_fit")


@pytest.mark.parametrize("estimator", BOTH)
def test_a_streams_epsilon_does_not_grow(estimator, cancer):
    X, y = cancer
    model = estimator(mechanism="laplace", epsilon=0.8, random_state=0)
    more = {"classes": [0, 1]} if estimator is DPSGDClassifier else {}
    for call, (rows, labels) in enumerate(parts(X, y), start=1):
        model.partial_fit(rows, labels, **more)
        more = {}
        report = model.privacy_report_
        assert (report.epsilon, report.delta, report.n_steps) == (0.8, 0.0, 1)
        assert report.n_releases == report.events[0].n_parts == model.n_iter_ == call
        assert report.reproducible
        assert model.batch_size_ == len(rows)
    assert "no record was shown to two" in " ".join(report.to_text().split())
    model.set_params(epsilon=0.5).partial_fit(*next(parts(X, y)))
    assert model.privacy_report_.epsilon == 0.8
    model.set_params(epsilon=2.0).partial_fit(*next(parts(X, y)))
    assert model.privacy_report_.epsilon == 2.0
    assert str(model.privacy_report_.events[0]).endswith("SphericalLaplace(scale 0.5 to 2)")


def test_each_call_of_a_stream_has_noise_of_its_own(cancer):
    """Rows of zeros leave the noise alone. With a seed the calls differ and a rerun agrees."""
    _, y = cancer
    zeros = np.zeros((40, 30))
    options = {"mechanism": "laplace", "average": False, "fit_intercept": False, "eta0": 1.0}
    runs = []
    for _ in range(2):
        model = DPSGDClassifier(ball_budget=0, alpha=1e-30, random_state=5, **options)
        iterates = [np.zeros((1, 30))]
        for _ in range(4):
            model.partial_fit(zeros, y[:40], classes=[0, 1])
            iterates.append(model.coef_)
        runs.append(np.diff(iterates, axis=0).ravel())
    np.testing.assert_array_equal(runs[0], runs[1])
    assert np.unique(np.round(runs[0], 9)).size == runs[0].size
    # Nor is it a fit's noise.
    model.fit(zeros, y[:40])
    assert not np.isin(np.round(model.coef_, 9), np.round(runs[0], 9)).any()


@pytest.mark.filterwarnings("ignore:This DPSGD\\w+ was fitted with a seed")
def test_a_copy_continues_a_stream_and_fit_starts_afresh(cancer):
    X, y = cancer
    chunks = list(parts(X, y))
    model = DPSGDClassifier(mechanism="laplace", random_state=0)
    for rows, labels in chunks[:3]:
        model.partial_fit(rows, labels, classes=[0, 1])
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        other.partial_fit(*chunks[3])
        assert other.n_iter_ == 4
    again = copy.deepcopy(model).partial_fit(*chunks[3])
    np.testing.assert_array_equal(again.coef_, other.coef_)
    fresh = DPSGDClassifier(mechanism="laplace", random_state=0).fit(X, y)
    model.fit(X, y)
    np.testing.assert_array_equal(model.coef_, fresh.coef_)
    assert model.n_iter_ == 1
    # A stream after a fit starts afresh too, with the fit's classes, which were read from y.
    model.partial_fit(*chunks[0])
    first = DPSGDClassifier(mechanism="laplace", random_state=0)
    first.partial_fit(*chunks[0], classes=[0, 1])
    np.testing.assert_array_equal(model.coef_, first.coef_)
    for _ in range(2):
        assert any("read from y" in text for text in model.privacy_report_.assumed_public)
        model.partial_fit(*chunks[1])
    assert not any("read from y" in text for text in first.privacy_report_.assumed_public)


@pytest.mark.filterwarnings("ignore:This DPSGD\\w+ was fitted with a seed")
def test_a_stream_keeps_released_values_only(cancer):
    """Two streams of unrelated rows differ in nothing but in what was released."""
    X, y = cancer
    states = []
    for sign in (1.0, -0.3):
        model = DPSGDClassifier(mechanism="laplace", random_state=0)
        for rows, labels in parts(sign * X[::-1] if sign < 0 else X, y):
            model.partial_fit(rows, labels, classes=[0, 1])
        state = dict(vars(model))
        stream = vars(state.pop("_stream"))
        assert {name for name, value in stream.items() if np.ndim(value) == 2} == {
            "weights",
            "mean",
        }
        for name in ("coef_", "intercept_"):
            state.pop(name)
        kept = {name: value for name, value in stream.items() if name not in ("weights", "mean")}
        states.append(pickle.dumps((state, kept)))
        assert len(pickle.dumps(model)) < X[: len(X) // 6].nbytes
    assert states[0] == states[1]


def test_a_missing_class_of_a_stream_is_named(cancer):
    with pytest.raises(ValueError, match="'classes' parameter must not contain missing"):
        DPSGDClassifier(mechanism="laplace", classes=[0.0, np.nan]).partial_fit(*cancer)


def test_streams_need_the_same_classes_and_units(cancer):
    X, y = cancer
    with pytest.raises(ValueError, match="classes must be given"):
        DPSGDClassifier(mechanism="laplace").partial_fit(X, y)
    model = DPSGDClassifier(mechanism="laplace", classes=[0, 1]).partial_fit(X, y)
    with pytest.raises(ValueError, match="classes must be the same"):
        model.partial_fit(X, y, classes=[0, 2])
    with pytest.raises(ValueError, match="not among the declared"):
        model.partial_fit(X, y + 1)
    for changes in ({"data_norm": 2.0}, {"fit_intercept": False}, {"adjacency": "replace_one"}):
        with pytest.raises(ValueError, match="must stay the same"):
            copy.deepcopy(model).set_params(**changes).partial_fit(X, y)
    assert model.n_iter_ == 1
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :-1], y)
    regressor = DPSGDRegressor(mechanism="laplace", target_bounds=(0.0, 1.0)).partial_fit(X, y)
    with pytest.raises(ValueError, match="must stay the same"):
        regressor.set_params(target_bounds=(0.0, 2.0)).partial_fit(X, y)


@pytest.mark.parametrize("begin", ["fit", "partial_fit"])
@pytest.mark.parametrize(
    "spoilt",
    [
        {"adjacency": "replace_label"},
        {"clipping_norm": 1e300},
        {"clipping_norm": -1.0},
        {"alpha": -1.0},
        {"eta0": 0.0},
        {"epsilon": math.nan},
        {"epsilon": "1"},
        {"data_norm": -1.0},
        {"penalty": "x"},
    ],
    ids=str,
)
def test_parameters_are_checked_in_every_call_of_a_stream(spoilt, begin, cancer):
    X, y = cancer
    model = DPSGDClassifier(mechanism="laplace", classes=[0, 1])
    getattr(model, begin)(X, y)
    before = model.privacy_report_
    with pytest.raises(ValueError, match=next(iter(spoilt))):
        model.set_params(**spoilt).partial_fit(X, y)
    assert model.privacy_report_ is before


def test_what_streams_and_budgets_assume_is_listed(cancer):
    X, y = cancer
    model = DPSGDClassifier(mechanism="laplace", classes=[0, 1])
    model.fit(X, y, sample_epsilon=np.full(len(y), 0.5))
    assert any("sample_epsilon" in line for line in model.privacy_report_.assumed_public)
    model.partial_fit(X, y)
    assert any("partial_fit" in line for line in model.privacy_report_.assumed_public)


@pytest.mark.parametrize("budgets", [["1"] * 569, np.ma.ones(569), np.ones(569, dtype=complex)])
def test_budgets_that_are_no_real_numbers_are_refused(budgets, cancer):
    with pytest.raises(ValueError, match="sample_epsilon"):
        DPSGDClassifier(mechanism="laplace").fit(*cancer, sample_epsilon=budgets)


def test_a_fit_that_fails_late_leaves_no_weights_under_an_old_report(cancer, monkeypatch):
    from tests.door import Plan

    model = DPSGDClassifier(mechanism="laplace", epsilon=0.1, classes=[0, 1], random_state=0)
    before = model.partial_fit(*cancer).coef_.copy()
    kept = model._stream

    def fail(self, **facts):
        raise ValueError("no report")

    monkeypatch.setattr(Plan, "report", fail)
    for call in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match="no report"):
            call(*cancer)
        np.testing.assert_array_equal(model.coef_, before)
        assert model._stream is kept
        assert model.privacy_report_.epsilon == 0.1


def test_a_stream_goes_by_its_own_report(cancer):
    """Whatever was assigned to the public attribute."""
    loud, quiet = (
        DPSGDClassifier(mechanism="laplace", epsilon=epsilon, classes=[0, 1]).partial_fit(*cancer)
        for epsilon in (5.0, 0.1)
    )
    loud.privacy_report_ = quiet.privacy_report_
    assert loud.set_params(epsilon=0.1).partial_fit(*cancer).privacy_report_.epsilon == 5.0


def test_a_stream_keeps_what_its_calls_assumed(diabetes):
    X, y = diabetes
    model = DPSGDRegressor(mechanism="laplace", random_state=0)
    with pytest.warns(UserWarning, match="target_bounds=None"):
        model.partial_fit(X, y)
    model.set_params(target_bounds=(-1, 1)).partial_fit(X, y)
    assert any("scale of the targets" in line for line in model.privacy_report_.assumed_public)


def test_a_failed_fit_on_other_columns_ends_a_stream_by_name(cancer):
    X, y = cancer
    model = DPSGDClassifier(mechanism="laplace", classes=[0, 1]).partial_fit(X, y)
    with pytest.raises(ValueError, match="declared classes"):
        model.fit(X[:, :3], y + 7)
    with pytest.raises(ValueError, match="numbers of columns"):
        model.partial_fit(X[:, :3], y)


@pytest.mark.parametrize("estimator", BOTH)
def test_an_accountant_that_is_none_is_refused_without_validation_too(estimator, cancer):
    with sklearn.config_context(skip_parameter_validation=True):
        for mechanism in ("gaussian", "laplace"):
            with pytest.raises(ValueError, match="accountant"):
                estimator(mechanism=mechanism, accountant="foo").fit(*cancer)
