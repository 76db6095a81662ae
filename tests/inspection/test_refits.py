"""Steps that were fitted again are named, and a total of the last fits alone is no verdict."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import StandardScaler

from skdp.calibration import DPCalibratedClassifier, DPConformalClassifier
from skdp.exceptions import PrivacyWarning
from skdp.inspection import total_report
from skdp.linear_model import DPLogisticRegression, DPSGDClassifier
from skdp.model_selection import DPGridSearch
from skdp.pipeline import make_private_pipeline
from skdp.preprocessing import DPNormClipper, DPQuantileClipper, DPStandardScaler, NormClipper

X = np.random.default_rng(0).uniform(-1, 1, (300, 3))
Y = (X[:, 0] > 0).astype(int)


def scaler():
    return DPStandardScaler(feature_bounds=(-1, 1))


def model():
    return DPLogisticRegression(classes=[0, 1])


def columns(**options):
    return make_column_transformer((scaler(), [0, 1]), ("passthrough", [2]), **options)


def refit_first(pipeline):
    pipeline[0].fit(X, Y)


def refit_inside_columns(pipeline):
    pipeline[0].named_transformers_["dpstandardscaler"].fit(X[:, :2])


def exchange_first(pipeline):
    (name, step), *_ = pipeline.steps
    pipeline.set_params(**{name: clone(step).fit(X, Y)})


def exchange_first_for_one_from_a_file(pipeline):
    (name, step), *_ = pipeline.steps
    pipeline.steps[0] = name, pickle.loads(pickle.dumps(clone(step).fit(X, Y)))


def put_in_what_leaks(pipeline):
    (name, _), *_ = pipeline.steps
    pipeline.steps[0] = name, StandardScaler().fit(X)


def put_in_what_leaks_in_columns(pipeline):
    columns = pipeline[0]
    (name, _, chosen), rest = columns.transformers_
    columns.transformers_ = [(name, StandardScaler().fit(X[:, :2]), chosen), rest]


def refit_all(pipeline):
    pipeline.fit(X, Y)


def refit_twice_inside(pipeline):
    pipeline[0][0].fit(X)


# What is fitted, what is done to it afterwards, and the step that is named.
CASES = {
    "step": (lambda: make_pipeline(scaler(), model()), refit_first, "dpstandardscaler"),
    "step by all": (lambda: make_pipeline(scaler(), model()), refit_all, "dpstandardscaler"),
    "step exchanged": (
        lambda: make_pipeline(scaler(), model()),
        exchange_first,
        "dpstandardscaler",
    ),
    "with public steps between": (
        lambda: make_pipeline(scaler(), NormClipper(), model()),
        refit_first,
        "dpstandardscaler",
    ),
    "columns": (
        lambda: make_pipeline(columns(), model()),
        refit_first,
        "columntransformer__dpstandardscaler",
    ),
    "inside columns": (
        lambda: make_pipeline(columns(), model()),
        refit_inside_columns,
        "columntransformer__dpstandardscaler",
    ),
    "columns exchanged": (
        lambda: make_pipeline(columns(), model()),
        exchange_first,
        "columntransformer__dpstandardscaler",
    ),
    "union": (
        lambda: make_pipeline(make_union(scaler(), DPQuantileClipper()), model()),
        refit_first,
        "featureunion__dpstandardscaler",
    ),
    "nested pipeline": (
        lambda: make_pipeline(make_pipeline(scaler(), DPNormClipper()), model()),
        refit_twice_inside,
        "pipeline__dpstandardscaler",
    ),
    "nested columns": (
        lambda: make_pipeline(make_pipeline(columns(), NormClipper()), model()),
        refit_twice_inside,
        "pipeline__columntransformer__dpstandardscaler",
    ),
    "step from a file": (
        lambda: make_pipeline(scaler(), model()),
        exchange_first_for_one_from_a_file,
        "dpstandardscaler",
    ),
    "columns of workers": (
        lambda: make_pipeline(columns(n_jobs=2), model()),
        refit_first,
        "columntransformer__dpstandardscaler",
    ),
    "private pipeline": (
        lambda: make_private_pipeline(scaler(), model()),
        refit_first,
        "dpstandardscaler",
    ),
    "columns of a private pipeline": (
        lambda: make_private_pipeline(columns(), model()),
        refit_inside_columns,
        "columntransformer__dpstandardscaler",
    ),
}
COPIES = {
    "itself": lambda one: one,
    "copied": copy.copy,
    "deeply copied": copy.deepcopy,
    "pickled": lambda one: pickle.loads(pickle.dumps(one)),
}


def named(report):
    return [text for text in report.not_covered if "fitted again" in text]


@pytest.mark.parametrize("case", CASES)
def test_a_step_that_was_fitted_again_is_named(case):
    make, change, name = CASES[case]
    fitted = make().fit(X, Y)
    before = total_report(fitted)
    assert before.differentially_private is True
    assert not named(before)
    change(fitted)
    after = total_report(fitted)
    assert after.differentially_private is False
    assert name in after.unprotected
    assert name in named(after)[0]
    assert after.epsilon == before.epsilon
    # A clone is fitted for the first time.
    assert total_report(clone(fitted).fit(X, Y)).differentially_private is True


@pytest.mark.long
@pytest.mark.parametrize("case", ["columns", "step", "private pipeline", "columns exchanged"])
def test_copies_are_watched_from_then_on_and_know_what_was_before(case):
    make, change, name = CASES[case]
    for kind, copied in COPIES.items():
        again = copied(make().fit(X, Y))
        assert total_report(again).differentially_private is True, kind
        change(again)
        after = total_report(again)
        assert after.differentially_private is False, kind
        assert name in after.unprotected, kind
        for later in ("copied", "deeply copied"):
            assert total_report(COPIES[later](again)).unprotected == after.unprotected


@pytest.mark.parametrize("case", ["step", "inside columns", "private pipeline", "nested pipeline"])
def test_a_file_says_so_too(case):
    make, change, name = CASES[case]
    fitted = make().fit(X, Y)
    change(fitted)
    assert name in total_report(pickle.loads(pickle.dumps(fitted))).unprotected


def test_earlier_fits_of_a_last_step_are_named_and_nothing_was_learnt_from_them():
    fitted = make_pipeline(scaler(), model()).fit(X, Y)
    fitted[-1].fit(fitted[:-1].transform(X), Y)
    report = total_report(fitted)
    assert "earlier fits of step 'dplogisticregression'" in report.not_covered[-1]
    assert report.differentially_private is True


@pytest.mark.long
def test_each_fit_of_a_search_of_scikit_learn_is_the_first_of_its_copy():
    grid = {"dplogisticregression__alpha": [1e-3, 1e-2]}
    search = GridSearchCV(make_pipeline(columns(), model()), grid, cv=2).fit(X, Y)
    assert total_report(search.best_estimator_).unprotected == ()


def test_all_calls_of_a_stream_are_one_fit():
    stream = DPSGDClassifier(classes=[0, 1], mechanism="laplace", delta=0.0)
    for _ in range(3):
        stream.partial_fit(X, Y)
    steps = make_pipeline(scaler().fit(X), FrozenEstimator(stream))
    assert not any("dpsgd" in name for name in total_report(steps).unprotected)
    assert not named(total_report(steps))


@pytest.mark.long
def test_what_is_inside_another_estimator_is_looked_at():
    inside = [
        ("estimator_", DPCalibratedClassifier(model())),
        ("estimator_", DPConformalClassifier(model())),
        ("best_estimator_", DPGridSearch(model(), {"alpha": [1e-3, 1e-2]}, delta=1e-3)),
    ]
    for name, outer in inside:
        fitted = outer.fit(X, Y)
        assert fitted.differentially_private_ is True
        assert total_report(fitted) is fitted.privacy_report_
        around = make_pipeline(NormClipper(), fitted)
        getattr(fitted, name).fit(X, Y)
        assert fitted.differentially_private_ is False
        assert total_report(fitted).unprotected == (name,)
        assert f"{type(outer).__name__.lower()}__{name}" in total_report(around).unprotected
        setattr(fitted, name, LogisticRegression().fit(X, Y))
        assert fitted.differentially_private_ is False


@pytest.mark.long
def test_a_private_pipeline_knows_that_a_step_was_fitted_again():
    fitted = make_private_pipeline(scaler(), model()).fit(X, Y)
    assert fitted.differentially_private_ is True
    fitted[0].fit(X)
    for one in (fitted, pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
        assert one.differentially_private_ is False
    assert fitted.fit(X, Y).differentially_private_ is True


@pytest.mark.parametrize(
    ("first", "put_in", "name"),
    [
        (scaler, put_in_what_leaks, "dpstandardscaler"),
        (columns, put_in_what_leaks_in_columns, "columntransformer__dpstandardscaler"),
    ],
)
def test_a_private_pipeline_knows_that_a_step_that_leaks_was_put_in(first, put_in, name):
    fitted = make_private_pipeline(first(), model()).fit(X, Y)
    assert fitted.differentially_private_ is True
    put_in(fitted)
    assert fitted.differentially_private_ is False
    assert total_report(fitted).unprotected == (name,)


@pytest.mark.long
def test_a_search_knows_that_a_step_that_leaks_was_put_in():
    steps = make_pipeline(make_column_transformer((NormClipper(), [0, 1, 2])), model())
    grid = {"dplogisticregression__alpha": [1e-3, 1e-2]}
    search = DPGridSearch(steps, grid, delta=1e-3).fit(X, Y)
    for one in (search, pickle.loads(pickle.dumps(search))):
        assert one.differentially_private_ is True
        put_in_what_leaks(one.best_estimator_)
        assert total_report(one).unprotected == ("best_estimator___columntransformer",)


def test_a_step_that_leaks_and_is_named_in_allow_is_none_that_was_put_in():
    fitted = make_private_pipeline(StandardScaler(), model(), allow=("standardscaler",)).fit(X, Y)
    assert total_report(fitted) is fitted.privacy_report_


def test_the_number_of_fits_in_the_process_is_in_no_file():
    """A private selection keeps the number of its trials secret."""
    seeded = [DPLogisticRegression(classes=[0, 1], random_state=0).fit(X, Y) for _ in range(2)]
    with pytest.warns(PrivacyWarning):
        first, second = (pickle.dumps(one) for one in seeded)
    assert first == second
