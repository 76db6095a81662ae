"""Nothing is lost in silence: warnings of columns, by released counts, and of texts after a fit."""

import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import FeatureUnion, make_pipeline

from skdp.additive import DPAdditiveClassifier, DPAdditiveRegressor
from skdp.calibration import DPCalibratedClassifier
from skdp.exceptions import LostDataWarning
from skdp.linear_model import DPLogisticRegression
from skdp.metrics import (
    private_calibration_curve,
    private_compare,
    private_confusion_matrix,
    private_score,
)
from skdp.model_selection import DPGridSearch, private_threshold
from skdp.pipeline import make_private_pipeline
from skdp.preprocessing import DPTableVectorizer
from skdp.statistics import describe
from tests._loops import for_each
from tests.door import is_unread

N = 4_000
CLASSES = {"classes": [0, 1]}
GRID = {"alpha": [1e-4, 1.0]}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    pay = rng.lognormal(10, 1, N)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, N).astype(float),
            "comma": [f"{x:.2f}".replace(".", ",") for x in pay],
            "thousands": [f"{x + 1_000:,.2f}" for x in pay],
            "units": [f"{x:.1f} kg" for x in pay],
            "gaps": np.nan,
            "id": [f"0{place}" for place in range(N)],
            "half": np.where(rng.random(N) < 0.5, np.nan, pay),
        }
    )


@pytest.fixture(scope="module")
def rows(table):
    """Rows of which a few entries in a column of numbers can't be read, and labels."""
    pay = table["half"].fillna(20_000.0).astype(str).to_numpy(dtype=object)
    pay[:5] = ["77,5", "77 kg", "?", "NA", ""]
    pay[5:8] = [None, np.nan, pd.NA]
    pay = pd.Series(pay, dtype=object)
    return pd.DataFrame({"age": table["age"], "pay": pay}), (table["age"] > 50).astype(int)


def lost(function):
    """The result of a function, and the texts of its warnings of what is lost."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function()
    texts = [str(w.message) for w in caught if issubclass(w.category, LostDataWarning)]
    for text in texts:
        assert "77" not in text
        assert "kg" not in text
    return result, texts


NUMBERS = ["comma", "thousands", "units", "gaps", "half"]
READERS = {
    "DPTableVectorizer": lambda X, y, **given: DPTableVectorizer(**given).fit(X),
    "DPAdditiveClassifier": lambda X, y, **given: DPAdditiveClassifier(**CLASSES, **given).fit(
        X, y
    ),
    "DPAdditiveRegressor": lambda X, y, **given: DPAdditiveRegressor(
        target_bounds=(0, 1), **given
    ).fit(X, y),
}


@pytest.mark.long
@for_each("reader", READERS)
def test_columns_of_numbers_that_cannot_be_read_are_named(table, rows, reader):
    X = table.drop(columns="id")
    _, texts = lost(lambda: READERS[reader](X, rows[1], numeric_features=NUMBERS, random_state=0))
    (text,) = (text for text in texts if text.startswith("Nearly nothing"))
    assert "'comma', 'thousands', 'units', 'gaps'" in text
    assert "age" not in text
    assert "'half'" not in text
    assert "decimal comma" in text


def test_a_description_names_them_too(table):
    _, texts = lost(lambda: describe(table[["age", "gaps", "half"]], epsilon=1.0, random_state=0))
    (text,) = texts
    assert "'gaps'" in text
    assert "'half'" not in text


def test_what_columns_without_words_hold_is_said_by_learnt_kinds(table):
    X = table[["age", "comma", "id"]].assign(none=None).astype({"comma": object, "id": object})
    _, texts = lost(lambda: DPTableVectorizer(random_state=0).fit(X))
    (text,) = texts
    assert (
        "'comma' (mostly text), 'id' (mostly codes with a leading zero), 'none' (mostly m" in text
    )
    # Where the kind was declared, nothing was learnt of it.
    declared = DPTableVectorizer(categorical_features=["id"], random_state=0)
    (text,) = lost(lambda: declared.fit(X[["age", "id"]]))[1]
    assert "'id': nothing" in text


def test_columns_of_a_learnt_kind_that_hold_much_else_are_named():
    rng = np.random.default_rng(0)
    ages, draws = rng.integers(18, 9_000, N).astype(str), rng.random(N)
    days = (pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 9_999, N), "D")).date
    X = pd.DataFrame(
        {
            "number": np.where(draws < 0.25, "unknown", ages),
            "date": np.where(draws < 0.25, "0000-00-00", days.astype(str)),
            "both": np.where(draws < 0.4, days.astype(object), rng.integers(0, 99, N)),
            # Nothing is said of codes, words, numbers with few others, and few numbers, all known.
            "flag": np.where(draws < 0.25, "unknown", rng.integers(0, 2, N).astype(str)),
            "code": np.where(draws < 0.25, "02139", ages),
            "word": np.where(draws < 0.75, "unknown", ages),
            "few": np.where(draws < 0.05, "unknown", ages),
            "gaps": np.where(draws < 0.5, "?", ages),
        },
        dtype=object,
    )
    _, texts = lost(lambda: DPTableVectorizer(random_state=0).fit(X))
    texts = [text for text in texts if text.startswith("Columns without a type")]
    text = " ".join(texts)
    assert "'number' (mostly numbers, and" in text
    assert "'date' (mostly dates, and" in text
    assert "'both' (with dates that count as missing)" in text
    assert "unknown" not in text
    assert not any(repr(name) in text for name in ["flag", "code", "word", "few", "gaps"])
    declared = DPTableVectorizer(numeric_features=["number"], random_state=0)
    assert lost(lambda: declared.fit(X[["number"]]))[1] == []


def test_of_knots_that_are_given_nothing_is_released_and_nothing_is_said(table):
    X = table[["age", "comma"]]
    given = {"numeric_features": ["comma"], "knots": {"comma": [0.0, 1e5]}}
    assert lost(lambda: DPTableVectorizer(**given, random_state=0).fit(X))[1] == []


@pytest.mark.long
def test_what_was_set_for_a_lost_column_is_named():
    """Each setting of single columns, and all that may become of a column."""
    rng = np.random.default_rng(0)
    columns = {
        "number": rng.uniform(0, 10, N),
        "digits": rng.integers(0, 50, N).astype(str),
        "constant": np.full(N, 7.0),
        "spike": np.where(rng.random(N) < 0.97, 0.0, rng.uniform(0, 10, N)),
        "indicator": rng.integers(0, 2, N),
        "text": rng.choice(["red", "green"], N),
        "id": [f"id{place}" for place in range(N)],
        "comma": [f"{x:.2f}".replace(".", ",") for x in rng.uniform(0, 50, N)],
        "day": [f"2024-01-{day:02d}" for day in rng.integers(1, 29, N)],
        "gaps": np.full(N, None),
    }
    no_numbers, no_words = ["text", "id", "comma", "day", "gaps"], ["id", "comma", "gaps"]
    names, untyped = list(columns), ["digits", "text", "id", "comma", "day", "gaps"]
    X, y = pd.DataFrame(columns).astype(dict.fromkeys(untyped, object)), rng.integers(0, 2, N)
    pairs = list(zip(names[::2], names[1::2], strict=True))
    cases = {
        "monotonic_cst": (dict.fromkeys(names, 1), no_numbers),
        "feature_bounds": (dict.fromkeys(names, (0.0, 50.0)), no_numbers),
        "numeric_features": (names, no_numbers),
        "categorical_features": (untyped, no_words),
        "interactions": (pairs, no_words),
    }
    for parameter, (value, named) in cases.items():
        settings = {"interactions": None, **CLASSES, parameter: value}
        model = DPAdditiveClassifier(epsilon=8.0, random_state=0, **settings)
        (text,) = lost(lambda model=model: model.fit(X, y))[1]
        assert text.endswith(f"is read: {parameter} ({', '.join(map(repr, named))})."), parameter
    both = DPTableVectorizer(
        numeric_features=["id", "gaps"], feature_bounds={"id": (0, 1)}, random_state=0
    )
    (text,) = lost(lambda: both.fit(X[["number", "id", "gaps"]]))[1]
    assert text.endswith("is read: numeric_features ('id', 'gaps'), feature_bounds ('id').")
    (text,) = lost(
        lambda: describe(X[["number", "id"]], epsilon=8.0, crosstabs=[(0, 1)], random_state=0)
    )[1]
    assert text.endswith("is read: crosstabs ('id').")


@pytest.mark.long
def test_bounds_of_other_units_are_named():
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(N) % 99, "D")
    share = np.linspace(0.0, 1.0, N)
    X = pd.DataFrame({"day": days, "pay": 1e4 + share, "share": share, "is": np.arange(N) % 2})
    bounds = {"day": (0, 10), "pay": (0, 50), "share": (0, 1), "is": (0, 1)}
    vectorizer = DPTableVectorizer(feature_bounds=bounds, epsilon=8.0, random_state=0)
    (text,) = lost(lambda: vectorizer.fit(X))[1]
    assert text.startswith(
        "Nearly all that was read in the columns 'day', 'pay' is at one end of feature"
    )
    # Of half of a column, or a few records, nothing is said.
    half = np.round(np.random.RandomState(0).normal(3.5, 1, (150, 8)))
    for seed in range(20):
        few = DPTableVectorizer(feature_bounds=(-3, 3), knots=5, random_state=seed)
        assert lost(lambda few=few: few.fit(half))[1] == []
    # Without noise there are no bounds.
    assert lost(lambda: vectorizer.set_params(epsilon=np.inf).fit(X))[1] == []


def test_a_range_of_no_column_is_not_ignored_in_silence():
    X = pd.DataFrame({"flag": np.arange(N) % 2 == 0, "word": np.where(np.arange(N) % 3, "a", "b")})
    for bounds, content in (((0, 1), "numbers"), (("2024-01-01", "2025-01-01"), "dates")):
        vectorizer = DPTableVectorizer(feature_bounds=bounds, random_state=0)
        with pytest.warns(UserWarning, match=f"none of X holds {content}"):
            vectorizer.fit(X)


@pytest.mark.long
def test_noise_that_hides_the_counts_says_nothing(table):
    X = table[["age", "gaps"]].iloc[:50]
    for seed in range(20):
        vectorizer = DPTableVectorizer(epsilon=0.01, random_state=seed)
        assert lost(lambda vectorizer=vectorizer: vectorizer.fit(X))[1] == []


def test_a_column_of_which_a_fifth_is_read_is_not_called_lost():
    """The docstring's rate, 3e-7, is the tail beyond five deviations: here none of many draws."""
    rng = np.random.default_rng(0)
    for n_bins in (1, 20):
        for n_gaps in (0.0, 10.0, 100.0, 1e4):
            exact = np.append(np.full(n_bins, n_gaps / 4.0 / n_bins), n_gaps)
            for noise in (1.0, 30.0):
                drawn = exact + noise * rng.standard_normal((2_000, n_bins + 1))
                assert not any(is_unread(counts, noise) for counts in drawn)
    assert is_unread(np.array([0.0, 1.0]), 0.0)
    assert not is_unread(np.array([0.0, 0.0]), 0.0)
    assert not is_unread(np.array([3.0, 12.0]), 0.0)


@pytest.fixture(scope="module")
def fitted(rows):
    """What was fitted to rows that can all be read."""
    X, y = rows
    X = X.assign(pay=20_000.0 + X["age"])
    additive = DPAdditiveClassifier(**CLASSES, random_state=0).fit(X, y)
    linear = DPLogisticRegression(**CLASSES)
    private = make_private_pipeline(DPTableVectorizer(), linear).fit(X, y)
    return {
        "predict": additive.predict,
        "predict_proba": additive.predict_proba,
        "decision_function": additive.decision_function,
        "explain": additive.explain,
        "score": lambda X: additive.score(X, y),
        "predict of DPPipeline": private.predict,
        "predict_proba of DPPipeline": private.predict_proba,
        "score of DPPipeline": lambda X: private.score(X, y),
        "predict of a search": (
            DPGridSearch(DPAdditiveClassifier(**CLASSES), GRID, random_state=0).fit(X, y).predict
        ),
        "predict of a calibrated classifier": (
            DPCalibratedClassifier(DPAdditiveClassifier(**CLASSES), random_state=0).fit(X, y)
        ).predict,
    }


@pytest.mark.long
def test_after_a_fit_the_warning_says_what_columns_held():
    rng = np.random.default_rng(0)
    day = pd.Series(pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 99, N), "D"))
    X = pd.DataFrame({"age": rng.integers(18, 90, N), "day": day, "flag": day.dt.day < 10})
    model = DPAdditiveClassifier(**CLASSES, random_state=0).fit(X, rng.integers(0, 2, N))
    new = X[:4].astype({"age": object, "day": object, "flag": object})
    assert lost(lambda: model.predict(new.mask(new == new, None)))[1] == []
    new["age"], new["day"] = ["1,5", 3, "?", None], ["31/01/2024", "2024-01-31", "", "NaT"]
    new["flag"] = ["yes", "no", "TRUE", "?"]
    (text,) = lost(lambda: model.predict(new))[1]
    assert "'age' (1 that are no numbers), 'day' (1 that are no dates), 'flag' (2 that" in text


@pytest.mark.long
def test_after_a_fit_one_warning_counts_what_cannot_be_read(fitted, rows):
    for name, call in fitted.items():
        _, texts = lost(lambda call=call: call(rows[0]))
        assert len(texts) == 1, name
        assert "'pay' (2 that are no numbers)" in texts[0], name
        assert "'age'" not in texts[0], name
        assert lost(lambda call=call: call(rows[0].assign(pay=1.0)))[1] == [], name


@pytest.mark.long
def test_dates_and_other_types_where_numbers_were_are_counted(fitted, rows):
    X = rows[0].assign(pay=pd.Timestamp("2024-01-01"))
    for name in ("predict of DPPipeline", "predict"):
        assert f"'pay' ({N} that are no numbers)" in lost(lambda name=name: fitted[name](X))[1][0]


def frozen(X):
    return FrozenEstimator(DPTableVectorizer(random_state=0).fit(X.assign(pay=1.0)))


def as_of_numbers():
    return DPTableVectorizer(numeric_features=["pay"])


def additive():
    return DPAdditiveClassifier(**CLASSES, numeric_features=["pay"])


def linear():
    return DPLogisticRegression(**CLASSES)


def pipeline():
    return make_private_pipeline(as_of_numbers(), linear())


def side_by_side(X):
    return ColumnTransformer([("all", frozen(X), ["age", "pay"])])


def known(X, y):
    return additive().fit(X.assign(pay=1.0), y)


def search(X, y):
    return DPGridSearch(additive(), GRID, random_state=0).fit(X, y)


def search_in_threads(X, y):
    with joblib.parallel_backend("threading", n_jobs=2):
        return DPGridSearch(additive(), GRID, n_jobs=2, random_state=0).fit(X, y)


def search_pipelines(X, y):
    grid = {"dplogisticregression__alpha": [0.1, 1.0]}
    return DPGridSearch(pipeline(), grid, random_state=0).fit(X, y)


def calibrated(X, y):
    return DPCalibratedClassifier(additive()).fit(X, y)


def frozen_in_private_pipeline(X, y):
    return make_private_pipeline(frozen(X), linear()).fit(X, y)


def scored(function):
    return lambda X, y: function(known(X, y), X, y, epsilon=1.0)


PRIVATE = {
    "fit": lambda X, y: additive().fit(X, y),
    "fit_transform": lambda X, y: as_of_numbers().fit_transform(X),
    "DPPipeline": lambda X, y: pipeline().fit(X, y),
    "DPPipeline.fit_transform": lambda X, y: pipeline()[:1].fit_transform(X),
    "DPPipeline of a frozen step": frozen_in_private_pipeline,
    "Pipeline": lambda X, y: make_pipeline(as_of_numbers(), linear()).fit(X, y),
    "Pipeline of a frozen step": lambda X, y: make_pipeline(frozen(X), linear()).fit(X, y),
    "ColumnTransformer": lambda X, y: make_pipeline(side_by_side(X), linear()).fit(X, y),
    "FeatureUnion": lambda X, y: FeatureUnion([("one", frozen(X))]).fit_transform(X),
    "transform": lambda X, y: frozen(X).transform(X),
    "DPPipeline.transform": lambda X, y: make_private_pipeline(as_of_numbers()).fit(X).transform(X),
    "cross_val_score": lambda X, y: cross_val_score(make_pipeline(frozen(X), linear()), X, y, cv=2),
    "private_score of DPPipeline": lambda X, y: private_score(
        make_private_pipeline(frozen(X), linear()).fit(X, y), X, y, epsilon=1.0
    ),
    "DPGridSearch": search,
    "DPGridSearch in threads": search_in_threads,
    "DPGridSearch of pipelines": search_pipelines,
    "DPCalibratedClassifier": calibrated,
    "private_score": scored(private_score),
    "private_compare": lambda X, y: private_compare(
        known(X, y), known(X, y), X, y, epsilon=1.0, scoring="neg_log_loss"
    ),
    "private_threshold": lambda X, y: private_threshold(
        known(X, y),
        X,
        y,
        epsilon=1.0,
        costs={"false_positive": 1.0, "false_negative": 5.0},
    ),
    "private_confusion_matrix": scored(private_confusion_matrix),
    "private_calibration_curve": scored(private_calibration_curve),
    "describe": lambda X, y: describe(X, epsilon=1.0),
}


@pytest.mark.long
@pytest.mark.every
@for_each("case", PRIVATE, parts=3)
def test_of_records_nothing_is_counted(case, rows):
    """A count of what can't be read would tell of rows that a guarantee protects.

    Rows that are only transformed may be those of a fit that follows.
    """
    assert lost(lambda: PRIVATE[case](*rows))[1] == []
