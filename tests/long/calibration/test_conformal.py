"""What is covered in many fits, the noise of many, and an attack that would notice less of it."""

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.frozen import FrozenEstimator

from skdp.calibration import DPConformalRegressor
from tests.calibration.test_conformal import ADJACENCIES, Script, planned, quantile_of, stream
from tests.door import (
    calibration_solver_module as _solver,
    critical_value,
    ends_of_bins,
    null_records,
)

ZERO = DummyRegressor(strategy="constant", constant=0.0).fit([[0.0], [0.0]], [0.0, 0.0])
# Laws of scores by the inverse of their distribution.
LAWS = {
    "exponential": lambda u: -np.log1p(-u),
    "heavy": lambda u: 1e6 * u / (1.0 - u),
    "in one octave": lambda u: 1.0 + 1e-3 * u,
}


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("law", LAWS)
def test_a_person_is_covered_as_often_as_is_stated(law, adjacency):
    """The law of scores is known, so that a quantile's coverage is, and needs no new records.

    The mean over 120 fits has a standard error of 0.002; without the record that is new, or
    without the chance that noise leaves its band, a fault would be of that size, and is convicted
    by the tests of ranks and bands.
    """
    inverse = LAWS[law]
    n, level, coverage = 400, 0.8, []
    plan, rng = planned(level, n, 1.0, adjacency=adjacency), np.random.default_rng(0)
    critical = critical_value(plan.counts.mechanism, plan.design, stream(9))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_solver, "critical_value", lambda *_: critical)
        points = inverse(np.linspace(0.0, 1.0, 20_001)[:-1])
        for seed in range(120):
            found = quantile_of(inverse(rng.random(n)), plan, seed)
            coverage.append(np.searchsorted(points, found, side="right") / points.size)
    assert np.mean(coverage) > level
    # Bins are fine where the level can be met, so that little more is covered.
    assert np.mean(coverage) < level + (0.15 if law != "in one octave" else 0.21)


def test_without_its_band_noise_makes_quantiles_too_small():
    """Bins are finer than a plan would have them, so that noise decides."""
    n, level, missed = 400, 0.8, []
    plan = planned(level, n, 0.5)
    plan = replace(plan, design=plan.design._replace(n_bins=103))
    scores = np.sort(np.random.default_rng(0).exponential(size=n))
    exact = scores[plan.design.rank - 1]
    critical = critical_value(plan.counts.mechanism, plan.design, stream(9))
    for multiple in (critical, 0.0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_solver, "critical_value", lambda *_, value=multiple: value)
            missed.append(sum(quantile_of(scores, plan, seed) < exact for seed in range(60)))
    assert stats.binom.sf(missed[0] - 1, 60, 1.5 * plan.design.failure) > 1e-6
    assert missed[1] > 8


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("mechanism", ["pure", "gaussian"])
def test_counts_have_the_noise_that_is_accounted(adjacency, mechanism, tmp_path):
    """Half of the noise would give a p-value below 1e-9."""
    X, y = np.zeros((60, 1)), np.geomspace(1e-3, 1e3, 60)
    model = DPConformalRegressor(FrozenEstimator(ZERO), adjacency=adjacency)
    if mechanism == "gaussian":
        from skdp.ledger import PrivacyLedger

        ledger = PrivacyLedger(tmp_path / "s.db", epsilon=200.0, delta=1e-3, allow_seeds=True)
        model.set_params(ledger=ledger.path)
    noise = []
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setattr(_solver, "critical_value", lambda *_: 3.0)
        seen = Script(patch)
        for seed in range(20):
            clone(model).set_params(random_state=seed).fit(X, y)
        for value, released, used in zip(seen.values, seen.released, seen.mechanisms, strict=True):
            noise.append((released - value) / used.noise_std)
    assert np.concatenate(noise).std() == pytest.approx(1.0, abs=0.08)


def test_an_attack_finds_what_is_claimed_and_not_more():
    """All that a fit releases of a record are its two bins; the attacker looks at both.

    A guess whether the record is there is made where both say the same, and is right with a
    probability of e^eps / (1 + e^eps) at most: of the noise that is claimed it is as often. By half
    of the noise 500 guesses would be right so often with a probability below 1e-6.
    """
    epsilon, right, n_guesses = 1.0, 0, 0
    X, y = np.zeros((12, 1)), np.array([1e6, *([1.0] * 11)])
    model = DPConformalRegressor(FrozenEstimator(ZERO), epsilon=epsilon, delta=0.0)
    plan = planned(0.9, 12, epsilon, delta=0.0)
    for seed, is_there in enumerate(np.random.default_rng(0).random(900) < 0.5):
        with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            patch.setattr(_solver, "critical_value", lambda *_: 3.0)
            with null_records([] if is_there else [0]):
                seen = Script(patch)
                clone(model).set_params(random_state=seed).fit(X, y)
        octaves, counts = seen.released
        noise_std = plan.octaves.mechanism.noise_std
        found = _solver._octaves_with_records(octaves, noise_std, 12)
        octave = _solver._octave_of_rank(octaves, *found, 12, plan.design)
        ends = ends_of_bins(counts.size, octave)
        place, place_of_others = np.searchsorted(ends, [1e6, 1.0], side="right")
        surplus = counts[place] - (11 if place == place_of_others else 0)
        says = octaves[64 + 19] >= 1, surplus >= 1
        if says[0] == says[1]:
            n_guesses += 1
            right += says[0] == is_there
    allowed = math.exp(epsilon) / (1.0 + math.exp(epsilon))
    assert n_guesses > 400
    assert stats.binom.sf(right - 1, n_guesses, allowed) > 1e-6
    # It has power: it is right in more cases than half of the epsilon allows.
    half = math.exp(epsilon / 2.0) / (1.0 + math.exp(epsilon / 2.0))
    assert stats.binom.sf(right - 1, n_guesses, half) < 1e-3
