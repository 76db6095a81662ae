import math

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

from skdp.linear_model import (
    DPHuberRegressor,
    DPLogisticRegression,
    DPPoissonRegressor,
    DPRidge,
)
from tests._loops import for_each
from tests._runs import run_of
from tests.door import (
    UNIT_BINS,
    Ball,
    RawRows,
    SumOfCutRows,
    ball_counts_module as _counts,
    ball_solver_module as _solver,
    bins_about,
    bins_below,
    learn_ball,
    outside,
    places,
    quantile,
)

BINS = bins_about(1.0)
D = 4
CENTRE, UNIT = np.array([3e4, -2.0, 0.5, 1e-3]), np.array([1e3, 1.0, 0.1, 1e-4])


def counted(lengths, bins=BINS):
    return np.bincount(places(bins, np.asarray(lengths)), minlength=bins.n_bins).astype(float)


@pytest.fixture
def rng():
    return np.random.default_rng(3)


@pytest.mark.parametrize("share", [0.5, 0.9, 1.0])
def test_quantiles_of_exact_counts(share, rng):
    lengths = np.exp(rng.standard_normal(5000))
    found = quantile(counted(lengths), 0.0, BINS, share)
    exact = np.quantile(lengths, share)
    assert exact <= found <= 1.5001 * exact


def test_noise_of_empty_bins_adds_nothing_to_a_quantile(rng):
    lengths = np.exp(rng.standard_normal(5000))
    for _ in range(50):
        noisy = counted(lengths) + 30.0 * rng.standard_normal(BINS.n_bins)
        found = quantile(noisy, 30.0, BINS, 0.9)
        assert 0.7 < found / np.quantile(lengths, 0.9) < 2.2


def test_where_no_bin_stands_out_the_unit_is_taken(rng):
    for bins in (BINS, UNIT_BINS, bins_below(1e200), bins_below(1e-200)):
        found = quantile(0.5 * rng.standard_normal(bins.n_bins), 1.0, bins, 0.9)
        assert found == bins.unit


def test_where_no_length_stands_out_none_is_seen(rng):
    counts = 0.5 * rng.standard_normal(BINS.n_bins)
    assert _counts.seen_quantile(counts, 1.0, BINS, 0.5) is None
    counts[3] = 9.0
    assert _counts.seen_quantile(counts, 1.0, BINS, 0.5) == quantile(counts, 1.0, BINS, 0.5) < 1.0


# Other methods have a public norm by default: rows are clipped to it where noise would hide a ball.
@pytest.mark.parametrize("scale", [1.0, 1e4, 2.0**63])
@pytest.mark.parametrize(
    "estimator",
    [
        DPRidge(epsilon=0.05, target_bounds=(-4.0, 4.0), random_state=0),
        DPLogisticRegression(epsilon=0.05, classes=[0, 1], random_state=0),
        DPHuberRegressor(epsilon=0.05, target_bounds=(-4.0, 4.0), random_state=0),
        DPPoissonRegressor(epsilon=0.05, target_bounds=(0.0, 4.0), random_state=0),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:the size of the targets")
def test_of_rows_that_noise_hides_a_model_is_about_a_constant(estimator, scale, rng):
    X = scale * rng.standard_normal((200, 5))
    y = (X[:, 0] > 0.0) * 1
    with pytest.warns(UserWarning, match="hides how long rows are"):
        estimator = clone(estimator).fit(X, y)
    assert np.abs(X @ np.ravel(estimator.coef_)).max() < 0.01


def test_sizes_are_of_entries_that_are_not_zero(rng):
    found, typical = _counts.sizes_of_columns(
        np.array(
            [
                # A tenth of ones; a wide column; a narrow one; one of zeros.
                counted([0.0] * 900 + [1.0] * 100),
                counted(np.abs(100.0 * rng.standard_normal(1000))),
                counted(np.abs(0.9 * rng.uniform(0.0, 1.0, 1000))),
                counted([0.0] * 1000),
            ]
        ),
        0.0,
        BINS,
        np.zeros(4),
        1000,
    )
    assert found[0] == 1.5
    assert 180.0 < found[1] < 400.0
    assert found[2] == 1.0
    assert found[3] == typical == np.median(found[:3])


def test_zeros_count_by_their_distance_from_the_centre():
    counts = np.array([counted([0.0] * 500 + [0.6] * 500), counted([0.0] * 5 + [0.6] * 995)])
    found, _ = _counts.sizes_of_columns(counts, 0.0, BINS, np.array([7.0, 7.0]), 1000)
    assert found.tolist() == [7.0, 0.75]


def in_units(columns, noise, *, of_zero=0.0, noise_of_centre=math.inf):
    """Return sizes of columns of 1000 entries each, of their distances from the centre."""
    counts = np.array([counted(column) for column in columns])
    of_zero = np.full(len(counts), of_zero)
    return _counts.sizes_in_units(counts, noise, BINS, of_zero, 1000, noise_of_centre)


WIDE = [np.linspace(0.0, 1.0, 1001)[1:]] * 3


def test_no_column_is_far_narrower_than_the_typical_one():
    found = in_units([*[[1.2] * 1000] * 3, [1e-4] * 1000], 16.0)
    assert found.tolist() == [1.5, 1.5, 1.5, 0.375]


@for_each("noise_of_centre", [0.0, 0.01, math.inf])
@for_each("rest", [np.full(100, 0.9), np.geomspace(0.1, 2.0, 100)])
def test_a_column_of_one_number_is_as_wide_as_what_noise_hides(rest, noise_of_centre):
    """Nine tenths are beside the centre, so most entries tell of a column a tenth as wide."""
    column = [*[0.05] * 900, *rest]
    found = in_units([*WIDE, column], 16.0, noise_of_centre=noise_of_centre)
    quiet = in_units([*WIDE, column], 0.0, noise_of_centre=noise_of_centre)
    assert found[:3].tolist() == quiet[:3].tolist() == [1.0] * 3
    deviation = math.sqrt(np.mean(np.square(column)))
    assert 0.5 * deviation < found[3] < 4.0 * deviation


def test_what_balances_one_number_is_far_if_counts_agree():
    noise, one = 8.0, [*[0.05] * 990, *[0.9] * 10]
    narrow = in_units([*WIDE, one], noise)[3]
    assert narrow == pytest.approx(0.0625)
    # Noise alone may have moved the centre that far.
    assert in_units([*WIDE, one], noise, noise_of_centre=0.018)[3] == narrow
    # If not, some entries are on its other side, but no more than the count of the others leaves.
    wide = in_units([*WIDE, one], noise, noise_of_centre=0.017)[3]
    assert wide == pytest.approx(math.sqrt(0.01 + 3.0 * 0.008 * math.sqrt(3.0)))
    quiet = in_units([*WIDE, [0.05] * 1000], 1.0, noise_of_centre=0.0)[3]
    assert quiet == pytest.approx(math.sqrt(3.0 * 0.001 * math.sqrt(3.0)))


def test_a_rare_part_that_is_seen_is_not_beyond_the_size():
    """The bulk alone is more than the share of entries that a size holds."""
    column = [*[1e-3] * 990, *[1.2] * 10]
    assert in_units([*WIDE, column], 0.0)[3] == pytest.approx(2.0 * 0.1 * 0.84 * 1.5)


def test_a_narrow_column_stays_narrow_where_nothing_is_missing(rng):
    """Noise of the centre moves it off: then most of its distances are in one bin."""
    column = np.abs(5e-3 + 5e-4 * rng.standard_normal(1000))
    noise_of_centre = 2e-3
    found = in_units([*WIDE, column], 1.0, noise_of_centre=noise_of_centre)
    assert column.max() < found[3] < 2.0 * column.max()


def test_where_most_columns_are_one_number_the_origin_tells_how_wide_they_are():
    """Words as -1 and 1: of nearly all columns hardly more than -1 is seen."""
    found = in_units([[0.02] * 1000] * 4, 16.0, of_zero=0.98)
    np.testing.assert_allclose(found, 0.25 * 0.98)


@pytest.mark.long
def test_a_fit_finds_the_width_of_an_amount_that_is_mostly_at_its_bound():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (6000, 5))
    X[rng.uniform(size=6000) < 0.95, 0] = -1.0
    labels = rng.integers(0, 2, 6000)
    deviation = X[:, 0].std()
    for seed in range(5):
        model = DPLogisticRegression(classes=[0, 1], random_state=seed).fit(X, labels)
        assert 0.5 * deviation < model.scale_[0] < 8.0 * deviation


def learnt(X, epsilon=1e4, null=(), adjacency="zero_out", seed=0, **options):
    model = DPRidge(epsilon=epsilon, adjacency=adjacency, target_bounds=(-1, 1), **options)
    is_null = np.zeros(X.shape[0], dtype=bool)
    is_null[list(null)] = True
    plan = model._plan(*X.shape, 1).ball
    with RawRows(X, is_null).at_work() as sums:
        return learn_ball(sums, plan=plan, run=run_of(plan, seed))


@pytest.mark.parametrize("data_norm", [None, 1e5, 1e8])
@pytest.mark.parametrize("as_kind", [np.array, csr_array, np.float32])
def test_the_ball_is_where_the_rows_are(as_kind, data_norm, rng):
    X = CENTRE + UNIT * rng.standard_normal((5000, D))
    ball = learnt(as_kind(X), data_norm=data_norm)
    tolerance = 0.2 if data_norm is None else 1e5
    assert (np.abs(ball.center - CENTRE) < tolerance * UNIT).all()
    lengths = np.linalg.norm((X - ball.center) / ball.scale, axis=1)
    assert np.mean(lengths <= ball.radius) > 0.95
    if data_norm is None:
        assert (ball.scale / UNIT > 1.0).all()
        assert (ball.scale / UNIT < 4.0).all()


@pytest.mark.parametrize("factor", [2.0**-20, 2.0**30])
def test_other_units_by_powers_of_four_give_the_same_ball_in_them(factor, rng):
    X = CENTRE + UNIT * rng.standard_normal((3000, D))
    one, other = learnt(X, epsilon=8.0), learnt(factor * X, epsilon=8.0)
    np.testing.assert_allclose(other.center, factor * one.center, rtol=1e-12)
    np.testing.assert_allclose(other.scale, factor * one.scale, rtol=1e-12)
    assert other.radius == pytest.approx(one.radius, rel=1e-12)


@pytest.mark.long
@for_each(
    "make",
    [
        lambda rng: np.zeros((3000, D)),
        lambda rng: np.full((3000, D), 7.0),
        lambda rng: rng.standard_cauchy((3000, D)),
        lambda rng: 1e308 * rng.choice([-1.0, 1.0], (3000, D)),
        lambda rng: np.full((3000, D), 5e-324),
        lambda rng: 10.0 ** rng.uniform(-300, 300, (3000, D)),
    ],
)
@for_each("epsilon", [0.01, 1.0, 1e6])
@for_each("fit_intercept", [False, True])
def test_a_ball_is_finite_whatever_rows_are(fit_intercept, epsilon, make, rng):
    ball = learnt(make(rng), epsilon, fit_intercept=fit_intercept)
    assert np.isfinite(ball.center).all()
    assert (np.isfinite(ball.scale) & (ball.scale > 0.0)).all()
    assert 1e-45 <= ball.radius < math.inf


def test_without_an_intercept_the_centre_is_zero(rng):
    X = CENTRE + UNIT * rng.standard_normal((3000, D))
    assert not learnt(X, fit_intercept=False).center.any()
    assert not learnt(X, math.inf, fit_intercept=False).center.any()


@pytest.mark.parametrize("as_kind", [np.array, csr_array])
def test_without_privacy_the_ball_is_exact(as_kind, rng):
    X = CENTRE + UNIT * rng.standard_t(3.0, (3000, D))
    X[:, 3] = 5.0
    ball = learnt(as_kind(X), math.inf)
    np.testing.assert_allclose(ball.center, X.mean(axis=0), rtol=1e-9)
    np.testing.assert_allclose(ball.scale, [*X[:, :3].std(axis=0), 1.0], rtol=1e-6)
    lengths = np.linalg.norm((X - ball.center) / ball.scale, axis=1)
    assert ball.radius == pytest.approx(lengths.max(), rel=1e-6)


def test_coefficients_are_those_of_rows_as_they_are(rng):
    ball, bias = Ball(CENTRE, UNIT, 3.0), 1.0
    X, coefs = rng.standard_normal((20, D)), rng.standard_normal((2, D + 1))
    z = np.column_stack([(X - CENTRE) / UNIT, np.full(20, bias)])
    found = outside(ball, coefs, bias)
    rows = np.column_stack([X, np.full(20, bias)])
    np.testing.assert_allclose(rows @ found.T, z @ coefs.T, rtol=1e-9)
    assert outside(None, coefs, bias) is coefs
    without = outside(ball._replace(center=np.zeros(D)), coefs[:, :D], 0.0)
    np.testing.assert_allclose(without, coefs[:, :D] / UNIT)


@pytest.mark.parametrize("as_kind", [np.array, csr_array])
def test_a_fit_is_linear_and_finds_what_is_there(as_kind, rng):
    X = CENTRE + UNIT * rng.standard_normal((20_000, D))
    labels = (((X - CENTRE) / UNIT).sum(axis=1) + rng.logistic(size=20_000) > 0.0).astype(int)
    model = DPLogisticRegression(epsilon=4.0, classes=[0, 1], random_state=0)
    model.fit(as_kind(X), labels)
    np.testing.assert_allclose(model.coef_[0] * UNIT, np.ones(D), atol=0.25)
    scores = X @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(as_kind(X)), scores[:, 0], atol=1e-9)


def test_the_centre_is_as_short_as_its_noise_asks_for():
    mean = np.array([3.0, 4.0])
    np.testing.assert_allclose(_solver._shrunk(mean, 1.0), mean * (1.0 - 2.0 / 25.0))
    assert not _solver._shrunk(mean, 5.0).any()
    assert not _solver._shrunk(np.zeros(2), 0.0).any()


def test_mechanisms_follow_the_radius_and_the_stretch_of_sparse_rows(rng):
    X = CENTRE + UNIT * rng.standard_normal((3000, D))
    plan, seen = DPRidge(epsilon=50.0, target_bounds=(-1, 1))._plan(3000, D, 1).ball, []

    class Seeing(RawRows):
        def ask(self, query):
            if isinstance(query, SumOfCutRows):
                seen.append(query)
            return super().ask(query)

    for rows in (X, csr_array(X)):
        with Seeing(rows, np.zeros(3000, dtype=bool)).at_work() as sums:
            learn_ball(sums, plan=plan, run=run_of(plan, 0))
    slack = plan.centre.rounding_slack
    for k, one in enumerate(seen):
        assert one.mechanism.contribution_bound == one.radius
        assert one.mechanism.noise_multiplier == plan.centre.noise_multiplier * (
            plan.recentre.noise_multiplier / plan.centre.noise_multiplier if k % 2 else 1.0
        )
        length = np.linalg.norm(one.centre / one.unit) if k >= 2 else 0.0
        assert one.mechanism.rounding_slack == pytest.approx(
            slack * (1.0 + 2.0 * length / one.radius)
        )
    assert [one.centre.any() for one in seen] == [False, True, False, True]
    assert seen[3].mechanism.rounding_slack > 2.0 * slack
