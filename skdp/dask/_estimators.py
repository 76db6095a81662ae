"""Private whitening on Dask collections."""

import inspect
import re
from copy import copy
from dataclasses import dataclass

import numpy as np
from dask.base import is_dask_collection
from distributed import Client
from sklearn.base import is_regressor
from sklearn.utils.validation import check_is_fitted

from skdp._docs import shared_docs
from skdp._sklearn import _fit_context
from skdp._targets import encode_labels
from skdp.dask._clients import resolve_client
from skdp.dask._passes import passes
from skdp.dask._table import map_rows, read_table
from skdp.ledger._account import ALREADY_CHARGED
from skdp.linear_model import DPLogisticRegression, DPRidge
from skdp.linear_model.ball._solver import following, learn_ball, learn_targets, outside
from skdp.linear_model.whitened._estimators import BaseWhitened
from skdp.linear_model.whitened._solver import rules_of, solve_whitened
from skdp.linear_model.whitened._summary import INFERRED

_NOT_COVERED = "workers, scheduler and network, which see records and exact sums and are trusted"
_PARTITIONS = "the partitions of the collections, and that how they were cut doesn't follow records"


@dataclass(frozen=True)
class Reader:
    """What workers get to know of an estimator; see `skdp.dask._parts.own_part`."""

    estimator: BaseWhitened
    n_jobs: int | None

    @property
    def name(self):
        return type(self.estimator).__name__

    @property
    def checks_of_targets(self):
        several = not self.estimator._learns_sizes
        is_of_numbers = is_regressor(self.estimator)
        return {"multi_output": several, "y_numeric": True} if is_of_numbers else {}

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
        return self.estimator._within(targets, told, one_target=False)[0]

    def loss(self, n_outputs):
        return self.estimator._loss(n_outputs)


@shared_docs
class DaskWhitened:
    """Fits of private whitening whose sums over rows are made where the rows are."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y):
        """Fit the model privately.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
            Training rows, in partitions. They are read twice, and copies are kept for the length of
            the fit: in the memory of workers, or without a client in memory or a temporary file.
            Partitions for which that has no room are read at every pass, too.
        y : dask.array.Array, dask.dataframe.Series or dask.dataframe.DataFrame
            Labels or targets, in partitions of as many rows as those of X.

        {Returns: self}

        {Raises: BudgetExceededError}
        RuntimeError
            If a task fails on the workers; what it says isn't repeated.
        TypeError
            If X or y is no Dask collection.
        {ValueError}
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
            told, plan = self._moved_targets(sums, plan, stream)
            plan, ball = self._placed_parts(sums, plan, stream)
            rules = rules_of(self._loss(n_outputs), plan)
            coefs, steps = solve_whitened(sums, plan=plan, rules=rules, stream=stream)
        self._check_solved(coefs, plan)

        # 5. publish
        not_covered = *plan.budget.not_covered, _NOT_COVERED
        self._set_report(plan, steps, stream, (_PARTITIONS,), not_covered=not_covered)
        self._set_ball(ball)
        self._set_moment(plan, steps, ball)
        bias = plan.problem.bias
        self._publish(outside(ball, coefs, bias), bias, table, told)
        return self

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

    def _reading(self):
        """Return what workers get to know of this: neither a seed nor a ledger."""
        return self._local(**{**self._shared(), "random_state": None, "ledger": ALREADY_CHARGED})

    def _shared(self):
        """Return the parameters that the class in memory has, too."""
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
        estimator : DPLogisticRegression, DPRidge or a generalized linear model
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

        {Parameters: X:dask}

        Returns
        -------
        y : ndarray or dask.array.Array of shape (n_samples,) or (n_samples, n_outputs)
            Predictions; of a Dask collection a lazy array.

        {Raises: NotFittedError, ValueError:X}
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


OWN = {"client": [Client, None], "compute_chunk_sizes": ["boolean"], "verbose": ["verbose"]}
_NO_CLASSES = (
    "declare the class set, classes=[...]: reading it takes a pass, and tells whether a rare class "
    "occurs."
)
_PARAMETERS = """
    client : distributed.Client, default=None
        Whose workers compute the sums. None takes the current client, and without any reads one
        partition after another in this process. Memory doesn't grow with the rows: copies of many
        are in a temporary file.

    compute_chunk_sizes : bool, default=False
        Whether to count the rows of partitions whose number isn't known, such as a data frame's.

    verbose : int, default=0
        Above 0, a bar counts passes over the rows, by tqdm.
"""


def told_as(local):
    """Give a class the text of another, with what this one has of its parameters and attributes."""

    def tell(cls):
        summary, _, rest = inspect.cleandoc(cls.__doc__).partition("\n")
        text = inspect.cleandoc("\n" + inspect.getdoc(local)).partition("\n")[2]
        text = text.replace("\nledger : ", f"\n{inspect.cleandoc(_PARAMETERS)}\n\nledger : ", 1)
        of_local, own = (set(inspect.signature(kind).parameters) for kind in (local, cls))
        for name in [*(of_local - own), *INFERRED]:
            text = re.sub(rf"^{name} : .*\n(?:\n|    .*\n)*", "", text, count=1, flags=re.MULTILINE)
        text = text.partition("\nExamples\n")[0]
        cls.__doc__ = f"{summary}\n{text}{rest}\n"
        return cls

    return tell


@told_as(DPRidge)
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

    _local = DPRidge
    _parameter_constraints = {**DPRidge._parameter_constraints, **OWN}  # noqa: RUF012

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
            average=average,
            n_jobs=n_jobs,
            ledger=ledger,
            random_state=random_state,
        )
        self.client = client
        self.compute_chunk_sizes = compute_chunk_sizes
        self.verbose = verbose

    def _n_outputs_of(self, table):
        self._warn_of_targets()
        return table.n_targets or 1

    def _publish(self, coefs, bias, table, bounds):
        bounds = self._checked_bounds() if bounds is None else bounds
        units = self._within(np.zeros((1, 1)), bounds, table.n_targets is None)[1]
        self._set_coefs(coefs, bias, units)


@shared_docs
@told_as(DPLogisticRegression)
class DaskDPLogisticRegression(DaskWhitened, DPLogisticRegression):
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

    _local = DPLogisticRegression
    _parameter_constraints = {**DPLogisticRegression._parameter_constraints, **OWN}  # noqa: RUF012

    def __init__(
        self,
        alpha=1e-4,
        *,
        fit_intercept=True,
        classes=None,
        epsilon=1.0,
        delta="auto",
        adjacency="zero_out",
        moment_budget="auto",
        public_moment=None,
        data_norm=None,
        ball_budget="auto",
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
            classes=classes,
            epsilon=epsilon,
            delta=delta,
            adjacency=adjacency,
            moment_budget=moment_budget,
            public_moment=public_moment,
            data_norm=data_norm,
            ball_budget=ball_budget,
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
        if self.classes is None:
            raise ValueError(_NO_CLASSES)
        # Labels of one record have as many columns as those of all.
        return self._encoded_class()[1].shape[1]

    def _encoded_class(self):
        return encode_labels(np.asarray(self.classes)[:1], self.classes)

    def _publish(self, coefs, bias, table, bounds):
        self._set_coefs(coefs, bias, self._encoded_class()[0])

    def decision_function(self, X):
        """Compute decision values of rows in memory or in partitions. Rows are not clipped.

        {Parameters: X:dask}

        Returns
        -------
        scores : ndarray or dask.array.Array of shape (n_samples,) or (n_samples, n_classes)
            As in the estimator of `skdp.linear_model`; of a Dask collection a lazy array.

        {Raises: NotFittedError, ValueError:X}
        """
        return self._mapped("decision_function", X)

    def predict_proba(self, X):
        """Estimate class probabilities of rows in memory or in partitions.

        {Parameters: X:dask}

        Returns
        -------
        probabilities : ndarray or dask.array.Array of shape (n_samples, n_classes)
            One column a class, in the order of ``classes_``.

        {Raises: NotFittedError, ValueError:X}
        """
        return self._mapped("predict_proba", X)
