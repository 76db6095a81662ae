"""The comparison of private intervals and sets with those without privacy."""

import numpy as np


def test_it_runs(run):
    arguments = "--problems california_housing phishing --epsilons 4 --seeds 0 1"
    table = run("conformal", arguments, "conformal")
    assert table["problem"].tolist() == ["california_housing", "phishing"]
    assert (table[["coverage", "coverage_without"]] > 0.5).all(axis=None)
    assert (table[["size", "exact", "size_without"]] > 0.0).all(axis=None)


def test_quantiles_and_sizes_are_those_of_split_conformal_prediction(load_script):
    conformal = load_script("conformal")
    assert conformal.quantile_of(np.arange(1.0, 20.0)) == 18.0
    assert conformal.quantile_of(np.ones(5)) == np.inf
    scores, labels = np.array([[0.1, 0.9], [0.4, 0.6], [0.8, 0.2]]), np.array([0, 1, 0])
    assert conformal.coverage_and_size(scores, labels, 0.65, False) == [2 / 3, 4 / 3]
    assert conformal.of_truth(scores, labels, False).tolist() == [0.1, 0.6, 0.8]
    assert conformal.coverage_and_size(np.array([1.0, 3.0]), labels, 2.0, True) == [0.5, 4.0]
