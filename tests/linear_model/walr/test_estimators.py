"""WALR: releases, aggregates and what training makes of them."""

import json
import math
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from skdp.accountant import calibrate, compose
from skdp.exceptions import PrivacyWarning
from skdp.linear_model import LabelAggregate, WALRClassifier, label_aggregate, walr_path
from tests._loops import for_each, points_at
from tests.door import (
    GaussianMechanism,
    RandomizedResponse,
    walr_release_module as walr_module,
)

N_ROWS, N_FEATURES = 80, 4
INF = float("inf")


@pytest.fixture
def records(rng):
    X = rng.standard_normal((N_ROWS, N_FEATURES)) * [1.0, 0.3, 0.05, 2.0]
    return X, (X[:, 0] + 0.5 * rng.standard_normal(N_ROWS) > 0.0).astype(int)


@pytest.fixture
def several(rng, records):
    X, _ = records
    return X, np.array(["a", "b", "c"])[rng.integers(0, 3, N_ROWS)]


@pytest.mark.parametrize("solver", ["lbfgs", "gd", "hybrid"])
@pytest.mark.parametrize(
    ("mechanism", "kind"),
    [("analytic", GaussianMechanism), ("randomized_response", RandomizedResponse)],
)
def test_nothing_after_the_release_reads_a_label(solver, mechanism, kind, several, monkeypatch):
    """All arrays that labels were in are overwritten as soon as the release is made."""
    X, labels = several
    model = WALRClassifier(mechanism=mechanism, solver=solver, random_state=0)
    expected = clone(model).fit(X, labels)
    known = []
    encode, release = walr_module.encode_labels, kind.release

    def remember(y, classes):
        found, targets = encode(y, classes)
        known.extend([y, targets])
        return found, targets

    def poison(self, value, stream):
        out = release(self, value, stream)
        for array in [*known, value, y]:
            array[...] = {"U": "c", "i": 99}.get(array.dtype.kind, np.nan)
        return out

    y = labels.copy()
    monkeypatch.setattr(walr_module, "encode_labels", remember)
    monkeypatch.setattr(kind, "release", poison)
    model.fit(X, y)
    assert (y == "c").all()
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    np.testing.assert_array_equal(model.intercept_, expected.intercept_)


@pytest.mark.long
@pytest.mark.parametrize("noise_shape", ["adapted", "spherical"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_released_sums_have_the_noise_that_is_stated(noise_shape, n_classes, records, rng):
    """Mahalanobis distances of 100 releases from the truth: a chi-squared sum, to 7 deviations."""
    X, _ = records
    y = rng.integers(0, n_classes, N_ROWS)
    exact = label_aggregate(X, y, epsilon=INF, classes=range(n_classes)).sums
    total, size = 0.0, 0
    options = {"mechanism": "analytic", "noise_shape": noise_shape}
    for seed in range(100):
        found = label_aggregate(X, y, classes=range(n_classes), random_state=seed, **options)
        off = found.sums - exact
        total += np.einsum("ki,ij,kj->", off, np.linalg.inv(found.noise_cov), off)
        size += off.size
    assert abs(total - size) < 7.0 * math.sqrt(2.0 * size)
    std = calibrate(1.0, 1e-5) * found.sensitivity
    assert found.noise_multiplier == calibrate(1.0, 1e-5)
    if noise_shape == "spherical":
        np.testing.assert_allclose(found.noise_std, std, rtol=1e-4)


def test_sensitivity_by_hand():
    X = np.array([[3.0, 4.0], [0.0, 1.0], [1.0, 0.0]])
    options = {"mechanism": "analytic", "noise_shape": "spherical", "delta": 0.1}
    two = label_aggregate(X, [0, 1, 1], fit_intercept=False, **options)
    assert two.sensitivity == pytest.approx(5.0, rel=1e-5)
    three = label_aggregate(X, [0, 1, 2], fit_intercept=False, **options)
    assert three.sensitivity == pytest.approx(math.sqrt(2.0) * 5.0, rel=1e-5)
    clipped = label_aggregate(X, [0, 1, 1], data_norm=2.0, fit_intercept=True, **options)
    assert clipped.sensitivity == pytest.approx(2.0 * math.hypot(1.0, 2.0**-0.25), rel=1e-5)
    exact = label_aggregate(X, [0, 1, 1], fit_intercept=False, epsilon=INF)
    np.testing.assert_array_equal(exact.sums, [[1.0, 1.0]])


def test_adapted_noise_costs_less(cancer):
    X, y = cancer
    found = {
        shape: label_aggregate(X, y, mechanism="analytic", noise_shape=shape)
        for shape in ("adapted", "spherical")
    }
    second_moment = np.cov(X.T) + 1e-6 * np.eye(X.shape[1])
    cost = {
        shape: np.trace(np.linalg.solve(second_moment, aggregate.noise_cov[:-1, :-1]))
        for shape, aggregate in found.items()
    }
    assert cost["adapted"] < 0.6 * cost["spherical"]
    assert found["adapted"].noise_multiplier == found["spherical"].noise_multiplier


def test_wide_rows_fall_back_to_spherical_noise(rng):
    X, y = rng.standard_normal((30, 600)), rng.integers(0, 2, 30)
    found = label_aggregate(X, y, delta=1e-3)
    np.testing.assert_allclose(found.noise_std, found.noise_std[0])
    adapted = label_aggregate(X[:, :40], y, delta=1e-3, noise_shape="adapted")
    model = WALRClassifier(delta=1e-3).fit_aggregate(X[:, :40], adapted)
    assert np.isfinite(model.coef_).all()


@pytest.mark.long
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alpha", [1e-4, 1e-2])
def test_without_privacy_scikit_learns_optimum_is_reached(fit_intercept, alpha, cancer):
    for X, y in (cancer, load_iris(return_X_y=True)):
        model = WALRClassifier(alpha=alpha, epsilon=INF, fit_intercept=fit_intercept).fit(X, y)
        reference = LogisticRegression(
            C=1.0 / (alpha * len(X)),
            fit_intercept=fit_intercept,
            tol=1e-9,
            max_iter=100_000,
        ).fit(X, y)
        ours, theirs = (objective(fitted, X, y, alpha) for fitted in (model, reference))
        assert ours <= theirs + 1e-9 * abs(theirs)


def objective(model, X, y, alpha):
    codes = np.searchsorted(model.classes_, y)
    scores = X @ model.coef_.T + model.intercept_
    if scores.shape[1] == 1:
        loss = np.logaddexp(0.0, scores[:, 0]) - codes * scores[:, 0]
    else:
        loss = np.logaddexp.reduce(scores, axis=1) - scores[np.arange(len(y)), codes]
    return loss.mean() + 0.5 * alpha * (model.coef_**2).sum()


@pytest.mark.long
@pytest.mark.parametrize("solver", ["gd", "hybrid"])
def test_descent_comes_near_the_optimum(solver, cancer):
    X, y = cancer
    alpha = 1e-2
    best = WALRClassifier(alpha=alpha, epsilon=INF).fit(X, y)
    model = WALRClassifier(
        alpha=alpha, epsilon=INF, solver=solver, max_iter=2000, batch_size=64, random_state=0
    ).fit(X, y)
    gap = objective(model, X, y, alpha) - objective(best, X, y, alpha)
    assert 0.0 <= gap < 2e-3
    assert model.n_iter_ == 2000


def test_probabilities_follow_the_noisy_share(cancer):
    """The intercept isn't penalised: the mean probability is the released share, whatever alpha."""
    X, y = cancer
    model = WALRClassifier(alpha=10.0, epsilon=INF).fit(X, y)
    assert model.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=1e-8)


@pytest.mark.parametrize("fixture", ["records", "several"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"solver": "hybrid"},
        {"fit_intercept": False, "mechanism": "analytic"},
        {"fit_intercept": False, "mechanism": "randomized_response"},
        {"data_norm": 0.5, "delta": 0.0},
    ],
    ids=str,
)
def test_training_on_an_aggregate_is_fitting(fixture, options, request):
    X, y = request.getfixturevalue(fixture)
    model = WALRClassifier(epsilon=2.0, random_state=3, **options).fit(X, y)
    release = {name: value for name, value in options.items() if name != "solver"}
    aggregate = label_aggregate(X, y, epsilon=2.0, random_state=3, **release)
    aggregate = LabelAggregate.from_json(aggregate.to_json())
    blind = WALRClassifier(epsilon=2.0, random_state=3, **options).fit_aggregate(X, aggregate)
    np.testing.assert_array_equal(blind.coef_, model.coef_)
    np.testing.assert_array_equal(blind.intercept_, model.intercept_)
    np.testing.assert_array_equal(blind.classes_, model.classes_)
    assert blind.privacy_report_ == model.privacy_report_
    assert blind.alpha_ == model.alpha_
    assert blind.n_features_in_ == N_FEATURES
    if not options:
        order = np.random.default_rng(0).permutation(N_ROWS)
        shuffled = WALRClassifier(epsilon=2.0).fit_aggregate(X[order], aggregate)
        np.testing.assert_allclose(shuffled.coef_, model.coef_, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize(
    "labels", [[0, 1], [False, True], ["no", "yes"], [-1.0, 2.0, 7.0], [2**40, 2**41]], ids=str
)
def test_json_brings_everything_back(labels, records, rng):
    X, _ = records
    y = np.array(labels)[rng.integers(0, len(labels), N_ROWS)]
    frame = pd.DataFrame(X, columns=[f"feature {j}" for j in range(N_FEATURES)])
    found = label_aggregate(frame, y, classes=labels)
    text = found.to_json()
    again = LabelAggregate.from_json(text)
    assert again.to_json() == text
    assert json.loads(text)["n_rows"] == N_ROWS
    np.testing.assert_array_equal(again.sums, found.sums)
    assert again.classes.dtype == found.classes.dtype
    assert again.report == found.report
    assert again.feature_names == tuple(frame.columns)
    infinite = label_aggregate(X, y, epsilon=INF)
    assert math.isinf(LabelAggregate.from_json(infinite.to_json()).epsilon)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"sums": 1}', "null", "[" * 100_000, '{"dtype": 1}', None]
)
def test_other_json_is_refused(text):
    with pytest.raises(ValueError, match="LabelAggregate") as caught:
        LabelAggregate.from_json(text)
    assert caught.value.__context__ is None


NUMBERS_OF_AGGREGATES = (
    "data_norm",
    "bias",
    "epsilon",
    "delta",
    "noise_multiplier",
    "sensitivity",
)


@pytest.mark.long
@for_each(
    "changes",
    [
        {"sums": [[np.nan] * 5]},
        {"sums": [[0.0] * 4]},
        {"noise_cov": np.eye(3)},
        {"noise_cov": -np.eye(5)},
        {"noise_cov": np.triu(np.ones((5, 5)))},
        {"part_sums": np.zeros(5)},
        {"classes": ["one"]},
        {"classes": [1, 0]},
        {"classes": [1, 1]},
        {"classes": [None, 1]},
        {"n_rows": 0},
        {"n_rows": 80.5},
        {"n_rows": True},
        {"data_norm": INF},
        {"data_norm": "1"},
        {"bias": -1.0},
        {"names": ()},
        {"names": [["a"]]},
        {"names": ("a", "a")},
        {"feature_names": ("a",)},
        {"epsilon": -1.0},
        {"epsilon": 1e-9},
        {"delta": 1.5},
        {"noise_multiplier": 0.0},
        {"noise_multiplier": 3.7},
        {"sensitivity": "x"},
        {"sensitivity": -1.0},
        {"data_norm": 0.0},
        {"bias": INF},
        {"epsilon": 0.0},
        {"delta": 1.0},
        *({name: np.nan} for name in NUMBERS_OF_AGGREGATES),
        {"reproducible": "no"},
    ],
)
def test_a_spoilt_aggregate_is_refused(changes, records):
    X, y = records
    found = label_aggregate(X, y, mechanism="analytic")
    content = dict(vars(found))
    with pytest.raises(ValueError, match=r"must|too small"):
        LabelAggregate(**(content | changes))
    spoilt = json.loads(found.to_json()) | {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in changes.items()
    }
    with pytest.raises(ValueError, match="not the JSON"):
        LabelAggregate.from_json(json.dumps(spoilt))


def test_an_aggregate_is_frozen_and_holds_no_label(records):
    X, y = records
    found = label_aggregate(X, y)
    with pytest.raises(AttributeError):
        found.epsilon = 2.0
    with pytest.raises(ValueError, match="read-only"):
        found.sums[0, 0] = 1.0
    for value in vars(found).values():
        assert N_ROWS not in np.shape(value)
    again = pickle.loads(pickle.dumps(found))
    assert again == found
    assert hash(again) == hash(found)
    assert again != label_aggregate(X, y)
    with pytest.raises(ValueError, match="read-only"):
        again.sums[0, 0] = 1.0


def test_aggregates_of_disjoint_records_add_up(records):
    X, y = records
    parts = [slice(0, 30), slice(30, 50), slice(50, N_ROWS)]
    epsilons, deltas = (1.0, 0.5, 2.0), (1e-6, 1e-5, 1e-7)
    options = {"data_norm": 3.0, "mechanism": "analytic"}
    found = [
        label_aggregate(X[part], y[part], epsilon=epsilon, delta=delta, **options)
        for part, epsilon, delta in zip(parts, epsilons, deltas, strict=True)
    ]
    total = sum(found)
    assert (total.epsilon, total.delta, total.n_rows) == (2.0, 1e-5, N_ROWS)
    np.testing.assert_allclose(total.noise_cov, sum(part.noise_cov for part in found))
    np.testing.assert_allclose(total.sums, sum(part.sums for part in found))
    report = total.report
    assert (report.epsilon, report.delta) == (2.0, 1e-5)
    assert report.n_steps == 1
    assert report.n_releases == 3
    assert report.noise_multiplier == min(part.noise_multiplier for part in found)
    # What a report says at other targets holds for the least private part.
    for part in found:
        for delta in (1e-9, 1e-5, 1e-2):
            assert report.epsilon_at(delta) >= part.report.epsilon_at(delta) * (1 - 1e-12)
    assert any("different records" in fact for fact in report.assumed_public)
    model = WALRClassifier(epsilon=2.0, data_norm=3.0).fit_aggregate(X, total)
    assert model.privacy_report_ == report
    exact = [label_aggregate(X[p], y[p], epsilon=INF, data_norm=3.0) for p in parts]
    whole = WALRClassifier(epsilon=INF, data_norm=3.0, alpha=0.1).fit(X, y)
    of_parts = WALRClassifier(alpha=0.1, epsilon=INF)
    of_parts.fit_aggregate(X, exact[0] + (exact[1] + exact[2]))
    np.testing.assert_allclose(of_parts.coef_, whole.coef_, rtol=1e-5, atol=1e-9)


def test_aggregates_that_do_not_fit_are_not_added(records):
    options = {"data_norm": 3.0, "classes": [0, 1], "mechanism": "analytic"}
    (X, others), (y, labels) = (np.split(array, 2) for array in records)
    found, other = label_aggregate(X, y, **options), label_aggregate(others, labels, **options)
    joint = found + other
    # A second release of the same rows would need more than the larger epsilon.
    for again in (found, joint, label_aggregate(X[::-1], y, **options)):
        for one in (found, joint):
            with pytest.raises(ValueError, match="in common"):
                again + one
    with pytest.raises(ValueError, match="no privacy"):
        found + label_aggregate(others, labels, **(options | {"epsilon": INF}))
    flipped = label_aggregate(others, labels, **(options | {"mechanism": "randomized_response"}))
    for one, two in ((found, flipped), (flipped, found)):
        with pytest.raises(ValueError, match="differ in mechanism"):
            one + two
    for changes, message in (
        ({"data_norm": 2.0}, "data_norm"),
        ({"fit_intercept": False}, "bias"),
        ({"classes": [0, 1, 2]}, "classes"),
    ):
        with pytest.raises(ValueError, match=message):
            found + label_aggregate(X, y, **(options | changes))
    without = [
        label_aggregate(X[:, :d], y, fit_intercept=False, **options) for d in (N_FEATURES, 3)
    ]
    with pytest.raises(ValueError, match="features"):
        without[0] + without[1]
    seeded = [
        label_aggregate(*part, random_state=0, **options) for part in ((X, y), (others, labels))
    ]
    assert (found + seeded[1]).reproducible
    with pytest.raises(ValueError, match="seed"):
        seeded[0] + seeded[1]
    with pytest.raises(TypeError):
        found + 1


def test_other_rows_than_the_aggregates_are_refused(records):
    X, y = records
    frame = pd.DataFrame(X, columns=list("abcd"))
    found = label_aggregate(frame, y, data_norm=3.0, classes=[0, 1])
    model = WALRClassifier()
    model.fit_aggregate(frame, found)
    for other, message in (
        (frame.iloc[1:], "shape"),
        (frame.iloc[:, :3], "shape"),
        (frame * 1.01, "other rows"),
        (frame.iloc[:, ::-1], "names"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit_aggregate(other, found)
        with pytest.raises(ValueError, match=message):
            walr_path(other, found)
    for parameters, message in (
        ({"fit_intercept": False}, "fit_intercept"),
        ({"data_norm": 2.0}, "data_norm"),
        ({"classes": [0, 2]}, "classes"),
    ):
        with pytest.raises(ValueError, match=message):
            WALRClassifier(**parameters).fit_aggregate(frame, found)
    for wrong in (None, found.to_json(), found.sums):
        with pytest.raises(TypeError, match="aggregate"):
            model.fit_aggregate(frame, wrong)
        with pytest.raises(TypeError, match="aggregate"):
            walr_path(frame, wrong)


def test_flipped_labels_of_disjoint_records_add_up(records):
    X, y = records
    parts, epsilons = (slice(0, 30), slice(30, 50), slice(50, N_ROWS)), (1.0, 0.5, 2.0)
    options = {"data_norm": 3.0, "mechanism": "randomized_response"}
    found = [
        label_aggregate(X[part], y[part], epsilon=epsilon, **options)
        for part, epsilon in zip(parts, epsilons, strict=True)
    ]
    total = LabelAggregate.from_json(sum(found).to_json())
    assert total.mechanism == "randomized_response"
    assert (total.epsilon, total.delta) == (2.0, 0.0)
    assert total.flip_probability == found[2].flip_probability
    assert total.noise_multiplier == found[2].noise_multiplier
    np.testing.assert_allclose(total.noise_cov, sum(part.noise_cov for part in found))
    (event,) = total.report.events
    assert (event.n_parts, event.n_steps) == (3, 1)
    for part in found:
        for delta in (0.0, 1e-5, 1e-2):
            assert total.report.epsilon_at(delta) >= part.report.epsilon_at(delta) * (1 - 1e-12)
    model = WALRClassifier(epsilon=2.0, data_norm=3.0).fit_aggregate(X, total)
    assert model.privacy_report_ == total.report
    assert pickle.loads(pickle.dumps(total)) == total


@pytest.mark.long
def test_the_report_says_what_is_protected(records):
    report = WALRClassifier(mechanism="analytic").fit(*records).privacy_report_
    assert report.adjacency == "replace_label"
    assert report.unit == "the label of one row"
    assert report.clipping > 0.0
    text = report.to_text().replace("\n", " ")
    words = " ".join(text.split())
    for part in ("label of one record", "all of X", "class", "not protected", "largest row norm"):
        assert part in words
    assert "numbers of rows" in words
    assert "which of two labels" in words
    assert "was used" not in words
    declared = WALRClassifier(classes=[0, 1], data_norm=1.0).fit(*records).privacy_report_
    assert "the set of classes" in declared.assumed_public
    assert len(declared.assumed_public) == len(report.assumed_public) - 1
    # Never doubled: one release at the multiplier of the Gaussian mechanism.
    assert report.noise_multiplier == calibrate(1.0, 1e-5)
    assert report.mu == pytest.approx(1.0 / report.noise_multiplier)
    assert compose([declared, declared]).epsilon < 2.0
    two = WALRClassifier().fit(*records)
    with pytest.raises(ValueError, match="adjacency"):
        compose([two.privacy_report_, label_free_report(records)])


def label_free_report(records):
    from skdp.linear_model import DPSGDClassifier

    return DPSGDClassifier().fit(*records).privacy_report_


def test_classic_noise_is_refused_above_epsilon_1(records):
    classic = WALRClassifier(mechanism="classic", epsilon=0.8).fit(*records)
    assert classic.aggregate_.noise_multiplier == pytest.approx(
        math.sqrt(2.0 * math.log(1.25e5)) / 0.8
    )
    assert classic.privacy_report_.epsilon == 0.8
    assert classic.privacy_report_.epsilon_at(1e-5) < 0.8
    model = WALRClassifier(mechanism="classic", epsilon=1.1)
    with pytest.raises(ValueError, match=r"classic formula.*theorem.*analytic"):
        model.fit(*records)
    assert not hasattr(model, "coef_")


@pytest.mark.long
def test_a_path_needs_one_release_and_tells_what_to_expect(cancer):
    X, y = cancer
    found = label_aggregate(X, y, epsilon=1.0, random_state=0)
    alphas, coefs, intercepts, losses = walr_path(X, found, alphas=8)
    assert coefs.shape == (8, 1, X.shape[1])
    assert intercepts.shape == (8, 1)
    assert losses.shape == alphas.shape == (8,)
    assert (np.diff(alphas) < 0.0).all()
    assert (np.diff(np.linalg.norm(coefs, axis=(1, 2))) > 0.0).all()
    for alpha, coef in zip(alphas[:4], coefs, strict=False):
        model = WALRClassifier(alpha=alpha).fit_aggregate(X, found)
        np.testing.assert_allclose(coef, model.coef_, rtol=1e-4, atol=1e-6)
    # A criterion for one strength doesn't depend on which others are asked for.
    for more in ([10.0, 0.1], [0.1, 0.001]):
        alphas, _, _, losses = walr_path(X, found, alphas=more)
        np.testing.assert_allclose(
            losses[alphas == 0.1], walr_path(X, found, alphas=[0.1])[3], rtol=1e-9
        )
    for wrong in ([], [0.0], [-1.0, 1.0], [np.nan], "auto", -2, True):
        with pytest.raises(ValueError, match=r"alphas|numeric"):
            walr_path(X, found, alphas=wrong)
    with pytest.raises(ValueError, match="max_iter"):
        walr_path(X, found, max_iter=0)


@pytest.mark.long
def test_automatic_regularisation_falls_with_noise_and_reads_no_label(cancer):
    X, y = cancer
    found = [
        np.mean(
            [WALRClassifier(epsilon=e, random_state=seed).fit(X, y).alpha_ for seed in range(5)]
        )
        for e in (0.3, 3.0, 30.0)
    ]
    assert found[0] > found[1] > found[2] > 0.0


def test_warnings_name_the_callers_line(records):
    X, y = records
    for call in (
        lambda: WALRClassifier(delta=0.3).fit(X, y),
        lambda: label_aggregate(X, y, delta=0.3),
    ):
        with pytest.warns(PrivacyWarning, match="delta") as caught:
            call()
        assert points_at(caught[0], __file__)
    found = label_aggregate(X, y)
    for call in (
        lambda: WALRClassifier(max_iter=1, alpha=1e-6).fit(X, y),
        lambda: WALRClassifier(max_iter=1, alpha=1e-6).fit_aggregate(X, found),
        lambda: walr_path(X, found, alphas=[1e-6], max_iter=1),
    ):
        with pytest.warns(ConvergenceWarning, match="max_iter") as caught:
            call()
        assert points_at(caught[0], __file__)
    with pytest.warns(
        PrivacyWarning, match="larger epsilon.*the guarantee is that of the aggregate"
    ) as caught:
        WALRClassifier(epsilon=0.1).fit_aggregate(X, found)
    assert points_at(caught[0], __file__)


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({"alpha": 0.0}, "alpha"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"mechanism": "laplace"}, "mechanism"),
        ({"noise_shape": "round"}, "noise_shape"),
        ({"data_norm": 0.0}, "data_norm"),
        ({"classes": [0]}, "classes"),
        ({"delta": 1.0}, "delta"),
        ({"random_state": "x"}, "random_state"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused_before_a_release(parameters, name, records):
    X, y = records
    model = WALRClassifier(**parameters)
    with pytest.raises(ValueError, match=name):
        model.fit(X, y)
    assert not hasattr(model, "coef_")
    if name != "alpha":
        with pytest.raises(ValueError, match=name):
            label_aggregate(X, y, **parameters)


def test_labels_that_were_not_declared_are_refused_without_a_word_of_them(records):
    X, y = records
    with pytest.raises(ValueError, match="declared") as caught:
        label_aggregate(X, np.where(np.arange(N_ROWS) == 3, 4711, y), classes=[0, 1])
    assert "4711" not in str(caught.value)


@pytest.mark.parametrize("size", [1e-200, 1e-12, 1e12, 1e29])
def test_features_of_any_size(size, records):
    X, y = records
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reference = WALRClassifier(random_state=0).fit(X, y)
        model = WALRClassifier(random_state=0).fit(size * X, y)
    if size > 1e-30:
        np.testing.assert_allclose(
            model.decision_function(size * X), reference.decision_function(X), rtol=0.02, atol=0.02
        )


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("noise_shape", ["adapted", "spherical"])
def test_noise_is_stated_whatever_the_units_of_columns(fit_intercept, noise_shape, rng):
    """A column in cents beside one in millions: errors are within 8 deviations, none is 0."""
    X = rng.standard_normal((400, 5)) * [1.0, 1e6, 1e-4, 1.0, 30.0]
    y = (X[:, 0] > 0.0).astype(int)
    options = {"fit_intercept": fit_intercept, "noise_shape": noise_shape}
    exact = label_aggregate(X, y, epsilon=INF, **options).sums
    found = label_aggregate(X, y, epsilon=2.0, **options)
    assert (found.noise_std > 0.0).all()
    assert (np.abs(found.sums - exact) < 8.0 * found.noise_std).all()


def test_adapted_noise_lets_columns_of_small_units_tell_something(rng):
    """Income in cents beside flags that carry the signal."""
    n_rows = 5000
    flags = rng.integers(0, 2, (n_rows, 5))
    y = (flags.sum(axis=1) + 0.5 * rng.standard_normal(n_rows) > 2.5).astype(int)
    X = np.column_stack([5e6 * np.exp(0.5 * rng.standard_normal(n_rows)), flags])
    model = WALRClassifier(epsilon=10.0, alpha=1e-5, noise_shape="adapted", random_state=0)
    assert model.fit(X, y).score(X, y) > 0.8


def test_automatic_regularisation_copes_with_units(rng):
    X = rng.standard_normal((2000, 3))
    y = (X[:, 0] + 0.3 * rng.standard_normal(2000) > 0.0).astype(int)
    for units in ([1.0, 100.0, 1.0], [1.0, 1e5, 1.0]):
        Z = X * units
        assert WALRClassifier(epsilon=INF).fit(Z, y).score(Z, y) > 0.85


def test_a_bound_without_digits_is_refused(records):
    with config_context(skip_parameter_validation=True):
        for norm in (3.55e-162, 0.0, -1.0, math.nan, math.inf, "1"):
            with pytest.raises(ValueError, match="data_norm"):
                label_aggregate(*records, data_norm=norm)
        for epsilon in (-math.inf, -1.0, 0.0, math.nan):
            with pytest.raises(ValueError, match="epsilon"):
                label_aggregate(*records, epsilon=epsilon)


def test_rows_too_long_to_square_need_a_bound(records):
    X, y = records
    with pytest.raises(ValueError, match="data_norm"):
        WALRClassifier().fit(1e300 * X, y)
    assert np.isfinite(WALRClassifier(data_norm=1.0).fit(1e300 * X, y).coef_).all()


def test_features_without_information(records):
    X, y = records
    for constant in (np.zeros_like(X), np.ones_like(X)):
        model = WALRClassifier(random_state=0).fit(constant, y)
        assert np.isfinite(model.coef_).all()
        without = WALRClassifier(fit_intercept=False, random_state=0).fit(constant, y)
        assert np.isfinite(without.coef_).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_column_of_zeros_takes_no_part_in_noise_that_suits_the_rows(n_classes, rng):
    X, y = rng.standard_normal((500, 5)), np.arange(500) % n_classes
    X[:, 2] = 0.0
    model = WALRClassifier(mechanism="analytic", noise_shape="adapted", random_state=0).fit(X, y)
    assert (np.abs(model.coef_[:, 2]) < 1e-15).all()
    assert (model.aggregate_.noise_cov[2] == 0.0).all()
