"""Pipelines that protect people: every step gets the groups, and one unit holds for all."""

import math
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, cross_validate
from sklearn.utils.metadata_routing import get_routing_for_object

from skdp.additive import DPAdditiveClassifier
from skdp.exceptions import PrivacyWarning
from skdp.ledger import PrivacyLedger
from skdp.linear_model import DPLogisticRegression, DPRidge, DPSCDClassifier, DPSGDClassifier
from skdp.pipeline import make_private_pipeline
from skdp.preprocessing import BoundsScaler, DPNormClipper, DPOneHotEncoder, DPTableVectorizer
from tests.pipeline.test_replay import NUMBERS, K, check, prepared, records as rows
from tests.privacy._cases import Case
from tests.privacy._replay import record

TWO = {"classes": [0, 1]}
MODELS = {
    "columns": make_private_pipeline(
        prepared(), BoundsScaler((-3, 3)), DPNormClipper(), DPLogisticRegression(max_iter=3, **TWO)
    ),
    "table": make_private_pipeline(
        DPTableVectorizer(categories={"word": ["a", "b"]}),
        DPLogisticRegression(max_iter=3, ball_budget=0, **TWO),
    ),
    "additive": make_private_pipeline(DPAdditiveClassifier(categories={"word": ["a", "b"]}, **TWO)),
    "targets": make_private_pipeline(prepared(), DPRidge(max_iter=3)),
}
SPENT = {"delta": 1e-3, "epsilon": 20.0}
# Of person K, whose rows are last.
PERSONS = {
    "far": [(1e300, -1e300, "a")] * 200,
    "gaps": [(np.nan, np.nan, "b")],
    "many": [(0.0, 3.0, None), (1.0, 2.0, "b"), (50.0, -5.0, "a")] * 30,
}


def with_person(person):
    """Two rows each of others, then those of a person."""
    X, y = rows()
    others = X.drop(index=K).reset_index(drop=True)
    own = pd.DataFrame(person, columns=[*NUMBERS, "word"])
    groups = np.append(np.arange(len(others)) // 2, [9999] * len(own))
    labels = np.append(np.delete(y, K), np.arange(len(own)) % 2)
    return pd.concat([others, own], ignore_index=True), labels, groups


@pytest.mark.long
@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
@pytest.mark.parametrize("name", MODELS)
def test_a_person_moves_releases_by_their_sensitivity_alone(name, adjacency):
    """Coins of rows, as many as there are, draw which of them counts, and have no noise."""
    tried = Case(MODELS[name].set_params(adjacency=adjacency, **SPENT))

    def run(person, **options):
        X, y, groups = with_person(person)
        # Numbers of people in the order of their ids.
        found = record(tried, X, y, groups=groups, **options)
        found.log = [entry for entry in found.log if entry[0] != "uniform"]
        return found

    base = run(PERSONS["far"])
    assert base.estimator.privacy_report_.unit == "one group"
    null = run(PERSONS["far"], script=base.released, null=9999)
    found = [check(base, null, null=True)]
    for person in PERSONS.values():
        other = run(person, script=base.released)
        found += [check(base, other), check(other, null, null=True)]
    assert max(found) > 0.5


def test_all_of_the_budget_is_spent_on_people():
    X, y, groups = with_person(PERSONS["many"])
    model = MODELS["columns"].set_params(**SPENT, random_state=0)
    report = model.fit(X, y, groups=groups).privacy_report_
    assert 0.97 * 20.0 <= report.epsilon_at(1e-3) <= 20.0 * (1.0 + 1e-9)
    assert any("`groups`" in line for line in report.assumed_public)
    assert any("part of a group" in line for line in report.not_covered)
    inner = model[0].named_transformers_["pipeline"]
    reports = [step.privacy_report_ for step in (*inner, model[0].transformers_[1][1], *model[2:])]
    assert {one.unit for one in reports} == {"one group"}
    assert report.delta == MODELS["columns"].delta


def test_delta_follows_the_number_of_people():
    X, y = np.zeros((40_000, 1)), np.zeros(40_000)
    model = make_private_pipeline(BoundsScaler(), DPRidge(target_bounds=(-1, 1), max_iter=1))
    found = [model.fit(X, y, groups=g).delta_ for g in (None, np.arange(40_000) // 2)]
    assert found == [0.1 / 40_000, 0.1 / 20_000]


@pytest.mark.parametrize("last", [DPSCDClassifier(**TWO), DPSGDClassifier(**TWO)])
def test_what_protects_rows_alone_is_refused_before_anything_is_charged(last, tmp_path):
    X, y, groups = with_person(PERSONS["many"])
    ledger = PrivacyLedger(tmp_path / "study.db", epsilon=9.0, delta=1e-2, unit="one group")
    model = make_private_pipeline(prepared(), last, ledger=ledger)
    with pytest.raises(ValueError, match=r"takes no groups. DPLogisticRegression"):
        model.fit(X, y, groups=groups)
    with pytest.raises(ValueError, match="missing values"):
        MODELS["columns"].fit(X, y, groups=[None, *groups[1:]])
    assert len(ledger.to_frame()) == 0


def test_another_fit_holds_nothing_of_an_earlier_one():
    """scikit-learn keeps with what a step asks for the estimator that it was cloned from."""
    X, y = np.random.default_rng(0).uniform(-1, 1, (200, 2)), np.arange(200) % 2
    model = make_private_pipeline(DPNormClipper(), DPLogisticRegression(max_iter=2, **TWO))
    model.set_params(epsilon=math.inf).fit(X, y, groups=np.arange(200) // 2)
    exact = model[-1].coef_.tobytes()
    assert exact in pickle.dumps(model)
    assert exact not in pickle.dumps(clone(model))
    model.set_params(epsilon=1.0).fit(X, y, groups=np.arange(200) // 2)
    assert exact not in pickle.dumps(model)


@pytest.mark.parametrize("model", [DPRidge(max_iter=2), make_private_pipeline(DPRidge(max_iter=2))])
def test_a_clone_that_asks_for_groups_holds_nothing_of_a_fit(model):
    X = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    with config_context(enable_metadata_routing=True):
        model = clone(model).set_fit_request(groups=True).set_params(epsilon=math.inf)
        copy = clone(model.fit(X, X[:, 0]))
        found = get_routing_for_object(copy).consumes("fit", ["groups"])
    fitted = model if isinstance(model, DPRidge) else model[-1]
    assert fitted.coef_.tobytes() not in pickle.dumps(copy)
    assert found == {"groups"}


@pytest.mark.long
def test_groups_are_routed_to_a_pipeline():
    X, y, groups = with_person(PERSONS["many"])
    model = make_private_pipeline(prepared(), DPLogisticRegression(max_iter=2, **TWO))
    with config_context(enable_metadata_routing=True):
        model.set_fit_request(groups=True)
        found = cross_validate(
            model, X, y, params={"groups": groups}, cv=GroupKFold(2), return_estimator=True
        )
    assert {one.privacy_report_.unit for one in found["estimator"]} == {"one group"}


def test_a_pipeline_ends_in_a_transformer_of_people():
    X, _, groups = with_person(PERSONS["many"])
    model = make_private_pipeline(DPOneHotEncoder(), epsilon=5.0, random_state=0)
    assert model.fit_transform(X[["word"]], groups=groups).shape[0] == len(X)
    assert model.privacy_report_.unit == model[0].privacy_report_.unit == "one group"


def test_rows_of_a_person_are_no_records_of_their_own():
    """Noise is relative to a person: it is the same however many rows people have."""
    stds = []
    for size in (1, 5):
        X = np.repeat(np.linspace(-1, 1, 50), size)[:, np.newaxis]
        groups = np.repeat(np.arange(50), size)
        model = make_private_pipeline(DPRidge(target_bounds=(-1, 1), ball_budget=0, data_norm=1.0))
        run = record(Case(model), X, X[:, 0], groups=groups)
        stds.append([mechanism.noise_multiplier for mechanism in run.mechanisms])
    np.testing.assert_allclose(stds[0], stds[1], rtol=1e-12)


def test_a_delta_is_large_beside_the_number_of_people():
    """It would be beside that of rows, and warn."""
    X = np.zeros((4000, 1))
    model = make_private_pipeline(
        BoundsScaler(), DPRidge(target_bounds=(-1, 1), max_iter=1), delta=1e-3
    )
    model.fit(X, X[:, 0], groups=np.arange(4000) // 100)
    with pytest.warns(PrivacyWarning, match="n_groups"):
        model.set_params(delta=0.1).fit(X, X[:, 0], groups=np.arange(4000) // 100)
