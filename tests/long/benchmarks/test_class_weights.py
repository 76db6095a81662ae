"""The script of class weights runs, and its table says what the pages say of it."""

import math

import pandas as pd

from tests.privacy.mutants import ROOT


def test_class_weights_runs(run, load_script, monkeypatch):
    script = load_script("class_weights")
    monkeypatch.setattr(script, "N_TEST", 2000)
    monkeypatch.setattr(script, "METHODS", {"dpcd": script.METHODS["dpcd"]})
    table = run("class_weights", "--rows 3000 --epsilons 2 --seeds 0 1", "class_weights")
    assert table["epsilon"].unique().tolist() == [2.0, math.inf]
    assert (table.loc[table["epsilon"] == math.inf, "largest_gap"] <= 1e-4).all()


def test_weights_rank_no_worse_and_without_privacy_are_scikit_learns():
    table = pd.read_csv(ROOT / "benchmarks" / "results" / "class_weights.csv", comment="#")
    exact = table[table["epsilon"] == math.inf]
    assert len(exact)
    assert (exact["largest_gap"] <= 1e-4).all()
    private = table[(table["epsilon"] < math.inf) & (table["n_rows"] == table["n_rows"].max())]
    plain, weighted = (private[private["weighted"] == one].reset_index() for one in (False, True))
    worse = plain["ranked"] - weighted["ranked"]
    assert (worse <= 3.0 * (plain["ranked_se"] ** 2 + weighted["ranked_se"] ** 2) ** 0.5).all()
    assert (weighted["at_0"] > plain["at_0"]).mean() > 0.7
