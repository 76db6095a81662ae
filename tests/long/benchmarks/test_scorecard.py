"""The script of scorecards runs."""


def test_scorecards_run(run):
    table = run("scorecard", "--sets adult --epsilons 4 --seeds 0 1", "scorecard")
    assert list(table) == ["data", "epsilon", "model", "points", "lost", "se", "bins"]
    assert table["bins"].gt(10).all()
