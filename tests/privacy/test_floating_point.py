"""Low-order bits of releases, and sums in another order or from single precision.

Each statistical test has an error rate below 1e-6 a run.
"""

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from skdp.accountant import get_epsilon
from skdp.linear_model import DPCDElasticNet, DPSCDRegressor, DPSGDClassifier
from tests.door import GaussianMechanism, LaplaceMechanism, clip_rows, make_stream, summation_slack
from tests.privacy._cases import Case
from tests.privacy._recipes import CASES
from tests.privacy._replay import n_off_grid, record

ERROR_RATE = 1e-8


def test_noise_that_is_simply_added_is_off_the_grid(monkeypatch):
    def release(self, value, stream):
        return value + self.noise_std * stream.normal(value.shape)

    monkeypatch.setattr(GaussianMechanism, "release", release)
    run = record(CASES[0], *CASES[0].records())
    assert n_off_grid(run) == len(run.released)


# The attack of Mironov (2012), for the Gaussian as in Haney et al. (2022): close to 0, x + noise
# with x = 1 is a difference of two numbers near 1 and so a multiple of their last bit, while noise
# alone has bits far below it.

MULTIPLIER, DELTA, N_RELEASES = 4.0, 1e-4, 400_000
SCALES = [1e-3, 0.1, 1.0, 3.0, 1e6, 1e12]


def naive(value, scale, rng):
    return value + MULTIPLIER * scale * rng.standard_normal(N_RELEASES)


def ours(value, scale, rng):
    mechanism = GaussianMechanism(scale, noise_multiplier=MULTIPLIER, size=1, n_records=1)
    stream = make_stream(int(rng.integers(2**31)))
    return mechanism.release(np.full(N_RELEASES, value), stream)


class _Numbers(LaplaceMechanism):
    """Releases of single numbers, many at once: each has noise of its own length and sign."""

    def _draw(self, shape, stream):
        return -np.log(stream.uniform(shape)) * np.sign(stream.normal(shape))


def pure(value, scale, rng):
    mechanism = _Numbers(scale, noise_multiplier=MULTIPLIER, size=1, n_records=1)
    stream = make_stream(int(rng.integers(2**31)))
    return mechanism.release(np.full(N_RELEASES, value), stream)


def says_one(released, scale):
    """The attacker's guess from one release: near 0 and without bits below those of `scale`."""
    steps = released / (0.5 * np.spacing(scale))
    return (np.abs(released) < scale / 64.0) & (steps == np.rint(steps))


def shares(mechanism, scale, rng):
    """Bounds of the shares of releases of 0 and of 1, in this unit, in which 1 is guessed."""
    found = []
    for value in (0.0, scale):
        hits = int(says_one(mechanism(value, scale, rng), scale).sum())
        interval = stats.binomtest(hits, N_RELEASES).proportion_ci(1.0 - ERROR_RATE)
        found.append((interval.low, interval.high))
    return found


@pytest.mark.parametrize("scale", SCALES)
def test_the_attack_breaks_noise_that_is_simply_added(scale, rng):
    (_, zero), (one, _) = shares(naive, scale, rng)
    # Far above what the guarantee of this much noise allows.
    assert one > 3.0 * (math.exp(get_epsilon(MULTIPLIER, DELTA)) * zero + DELTA)


@pytest.mark.parametrize(("mechanism", "scale"), product([ours, pure], SCALES))
def test_the_attack_gets_nothing_from_a_release(mechanism, scale, rng):
    """The guess is as frequent as the laws say of its interval, and so within the guarantee."""
    (zero, zero_high), (one, one_high) = shares(mechanism, scale, rng)
    epsilon = get_epsilon(MULTIPLIER, DELTA) if mechanism is ours else 1.0 / MULTIPLIER
    assert one <= math.exp(epsilon) * zero_high + (DELTA if mechanism is ours else 0.0)
    law = stats.norm if mechanism is ours else stats.laplace
    edge = 1.0 / 64.0
    for value, low, high in ((0.0, zero, zero_high), (1.0, one, one_high)):
        ends = (np.array([-edge, edge]) - value) / MULTIPLIER
        assert low <= np.diff(law.cdf(ends))[0] <= high


@pytest.mark.parametrize(("bits", "scale"), product([1, 3, 8], SCALES))
def test_low_bits_of_releases_are_those_of_noise(scale, bits, rng):
    """The last bits of the number of grid steps have the same law for 0, for 1 and in between."""
    grid = GaussianMechanism(scale, noise_multiplier=MULTIPLIER, size=1, n_records=1).grid
    tables = []
    for value in (0.0, scale / 3.0, scale):
        steps = ours(value, scale, rng) / grid
        np.testing.assert_array_equal(steps, np.rint(steps))
        tables.append(np.bincount(steps.astype(np.int64) % 2**bits, minlength=2**bits))
    assert stats.chi2_contingency(tables).pvalue > ERROR_RATE
    assert stats.chisquare(np.sum(tables, axis=0)).pvalue > ERROR_RATE


# Sums.


def exact_sum(contributions):
    """Sum of each column, correctly rounded."""
    return np.array([math.fsum(column) for column in contributions.T])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_rows", [50, 5000])
def test_reordered_and_single_precision_sums_are_within_the_slack(dtype, n_rows, rng):
    """The first release of a fit on all rows, against the exact sum of its contributions."""
    model = DPSGDClassifier(
        classes=[0, 1],
        loss="hinge",
        clipping_norm=1.0,
        batch_size=n_rows,
        max_iter=1,
        ball_budget=0,
    )
    X = (rng.standard_normal((n_rows, 4)) * 10.0 ** rng.uniform(-6, 6, (n_rows, 1))).astype(dtype)
    y = rng.integers(0, 2, n_rows)
    rows = clip_rows(X, data_norm=1.0, fit_intercept=True)
    certified = rows.augmented(np.arange(n_rows))
    slopes = np.where(y == 1, -1.0, 1.0) / np.maximum(rows.norm, 1.0)
    expected = exact_sum(slopes[:, np.newaxis] * certified)
    slack = summation_slack(n_rows, 5, 1, 2048)
    for _ in range(5):
        order = rng.permutation(n_rows)
        run = record(Case(model), X[order], y[order])
        [mechanism], [value] = run.mechanisms, run.values
        assert mechanism.rounding_slack >= slack
        assert (
            np.linalg.norm(value.ravel() - expected) <= 0.5 * slack * mechanism.contribution_bound
        )
    assert mechanism.sensitivity >= mechanism.contribution_bound * (1.0 + slack)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "model",
    [
        DPSGDClassifier(classes=[0, 1, 2], clipping_norm=1e-3, batch_size=5000, max_iter=1),
        DPSCDRegressor(alpha=1.0, clipping_norm=1e-3, batch_size=5000, max_iter=1),
        DPCDElasticNet(clipping_norm=1e-3, max_iter=1, smoothness="bounds"),
    ],
    ids=str,
)
def test_a_record_in_another_order_is_within_sensitivity(model, dtype, rng):
    """Neighbours whose rows are also shuffled, which moves all rounding errors."""
    case = Case(model)
    X, y = case.records(5000)
    X = X.astype(dtype)
    base = record(case, X, y)
    order = rng.permutation(5000)
    null = int(np.flatnonzero(order == 17)[0])
    other = record(case, X[order], y[order], script=base.released, null=null)
    same = record(case, X[order], y[order], script=base.released)
    reached = 0.0
    for mechanism, value, without, again in zip(
        base.mechanisms, base.values, other.values, same.values, strict=True
    ):
        bound = mechanism.contribution_bound
        assert np.linalg.norm(value - again) <= mechanism.rounding_slack * bound
        distance = np.linalg.norm(value - without)
        assert distance <= bound * (1.0 + mechanism.rounding_slack)
        reached = max(reached, distance / bound)
    assert reached > 0.99
