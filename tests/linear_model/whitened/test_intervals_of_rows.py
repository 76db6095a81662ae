"""What intervals are of: rows that count whole, or say that they don't; and how many there are."""

import math

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LinearRegression, LogisticRegression

from skdp.linear_model import DPLogisticRegression, DPRidge
from tests._loops import for_each
from tests._runs import run_of
from tests.door import (
    LOSSES,
    MODELS,
    CertifiedRows,
    GaussianMechanism,
    _ends,
    clip_rows,
    row_bounds_module,
    solve_inference,
)
from tests.linear_model.whitened.test_inference_plan import BIAS, plan

RIDGE = {"target_bounds": (-1.0, 1.0), "inference": True, "random_state": 0}
TWO = {"classes": [0, 1], "inference": True, "random_state": 0}


def few_with_an_effect(share, n=8000):
    """Rows of which a few are long, and have another risk than the line through all others."""
    rng = np.random.default_rng(1)
    count = rng.choice(4, n, p=[0.51, 0.49 - share, 0.8 * share, 0.2 * share])
    X = np.column_stack([count / 1.5 - 1.0, rng.uniform(-1.0, 1.0, (n, 5))])
    return X, (rng.random(n) < np.array([0.28, 0.08, 0.83, 0.98])[count]).astype(int)


@pytest.mark.long
@pytest.mark.parametrize("share", [0.005, 0.033])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_intervals_hold_the_coefficient_of_a_few_long_rows_within_the_norm(epsilon, share):
    """Of 20 fits, whose noise alone makes errors: an interval missed none of thousands so."""
    X, y = few_with_an_effect(share)
    exact, n_given = LogisticRegression(C=math.inf).fit(X, y).coef_[0], 0
    for seed in range(20):
        model = DPLogisticRegression(epsilon=epsilon, data_norm=2.6, **TWO)
        model.set_params(random_state=seed).fit(X, y)
        if model.inference_quality_ != "no":
            n_given += 1
            assert abs(model.coef_[0] - exact)[0] < 1.96 * model.coef_std_error_[0, 0]
            assert model.inference_quality_ in ("yes", "wide")
    assert n_given >= 15


class Spied(CertifiedRows):
    """Rows that keep what they count."""

    seen = ()

    def __init__(self, rows, *args, **others):
        super().__init__(rows, *args, **others)
        Spied.seen = [rows.X, rows.scale, rows.weight]

    def shorten(self, longest):
        Spied.seen.append(longest)
        super().shorten(longest)


@pytest.mark.long
@for_each("estimator", [DPRidge, DPLogisticRegression])
@for_each("adjacency", ["zero_out", "replace_one"])
@for_each("fit_intercept", [True, False])
@for_each("epsilon", [0.3, 8.0])
def test_every_row_within_a_norm_counts_whole(epsilon, fit_intercept, adjacency, estimator):
    """Columns of unequal size, rows far from 0, and some that are as long as the norm."""
    rng = np.random.default_rng(0)
    X = rng.standard_t(2, (3000, 3)) * [1.0, 0.01, 0.3] + [2.0, 0.0, -1.0]
    lengths = np.linalg.norm(X, axis=1)
    norm = float(np.quantile(lengths, 0.98))
    y = (X[:, 0] > 2.0).astype(int)
    options = {"adjacency": adjacency, "fit_intercept": fit_intercept, "data_norm": norm}
    options |= {"epsilon": epsilon} | (RIDGE if estimator is DPRidge else TWO)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_bounds_module, "CertifiedRows", Spied)
        model = estimator(**options).fit(X, y)
    rows, scale, weight, *shortened = Spied.seen
    assert scale is None
    assert shortened == []
    np.testing.assert_array_equal(rows[:], X)
    np.testing.assert_allclose(weight, np.minimum(1.0, norm / lengths), rtol=1e-12)
    assert (weight[lengths <= norm] == 1.0).all()
    assert model.inference_quality_ != "weighted"
    assert not hasattr(model, "weighted_share_")
    assert not hasattr(model, "radius_")
    assert "(all others count whole)" in model.summary().estimand


@pytest.mark.parametrize("options", [{"data_norm": 3.0}, {"data_norm": 3.0, "target_bounds": None}])
def test_a_ball_that_rows_would_count_less_beyond_is_refused(options):
    X, y = np.zeros((10, 2)), np.zeros(10)
    model = DPRidge(**RIDGE | options | {"ball_budget": 0.1})
    with pytest.raises(ValueError, match=r"^ball_budget must be 'auto' or 0 with inference=True"):
        model.fit(X, y)


@pytest.mark.parametrize("estimator", [DPRidge, DPLogisticRegression])
def test_intervals_of_weighted_rows_say_so(estimator):
    """The share follows from counts whose noise is far below a hundredth of the rows."""
    X, y = few_with_an_effect(0.033)
    targets = 2.0 * y - 1.0 if estimator is DPRidge else y
    model = estimator(**(RIDGE if estimator is DPRidge else TWO) | {"epsilon": 8.0})
    model.fit(X, targets)
    assert model.inference_quality_ == "weighted"
    assert "weighted regression, not of the unweighted" in model.inference_reasons_[0]
    lengths = np.linalg.norm((X - model.center_) / model.scale_, axis=1)
    beyond = (lengths > model.radius_).mean()
    assert 0.01 < beyond < 0.1
    # Rows that are shortened after they are mapped may be others.
    assert beyond - 0.01 < model.weighted_share_ < beyond + 0.1
    summary = model.summary()
    share = f"rows longer than r count less (about {100.0 * model.weighted_share_:.2g} % of the"
    assert share in summary.estimand
    assert summary.estimand.startswith("they cover the weighted fit of the population with radius_")
    for text in (str(summary), summary._repr_html_()):
        assert "not the unweighted coefficient" in text
        assert "of the weighted regression" in text
    assert model.conf_int().shape == (6, 2)
    # A fit of rows that count whole says nothing of this.
    model.set_params(data_norm=2.6).fit(X, targets)
    assert model.inference_quality_ in ("yes", "wide")
    assert not hasattr(model, "weighted_share_")
    assert "weighted fit" not in model.summary().estimand


def test_without_noise_every_row_counts_whole():
    X, y = few_with_an_effect(0.033)
    for norm in (None, 2.0):
        model = DPLogisticRegression(epsilon=math.inf, data_norm=norm, **TWO).fit(X, y)
        assert model.inference_quality_ == "yes"
        assert "alpha=0.0001: every row counts whole" in model.summary().estimand
        exact = LogisticRegression(C=math.inf).fit(X, y).coef_
        # But for the penalty.
        assert (abs(model.coef_ - exact) < 0.4 * model.coef_std_error_).all()


def test_targets_that_are_clipped_to_a_learnt_range_are_named():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (5000, 2))
    y = 50.0 + X @ [3.0, 1.0] + rng.standard_normal(5000)
    model = DPRidge(inference=True, data_norm=1.5, random_state=0).fit(X, y)
    ends = "[{:g}, {:g}]".format(*model.target_bounds_)
    assert f"targets clipped to the learnt range {ends}" in model.summary().estimand


def test_the_share_that_a_ball_holds_for_intervals_is_the_same_for_each_epsilon():
    held = {DPRidge(**RIDGE, epsilon=e)._plan(10**5, 4, 1).ball.quantile for e in (0.1, 1.0, 64.0)}
    assert len(held) == 1


def designs():
    """Rows and targets: errors with tails, collinear and narrow columns, a rare category."""
    rng = np.random.default_rng(0)
    n = 2000
    Z, tall = rng.standard_normal((n, 3)), rng.standard_normal((n, 1))
    X = np.clip(Z / 3.0, -1.0, 1.0)
    rare = np.column_stack([3.0 * (rng.random(n) < 0.03), X[:, 1:]])
    kinds = {
        "normal": X,
        "collinear": np.clip((0.9 * tall + 0.4 * Z) / 3.0, -1.0, 1.0),
        "rare": rare / 2.0,
        "long": np.clip(rng.standard_t(2, (n, 3)) / 4.0, -2.0, 2.0),
        "narrow": X * [1.0, 0.2, 1.0],
    }
    errors = {
        "normal": 0.2 * rng.standard_normal(n),
        "t2": 0.1 * rng.standard_t(2, n),
        "cost": 1.8 * (rng.random(n) < 0.03) - 0.9,
    }
    for rows in kinds.values():
        for each in errors.values():
            yield rows, np.clip(0.2 * rows @ [1.0, -1.0, 0.5] + each, -1.0, 1.0)
        yield rows, (rng.random(n) < expit(rows @ [2.0, -2.0, 1.0] - 2.0)).astype(int)


@pytest.mark.long
@pytest.mark.parametrize("norm", [2.0, None])
def test_more_epsilon_never_gives_fewer_answers(norm):
    """Of the same streams of noise: what is given at an epsilon is given at each that is larger."""
    n_given = []
    for rows, y in designs():
        is_label = set(np.unique(y)) <= {0, 1}
        model = DPLogisticRegression(**TWO) if is_label else DPRidge(**RIDGE)
        given = []
        for epsilon in (0.5, 1.0, 2.0, 4.0, 8.0, 32.0):
            model.set_params(epsilon=epsilon, data_norm=norm)
            given.append(model.fit(rows, y).inference_quality_ != "no")
        assert given == sorted(given)
        n_given.append(sum(given))
    # Otherwise it says little.
    assert len(set(n_given)) > 1


def adversarial(kind, n):
    """Rows of norm 1 at most, and targets in [-1, 1] whose largest errors all point one way."""
    rng = np.random.default_rng(0)
    X = np.clip(rng.standard_normal((n, 4)) / 4.0, -0.5, 0.5)
    y = 0.02 * rng.standard_normal(n)
    few = slice(0, n // 50)
    if kind == "a column":
        X[few] = [0.9, 0.0, 0.0, 0.0]
    elif kind == "a rare column":
        X[:, 0] = 0.0
        X[few, 0] = 0.9
    y[few] = 0.98
    return X, np.clip(y, -1.0, 1.0), few


@pytest.mark.parametrize("clip", [0.05, 0.2, 0.5])
@pytest.mark.parametrize("kind", ["all", "a column", "a rare column"])
def test_what_clipping_takes_is_within_its_bound(kind, clip, monkeypatch):
    """Noise is 0, so that coefficients differ from those of unclipped slopes by clipping alone."""
    monkeypatch.setattr(GaussianMechanism, "_draw", lambda self, shape, stream: np.zeros(shape))
    monkeypatch.setattr(GaussianMechanism, "_draw_number", lambda self, stream: 0.0)
    n = 20_000
    X, y, _ = adversarial(kind, n)
    rows = clip_rows(X, data_norm=1.0, fit_intercept=True, bias=BIAS)
    full = np.column_stack([X, np.full(n, BIAS)])
    model, loss = MODELS["squared_error"], LOSSES["squared_error"]
    made = plan(
        n_records=n, epsilon=8.0, alpha=1e-9, smoothness=1.0, clipping_norm=clip, max_iter=40
    )
    with CertifiedRows(rows, y[:, np.newaxis], loss, inference=True).at_work() as sums:
        weights, steps = solve_inference(sums, plan=made, model=model, run=run_of(made))
    found = steps.errors
    assert found.quality == "wide"
    assert any("clipping may" in reason or "were clipped" in reason for reason in found.reasons)
    exact = np.linalg.lstsq(full, y)[0]
    moved = np.abs(weights[0] - exact)
    assert (moved <= found.bias).all()
    # The bound of the sampling error is above that of the sandwich at the unclipped optimum.
    inverse = np.linalg.inv(full.T @ full)
    robust = np.sqrt(np.diag(inverse @ (full.T * (full @ exact - y) ** 2) @ full @ inverse))
    assert (robust <= found.sampling).all()


@for_each("level", [0.05, 0.5, 0.8, 0.95, 0.999])
@for_each("bias", [0.0, 0.1, 1.0, 30.0])
def test_intervals_hold_at_any_level_where_the_bias_is_as_large_as_its_bound(bias, level):
    """By the normal law of what is left of the error."""
    from scipy.stats import norm

    errors = np.hypot(1.0, bias)
    low, high = _ends(np.zeros(1), np.array([errors]), np.array([bias]), level)[0]
    assert low == -high
    assert norm.cdf(high - bias) - norm.cdf(low - bias) >= level - 1e-12
    # And those of the standard error do at the level that is the default.
    if level == 0.95:
        reach = norm.ppf(0.975) * errors
        assert norm.cdf(reach - bias) - norm.cdf(-reach - bias) >= level - 1e-12


@pytest.mark.long
def test_the_clip_of_tails_widens_intervals_that_hold(monkeypatch):
    rng = np.random.default_rng(0)
    X = np.clip(rng.standard_normal((10_000, 3)) / 3.0, -1.0, 1.0)
    y = np.where(rng.random(10_000) < 0.03 * (1.0 + 0.8 * X[:, 0]), 0.95, -0.95)
    exact = LinearRegression().fit(X, y)
    for seed in range(5):
        model = DPRidge(**RIDGE | {"random_state": seed}, data_norm=1.8, epsilon=2.0).fit(X, y)
        assert model.inference_quality_ == "wide"
        for level in (0.5, 0.95):
            low, high = model.conf_int(level).T
            assert ((low < exact.coef_) & (exact.coef_ < high)).all()
        summary = model.summary(0.5)
        assert (summary.bias > 0.0).all()
        ends = [[float(cell) for cell in cells[-2:]] for cells in summary._cells()]
        np.testing.assert_allclose(ends[:3], model.conf_int(0.5), rtol=1e-2, atol=1e-3)
