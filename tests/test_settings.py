"""What an estimator inside another was given is kept or refused, and never lost."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline

from skdp.accountant import PrivacyReport
from skdp.calibration import DPCalibratedClassifier, DPConformalClassifier
from skdp.inspection import preview
from skdp.ledger import PrivacyLedger
from skdp.linear_model import DPLogisticRegression, DPRidge
from skdp.model_selection import DPGridSearch, DPRandomizedSearch
from skdp.pipeline import DPPipeline, make_private_pipeline
from skdp.preprocessing import DPOneHotEncoder, DPStandardScaler, NormClipper
from tests._loops import for_each

SETTINGS = ("epsilon", "delta", "adjacency", "ledger", "random_state")
# None of them is a default, or what a wrapper has here.
GIVEN = {
    "epsilon": 0.1,
    "delta": 1e-7,
    "adjacency": "replace_one",
    "ledger": "study.db",
    "random_state": 7,
}
ALPHAS = {"alpha": [1e-3, 1e-2]}
# Each makes what it is fitted as from the settings of a model inside.
WRAPPERS = {
    "pipeline": lambda model, **own: make_private_pipeline(DPStandardScaler(), model, **own),
    "calibrated": DPCalibratedClassifier,
    "in sets": DPConformalClassifier,
    "grid": lambda model, **own: DPGridSearch(model, ALPHAS, **own),
    "drawn": lambda model, **own: DPRandomizedSearch(model, ALPHAS, n_iter=2, **own),
    "of a pipeline": lambda model, **own: DPGridSearch(
        make_pipeline(NormClipper(), model), {"dplogisticregression__alpha": [1e-3]}, **own
    ),
    "as a candidate": lambda model, **own: DPGridSearch(
        make_pipeline(NormClipper(), logistic()), {"dplogisticregression": [model]}, **own
    ),
}


def logistic(**given):
    return DPLogisticRegression(classes=[0, 1], **given)


def rows(n_rows=300):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (n_rows, 3))
    return X, (X[:, 0] > 0).astype(int)


@pytest.fixture
def ledger(tmp_path):
    return PrivacyLedger(tmp_path / "study.db", epsilon=8.0, delta=1e-3, allow_seeds=True)


@for_each("name", SETTINGS)
@for_each("wrapper", WRAPPERS)
def test_a_setting_that_would_be_lost_is_refused(wrapper, name):
    model = WRAPPERS[wrapper](logistic(**{name: GIVEN[name]}))
    kind = type(model).__name__
    with pytest.raises(ValueError, match=rf"{name} of .*is set.*{kind}") as refused:
        model.fit(*rows())
    assert str(GIVEN[name]) not in str(refused.value)
    assert not hasattr(model, "privacy_report_")


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_an_inner_ledger_is_not_given_up(wrapper, ledger):
    """Fits of which the model has a ledger aren't made beside it, without a charge."""
    for own in ({}, {"ledger": PrivacyLedger(f"{ledger.path}2", epsilon=8.0, delta=1e-3)}):
        with pytest.raises(ValueError, match=r"ledger of .*is set"):
            WRAPPERS[wrapper](logistic(ledger=ledger), **own).fit(*rows())
    assert ledger.to_dict()["charges"] == []


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_what_is_the_wrapper_s_too_is_agreed(wrapper, ledger):
    """Of ledgers any two names of one budget are."""
    agreed = {"epsilon": 2.0, "delta": 1e-4, "adjacency": "replace_one", "random_state": 3}
    model = WRAPPERS[wrapper](logistic(ledger=str(ledger.path), **agreed), ledger=ledger, **agreed)
    model.fit(*rows())
    assert len(ledger.to_dict()["charges"]) == 1
    report = model.privacy_report_
    assert (report.epsilon, report.delta, report.adjacency) == (2.0, 1e-4, "replace_one")


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_the_ledger_of_the_environment_is_agreed_too(wrapper, ledger, monkeypatch):
    monkeypatch.setenv("SKDP_LEDGER", ledger.path)
    WRAPPERS[wrapper](logistic(ledger=ledger)).fit(*rows())
    assert len(ledger.to_dict()["charges"]) == 1


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("make", [np.random.RandomState, np.random.SeedSequence])
def test_a_source_of_seeds_inside_counts_as_set(wrapper, make):
    """It would give other noise than it does alone, and be drawn from by two."""
    source = make(3)
    for own in ({}, {"random_state": np.random.RandomState(3)}):
        with pytest.raises(ValueError, match=r"random_state of .*is set"):
            WRAPPERS[wrapper](logistic(random_state=source), **own).fit(*rows())


def in_a_pipeline(step):
    return Pipeline([("inside", step)])


def in_columns(step):
    return ColumnTransformer([("inside", step, [0, 1])])


def as_the_remainder(step):
    return ColumnTransformer([("other", NormClipper(), [0])], remainder=step)


def in_a_union(step):
    return FeatureUnion([("inside", Pipeline([("deep", step)]))])


@pytest.mark.parametrize("nest", [in_a_pipeline, in_columns, as_the_remainder, in_a_union])
@pytest.mark.parametrize("name", SETTINGS)
def test_settings_inside_containers_are_seen(nest, name):
    step = nest(DPStandardScaler(**{name: GIVEN[name]}))
    model = DPPipeline([("first", step), ("model", logistic())])
    with pytest.raises(ValueError, match=rf"{name} of step 'first__\w+' is set"):
        model.fit(*rows())
    with pytest.raises(ValueError, match=rf"{name} of step 'first__\w+' is set"):
        preview(model, 300, 3)


def test_settings_of_steps_of_a_candidate_are_seen(ledger):
    encode = DPOneHotEncoder(categories=[[0.0, 1.0]], ledger=ledger)
    columns = ColumnTransformer([("words", encode, [0])], remainder=NormClipper())
    search = DPGridSearch(make_pipeline(columns, logistic()), {})
    with pytest.raises(ValueError, match="ledger of 'estimator__columntransformer__words' is set"):
        search.fit(*rows())


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_in_a_grid_are_seen(name):
    model = make_pipeline(NormClipper(), logistic())
    search = DPGridSearch(model, {f"dplogisticregression__{name}": [GIVEN[name]]})
    with pytest.raises(ValueError, match="set by the search"):
        search.fit(*rows())


@pytest.mark.parametrize("name", ["verbose", "memory"])
def test_candidates_that_print_or_keep_are_refused(name, tmp_path):
    """What they print or keep would tell how many fits there were."""
    value = {"verbose": True, "memory": str(tmp_path)}[name]
    model = make_pipeline(NormClipper(), logistic(), **{name: value})
    with pytest.raises(ValueError, match=f"{name!r} of a candidate"):
        DPGridSearch(model, {}).fit(*rows())


def test_a_fit_leaves_the_settings_of_steps_as_they_were(ledger):
    """What a step spent is in its report, and its parameters are for a fit that comes."""
    X, y = rows()
    scaler, last = DPStandardScaler(epsilon=0.5), DPRidge(target_bounds=(0, 1))
    steps = [("first", ColumnTransformer([("inside", scaler, [0, 1])])), ("model", last)]
    model = DPPipeline(steps, epsilon=0.5, adjacency="replace_one", ledger=ledger).fit(X, y)
    inside = model[0].named_transformers_["inside"]
    for step in (model[0].transformers[0][1], inside):
        assert (step.epsilon, step.adjacency, step.random_state) == (0.5, "zero_out", None)
    assert (model[-1].epsilon, model[-1].delta, model[-1].adjacency) == (1.0, "auto", "zero_out")
    assert inside.privacy_report_.epsilon < 0.5
    assert model[-1].privacy_report_.epsilon < 0.5
    # A fit of a step alone charges as any other.
    assert inside.ledger == model[-1].ledger == ledger


@pytest.mark.long
def test_fits_go_on_after_fits(ledger):
    X, y = rows()
    model = make_private_pipeline(DPStandardScaler(), logistic(), ledger=ledger).fit(X, y)
    model.fit(X, y)
    clone(model).fit(X, y)
    assert clone(model).set_params(epsilon=0.5).fit(X, y).privacy_report_.epsilon == 0.5
    clone(model).set_params(adjacency="replace_one", delta=1e-6).fit(X, y)
    assert len(ledger.to_dict()["charges"]) == 5
    charged = PrivacyReport.from_json(ledger.to_dict()["charges"][-1]["report"])
    assert (charged.adjacency, charged.delta) == ("replace_one", 1e-6)


@pytest.mark.long
def test_steps_of_an_earlier_fit_move_to_another_ledger_with_the_pipeline(ledger):
    X, y = rows()
    ledger_of_2026 = PrivacyLedger(f"{ledger.path}2", epsilon=8.0, delta=1e-3)
    model = make_private_pipeline(DPStandardScaler(), logistic(), ledger=ledger).fit(X, y)
    for fitted in (model, clone(model)):
        fitted.set_params(ledger=ledger_of_2026).fit(X, y)
        assert all(step.ledger == ledger_of_2026 for step in fitted)
    assert [len(one.to_dict()["charges"]) for one in (ledger, ledger_of_2026)] == [1, 2]
    model.set_params(ledger=None).fit(X, y)
    assert [len(one.to_dict()["charges"]) for one in (ledger, ledger_of_2026)] == [1, 2]
    # Whoever sets a step's own has set it.
    model.set_params(dpstandardscaler__ledger=ledger)
    with pytest.raises(ValueError, match="ledger of step 'dpstandardscaler' is set"):
        model.fit(X, y)


@pytest.mark.long
def test_steps_of_a_fitted_pipeline_go_into_other_wrappers(ledger):
    X, y = rows()
    model = make_private_pipeline(DPStandardScaler(), logistic(), epsilon=0.5).fit(X, y)
    DPGridSearch(model[-1], ALPHAS).fit(X, y)
    DPCalibratedClassifier(model[-1]).fit(X, y)
    searched = DPGridSearch(make_pipeline(NormClipper(), logistic()).fit(X, y), {})
    clone(searched.fit(X, y)).fit(X, y)
    searched.fit(X, y)
