"""Rows of a memory map are put into a ball's units as they are read: none is copied for longer."""

import tracemalloc

import numpy as np
import pytest

from skdp.linear_model import DPLogisticRegression, DPRidge
from tests._loops import for_each
from tests.door import fused_module

N, D = 40_000, 20


@pytest.fixture(scope="module")
def data():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(N, D)) * np.geomspace(1e-3, 1e3, D) + 5.0
    # Rows whose lengths overflow are void.
    X[[7, 20_000]] = 1e308
    return X, (X[:, 0] > 5.0).astype(float), np.arange(N) // 2


def mapped(X, folder):
    np.save(folder / "rows.npy", X)
    return np.load(folder / "rows.npy", mmap_mode="r")


@pytest.mark.long
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", ["rows", "people", "errors", "no noise"])
def test_a_memory_map_gives_the_bits_of_an_array(kind, dtype, data, tmp_path):
    X, y, person = data
    with np.errstate(over="ignore"):
        X = np.clip(X, -3e38, 3e38).astype(dtype)
    how = {"groups": person} if kind == "people" else {}
    model = DPRidge(
        epsilon=float("inf") if kind == "no noise" else 2.0,
        inference=kind == "errors",
        target_bounds=(0.0, 1.0),
        random_state=0,
    )
    expected = model.fit(X, y, **how).coef_.copy()
    np.testing.assert_array_equal(model.fit(mapped(X, tmp_path), y, **how).coef_, expected)


@pytest.mark.long
def test_a_memory_map_is_not_copied(data, tmp_path):
    X, y = mapped(data[0], tmp_path), data[1]
    model = DPLogisticRegression(epsilon=2.0, max_iter=2, random_state=0)
    model.fit(X[:2000], y[:2000])
    tracemalloc.start()
    model.fit(X, y)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert hasattr(model, "radius_")
    assert most < 0.7 * X.nbytes


@pytest.mark.long
@for_each("are_compiled", [True, False])
def test_a_sample_of_a_memory_map_is_not_copied(are_compiled, tmp_path):
    """A ball and the first steps are of a sample here: a copy takes 97 bytes a row of all."""
    if are_compiled:
        pytest.importorskip("numba", reason="needs the extra fast")
    n, d = 400_000, 28
    X = np.random.default_rng(0).normal(size=(n, d)) + 1.0
    y = (X[:, 0] > 1.0).astype(int)
    model = DPLogisticRegression(epsilon=8.0, random_state=0)
    assert model._plan(n, d).ball.n_sampled < 0.5 * n
    with fused_module.sums_compiled(are_compiled):
        expected = model.fit(X, y).coef_.copy()
        X = mapped(X, tmp_path)
        # What is compiled for a file takes memory, too.
        np.testing.assert_array_equal(model.fit(X, y).coef_, expected)
        tracemalloc.start()
        model.fit(X, y)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert most < 80 * n
