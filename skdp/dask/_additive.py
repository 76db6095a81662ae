"""Additive models of raw tables on Dask collections."""

from dataclasses import dataclass, replace
from functools import partial

from skdp._sklearn import _fit_context
from skdp.additive import DPAdditiveClassifier, DPAdditiveRegressor
from skdp.dask._estimators import DaskDPLogisticRegression, DaskDPRidge, Reader
from skdp.dask._generalized import DaskDPGammaRegressor, DaskDPPoissonRegressor
from skdp.dask._passes import NOT_COVERED, PARTITIONS, passes
from skdp.dask._table import set_columns, typed_row
from skdp.dask._tables import TableReader
from skdp.dask._twins import DaskClassifierMixin, DaskTwin, twin_of
from skdp.preprocessing.table._given import given_to
from skdp.preprocessing.table._kinds import settle_kinds

_LINEAR = (DaskDPLogisticRegression, DaskDPRidge, DaskDPPoissonRegressor, DaskDPGammaRegressor)


@dataclass(frozen=True)
class _Reader(Reader, TableReader):
    """What workers get to know of an additive model: what reads its table, and a linear model."""

    name, checked = TableReader.name, TableReader.checked
    certified_rows = TableReader.certified_rows

    def mapped_rows(self, X):
        return self.estimator._certified_rows(X)


class DaskAdditive(DaskTwin):
    """Fits of additive models whose counts and sums over rows are made where the rows are."""

    _learnt_too = "_kinds", "_read", "_untyped", "_basis", "_model", "_offsets"

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, groups=None):
        """Learn the table and fit the terms privately.

        Parameters
        ----------
        X : dask.dataframe.DataFrame or dask.array.Array of shape (n_samples, n_features)
            Raw rows, in partitions. They are read twice. Copies of them, and later of the columns
            that they become, are kept where there is room; see `DaskDPLogisticRegression`.
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
        # 1. scikit-learn's contract
        client, table = self._opened(X, y, groups)
        frame, given, pairs, signs = self._read_table(typed_row(X))
        model = self._linear()
        n_outputs = model._n_outputs_of(table)
        self._check_curves(signs, n_outputs > 1)

        # 2. bound the data, where it is
        reads = self._reading()
        set_columns(reads, table)
        reads._kinds = frame.kinds
        reader = _Reader(reads, model._reading(), self.n_jobs)
        with passes(table, reader, client=client, verbose=self.verbose) as sums:
            # 3. plan from public numbers
            n_records, by_group = sums.count_records(groups)
            plan = self._plan_of(given, n_records, by_group)
            stream = plan.start(self.random_state)

            # 4. solve
            frame, sums, given, plan = settle_kinds(
                frame, sums, given, partial(given_to, self), plan=plan, noise=stream
            )
            basis = self._learn_basis(sums, n_records, given, pairs, signs, plan, stream)
            of_model = self._plan_model(model, basis, plan, n_outputs, by_group=by_group)
            reader = replace(reader, estimator=model._reading())
            sums.read_by(reader)
            sums.map_table(basis)
            found = model._solved(sums, reader, of_model, n_outputs, stream)

        # 5. publish
        told, model = model._units(found.told, table), model.to_local()
        facts = {"not_covered": (*plan.budget.not_covered, NOT_COVERED)}
        of_fit = model, basis, frame, signs, plan, stream
        return self._publish(found, told, *of_fit, (PARTITIONS,), **facts)

    def _linear(self):
        local = super()._linear()
        (made,) = (cls for cls in _LINEAR if cls._local is type(local))
        settings, names = local.get_params().items(), made._parameter_constraints
        return made(**{n: value for n, value in settings if n in names or value is not None})


@twin_of(DPAdditiveClassifier)
class DaskDPAdditiveClassifier(DaskClassifierMixin, DaskAdditive, DPAdditiveClassifier):
    """Additive logistic regression of a raw table, on Dask collections.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skdp.dask import DaskDPAdditiveClassifier
    >>> rng = np.random.default_rng(0)
    >>> table = pd.DataFrame({"age": rng.integers(18, 90, 5000)})
    >>> table["smokes"] = rng.choice(["yes", "no"], 5000)
    >>> table["ill"] = rng.random(5000) < 0.1 + 0.3 * (table.age > 60)
    >>> rows = dd.from_pandas(table, npartitions=4)
    >>> model = DaskDPAdditiveClassifier(classes=[False, True], compute_chunk_sizes=True)
    >>> model.fit(rows[["age", "smokes"]], rows["ill"]).privacy_report_
    (1, 1e-05)-DP
    """


@twin_of(DPAdditiveRegressor)
class DaskDPAdditiveRegressor(DaskAdditive, DPAdditiveRegressor):
    """Additive regression of a raw table, on Dask collections.

    Examples
    --------
    >>> import dask.array as da
    >>> from skdp.dask import DaskDPAdditiveRegressor
    >>> X = da.random.default_rng(0).uniform(0, 10, (10_000, 2), chunks=(2_500, 2))
    >>> DaskDPAdditiveRegressor().fit(X, 100 + 20 * da.sin(X[:, 0])).privacy_report_
    (1, 1e-05)-DP
    """
