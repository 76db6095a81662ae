"""The script of bounds that are too wide runs, and its verdict finds what is worse."""

import pandas as pd


def test_ball_runs(run):
    """A set of scikit-learn's own: no data are needed."""
    options = "--sets breast_cancer diabetes --epsilons 2 --seeds 0 1"
    table = run("ball", options, "ball").set_index(["data", "way"])
    assert len(table) == 14
    lost = table.loc["breast_cancer", "log_loss"]
    # Bounds 20 times too wide cost as much as they do without a ball.
    assert lost["20 x"] < 0.2 < lost["no ball, 20 x"]


def test_what_is_worse_is_named(run, tmp_path):
    run("ball", "--sets breast_cancer --epsilons 2 --seeds 0 1", "ball")
    worse = pd.read_csv(tmp_path / "ball_worse.csv", comment="#")
    assert "no ball, 20 x" in set(worse["way"])
    means = pd.read_csv(tmp_path / "ball_means.csv", comment="#")
    assert means["20 x / no ball"].item() < means["no ball, 20 x / no ball"].item()
