"""Searches as estimators: what they take, refuse and publish."""

import inspect
import math
import os
import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.stats import loguniform
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.utils import get_tags

from skdp.accountant import PrivacyReport, TruncatedNegativeBinomial
from skdp.additive import DPAdditiveClassifier
from skdp.exceptions import BudgetExceededError, CostlySearchWarning
from skdp.ledger import PrivacyLedger
from skdp.linear_model import (
    DPCDClassifier,
    DPLogisticRegression,
    DPRidge,
    DPSGDClassifier,
    WALRClassifier,
)
from skdp.model_selection import DPGridSearch, DPRandomizedSearch
from skdp.preprocessing import (
    BoundsScaler,
    DPNormClipper,
    DPOneHotEncoder,
    DPSimpleImputer,
    DPStandardScaler,
    NormClipper,
)
from tests.door import (
    CLASSES_READ,
    model_selection_search_module as _search,
)
from tests.model_selection._searches import GRID, records, search

ALPHAS = {"alpha": [1e-4, 1e-2]}
BOUNDED = DPRidge(target_bounds=(-9, 9))
INSTANCES = [
    DPGridSearch(DPLogisticRegression(), ALPHAS, method="repeat", n_trials=2),
    DPGridSearch(BOUNDED, ALPHAS, method="compose"),
    DPGridSearch(DPLogisticRegression(), ALPHAS, epsilon=math.inf),
    DPGridSearch(make_pipeline(NormClipper(), BOUNDED), {"dpridge__alpha": [1e-4]}, epsilon=1e-3),
    DPRandomizedSearch(
        DPRidge(), {"alpha": [1e-4, 1e-3, 1e-2]}, n_iter=2, epsilon=math.inf, method="repeat"
    ),
]
TWO = {"classes": [0, 1]}


@pytest.mark.long
def test_a_search_over_alpha_alone_is_advised_against_before_it_is_charged(tmp_path):
    """Of estimators that choose all else themselves, by the names of settings alone."""
    X, y = records()
    ledger = PrivacyLedger(tmp_path / "study", epsilon=8.0, delta=1e-2)
    within = make_pipeline(NormClipper(), DPLogisticRegression(**TWO))
    for estimator, grid in [
        (DPLogisticRegression(**TWO), ALPHAS),
        (within, {"dplogisticregression__alpha": [1e-4]}),
        (DPAdditiveClassifier(**TWO), ALPHAS),
    ]:
        advised = DPGridSearch(estimator, grid, ledger=ledger)
        with warnings.catch_warnings():
            warnings.simplefilter("error", CostlySearchWarning)
            with pytest.raises(CostlySearchWarning):
                advised.fit(X, y)
        assert ledger.spent == 0.0
    for estimator, grid, epsilon in [
        (DPLogisticRegression(**TWO), {"data_norm": [1.0, 2.0]}, 1.0),
        (DPLogisticRegression(**TWO), ALPHAS | {"data_norm": [1.0]}, 1.0),
        (DPSGDClassifier(max_iter=1, **TWO), ALPHAS, 1.0),
        # Nothing is divided.
        (DPLogisticRegression(**TWO), ALPHAS, math.inf),
    ]:
        with warnings.catch_warnings():
            warnings.simplefilter("error", CostlySearchWarning)
            DPGridSearch(estimator, grid, epsilon=epsilon, random_state=0).fit(X, y)


def test_nothing_is_relaxed_without_noise():
    for epsilon, poor in ((1.0, True), (math.inf, False), ("one", True)):
        tags = get_tags(clone(INSTANCES[0]).set_params(epsilon=epsilon))
        assert tags.estimator_type == "classifier"
        assert tags.classifier_tags.poor_score is poor
        assert not tags.non_deterministic


def test_both_searches_have_the_same_parameters_in_the_same_order():
    grid, drawn = (
        list(inspect.signature(cls).parameters) for cls in (DPGridSearch, DPRandomizedSearch)
    )
    assert grid[2:] == drawn[3:]
    assert drawn[:3] == ["estimator", "param_distributions", "n_iter"]


MIXED = {
    "estimator": make_pipeline(BoundsScaler((-3.0, 3.0)), DPLogisticRegression()),
    "param_grid": [
        {"dplogisticregression": [DPSGDClassifier(batch_size=50, max_iter=2)]},
        {"dplogisticregression": [DPCDClassifier(max_iter=3)], "boundsscaler": ["passthrough"]},
        {"dplogisticregression__data_norm": [0.5, 1.0]},
        {"boundsscaler": [ColumnTransformer([("kept", "passthrough", [0, 2])])]},
    ],
}


@pytest.mark.long
@pytest.mark.parametrize(
    ("grid", "method", "adjacency"),
    product([{}, MIXED], ["repeat", "compose"], ["zero_out", "replace_one"]),
)
def test_the_budget_is_spent_once_and_nearly_all(grid, method, adjacency):
    X, y = records()
    fitted = search(method=method, adjacency=adjacency, **grid).fit(X, y)
    report = fitted.privacy_report_
    assert (report.epsilon, report.delta, report.adjacency) == (1.0, 1e-3, adjacency)
    assert 0.97 < report.epsilon_at(1e-3) <= 1.0
    assert report.n_steps == 1
    text = " ".join(report.not_covered)
    assert "the state of the process, which reveal the number of trials" in text
    best = fitted.best_estimator_
    assert (best[-1] if grid else best).privacy_report_ is report


@pytest.mark.long
@pytest.mark.parametrize("scoring", ["accuracy", "balanced_accuracy", "roc_auc", "neg_log_loss"])
def test_scores_of_classifiers(scoring):
    X, y = records()
    fitted = search(scoring=scoring, method="repeat", epsilon=100.0, n_trials=8).fit(X, y)
    assert fitted.score(X, y) > 0.8
    assert fitted.best_score_ > (0.75 if scoring != "neg_log_loss" else -0.7)


@pytest.mark.long
@pytest.mark.parametrize("scoring", [None, "r2", "neg_mean_absolute_error"])
def test_scores_of_regressors(scoring):
    X, _ = records()
    model, grid = DPRidge(target_bounds=(0, 20), ball_budget=0), {"data_norm": [0.01, 3.0]}
    options = {"method": "repeat", "epsilon": 100.0, "n_trials": 8, "scoring": scoring}
    fitted = search(estimator=model, param_grid=grid, **options).fit(X, 10.0 + X[:, 0])
    assert fitted.best_params_ == {"data_norm": 3.0}
    assert fitted.score(X, 10.0 + X[:, 0]) > 0.9


@pytest.mark.long
@pytest.mark.parametrize("n_targets", [1, 2])
@pytest.mark.parametrize("method", ["repeat", "compose"])
@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error"])
def test_several_targets(scoring, method, n_targets):
    X, _ = records(1000)
    Y = np.column_stack([X[:, 0], X[:, 1] - X[:, 2]])[:, :n_targets]
    model, grid = DPRidge(target_bounds=(-5, 5), ball_budget=0), {"data_norm": [0.01, 3.0]}
    options = {"method": method, "epsilon": 100.0, "n_trials": 8, "scoring": scoring}
    fitted = search(estimator=model, param_grid=grid, **options).fit(X, Y)
    assert fitted.best_params_ == {"data_norm": 3.0}
    # A column is one target, as for scikit-learn's Ridge.
    assert fitted.predict(X).shape == (Y.shape if n_targets > 1 else (len(Y),))
    assert fitted.score(X, Y) > 0.8


def test_composition_chooses_the_best_where_there_is_no_noise():
    X, y = records()
    fitted = search(epsilon=math.inf).fit(X, y)
    assert fitted.method_ == "compose"
    assert math.isinf(fitted.privacy_report_.epsilon)
    scores = [
        DPLogisticRegression(epsilon=math.inf, alpha=alpha, data_norm=norm).fit(X, y).score(X, y)
        for alpha in GRID["alpha"]
        for norm in GRID["data_norm"]
    ]
    assert abs(fitted.score(X, y) - max(scores)) < 0.02


def _split_of(X, y, **options):
    """Return the rows held out, by their order in the first column."""
    kept = []
    with pytest.MonkeyPatch.context() as patch:
        split = _search.Records.split

        def watched(*args, **kwargs):
            kept.append(split(*args, **kwargs))
            return kept[-1]

        patch.setattr(_search.Records, "split", watched)
        search(**options).fit(X, y)
    return kept[0].X_validation[:, 0]


@pytest.mark.long
def test_the_split_reads_nothing():
    """The same rows are held out whatever they and their labels are."""
    X, y = records()
    numbered = np.column_stack([np.arange(len(X)), X])
    first = _split_of(numbered, y)
    assert first.size == 100
    for other in (np.roll(y, 1), (np.arange(len(y)) < 3).astype(int)):
        assert np.array_equal(_split_of(numbered[:, :1] * np.ones(3), other), first)


@pytest.mark.long
def test_a_class_may_be_missing_in_a_part():
    X, y = records()
    y[1:] = 0
    y[0] = 1
    fitted = search(n_trials=3).fit(X, y)
    assert fitted.classes_.tolist() == [0, 1]
    assert fitted.predict_proba(X).shape == (400, 2)


@pytest.mark.long
def test_classes_are_read_once_or_declared():
    X, y = records()
    read = search(estimator=DPLogisticRegression(), n_trials=2).fit(X, y)
    assert CLASSES_READ in read.privacy_report_.assumed_public
    assert CLASSES_READ not in search(n_trials=2).fit(X, y).privacy_report_.assumed_public
    with pytest.raises(ValueError, match="same classes"):
        search(param_grid={"classes": [[0, 1], [0, 1, 2]]}).fit(X, y)
    with pytest.raises(ValueError, match="not among the declared"):
        search().fit(X, y + 1)


class Centering(Pipeline):
    """A subclass may do anything."""

    def fit(self, X, y):
        return super().fit(X - X.mean(axis=0), y)


REFUSED = {
    "learns": make_pipeline(StandardScaler(), DPLogisticRegression()),
    "a function": make_pipeline(FunctionTransformer(), DPLogisticRegression()),
    "columns by a function": make_pipeline(
        ColumnTransformer([("kept", "passthrough", lambda X: [0])]), DPLogisticRegression()
    ),
    "learns in a column": make_pipeline(
        ColumnTransformer([("scaled", StandardScaler(), [0])]), DPLogisticRegression()
    ),
    "learns in the remainder": make_pipeline(
        ColumnTransformer([("kept", "passthrough", [0])], remainder=StandardScaler()),
        DPLogisticRegression(),
    ),
    "learns in a pipeline": make_pipeline(make_pipeline(StandardScaler()), DPLogisticRegression()),
    "learns in a union": make_pipeline(make_union(StandardScaler()), DPLogisticRegression()),
    "fails by what a row holds": make_pipeline(
        OneHotEncoder(categories=[[0, 1]] * 3, sparse_output=False), DPLogisticRegression()
    ),
    "frozen": make_pipeline(
        FrozenEstimator(DPStandardScaler().fit(records()[0])), DPLogisticRegression()
    ),
    "sparse if few": make_pipeline(
        ColumnTransformer(
            [("e", DPOneHotEncoder(categories=[[0, 1]] * 3, sparse_output=True), [0, 1, 2])]
        ),
        DPLogisticRegression(),
    ),
    "another pipeline": Centering([("dplogisticregression", DPLogisticRegression())]),
    "not ours": LogisticRegression(),
    "labels only": WALRClassifier(),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_read_rows_without_noise_is_refused(name):
    X, y = records()
    with pytest.raises(TypeError, match="a search takes"):
        DPGridSearch(REFUSED[name], {}).fit(X, y)
    grid = {"dplogisticregression": ["passthrough"]}
    with pytest.raises(TypeError, match="a search takes"):
        DPGridSearch(make_pipeline(DPLogisticRegression()), grid).fit(X, y)


@pytest.mark.parametrize("name", ["epsilon", "delta", "adjacency", "ledger", "random_state"])
def test_what_the_search_sets_is_not_searched_for(name):
    with pytest.raises(ValueError, match="set by the search"):
        search(param_grid={name: [1]}).fit(*records())


@pytest.mark.parametrize(
    "grid",
    [{"alpha": [1e-4, -1.0]}, {"data_norm": [1.0, math.nan]}, {"classes": [[0]]}, {"alpha": []}],
    ids=str,
)
def test_errors_of_parameters_come_before_any_noise(grid, tmp_path):
    ledger = PrivacyLedger(tmp_path / "study", epsilon=1.0, delta=1e-3)
    with pytest.raises(ValueError, match=r"alpha|data_norm|classes|empty|candidate"):
        search(param_grid=grid, ledger=ledger, random_state=None).fit(*records())
    assert ledger.spent == 0.0


HINGE = DPSGDClassifier(loss="hinge", batch_size=50, max_iter=2)
UNFIT = {
    "a classifier by r2": (DPLogisticRegression(), "r2", "regressor", ALPHAS, 2),
    "a regressor by accuracy": (DPRidge(target_bounds=(0, 1)), "accuracy", "classif", ALPHAS, 0),
    "three classes by a curve": (DPLogisticRegression(), "roc_auc", "two classes", ALPHAS, 3),
    "hinge by squares": (HINGE, "neg_brier_score", "predict_proba", ALPHAS, 2),
    "hinge by logarithms": (HINGE, "neg_log_loss", "predict_proba", ALPHAS, 2),
    "hinge in a pipeline": (
        make_pipeline(NormClipper(), HINGE),
        "neg_log_loss",
        "predict_proba",
        {"dpsgdclassifier__alpha": [1e-4]},
        2,
    ),
    "hinge among others": (
        HINGE,
        "neg_log_loss",
        "predict_proba",
        {"loss": ["log_loss", "hinge"]},
        2,
    ),
    "a regressor among classifiers": (
        make_pipeline(NormClipper(), DPLogisticRegression()),
        "accuracy",
        "classif",
        {"dplogisticregression": [DPLogisticRegression(), DPRidge(target_bounds=(0, 1))]},
        2,
    ),
    "a classifier among regressors": (
        make_pipeline(NormClipper(), DPRidge(target_bounds=(0, 1))),
        None,
        "regressors",
        {"dpridge": [DPRidge(target_bounds=(0, 1)), DPLogisticRegression()]},
        0,
    ),
}


@pytest.mark.parametrize("method", ["repeat", "auto"])
@pytest.mark.parametrize("name", UNFIT)
def test_scores_that_a_candidate_cannot_have_are_refused_before_any_noise(name, method, tmp_path):
    model, scoring, message, grid, n_classes = UNFIT[name]
    ledger = PrivacyLedger(tmp_path / "study", epsilon=8.0, delta=1e-2)
    X, _ = records()
    y = np.arange(len(X)) % n_classes if n_classes else X[:, 0]
    options = {"method": method, "scoring": scoring, "ledger": ledger, "random_state": None}
    with pytest.raises(ValueError, match=message):
        search(estimator=model, param_grid=grid, **options).fit(X, y)
    assert ledger.to_dict()["charges"] == []


@pytest.mark.long
@pytest.mark.parametrize("method", ["repeat", "compose"])
def test_whether_rows_are_sparse_knows_no_number_of_zeros(method):
    """One entry more would be told by whether rows are sparse."""
    kept = []
    for n_full in (3, 120):
        X = csr_array(np.arange(400)[:, np.newaxis] < n_full * np.ones(3)) * 0.5
        columns = ColumnTransformer([("kept", "passthrough", slice(0, 3))])
        model = make_pipeline(columns, DPLogisticRegression(classes=[0, 1]))
        grid = {"dplogisticregression__alpha": [0.1], "columntransformer": [columns]}
        fitted = search(estimator=model, param_grid=grid, method=method).fit(X, records()[1])
        kept.append(fitted.best_estimator_[0].sparse_output_)
        assert fitted.predict(X).shape == (400,)
        assert columns.sparse_threshold == 0.3
    assert kept == [False, False]


FREE = [
    DPOneHotEncoder(categories=[[-1, 1], [0, 1]]),
    DPSimpleImputer(strategy="constant", missing_values=-1),
    ColumnTransformer([("e", DPOneHotEncoder(categories=[[-1, 1]]), [0])], remainder="passthrough"),
    make_union(make_pipeline(BoundsScaler(), NormClipper()), "passthrough"),
]


@pytest.mark.parametrize("step", FREE, ids=["categories", "constant", "columns", "containers"])
def test_private_steps_that_learn_nothing_are_free_steps(step):
    X, y = records()
    X = np.sign(X[:, :2])
    model = make_pipeline(step, DPLogisticRegression(classes=[0, 1]))
    fitted = search(estimator=model, param_grid={"dplogisticregression__alpha": [0.1, 1.0]}).fit(
        X, y
    )
    assert fitted.privacy_report_.epsilon <= fitted.epsilon
    assert fitted.predict(X).shape == y.shape


@pytest.mark.parametrize(
    "step",
    [
        DPStandardScaler(),
        DPOneHotEncoder(),
        DPOneHotEncoder(categories=[[0, 1], "auto"]),
        DPSimpleImputer(),
        ColumnTransformer([("private", DPNormClipper(), [0])]),
    ],
)
def test_private_steps_are_refused_by_name_with_the_remedy(step):
    model = make_pipeline(step, DPLogisticRegression(classes=[0, 1]))
    with pytest.raises(TypeError, match=r"DP\w+ would spend one of its own.*DPPipeline"):
        search(estimator=model, param_grid={"dplogisticregression__alpha": [0.1]}).fit(*records())


def test_r2_of_several_targets_is_refused_before_any_noise(tmp_path):
    ledger = PrivacyLedger(tmp_path / "study", epsilon=8.0, delta=1e-2)
    X, _ = records()
    options = {"estimator": DPRidge(target_bounds=(-3, 3)), "param_grid": ALPHAS}
    with pytest.raises(ValueError, match=r"of one target.*neg_mean_squared_error"):
        search(scoring="r2", ledger=ledger, random_state=None, **options).fit(X, X)
    assert ledger.to_dict()["charges"] == []


@pytest.mark.long
def test_a_hinge_is_scored_by_a_curve():
    fitted = search(estimator=HINGE, param_grid=ALPHAS, scoring="roc_auc", n_trials=2)
    assert 0.0 <= fitted.fit(*records()).best_score_ <= 1.0


@pytest.mark.long
def test_a_word_among_numbers_is_an_error_before_any_noise(tmp_path):
    """A trial would fail by one record, and what it chooses instead would tell of it."""
    X, y = records()
    frame = pd.DataFrame(X).astype({0: object})
    frame.iloc[7, 0] = "word"
    ledger = PrivacyLedger(tmp_path / "study.db", epsilon=1.0, delta=1e-5)
    encode = ColumnTransformer([("of", DPOneHotEncoder(categories=[[0.0, 1.0]]), [0])])
    model = Pipeline([("columns", "passthrough"), ("model", DPLogisticRegression(classes=[0, 1]))])
    settings = {"columns": ["passthrough", encode]}
    with pytest.raises(ValueError, match=r"must be numeric|numbers"):
        DPGridSearch(model, settings, ledger=ledger).fit(frame, y)
    assert ledger.to_dict()["charges"] == []
    frame.iloc[7, 0] = "1.5"
    DPGridSearch(model, settings, epsilon=0.5).fit(frame, y)


def test_errors_of_a_regression_come_before_any_noise(tmp_path):
    ledger = PrivacyLedger(tmp_path / "study", epsilon=1.0, delta=1e-3)
    options = {"estimator": DPRidge(target_bounds=(0, 1)), "ledger": ledger, "random_state": None}
    X, _ = records()
    grid = {"target_bounds": [(0, 1), (1, 0)]}
    with pytest.raises(ValueError, match="target_bounds"):
        search(param_grid=grid, **options).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="n_jobs"):
        search(param_grid=ALPHAS, n_jobs=0, **options).fit(X, X[:, 0])
    assert ledger.spent == 0.0


@pytest.mark.long
def test_sums_are_needed_to_compose():
    with pytest.raises(ValueError, match="mean over rows"):
        search(method="compose", scoring="roc_auc").fit(*records())
    few = {"param_grid": ALPHAS, "n_trials": 2}
    assert search(**few).fit(*records()).method_ == "repeat"
    assert search(param_grid=ALPHAS).fit(*records()).method_ == "compose"
    assert search(param_grid=ALPHAS, scoring="roc_auc").fit(*records()).method_ == "repeat"


@pytest.mark.long
def test_what_is_published_by_each_method():
    X, y = records()
    repeated, composed = (search(method=name).fit(X, y) for name in ("repeat", "compose"))
    assert repeated.n_trials_ == pytest.approx(12)
    assert 0.0 <= repeated.best_score_ <= 1.0
    assert not hasattr(composed, "best_score_")
    for fitted in (repeated, composed):
        setting = list(search()._settings())[fitted.best_index_]
        assert fitted.best_params_ == setting
        assert fitted.best_estimator_.get_params().items() >= setting.items()
        assert fitted.best_estimator_.random_state is None
        assert np.array_equal(fitted.predict(X), fitted.best_estimator_.predict(X))
        assert np.array_equal(fitted.decision_function(X) > 0, fitted.predict(X) == 1)
        assert np.allclose(np.exp(fitted.predict_log_proba(X)), fitted.predict_proba(X))
        costs = [note for note in fitted.privacy_report_.notes if "repeat" in note]
        assert "compose" in costs[0]
    hinge = search(estimator=DPSGDClassifier(loss="hinge", **TWO), param_grid=ALPHAS)
    assert not hasattr(hinge, "predict_proba")


@pytest.mark.long
def test_a_composed_choice_costs_no_more_than_it_must(tmp_path):
    """Of many rows it has less than all of epsilon, and a ledger charges no more than for fits."""
    X, y = records(20_000)
    for n_rows, least, most in ((20_000, 0.05, 0.3), (200, 0.9, 1.0)):
        searched = search(method="compose", delta=1e-5, random_state=None)
        fitted = searched.fit(X[:n_rows], y[:n_rows])
        (event,) = fitted.privacy_report_.events
        (choice,) = event.alternatives[1]
        assert least < choice.epsilon("zero_out") <= most
        said = " ".join(fitted.privacy_report_.notes)
        assert f"the choice had epsilon={choice.epsilon('zero_out'):.4g}" in said
        ledger = PrivacyLedger(tmp_path / f"study of {n_rows}", epsilon=8.0, delta=1e-5)
        searched.set_params(ledger=ledger).fit(X[:n_rows], y[:n_rows])
        assert ledger.spent == pytest.approx(1.0, rel=0.01)
    whole = search(method="compose", delta=1e-5, scoring="neg_log_loss").fit(X[:400], y[:400])
    assert whole.privacy_report_.events[0].alternatives[1][0].epsilon("zero_out") > 0.999


@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
@pytest.mark.parametrize(
    ("estimator", "delta"),
    [(DPSGDClassifier(mechanism="laplace", **TWO), 0.0), (DPLogisticRegression(**TWO), 0.03)],
)
def test_a_ledger_takes_a_choice_that_may_spend_all_of_epsilon(
    estimator, delta, adjacency, tmp_path
):
    """As it may where fits are pure, or where a delta allows more than a pure release does."""
    X, y = records(4)
    ledger = PrivacyLedger(tmp_path / "study", epsilon=20.0, delta=0.5, adjacency=adjacency)
    options = {"param_grid": ALPHAS, "delta": delta, "adjacency": adjacency, "epsilon": 0.1}
    searched = search(
        estimator=estimator, method="compose", ledger=ledger, random_state=None, **options
    )
    (event,) = searched.fit(X, y).privacy_report_.events
    (choice,) = event.alternatives[1]
    assert choice.epsilon(adjacency) == pytest.approx(0.1)
    assert choice.epsilon(adjacency) < 0.1


@pytest.mark.long
def test_data_frames_and_columns_by_name():
    X, y = records()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    columns = [ColumnTransformer([("kept", "passthrough", names)]) for names in (["a"], ["b", "c"])]
    model = make_pipeline(columns[0], DPLogisticRegression(data_norm=3.0))
    grid = {"columntransformer": columns}
    fitted = search(estimator=model, param_grid=grid, epsilon=50.0).fit(frame, y)
    assert fitted.best_params_["columntransformer"].transformers[0][2] == ["a"]
    assert fitted.feature_names_in_.tolist() == ["a", "b", "c"]
    assert fitted.score(frame, y) > 0.8


@pytest.mark.long
def test_seeds():
    X, y = records()
    for make_seed in (lambda: 3, lambda: np.random.RandomState(3)):
        pair = [search(random_state=make_seed(), method="repeat").fit(X, y) for _ in range(2)]
        assert pair[0].best_score_ == pair[1].best_score_
        assert pair[0].privacy_report_.reproducible
    unseeded = [search(random_state=None).fit(X, y) for _ in range(2)]
    assert unseeded[0].best_estimator_.coef_[0, 0] != unseeded[1].best_estimator_.coef_[0, 0]
    assert not unseeded[0].privacy_report_.reproducible


def test_random_settings_follow_the_seed_and_no_global_state():
    settings = {"alpha": loguniform(1e-6, 1e-1)}

    def drawn(random_state):
        model = DPLogisticRegression(**TWO)
        found = DPRandomizedSearch(model, settings, n_iter=4, random_state=random_state)
        np.random.seed(0)
        return [setting["alpha"] for setting in found._settings()]

    state = np.random.get_state()
    assert drawn(1) == drawn(1) != drawn(2)
    assert drawn(None) != drawn(None)
    np.random.set_state(state)


@pytest.mark.long
@pytest.mark.parametrize("method", ["repeat", "compose"])
@pytest.mark.parametrize("from_environment", [pytest.param(False, marks=pytest.mark.long), True])
def test_a_ledger_is_charged_once_with_the_whole(method, from_environment, tmp_path, monkeypatch):
    path = tmp_path / "study"
    ledger = PrivacyLedger(path, epsilon=8.0, delta=1e-2)
    if from_environment:
        monkeypatch.setenv("SKDP_LEDGER", os.fspath(path))
    options = {"method": method, "random_state": None, "n_trials": 3}
    if not from_environment:
        # Workers that were there before don't see the environment.
        options["n_jobs"] = 2
        options["ledger"] = ledger
    X, y = records()
    fitted = search(**options).fit(X, y)
    (charge,) = ledger.to_dict()["charges"]
    assert charge["estimator"] == "DPGridSearch"
    report = PrivacyReport.from_json(charge["report"])
    assert report.events == fitted.privacy_report_.events
    clone(fitted.best_estimator_).fit(X, y)
    fitted.best_estimator_.fit(X, y)
    assert len(ledger.to_dict()["charges"]) == 3


def test_a_search_beyond_the_ledger_draws_nothing(tmp_path, monkeypatch):
    ledger = PrivacyLedger(tmp_path / "study", epsilon=0.5, delta=1e-3)

    def refuse(*_):
        raise AssertionError("drawn")

    monkeypatch.setattr(TruncatedNegativeBinomial, "sample", refuse)
    with pytest.raises(BudgetExceededError):
        search(ledger=ledger, random_state=None).fit(*records())


def test_too_few_records():
    X, y = records(2)
    search(n_trials=1, delta=0.1).fit(X, [0, 1])
    with pytest.raises(ValueError, match=r"Found array with 1 sample|at least 2 records"):
        search().fit(X[:1], y[:1])


def test_candidates_that_would_learn_bounds_of_their_own_are_refused():
    X = np.random.default_rng(0).standard_normal((60, 2))
    with pytest.raises(ValueError, match=r"give the estimator target_bounds=\(low, high\)"):
        DPGridSearch(DPRidge(), ALPHAS, delta=1e-3).fit(X, X[:, 0])
