"""What the page of sharp edges says of scikit-learn's tools: a test for each row of its tables.

Here are those that fit several models, or one several times; others are in test_edges_*.py, and
those of other packages in tests/neighbours.
"""

import math
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFE, RFECV, SelectFromModel, SequentialFeatureSelector
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import accuracy_score
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    HalvingGridSearchCV,
    KFold,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    permutation_test_score,
    validation_curve,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import (
    ClassifierChain,
    MultiOutputClassifier,
    MultiOutputRegressor,
    RegressorChain,
)
from sklearn.semi_supervised import SelfTrainingClassifier

from skdp.accountant import compose
from skdp.exceptions import PrivacyWarning
from skdp.linear_model import DPRidge, DPSCDClassifier
from tests.site._edges import (
    FITS,
    N_ROWS,
    Classifier,
    assert_counts,
    assert_shares,
    covers,
    kept,
    kept_reports,
    make_classifier,
    make_records,
    make_regressor,
    sizes,
)

PAGE = Path(__file__).parents[2] / "doc" / "sharp_edges.rst"


@pytest.fixture
def data():
    return make_records()


@pytest.fixture
def model():
    return make_classifier()


@pytest.fixture
def regressor():
    return make_regressor()


def rows_of_the_page():
    """What is named in the first column of each table of tools."""
    page = PAGE.read_text(encoding="utf-8")
    section = page.split("Tools of scikit-learn and its neighbours\n")[1]
    section = section.split("Adding up, and a ledger\n")[0]
    rows = re.findall(r"^   \* - (.*?)^     - ", section, flags=re.DOTALL | re.MULTILINE)
    assert rows.count("Tool\n") == section.count(".. list-table::") == 6
    return [set(re.findall(r"``([\w.]+)", row)) for row in rows if row != "Tool\n"]


@covers("ScoringMonitor", "ProgressBar")
def test_a_callback_that_scores_is_refused(data, model):
    # tests/test_callbacks.py has the bar, which asks for nothing.
    callback = pytest.importorskip("sklearn.callback", reason="scikit-learn has none before 1.9")
    with pytest.raises(ValueError, match="ScoringMonitor asks for X, y"):
        model.set_callbacks(callback.ScoringMonitor(scoring="accuracy"))


def test_every_row_of_the_tables_has_a_test():
    covered = set()
    neighbours = Path(__file__).parents[1] / "neighbours"
    for path in (*Path(__file__).parent.glob("test_*edges*.py"), *neighbours.glob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        for tools in re.findall(r"^@covers\((.*?)\)$", text, flags=re.DOTALL | re.MULTILINE):
            covered |= set(re.findall(r'"([\w.]+)"', tools))
    rows = rows_of_the_page()
    assert all(rows)
    assert set().union(*rows) == covered


@pytest.mark.long
@covers("BaggingClassifier", "BaggingRegressor")
def test_bagging_keeps_a_seed_in_each_member(data, model, regressor):
    for member, bagging in ((model, BaggingClassifier), (regressor, BaggingRegressor)):
        bag = bagging(member, n_estimators=3, random_state=None).fit(*data)
        assert [type(fitted.random_state) for fitted in bag.estimators_] == [int] * 3
        reports = [fitted.privacy_report_ for fitted in bag.estimators_]
        assert [report.reproducible for report in reports] == [True] * 3
        with pytest.raises(ValueError, match="fits made with a seed may share their noise"):
            compose(reports)


def test_who_has_a_bag_finds_a_label_bit_for_bit(data):
    """The attack: known rows, a label to guess, and nothing but the pickle."""
    X, y = data
    bag = BaggingClassifier(DPSCDClassifier(epsilon=0.1), n_estimators=3, random_state=0)
    bag.fit(X, y)
    with pytest.warns(PrivacyWarning, match="holds it as random_state"):
        stolen = pickle.loads(pickle.dumps(bag))
    target = min(set.intersection(*map(set, stolen.estimators_samples_)))
    for member, rows in zip(stolen.estimators_, stolen.estimators_samples_, strict=True):
        report = member.privacy_report_
        assert (report.epsilon, report.delta) == (0.1, 1e-5)
        for guess in (0, 1):
            guessed = y.copy()
            guessed[target] = guess
            again = clone(member).fit(X[rows], guessed[rows])
            assert np.array_equal(again.coef_, member.coef_) == (guess == y[target])


@pytest.mark.long
def test_a_bootstrap_repeats_rows(data):
    X, y = np.repeat(data[0], 20, axis=0), np.repeat(data[1], 20)
    bag = BaggingClassifier(DPSCDClassifier(max_iter=1), n_estimators=3, random_state=0).fit(X, y)
    copies = [np.bincount(rows).max() for rows in bag.estimators_samples_]
    assert max(copies) >= 5
    report = bag.estimators_[0].privacy_report_
    assert report.epsilon_at(report.delta, group_size=6) > 4 * report.epsilon


@pytest.mark.long
@covers("OneVsOneClassifier")
def test_one_against_one_publishes_class_sizes(data):
    X, _ = data
    y = np.digitize(X[:, 0], [-0.3, 0.3, 0.6])
    pairs = OneVsOneClassifier(Classifier()).fit(X, y)
    assert kept(pairs) == list(range(6))
    # Of four classes, so that each row is in three fits.
    assert sum(sizes()) == 3 * N_ROWS
    found = np.zeros((4, 4))
    of_pairs = zip(*np.triu_indices(4, 1), pairs.estimators_, strict=True)
    for i, j, member in of_pairs:
        read = member.batch_size_ / member.privacy_report_.sampling_rate
        found[i, j] = found[j, i] = read
    # The three pairs of three classes give each of these.
    size = (found[0, 1] + found[0, 2] - found[1, 2]) / 2
    read = np.array([size, *(found[0, 1:] - size)])
    np.testing.assert_allclose(read, np.bincount(y), rtol=0, atol=1e-9)
    FITS.clear()
    alone = Classifier().fit(X, y)
    assert sizes() == [N_ROWS]
    assert alone.privacy_report_.epsilon == 1.0


@covers("OneVsRestClassifier", "OutputCodeClassifier")
def test_one_against_the_rest_costs_all_members(data):
    X, _ = data
    y = np.digitize(X[:, 0], [-0.3, 0.3])
    for several, n_fits in (
        (OneVsRestClassifier(Classifier(max_iter=2)), 3),
        (OutputCodeClassifier(Classifier(max_iter=2), code_size=2, random_state=0), 6),
    ):
        FITS.clear()
        several.fit(X, y)
        assert set(sizes()) == {N_ROWS}
        assert len(several.estimators_) == n_fits
        if n_fits == 3:
            assert kept(several) == [0, 1, 2]
            assert compose(kept_reports(several)).epsilon > 1.5
        np.testing.assert_array_equal(several.classes_, [0, 1, 2])


@covers("VotingClassifier", "VotingRegressor")
def test_a_vote_costs_what_its_members_cost(data, model, regressor):
    for member, vote in ((model, VotingClassifier), (regressor, VotingRegressor)):
        FITS.clear()
        fitted = vote([("a", clone(member)), ("b", clone(member))]).fit(*data)
        assert sizes() == [N_ROWS] * 2
        assert kept(fitted) == [0, 1]
        assert compose(kept_reports(fitted)).epsilon > 1.2


@pytest.mark.long
@covers("StackingClassifier", "StackingRegressor")
def test_a_stack_ends_without_noise(data, model, regressor):
    X, y = data
    for member, stacking, last in (
        (model, StackingClassifier, LogisticRegression),
        (regressor, StackingRegressor, RidgeCV),
    ):
        FITS.clear()
        base = [("a", clone(member)), ("b", clone(member))]
        stack = stacking(base, cv=KFold(3)).fit(X, y)
        assert sizes() == [N_ROWS] * 2 + [80] * 6
        assert kept(stack) == [0, 1]
        assert isinstance(stack.final_estimator_, last)
        stack = stacking(base, final_estimator=clone(member), cv=KFold(3))
        FITS.clear()
        assert kept(stack.fit(X, y)) == [0, 1, 8]
        ready = [(name, clone(member).fit(X, y)) for name, member in base]
        FITS.clear()
        stacking(ready, cv="prefit").fit(X, y)
        assert not FITS


@covers("MultiOutputClassifier", "MultiOutputRegressor")
def test_one_fit_for_each_output(data, model, regressor):
    X, y = data
    outputs = np.column_stack([y, 1 - y, X[:, 1] > 0]).astype(int)
    for several in (MultiOutputClassifier(model), MultiOutputRegressor(regressor)):
        FITS.clear()
        several.fit(X, outputs)
        assert sizes() == [N_ROWS] * 3
        assert kept(several) == [0, 1, 2]
        assert compose(kept_reports(several)).epsilon > 1.5
    for alone in (regressor, DPRidge(target_bounds=(0, 1))):
        alone.fit(X, outputs)
        assert alone.coef_.shape == (3, 4)
        assert alone.privacy_report_.epsilon == 1.0
    assert sizes()[3:] == [N_ROWS]


@pytest.mark.long
@covers("ClassifierChain", "RegressorChain")
def test_chains_make_columns_of_outputs(data, model, regressor):
    X, y = data
    outputs = np.column_stack([y, 1 - y, X[:, 1] > 0]).astype(int)
    for member, chain in ((model, ClassifierChain), (regressor, RegressorChain)):
        FITS.clear()
        found = chain(member).fit(X, outputs)
        assert sizes() == [N_ROWS] * 3
        assert kept(found) == [0, 1, 2]
        assert [fitted.n_features_in_ for fitted in found.estimators_] == [4, 5, 6]
        FITS.clear()
        found = chain(member, cv=KFold(3)).fit(X, outputs)
        assert sizes() == [N_ROWS, 80, 80, 80] * 2 + [N_ROWS]
        assert kept(found) == [0, 4, 8]


@pytest.mark.long
@covers("SelfTrainingClassifier")
def test_self_training_makes_the_number_of_rows_depend_on_records(data, model):
    X, y = data
    some = np.where(np.arange(N_ROWS) < 60, y, -1)
    trained = SelfTrainingClassifier(
        model.set_params(epsilon=20.0, random_state=0), max_iter=3
    ).fit(X, some)
    assert len(FITS) == trained.n_iter_ + 1
    assert kept(trained) == [len(FITS) - 1]
    assert sizes()[0] == 60
    # How many rows the other fits had is what the models were sure of.
    labelled = [int((trained.labeled_iter_ == i).sum()) for i in range(trained.n_iter_ + 1)]
    assert sizes()[1] == labelled[0] + labelled[1]
    assert labelled[1] > 0
    np.testing.assert_array_equal(trained.transduction_[:60], y[:60])


@covers("RFE")
def test_rfe_is_covered_by_as_many_reports_as_it_made_fits(data, model):
    found = RFE(model, n_features_to_select=2, step=1).fit(*data)
    assert sizes() == [N_ROWS] * 3
    assert kept(found) == [2]
    made = [report for _, report in FITS]
    assert len({report.events for report in made}) == 1
    joint = compose([found.estimator_.privacy_report_] * 3)
    assert joint == compose(made)
    assert joint.epsilon > 1.5


@covers("SelectFromModel")
def test_selection_by_one_model_is_covered_by_its_report(data, model):
    found = SelectFromModel(model).fit(*data)
    assert sizes() == [N_ROWS]
    assert kept(found) == [0]
    again = np.abs(found.estimator_.coef_[0])
    np.testing.assert_array_equal(found.get_support(), again >= again.mean())


@pytest.mark.long
@covers("RFECV", "SequentialFeatureSelector")
def test_selection_by_scores_reads_the_records(data, model):
    X, y = data
    found = RFECV(model, cv=KFold(3)).fit(X, y)
    assert sizes() == [80] * 12 + [N_ROWS] * (len(FITS) - 12)
    assert kept(found) == [len(FITS) - 1]
    for fold, (train, test) in enumerate(KFold(3).split(X)):
        assert len(train) == 80
        assert_counts(found.cv_results_[f"split{fold}_test_score"], of=len(test))
    FITS.clear()
    found = SequentialFeatureSelector(model, n_features_to_select=2, cv=KFold(3)).fit(X, y)
    assert sizes() == [80] * 21
    assert kept(found) == []


@pytest.mark.long
@covers("GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV")
def test_searches_keep_the_last_report_only(data, model):
    X, y = data
    grid = {"alpha": [1e-3, 1e-2]}
    for search in (
        GridSearchCV(model, grid, cv=KFold(3)),
        RandomizedSearchCV(model, grid, n_iter=2, cv=KFold(3), random_state=0),
        HalvingGridSearchCV(model, grid, cv=KFold(3), min_resources=30, random_state=0),
    ):
        FITS.clear()
        search.fit(X, y)
        assert len(FITS) == 7
        assert sizes()[-1] == N_ROWS
        assert kept(search) == [6]
        if not isinstance(search, HalvingGridSearchCV):
            assert_counts(search.cv_results_["split0_test_score"], of=40)


@pytest.mark.long
@covers("TunedThresholdClassifierCV")
def test_a_tuned_threshold_is_chosen_on_records(data, model):
    X, y = data
    fixed = FixedThresholdClassifier(clone(model), threshold=0.4).fit(X, y)
    assert sizes() == [N_ROWS]
    assert kept(fixed) == [0]
    FITS.clear()
    tuned = TunedThresholdClassifierCV(model, cv=KFold(3)).fit(X, y)
    assert sorted(sizes()) == [80] * 3 + [N_ROWS]
    assert kept(tuned) == [sizes().index(N_ROWS)]
    # One model and the same folds: what is chosen follows the labels, through no noise.
    frozen = FrozenEstimator(model.set_params(epsilon=math.inf, random_state=0).fit(X, y))
    chosen = [
        TunedThresholdClassifierCV(
            frozen, cv="prefit", refit=False, scoring="accuracy", thresholds=[0.2, 0.8]
        )
        .fit(X, labels)
        .best_threshold_
        for labels in (np.arange(N_ROWS) < N_ROWS - 1, np.arange(N_ROWS) < 1)
    ]
    assert chosen == [0.2, 0.8]


@pytest.mark.long
@covers("CalibratedClassifierCV")
def test_calibration_reads_labels_without_noise(data, model):
    X, y = data
    calibrated = CalibratedClassifierCV(model, cv=KFold(3)).fit(X, y)
    assert sizes() == [80] * 3
    assert kept(calibrated) == [0, 1, 2]
    frozen = FrozenEstimator(model.set_params(random_state=0).fit(X, y))
    FITS.clear()
    flipped = np.where(np.arange(N_ROWS) == 7, 1 - y, y)
    curves = []
    for labels in (y, y, flipped):
        found = CalibratedClassifierCV(frozen, cv=KFold(3), ensemble=False).fit(X, labels)
        curve = found.calibrated_classifiers_[0].calibrators[0]
        curves.append((curve.a_, curve.b_))
    # The same records, the same numbers; one other label, other numbers.
    assert curves[0] == curves[1] != curves[2]
    steps = CalibratedClassifierCV(frozen, cv=KFold(3), method="isotonic", ensemble=False)
    assert_shares(steps.fit(X, y).calibrated_classifiers_[0].calibrators[0].y_thresholds_)
    # A model that is frozen isn't fitted again: calibration on other records costs nothing.
    assert not FITS


@covers("AdaBoostClassifier", "AdaBoostRegressor")
def test_boosting(data, model, regressor):
    X, y = data
    with pytest.raises(ValueError, match="doesn't support sample_weight"):
        AdaBoostClassifier(model).fit(X, y)
    boosted = AdaBoostRegressor(regressor, n_estimators=3, random_state=0).fit(X, y)
    assert all(report.reproducible for _, report in FITS)
    assert {type(member.random_state) for member in boosted.estimators_} == {int}
    # Errors of all rows, which the next draws follow, without noise.
    error = np.abs(boosted.estimators_[0].predict(X) - y)
    loss = np.mean(error / error.max())
    assert boosted.estimator_errors_[0] == pytest.approx(loss)


@pytest.mark.long
@covers("cross_val_score", "cross_val_predict", "learning_curve", "validation_curve")
@covers("permutation_test_score")
def test_curves_make_many_fits_and_keep_no_report(data, model):
    X, y = data
    folds = KFold(3)
    for n_fits, call, options in (
        (3, cross_val_score, {}),
        (3, cross_val_predict, {}),
        (6, learning_curve, {"train_sizes": [0.5, 1.0]}),
        (6, validation_curve, {"param_name": "alpha", "param_range": [1e-3, 1e-2]}),
        (9, permutation_test_score, {"n_permutations": 2}),
    ):
        FITS.clear()
        found = call(model, X, y, cv=folds, **options)
        assert len(FITS) == n_fits
        assert kept_reports(found) == []
    scores = cross_validate(model, X, y, cv=folds, return_estimator=True)
    assert len(kept_reports(scores["estimator"])) == 3
    assert_counts(scores["test_score"], of=40)


@covers("permutation_importance")
def test_importances_are_exact(data, model):
    X, y = data
    model.fit(X, y)
    FITS.clear()
    found = permutation_importance(model, X, y, n_repeats=2, random_state=0)
    assert not FITS
    assert_counts(accuracy_score(y, model.predict(X)) - found.importances, of=N_ROWS)
