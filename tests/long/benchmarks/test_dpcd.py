"""The scripts of the DP-CD paper run, search the grid, and fit what they measure."""

import math
from argparse import Namespace
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

# Raw and standardised, regression and classification.
NAMES = ("california_raw", "electricity_standardized")


@pytest.fixture
def table2(load_script, data):
    return load_script("papers/dpcd/table2")


def test_table2_runs(table2, run, monkeypatch):
    for name, values in {
        "SEEDS": (0, 1),
        "ROUNDS": ((9, 66), (9, 33)),
        "SGD_ROUNDS": ((9, 66), (9, 33)),
        "FINAL_SEEDS": (102,),
    }.items():
        monkeypatch.setattr(table2, name, values)
    options = f"--passes 2 3 --problems {' '.join(NAMES)} --methods exact private dpsgd"
    table, best = run("papers/dpcd/table2", options, "dpcd_table2", "dpcd_table2_best")
    keys = ["problem", "method", "adjacency"]
    table, best = table.set_index([*keys, "passes"]), best.set_index(keys)
    cells = {
        ("california_raw", "exact", "replace_one"),
        ("california_raw", "exact", "zero_out"),
        ("california_raw", "private", "replace_one"),
        ("california_raw", "dpsgd", "replace_one"),
        ("electricity_standardized", "exact", "replace_one"),
        ("electricity_standardized", "exact", "zero_out"),
        ("electricity_standardized", "dpsgd", "replace_one"),
    }
    assert set(table.index) == {(*cell, passes) for cell in cells for passes in (2, 3)}
    assert (table["error"] > -1e-9).all()
    assert set(table["average_every"].dropna()) <= {1}
    is_sgd = table.index.get_level_values("method") == "dpsgd"
    np.testing.assert_array_equal(table["average"].notna(), is_sgd)
    # The ends of the two grids of step sizes.
    assert set(table.loc[is_sgd, "step_size"]) <= {1e-6, 1.0}
    assert set(table.loc[~is_sgd, "step_size"]) <= {1e-2, 10.0}
    # The paper has 2 passes and not 3.
    papers = table["paper_error"].unstack("passes")
    assert papers[3].isna().all()
    assert papers[2]["california_raw", "exact", "replace_one"] == 0.1708
    assert papers[2]["california_raw", "dpsgd", "replace_one"] == 0.2799
    assert set(best.index) == cells
    assert best.loc[("electricity_standardized", "exact", "zero_out"), "paper_best"] == 0.0013
    assert best.loc[("electricity_standardized", "dpsgd", "replace_one"), "paper_best"] == 0.0040
    lowest = table.groupby(keys)["error"].min()
    pd.testing.assert_series_equal(
        best["best_error"].sort_index(), lowest.sort_index(), check_names=False
    )


# Where DP-SGD meets the grid: every fourth clipping norm.
@pytest.mark.parametrize("method", ["exact", "dpsgd"])
@pytest.mark.parametrize(
    "target", [(0, 0, 0), (1, 0, 96), (0, 4, 44), (1, 5, 64), (0, 8, 4), (1, 9, 92)]
)
def test_the_best_setting_is_found_at_seeds_of_its_own(method, target, table2, monkeypatch):
    seeds = set()

    def error_of(name, method, adjacency, passes, setting, seed):
        seeds.add(seed)
        average, step, clipping = np.subtract(setting, target)
        # Bad luck until the final: both ways of averaging have to get there.
        luck = 100.0 * (average == 0 and seed not in table2.FINAL_SEEDS)
        return abs(average) + step**2 + (clipping / 4.0) ** 2 + luck

    monkeypatch.setattr(table2, "error_of", error_of)
    cell = ("california_raw", method, "replace_one", 2)
    assert table2.choose(cell, Namespace(cache=None, n_jobs=1)) == target
    assert seeds.isdisjoint(table2.SEEDS)


@pytest.mark.parametrize("name", NAMES)
def test_settings_are_in_the_papers_units(name, table2):
    """Its squared error is twice ours, so its clipping norms are too."""
    instance = table2.load_instance(name)
    unit = 0.5 if name == "california_raw" else 1.0
    assert instance.problem.alpha == (0.5 if name == "california_raw" else 1.0 / 160)
    for method in table2.METHODS:
        model = table2.make_model(instance, method, "replace_one", 7, (1, 9, 99), 3)
        assert model.clipping_norm == unit * 1e6
        assert (model.max_iter, model.random_state, model.adjacency) == (7, 3, "replace_one")
        assert (model.delta, model.epsilon) == (160**-2, 0.9 if method == "laplace" else 1.0)
        if method == "dpsgd":
            assert model.average
            assert model.eta0 == 1.0 / instance.smoothness
        else:
            assert (model.average_every, model.step_size) == (1, 10.0)


@pytest.mark.parametrize("name", NAMES)
def test_dpsgd_minimises_the_problems_objective(name, table2):
    instance = table2.load_instance(name)
    model = instance.make_sgd(
        epsilon=math.inf,
        batch_size=len(instance.y),
        max_iter=3000,
        eta0=1.0 / instance.smoothness,
        average=False,
    )
    weights = model.fit(instance.X, instance.y).coef_.ravel()
    assert abs(instance.relative_error(weights)) < 1e-9


@pytest.mark.parametrize("name", NAMES)
def test_smoothness_is_the_largest_curvature_of_the_loss(name, table2):
    instance = table2.load_instance(name)
    problem = replace(instance.problem, alpha=1e-12)
    _, vectors = np.linalg.eigh(instance.X.T @ instance.X)
    step = 1e-3 * vectors[:, -1]
    ahead, back, here = (problem.objective(k * step, instance.X, instance.y) for k in (1, -1, 0))
    assert (ahead + back - 2.0 * here) / 1e-6 == pytest.approx(instance.smoothness, rel=1e-4)


def test_table3_runs(run):
    options = "--problems california_raw --passes 2 5 --repeats 2"
    table = run("papers/dpcd/table3", options, "dpcd_table3")
    assert table["stream"].tolist() == ["seeded", "secure"] * 2
    assert table["paper_seconds"].tolist() == [0.0029] * 2 + [0.0065] * 2
    np.testing.assert_allclose(
        table["ratio"], table["seconds"] / table["paper_seconds"], rtol=0.01, atol=1e-2
    )
