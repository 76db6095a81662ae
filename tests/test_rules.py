"""The rules that must never break, a test or more for each (CONTRIBUTING.rst).

Rule 2 (sampling) has tests/test_sampling.py, rule 5 (randomness) tests/test_random.py, rule 6
(epsilon=inf) tests/linear_model, rules 3 and 7 have tests/privacy/test_replay.py, and the hidden
dual of rule 7 tests/statistical.
"""

import contextlib
import math
import numbers
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone, is_classifier, is_regressor

from skdp.linear_model import (
    DPCDClassifier,
    DPCDLasso,
    DPLogisticRegression,
    DPRidge,
    DPSCDClassifier,
    DPSCDRegressor,
    DPSGDClassifier,
    DPSGDRegressor,
    WALRClassifier,
)
from skdp.preprocessing import BoundsScaler, NormClipper
from tests._loops import for_each
from tests.door import Plan, Release, beside, dpscd_method_module as dual_cd
from tests.privacy._cases import N_FEATURES, N_ROWS
from tests.privacy._recipes import DUAL

pytestmark = pytest.mark.filterwarnings("ignore:(target_bounds=N|the size of)")


@pytest.fixture
def records(rng):
    return rng.standard_normal((N_ROWS, N_FEATURES)), rng.integers(0, 2, N_ROWS)


# Rule 1: plan before data.


@pytest.mark.parametrize("estimator", DUAL, ids=str)
def test_the_plan_is_made_of_public_scalars(estimator, records, monkeypatch):
    calls = []
    original = dual_cd.PLANS[estimator.solver]

    def spy(problem, budget, **arguments):
        given = {**vars(problem), **vars(budget), **arguments}
        given |= vars(given.pop("loss")) | given.pop("scale")._asdict()
        for learnt in ("target_releases", "ball"):
            given[learnt] = str(beside(given.get(learnt)))
        calls.append(given)
        return original(problem, budget, **arguments)

    monkeypatch.setitem(dual_cd.PLANS, estimator.solver, spy)
    X, y = records
    estimator.fit(X, y)
    estimator.fit(1e5 * X[::-1] ** 3, y)
    assert calls[0] == calls[1]
    assert calls[0].pop("account") is None
    for value in calls[0].values():
        assert isinstance(value, numbers.Number | str)


@pytest.mark.parametrize("estimator", [DPLogisticRegression, DPRidge])
@pytest.mark.parametrize("share", [0.0, 0.1])
@pytest.mark.parametrize("options", [{}, {"ball_budget": 0, "data_norm": 1.0}])
def test_the_plan_of_whitening_is_made_of_public_scalars(
    options, share, estimator, records, monkeypatch
):
    from tests.door import whitened_method_module as module

    calls = []

    def spy(problem, budget, **arguments):
        calls.append({**vars(problem), **vars(budget), **arguments})
        for part in ("ball", "target_releases"):
            if (plan := calls[-1].pop(part)) is not None:
                calls[-1] |= {f"{part}: {name}": value for name, value in vars(plan).items()}
        return original(problem, budget, **arguments)

    original = module.plan_whitened
    monkeypatch.setattr(module, "plan_whitened", spy)
    X, y = records
    for rows in (X, 1e5 * X[::-1] ** 3):
        estimator(moment_budget=share, **options).fit(rows, y)
    assert calls[0] == calls[1]
    assert ("ball: reach" in calls[0]) == (not options)
    assert calls[0].pop("account") is None
    assert all(isinstance(release, Release) for release in calls[0].pop("last"))
    for value in calls[0].values():
        assert value is None or isinstance(value, numbers.Number | str | Release)


@pytest.mark.parametrize("adjacency", ["replace_label", "replace-one"])
@pytest.mark.parametrize("estimator", [DPCDLasso, DPRidge, DPSCDClassifier, DPSGDClassifier])
def test_an_adjacency_that_is_no_choice_is_refused_without_validation_too(
    estimator, adjacency, records
):
    with config_context(skip_parameter_validation=True):
        model = estimator(adjacency=adjacency)
        with pytest.raises(ValueError, match="adjacency"):
            model.fit(*records)
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize("share", [-1.0, -math.inf, math.inf, math.nan, 1.0, 2.0])
def test_a_share_that_is_no_choice_is_refused_without_validation_too(share, records):
    with config_context(skip_parameter_validation=True):
        for estimator in (DPCDLasso, DPCDClassifier):
            with pytest.raises(ValueError, match="smoothness_budget"):
                estimator(smoothness_budget=share).fit(*records)


TINY = [5e-324, 1e-310, 1e-31, 1e31, math.inf, math.nan, -1.0, 0.0]


@pytest.mark.long
@for_each("value", TINY)
@for_each(
    "estimator, name",
    [
        *((kind, "clipping_norm") for kind in (DPCDClassifier, DPSCDClassifier, DPSGDClassifier)),
        *((DPLogisticRegression, name) for name in ("clipping_norm", "data_norm", "alpha")),
        *((DPRidge, name) for name in ("clipping_norm", "data_norm", "alpha")),
        (DPSCDClassifier(solver="sequential"), "clipping_norm"),
        (DPSCDClassifier(solver="primal"), "clipping_norm"),
        (DPSGDClassifier(mechanism="laplace"), "clipping_norm"),
        *(
            (kind, "data_norm")
            for kind in (DPCDClassifier, DPSCDClassifier, DPSGDClassifier, WALRClassifier)
        ),
    ],
)
def test_a_bound_of_few_digits_is_refused_without_validation_too(estimator, name, value, records):
    """Clipping to 1e-310 left contributions of 1.28 times that."""
    X, y = records
    model = clone(estimator() if isinstance(estimator, type) else estimator)
    with config_context(skip_parameter_validation=True), pytest.raises(ValueError, match=name):
        model.set_params(**{name: value}).fit(X, np.where(y > 0, 1, -1))
    assert not hasattr(model, "coef_")


@pytest.mark.long
@for_each(
    "estimator",
    [
        *(DPCDLasso, DPLogisticRegression, DPRidge, DPSCDRegressor, DPSGDRegressor),
        WALRClassifier,
    ],
)
@for_each("value", [1e-310, 1e-160, 1e160, 1.7e308])
def test_numpys_error_state_tells_nothing_of_the_data(estimator, value, records):
    X, y = records
    X = X.copy()
    X[17, 1] = value
    with np.errstate(all="raise"):
        estimator(data_norm=1e-3, random_state=0).fit(X, y)


# Rule 3: no error text quotes an entry.

SECRET = "4711.4711"
BAD_INPUT = [
    ("string in X", lambda X, y: (X.astype(object), y), "secret string"),
    ("complex X", lambda X, y: (X + 1j, y), None),
    ("frame", lambda X, y: (pd.DataFrame(X.astype(str)), y), "secret string"),
    ("string in y", lambda X, y: (X, y.astype(str).astype(object)), "target"),
    ("text y", lambda X, y: (X, y.astype("U20")), "target"),
    ("complex y", lambda X, y: (X, y + 1j), None),
    ("1-d X", lambda X, y: (X[:, 0], y), None),
    ("short y", lambda X, y: (X, y[:-1]), None),
]


@pytest.mark.long
@for_each("kind, spoil, planted", BAD_INPUT)
@for_each(
    "estimator",
    [
        DPCDClassifier(classes=[0, 1]),
        DPCDLasso(),
        DPLogisticRegression(classes=[0, 1]),
        DPRidge(),
        DPSCDClassifier(classes=[0, 1]),
        DPSCDRegressor(),
        DPSGDClassifier(classes=[0, 1]),
        DPSGDRegressor(),
        WALRClassifier(classes=[0, 1]),
        BoundsScaler(),
        NormClipper(),
    ],
)
def test_no_error_quotes_an_entry(estimator, kind, spoil, planted, records):
    X, y = records
    X = np.full_like(X, float(SECRET))
    X, y = spoil(X, y)
    if planted == "secret string":
        X = pd.DataFrame(X).astype(object)
        X.iloc[3, 1] = f"word{SECRET}"
    elif planted == "target":
        y = y.copy()
        y[5] = f"w{SECRET}"
    if planted == "target" and not hasattr(estimator, "epsilon"):
        pytest.skip("transformers don't read y")
    try:
        estimator.fit(X, y)
    except (ValueError, TypeError) as error:
        chain = []
        while error is not None:
            chain.append(repr(error))
            error = error.__cause__ or error.__context__
        assert not any("4711" in text for text in chain)
    else:
        assert not hasattr(estimator, "epsilon"), "bad input was accepted"
        assert planted is None


@pytest.mark.long
@pytest.mark.parametrize("size", [1e-300, 1e153, 6e153, 1e160, 1.7e308])
@pytest.mark.parametrize("epsilon", [1.0, np.inf])
def test_no_warning_of_arithmetic_tells_of_the_data(size, epsilon, records):
    """Warnings are errors in this suite; a fit without privacy may refuse what overflows."""
    X, y = records
    X = size * np.sign(X)
    for estimator, target in (
        (DPSCDClassifier(epsilon=epsilon), np.where(y == 1, size, -size)),
        (DPSCDClassifier(epsilon=epsilon, classes=[-size, size]), np.where(y == 1, size, -size)),
        (DPSCDRegressor(epsilon=epsilon), np.where(y == 1, size, -size)),
        (DPSGDClassifier(epsilon=epsilon, classes=[-1, 1]), np.where(y == 1, 1, -1)),
        (DPLogisticRegression(epsilon=epsilon, classes=[-1, 1]), np.where(y == 1, 1, -1)),
        (DPRidge(epsilon=epsilon), np.where(y == 1, size, -size)),
        (WALRClassifier(epsilon=epsilon, data_norm=1.0), np.where(y == 1, 1, -1)),
        (DPSGDRegressor(epsilon=epsilon), np.where(y == 1, size, -size)),
        (DPSGDRegressor(epsilon=epsilon, mechanism="laplace"), np.where(y == 1, size, -size)),
    ):
        # Labels like these are taken for targets unless they are declared.
        refused = estimator.get_params().get("classes", target) is None
        allowed = contextlib.suppress(ValueError) if refused or epsilon == np.inf else None
        with allowed or contextlib.nullcontext():
            estimator.fit(X, target).predict(X)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize(
    "estimator",
    [
        *(DPSCDClassifier(), DPSCDRegressor(), DPSGDClassifier(), DPSGDRegressor()),
        *(DPCDClassifier(), DPCDLasso(), WALRClassifier(), DPLogisticRegression(), DPRidge()),
    ],
    ids=str,
)
def test_missing_and_infinite_values_are_refused(estimator, value, records):
    X, y = records
    spoilt = X.copy()
    spoilt[3, 2] = value
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        estimator.fit(spoilt, y)
    if not is_classifier(estimator):
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            estimator.fit(X, np.where(np.arange(N_ROWS) == 5, value, y))
        for missing in (None, value):
            objects = y.astype(object)
            objects[5] = missing
            with pytest.raises(ValueError, match=r"NaN|infinity"):
                estimator.fit(X, objects)


def test_one_class_is_refused(records):
    X, _ = records
    with pytest.raises(ValueError, match="one class"):
        DPSCDClassifier().fit(X, np.ones(N_ROWS))


def test_sparse_input_is_refused_where_it_is_not_supported(records):
    from scipy.sparse import csr_array

    X, y = records
    for solver in ("sequential", "primal"):
        with pytest.raises(TypeError, match=f"Sparse data was passed for X.*solver='{solver}'"):
            DPSCDClassifier(solver=solver).fit(csr_array(X), y)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        DPSCDRegressor().fit(X, csr_array(y.reshape(-1, 1)))


def test_no_score_quotes_an_entry(records):
    X, y = records
    spoilt = y.astype(str).astype(object)
    spoilt[5] = f"w{SECRET}"
    errors = []
    for estimator in (DPSCDRegressor(), DPSCDClassifier()):
        try:
            estimator.fit(X, y).score(X, spoilt)
        except (ValueError, TypeError) as error:
            errors += [error, error.__context__]
    # Whether labels of several types are an error depends on scikit-learn's version.
    assert errors
    assert "4711" not in repr(errors)


# Rule 4: safe without being told.


@pytest.mark.parametrize(
    "estimator", [DPSCDClassifier, DPSCDRegressor, DPSGDClassifier, DPSGDRegressor]
)
@pytest.mark.parametrize("size", [1e-12, 1.0, 1e12])
def test_defaults_look_at_nothing_and_warn_of_no_more_than_bounds(estimator, size, records):
    """Unscaled data are clipped to a constant, silently, with the same plan whatever their size.

    Regressors ask for their targets' bounds, whatever the targets are.
    """
    X, y = records
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = estimator(random_state=0).fit(
            size * X, size * y if is_regressor(estimator()) else y
        )
    asked = ["target_bounds=None"] if is_regressor(estimator()) else []
    assert [str(warning.message).partition(" ")[0] for warning in caught] == asked
    reference = estimator(random_state=0).fit(X, y)
    assert model.privacy_report_ == reference.privacy_report_
    assert model.clipping_norm_ == reference.clipping_norm_
    assert estimator().data_norm in (1.0, None)


# Rule 8: the unit is one row.


def test_the_report_names_its_unit_and_serves_groups(records):
    report = DPSCDClassifier().fit(*records).privacy_report_
    assert report.unit == "one row"
    assert "one row" in report.to_text()
    assert report.epsilon_at(1e-5) <= 1.0 < report.epsilon_at(1e-5, group_size=3)


@pytest.mark.parametrize(
    "model", [DPSGDClassifier(mechanism="none"), DPSCDClassifier(solver=None)], ids=str
)
def test_an_unknown_choice_is_named_without_validation_too(model):
    X, y = np.eye(4), np.array([0, 1, 0, 1])
    wrong = pytest.raises(ValueError, match=r"(mechanism|solver) must be one of")
    with config_context(skip_parameter_validation=True), wrong:
        model.fit(X, y)


LINEAR = [
    DPCDClassifier,
    DPCDLasso,
    DPLogisticRegression,
    DPRidge,
    DPSCDClassifier,
    DPSCDRegressor,
    DPSGDClassifier,
    DPSGDRegressor,
]


@pytest.mark.parametrize("estimator", LINEAR)
def test_there_are_no_coefficients_without_their_report(estimator, records, monkeypatch):
    """Nor are there new ones beside the report of an earlier fit."""

    def fail(self, **facts):
        raise ValueError("no report")

    fitted = estimator(epsilon=0.1).fit(*records)
    coefs = fitted.coef_
    monkeypatch.setattr(Plan, "report", fail)
    with pytest.raises(ValueError, match="no report"):
        fitted.fit(*records)
    assert fitted.coef_ is coefs
