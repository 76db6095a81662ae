"""DPTableVectorizer: what it learns of columns of all kinds, what it is given, where it is used."""

import datetime
import functools
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from skdp.exceptions import BudgetExceededError, PrivacyWarning
from skdp.ledger import PrivacyLedger
from skdp.linear_model import DPLogisticRegression
from skdp.pipeline import make_private_pipeline
from skdp.preprocessing import DPTableVectorizer
from tests._loops import for_each
from tests.door import as_day

INF = float("inf")
N = 20_000
RNG = np.random.default_rng(0)

# What is lost has tests of its own.
pytestmark = pytest.mark.filterwarnings("ignore:Nearly nothing in the columns 'empty'")


def with_share(share, value, rest):
    return np.where(RNG.random(N) < share, value, rest)


NORMAL = RNG.normal(size=N)
TABLE = pd.DataFrame(
    {
        "longitude": -124 + 10 * RNG.beta(2, 3, N),
        "year": RNG.integers(1930, 2012, N),
        "offset": 1e9 + 1e6 * NORMAL,
        "tail": np.exp(4 * NORMAL),
        "tiny": 1e-9 * NORMAL,
        "zeros": with_share(0.78, 0.0, RNG.exponential(3, N)),
        "never": with_share(0.9, 999, RNG.integers(1, 30, N)),
        "few": RNG.integers(1, 6, N),
        "rate": RNG.choice([-1.8, 1.1, 1.4], N),
        "gaps": with_share(0.1, np.nan, NORMAL),
        "empty": np.nan,
        "constant": 7,
        "job": RNG.choice(["clerk", "nurse", "cook"], N, p=[0.6, 0.397, 0.003]),
        "gone": pd.Series(RNG.choice(["yes", "no", None], N), dtype="category"),
        "member": RNG.random(N) < 0.5,
        "nobody": pd.Series([None] * N, dtype=object),
        "same": "all",
    }
)


def fit(table=TABLE, **parameters):
    return DPTableVectorizer(random_state=0, **parameters).fit(table)


def term(vectorizer, name):
    return next(term for term in vectorizer._basis.terms if term.name == name)


@pytest.fixture(scope="module", params=[0.5, 4.0, INF])
def fitted(request):
    return fit(epsilon=request.param)


@pytest.mark.long
@pytest.mark.parametrize("name", ["longitude", "year", "offset", "tail", "tiny", "zeros", "gaps"])
def test_knots_follow_the_records(fitted, name):
    """Between two of them there are shares of the rest of the records that are about equal."""
    found = term(fitted, name)
    x = TABLE[name].dropna().to_numpy()
    x = np.sort(x[x != found.spike])
    ranks = np.searchsorted(x, found.knots) / x.size
    assert found.kind == "hats"
    assert 4 <= found.knots.size <= 12
    assert ranks[0] < 0.1
    assert ranks[-1] > 0.9
    # Noise hides some neighbouring bins in one fit in ten.
    others = (term(again, name).knots for again in fitted_again(fitted.epsilon))
    shares = [np.diff(np.searchsorted(x, k)).max() / x.size * (k.size - 1) for k in others]
    assert np.median(shares) < 2.5


@functools.cache
def fitted_again(epsilon):
    return [DPTableVectorizer(random_state=s, epsilon=epsilon).fit(TABLE) for s in range(5)]


@pytest.mark.long
def test_a_number_that_holds_much_has_an_indicator(fitted):
    spikes = {t.name: t.spike for t in fitted._basis.terms if getattr(t, "spike", None) is not None}
    assert spikes == {"zeros": 0.0, "never": 999.0}
    columns = fitted.transform(TABLE)
    names = fitted.get_feature_names_out().tolist()
    np.testing.assert_array_equal(columns[:, names.index("zeros_is_0")], TABLE["zeros"] == 0.0)
    np.testing.assert_array_equal(columns[:, names.index("never_is_999")], TABLE["never"] == 999)


@pytest.mark.long
def test_few_numbers_have_a_knot_each(fitted):
    np.testing.assert_array_equal(fitted.knots_["few"], [1, 2, 3, 4, 5])
    np.testing.assert_array_equal(fitted.knots_["constant"], [7.0])


@pytest.mark.long
def test_numbers_of_few_digits_are_found_exactly():
    np.testing.assert_array_equal(fit(epsilon=1.0).knots_["rate"], [-1.8, 1.1, 1.4])


def test_gaps_have_a_column_where_there_are_many(fitted):
    with_gap = {t.name for t in fitted._basis.terms if getattr(t, "has_gap", False)}
    assert with_gap == {"gaps", "empty"}
    assert fitted.categories_["gone"].tolist()[:2] == ["no", "yes"]
    assert np.isnan(fitted.categories_["gone"][2])
    assert np.isnan(fitted.categories_["nobody"]).tolist() == [True]


def test_words_of_many_records_are_found(fitted):
    rare = [] if fitted.epsilon == 0.5 else ["cook"]
    assert fitted.categories_["job"].tolist() == sorted(["clerk", "nurse", *rare])
    assert fitted.categories_["member"].tolist() == ["False", "True"]
    assert fitted.categories_["same"].tolist() == ["all"]


def test_what_is_promised_of_rows_holds(fitted):
    nasty = TABLE.iloc[:4].astype(dict.fromkeys(TABLE.columns[:11], float))
    nasty.iloc[:, :11] = np.repeat([[1e308], [-np.inf], [5e-324], [np.nan]], 11, axis=1)
    nasty["job"] = ["new", None, "", "clerk"]
    low, high = fitted.feature_bounds_
    assert fitted.norm_bound_ == np.sqrt(TABLE.shape[1])
    for rows in (TABLE, nasty):
        columns = fitted.transform(rows)
        assert columns.shape == (len(rows), low.size)
        assert np.linalg.norm(columns, axis=1).max() <= fitted.norm_bound_ * (1 + 1e-12)
        assert (low <= columns).all()
        assert (columns <= high).all()


def test_without_privacy_knots_are_exact_quantiles_and_all_words_are_found():
    vectorizer = fit(epsilon=INF)
    x = np.sort(TABLE["tail"].to_numpy())
    ranks = np.linspace(0, 1, 12)
    ranks[[0, -1]] = 0.002, 0.998
    np.testing.assert_array_equal(vectorizer.knots_["tail"], x[np.ceil(ranks * N).astype(int) - 1])
    assert len(vectorizer.categories_["job"]) == 3
    assert vectorizer.privacy_report_.epsilon == INF


@pytest.mark.long
def test_few_records_have_lines():
    table = TABLE[["longitude", "year"]]
    vectorizer = fit(table.iloc[:400], epsilon=0.5)
    assert {t.kind for t in vectorizer._basis.terms} == {"line"}
    assert vectorizer.get_feature_names_out().tolist() == ["longitude", "year"]
    low, high = np.transpose(list(vectorizer.knots_.values()))
    assert (np.abs(low - [-123, 1935]) < [3, 30]).all()
    assert (np.abs(high - [-116, 2005]) < [5, 60]).all()
    line = np.clip(2 * (table - low) / (high - low) - 1, -1, 1)
    np.testing.assert_allclose(vectorizer.transform(table), line, atol=1e-12)
    linear = fit(basis="linear")
    assert {t.kind for t in linear._basis.terms if len(getattr(t, "knots", ())) > 1} == {"line"}


def test_hardly_any_records_fit_and_promise_the_same():
    vectorizer = fit(TABLE.iloc[:20], epsilon=1e-3, delta=1e-6)
    assert vectorizer.transform(TABLE).shape == (N, len(vectorizer.get_feature_names_out()))


def test_what_is_given_costs_nothing():
    table = TABLE[["year", "job"]]
    given = {"knots": {"year": [1950, 2000]}, "categories": {"job": ["nurse", np.nan]}}
    vectorizer = DPTableVectorizer(**given).fit(table)
    assert vectorizer.privacy_report_ is None
    names = ["year_1950", "year_2000", "year_missing", "job_nurse", "job_missing", "job_infrequent"]
    assert vectorizer.get_feature_names_out().tolist() == names
    rows = pd.DataFrame({"year": [1975, None], "job": ["nurse", None]})
    expected = [[0.5, 0.5, 0, 1, 0, 0], [0, 0, 1, 0, 1, 0]]
    np.testing.assert_array_equal(vectorizer.transform(rows), expected)


def test_bounds_save_a_release_and_stand_in_where_noise_hides_all():
    table = TABLE[["longitude", "year"]]
    bounds = {"longitude": (-124, -114), "year": (1900, 2020)}
    assert len(fit(table).privacy_report_.events) == 3
    vectorizer = fit(table, feature_bounds=bounds)
    assert len(vectorizer.privacy_report_.events) == 2
    narrow = fit(table, feature_bounds={"year": (1950, 1960)})
    assert narrow.knots_["year"].min() >= 1950
    assert narrow.knots_["year"].max() <= 1960
    vectorizer = fit(table.iloc[:30], feature_bounds=bounds, epsilon=1e-2, delta=1e-3)
    np.testing.assert_array_equal(vectorizer.knots_["year"], [1900, 2020])
    assert fit(table[["year"]], feature_bounds=(1900, 2020)).knots_["year"].size == 12


DAYS = pd.Series(pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(2_000) % 366, "D"))


@pytest.mark.parametrize("days", [DAYS, DAYS.dt.strftime("%Y-%m-%d")], ids=["typed", "text"])
def test_one_range_is_of_all_numbers_or_of_all_dates(days):
    table = pd.DataFrame({"day": days, "age": np.arange(2_000) % 80})
    of_numbers = fit(table, feature_bounds=(10, 50)).knots_
    assert of_numbers["day"].size > 2
    assert of_numbers["age"].min() >= 10
    assert of_numbers["age"].max() <= 50
    ends = datetime.date(2024, 3, 1), datetime.date(2024, 6, 1)
    of_dates = fit(table, feature_bounds=ends).knots_
    assert of_dates["day"].min() >= as_day(ends[0])
    assert of_dates["day"].max() <= as_day(ends[1])
    assert of_dates["age"].max() > 70


@pytest.mark.parametrize("bounds", [(50, 10), ("a", "b"), (1, 2, 3), (0, np.inf)])
def test_a_range_of_all_numbers_is_checked_before_kinds_are_learnt(bounds, tmp_path):
    ledger = PrivacyLedger(tmp_path / "study.db", epsilon=3.0, delta=1e-4)
    table = TABLE[["year"]].astype(object)
    with pytest.raises(ValueError, match="feature_bounds"):
        DPTableVectorizer(feature_bounds=bounds, ledger=ledger).fit(table)
    assert len(ledger.to_frame()) == 0


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"knots": {"nobody": [1, 2]}}, "knots names the column"),
        ({"knots": {"gone": [1, 2]}}, "knots names the column"),
        ({"knots": {"year": [1]}}, "two finite numbers that are apart"),
        ({"knots": {"year": [1, np.nan]}}, "two finite numbers that are apart"),
        ({"knots": {"year": ["a", "b"]}}, "two finite numbers that are apart"),
        ({"knots": {"year": [0.0, 5e-324]}}, "two finite numbers that are apart"),
        ({"knots": 1}, "knots"),
        ({"categories": {"year": ["a"]}}, "categories names the column"),
        ({"categories": {"job": "nurse"}}, "list of categories"),
        ({"categories": {"job": ["a", "a"]}}, "none of them twice"),
        ({"categories": ["a"]}, "categories"),
        ({"feature_bounds": {"year": (3, 1)}}, "low < high"),
        ({"feature_bounds": {"year": 1, "nobody": 2}}, "feature_bounds"),
        ({"numeric_features": [True, False]}, "numeric_features must hold names or places"),
        ({"delta": 0.0}, "delta"),
        ({"basis": "spline"}, "basis"),
    ],
)
def test_what_is_given_is_checked(parameters, match):
    with pytest.raises(ValueError, match=match):
        fit(TABLE[["year", "job", "gone"]], **parameters)


def test_the_report_names_the_kinds_that_were_read():
    table = TABLE[["year", "job"]]
    said = fit(table, numeric_features=["year"]).privacy_report_.assumed_public[-1]
    assert "'job'" in said
    assert "year" not in said
    declared = fit(table, numeric_features=["year"], categorical_features=["job"])
    assert "types" not in declared.privacy_report_.assumed_public[-1]


def test_places_name_the_columns_of_arrays():
    X = TABLE[["job", "year"]].to_numpy(dtype=object)
    given = {"numeric_features": [1], "knots": {1: [1950, 2000]}, "categories": {0: ["nurse"]}}
    vectorizer = DPTableVectorizer(**given).fit(X)
    names = ["x0_nurse", "x0_infrequent", "x1_1950", "x1_2000", "x1_missing"]
    assert vectorizer.get_feature_names_out().tolist() == names


@pytest.mark.long
@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
def test_the_whole_budget_is_spent_and_no_more(adjacency):
    report = fit(epsilon=0.7, delta=1e-6, adjacency=adjacency).privacy_report_
    assert report.epsilon == 0.7
    assert report.delta == 1e-6
    assert report.epsilon_at(1e-6) == pytest.approx(0.7, rel=1e-6)


def test_a_fit_is_charged_once(tmp_path):
    ledger = PrivacyLedger(tmp_path / "one.db", epsilon=1.0, delta=1e-5)
    vectorizer = DPTableVectorizer(ledger=ledger, epsilon=0.9, delta=5e-6)
    vectorizer.fit(TABLE[["year", "job"]])
    with pytest.raises(BudgetExceededError):
        vectorizer.fit(TABLE[["year", "job"]])


@pytest.mark.long
def test_a_private_pipeline_plans_for_columns_of_any_kind():
    y = (TABLE["zeros"] > 0.0).astype(int).to_numpy()
    for names in (["zeros"], ["zeros", "job"], ["job"]):
        steps = DPTableVectorizer(), DPLogisticRegression(classes=[0, 1])
        model = make_private_pipeline(*steps, random_state=0).fit(TABLE[names], y)
        assert model.privacy_report_.epsilon == 1.0


@pytest.mark.long
def test_in_a_private_pipeline_a_model_gets_its_bounds():
    y = (TABLE["job"] == "nurse").astype(int).to_numpy()
    table = TABLE[["year", "job", "zeros"]]
    model = make_private_pipeline(
        DPTableVectorizer(), DPLogisticRegression(classes=[0, 1]), epsilon=2.0, random_state=0
    ).fit(table, y)
    assert model[-1].data_norm == np.sqrt(3)
    assert model.score(table, y) > 0.95
    assert model.privacy_report_.epsilon == 2.0


def test_without_privacy_a_model_on_it_is_scikit_learns():
    y = (TABLE["zeros"] + TABLE["gaps"].fillna(2) > 1).astype(int).to_numpy()
    columns = fit(TABLE[["zeros", "gaps", "job"]], epsilon=INF).transform(
        TABLE[["zeros", "gaps", "job"]]
    )
    assert LogisticRegression(C=1e3, max_iter=2000).fit(columns, y).score(columns, y) > 0.95


def test_with_groups_a_person_counts_once():
    """As the mean of their rows, and with the word of most of them."""
    table = TABLE[["zeros", "job"]]
    people = np.repeat(np.arange(N // 2), 2)
    one = DPTableVectorizer(epsilon=INF).fit(table, groups=people)
    twice = pd.concat([table] * 2)
    same = DPTableVectorizer(epsilon=INF).fit(twice, groups=np.arange(2 * N) % N)
    of_rows = DPTableVectorizer(epsilon=INF).fit(table)
    np.testing.assert_array_equal(term(same, "job").counts, term(of_rows, "job").counts)
    np.testing.assert_array_equal(term(same, "zeros").counts, term(of_rows, "zeros").counts)
    assert term(one, "zeros").counts.sum() == pytest.approx(N / 2)
    assert term(one, "job").counts.sum() == N / 2
    first = table["job"].to_numpy().reshape(-1, 2).min(axis=1)
    known, counts = np.unique(first.astype(str), return_counts=True)
    assert term(one, "job").categories.tolist() == known.tolist()
    np.testing.assert_array_equal(term(one, "job").counts[:-1], counts)


def test_groups_are_what_the_report_protects():
    people = np.repeat(np.arange(N // 2), 2)
    report = DPTableVectorizer(random_state=0).fit(TABLE[["zeros"]], groups=people).privacy_report_
    assert report.unit == "one group"


@pytest.mark.long
def test_clones_and_seeds():
    one, same = fit(), clone(DPTableVectorizer(random_state=0)).fit(TABLE)
    np.testing.assert_array_equal(one.transform(TABLE[:99]), same.transform(TABLE[:99]))
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyWarning)
        other = DPTableVectorizer().fit(TABLE)
    assert other.knots_["tail"].tolist() != one.knots_["tail"].tolist()


def test_copies_know_gaps_and_frames_of_other_packages():
    pl = pytest.importorskip("polars")
    vectorizer = DPTableVectorizer(epsilon=INF).fit(TABLE[["gaps", "gone"]])
    expected = vectorizer.transform(TABLE[["gaps", "gone"]])
    copy = pickle.loads(pickle.dumps(vectorizer))
    gone = [None if word != word else word for word in TABLE["gone"]]
    other = pl.DataFrame({"gaps": TABLE["gaps"].to_list(), "gone": gone})
    np.testing.assert_array_equal(copy.transform(other), expected)
    frame = copy.set_output(transform="pandas").transform(other)
    assert frame.columns.tolist() == vectorizer.get_feature_names_out().tolist()


def test_numbers_beyond_bounds_are_a_spike_at_their_end():
    rng = np.random.default_rng(0)
    high = np.where(rng.random(20_000) < 0.4, 30.0, rng.uniform(0.0, 10.0, 20_000))
    bounded = {"feature_bounds": {"x": (0.0, 10.0)}, "epsilon": 10.0, "random_state": 0}
    fitted = DPTableVectorizer(**bounded).fit(pd.DataFrame({"x": high}))
    assert fitted.get_feature_names_out()[-1] == "x_is_10"
    rows = fitted.transform(pd.DataFrame({"x": [10.0, 10.1, 30.0, 9.9, np.nan]}))
    np.testing.assert_array_equal(rows[:, -1], [1.0, 1.0, 1.0, 0.0, 0.0])


@pytest.mark.parametrize("epsilon", [1.0, np.inf])
def test_words_that_differ_in_all_rows_are_warned_of(epsilon):
    day = pd.date_range("2015-01-01", periods=3000).strftime("%d/%m/%Y").astype(object)
    X = pd.DataFrame({"joined": day, "job": ["cook", "clerk", "nurse"] * 1000})
    X.loc[:200, "joined"] = None
    model = DPTableVectorizer(epsilon=epsilon, random_state=0)
    if epsilon == np.inf:
        with warnings.catch_warnings(action="error"):
            model.fit(X)
    else:
        with pytest.warns(UserWarning, match=r"in the columns 'joined' .*pandas\.to_datetime"):
            model.fit(X)
    with warnings.catch_warnings(action="error"):
        model.fit(X[["job"]])


@for_each(
    "given, name",
    [
        ({"numeric_features": ["pya"]}, "'pya'"),
        ({"numeric_features": ["pay"], "categorical_features": ["pay"]}, "'pay'"),
        ({"categories": {"pya": [0]}}, "'pya'"),
        ({"knots": {"flag": [0, 1]}}, "'flag'"),
        ({"categories": {"flag": ["yes", "no"]}}, "'flag', which is of booleans"),
    ],
)
def test_parameters_that_suit_no_column_are_named(given, name):
    X = pd.DataFrame({"pay": np.arange(50.0), "flag": np.arange(50) > 20})
    with pytest.raises(ValueError, match=name):
        DPTableVectorizer(**given).fit(X)


@pytest.mark.parametrize(
    "given",
    [
        {"feature_bounds": {"day": ("2024-01-01", "2024-12-31")}},
        {"knots": {"day": [datetime.date(2024, 1, 1), datetime.date(2024, 12, 31)]}},
    ],
)
@pytest.mark.parametrize("kind", [str, object])
def test_bounds_and_knots_that_are_dates_declare_dates(given, kind):
    days = pd.Series(pd.date_range("2024-01-01", periods=300))
    column = days.astype(str) if kind is str else pd.Series(list(days.dt.date), dtype=object)
    typed, made = (DPTableVectorizer(random_state=0, **given) for _ in range(2))
    expected = typed.fit_transform(pd.DataFrame({"day": days}))
    np.testing.assert_array_equal(made.fit_transform(pd.DataFrame({"day": column})), expected)
    assert "2024" in made.get_feature_names_out()[0]
