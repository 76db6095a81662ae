"""Fits whose Gaussian releases are recorded, and what an attacker learns from all of them."""

import itertools
import math

import numpy as np
import pytest
from sklearn.base import clone

from skdp._bounds import null_records
from skdp._mechanisms import GaussianMechanism


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


def measured_mu(estimator, *data, n_fits=150, **given):
    """Return what the likelihood ratio of all releases tells of record 0: its mean over its spread.

    The ratio follows from a second fit in the other world, with the same results.
    """
    ratios = {None: [], 0: []}
    for null, seed in itertools.product(ratios, range(n_fits)):
        # Of one seed coins are the same.
        options = {"random_state": 2 * seed + (null is None), **given}
        _, _, script, mechanisms = record(estimator, *data, null=null, **options)
        ones, zeros = (
            record(estimator, *data, script=script, null=k, **options)[1] for k in (None, 0)
        )
        ratios[null].append(
            sum(
                (((out - zero) ** 2).sum() - ((out - one) ** 2).sum()) / (2.0 * of.noise_std**2)
                for out, zero, one, of in zip(script, zeros, ones, mechanisms, strict=True)
            )
        )
    apart = np.mean(ratios[None]) - np.mean(ratios[0])
    return apart / np.std(np.concatenate([r - np.mean(r) for r in ratios.values()]))


def claimed_mu(report):
    """Return what Gaussian releases of a report come to."""
    squares = [event.mu(report.adjacency) ** 2 for event in report.events if hasattr(event, "mu")]
    return math.sqrt(sum(squares))
