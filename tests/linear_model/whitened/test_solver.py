import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from tests._loops import for_each
from tests._runs import run_of
from tests.door import (
    LOSSES,
    RULES,
    RULES_IN_BALL,
    CertifiedRows,
    GaussianMechanism,
    Huber,
    Multinomial,
    SecondMoment,
    SmoothPinball,
    Tweedie,
    Whitening,
    _noise_power,
    as_symmetric,
    choose_steps,
    clip_rows,
    mechanisms_module as _mechanisms,
    null_records,
    solve_whitened,
    whiten,
)
from tests.linear_model.whitened.test_plan import BIAS, plan
from tests.linear_model.whitened.test_whitening import plain_shrink

NULL = [3, 30]


@pytest.fixture
def no_noise(monkeypatch):
    """Bounds as in a private fit, and a grid that is too fine to be seen."""
    monkeypatch.setattr(GaussianMechanism, "_draw", lambda self, shape, stream: np.zeros(shape))
    monkeypatch.setattr(_mechanisms, "_GRID_BITS", 60)


def problem(rng, name, n_records=60, fit_intercept=True):
    X = rng.standard_normal((n_records, 4)) * rng.choice([0.1, 0.3, 3.0], (n_records, 1))
    with null_records(NULL):
        rows = clip_rows(X, data_norm=1.0, fit_intercept=fit_intercept, bias=BIAS)
    full = X * np.minimum(1.0, 1.0 / np.linalg.norm(X, axis=1))[:, np.newaxis]
    if fit_intercept:
        full = np.column_stack([full, np.full(n_records, BIAS)])
    full[NULL] = 0.0
    Y = np.sign(rng.standard_normal((n_records, 1)))
    loss = LOSSES.get(name)
    if name == "tweedie":
        loss = Tweedie(1.0)
    if name == "huber":
        loss = Huber(1.35)
    if name == "pinball":
        loss = SmoothPinball(0.3, 0.1)
    if name == "multinomial":
        loss = Multinomial(3)
        Y = np.where(np.arange(3) == rng.integers(0, 3, (n_records, 1)), 1.0, -1.0)
    return rows, full, Y, loss


def plan_of(rows, Y, loss, **changes):
    sizes = {"n_records": len(Y), "n_columns": rows.n_columns, "n_outputs": Y.shape[1]}
    sizes |= {"bias": rows.bias, "row_norm": math.hypot(1.0, rows.bias)}
    return plan(smoothness=loss.smoothness, **sizes, **changes)


def plain(full, Y, loss, made):
    """The algorithm row by row, with every matrix built, without noise."""
    n, p = full.shape
    largest, penalty = made.problem.row_norm**2, made.problem.alpha / loss.smoothness
    moment = sum(np.outer(z, z) for z in full) / n
    if made.moment is None:
        A = np.eye(p) / math.sqrt(largest + penalty)
    else:
        values, vectors = np.linalg.eigh(moment)
        tau = made.moment.mechanism.noise_std * math.sqrt(p / 2.0) / n
        theta = plain_shrink(values, tau)
        theta = theta * min(largest, max(values.sum(), made.problem.bias**2)) / theta.sum()
        A = sum(
            np.outer(v, v) / math.sqrt(one + tau + penalty)
            for one, v in zip(theta, vectors.T, strict=True)
        )
    u, v, iterates = np.zeros((p, Y.shape[1])), 0.0, []
    for _ in range(made.max_iter):
        total = np.zeros_like(u)
        for z, y in zip(full, Y, strict=True):
            contribution = np.outer(A @ z, loss.gradient(y, u.T @ (A @ z)))
            size = np.linalg.norm(contribution)
            total += contribution * min(1.0, made.clipping_norm / max(size, 1e-300))
        v = made.momentum * v + total / n + made.problem.alpha * A @ A @ u
        u = u - made.step_size * v
        iterates.append(A @ u)
    return iterates


@pytest.mark.long
@for_each("average", [False, True])
@for_each("share", [0.0, 0.3])
@for_each("adjacency", ["zero_out", "replace_one"])
@for_each("fit_intercept", [False, True])
@pytest.mark.parametrize("name", list(RULES))
def test_the_loop_is_the_algorithm(name, fit_intercept, adjacency, share, average, rng, no_noise):
    rows, full, Y, loss = problem(rng, name, fit_intercept=fit_intercept)
    made = plan_of(
        rows,
        Y,
        loss,
        adjacency=adjacency,
        moment_budget=share,
        epsilon=30.0,
        alpha=0.01,
        max_iter=10,
        clipping_norm=0.3,
        step_size=0.8,
        momentum=0.4,
        average=average,
    )
    with CertifiedRows(rows, Y, loss).at_work() as sums:
        found, steps = solve_whitened(sums, plan=made, rules=RULES[name], run=run_of(made))
    assert (steps.n_steps, steps.size, steps.momentum, steps.clip) == (10, 0.8, 0.4, 0.3)
    iterates = plain(full, Y, loss, made)
    assert steps.first in ((3, 4, 5, 7) if average else (9,))
    expected = np.mean(iterates[steps.first :], axis=0).T
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


class Records:
    """Sums that remember what they are asked, and give none."""

    def __init__(self, p, k, moment=None):
        self.shape, self.asked = (p, k), []
        self.total = np.zeros(p * (p + 1) // 2) if moment is None else moment

    def bound_slopes(self, A, bound):
        self.slope_bound = bound
        self.asked.append((A, bound))

    def ask(self, query):
        if isinstance(query, SecondMoment):
            self.asked.append(query.mechanism)
            return self.total
        self.asked.append((query.w.copy(), query.mechanism))
        return np.zeros(self.shape)


def test_all_that_is_asked_of_the_data_follows_from_releases(monkeypatch):
    """The map, the clip and the weights, whatever the exact moment is."""
    asked = []
    for moment in (None, np.arange(15.0)):
        sums = Records(5, 1, moment)
        script = iter(np.random.default_rng(1).standard_normal((41, 15)) * 30.0 + 10.0)
        monkeypatch.setattr(
            GaussianMechanism,
            "release",
            lambda self, value, stream, script=script: next(script)[: value.size].reshape(
                value.shape
            ),
        )
        weights, steps = solve_whitened(
            sums, plan=(made := plan()), rules=RULES["log_loss"], run=run_of(made)
        )
        asked.append((sums.asked, weights, steps))
    (one, w, steps), (other, w_other, steps_other) = asked
    np.testing.assert_array_equal(w, w_other)
    plain = {"white": None, "variances": None}
    assert steps._replace(**plain) == steps_other._replace(**plain)
    np.testing.assert_array_equal(steps.variances, steps_other.variances)
    assert len(one) == steps.n_steps + 2
    assert one[0] == other[0] == plan().moment.mechanism
    np.testing.assert_array_equal(one[1][0], other[1][0])
    assert one[1][1] == other[1][1] == steps.clip
    mechanisms = {mechanism for _, mechanism in one[2:]}
    assert mechanisms == {mechanism for _, mechanism in other[2:]}
    (mechanism,) = mechanisms
    assert mechanism.contribution_bound == steps.clip
    expected = plan().steps.noise_multiplier * math.sqrt(steps.n_steps)
    assert mechanism.noise_multiplier == pytest.approx(expected, rel=1e-15)


ALL_RULES = [*RULES.items(), *RULES_IN_BALL.items()]


@pytest.mark.long
@for_each("epsilon", [0.01, 0.1, 1.0, 30.0])
@for_each("n_records, p", [(1, 2), (200, 31), (10**4, 11), (10**6, 300)])
def test_clips_and_steps_have_floors_whatever_is_released(n_records, p, epsilon, rng):
    """From noise alone, which tells that there are no rows: C is never 0."""
    made = plan(n_records=n_records, n_columns=p, epsilon=epsilon)
    noise = rng.standard_normal(p * (p + 1) // 2) * made.moment.mechanism.noise_std / n_records
    for vector in (noise, -np.abs(noise), 1e3 * noise, 0.0 * noise):
        white = whiten(as_symmetric(vector, p), made)
        for name, rules in ALL_RULES:
            steps = choose_steps(white, made, rules)
            least = min(rules.clip_noise * math.sqrt(n_records / made.noise), rules.clip * 0.1)
            assert steps.clip >= 0.5 * least, name
            assert (6 if steps.follow_curvature else 10) <= steps.n_steps <= 40, name
            assert 0.0 <= steps.momentum <= 0.7, name
            assert 0 <= steps.first < steps.n_steps, name
            assert math.isfinite(steps.noise), name
            if not steps.follow_curvature:
                assert steps.size == 1.0 / made.problem.smoothness, name


def test_steps_on_squares_arrive_where_noise_is_small(rng):
    """With a quarter of a direction known, hardly anything of the start is left in the mean."""
    made = plan(n_records=10**5, n_columns=5, epsilon=4.0, smoothness=1.0)
    white = whiten(0.2 * np.eye(5), made)
    steps = choose_steps(white, made, RULES["squared_error"])
    left, v, total = 1.0, 0.0, 0.0
    for t in range(steps.n_steps):
        v = steps.momentum * v + 0.25 * left
        left -= steps.size * v
        total += left * (t >= steps.first)
    assert abs(total / (steps.n_steps - steps.first)) < 0.003


def test_what_is_given_is_taken(rng):
    options = {"max_iter": 7, "clipping_norm": 0.2, "step_size": 1.5, "momentum": 0.25}
    for epsilon in (0.1, 10.0, math.inf):
        for share in (0.0, 0.1):
            made = plan(epsilon=epsilon, moment_budget=share, average=False, **options)
            moment = None if share == 0.0 else np.eye(5) / 9.0
            steps = choose_steps(whiten(moment, made), made, RULES["log_loss"])
            clip = 0.2 if epsilon < math.inf else math.inf
            found = (steps.n_steps, steps.size, steps.momentum, steps.first, steps.clip)
            assert found == (7, 1.5, 0.25, 6, clip)


def test_more_rows_leave_less_noise():
    white = Whitening(np.eye(5), np.full(5, 0.9), np.full(5, 0.2), 0.02, 3.0)
    for name, rules in ALL_RULES:
        taken = [
            choose_steps(white, plan(n_records=n_records), rules)
            for n_records in (10**2, 10**3, 10**4, 10**5, 10**7)
        ]
        noise = [steps.noise for steps in taken]
        assert noise == sorted(noise, reverse=True)
        # Where noise is all but gone, the others take fewer steps again.
        if name == "multinomial":
            assert [s.n_steps for s in taken] == sorted(s.n_steps for s in taken)


@pytest.mark.parametrize(("n_steps", "first"), [(1, 0), (5, 0), (8, 3), (8, 7), (30, 15)])
@pytest.mark.parametrize("momentum", [0.0, 0.65, 0.97])
def test_the_predicted_noise_is_that_of_the_recursion(momentum, n_steps, first):
    """By one unit of noise in each step, taken through the steps as they are run."""
    x = np.array([0.0, 1e-3, 0.3, 1.0, 1.9])
    power = np.zeros(5)
    for k in range(n_steps):
        w, v, total = np.zeros(5), np.zeros(5), np.zeros(5)
        for t in range(n_steps):
            v = momentum * v + x * w + (t == k)
            w = w - v
            total += w * (t >= first)
        power += (total / (n_steps - first)) ** 2
    np.testing.assert_allclose(_noise_power(n_steps, momentum, first, x), power, rtol=1e-10)


def test_louder_noise_of_first_steps_counts_for_what_it_is():
    """As a difference of two predictions: one step's noise is four times as large in variance."""
    x = np.array([0.0, 0.3, 1.0])
    once = _noise_power(6, 0.0, 3, x)
    louder = [_noise_power(6, 0.0, 3, x, (1.0,) * step + (4.0,)) - once for step in range(6)]
    np.testing.assert_allclose(np.sum(louder, axis=0), 3.0 * once)
    # Whole steps forget what was before them.
    assert louder[0][2] == louder[1][2] == 0.0 < louder[3][2]


@pytest.mark.long
@for_each("alpha", [1e-4, 1e-2, 1.0, 1e3, 1e30])
@for_each("n_records", [200, 10**5, 10**9])
@for_each("name, rules", ALL_RULES)
def test_no_alpha_makes_a_step_too_long(name, rules, n_records, alpha, rng):
    """The step times the curvature of the penalty is at most 1, and with the loss's 2 (1 + m)."""
    loss = LOSSES.get(name, Multinomial(3))
    made = plan(n_records=n_records, alpha=alpha, smoothness=loss.smoothness)
    clean = np.diag([BIAS**2, 0.001, 0.05, 0.2, 0.4])
    vector = rng.standard_normal(15) * made.moment.mechanism.noise_std / n_records
    white = whiten(clean + as_symmetric(vector, 5), made)
    steps = choose_steps(white, made, rules._replace(quiet=()))
    penalty = alpha * white.A @ white.A
    assert steps.size * np.linalg.eigvalsh(penalty)[-1] <= 1.0 + 1e-12
    curvature = white.A @ clean @ white.A * loss.smoothness + penalty
    assert steps.size * np.linalg.eigvalsh(curvature)[-1] < 2.0 * (1.0 + steps.momentum)


def test_steps_over_rows_that_cancel_have_their_slack():
    """Beside that of the map: rounding errors of both multiply."""
    slacks = []
    for stretch in (1.0, 3.0):
        made, sums = replace(plan(), stretch=stretch), Records(5, 1)
        solve_whitened(sums, plan=made, rules=RULES["log_loss"], run=run_of(made))
        slacks.append({mechanism.rounding_slack for _, mechanism in sums.asked[2:]})
    (one,), (other,) = slacks
    assert other == pytest.approx(3.0 * one)


def test_a_large_alpha_gives_weights_near_zero(rng):
    """Of 3e5 rows, the moment's noise is so small that alpha over it would be a step of 180."""
    n_records = 300_000

    def ask(query):
        if isinstance(query, SecondMoment):
            return np.zeros(15) + n_records * 0.02
        return np.full((5, 1), 0.1 * n_records)

    sums = SimpleNamespace(bound_slopes=lambda A, bound: None, slope_bound=0.0, ask=ask)
    made = plan(n_records=n_records, alpha=0.05)
    weights, _ = solve_whitened(sums, plan=made, rules=RULES["log_loss"], run=run_of(made))
    assert np.abs(weights).max() < 100.0


def test_many_steps_take_little_memory():
    import tracemalloc

    x = np.full(200, 0.3)
    tracemalloc.start()
    _noise_power(5000, 0.5, 2500, x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 * x.nbytes
