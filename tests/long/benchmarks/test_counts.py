"""The script of counts and amounts runs, and its table says what the guide says of it."""

import math

import pandas as pd

from tests.privacy.mutants import ROOT


def test_counts_run(run, load_script, monkeypatch):
    monkeypatch.setattr(load_script("counts"), "N_POLICIES", 4000)
    table = run("counts", "--sets claims amounts --epsilons 4 --seeds 0 1", "counts")
    assert table["set"].tolist() == 2 * ["claims"] + 2 * ["amounts"]


def test_little_is_lost_where_rows_are_many():
    table = pd.read_csv(ROOT / "benchmarks" / "results" / "counts.csv", comment="#")
    many = table[(table["rows"] > 50_000) & (table["epsilon"] == 1.0)].set_index("set")
    most_lost = many["lost"] + 2.0 * many["lost_se"]
    assert (most_lost[["claims", "amounts"]] < 0.003).all()
    # Policies that were seen for 0.6 years in the mean have fewer claims.
    assert most_lost["rates"] < 0.006
    assert (table.loc[table["epsilon"] == math.inf, "lost"] == 0.0).all()
