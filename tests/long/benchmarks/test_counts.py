"""The script of counts and amounts runs, and its table says what the guide says of it."""

import math

import pandas as pd

from tests.privacy.mutants import ROOT


def test_counts_run(run, load_script, monkeypatch):
    monkeypatch.setattr(load_script("counts"), "N_POLICIES", 4000)
    table = run("counts", "--sets claims amounts --epsilons 4 --seeds 0 1", "counts")
    assert table["set"].tolist() == 4 * ["claims"] + 4 * ["amounts"]
    assert table["model"].tolist() == 2 * (2 * ["linear"] + 2 * ["additive"])


def test_little_is_lost_where_rows_are_many():
    table = pd.read_csv(ROOT / "benchmarks" / "results" / "counts.csv", comment="#")
    many = table[(table["rows"] > 50_000) & (table["epsilon"] == 1.0)]
    many = many.set_index(["set", "model"])
    assert (many["lost"] < 0.003).all()
    most_lost = many["lost"] + 2.0 * many["lost_se"]
    assert (most_lost.loc[["claims", "amounts"]] < 0.003).all()
    # Policies that were seen for 0.6 years in the mean have fewer claims.
    assert (most_lost.loc["rates"] < 0.006).all()
    assert (table.loc[table["epsilon"] == math.inf, "lost"] == 0.0).all()
