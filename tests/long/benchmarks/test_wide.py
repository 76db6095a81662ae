"""The script of wide tables runs, and its table says what the guide says of it."""

import math

import pandas as pd
import pytest

from tests.privacy.mutants import ROOT

OTHERS = ["DP-SGD", "not whitened", "not whitened, by a ball"]
EPSILONS = [0.5, 1.0, 4.0]


def test_wide_tables_run(run):
    options = "--tables one-hot --epsilons 1 inf --seeds 0 --rows 600"
    assert run("wide", options, "wide")["model"].iloc[0] == "greedy"


def test_frank_wolfe_runs(run):
    table = run("frank_wolfe", "--tables one-hot --epsilons 1 --seeds 0 --rows 300", "frank_wolfe")
    assert 0.5 < table["log_loss"].iloc[0] < 2.0


def test_frank_wolfe_is_worse_than_greedy_selection():
    for value, sign in (("log_loss", 1.0), ("auc", -1.0)):
        found = table_of("frank_wolfe.csv", value)["Frank-Wolfe"]
        greedy = table_of("wide.csv", value)["greedy"].loc[found.index]
        assert (sign * (found - greedy)).min() > 0.0
        assert len(found) == 9


def table_of(file, value):
    table = pd.read_csv(ROOT / "benchmarks" / "results" / file, comment="#")
    return table.pivot_table(index=["table", "epsilon"], columns="model", values=value)


@pytest.mark.parametrize("name", ["text", "text, 50,000", "one-hot"])
def test_where_few_columns_matter_greedy_selection_wins(name):
    loss, error = table_of("wide.csv", "log_loss"), table_of("wide.csv", "log_loss_se")
    for epsilon in EPSILONS:
        row = loss.loc[name, epsilon]
        apart = row[OTHERS].min() - row["greedy"]
        assert apart > 2.0 * error.loc[name, epsilon]["greedy"]
        assert not row["cyclic"] < row["greedy"]
    assert loss.loc[name, 4.0]["greedy"] < loss.loc[name, math.inf]["no privacy, l2"]
    auc = table_of("wide.csv", "auc")
    for epsilon in EPSILONS:
        assert auc.loc[name, epsilon].idxmax() == "greedy" or (name, epsilon) == ("one-hot", 0.5)


def test_where_many_columns_tell_a_little_it_does_not():
    auc = table_of("wide.csv", "auc").loc["text, many words"]
    assert all(auc.loc[epsilon].idxmax() == "cyclic" for epsilon in EPSILONS)
    assert auc.loc[1.0].idxmin() == "greedy"
    loss = table_of("wide_adult.csv", "log_loss").loc["adult, pairs"]
    assert all(loss.loc[epsilon].idxmin() == "no pairs" for epsilon in EPSILONS)
    assert loss.loc[1.0].drop("cyclic").idxmax() == "greedy"
