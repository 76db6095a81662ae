"""The script of additive models runs on small tables, with a class and with a target."""

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest


def test_additive_runs(run, tmp_path):
    options = "--sets adult california_housing --epsilons 1 4 --seeds 0 1"
    table, fits = run("additive", options, "additive", "additive_fits")
    assert len(fits) == 20
    assert len(table) == 10
    assert table["fit_seconds"].gt(0.0).all()
    found = table.set_index(["data", "way"])
    assert found.loc["adult", "auc"].between(0.0, 1.0).all()
    assert found.loc["adult", "r2"].isna().all()
    assert found.loc[("california_housing", "linear, no privacy"), "r2"].item() > 0.8
    assert (tmp_path / "additive.png").stat().st_size > 10_000


def test_the_best_of_several_settings_is_taken(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[3] / "benchmarks")
    module = import_module("additive")
    ways = ("additive", "DP-EBM", "DP-EBM 0", "DP-EBM 1")
    cells = [("a", way, 1.0, 0) for way in ways]
    found = [
        np.array([[area, loss, np.nan, *[1.0] * 4]] * 2)
        for area, loss in ((0.9, 0.2), (0.8, 0.4), (0.95, 0.5), (0.7, 0.3))
    ]
    values, names = module.take_best(found, cells)
    assert names[-1] == ("a", module.SIX, 1.0, 0)
    assert values[-1][0, 1] == 0.3
    monkeypatch.setattr(module, "load_table", lambda name: (None, range(400)))
    table = module.compare(values, names).set_index(["over", "measure"])
    assert table.loc[("DP-EBM", "log_loss"), "better_by"] == pytest.approx(0.2)
    assert table.loc[(module.SIX, "auc"), "better_by"] == pytest.approx(0.2)
    assert table["n_rows"].eq(300).all()


def test_small_cuts_are_compared_with_an_earlier_run(run, folder):
    options = "--sets adult --epsilons 1 --seeds 0 1 --rows 100 0"
    table, fits = run("additive", options, "additive", "additive_fits")
    assert table["n_rows"].unique().tolist() == [100, 225]
    kept = folder / "earlier.csv"
    others = fits.assign(log_loss=fits["log_loss"] + 0.1 * (fits["seed"] + 1), slope=2.0)
    others[others["seed"] < 2].to_csv(kept, index=False)
    versions = run("additive", f"{options} --before {kept}", "additive_before_after")
    found = versions[versions["measure"] == "log_loss"].set_index(["way", "n_rows"])
    assert len(found) == 4
    assert found["better_by"].to_numpy() == pytest.approx(0.15, abs=1e-4)
    assert found["se"].to_numpy() == pytest.approx(0.05, abs=1e-4)
    assert found["slope_before"].eq(2.0).all()


def test_predicted_chances_are_judged(monkeypatch, rng):
    monkeypatch.syspath_prepend(Path(__file__).parents[3] / "benchmarks")
    module = import_module("additive")
    odds = rng.normal(size=20_000)
    y = (rng.logistic(size=odds.size) < odds).astype(int)
    sure = module.judge(y, 1.0 / (1.0 + np.exp(-2.0 * odds)), y.mean())
    assert sure["slope"] == pytest.approx(0.5, abs=0.1)
    constant = module.judge(y, np.full(odds.size, 0.75), 0.5)
    assert constant["rate"] == pytest.approx(0.75 / y.mean())
    assert constant["over_constant"] == pytest.approx(constant["log_loss"] - np.log(2.0))
    assert "slope" not in constant
