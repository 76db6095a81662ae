"""Which categories an encoder publishes, how it encodes, and what it refuses."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.preprocessing import OneHotEncoder

from skdp.exceptions import BudgetExceededError, LedgerWarning
from skdp.ledger import PrivacyLedger
from skdp.preprocessing import DPOneHotEncoder, DPSimpleImputer

INF = float("inf")
REFUSED = r"column 'x0' holds entries of type \w+: "


@pytest.fixture
def frame(rng):
    n = 6000
    return pd.DataFrame(
        {
            "word": rng.choice(["x", "y", "z", None], n, p=[0.5, 0.3, 0.1, 0.1]),
            "number": rng.choice([1.0, 2.5, np.nan], n),
            "flag": rng.random(n) < 0.5,
        }
    )


@pytest.mark.parametrize("epsilon", [1.0, INF])
def test_common_categories_are_found_and_rare_ones_share_a_column(frame, epsilon):
    frame.loc[3, "word"], frame.loc[4, "number"] = "rare", 7
    encoder = DPOneHotEncoder(epsilon=epsilon).set_output(transform="pandas").fit(frame)
    found = [known.tolist() for known in encoder.categories_]
    assert [str(known) for known in found] == [
        "['rare', 'x', 'y', 'z', nan]" if epsilon == INF else "['x', 'y', 'z', nan]",
        "[1.0, 2.5, 7.0, nan]" if epsilon == INF else "[1.0, 2.5, nan]",
        "[0.0, 1.0]",
    ]
    assert [known.dtype for known in encoder.categories_] == [object, float, float]
    encoded = encoder.transform(frame)
    if epsilon == 1.0:
        assert encoded.columns.tolist() == [
            *("word_x", "word_y", "word_z", "word_nan", "word_infrequent"),
            *("number_1", "number_2.5", "number_nan", "number_infrequent"),
            *("flag_0", "flag_1", "flag_infrequent"),
        ]
    assert (encoded.sum(axis=1) == 3).all()
    for column, known, counts in zip(
        frame, encoder.categories_, encoder.category_counts_, strict=True
    ):
        for category, count in zip(known, counts, strict=True):
            is_there = frame[column].isna() if category != category else frame[column] == category
            assert abs(count - is_there.sum()) <= (0 if epsilon == INF else 50)
    if epsilon == 1.0:
        assert encoded["word_infrequent"].sum() == 1
        assert encoded["number_infrequent"].sum() == 1


def test_without_noise_it_is_scikit_learns(frame):
    X = frame.fillna({"word": "none"})
    ours = DPOneHotEncoder(epsilon=INF, handle_unknown="ignore").fit(X)
    theirs = OneHotEncoder(sparse_output=False, handle_unknown="ignore").fit(X)
    assert np.array_equal(ours.transform(X), theirs.transform(X))
    new = X.head(3).assign(word="unseen")
    assert np.array_equal(ours.transform(new), theirs.transform(new))


@pytest.mark.parametrize("handle_unknown", ["infrequent", "ignore"])
def test_sparse_and_dense_agree_and_promises_hold(frame, handle_unknown):
    asked = {"handle_unknown": handle_unknown, "random_state": 0}
    dense = DPOneHotEncoder(**asked).fit(frame)
    thin = DPOneHotEncoder(sparse_output=True, **asked).fit(frame)
    new = frame.head(50).assign(word="unseen", number=-3)
    X, Z = dense.transform(new), thin.transform(new)
    assert sparse.issparse(Z)
    assert Z.format == "csr"
    assert np.array_equal(X, Z.toarray())
    low, high = dense.feature_bounds_
    assert X.shape[1] == low.size == high.size == dense.get_feature_names_out().size
    assert ((low <= X) & (high >= X)).all()
    assert np.linalg.norm(X, axis=1).max() <= dense.norm_bound_
    unknown = X[0, : dense.categories_[0].size + (handle_unknown == "infrequent")]
    assert unknown.sum() == (handle_unknown == "infrequent")


def test_listed_categories_cost_nothing(frame):
    listed = [["y", "x", np.nan], [2.5, 1], [True, False]]
    encoder = DPOneHotEncoder(categories=listed, delta=0.0).fit(frame)
    assert encoder.privacy_report_ is None
    assert encoder._plan(10, 3).events == ()
    assert encoder._preview(10, 3) is None
    assert str([known.tolist() for known in encoder.categories_]) == (
        "[['x', 'y', nan], [1.0, 2.5], [0.0, 1.0]]"
    )
    encoded = encoder.transform(frame.head(100))
    assert (encoded.sum(axis=1) == 3).all()


def test_one_list_among_searched_columns(frame):
    encoder = DPOneHotEncoder(categories=["auto", [1, 2.5], "auto"]).fit(frame)
    two, three = encoder._plan(6000, 3), DPOneHotEncoder()._plan(6000, 3)
    assert two.threshold < three.threshold
    assert encoder.categories_[1].tolist() == [1.0, 2.5]
    assert [counts.size for counts in encoder.category_counts_] == [4, 0, 2]
    assert encoder.privacy_report_.epsilon <= 1.0


@pytest.mark.parametrize(("most", "kept"), [(1, []), (2, ["x"]), (3, ["x", "y"]), (9, None)])
def test_the_largest_noisy_counts_are_kept(frame, most, kept):
    encoder = DPOneHotEncoder(max_categories=most).fit(frame[["word"]])
    if kept is None:
        assert str(encoder.categories_[0].tolist()) == "['x', 'y', 'z', nan]"
    else:
        assert encoder.categories_[0].tolist() == kept
    of_known = DPOneHotEncoder(max_categories=most, handle_unknown="ignore").fit(frame[["word"]])
    assert of_known.categories_[0].size == min(most, 4)


@pytest.mark.parametrize("least", [1000, 1 / 6])
def test_a_least_frequency_beyond_the_threshold(frame, least):
    encoder = DPOneHotEncoder(min_frequency=least).fit(frame[["word"]])
    assert encoder.categories_[0].tolist() == ["x", "y"]


@pytest.mark.parametrize("epsilon", [1e-3, 1.0])
def test_nothing_found_leaves_one_column_each(epsilon):
    X = np.array([[f"name {i}", float(i)] for i in range(300)], dtype=object)
    encoder = DPOneHotEncoder(epsilon=epsilon).set_output(transform="pandas").fit(X)
    assert [known.size for known in encoder.categories_] == [0, 0]
    assert encoder.transform(X).shape == (300, 2)
    encoder.set_params(handle_unknown="ignore").fit(X)
    assert encoder.transform(X).shape == (300, 0)


def test_types_of_the_input_leave_no_trace():
    """A longest string, a gap in whole numbers, and what pandas declares are of single records."""
    words = ["a"] * 500 + ["b"] * 499
    inputs = [
        np.array([*words, "b"])[:, np.newaxis],
        np.array([*words, "b" * 50])[:, np.newaxis],
        pd.DataFrame({"c": pd.Categorical([*words, "b"], categories=["b", "a", "declared"])}),
        pd.DataFrame({"c": [*words, None]}),
    ]
    found = [DPOneHotEncoder(random_state=0).fit(X).categories_[0] for X in inputs]
    assert all(known.tolist() == ["a", "b"] and known.dtype == object for known in found)
    ones = [1] * 1000
    numbers = [
        pd.DataFrame({"c": ones}),
        pd.DataFrame({"c": [*ones[1:], None]}),
        pd.DataFrame({"c": [*ones[1:], None]}, dtype="Int64"),
        np.array(ones, dtype=np.int8)[:, np.newaxis],
    ]
    found = [DPOneHotEncoder(random_state=0).fit(X).categories_[0] for X in numbers]
    assert all(known.tolist() == [1.0] and known.dtype == float for known in found)


def test_what_comes_first_of_equal_entries_leaves_no_trace():
    """Of two zeros, of numbers of several types, and of equal strings that are two objects."""
    word, copy = "some words", "".join(["some ", "words"])
    assert word is not copy
    firsts = [[0.0, word, word], [-0.0, word, copy], [False, copy, word]]
    data = [np.array([first] + [[0, word, word]] * 900, dtype=object) for first in firsts]
    published = {
        pickle.dumps(
            [
                DPOneHotEncoder(random_state=0).fit(X).categories_,
                DPSimpleImputer(strategy="most_frequent", random_state=0).fit(X).statistics_,
            ]
        )
        for X in data
    }
    assert len(published) == 1


@pytest.mark.parametrize("entry", [(), ["list"], b"secret", {}, 1j])
def test_other_entries_are_refused_without_a_value(entry):
    X = np.array([["secret"]] * 3, dtype=object)
    X[1, 0] = entry
    with pytest.raises(TypeError, match=REFUSED) as caught:
        DPOneHotEncoder().fit(X)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None


ODD = [
    *(3, 2.5, "3", "unseen", "", True, np.str_("unseen"), b"a", (), ["list"], {}, 1j),
    *(10**400, np.inf, -np.inf, np.timedelta64(1, "D"), np.datetime64("2020-01-01")),
    *(pd.Timestamp("2020-01-01"), pd.NaT, pd.NA, None, np.nan),
]


@pytest.mark.parametrize("kind", ["words", "numbers"])
@pytest.mark.parametrize("handling", ["infrequent", "ignore"])
def test_unknown_values_are_never_an_error_and_move_no_other_row(kind, handling):
    known = ["a", "b"] if kind == "words" else [1.0, 2.0]
    encoder = DPOneHotEncoder(categories=[known], handle_unknown=handling)
    encoder.fit(np.array([[value] for value in known], dtype=object))
    rows = known * 3
    for entry in ODD:
        column = pd.Series([*rows, entry], dtype=object)
        array = np.empty((len(column), 1), dtype=object)
        array[:, 0] = column
        for X in (pd.DataFrame({"x0": column}).to_numpy(), array):
            found = encoder.transform(X)
            np.testing.assert_array_equal(found[:-1, :2], np.tile(np.eye(2), (3, 1)))
            alone = encoder.transform(X[-1:])
            np.testing.assert_array_equal(found[-1:], alone)
            # Of spans of time days are counted.
            is_known = kind == "numbers" and (entry is True or isinstance(entry, np.timedelta64))
            assert alone[:, :2].sum() == is_known
            assert alone.sum() == (is_known or handling == "infrequent")
    floats = encoder.transform(np.array([[1.0], [np.inf], [np.nan]]))
    assert floats[1:, :2].sum() == 0.0
    dates = encoder.transform(np.array([["2020-01-01"]], dtype="datetime64[ns]"))
    assert dates[:, :2].sum() == 0.0


def test_a_number_too_large_is_refused_without_it():
    for entry in (10**400, np.inf):
        with pytest.raises(ValueError, match=r"column 'x0' holds infinite.*too large") as caught:
            DPOneHotEncoder().fit(np.array([[entry], [1]], dtype=object))
        assert "000" not in str(caught.value)


@pytest.mark.long
def test_twenty_discoveries_of_its_delta_fit_into_a_ledger(tmp_path):
    ledger = PrivacyLedger(tmp_path / "one.db", epsilon=1.0, delta=1e-5)
    encoder = DPOneHotEncoder(epsilon=0.05, delta=1e-5, ledger=ledger)
    X = np.zeros((100, 1))
    for _ in range(20):
        encoder.fit(X)
    with pytest.raises(BudgetExceededError):
        encoder.fit(X)
    DPOneHotEncoder(categories=[[0.0]], ledger=ledger).fit(X)
    assert len(ledger.to_frame()) == 20


def test_names_of_columns_are_unique():
    """A category may be called as another column is, or as a missing value."""
    frame = pd.DataFrame({"a": ["infrequent", "nan", None, "b_c"], "a_b": ["c", "c", "_", "_"]})
    frame = pd.concat([frame] * 300, ignore_index=True)
    encoder = DPOneHotEncoder().set_output(transform="pandas").fit(frame)
    columns = encoder.transform(frame).columns.tolist()
    assert columns == [
        *("a_b_c", "a_infrequent", "a_nan", "a_(nan)", "a_(infrequent)"),
        *("a_b__", "a_b_c_", "a_b_infrequent"),
    ]
    encoder.set_output(transform="default")
    assert (encoder.transform(frame).sum(axis=1) == 2).all()


def test_where_unknown_values_go_is_settled_in_fit(frame):
    for now, later in (("infrequent", "ignore"), ("ignore", "infrequent")):
        encoder = DPOneHotEncoder(handle_unknown=now).fit(frame)
        new = frame.head(20).assign(word="unseen")
        before, names = encoder.transform(new), encoder.get_feature_names_out().tolist()
        encoder.set_params(handle_unknown=later)
        np.testing.assert_array_equal(encoder.transform(new), before)
        assert encoder.get_feature_names_out().tolist() == names
        assert before.shape[1] == encoder.feature_bounds_[0].size


def test_a_fit_that_is_refused_leaves_the_last_as_it_was(frame, tmp_path):
    ledger = PrivacyLedger(tmp_path / "one.db", epsilon=1.0, delta=1e-5)
    with pytest.warns(LedgerWarning, match="takes all that is left"):
        encoder = DPOneHotEncoder(ledger=ledger).fit(frame)
    before = encoder.transform(frame)
    with pytest.raises(BudgetExceededError):
        encoder.set_params(handle_unknown="ignore").fit(frame)
    np.testing.assert_array_equal(encoder.transform(frame), before)
    assert before.shape[1] == encoder.feature_bounds_[0].size


def test_there_is_no_list_of_infrequent_categories(frame):
    assert not hasattr(DPOneHotEncoder().fit(frame), "infrequent_categories_")
