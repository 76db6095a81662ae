"""What a function of rows makes of the partitions of a collection, lazily."""

import dask
import dask.array
import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from skdp.dask._table import NO_COLLECTION, is_table
from skdp.preprocessing import BoundsScaler, NormClipper

# They learn nothing, and are fitted to know the number of columns.
_LEARN_NOTHING = (BoundsScaler, NormClipper)


def map_rows(function, X, n_features):
    """Return what a function of rows makes of each partition, as a lazy array.

    Parameters
    ----------
    function : callable
        From rows of shape (m, n_features) to an array of m rows.
    X : dask.array.Array or dask.dataframe.DataFrame
    n_features : int
    """
    names = getattr(X, "columns", None)
    if names is None:
        if len(X.chunks[1]) > 1:
            X = X.rechunk({1: -1})
        made = np.asarray(function(_one_row(X, n_features)))
        shape = {"drop_axis": 1} if made.ndim == 1 else {"chunks": (X.chunks[0], made.shape[1:])}
        return X.map_blocks(function, dtype=made.dtype, meta=made[:0], **shape)
    made = np.asarray(function(_one_row(X, n_features)))
    arrays = [
        dask.array.from_delayed(
            dask.delayed(function)(part), (np.nan, *made.shape[1:]), dtype=made.dtype
        )
        for part in X.to_delayed()
    ]
    return dask.array.concatenate(arrays, allow_unknown_chunksizes=True)


def _one_row(X, n_features):
    """Return a row of nothing in particular, with the names of the columns."""
    row = np.zeros((1, n_features))
    names = getattr(X, "columns", None)
    return row if names is None else pd.DataFrame(row, columns=names)


def transform(transformer, X):
    """Transform the partitions of a collection, lazily.

    Parameters
    ----------
    transformer : transformer
        One that takes rows by themselves: of :mod:`skdp.preprocessing`, or a pipeline of such. It
        is fitted before, on rows in memory, unless it learns nothing (``BoundsScaler``,
        ``NormClipper``).
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
        If X doesn't fit the transformer.

    Examples
    --------
    >>> import dask.array as da
    >>> from skdp.dask import transform
    >>> from skdp.preprocessing import BoundsScaler
    >>> X = da.ones((1_000, 2), chunks=(250, 2))
    >>> transform(BoundsScaler(feature_bounds=(0, 10)), X).compute().min()
    np.float64(-0.8)
    """
    if not is_table(X):
        raise TypeError(NO_COLLECTION.format("X"))
    if isinstance(transformer, _LEARN_NOTHING):
        transformer = clone(transformer).fit(_one_row(X, X.shape[1]))
    check_is_fitted(transformer)
    return map_rows(transformer.transform, X, X.shape[1])
