"""The script of additive models runs on small tables, with a class and with a target."""


def test_additive_runs(run):
    options = "--sets adult california_housing --epsilons 1 4 --seeds 0 1"
    table = run("additive", options, "additive")
    assert len(table) == 10
    assert table["fit_seconds"].gt(0.0).all()
    found = table.set_index(["data", "way"])
    assert found.loc["adult", "auc"].between(0.0, 1.0).all()
    assert found.loc["adult", "r2"].isna().all()
    assert found.loc[("california_housing", "linear, no privacy"), "r2"].item() > 0.8
