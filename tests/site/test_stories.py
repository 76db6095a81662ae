"""The stories' twins have the columns of the real tables, and the pages' code takes those."""

import doctest
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

FOLDER = Path(__file__).parents[2] / "doc" / "stories"


@pytest.fixture
def twins(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    return import_module("twins")


def as_fetched(table, words):
    """Return a table as OpenML has it: words are categories, and gaps are missing."""
    table = table.where(table != "?").copy()
    return table.astype(dict.fromkeys(words, "category"))


@pytest.mark.long
def test_twin_of_hospitals_is_of_stays_of_patients(twins):
    table = twins.hospitals(5_000)
    assert table.shape[1] == 50
    assert list(table.columns[[0, 1, 2, 4, 7, 8, 18, 22, 24, 47, 49]]) == [
        "encounter_id", "patient_nbr", "race", "age", "discharge_disposition_id",
        "admission_source_id", "diag_1", "max_glu_serum", "metformin", "change", "readmitted",
    ]  # fmt: skip
    assert table["encounter_id"].is_unique
    n_stays = table["patient_nbr"].value_counts()
    assert len(n_stays) == 5_000
    assert 0.7 < np.mean(n_stays == 1) < 0.85
    assert 20 < n_stays.max() <= 40
    assert (table.groupby("patient_nbr")[["gender", "race", "age"]].nunique() == 1).all(axis=None)
    assert set(table["readmitted"]) == {"NO", "<30", ">30"}
    assert {name for name in table if (table[name] == "?").any()} == {
        "race", "weight", "payer_code", "medical_specialty", "diag_1", "diag_2", "diag_3",
    }  # fmt: skip
    assert table.equals(twins.hospitals(5_000))
    assert not table.equals(twins.hospitals(5_000, seed=1))


@pytest.mark.long
def test_a_discharge_sheet_is_the_same_of_the_table_as_fetched(twins):
    """Words as categories, and gaps that are missing, not question marks."""
    names = {}
    page = (FOLDER / "hospital.rst").read_text("utf-8")
    for example in doctest.DocTestParser().get_examples(page):
        exec(example.source.replace("30_000", "300"), names)
        if "discharge_sheet" in names:
            break
    table = names["table"]
    words = [name for name in table if table[name].dtype.kind == "O"]
    fetched = as_fetched(table, [*words, "discharge_disposition_id"])
    ours, theirs = map(names["discharge_sheet"], (table, fetched))
    assert len(ours) == len(table) > 300
    pd.testing.assert_frame_equal(ours, theirs, check_dtype=False)
    assert list(ours.dtypes.map(pd.api.types.is_numeric_dtype)).count(True) == 6
    assert 0 < ours["diagnosis"].isna().sum() < 30


def test_twin_of_the_census_is_of_people(twins):
    table = twins.census(5_000)
    assert list(table.columns) == [
        "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
        "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week",
        "native-country", "class",
    ]  # fmt: skip
    assert (table.groupby("education")["education-num"].nunique() == 1).all()
    assert {name for name in table if (table[name] == "?").any()} == {
        "workclass", "occupation", "native-country",
    }  # fmt: skip
    assert table.select_dtypes("number").columns.size == 6
    assert 0.2 < (table["class"] == ">50K").mean() < 0.3
    assert table.equals(twins.census(5_000))
