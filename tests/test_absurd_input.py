"""Single cases of tests/long/test_fuzz.py: each raised something else, warned, or never ended."""

import json
import math
import time
import warnings
from fractions import Fraction

import numpy as np
import pytest

from skdp import accountant
from skdp.accountant import GaussianEvent, LaplaceEvent, PrivacyReport
from skdp.inspection import duality_gap
from skdp.linear_model import (
    DPCDLasso,
    DPLogisticRegression,
    DPRidge,
    DPSCDClassifier,
    DPSCDRegressor,
    DPSGDRegressor,
    LabelAggregate,
    WALRClassifier,
    label_aggregate,
    walr_path,
)
from skdp.preprocessing import BoundsScaler, NormClipper
from tests._loops import for_each

pytestmark = pytest.mark.filterwarnings("ignore:(target_bounds=N|the size of)")

HUGE = 10**400


@pytest.fixture
def records(rng):
    return rng.standard_normal((12, 3)), np.arange(12) % 2


@pytest.mark.parametrize(
    "estimator",
    [
        DPSCDRegressor(target_bounds=(0, HUGE)),
        DPCDLasso(feature_bounds=(0, HUGE)),
        DPCDLasso(coef_bounds=([HUGE] * 3, [HUGE] * 3)),
        DPCDLasso(smoothness=[HUGE, 1, 1]),
        DPSGDRegressor(epsilon=HUGE, mechanism="laplace"),
        DPRidge(target_bounds=(0, HUGE)),
        DPRidge(max_iter=HUGE),
        DPLogisticRegression(moment_budget=HUGE),
        WALRClassifier(epsilon=HUGE),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_integers_beyond_floats_are_refused_by_name(estimator, records):
    name = next(name for name, value in estimator.get_params().items() if "0" * 99 in str(value))
    with pytest.raises(ValueError, match=name):
        estimator.fit(*records)


@pytest.mark.parametrize("bounds", [(0.0, 1j), ("0", "1"), np.array([0.0, 1j]), {"0": 1, "1": 2}])
def test_bounds_that_are_no_real_numbers_are_refused_by_name(bounds, records):
    for name in ("feature_bounds", "feature_range"):
        with pytest.raises(ValueError, match=name):
            BoundsScaler(**{name: bounds}).fit(records[0])
    for name in ("target_bounds", "coef_bounds"):
        with pytest.raises(ValueError, match=name):
            DPCDLasso(**{name: bounds}).fit(*records)


def test_ragged_personal_epsilons_are_refused_by_name(records):
    with pytest.raises(ValueError, match="sample_epsilon"):
        DPSGDRegressor(mechanism="laplace").fit(*records, sample_epsilon=[[0.1, 0.2], [0.3]])


def test_real_numbers_of_any_type_are_taken(records):
    half = np.float16(0.5)
    assert NormClipper(half).fit(records[0]).norm_bound_ == 0.5
    with np.errstate(all="raise"):
        DPSCDRegressor(data_norm=half, alpha=half, epsilon=half).fit(*records)
    third = Fraction(1, 3)
    fitted = DPSCDRegressor(data_norm=third, alpha=third, epsilon=third).fit(*records)
    assert fitted.privacy_report_.epsilon == 1 / 3
    options = {"data_norm": third, "alpha": third, "clipping_norm": third, "step_size": third}
    fitted = DPLogisticRegression(moment_budget=third, momentum=third, **options).fit(*records)
    assert fitted.clipping_norm_ == fitted.step_size_ == fitted.momentum_ == 1 / 3


def test_decision_values_that_overflow_warn_of_nothing(records):
    X, _ = records
    model = DPSCDClassifier(random_state=0).fit(X, np.arange(12) % 3)
    model.predict_proba(np.full((2, 3), 1.7e308))


def test_a_gap_that_overflows_is_refused_without_a_warning(records):
    X, y = records
    model = DPSCDClassifier(epsilon=math.inf, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="gap"):
        duality_gap(model, np.full((2, 3), 1e308), [0, 1])


@pytest.mark.parametrize("alphas", [-1, 0, HUGE, True, "a", None, [0.1, -1.0], [1e308], [[1], []]])
def test_strengths_of_a_path_are_refused_by_name(alphas, records):
    aggregate = label_aggregate(*records, random_state=0)
    with pytest.raises(ValueError, match="alphas"):
        walr_path(records[0], aggregate, alphas=alphas)


@pytest.mark.parametrize("max_iter", [0, 1.5, "a", None, HUGE, np.uint64(2**63)])
def test_iterations_of_a_path_are_refused_by_name(max_iter, records):
    aggregate = label_aggregate(*records, random_state=0)
    with pytest.raises(ValueError, match="max_iter"):
        walr_path(records[0], aggregate, max_iter=max_iter)


@pytest.mark.parametrize("classes", ["1e150", "[1e400, 0]", "[" * 100_000])
def test_absurd_text_is_no_aggregate(classes, records):
    text = label_aggregate(*records, random_state=0).to_json()
    before, after = text.split('"classes": [0, 1]')
    with pytest.raises(ValueError, match="LabelAggregate"):
        LabelAggregate.from_json(f'{before}"classes": {classes}{after}')


@pytest.mark.long
@for_each("value", [HUGE, "1", []])
@for_each("name", ["bias", "sensitivity", "n_rows", "data_norm", "reproducible"])
@for_each("mechanism", ["analytic", "randomized_response"])
def test_fields_of_aggregates_are_checked(mechanism, name, value, records):
    aggregate = label_aggregate(*records, mechanism=mechanism, random_state=0)
    with pytest.raises(ValueError, match=name):
        type(aggregate)(**(vars(aggregate) | {name: value}))
    content = json.loads(aggregate.to_json())
    with pytest.raises(ValueError, match="LabelAggregate"):
        LabelAggregate.from_json(json.dumps(content | {name: value}))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("noise_multiplier", [None, "1", math.nan, -1.0, True, (1, 2)]),
        ("n_steps", [None, 0, 1.0, "1", HUGE]),
        ("n_parts", [None, 0, 1.0, "", HUGE]),
    ],
)
@pytest.mark.parametrize("event", [GaussianEvent, LaplaceEvent])
def test_events_are_checked(event, name, values):
    for value in values:
        with pytest.raises(ValueError, match=name):
            event(**{"noise_multiplier": 1.0, name: value})


def test_fields_of_one_kind_of_event_are_checked():
    for rate in (0.0, -1.0, 2.0, None, "1", math.nan):
        with pytest.raises(ValueError, match="sampling_rate"):
            GaussianEvent(1.0, rate)
    with pytest.raises(ValueError, match="pairwise"):
        GaussianEvent(1.0, pairwise="no")
    with pytest.raises(ValueError, match="largest_multiplier"):
        LaplaceEvent(1.0, largest_multiplier="ab")


@for_each(
    "name, value",
    [
        *(("epsilon", value) for value in (None, "1", math.nan, -1.0, True)),
        *(("delta", value) for value in (None, "", math.nan, -0.1, 1.0)),
        *(("unit", value) for value in ("", 1, [], "one visit", "the label of one row")),
        *(("reproducible", value) for value in (None, 0, "no")),
        *(("clipping", value) for value in ("inf", [1.0], math.nan)),
        *(("adjacency", value) for value in (None, [], np.array(["zero_out", "rdp"]))),
        *(("accountant", value) for value in ({}, ["pld"], np.array(["pld", "rdp"]))),
        *(("events", value) for value in (None, 1, "ab", [1], ())),
    ],
)
def test_reports_are_checked(name, value):
    fields = {"epsilon": 1.0, "delta": 1e-5, "adjacency": "zero_out", "accountant": "pld"}
    fields |= {"events": (GaussianEvent(9.0),), "clipping": 1.0}
    PrivacyReport(**fields)
    with pytest.raises((ValueError, TypeError), match=name):
        PrivacyReport(**fields | {name: value})


@pytest.mark.parametrize(
    "event", [LaplaceEvent(1.0), GaussianEvent(1.0, 0.5), GaussianEvent(9.0)], ids=str
)
def test_labels_have_reports_of_pairwise_events_only(event):
    fields = {"epsilon": 9.0, "delta": 1e-5, "accountant": "rdp", "clipping": 1.0}
    with pytest.raises(ValueError, match="adjacency"):
        PrivacyReport(adjacency="replace_label", events=(event,), **fields)


def test_pure_guarantees_beyond_floats_compose():
    fields = {"delta": 0.0, "adjacency": "zero_out", "accountant": "pld", "clipping": None}
    report = PrivacyReport(epsilon=1e308, events=(LaplaceEvent(1e-308),), **fields)
    assert accountant.compose([report, report]).epsilon == math.inf


@pytest.mark.parametrize("method", [accountant.calibrate, accountant.calibrate_pure])
def test_steps_that_need_too_much_noise_are_refused_by_name(method):
    delta = {} if method is accountant.calibrate_pure else {"delta": 1e-200}
    with pytest.raises(ValueError, match="n_steps"):
        method(1.0, n_steps=10**15, adjacency="replace_one", **delta)


@pytest.mark.parametrize("reports", [None, 1, "ab", [1], [[1]]])
def test_only_reports_compose(reports):
    with pytest.raises(TypeError, match="reports"):
        accountant.compose(reports)


FUNCTIONS = [
    lambda **options: accountant.calibrate(1.0, 1e-5, **options),
    lambda **options: accountant.get_epsilon(1.0, 1e-5, **options),
]


@pytest.mark.parametrize("rate", [1.0, 0.5])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_counts_beyond_floats_are_refused_by_name(function, rate):
    with pytest.raises(ValueError, match="n_steps"):
        function(n_steps=HUGE, sampling_rate=rate)
    with pytest.raises(ValueError, match="n_steps"):
        accountant.calibrate_pure(1.0, n_steps=HUGE)
    with pytest.raises(ValueError, match="group_size"):
        DPSCDRegressor().fit([[0.1], [0.2]], [0, 1]).privacy_report_.epsilon_at(0.1, HUGE)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("function", FUNCTIONS)
def test_choices_that_are_arrays_are_refused_by_name(function):
    for name in ("adjacency", "accountant"):
        with pytest.raises(ValueError, match=name):
            function(**{name: np.array(["zero_out", "pld"])})


@pytest.mark.parametrize("epsilon", [5e-324, 1e-121, 1e-30])
@pytest.mark.parametrize("rate", [1.0, 0.3, 5e-324])
def test_tiny_targets_are_refused_by_name(epsilon, rate):
    with pytest.raises(ValueError, match="epsilon"):
        accountant.calibrate(epsilon, 1e-5, sampling_rate=rate)


@pytest.mark.long
@for_each("method", ["pld", "rdp"])
@for_each("rate", [1.0, 0.5, 5e-324, 1.0 - 1e-16])
@for_each("noise", [5e-324, 1e-300, 1e-10, 1e10, 1e300])
def test_epsilon_of_extreme_noise_is_a_bound(noise, rate, method):
    options = {"sampling_rate": rate, "accountant": method}
    found = accountant.get_epsilon(noise, 1e-5, **options)
    near = min(max(noise, 1e-3), 1e9)
    bound = accountant.get_epsilon(near, 1e-5, **options | {"sampling_rate": max(rate, 1e-12)})
    assert found >= bound if noise <= near else found <= bound


def test_profiles_at_extreme_points_warn_of_nothing():
    report = DPSCDRegressor(batch_size=2).fit([[0.1], [0.2]], [0, 1]).privacy_report_
    # Gaussian noise gives no pure guarantee, however small delta is.
    assert 0.0 < report.delta_at(1e300) <= 5e-324
    assert accountant.get_epsilon(1e10, 1e-5, sampling_rate=1e-6, n_steps=1000) == 0.0


@pytest.mark.parametrize("n_steps", [10**9, 10**12])
def test_steps_without_number_end_soon(n_steps):
    """The loss distribution of so many took all memory."""
    start = time.process_time()
    with pytest.raises(ValueError, match="n_steps"):
        accountant.calibrate(1.0, 1e-2, n_steps=n_steps, sampling_rate=0.1, adjacency="replace_one")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        noise = accountant.calibrate(1.0, 1e-2, n_steps=n_steps, sampling_rate=0.01)
    assert accountant.get_epsilon(noise, 1e-2, n_steps=n_steps, sampling_rate=0.01) <= 1.0
    assert time.process_time() - start < 60.0
