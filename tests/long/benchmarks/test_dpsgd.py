"""The scripts of the DP-SGD paper's figures run, and fit what they say."""

import numpy as np
import pandas as pd
import pytest


def _check(table):
    assert not table.isna().any(axis=None)
    assert (table["std"] > 0.0).all()
    # No model is better than the optimum.
    assert (table["mean"] > table["optimum"]).all()
    return table


def test_fig1_runs(run, capsys):
    table = _check(run("papers/dpsgd/fig1", "--points 20 --seeds 1 2", "dpsgd_fig1"))
    assert len(table) == 2 * 2 * 2 * 2
    of_mnist = table[(table["problem"] == "mnist") & table["private"]]
    assert of_mnist["batch_size"].tolist() == [1, 1, 10, 10]
    assert of_mnist["points"].tolist() == [20, 100, 20, 100]
    assert of_mnist["iterations"].tolist() == [20, 100, 2, 10]
    said = capsys.readouterr().out
    assert "not private" in said
    assert "std_ratio" in said


def test_fig2_runs(run):
    options = "--problems kddcup99 --batch-sizes 1 7 --seeds 1 2"
    table = _check(run("papers/dpsgd/fig2", options, "dpsgd_fig2"))
    assert len(table) == 2 * 2 * 2
    assert (table["points"] == 120).all()
    assert set(table.loc[table["batch_size"] == 7, "iterations"]) == {18}
    # Noise costs more than the order of the rows.
    std = table.pivot(index=["rate", "batch_size"], columns="private", values="std")
    assert (std[True] > std[False]).all()


def test_fig3_runs(load_script, run, monkeypatch, capsys):
    load_script("papers/dpsgd/fig3")
    monkeypatch.setattr(load_script("papers/dpsgd/_dpsgd"), "_SPHERE_ROWS", 200)
    table = _check(run("papers/dpsgd/fig3", "--points 50 200 --seeds 1 2 3", "dpsgd_fig3"))
    # A last point that was asked for is drawn once.
    assert table["points"].tolist() == [50, 50, 200, 200] * 2
    assert "times the standard deviation of 1/sqrt(t)" in capsys.readouterr().out


@pytest.fixture
def script(load_script, data):
    return load_script("papers/dpsgd/_dpsgd")


@pytest.mark.parametrize(("name", "shape"), [("mnist", (100, 15)), ("kddcup99", (120, 9))])
def test_problems_are_in_the_unit_ball(name, shape, script, folder):
    X, y = script.load_problem(name)
    assert X.shape == shape
    assert set(y) == {-1, 1}
    assert np.linalg.norm(X, axis=1).max() <= 1.0 + 1e-12
    if name == "mnist":
        np.testing.assert_array_equal(y == 1, np.load(folder / "mnist.npz")["y_train"] == 1)
    else:
        attacks = pd.read_csv(folder / "kddcup99_10percent.csv.gz")["label"] != "normal."
        assert (y == 1).sum() == attacks.sum()


def test_sphere_is_separable_with_a_margin(script):
    X, y = script.load_problem("sphere")
    assert X.shape == (10_000, 5)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1.0)
    assert np.abs(X.mean(axis=0)).max() < 6.0 / np.sqrt(5 * 10_000)
    normal = np.random.default_rng(0).normal(size=5)
    assert (y * (X @ normal) / np.linalg.norm(normal)).min() >= 1e-3


def test_fits_are_the_papers(script, monkeypatch):
    """One record is any other, gradients have norm 1, and the noise is of scale 2 / epsilon."""
    fits = []

    class Kept(script.DPSGDClassifier):
        def fit(self, X, y):
            fits.append((super().fit(X, y), len(y)))
            return self

    monkeypatch.setattr(script, "DPSGDClassifier", Kept)
    X, y = script.load_problem("kddcup99")
    problem = script.PROBLEMS["kddcup99"]
    script.reach(problem, "1/sqrt(t)", 5, 60, True, 0)
    ((model, n_rows),) = fits
    report = model.privacy_report_
    assert (report.epsilon, report.delta, report.adjacency) == (1.0, 0.0, "replace_one")
    assert report.clipping == 1.0
    assert report.events[0].noise_multiplier == pytest.approx(2.0, rel=1e-3)
    assert (n_rows, model.batch_size_, model.n_iter_, model.average) == (60, 5, 1, False)

    # One step on all rows from zero, where each derivative is 1 / 2.
    reached = script.reach(problem, "10/sqrt(t)", len(y), len(y), False, 0)
    step = 10.0 * (0.5 * y @ X / len(y)) / (1.0 + 10.0 * 1e-4)
    assert reached == pytest.approx(problem.objective(step, X, y))


def test_findings_are_read_from_the_last_point(script):
    rows = []
    for batch_size, private_mean in ((1, 0.9), (5, 0.11)):
        for points, factor in ((10, 3.0), (20, 1.0)):
            for private in (True, False):
                key = ("kddcup99", "1/sqrt(t)", batch_size, points, private)
                mean, std = (private_mean, 0.2) if private else (0.1, 0.1)
                rows.append((*key, factor * mean, factor * std))
    columns = ["problem", "rate", "batch_size", "points", "private", "mean", "std"]
    compared = script.compare(pd.DataFrame(rows, columns=columns))
    gain = np.log(2.0) - 0.1
    np.testing.assert_allclose(compared["kept"], [1 - 0.8 / gain, 1 - 0.01 / gain])
    np.testing.assert_allclose(compared["std_ratio"], 2.0)
    assert compared["fails"].tolist() == [True, False]
    assert compared["matches"].tolist() == [False, True]
