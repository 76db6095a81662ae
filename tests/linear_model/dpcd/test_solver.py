import math
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pytest

from tests._loops import for_each
from tests._runs import HandRun
from tests.door import (
    EVEN,
    LOSSES,
    BallColumns,
    BoundedColumns,
    CoordinateMean,
    GaussianMechanism,
    SingleCoordinateSampler,
    feature_moments,
    make_penalty,
    make_stream,
    solve_dpcd,
)


@dataclass
class GivenNoise:
    """A mechanism that adds the noise it is told."""

    contribution_bound: float
    noise: np.ndarray
    noise_std: float = 0.0
    values: list = field(default_factory=list)

    def release(self, value, stream):
        self.values.append(np.copy(value))
        out = value + self.noise[len(self.values) - 1].reshape(np.shape(value))
        return np.asarray(out)


def plan_of(mechanism, sampler, **changes):
    """A plan of features alone, of which each entry is clipped."""
    plain = {"tail": False, "average": False, "period": 1, "scales": False}
    plain |= {"problem": SimpleNamespace(n_features=sampler.n_columns, scale=EVEN)}
    plain |= {"by_row": False, "alone": SimpleNamespace(mechanism=mechanism)}
    return SimpleNamespace(mechanism=mechanism, sampler=sampler, **plain | changes)


def plain_proximal_cd(X, Y, loss, penalty, thresholds, steps, period, coordinates, noise, clip):
    """Algorithm 1 of the paper, written out record by record; the noise is in units of C_j."""
    n_rows, n_outputs = Y.shape
    w = np.zeros((X.shape[1], n_outputs))
    w = np.clip(w, np.reshape(penalty.low, (-1, 1)), np.reshape(penalty.high, (-1, 1)))
    iterates = []
    for t, j in enumerate(coordinates):
        total = np.zeros(n_outputs)
        for i in range(n_rows):
            slope = loss.gradient(Y[i], X[i] @ w)
            x = X[i] / thresholds
            reach = {None: 0.0, "entry": abs(x[j]), "row": np.linalg.norm(x)}[clip]
            total += slope * X[i, j] / max(np.linalg.norm(slope) * reach, 1.0)
        gradient = (total + thresholds[j] * noise[t]) / n_rows
        w = w.copy()
        w[j] = penalty.of_coefficient(j).prox(w[j] - steps[j] * gradient, steps[j])
        iterates.append(w)
        if len(iterates) == period or t == len(coordinates) - 1:
            w = np.mean(iterates, axis=0)
            iterates = []
    return w.T


PENALTIES = {
    "l2": make_penalty("l2", 0.3),
    "l1": make_penalty("l1", 0.02),
    "elasticnet": make_penalty("elasticnet", 0.1, 0.3),
    "box": make_penalty(
        "l1", 0.01, low=np.array([-0.1, 0.05, 0.0, -9.0]), high=np.array([0.1, 0.2, math.inf, 9.0])
    ),
}


@pytest.mark.long
@for_each("clip_by", ["entry", "row"])
@for_each("average", [True, False])
@for_each("bound", ["some", "all", math.inf])
@for_each("n_outputs", [1, 3])
@for_each("name", ["squared_error", "log_loss"])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_the_loop_is_the_algorithm(penalty, name, n_outputs, bound, average, clip_by, rng):
    n_rows, n_columns, n_steps, period = 23, 4, 30, 8
    X = rng.standard_normal((n_rows, n_columns)) * [1.0, 3.0, 0.2, 1.0]
    X[5] = 0.0
    Y = np.sign(rng.standard_normal((n_rows, n_outputs)))
    loss, penalty = LOSSES[name], PENALTIES[penalty]
    smoothness = loss.smoothness * (X**2).mean(axis=0)
    scale = {"some": 0.5, "all": 1e-3, math.inf: 1.0}[bound]
    thresholds = scale * np.sqrt(smoothness)
    sampler = SingleCoordinateSampler(n_columns, n_steps)
    coordinates = list(sampler.coordinates(make_stream(1)))
    noise = 2.0 * rng.standard_normal((n_steps, n_outputs))
    mechanism = GivenNoise(math.inf if bound == math.inf else 1.0, noise)
    found = solve_dpcd(
        BoundedColumns(np.asfortranarray(X / thresholds), thresholds),
        Y,
        loss=loss,
        penalty=penalty,
        steps=np.full(n_columns, 0.7 * scale**2),
        plan=plan_of(mechanism, sampler, period=period, average=average, by_row=clip_by == "row"),
        coins=make_stream(1),
        run=HandRun(mechanism),
    )
    expected = plain_proximal_cd(
        X,
        Y,
        loss,
        penalty,
        thresholds,
        0.7 / smoothness,
        period if average else 1,
        coordinates,
        noise,
        clip=None if bound == math.inf else clip_by,
    )
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
    lengths = [np.linalg.norm(value) for value in mechanism.values]
    if bound == "all":
        assert max(lengths) <= n_rows - 1


def test_predictions_that_follow_updates_equal_those_computed_afresh(rng):
    """A period that ends after every step recomputes them."""
    n_rows, n_columns, n_steps = 200, 6, 300
    X = np.asfortranarray(rng.standard_normal((n_rows, n_columns)))
    Y = rng.standard_normal((n_rows, 1))
    found = [
        solve_dpcd(
            BoundedColumns(X, np.ones(n_columns)),
            Y,
            loss=LOSSES["squared_error"],
            penalty=make_penalty("l1", 0.01),
            steps=np.full(n_columns, 0.5),
            plan=plan_of(
                GivenNoise(1.0, np.random.default_rng(3).normal(size=(n_steps, 1))),
                SingleCoordinateSampler(n_columns, n_steps),
                period=period,
            ),
            coins=make_stream(0),
            run=HandRun(GivenNoise(1.0, np.random.default_rng(3).normal(size=(n_steps, 1)))),
        )
        for period in (1, n_steps)
    ]
    np.testing.assert_allclose(*found, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("n_iterates", [1, 7])
def test_the_mean_over_iterates(n_iterates, rng):
    w = rng.standard_normal((2, 3))
    mean, iterates = CoordinateMean(2, 3), []
    for done in range(n_iterates):
        j = int(rng.integers(3))
        times = mean.uncounted(j, done)
        for output in range(2):
            mean.total[output][j] += times * w[output, j]
        w[:, j] = rng.standard_normal(2)
        iterates.append(w.copy())
    np.testing.assert_allclose(mean.value(w, n_iterates), np.mean(iterates, axis=0), rtol=1e-12)


def test_the_tail_is_the_mean_of_what_the_operator_is_applied_to(rng):
    """Written out: start, passes, soft thresholds of means over the second half, the intercept."""
    n_rows, n_columns, n_passes, n_alone = 40, 3, 4, 5
    X = rng.standard_normal((n_rows, n_columns))
    X[:, -1] = bias = 0.4
    y = np.where(rng.random(n_rows) < 0.2, 1.0, -1.0)
    loss, penalty = LOSSES["log_loss"], make_penalty("elasticnet", 0.1, np.array([0.4, 0.9, 0.0]))
    steps, doubt = np.array([0.6, 0.9, 3.0]), 1.5
    sampler = SingleCoordinateSampler(n_columns, n_passes * n_columns + n_alone, n_alone)
    order = list(sampler.coordinates(make_stream(1)))
    noise = rng.standard_normal((sampler.n_steps, 1))
    mechanism = GivenNoise(math.inf, noise, noise_std=0.3)
    plan = plan_of(
        mechanism,
        sampler,
        tail=True,
        n_passes=n_passes,
        doubt=doubt,
        problem=SimpleNamespace(n_features=2, scale=EVEN),
    )
    found = solve_dpcd(
        BoundedColumns(np.asfortranarray(X), np.ones(n_columns)),
        y[:, np.newaxis],
        plan=plan,
        loss=loss,
        penalty=penalty,
        steps=steps,
        coins=make_stream(1),
        run=HandRun(mechanism),
        bias=bias,
    )
    assert order[0] == 2
    assert order[-4:] == [2] * 4
    w = np.zeros(n_columns)

    def slope(t):
        return (X[:, order[t]] @ loss.gradient(y, X @ w) + noise[t, 0]) / n_rows

    error = 2.0 * 0.3 / n_rows / bias
    share = np.clip(0.5 - slope(0) / bias, error, 1.0 - error)
    w[2] = np.log(share / (1.0 - share)) / bias
    steps[2] *= 0.25 / max(share * (1.0 - share), 2.0 * error)
    arguments = [[], [], []]
    parts = [penalty.of_coefficient(j) for j in range(n_columns)]
    for t, j in enumerate(order[1:-4], start=1):
        argument = w[j] - steps[j] * slope(t)
        w[j] = parts[j].prox(argument, steps[j])
        if t > 2 * n_columns:
            arguments[j].append(argument)
    for j in range(n_columns):
        mean = np.mean(arguments[j])
        quiet = steps[j] * doubt * 0.3 / n_rows / math.sqrt(2.0) if j < 2 else 0.0
        w[j] = parts[j].prox(mean if abs(mean) > quiet else 0.0, steps[j])
    last = []
    for t in range(len(order) - 4, len(order)):
        last.append(w[2] - steps[2] * slope(t))
        w[2] = parts[2].prox(last[-1], steps[2])
    w[2] = parts[2].prox(np.mean(last[2:]), steps[2])
    np.testing.assert_allclose(found[0], w, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("buys_means", [False, True])
def test_moments_are_in_units_of_the_bounds(buys_means, rng):
    X = np.asfortranarray(rng.uniform(-2.0, 3.0, (500, 4)))
    reach = np.array([3.0, 4.0, 5.0, 6.0])
    size = 8 if buys_means else 4
    exact, noisy = (
        GaussianMechanism(math.inf, 0.0, size, 500),
        GaussianMechanism(2.0, 3.0, size, 500),
    )
    seen = []

    def plan(mechanism):
        return SimpleNamespace(
            problem=SimpleNamespace(reach=2.0),
            buys_means=buys_means,
            weight_of_means=0.5,
            likely_moments=lambda squares, means: seen.append((squares, means)) or seen[-1],
        )

    columns = BallColumns(X, None, None)
    squares, means = feature_moments(columns, reach, plan(exact), HandRun(exact))
    np.testing.assert_allclose(squares, (X**2).mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(means, X.mean(axis=0) * buys_means, rtol=1e-12)
    seen.clear()
    for i in range(400):
        feature_moments(columns, reach, plan(noisy), HandRun(noisy, noise=make_stream(i)))
    # Chi-squared variables of 1600 degrees: off by 30 % with a probability below 1e-12.
    released = np.array([squares for squares, _ in seen])
    spread = (released - (X**2).mean(axis=0) / reach**2).std()
    assert 0.7 < spread / (noisy.noise_std / 500) < 1.3
    if buys_means:
        spread = (np.array([means for _, means in seen]) - X.mean(axis=0) / reach).std()
        assert 0.7 < spread / (noisy.noise_std / 250) < 1.3


@pytest.mark.parametrize("by_row", [False, True])
def test_weights_move_no_release_beyond_its_bound(by_row):
    """Neither that of slopes nor that of mean squares."""
    X, weights = np.ones((1, 1), order="F"), np.array([1e6])
    made = GivenNoise(1.0, np.zeros((1, 1)))
    solve_dpcd(
        BoundedColumns(X, np.ones(1)),
        np.ones((1, 1)),
        loss=LOSSES["squared_error"],
        penalty=PENALTIES["l2"],
        steps=np.ones(1),
        plan=plan_of(made, SingleCoordinateSampler(1, 1), by_row=by_row),
        coins=make_stream(1),
        run=HandRun(made),
        weights=weights,
    )
    assert abs(made.values[0]) == 1.0
    squares = GaussianMechanism(1.0, 1e-9, 1, 1)
    plan = SimpleNamespace(
        problem=SimpleNamespace(reach=1.0),
        buys_means=False,
        likely_moments=lambda *moments: moments,
    )
    run = HandRun(squares, noise=make_stream(1))
    released, _ = feature_moments(BallColumns(X, weights, None), np.ones(1), plan, run)
    assert released[0] == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("scales", [False, True])
@pytest.mark.parametrize("length", [1e-161, 1e-140, 1.0, 1e200])
def test_a_row_of_any_length_is_bounded_over_a_pass(length, scales):
    """Those whose squares have too few digits, or overflow, add nothing."""
    X = np.asfortranarray([[length, -3.0 * length, 2.0 * length]])
    made = GivenNoise(0.5, np.zeros((3, 1)))
    solve_dpcd(
        BoundedColumns(X, np.ones(3)),
        np.ones((1, 1)),
        loss=LOSSES["log_loss"],
        penalty=make_penalty("l2", 0.0),
        steps=np.full(3, 1e-300),
        plan=plan_of(made, SingleCoordinateSampler(3, 3), by_row=True, scales=scales),
        coins=make_stream(1),
        run=HandRun(made),
        weights=np.array([1e170]),
    )
    found = np.linalg.norm(made.values)
    assert found == pytest.approx(0.5 * (1e-150 < length < 1e150), rel=1e-12)


def test_scaled_slopes_have_their_root_at_the_true_odds(rng):
    """Where cut ones, of a class of one in ten, have it elsewhere."""
    n_rows, n_steps = 1000, 2
    y = np.where(np.arange(n_rows) < 100, 1.0, -1.0)[:, np.newaxis]
    # The first column moves every prediction to the odds of the class; the second is a rare word.
    X = np.asfortranarray(np.column_stack([np.ones(n_rows), 20.0 * (np.arange(n_rows) % 50 == 0)]))
    order = {"n_columns": 2, "n_steps": n_steps, "coordinates": lambda coins: iter((0, 1))}
    in_order, released = SimpleNamespace(**order), {}
    for scales in (False, True):
        mechanism = GivenNoise(1.0, np.zeros((n_steps, 1)))
        solve_dpcd(
            BoundedColumns(X, np.ones(2)),
            y,
            loss=LOSSES["log_loss"],
            penalty=make_penalty("l2", 0.0),
            steps=np.array([math.log(9.0) / 0.4, 0.0]),
            plan=plan_of(mechanism, in_order, period=n_steps, scales=scales),
            coins=None,
            run=HandRun(mechanism),
        )
        released[scales] = [float(value) for value in mechanism.values]
    # Slopes of at most a half aren't touched.
    assert released[True][0] == released[False][0] == pytest.approx(400.0)
    # Twenty records of the word, two of the class; no label makes more of one than 0.9 x 20.
    assert released[True][1] == pytest.approx(0.0, abs=1e-9)
    assert released[False][1] == pytest.approx(18.0 - 2.0)
