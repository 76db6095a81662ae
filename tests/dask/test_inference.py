"""Standard errors of rows in partitions: they are those of rows in memory."""

import math

import numpy as np
import pytest
from scipy.sparse import csr_array

from tests.door import MODELS

pytest.importorskip("distributed", reason="needs the extra dask")

import dask.array

from skdp.dask import DaskDPLogisticRegression, DaskDPRidge
from tests.door import (
    Ball,
    CountsOfMappedLengths,
    GaussianMechanism,
    SharesAndLosses,
    SumOfCurvatures,
    SumOfSlopes,
    fine_bins_below,
    null_records,
)
from tests.door_dask import passes, read_table, reader_of

N, D, SIZE = 3000, 4, 700
SEED = {"random_state": 7, "inference": True}
BINARY = {"classes": [0, 1], "epsilon": 8.0, **SEED}
RIDGE = {"target_bounds": (-8.0, 8.0), "epsilon": 8.0, **SEED}
KINDS = {
    "binary": (DaskDPLogisticRegression, BINARY),
    "binary, pairs": (DaskDPLogisticRegression, {"adjacency": "replace_one", **BINARY}),
    "binary, no ball": (
        DaskDPLogisticRegression,
        {"ball_budget": 0, "data_norm": 3.0, **BINARY},
    ),
    "binary, a norm": (DaskDPLogisticRegression, {"data_norm": 3.0, **BINARY}),
    "numbers": (DaskDPRidge, RIDGE),
    "numbers, a norm, targets learnt": (DaskDPRidge, {"data_norm": 3.0, "epsilon": 8.0, **SEED}),
    "numbers, targets learnt": (DaskDPRidge, {"epsilon": 8.0, **SEED}),
    "numbers, a clip": (DaskDPRidge, {"clipping_norm": 0.5, **RIDGE}),
    "numbers, no intercept": (DaskDPRidge, {"fit_intercept": False, **RIDGE}),
    "numbers, no noise": (DaskDPRidge, {**RIDGE, "epsilon": float("inf")}),
}
ERRORS = "coef_", "intercept_", "coef_std_error_", "intercept_std_error_"


@pytest.fixture(scope="module")
def data():
    generator = np.random.default_rng(3)
    X = generator.normal(size=(N, D))
    X[::10] *= 1.5
    return X, X @ generator.normal(size=D) + generator.normal(size=N)


def targets_of(kind, scores):
    return (scores > 0.0).astype(int) if kind.startswith("binary") else scores


def in_parts(X, y):
    return dask.array.from_array(X, chunks=(SIZE, -1)), dask.array.from_array(y, chunks=SIZE)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_parts_give_the_errors_of_one_machine(kind, data):
    estimator, parameters = KINDS[kind]
    X, y = data[0], targets_of(kind, data[1])
    model = estimator(**parameters).fit(*in_parts(X, y))
    local = estimator._local(**parameters).fit(X, y)
    for name in ERRORS:
        np.testing.assert_allclose(getattr(model, name), getattr(local, name), rtol=0, atol=1e-7)
    for name in ("inference_quality_", "inference_reasons_", "n_iter_", "clipping_norm_"):
        assert getattr(model, name) == pytest.approx(getattr(local, name), abs=1e-7)
    assert model.privacy_report_.events == local.privacy_report_.events
    assert str(model.summary()) == str(local.summary())
    shares = [getattr(each, "weighted_share_", None) for each in (model, local)]
    assert shares[0] == (None if shares[1] is None else pytest.approx(shares[1], abs=1e-7))
    assert str(model.to_local().summary()) == str(local.summary())
    if model.inference_quality_ != "no":
        np.testing.assert_array_equal(model.conf_int(), model.to_local().conf_int())
    # A fit without errors forgets them.
    model.set_params(inference=False).fit(*in_parts(X, y))
    assert not any(hasattr(model, name) for name in ERRORS[2:])


def test_rows_that_errors_are_not_for_are_refused(data):
    X, y = in_parts(data[0], data[1])
    with pytest.raises(ValueError, match="dense data is required"):
        DaskDPRidge(**RIDGE).fit(X.map_blocks(csr_array), y)
    labels = dask.array.digitize(y, [-1.0, 1.0])
    with pytest.raises(ValueError, match="one target or two classes"):
        DaskDPLogisticRegression(**{**BINARY, "classes": range(3)}).fit(X, labels)


def sums_of(X, y, model, plan, ball):
    """Return each sum that inference alone asks of parts, and its release."""
    followed, bound = plan.following(ball.radius, 1.0, None), 0.008
    matrix = followed.matrix.bounded(bound * followed.matrix.bound)
    u, bins = np.full((D + 1, 1), 0.4), fine_bins_below(9.0)
    loss = "squared_error" if isinstance(model, DaskDPRidge) else "log_loss"
    step = followed.steps.split(5).bounded(0.1, stretch=4.0)
    with passes(read_table(*in_parts(X, y)), reader_of(model)) as sums:
        sums.place(ball)
        sums.bound_slopes(np.diag([0.5, 2.0, 1.0, 1.0, 1.0]), 9.0)
        yield sums.ask(CountsOfMappedLengths(bins, followed.lengths.mechanism)), followed.lengths
        sums.shorten(0.7)
        with pytest.raises(ValueError, match="for the whole of a fit"):
            sums.rebound_slopes(math.inf)
        sums.rebound_slopes(0.1)
        yield sums.ask(SharesAndLosses(MODELS[loss], u, followed.scale.mechanism)), followed.scale
        yield sums.ask(SharesAndLosses(MODELS[loss], u, followed.means.mechanism)), followed.means
        yield sums.ask(SumOfCurvatures(MODELS[loss], u, bound, matrix.mechanism)), matrix
        yield sums.ask(SumOfSlopes(u, step.mechanism)), step


def test_rows_are_shortened_in_parts_as_in_memory(data):
    X, y = data
    model, ball = DaskDPRidge(**RIDGE), Ball(np.zeros(D), np.ones(D), 2.0)
    reader = reader_of(model)
    rows = reader.bounded_by(ball, X, np.zeros(N, dtype=bool))
    A, query = (
        np.eye(D + 1),
        SumOfSlopes(np.full((D + 1, 1), 0.4), GaussianMechanism(9.0, 0.0, 5, N)),
    )
    answers = []
    with (
        passes(read_table(*in_parts(X, y)), reader) as parts,
        reader.asked(rows, reader.targets(y), 1).at_work() as here,
    ):
        parts.place(ball)
        for place in (parts, here):
            place.bound_slopes(A, 9.0)
            whole = place.ask(query)
            place.shorten(0.7)
            answers.append((whole, place.ask(query)))
    np.testing.assert_allclose(*answers, rtol=1e-9)
    assert np.linalg.norm(answers[0][1]) < 0.5 * np.linalg.norm(answers[0][0])


@pytest.mark.long
@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
@pytest.mark.parametrize("estimator", [DaskDPRidge, DaskDPLogisticRegression])
def test_a_record_moves_sums_by_their_bounds(estimator, adjacency, data):
    X, y, place = data[0].copy(), (data[1] > 0.0).astype(int), 1234
    options = RIDGE if estimator is DaskDPRidge else BINARY
    model = estimator(adjacency=adjacency, **options)
    plan, ball = model._plan(N, D, 1), Ball(np.full(D, 0.2), np.full(D, 1.5), 2.0)
    rows = [X[place].copy(), np.full(D, 0.2), np.full(D, 5.0), np.full(D, -5.0), np.full(D, 1e300)]
    seen = []
    for row in rows:
        for label in (0, 1):
            X[place], y[place] = row, label
            seen.append(list(sums_of(X, y, model, plan, ball)))
    with null_records([place]):
        null = list(sums_of(X, y, model, plan, ball))
    for which, (of_null, release) in enumerate(null):
        values = [found[which][0] for found in seen]
        others, limit = [of_null], release.mechanism.sensitivity
        if adjacency == "replace_one":
            others, limit = values, limit * (1.0 if release.pairwise else 2.0)
        moves = [np.linalg.norm(one - other) for one in values for other in others]
        assert 0.1 * limit < max(moves) <= limit
        for value in values:
            assert np.array_equal(value, release.mechanism.rounded(value))
