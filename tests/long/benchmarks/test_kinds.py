"""The script of learnt kinds runs, and what it measured is what pages say."""

import numpy as np
import pandas as pd

from tests.privacy.mutants import ROOT


def test_kinds_run(run):
    options = "--sets adult electricity --rows 0 100 --epsilons 2 --seeds 0 1"
    table = run("kinds", options, "kinds").set_index(["data", "n_rows", "way"])
    assert len(table) == 12
    assert table["auc"].between(0.0, 1.0).all()
    assert table.drop("typed", level="way")["lost"].notna().all()


def test_kinds_that_are_learnt_cost_a_model_less_than_their_error():
    """And less than .002 of AUC from epsilon .5 on, beyond twice the standard error."""
    table = pd.read_csv(ROOT / "benchmarks" / "results" / "kinds.csv", comment="#")
    learnt = table[(table["way"] != "typed") & (table["epsilon"] >= 0.5)]
    assert len(learnt) >= 8
    assert (learnt["lost"] < 0.002 + 2.0 * learnt["lost_se"]).all()
    assert learnt["lost"].mean() < 0.002
    assert np.isfinite(table["auc"]).all()
