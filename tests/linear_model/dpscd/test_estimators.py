import math
import pickle
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_linnerud, load_wine
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

from skdp.accountant import get_epsilon
from skdp.exceptions import PrivacyWarning
from skdp.linear_model import DPSCDClassifier, DPSCDRegressor
from tests._loops import for_each, points_at
from tests.door import LOSSES, threads_module

pytestmark = pytest.mark.filterwarnings("ignore:(target_bounds=N|the size of)")

INF = float("inf")


def augmented(X, fit_intercept):
    return np.hstack([X, np.full((len(X), 1), 1.0 / 3.0)]) if fit_intercept else X


def objective(loss, X, y, weights, alpha):
    return LOSSES[loss].value(y, X @ weights).mean() + 0.5 * alpha * weights @ weights


def fitted_weights(model, fit_intercept):
    coef = model.coef_.ravel()
    return np.append(coef, 3.0 * model.intercept_) if fit_intercept else coef


@pytest.mark.long
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize(
    ("loss", "alpha", "max_iter"),
    [("squared_error", 1e-2, 300), ("log_loss", 1e-3, 100), ("hinge", 1e-2, 200)],
)
def test_without_privacy_scikit_learns_optimum_is_reached(
    loss, alpha, max_iter, fit_intercept, cancer, diabetes, sklearn_optimum
):
    """Objective within 1e-4 of Ridge, LogisticRegression and LinearSVC on real records."""
    X, y = diabetes if loss == "squared_error" else cancer
    options = {
        "alpha": alpha,
        "epsilon": INF,
        "fit_intercept": fit_intercept,
        "max_iter": max_iter,
        "random_state": 0,
    }
    if loss == "squared_error":
        model = DPSCDRegressor(ball_budget=0, **options).fit(X, y)
        targets = y
    else:
        model = DPSCDClassifier(ball_budget=0, loss=loss, **options).fit(X, y)
        targets = 2.0 * y - 1.0
    X = augmented(X, fit_intercept)
    best = objective(loss, X, targets, sklearn_optimum(loss, X, targets, alpha), alpha)
    found = objective(loss, X, targets, fitted_weights(model, fit_intercept), alpha)
    assert found <= best * (1.0 + 1e-4)
    assert model.privacy_report_.epsilon == INF
    assert model.clipping_norm_ == INF


@pytest.mark.long
def test_without_privacy_bounds_do_not_clip(diabetes):
    X, y = diabetes
    options = {"alpha": 1e-2, "epsilon": INF, "max_iter": 200, "random_state": 0}
    free = DPSCDRegressor(ball_budget=0, fit_intercept=False, data_norm=10.0, **options).fit(X, y)
    tight = DPSCDRegressor(
        ball_budget=0, fit_intercept=False, data_norm=0.1, target_bounds=(-0.1, 0.1), **options
    ).fit(X, y)
    np.testing.assert_allclose(tight.coef_, free.coef_, rtol=1e-6)


@pytest.mark.long
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_target_bounds_only_change_the_units(fit_intercept, diabetes):
    X, y = diabetes
    options = {"random_state": 0, "fit_intercept": fit_intercept, "clipping_norm": 0.01}
    plain = DPSCDRegressor(ball_budget=0, **options).fit(X, y)
    if fit_intercept:
        bounds, target = (60.0, 100.0), 80.0 + 20.0 * y
    else:
        bounds, target = (-5.0, 20.0), 20.0 * np.maximum(y, -0.25)
        plain.fit(X, np.maximum(y, -0.25))
    scaled = DPSCDRegressor(ball_budget=0, target_bounds=bounds, **options).fit(X, target)
    np.testing.assert_allclose(scaled.coef_, 20.0 * plain.coef_, rtol=1e-6)
    expected = 80.0 + 20.0 * plain.intercept_ if fit_intercept else 0.0
    np.testing.assert_allclose(scaled.intercept_, expected, rtol=1e-6)
    np.testing.assert_allclose(
        scaled.predict(X), np.clip(X @ scaled.coef_ + scaled.intercept_, *bounds)
    )


def test_targets_beyond_their_bounds_are_moved_to_them(diabetes):
    X, y = diabetes
    model = DPSCDRegressor(ball_budget=0, target_bounds=(-1.0, 1.0), random_state=0)
    wild = y.copy()
    wild[3], wild[4] = 1e300, -1e300
    tame = y.copy()
    tame[3], tame[4] = 1.0, -1.0
    np.testing.assert_array_equal(model.fit(X, wild).coef_, model.fit(X, tame).coef_)


def test_several_targets_equal_ridge_without_privacy():
    X, y = load_linnerud(return_X_y=True)
    X = StandardScaler().fit_transform(X) / 4.0
    y = (y - y.mean(axis=0)) / y.std(axis=0)
    model = DPSCDRegressor(
        ball_budget=0, alpha=0.05, epsilon=INF, max_iter=200, fit_intercept=False
    )
    model.set_params(random_state=0).fit(X, y)
    ridge = Ridge(alpha=len(X) * 0.05, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(model.coef_, ridge.coef_, atol=1e-3)
    assert model.predict(X).shape == y.shape
    assert model.set_params(fit_intercept=True).fit(X, y).intercept_.shape == (3,)
    one_column = model.fit(X, y[:, :1])
    assert one_column.coef_.shape == (3,)
    assert one_column.predict(X).shape == (len(X),)


@pytest.mark.long
@pytest.mark.parametrize("loss", ["log_loss", "hinge"])
def test_several_classes_of_any_type(loss):
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X) / 6.0
    names = np.array(["barolo", "grignolino", "barbera"], dtype=object)[y]
    model = DPSCDClassifier(
        ball_budget=0, loss=loss, epsilon=INF, max_iter=100, random_state=0
    ).fit(X, names)
    assert list(model.classes_) == ["barbera", "barolo", "grignolino"]
    assert model.coef_.shape == (3, X.shape[1])
    assert model.intercept_.shape == (3,)
    assert model.decision_function(X).shape == (len(X), 3)
    assert model.score(X, names) > 0.98
    noisy = DPSCDClassifier(ball_budget=0, loss=loss, epsilon=20.0, data_norm=1.0, random_state=0)
    assert noisy.fit(X, names).score(X, names) > 0.8


@pytest.mark.long
def test_one_against_the_rest_equals_two_classes_without_privacy():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X) / 6.0
    options = {"epsilon": INF, "max_iter": 20, "alpha": 1e-2, "random_state": 0}
    several = DPSCDClassifier(ball_budget=0, **options).fit(X, y)
    for label in range(3):
        binary = DPSCDClassifier(ball_budget=0, **options).fit(X, y == label)
        np.testing.assert_allclose(several.coef_[label], binary.coef_[0], rtol=1e-6)


def test_probabilities():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X) / 6.0
    for labels in (y, y == 1):
        model = DPSCDClassifier(ball_budget=0, epsilon=1e-3, random_state=0).fit(X, labels)
        proba = model.predict_proba(X)
        assert proba.shape == (len(X), len(model.classes_))
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)
        np.testing.assert_array_equal(model.classes_[proba.argmax(axis=1)], model.predict(X))
    hinge = DPSCDClassifier(ball_budget=0, loss="hinge").fit(X, y)
    with pytest.raises(AttributeError, match="predict_proba"):
        hinge.predict_proba(X)


@pytest.mark.long
def test_declared_classes(cancer):
    X, y = cancer
    read = DPSCDClassifier(ball_budget=0, random_state=0).fit(X, y)
    declared = DPSCDClassifier(ball_budget=0, classes=[1, 0], random_state=0).fit(X, y)
    np.testing.assert_array_equal(read.coef_, declared.coef_)
    np.testing.assert_array_equal(declared.classes_, [0, 1])
    assert any("read from y" in text for text in read.privacy_report_.assumed_public)
    assert not any("read from y" in text for text in declared.privacy_report_.assumed_public)
    three = DPSCDClassifier(ball_budget=0, classes=[0, 1, 2]).fit(X, y)
    assert three.coef_.shape == (3, X.shape[1])
    alone = DPSCDClassifier(ball_budget=0, classes=["benign", "malignant"]).fit(
        X, np.full(len(y), "benign")
    )
    assert alone.coef_.shape == (1, X.shape[1])
    with pytest.raises(ValueError, match="not among the declared classes") as caught:
        DPSCDClassifier(ball_budget=0, classes=[0, 7]).fit(X, y)
    assert "1" not in str(caught.value)
    with pytest.raises(ValueError, match=r"'classes' .* 2 classes"):
        DPSCDClassifier(ball_budget=0, classes=[0]).fit(X, y)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, INF])
def test_float32_rows_give_nearly_the_same_model(epsilon, cancer):
    X, y = cancer
    model = DPSCDClassifier(ball_budget=0, epsilon=epsilon, random_state=0)
    double = model.fit(X, y).coef_
    single = model.fit(X.astype(np.float32), y).coef_
    np.testing.assert_allclose(single, double, rtol=1e-3, atol=1e-3 * np.abs(double).max())


@pytest.mark.long
def test_rows_are_not_copied_or_changed(cancer, monkeypatch):
    from tests.door import row_bounds_module as module

    X, y = cancer
    X = np.ascontiguousarray(100.0 * X)
    X.setflags(write=False)
    seen = []
    original = module.clip_rows

    def spy(rows, **options):
        seen.append(original(rows, **options))
        return seen[0]

    monkeypatch.setattr(module, "clip_rows", spy)
    DPSCDClassifier(ball_budget=0).fit(X, y)
    assert np.shares_memory(seen[0].X, X)


@pytest.mark.long
def test_memory_mapped_rows(cancer, tmp_path):
    X, y = cancer
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    model = DPSCDClassifier(ball_budget=0, random_state=0)
    np.testing.assert_array_equal(model.fit(mapped, y).coef_, model.fit(X, y).coef_)


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_threads_are_used_and_change_no_bit(n_outputs, rng):
    """Batches of several blocks, above the size from which threads are used."""
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
        model = DPSCDRegressor(
            ball_budget=0, batch_size=n_rows, max_iter=2, random_state=0, n_jobs=n_jobs
        )
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_threads, "ThreadPoolExecutor", Spy)
            fits.append(pickle.dumps((model.fit(X, y).coef_, model.intercept_)))
    assert fits[0] == fits[1] == fits[2]
    assert calls == [1] * 2 + [3] * 6


@pytest.mark.parametrize("batch_size", [2048, 4100])
def test_threads_change_no_bit_of_random_batches_of_some_blocks(batch_size, rng, monkeypatch):
    monkeypatch.setattr(threads_module, "WORTHWHILE_ENTRIES", 0)
    X = rng.standard_normal((9000, 5))
    fits = [
        DPSCDRegressor(
            ball_budget=0, batch_size=batch_size, max_iter=5, random_state=0, n_jobs=n
        ).fit(X, X[:, 0])
        for n in (1, 2, 3)
    ]
    for other in fits[1:]:
        np.testing.assert_array_equal(other.coef_, fits[0].coef_)


@pytest.mark.long
@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
@pytest.mark.parametrize("batch_size", [1, 40, 569])
def test_the_report_is_true_of_the_parameters(adjacency, batch_size, cancer):
    X, y = cancer
    model = DPSCDClassifier(
        ball_budget=0,
        epsilon=0.7,
        adjacency=adjacency,
        batch_size=batch_size,
        max_iter=3,
        clipping_norm=0.25,
    ).fit(X, y)
    report = model.privacy_report_
    assert (report.epsilon, report.delta, report.adjacency) == (0.7, 1e-5, adjacency)
    assert report.n_steps == math.ceil(3 * 569 / batch_size)
    assert report.sampling_rate == batch_size / 569
    assert report.clipping == model.clipping_norm_ == 0.25
    assert model.batch_size_ == batch_size
    assert model.n_iter_ == 3
    spent = get_epsilon(
        report.noise_multiplier,
        1e-5,
        sampling_rate=batch_size / 569,
        n_steps=report.n_steps,
        adjacency=adjacency,
    )
    assert 0.69 < spent <= 0.7


@pytest.mark.long
def test_rdp_asks_for_more_noise(cancer):
    X, y = cancer
    pld, rdp = (
        DPSCDClassifier(ball_budget=0, accountant=name).fit(X, y).privacy_report_
        for name in ("pld", "rdp")
    )
    assert rdp.noise_multiplier > pld.noise_multiplier
    assert rdp.epsilon_at(1e-5) <= 1.0
    assert (pld.accountant, rdp.accountant) == ("pld", "rdp")


BAD_PARAMETERS = [
    {"epsilon": 0.0},
    {"epsilon": -1.0},
    {"epsilon": math.nan},
    {"epsilon": "1"},
    {"epsilon": 10**400},
    {"delta": -1e-9},
    {"delta": 1.0},
    {"delta": math.nan},
    {"delta": 0.0},
    {"adjacency": "add_remove"},
    {"accountant": "moments"},
    {"accountant": "rdp", "adjacency": "replace_one"},
    {"alpha": 0.0},
    {"alpha": math.inf},
    {"data_norm": -1.0},
    {"data_norm": math.inf},
    {"data_norm": math.nan},
    {"max_iter": 0},
    {"max_iter": 1.5},
    {"max_iter": 10**400},
    {"epsilon": 1.7e308},
    {"epsilon": 1e-60, "delta": 1e-70, "batch_size": 569},
    {"n_jobs": 0},
    {"batch_size": 0},
    {"batch_size": "big"},
    {"clipping_norm": 0.0},
    {"clipping_norm": math.nan},
    {"n_jobs": "all"},
    {"proximal": -1.0},
    {"proximal": math.nan},
    {"proximal": "far"},
    {"random_state": -1},
]
BAD_TARGET_BOUNDS = [(1.0, 1.0), (1.0, -1.0), (0.0, math.inf), (math.nan, 1.0), (1.0,), "ab"]


@pytest.mark.parametrize("estimator", [DPSCDClassifier, DPSCDRegressor])
@for_each("parameters", BAD_PARAMETERS)
def test_bad_parameters_are_refused_by_name_before_any_noise(
    estimator, parameters, cancer, monkeypatch
):
    from tests.door import GaussianMechanism

    def never(*args):
        raise AssertionError("noise was drawn")

    monkeypatch.setattr(GaussianMechanism, "release", never)
    with pytest.raises(ValueError, match=next(iter(parameters))):
        estimator(**parameters).fit(*cancer)


@pytest.mark.parametrize("bounds", BAD_TARGET_BOUNDS)
def test_bad_target_bounds_are_refused_by_name(bounds, diabetes):
    with pytest.raises(ValueError, match="target_bounds"):
        DPSCDRegressor(ball_budget=0, target_bounds=bounds).fit(*diabetes)


def test_a_large_batch_becomes_n_with_a_warning(cancer):
    X, y = cancer
    with pytest.warns(UserWarning, match=r"batch_size=1000 .* n_samples=569") as caught:
        model = DPSCDClassifier(ball_budget=0, batch_size=1000).fit(X, y)
    assert points_at(caught[0], __file__)
    assert model.batch_size_ == 569
    assert model.privacy_report_.accountant == "analytic"


def test_a_large_delta_is_flagged(cancer):
    X, y = cancer
    with pytest.warns(PrivacyWarning, match="delta") as caught:
        DPSCDClassifier(ball_budget=0, delta=0.01).fit(X, y)
    assert points_at(caught[0], __file__)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DPSCDClassifier(ball_budget=0, delta=0.01, epsilon=INF).fit(X, y)


def test_parameters_of_few_digits_do_not_weaken_the_noise(cancer, monkeypatch):
    from tests.door import dpscd_method_module as module

    made = []
    original = module.solve_dpscd

    def spy(*args, **options):
        made.append(options["plan"].mechanism)
        return original(*args, **options)

    monkeypatch.setattr(module, "solve_dpscd", spy)
    DPSCDClassifier(
        ball_budget=0,
        alpha=np.float32(1e-5),
        data_norm=np.float32(0.3),
        fit_intercept=False,
        batch_size=569,
    ).fit(*cancer)
    for value in (made[0].contribution_bound, made[0].sensitivity, made[0].noise_std):
        assert type(value) in (float, np.float64)
    assert made[0].noise_std >= made[0].noise_multiplier * made[0].sensitivity * (1 - 1e-15)


@pytest.mark.long
@pytest.mark.parametrize("kind", [np.int8, np.int16, np.uint8])
def test_narrow_integers_count_as_well(kind, cancer):
    X, y = cancer
    model = DPSCDClassifier(ball_budget=0, max_iter=kind(100), batch_size=kind(20)).fit(X, y)
    assert model.privacy_report_.n_steps == math.ceil(569 * 100 / 20)


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["2020-01-01", "2021-01-01"], np.array(["2020-01-01", "2021-01-01"], dtype="M8[D]")),
        (np.array([0.1, 0.2], dtype=np.float32), [0.1, 0.2]),
        ([True, False], [False, True]),
        ([1, 2], [1.0, 2.0]),
        (["no", "yes"], ["no", "yes", "perhaps"]),
    ],
)
def test_declared_classes_of_any_type(labels, classes, cancer):
    X, y = cancer
    labels = np.asarray(labels)
    if np.asarray(classes).dtype.kind == "M":
        labels = labels.astype("M8[ns]")
    model = DPSCDClassifier(ball_budget=0, classes=classes).fit(X, labels[y])
    assert len(model.classes_) == len(classes)


@pytest.mark.parametrize(
    "classes", [[0], [[0, 1]], [1, "a"], [0.0, math.nan], [None, 1], "ab", ["x", "x"]]
)
def test_bad_classes_are_refused_by_name(classes, cancer):
    with pytest.raises(ValueError, match="classes"):
        DPSCDClassifier(ball_budget=0, classes=classes).fit(*cancer)


def test_positional_alpha_as_in_ridge():
    assert DPSCDRegressor(0.5).alpha == 0.5


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_overflowed_are_refused(value, cancer, monkeypatch):
    from tests.door import dpscd_method_module as module

    solve = module.solve_dpscd
    monkeypatch.setattr(module, "solve_dpscd", lambda *args, **how: value * solve(*args, **how))
    with pytest.raises(ValueError, match="overflowed"):
        DPSCDClassifier(ball_budget=0).fit(*cancer)


@pytest.mark.long
@pytest.mark.parametrize("size", [1e-320, 1e30, 1e154, 1e308])
@pytest.mark.parametrize(
    "estimator", [DPSCDClassifier(ball_budget=0), DPSCDClassifier(ball_budget=0, loss="hinge")]
)
def test_private_fits_stay_finite_on_any_finite_input(estimator, size, cancer):
    X, y = cancer
    model = estimator.fit(X * size, y)
    assert np.isfinite(model.coef_).all()
    regressor = DPSCDRegressor(ball_budget=0).fit(X * size, np.where(y == 1, size, -size))
    assert np.isfinite(regressor.coef_).all()


@pytest.mark.long
@pytest.mark.parametrize("loss", ["log_loss", "hinge", "squared_error"])
@pytest.mark.parametrize("options", [{"noisy_dual": True}, {"solver": "sequential"}])
def test_the_papers_forms_reach_the_optimum_without_privacy(
    options, loss, cancer, diabetes, sklearn_optimum
):
    X, y = diabetes if loss == "squared_error" else cancer
    common = {"alpha": 1e-2, "epsilon": INF, "max_iter": 30, "random_state": 0, "batch_size": 8}
    if loss == "squared_error":
        model, targets = DPSCDRegressor(ball_budget=0, **common, **options).fit(X, y), y
    else:
        model = DPSCDClassifier(ball_budget=0, loss=loss, **common, **options).fit(X, y)
        targets = 2.0 * y - 1.0
    best = sklearn_optimum(loss, augmented(X, True), targets, 1e-2)[:-1]
    np.testing.assert_allclose(model.coef_.ravel(), best, atol=0.05 * np.abs(best).max())


@pytest.mark.long
def test_the_primal_form_reaches_the_optimum_without_privacy(cancer):
    X, y = cancer
    options = {"alpha": 1e-2, "epsilon": INF, "random_state": 0}
    primal = DPSCDClassifier(solver="primal", max_iter=75, **options).fit(X, y)
    dual = DPSCDClassifier(ball_budget=0, max_iter=75, **options).fit(X, y)
    np.testing.assert_allclose(primal.coef_, dual.coef_, atol=1e-3 * np.abs(dual.coef_).max())


@pytest.mark.long
def test_algorithm_1_as_published_and_the_exact_dual_agree_as_epsilon_grows(cancer):
    """Same coins: the models differ by noise alone, which vanishes with growing epsilon."""
    X, y = cancer
    differences = []
    for epsilon in (1.0, 100.0, 1e6, INF):
        published, exact = (
            DPSCDClassifier(
                ball_budget=0,
                epsilon=epsilon,
                noisy_dual=noisy,
                clipping_norm=0.05,
                proximal=0.0,
                random_state=0,
            ).fit(X, y)
            for noisy in (True, False)
        )
        differences.append(np.linalg.norm(published.coef_ - exact.coef_))
    assert differences[0] > 3.0 * differences[1] > 9.0 * differences[2]
    assert differences[3] == 0.0


@pytest.mark.long
def test_the_noise_on_the_shared_vector_at_the_papers_msd_setting():
    """At epsilon 1, relative to the moments accountant's 1.62 and the sensitivity sqrt(2) C."""
    from skdp.accountant import calibrate

    sigma = calibrate(1.0, 1e-3, sampling_rate=1000 / 347_786, n_steps=17_389)
    assert sigma <= 0.53 * 1.62 * math.sqrt(2.0)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"solver": "sequential", "noisy_dual": True}, "noisy_dual"),
        ({"feature_bounds": (0.0, 1.0)}, "feature_bounds"),
        ({"solver": "sequential", "proximal": 0.1}, "proximal"),
        ({"solver": "primal", "feature_bounds": (1.0, 0.0)}, "feature_bounds"),
        ({"solver": "primal", "loss": "hinge"}, "loss"),
        ({"solver": "sequential", "accountant": "rdp", "adjacency": "replace_one"}, "rdp"),
        ({"solver": "primal", "accountant": "rdp", "adjacency": "replace_one"}, "rdp"),
        ({"solver": "newton"}, "solver"),
    ],
)
def test_options_that_do_not_go_together_are_refused(parameters, message, cancer):
    with pytest.raises(ValueError, match=message):
        DPSCDClassifier(ball_budget=0, **parameters).fit(*cancer)
