"""Anything as a parameter and as data: a model with a true report, or an error that tells no entry.

The values are those of tests/_strategies.py. SKDP_FUZZ=long runs more cases, other ones each time.
"""

import dataclasses
import json
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.sparse import issparse
from sklearn import config_context
from sklearn.base import is_classifier

from skdp import accountant
from skdp.inspection import duality_gap
from skdp.linear_model import (
    DPSCDClassifier,
    DPSCDRegressor,
    DPSGDClassifier,
    DPSGDRegressor,
    LabelAggregate,
    WALRClassifier,
    label_aggregate,
    walr_path,
)
from skdp.preprocessing import BoundsScaler, NormClipper
from tests._fuzzing import (
    attempt,
    check_model,
    check_neighbour,
    check_report,
    fuzzed,
    records,
    small,
)
from tests._listed import LINEAR, PRIVATE, TRANSFORMERS, suited
from tests._strategies import ABSURD, HUGE, MARK, any_value, changes, is_long, labels, matrices
from tests.door import EVENTS
from tests.statistical._transcripts import recorded_releases

pytestmark = [
    pytest.mark.filterwarnings("ignore:(target_bounds=N|the size of)"),
]

OPTIONS = {
    "DPCD": [
        {"smoothness": "bounds"},
        {"adjacency": "replace_one", "data_norm": 1.0},
        {"selection": "greedy"},
    ],
    "DPHuber": [{"huber_threshold": 0.1, "adjacency": "replace_one"}, {"target_bounds": (-1, 1)}],
    "DPQuantile": [{"quantile": 0.9}, {"target_bounds": (0, 2), "average": False}],
    "DPLogistic": [{"adjacency": "replace_one", "momentum": 0.9}, {"moment_budget": 0.0}],
    "DPGamma": [{"adjacency": "replace_one"}, {"moment_budget": 0.0}],
    "DPPoisson": [{"adjacency": "replace_one"}, {"max_iter": 5}],
    "DPRidge": [{"adjacency": "replace_one", "step_size": 0.5}, {"moment_budget": 0.0}],
    "DPSCD": [{"solver": "sequential"}, {"solver": "primal"}, {"noisy_dual": True}],
    "DPSGD": [{"mechanism": "laplace"}, {"penalty": "l1"}, {"adjacency": "replace_one"}],
    "DPTweedie": [{"power": 1.5}, {"power": 1.0, "adjacency": "replace_one"}],
    "WALR": [{"solver": "gd"}, {"noise_shape": "spherical"}, {"data_norm": 1.0}],
}


@st.composite
def estimators(draw, classes=LINEAR):
    cls = draw(st.sampled_from(classes))
    (choices,) = (v for k, v in OPTIONS.items() if cls.__name__.startswith(k))
    options = draw(st.sampled_from([{}, {"epsilon": math.inf}, {"fit_intercept": False}, *choices]))
    declared = {}
    if "classes" in cls._parameter_constraints:
        declared["classes"] = draw(st.sampled_from([None, None, [0, 1], [0, 1, 2], ["a", "b"]]))
    return small(cls, **options, **declared)


def test_any_data():
    """A fit is refused without quoting an entry, or true; so are predictions from any rows."""
    outcomes = Counter()

    @fuzzed(110)
    @given(estimators(), st.data())
    def run(estimator, data):
        X, n = data.draw(matrices(), label="X")
        y = data.draw(labels(n), label="y")
        with recorded_releases() as made:
            model, _ = attempt(estimator.fit, X, y)
        outcomes[model is not None] += 1
        if model is not None:
            check_model(model, made)
            other, n = data.draw(matrices(), label="other X")
            for name in ("predict", "decision_function", "predict_proba"):
                if hasattr(model, name):
                    attempt(getattr(model, name), other)
            attempt(model.score, other, data.draw(labels(n), label="other y"))

    run()
    assert min(outcomes[True], outcomes[False]) > sum(outcomes.values()) // 6, outcomes


def test_any_parameter():
    """A parameter that is no good is named; with any other the report is true."""
    outcomes = Counter()

    @fuzzed(110)
    @given(st.sampled_from(PRIVATE), st.data())
    def run(cls, data):
        changed = data.draw(changes(cls), label="parameters")
        X, y = records()
        y = suited(cls(), y)
        with recorded_releases() as made:
            model, _ = attempt(lambda: small(cls, **changed).fit(X, y), named=changed)
        outcomes[model is not None] += 1
        if model is not None:
            check_model(model, made)
            attempt(getattr(model, "predict", None) or model.transform, X)

    run()
    assert min(outcomes[True], outcomes[False]) > sum(outcomes.values()) // 6, outcomes


def test_no_parameter_buys_a_release_with_less_noise_where_validation_is_off():
    outcomes = Counter()

    @fuzzed(60)
    @given(st.sampled_from(PRIVATE), st.data())
    def run(cls, data):
        # Neighbours are compared with equal noise.
        chosen = changes(cls, limit=math.inf, leave=("random_state",))
        changed = data.draw(chosen, label="parameters")
        X, y = records()
        y = suited(cls(), y)
        with config_context(skip_parameter_validation=True):
            with recorded_releases() as made:
                model, _ = attempt(lambda: small(cls, **changed).fit(X, y), kinds=Exception)
            outcomes[model is not None] += 1
            if model is not None:
                check_model(model, made, validated=False)
                report = model.privacy_report_
                if report is not None and math.isfinite(report.epsilon):
                    check_neighbour(model, X, y, made)

    run()
    assert min(outcomes[True], outcomes[False]) > sum(outcomes.values()) // 10, outcomes


def test_any_personal_epsilons_and_streams():
    pure = {"mechanism": "laplace"}

    @fuzzed(20)
    @given(st.sampled_from([DPSGDClassifier, DPSGDRegressor]), st.data())
    def run(cls, data):
        X, y = records()
        model = small(cls, **pure)
        budgets = [np.full(12, 0.5), [1.0] * 12, np.linspace(0.1, 1.0, 12), [1, *[1e-9] * 11]]
        asked = data.draw(any_value(budgets), label="sample_epsilon")
        with recorded_releases() as made:
            fitted, _ = attempt(model.fit, X, y, sample_epsilon=asked, named=["epsilon"])
        if fitted is not None:
            check_model(fitted, made)
        model = small(cls, **pure, **data.draw(changes(cls, leave=("mechanism",)), label="changed"))
        known = {"classes": [0, 1]} if is_classifier(model) else {}
        for _ in range(2):
            rows, n = data.draw(matrices(), label="X")
            called, _ = attempt(model.partial_fit, rows, data.draw(labels(n), label="y"), **known)
            if called is not None:
                assert np.isfinite(called.coef_).all()
                check_report(called.privacy_report_, model.epsilon, model.delta)
            known = {}

    run()


def test_any_bounds_and_rows_of_transformers():
    @fuzzed(30)
    @given(st.sampled_from([BoundsScaler, NormClipper]), st.data())
    def run(cls, data):
        X, _ = data.draw(matrices(), label="X")
        out, _ = attempt(cls().fit_transform, X)
        if out is not None:
            made = out.data if issparse(out) else np.asarray(out, dtype=np.float64)
            assert np.isfinite(made).all()
        changed = data.draw(changes(cls), label="parameters")
        rows, _ = records()
        out, _ = attempt(lambda: cls(**changed).fit_transform(rows), named=changed)
        assert out is None or np.isfinite(out).all()

    run()


def test_any_rows_of_private_transformers():
    @fuzzed(40)
    @given(st.sampled_from(TRANSFORMERS), st.sampled_from([0.1, 1e4, math.inf]), st.data())
    def run(cls, epsilon, data):
        X, _ = data.draw(matrices(), label="X")
        with recorded_releases() as made:
            model, _ = attempt(small(cls, epsilon=epsilon).fit, X)
        if model is not None:
            check_model(model, made)
            other, _ = data.draw(matrices(), label="other X")
            for rows in (X, other):
                out, _ = attempt(model.transform, rows)
                assert out is None or np.isfinite(np.asarray(out, dtype=np.float64)).all()

    run()


SCALARS = {
    "epsilon": [1e-3, 1.0, 8.0, 1e6, math.inf],
    "noise_multiplier": [0.0, 0.3, 1.0, 50.0, 1e9, math.inf],
    "delta": [0.0, 1e-300, 1e-12, 1e-5, 0.3],
    "sampling_rate": [1e-6, 0.5, 1.0],
    "n_steps": [1, 10, 1000, 10**6, 10**9],
    "adjacency": ["zero_out", "replace_one", "replace_label"],
    "accountant": ["pld", "rdp"],
    "pairwise": [True, False],
}
DESIGN = ("sampling_rate", "n_steps", "adjacency", "accountant")
FUNCTIONS = {
    "calibrate": ("epsilon", "delta", *DESIGN, "pairwise"),
    "calibrate_classic": ("epsilon", "delta"),
    "calibrate_pure": ("epsilon", "n_steps", "adjacency"),
    "get_epsilon": ("noise_multiplier", "delta", *DESIGN),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_any_argument_of_calibrations(name):
    function = getattr(accountant, name)
    usual = {"epsilon": 1.0, "delta": 1e-5, "noise_multiplier": 1.0}

    @fuzzed(12)
    @given(st.data())
    def run(data):
        names = FUNCTIONS[name]
        chosen = data.draw(st.lists(st.sampled_from(names), max_size=3, unique=True))
        given = {n: data.draw(any_value(SCALARS[n]), label=n) for n in chosen}
        arguments = {n: v for n, v in usual.items() if n in names} | given
        found, _ = attempt(function, **arguments, named=given)
        if found is None:
            return
        assert (np.asarray(found) >= 0.0).all()
        if name == "calibrate":
            epsilon, pairwise = arguments.pop("epsilon"), arguments.pop("pairwise", False)
            if pairwise:
                arguments["adjacency"] = "replace_label"
            assert accountant.get_epsilon(found, **arguments) <= float(epsilon)

    run()


def test_any_report():
    fields = {
        "epsilon": [1.0, 0, math.inf],
        "delta": [0.0, 1e-5, 0.3],
        "adjacency": SCALARS["adjacency"],
        "accountant": ["pld", "rdp", "analytic", "basic"],
        "clipping": [None, 1.0],
        "noise_multiplier": SCALARS["noise_multiplier"],
        "flip_probability": [0.0, 0.25],
        "n_classes": [2, 3],
        "n_steps": [1, 3],
        "n_parts": [1, 3],
        "sampling_rate": [0.5, 1.0],
        "largest_multiplier": [None, 3.0],
        "pairwise": [True, False],
        "events": [(), []],
    }
    of_event = ("noise_multiplier", "n_steps", "n_parts", "sampling_rate", "largest_multiplier")
    of_event += ("flip_probability", "n_classes")

    @fuzzed(30)
    @given(st.sampled_from(EVENTS), st.data())
    def run(kind, data):
        chosen = data.draw(st.lists(st.sampled_from(sorted(fields)), max_size=3, unique=True))
        changed = {name: data.draw(any_value(fields[name]), label=name) for name in chosen}
        known = {field.name for field in dataclasses.fields(kind)}
        usual = {"noise_multiplier": 4.0, "flip_probability": 0.25} | changed
        arguments = {n: v for n, v in usual.items() if n in known}

        def make():
            event = kind(**arguments)
            labels = kind is accountant.RandomizedResponseEvent
            adjacency = "replace_label" if labels else "zero_out"
            base = {"epsilon": 8.0, "delta": 1e-5, "adjacency": adjacency, "accountant": "pld"}
            others = {n: v for n, v in changed.items() if n not in (*of_event, "pairwise")}
            base |= {"events": (event,), "clipping": 1.0} | others
            return accountant.PrivacyReport(**base)

        # An epsilon made up here may be smaller than the events allow.
        report, _ = attempt(make, named=[*changed, *known, "epsilon"])
        if report is None:
            return
        for method in (report.to_text, report.to_json, report._repr_html_, report.__repr__):
            assert isinstance(method(), str)
        joint, _ = attempt(accountant.compose, [report, report])
        assert joint is None or joint.epsilon >= 0.0
        assert accountant.PrivacyReport.from_json(report.to_json()) == report
        if joint is not None:
            assert accountant.PrivacyReport.from_json(joint.to_json()) == joint
        value = data.draw(any_value([0.0, 1e-5, 0.5, 1.0]), label="argument")
        size = data.draw(any_value([1, 2, 10]), label="group_size")
        for method, name, largest in (
            (report.epsilon_at, "delta", math.inf),
            (report.delta_at, "epsilon", 1.0),
            (report.tpr_at, "fpr", 1.0),
        ):
            found, _ = attempt(method, value, named=[name])
            assert found is None or 0.0 <= found <= largest
        found, _ = attempt(report.epsilon_at, 1e-5, size, named=["group_size"])
        assert found is None or found >= 0.0
        attempt(accountant.compose, data.draw(any_value([[report], [report, 1]]), label="reports"))

    run()


def test_any_written_report():
    event = accountant.GaussianEvent(4.0, 0.5, 3)
    fields = {"epsilon": 8.0, "delta": 1e-5, "adjacency": "zero_out", "accountant": "pld"}
    report = accountant.PrivacyReport(events=(event,), clipping=1.0, **fields)
    odd = st.sampled_from([HUGE, -HUGE, math.nan, math.inf, [], {}, [[]], [{}], "a" * 999, (), 1j])
    scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3))
    values = st.one_of(scalars, odd, st.lists(scalars, max_size=4))

    @fuzzed(60)
    @given(st.data())
    def run(data):
        entries = report.to_dict()
        inner = data.draw(st.booleans(), label="inner")
        changed = entries["events"][0] if inner else entries
        name = data.draw(st.sampled_from([*sorted(changed), "more"]), label="name")
        changed[name] = data.draw(values, label="value")
        if data.draw(st.sampled_from([*4 * [False], True])):
            del changed[name]
        named = ["events"] if inner else []
        found, refusal = attempt(accountant.PrivacyReport.from_dict, entries, named=[name, *named])
        if found is None:
            assert len(str(refusal)) < 300
        else:
            assert isinstance(found.to_text(), str)
            assert accountant.PrivacyReport.from_json(found.to_json()) == found
        cut = data.draw(st.integers(-9, 9), label="cut")
        attempt(accountant.PrivacyReport.from_json, report.to_json()[:cut], named=["text"])

    run()


def test_any_aggregate():
    X, y = records()
    text = label_aggregate(X, y, classes=[0, 1], data_norm=1.0, random_state=0).to_json()
    written = json.loads(text)
    scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3))
    odd = st.sampled_from(
        ["O", "M8[s]", "<f8", "U1", "V8", [], {}, [[]], [0, 1, 2], [0, "a"], HUGE]
    )
    values = st.one_of(scalars, odd, st.lists(scalars, max_size=4))

    @fuzzed(40)
    @given(st.data())
    def run(data):
        content = dict(written)
        for name in data.draw(st.lists(st.sampled_from(sorted(content)), max_size=2, unique=True)):
            content[name] = data.draw(values, label=name)
        for name in data.draw(st.lists(st.sampled_from([*sorted(content), "more"]), max_size=1)):
            content[name] = content.pop(name, 1)
            content.pop(data.draw(st.sampled_from([name, "other"])), None)
        cut = data.draw(st.one_of(st.none(), st.none(), st.none(), st.integers(-9, 9)), label="cut")
        given_text = json.dumps(content)[:cut]
        if data.draw(st.sampled_from([*4 * [False], True])):
            given_text = data.draw(st.one_of(values, values.map(json.dumps)), label="text")
        aggregate, _ = attempt(LabelAggregate.from_json, given_text)
        if aggregate is not None:
            # Whoever makes an aggregate up may state what they like; it is refused or usable.
            attempt(lambda: aggregate.report.to_text())
            attempt(aggregate.to_json)
            attempt(lambda: aggregate + aggregate)
            model, _ = attempt(small(WALRClassifier).fit_aggregate, X, aggregate)
            assert model is None or np.isfinite(model.coef_).all()

    run()


def test_any_release_and_path():
    X, y = records()
    aggregate = label_aggregate(X, y, classes=[0, 1], random_state=0)

    @fuzzed(20)
    @given(st.data())
    def run(data):
        cls = WALRClassifier
        unused = ("alpha", "max_iter", "batch_size", "average", "solver", "eta0")
        changed = data.draw(changes(cls, leave=unused), label="parameters")
        made, _ = attempt(label_aggregate, X, y, **changed, named=changed)
        if made is not None:
            check_report(made.report, changed.get("epsilon", 1.0), changed.get("delta", 1e-5))
            again = LabelAggregate.from_json(made.to_json())
            assert again.report == made.report
        rows, n = data.draw(matrices(), label="X")
        made, _ = attempt(label_aggregate, rows, data.draw(labels(n), label="y"))
        assert made is None or MARK not in repr(made)
        attempt(walr_path, rows, aggregate)
        alphas = [1, 2, 5, [0.1, 1.0], np.geomspace(1e-6, 1e6, 4), 1e-30, [1e30], 1e-300]
        asked = {
            name: data.draw(
                any_value(values).filter(lambda value, name=name: not is_long(name, value)),
                label=name,
            )
            for name, values in {"alphas": alphas, "max_iter": [1, 5, 30]}.items()
        }
        path, _ = attempt(walr_path, X, aggregate, **asked, named=asked)
        assert path is None or all(np.isfinite(found).all() for found in path[:3])
        attempt(walr_path, X, data.draw(st.sampled_from(ABSURD)), named=["aggregate"])

    run()


def test_any_duality_gap():
    @fuzzed(15)
    @given(st.sampled_from([DPSCDClassifier, DPSCDRegressor]), st.booleans(), st.data())
    def run(cls, private, data):
        X, y = records()
        y = suited(cls(), y)
        model = small(cls, epsilon=1.0 if private else math.inf).fit(X, y)
        rows, n = data.draw(matrices(), label="X")
        gap, _ = attempt(duality_gap, model, rows, data.draw(labels(n), label="y"))
        assert gap is None or (np.asarray(gap) >= 0.0).all()
        attempt(duality_gap, data.draw(st.sampled_from(ABSURD)), X, y)

    run()
