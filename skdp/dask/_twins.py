"""Estimators on Dask collections whose parameters are those of estimators in memory."""

import inspect
import re
from copy import copy

from dask.base import is_dask_collection
from distributed import Client
from sklearn.utils.validation import check_is_fitted

from skdp.dask._clients import resolve_client
from skdp.dask._table import map_rows, read_table
from skdp.ledger._account import ALREADY_CHARGED


class DaskTwin:
    """What estimators on collections share; `twin_of` gives them a class in memory."""

    # Attributes of a fit that aren't public.
    _learnt_too = ()

    def _opened(self, X, y, groups):
        """Return the client of a fit, and the table of its collections."""
        client = resolve_client(self.client)
        how = {"compute_chunk_sizes": self.compute_chunk_sizes, "client": client}
        return client, read_table(X, y, groups, **how)

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
        found = {n: v for n, v in vars(self).items() if n.endswith("_") and n[0] != "_"}
        vars(local).update(found | {n: vars(self)[n] for n in self._learnt_too if n in vars(self)})
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


class DaskClassifierMixin:
    """What classifiers on collections predict, too."""

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


OWN = {"client": [Client, None], "compute_chunk_sizes": ["boolean"], "verbose": ["verbose"]}
_DEFAULTS = {"client": None, "compute_chunk_sizes": False, "verbose": 0}
# What is asked of weights is asked of rows in memory.
_WITHOUT = {"class_weight"}
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
    taken_names = [parameter.name for parameter in taken if parameter.name != "self"]

    def __init__(self, *args, **parameters):
        given = signature.bind(self, *args, **parameters)
        given.apply_defaults()
        for name in taken_names:
            setattr(self, name, given.arguments[name])

    # scikit-learn reads the names of parameters from it.
    __init__.__signature__ = signature
    return __init__
