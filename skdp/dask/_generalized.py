"""Generalized linear models with a log link on Dask collections."""

import numpy as np

from skdp.dask._estimators import DaskDPRidge, DaskWhitened
from skdp.dask._twins import twin_of
from skdp.linear_model import DPGammaRegressor, DPPoissonRegressor, DPTweedieRegressor


class _DaskGeneralized(DaskWhitened):
    """Generalized linear models with a log link, on Dask collections."""

    def _n_outputs_of(self, table):
        return 1

    def _moved_targets(self, sums, plan, stream):
        """Divide targets by their mean, and return it, and the plan for slopes of their size."""
        of_targets = sums.of_targets()

        def exact_mean():
            how = np.zeros(1), np.ones(1), np.inf, plan.steps.mechanism
            return of_targets.moved(*how)[0] / sums.n_rows

        mean, plan = self._sized(of_targets, plan, stream, exact_mean)
        sums.move_targets(mean)
        return mean, plan

    def _units(self, mean, table):
        return mean


@twin_of(DPPoissonRegressor)
class DaskDPPoissonRegressor(_DaskGeneralized, DPPoissonRegressor):
    """Poisson regression by private whitening, on Dask collections.

    Examples
    --------
    >>> import dask.array as da
    >>> from skdp.dask import DaskDPPoissonRegressor
    >>> X = da.random.default_rng(0).uniform(-1, 1, (10_000, 3), chunks=(2_500, 3))
    >>> model = DaskDPPoissonRegressor(epsilon=1.0)
    >>> model.fit(X, da.floor(da.exp(X[:, 0] + 1))).privacy_report_
    (1, 1e-05)-DP
    """


@twin_of(DPGammaRegressor)
class DaskDPGammaRegressor(_DaskGeneralized, DPGammaRegressor):
    """Gamma regression by private whitening, on Dask collections.

    Examples
    --------
    >>> import dask.array as da
    >>> from skdp.dask import DaskDPGammaRegressor
    >>> X = da.random.default_rng(0).uniform(-1, 1, (10_000, 3), chunks=(2_500, 3))
    >>> model = DaskDPGammaRegressor(epsilon=1.0)
    >>> model.fit(X, da.exp(X[:, 0] + 1)).privacy_report_
    (1, 1e-05)-DP
    """


@twin_of(DPTweedieRegressor)
class DaskDPTweedieRegressor(_DaskGeneralized, DPTweedieRegressor):
    """Tweedie regression by private whitening, on Dask collections.

    Examples
    --------
    >>> import dask.array as da
    >>> from skdp.dask import DaskDPTweedieRegressor
    >>> X = da.random.default_rng(0).uniform(-1, 1, (10_000, 3), chunks=(2_500, 3))
    >>> model = DaskDPTweedieRegressor(power=1.5, epsilon=1.0)
    >>> model.fit(X, da.floor(da.exp(X[:, 0] + 1))).privacy_report_
    (1, 1e-05)-DP
    """

    @property
    def _of_dask(self):
        """The class whose ways on collections are taken."""
        return _DaskGeneralized if self._learns_sizes else DaskDPRidge

    def _n_outputs_of(self, table):
        return self._of_dask._n_outputs_of(self, table)

    def _moved_targets(self, *args):
        return self._of_dask._moved_targets(self, *args)

    def _units(self, *args):
        return self._of_dask._units(self, *args)
