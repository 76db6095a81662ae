"""No record makes a trial fail: what a candidate would refuse is refused before there is a charge.

A trial that fails isn't chosen, without any noise. So either a search as a whole refuses its input,
or whatever is in one record, no trial raises an error.
"""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import Pipeline, make_pipeline

from skdp.additive import DPAdditiveClassifier
from skdp.calibration import DPCalibratedClassifier
from skdp.ledger import PrivacyLedger
from skdp.linear_model import (
    DPLogisticRegression,
    DPRidge,
    DPSCDClassifier,
    DPSGDClassifier,
)
from skdp.model_selection import DPGridSearch
from skdp.pipeline import make_private_pipeline
from skdp.preprocessing import (
    BoundsScaler,
    DPOneHotEncoder,
    DPQuantileClipper,
    DPSimpleImputer,
    DPStandardScaler,
    DPTableVectorizer,
    NormClipper,
)
from tests.door import model_selection_trials_module as _trials

N_ROWS = 60
ODD = 7
pytestmark = [
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


def model(**options):
    return DPLogisticRegression(classes=[0, 1], **options)


LETTERS = DPOneHotEncoder(categories=[["a", "b"]])
CANDIDATES = {
    "whitened": model(),
    "whitened in a norm": model(data_norm=1.0),
    "SGD": DPSGDClassifier(classes=[0, 1]),
    "dual": DPSCDClassifier(classes=[0, 1]),
    "calibrated": DPCalibratedClassifier(model()),
    "additive": DPAdditiveClassifier(classes=[0, 1]),
    "scaled privately": make_private_pipeline(DPStandardScaler(), model()),
    "clipped privately": make_private_pipeline(DPQuantileClipper(), model()),
    "categories found": make_private_pipeline(DPOneHotEncoder(), model()),
    "calibrated pipeline": DPCalibratedClassifier(
        make_private_pipeline(DPOneHotEncoder(), model())
    ),
    "table": make_private_pipeline(DPTableVectorizer(), model()),
    "table in columns": make_private_pipeline(
        make_column_transformer((DPTableVectorizer(), [0]), (DPOneHotEncoder(), [1])), model()
    ),
    "gaps filled privately": make_private_pipeline(
        DPSimpleImputer(strategy="most_frequent", missing_values=-1), model()
    ),
    "words listed": make_pipeline(
        DPOneHotEncoder(categories=[["a", "b"], ["1", "2"]], handle_unknown="ignore"), model()
    ),
    "numbers listed": make_pipeline(DPOneHotEncoder(categories=[[1, 2], [1, 2]]), model()),
    "words listed, the rest as it is": make_pipeline(
        make_column_transformer((LETTERS, [0]), remainder="passthrough"), model()
    ),
    "words listed, the rest to an encoder": make_pipeline(
        make_column_transformer((LETTERS, [0]), remainder="passthrough"),
        make_private_pipeline(DPOneHotEncoder(), model()),
    ),
    "gaps filled": make_pipeline(DPSimpleImputer(strategy="constant", fill_value=3), model()),
    "gaps made": make_pipeline(
        DPSimpleImputer(strategy="constant", missing_values=-1, fill_value=np.nan), model()
    ),
    "rows clipped": make_pipeline(NormClipper(), model()),
    "mapped": make_pipeline(BoundsScaler(), model()),
}
PAIRS = [
    *((name, name) for name in CANDIDATES),
    *(("whitened", other) for other in ("categories found", "table")),
    *(("numbers listed", other) for other in ("whitened", "categories found")),
    ("additive", "table"),
    ("categories found", "table"),
    ("words listed, the rest as it is", "words listed, the rest to an encoder"),
]
ENTRIES = [
    *("1", "x", "", "-1", "1e400", "nan", np.str_("1"), b"1"),
    *(None, np.nan, pd.NA, pd.NaT, np.inf),
    *(True, np.bool_(True), 0, -1, 1e308, -1e308, 5e-324, 10**400, np.float32(1.0), 1j),
    *([1], np.datetime64("2020-01-01"), np.timedelta64(1, "D")),
]


def columns_with(entry, first):
    """Return two columns of objects, of words or numbers and of numbers, with one odd entry."""
    rng = np.random.default_rng(0)
    values = rng.integers(1, 3, (2, N_ROWS)).tolist()
    if first == "words":
        values[0] = ["ab"[value - 1] for value in values[0]]
    values[int(first == "words")][ODD] = entry
    return values


def as_array(columns):
    array = np.empty((N_ROWS, 2), dtype=object)
    for place, column in enumerate(columns):
        for row, entry in enumerate(column):
            array[row, place] = entry
    return array


def as_frame(columns):
    return pd.DataFrame({f"c{j}": pd.Series(c, dtype=object) for j, c in enumerate(columns)})


FORMS = {
    "frame": as_frame,
    "categories": lambda columns: as_frame(columns).astype("category"),
    "array": as_array,
    "list": lambda columns: [list(row) for row in zip(*columns, strict=True)],
    "polars": lambda columns: pl.DataFrame({"c0": columns[0], "c1": columns[1]}, strict=False),
    "floats": lambda columns: as_array(columns).astype(float),
}


@pytest.fixture
def errors(monkeypatch):
    """Every error that a trial catches."""
    caught = []

    def watched(function):
        def call(*args, **kwargs):
            try:
                return function(*args, **kwargs)
            except Exception as error:
                caught.append(error)
                raise

        return call

    for name in ("_fit", "private_score", "row_scores", "_rows_to_score"):
        monkeypatch.setattr(_trials, name, watched(getattr(_trials, name)))
    return caught


class Charges(PrivacyLedger):
    """A ledger whose charges are counted, as opening files takes long."""

    def __init__(self):
        self.n = 0

    def _charge(self, *args, **kwargs):
        self.n += 1


def fit(search, X, y, **given):
    """Return whether a search took its input."""
    search.ledger.n = 0
    try:
        # What a user has set makes no number an error in a trial.
        with np.errstate(all="raise"):
            search.fit(X, y, **given)
    except (TypeError, ValueError, FloatingPointError):
        return False
    return True


def search_of(first, second, method):
    """Return a search over two models, which are steps of a pipeline if they aren't alone."""
    options = {"epsilon": 3.0, "delta": 0.01, "method": method, "ledger": Charges()}
    if method == "repeat":
        options["n_trials"] = 3.0
    models = [list(one) if type(one) is Pipeline else [one] for one in (first, second)]
    if max(map(len, models)) == 1:
        alone = make_pipeline(first)
        return DPGridSearch(alone, {alone.steps[0][0]: [first, second]}, **options)
    grid = [
        {"before": ["passthrough" if len(steps) == 1 else steps[0]], "last": [steps[-1]]}
        for steps in models
    ]
    return DPGridSearch(Pipeline([("before", None), ("last", models[0][-1])]), grid, **options)


@pytest.mark.long
@pytest.mark.parametrize("pair", PAIRS, ids=" or ".join)
def test_no_entry_makes_a_trial_fail(pair, errors):
    """Each entry is in another form of the rows, which differ from pair to pair."""
    first, second = (CANDIDATES[name] for name in pair)
    for place, entry in enumerate(ENTRIES):
        form = list(FORMS)[(place + PAIRS.index(pair)) % len(FORMS)]
        for kind in ("numbers", "words"):
            try:
                X = FORMS[form](columns_with(entry, kind))
            except (TypeError, ValueError, OverflowError):
                # Nobody can hand that in.
                continue
            search = search_of(first, second, ("repeat", "compose")[place % 2])
            taken = fit(search, X, np.arange(N_ROWS) % 2)
            assert not errors, (form, entry, kind, errors)
            assert search.ledger.n == int(taken), (form, entry, kind)


@pytest.mark.parametrize("strategy", ["constant", "most_frequent"])
def test_imputers_that_may_make_gaps_are_refused(strategy):
    """Only a record that has the mark would make the next step fail."""
    imputer = DPSimpleImputer(strategy=strategy, missing_values=-1, fill_value=np.nan)
    search = DPGridSearch(make_private_pipeline(imputer, model()), {})
    with pytest.raises(TypeError, match="may fill with NaN"):
        search.fit(np.zeros((N_ROWS, 2)), np.arange(N_ROWS) % 2)


@pytest.mark.long
@pytest.mark.parametrize("method", ["repeat", "compose"])
def test_text_among_numbers_is_what_it_is_for_all_candidates(method, errors):
    """An encoder would take it for a word that is no number, and others for a number."""
    for entry in ("1", np.str_("1")):
        X = as_frame(columns_with(entry, "numbers"))
        search = search_of(CANDIDATES["whitened"], CANDIDATES["categories found"], method)
        assert fit(search, X, np.arange(N_ROWS) % 2)
        assert not errors


@pytest.mark.long
def test_all_candidates_are_fitted_where_entries_are_as_they_should_be(errors):
    for name, candidate in CANDIDATES.items():
        taken = [
            fit(search_of(candidate, candidate, "compose"), X, np.arange(N_ROWS) % 2)
            for X in (as_frame(columns_with(1, kind)) for kind in ("numbers", "words"))
        ]
        assert any(taken), name
    assert not errors


TARGETS = {
    "list": lambda targets: targets,
    "array": lambda targets: as_array([targets, targets])[:, 0],
    "texts": lambda targets: np.array([str(target) for target in targets]),
    "two": lambda targets: as_array([targets, targets]),
}


@pytest.mark.long
@pytest.mark.parametrize("form", TARGETS)
@pytest.mark.parametrize("learnt", [True, False])
def test_no_target_makes_a_trial_fail(form, learnt, errors):
    rng = np.random.default_rng(0)
    X, base = rng.random((N_ROWS, 2)), rng.random(N_ROWS).tolist()
    first = DPRidge(target_bounds=(0, 1))
    second = make_private_pipeline(DPStandardScaler(), first) if learnt else first
    n_taken = 0
    for place, entry in enumerate(ENTRIES):
        targets = [*base[:ODD], entry, *base[ODD + 1 :]]
        search = search_of(first, second, ("repeat", "compose")[place % 2])
        taken = fit(search, X, TARGETS[form](targets))
        assert not errors, (entry, errors)
        assert search.ledger.n == int(taken), entry
        n_taken += taken
    assert n_taken
