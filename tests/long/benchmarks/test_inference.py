"""The script of intervals runs, and what its table says is so."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

COMMITTED = Path(__file__).parents[3] / "benchmarks" / "results" / "inference.csv"


@pytest.fixture
def script(load_script, monkeypatch):
    script = load_script("inference")
    monkeypatch.setattr(script, "POPULATION", 20_000)
    monkeypatch.setattr(script, "BLOCK", 2)
    monkeypatch.setattr(
        script,
        "DESIGNS",
        {task: script.Design(task, 2000, 3) for task in ("squares", "logistic")},
    )
    script.truth.cache_clear()
    yield script
    script.truth.cache_clear()


def test_inference_runs(script, run, folder):
    arguments = f"--methods whitened bootstrap --epsilons 4 --sets 4 --cache {folder / 'kept'}"
    table = run("inference", arguments, "inference")
    assert table["n_sets"].tolist() == [4, 4, 4]
    assert table[["method", "task"]].to_numpy().tolist() == [
        ["whitened", "squares"],
        ["whitened", "logistic"],
        ["bootstrap", "squares"],
    ]
    assert np.allclose(table[["yes", "wide", "no"]].sum(axis=1), 1.0)
    kept = run("inference", f"{arguments} --kept", "inference")
    pd.testing.assert_frame_equal(kept, table)


def test_errors_and_weights_of_the_population_are_those_of_least_squares(script, rng):
    design = script.DESIGNS["squares"]
    X, y = script.draw(design, script.POPULATION, np.random.default_rng(script.POPULATION_SEED))
    Z = script.augmented(X, design, "bootstrap")
    w = script.truth("squares", "bootstrap")
    np.testing.assert_allclose(w, np.linalg.lstsq(Z, y)[0], rtol=1e-9)
    slopes = Z @ w - y
    inverse = np.linalg.inv(Z.T @ Z)
    exact = inverse @ (Z.T * slopes**2) @ Z @ inverse
    found = script.errors_without_privacy(design, Z, y, w)
    np.testing.assert_allclose(found, np.sqrt(np.diag(exact)), rtol=1e-9)


def test_sets_are_told_apart_by_their_quality(script):
    # Quality, width, and what is covered of two slopes and the intercept.
    found = np.array([[0, 1.0, 1, 0, 1], [0, 3.0, 1, 1, 0], [1, 9.0, 0, 0, 0], [2, 0.0, 0, 0, 0]])
    row = script.summarize(found)
    assert [row[name] for name in ("yes", "wide", "no")] == [0.5, 0.25, 0.25]
    assert (row["coverage_yes"], row["width_yes"], row["intercept_yes"]) == (0.75, 2.0, 0.5)
    assert (row["least_yes"], row["coverage_wide"]) == (0.5, 0.0)
    assert "coverage_no" not in row


@pytest.mark.skipif(not COMMITTED.is_file(), reason="the table isn't finished")
def test_intervals_cover_as_often_as_they_say():
    """Beyond three standard errors, in cells with enough sets of the quality."""
    table = pd.read_csv(COMMITTED, comment="#")
    table = table[table["method"] == "whitened"]
    assert len(table) > 100
    for quality, high in (("yes", 0.975), ("wide", 1.0)):
        often = table[table[quality] * table["n_sets"] >= 50]
        spare = 3.0 * often[f"se_{quality}"]
        assert (often[f"coverage_{quality}"] + spare >= 0.93).all()
        assert (often[f"coverage_{quality}"] - spare <= high).all()
