"""The script that measures memory runs on tiny problems and tells a copy from none."""

import sys

import numpy as np
import pytest

if not sys.platform.startswith("linux"):
    pytest.skip("memory is read from Linux's /proc", allow_module_level=True)


@pytest.fixture
def script(load_script):
    return load_script("memory")


@pytest.mark.parametrize("n_rows", [100, 4096, 10_000])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_file_is_written_block_by_block(n_rows, dtype, script, tmp_path):
    files = script.write_problem(tmp_path, n_rows, dtype, 0.9)
    X = np.load(files["X"], mmap_mode="r")
    assert X.shape == (n_rows, script.COLUMNS)
    assert X.dtype == dtype
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 0.9, rtol=1e-6)
    labels, targets = np.load(files["classifier"]), np.load(files["regressor"])
    assert labels.shape == targets.shape == (n_rows,)
    np.testing.assert_array_equal(labels, targets > 0.0)


def test_a_copy_is_seen(script, tmp_path):
    n_rows = 30_000
    files = script.write_problem(tmp_path, n_rows, "float64", 0.9)
    settings = {"epsilon": float("inf"), "max_iter": 1, "random_state": 0, "ball_budget": 0}
    by_row = script.run_fit("DPSGDRegressor", settings, files)
    by_column = script.run_fit("DPCDLasso", settings, files)
    turned = script.run_fit("DPSGDRegressor", settings, files, layout="F")
    size = by_row["X_bytes"]
    assert size == n_rows * script.COLUMNS * 8
    extra = [found["peak"] - found["before"] for found in (by_row, by_column, turned)]
    assert extra[0] < 0.6 * size
    assert extra[1] > 0.9 * size
    assert extra[2] > extra[0] + 0.8 * size


def test_private_memory_is_limited(script, tmp_path):
    files = script.write_problem(tmp_path, 60_000, "float64", 0.9)
    settings = {"max_iter": 1, "random_state": 0}
    found = script.run_fit("DPCDLasso", settings, files, mapped=True, limit=10**9)
    assert found["anonymous_peak"] - found["anonymous_before"] > 0.9 * found["X_bytes"]
    assert script.run_fit("DPCDLasso", settings, files, mapped=True, limit=10**6) is None
    assert script.describe(None) == {"fits": False}


def test_a_fit_that_fails_for_another_reason_is_not_hidden(script, tmp_path):
    files = script.write_problem(tmp_path, 400, "float64", 0.9)
    with pytest.raises(RuntimeError, match="alpha"):
        script.run_fit("DPCDLasso", {"alpha": -1.0}, files)


def test_it_runs_and_keeps_the_other_part(script, run, tmp_path, monkeypatch):
    monkeypatch.setattr(script, "COPIED", {"DPCDLasso": script.COPIED["DPCDLasso"]})
    monkeypatch.setattr(script, "MAPPED_TYPES", {"float32": ["no fit: X.sum()", "DPSGDRegressor"]})
    monkeypatch.setattr(script, "LAYOUTS", {"float64": script.LAYOUTS["float64"]})
    options = f"--rows 1000 --file-bytes 1e6 --scratch {tmp_path}"
    first = run("memory", f"{options} --parts copies", "memory")
    table = run("memory", f"{options} --parts mapped", "memory")
    assert table["part"].tolist() == ["copies"] + ["mapped"] * 2
    assert table["seconds"][0] == first["seconds"][0]
    assert table["fits"].all()
    assert (table["peak_MB"] >= table["private_peak_MB"]).all()
    left = {path.name for path in tmp_path.iterdir() if not path.name.endswith(("csv.gz", "npz"))}
    assert left == {"memory.csv", "memory.png"}
