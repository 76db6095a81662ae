"""Arguments with an entry for each row: of which rows, where both have an index.

Everything public that takes such an argument is found by its signature.
"""

import inspect
import pkgutil
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

import skdp
from skdp.calibration import (
    DPCalibratedClassifier,
    DPConformalClassifier,
    DPConformalRegressor,
)
from skdp.linear_model import DPLogisticRegression, DPRidge
from skdp.metrics import private_score
from skdp.model_selection import DPGridSearch, DPRandomizedSearch
from skdp.pipeline import DPPipeline, make_private_pipeline
from skdp.preprocessing import DPStandardScaler
from tests.door import in_order_of_rows

FOR_EACH_ROW = ("groups", "public_weight", "sample_epsilon")
MODEL = DPLogisticRegression(classes=[0, 1], random_state=0)
# What can't be made without arguments.
MADE = {
    DPCalibratedClassifier: lambda: DPCalibratedClassifier(MODEL),
    DPConformalClassifier: lambda: DPConformalClassifier(MODEL),
    DPConformalRegressor: lambda: DPConformalRegressor(DPRidge()),
    DPGridSearch: lambda: DPGridSearch(MODEL, {"alpha": [0.1, 1.0]}),
    DPPipeline: lambda: make_private_pipeline(DPStandardScaler(), MODEL),
    DPRandomizedSearch: lambda: DPRandomizedSearch(MODEL, {"alpha": [0.1, 1.0]}),
}
# What functions need besides rows.
NEEDED = {
    "estimator": MODEL,
    "model_a": MODEL,
    "model_b": MODEL,
    "costs": {"false_positive": 1.0, "false_negative": 1.0},
    "aggregate": None,
    "classes": [0, 1],
    "data_norm": 1.0,
    "epsilon": 1.0,
    "target_bounds": (0, 1),
}


def public_callables():
    """Give all that is public and takes an entry for each row, with the name of that argument."""
    found = {}
    for module in pkgutil.walk_packages(skdp.__path__, "skdp."):
        # Collections are in partitions, and have checks of their own: tests/dask/test_groups.py.
        parts = module.name.split(".")
        if "dask" in parts or any(part.startswith("_") for part in parts):
            continue
        package = import_module(module.name)
        for name in getattr(package, "__all__", ()):
            one = getattr(package, name)
            members = inspect.getmembers(one, inspect.isfunction) if inspect.isclass(one) else ()
            own = [(f"{name}.{key}", f, one) for key, f in members if not key.startswith("_")]
            for title, function, owner in own or [(name, one, None)]:
                if not inspect.isfunction(function) or key_is_request(title):
                    continue
                for argument in FOR_EACH_ROW:
                    if argument in inspect.signature(function).parameters:
                        found[f"{title}({argument})"] = function, owner, argument
    return found


def key_is_request(title):
    """Tell whether this is a method of scikit-learn's routing, which takes no entries."""
    return title.partition(".")[2].startswith("set_")


CALLABLES = public_callables()


def ask(name, **rows):
    function, owner, _ = CALLABLES[name]
    parameters = inspect.signature(function).parameters
    own = {key: value for key, value in NEEDED.items() if key in parameters}
    taken = {key: value for key, value in rows.items() if key in parameters}
    if owner is None:
        return function(**own, **taken)
    made = MADE.get(owner, owner)()
    if function.__name__ == "partial_fit":
        made.set_params(mechanism="laplace")
    return getattr(made, function.__name__)(**own, **taken)


@pytest.fixture
def rows(rng):
    index = [f"row {i}" for i in range(40)]
    X = pd.DataFrame(rng.uniform(-1, 1, (40, 2)), columns=["a", "b"], index=index)
    y = pd.Series(np.arange(40) % 2, index=index)
    return X, y, pd.Series(np.arange(40) % 20 + 1.0, index=index)


def test_all_that_takes_entries_of_rows_is_found():
    assert len(CALLABLES) > 40
    owners = {owner for _, owner, _ in CALLABLES.values()}
    assert {DPCalibratedClassifier, DPGridSearch, DPPipeline, DPStandardScaler} < owners
    names = {name.partition("(")[0] for name in CALLABLES}
    assert {"private_score", "describe", "label_aggregate", "walr_path", "duality_gap"} < names


@pytest.mark.every
@pytest.mark.parametrize("name", CALLABLES)
def test_entries_in_another_order_than_rows_are_refused(name, rows):
    """Matched by place, a person's rows would be protected as those of another."""
    X, y, entries = rows
    argument = CALLABLES[name][2]
    for other in (
        entries.sample(frac=1, random_state=0),
        entries.reset_index(drop=True),
        entries.set_axis(["row 0", *entries.index[:-1]]),
    ):
        with pytest.raises(ValueError, match=rf"{argument} .* index .*loc\[X.index\].*to_numpy"):
            ask(name, X=X, y=y, **{argument: other})
    if "y" in inspect.signature(CALLABLES[name][0]).parameters:
        with pytest.raises(ValueError, match=rf"{argument} .* index .*loc\[y.index\]"):
            ask(name, X=X.to_numpy(), y=y, **{argument: other})


def test_no_entry_and_no_label_of_an_index_is_quoted(rows):
    X, y, entries = rows
    with pytest.raises(ValueError, match="index") as caught:
        MODEL.fit(X, y, groups=entries.sample(frac=1, random_state=0))
    assert "row " not in str(caught.value)


@pytest.mark.long
def test_what_has_the_index_of_the_rows_or_none_passes(rows):
    """Duplicates, too, where they are in one order, and what only Python's lists call an index."""
    X, y, entries = rows
    shuffled = entries.sample(frac=1, random_state=0)
    twice = ["a", "b"] * 20
    taken = [
        (X, y, entries),
        (X, y, entries.to_numpy()),
        (X, y, entries.tolist()),
        (X.to_numpy(), y.to_numpy(), shuffled),
        (X, y, shuffled.loc[X.index]),
        (X.set_axis(twice), y, entries.set_axis(twice)),
        # scikit-learn matches y by place, and so do fits.
        (X, y.reset_index(drop=True), entries),
        (X.set_axis(pd.RangeIndex(40)), y, entries.set_axis(np.arange(40))),
        (X, y, entries.astype(str).astype("category")),
    ]
    polars = pytest.importorskip("polars")
    taken.append((X, y, polars.Series(entries.to_numpy())))
    taken.append((polars.from_pandas(X), y.to_numpy(), shuffled))
    coefs = [MODEL.fit(X, y, groups=ids).coef_.tolist() for X, y, ids in taken]
    alike = [coef for (*_, ids), coef in zip(taken, coefs, strict=True) if ids is not shuffled]
    assert all(coef == alike[0] for coef in alike)


def test_entries_of_another_number_of_rows_are_told_of_their_number(rows):
    X, y, entries = rows
    with pytest.raises(ValueError, match="one id for each row"):
        MODEL.fit(X, y, groups=entries.iloc[:-1])


def test_scores_refuse_what_fits_do(rows):
    X, y, entries = rows
    model = MODEL.fit(X, y)
    assert 0.0 <= float(private_score(model, X, y, epsilon=9.0, groups=entries)) <= 1.0
    with pytest.raises(ValueError, match="index"):
        private_score(model, X, y, epsilon=9.0, groups=entries.iloc[::-1])
    with pytest.raises(ValueError, match="index"):
        private_score(model, X, y, epsilon=9.0, groups=entries[::-1])


def test_functions_without_such_arguments_stay_as_they_are():
    def plain(X, y):
        return X, y

    assert in_order_of_rows(plain) is plain
