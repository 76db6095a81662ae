import math
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from tests._loops import for_each
from tests._objectives import EACH
from tests._runs import HandRun
from tests.door import (
    LOSSES,
    GaussianMechanism,
    LaplaceMechanism,
    Multinomial,
    PartitionSampler,
    Penalty,
    PoissonSampler,
    SortedPartitionSampler,
    clip_rows,
    make_penalty,
    make_stream,
    solve_dpsgd,
    threads_module as _threads,
)


@dataclass(frozen=True)
class FixedBatches:
    """A sampler that gives the batches it is told, with a fixed divisor."""

    given: tuple
    expected_size: float = 4.0

    @property
    def n_steps(self):
        return len(self.given)

    def batches(self, stream):
        return (np.array(batch, dtype=np.int64) for batch in self.given)

    def divisor(self, batch):
        return self.expected_size


def solve(rows, Y, loss, **changes):
    n_rows, n_outputs = Y.shape
    size = n_outputs * rows.n_columns
    plan = {
        "sampler": None,
        "mechanism": GaussianMechanism(math.inf, 0.0, size, n_rows),
        "noise_multipliers": None,
        "full_step_noise": math.inf,
        "clipping_norm": math.inf,
        "eta0": 1.0,
        "power": 0.0,
        "momentum": 0.0,
        "radius": math.inf,
    }
    plan = SimpleNamespace(**{name: changes.pop(name, value) for name, value in plan.items()})
    streams = {name: changes.pop(name, None) for name in ("coins", "noise")}
    options = {
        "penalty": Penalty(),
        "average": False,
        "n_jobs": None,
        "run": HandRun(plan.mechanism, **streams),
    }
    return solve_dpsgd(rows, Y, plan=plan, loss=loss, **(options | changes))


def plain(X, Y, loss, penalty, batches, *, bound, eta0, power, momentum, radius, average):
    """The algorithm row by row, with every gradient built, without noise."""
    w, iterates = np.zeros((Y.shape[1], X.shape[1])), []
    move = np.zeros_like(w)
    for t, batch in enumerate(batches, start=1):
        total = np.zeros_like(w)
        for i in batch:
            gradient = np.outer(loss.gradient(Y[i], w @ X[i]), X[i])
            total += gradient / max(1.0, np.linalg.norm(gradient) / bound)
        eta = eta0 / t**power
        move = momentum * move + (1.0 - momentum) * eta * total / 4.0
        w = w - move
        shrunk = np.sign(w) * np.maximum(np.abs(w) - eta * penalty.l1, 0.0)
        w = shrunk / (1.0 + eta * penalty.l2)
        w = w * min(1.0, radius / max(np.linalg.norm(w), 1e-300))
        iterates.append(w)
    return np.mean(iterates[len(iterates) // 2 :], axis=0) if average else w


@for_each("average, momentum", [(False, 0.0), (True, 0.0), (False, 0.6)])
@for_each("penalty", ["l2", "l1", "elasticnet"])
@for_each("n_outputs", [1, 3])
@for_each("fit_intercept", [False, True])
@pytest.mark.parametrize("name", [*EACH, "multinomial"])
def test_the_loop_is_the_algorithm(name, fit_intercept, n_outputs, penalty, average, momentum, rng):
    if name == "multinomial" and n_outputs == 1:
        pytest.skip("several classes")
    loss = EACH.get(name, Multinomial(n_outputs))
    n_rows = 23
    X = rng.standard_normal((n_rows, 4))
    Y = np.sign(rng.standard_normal((n_rows, n_outputs)))
    if name == "multinomial":
        Y = np.where(np.arange(3) == rng.integers(0, 3, (n_rows, 1)), 1.0, -1.0)
    batches = ([1, 5, 7], [], range(23), [0], [2, 7, 22])
    penalty = make_penalty(penalty, 0.02, 0.3)
    steps = {"eta0": 1.3, "power": 0.5, "momentum": momentum, "radius": 0.4, "average": average}
    found = solve(
        clip_rows(X, data_norm=1.2, fit_intercept=fit_intercept),
        Y,
        loss,
        penalty=penalty,
        sampler=FixedBatches(batches),
        clipping_norm=0.5,
        **steps,
    )
    clipped = X * np.minimum(1.0, 1.2 / np.linalg.norm(X, axis=1))[:, np.newaxis]
    if fit_intercept:
        clipped = np.hstack([clipped, np.full((n_rows, 1), 0.4)])
    expected = plain(clipped, Y, loss, penalty, batches, bound=0.5, **steps)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    assert np.linalg.norm(found) <= 0.4 * (1.0 + 1e-12)


def test_a_start_continues_a_run(rng):
    X, Y = rng.standard_normal((20, 3)), rng.standard_normal((20, 2))
    rows = clip_rows(X, data_norm=1.0, fit_intercept=True)
    loss = LOSSES["squared_error"]
    whole = solve(rows, Y, loss, sampler=FixedBatches(([1, 2], [3], [4, 5])))
    first = solve(rows, Y, loss, sampler=FixedBatches(([1, 2],)))
    before = first.copy()
    second = solve(rows, Y, loss, sampler=FixedBatches(([3], [4, 5])), start=first)
    np.testing.assert_allclose(second, whole, rtol=1e-12)
    np.testing.assert_array_equal(first, before)


def test_divisors_are_public():
    """The expected size for Poisson batches, the size for those of a partition."""
    batch = np.arange(7)
    assert PoissonSampler(100, 0.05, 3).divisor(batch) == 5.0
    assert PartitionSampler(100, 9, 3).divisor(batch) == 7
    assert SortedPartitionSampler(np.arange(16.0), (7, 9), 3).divisor(batch) == 7


class Recorder:
    """A mechanism that keeps what it is asked for and adds nothing."""

    def __init__(self, made=None, noise_multiplier=0.0):
        self.made = [] if made is None else made
        self.noise_multiplier = noise_multiplier

    def serving(self, noise_multipliers):
        return Recorder(self.made, float(noise_multipliers.max()))

    def release(self, value, stream):
        self.made.append((self.noise_multiplier, value.copy()))
        return value


@pytest.mark.parametrize("in_order", [False, True])
def test_a_batch_gets_the_noise_of_its_most_demanding_member(in_order, rng):
    n_rows = 30
    multipliers = rng.uniform(1.0, 9.0, n_rows)
    sampler = PartitionSampler(n_rows, 7, 2)
    if in_order:
        sampler = SortedPartitionSampler(multipliers, (4, 16, 10), 2)
    recorder = Recorder()
    solve(
        clip_rows(rng.standard_normal((n_rows, 3)), data_norm=1.0, fit_intercept=False),
        np.ones((n_rows, 1)),
        LOSSES["hinge"],
        sampler=sampler,
        mechanism=recorder,
        noise_multipliers=multipliers,
        coins=make_stream(0),
    )
    batches = sampler.batches(make_stream(0))
    assert [made for made, _ in recorder.made] == [multipliers[b].max() for b in batches]


def test_noisy_batches_take_shorter_steps():
    """By the square of noise over size, above a noise that takes full steps."""
    multipliers = np.array([1.0, 1.0, 1.0, 4.0, 8.0])
    rows = clip_rows(np.ones((5, 1)), data_norm=1.0, fit_intercept=False)

    def moves(**options):
        """How far each batch moves w, from 0 with slopes of -1 all the way."""
        ends = [
            solve(
                rows,
                np.ones((5, 1)),
                LOSSES["hinge"],
                sampler=FixedBatches(([0, 1], [2], [3, 4])[:n_steps]),
                mechanism=Recorder(),
                noise_multipliers=multipliers,
                eta0=1e-3,
                **options,
            ).item()
            for n_steps in (1, 2, 3)
        ]
        return np.diff(ends, prepend=0.0) / 1e-3

    full = np.array([0.5, 0.25, 0.5])
    np.testing.assert_allclose(moves(), full)
    np.testing.assert_allclose(moves(full_step_noise=1.0), full / [1.0, 1.0, 16.0])
    np.testing.assert_allclose(moves(full_step_noise=0.5), full / [1.0, 4.0, 64.0])


def test_disjoint_batches_show_a_record_once_a_pass(rng):
    """On one script of releases, the values of neighbours differ in a single batch of each pass."""
    n_rows, record = 29, 11
    X, Y = rng.standard_normal((n_rows, 3)), np.sign(rng.standard_normal((n_rows, 1)))
    sampler = PartitionSampler(n_rows, 4, 3)

    def values(X, Y, script=None):
        recorder = Recorder()
        if script is not None:
            recorder.release = lambda value, stream: (
                recorder.made.append((None, value.copy())) or script[len(recorder.made) - 1]
            )
        rows = clip_rows(X, data_norm=1.0, fit_intercept=True)
        solve(
            rows,
            Y,
            LOSSES["log_loss"],
            sampler=sampler,
            mechanism=recorder,
            clipping_norm=0.7,
            coins=make_stream(3),
        )
        return [value for _, value in recorder.made]

    one = values(X, Y)
    neighbour_X, neighbour_Y = X.copy(), Y.copy()
    neighbour_X[record], neighbour_Y[record] = -0.5 * X[record], -Y[record]
    other = values(neighbour_X, neighbour_Y, one)
    distances = np.array([np.linalg.norm(a - b) for a, b in zip(one, other, strict=True)])
    assert distances.max() <= 2.0 * 0.7
    member = [record in batch for batch in sampler.batches(make_stream(3))]
    np.testing.assert_array_equal(distances > 0.0, member)
    assert np.count_nonzero(distances) == 3


@pytest.mark.parametrize("mechanism", [GaussianMechanism, LaplaceMechanism])
def test_blocks_change_rounding_only(mechanism, rng, monkeypatch):
    n_rows = 500
    X, Y = rng.standard_normal((n_rows, 3)), rng.standard_normal((n_rows, 2))
    found = []
    for block in (7, 64, 10_000):
        monkeypatch.setattr(_threads, "BLOCK_ROWS", block)
        coins, noise = make_stream(0).spawn(2)
        found.append(
            solve(
                clip_rows(X, data_norm=1.0, fit_intercept=True),
                Y,
                LOSSES["squared_error"],
                sampler=PoissonSampler(n_rows, 0.3, 20),
                mechanism=mechanism(0.5, 1.0, 8, n_rows),
                clipping_norm=0.5,
                eta0=0.1,
                coins=coins,
                noise=noise,
            )
        )
    np.testing.assert_allclose(found[0], found[2], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(found[1], found[2], rtol=1e-4, atol=1e-6)
