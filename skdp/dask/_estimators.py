"""Private whitening on Dask collections."""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import is_regressor

from skdp._estimator import is_private
from skdp._families.targets import encode_labels
from skdp._sklearn import _fit_context
from skdp.dask._parts import RowReader
from skdp.dask._passes import NOT_COVERED, PARTITIONS, passes
from skdp.dask._table import set_columns
from skdp.dask._twins import DaskClassifierMixin, DaskTwin, twin_of
from skdp.linear_model import DPLogisticRegression, DPRidge
from skdp.linear_model.ball._solver import following, learn_ball, learn_targets
from skdp.linear_model.whitened._estimators import NOT_INFERRED, BaseWhitened, Solved


@dataclass(frozen=True)
class Reader(RowReader):
    """What workers get to know of an estimator; see `skdp.dask._parts.own_part`."""

    estimator: BaseWhitened
    n_jobs: int | None
    # Of groups, see `GroupSums`.
    largest_trace: float | None = None

    @property
    def name(self):
        return type(self.estimator).__name__

    @property
    def checks_of_targets(self):
        checks = {"accept_sparse": "csr" if self.estimator._takes_sparse() else False}
        if is_regressor(self.estimator):
            checks |= {"multi_output": not self.estimator._learns_sizes, "y_numeric": True}
        return checks

    def certified_rows(self, X):
        return self.estimator._certified_rows(X)

    def bounded_by(self, ball, X, is_null):
        return self.estimator._bounded_by(ball, X, is_null)

    def targets(self, y):
        if self.estimator._learns_sizes:
            return self.estimator._moved(y)
        if is_regressor(self.estimator):
            return self.estimator._in_units(y)[0]
        return encode_labels(y, self.estimator.classes)[1]

    def moved_targets(self, targets, told):
        if self.estimator._learns_sizes:
            return targets / told
        return self.estimator._within(targets, told, one_axis=False)[0]

    def sums(self, rows, targets, n_threads, codes=None):
        codes = codes if is_private(self.estimator) else None
        of_groups = {"codes": codes, "largest_trace": self.largest_trace}
        return self.estimator._sums(rows, targets, n_threads, **of_groups)


class DaskWhitened(DaskTwin):
    """Fits of private whitening whose sums over rows are made where the rows are."""

    _learnt_too = "_std_error_parts", "_estimand"

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, groups=None):
        """Fit the model privately.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
            Training rows, in partitions. They are read twice, and copies are kept for the length of
            the fit: in the memory of workers, or without a client in memory or a temporary file.
            Partitions for which that has no room are read at every pass, too.
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
        if self.inference and groups is not None:
            raise ValueError(NOT_INFERRED)
        set_columns(self, table)
        n_outputs = self._n_outputs_of(table)

        # 2. bound the data, where it is
        reader = Reader(self._reading(), self.n_jobs)
        with passes(table, reader, client=client, verbose=self.verbose) as sums:
            # 3. plan from public numbers
            n_records, by_group = sums.count_records(groups)
            plan = self._plan(n_records, table.n_features, n_outputs, by_group=by_group)
            stream = plan.start(self.random_state)

            # 4. solve
            found = self._solved(sums, reader, plan, n_outputs, stream)

        # 5. publish
        facts = {"not_covered": (*plan.budget.not_covered, NOT_COVERED)}
        return self._publish(found, self._units(found.told, table), stream, (PARTITIONS,), **facts)

    def _solved(self, sums, reader, plan, n_outputs, stream):
        """Return what steps on sums over parts lead to, and what was learnt of rows and targets."""
        told, plan = self._moved_targets(sums, plan, stream)
        plan, ball = self._placed_parts(sums, plan, stream)
        sums.read_by(replace(reader, largest_trace=plan.problem.row_norm**2))
        return Solved(*self._stepped(sums, plan, n_outputs, stream), plan, ball, told)

    def _moved_targets(self, sums, plan, stream):
        """Move targets to bounds that are learnt, and return these, or None, and the plan."""
        if plan.ranges is None:
            return None, plan
        bounds = learn_targets(sums.of_targets(), plan=plan.ranges, stream=stream)
        sums.move_targets(bounds)
        return bounds, plan

    def _placed_parts(self, sums, plan, stream):
        """Put rows in a ball that is learnt; return the plan that follows it, and the ball."""
        if self.ball_budget == 0:
            return plan, None
        if plan.ball is None:
            sums.place(None)
            return plan, None
        ball = learn_ball(sums, plan=plan.ball, stream=stream)
        sums.place(ball)
        bias = ball.radius * plan.problem.bias
        return following(plan, ball, sums.stretch(ball.center / ball.scale, bias), bias), ball


_NO_CLASSES = (
    "declare the class set, classes=[...]: reading it takes a pass, and tells whether a rare class "
    "occurs."
)


@twin_of(DPRidge)
class DaskDPRidge(DaskWhitened, DPRidge):
    """Ridge regression by private whitening, on Dask collections.

    Examples
    --------
    >>> import dask.array as da
    >>> from skdp.dask import DaskDPRidge
    >>> X = da.random.default_rng(0).uniform(-1, 1, (10_000, 3), chunks=(2_500, 3))
    >>> model = DaskDPRidge(epsilon=1.0, data_norm=2.0, target_bounds=(-3, 3))
    >>> model.fit(X, X.sum(axis=1)).privacy_report_
    (1, 1e-05)-DP
    """

    def _n_outputs_of(self, table):
        self._warn_of_targets()
        return table.n_targets or 1

    def _units(self, bounds, table):
        bounds = self._checked_bounds() if bounds is None else bounds
        return self._within(np.zeros((1, 1)), bounds, table.n_targets is None)[1]


@twin_of(DPLogisticRegression)
class DaskDPLogisticRegression(DaskClassifierMixin, DaskWhitened, DPLogisticRegression):
    """Logistic regression by private whitening, on Dask collections.

    Examples
    --------
    >>> import dask.array as da
    >>> from skdp.dask import DaskDPLogisticRegression
    >>> X = da.random.default_rng(0).uniform(-1, 1, (10_000, 3), chunks=(2_500, 3))
    >>> model = DaskDPLogisticRegression(epsilon=1.0, data_norm=2.0, classes=[False, True])
    >>> model.fit(X, X.sum(axis=1) > 0).privacy_report_
    (1, 1e-05)-DP
    """

    def _n_outputs_of(self, table):
        if self.classes is None:
            raise ValueError(_NO_CLASSES)
        # Labels of one record have as many columns as those of all.
        return self._encoded_class()[1].shape[1]

    def _encoded_class(self):
        return encode_labels(np.asarray(self.classes)[:1], self.classes)

    def _units(self, told, table):
        return self._encoded_class()[0]
