"""Compiled sums along columns against those of NumPy, and steps along sparse columns."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

from skdp.linear_model import DPCDClassifier, DPCDElasticNet, DPCDLasso
from tests.door import (
    LOSSES,
    SUM_BLOCK,
    LogLoss,
    _Descent,
    dpcd_solver_module as _solver,
    fused_module as _fused,
    summation_slack,
)
from tests.privacy._cases import SPARSE, Case
from tests.privacy._corners import PATTERNS
from tests.privacy._recipes import TWO
from tests.privacy._replay import check_corners, check_null_records

pytest.importorskip("numba")
BOUND = 0.7


@pytest.fixture
def choose(monkeypatch):
    """Have sums compiled, or not, whatever their number is."""
    return lambda wanted: monkeypatch.setattr(
        _fused, "WORTHWHILE_SLOPES", 0 if wanted else math.inf
    )


def kernels():
    return _fused.import_module("skdp._rows.kernels_columns")


def descent(choose, wanted, y, m, loss="log_loss", weights=None, scales=False, sparse=False):
    """A descent along one column, with given predictions."""
    choose(wanted)
    made = _Descent.__new__(_Descent)
    made._loss, made._plan = LOSSES[loss], SimpleNamespace(scales=scales)
    made._targets, made._predictions, made._weights = y, m, weights
    made._kernels = _fused.kernels_for_columns(y.size, made._loss)
    assert (made._kernels is not None) == wanted
    return made


def drawn(rng, n):
    """Targets, predictions, entries, lengths and weights, some of them far out."""
    sizes = rng.choice([1e-3, 1.0, 30.0], n)
    x = rng.standard_normal(n)
    length = np.abs(x) + rng.choice([0.0, 1e-3, 9.0], n)
    length[::7] = x[::7] = 0.0
    y = np.sign(rng.standard_normal(n))
    return y, sizes * rng.standard_normal(n), x, length, rng.uniform(0.0, 3.0, n)


@pytest.mark.long
@pytest.mark.parametrize("n", [0, 1, 127, 128, 129, 1013])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("loss", "scales"), [("log_loss", False), ("log_loss", True), ("squared_error", False)]
)
def test_sums_are_those_of_numpy(loss, scales, weighted, n, rng, choose):
    y, m, x, length, weights = drawn(rng, n)
    weights = weights if weighted else None
    mechanism, found = SimpleNamespace(contribution_bound=BOUND), []
    for wanted in (False, True):
        made = descent(choose, wanted, y, m.copy(), loss, weights, scales)
        found.append(float(made._sum(None, x, length, mechanism)))
    assert found[1] == pytest.approx(found[0], rel=1e-12, abs=1e-13 * n)


@pytest.mark.long
def test_an_infinite_bound_has_the_slopes_of_numpy(rng, choose):
    y, m, x, length, _ = drawn(rng, 500)
    mechanism, found = SimpleNamespace(contribution_bound=math.inf), []
    for wanted in (False, True):
        made = descent(choose, wanted, y, m.copy())
        found.append(float(made._sum(None, x, length, mechanism)))
    assert found[0] == found[1]


@pytest.mark.long
@pytest.mark.parametrize("scales", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_what_a_row_adds_depends_on_that_row_alone(weighted, scales, rng):
    y, m, _, length, weights = drawn(rng, 300)
    found = []
    for _ in range(2):
        one = np.zeros(300)
        one[150] = 1.3
        heavy = weights if weighted else None
        found.append(kernels().sum_slopes(0, scales, y, m, one, length, heavy, BOUND))
        others = np.arange(300) != 150
        for values in (y, m, length, weights):
            values[others] = rng.permutation(values[others]) * 1e3
    assert found[0] == found[1] != 0.0


@pytest.mark.long
@pytest.mark.parametrize("loss", [0, 1])
@pytest.mark.parametrize("scales", [False, True])
def test_no_row_adds_more_than_the_bound(scales, loss, rng):
    for _ in range(2000):
        x = np.exp(rng.uniform(-360.0, 340.0, 1))
        length = x * np.exp(rng.uniform(0.0, 5.0))
        y = np.sign(rng.standard_normal(1)) * rng.choice([1.0, 1e300 if loss else 1.0])
        m = rng.standard_normal(1) * np.exp(rng.uniform(-300.0, 300.0))
        weights = np.exp(rng.uniform(-300.0, 300.0, 1)) if rng.random() < 0.5 else None
        with np.errstate(all="ignore"):
            how = (x, length, weights, BOUND)
            total = kernels().sum_slopes(loss, scales and not loss, y, m, *how)
        assert abs(total) <= BOUND * (1.0 + summation_slack(1, 1, 1, SUM_BLOCK))


@pytest.mark.long
@pytest.mark.parametrize("lost", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("loss", [0, 1])
@pytest.mark.parametrize("scales", [False, True])
def test_what_is_no_number_adds_nothing(scales, loss, lost):
    ones = np.ones(3)
    m = np.array([lost if loss or np.isnan(lost) else np.nan, 0.0, 0.0])
    found = kernels().sum_slopes(loss, scales and not loss, ones, m, ones, ones, None, BOUND)
    expected = kernels().sum_slopes(
        loss, scales and not loss, ones, 0.0 * ones, np.array([0.0, 1.0, 1.0]), ones, None, BOUND
    )
    assert found == expected


@pytest.mark.long
def test_null_records_add_nothing():
    ones, length = np.ones(2), np.array([1.0, 0.0])
    m = np.array([-1.0, -5.0])
    for scales in (False, True):
        found = kernels().sum_slopes(0, scales, ones, m, ones, length, None, BOUND)
        alone = kernels().sum_slopes(0, scales, ones[:1], m[:1], ones[:1], length[:1], None, BOUND)
        assert found == alone


@pytest.mark.long
@pytest.mark.parametrize("n", [1000, 40_000])
def test_rounding_is_within_the_slack(n, rng):
    if np.finfo(np.longdouble).eps > 2.0**-60:
        pytest.skip("no extended precision")
    x, y = rng.uniform(0.5, 1.0, n), -rng.uniform(0.0, 2.0, n)
    total = kernels().sum_slopes(1, False, y, np.zeros(n), x, x, None, BOUND)
    exact, slopes = x.astype(np.longdouble), -y.astype(np.longdouble)
    slopes *= BOUND / np.maximum(slopes * exact, BOUND)
    off = abs(float(total - slopes @ exact))
    assert 0.0 < 2.0 * off <= summation_slack(n, 1, 1, SUM_BLOCK) * BOUND


MODELS = [
    DPCDClassifier(classes=[0, 1]),
    DPCDClassifier(classes=[0, 1], epsilon=8.0, clip_by="entry", fit_intercept=False),
    DPCDClassifier(classes=[0, 1], epsilon=300.0, smoothness="bounds", feature_bounds=(0, 1)),
    DPCDLasso(target_bounds=(-1, 1)),
    DPCDElasticNet(target_bounds=(-1, 1), fit_intercept=False, average_every=2),
]


@pytest.mark.long
@pytest.mark.parametrize("read", [np.asfortranarray, csr_array])
@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.filterwarnings("ignore::skdp.exceptions.PrivacyWarning")
def test_fits_are_those_of_numpy(model, read, rng, choose, monkeypatch):
    X = rng.random((3000, 6)) * (rng.random((3000, 6)) < 0.4)
    y = (X[:, 0] > 0.2).astype(float)
    calls, real = [], kernels().sum_slopes
    monkeypatch.setattr(kernels(), "sum_slopes", lambda *args: calls.append(1) or real(*args))
    coefs = []
    for wanted in (False, True):
        choose(wanted)
        model.set_params(random_state=0).fit(read(X), y)
        coefs.append(np.append(np.ravel(model.coef_), model.intercept_))
        assert bool(calls) == wanted
    np.testing.assert_allclose(coefs[1], coefs[0], rtol=1e-9, atol=1e-9)


@pytest.mark.long
def test_few_slopes_others_and_several_outputs_are_of_numpy(rng, choose, monkeypatch):
    assert _fused.kernels_for_columns(100, LogLoss()) is None
    choose(True)
    assert _fused.kernels_for_columns(100, LOSSES["hinge"]) is None
    monkeypatch.setattr(kernels(), "sum_slopes", lambda *args: pytest.fail("compiled"))
    X = rng.random((300, 3))
    DPCDClassifier(classes=[0, 1, 2], random_state=0).fit(X, np.arange(300) % 3)
    DPCDClassifier(epsilon=math.inf, classes=[0, 1], max_iter=2).fit(X, np.arange(300) % 2)


@pytest.mark.long
@pytest.mark.parametrize(
    "case",
    [
        Case(DPCDClassifier(**TWO)),
        Case(DPCDClassifier(clip_by="entry", epsilon=200.0, **TWO)),
        Case(DPCDLasso(adjacency="replace_one", feature_bounds=(-2, 3), random_state=0)),
    ],
    ids=str,
)
def test_replay_of_compiled_sums(case, choose):
    choose(True)
    check_corners(case)


@pytest.mark.long
@pytest.mark.parametrize(
    "case",
    [
        Case(DPCDClassifier(**TWO), data=SPARSE),
        Case(DPCDClassifier(smoothness="bounds", **TWO), data=SPARSE),
        Case(DPCDElasticNet(fit_intercept=False, random_state=0), data=SPARSE),
    ],
    ids=str,
)
def test_replay_of_compiled_sums_over_sparse_columns(case, choose):
    choose(True)
    check_corners(case)
    check_null_records(case, *PATTERNS)


@pytest.mark.long
@pytest.mark.parametrize(
    ("options", "is_sparse"),
    [
        ({"fit_intercept": False}, True),
        ({"smoothness": "bounds", "feature_bounds": (0, 1)}, True),
        ({"smoothness": "bounds", "feature_bounds": (0.1, 1)}, False),
        ({}, False),
    ],
)
def test_a_step_reads_only_the_entries_of_a_column_that_is_0_elsewhere(
    options, is_sparse, rng, choose, monkeypatch
):
    choose(False)
    X = (rng.random((500, 4)) < [0.1, 0.02, 0.3, 0.0]) * rng.random((500, 4))
    sizes, real = set(), LogLoss.gradient
    monkeypatch.setattr(
        LogLoss, "gradient", lambda loss, y, m: sizes.add(m.size) or real(loss, y, m)
    )
    model = DPCDClassifier(classes=[0, 1], random_state=0, max_iter=2, **options)
    model.fit(csr_array(X), np.arange(500) % 2)
    counts = set(np.count_nonzero(X, axis=0)) if is_sparse else {500}
    # The intercept's column is full.
    assert sizes == counts | ({500} if model.fit_intercept else set())


@pytest.mark.long
def test_whether_sums_are_compiled_follows_from_shapes_alone(rng, monkeypatch):
    """One more entry of a record must not change how the slopes of all others are rounded."""
    asked, real = [], _fused.kernels_for_columns
    monkeypatch.setattr(
        _solver, "kernels_for_columns", lambda *args: asked.append(args[0]) or real(*args)
    )
    model = DPCDClassifier(classes=[0, 1], random_state=0, max_iter=2, fit_intercept=False)
    for share in (0.0, 0.1, 1.0):
        X = csr_array(rng.random((300, 4)) * (rng.random((300, 4)) < share))
        model.fit(X, np.arange(300) % 2)
    model.fit(X.toarray(), np.arange(300) % 2)
    # Two passes over four columns.
    assert asked == [300 * 8] * 4
