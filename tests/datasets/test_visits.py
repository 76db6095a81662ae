"""The made-up table of visits: the same everywhere, and as its description says."""

import hashlib
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from skdp.datasets import load_visits


@pytest.fixture(scope="module")
def visits():
    return load_visits()


def test_the_table_is_the_same_with_all_versions(visits):
    """Numbers and words, without types, which versions of pandas choose."""
    rows = visits.frame.astype({"admitted": str}).to_numpy(dtype=object).tolist()
    written = "\n".join(",".join("" if pd.isna(x) else str(x) for x in row) for row in rows)
    assert written.splitlines()[0] == (
        "1,77,2023-01-01,emergency,kidneys,2,0,13,147.2,,158,readmitted"
    )
    assert hashlib.sha256(written.encode()).hexdigest()[:16] == "ef40c5c5efc63544"


def test_people_come_more_than_once_and_grow_older(visits):
    frame = visits.frame
    n_people = frame["patient"].nunique()
    assert f"{n_people:,} people" in visits.DESCR
    assert sorted(frame["patient"].unique()) == list(range(1, n_people + 1))
    assert frame["patient"].value_counts().max() == 12
    assert frame["admitted"].is_monotonic_increasing
    aged = frame.groupby("patient")["age"].diff().dropna()
    assert set(aged) == {0, 1, 2}


def test_gaps_and_words_are_as_described(visits):
    gaps = visits.data.isna().mean()
    assert gaps[gaps > 0].index.tolist() == ["sodium", "lives"]
    assert gaps["sodium"] == pytest.approx(1 / 7, abs=0.02)
    assert gaps["lives"] == pytest.approx(1 / 12, abs=0.02)
    counts = visits.data["diagnosis"].value_counts()
    assert len(counts) == 8
    assert 10 < counts["burns"] < 30
    assert visits.target_names == sorted(visits.target.unique())
    described = re.findall(r"^(\w+)  +\S", visits.DESCR, re.MULTILINE)
    assert described == [*visits.feature_names, visits.target.name]


def test_the_risk_follows_the_formula_in_words(visits):
    """Each effect stands out of its standard error; the room has none."""
    frame = visits.frame
    y = (visits.target == "readmitted").to_numpy()
    old = (frame["age"] - 60).clip(0)
    parts = {
        "age": old / 10,
        "earlier": np.log1p(frame["earlier_visits"]),
        "nights": np.log1p(frame["nights"]),
        "sodium": (frame["sodium"].fillna(140) - 140).abs() / 4,
        "calls": frame["admitted"] >= "2024-07-01",
        "medicines of the old": (frame["medicines"] - 7) * (frame["age"] > 55),
        "medicines of the young": (frame["medicines"] - 7) * (frame["age"] <= 55),
        "room": (frame["room"] - 130) / 17,
        "emergency": frame["admission"] == "emergency",
        "heart": frame["diagnosis"] == "heart",
    }
    X = np.column_stack([np.asarray(part, dtype=float) for part in parts.values()])
    model = LogisticRegression(C=np.inf, max_iter=1000).fit(X, y)
    risk = model.predict_proba(X)[:, 1]
    Z = np.column_stack([np.ones(len(X)), X])
    error = np.sqrt(np.diag(np.linalg.inv(Z.T * (risk * (1 - risk)) @ Z)))[1:]
    strength = dict(zip(parts, model.coef_[0] / error, strict=True))
    assert abs(strength.pop("room")) < 2.5
    assert max(strength.pop("calls"), strength.pop("medicines of the young")) < -3
    assert min(strength.values()) > 5


def test_arrays_hold_the_same_rows(visits):
    arrays = load_visits(as_frame=False)
    assert arrays.frame is None
    assert arrays.data.shape == visits.data.shape
    assert arrays.data.dtype == object
    for place in (0, 4_321, -1):
        row = visits.data.iloc[place]
        for value, name in zip(arrays.data[place], arrays.feature_names, strict=True):
            if pd.isna(row[name]):
                assert pd.isna(value)
            elif name == "admitted":
                assert value == row[name].date()
            else:
                assert value == row[name]
    np.testing.assert_array_equal(arrays.target, visits.target)
    np.testing.assert_array_equal(arrays.patient, visits.patient)


def test_return_X_y_gives_two(visits):
    X, y = load_visits(return_X_y=True)
    assert X.equals(visits.data)
    assert y.equals(visits.target)


def test_a_change_to_one_part_changes_no_other():
    mine = load_visits()
    mine.target.iloc[0] = "changed"
    mine.data.iloc[0, 0] = 0
    assert mine.frame.iloc[0]["outcome"] == "readmitted"
    assert mine.frame.iloc[0]["age"] == 77


@pytest.mark.parametrize("name", ["as_frame", "return_X_y"])
def test_parameters_are_flags(name):
    with pytest.raises(ValueError, match=name):
        load_visits(**{name: "yes"})
