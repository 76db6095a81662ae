"""Fits of an audit: fresh randomness each, and as many workers as are asked for."""

import warnings
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from sklearn import config_context
from sklearn.base import clone

from skdp._bounds import null_records
from skdp._threads import single_threaded_blas
from skdp.accountant import PrivacyReport
from skdp.exceptions import PrivacyWarning

_CHUNK = 25
_N_SEEDS = 2**32


@dataclass(frozen=True, eq=False)
class World:
    """A data set, with the indices of its null records."""

    X: np.ndarray
    y: np.ndarray
    null: tuple = ()


class Fitter:
    """Fits an estimator again and again, never twice with the same randomness.

    Parameters
    ----------
    estimator : estimator instance
        Is cloned, not changed.
    stream : stream of `skdp._random`
        Reproducible: every fit gets a seed of its own. Otherwise every fit draws from the operating
        system, whatever seed the estimator had.
    n_jobs : int or None
        Processes; the results don't depend on it.
    """

    def __init__(self, estimator, stream, n_jobs):
        self._estimator = estimator
        self._n_jobs = n_jobs
        self._next_seed = None
        if stream.reproducible:
            self._next_seed = int(stream.uniform(1)[0] * _N_SEEDS)

    def probe(self, world):
        """Return an estimator fitted to a world, whose report and classes are looked at.

        Raises
        ------
        TypeError
            If it doesn't publish what an audit needs.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivacyWarning)
            fitted = _fit(self._estimator, world, *self._seeds(1))
        if not isinstance(getattr(fitted, "privacy_report_", None), PrivacyReport):
            raise TypeError("estimator must publish a PrivacyReport as privacy_report_.")
        if not (hasattr(fitted, "coef_") and hasattr(fitted, "intercept_")):
            raise TypeError("estimator must publish coef_ and intercept_.")
        return fitted

    def weights(self, worlds):
        """Return the weights of one fit to each world, of shape (n_fits, n_weights)."""
        jobs = list(zip(worlds, self._seeds(len(worlds)), strict=True))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivacyWarning)
            chunks = Parallel(n_jobs=self._n_jobs)(
                delayed(_fit_all)(self._estimator, jobs[start : start + _CHUNK])
                for start in range(0, len(jobs), _CHUNK)
            )
        weights = np.array([weights for chunk in chunks for weights in chunk])
        if not np.isfinite(weights).all():
            raise ValueError("a fit published coefficients that aren't finite.")
        return weights

    def _seeds(self, n_fits):
        if self._next_seed is None:
            return [None] * n_fits
        # Neighbouring seeds give independent streams, as do any.
        seeds = [(self._next_seed + i) % _N_SEEDS for i in range(n_fits)]
        self._next_seed += n_fits
        return seeds


def _fit_all(estimator, jobs):
    # Held throughout, it needn't be taken and left in each of many short fits, all of whose
    # parameters the probe has checked.
    with single_threaded_blas, config_context(skip_parameter_validation=True):
        return [weights_of(_fit(estimator, world, seed)) for world, seed in jobs]


def _fit(estimator, world, seed):
    estimator = clone(estimator).set_params(random_state=seed)
    # In the thread that fits.
    with null_records(world.null) as asked:
        fitted = estimator.fit(world.X, world.y)
    if world.null and not asked.consulted:
        raise TypeError(
            "estimator doesn't bound its rows by this package in the thread that calls fit, so "
            "that nobody knows how to make a null record for it; audit adjacency='replace_one'."
        )
    return fitted


def weights_of(fitted):
    """Return coefficients, intercepts and, where they are published, noisy sums as one vector."""
    coef = np.atleast_2d(fitted.coef_)
    intercept = np.broadcast_to(fitted.intercept_, len(coef))
    published = [coef.ravel(), intercept]
    if hasattr(fitted, "aggregate_"):
        published.append(fitted.aggregate_.sums.ravel())
    return np.concatenate(published)
