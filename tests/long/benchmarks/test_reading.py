"""Scripts that read and predict run, and Adult loses nothing where types say nothing of it."""

import pandas as pd
import pytest

from tests.privacy.mutants import ROOT

pytest.importorskip("polars")
pytest.importorskip("pyarrow")


def test_reading_runs(run):
    table = run("reading", "--rows 200 --repeats 1", "reading").set_index("type")
    assert len(table) > 30
    assert (table["ms_20_distinct"] > 0.0).all()


def test_containers_run(run):
    table = run("containers", "--epsilons 2 --seeds 0 1", "containers").set_index("way")
    assert list(table.index) == ["typed", "objects", "text", "decimals"]


def test_predicting_runs(run, folder):
    options = "--rows 200 --fit-rows 300 --repeats 1"
    table = run("predict", options, "predict").set_index("contender")
    assert len(table) == 7
    assert (table["seconds"] > 0.0).all()
    assert table.loc["trees", "over_trees"] == 1.0
    adult = run("predict", f"{options} --table {folder / 'adult.csv.gz'}", "predict")
    assert (adult["rows"] == 200).all()


def test_adult_without_types_is_as_good():
    table = pd.read_csv(ROOT / "benchmarks" / "results" / "containers.csv", comment="#")
    at_one = table[(table["epsilon"] == 1.0) & (table["way"] != "typed")]
    assert len(at_one) == 3
    assert (at_one["lost"] + 2.0 * at_one["lost_se"] < 0.002).all()
