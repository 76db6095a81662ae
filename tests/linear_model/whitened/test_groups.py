import math
import tracemalloc
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_diabetes, make_classification
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline

from skdp.accountant import compose
from skdp.exceptions import LedgerError, PrivacyWarning
from skdp.inspection import preview
from skdp.ledger import PrivacyLedger
from skdp.linear_model import DPLogisticRegression, DPRidge, DPSGDClassifier
from skdp.preprocessing import NormClipper
from tests.door import encode_groups

INF = math.inf


@pytest.fixture
def visits(rng):
    """Rows, labels and ids of people with long-tailed numbers of rows."""
    ids = np.minimum(rng.zipf(1.7, 3000), 400)
    X = rng.standard_normal((3000, 4)) * [1.0, 0.5, 0.2, 0.1]
    y = (rng.random(3000) < 1.0 / (1.0 + np.exp(-X @ [2.0, -2.0, 1.0, 0.0]))).astype(int)
    return X, y, ids


NESTED = [("outer", [("inner", "f8")])]


def words(ids, **options):
    """Return strings of any length as NumPy 2 has them, or what comes near before."""
    kinds = getattr(np, "dtypes", None)
    if not hasattr(kinds, "StringDType"):
        return np.array([None if key == "gone" else key for key in ids], dtype=object)
    return np.array(ids, dtype=kinds.StringDType(**options))


NAMES = np.array(["ann", "bob", "cy", "bob", "ann"])
SAME = {
    "strings": NAMES,
    "a list": NAMES.tolist(),
    "objects": NAMES.astype(object),
    "a series": pd.Series(NAMES, index=[5, 4, 3, 2, 1]),
    "a categorical": pd.Series(NAMES).astype("category"),
    "pandas strings": pd.Series(NAMES, dtype="string"),
    "integers": np.array([7, -1, 10**9, -1, 7]),
    "large integers": [10**30, 1, 2, 1, 10**30],
    "fractions": [Fraction(1, 3), 1, 2, 1, Fraction(1, 3)],
    "floats": np.array([0.5, -0.0, 2.0, 0.0, 0.5]),
    "dates": np.array(["2020-01-01", "2021", "2022", "2021", "2020-01-01"], dtype="M8[D]"),
    "nullable integers": pd.array([7, 1, 2, 1, 7], dtype="Int64"),
    "bytes": [b"a", b"b", b"c", b"b", b"a"],
    "words": words(NAMES.tolist()),
    "words that may be missing": words(NAMES.tolist(), na_object=math.nan),
    "pairs": pd.Series([("a", 1), ("b", 1), ("b", 2), ("b", 1), ("a", 1)]),
    "a list of pairs": [("a", 1), ("b", 1), ("b", 2), ("b", 1), ("a", 1)],
    "several indices": pd.MultiIndex.from_tuples([(1, "a"), (2, ""), (3, ""), (2, ""), (1, "a")]),
    "fields": np.array([("a", 1), ("b", 1), ("b", 2), ("b", 1), ("a", 1)], dtype="U1,f8"),
}


@pytest.mark.parametrize("ids", SAME.values(), ids=SAME)
def test_ids_of_any_type(ids):
    codes, n_records = encode_groups(ids, 5)
    assert n_records == 3
    assert sorted(set(codes)) == [0, 1, 2]
    np.testing.assert_array_equal(codes[:, np.newaxis] == codes, NAMES[:, np.newaxis] == NAMES)


def test_words_and_numbers_that_look_alike_are_two():
    assert encode_groups(["1", 1, 1.0, "1"], 4)[1] == 2
    assert encode_groups(None, 7) == (None, 7)


MISSING = {
    "None": ["a", None, "b"],
    "nan among words": ["a", math.nan, "b"],
    "nan": [1.0, math.nan, 2.0],
    "numpy's nan": [np.float64("nan"), "a", "a"],
    "pandas.NA": pd.Series(["a", pd.NA, "b"], dtype="string"),
    "nullable integers": pd.array([1, None, 2], dtype="Int64"),
    "a categorical": pd.Series(["a", None, "b"]).astype("category"),
    "no date": np.array(["2020", "NaT", "2021"], dtype="M8[D]"),
    "no time": [pd.NaT, 1, 2],
    "masked": np.ma.array([1, 2, 3], mask=[0, 1, 0]),
    "a part of a pair": pd.Series([("a", 1), ("a", None), ("a", None)]),
    "a part of a part": pd.Series([(("a", 1), 2), (("a", math.nan), 2), (("a", math.nan), 2)]),
    "a part of a list of pairs": [("a", 1), ("a", 1, 2), ("a", None)],
    "one of a set": [frozenset({1}), frozenset({2, pd.NA}), frozenset({2})],
    "several indices": pd.MultiIndex.from_tuples([("a", 1.0), ("a", None), ("a", None)]),
    "a field": np.array([("a", 1.0), ("a", math.nan), ("a", math.nan)], dtype="U1,f8"),
    "a field's date": np.array([("a", "2020"), ("a", "NaT"), ("a", "NaT")], dtype="U1,M8[D]"),
    "a field of a field": np.array([((1.0,),), ((math.nan,),), ((math.nan,),)], dtype=NESTED),
    "words with nan": words(["a", math.nan, "b"], na_object=math.nan),
    "words with None": words(["a", None, "b"], na_object=None),
    "words with a word for it": words(["a", "gone", "b"], na_object="gone"),
}


@pytest.mark.parametrize("ids", MISSING.values(), ids=MISSING)
def test_missing_ids_are_refused(ids):
    with pytest.raises(ValueError, match="groups contains missing values"):
        encode_groups(ids, 3)


WRONG = {
    "one too few": (["a", "b"], ValueError, "one id for each row"),
    "none": ([], ValueError, "one id for each row"),
    "a column": ([["a"], ["b"], ["c"]], ValueError, "one dimension"),
    "a frame": (pd.DataFrame({"a": [1, 2, 3]}), ValueError, "one dimension"),
    "one name": ("abc", ValueError, "one dimension"),
    "sets": ([{1}, {2}, {3}], TypeError, "hashable"),
}


@pytest.mark.parametrize(("ids", "kind", "message"), WRONG.values(), ids=WRONG)
def test_what_is_no_id_for_each_row_is_refused(ids, kind, message):
    with pytest.raises(kind, match=message):
        encode_groups(ids, 3)


@pytest.mark.parametrize("ids", [MISSING["None"], *(ids for ids, _, _ in WRONG.values())])
def test_a_fit_refuses_them_before_anything_is_charged(ids, tmp_path):
    ledger = PrivacyLedger(tmp_path / "budget.sqlite", epsilon=1.0, delta=1e-3, unit="one group")
    model = DPRidge(target_bounds=(-1, 1), delta=1e-5, ledger=ledger)
    with pytest.raises((ValueError, TypeError)):
        model.fit(np.eye(3), np.ones(3), groups=ids)
    assert not hasattr(model, "coef_")
    assert len(ledger.to_frame()) == 0


@pytest.mark.long
@pytest.mark.parametrize("alpha", [1e-3, 1e-2])
def test_without_privacy_the_sum_of_all_rows_is_minimised(alpha, visits):
    """Divided by the number of groups, so that scikit-learn's penalty has that number, too."""
    X, y, ids = visits
    n_groups = len(np.unique(ids))
    ours = {"fit_intercept": False, "epsilon": INF, "average": False}
    ours |= {"ball_budget": 0, "data_norm": 1.0}
    found = DPRidge(alpha, target_bounds=(0, 1), **ours).fit(X, y, groups=ids).coef_
    best = Ridge(alpha=n_groups * alpha, fit_intercept=False, tol=1e-14).fit(X, y).coef_
    np.testing.assert_allclose(found, best, atol=1e-6)
    found = DPLogisticRegression(alpha, max_iter=1000, **ours).fit(X, y, groups=ids).coef_
    best = LogisticRegression(C=1 / (n_groups * alpha), fit_intercept=False, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(found, best.coef_, atol=1e-6)


def test_groups_of_one_row_are_rows(visits):
    """But for rounding, and for what a group's moment is given room for.

    Probabilities are calibrated where a row is a record, and not without an intercept.
    """
    X, y, _ = visits
    model = DPLogisticRegression(rows_per_group=1.0, fit_intercept=False, random_state=0)
    rows = model.fit(X, y)
    found, report = rows.coef_.copy(), rows.privacy_report_
    people = model.fit(X, y, groups=np.arange(len(X))[::-1])
    np.testing.assert_allclose(people.coef_, found, rtol=1e-3, atol=1e-4)
    assert people.privacy_report_.events == report.events


@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
def test_the_report_is_of_one_group(adjacency, visits, tmp_path):
    X, y, ids = visits
    model = DPLogisticRegression(adjacency=adjacency, classes=[0, 1]).fit(X, y, groups=ids)
    report = model.privacy_report_
    assert report.unit == "one group"
    assert report.epsilon_at(1e-5) <= 1.0 < report.epsilon_at(1e-5, group_size=2)
    rows = DPLogisticRegression(adjacency=adjacency, classes=[0, 1]).fit(X, y).privacy_report_
    for text in (report.to_text(), report._repr_html_()):
        words = " ".join(text.split())
        assert "group of rows" in words
        assert "numbers of groups and columns" in words
        assert "numbers of rows" not in words
    assert rows.mu == pytest.approx(report.mu, rel=1e-12)
    assert type(report).from_json(report.to_json()) == report
    with pytest.raises(ValueError, match="unit"):
        compose([report, rows])
    ledger = PrivacyLedger(tmp_path / "rows.sqlite", epsilon=3.0, delta=1e-3)
    with pytest.raises(LedgerError, match="one group"):
        model.set_params(ledger=ledger).fit(X, y, groups=ids)


def test_a_ledger_of_groups_charges_their_fits(visits, tmp_path):
    X, y, ids = visits
    ledger = PrivacyLedger(tmp_path / "people.sqlite", epsilon=3.0, delta=1e-3, unit="one group")
    model = DPLogisticRegression(classes=[0, 1], ledger=ledger)
    model.fit(X, y, groups=ids)
    with pytest.raises(LedgerError, match="one row"):
        model.fit(X, y)
    assert len(ledger.to_frame()) == 1


def test_delta_is_held_against_the_number_of_groups():
    X, y = np.ones((100, 2)), np.arange(100) % 2
    ids = np.arange(100) // 50
    model = DPLogisticRegression(classes=[0, 1], delta=0.4)
    with pytest.warns(PrivacyWarning, match="1 / n_samples"):
        model.fit(X, y)
    model.fit(X, y, groups=ids)
    with pytest.warns(PrivacyWarning, match="1 / n_groups"):
        model.set_params(delta=0.6).fit(X, y, groups=ids)


def test_a_preview_takes_the_number_of_groups(visits):
    X, y, ids = visits
    model = DPLogisticRegression(classes=[0, 1])
    shown = preview(model, n_samples=len(np.unique(ids)), n_features=4)
    fitted = model.fit(X, y, groups=ids).privacy_report_
    assert shown.mu == pytest.approx(fitted.mu, rel=1e-12)


@pytest.mark.parametrize("value", [0.5, "two", -1.0, math.nan])
def test_rows_of_a_group_in_the_moment(value, visits):
    X, y, ids = visits
    with pytest.raises(ValueError, match="rows_per_group"):
        DPLogisticRegression(rows_per_group=value).fit(X, y, groups=ids)


def test_rows_of_a_group_are_refused_without_validation_too(visits):
    """Where they were fewer than a row, whole parts of a trace might not fit their integers."""
    X, y, ids = visits
    with config_context(skip_parameter_validation=True):
        for value in (-1.0, 0.0, 1e-20, 0.5, math.nan, INF):
            with pytest.raises(ValueError, match="rows_per_group"):
                DPLogisticRegression(rows_per_group=value).fit(X, y, groups=ids)


@pytest.mark.long
def test_groups_are_routed_as_metadata(visits):
    X, y, ids = visits
    model = DPLogisticRegression(classes=[0, 1], ball_budget=0, data_norm=1.0, random_state=0)
    direct = model.fit(X, y, groups=ids).coef_.copy()
    plain = make_pipeline(NormClipper(1.0), clone(model))
    plain.fit(X, y, dplogisticregression__groups=ids)
    np.testing.assert_allclose(plain[-1].coef_, direct, rtol=1e-6)
    with config_context(enable_metadata_routing=True):
        asking = clone(model).set_fit_request(groups=True)
        pipeline = make_pipeline(NormClipper(1.0), asking).fit(X, y, groups=ids)
        np.testing.assert_allclose(pipeline[-1].coef_, direct, rtol=1e-6)
        assert pipeline[-1].privacy_report_.unit == "one group"
        scores = cross_val_score(asking, X, y, cv=GroupKFold(3), params={"groups": ids})
    assert len(scores) == 3


def test_estimators_whose_records_are_rows_refuse_groups(visits):
    X, y, ids = visits
    with pytest.raises(TypeError, match="groups"):
        DPSGDClassifier().fit(X, y, groups=ids)


def test_several_outputs_and_single_precision(rng):
    X, y = load_diabetes(return_X_y=True)
    ids = rng.integers(0, 150, len(X))
    Y = np.column_stack([y, -y, y**2 / 200.0])
    model = DPRidge(target_bounds=(-400, 400), random_state=0)
    double = model.fit(X, Y, groups=ids).coef_.copy()
    single = model.fit(X.astype(np.float32), Y, groups=ids).coef_
    assert double.shape == (3, X.shape[1])
    np.testing.assert_allclose(single, double, atol=1e-2 * np.abs(double).max())


def test_rows_are_neither_sorted_in_place_nor_copied_as_a_whole(rng):
    X, y = make_classification(5000, 6, random_state=0)
    before, ids = X.copy(), rng.integers(0, 900, 5000)
    X.setflags(write=False)
    ids.setflags(write=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DPLogisticRegression(classes=[0, 1]).fit(X, y, groups=ids)
    np.testing.assert_array_equal(X, before)


@pytest.mark.long
@pytest.mark.parametrize("n_copies", [1, 2])
def test_memory_of_a_person_of_very_many_rows_is_that_of_blocks(n_copies, rng):
    """Beside some numbers for each row, however long it is, mapped rows, and those of a ball."""
    X = rng.standard_normal((60_000, 80))
    y, ids = rng.integers(0, 2, 60_000), np.zeros(60_000, dtype=int)
    ids[:100] = np.arange(100)
    model = DPLogisticRegression(classes=[0, 1], max_iter=2)
    if n_copies == 1:
        model.set_params(ball_budget=0, data_norm=1.0)
    tracemalloc.start()
    model.fit(X, y, groups=ids)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    of_blocks = 12 * 8 * len(X) + 12 * 2**20
    assert peak < n_copies * X.nbytes + of_blocks
    assert of_blocks < 0.5 * X.nbytes


@pytest.mark.parametrize("options", [{}, {"ball_budget": 0, "data_norm": 1.0}])
def test_groups_of_sparse_rows_are_those_of_dense_ones(options, rng):
    X, ids = rng.uniform(-1.0, 1.0, (600, 5)) * (rng.random((600, 5)) < 0.3), np.arange(600) // 2
    y = (X[:, 0] > 0.0).astype(int)
    for model, targets in ((DPRidge(target_bounds=(-1, 1)), X[:, 0]), (DPLogisticRegression(), y)):
        model = model.set_params(random_state=0, **options)
        dense = model.fit(X, targets, groups=ids).coef_
        np.testing.assert_array_equal(model.fit(csr_array(X), targets, groups=ids).coef_, dense)
        assert model.privacy_report_.unit == "one group"


def test_weighted_groups_are_refused(rng):
    X, ids = rng.uniform(-1.0, 1.0, (60, 2)), np.arange(60) // 2
    y = (X[:, 0] > 0.0).astype(int)
    with pytest.raises(ValueError, match="a group is cut as a whole"):
        DPRidge(target_bounds=(-1, 1)).fit(X, X[:, 0], groups=ids, public_weight=np.arange(60.0))
    with pytest.raises(ValueError, match="a group is cut as a whole"):
        DPLogisticRegression(classes=[0, 1], class_weight={0: 1.0, 1: 3.0}).fit(X, y, groups=ids)
