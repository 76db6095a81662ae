"""The script of passes runs, and its table says what the pages say of it."""

import pandas as pd

from tests.privacy.mutants import ROOT


def test_passes_run(run, data):
    options = "--problems california_housing phishing --scalings box --epsilons 100 --seeds 0 1"
    table = run("passes", options, "passes")
    assert table["clip_by"].tolist() == ["entry", "row"] * 2
    assert (table["score"] > 0.5).all()


def test_rows_are_no_worse_than_entries():
    table = pd.read_csv(ROOT / "benchmarks" / "results" / "passes.csv", comment="#")
    entry, row = (table[table["clip_by"] == way].reset_index() for way in ("entry", "row"))
    error = (entry["score_se"] ** 2 + row["score_se"] ** 2) ** 0.5
    assert (row["score"] > entry["score"] - 3.0 * error).all()
    both = entry["log_loss"].notna()
    assert (row["log_loss"] <= entry["log_loss"] + 0.001)[both].all()
