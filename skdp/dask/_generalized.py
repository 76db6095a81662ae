"""Generalized linear models with a log link on Dask collections."""

import numpy as np

from skdp.dask._estimators import OWN, DaskDPRidge, DaskWhitened, told_as
from skdp.linear_model import DPGammaRegressor, DPPoissonRegressor, DPTweedieRegressor


class _DaskGeneralized(DaskWhitened):
    """Generalized linear models with a log link, on Dask collections."""

    def __init__(
        self,
        alpha=1e-4,
        *,
        fit_intercept=True,
        epsilon=1.0,
        delta="auto",
        adjacency="zero_out",
        moment_budget="auto",
        public_moment=None,
        data_norm=None,
        ball_budget="auto",
        target_bounds=None,
        max_iter="auto",
        clipping_norm="auto",
        step_size="auto",
        momentum="auto",
        average=True,
        n_jobs=None,
        client=None,
        compute_chunk_sizes=False,
        verbose=0,
        ledger=None,
        random_state=None,
    ):
        super().__init__(
            alpha=alpha,
            fit_intercept=fit_intercept,
            epsilon=epsilon,
            delta=delta,
            adjacency=adjacency,
            moment_budget=moment_budget,
            public_moment=public_moment,
            data_norm=data_norm,
            ball_budget=ball_budget,
            target_bounds=target_bounds,
            max_iter=max_iter,
            clipping_norm=clipping_norm,
            step_size=step_size,
            momentum=momentum,
            average=average,
            n_jobs=n_jobs,
            ledger=ledger,
            random_state=random_state,
        )
        self.client = client
        self.compute_chunk_sizes = compute_chunk_sizes
        self.verbose = verbose

    def _n_outputs_of(self, table):
        return 1

    def _moved_targets(self, sums, plan, stream):
        """Divide targets by their mean, and return it, and the plan for slopes of their size."""
        of_targets = sums.of_targets()

        def exact_mean():
            how = np.zeros(1), np.ones(1), np.inf, plan.steps.mechanism
            return of_targets.moved(*how)[0] / plan.n_rows

        mean, plan = self._sized(of_targets, plan, stream, exact_mean)
        sums.move_targets(mean)
        return mean, plan

    def _publish(self, coefs, bias, table, mean):
        self._set_coefs(coefs, bias, mean)


@told_as(DPPoissonRegressor)
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

    _local = DPPoissonRegressor
    _parameter_constraints = {**DPPoissonRegressor._parameter_constraints, **OWN}  # noqa: RUF012


@told_as(DPGammaRegressor)
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

    _local = DPGammaRegressor
    _parameter_constraints = {**DPGammaRegressor._parameter_constraints, **OWN}  # noqa: RUF012


@told_as(DPTweedieRegressor)
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

    _local = DPTweedieRegressor
    _parameter_constraints = {**DPTweedieRegressor._parameter_constraints, **OWN}  # noqa: RUF012

    def __init__(
        self,
        *,
        power=0.0,
        alpha=1e-4,
        fit_intercept=True,
        epsilon=1.0,
        delta="auto",
        adjacency="zero_out",
        moment_budget="auto",
        public_moment=None,
        data_norm=None,
        ball_budget="auto",
        target_bounds=None,
        max_iter="auto",
        clipping_norm="auto",
        step_size="auto",
        momentum="auto",
        average=True,
        n_jobs=None,
        client=None,
        compute_chunk_sizes=False,
        verbose=0,
        ledger=None,
        random_state=None,
    ):
        super().__init__(
            alpha=alpha,
            fit_intercept=fit_intercept,
            epsilon=epsilon,
            delta=delta,
            adjacency=adjacency,
            moment_budget=moment_budget,
            public_moment=public_moment,
            data_norm=data_norm,
            ball_budget=ball_budget,
            target_bounds=target_bounds,
            max_iter=max_iter,
            clipping_norm=clipping_norm,
            step_size=step_size,
            momentum=momentum,
            average=average,
            n_jobs=n_jobs,
            client=client,
            compute_chunk_sizes=compute_chunk_sizes,
            verbose=verbose,
            ledger=ledger,
            random_state=random_state,
        )
        self.power = power

    @property
    def _of_dask(self):
        """The class whose ways on collections are taken."""
        return _DaskGeneralized if self._learns_sizes else DaskDPRidge

    def _n_outputs_of(self, table):
        return self._of_dask._n_outputs_of(self, table)

    def _moved_targets(self, *args):
        return self._of_dask._moved_targets(self, *args)

    def _publish(self, *args):
        self._of_dask._publish(self, *args)
