"""Fits whose Gaussian releases are recorded, and what an attacker learns from all of them."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone

from tests.door import GaussianMechanism, null_records
from tests.statistical._transcripts import noise_times

CHANCE = 1e-7


def record(estimator, *data, script=None, null=None, answer=None, random_state=0, **given):
    """Fit a clone and return it, what went into its releases, and what came out.

    Parameters
    ----------
    estimator : estimator
    *data : of X, and y where it is needed
    script : list of ndarray, default=None
        What comes out.
    null : int, default=None
        The row that is a null record; with groups the group all of whose rows are.
    answer : callable, default=None
        Of a value, what comes out.
    random_state : int or None, default=0
    **given : of fit
    """
    values, released, mechanisms = [], [], []

    def release(self, value, stream, original=GaussianMechanism.release):
        out = original(self, value, stream)
        if script is not None:
            out = script[len(values)].copy()
        if answer is not None:
            out = answer(value)
        mechanisms.append(self)
        values.append(value.copy())
        released.append(out.copy())
        return out

    estimator = clone(estimator).set_params(random_state=random_state, delta=1e-3)
    rows = [] if null is None else [null]
    if null is not None and given.get("groups") is not None:
        rows = np.flatnonzero(given["groups"] == null)
    with pytest.MonkeyPatch.context() as patch, null_records(rows):
        patch.setattr(GaussianMechanism, "release", release)
        fitted = estimator.fit(*data, **given)
    return fitted, values, released, mechanisms


def attack(estimator, *data, n_fits=20, **given):
    """Let an attacker who knows all but record 0 and the noise see all releases of many fits.

    A second fit in the other world, with the same coins and results, says how far apart the two
    worlds are in each release. The log-likelihood ratio is the noise along that way, but for a
    constant.

    Returns
    -------
    told : ndarray
        Of each fit, by how many standard deviations of the claimed noise all releases are apart.
    chance : float
        How likely noise that is no less, no more and no other than claimed is as strange as this:
        a p-value. Noise along the ways apart is standard normal, in each release and, of each world
        alone and of both, in sum, where noise that repeats itself would show.
    """
    told, parts, sums = [], [], {None: [], 0: []}
    for null, seed in itertools.product(sums, range(n_fits)):
        # Of one seed coins are the same.
        options = {"random_state": 2 * seed + (null is None), **given}
        _, values, script, mechanisms = record(estimator, *data, null=null, **options)
        other = 0 if null is None else None
        others = record(estimator, *data, null=other, script=script, **options)[1]
        stds = [of.noise_multiplier * of.sensitivity for of in mechanisms]
        apart, noise = np.array(
            [
                (np.linalg.norm(way := (value - other) / std), np.sum(way * (out - value)) / std)
                for value, other, out, std in zip(values, others, script, stds, strict=True)
            ]
        ).T
        told.append(np.linalg.norm(apart))
        sums[null].append(noise.sum() / told[-1])
        parts.extend((noise / apart)[apart > 0.0])
    everything = np.concatenate(list(sums.values()))
    chances = [_chance_of_squares(parts), _chance_of_squares(everything)]
    chances += [2.0 * stats.norm.sf(abs(np.mean(z)) * math.sqrt(n_fits)) for z in sums.values()]
    return np.array(told), len(chances) * min(chances)


def _chance_of_squares(noise):
    law, total = stats.chi2(len(noise)), np.sum(np.square(noise))
    return 2.0 * min(law.cdf(total), law.sf(total))


def check_attack(estimator, *data, **given):
    """Check that releases tell of record 0 what is claimed, and half of the noise is convicted.

    By chance one check in ten million fails. With half of the noise, 160 numbers (the fewest: four
    releases of 40 fits) would be as near to what is claimed once in 10**11.
    """
    claimed = claimed_mu(record(estimator, *data, **given)[0].privacy_report_)
    told, chance = attack(estimator, *data, **given)
    assert told.max() <= claimed * (1.0 + 1e-6)
    # The bound of a path may be reached by none, where releases before it decide.
    assert told.mean() > 0.8 * claimed
    assert chance > CHANCE
    with noise_times(0.5):
        assert attack(estimator, *data, **given)[1] < CHANCE


def claimed_mu(report):
    """Return what Gaussian releases of a report come to."""
    squares = [event.mu(report.adjacency) ** 2 for event in report.events if hasattr(event, "mu")]
    return math.sqrt(sum(squares))
