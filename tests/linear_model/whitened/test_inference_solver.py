import math

import numpy as np
import pytest
from scipy.special import expit

from tests._runs import run_of
from tests.door import (
    BROKEN,
    DRIFT,
    HIDDEN,
    LOSSES,
    MATRIX,
    MODELS,
    RARE,
    THIN,
    UNBOUNDED,
    UNSEEN,
    CertifiedRows,
    CountsOfMappedLengths,
    GaussianMechanism,
    Releases,
    SecondMoment,
    SharesAndLosses,
    SumOfCurvatures,
    SumOfSlopes,
    Taken,
    _covariance_of_hessian,
    as_symmetric,
    clip_rows,
    estimate,
    fine_bins_below,
    follow,
    map_moment,
    mechanisms_module as _mechanisms,
    normal_curvature,
    null_records,
    shorter,
    solve_inference,
    whiten,
)
from tests.linear_model.whitened.test_inference_plan import BIAS, plan

NULL = [3, 30]
NAMES = list(MODELS)


@pytest.fixture
def no_noise(monkeypatch):
    """Bounds as in a private fit, and a grid that is too fine to be seen."""
    monkeypatch.setattr(GaussianMechanism, "_draw", lambda self, shape, stream: np.zeros(shape))
    monkeypatch.setattr(GaussianMechanism, "_draw_number", lambda self, stream: 0.0)
    monkeypatch.setattr(_mechanisms, "_GRID_BITS", 60)


def problem(rng, n_records=60):
    X = rng.standard_normal((n_records, 4)) * rng.choice([0.1, 0.3, 3.0], (n_records, 1))
    with null_records(NULL):
        rows = clip_rows(X, data_norm=1.0, fit_intercept=True, bias=BIAS)
    full = X * np.minimum(1.0, 1.0 / np.linalg.norm(X, axis=1))[:, np.newaxis]
    full = np.column_stack([full, np.full(n_records, BIAS)])
    full[NULL] = 0.0
    return rows, full, np.sign(rng.standard_normal(n_records))


def symmetric(rng, p=5):
    A = rng.standard_normal((p, p))
    return A @ A.T / p + 0.3 * np.eye(p)


@pytest.mark.parametrize("name", NAMES)
def test_sums_are_what_they_say_row_by_row(name, rng, no_noise):
    rows, full, y = problem(rng)
    A, w, clip, bound = symmetric(rng), rng.standard_normal(5), 0.4, 0.11
    made, loss = plan(n_records=60), LOSSES[name]
    shares, cut, matrix, capped, taken, most = 0.0, 0, np.zeros((5, 5)), 0, 0.0, 0
    for z, target in zip(full, y, strict=True):
        if not z.any():
            continue
        length = np.linalg.norm(A @ z)
        slope = float(loss.gradient(target, z @ A @ w))
        if abs(slope) * length > clip:
            cut += 1
            excess = (abs(slope) * length / clip - 1.0) / 0.25
            most += excess > 1.0
            taken += min(excess, 1.0)
        slope = np.clip(slope, -clip / length, clip / length)
        p = expit(z @ A @ w)
        weight = slope**2 if name == "squared_error" else p * (1.0 - p)
        shares += weight * (length / clip) ** 2 if name == "squared_error" else 4.0 * weight
        capped += weight * length**2 > bound
        weight = min(weight, bound / length**2)
        matrix += weight * np.outer(A @ z, A @ z)
    assert 0 < cut < 50
    assert 0 < capped < 50
    assert 0 < most < cut
    mechanisms = made.scale.mechanism, made.means.mechanism, run_of(made).bound(MATRIX, bound)
    # Null records add nothing, whatever comes with them.
    y[NULL] = np.inf
    with (
        np.errstate(invalid="ignore"),
        CertifiedRows(rows, y[:, np.newaxis], loss, inference=True).at_work() as sums,
    ):
        sums.bound_slopes(A, clip)
        one = sums.ask(SharesAndLosses(MODELS[name], w[:, np.newaxis], mechanisms[0]))
        two = sums.ask(SharesAndLosses(MODELS[name], w[:, np.newaxis], mechanisms[1]))
        found = sums.ask(SumOfCurvatures(MODELS[name], w[:, np.newaxis], bound, mechanisms[2]))
    np.testing.assert_allclose(one, [shares], rtol=1e-9)
    np.testing.assert_allclose(two, [shares, taken], rtol=1e-9)
    np.testing.assert_allclose(as_symmetric(found, 5), matrix, rtol=1e-9, atol=1e-12)


@pytest.mark.long
def test_the_curvature_of_normal_scores_is_that_of_normal_rows():
    rng = np.random.default_rng(0)
    mixing = rng.standard_normal((4, 4)) / 3.0
    X = rng.standard_normal((400_000, 4)) @ mixing + [0.2, 0.0, -0.3, 0.1]
    Z = np.column_stack([X, np.full(len(X), BIAS)])
    made = plan(n_records=len(Z), epsilon=math.inf, alpha=1e-12)
    white = whiten(Z.T @ Z / len(Z), made)
    mapped = map_moment(white, made.problem, with_hidden=False)
    w = np.array([1.0, -2.0, 1.5, 0.5, 3.0])
    u = np.linalg.solve(white.A, w)
    psi = expit(Z @ w) * expit(-Z @ w)
    rows = Z @ white.A
    np.testing.assert_allclose(mapped.mean, rows.mean(axis=0), atol=1e-6)
    curvature, mean = normal_curvature(mapped, u)
    assert mean == pytest.approx(psi.mean(), rel=5e-3)
    # Means of 4e5 rows are within 3e-3, at an error rate below 1e-6, and the seed is fixed.
    exact = (rows * psi[:, np.newaxis]).T @ rows / len(rows)
    np.testing.assert_allclose(curvature, exact, atol=5e-3)


def test_a_noisy_matrix_is_followed_where_it_says_more_than_noise():
    rng = np.random.default_rng(0)
    expected, errors = np.eye(30), []
    direction = np.eye(30)[0]
    clean = expected + 4.0 * np.outer(direction, direction)
    for _ in range(20):
        H = rng.standard_normal((30, 30))
        noisy = clean + 0.2 * (H + H.T) / 2.0
        found = follow(noisy, expected, 0.2, 0.25)
        assert np.linalg.eigvalsh(found)[0] > 0.0
        errors.append([np.linalg.norm(each - clean) for each in (found, noisy, expected)])
    of_found, of_noisy, of_expected = np.mean(errors, axis=0)
    assert of_found < 0.6 * min(of_noisy, of_expected)
    assert follow(noisy, expected, 0.0, 0.25) is noisy
    for share in (0.25, 1.0):
        least = np.linalg.eigvalsh(follow(0.0 * expected, expected, 1e-3, share))[0]
        assert least == pytest.approx(share, rel=1e-6)


def test_the_covariance_of_a_noisy_matrix_times_a_vector(rng):
    """By its definition, over independent entries on and above the diagonal."""
    p = 3
    way, to = rng.standard_normal(p), symmetric(rng, p)
    exact = np.zeros((p, p))
    for i in range(p):
        for j in range(i + 1):
            unit = np.zeros((p, p))
            unit[i, j] = unit[j, i] = 0.7 if i == j else 0.7 / math.sqrt(2.0)
            moved = to @ unit @ to @ way
            exact += np.outer(moved, moved)
    np.testing.assert_allclose(_covariance_of_hessian(way, 0.7, to), exact, rtol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_without_noise_errors_are_the_sandwich(name, rng):
    rows, full, y = problem(rng, 400)
    with CertifiedRows(rows, y[:, np.newaxis], LOSSES[name], inference=True).at_work() as sums:
        smoothness = LOSSES[name].smoothness
        made = plan(n_records=400, epsilon=math.inf, alpha=1e-3, smoothness=smoothness)
        w, steps = solve_inference(sums, plan=made, model=MODELS[name], run=run_of(made))
    w, found = w[0], steps.errors
    slopes = LOSSES[name].gradient(y, full @ w)
    weights = np.ones(400) if name == "squared_error" else expit(full @ w) * expit(-full @ w)
    if name == "log_loss":
        weights[NULL] = 0.0
    np.testing.assert_allclose(full.T @ slopes / 400 + 1e-3 * w, 0.0, atol=1e-9)
    curvature = (full * weights[:, np.newaxis]).T @ full / 400
    H = np.linalg.inv(curvature + 1e-3 * np.eye(5))
    J = (full * slopes[:, np.newaxis] ** 2).T @ full / 400
    exact = H @ (J if name == "squared_error" else curvature) @ H / 400
    np.testing.assert_allclose(found.sampling, np.sqrt(np.diag(exact)), rtol=1e-6)
    np.testing.assert_array_equal(found.privacy, 0.0)
    assert (found.quality, found.reasons) == ("yes", ())


def released(made, **changes):
    """Releases of normal rows without a bend: everything as it should be."""
    moment = np.diag([0.1, 0.2, 0.1, 0.2, BIAS**2])
    white = whiten(moment, made)
    parts = {
        "white": white,
        "least": 0.1,
        "filled": 0.5,
        "u": np.zeros(5),
        "mean_u": np.zeros(5),
        "mean_gradient": np.full(5, 1e-3),
        "gradient_noise": 1e-4,
        "share": 0.1,
        "columns": 5.0,
        "lost": 0.0,
        "lost_noise": 1e-4,
        "clip": 2.0,
        "matrix": 0.4 * np.eye(5) * white.signal.mean(),
        "matrix_noise": 1e-3,
        "spread": 0.0,
        "longest": math.inf,
        "taken": Taken(0.0, 0.0),
    }
    return Releases(**parts | changes)


@pytest.mark.parametrize(
    ("changes", "quality", "reason"),
    [
        ({}, "yes", None),
        ({"least": -0.3}, "no", HIDDEN),
        ({"lost": 0.01}, "wide", DRIFT),
        ({"lost": 0.1}, "wide", THIN),
        ({"lost_noise": 0.01}, "wide", UNSEEN),
        ({"mean_gradient": np.full(5, np.nan)}, "no", BROKEN),
        ({"matrix_noise": 1.0}, "wide", "the noise hides whether"),
    ],
)
def test_whether_errors_can_be_trusted(changes, quality, reason):
    made = plan(n_records=10**5, smoothness=1.0)
    found = estimate(released(made, **changes), made, MODELS["squared_error"])
    assert found.quality == quality
    assert bool(found.reasons) == (quality != "yes")
    assert reason is None or any(text.startswith(reason) for text in found.reasons)
    finite = [np.isfinite(each).all() for each in (found.sampling, found.privacy)]
    assert finite == [quality != "no"] * 2
    if quality == "no":
        np.testing.assert_array_equal(found.u, released(made).u)
    if "lost_noise" in changes:
        plain = estimate(released(made), made, MODELS["squared_error"])
        assert (found.privacy > 2.0 * plain.privacy).all()
    if "matrix_noise" in changes:
        plain = estimate(released(made), made, MODELS["squared_error"])
        assert (found.sampling > 1.3 * plain.sampling).all()


def test_rows_are_full_when_no_noise_can_have_made_them_so():
    for n_records, filled, is_full in (
        (10**5, 0.95, True),
        (10**5, 0.85, False),
        (10, 0.95, False),
    ):
        made = plan(n_records=n_records, smoothness=1.0)
        found = estimate(released(made, filled=filled), made, MODELS["squared_error"])
        assert found.is_full == is_full


def test_noise_that_moves_predictions_far_leaves_no_curvature():
    made = plan(n_records=10**5)
    for noise, quality in ((1e-4, "yes"), (0.05, "wide"), (0.3, "no")):
        changed = released(made, gradient_noise=noise, share=0.8, matrix=0.2 * np.eye(5))
        assert estimate(changed, made, MODELS["log_loss"]).quality == quality


def test_what_clipping_took_makes_errors_larger_by_a_bound_on_its_bias():
    """Of the intercept by public bounds: no slope is above 2, and rows are as long as most."""
    made = plan(n_records=10**5, smoothness=1.0)
    # Leverages as small as they may be.
    changes = {"clip": 1.0, "lost_noise": 1e-5, "share": 0.4, "columns": 4.0}
    plain, lost = (
        estimate(released(made, lost=lost, **changes), made, MODELS["squared_error"])
        for lost in (0.0, 1e-4)
    )
    assert plain.quality == lost.quality == "yes"
    shares = released_leverages(made)
    left = 1.0 - 1e-4 * shares
    # A row has half of its squared length along one direction, and that of 3 columns across it.
    along = np.maximum(shares / 2.0, 1.0)
    of_length = np.sqrt(along / (along + 3.0))
    each = 2.0 * 0.25 * 1.0 * of_length * np.diag(released(made).white.A) * 1e-4 / left
    # Of four columns a slope of 2 is 4, of which 1 is kept; counted twice is 0.5.
    each[-1] *= 3.0 / 0.5
    added = np.sqrt(lost.privacy**2 - (plain.privacy / left) ** 2)
    # The penalty and what the noise hides are a little of the curvature.
    np.testing.assert_allclose(added, each, rtol=5e-3)
    np.testing.assert_allclose(lost.sampling, plain.sampling / left, rtol=1e-9)


def released_leverages(made, **changes):
    """Of each axis, where moment and map are diagonal; the intercept's column is known."""
    white = released(made, **changes).white
    known = np.diag(map_moment(white, made.problem, with_hidden=False).moment)
    return np.square(np.diag(white.A) * [1.0, 1.0, 1.0, 1.0, BIAS]) / known


def test_along_directions_of_few_rows_all_that_clipping_may_take_is_allowed_for():
    """No slope is above 2, whatever is counted, and a row may be as long as its norm lets it."""
    made, few = plan(n_records=10**7, smoothness=1.0), np.diag([0.01, 0.2, 0.1, 0.2, BIAS**2])
    changes = {"white": whiten(few, made), "least": 0.01, "clip": 1.0, "columns": 5.0}
    found = [
        estimate(released(made, lost_noise=noise, **changes), made, MODELS["squared_error"])
        for noise in (1e-12, 1e-5)
    ]
    assert [(one.quality, one.reasons) for one in found] == [("wide", (RARE,))] * 2
    along = 0.5 * released_leverages(made, **changes)[0]
    assert along > 13.0
    taken = 2.0 * math.sqrt(along + 4.0) - 1.0
    each = taken * math.sqrt(along / (along + 4.0)) * changes["white"].A[0, 0] * 1e-5
    # What is counted is so much smaller that it isn't hidden.
    each *= math.sqrt(1.0 - (0.5 / taken) ** 2)
    added = np.sqrt(found[1].privacy ** 2 - found[0].privacy ** 2)
    assert added[0] == pytest.approx(each, rel=5e-3)
    # Other slopes are as they were.
    np.testing.assert_allclose(added[1:4], 0.0, atol=1e-3 * each)


def test_mapped_rows_are_counted_by_length_and_shortened(rng, no_noise):
    rows, full, y = problem(rng)
    weight = rng.uniform(0.2, 1.0, 60)
    loss, A = LOSSES["log_loss"], symmetric(rng)
    bins = fine_bins_below(8.0)
    counted = GaussianMechanism(
        contribution_bound=1.0, noise_multiplier=1.0, size=bins.n_bins, n_records=60
    )
    with CertifiedRows(
        rows._replace(weight=weight), y[:, np.newaxis], loss, inference=True
    ).at_work() as sums:
        sums.bound_slopes(A, 1e9)
        found = sums.ask(CountsOfMappedLengths(bins, counted))
        lengths = weight * np.linalg.norm(full @ A, axis=1)
        exact = np.zeros(bins.n_bins)
        for length in np.delete(lengths, NULL):
            exact[next(k for k in range(bins.n_bins) if length < bins.end(k))] += 1
        np.testing.assert_array_equal(found, exact)
        longest = np.quantile(lengths, 0.6)
        sums.shorten(longest)
        step = GaussianMechanism(
            contribution_bound=30.0, noise_multiplier=1e-9, size=5, n_records=60
        )
        w = rng.standard_normal(5)
        slopes = sums.ask(SumOfSlopes(w[:, np.newaxis], step))[:, 0]
    counts = weight * np.minimum(1.0, longest / np.fmax(lengths, 1e-300))
    assert (counts < weight).sum() > 10
    each = counts**2 * loss.gradient(y, full @ A @ w) * (full != 0.0).any(axis=1)
    np.testing.assert_allclose(slopes, A @ full.T @ each, rtol=1e-7)


def test_rows_are_shortened_where_few_of_a_direction_are_lost():
    bins = fine_bins_below(8.0)
    ends = np.array([bins.end(place) for place in range(bins.n_bins)])
    counts = np.zeros(bins.n_bins)
    counts[ends == 2.0] = 9990
    for far, exact in ((0, 2.0), (2, 2.0), (400, 8.0)):
        counts[-1] = far
        longest, taken = shorter(counts, 0.0, bins, 10**4)
        assert longest == exact
        assert taken.seen == pytest.approx(far * (64.0 - longest**2) / 10**4)
        assert taken.hidden == 0.0
    # Where noise may hide rows, they are left as they are.
    longest, taken = shorter(0.0 * counts, 600.0, bins, 10**4)
    assert (longest, taken) == (8.0, (0.0, 0.0))
    _, taken = shorter(0.0 * counts, 6.0, bins, 10**4)
    assert 0.0 < taken.hidden < 0.3


def test_shortened_rows_have_less_of_a_direction_and_tell_less_of_it():
    made, few = plan(n_records=10**7, smoothness=1.0), np.diag([0.01, 0.2, 0.1, 0.2, BIAS**2])
    changes = {"white": whiten(few, made), "least": 0.01, "clip": 1.0, "columns": 5.0}
    changes, model = changes | {"lost_noise": 1e-12}, MODELS["squared_error"]
    whole, shortened = (
        estimate(
            released(made, **changes, longest=longest, taken=taken), made, MODELS["squared_error"]
        )
        for longest, taken in ((math.inf, Taken(0.0, 0.0)), (4.0, Taken(0.1, 0.05)))
    )
    assert (whole.reasons, shortened.reasons) == ((RARE,), ())
    np.testing.assert_allclose(shortened.sampling, whole.sampling / 0.9, rtol=1e-6)
    # A row of which more is hidden may be all of a direction.
    hidden = released(made, **changes, longest=4.0, taken=Taken(0.1, 0.45))
    assert estimate(hidden, made, model).reasons == (RARE,)


def test_targets_without_bounds_have_no_intervals():
    for bounded, quality in ((True, "yes"), (False, "no")):
        made = plan(n_records=10**5, smoothness=1.0, bounded_targets=bounded)
        found = estimate(released(made), made, MODELS["squared_error"])
        assert (found.quality, UNBOUNDED in found.reasons) == (quality, not bounded)


@pytest.mark.parametrize("bounded", [False, True])
def test_no_clip_is_above_the_longest_slope_of_bounded_targets(bounded, rng, no_noise):
    rows, _, y = problem(rng, 400)
    model, loss = MODELS["squared_error"], LOSSES["squared_error"]
    made = plan(n_records=400, epsilon=100.0, smoothness=1.0, bounded_targets=bounded)
    with CertifiedRows(rows, y[:, np.newaxis], loss, inference=True).at_work() as sums:
        _, steps = solve_inference(sums, plan=made, model=model, run=run_of(made))
        white = whiten(as_symmetric(sums.ask(SecondMoment(made.moment.mechanism)), 5) / 400, made)
    largest = 2.0 * made.problem.row_norm * np.linalg.norm(white.A, 2)
    assert steps.clip == pytest.approx(largest) if bounded else steps.clip > 1.1 * largest
    # Where nothing can be clipped, nothing is hidden of it.
    assert (steps.errors.n_unseen > 0.0) is not bounded


@pytest.mark.parametrize(("name", "bend"), [("squared_error", 0.0), ("log_loss", 0.5)])
def test_the_bend_of_the_logistic_loss_makes_the_intercept_wide(name, bend):
    """Gradients at scores that spread by s are off by as much as s^2 / 2 logits."""
    made, way = plan(n_records=10**5), np.array([0.0, 0.03, 0.0, 0.0, 0.0])
    changes = {"share": 0.8, "matrix": 0.2 * np.eye(5), "mean_u": way, "mean_gradient": 0.2 * way}
    still, moved = (
        estimate(released(made, spread=spread, **changes), made, MODELS[name])
        for spread in (0.0, 0.04)
    )
    moment = map_moment(released(made).white, made.problem, with_hidden=False).moment
    far = (still.u - way) @ moment @ (still.u - way)
    assert far > 1e-5
    added = np.sqrt(moved.privacy**2 - still.privacy**2)
    exact = bend / BIAS * math.sqrt((0.04 + far) ** 2 - far**2)
    np.testing.assert_allclose(added, [0.0, 0.0, 0.0, 0.0, exact], rtol=1e-4)


def test_directions_are_stretched_by_as_much_as_clipped_rows_may_have_told_of_them():
    made, changes = (
        plan(n_records=10**5, smoothness=1.0),
        {"clip": 1e-3, "matrix": 4e-7 * np.eye(5)},
    )
    changes |= {"share": 0.4, "gradient_noise": 1e-3, "matrix_noise": 1e-12}
    found = [
        estimate(released(made, lost=lost, **changes), made, MODELS["squared_error"])
        for lost in (0.0, 0.02)
    ]
    assert [one.quality for one in found] == ["yes", "yes"]
    left = 1.0 - 0.02 * released_leverages(made)
    np.testing.assert_allclose(found[1].sampling, found[0].sampling / left, rtol=1e-9)


def test_the_clip_of_squares_falls_with_the_noise_that_it_makes():
    model = MODELS["squared_error"]
    # Of a root mean square of 1, by noise over sampling error.
    factors = [
        model.next_clip(2.0, 0.25, 0.0, noise, 1.0) for noise in (1e-3, 0.1, 0.2, 0.35, 0.5, 9.0)
    ]
    exact = [math.sqrt(0.03) / 1e-3, 5.25, 5.25, 1.5 / 0.35, 3.75, 3.75]
    np.testing.assert_allclose(factors, exact, rtol=1e-12)


def test_slopes_of_rows_that_fill_their_norm_are_not_clipped(rng, no_noise):
    """No slope of the logistic loss is above 1, and no mapped row is longer than the map's norm."""
    X = rng.standard_normal((400, 4))
    X /= np.linalg.norm(X, axis=1)[:, np.newaxis]
    rows = clip_rows(X, data_norm=1.0, fit_intercept=True, bias=BIAS)
    y, model, loss = rng.choice([-1.0, 1.0], 400), MODELS["log_loss"], LOSSES["log_loss"]
    with CertifiedRows(rows, y[:, np.newaxis], loss, inference=True).at_work() as sums:
        made = plan(n_records=400, epsilon=100.0)
        _, steps = solve_inference(sums, plan=made, model=model, run=run_of(made))
        moment = as_symmetric(sums.ask(SecondMoment(made.moment.mechanism)), 5) / 400
        white = whiten(moment, made)
        sums.bound_slopes(white.A, math.inf)
        assert sums.lengths.max() <= steps.clip * (1.0 + 1e-12)
    assert steps.clip == pytest.approx(made.problem.row_norm * np.linalg.norm(white.A, 2))
    assert steps.clip < 0.8 * 2.0 * math.sqrt(white.effective_columns)
    assert steps.errors.quality == "yes"


class Records:
    """Sums that remember what they are asked, and give numbers that aren't released."""

    def __init__(self, value):
        self.value, self.asked = value, []

    def bound_slopes(self, A, bound):
        self.A, self.slope_bound = A, bound
        self.asked.append((A, bound))

    def rebound_slopes(self, bound):
        self.slope_bound = bound
        self.asked.append((self.A, bound))

    def ask(self, query):
        if isinstance(query, SecondMoment):
            self.asked.append(query.mechanism)
            return np.full(15, self.value)
        if isinstance(query, SumOfCurvatures):
            self.asked.append((query.w, query.bound, query.mechanism))
            return np.full(15, self.value)
        self.asked.append((query.w, query.mechanism))
        shape = (5, 1) if isinstance(query, SumOfSlopes) else query.mechanism.size
        return np.full(shape, self.value)


@pytest.mark.parametrize("name", NAMES)
def test_all_that_is_asked_of_the_data_follows_from_releases(name, monkeypatch):
    runs = []
    for value in (0.0, 77.0):
        script = np.random.default_rng(1)

        def release(self, value, stream, script=script):
            drawn = script.standard_normal(value.size) * 10.0 + 300.0
            return drawn.reshape(value.shape)

        monkeypatch.setattr(GaussianMechanism, "release", release)
        sums = Records(value)
        weights, steps = solve_inference(
            sums, plan=(made := plan()), model=MODELS[name], run=run_of(made)
        )
        runs.append((sums.asked, weights, steps))
    (asked, weights, steps), (others, other_weights, other_steps) = runs
    np.testing.assert_array_equal(weights, other_weights)
    assert steps.clip == other_steps.clip
    np.testing.assert_array_equal(steps.errors.sampling, other_steps.errors.sampling)
    assert len(asked) == len(others)
    _check_clips(asked)
    for one, other in zip(asked, others, strict=True):
        for part, same in zip(
            np.atleast_1d(np.array(one, dtype=object)),
            np.atleast_1d(np.array(other, dtype=object)),
            strict=True,
        ):
            np.testing.assert_array_equal(part, same)


def _check_clips(asked):
    """Slopes are released with the bound that they were last cut to."""
    bounds = []
    for first, *rest in (one for one in asked if isinstance(one, tuple)):
        if first.shape == (5, 5):
            bounds.append(rest[0])
        elif rest[-1].size == 5:
            assert rest[-1].contribution_bound == bounds[-1]
    # The first is for the lengths of rows alone.
    assert len(bounds) == 3
