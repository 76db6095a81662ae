"""Searches over raw tables, pipelines, calibrated classifiers, and of people."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from skdp.additive import DPAdditiveClassifier, DPAdditiveRegressor
from skdp.calibration import DPCalibratedClassifier
from skdp.ledger import PrivacyLedger
from skdp.linear_model import (
    DPLogisticRegression,
    DPRidge,
    DPSCDClassifier,
    DPTweedieRegressor,
)
from skdp.model_selection import DPGridSearch, DPRandomizedSearch
from skdp.pipeline import DPPipeline, make_private_pipeline
from skdp.preprocessing import (
    BoundsScaler,
    DPOneHotEncoder,
    DPQuantileClipper,
    DPSimpleImputer,
    DPStandardScaler,
    DPTableVectorizer,
)
from tests.door import (
    ALREADY_CHARGED,
    SCORE_PARTS,
    GaussianMechanism,
    NoisyMaximum,
    Records,
    Whitened,
    make_stream,
)

TWO = {"classes": [0, 1]}
OF_TABLE = make_private_pipeline(DPTableVectorizer(), DPLogisticRegression(**TWO))
LISTED = make_column_transformer(
    (make_pipeline(DPSimpleImputer(strategy="constant"), BoundsScaler((0, 100))), ["age"]),
    (DPOneHotEncoder(categories=[["clerk", "nurse"]]), ["job"]),
)
CANDIDATES = {
    "additive": (DPAdditiveClassifier(**TWO), {"alpha": [1e-4, 1e-2]}),
    "table": (OF_TABLE, {"dplogisticregression__alpha": [1e-4, 1e-2]}),
    "shares": (OF_TABLE, {"shares": ["auto", [0.5, 0.5]]}),
    "calibrated": (
        DPCalibratedClassifier(DPAdditiveClassifier(**TWO)),
        {"calibration_share": [0.1, 0.2]},
    ),
    "calibrated table": (
        DPCalibratedClassifier(OF_TABLE),
        {"estimator__dplogisticregression__alpha": [1e-4, 1e-2]},
    ),
    "ends calibrated": (
        make_private_pipeline(
            DPTableVectorizer(), DPCalibratedClassifier(DPLogisticRegression(**TWO))
        ),
        {"dpcalibratedclassifier__estimator__alpha": [1e-4, 1e-2]},
    ),
    "listed": (
        make_pipeline(LISTED, DPLogisticRegression(**TWO)),
        {"dplogisticregression__alpha": [1e-4, 1e-2]},
    ),
}


def table(n, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": rng.uniform(18.0, 90.0, n)})
    frame.loc[rng.random(n) < 0.1, "age"] = np.nan
    frame["job"] = rng.choice(["nurse", "clerk", None], n)
    risk = 0.1 + 0.5 * (frame.age > 60) + 0.3 * (frame.job == "nurse")
    return frame, (rng.random(n) < risk).to_numpy().astype(int)


@pytest.mark.long
@pytest.mark.parametrize("method", ["repeat", "compose"])
@pytest.mark.parametrize("name", CANDIDATES)
def test_searches_protect_people(name, method, monkeypatch):
    X, y = table(3000)
    estimator, grid = CANDIDATES[name]
    seen = []

    def read_groups(self, groups, *others, original=Whitened.read_groups):
        seen.append(groups is not None)
        return original(self, groups, *others)

    monkeypatch.setattr(Whitened, "read_groups", read_groups)
    search = DPGridSearch(estimator, grid, epsilon=6.0, method=method, random_state=0)
    report = search.fit(X, y, groups=np.arange(3000) // 2).privacy_report_
    assert report.unit == "one group"
    # Each fit of a trial, too.
    assert seen
    assert all(seen)
    assert 0.9 * 6.0 <= report.epsilon_at(report.delta) <= 6.0 * (1.0 + 1e-9)
    assert any("`groups`" in line for line in report.assumed_public)
    assert any("part of a group" in line for line in report.not_covered)
    assert any("number of trials" in line for line in report.not_covered)


@pytest.mark.long
@pytest.mark.parametrize("method", ["repeat", "compose"])
@pytest.mark.parametrize("most", [1, 3])
def test_a_person_moves_scores_by_what_is_counted_of_their_rows(method, most, monkeypatch):
    """However many rows they have: all of the last person's are right, or all are wrong."""
    seen = []

    def release(self, counts, stream, original=GaussianMechanism.release):
        if counts.dtype.kind == "i":
            seen.append((self.contribution_bound, counts.copy()))
        return original(self, counts, stream)

    def choose(self, sums, stream, original=NoisyMaximum.release):
        seen.append((self.contribution_bound, sums.copy()))
        return original(self, sums, stream)

    monkeypatch.setattr(GaussianMechanism, "release", release)
    monkeypatch.setattr(NoisyMaximum, "release", choose)
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-1.0, 1.0, (400, 2)), rng.integers(0, 2, 400)
    search = DPGridSearch(
        DPLogisticRegression(**TWO),
        {"alpha": [1e-3, 1.0]},
        method=method,
        rows_per_group=most,
        n_trials=1,
        epsilon=1.0,
        random_state=0,
    )
    sizes = {}
    for n_rows in (1, 40):
        seen.clear()
        ids = np.append(np.arange(400) // 4, np.full(n_rows, 100))
        rows, labels = np.vstack([X, np.ones((n_rows, 2))]), np.append(y, [1] * n_rows)
        report = search.fit(rows, labels, groups=ids).privacy_report_
        assert any(f"rows, at most {most} of each group" in line for line in report.notes)
        sizes[n_rows] = seen[-1]
    part = SCORE_PARTS if method == "compose" else 1
    for bound, found in sizes.values():
        assert bound == most * part
        # Of 26 people who are scored on.
        assert found.max() <= 26 * most * part
        if method == "repeat":
            assert 25 * most < found.sum() <= 26 * most


@pytest.mark.long
def test_a_search_without_groups_refuses_to_be_told_how_they_count(tmp_path):
    X, y = np.random.default_rng(0).uniform(-1.0, 1.0, (300, 2)), np.arange(300) % 2
    ledger = PrivacyLedger(tmp_path / "study.db", epsilon=2.0, delta=1e-5)
    model = DPLogisticRegression(**TWO)
    for search in (
        DPGridSearch(model, {}, average_over="groups", ledger=ledger),
        DPGridSearch(model, {}, rows_per_group=3, ledger=ledger),
        DPGridSearch(DPCalibratedClassifier(model, average_over="groups"), {}, ledger=ledger),
    ):
        with pytest.raises(ValueError, match="groups"):
            search.fit(X, y)
    assert ledger.left == 2.0


def test_people_are_in_one_part_and_scored_on_one_row():
    rng = np.random.default_rng(0)
    codes = rng.permutation(np.append(np.arange(50), rng.integers(50, size=300)))
    X, y = codes[:, np.newaxis].astype(float), np.arange(350)
    scored = {"scoring": "accuracy", "target_bounds": None}
    drawn = set()
    for seed in range(20):
        split = Records.split(X, y, 15, make_stream(seed), codes, **scored)
        held, trained = split.X_validation[:, 0], split.X_train[:, 0]
        assert len(held) == len(set(held)) == 15
        assert not set(held) & set(trained)
        assert len(set(trained)) == 35
        np.testing.assert_array_equal(split.groups, trained)
        # All rows of those, and of the others one, which isn't always the same.
        assert len(trained) == np.isin(codes, list(set(trained))).sum()
        drawn |= set(split.y_validation.tolist())
    assert len(drawn) > 60


def test_which_people_are_held_out_and_drawn_follows_from_no_row():
    codes = np.repeat(np.arange(20), 3)
    scored = {"scoring": "accuracy", "target_bounds": None}
    parts = [
        Records.split(X, np.arange(60), 5, make_stream(0), codes, **scored)
        for X in (np.zeros((60, 1)), np.full((60, 1), 9.0))
    ]
    np.testing.assert_array_equal(parts[0].y_validation, parts[1].y_validation)
    np.testing.assert_array_equal(parts[0].y_train, parts[1].y_train)


@pytest.mark.long
def test_what_protects_rows_alone_is_refused_before_anything_is_charged(tmp_path):
    ledger = PrivacyLedger(tmp_path / "study.db", epsilon=9.0, delta=1e-2, unit="one group")
    X, y = np.random.default_rng(0).uniform(-1, 1, (400, 2)), np.arange(400) % 2
    groups = np.arange(400) // 2
    for estimator in (DPSCDClassifier(**TWO), DPCalibratedClassifier(DPSCDClassifier(**TWO))):
        search = DPGridSearch(estimator, {}, ledger=ledger)
        with pytest.raises(ValueError, match="takes no groups"):
            search.fit(X, y, groups=groups)
    with pytest.raises(ValueError, match="missing values"):
        DPGridSearch(DPLogisticRegression(**TWO), {}, ledger=ledger).fit(
            X, y, groups=[None, *groups[1:]]
        )
    assert len(ledger.to_frame()) == 0
    DPGridSearch(DPLogisticRegression(**TWO), {}, ledger=ledger).fit(X, y, groups=groups)
    assert len(ledger.to_frame()) == 1


REFUSED = {
    "words before a step that takes numbers": (
        make_private_pipeline(DPStandardScaler(), DPLogisticRegression(**TWO)),
        ValueError,
        "begins with DPTableVectorizer",
    ),
    "words before a step that would encode them": (
        make_private_pipeline(
            make_column_transformer((DPOneHotEncoder(), ["job"])), DPLogisticRegression(**TWO)
        ),
        ValueError,
        "in the place of encoders and imputers",
    ),
    "a step that may fail": (
        make_private_pipeline(
            DPTableVectorizer(), FunctionTransformer(np.log), DPLogisticRegression(**TWO)
        ),
        TypeError,
        "steps are all of skdp, and FunctionTransformer",
    ),
    "words for gaps among numbers": (
        make_private_pipeline(
            DPTableVectorizer(),
            DPSimpleImputer(strategy="constant", fill_value="none", missing_values=1.0),
            DPLogisticRegression(**TWO),
        ),
        TypeError,
        "fills with words",
    ),
    "a word among those that may fill": (
        make_private_pipeline(
            DPTableVectorizer(knots={"age": [20, 90]}, categories={"job": ["nurse"]}),
            DPSimpleImputer(strategy="most_frequent", categories=[[0.0], *[["a"]] * 4]),
            DPLogisticRegression(**TWO),
        ),
        TypeError,
        "fills with words",
    ),
    "a step that is allowed to leak": (
        make_private_pipeline(
            DPTableVectorizer(),
            StandardScaler(),
            DPLogisticRegression(**TWO),
            allow=("standardscaler",),
        ),
        TypeError,
        "no DPPipeline that allows",
    ),
    "within a calibrated classifier": (
        DPCalibratedClassifier(
            make_private_pipeline(
                DPTableVectorizer(), FunctionTransformer(np.log), DPLogisticRegression(**TWO)
            )
        ),
        TypeError,
        "steps are all of skdp",
    ),
    "a step that makes no numbers": (
        make_pipeline(DPSimpleImputer(strategy="constant"), DPLogisticRegression(**TWO)),
        ValueError,
        "as numbers|could not convert",
    ),
    "a budget of its own": (
        make_private_pipeline(DPTableVectorizer(), DPLogisticRegression(**TWO), epsilon=3.0),
        ValueError,
        "epsilon of",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_trial_could_fail_on_is_refused_before_anything_is_charged(name, tmp_path):
    ledger = PrivacyLedger(tmp_path / "study.db", epsilon=9.0, delta=1e-2)
    estimator, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        DPGridSearch(estimator, {}, ledger=ledger).fit(*table(300))
    assert len(ledger.to_frame()) == 0


def test_bad_choices_of_a_table_are_refused_before_anything_is_charged(tmp_path):
    ledger = PrivacyLedger(tmp_path / "study.db", epsilon=9.0, delta=1e-2)
    for options in ({"interactions": [("age", "height")]}, {"monotonic_cst": {"name": 1}}):
        search = DPGridSearch(DPAdditiveClassifier(**TWO, **options), {}, ledger=ledger)
        with pytest.raises(ValueError, match=next(iter(options))):
            search.fit(*table(300))
    X, y = table(300)
    X = X.assign(when=[[1, 2]] * 300)
    with pytest.raises(TypeError):
        DPGridSearch(DPAdditiveClassifier(**TWO), {}, ledger=ledger).fit(X, y)
    assert len(ledger.to_frame()) == 0


@pytest.mark.long
@pytest.mark.parametrize("name", ["additive", "table"])
def test_lists_are_numbers_in_a_search_as_they_are_in_a_fit(name):
    X = np.random.default_rng(0).uniform(-1, 1, (300, 2)).tolist()
    y = np.arange(300) % 2
    search = DPGridSearch(CANDIDATES[name][0], {}, epsilon=9.0, method="compose", random_state=0)
    model = search.fit(X, y).best_estimator_
    terms = model.terms_ if name == "additive" else model[0]._basis.terms
    assert {term.kind for term in terms} <= {"hats", "line"}


@pytest.mark.parametrize("name", ["additive", "table", "listed"])
def test_rows_that_are_none_are_not_quoted(name):
    X = [[0.123456, "nurse"]] * 100
    for bad in ([*X, [0.123456]], [0.123456] * 101):
        with pytest.raises(ValueError, match=r"1D array|a sequence") as caught:
            DPGridSearch(CANDIDATES[name][0], {}).fit(bad, np.arange(101) % 2)
        assert "123456" not in str(caught.value)


@pytest.mark.long
def test_a_label_of_one_record_fails_no_trial():
    """Which part it is in must not tell: fractions are labels like any, if they are declared."""
    X, y = np.random.default_rng(0).uniform(-1, 1, (200, 2)), np.arange(200.0) % 2
    y[0] = 0.5
    model = DPCalibratedClassifier(DPLogisticRegression(classes=[0.0, 0.5, 1.0]))
    for seed in range(6):
        search = DPGridSearch(model, {}, epsilon=9.0, method="compose", random_state=seed)
        assert search.fit(X, y).classes_.tolist() == [0.0, 0.5, 1.0]


@pytest.mark.long
def test_numbers_go_through_any_private_pipeline():
    X = np.random.default_rng(0).uniform(-1, 1, (3000, 3))
    model = make_private_pipeline(DPStandardScaler(), DPRidge(target_bounds=(-3, 3)))
    search = DPRandomizedSearch(
        model, {"dpridge__alpha": [1e-4, 1e-1]}, n_iter=2, epsilon=5.0, random_state=0
    )
    assert search.fit(X, X.sum(axis=1)).score(X, X.sum(axis=1)) > 0.5
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        search.fit(X, X[:, 1])
    learnt = DPGridSearch(DPAdditiveRegressor(), {})
    with pytest.raises(ValueError, match="target_bounds"):
        learnt.fit(X, X[:, 1])


def uncharged(estimator):
    """Names of the estimators inside that another fit of would be charged to nobody."""
    found = [
        name
        for name, value in estimator.get_params().items()
        if name.rpartition("__")[2] == "ledger" and value is ALREADY_CHARGED
    ]
    inside = [getattr(estimator, "estimator_", None)]
    inside += [step for _, step in getattr(estimator, "steps", ())]
    inside += [step for _, step, _ in getattr(estimator, "transformers_", ())]
    return found + [name for one in inside if hasattr(one, "get_params") for name in uncharged(one)]


# Containers keep what they fitted apart from what they were given.
OF_COLUMNS = make_private_pipeline(
    DPTableVectorizer(),
    make_column_transformer((DPQuantileClipper(), [0, 1]), remainder="passthrough"),
    DPLogisticRegression(**TWO),
)
CHOSEN = {name: tried for name, tried in CANDIDATES.items() if name != "listed"} | {
    "columns": (OF_COLUMNS, {}),
    "calibrated columns": (DPCalibratedClassifier(OF_COLUMNS), {}),
}


@pytest.mark.long
@pytest.mark.parametrize("name", CHOSEN)
def test_another_fit_of_what_was_chosen_is_charged_as_any_other(name):
    X, y = table(900)
    estimator, grid = CHOSEN[name]
    found = DPGridSearch(estimator, grid, epsilon=6.0, random_state=0).fit(X, y).best_estimator_
    assert not uncharged(found)
    assert not uncharged(clone(estimator).set_params(epsilon=6.0, random_state=0).fit(X, y))


def reports_inside(estimator):
    inside = [getattr(estimator, "estimator_", None)]
    inside += [step for _, step in getattr(estimator, "steps", ())]
    inside += [step for _, step, _ in getattr(estimator, "transformers_", ())]
    found = [getattr(estimator, "privacy_report_", None)]
    return sum(map(reports_inside, filter(None, inside)), [one for one in found if one])


@pytest.mark.long
@pytest.mark.parametrize("name", ["additive", "columns", "calibrated columns", "ends calibrated"])
def test_no_part_of_what_was_chosen_claims_less_than_the_search_spent(name):
    X, y = table(900)
    estimator, grid = CHOSEN[name]
    search = DPGridSearch(estimator, grid, epsilon=6.0, random_state=0).fit(X, y)
    found = reports_inside(search.best_estimator_)
    assert len(found) == {"additive": 1, "columns": 4, "calibrated columns": 5}.get(name, 4)
    assert all(report is search.privacy_report_ for report in found)


@pytest.mark.long
def test_routing_needs_no_request_of_what_a_search_fits():
    X, y = table(900)
    estimator, grid = CANDIDATES["listed"]
    search = DPGridSearch(estimator, grid, epsilon=6.0, method="compose", random_state=0)
    with config_context(enable_metadata_routing=True):
        report = search.fit(X, y, groups=np.arange(900) // 2).privacy_report_
    assert report.unit == "one group"


@pytest.mark.long
def test_groups_are_routed_to_a_search():
    X, y = table(900)
    search = DPGridSearch(DPAdditiveClassifier(**TWO), {"alpha": [1e-4, 1e-2]}, epsilon=5.0)
    with config_context(enable_metadata_routing=True):
        search.set_fit_request(groups=True)
        found = cross_validate(
            search, X, y, params={"groups": np.arange(900) // 2}, cv=2, return_estimator=True
        )
    assert {one.privacy_report_.unit for one in found["estimator"]} == {"one group"}


@pytest.mark.long
@pytest.mark.parametrize("pipeline", [False, True])
def test_targets_that_a_candidate_refuses_are_refused_before_a_charge(pipeline, tmp_path):
    """Not by its trials, of which each would fail."""
    X, y = np.random.default_rng(0).uniform(size=(500, 2)), np.ones(500)
    y[17] = -1.0
    model = DPTweedieRegressor(power=1.5, target_bounds=(0, 2))
    name = "power"
    if pipeline:
        steps = [("bounds", BoundsScaler((0, 1))), ("model", model)]
        model, name = DPPipeline(steps), "model__power"
    ledger = PrivacyLedger(tmp_path / "study", epsilon=8.0, delta=1e-2)
    grid = {name: [0.0, 1.5]}
    searched = DPGridSearch(model, grid, scoring="r2", ledger=ledger)
    with pytest.raises(ValueError, match="out of the range"):
        searched.fit(X, y)
    assert not ledger.to_dict()["charges"]
    searched.set_params(param_grid={name: [0.0]}, random_state=None).fit(X, y)
