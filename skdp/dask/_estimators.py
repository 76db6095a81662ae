"""Private whitening on Dask collections."""

import inspect
import re

import numpy as np
from distributed import Client

from skdp._estimator import is_private
from skdp.dask._whitened import DaskWhitened
from skdp.exceptions import warn_user
from skdp.linear_model import DPLogisticRegression, DPRidge
from skdp.linear_model._base import (
    NO_TARGET_BOUNDS,
    encode_labels,
)

_CONSTRAINTS = {
    "client": [Client, None],
    "compute_chunk_sizes": ["boolean"],
    "verbose": ["verbose"],
}
_CLASSES = (
    "declare the class set, classes=[...]: to read it from y would take a pass of its own, and "
    "tell whether a rare class occurs."
)
_PARAMETERS = """
    client : distributed.Client, default=None
        Whose workers compute the sums. None takes the current client, and without any reads one
        partition after another in this process, so that memory doesn't grow with the rows.

    compute_chunk_sizes : bool, default=False
        Whether to count the rows of partitions whose number isn't known, such as a data frame's.

    verbose : int, default=0
        Above 0, a bar counts passes over the rows, by tqdm.
"""


# Attributes of a parameter that isn't here.
_OF_INFERENCE = (
    "coef_std_error_",
    "intercept_std_error_",
    "inference_quality_",
    "inference_reasons_",
)


def _told_as(local):
    """Give a class the text of another, with what this one has of its parameters and attributes."""

    def tell(cls):
        summary, _, rest = inspect.cleandoc(cls.__doc__).partition("\n")
        text = inspect.cleandoc("\n" + inspect.getdoc(local)).partition("\n")[2]
        text = text.replace("\nledger : ", f"\n{inspect.cleandoc(_PARAMETERS)}\n\nledger : ", 1)
        of_local, own = (set(inspect.signature(kind).parameters) for kind in (local, cls))
        for name in [*(of_local - own), *_OF_INFERENCE]:
            text = re.sub(rf"^{name} : .*\n(?:\n|    .*\n)*", "", text, count=1, flags=re.MULTILINE)
        text = text.partition("\nExamples\n")[0]
        cls.__doc__ = f"{summary}\n{text}{rest}\n"
        return cls

    return tell


@_told_as(DPRidge)
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
    _parameter_constraints = {**DPRidge._parameter_constraints, **_CONSTRAINTS}  # noqa: RUF012

    def __init__(
        self,
        alpha=1e-4,
        *,
        fit_intercept=True,
        epsilon=1.0,
        delta=1e-5,
        adjacency="zero_out",
        moment_budget="auto",
        data_norm=1.0,
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
            data_norm=data_norm,
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
        if self.target_bounds is None and is_private(self):
            warn_user(NO_TARGET_BOUNDS)
        return table.n_targets or 1

    def _publish(self, weights, bias, table):
        of_nothing = np.zeros(1) if table.n_targets is None else np.zeros((1, 1))
        self._set_weights(weights, bias, self._in_units(of_nothing)[1])


@_told_as(DPLogisticRegression)
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
    _parameter_constraints = {  # noqa: RUF012
        **DPLogisticRegression._parameter_constraints,
        **_CONSTRAINTS,
    }

    def __init__(
        self,
        alpha=1e-4,
        *,
        fit_intercept=True,
        classes=None,
        epsilon=1.0,
        delta=1e-5,
        adjacency="zero_out",
        moment_budget="auto",
        data_norm=1.0,
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
            data_norm=data_norm,
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
            raise ValueError(_CLASSES)
        # Labels of one record have as many columns as those of all.
        return self._encoded_class()[1].shape[1]

    def _encoded_class(self):
        return encode_labels(np.asarray(self.classes)[:1], self.classes)

    def _publish(self, weights, bias, table):
        self._set_weights(weights, bias, self._encoded_class()[0])

    def _set_report(self, steps, report):
        super()._set_report(steps, report)
        self.momentum_ = steps.momentum

    def decision_function(self, X):
        """Compute decision values of rows in memory or in partitions. Rows are not clipped.

        Parameters
        ----------
        X : array-like or Dask collection of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        scores : ndarray or dask.array.Array of shape (n_samples,) or (n_samples, n_classes)
            As in the estimator of `skdp.linear_model`; of a Dask collection a lazy array.

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
