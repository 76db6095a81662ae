"""Private whitening on Dask collections."""

import inspect
import re
from copy import copy
from dataclasses import dataclass, replace

import numpy as np
from dask.base import is_dask_collection
from distributed import Client
from sklearn.base import is_regressor
from sklearn.utils.validation import check_is_fitted

from skdp._docs import shared_docs
from skdp._estimator import is_private
from skdp._sklearn import _fit_context
from skdp._targets import encode_labels
from skdp.dask._clients import resolve_client
from skdp.dask._parts import RowReader
from skdp.dask._passes import NOT_COVERED, PARTITIONS, passes
from skdp.dask._table import map_rows, read_table, set_columns
from skdp.ledger._account import ALREADY_CHARGED
from skdp.linear_model import DPLogisticRegression, DPRidge
from skdp.linear_model.ball._solver import following, learn_ball, learn_targets, outside
from skdp.linear_model.whitened._estimators import NOT_INFERRED, BaseWhitened


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
        return self.estimator._within(targets, told, one_target=False)[0]

    def sums(self, rows, targets, n_threads, codes=None):
        codes = codes if is_private(self.estimator) else None
        of_groups = {"codes": codes, "largest_trace": self.largest_trace}
        return self.estimator._sums(rows, targets, n_threads, **of_groups)


@shared_docs
class DaskWhitened:
    """Fits of private whitening whose sums over rows are made where the rows are."""

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

        {Returns: self}

        {Raises: BudgetExceededError}
        RuntimeError
            If a task fails on the workers; what it says isn't repeated.
        TypeError
            If X, y or groups is no Dask collection.
        ValueError
            If a parameter or the input is invalid, or rows of a group lie in two partitions; no
            message quotes an entry of the data.
        """
        # 1. scikit-learn's contract
        client = resolve_client(self.client)
        how = {"compute_chunk_sizes": self.compute_chunk_sizes, "client": client}
        table = read_table(X, y, groups, **how)
        if self.inference and groups is not None:
            raise ValueError(NOT_INFERRED)
        set_columns(self, table)
        n_outputs = self._n_outputs_of(table)

        # 2. bound the data, where it is
        reader = Reader(self._reading(), self.n_jobs)
        with passes(table, reader, client=client, verbose=self.verbose) as sums:
            # 3. plan from public numbers
            n_records = table.n_rows if groups is None else sums.count_groups()
            by_group = groups is not None
            plan = self._plan(n_records, table.n_features, n_outputs, by_group=by_group)
            stream = plan.start(self.random_state)

            # 4. solve
            told, plan = self._moved_targets(sums, plan, stream)
            plan, ball = self._placed_parts(sums, plan, stream)
            sums.read_by(replace(reader, largest_trace=plan.problem.row_norm**2))
            coefs, steps = self._stepped(sums, plan, n_outputs, stream)

        # 5. publish
        not_covered = *plan.budget.not_covered, NOT_COVERED
        self._set_report(plan, steps, stream, (PARTITIONS,), not_covered=not_covered)
        self._set_ball(ball)
        self._set_moment(plan, steps, ball)
        bias = plan.problem.bias
        unit = self._publish(outside(ball, coefs, bias), bias, table, told)
        self._set_errors(steps.errors, bias, unit)
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
        """Return the parameters that the class in memory has, too.

        Of a subclass those, too, that its own constructor doesn't take: workers are to bound rows
        as the plan says.
        """
        taken = inspect.signature(self._local).parameters
        return {name: getattr(self, name) for name in taken if name not in _WITHOUT}

    def to_local(self):
        """Return the estimator of `skdp.linear_model`, fitted if this one is.

        Returns
        -------
        estimator : DPLogisticRegression, DPRidge or a generalized linear model
            With the same parameters, and the attributes of this one. Of a subclass, it is the one
            in memory of the class in `skdp.dask`.
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
_DEFAULTS = {"client": None, "compute_chunk_sizes": False, "verbose": 0}
# What is asked of weights is asked of rows in memory.
_WITHOUT = {"class_weight"}
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


def twin_of(local):
    """Give a class the parameters, the constructor and the text of another, and those of Dask."""

    def make(cls):
        cls._local, cls.__init__ = local, _constructor(local)
        allowed = {**local._parameter_constraints, **OWN}.items()
        cls._parameter_constraints = {n: v for n, v in allowed if n not in _WITHOUT}
        summary, _, rest = inspect.cleandoc(cls.__doc__).partition("\n")
        text = inspect.cleandoc("\n" + inspect.getdoc(local)).partition("\n")[2]
        text = text.replace("\nledger : ", f"\n{inspect.cleandoc(_PARAMETERS)}\n\nledger : ", 1)
        for name in _WITHOUT:
            text = re.sub(rf"^{name} : .*\n(?:\n|    .*\n)*", "", text, count=1, flags=re.MULTILINE)
        text = text.partition("\nExamples\n")[0]
        cls.__doc__ = f"{summary}\n{text}{rest}\n"
        return cls

    return make


def _constructor(local):
    """Return an `__init__` that takes what another takes, and before the ledger what Dask needs."""
    kept = dict(inspect.signature(local.__init__).parameters)
    taken = [kept[name] for name in kept if name not in _WITHOUT]
    place = taken.index(kept["ledger"])
    kind = inspect.Parameter.KEYWORD_ONLY
    own = (inspect.Parameter(name, kind, default=value) for name, value in _DEFAULTS.items())
    taken[place:place] = own
    signature = inspect.Signature(taken)

    def __init__(self, *args, **parameters):
        given = signature.bind(self, *args, **parameters)
        given.apply_defaults()
        self._keep(given.arguments)

    # scikit-learn reads the names of parameters from it.
    __init__.__signature__ = signature
    return __init__


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

    def _publish(self, coefs, bias, table, bounds):
        bounds = self._checked_bounds() if bounds is None else bounds
        units = self._within(np.zeros((1, 1)), bounds, table.n_targets is None)[1]
        self._set_coefs(coefs, bias, units)
        return units.half_width


@shared_docs
@twin_of(DPLogisticRegression)
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

    def _n_outputs_of(self, table):
        if self.classes is None:
            raise ValueError(_NO_CLASSES)
        # Labels of one record have as many columns as those of all.
        return self._encoded_class()[1].shape[1]

    def _encoded_class(self):
        return encode_labels(np.asarray(self.classes)[:1], self.classes)

    def _publish(self, coefs, bias, table, bounds):
        self._set_coefs(coefs, bias, self._encoded_class()[0])
        return 1.0

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
