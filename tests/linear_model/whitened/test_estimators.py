import math
import pickle
import warnings

import numpy as np
import pytest
from sklearn import config_context
from sklearn.datasets import load_linnerud, load_wine
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler

from skdp.accountant import calibrate
from skdp.exceptions import PrivacyWarning
from skdp.linear_model import DPLogisticRegression, DPRidge
from tests._loops import for_each, points_at
from tests.door import blocks_module

pytestmark = pytest.mark.filterwarnings("ignore:(target_bounds=N|the size of)")

INF = float("inf")
BOTH = [DPLogisticRegression, DPRidge]
# Without a learnt ball: rows are clipped about 0, and else stay as they are.
PLAIN = {"ball_budget": 0, "data_norm": 1.0}


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X) / 6.0, y


def augmented(X, fit_intercept, data_norm=1.0):
    return np.column_stack([X, np.full(len(X), data_norm / 3.0)]) if fit_intercept else X


def fitted_weights(model, data_norm=1.0):
    """One row for each output, in the coordinates of the augmented rows."""
    coef = np.atleast_2d(model.coef_)
    if not model.fit_intercept:
        return coef
    return np.column_stack([coef, np.reshape(model.intercept_, (len(coef), 1)) * 3.0 / data_norm])


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("alpha", [1e-4, 1e-2])
@pytest.mark.parametrize("data_norm", [0.1, 1.0, 7.0])
def test_without_privacy_ridge_is_reached(data_norm, alpha, fit_intercept, diabetes):
    X, y = diabetes
    options = {"fit_intercept": fit_intercept, "epsilon": INF, "average": False}
    model = DPRidge(alpha, ball_budget=0, data_norm=data_norm, **options).fit(X, y)
    Z = augmented(X, fit_intercept, data_norm)
    best = Ridge(alpha=len(X) * alpha, fit_intercept=False, tol=1e-14).fit(Z, y).coef_
    found = fitted_weights(model, data_norm)[0]
    np.testing.assert_allclose(found, best, atol=1e-6 * np.abs(best).max())
    assert model.privacy_report_.epsilon == model.clipping_norm_ == INF


@pytest.mark.long
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("alpha", [1e-4, 1e-2])
def test_without_privacy_logistic_regression_is_reached(alpha, fit_intercept, cancer, wine):
    """Two classes, and several by the multinomial loss."""
    for X, y in (cancer, wine):
        options = {"fit_intercept": fit_intercept, "epsilon": INF, "average": False, **PLAIN}
        model = DPLogisticRegression(alpha, max_iter=1000, **options).fit(X, y)
        reference = LogisticRegression(
            C=1.0 / (len(X) * alpha), fit_intercept=False, tol=1e-12, max_iter=10**5
        ).fit(augmented(X, fit_intercept), y)
        best = reference.coef_
        np.testing.assert_allclose(fitted_weights(model), best, atol=1e-6 * np.abs(best).max())
        proba = reference.predict_proba(augmented(X, fit_intercept))
        np.testing.assert_allclose(model.predict_proba(X), proba, atol=1e-6)
        assert model.n_iter_ == 1000


def test_without_privacy_bounds_do_not_clip(diabetes):
    X, y = diabetes
    options = {"alpha": 1e-2, "epsilon": INF, "fit_intercept": False}
    free = DPRidge(data_norm=10.0, **options).fit(X, y)
    tight = DPRidge(data_norm=0.1, target_bounds=(-0.1, 0.1), clipping_norm=1e-9, **options)
    np.testing.assert_allclose(tight.fit(X, y).coef_, free.coef_, rtol=1e-6)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_target_bounds_only_change_the_units(fit_intercept, diabetes):
    X, y = diabetes
    options = {"random_state": 0, "fit_intercept": fit_intercept}
    plain = DPRidge(target_bounds=(-1, 1), **options).fit(X, y)
    if fit_intercept:
        bounds, target = (60.0, 100.0), 80.0 + 20.0 * y
    else:
        bounds, target = (-5.0, 20.0), 20.0 * np.maximum(y, -0.25)
        plain.fit(X, np.maximum(y, -0.25))
    scaled = DPRidge(target_bounds=bounds, **options).fit(X, target)
    np.testing.assert_allclose(scaled.coef_, 20.0 * plain.coef_, rtol=1e-6)
    expected = 80.0 + 20.0 * plain.intercept_ if fit_intercept else 0.0
    np.testing.assert_allclose(scaled.intercept_, expected, rtol=1e-6)
    assert scaled.target_bounds_ == bounds


def test_targets_beyond_their_bounds_are_moved_to_them(diabetes):
    X, y = diabetes
    model = DPRidge(target_bounds=(-1.0, 1.0), random_state=0)
    wild, tame = y.copy(), y.copy()
    wild[3], wild[4] = 1e300, -1e300
    tame[3], tame[4] = 1.0, -1.0
    np.testing.assert_array_equal(model.fit(X, wild).coef_, model.fit(X, tame).coef_)


def test_several_targets_are_those_of_ridge_without_privacy():
    X, y = load_linnerud(return_X_y=True)
    X = StandardScaler().fit_transform(X) / 4.0
    y = (y - y.mean(axis=0)) / y.std(axis=0)
    model = DPRidge(0.05, epsilon=INF, fit_intercept=False, average=False, **PLAIN).fit(X, y)
    ridge = Ridge(alpha=len(X) * 0.05, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(model.coef_, ridge.coef_, atol=1e-6)
    assert model.predict(X).shape == y.shape
    assert model.set_params(fit_intercept=True).fit(X, y).intercept_.shape == (3,)
    one_column = model.fit(X, y[:, :1])
    assert one_column.coef_.shape == (3,)
    assert one_column.predict(X).shape == (len(X),)
    assert isinstance(model.fit(X, y[:, 0]).intercept_, float)


def test_several_classes_of_any_type(wine):
    X, y = wine
    names = np.array(["barolo", "grignolino", "barbera"], dtype=object)[y]
    model = DPLogisticRegression(epsilon=INF, max_iter=100).fit(X, names)
    assert list(model.classes_) == ["barbera", "barolo", "grignolino"]
    assert model.coef_.shape == (3, X.shape[1])
    assert model.intercept_.shape == (3,)
    assert model.decision_function(X).shape == (len(X), 3)
    assert model.score(X, names) > 0.98
    noisy = DPLogisticRegression(epsilon=20.0, random_state=0)
    assert noisy.fit(X, names).score(X, names) > 0.8


@pytest.mark.long
def test_private_fits_are_good_where_there_are_many_rows(rng):
    """Not a benchmark: that what is tested elsewhere without noise is what runs with it."""
    X = rng.standard_normal((20_000, 4)) * [0.5, 0.5, 0.05, 0.005]
    logit = X @ [2.0, -2.0, 20.0, 0.0] + 0.5
    y = (rng.uniform(size=20_000) < 1.0 / (1.0 + np.exp(-logit))).astype(int)
    best = LogisticRegression().fit(X, y).score(X, y)
    assert DPLogisticRegression(random_state=0).fit(X, y).score(X, y) > best - 0.01
    target = np.clip(0.2 * logit, -1.0, 1.0)
    assert DPRidge(target_bounds=(-1, 1), random_state=0).fit(X, target).score(X, target) > 0.9


def test_probabilities(wine):
    X, y = wine
    for labels in (y, y == 1):
        model = DPLogisticRegression(epsilon=1e-3, random_state=0).fit(X, labels)
        proba = model.predict_proba(X)
        assert proba.shape == (len(X), len(model.classes_))
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)
        np.testing.assert_array_equal(model.classes_[proba.argmax(axis=1)], model.predict(X))
        np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), proba, atol=1e-300)


def test_declared_classes(cancer):
    X, y = cancer
    read = DPLogisticRegression(random_state=0).fit(X, y)
    declared = DPLogisticRegression(classes=[1, 0], random_state=0).fit(X, y)
    np.testing.assert_array_equal(read.coef_, declared.coef_)
    np.testing.assert_array_equal(declared.classes_, [0, 1])
    assert any("read from y" in text for text in read.privacy_report_.assumed_public)
    assert not any("read from y" in text for text in declared.privacy_report_.assumed_public)
    three = DPLogisticRegression(classes=[0, 1, 2]).fit(X, y)
    assert three.coef_.shape == (3, X.shape[1])
    with pytest.raises(ValueError, match="not among the declared classes"):
        DPLogisticRegression(classes=[0, 7]).fit(X, y)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, INF])
def test_float32_rows_give_nearly_the_same_model(epsilon, cancer):
    X, y = cancer
    model = DPLogisticRegression(epsilon=epsilon, alpha=1e-2, random_state=0)
    double = model.fit(X, y).coef_
    single = model.fit(X.astype(np.float32), y).coef_
    np.testing.assert_allclose(single, double, rtol=1e-3, atol=1e-3 * np.abs(double).max())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_are_not_copied_or_changed(dtype, cancer, monkeypatch):
    from tests.door import row_bounds_module as module

    X, y = cancer
    X = np.ascontiguousarray(100.0 * X, dtype=dtype)
    X.setflags(write=False)
    seen = []
    original = module.clip_rows

    def spy(rows, **options):
        seen.append(original(rows, **options))
        return seen[0]

    monkeypatch.setattr(module, "clip_rows", spy)
    DPLogisticRegression(**PLAIN).fit(X, y)
    assert np.shares_memory(seen[0].X, X)


@pytest.mark.long
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_memory_maps_and_threads_change_no_bit(dtype, cancer, tmp_path, monkeypatch):
    monkeypatch.setattr(blocks_module, "WORTHWHILE_ENTRIES", 0)
    monkeypatch.setattr(blocks_module, "_MOST_ROWS", 16)
    monkeypatch.setattr(blocks_module, "_LEAST_ROWS", 16)
    X, y = cancer
    X = (5.0 * X).astype(dtype)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    for estimator in BOTH:
        fits = {
            pickle.dumps((model.coef_, model.intercept_))
            for rows in (X, mapped)
            for n_jobs in (None, 2, 3)
            for model in [estimator(n_jobs=n_jobs, random_state=0).fit(rows, y)]
        }
        assert len(fits) == 1


@pytest.mark.long
@pytest.mark.parametrize("estimator", BOTH)
@for_each("adjacency", ["zero_out", "replace_one"])
@for_each("share", ["auto", 0.0, 0.5])
@for_each("of_ball, data_norm, copies", [(0, 1.0, 1), (1, 1.0, 1), (2, None, 1), (6, None, 8)])
def test_the_report_is_true_of_the_parameters(
    of_ball, data_norm, copies, share, adjacency, estimator, cancer
):
    """Of a ball there are more releases the more records there are; without a bound, one more."""
    X, y = cancer
    X, y = np.tile(X, (copies, 1)), np.tile(y, copies)
    options = {"adjacency": adjacency, "moment_budget": share, "clipping_norm": 0.25}
    options |= {"ball_budget": "auto" if of_ball else 0, "data_norm": data_norm}
    options |= {"target_bounds": (-1, 1)} if estimator is DPRidge else {}
    model = estimator(epsilon=0.7, max_iter=13, **options).fit(X, y)
    report = model.privacy_report_
    assert (report.epsilon, report.delta, report.adjacency) == (0.7, 1e-5, adjacency)
    assert model.n_iter_ == 13
    assert model.clipping_norm_ == 0.25
    assert report.n_releases == of_ball + 13 + (share != 0.0)
    factor = 2.0 if adjacency == "replace_one" else 1.0
    most = factor / calibrate(0.7, 1e-5, adjacency=adjacency)
    assert (1.0 - 2e-9) * most < report.mu < most
    assert report.accountant == "analytic"
    assert not report.reproducible


def test_what_was_automatic_is_told(cancer):
    model = DPLogisticRegression(random_state=0).fit(*cancer)
    assert model.n_iter_ in (10, 20, 40)
    assert 0.0 < model.clipping_norm_ < 10.0
    assert (model.step_size_, model.momentum_) == (4.0, 0.0)
    assert DPRidge(random_state=0).fit(*cancer).step_size_ == 1.0
    assert DPLogisticRegression(classes=[0, 1, 2]).fit(*cancer).step_size_ == 2.0
    given = DPLogisticRegression(step_size=0.5, momentum=0.3).fit(*cancer)
    assert (given.step_size_, given.momentum_) == (0.5, 0.3)


BAD_PARAMETERS = [
    {"epsilon": 0.0},
    {"epsilon": math.nan},
    {"epsilon": "1"},
    {"epsilon": 10**400},
    {"epsilon": 1e7},
    {"delta": 1.0},
    {"delta": 0.0},
    {"adjacency": "add_remove"},
    {"alpha": 0.0},
    {"alpha": math.inf},
    {"data_norm": -1.0},
    {"data_norm": math.nan},
    {"ball_budget": 1.0},
    {"ball_budget": -0.1},
    {"ball_budget": math.nan},
    {"ball_budget": "half"},
    {"max_iter": 0},
    {"max_iter": 1.5},
    {"max_iter": 10**400},
    {"moment_budget": 1.0},
    {"moment_budget": -0.1},
    {"moment_budget": math.nan},
    {"moment_budget": "half"},
    {"clipping_norm": 0.0},
    {"clipping_norm": math.inf},
    {"step_size": 0.0},
    {"n_jobs": 0},
    {"n_jobs": "all"},
    {"random_state": -1},
]


@pytest.fixture
def never_any_noise(monkeypatch):
    from tests.door import GaussianMechanism

    def never(*args):
        raise AssertionError("noise was drawn")

    monkeypatch.setattr(GaussianMechanism, "release", never)


@for_each("estimator", BOTH)
@for_each("parameters", BAD_PARAMETERS)
@pytest.mark.usefixtures("never_any_noise")
def test_bad_parameters_are_refused_by_name_before_any_noise(estimator, parameters, cancer):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        estimator(**parameters).fit(*cancer)


@pytest.mark.long
@for_each(
    "parameters",
    [
        *({"alpha": value} for value in (-1e-3, 0.0, math.nan, 1e300)),
        *({"max_iter": value} for value in (0, -1, 1.5, math.nan, 10**400)),
        *({"moment_budget": value} for value in (-1e-9, 1, math.nan, True, None)),
        *({"ball_budget": value} for value in (-1e-9, 1, math.nan, True, None)),
        *({"clipping_norm": value} for value in (1e-310, math.nan, math.inf, -1.0)),
        *({"data_norm": value} for value in (1e-310, math.nan, math.inf, -1.0)),
    ],
)
@pytest.mark.usefixtures("never_any_noise")
def test_numbers_that_noise_hangs_on_are_refused_without_validation_too(parameters, cancer):
    with config_context(skip_parameter_validation=True):
        for estimator in BOTH:
            with pytest.raises(ValueError, match=next(iter(parameters))):
                estimator(**parameters).fit(*cancer)


@pytest.mark.parametrize("bounds", [(1.0, 1.0), (1.0, -1.0), (0.0, math.inf), (1.0,), "ab"])
def test_bad_target_bounds_are_refused_by_name(bounds, diabetes):
    with pytest.raises(ValueError, match="target_bounds"):
        DPRidge(target_bounds=bounds).fit(*diabetes)


@pytest.mark.parametrize("estimator", BOTH)
def test_a_large_delta_is_flagged(estimator, cancer):
    X, y = cancer
    with pytest.warns(PrivacyWarning, match="delta") as caught:
        estimator(delta=0.01).fit(X, y)
    assert points_at(caught[-1], __file__)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimator(delta=0.01, epsilon=INF).fit(X, y)


SHARES = [1e-300, 1e-12, 0.0, 0.5, 1.0 - 1e-12]


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("estimator", BOTH)
def test_any_share_gives_a_finite_model(estimator, share, cancer):
    model = estimator(moment_budget=share, random_state=0).fit(*cancer)
    assert np.isfinite(model.coef_).all()
    assert model.privacy_report_.mu <= 1.0 / calibrate(1.0, 1e-5)


@pytest.mark.parametrize("of_ball", [0.0, 0.3])
def test_parameters_of_few_digits_do_not_weaken_the_noise(of_ball, cancer):
    from tests.statistical._transcripts import recorded_releases

    third = np.float32(0.3)
    with recorded_releases() as made:
        DPLogisticRegression(
            alpha=third,
            data_norm=third,
            clipping_norm=third,
            moment_budget=third,
            ball_budget=np.float32(of_ball),
        ).fit(*cancer)
    for one in (made[0].mechanism, made[-1].mechanism):
        for value in (one.contribution_bound, one.sensitivity, one.noise_std):
            assert type(value) in (float, np.float64)
        assert one.noise_std >= one.noise_multiplier * one.sensitivity * (1 - 1e-15)
    if of_ball == 0.0:
        bound = made[0].mechanism.contribution_bound
        assert bound == pytest.approx(float(third) ** 2 * 10.0 / 9.0, rel=1e-15)


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.uint8])
def test_narrow_integers_count_as_well(kind, cancer):
    model = DPLogisticRegression(max_iter=kind(100), **PLAIN).fit(*cancer)
    assert model.privacy_report_.n_releases == 101


def test_positional_alpha_as_in_ridge():
    assert DPRidge(0.5).alpha == DPLogisticRegression(0.5).alpha == 0.5


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("estimator", BOTH)
def test_weights_that_overflowed_are_refused(estimator, value, cancer, monkeypatch):
    from tests.door import whitened_method_module as module

    found = np.full((1, 31), value), None
    monkeypatch.setattr(module, "solve_whitened", lambda sums, **options: found)
    with pytest.raises(ValueError, match="overflowed"):
        estimator().fit(*cancer)


@pytest.mark.parametrize("size", [1e-320, 1e30, 1e154, 1e308])
def test_private_fits_stay_finite_on_any_finite_input(size, cancer):
    X, y = cancer
    assert np.isfinite(DPLogisticRegression().fit(X * size, y).coef_).all()
    targets = np.where(y == 1, size, -size)
    assert np.isfinite(DPRidge().fit(X * size, targets).coef_).all()


@pytest.mark.parametrize("size", [1e160, 1e308])
@pytest.mark.parametrize("estimator", BOTH)
def test_overflow_without_privacy_is_refused(estimator, size, cancer):
    X, y = cancer
    with pytest.raises(ValueError, match="overflowed"):
        estimator(epsilon=INF).fit(X * size, y)


SHAPES = {
    "a constant column": lambda X: np.column_stack([X[:, :3], np.full(len(X), 0.1)]),
    "a column twice": lambda X: np.column_stack([X[:, :3], X[:, 0]]),
    "zeros alone": np.zeros_like,
    "fewer rows than columns": lambda X: X[:12],
    "one column": lambda X: X[:, :1],
    "two rows": lambda X: X[:20:10],
}


@pytest.mark.filterwarnings("ignore:delta is larger")
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, INF])
@pytest.mark.parametrize("shape", SHAPES)
def test_moments_that_have_no_inverse(shape, epsilon, fit_intercept, cancer):
    X = SHAPES[shape](cancer[0])
    y = np.arange(len(X)) % 2
    options = {"epsilon": epsilon, "fit_intercept": fit_intercept, "random_state": 0}
    for share in ("auto", 0.0):
        for estimator in BOTH:
            model = estimator(moment_budget=share, **options).fit(X, y)
            assert np.isfinite(model.coef_).all()
            if epsilon == INF and share == "auto" and estimator is DPRidge:
                model.set_params(**PLAIN).fit(X, y)
                Z = augmented(X, fit_intercept)
                best = np.linalg.solve(Z.T @ Z / len(X) + 1e-4 * np.eye(Z.shape[1]), Z.T @ y)
                expected = Z @ best / len(X)
                np.testing.assert_allclose(model.predict(X), expected, atol=1e-3)
