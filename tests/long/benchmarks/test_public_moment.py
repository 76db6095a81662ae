"""The script of public moments runs, and its table says what the guide says of it."""

import pandas as pd

from tests.privacy.mutants import ROOT


def test_public_moments_run(run):
    table = run("public_moment", "--sets breast_cancer --epsilons 1 --seeds 0 1", "public_moment")
    assert table["set"].tolist() == ["breast_cancer"]


def test_public_rows_help_where_there_are_few_and_harm_nowhere():
    table = pd.read_csv(ROOT / "benchmarks" / "results" / "public_moment.csv", comment="#")
    assert (table["public"] <= 3.0 * table["public_se"] + 2e-4).all()
    few = (table["set"] == "breast_cancer") & (table["epsilon"] == 1.0)
    assert (table["public"] + 2.0 * table["public_se"] < 0.0)[few].all()
    many = table[table["set"] != "breast_cancer"]
    assert (many["public"].abs() <= 0.003).all()
