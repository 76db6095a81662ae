"""The audit finds planted faults, and finds none where there is none.

An audit sees the coefficients of the last step alone. What it can't convict is convicted by what
sees more:

============================================  =====================================================
fault                                         convicted by
============================================  =====================================================
no noise, or a tenth of it                    this file, for every estimator
a contribution that isn't clipped             this file, for each kind of solver
noise halved                                  privacy: test_audited (guesses, a large delta);
                                              statistical: test_transcripts (DP-SGD, DP-CD, WALR),
                                              test_hidden_dual (DP-SCD)
noise of zero_out under replace_one           statistical: test_transcripts, test_hidden_dual
mean by the true batch size                   statistical: test_transcripts
exact dual variable released                  statistical: test_hidden_dual
sequential updates with an exact dual         statistical: test_sequential_dual
shuffled epochs with Poisson accounting       the tests of the sampler; shown in this file
the same noise for every class                check_private_estimator; shown in this file
the same noise in every fit                   this file
============================================  =====================================================

Audits that must pass or fail are seeded, and have a confidence of 1 - 1e-7 or more where they could
be without a seed.
"""

import inspect
import itertools
import math
import threading

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, binomtest
from sklearn import config_context
from sklearn.base import BaseEstimator, is_classifier
from sklearn.linear_model import Ridge

from skdp.audit import AuditResult, audit
from skdp.linear_model import (
    DPCDLasso,
    DPHuberRegressor,
    DPLogisticRegression,
    DPQuantileRegressor,
    DPSCDClassifier,
    DPSCDRegressor,
    DPSGDClassifier,
    DPSGDRegressor,
    WALRClassifier,
)
from skdp.utils.estimator_checks import check_private_estimator
from tests import test_sampling
from tests._listed import OF_ANY_SIGN
from tests.door import (
    Fitter,
    GaussianMechanism,
    PoissonSampler,
    World,
    _one_run,
    chance_of_guesses,
    clopper_pearson,
    default_canaries,
    dpcd_solver_module,
    dpscd_solver_module,
    dpsgd_solver_module,
    epsilon_from_guesses,
    epsilon_from_rates,
    given_canaries,
    make_stream,
    null_records,
)
from tests.statistical._transcripts import noise_times

pytestmark = pytest.mark.filterwarnings("ignore:(target_bounds=N|the size of)")

SURE = 1.0 - 1e-7
# Few steps, in which every row takes part.
QUICK = {
    "DPSCD": {"batch_size": 4, "max_iter": 1, "ball_budget": 0},
    "DPSGD": {"batch_size": 4, "max_iter": 1, "average": False, "ball_budget": 0},
    "DPCD": {"max_iter": 1, "smoothness": "bounds"},
    "WALR": {"alpha": 0.1, "noise_shape": "spherical"},
    # Of private whitening.
    "DP": {"max_iter": 1, "moment_budget": 0.0, "ball_budget": 0, "data_norm": 1.0},
}
ZEROS = np.zeros((3, 2)), np.array([0, 1, 0])


def quick(estimator, **parameters):
    """An instance whose fits take no time and keep little of a canary back."""
    options = next(v for k, v in QUICK.items() if estimator.__name__.startswith(k))
    return estimator(**{"delta": 1e-2, "fit_intercept": False, **options, **parameters})


# Counts and bounds.


@pytest.mark.parametrize("trials", [1, 7, 60])
@pytest.mark.parametrize("error", [0.05, 1e-7])
def test_bounds_on_rates_are_those_of_scipy(trials, error):
    found = clopper_pearson(np.arange(trials + 1), trials, error)
    exact = [
        binomtest(k, trials).proportion_ci(1.0 - 2.0 * error, method="exact")
        for k in range(trials + 1)
    ]
    # SciPy solves for them with fewer digits than it takes to tell 1e-9 from 0.
    np.testing.assert_allclose(np.transpose(found), np.array(exact), rtol=1e-6, atol=1e-8)


def test_the_bound_of_a_perfect_attack_by_hand():
    """None of 50 missed and no false alarm: both rates are ``(error / 2) ** (1 / 50)`` from it."""
    off = 1.0 - (0.05 / 2) ** (1 / 50)
    for counts in ((50, 50, 0, 50), (50.0, 50, 0.0, 50)):
        found = epsilon_from_rates(*counts, delta=0.01, error=0.05)
        assert found == pytest.approx(math.log((1.0 - off - 0.01) / off), rel=1e-12)


def test_each_direction_of_the_bound_by_hand():
    """With few false alarms the first counts; with few misses it is the second."""
    sure = (0.1 / 2) ** (1 / 40)
    _, high = clopper_pearson(20, 40, 0.05)
    found = epsilon_from_rates(40, 40, 20, 40, delta=0.02, error=0.1)
    assert found == pytest.approx(math.log((1.0 - high - 0.02) / (1.0 - sure)), rel=1e-12)
    low, _ = clopper_pearson(20, 40, 0.05)
    found = epsilon_from_rates(20, 40, 0, 40, delta=0.02, error=0.1)
    assert found == pytest.approx(math.log((low - 0.02) / (1.0 - sure)), rel=1e-12)
    assert epsilon_from_rates(20, 40, 20, 40, delta=0.02, error=0.1) == 0.0
    assert epsilon_from_rates(0, 40, 40, 40, delta=0.02, error=0.1) == 0.0


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 0.0), (1.0, 0.0), (1.0, 0.05), (3.0, 0.01)])
def test_the_threshold_bound_holds_for_randomised_response(epsilon, delta):
    """Exactly: over all counts that the best attack on a tight mechanism can give."""
    n, error = 40, 0.1
    right = 1.0 / (1.0 + math.exp(-epsilon))
    tpr, fpr = delta + (1.0 - delta) * right, (1.0 - delta) * (1.0 - right)
    k = np.arange(n + 1)
    chances = np.outer(binom.pmf(k, n, tpr), binom.pmf(k, n, fpr))
    bounds = epsilon_from_rates(k[:, np.newaxis], n, k, n, delta=delta, error=error)
    assert chances.sum() == pytest.approx(1.0)
    assert chances[bounds > epsilon].sum() <= error
    assert (chances * bounds).sum() > 0.2 * epsilon * (epsilon >= 1.0)


def test_the_chance_of_guesses_by_hand():
    right = math.e / (1.0 + math.e)
    counts = {"n_canaries": 1, "n_guesses": 1, "n_right": 1}
    assert chance_of_guesses(1.0, 0.0, **counts) == pytest.approx(right)
    expected = right + 2.0 * 0.01 * (1.0 - right)
    assert chance_of_guesses(1.0, 0.01, **counts) == pytest.approx(expected)
    # Of 3 guesses 2 were right: (i = 1) one right, (i = 2) the mean of one and none right.
    one, none = 3.0 * right * (1.0 - right) ** 2, (1.0 - right) ** 3
    expected = 1.0 - one - none + 2.0 * 5 * 0.01 * max(one, (one + none) / 2.0)
    counts = {"n_canaries": 5, "n_guesses": 3, "n_right": 2}
    assert chance_of_guesses(1.0, 0.01, **counts) == pytest.approx(expected)


@pytest.mark.parametrize("m", [12, 100])
@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0.1, 0.0), (1.0, 0.0), (1.0, 1e-4), (0.5, 2e-3), (2.0, 2e-2)]
)
def test_the_one_run_bound_holds_for_randomised_response(m, epsilon, delta):
    """Exactly, with delta spent on telling i coins at once with a probability of m delta / i."""
    error, right = 0.1, 1.0 / (1.0 + math.exp(-epsilon))
    bounds = np.array(
        [
            epsilon_from_guesses(n_canaries=m, n_guesses=m, n_right=k, delta=delta, error=error)
            for k in range(m + 1)
        ]
    )
    assert (np.diff(bounds) >= 0.0).all()
    wrong = bounds > epsilon
    for told in {1, 3, m // 4, m // 2, m}:
        spoilt = min(m * delta / told, 1.0)
        chances = (1.0 - spoilt) * binom.pmf(np.arange(m + 1), m, right)
        chances += spoilt * binom.pmf(np.arange(m + 1) - told, m - told, right)
        assert chances[wrong].sum() <= error
    if delta == 0.0 and m == 100:
        assert bounds[-1] > 3.0
        assert binom.pmf(np.arange(m + 1), m, right)[bounds > 0.2 * epsilon].sum() > 0.5 * (
            epsilon >= 1.0
        )


def test_the_bound_of_right_one_run_guesses_by_hand():
    """All 8 guesses are right; the four numbers of guesses that are tried share the error."""
    present = np.arange(8) % 2 == 0
    attack = _one_run(np.eye(8), np.where(present, 1.0, -1.0), present, delta=0.0, error=0.1)
    right = (0.1 / 4) ** (1 / 8)
    assert attack.bound == pytest.approx(math.log(right / (1.0 - right)), rel=1e-9)
    assert (attack.true_positives, attack.false_positives) == (4, 0)
    # Of 32 the 4 surest are right, and of the others every other one.
    guessed = np.repeat([True, False], 16)
    right = np.isin(np.arange(32), [0, 1, 30, 31]) | (np.arange(32) % 2 == 0)
    scores = 16.5 - np.arange(32)
    attack = _one_run(np.eye(32), scores, guessed == right, delta=0.0, error=0.8)
    right = (0.8 / 4) ** (1 / 4)
    assert attack.bound == pytest.approx(math.log(right / (1.0 - right)), rel=1e-9)
    assert (attack.positives, attack.negatives) == (2, 2)


# Estimators.


# Targets of the others are in a unit that noise hides where records are few. Of likelihood ratios
# of all that they release see tests/linear_model/whitened/test_robust.py.
OF_KNOWN_UNIT = [one for one in OF_ANY_SIGN if one not in (DPHuberRegressor, DPQuantileRegressor)]


# Each is many fits. Honest ones of the other methods are audited beside those that don't clip.
METHODS = DPLogisticRegression, WALRClassifier


@pytest.mark.long
@pytest.mark.parametrize(
    "estimator",
    [pytest.param(one, marks=[pytest.mark.long] * (one not in METHODS)) for one in OF_KNOWN_UNIT],
)
def test_an_honest_estimator_passes_and_one_with_a_tenth_of_the_noise_does_not(estimator):
    model = quick(estimator)
    options = {"n_fits": 180, "confidence": SURE, "random_state": 0}
    honest = audit(model, *ZEROS, **options)
    assert honest.passed
    assert honest.epsilon == 1.0
    assert honest.adjacency == ("replace_label" if estimator is WALRClassifier else "zero_out")
    # The fits that chose the threshold aren't counted.
    assert (honest.positives, honest.negatives) == (60, 60)
    with noise_times(0.1):
        assert not audit(model, *ZEROS, **options).passed


SOLVERS = {
    "dual": (dpscd_solver_module, DPSCDRegressor),
    "gradient": (dpsgd_solver_module, DPSGDRegressor),
    "coordinate": (dpcd_solver_module, DPCDLasso),
}


@pytest.mark.long
@pytest.mark.parametrize("method", SOLVERS)
def test_a_contribution_that_is_not_clipped_is_convicted(method, monkeypatch):
    """A canary with a target far out; honest code takes as much of it as of any."""
    solver, estimator = SOLVERS[method]
    model = quick(estimator)
    options = {"canary": (np.ones(2), 1e3), "n_fits": 180, "confidence": SURE, "random_state": 0}
    assert audit(model, *ZEROS, **options).passed
    honest = solver.clip_contributions
    place = list(inspect.signature(honest).parameters).index("bound") - 1

    def unclipped(values, *others):
        return honest(values, *others[:place], math.inf, *others[place + 1 :])

    monkeypatch.setattr(solver, "clip_contributions", unclipped)
    assert not audit(model, *ZEROS, **options).passed


class OneNoise(BaseEstimator):
    """Publishes labels' mean, and the noise of a constant seed."""

    def __init__(self, epsilon=1.0, random_state=None):
        self.epsilon = epsilon
        self.random_state = random_state

    def fit(self, X, y):
        model = quick(DPSGDRegressor, epsilon=self.epsilon, random_state=7).fit(X, y)
        self.coef_, self.intercept_ = model.coef_, model.intercept_
        self.privacy_report_ = model.privacy_report_
        return self


@pytest.mark.long
def test_the_same_noise_in_every_fit_is_convicted():
    found = audit(OneNoise(), *ZEROS, n_fits=180, confidence=SURE)
    assert not found.passed


class ShuffledSampler(PoissonSampler):
    """Epochs, shuffled and cut into batches, that pass for Poisson batches."""

    def batches(self, stream):
        size = max(1, round(self.rate * self.n_rows))
        order = np.empty(0, dtype=int)
        for _ in range(self.n_steps):
            if order.size < size:
                order = np.argsort(stream.uniform(self.n_rows))
            yield np.sort(order[:size])
            order = order[size:]


def test_shuffled_epochs_are_convicted_by_the_tests_of_the_sampler(monkeypatch):
    check = test_sampling.test_every_coin_has_its_rate_and_steps_and_rows_are_independent
    check(20, 0.2, 0)
    monkeypatch.setattr(test_sampling, "PoissonSampler", ShuffledSampler)
    with pytest.raises(AssertionError):
        check(20, 0.2, 0)


@pytest.mark.long
def test_the_same_noise_for_every_class_is_convicted_by_the_checks_of_estimators(monkeypatch):
    def one_row(self, shape, stream):
        return np.tile(stream.normal(shape[-1:]), (*shape[:-1], 1))

    monkeypatch.setattr(GaussianMechanism, "_draw", one_row)
    with pytest.raises(AssertionError, match="occur twice"):
        check_private_estimator(DPSGDClassifier(max_iter=1))


# Many canaries, one fit.


@pytest.mark.parametrize("estimator", [DPSCDRegressor, DPSGDClassifier, DPCDLasso, WALRClassifier])
def test_one_run_passes_honest_estimators_and_convicts_those_without_noise(estimator):
    X, y = np.zeros((2, 64)), np.array([0, 1])
    model = quick(estimator, epsilon=0.5, delta=1e-6)
    if isinstance(model.get_params().get("batch_size"), int):
        model.set_params(batch_size=66)
    options = {"method": "one_run", "confidence": 0.99, "random_state": 0}
    honest = audit(model, X, y, **options)
    assert honest.passed
    assert honest.n_fits == 1
    assert honest.n_canaries == 64
    assert honest.positives + honest.negatives in (64, 32, 16, 8)
    with noise_times(0.01):
        found = audit(model, X, y, **options)
    assert not found.passed
    assert found.tpr > found.fpr


def test_one_run_takes_canaries_of_the_user():
    rows, targets = np.vstack([np.eye(40)] * 2), np.repeat([1.0, -1.0], 40)
    model = quick(DPSGDRegressor, batch_size=81)
    found = audit(
        model, np.zeros((1, 40)), [0.0], canary=(rows, targets), method="one_run", random_state=0
    )
    assert found.n_canaries == 80
    assert found.passed


# Canaries and their neighbours.


def released_sums(model, world):
    """Pre-noise weights: a fit without noise of one gradient step shows its sum."""
    with noise_times(0.0), null_records(world.null):
        return model.set_params(random_state=0).fit(world.X, world.y).coef_


def test_worlds_differ_in_the_canary_alone():
    X, y = np.array([[0.3, 0.0], [0.0, 0.2]]), np.array([0.0, 0.5])
    canaries = given_canaries(DPSGDRegressor(), X, y, (np.array([0.0, 1.0]), 1.0), several=False)
    here, gone = np.array([True]), np.array([False])
    null = canaries.world(X, y, "zero_out", gone)
    assert null.null == (2,)
    assert canaries.world(X, y, "zero_out", here).null == ()
    other = canaries.world(X, y, "replace_one", gone)
    assert other.null == ()
    np.testing.assert_array_equal(other.X[-1], [0.0, 1.0])
    assert other.y[-1] == -1.0
    for world in (null, other):
        np.testing.assert_array_equal(world.X[:2], X)
        np.testing.assert_array_equal(world.y[:2], y)
    model = quick(DPSGDRegressor, clipping_norm=10.0, batch_size=3, eta0=0.1)
    sums = [released_sums(model, world) for world in (null, other)]
    present = released_sums(model, canaries.world(X, y, "zero_out", here))
    # The canary's gradient at 0 is its target times its row, whose second entry is 1.
    np.testing.assert_allclose(present - sums[0], [0.0, sums[0][1] * 10.0], atol=1e-4)
    np.testing.assert_allclose(present - sums[0], sums[0] - sums[1], atol=1e-4)


@pytest.mark.parametrize("estimator", OF_ANY_SIGN)
def test_default_canaries_are_at_the_bounds(estimator):
    X, y = np.array([[0.5, 0.0], [0.1, 0.0]]), np.array(["no", "yes"])
    model = estimator()
    if not is_classifier(model):
        y = np.array([1.0, 2.0])
        model.set_params(target_bounds=(-3.0, 9.0))
    parameters = model.get_params()
    is_boxed = "feature_bounds" in parameters
    if parameters.get("data_norm", 1.0) is None and "ball_budget" in parameters and not is_boxed:
        # Without a bound it is as long as the longest row.
        assert np.linalg.norm(default_canaries(model, X, y).X) == 0.5
        model.set_params(data_norm=1.0)
    one = default_canaries(model, X, y)
    assert one.X.shape == (1, 2)
    box = "feature_bounds" in model.get_params() and model.get_params()["data_norm"] is None
    size = {True: math.sqrt(2.0), False: 1.0}[box]
    if estimator is WALRClassifier:
        size = 0.5
    assert np.linalg.norm(one.X) == pytest.approx(size)
    # Other rows have nothing of the second feature.
    assert one.X[0, 1] == pytest.approx(1.0 if box else size)
    assert one.y[0] == ("yes" if is_classifier(model) else 9.0)
    assert one.other_y[0] == ("no" if is_classifier(model) else -3.0)
    many = default_canaries(model, X, y, stream=make_stream(0))
    assert many.X.shape == (2, 2)
    if not box:
        np.testing.assert_allclose(many.X @ many.X.T, size**2 * np.eye(2), atol=1e-12)
    assert many.y[0] != many.y[1]


def test_boxes_beside_zero_give_canaries_at_their_far_ends():
    model = DPCDLasso(feature_bounds=([0.0, -5.0], [2.0, -1.0]))
    canaries = default_canaries(model, np.zeros((1, 2)), np.zeros(1))
    np.testing.assert_array_equal(canaries.X, [[2.0, -5.0]])


@pytest.mark.long
def test_several_outputs_classes_and_labels_of_any_type():
    X = np.zeros((4, 2))
    options = {"n_fits": 12, "random_state": 0}
    targets = np.zeros((4, 2))
    assert audit(quick(DPSGDRegressor, batch_size=5), X, targets, **options).passed
    names = np.array(["a", "b", "c", "a"])
    for estimator in (DPSCDClassifier, DPSGDClassifier, WALRClassifier):
        assert audit(quick(estimator), X, names, **options).passed
        # Declared labels may be longer than those in y.
        longer = quick(estimator, classes=["a", "b", "c", "last of all"])
        assert audit(longer, X, names, **options).passed
    # A class that only the canary has is declared, because the set of classes is public.
    assert audit(quick(DPSGDClassifier), X, names, canary=(np.ones(2), "d"), **options).passed


# Randomness.


@pytest.mark.long
def test_no_two_fits_share_their_randomness():
    world = World(*ZEROS)
    model = quick(DPSGDRegressor, batch_size=3, random_state=0)
    for random_state, repeats in ((None, False), (5, True)):
        first, second = (Fitter(model, make_stream(random_state), None) for _ in range(2))
        weights = first.weights([world] * 30)
        assert np.unique(weights[:, 0]).size == 30
        more = first.weights([world] * 30)
        assert np.unique(np.concatenate([weights, more])[:, 0]).size == 60
        assert np.array_equal(weights, second.weights([world] * 30)) is repeats


@pytest.mark.long
def test_the_result_is_the_same_for_every_n_jobs():
    X, y = ZEROS
    model = quick(DPSGDClassifier)
    alone = audit(model, X, y, n_fits=60, random_state=3)
    with joblib.parallel_config(backend="threading"):
        together = audit(model, X, y, n_fits=60, random_state=3, n_jobs=2)
    assert together == alone
    assert model.classes is None
    assert audit(model, X, y, n_fits=60, random_state=4) != alone
    state = np.random.RandomState(0)
    assert audit(model, X, y, n_fits=60, random_state=state).n_fits == 60


# What is refused, and how results read.

BAD = [
    ({"n_fits": 11}, ValueError, "n_fits"),
    ({"n_fits": 20.0}, ValueError, "n_fits"),
    ({"n_fits": True}, ValueError, "n_fits"),
    *(({"confidence": value}, ValueError, "confidence") for value in (0.0, 1.0, "high")),
    *(({"delta": value}, ValueError, "delta") for value in (-0.1, 1.0, "small")),
    ({"method": "guess"}, ValueError, "method"),
    *(({"n_jobs": value}, ValueError, "n_jobs") for value in (0, 1.5)),
    *(({"random_state": value}, ValueError, "random_state") for value in ("seed", -1)),
    *(({"canary": value}, ValueError, "canary") for value in (3, (1, 2, 3), (np.ones(3), 1))),
    ({"canary": (np.array([np.nan, 1.0]), 1)}, ValueError, "canary"),
    ({"canary": (np.ones(2), 1), "method": "one_run"}, ValueError, "canary"),
    ({"canary": (np.array(["a", "b"]), 1)}, ValueError, "canary"),
]


@pytest.mark.parametrize(("options", "error", "match"), BAD)
def test_bad_parameters_are_named(options, error, match):
    with pytest.raises(error, match=match):
        audit(quick(DPSGDClassifier), *ZEROS, **options)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_fits", 11),
        ("n_fits", 20.5),
        *(("confidence", value) for value in (-1.0, 0.0, 1.0, math.nan)),
        *(("delta", value) for value in (-0.1, 1.0, math.nan)),
        ("method", "guess"),
    ],
)
def test_what_a_bound_rests_on_is_checked_without_validation_too(name, value):
    with config_context(skip_parameter_validation=True), pytest.raises(ValueError, match=name):
        audit(quick(DPSGDClassifier), *ZEROS, **{name: value})


def test_canaries_must_differ_from_what_replaces_them():
    replaced = quick(DPSGDRegressor, adjacency="replace_one")
    with pytest.raises(ValueError, match="differ from its opposite"):
        audit(replaced, *ZEROS, canary=(np.ones(2), 0.0))
    other = (np.ones(2), 0.0, -np.ones(2), 0.0)
    assert audit(replaced, *ZEROS, canary=other, n_fits=12).passed
    with pytest.raises(ValueError, match="other_x"):
        audit(quick(WALRClassifier), *ZEROS, canary=(np.ones(2), 0, -np.ones(2), 1))


class Unreported(OneNoise):
    def fit(self, X, y):
        self.coef_, self.intercept_ = np.zeros(2), 0.0
        return self


class Unpublished(OneNoise):
    def fit(self, X, y):
        super().fit(X, y)
        del self.coef_
        return self


@pytest.mark.parametrize(
    "estimator", [Ridge(), DPSGDRegressor, None, Unreported(), Unpublished()], ids=repr
)
def test_other_objects_are_refused(estimator):
    with pytest.raises(TypeError, match="estimator must"):
        audit(estimator, *ZEROS)


def test_malformed_data_are_refused():
    X, y = ZEROS
    with pytest.raises(ValueError, match="inconsistent numbers"):
        audit(quick(DPSGDClassifier), X, y[:2])
    with pytest.raises(ValueError, match="NaN"):
        audit(quick(DPSGDClassifier), np.full((3, 2), np.nan), y)


def make_result(**changes):
    content = {
        "epsilon_lower_bound": 0.5,
        "epsilon": 1.0,
        "delta": 1e-5,
        "confidence": 0.95,
        "adjacency": "zero_out",
        "method": "threshold",
        "largest_bound": 2.8,
        "n_fits": 200,
        "n_canaries": 1,
        "positives": 67,
        "true_positives": 30,
        "negatives": 60,
        "false_positives": 15,
        "threshold": 0.1,
    }
    return AuditResult(**(content | changes))


def test_results_tell_whether_the_claim_passed():
    result = make_result()
    assert result.passed
    assert result.tpr == 30 / 67
    assert result.fpr == 0.25
    assert repr(result) == "AuditResult(passed: epsilon >= 0.5, claimed 1, delta=1e-05)"
    text = result.to_text()
    assert "30 of 67" in text
    assert "Not private" in text
    assert "no proof" in text
    assert max(map(len, text.splitlines())) <= 88
    failed = make_result(epsilon_lower_bound=1.5)
    assert not failed.passed
    assert "FAILED" in repr(failed)
    assert "FAILED" in failed.to_text()
    with pytest.raises(AttributeError):
        result.epsilon = 2.0
    assert math.isnan(make_result(positives=0, true_positives=0).tpr)
    for adjacency, method in itertools.product(
        ("zero_out", "replace_one", "replace_label"), ("threshold", "one_run")
    ):
        assert make_result(adjacency=adjacency, method=method, n_fits=1).to_text()


def test_the_claim_is_taken_at_the_delta_that_is_asked_for():
    model = quick(DPSGDRegressor)
    report = model.fit(np.zeros((4, 2)), np.zeros(4)).privacy_report_
    found = audit(model, *ZEROS, n_fits=12, delta=0.2)
    assert found.delta == 0.2
    assert found.epsilon == report.epsilon_at(0.2) < 1.0
    assert audit(quick(DPSGDRegressor, mechanism="laplace"), *ZEROS, n_fits=12).delta == 0.0
    assert audit(quick(DPSGDRegressor, epsilon=math.inf), *ZEROS, n_fits=12).passed


class Leaky(DPSGDRegressor):
    """Publishes a mean of the targets that no bound and no noise was applied to."""

    def fit(self, X, y):
        super().fit(X, y)
        self.intercept_ = self.intercept_ + 100.0 * float(np.mean(y))
        return self


@pytest.mark.long
def test_a_leak_around_the_bounds_of_rows_is_convicted_under_zero_out():
    model = Leaky(epsilon=1.0, delta=1e-3, target_bounds=(-1, 1), max_iter=1)
    assert not audit(model, *ZEROS, n_fits=100, random_state=0).passed


class Threaded(DPSGDRegressor):
    """Fits in a thread that knows nothing of null records."""

    def fit(self, X, y):
        thread = threading.Thread(target=super().fit, args=(X, y))
        thread.start()
        thread.join()
        return self


def test_null_records_that_nobody_asks_for_are_an_error():
    with pytest.raises(TypeError, match="null record"):
        audit(Threaded(target_bounds=(-1, 1)), *ZEROS, n_fits=12, random_state=0)


def test_an_audit_that_cannot_fail_says_so():
    model = quick(DPSGDRegressor, epsilon=4.0)
    found = audit(model, *ZEROS, n_fits=12, random_state=0)
    assert found.passed
    assert not found.has_power
    assert "no power" in repr(found)
    assert "NO POWER" in found.to_text()
    few = audit(quick(DPSGDRegressor), *ZEROS, method="one_run", random_state=0)
    assert not few.has_power
    with pytest.raises(ValueError, match="delta"):
        audit(model, *ZEROS, n_fits=12, delta=0.0)


@pytest.mark.parametrize("form", ["objects", "series", "categories", "column"])
def test_labels_in_any_container(form):
    labels = ["no", "yes", "no", "yes"]
    y = {
        "objects": np.array(labels, dtype=object),
        "series": pd.Series(labels),
        "categories": pd.Series(labels, dtype="category"),
        "column": np.array(labels)[:, np.newaxis],
    }[form]
    found = audit(DPSGDClassifier(max_iter=1), np.zeros((4, 2)), y, n_fits=12, random_state=0)
    assert found.positives == found.negatives == 4
