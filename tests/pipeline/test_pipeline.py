"""One budget for a pipeline: what it is spent on, and that it behaves as scikit-learn's."""

import math
import pickle
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import (
    TransformedTargetRegressor,
    make_column_selector,
    make_column_transformer,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, PolynomialFeatures
from sklearn.utils import get_tags

from skdp.accountant import PrivacyReport
from skdp.additive import DPAdditiveClassifier
from skdp.calibration import DPCalibratedClassifier
from skdp.exceptions import BudgetExceededError, PrivacyWarning
from skdp.inspection import preview
from skdp.ledger import PrivacyLedger
from skdp.linear_model import (
    DPCDClassifier,
    DPCDLasso,
    DPLogisticRegression,
    DPRidge,
    DPSCDClassifier,
    DPSGDClassifier,
)
from skdp.model_selection import DPGridSearch
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
from tests._loops import ONE_OR_MORE_WORKERS
from tests.door import (
    _FIT_ERASURE,
    BoundsPassingPipeline,
    GaussianMechanism,
    gaussian_cost,
    plan_module as _base,
)

INF = float("inf")
TWO = {"classes": [0, 1]}
NUMBERS = ["age", "hours"]


def table(n, seed=0):
    """A frame with gaps and categories, and labels that go with them."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.uniform(18, 95, n),
            "hours": rng.normal(38, 10, n),
            "sector": rng.choice(["public", "private", "self"], n),
        }
    )
    y = (frame["age"] / 40 + (frame["sector"] == "self") > 1.5).to_numpy().astype(int)
    frame.loc[rng.random(n) < 0.2, "hours"] = np.nan
    return frame, y


def everything(last, **options):
    """A pipeline that learns all of its preprocessing."""
    impute = DPSimpleImputer(strategy="median", feature_bounds=([0, 0], [1000, 400]))
    prepare = make_column_transformer(
        (make_pipeline(impute, DPStandardScaler()), NUMBERS), (DPOneHotEncoder(), ["sector"])
    )
    return make_private_pipeline(prepare, DPNormClipper(), last, **options)


def leaves(model):
    """Its fitted private steps, in order."""
    columns = model[0]
    pair = columns.named_transformers_["pipeline"]
    return [pair[0], pair[1], columns.named_transformers_["dponehotencoder"], model[1], model[2]]


LASTS = {
    "whitened": DPLogisticRegression(**TWO),
    "coordinates": DPCDClassifier(max_iter=2, **TWO),
    "poisson": DPSGDClassifier(max_iter=2, **TWO),
    "dual": DPSCDClassifier(max_iter=2, **TWO),
    "pure": DPSGDClassifier(mechanism="laplace", **TWO),
    "renyi": DPSCDClassifier(max_iter=2, accountant="rdp", **TWO),
}


def test_scores_are_excused_with_noise_alone():
    for epsilon, poor in ((1.0, True), (INF, False), ("one", True)):
        steps = [("scaler", DPStandardScaler()), ("model", DPLogisticRegression())]
        assert get_tags(DPPipeline(steps, epsilon=epsilon)).classifier_tags.poor_score is poor


@pytest.mark.long
@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 6.0])
@pytest.mark.parametrize("name", LASTS)
def test_all_steps_together_spend_the_budget(name, epsilon, adjacency):
    if (name, adjacency) == ("renyi", "replace_one"):
        pytest.skip("there is no such accountant")
    frame, y = table(600)
    model = everything(LASTS[name], epsilon=epsilon, adjacency=adjacency, random_state=0)
    report = model.fit(frame, y).privacy_report_
    assert (report.epsilon, report.delta, report.adjacency) == (epsilon, 1e-5, adjacency)
    # Worked out again from the events alone.
    fields = {"adjacency": adjacency, "clipping": None, "accountant": "pld"}
    bare = PrivacyReport(epsilon=INF, delta=1e-5, events=report.events, **fields)
    assert 0.97 * epsilon <= bare.epsilon_at(1e-5) <= epsilon * (1 + 1e-9)
    # And from what each step says: pairs add up, whatever the steps' designs are.
    costs = [
        gaussian_cost(leaf.privacy_report_.events, adjacency, erasure=_FIT_ERASURE * 1e-5)
        for leaf in leaves(model)
    ]
    joint = sum(costs[1:], start=costs[0])
    assert 0.96 * epsilon <= joint.epsilon(1e-5) <= epsilon * (1 + 1e-9)
    mus = np.array([cost.mu for cost in costs])
    np.testing.assert_allclose(mus**2 / (mus**2).sum(), [0.0625] * 4 + [0.75], rtol=0.02)


@pytest.mark.parametrize("name", LASTS)
def test_one_step_gets_everything(name):
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-1, 1, (500, 3)), np.arange(500) % 2
    last = clone(LASTS[name])
    model = make_private_pipeline(PolynomialFeatures(), NormClipper(), last, random_state=0)
    report = model.fit(X, y).privacy_report_
    assert report.events == model[-1].privacy_report_.events
    assert report.accountant == model[-1].privacy_report_.accountant
    assert (model[-1].epsilon, model[-1].delta) == (1.0, "auto")


def test_plans_are_made_before_there_is_noise(monkeypatch):
    """A step whose part can't be designed stops the fit before anything is released."""
    released = []
    for cls in (GaussianMechanism,):
        monkeypatch.setattr(cls, "release", lambda *args: released.append(args))
    frame, y = table(200)
    for last in (DPLogisticRegression(max_iter=0), DPSGDClassifier(batch_size=0)):
        with pytest.raises(ValueError, match=r"max_iter|batch_size"):
            everything(last).fit(frame, y)
    with pytest.raises(ValueError, match="too little of the budget"):
        everything(DPLogisticRegression(**TWO), epsilon=1e-3, delta=0.9).fit(frame, y)
    with pytest.raises(ValueError, match="delta must be positive"):
        everything(DPLogisticRegression(**TWO), delta=0.0).fit(frame, y)
    assert not released


def test_costs_beyond_a_part_are_refused(monkeypatch):
    """A step that spends more than it was planned to is noticed by the report."""
    frame, y = table(300)

    original = DPStandardScaler.fit

    def fit(self, X, y=None):
        return original(self.set_params(epsilon=1.1 * self.epsilon), X, y)

    monkeypatch.setattr(DPStandardScaler, "fit", fit)
    model = make_private_pipeline(DPStandardScaler((0, 100)), DPLogisticRegression(**TWO))
    with pytest.raises(ValueError, match="step 'dpstandardscaler' would cost more"):
        model.fit(frame[["age"]], y)
    assert not hasattr(model, "privacy_report_")


@pytest.mark.long
def test_a_width_that_is_found_privately_changes_no_cost():
    """Poisson batches are designed by the number of columns, which the encoder finds."""
    rng = np.random.default_rng(0)
    y = np.arange(3000) % 2
    for n_categories in (2, 40):
        words = pd.DataFrame({"w": rng.integers(0, n_categories, 3000).astype(str)})
        model = make_private_pipeline(DPOneHotEncoder(), DPSGDClassifier(**TWO), random_state=0)
        report = model.fit(words, y).privacy_report_
        planned = preview(model, 3000, 1)
        assert model[-1].n_features_in_ == len(model[0].get_feature_names_out())
        assert report.events == (*model[0].privacy_report_.events, *planned.events[-2:])
        assert 0.97 <= planned.epsilon_at(1e-5) <= 1.0 + 1e-9
        last = model[-1].privacy_report_.events
        cost = gaussian_cost(last, "zero_out", erasure=planned.events[-1].probability)
        part = 1 / planned.events[-2].noise_multiplier
        assert 0.98 * part <= cost.mu <= part * (1 + 1e-9)


def scaler():
    return DPStandardScaler((-3, 3))


SAME_PATHS = {
    "in a chain": Pipeline([("a", scaler()), ("a", scaler())]),
    "in two depths": Pipeline([("a", FeatureUnion([("b", scaler())])), ("a__b", scaler())]),
    "by underscores": Pipeline(
        [("a_", FeatureUnion([("b", scaler())])), ("a", FeatureUnion([("_b", scaler())]))]
    ),
    "of itself": Pipeline([("a__b", scaler())]),
    "below": FeatureUnion([("u", Pipeline([("a", scaler()), ("a", scaler())]))]),
}


@pytest.mark.parametrize("name", SAME_PATHS)
def test_no_two_steps_have_the_same_path(name, monkeypatch):
    """Of two that had, the report would lose what one of them released."""
    fitted = []
    monkeypatch.setattr(DPStandardScaler, "fit", lambda *args: fitted.append(args))
    X, y = np.random.default_rng(0).uniform(-1, 1, (100, 2)), np.arange(100) % 2
    model = make_private_pipeline(SAME_PATHS[name], DPLogisticRegression(**TWO))
    with pytest.raises(ValueError, match="names of steps must differ"):
        model.fit(X, y)
    with pytest.raises(ValueError, match="names of steps must differ"):
        preview(model, 100, 2)
    assert not fitted


def test_inner_pipelines_are_checked_as_scikit_learn_does():
    with pytest.raises(ValueError, match="Estimator names conflict"):
        BoundsPassingPipeline([("steps", scaler())]).fit(np.zeros((5, 2)))


def test_a_fit_leaves_no_pipeline_of_ours_behind():
    """A reader of the file may have to trust each class in it."""
    inner = make_pipeline(NormClipper())
    columns = make_column_transformer((inner, [0, 1]), remainder=inner)
    both = FeatureUnion([("columns", columns), ("two", make_pipeline(inner, NormClipper()))])
    X, y = np.random.default_rng(0).uniform(-1, 1, (100, 4)), np.arange(100) % 2
    model = make_private_pipeline(both, DPLogisticRegression(**TWO)).fit(X, y)
    assert BoundsPassingPipeline.__name__.encode() not in pickle.dumps(model)


def test_releases_without_a_part_are_refused():
    model = make_private_pipeline(scaler(), DPLogisticRegression(**TWO))
    plan = model._plan(100, 2)
    whole = plan.report(reproducible=False)
    released = {part.name: replace(whole, events=part.events, names=()) for part in plan.parts}
    report = plan.joint_report(released, reproducible=False)
    # What has no name of its own, as in reports of earlier versions, isn't lost.
    assert (report.epsilon, report.events, report.names) == (1.0, whole.events, whole.names)
    with pytest.raises(ValueError, match="step 'other' released something"):
        plan.joint_report(released | {"other": whole}, reproducible=False)


@pytest.mark.parametrize("name", ["a\nb", "\u202ea", "a, b"])
def test_a_step_may_have_any_name(name):
    X, y = np.random.default_rng(0).uniform(-1, 1, (100, 2)), np.arange(100) % 2
    model = DPPipeline([(name, scaler()), ("model", DPLogisticRegression(**TWO))])
    names = model.fit(X, y).privacy_report_.names
    shown = name if name.isprintable() else ascii(name)[1:-1]
    assert names[0] == f"{shown}: distributions of columns"


def test_columns_by_pattern_are_as_many_as_their_categories():
    frame = pd.DataFrame({"v": range(90), "c": list("xyz") * 30, "d": list("pqr") * 30})
    chosen = make_column_selector("c|d")
    given = DPOneHotEncoder(categories=[list("xyz"), list("pqr")])
    model = make_private_pipeline(
        make_column_transformer((given, chosen)), DPLogisticRegression(**TWO)
    )
    report = model.fit(frame, np.arange(90) % 2).privacy_report_
    assert report.events == model[-1].privacy_report_.events


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        ("auto", [0.125, 0.125, 0.75]),
        ({"a": 1, "b": 2, "c": 5}, [0.125, 0.25, 0.625]),
        ([1, 2, 5], [0.125, 0.25, 0.625]),
        (np.array([0.2, 0.2, 0.6]), [0.2, 0.2, 0.6]),
    ],
)
def test_shares_are_of_squared_mu(shares, expected):
    X, y = np.random.default_rng(0).uniform(-1, 1, (300, 2)), np.arange(300) % 2
    steps = [("a", DPQuantileClipper()), ("b", DPNormClipper()), ("c", DPLogisticRegression(**TWO))]
    model = DPPipeline(steps, shares=shares, random_state=0).fit(X, y)
    mus = np.array([step.privacy_report_.mu for _, step in model.steps])
    np.testing.assert_allclose(mus**2 / (mus**2).sum(), expected, rtol=1e-6)


@pytest.mark.long
def test_shares_of_containers_are_divided():
    frame, y = table(300)
    model = everything(DPLogisticRegression(**TWO), random_state=0)
    inside = "columntransformer__pipeline"
    shares = {"columntransformer": 1, f"{inside}__dpsimpleimputer": 2}
    shares |= {"dpnormclipper": 1, "dplogisticregression": 6}
    model.set_params(shares=shares).fit(frame, y)
    mus = np.array([leaf.privacy_report_.mu or 0 for leaf in leaves(model)])
    np.testing.assert_allclose(
        mus[[0, 1, 3, 4]] ** 2 * 10, mus[4] ** 2 / 0.6 * np.array([2, 0.5, 1, 6]), rtol=1e-6
    )
    for wrong in (
        {"dpnormclipper": 1},
        {**shares, "other": 1},
        [1, 2],
        {**shares, inside: -1},
        [0] * 5,
    ):
        with pytest.raises(ValueError, match="shares"):
            model.set_params(shares=wrong).fit(frame, y)


def test_steps_that_learn_nothing_have_no_part():
    frame, y = table(300)
    prepare = make_column_transformer(
        (DPSimpleImputer(strategy="constant", fill_value=38.0), ["hours"]),
        (DPOneHotEncoder(categories=[["public", "private", "self"]]), ["sector"]),
    )
    model = make_private_pipeline(prepare, DPLogisticRegression(**TWO)).fit(frame, y)
    assert model.privacy_report_.events == model[-1].privacy_report_.events
    with pytest.raises(ValueError, match="no step of the pipeline learns privately"):
        make_private_pipeline(prepare).fit(frame, y)
    # What predicts would have been asked for what it makes of the rows.
    plain = DPPipeline([("prepare", prepare), ("last", LogisticRegression())], allow=("last",))
    with pytest.raises(ValueError, match="no step of the pipeline learns privately"):
        plain.fit(frame, y)


@pytest.mark.parametrize("allow", [(), ("junk",)])
@pytest.mark.parametrize("junk", [1, ()])
def test_what_is_no_estimator_is_refused_by_its_place(junk, allow):
    frame, y = table(60)
    steps = [("junk", junk), ("last", DPLogisticRegression(**TWO))]
    told = r"step 'junk' is of type \w+, which has no fit: give an estimator, or 'passthrough'"
    with pytest.raises(TypeError, match=told):
        DPPipeline(steps, allow=allow).fit(frame[NUMBERS], y)


@pytest.mark.long
def test_promises_become_the_next_step_s_bounds():
    frame, y = table(600)
    model = everything(DPCDClassifier(max_iter=2, **TWO), random_state=0).fit(frame, y)
    imputer, scaler, encoder, clipper, last = leaves(model)
    np.testing.assert_array_equal(scaler.feature_bounds, imputer.feature_bounds_)
    assert last.data_norm == clipper.norm_bound_
    np.testing.assert_array_equal(last.feature_bounds, clipper.feature_bounds_)
    # A container promises what its parts do together.
    model = make_private_pipeline(*[step for _, step in model.steps[::2]], random_state=0)
    model.fit(frame, y)
    prepare, last = model[0], model[-1]
    scaler, encoder = (
        prepare.named_transformers_[name] for name in ("pipeline", "dponehotencoder")
    )
    assert last.data_norm == pytest.approx(math.hypot(scaler[-1].norm_bound_, encoder.norm_bound_))
    rows = prepare.transform(frame)
    low, high = last.feature_bounds
    assert (low <= rows).all()
    assert (rows <= high).all()
    assert np.linalg.norm(rows, axis=1).max() <= last.data_norm


@pytest.mark.parametrize(
    "safe",
    [
        OneHotEncoder(categories=[["public", "private", "self"]], sparse_output=False),
        make_pipeline(DPOneHotEncoder(categories=[["public", "self"]]), "passthrough"),
        FeatureUnion([("a", DPOneHotEncoder()), ("b", "drop")]),
    ],
)
def test_steps_of_scikit_learn_promise_too(safe):
    frame, y = table(600)
    model = make_private_pipeline(safe, DPLogisticRegression(**TWO), random_state=0)
    model.fit(frame[["sector"]], y)
    assert model[-1].data_norm == 1.0
    assert type(model[-1].data_norm) is not float


@pytest.mark.long
def test_what_is_given_stays_and_what_was_handed_on_is_forgotten():
    frame, y = table(600)
    given = DPSGDClassifier(data_norm=2.5, **TWO)
    model = everything(given, random_state=0).fit(frame, y)
    assert model[-1].data_norm == 2.5
    # An unknown step promises nothing, and the default is back.
    model = everything(DPSGDClassifier(**TWO), random_state=0).fit(frame, y)
    assert model[-1].data_norm != 1.0
    fresh = clone(model)
    assert fresh[-1].data_norm == model[-1].data_norm
    fresh.set_params(dpnormclipper=FunctionTransformer(np.sign)).fit(frame, y)
    assert fresh[-1].data_norm == 1.0
    learns = everything(DPLogisticRegression(**TWO), random_state=0).fit(frame, y)
    assert learns[-1].data_norm > 0.0
    learns.set_params(dpnormclipper=FunctionTransformer(np.sign)).fit(frame, y)
    assert learns[-1].data_norm is None
    # The wider rows of another table are promised anew, in other numbers of columns.
    again = clone(model).fit(frame[["age", "hours", "sector"]], y)
    np.testing.assert_array_equal(again[-1].coef_, model[-1].coef_)


def test_given_steps_are_not_changed():
    frame, y = table(300)
    scaler, last = DPStandardScaler((0, 100)), DPLogisticRegression(**TWO)
    before = repr(scaler), repr(last)
    model = make_private_pipeline(scaler, last, random_state=0).fit(frame[["age"]], y)
    assert (repr(scaler), repr(last)) == before
    assert not hasattr(last, "coef_")
    for step in model:
        assert step.random_state is None
        assert step.ledger is None
        assert step.privacy_report_.reproducible


@pytest.mark.long
@pytest.mark.parametrize("make", [lambda: 3, lambda: np.random.RandomState(3)])
def test_seeds(make):
    frame, y = table(600)
    first, second = (
        everything(DPLogisticRegression(**TWO), random_state=make()).fit(frame, y) for _ in range(2)
    )
    np.testing.assert_array_equal(first[-1].coef_, second[-1].coef_)
    assert first.privacy_report_.reproducible
    assert "seed" in repr(first.privacy_report_)
    with pytest.warns(PrivacyWarning, match="This DPPipeline was fitted with a seed") as caught:
        pickle.dumps(first)
    assert len(caught) == 1
    other = everything(DPLogisticRegression(**TWO)).fit(frame, y)
    assert not other.privacy_report_.reproducible
    assert not np.isin(other[-1].coef_, first[-1].coef_).any()
    pickle.loads(pickle.dumps(other)).predict(frame)


def test_each_step_has_a_stream_of_its_own(monkeypatch):
    """Of one seed, no two releases share noise."""
    drawn = []
    original = GaussianMechanism.release

    def release(self, value, stream):
        out = original(self, np.zeros_like(value), stream)
        drawn.append(np.ravel(out)[:50] / self.noise_std)
        return out

    monkeypatch.setattr(GaussianMechanism, "release", release)
    X, y = np.random.default_rng(0).uniform(-1, 1, (300, 2)), np.arange(300) % 2
    steps = (DPQuantileClipper(), DPQuantileClipper(), DPStandardScaler(), DPStandardScaler())
    make_private_pipeline(*steps, DPLogisticRegression(**TWO), random_state=0).fit(X, y)
    values = np.concatenate(drawn)
    assert np.unique(values.round(9)).size == values.size


def test_without_noise_it_is_scikit_learn_s_optimum():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3)) @ np.diag([1.0, 5.0, 0.2]) + [3.0, 0.0, -1.0]
    y = (X @ [1.0, 0.3, -2.0] + rng.logistic(size=500) > 3).astype(int)
    last = DPLogisticRegression(alpha=1e-3, max_iter=400, ball_budget=0, **TWO)
    model = make_private_pipeline(DPStandardScaler((-50, 50), clip=1e3), last, epsilon=INF).fit(
        X, y
    )
    assert math.isinf(model.privacy_report_.epsilon)
    rows = model[:-1].transform(X)
    bias = model[-1].data_norm / 3
    augmented = np.column_stack([rows, np.full(500, bias)])
    plain = LogisticRegression(C=1 / (500 * 1e-3), fit_intercept=False, tol=1e-10, max_iter=9999)
    plain.fit(augmented, y)
    np.testing.assert_allclose(
        model.decision_function(X), plain.decision_function(augmented), atol=1e-3
    )


@pytest.mark.long
def test_a_ledger_is_charged_once_with_everything(tmp_path):
    frame, y = table(600)
    ledger = PrivacyLedger(tmp_path / "study.skdp", epsilon=2.0, delta=1e-5)
    model = everything(DPSGDClassifier(max_iter=2, **TWO), ledger=ledger).fit(frame, y)
    assert ledger.to_frame()["estimator"].tolist() == ["DPPipeline"]
    assert ledger.spent == pytest.approx(1.0, rel=0.02)
    # A fit of a step alone charges as any other.
    assert all(leaf.ledger is ledger for leaf in leaves(model))
    with pytest.raises(BudgetExceededError):
        model.set_params(epsilon=1.99).fit(frame, y)
    assert len(ledger.to_frame()) == 1


@pytest.mark.long
def test_the_ledger_of_the_environment_is_charged_once_too(tmp_path, monkeypatch):
    frame, y = table(600)
    ledger = PrivacyLedger(tmp_path / "study.skdp", epsilon=2.0, delta=1e-5)
    monkeypatch.setenv("SKDP_LEDGER", str(ledger.path))
    everything(DPLogisticRegression(**TWO)).fit(frame, y)
    assert ledger.to_frame()["estimator"].tolist() == ["DPPipeline"]
    preview(everything(DPLogisticRegression(**TWO)), 600, 3)
    assert len(ledger.to_frame()) == 1


@pytest.mark.long
@ONE_OR_MORE_WORKERS
# A search sends the fitted pipeline to its workers, which pickles the seed.
@pytest.mark.filterwarnings("ignore:This DPPipeline was fitted with a seed")
def test_manners_of_a_pipeline(n_jobs, tmp_path):
    frame, y = table(900)
    model = everything(DPLogisticRegression(**TWO), random_state=0)
    assert model.set_params(dplogisticregression__alpha=1e-2)[-1].alpha == 1e-2
    model.fit(frame, y)
    assert isinstance(model[:-1], DPPipeline)
    assert model[:-1].transform(frame).shape == (900, model[-1].n_features_in_)
    assert model["dpnormclipper"] is model.named_steps["dpnormclipper"] is model[1]
    assert list(model.feature_names_in_) == list(frame.columns)
    assert model.n_features_in_ == 3
    names = model[:-1].get_feature_names_out()
    assert "pipeline__age" in names
    assert "dponehotencoder__sector_self" in names
    np.testing.assert_array_equal(model.classes_, [0, 1])
    assert model.predict_proba(frame).shape == (900, 2)
    assert model.score(frame, y) > 0.6
    assert "DPPipeline" in model._repr_html_()
    prepared = model[:-1].set_output(transform="pandas").fit_transform(frame, y)
    assert list(prepared.columns) == list(names)
    with pytest.raises(ValueError, match="step of 1"):
        model[::2]
    search = GridSearchCV(model, {"dplogisticregression__alpha": [1e-4, 1e-2]}, cv=2, n_jobs=n_jobs)
    best = search.fit(frame, y).best_estimator_
    assert best.privacy_report_.epsilon == 1.0
    assert np.isfinite(cross_val_score(model, frame, y, cv=2)).all()
    with pytest.raises(ValueError, match="X, y and groups alone"):
        model.fit(frame, y, dplogisticregression__sample_epsilon=np.ones(900))


def test_groups_of_a_step_are_to_be_given_to_the_pipeline(rng):
    X, y = rng.uniform(size=(60, 2)), np.arange(60) % 2
    model = make_private_pipeline(DPNormClipper(), DPLogisticRegression(classes=[0, 1]))
    with pytest.raises(ValueError, match=r"fit\(X, y, groups=ids\)"):
        model.fit(X, y, dplogisticregression__groups=np.arange(60))


@pytest.mark.long
def test_regressions_and_several_targets():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 3))
    Y = np.clip(X[:, :2] @ np.ones((2, 2)) / 4, -1, 1)
    for last, y in (
        (DPRidge(target_bounds=(-1, 1)), Y),
        (DPCDLasso(target_bounds=(-1, 1)), Y[:, 0]),
    ):
        model = make_private_pipeline(
            DPStandardScaler((-40, 40)), last, epsilon=5.0, random_state=0
        )
        assert model.fit(X, y).score(X, y) > 0.5
        assert model.predict(X).shape == y.shape


def test_what_makes_fits_of_its_own_does_not_take_it():
    """Their budget would be another than the pipeline's, which sets that of its steps."""
    X, y = np.random.default_rng(0).uniform(-1, 1, (300, 2)), np.arange(300) % 2
    last = DPGridSearch(DPLogisticRegression(**TWO), {"alpha": [1e-3, 1e-2]})
    with pytest.raises(ValueError, match=r"DPGridSearch.*search over the pipeline"):
        make_private_pipeline(DPStandardScaler(), last).fit(X, y)


@pytest.mark.long
@pytest.mark.parametrize("groups", [None, np.arange(900) // 2])
@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
def test_a_pipeline_ends_in_a_calibrated_classifier(adjacency, groups):
    frame, y = table(900)
    inner = DPLogisticRegression(ball_budget=0, **TWO)
    model = everything(DPCalibratedClassifier(inner), epsilon=6.0, adjacency=adjacency)
    report = model.set_params(random_state=0).fit(frame, y, groups=groups).privacy_report_
    fields = {"adjacency": adjacency, "clipping": None, "accountant": "pld"}
    bare = PrivacyReport(epsilon=INF, delta=1e-5, events=report.events, **fields)
    assert 0.95 * 6.0 <= bare.epsilon_at(1e-5) <= 6.0 * (1 + 1e-9)
    assert report.unit == ("one row" if groups is None else "one group")
    calibrated = model[-1]
    # What the step before promises, its classifier knows.
    assert calibrated.estimator_.data_norm == model[-2].norm_bound_
    assert calibrated.privacy_report_.unit == report.unit
    assert model.predict_proba(frame).shape == (900, 2)
    assert calibrated.slope_ > 0.0
    # Another fit may hand another promise on.
    again = model.set_params(dpnormclipper__quantile=0.2).fit(frame, y)
    assert again[-1].estimator_.data_norm == model[-2].norm_bound_


def test_a_calibrated_classifier_that_was_given_a_budget_is_refused_before_any_noise(monkeypatch):
    frame, y = table(60)
    monkeypatch.setattr(_base, "make_stream", None)
    model = everything(DPCalibratedClassifier(DPLogisticRegression(epsilon=3.0, **TWO)), delta=1e-3)
    with pytest.raises(ValueError, match="epsilon of estimator is set"):
        model.fit(frame, y)


def test_a_target_is_transformed_around_a_pipeline():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (3000, 2))
    y = np.exp(X[:, 0] + 0.1 * rng.standard_normal(3000))
    inner = make_private_pipeline(
        DPStandardScaler(), DPRidge(target_bounds=(-3, 3)), epsilon=5.0, random_state=0
    )
    around = TransformedTargetRegressor(inner, func=np.log, inverse_func=np.exp)
    assert around.fit(X, y).score(X, y) > 0.8
    assert around.regressor_.privacy_report_.epsilon == 5.0
    within = TransformedTargetRegressor(DPRidge(), func=np.log, inverse_func=np.exp)
    with pytest.raises(ValueError, match="put it around the private pipeline"):
        make_private_pipeline(DPStandardScaler(), within).fit(X, y)


@pytest.mark.long
def test_columns_may_be_chosen_by_types_that_are_assumed_public():
    frame, y = table(900)
    numbers = make_column_selector(dtype_include=np.number)
    words = make_column_selector(dtype_exclude=np.number)
    impute = DPSimpleImputer(strategy="median", feature_bounds=(0, 400))
    prepare = make_column_transformer((impute, numbers), (DPOneHotEncoder(), words))
    model = make_private_pipeline(prepare, DPRidge(target_bounds=(0, 1)), random_state=0)
    report = model.fit(frame, y).privacy_report_
    assert any("make_column_selector" in line for line in report.assumed_public)
    assert prepare is not model[0]
    assert [step[2] for step in model[0].transformers_[:2]] == [NUMBERS, ["sector"]]
    named = make_column_transformer((impute, NUMBERS), (DPOneHotEncoder(), ["sector"]))
    other = make_private_pipeline(named, DPRidge(target_bounds=(0, 1)), random_state=0)
    said = other.fit(frame, y).privacy_report_.assumed_public
    assert not any("make_column_selector" in line for line in said)


@pytest.mark.long
def test_preview_knows_the_report():
    frame, y = table(600)
    for last in (DPLogisticRegression(**TWO), DPSGDClassifier(max_iter=2, **TWO)):
        model = everything(last, random_state=0)
        planned = preview(model, 600, 3)
        report = model.fit(frame, y).privacy_report_
        assert planned.notes == report.notes
        assert planned.epsilon_at(1e-5) == pytest.approx(report.epsilon_at(1e-5), rel=0.02)
        assert planned.not_covered == report.not_covered
        assert planned.assumed_public == report.assumed_public


def test_large_delta_is_told_once():
    X, y = np.random.default_rng(0).uniform(-1, 1, (200, 2)), np.arange(200) % 2
    model = make_private_pipeline(DPStandardScaler(), DPLogisticRegression(**TWO), delta=0.01)
    with pytest.warns(PrivacyWarning, match=_base.LARGE_DELTA[:20]) as caught:
        model.fit(X, y)
    assert len(caught) == 1


@pytest.mark.long
@pytest.mark.parametrize(
    ("before", "options", "is_told"),
    [
        ((), {}, True),
        ((FunctionTransformer(),), {}, True),
        (
            (make_column_transformer((BoundsScaler((-200, 200)), [0]), remainder="passthrough"),),
            {},
            1,
        ),
        ((), {"ball_budget": "auto"}, False),
        ((), {"data_norm": 100.0}, False),
        ((NormClipper(1.0),), {}, False),
        ((BoundsScaler((-200, 200)),), {}, False),
    ],
)
def test_rows_that_nothing_bounds_are_told(before, options, is_told):
    X = np.random.default_rng(0).normal(0, 50, (1_000, 3))
    y = (X[:, 0] > 0).astype(int)
    model = DPSGDClassifier(**TWO, **{"ball_budget": 0} | options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        make_private_pipeline(*before, model, random_state=0).fit(X, y)
    told = [str(one.message) for one in caught if "bounds the rows" in str(one.message)]
    assert len(told) == is_told
    assert all("'dpsgdclassifier'" in text and "BoundsScaler" in text for text in told)


@pytest.mark.long
@pytest.mark.parametrize("first", [DPTableVectorizer(), DPAdditiveClassifier(**TWO)])
def test_a_release_tells_a_table_reader_what_columns_hold_and_no_entry_does(first):
    """A word in a column of booleans that has the type of objects."""
    steps = (first,) if hasattr(first, "predict") else (first, DPLogisticRegression(**TWO))
    model = make_private_pipeline(*steps, epsilon=50.0, random_state=0)
    flags = np.array([True, False] * 200, dtype=object)
    y = flags.astype(int)
    found = []
    for last in (False, "maybe"):
        X = pd.DataFrame({"flag": flags})
        X.loc[399, "flag"] = last
        fitted = model.fit(X, y)[0]
        has_terms = hasattr(fitted, "terms_")
        found.append(fitted.terms_[0].knots if has_terms else fitted.knots_["flag"])
    np.testing.assert_array_equal(*found)
    assert found[0].tolist() == [0.0, 1.0]


@pytest.mark.long
def test_a_single_step_gets_all_after_one_that_learns_nothing():
    """However many columns that makes: they are known before there is noise."""
    X = np.random.default_rng(0).uniform(-1, 1, (300, 2))
    fill = DPSimpleImputer(strategy="constant", add_indicator=True)
    last = DPSGDClassifier(max_iter=1, classes=[0, 1])
    model = make_private_pipeline(fill, last, epsilon=2.0).fit(X, np.arange(300) % 2)
    assert model[-1].privacy_report_.epsilon == model.privacy_report_.epsilon == 2.0
