"""Few steps that follow the curvature, where noise is quiet."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.polynomial.hermite_e import hermegauss
from scipy.special import expit

from skdp.linear_model import DPLogisticRegression, DPRidge
from tests._loops import for_each
from tests._runs import run_of
from tests.door import (
    RULES_FROM_START,
    RULES_IN_BALL,
    BlockSampler,
    CautiousSteps,
    CurvatureSteps,
    GaussianMechanism,
    SecondMoment,
    Whitening,
    as_vector,
    choose_steps,
    logistic_curvature,
    solve_whitened,
)
from tests.linear_model.whitened.test_plan import plan

SQUARED = {"longest_move": math.inf}


def quiet_plan(loss, **changes):
    """Return a plan for so many rows that noise is quiet."""
    smoothness = {"squared_error": 1.0, "log_loss": 0.25}[loss]
    return plan(**{"n_records": 10**7, "smoothness": smoothness, **changes})


def white_of(share, p=5):
    """Return a map of rows that fill such a share of their columns."""
    noise = 0.2 * (1.0 - share)
    moment = 0.2 * np.eye(p)
    return Whitening(
        np.eye(p) / math.sqrt(0.2), np.full(p, share), np.full(p, 0.2), noise, 1.0, moment
    )


def test_the_logistic_curvature_is_the_mean_over_normal_rows():
    mean, w = np.array([0.3, -0.2]), np.array([0.9, 1.4])
    spread = np.array([[0.5, 0.2], [0.2, 0.7]])
    nodes, shares = hermegauss(60)
    grid = np.stack(np.meshgrid(nodes, nodes), axis=-1).reshape(-1, 2)
    weights = np.multiply.outer(shares, shares).ravel() / shares.sum() ** 2
    rows = mean + grid @ np.linalg.cholesky(spread).T
    slopes = expit(rows @ w) * expit(-rows @ w)
    expected = (rows * (weights * slopes)[:, np.newaxis]).T @ rows
    found = logistic_curvature(w, spread + np.outer(mean, mean), mean)
    np.testing.assert_allclose(found, expected, atol=1e-4 * np.abs(expected).max())
    at_zero = logistic_curvature(0.0 * w, spread + np.outer(mean, mean), mean)
    np.testing.assert_allclose(at_zero, 0.25 * (spread + np.outer(mean, mean)), rtol=1e-12)


def descend(way, gradient, n_steps, p):
    w, iterates = np.zeros((p, 1)), []
    for _ in range(n_steps):
        w = way.moved(w, gradient(w), np.zeros((p, 1)))
        iterates.append(w)
    return iterates


def test_pairs_of_gradients_correct_a_wrong_moment():
    """Of squares whose curvature is a sixth to all of the moment: cut slopes make it less."""
    H, best = np.diag([1.0, 0.5, 1.0 / 6.0]), np.ones((3, 1))
    left = {}
    for noise_std in (0.0, 1e6):
        way = CurvatureSteps(
            moment=np.eye(3), mean=np.zeros(3), penalty=0.0, noise_std=noise_std, **SQUARED
        )
        iterates = descend(way, lambda w: H @ (w - best), 10, 3)
        left[noise_std] = np.linalg.norm(iterates[-1] - best)
    assert left[0.0] < 1e-6
    # Pairs that noise hides correct nothing: then a sixth of the rest goes in each step.
    assert left[1e6] == pytest.approx((5.0 / 6.0) ** 10, rel=1e-3)


def test_no_gradients_make_the_curvature_indefinite(rng):
    """Not those of noise alone, nor of a loss that isn't convex."""
    for longest_move in (2.0, math.inf):
        way = CurvatureSteps(
            moment=np.eye(4),
            mean=np.zeros(4),
            penalty=1e-4 * np.eye(4),
            noise_std=1e-3,
            longest_move=longest_move,
        )
        w = np.zeros((4, 1))
        for gradient in (-1.0, 3.0, -20.0, 0.0, 0.0, 1e-9):
            w = way.moved(w, gradient * rng.standard_normal((4, 1)) - w, np.zeros((4, 1)))
            assert np.linalg.eigvalsh(way._curvature(w[:, 0]))[0] > 0.0
            assert np.isfinite(w).all()


def test_gradients_of_other_rows_make_no_pair():
    """Their difference is no curvature: with it a step would go elsewhere."""
    settings = {"moment": np.eye(2), "mean": np.zeros(2), "penalty": 0.0, "noise_std": 1.0}
    way, anew = (CurvatureSteps(**settings, longest_move=math.inf) for _ in range(2))
    w, pull = np.zeros((2, 1)), np.zeros((2, 1))
    w = way.moved(w, np.array([[3.0], [-1.0]]), pull)
    way.change_rows(0.0)
    gradient = np.array([[-2.0], [0.5]])
    np.testing.assert_array_equal(way.moved(w, gradient, pull), anew.moved(w, gradient, pull))
    # The noise is that of the other rows from now on.
    curvature = way._curvature(w[:, 0])
    way.moved(w + 1.0, 0.5 * gradient, pull)
    assert not np.array_equal(way._curvature(w[:, 0]), curvature)


def test_predictions_move_no_farther_than_allowed():
    moment = np.diag([4.0, 1.0])
    way = CurvatureSteps(
        moment=moment, mean=np.zeros(2), penalty=0.0, noise_std=0.0, longest_move=2.0
    )
    (w,) = descend(way, lambda w: np.array([[30.0], [-7.0]]), 1, 2)
    assert float(w[:, 0] @ moment @ w[:, 0]) == pytest.approx(4.0)
    assert w[0, 0] < 0.0 < w[1, 0]


@pytest.mark.parametrize(
    ("loss", "share", "n_steps", "first"),
    [("squared_error", 0.99, 6, 3), ("squared_error", 0.6, 16, 8), ("log_loss", 0.9, 16, 10)],
)
def test_few_steps_are_taken_where_noise_is_quiet(loss, share, n_steps, first):
    rules, white = RULES_IN_BALL[loss], white_of(share)
    steps = choose_steps(white, quiet_plan(loss), rules)
    assert (steps.n_steps, steps.momentum, steps.first) == (n_steps, 0.0, first)
    assert steps.follow_curvature
    assert steps.noise < rules.quiet[0].noise
    otherwise = choose_steps(white, quiet_plan(loss), rules._replace(quiet=()))
    assert otherwise.n_steps == 40
    assert steps.noise < 2.0 * otherwise.noise


GIVEN = [
    {"max_iter": 12},
    {"clipping_norm": 3.0},
    {"step_size": 1.0},
    {"momentum": 0.1},
    {"average": False},
    {"n_outputs": 2},
    {"bias": 0.0},
    {"typical_weight": 1.2},
    {"wanted_weight": 0.9},
    {"steepest": 1.1},
    {"moment_budget": 0.0},
    {"n_records": 5000},
    {"epsilon": math.inf},
]


@for_each("changes", GIVEN)
@for_each("loss", ["squared_error", "log_loss"])
def test_steps_are_along_gradients_where_something_is_given_or_unknown(loss, changes):
    made = quiet_plan(loss, **changes)
    white = white_of(0.99)
    if made.moment is None:
        white = white._replace(moment=None)
    assert not choose_steps(white, made, RULES_IN_BALL[loss]).follow_curvature


def with_sample(made, n_drawn):
    """Return a plan whose ball is learnt of a sample of so many rows."""
    sampler = BlockSampler(made.n_records, n_drawn // 8)
    return replace(
        made, ball=SimpleNamespace(sample=sampler, n_sampled=sampler.n_drawn, releases=())
    )


@pytest.mark.parametrize(("loss", "n_steps"), [("squared_error", 6), ("log_loss", 16)])
def test_the_first_half_of_few_steps_is_of_a_sample_that_is_large_and_quiet(loss, n_steps):
    rules, white, made = RULES_IN_BALL[loss], white_of(0.99), quiet_plan(loss, n_records=10**8)
    plain = choose_steps(white, made, rules)
    assert (plain.n_steps, plain.n_of_sample) == (n_steps, 0)
    many = choose_steps(white, with_sample(made, 2 * 10**7), rules)
    assert (many.n_steps, many.n_of_sample) == (n_steps, n_steps // 2)
    # Noise of the first steps is 25 times as loud, of which little is left.
    assert plain.noise < many.noise < 1.05 * plain.noise
    (few,) = {choose_steps(white, with_sample(made, n), rules).n_of_sample for n in (8, 14_992)}
    assert few == 0
    # As many rows, but of 100 times as many: the noise is 10,000 times that of a step of all.
    louder = rules._replace(quiet=(rules.quiet[0]._replace(noise=1.01 * plain.noise),))
    for times, n_of_sample in ((5.9, n_steps // 2), (6.1, 0)):
        n_drawn = int(made.n_records / math.sqrt(times * 1.01)) // 8 * 8
        steps = choose_steps(white, with_sample(made, n_drawn), louder)
        assert (steps.n_steps, steps.n_of_sample) == (n_steps, n_of_sample)


class SampledRows:
    """Rows of squares, whose optimum is 1 in all of them and 0.9 in a sample."""

    slope_bound = math.inf

    def __init__(self, n_records, optimum=1.0):
        self.n_records, self.optimum, self.asked = n_records, optimum, []

    def bound_slopes(self, A, bound):
        self.slope_bound, self.A = bound, A

    def sampled_slopes(self, drawn):
        self.sampled = SampledRows(drawn.sampler.n_drawn, 0.9)
        self.sampled.slope_bound, self.sampled.A = self.slope_bound, self.A
        self.sampled.asked = self.asked
        return self.sampled

    def ask(self, query):
        if isinstance(query, SecondMoment):
            return self.n_records * as_vector(0.2 * np.eye(5))
        self.asked.append((self.optimum, query.w.copy()))
        # Of rows whose moment is .2, slopes at weights A w.
        return self.n_records * 0.2 * self.A @ (self.A @ query.w - self.optimum)


def test_means_of_a_sample_are_over_its_rows_and_those_of_all_rows_follow(monkeypatch):
    made = with_sample(quiet_plan("squared_error", n_records=10**8), 2 * 10**7)
    monkeypatch.setattr(GaussianMechanism, "release", lambda self, value, stream: value)
    rows, rules = SampledRows(made.n_records), RULES_IN_BALL["squared_error"]
    weights, _ = solve_whitened(rows, plan=made, rules=rules, run=run_of(made))
    assert [optimum for optimum, _ in rows.asked] == [0.9] * 3 + [1.0] * 3
    A = rows.A
    asked = [(A @ w).ravel() for _, w in rows.asked]
    # A step is nearly whole: the optimum of those who were asked is where the next is.
    np.testing.assert_allclose(asked[1], 0.9, rtol=1e-2)
    np.testing.assert_allclose(asked[3], 0.9, rtol=1e-2)
    np.testing.assert_allclose(asked[4], 1.0, rtol=1e-2)
    np.testing.assert_allclose(weights, 1.0, rtol=1e-2)


def test_steps_from_a_start_and_few_columns_keep_to_gradients():
    for loss in ("squared_error", "log_loss"):
        assert not choose_steps(
            white_of(0.99), quiet_plan(loss), RULES_FROM_START[loss]
        ).follow_curvature
    rules = RULES_IN_BALL["log_loss"]
    assert not choose_steps(white_of(0.6), quiet_plan("log_loss"), rules).follow_curvature
    assert not any(RULES_IN_BALL[loss].quiet for loss in ("multinomial", "huber", "tweedie"))


@pytest.mark.long
def test_the_predicted_noise_is_what_steps_leave(rng):
    """On squares of the curvature that is assumed, with noise in each gradient."""
    loss, n_repeats, p = "squared_error", 2000, 5
    made, rules = quiet_plan(loss), RULES_IN_BALL[loss]
    white = white_of(0.95)
    steps = choose_steps(white, made, rules)
    std = steps.clip * made.steps.noise_multiplier * math.sqrt(steps.n_steps) / made.n_records
    H = rules.curvature * white.signal[0]
    found = []
    for _ in range(n_repeats):
        way = CurvatureSteps(
            moment=rules.curvature * np.eye(p),
            mean=np.zeros(p),
            penalty=0.0,
            noise_std=std,
            **SQUARED,
        )
        noise = iter(std * rng.standard_normal((steps.n_steps, p, 1)))
        # From afar, so that pairs tell of the curvature.
        iterates = descend(
            way, lambda w, noise=noise: H * (w - 1.0) + next(noise), steps.n_steps, p
        )
        found.append(np.mean(iterates[steps.first :], axis=0).ravel() - 1.0)
    variance = white.signal[0] * np.square(found).sum(axis=1).mean()
    assert variance == pytest.approx(steps.noise, rel=0.15)


class Rows:
    """Rows that remember what they are asked, and give what was exact for them."""

    def __init__(self, exact):
        self._exact, self.asked = exact, []

    def bound_slopes(self, A, bound):
        self.slope_bound = bound
        self.asked.append((A, np.array(bound)))

    def ask(self, query):
        if isinstance(query, SecondMoment):
            return self._exact * np.ones(15)
        self.asked.append((query.w.copy(), np.array(query.mechanism.noise_std)))
        return self._exact * np.ones((5, 1))


@pytest.mark.parametrize("loss", ["squared_error", "log_loss"])
def test_all_that_is_asked_follows_from_releases(loss, monkeypatch):
    made = quiet_plan(loss)
    asked = []
    for exact in (0.0, 1e5):
        noise = np.random.default_rng(1)

        def release(self, value, stream, noise=noise):
            if value.size == 15:
                clean = np.eye(5)[np.triu_indices(5)]
                return 0.2 * made.n_records * clean
            return 1e-2 * made.n_records * noise.standard_normal(value.shape)

        monkeypatch.setattr(GaussianMechanism, "release", release)
        rows = Rows(exact)
        weights, steps = solve_whitened(
            rows, plan=made, rules=RULES_IN_BALL[loss], run=run_of(made)
        )
        assert steps.follow_curvature
        asked.append((rows.asked, weights))
    (one, w), (other, w_other) = asked
    np.testing.assert_array_equal(w, w_other)
    assert len(one) == len(other) == steps.n_steps + 1
    for (a, b), (c, d) in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, c)
        np.testing.assert_array_equal(b, d)


@pytest.mark.parametrize("model", [DPRidge, DPLogisticRegression])
def test_a_fit_takes_few_steps_to_the_optimum_at_the_same_cost(model):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (3000, 6))
    y = X @ rng.standard_normal(6) + rng.logistic(size=3000)
    settings = {"target_bounds": (-10.0, 10.0)} if model is DPRidge else {"classes": [0, 1]}
    y = np.clip(y, -10.0, 10.0) if model is DPRidge else (y > 0.0) * 1
    few = model(epsilon=1e4, random_state=0, **settings).fit(X, y)
    many = model(epsilon=1e4, random_state=0, max_iter=40, **settings).fit(X, y)
    assert (few.n_iter_, many.n_iter_) == (6 if model is DPRidge else 16, 40)
    assert few.privacy_report_.mu == pytest.approx(many.privacy_report_.mu, rel=1e-12)
    assert few.privacy_report_.events[-1].n_steps == few.n_iter_
    np.testing.assert_allclose(
        few.coef_, many.coef_, rtol=0.02, atol=0.02 * np.abs(many.coef_).max()
    )


def test_steps_go_back_to_the_smallest_gradient_and_are_halved():
    """Of ``cosh(10 w) - 5 w`` full steps are thrown far off, and then back where they began."""
    way, w, seen = CautiousSteps(1.0, 0.5), np.array([[0.05]]), []
    with np.errstate(all="ignore"):
        for _ in range(60):
            w = way.moved(w, 10.0 * np.sinh(10.0 * w) - 5.0, 0.0)
            seen.append(float(w[0, 0]))
    assert abs(seen[0]) > 0.1
    # Ever smaller steps from the same place, until one is small enough.
    n_back = int(np.argmax(np.abs(np.diff(np.abs(seen))) < 0.01))
    tried = 0.05 - np.array(seen[:n_back])
    np.testing.assert_allclose(tried[1:] / tried[:-1], 0.5)
    np.testing.assert_allclose(seen[-1], np.arcsinh(0.5) / 10.0, rtol=1e-6)


def test_steps_go_back_from_what_is_no_number():
    way, w = CautiousSteps(1.0, 0.5), np.zeros((2, 1))
    first = way.moved(w, np.ones((2, 1)), 0.0)
    again = way.moved(first, np.full((2, 1), np.nan), 0.0)
    np.testing.assert_array_equal(first, -np.ones((2, 1)))
    np.testing.assert_array_equal(again, -0.5 * np.ones((2, 1)))
