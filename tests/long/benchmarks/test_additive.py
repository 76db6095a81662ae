"""The script of additive models runs on small tables, with a class and with a target."""

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest


def test_additive_runs(run, tmp_path):
    options = "--sets adult california_housing --epsilons 1 4 --seeds 0 1"
    table = run("additive", options, "additive")
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
    cells = [("a", "additive", 1.0), ("a", "DP-EBM", 1.0), ("a", "DP-EBM 0", 1.0)]
    cells.append(("a", "DP-EBM 1", 1.0))
    found = [
        np.array([[area, loss, np.nan, 1.0]] * 2)
        for area, loss in ((0.9, 0.2), (0.8, 0.4), (0.95, 0.5), (0.7, 0.3))
    ]
    values, names = module.take_best(found, cells)
    assert names[-1] == ("a", module.SIX, 1.0)
    assert values[-1][0, 1] == 0.3
    monkeypatch.setattr(module, "load_table", lambda name: (None, range(400)))
    table = module.compare(values, names).set_index(["over", "measure"])
    assert table.loc[("DP-EBM", "log_loss"), "better_by"] == pytest.approx(0.2)
    assert table.loc[(module.SIX, "auc"), "better_by"] == pytest.approx(0.2)
    assert table["n_rows"].eq(300).all()
