r"""Exact likelihood ratios of everything that fits release.

The guarantee is about an attacker who sees every release, and the rows of all others. So the other
rows are null records here, and what a release is made of, given those before it, is known: the
record's contribution u, as a function of past releases. With a coin of probability q for each step
of DP-SGD the likelihood of a release r is ``(1 - q) f(r) + q f(r - u)``, f being the density of the
noise; without coins q is 1, and for a null record u is 0. Fits of the estimators themselves are
recorded, on data with the record and on data with what stands in its place. What the other data
would have given comes from a second fit, with all coins heads and the releases given.

Of the ratios L, ``delta(epsilon) = E_P[(1 - e^epsilon / L)_+]`` is bounded by `bounds_of_mean`; a
bound is wrong with probability at most 1e-10, and the file takes fewer than 200. DP-SCD has exact
checks of its own, in `test_hidden_dual` and `test_sequential_dual`.
"""

import os
from dataclasses import dataclass, replace
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
from sklearn import config_context

from skdp.linear_model import (
    DPCDClassifier,
    DPCDLasso,
    DPLogisticRegression,
    DPRidge,
    DPSGDRegressor,
    label_aggregate,
)
from skdp.preprocessing import DPNormClipper, DPQuantileClipper, DPStandardScaler
from tests.door import LaplaceMechanism, PoissonSampler, null_records, single_threaded_blas
from tests.statistical._transcripts import (
    EPSILONS,
    bounds_of_delta,
    convicted,
    noise_times,
    recorded_releases,
)

pytestmark = pytest.mark.filterwarnings("ignore:(target_bounds=N|the size of)")

# A seed for each fit, so that all noise is independent.
N_TRANSCRIPTS = 6_000 if os.environ.get("SKDP_NIGHTLY") == "1" else 120
N_ROWS = 4
BUDGET = {"epsilon": 4.0, "delta": 0.05, "fit_intercept": False}
# Of transformers.
SPENT = {"epsilon": 4.0, "delta": 0.05}
# Far from any prediction: it is clipped in every step.
FAR = 1e6
# Rows at the bound, without a learnt ball.
PLAIN = {"ball_budget": 0, "data_norm": 1.0}
WHITENED = {"max_iter": 2, "clipping_norm": 0.1, **PLAIN, **BUDGET}


@dataclass(frozen=True)
class Case:
    """An estimator, the record's label or target, and what is certain of the account.

    Attributes
    ----------
    other_y : float or None
        Label or target of the record in its place; None for a null record.
    rate : float
        Probability that the record takes part in a step.
    tight : bool
        Whether this record reaches what the report promises, in the direction that is easier.
    n_rows, n_features : int
    turned : bool
        Whether the record in its place has its row at a right angle to this one's.
    n_own : int
        How many rows a record has that is a group; 0 if rows are the records.
    """

    estimator: object
    y: float
    other_y: float | None = None
    rate: float = 1.0
    tight: bool = True
    n_rows: int = N_ROWS
    n_features: int = 2
    turned: bool = False
    n_own: int = 0

    def fit(self, present, seed):
        # A group in another's place has one row.
        own = max(self.n_own, 1) if present or self.other_y is None else 1
        n_rows = self.n_rows - 1 + own
        X, y = np.zeros((n_rows, self.n_features)), np.zeros(n_rows)
        X[:own], y[:own] = 1.0, self.y if present else self.other_y or 0.0
        X[:own, -1] *= -1.0 if self.turned and not present else 1.0
        null = 0 if self.other_y is None and not present else own
        groups = {"groups": np.maximum(np.arange(n_rows) - own + 1, 0)} if self.n_own else {}
        with null_records(range(null, n_rows)):
            return self.estimator.set_params(random_state=seed).fit(X, y, **groups).privacy_report_


class LabelCase:
    """One flipped label; the rows are public, so nobody is a null record."""

    rate, tight, other_y = 1.0, True, 0

    def fit(self, present, seed):
        X, y = np.eye(N_ROWS, 2), np.array([int(present), 1, 0, 1])
        options = {"mechanism": "analytic", "noise_shape": "spherical", "random_state": seed}
        options |= BUDGET
        return label_aggregate(X, y, classes=[0, 1], **options).report


CASES = {
    "sgd": Case(DPSGDRegressor(batch_size=1, max_iter=2, **BUDGET), FAR, rate=1.0 / N_ROWS),
    "sgd replaced": Case(
        DPSGDRegressor(adjacency="replace_one", batch_size=2, max_iter=2, **PLAIN, **BUDGET),
        FAR,
        other_y=-FAR,
        rate=2.0 / N_ROWS,
    ),
    "sgd sometimes clipped": Case(
        DPSGDRegressor(batch_size=2, max_iter=2, clipping_norm=1.0, **BUDGET),
        1.0,
        rate=2.0 / N_ROWS,
        tight=False,
    ),
    "sgd laplace": Case(
        DPSGDRegressor(
            mechanism="laplace", batch_size=N_ROWS, max_iter=2, **(BUDGET | {"epsilon": 2.0})
        ),
        FAR,
        tight=False,
        n_features=1,
    ),
    "cd bounds": Case(DPCDLasso(smoothness="bounds", max_iter=2, **BUDGET), FAR),
    "cd replaced": Case(
        DPCDLasso(adjacency="replace_one", smoothness="bounds", max_iter=2, **BUDGET),
        FAR,
        other_y=-FAR,
    ),
    "cd private": Case(DPCDLasso(smoothness="private", max_iter=2, **BUDGET), FAR),
    "cd classes": Case(
        DPCDClassifier(smoothness="private", classes=[0, 1], max_iter=2, **BUDGET), 1, tight=False
    ),
    "whitened": Case(DPRidge(**WHITENED), FAR),
    "whitened, half for the moment": Case(DPRidge(moment_budget=0.5, **WHITENED), FAR),
    "whitened, no moment": Case(DPRidge(moment_budget=0.0, **WHITENED), FAR),
    "whitened replaced": Case(
        DPRidge(adjacency="replace_one", moment_budget=0.999, **WHITENED),
        FAR,
        other_y=-FAR,
        turned=True,
    ),
    "whitened, automatic": Case(
        DPLogisticRegression(classes=[0, 1], **PLAIN, **BUDGET), 1, tight=False
    ),
    "whitened, inference": Case(DPRidge(inference=True, **(WHITENED | {"max_iter": 12})), FAR),
    "scaler": Case(DPStandardScaler((1.0, 3.0), **SPENT), 0.0),
    "scaler replaced": Case(
        DPStandardScaler(adjacency="replace_one", **SPENT),
        0.0,
        other_y=0.0,
        n_features=1,
        turned=True,
        tight=False,
    ),
    "quantiles": Case(DPQuantileClipper((1.0, 3.0), scale="log", **SPENT), 0.0),
    "lengths": Case(DPNormClipper(norm_bounds=(1.5, 9.0), **SPENT), 0.0),
    "group": Case(DPRidge(rows_per_group=2.0, **WHITENED), FAR, n_own=300),
    "group, half for the moment": Case(DPRidge(moment_budget=0.5, **WHITENED), FAR, n_own=300),
    "group replaced": Case(
        DPRidge(adjacency="replace_one", moment_budget=0.999, rows_per_group=1.0, **WHITENED),
        FAR,
        other_y=-FAR,
        turned=True,
        n_own=300,
    ),
    "walr": LabelCase(),
}


@pytest.fixture(autouse=True)
def small_fits():
    """What is done once for all fits of a test: done for each, it would cost as much as they do."""
    with single_threaded_blas, config_context(skip_parameter_validation=True):
        yield


def every_row(sampler, stream):
    return (np.arange(sampler.n_rows) for _ in range(sampler.n_steps))


def contributions(case, present, transcript=None, seed=0):
    """Record a fit; with a transcript, of the data it would come from if all coins were heads."""
    if transcript is None:
        with recorded_releases() as made:
            report = case.fit(present, seed)
        return made, report
    script = [one.released for one in transcript]
    with mock.patch.object(PoissonSampler, "batches", every_row), recorded_releases(script) as made:
        case.fit(present, seed)
    return made, None


def log_density(mechanism, noise):
    if isinstance(mechanism, LaplaceMechanism):
        return -np.linalg.norm(noise) / mechanism.noise_scale
    return -0.5 * (noise**2).sum() / mechanism.noise_std**2


def log_likelihood(one, value, rate):
    """Of a release, if the record contributes `value` to it with a probability of `rate`."""
    with_record = log_density(one.mechanism, one.released - value)
    if rate == 1.0:
        return with_record
    without = log_density(one.mechanism, one.released)
    return np.logaddexp(np.log1p(-rate) + without, np.log(rate) + with_record)


def log_ratios(case, present, seeds):
    """Log likelihood ratios of the data with the record against the other data; the report.

    Transcripts are of the data with the record if it is present. Then they are of P, else of Q.
    """
    found, report = [], None
    for seed in seeds:
        transcript, report = contributions(case, present, seed=seed)
        values = {}
        for here in (True, False):
            if here is present and case.rate == 1.0:
                known = transcript
            elif case.other_y is None and not here:
                known = [SimpleNamespace(value=0.0)] * len(transcript)
            else:
                known, _ = contributions(case, here, transcript, seed)
            values[here] = [one.value for one in known]
        found.append(
            sum(
                log_likelihood(one, here, case.rate) - log_likelihood(one, there, case.rate)
                for one, here, there in zip(transcript, values[True], values[False], strict=True)
            )
        )
    return np.array(found), report


# One of each mechanism and shape of steps, with amplification and without, for the quick tests.
SHORT = {"sgd", "sgd laplace", "cd replaced", "whitened", "scaler", "group", "walr"}


def in_tiers(names):
    return [pytest.param(name, marks=[pytest.mark.long] * (name not in SHORT)) for name in names]


def check_transcripts(case):
    """Compare what transcripts tell of a record, or of its absence, with the report."""
    for present, first in ((True, 0), (False, N_TRANSCRIPTS)):
        ratios, report = log_ratios(case, present, range(first, first + N_TRANSCRIPTS))
        ratios = ratios if present else -ratios
        assert np.isfinite(ratios).all()
        assert not convicted(ratios, report)
        if case.tight and present:
            assert all(bounds_of_delta(ratios, e)[1] >= report.delta_at(e) for e in EPSILONS)


# Records at the bound, of which half the noise shows most.
@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    in_tiers(sorted(CASES.keys() - {"sgd sometimes clipped", "sgd replaced", "cd replaced"})),
)
def test_half_the_noise_is_convicted(name):
    case = CASES[name]
    with noise_times(0.5):
        ratios, report = log_ratios(case, True, range(N_TRANSCRIPTS))
    assert convicted(ratios, report)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.rate == 1.0])
def test_a_record_that_is_never_left_out_is_seen_in_every_release(name):
    """So that the ratios above are about something; a null record's contribution is always 0."""
    with_record, _ = contributions(CASES[name], True)
    without, _ = contributions(CASES[name], False)
    for one, other in zip(with_record, without, strict=True):
        assert CASES[name].other_y is not None or not other.value.any()
        assert np.linalg.norm(one.value - other.value) > 0.1 * one.mechanism.contribution_bound


@pytest.mark.long
def test_the_noise_of_zero_out_is_convicted_under_replace_one():
    _, report = contributions(CASES["cd replaced"], True)
    replaced = replace(CASES["cd bounds"], other_y=-FAR)
    ratios, _ = log_ratios(replaced, True, range(N_TRANSCRIPTS))
    assert convicted(ratios, report)


@pytest.mark.long
def test_dividing_by_the_true_batch_size_is_convicted(monkeypatch):
    """The steps tell who took part, to one who knows the others' coins: nothing is amplified."""
    options = BUDGET | {"epsilon": 0.5, "delta": 0.01}
    estimator = DPSGDRegressor(batch_size=1, max_iter=1, ball_budget=0, **options)
    case, coins = Case(estimator, FAR, rate=1.0 / 16, n_rows=16), []

    def true_size(sampler, batch):
        coins.append(0 in batch)
        return max(batch.size, 1)

    monkeypatch.setattr(PoissonSampler, "divisor", true_size)
    found = []
    for seed in range(2 * N_TRANSCRIPTS):
        coins.clear()
        transcript, report = contributions(case, True, seed=seed)
        pairs = zip(transcript, coins, strict=True)
        ratios = [
            log_likelihood(one, one.value, 1.0) - log_likelihood(one, 0.0, 1.0)
            for one, heads in pairs
            if heads
        ]
        found.append(sum(ratios))
    assert convicted(np.array(found), report)
