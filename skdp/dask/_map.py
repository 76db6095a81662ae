"""What a function of rows makes of the partitions of a collection, lazily."""

import dask
import dask.array
import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from skdp.dask._table import check_rows, parts_of_frame
from skdp.ledger._account import ALREADY_CHARGED
from skdp.preprocessing import BoundsScaler, NormClipper

# They learn nothing, and are fitted to know the number of columns.
_LEARN_NOTHING = (BoundsScaler, NormClipper)
_NOT_FOR_WORKERS = {"random_state": None, "ledger": ALREADY_CHARGED}


def map_rows(function, X):
    """Return what a function of rows makes of each partition, as a lazy array.

    It is called on one row before, so that columns that don't fit are refused at once.
    """
    check_rows(X)
    made = np.asarray(function(_one_row(X)))
    names = getattr(X, "columns", None)
    if names is None:
        if len(X.chunks[1]) > 1:
            X = X.rechunk({1: -1})
        shape = {"drop_axis": 1} if made.ndim == 1 else {"chunks": (X.chunks[0], made.shape[1:])}
        return X.map_blocks(function, dtype=made.dtype, meta=made[:0], **shape)
    like = {"shape": (np.nan, *made.shape[1:]), "dtype": made.dtype}
    parts = map(dask.delayed(function), parts_of_frame(X))
    arrays = [dask.array.from_delayed(part, **like) for part in parts]
    return dask.array.concatenate(arrays, allow_unknown_chunksizes=True)


def without_secrets(value):
    """Return a copy of an estimator, and of those in it, without their seeds and ledgers."""
    if isinstance(value, BaseEstimator):
        # Its own way to be copied would warn of the seed.
        made = object.__new__(type(value))
        for name, part in vars(value).items():
            vars(made)[name] = _NOT_FOR_WORKERS.get(name, without_secrets(part))
        return made
    if type(value) in (list, tuple):
        return type(value)(map(without_secrets, value))
    return value


def _one_row(X):
    """Return a row of nothing in particular, with the names of the columns."""
    row = np.zeros((1, X.shape[1]))
    names = getattr(X, "columns", None)
    return row if names is None else pd.DataFrame(row, columns=names)


def transform(transformer, X):
    """Transform the partitions of a collection, lazily.

    Parameters
    ----------
    transformer : transformer
        One that takes rows by themselves: of :mod:`skdp.preprocessing`, or a pipeline of such. It
        is fitted before, on rows in memory, unless it learns nothing (``BoundsScaler``,
        ``NormClipper``). Private transformers can't be fitted on Dask collections. Workers get a
        copy without its seeds and ledgers.
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
        Rows, in partitions.

    Returns
    -------
    X_transformed : dask.array.Array of shape (n_samples, n_outputs)
        A lazy array, whose partitions have as many rows.

    Raises
    ------
    NotFittedError
        If the transformer learns from data and isn't fitted.
    TypeError
        If X is no Dask collection.
    ValueError
        If X has one axis, or columns that don't fit the transformer.

    Examples
    --------
    >>> import dask.array as da
    >>> from skdp.dask import transform
    >>> from skdp.preprocessing import BoundsScaler
    >>> X = da.ones((1_000, 2), chunks=(250, 2))
    >>> transform(BoundsScaler(feature_bounds=(0, 10)), X).compute().min()
    np.float64(-0.8)
    """
    check_rows(X)
    if isinstance(transformer, _LEARN_NOTHING):
        transformer = clone(transformer).fit(_one_row(X))
    check_is_fitted(transformer)
    return map_rows(without_secrets(transformer).transform, X)
