"""Ours get the rows, epsilon and delta of published numbers of boosted trees."""

import numpy as np
import pandas as pd
import pytest

SCRIPT = "papers/trees/trees"


@pytest.fixture
def script(load_script, data, folder):
    frame = pd.read_csv(folder / "adult.csv.gz", keep_default_na=False)
    frame = frame.rename(columns={"income": "y"}).drop(columns="split").assign(duration=1)
    answers = frame.assign(y=np.where(frame["y"] == ">50K", "yes", "no"))
    answers.to_csv(folder / "bank_marketing.csv.gz", index=False)
    return load_script(SCRIPT)


def test_it_runs(script, run):
    found = run(SCRIPT, "--seeds 0 6", "trees")
    assert set(found["data"]) == set(script.DATA)
    assert found["ours"].between(0.0, 1.0).all()
    # Theirs are as they are in the file, and where they have none, none is shown.
    published = pd.read_csv(script.PUBLISHED, comment="#")
    theirs = found[found["auc"].notna()]
    of = [name in script.DATA for name in published["data"]]
    np.testing.assert_array_equal(theirs["auc"], published["auc"][of])
    assert set(found["method"][found["auc"].isna()]) == {"none"}


def test_delta_and_rows_are_theirs(script):
    X, y = script.load_table("adult in folds")
    assert len(y) == 300
    held = [script.split("adult in folds", y, seed)[1] for seed in range(5)]
    np.testing.assert_array_equal(np.sort(np.concatenate(held)), np.arange(300))
    assert script.split("adult in folds", y, 0)[2] == 5e-8
    X, y = script.load_table("adult without gaps")
    assert not (X == "?").any(axis=None)
    assert len(y) < 200
    train, test, delta = script.split("adult without gaps", y, 7)
    assert delta == 1.0 / len(train)
    assert len(test) == int(np.ceil(0.3 * len(y)))
    assert not set(train) & set(test)
    assert "duration" in script.load_table("bank")[0]
    assert "duration" not in script.load_table("bank without duration")[0]
