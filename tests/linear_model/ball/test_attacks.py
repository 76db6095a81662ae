"""Attacks on the learnt ball: what one record adds, where rows are whole."""

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_array

from skdp.linear_model import DPLogisticRegression
from tests._loops import for_each
from tests.door import (
    LOSSES,
    MODELS,
    Ball,
    CertifiedRows,
    CountsByColumn,
    GaussianMechanism,
    RawRows,
    SecondMoment,
    SumOfCurvatures,
    bins_below,
    blocks_module as _blocks,
    rows_in_ball,
)


def _mechanism(bound, size):
    return GaussianMechanism(
        contribution_bound=bound, noise_multiplier=10.0, size=size, n_records=1
    )


@for_each("exponent", np.linspace(130.0, 134.0, 41))
def test_a_term_of_the_matrix_has_its_bound_where_weights_have_few_digits(exponent):
    X, clip = np.array([[10.0**exponent]]), 1e-30
    ball = Ball(np.zeros(1), np.ones(1), 1.0)
    rows = rows_in_ball(X, ball, np.zeros(1, dtype=bool), fit_intercept=False)
    loss = LOSSES["squared_error"]
    sums = CertifiedRows(rows, np.ones((1, 1)), loss, inference=True)
    with np.errstate(all="ignore"):
        sums.bound_slopes(np.eye(1), clip)
        total = sums.ask(
            SumOfCurvatures(MODELS[loss.name], np.ones((1, 1)), clip**2, _mechanism(clip**2, 1))
        )
    assert abs(total[0]) <= clip**2 * (1.0 + 1e-5)


@pytest.mark.long
def test_no_record_moves_the_sums_of_others(monkeypatch):
    # Several chunks.
    monkeypatch.setattr(_blocks, "_ROWS_PER_COLUMN", 0)
    # A row that is cut is in the first chunk; the others' sums are the same to the last bit.
    n_rows, n_columns = 3000, 1000
    X = np.random.default_rng(0).normal(size=(n_rows, n_columns))
    X /= 2.0 * np.linalg.norm(X, axis=1, keepdims=True)
    longer = X.copy()
    longer[0] *= 10.0
    ball, is_null = Ball(np.zeros(n_columns), np.ones(n_columns), 1.0), np.zeros(n_rows, dtype=bool)

    class Keeping(GaussianMechanism):
        def rounded(self, value):
            sums_of_chunks.append(value)
            return value

    def moment_of_each(X):
        sums_of_chunks.clear()
        rows = rows_in_ball(X, ball, is_null, fit_intercept=True)
        sums = CertifiedRows(rows, np.zeros((n_rows, 1)), LOSSES["squared_error"])
        sums.ask(SecondMoment(Keeping(1.0, 1.0, 1, n_rows)))
        return list(sums_of_chunks)

    sums_of_chunks = []
    first, *others = zip(moment_of_each(X), moment_of_each(longer), strict=True)
    assert not np.array_equal(*first)
    assert len(others) > 1
    for one, other in others:
        np.testing.assert_array_equal(one, other)


def _raw_table(n_rows):
    rng = np.random.default_rng(0)
    year, cents = rng.integers(2005, 2025, n_rows), 100.0 * np.exp(rng.normal(10.5, 0.6, n_rows))
    others = rng.normal(size=(n_rows, 8))
    return np.column_stack([year, cents, others]), np.sign(rng.normal(size=n_rows))


# With noise that nearly hides a column, a scale of its own is all that is asked for.
@pytest.mark.parametrize(("n_rows", "longest"), [(3000, 4000.0), (20_000, 30.0)])
def test_columns_in_other_units_and_far_from_0_keep_their_digits(n_rows, longest):
    X, y = _raw_table(n_rows)
    model = DPLogisticRegression(classes=[-1, 1], delta=1e-6, random_state=0).fit(X, y)
    # A year is 5.8 from the mean of all, as a root mean square.
    assert model.scale_[0] < longest


def test_sparse_rows_are_counted_by_their_entries(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4)) * (rng.random((500, 4)) < 0.5)
    X[:3] = [[1e200, 0, 0, -1e-200]] * 3
    rows, is_null = csr_array(X), rng.random(500) < 0.1
    rows.data[5] = 0.0
    X = rows.toarray()
    monkeypatch.setattr(csr_array, "toarray", None)
    for centre in np.zeros(4), rng.normal(size=4):
        args = bins_below(2.0), centre, rng.random(4), _mechanism(1.0, 1)
        counts = RawRows(rows, is_null).ask(CountsByColumn(*args))
        np.testing.assert_array_equal(counts, RawRows(X, is_null).ask(CountsByColumn(*args)))
        assert (counts.sum(axis=1) == (~is_null).sum()).all()


def test_many_columns_take_no_square_of_their_number_in_memory():
    n_columns = 3000
    X, y = csr_array(np.eye(50, n_columns)), np.arange(50) % 2
    model = DPLogisticRegression(classes=[0, 1], delta=1e-6, max_iter=1)
    tracemalloc.start()
    model.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < n_columns**2
