"""The same table in any container gives the same model, which predicts the same on all."""

import datetime
import warnings

import numpy as np
import pandas as pd
import pytest

from skdp.additive import DPAdditiveClassifier
from skdp.exceptions import PrivacyWarning
from skdp.preprocessing import DPTableVectorizer
from skdp.statistics import describe
from tests._loops import for_each
from tests.rows._grid import objects_of_rows

pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

N_ROWS = 600
WORDS = ["nurse", "clerk", "smith"]
START = datetime.datetime(2001, 9, 9, 1, 46, 40)


def make_columns():
    """Return lists of entries of Python by name, None for gaps, and labels."""
    rng = np.random.default_rng(0)
    age, pay = rng.integers(18, 90, N_ROWS), np.round(rng.lognormal(10, 1, N_ROWS), 2)
    job, flag = rng.integers(3, size=N_ROWS), rng.random(N_ROWS) < 0.5
    days = rng.integers(2000, size=N_ROWS)
    is_gap = rng.random((N_ROWS, 4)) < 0.1
    score = 0.06 * (age - 54) + (np.log(pay) - 10) + 1.5 * flag + job - 1.75 + 0.001 * days
    y = (rng.logistic(size=N_ROWS) < score).astype(int)
    columns = {
        "age": age.tolist(),
        "pay": pay.tolist(),
        "job": [WORDS[place] for place in job],
        "flag": flag.tolist(),
        "when": [START + datetime.timedelta(hours=7 * int(day)) for day in days],
    }
    for gaps, name in zip(is_gap.T, ("pay", "job", "flag", "when"), strict=True):
        entries = zip(columns[name], gaps, strict=True)
        columns[name] = [None if gap else entry for entry, gap in entries]
    return columns, y


COLUMNS, Y = make_columns()
AS_TEXT = {
    name: [None if entry is None else str(entry) for entry in entries]
    for name, entries in COLUMNS.items()
}
MARKED = {
    name: ["?" if entry is None else entry for entry in entries]
    for name, entries in AS_TEXT.items()
}


def pandas(types):
    return pd.DataFrame(
        {name: pd.Series(COLUMNS[name], dtype=kind) for name, kind in types.items()}
    )


def polars(types, columns):
    return pl.DataFrame(
        {name: pl.Series(entries, dtype=types[name]) for name, entries in columns.items()}
    )


def arrow(types, columns):
    return pa.table({name: pa.array(entries, types[name]) for name, entries in columns.items()})


def alike(columns, kind):
    """Return a table of pandas whose columns have one type."""
    return pd.DataFrame({name: pd.Series(entries, dtype=kind) for name, entries in columns.items()})


def rows(columns):
    return [list(row) for row in zip(*columns.values(), strict=True)]


OF_ARROW = {
    "age": pa.int64(),
    "pay": pa.float64(),
    "job": pa.dictionary(pa.int32(), pa.string()),
    "flag": pa.bool_(),
    "when": pa.timestamp("us"),
}
OF_POLARS = {
    "age": pl.Int16,
    "pay": pl.Float64,
    "job": pl.Enum(WORDS),
    "flag": pl.Boolean,
    "when": pl.Datetime("ms"),
}
TYPES = {
    "age": "int64",
    "pay": "float64",
    "job": "category",
    "flag": "boolean",
    "when": "datetime64[ns]",
}
TYPED = {
    "pandas": lambda: pandas(TYPES),
    "pandas nullable": lambda: pandas(TYPES | {"age": "Int32", "pay": "Float64"}),
    "pandas of Arrow": lambda: arrow(OF_ARROW, COLUMNS).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda: polars(OF_POLARS, COLUMNS),
    "polars categorical": lambda: polars(OF_POLARS | {"job": pl.Categorical}, COLUMNS),
    "arrow": lambda: arrow(OF_ARROW, COLUMNS),
}
OBJECTS = {
    "pandas objects": lambda: alike(COLUMNS, object),
    "numpy objects": lambda: objects_of_rows(COLUMNS),
    "lists": lambda: rows(COLUMNS),
    "polars objects": lambda: polars(dict.fromkeys(COLUMNS, pl.Object), COLUMNS),
}
TEXTS = {
    "pandas str": lambda: alike(AS_TEXT, "str"),
    "pandas string, python": lambda: alike(AS_TEXT, "string[python]"),
    "pandas string, pyarrow": lambda: alike(AS_TEXT, "string[pyarrow]"),
    "pandas text as objects": lambda: alike(AS_TEXT, object),
    "polars text": lambda: polars(dict.fromkeys(COLUMNS, pl.String), AS_TEXT),
    "arrow text": lambda: arrow(dict.fromkeys(COLUMNS, pa.large_string()), AS_TEXT),
    "lists of text": lambda: rows(AS_TEXT),
}
ALL = TYPED | OBJECTS | TEXTS


def fitted(make, X, y=Y):
    with warnings.catch_warnings():
        # Few rows tell little of words.
        warnings.simplefilter("ignore", PrivacyWarning)
        warnings.simplefilter("ignore", UserWarning)
        return make.fit(X, y)


def additive(epsilon):
    return DPAdditiveClassifier(classes=[0, 1], epsilon=epsilon, delta=1e-5, random_state=0)


def of_additive(X, epsilon):
    model = fitted(additive(epsilon), X)
    terms = [(term.kind, tuple(map(str, term.labels)), *term.values) for term in model.terms_]
    return terms, model.intercept_.tolist()


def of_vectorizer(X, epsilon):
    table = fitted(DPTableVectorizer(epsilon=epsilon, delta=1e-5, random_state=0), X, None)
    return [table.categories_, table.knots_, table.transform(X).tobytes()]


def of_description(X, epsilon):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = describe(X, epsilon=epsilon, delta=1e-5, random_state=0)
    return found.to_frame().reset_index(drop=True).astype(str).to_numpy().tolist()


READERS = {"additive": of_additive, "vectorizer": of_vectorizer, "describe": of_description}


def unnamed(read):
    """Return what was read without the names of columns, which arrays and lists don't have."""
    text = str(read)
    for place, name in enumerate(COLUMNS):
        text = text.replace(name, f"x{place}")
    return text


@pytest.mark.long
@for_each(
    "reader, epsilon", [(reader, eps) for reader in READERS for eps in (np.inf, 2.0)], parts=6
)
def test_the_same_table_gives_the_same_model(reader, epsilon):
    """Of the containers whose types say the same of the columns, and of their entries as text."""
    of = READERS[reader]
    for containers in (TYPED, OBJECTS | TEXTS):
        read = {name: unnamed(of(make(), epsilon)) for name, make in containers.items()}
        first = next(iter(read.values()))
        assert not [name for name, found in read.items() if found != first]


@pytest.mark.long
@for_each("reader", READERS)
def test_without_noise_what_types_say_is_learnt(reader):
    """But for booleans: what is learnt of them is that they are numbers."""
    read = {}
    for name in ("pandas", "pandas objects", "pandas str"):
        X = ALL[name]().drop(columns="flag")
        read[name] = unnamed(READERS[reader](X, np.inf))
    assert read["pandas"] == read["pandas objects"] == read["pandas str"]


@pytest.mark.long
@for_each("fitted_on", ["pandas", "arrow", "numpy objects", "polars text"], parts=4)
def test_a_model_predicts_the_same_on_all_containers(fitted_on):
    """In another type an entry is the same: what it is read as was decided in the fit."""
    X = ALL[fitted_on]()
    model = fitted(additive(np.inf), X)
    expected = model.decision_function(X)
    assert np.ptp(expected) > 1.0
    for name, make in ALL.items():
        with warnings.catch_warnings():
            # Arrays and lists don't say which column is which.
            warnings.filterwarnings("ignore", "X (has|does not have) (valid )?feature names")
            found = model.decision_function(make())
        np.testing.assert_array_equal(found, expected, err_msg=name)


def test_marks_of_gaps_are_gaps_but_where_words_are():
    texts, marked = (alike(columns, "str").drop(columns="job") for columns in (AS_TEXT, MARKED))
    assert of_additive(texts, np.inf) == of_additive(marked, np.inf)
    words = fitted(DPTableVectorizer(epsilon=np.inf), alike({"job": MARKED["job"]}, "str"), None)
    assert sorted(words.categories_["job"]) == ["?", *sorted(WORDS)]
