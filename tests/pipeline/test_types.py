"""A row is read and predicted as its own, whatever its companions hold, wherever steps are."""

import itertools
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder

from skdp.additive import DPAdditiveClassifier
from skdp.calibration import DPCalibratedClassifier
from skdp.linear_model import DPLogisticRegression
from skdp.model_selection import DPGridSearch
from skdp.pipeline import DPPipeline, make_private_pipeline
from skdp.preprocessing import BoundsScaler, DPSimpleImputer, DPTableVectorizer
from tests._loops import for_each
from tests.door import as_floats

WITHIN = {
    "columns": lambda step: ColumnTransformer([("in", step, [0])]),
    "by type": lambda step: ColumnTransformer([("in", step, make_column_selector())]),
    "union": lambda step: FeatureUnion([("in", step)]),
    "pipeline": lambda step: Pipeline([("in", step)]),
    "passthrough": lambda step: Pipeline([("rows", "passthrough"), ("in", step)]),
}
NESTINGS = list(itertools.product(WITHIN, WITHIN))
OF_PUBLIC_TYPES = {"handle_unknown": "ignore", "sparse_output": False}
READERS = {
    "table": DPTableVectorizer(),
    "one hot": OneHotEncoder(categories=[[0, 1, 2]], **OF_PUBLIC_TYPES),
    "order": OrdinalEncoder(
        categories=[["no", "yes"]], handle_unknown="use_encoded_value", unknown_value=-1
    ),
    "filled": Pipeline(
        [
            (
                "fill",
                SimpleImputer(strategy="constant", fill_value="none", keep_empty_features=True),
            ),
            ("words", OneHotEncoder(categories=[["none", "yes"]], **OF_PUBLIC_TYPES)),
        ]
    ),
}
# An entry of each kind that may be among others.
ENTRIES = [True, 2, 0.5, "7", "yes", None, np.nan, pd.NA]
COLUMNS = {
    "booleans": [True, False],
    "integers": [1, 2],
    "floats": [0.5, 1.5],
    "digits": ["1", "2"],
    "words": ["no", "yes"],
    "gaps": [None, None],
}
LABELS = np.arange(400) % 2
TWO = {"classes": [0, 1]}


def of_objects(values):
    return pd.DataFrame({"a": pd.Series(values, dtype=object)})


def in_array(values):
    return np.array([[value] for value in values], dtype=object)


def in_list(values):
    return [[value] for value in values]


FORMS = {"frame": of_objects, "array": in_array, "list": in_list}


def nested(nesting, reader):
    step = clone(READERS[reader])
    for name in reversed(nesting):
        step = WITHIN[name](step)
    return step


def declared(step):
    """Declare words of what reads a table: it takes columns of lists for numbers otherwise."""
    for name in step.get_params():
        if name.endswith("categorical_features"):
            step.set_params(**{name: [0]})
    return step


def dense(rows):
    return rows.toarray() if issparse(rows) else np.asarray(rows, dtype=float)


def is_sound(nesting, form):
    """Only frames have types to select by, and only pandas' steps keep frames."""
    return "by type" not in nesting or (form == "frame" and nesting[0] == "by type" != nesting[1])


CASES = [
    (nesting, form)
    for nesting, form in itertools.product(NESTINGS, FORMS)
    if is_sound(nesting, form)
]


def whole_models():
    """What surrounds a pipeline, each fitted to rows of all kinds."""
    model = DPPipeline(
        [
            ("table", ColumnTransformer([("in", DPTableVectorizer(), [0])])),
            ("model", DPLogisticRegression(**TWO)),
        ],
        epsilon=20.0,
    )
    yield model.set_params(random_state=0)
    inside = clone(model).set_params(epsilon=1.0, random_state=None)
    yield DPCalibratedClassifier(inside, epsilon=20.0, random_state=0)
    first = make_private_pipeline(DPTableVectorizer(), DPLogisticRegression(**TWO))
    grid = {"dplogisticregression__alpha": [0.01, 0.1]}
    yield DPGridSearch(first, grid, epsilon=20.0, random_state=0)
    additive = DPCalibratedClassifier(DPAdditiveClassifier(**TWO))
    yield DPPipeline([("none", "passthrough"), ("model", additive)], epsilon=20.0, random_state=0)


@pytest.mark.long
@pytest.mark.parametrize("place", range(4))
def test_a_row_is_predicted_alone_as_it_is_among_others(place):
    model = list(whole_models())[place].fit(of_objects(["yes", True, 2, "7"] * 100), LABELS)
    together = model.predict_proba(of_objects(ENTRIES))
    alone = [model.predict_proba(of_objects([entry]))[0] for entry in ENTRIES]
    np.testing.assert_allclose(together, alone, rtol=1e-12)


@pytest.mark.long
@pytest.mark.parametrize("inner", ["union", "pipeline"])
def test_partitions_read_rows_as_their_own(inner):
    dask = pytest.importorskip("dask.dataframe")
    from skdp.dask import transform

    fitted = DPPipeline([("nested", nested(("columns", inner), "table"))], epsilon=20.0)
    fitted.fit(of_objects(["yes", "no", True, 2] * 100))
    rows = of_objects(ENTRIES * 2)
    whole = fitted.transform(rows)
    in_parts = dask.from_pandas(rows, npartitions=5)
    np.testing.assert_array_equal(transform(fitted, in_parts).compute(), whole)


def test_partitions_have_the_type_that_is_told_of_them():
    dask = pytest.importorskip("dask.dataframe")
    from skdp.dask import transform

    rows = of_objects([1, 2, None, True] * 4)
    imputer = DPSimpleImputer(strategy="constant").fit(rows)
    found = transform(imputer, dask.from_pandas(rows, npartitions=2))
    assert found.dtype == found.compute().dtype == object


@cache
def of_type(kind):
    """Whole columns of a type, and with a gap what pandas makes of them."""
    whole = pd.Series(COLUMNS[kind] * 200)
    gap = pd.Series([None, *(COLUMNS[kind] * 200)[1:]])
    return whole, gap


@pytest.mark.long
@pytest.mark.parametrize("kind", ["booleans", "integers", "floats", "words"])
@pytest.mark.parametrize("as_type", ["inferred", "category"])
@pytest.mark.parametrize("reader", ["table", "one hot"])
def test_a_gap_changes_no_kind_of_a_column(kind, as_type, reader):
    """One gap makes objects of booleans, and floats of integers, and so of categories."""
    seen = set()
    for column in of_type(kind):
        column = column if as_type == "inferred" else column.astype("category")
        step = nested(("columns", "columns"), reader)
        fitted = make_private_pipeline(step, DPLogisticRegression(**TWO), epsilon=5.0)
        names = fitted.fit(pd.DataFrame({"a": column}), LABELS)[0].get_feature_names_out()
        seen.add(tuple(name for name in map(str, names) if "missing" not in name))
    assert len(seen) == 1


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_a_gap_among_booleans_of_other_libraries_changes_no_kind(library):
    module = pytest.importorskip(library)
    make = module.table if library == "pyarrow" else module.DataFrame
    seen = set()
    for first in (True, None):
        steps = [("nested", nested(("columns", "columns"), "table"))]
        fitted = DPPipeline(steps, epsilon=5.0, random_state=0)
        fitted.fit(make({"a": [first, *([True, False] * 200)[1:]]}))
        seen.add(tuple(fitted.get_feature_names_out()))
    assert len(seen) == 1


def test_a_text_in_an_empty_column_changes_no_kind_of_another():
    seen = set()
    for entry in (None, "text"):
        rows = pd.DataFrame(
            {"a": [1.0, 2.0] * 200, "b": pd.Series([entry, *[None] * 399], dtype=object)}
        )
        model = make_private_pipeline(
            DPSimpleImputer(strategy="constant", fill_value=0.0),
            ColumnTransformer([("in", DPTableVectorizer(), [0])]),
            epsilon=5.0,
            random_state=0,
        )
        seen.add(tuple(model.fit(rows).get_feature_names_out()))
    assert len(seen) == 1


@pytest.mark.long
@pytest.mark.parametrize(
    "steps",
    [
        [FunctionTransformer(np.log1p)],
        [FunctionTransformer(), FeatureUnion([("in", FunctionTransformer(np.log1p))])],
        [
            SimpleImputer(strategy="constant", fill_value=0, keep_empty_features=True),
            Pipeline([("none", "passthrough"), ("in", FunctionTransformer(np.log1p))]),
        ],
        [BoundsScaler(feature_bounds=(0, 3))],
    ],
)
def test_functions_get_numbers_whatever_holds_them(steps):
    """NumPy's functions take no objects: a word is refused, and nothing quotes it."""
    values = [0.0, 1.0, True, 2] * 100
    fitted = make_private_pipeline(*steps, DPLogisticRegression(**TWO), random_state=0)
    meant = fitted.fit(np.array([values], dtype=float).T, LABELS)[-1].coef_
    for make in FORMS.values():
        np.testing.assert_allclose(fitted.fit(make(values), LABELS)[-1].coef_, meant)
        with pytest.raises(ValueError, match="withheld") as caught:
            fitted.fit(make(["secret", *values[1:]]), LABELS)
        assert "secret" not in str(caught.value)


@pytest.mark.parametrize("before", ["passthrough", Pipeline([("none", "passthrough")])])
@pytest.mark.parametrize(
    "rows",
    [
        pd.DataFrame({"a": [True, False] * 200, "b": np.arange(400)}),
        [[float(number), number % 7] for number in range(400)],
    ],
    ids=["booleans", "list"],
)
def test_a_reader_of_tables_reads_alike_behind_what_changes_nothing(rows, before):
    alone = DPPipeline([("table", DPTableVectorizer())], epsilon=5.0, random_state=0)
    behind = Pipeline([("table", DPTableVectorizer())])
    behind = DPPipeline([("none", before), ("rows", behind)], epsilon=5.0, random_state=0)
    np.testing.assert_array_equal(behind.fit_transform(rows), alone.fit_transform(rows))


@pytest.mark.parametrize("form", FORMS)
def test_objects_are_no_numbers_where_all_of_them_are(form):
    """A word beside them would make objects of all."""
    found = as_floats(FORMS[form]([1, 0.5, None]))
    assert (found["a"] if form == "frame" else found).dtype == object


def test_objects_stay_what_they_are_but_for_gaps():
    values = [True, 2**60 + 1, 0.5, "7", None, pd.NA, pd.NaT]
    meant = [True, 2**60 + 1, 0.5, "7", np.nan, np.nan, np.nan]
    frame = of_objects(values)
    for found in (as_floats(frame)["a"], as_floats(in_array(values))[:, 0]):
        assert found.dtype == object
        assert [type(one) for one in found] == [type(one) for one in meant]
        assert [one for one in found if one == one] == meant[:4]
    assert frame["a"].tolist()[4] is None


@pytest.mark.long
@pytest.mark.parametrize("reader", READERS)
@for_each("nesting, form", CASES, parts=6)
def test_a_row_is_read_alone_as_it_is_among_others(reader, nesting, form):
    make, step = FORMS[form], declared(nested(nesting, reader))
    fitted = make_private_pipeline(step, DPLogisticRegression(**TWO), epsilon=20.0)
    steps = fitted.fit(make([*["yes", "no", True, 2] * 100]), LABELS)[:-1]
    together = dense(steps.transform(make(ENTRIES)))
    alone = [dense(steps.transform(make([entry])))[0] for entry in ENTRIES]
    np.testing.assert_array_equal(together, alone)


@pytest.mark.long
@pytest.mark.parametrize("kind", COLUMNS)
@for_each("nesting, form", CASES, parts=8)
def test_no_entry_changes_the_words_that_others_publish(kind, nesting, form):
    seen = set()
    for entry in (COLUMNS[kind][0], True, 2, "7", "yes", None):
        rows = FORMS[form]([entry, *(COLUMNS[kind] * 200)[1:]])
        step = declared(nested(nesting, "table"))
        fitted = DPPipeline([("nested", step)], epsilon=5.0, random_state=0).fit(rows)
        seen.add(tuple(map(str, fitted.get_feature_names_out())))
    assert len(seen) == 1
