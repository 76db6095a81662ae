"""Shares of classes or means of targets alone, where noise would hide all else."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from skdp.additive import DPAdditiveClassifier, DPAdditiveRegressor
from tests._loops import for_each
from tests.door import (
    Frame,
    Weights,
    expected_shares,
    gaussian_mu,
    null_records,
    release_constants,
)

SHARE = 0.3


def few(n_rows=500, n_classes=2):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.random(n_rows), "b": rng.choice(["x", "y"], n_rows)})
    X["c"] = pd.Series(rng.integers(0, 5, n_rows).tolist(), dtype=object)
    rest = 1.0 - SHARE
    shares = (
        [rest, SHARE] if n_classes == 2 else [rest, *[SHARE / (n_classes - 1)] * (n_classes - 1)]
    )
    return X, np.repeat(np.arange(n_classes), np.round(n_rows * np.array(shares)).astype(int))


MODEL = DPAdditiveClassifier(classes=[0, 1], epsilon=0.1, delta=1e-6, random_state=0)
REGRESSOR = DPAdditiveRegressor(epsilon=0.1, delta=1e-6, target_bounds=(-2.0, 6.0), random_state=0)


@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
def test_public_numbers_say_where_a_model_would_be_noise(adjacency):
    """A bin of the first counts would need more than half of the records to show."""
    n_rows, n_columns = 1000, 9
    factor = 1.0 if adjacency == "zero_out" else math.sqrt(2.0)

    def releases(noise, **settings):
        # An epsilon whose counts of all columns have this noise.
        low, high = 1e-3, 100.0
        for _ in range(60):
            epsilon = math.sqrt(low * high)
            found = factor * math.sqrt(n_columns) / gaussian_mu(epsilon, 1e-6) / n_rows
            low, high = (epsilon, high) if found > noise else (low, epsilon)
        model = clone(MODEL).set_params(adjacency=adjacency, epsilon=epsilon, **settings)
        return [planned.name for planned in model._plan(n_rows, n_columns).releases]

    assert releases(0.0405) == ["shares of classes"]
    assert "linear model" in releases(0.0395)
    assert "linear model" in releases(0.0405, features_budget=0.2)


@pytest.mark.parametrize("model", [MODEL, REGRESSOR, clone(REGRESSOR).set_params(loss="poisson")])
def test_people_counts_and_amounts_have_models(model):
    by_group = model.get_params().get("loss") != "poisson"
    plan = model._plan(500, 3, by_group=by_group)
    assert "linear model" in [planned.name for planned in plan.releases]


def test_shares_are_all_that_is_released():
    X, y = few()
    model = clone(MODEL).set_params(interactions=[("b", "c")], monotonic_cst={"a": 1})
    with pytest.warns(UserWarning, match="too few for this epsilon"):
        model.fit(X, y)
    report = model.privacy_report_
    assert report.names == ("shares of classes",)
    assert report.mu == pytest.approx(gaussian_mu(0.1, 1e-6), rel=1e-6)
    assert any("too few for this epsilon" in note for note in report.notes)
    assert [term.name for term in model.terms_] == ["a", "b", "c", "b x c"]
    assert all((term.values == 0.0).all() and term.is_noise for term in model.terms_)
    np.testing.assert_array_equal(model.explain(X), 0.0)
    np.testing.assert_array_equal(model.feature_importances_, 0.0)
    found = model.predict_proba(X)[:, 1]
    assert np.ptp(found) == 0.0
    # Half of the noise of a count, six deviations.
    assert abs(found[0] - SHARE) < 6 * 0.5 / gaussian_mu(0.1, 1e-6) / len(X)
    assert model.to_markdown().startswith("The noise hides")


@pytest.mark.long
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_noise_is_that_of_one_release(n_classes):
    """Nothing is left for a table, a ball or steps: shares are as near as the budget makes them."""
    X, y = few(n_rows=1000, n_classes=n_classes)
    model = clone(MODEL).set_params(classes=np.arange(n_classes))
    fits = [clone(model).set_params(random_state=seed).fit(X, y) for seed in range(60)]
    found = np.array([fit.predict_proba(X[:1])[0, 0] for fit in fits])
    of_count = 1.0 / gaussian_mu(0.1, 1e-6) / len(X)
    wanted = 0.5 * of_count if n_classes == 2 else math.sqrt(2.0 / 3.0) * of_count
    # A standard deviation of 60 numbers is off by less than half of it, but for 1e-6.
    assert np.std(found) == pytest.approx(wanted, rel=0.5)
    assert abs(found.mean() - (1.0 - SHARE)) < 5 * wanted / math.sqrt(60) + 0.002


def exact(targets, weights=None, released=None, model=MODEL):
    """Return means by a release with next to no noise; what is released is added to a list."""
    released = [] if released is None else released
    mechanism = SimpleNamespace(noise_std=1e-7)

    def ask(name, place, query):
        released.append(place.ask(query))
        return released[-1]

    run = SimpleNamespace(mechanism=lambda name: mechanism, ask=ask)
    frame = SimpleNamespace(counted=lambda entries: entries)
    plan = model._plan(500, 3, targets.shape[1])
    means = release_constants(targets, weights or Weights(), frame, plan, run)
    return np.append(1.0 - means, means) if means.size == 1 else means


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_the_bound_is_how_far_a_label_moves_the_sum(n_classes):
    """From nothing, which a null record adds, or from any other label."""
    labels = 2.0 * np.eye(n_classes) - 1.0 if n_classes > 2 else np.array([[-1.0], [1.0]])
    parts = []
    for label in labels:
        exact(label[np.newaxis], None, parts)

    def bound(adjacency):
        model = clone(MODEL).set_params(classes=np.arange(n_classes), adjacency=adjacency)
        (planned,) = model._plan(500, 3, labels.shape[1]).releases
        return planned.release.bound

    farthest = max(np.linalg.norm(one - other) for one in parts for other in parts)
    assert bound("zero_out") == pytest.approx(max(map(np.linalg.norm, parts)), rel=1e-12)
    assert bound("replace_one") == pytest.approx(farthest, rel=1e-12)


def test_the_label_of_a_null_record_adds_nothing():
    frame, released = Frame((), (), (), (), 4), []
    run = SimpleNamespace(
        mechanism=lambda name: SimpleNamespace(noise_std=1.0),
        ask=lambda name, place, query: released.append(place.ask(query)) or released[-1],
    )
    for label in (1.0, -1.0):
        targets = np.array([[label], [1.0], [1.0], [-1.0]])
        with null_records([0]):
            release_constants(targets, Weights(), frame, MODEL._plan(500, 3), run)
    np.testing.assert_array_equal(released, [[0.5], [0.5]])


def test_weights_of_rows_and_of_classes_count():
    targets = np.array([[1.0], [1.0], [-1.0], [-1.0]])
    np.testing.assert_allclose(exact(targets), [0.5, 0.5], atol=1e-6)
    weights = Weights(np.array([1.0, 0.5, 1.25, 1.25]), np.zeros(4, bool))
    weights = weights._replace(scale=weights.scale._replace(largest=1.25))
    np.testing.assert_allclose(exact(targets, weights), [0.625, 0.375], atol=1e-6)
    released = []
    for labels in (targets, targets * [[1.0], [1.0], [1.0], [-1.0]]):
        exact(labels, weights, released)
    # The heaviest record moves the sum by no more than the bound of a pair.
    assert abs(released[1] - released[0]) == pytest.approx(1.0, rel=1e-12)
    several = 2.0 * np.eye(3)[[0, 0, 1, 2]] - 1.0
    np.testing.assert_allclose(exact(several), [0.5, 0.25, 0.25], atol=1e-6)
    X, y = few()
    plain = clone(MODEL).fit(X, y)
    heavy = clone(MODEL).set_params(class_weight={1: 4.0}).fit(X, y)
    assert heavy.intercept_ - plain.intercept_ == pytest.approx(math.log(4.0), rel=1e-9)
    left_out = clone(MODEL).set_params(class_weight={1: 0.0}).fit(X, y)
    assert left_out.predict_proba(X[:1])[0, 1] < 1e-6


@for_each(
    "released, noise",
    itertools.product([-0.3, 0.0, 0.02, 0.5, 1.1], [0.01, 0.08, 0.5, 10.0]),
)
def test_a_released_share_is_drawn_into_its_range(released, noise):
    """It is the mean of all shares in [0, 1], by how likely each makes what was released."""
    shares = np.linspace(0.0, 1.0, 100_001)
    logs = -0.5 * ((shares - released) / noise) ** 2
    density = np.exp(logs - logs.max())
    # The ends stand for half as much of the line as others.
    density[[0, -1]] *= 0.5
    wanted = (shares * density).sum() / density.sum()
    (found,) = expected_shares(np.array([released]), noise)
    assert found == pytest.approx(wanted, rel=1e-3)
    assert 0.0 < found < 1.0


def test_a_mean_is_all_that_is_released_of_targets():
    X, _ = few()
    y = np.random.default_rng(1).uniform(-1.0, 2.0, len(X))
    model = clone(REGRESSOR).set_params(interactions=[("b", "c")], monotonic_cst={"a": 1})
    with pytest.warns(UserWarning, match="spent on the mean of the targets"):
        model.fit(X, y)
    report = model.privacy_report_
    assert report.names == ("means of targets",)
    assert report.mu == pytest.approx(gaussian_mu(0.1, 1e-6), rel=1e-6)
    assert any("too few for this epsilon" in note for note in report.notes)
    assert model.target_bounds_ == (-2.0, 6.0)
    np.testing.assert_array_equal(model.explain(X), 0.0)
    found = model.predict(X)
    assert np.ptp(found) == 0.0
    # Half of the noise of a count in units of the range, six deviations.
    assert abs(found[0] - y.mean()) < 6 * 4.0 / gaussian_mu(0.1, 1e-6) / len(X)


def test_the_noise_of_a_mean_is_that_of_one_release():
    X, _ = few(n_rows=1000)
    y = np.random.default_rng(1).uniform(1.0, 3.0, len(X))
    (planned,) = REGRESSOR._plan(len(X), 3).releases
    mu = gaussian_mu(0.1, 1e-6)
    assert planned.release.mechanism.noise_std == pytest.approx(0.5 / mu, rel=1e-6)
    # It is in units of a range of 8.
    noise = 4.0 / mu / len(X)
    fits = [clone(REGRESSOR).set_params(random_state=seed).fit(X, y) for seed in range(6)]
    found = np.array([fit.intercept_ for fit in fits])
    assert (np.abs(found - y.mean()) < 6 * noise).all()
    assert np.std(found) > 0.05 * noise


def test_a_range_that_nobody_gave_is_learnt_first():
    """With nine tenths and more of the records in three bins, the counts show them."""
    X, _ = few(n_rows=1000)
    y = np.random.default_rng(1).normal(1000.0, 30.0, len(X))
    X = X.assign(**{f"d{j}": X["a"] for j in range(30)})
    model = clone(REGRESSOR).set_params(target_bounds=None, epsilon=0.5)
    with pytest.warns(UserWarning, match="their range"):
        model.fit(X, y)
    report = model.privacy_report_
    assert report.names[-1] == "means of targets"
    assert report.names[0] == "first ranges of targets"
    assert report.mu == pytest.approx(gaussian_mu(0.5, 1e-6), rel=1e-6)
    low, high = model.target_bounds_
    assert 0.0 < low < 1000.0 < high < 2000.0
    # The noise of the mean is .02 of the range; a range cuts few records.
    assert abs(model.intercept_ - 1000.0) < 0.15 * (high - low)
    # Several targets have ranges of their own.
    both = clone(model).fit(X, np.stack([y, 0.01 * y], axis=1))
    np.testing.assert_allclose(both.intercept_, [1000.0, 10.0], rtol=0.5)


def test_a_range_that_noise_hides_is_warned_of():
    X, y = few()
    with pytest.warns(UserWarning, match="Give public bounds"):
        clone(REGRESSOR).set_params(target_bounds=None, epsilon=0.05).fit(X, 1.0 * y)


@pytest.mark.parametrize("n_targets", [1, 3])
def test_the_bound_is_how_far_targets_move_the_sum(n_targets):
    """From nothing, which a null record adds, or from any others, as far beyond as they are."""
    parts = []
    for targets in itertools.product([-1e300, -1.0, 0.0, 1.0, 1e300], repeat=n_targets):
        exact(np.array([targets]), None, parts, REGRESSOR)

    def bound(adjacency):
        model = clone(REGRESSOR).set_params(adjacency=adjacency)
        (planned,) = model._plan(500, 3, n_targets).releases
        return planned.release.bound

    farthest = max(np.linalg.norm(one - other) for one in parts for other in parts)
    assert bound("zero_out") == pytest.approx(max(map(np.linalg.norm, parts)), rel=1e-12)
    assert bound("replace_one") == pytest.approx(farthest, rel=1e-12)


@pytest.mark.parametrize("void", ["null", "no weight"])
def test_targets_of_null_records_count_for_nothing(void):
    """Neither where their range is learnt nor in the mean."""
    X, _ = few(n_rows=1000)
    X = X.assign(**{f"d{j}": X["a"] for j in range(30)})
    y = np.random.default_rng(1).uniform(1.0, 2.0, len(X))
    model = clone(REGRESSOR).set_params(target_bounds=None, epsilon=0.5)
    weights = np.append(0.0, np.ones(len(X) - 1)) if void == "no weight" else None
    found = []
    for target in (1.5, -1e9):
        y[0] = target
        with null_records([0] if void == "null" else []):
            fit = clone(model).fit(X, y, public_weight=weights)
        found.append((*fit.target_bounds_, fit.intercept_))
    assert found[0] == found[1]
