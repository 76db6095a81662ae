"""The script of quantiles runs, and its table says what the guide says of it."""

import pandas as pd
import pytest

from tests.privacy.mutants import ROOT


def test_quantiles_run(run, load_script, monkeypatch):
    monkeypatch.setattr(load_script("quantiles"), "N_ROWS", 4000)
    how = "--sets incomes --methods Huber ridge --epsilons 4 --seeds 0 1"
    table = run("quantiles", how, "quantiles")
    assert table["method"].tolist() == 2 * ["Huber"] + 2 * ["ridge"]


def test_coverage_is_that_of_the_quantile():
    table = pd.read_csv(ROOT / "benchmarks" / "results" / "quantiles.csv", comment="#")
    found = table[table["method"].str.startswith("quantile")]
    assert len(found) == 2 * 3 * 4
    wanted = found["method"].str.split().str[1].astype(float)
    assert found["covered"].to_numpy() == pytest.approx(wanted.to_numpy(), abs=0.01)
