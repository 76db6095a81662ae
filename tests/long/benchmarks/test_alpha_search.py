"""The script of searches over alpha runs, and the page says what it measured."""

import pandas as pd

from tests.privacy.mutants import ROOT


def test_searches_over_alpha_run(run):
    options = "--sets adult --rows 300 --epsilons 4 --seeds 0 1"
    table = run("alpha_search", options, "alpha_search")
    assert len(table) == 1
    assert (table[["default", "search"]] > 0.0).all(axis=None)


def test_no_search_over_alpha_was_better_than_the_default():
    """Beyond twice the standard error, and most were worse."""
    table = pd.read_csv(ROOT / "benchmarks" / "results" / "alpha_search.csv", comment="#")
    assert (table["better_by"] < 2.0 * table["se"]).all()
    assert (table["better_by"] < 0.0).sum() > len(table) / 2
