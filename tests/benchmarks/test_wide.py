"""The script of wide tables runs, and its table says what the guide says of it."""

import pandas as pd
import pytest

from tests.privacy.mutants import ROOT

OTHERS = ["DP-SGD", "not whitened", "not whitened, by a ball"]


@pytest.mark.long
def test_wide_tables_run(run):
    options = "--tables one-hot --epsilons 1 inf --seeds 0 --rows 600"
    assert run("wide", options, "wide")["model"].iloc[0] == "greedy"


@pytest.fixture(scope="module")
def losses():
    table = pd.read_csv(ROOT / "benchmarks" / "results" / "wide.csv", comment="#")
    return table.pivot_table(index=["table", "epsilon"], columns="model", values="log_loss")
