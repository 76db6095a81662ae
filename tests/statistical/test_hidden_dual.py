r"""Exact privacy of dual coordinate descent whose dual variable is never released.

The claim: with the dual variable hidden and exact, releasing v at every step costs no more than T
compositions of the Poisson-subsampled Gaussian of sensitivity C. Why: fix the other rows, and let
the past be the releases so far. Given the past, record k's dual variable still depends on its own
past coins, but the coin of this step doesn't depend on them. So the release is a mixture, over the
hidden past coins, of pairs

    N(g, s^2 C^2) with probability 1 - q,    N(g + u, s^2 C^2), |u| <= C, with probability q,

and each pair is a subsampled Gaussian of sensitivity at most C. Hockey-stick divergences are
jointly convex, so the mixture is dominated by the worst pair whatever the past. Pairs that dominate
each step given the past dominate the adaptive composition (Zhu, Dong and Wang 2022, theorem 10).

The check: a record with one feature, so that a release is one number. The likelihood of a
transcript (r_1 .. r_T) is a sum over all 2^T coin sequences of the record, the dual variable
following the coins and the released v; no bound enters. With L = dP/dQ,

    delta(epsilon) = E_P[(1 - e^epsilon / L)_+]

is a mean of numbers in [0, 1], estimated from transcripts drawn from P with `bounds_of_mean` around
it. A bound is wrong with probability at most 1e-10, and the file takes fewer than 500: all hold
together but for a probability of 5e-8.
Releases lie on a grid; its step is 1e-6 of the noise, and their density stands for their law.
"""

import math
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import logsumexp

from tests._objectives import DUAL
from tests._runs import HandRun
from tests.door import Budget, DPSCDProblem, clip_contributions, clip_rows, plan_dpscd, solve_dpscd
from tests.statistical._transcripts import (
    EPSILONS,
    GivenBatches,
    bounds_of_delta,
    bounds_of_mean,
    convicted,
)

N_TRANSCRIPTS = 20_000
CHUNK = 500


@dataclass(frozen=True)
class Record:
    """A row of one feature."""

    y: float
    x: float


@dataclass(frozen=True)
class Process:
    """What is run: the other rows contribute nothing."""

    loss: str
    alpha: float
    plan: object

    @property
    def n_steps(self):
        return self.plan.sampler.n_steps

    @property
    def rate(self):
        return self.plan.sampler.rate

    @property
    def mechanism(self):
        return self.plan.mechanism

    def update(self, record, shared, dual):
        """Clipped update of the dual variable; `shared` and `dual` broadcast to the result."""
        margin = record.x * shared / (self.alpha * self.plan.sampler.n_rows)
        curvature = np.array(record.x**2 * self.rate / self.alpha)
        with np.errstate(all="ignore"):
            zeta = DUAL[self.loss].dual_step(record.y, margin, dual, curvature)
        norms = np.full(zeta.size, abs(record.x))
        bound = self.mechanism.contribution_bound
        return clip_contributions(zeta.reshape(-1, 1), norms, bound).reshape(zeta.shape)


# n, batch size and passes: 8 steps of rate 1/4, 10 of rate 1/5, 8 of rate 1/2.
QUARTER, FIFTH, HALF = (8, 2, 2), (10, 2, 2), (8, 4, 4)


def make_process(loss, alpha, bound, *, adjacency="zero_out", design=QUARTER):
    n_records, batch_size, max_iter = design
    problem = DPSCDProblem(
        n_records=n_records,
        n_columns=1,
        n_outputs=1,
        row_norm=1.0,
        rounding_slack=0.0,
        alpha=alpha,
        loss=SimpleNamespace(typical_prediction=1.0, lipschitz=1.0),
    )
    plan = plan_dpscd(
        problem,
        Budget(epsilon=1.0, delta=0.05, adjacency=adjacency, accountant="pld"),
        max_iter=max_iter,
        batch_size=batch_size,
        clipping_norm=bound,
        noisy_dual=False,
        proximal=0.0,
    )
    return Process(loss, alpha, plan)


def with_mechanism(process, **changes):
    step = replace(process.plan.step, **changes)
    return replace(process, plan=replace(process.plan, step=step))


def sample(process, record, rng, *, n=N_TRANSCRIPTS, noisy_dual=False):
    """Draw releases, coins, updates and increments of the dual variable, each of shape (n, T).

    None is the null record. `noisy_dual` adds noise to the dual variable of a sampled row, as
    Algorithm 1 of Damaskinos et al. (2021) does.
    """
    stream = SimpleNamespace(normal=rng.standard_normal)
    shape = (n, process.n_steps)
    coins = rng.random(shape) < process.rate
    releases, updates, increments = np.empty(shape), np.zeros(shape), np.zeros(shape)
    shared, dual = np.zeros(n), np.zeros(n)
    for t in range(process.n_steps):
        moves = np.zeros(n)
        if record is not None:
            updates[:, t] = process.update(record, shared, dual)
            moves = coins[:, t] * updates[:, t] * record.x
        increments[:, t] = updates[:, t]
        if noisy_dual:
            increments[:, t] = process.mechanism.release(updates[:, t], stream)
        increments[:, t] *= coins[:, t]
        releases[:, t] = process.mechanism.release(moves, stream)
        shared += releases[:, t]
        dual += increments[:, t]
    return SimpleNamespace(releases=releases, coins=coins, updates=updates, increments=increments)


def moves_by_coins(process, record, releases):
    """Yield, for each step t, how the record would move v after each of its 2^t coin sequences.

    The array has shape (n, 2^t); in column j, the record's coin of step s was bit s of j.
    """
    shared = np.zeros((releases.shape[0], 1))
    dual = np.zeros((releases.shape[0], 1))
    for t in range(process.n_steps):
        zeta = process.update(record, shared, dual)
        yield zeta * record.x
        dual = np.concatenate([dual, dual + zeta], axis=1)
        shared = shared + releases[:, t, np.newaxis]


def log_ratio(process, record, releases):
    """Exact log likelihood ratio of transcripts, record against null record."""
    if record is None:
        return np.zeros(releases.shape[0])
    log_on, log_off = math.log(process.rate), math.log1p(-process.rate)
    pieces = []
    for start in range(0, releases.shape[0], CHUNK):
        chunk = releases[start : start + CHUNK]
        weights = np.zeros((chunk.shape[0], 1))
        for t, moves in enumerate(moves_by_coins(process, record, chunk)):
            shifted = gaussian_log_ratio(process, chunk[:, t, np.newaxis], moves)
            weights = np.concatenate([weights + log_off, weights + log_on + shifted], axis=1)
        pieces.append(logsumexp(weights, axis=1))
    return np.concatenate(pieces)


def gaussian_log_ratio(process, value, shift):
    """Log density of N(shift, std^2) over that of N(0, std^2)."""
    return (value - 0.5 * shift) * shift / process.mechanism.noise_std**2


def log_ratios_both_ways(process, one, other, rng, n=N_TRANSCRIPTS):
    """Log likelihood ratios, of the first record under itself and of the second under itself."""
    for p, q in ((one, other), (other, one)):
        releases = sample(process, p, rng, n=n).releases
        yield log_ratio(process, p, releases) - log_ratio(process, q, releases)


def acquitted(log_ratios, report):
    """Whether delta is certainly below the report's, where that isn't too small to tell."""
    return all(bounds_of_delta(log_ratios, e)[1] < report.delta_at(e) for e in EPSILONS[:3])


# Loss, alpha, contribution bound, records, design. Updates are cut to the bound at every step, at
# some steps, or never; where alpha is small ("wild") they change sign with the released v.
ZERO_OUT_CASES = {
    "squared-always": ("squared_error", 0.5, 1.0, Record(50.0, 1.0), QUARTER),
    "squared-some": ("squared_error", 0.5, 1.0, Record(2.0, 1.0), FIFTH),
    "squared-wild": ("squared_error", 0.02, 0.3, Record(1.0, -2.0), HALF),
    "squared-never": ("squared_error", 2.0, 1.0, Record(0.5, 0.7), QUARTER),
    "hinge-always": ("hinge", 10.0, 0.02, Record(-1.0, 0.5), QUARTER),
    "hinge-some": ("hinge", 0.2, 0.4, Record(1.0, 1.0), HALF),
    "hinge-never": ("hinge", 0.5, 2.0, Record(1.0, 1.0), QUARTER),
    "log-always": ("log_loss", 10.0, 0.02, Record(1.0, 1.0), QUARTER),
    "log-some": ("log_loss", 0.1, 0.2, Record(-1.0, 1.0), QUARTER),
    "log-never": ("log_loss", 0.5, 2.0, Record(1.0, 1.0), QUARTER),
}

REPLACE_ONE_CASES = {
    "squared-always": ("squared_error", 0.5, 1.0, Record(50.0, 1.0), Record(-50.0, 1.0), HALF),
    "squared-wild": ("squared_error", 0.05, 0.3, Record(1.0, -2.0), Record(3.0, 1.0), QUARTER),
    "hinge-labels": ("hinge", 0.2, 0.4, Record(1.0, 1.0), Record(-1.0, 1.0), QUARTER),
    "log-features": ("log_loss", 0.1, 0.2, Record(-1.0, 1.0), Record(-1.0, -0.5), QUARTER),
}


@pytest.mark.long
@pytest.mark.parametrize("case", REPLACE_ONE_CASES)
def test_a_record_against_another_never_exceeds_the_report(case, rng):
    loss, alpha, bound, one, other, design = REPLACE_ONE_CASES[case]
    process = make_process(loss, alpha, bound, adjacency="replace_one", design=design)
    report = process.plan.report(reproducible=True)
    for log_ratios in log_ratios_both_ways(process, one, other, rng, n=N_TRANSCRIPTS // 2):
        assert not convicted(log_ratios, report)
        assert case.endswith("always") or acquitted(log_ratios, report)


@pytest.mark.long
@pytest.mark.parametrize("case", ["squared-some", "hinge-some", "log-some"])
def test_likelihoods_match_the_transcripts(case, rng):
    """E_P[dQ/dP] = 1; the coins that never show give dQ/dP <= (1 - q)^-T."""
    loss, alpha, bound, record, design = ZERO_OUT_CASES[case]
    process = make_process(loss, alpha, bound, design=design)
    releases = sample(process, record, rng).releases
    largest = (1.0 - process.rate) ** -process.n_steps
    inverse = np.exp(-log_ratio(process, record, releases))
    assert inverse.max() <= largest * (1.0 + 1e-9)
    low, high = bounds_of_mean(inverse, width=largest)
    assert low <= 1.0 <= high


def test_half_the_noise_is_convicted(rng):
    process = make_process("squared_error", 0.5, 1.0)
    report = process.plan.report(reproducible=True)
    half = with_mechanism(process, noise_multiplier=0.5 * process.mechanism.noise_multiplier)
    log_ratios = next(log_ratios_both_ways(half, Record(50.0, 1.0), None, rng))
    assert convicted(log_ratios, report) == list(EPSILONS)


@pytest.mark.long
def test_the_noise_of_zero_out_is_convicted_under_replace_one(rng):
    process = make_process("squared_error", 0.5, 1.0)
    report = make_process("squared_error", 0.5, 1.0, adjacency="replace_one").plan.report(
        reproducible=True
    )
    pair = Record(50.0, 1.0), Record(-50.0, 1.0)
    for log_ratios in log_ratios_both_ways(process, *pair, rng):
        assert convicted(log_ratios, report) == list(EPSILONS)


@pytest.mark.parametrize("loss", DUAL)
def test_releasing_the_exact_dual_variable_is_convicted(loss, rng):
    """A null record's dual variable stays 0, so any other value tells the records apart."""
    process = make_process(loss, 0.5, 0.3)
    report = process.plan.report(reproducible=True)
    drawn = sample(process, Record(1.0, 1.0), rng)
    moved = (drawn.increments != 0.0).any(axis=1)
    log_ratios = np.where(moved, np.inf, process.n_steps * math.log1p(-process.rate))
    assert convicted(log_ratios, report) == list(EPSILONS)


@pytest.mark.parametrize("sensitivity_paid", [1.0, math.sqrt(2.0)])
def test_releasing_a_dual_variable_with_noise_for_sampled_rows_is_convicted(sensitivity_paid, rng):
    """Who changed was sampled: the coins are known, and sampling amplifies nothing.

    The joint release of v and the dual variable has sensitivity sqrt(2) C; paying that won't do.
    """
    process = make_process("squared_error", 0.5, 1.0)
    report = process.plan.report(reproducible=True)
    multiplier = sensitivity_paid * process.mechanism.noise_multiplier
    process = with_mechanism(process, noise_multiplier=multiplier)
    record = Record(50.0, 1.0)
    drawn = sample(process, record, rng, noisy_dual=True)
    log_ratios = gaussian_log_ratio(process, drawn.releases, drawn.updates * record.x)
    log_ratios += gaussian_log_ratio(process, drawn.increments, drawn.updates)
    log_ratios = (drawn.coins * log_ratios).sum(axis=1)
    assert convicted(log_ratios, report) == list(EPSILONS)


class _Spy:
    def __init__(self, contribution_bound, releases):
        self.contribution_bound = contribution_bound
        self.seen = []
        self._releases = releases

    def release(self, value, stream):
        self.seen.append(value.item())
        return np.full_like(value, self._releases[len(self.seen) - 1])


@pytest.mark.parametrize("loss", DUAL)
@pytest.mark.parametrize("bound", [0.05, 0.4, 10.0])
def test_the_solver_is_the_process(loss, bound, rng):
    """Before noise, the solver's releases are the sums of the moves of each row's coin sequence."""
    process = make_process(loss, 0.2, bound)
    n_records, n_steps = process.plan.sampler.n_rows, process.n_steps
    features = rng.uniform(-1.0, 1.0, n_records)
    targets = rng.choice([-1.0, 1.0], n_records)
    coins = rng.random((n_steps, n_records)) < 0.5
    releases = rng.standard_normal(n_steps)

    spy = _Spy(bound, releases)
    solve_dpscd(
        clip_rows(features[:, np.newaxis], data_norm=1.0, fit_intercept=False),
        targets[:, np.newaxis],
        loss=DUAL[loss],
        alpha=process.alpha,
        plan=SimpleNamespace(
            sampler=GivenBatches(process.plan.sampler, coins),
            mechanism=spy,
            clipping_norm=process.plan.clipping_norm,
            noisy_dual=False,
            proximal=0.0,
            intercept_proximal=0.0,
        ),
        average=True,
        n_jobs=None,
        run=HandRun(spy),
    )

    expected = np.zeros(n_steps)
    for row in range(n_records):
        record = Record(targets[row], features[row])
        column = 0
        for t, moves in enumerate(moves_by_coins(process, record, releases[np.newaxis])):
            if coins[t, row]:
                expected[t] += moves[0, column]
                column += 1 << t
    np.testing.assert_allclose(spy.seen, expected, rtol=1e-10, atol=1e-12)
    assert np.abs(expected).max() > 0.0
