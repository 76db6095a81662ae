"""Estimators on Dask collections whose parameters are those of estimators in memory."""

import inspect
from collections.abc import Callable
from copy import copy

import numpy as np
from dask.base import is_dask_collection
from distributed import Client
from sklearn.utils.validation import check_is_fitted

from skdp._checks import check_exposure
from skdp._sklearn import _fit_context
from skdp.dask._clients import resolve_client
from skdp.dask._table import map_rows, read_table
from skdp.ledger._account import ALREADY_CHARGED


class DaskTwin:
    """What estimators on collections share.

    A subclass takes the parameters of a class for rows in memory, and after `n_jobs` those of
    Dask: `client` and `compute_chunk_sizes`.
    """

    # The class for rows in memory.
    _local: type
    # Subclasses fit to collections, and publish.
    _fit_parts: Callable
    # Attributes of a fit that aren't public.
    _learnt_too: tuple[str, ...] = ()

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, groups=None):
        """Fit the model privately.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
            Training rows, in partitions. They are read twice. Copies, and of raw rows the columns
            that an additive model makes of them, are kept for the length of the fit: in the memory
            of workers, or without a client in memory or a temporary file. Partitions for which that
            has no room are read at every pass, too.
        y : dask.array.Array, dask.dataframe.Series or dask.dataframe.DataFrame
            Labels or targets, in partitions of as many rows as those of X.
        groups : dask.array.Array or dask.dataframe.Series of shape (n_samples,), default=None
            The person, household, ... of each row, as words or numbers, in the same partitions, of
            which one has all rows of a group. Then the guarantee is for one group, with all its
            rows, and the number of groups is public. None: each row is a record.

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
            If X, y or groups is no Dask collection.
        ValueError
            If a parameter or the input is invalid, or rows of a group lie in two partitions; no
            message quotes an entry of the data.
        """
        return self._fit_parts(X, y, groups)

    def _opened(self, X, y, groups, exposure=None):
        """Return the client of a fit, and the table of its collections."""
        client = resolve_client(self.client)
        table = read_table(
            X,
            y,
            groups,
            exposure,
            compute_chunk_sizes=self.compute_chunk_sizes,
            client=client,
        )
        return client, table

    def _reading(self):
        """Return what workers get to know of this: neither a seed nor a ledger."""
        return self._local(
            **{**self._shared(), "verbose": 0, "random_state": None, "ledger": ALREADY_CHARGED}
        )

    def _shared(self):
        """Return the parameters that the class in memory has, too.

        Of a subclass those, too, that its own constructor doesn't take: workers are to bound rows
        as the plan says.
        """
        taken = inspect.signature(self._local).parameters
        return {name: getattr(self, name) for name in taken if name not in _WITHOUT}

    def to_local(self):
        """Return the same estimator for rows in memory, fitted if this one is.

        Returns
        -------
        estimator : the class of the same name without Dask
            With the same parameters, and the attributes of this one. Of a subclass, it is the one
            in memory of the class in `skdp.dask`.
        """
        return self._as_fitted(self._local(**self._shared()))

    def _as_fitted(self, local):
        """Give an estimator in memory the attributes that a fit of this has set."""
        published = {n: v for n, v in vars(self).items() if n.endswith("_") and n[0] != "_"}
        vars(local).update(
            published | {n: vars(self)[n] for n in self._learnt_too if n in vars(self)}
        )
        return local

    def predict(self, X):
        """Predict for rows in memory or in partitions, as the class for rows in memory does.

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
        return map_rows(getattr(self._as_fitted(self._reading()), method), X)

    def __sklearn_clone__(self):
        # A client can't be copied, and a copy for pickle goes without.
        made = super(DaskTwin, copy(self)).__sklearn_clone__()
        made.client = self.client
        return made

    def __getstate__(self):
        return {**super().__getstate__(), "client": None}


def during(family, means, exposure):
    """Return means of so many exposures, which a family of rates takes."""
    if not is_dask_collection(exposure):
        return family.during(means, exposure)
    blocks = getattr(exposure, "values", exposure)
    return means * blocks.map_blocks(lambda one: check_exposure(one, len(one)), dtype=np.float64)


class DaskRatesMixin:
    """Fits on Dask collections whose rows may have exposures, and predictions for these."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, groups=None, exposure=None):
        """Fit the model privately.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
            Training rows, in partitions. They are read twice. Copies, and of raw rows the columns
            that an additive model makes of them, are kept for the length of the fit: in the memory
            of workers, or without a client in memory or a temporary file. Partitions for which that
            has no room are read at every pass, too.
        y : dask.array.Array, dask.dataframe.Series or dask.dataframe.DataFrame
            Targets, in partitions of as many rows as those of X; with exposures counts or amounts.
        groups : dask.array.Array or dask.dataframe.Series of shape (n_samples,), default=None
            The person, household, ... of each row, as words or numbers, in the same partitions, of
            which one has all rows of a group. Then the guarantee is for one group, with all its
            rows, and the number of groups is public. None: each row is a record.
        exposure : dask.array.Array or dask.dataframe.Series of shape (n_samples,), default=None
            How much of each row was seen, 0 or more, in the same partitions; as private as y. The
            model is then of the rate ``y / exposure``: see `fit` of the class in memory. None: each
            row has an exposure of 1.

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
            If X, y, groups or exposure is no Dask collection.
        ValueError
            If a parameter or the input is invalid, an exposure is negative or missing, or rows of a
            group lie in two partitions; no message quotes an entry of the data.
        """
        self._fit_parts(X, y, groups, exposure)
        self._is_of_rates = exposure is not None
        return self

    def predict(self, X, exposure=None):
        """Predict for rows in memory or in partitions, as the class for rows in memory does.

        Parameters
        ----------
        X : array-like or Dask collection of shape (n_samples, n_features)
            Rows to predict.
        exposure : array-like or Dask collection of shape (n_samples,), default=None
            How much of each row is seen: predictions are then the rate times the exposure.

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
        means = self._mapped("predict", X)
        if exposure is None:
            return means
        return during(self._family(has_exposure=True), means, exposure)


class DaskClassifierMixin:
    """What classifiers on collections predict, too."""

    # Rows of collections aren't weighted.
    class_weight = None

    def decision_function(self, X):
        """Compute decision values of rows in memory or in partitions.

        Parameters
        ----------
        X : array-like or Dask collection of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        scores : ndarray or dask.array.Array of shape (n_samples,) or (n_samples, n_classes)
            As in the estimator for rows in memory; of a Dask collection a lazy array.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X doesn't fit the estimator; no message quotes an entry of the data.
        """
        return self._mapped("decision_function", X)

    def predict_proba(self, X):
        """Estimate class probabilities of rows in memory or in partitions.

        Parameters
        ----------
        X : array-like or Dask collection of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        probabilities : ndarray or dask.array.Array of shape (n_samples, n_classes)
            One column a class, in the order of ``classes_``.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X doesn't fit the estimator; no message quotes an entry of the data.
        """
        return self._mapped("predict_proba", X)


OWN = {"client": [Client, None], "compute_chunk_sizes": ["boolean"]}
# Estimators on Dask collections take no weights of classes.
_WITHOUT = {"class_weight"}


def constraints_of_twin(local):
    """Return what a twin asks of its parameters: those of the class in memory, and of Dask's."""
    allowed = {**local._parameter_constraints, **OWN}
    return {name: allowed[name] for name in allowed if name not in _WITHOUT}
