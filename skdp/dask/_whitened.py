"""Fits of private whitening whose sums are made where the rows are."""

from copy import copy
from dataclasses import dataclass

import numpy as np
from dask.base import is_dask_collection
from sklearn.base import is_regressor
from sklearn.utils.validation import check_is_fitted

from skdp._solvers._row_sums import block_rows
from skdp._solvers._whitened import RULES, solve_whitened
from skdp.dask._clients import resolve_client
from skdp.dask._map import map_rows
from skdp.dask._passes import passes
from skdp.dask._table import read_table
from skdp.ledger._account import COVERED
from skdp.linear_model import DPLogisticRegression, DPRidge
from skdp.linear_model._base import check_finite, encode_labels
from skdp.utils._sklearn import _fit_context

OWN = ("client", "compute_chunk_sizes", "verbose")
_NOT_COVERED = (
    "workers, scheduler and network, which see records and exact sums and are inside the boundary "
    "of trust"
)
_PARTITIONS = "the partitions of the collections, and that how they were cut doesn't follow records"


@dataclass(frozen=True)
class Reader:
    """What workers get to know of an estimator; see `skdp.dask._parts.Reader`."""

    estimator: DPLogisticRegression | DPRidge
    n_jobs: int | None

    @property
    def name(self):
        return type(self.estimator).__name__

    @property
    def checks_of_targets(self):
        return {"multi_output": True, "y_numeric": True} if is_regressor(self.estimator) else {}

    def block_rows(self, n_features):
        return block_rows(n_features + bool(self.estimator.fit_intercept))

    def certified_rows(self, X):
        return self.estimator._certified_rows(X)

    def targets(self, y):
        if is_regressor(self.estimator):
            return self.estimator._in_units(y)[0]
        return encode_labels(y, self.estimator.classes)[1]

    def loss(self, n_outputs):
        return self.estimator._loss(n_outputs)


class DaskWhitened:
    """Fits of private whitening whose sums over rows are made where the rows are."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y):
        """Fit the model privately.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
            Training rows, in partitions. They are read at every pass: persist what fits into the
            memory of the workers.
        y : dask.array.Array, dask.dataframe.Series or dask.dataframe.DataFrame
            Labels or targets, in partitions of as many rows as those of X.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        BudgetExceededError
            If there is a ledger, and too little is left in it.
        RuntimeError
            If a task fails on the workers; what it says isn't repeated.
        TypeError
            If X or y is no Dask collection.
        ValueError
            If a parameter or the input is invalid; no message quotes an entry of the data.
        """
        # 1. scikit-learn's contract
        client = resolve_client(self.client)
        table = read_table(X, y, compute_chunk_sizes=self.compute_chunk_sizes, client=client)
        self._set_columns(table)
        n_outputs = self._n_outputs_of(table)

        # 2. bound the data, where it is
        reader = Reader(self._reading(), self.n_jobs)
        with passes(table, reader, client=client, verbose=self.verbose) as sums:
            # 3. plan from public numbers
            plan = self._plan(table.n_rows, table.n_features, n_outputs)
            stream = plan.start(self.random_state)

            # 4. solve
            rules = RULES[self._loss(n_outputs).name]
            weights, steps = solve_whitened(sums, plan=plan, rules=rules, stream=stream)
        check_finite(weights)

        # 5. publish
        report = plan.report(
            n_steps=steps.n_steps,
            reproducible=stream.reproducible,
            also_public=(*self._assumed(), _PARTITIONS),
            not_covered=(*plan.budget.not_covered, _NOT_COVERED),
        )
        self._publish(weights, plan.problem.bias, table)
        self._set_report(steps, report)
        return self

    def _reading(self):
        """Return what workers get to know of this: neither a seed nor a ledger."""
        return self._local(**{**self._shared(), "random_state": None, "ledger": COVERED})

    def _shared(self):
        """Return the parameters of the class that this one has in memory."""
        return {n: v for n, v in self.get_params(deep=False).items() if n not in OWN}

    def _set_columns(self, table):
        self.n_features_in_ = table.n_features
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        if table.feature_names is not None:
            self.feature_names_in_ = np.array(table.feature_names, dtype=object)

    def to_local(self):
        """Return the estimator of `skdp.linear_model`, fitted if this one is.

        Returns
        -------
        estimator : DPLogisticRegression or DPRidge
            With the same parameters, and the attributes of this one.

        Raises
        ------
        TypeError
            If a subclass has other parameters.
        """
        local = self._local(**self._shared())
        vars(local).update(self._fitted())
        return local

    def _fitted(self):
        return {n: v for n, v in vars(self).items() if n.endswith("_") and n[0] != "_"}

    def predict(self, X):
        """Predict for rows in memory or in partitions. Rows are not clipped.

        Parameters
        ----------
        X : array-like or Dask collection of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        y : ndarray or dask.array.Array of shape (n_samples,) or (n_samples, n_outputs)
            Predictions; of a Dask collection a lazy array.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X doesn't fit the estimator; no message quotes an entry of the data.
        """
        return self._mapped("predict", X)

    def _mapped(self, method, X):
        check_is_fitted(self)
        if not is_dask_collection(X):
            return getattr(self.to_local(), method)(X)
        # Workers need neither a seed nor a ledger to predict.
        local = self._reading()
        vars(local).update(self._fitted())
        return map_rows(getattr(local, method), X)

    def __sklearn_clone__(self):
        # A client can't be copied, and a copy for pickle goes without.
        made = super(DaskWhitened, copy(self)).__sklearn_clone__()
        made.client = self.client
        return made

    def __getstate__(self):
        return {**super().__getstate__(), "client": None}
