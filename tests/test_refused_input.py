"""What no table is read from, by every reader: messages name column, type and what to do."""

import datetime
import io
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import has_fit_parameter

from skdp.additive import DPAdditiveClassifier, DPAdditiveRegressor
from skdp.audit import audit
from skdp.calibration import DPCalibratedClassifier, DPConformalClassifier
from skdp.inspection import duality_gap
from skdp.linear_model import (
    DPLogisticRegression,
    DPRidge,
    DPSCDClassifier,
    DPSGDClassifier,
    WALRClassifier,
    label_aggregate,
    walr_path,
)
from skdp.metrics import private_roc_curve, private_score
from skdp.model_selection import DPGridSearch, DPRandomizedSearch
from skdp.pipeline import DPPipeline, make_private_pipeline
from skdp.preprocessing import (
    BoundsScaler,
    DPNormClipper,
    DPOneHotEncoder,
    DPQuantileClipper,
    DPSimpleImputer,
    DPStandardScaler,
    DPTableVectorizer,
    NormClipper,
)
from skdp.statistics import describe
from skdp.utils.discovery import all_estimators
from tests._loops import for_each

polars, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")

N = 60
Y = np.arange(N) % 2
NUMBERS = np.linspace(7777.125, 7779.25, N)
WORDS = [f"hush{place % 3}" for place in range(N)]
DAYS = [datetime.datetime(1977, 7, 7) + datetime.timedelta(days=place) for place in range(N)]
CLOCK = [datetime.time(7, 7, place) for place in range(N)]
SECRETS = ("hush", "7777", "7778", "7779", "1977", "07:07")
RAW = [word.encode() for word in WORDS]
PAIR = np.column_stack([NUMBERS, NUMBERS])
PUBLIC = np.column_stack([np.linspace(-1, 1, N), np.linspace(0, 1, N)])
CLASSES = {"classes": [0, 1]}


def beside(name, column):
    """A table with a good column and another one."""
    return pd.DataFrame({"age": NUMBERS, name: column})


def objects(entries):
    return pd.Series(list(entries), dtype=object)


def in_polars(name, column):
    return polars.DataFrame({"age": NUMBERS, name: column})


def in_arrow(name, column):
    return pa.table({"age": NUMBERS, name: column})


def batch():
    return pa.RecordBatch.from_arrays([pa.array(NUMBERS)], names=["age"])


CUT = r"'band'.*([Ii]nterval).*labels=\[\.\.\.\]|'Interval' \(column 'band'\).*labels=\[\.\.\.\]"
DECODE = r"decode them"
FIELDS = r"give each of their fields a column"
CLOCKS = r"hours since midnight"
PARTS = r"real and their imaginary part"
# Who reads a table of any columns, or of numbers alone.
UNREADABLE = {
    "pd.cut": (lambda: beside("band", pd.cut(NUMBERS, 4)), CUT),
    "pd.cut as objects": (lambda: beside("band", objects(pd.cut(NUMBERS, 4))), CUT),
    "intervals": (lambda: beside("band", pd.arrays.IntervalArray(pd.cut(NUMBERS, 4))), CUT),
    "bytes": (lambda: beside("raw", objects(RAW)), f"'raw'.*{DECODE}"),
    "bytes as categories": (lambda: beside("raw", pd.Categorical(RAW)), f"'raw'.*{DECODE}"),
    "numbers in bytes": (lambda: beside("raw", objects([b"7777"] * N)), f"'raw'.*{DECODE}"),
    "bytes of NumPy": (lambda: np.array([RAW, RAW]).T, rf"(\|S5|'x0').*{DECODE}"),
    "bytes of polars": (lambda: in_polars("raw", RAW), f"'raw'.*{DECODE}"),
    "bytes of Arrow": (lambda: in_arrow("raw", pa.array(RAW)), f"'raw'.*{DECODE}"),
    "bytes of Arrow, encoded": (
        lambda: in_arrow("raw", pa.array(RAW).dictionary_encode()),
        f"'raw'.*{DECODE}",
    ),
    "bytes of Arrow in pandas": (
        lambda: beside("raw", pd.array(RAW, dtype=pd.ArrowDtype(pa.binary()))),
        f"'raw'.*{DECODE}",
    ),
    "bytes in a list": (lambda: [[1.0, word] for word in RAW], f"'x1'.*{DECODE}"),
    "a complex array": (lambda: PAIR * 1j, "complex128"),
    "a complex column": (lambda: beside("z", NUMBERS * 1j), f"'z' of type complex128.*{PARTS}"),
    "a complex entry": (lambda: beside("z", objects([7777j, *NUMBERS[1:]])), f"'z'.*{PARTS}"),
    "lists": (lambda: beside("tags", objects([word] for word in WORDS)), f"'tags'.*{FIELDS}"),
    "dicts": (lambda: beside("tags", objects({"a": word} for word in WORDS)), f"'tags'.*{FIELDS}"),
    "sets": (lambda: beside("tags", objects({word} for word in WORDS)), f"'tags'.*{FIELDS}"),
    "arrays": (lambda: beside("tags", objects(np.array([w]) for w in WORDS)), f"'tags'.*{FIELDS}"),
    "lists of polars": (lambda: in_polars("tags", [[w] for w in WORDS]), f"'tags'.*{FIELDS}"),
    "records of polars": (
        lambda: in_polars("tags", [{"a": w} for w in WORDS]),
        f"'tags'.*{FIELDS}",
    ),
    "lists of Arrow": (lambda: in_arrow("tags", [[w] for w in WORDS]), f"'tags'.*{FIELDS}"),
    "a map of Arrow": (
        lambda: in_arrow("tags", pa.array([[("a", 7777)]] * N, pa.map_(pa.string(), pa.int64()))),
        f"'tags'.*{FIELDS}",
    ),
    "times of day": (lambda: beside("clock", objects(CLOCK)), f"'clock'.*{CLOCKS}"),
    "times of day in polars": (lambda: in_polars("clock", CLOCK), f"'clock'.*{CLOCKS}"),
    "times of day in Arrow": (lambda: in_arrow("clock", CLOCK), f"'clock'.*{CLOCKS}"),
    "any object": (lambda: beside("thing", objects([object()] * N)), "'thing'"),
}
DATES = r"'day'.*give days as a number.*DPTableVectorizer"
SPANS = r"'day'.*give spans as a number.*DPTableVectorizer"
NO_NUMBERS = {
    "dates": (lambda: beside("day", DAYS), DATES),
    "dates with a zone": (lambda: beside("day", pd.to_datetime(DAYS, utc=True)), DATES),
    "dates as objects": (lambda: beside("day", objects(DAYS)), DATES),
    "days": (lambda: beside("day", objects(day.date() for day in DAYS)), DATES),
    "dates of polars": (lambda: in_polars("day", DAYS), DATES),
    "days of polars": (lambda: in_polars("day", [day.date() for day in DAYS]), DATES),
    "dates of Arrow": (lambda: in_arrow("day", DAYS), DATES),
    "spans": (lambda: beside("day", pd.to_timedelta(np.arange(N), "D")), SPANS),
    "spans of polars": (lambda: in_polars("day", [day - DAYS[0] for day in DAYS]), SPANS),
    "periods": (lambda: beside("day", pd.period_range("1977", periods=N, freq="M")), DATES),
    "dates of NumPy": (lambda: np.array([DAYS, DAYS], "M8[us]").T, "(datetime64|'x0').*days"),
    "spans of NumPy": (lambda: np.full((N, 2), 7777, "m8[D]"), "(timedelta64|'x0').*days"),
}
NO_ROWS = {
    "LazyFrame": (lambda: in_polars("pay", NUMBERS).lazy(), r"LazyFrame.*X\.collect\(\)"),
    "RecordBatch": (batch, r"RecordBatch.*pyarrow\.Table\.from_batches\(\[X\]\)"),
    "RecordBatchReader": (
        lambda: pa.RecordBatchReader.from_batches(batch().schema, [batch()]),
        r"RecordBatchReader.*X\.read_all\(\)",
    ),
    "structured": (
        lambda: np.array([(x, x) for x in NUMBERS], dtype=[("age", float), ("pay", float)]),
        r"records.*pandas\.DataFrame\(X\)",
    ),
    "records": (
        lambda: np.rec.fromarrays([NUMBERS, WORDS], names="age,job"),
        r"records.*pandas\.DataFrame\(X\)",
    ),
    "matrix": (lambda: np.matrix(PAIR), r"matrix.*numpy\.asarray\(X\)"),
    "masked": (lambda: np.ma.masked_greater(PAIR, 7778.0), r"MaskedArray.*filled\(numpy\.nan\)"),
    "generator": (lambda: ([x, x] for x in NUMBERS), r"iterator \(generator\).*list\(X\)"),
    "map": (lambda: map(list, zip(NUMBERS, WORDS, strict=True)), r"iterator \(map\).*list\(X\)"),
    "dict": (lambda: {"age": NUMBERS, "job": WORDS}, r"a dict: .*pandas\.DataFrame\(X\)"),
    "list of dicts": (lambda: [{"job": w} for w in WORDS], r"dicts: .*pandas\.DataFrame\(X\)"),
    "set": (lambda: {(x, x) for x in NUMBERS}, r"a set, which has no order: give a list of rows"),
    "Series": (lambda: pd.Series(NUMBERS, name="age"), r"Series of pandas.*X\.to_frame\(\)"),
    "Series of words": (lambda: pd.Series(WORDS), r"Series of pandas.*X\.to_frame\(\)"),
    "Series of polars": (lambda: polars.Series("a", NUMBERS), r"of polars.*X\.to_frame\(\)"),
    "ChunkedArray": (lambda: pa.chunked_array([NUMBERS]), r"ChunkedArray.*pyarrow\.table"),
    "Array": (lambda: pa.array(WORDS), r"StringArray of pyarrow.*pyarrow\.table"),
    "groupby": (lambda: beside("a", WORDS).groupby("a"), r"DataFrameGroupBy.*the data frame"),
    "text": (lambda: "hush/hush.csv", "a str: read the file first"),
    "path": (lambda: Path("hush.csv"), "Path: read the file first"),
    "file": (lambda: io.StringIO("hush,7777"), "StringIO: read the file first"),
    "None": (lambda: None, "of type NoneType.*a data frame or a list of rows"),
    "number": (lambda: 7777.125, "of type float.*a data frame or a list of rows"),
    "function": (lambda: print, "of type builtin_function_or_method.*a data frame"),
    "class": (lambda: pd.DataFrame, "of type type.*a data frame or a list of rows"),
    "equal names": (
        lambda: pd.DataFrame(PAIR, columns=["pay", "pay"]),
        "two columns of X have the same name 'pay'.*a name of its own",
    ),
    "equal names in Arrow": (
        lambda: pa.Table.from_arrays([pa.array(NUMBERS)] * 2, names=["pay", "pay"]),
        "two columns of X have the same name 'pay'.*a name of its own",
    ),
}


@cache
def scd():
    return DPSCDClassifier(**CLASSES, random_state=0).fit(PUBLIC, Y)


@cache
def additive():
    return DPAdditiveClassifier(**CLASSES, random_state=0).fit(PUBLIC, Y)


@cache
def vectorizer():
    return DPTableVectorizer(random_state=0).fit(PUBLIC)


@cache
def aggregate():
    return label_aggregate(PUBLIC, Y, random_state=0)


SCALER, LOGISTIC = BoundsScaler(feature_bounds=(0, 9)), DPLogisticRegression(**CLASSES)
GRID = {"alpha": [0.1, 1.0]}
OF_NUMBERS = {
    "DPRidge": lambda X: DPRidge(target_bounds=(0, 1)).fit(X, Y),
    "DPSCDClassifier": lambda X: DPSCDClassifier(**CLASSES).fit(X, Y),
    "DPSGDClassifier": lambda X: DPSGDClassifier(**CLASSES, mechanism="laplace").partial_fit(X, Y),
    "predict": lambda X: scd().predict(X),
    "decision_function": lambda X: scd().decision_function(X),
    "score": lambda X: scd().score(X, Y),
    "WALRClassifier": lambda X: WALRClassifier(**CLASSES).fit(X, Y),
    "label_aggregate": lambda X: label_aggregate(X, Y),
    "walr_path": lambda X: walr_path(X, aggregate()),
    "BoundsScaler": lambda X: SCALER.fit(X),
    "transform": lambda X: BoundsScaler(feature_bounds=(-1, 1)).fit(PUBLIC).transform(X),
    "NormClipper": lambda X: NormClipper().fit(X),
    "DPStandardScaler": lambda X: DPStandardScaler(feature_bounds=(0, 9)).fit(X),
    "DPQuantileClipper": lambda X: DPQuantileClipper(feature_bounds=(0, 9)).fit(X),
    "DPNormClipper": lambda X: DPNormClipper(norm_bounds=(1, 9)).fit(X),
    "DPSimpleImputer": lambda X: DPSimpleImputer(feature_bounds=(0, 9)).fit(X),
    "DPPipeline": lambda X: make_private_pipeline(SCALER, LOGISTIC).fit(X, Y),
    "Pipeline": lambda X: make_pipeline(SCALER, LOGISTIC).fit(X, Y),
    "DPGridSearch": lambda X: DPGridSearch(LOGISTIC, GRID).fit(X, Y),
    "DPCalibratedClassifier": lambda X: DPCalibratedClassifier(LOGISTIC).fit(X, Y),
    "DPConformalClassifier": lambda X: DPConformalClassifier(LOGISTIC).fit(X, Y),
    "private_score": lambda X: private_score(scd(), X, Y, epsilon=1.0),
    "private_roc_curve": lambda X: private_roc_curve(scd(), X, Y, epsilon=1.0),
    "audit": lambda X: audit(DPSCDClassifier(**CLASSES), X, Y, n_fits=12),
    "duality_gap": lambda X: duality_gap(scd(), X, Y),
}
OF_TABLES = {
    "DPAdditiveClassifier": lambda X: DPAdditiveClassifier(**CLASSES).fit(X, Y),
    "DPAdditiveRegressor": lambda X: DPAdditiveRegressor(target_bounds=(0, 1)).fit(X, Y),
    "predict": lambda X: additive().predict(X),
    "DPTableVectorizer": lambda X: DPTableVectorizer().fit(X),
    "transform": lambda X: vectorizer().transform(X),
    "describe": lambda X: describe(X, epsilon=1.0),
    "DPPipeline": lambda X: make_private_pipeline(DPTableVectorizer(), LOGISTIC).fit(X, Y),
    "DPGridSearch": lambda X: DPGridSearch(DPAdditiveClassifier(**CLASSES), GRID).fit(X, Y),
    "DPCalibratedClassifier": lambda X: DPCalibratedClassifier(DPAdditiveClassifier(**CLASSES)).fit(
        X, Y
    ),
    "private_score": lambda X: private_score(additive(), X, Y, epsilon=1.0),
    "DPOneHotEncoder": lambda X: DPOneHotEncoder().fit(X),
    "DPSimpleImputer of words": lambda X: DPSimpleImputer(strategy="most_frequent").fit(X),
}


def assert_refused(read, X, match):
    """Whatever is in the chain of the error quotes no value."""
    with pytest.raises((TypeError, ValueError), match=match) as caught:
        read(X)
    error, texts = caught.value, []
    while error is not None:
        texts.append(f"{error} {error.args}")
        error = error.__cause__ or error.__context__
    for secret in SECRETS:
        assert secret not in " ".join(texts)


pytestmark = [
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning"),
]


@pytest.mark.long
@pytest.mark.every
@for_each("case", UNREADABLE | NO_NUMBERS | NO_ROWS, parts=4)
def test_readers_of_numbers_name_what_they_cannot_read(case):
    make, match = (UNREADABLE | NO_NUMBERS | NO_ROWS)[case]
    for read in OF_NUMBERS.values():
        assert_refused(read, make(), match)


@pytest.mark.long
@pytest.mark.every
@for_each("case", UNREADABLE | NO_ROWS, parts=4)
def test_readers_of_tables_name_what_they_cannot_read(case):
    make, match = (UNREADABLE | NO_ROWS)[case]
    for read in OF_TABLES.values():
        assert_refused(read, make(), match)


@pytest.mark.parametrize("case", ["bytes", "lists", "dates"])
def test_a_column_that_is_dropped_is_read_by_nobody(case):
    make, _ = (UNREADABLE | NO_NUMBERS)[case]
    only = ColumnTransformer([("age", BoundsScaler(feature_bounds=(7777, 7780)), ["age"])])
    DPPipeline([("only", only), ("model", LOGISTIC)]).fit(make(), Y)


def test_sparse_frames_are_told_how_they_become_dense():
    X = pd.DataFrame.sparse.from_spmatrix(csr_array(np.eye(N)[:, :2]), columns=["a", "b"])
    with pytest.raises(TypeError, match=r"X\.sparse\.to_dense\(\)"):
        OF_NUMBERS["audit"](X)


def test_columns_of_several_levels_are_columns_without_names():
    X = pd.DataFrame({("a", "x"): NUMBERS, ("a", "y"): WORDS})
    assert not hasattr(DPTableVectorizer().fit(X), "feature_names_in_")
    with pytest.raises(ValueError, match="numeric_features must hold names or places"):
        DPTableVectorizer(numeric_features=[("a", "x")]).fit(X)


@pytest.fixture(scope="module")
def with_fit():
    others = [
        make_private_pipeline(SCALER, LOGISTIC),
        DPGridSearch(LOGISTIC, GRID),
        DPRandomizedSearch(LOGISTIC, GRID, n_iter=2),
        DPCalibratedClassifier(LOGISTIC),
        DPConformalClassifier(LOGISTIC),
    ]
    return [estimator() for _, estimator in all_estimators()] + others


def test_weights_of_records_are_refused_by_public_names(with_fit):
    for estimator in with_fit:
        assert not has_fit_parameter(estimator, "sample_weight")
        with pytest.raises((TypeError, ValueError), match="sample_weight") as caught:
            estimator.fit(PUBLIC, Y, sample_weight=NUMBERS)
        text = str(caught.value)
        assert "Base" not in text
        if has_fit_parameter(estimator, "public_weight"):
            assert "must be public" in text
            assert "given as public_weight" in text
        assert "7777" not in text
        assert caught.value.__cause__ is caught.value.__context__ is None


def test_other_arguments_are_refused_by_public_names():
    for arguments, match in (
        (((PUBLIC, Y), {"weights": 1}), r"DPRidge\.fit\(\) got an unexpected keyword .*'weights'"),
        (((PUBLIC,), {}), r"DPRidge\.fit\(\) missing a required argument: 'y'"),
        (((PUBLIC, Y, *[None] * 9), {}), r"DPRidge\.fit\(\) too many positional arguments"),
    ):
        with pytest.raises(TypeError, match=match):
            DPRidge().fit(*arguments[0], **arguments[1])


@for_each("X", [beside("job", WORDS), np.array([WORDS, WORDS]).T, [[1.0, "hush"]] * N])
def test_text_among_numbers_is_told_by_its_column(X):
    name = "'job'" if hasattr(X, "columns") else "'x[01]'"
    match = rf"could not convert string to float in column {name}: .*skdp\.additive"
    for reader in ("DPRidge", "BoundsScaler", "DPSimpleImputer", "predict", "DPPipeline"):
        assert_refused(OF_NUMBERS[reader], X, match)
