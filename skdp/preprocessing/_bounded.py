"""Transformers that learn nothing from the data."""

import math
from numbers import Real
from typing import NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted

from skdp._checks import check_bounds, check_feature_bounds, check_positive
from skdp._rows.bounds import row_norms
from skdp._rows.fused import sums_compiled
from skdp._rows.numbers import validate_numbers
from skdp._rows.sparse import scaled_rows
from skdp._sklearn import Interval, _fit_context

# Rounding may make this of 0, in units of the largest value.
_ROUNDING = 2.0**-50
# Numbers that are mapped at a time.
_ENTRIES = 2**16
# Squares of rows times this don't overflow.
_FAR = 2.0**-600
_ZERO_MOVES = (
    "Sparse X stays sparse only where 0 is mapped to 0: for counts and one-hot columns choose "
    "feature_bounds=(0, high) with feature_range=(0, 1), else bounds and a range that are "
    "symmetric around 0; or pass X.toarray()."
)


def same_bounds(low, high, n_features):
    """Return what `feature_bounds_` is where all columns have one range."""
    return np.full(n_features, low), np.full(n_features, high)


def type_that_holds(dtype, *numbers):
    """Return a type of floats, or float64 where it is too small for finite public numbers."""
    sizes = np.abs(np.concatenate([np.ravel(some) for some in numbers]))
    largest = sizes[np.isfinite(sizes)].max(initial=0.0)
    return dtype if largest <= np.finfo(dtype).max else np.dtype(np.float64)


# The number of rows may be private, and compiled lengths have other last bits.
@sums_compiled(False)
def shorten_rows(X, bound):
    """Return new rows that aren't longer than a bound, up to rounding; shorter ones stay."""
    norms = row_norms(X)
    scale = bound / np.maximum(norms, bound)
    far = np.isinf(norms)
    if far.any():
        X = _times(X, np.where(far, _FAR, 1.0))
        scale[far] = bound / row_norms(X)[far]
    return _times(X, scale)


def _times(X, factors):
    """Return new rows times a factor each, of the type of X."""
    if issparse(X):
        return scaled_rows(X, factors)
    # In float32 a small scale may have no digits left.
    with np.errstate(under="ignore"):
        return np.multiply(
            X, factors[:, np.newaxis], out=np.empty_like(X), dtype=np.float64, casting="same_kind"
        )


class _Map(NamedTuple):
    """The map of public ranges, of shape (n_features,), to a common one."""

    low: np.ndarray
    high: np.ndarray
    start: float
    stop: float

    def __call__(self, values, features=slice(None)):
        """Return mapped values of features, of all or of some."""
        low, high = self.low[features], self.high[features]
        share = (np.clip(values, low, high) - low) / (high - low)
        return np.clip(self.start + (self.stop - self.start) * share, self.start, self.stop)

    @property
    def keeps_zero(self):
        """Whether 0 stays 0."""
        largest = max(abs(self.start), abs(self.stop))
        return bool((np.abs(self(0.0)) <= _ROUNDING * largest).all())


def _check_zero(mapped):
    if not mapped.keeps_zero:
        raise TypeError(_ZERO_MOVES)


class NormClipper(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Scale down rows that are longer than a public bound.

    A row x becomes ``x * min(1, data_norm / ||x||)``; shorter rows stay unchanged. Each row is
    transformed on its own and nothing is learned, so this costs no privacy. A private estimator
    clips rows in `fit` only. With this step before it, and the same `data_norm`, training and
    prediction use the same rows.

    Parameters
    ----------
    data_norm : float, default=1.0
        Public bound on the L2 norm of a row.

    Attributes
    ----------
    norm_bound_ : float
        L2 norm that no row of the output exceeds (up to rounding): `data_norm`.
    feature_bounds_ : tuple of two ndarrays of shape (n_features,)
        Range of each column of the output (up to rounding): `data_norm` to both sides of 0.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X had string column names.

    See Also
    --------
    BoundsScaler : Map features from public ranges to a common one.

    Examples
    --------
    >>> from skdp.preprocessing import NormClipper
    >>> NormClipper(data_norm=1.0).fit_transform([[3.0, 4.0], [0.3, 0.4]])
    array([[0.6, 0.8],
           [0.3, 0.4]])
    """

    # It learns nothing, and so has nothing to show.
    verbose = 0
    _parameter_constraints = {  # noqa: RUF012
        "data_norm": [Interval(Real, 1e-30, 1e30, closed="both")]
    }

    def __init__(self, data_norm=1.0):
        self.data_norm = data_norm

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None):
        """Check the input; nothing is learned from it.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Rows.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If `data_norm` is out of range, or X isn't a finite array of numbers.
        """
        X = validate_numbers(self, X)
        self.norm_bound_ = float(self.data_norm)
        self.feature_bounds_ = same_bounds(-self.norm_bound_, self.norm_bound_, X.shape[1])
        return self

    def transform(self, X):
        """Scale down the rows that are too long.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        X_clipped : ndarray or CSR of shape (n_samples, n_features)
            A new array, float32 if X is, and sparse if X is.

        Raises
        ------
        ValueError
            If X has another number of features than in `fit`, or isn't a finite array of numbers.
        """
        X = validate_numbers(self, X, reset=False)
        # Nothing is learnt, so that it works unfitted; what was promised in a fit stays.
        data_norm = vars(self).get("norm_bound_", self.data_norm)
        return shorten_rows(X, check_positive(data_norm, "data_norm"))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class BoundsScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Map features from public ranges to a common range; values outside are clipped.

    The counterpart of scikit-learn's MinMaxScaler. It takes the ranges from you and not from the
    data, whose extremes are values of single records. Nothing is learned, so this costs no privacy.
    Sparse X is accepted where 0 is mapped to 0, and stays sparse.

    Parameters
    ----------
    feature_bounds : pair (low, high), default=(-1.0, 1.0)
        Public range of the features: two numbers for all features, or two array-likes of shape
        (n_features,). Choose them by the meaning of the features, never from the data.
    feature_range : pair of floats (low, high), default=(-1.0, 1.0)
        Range of the output.

    Attributes
    ----------
    norm_bound_ : float
        L2 norm that no row of the output exceeds (up to rounding): ``sqrt(n_features)`` times the
        larger absolute end of `feature_range`. Few rows are that long: ``sqrt(0.2 * n_features)``
        suits as `data_norm` of an estimator, with a :class:`NormClipper` of the same bound in
        between.
    feature_bounds_ : tuple of two ndarrays of shape (n_features,)
        Range of each column of the output (up to rounding): `feature_range`.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X had string column names.

    See Also
    --------
    NormClipper : Scale down rows that are longer than a public bound.

    Examples
    --------
    Ages in years and temperatures in degrees Celsius:

    >>> from skdp.preprocessing import BoundsScaler
    >>> scaler = BoundsScaler(feature_bounds=([0, 35], [100, 42]))
    >>> scaler.fit_transform([[25.0, 38.5], [120.0, 42.0]])
    array([[-0.5,  0. ],
           [ 1. ,  1. ]])
    """

    # It learns nothing, and so has nothing to show.
    verbose = 0
    _parameter_constraints = {  # noqa: RUF012
        "feature_bounds": ["array-like"],
        "feature_range": ["array-like"],
    }

    def __init__(self, feature_bounds=(-1.0, 1.0), *, feature_range=(-1.0, 1.0)):
        self.feature_bounds = feature_bounds
        self.feature_range = feature_range

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None):
        """Check the input against the bounds' shapes; nothing is learned from it.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Rows.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If bounds are not finite, not increasing, or don't fit the number of features.
        TypeError
            If X is sparse, and 0 isn't mapped to 0.
        """
        if issparse(X):
            _check_zero(self._map_of(X.shape[1]))
        X = validate_numbers(self, X, accept_sparse="csr")
        self._map = self._map_of(X.shape[1])
        ends = self._map.start, self._map.stop
        self.norm_bound_ = math.sqrt(X.shape[1]) * float(np.abs(ends).max())
        self.feature_bounds_ = same_bounds(*ends, X.shape[1])
        return self

    def _map_of(self, n_features):
        """Return the map that the parameters ask for."""
        low, high = check_feature_bounds(self.feature_bounds, n_features)
        return _Map(low, high, *check_bounds(self.feature_range, "feature_range"))

    def transform(self, X):
        """Clip and scale the features.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        X_scaled : ndarray or CSR of shape (n_samples, n_features)
            A new array, float32 if X is and can hold `feature_range`, and sparse if X is.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X has another number of features than in `fit`, or isn't a finite array of numbers.
        TypeError
            If X is sparse, and 0 isn't mapped to 0.
        """
        check_is_fitted(self)
        if issparse(X):
            _check_zero(self._map)
        X = validate_numbers(self, X, accept_sparse="csr", reset=False)
        dtype = type_that_holds(X.dtype, self._map.start, self._map.stop)
        if issparse(X):
            mapped = self._map(X.data, X.indices)
            # Entries of 0 are as good as none.
            data = np.where(X.data == 0.0, 0.0, mapped).astype(dtype)
            return type(X)((data, X.indices.copy(), X.indptr.copy()), shape=X.shape)
        mapped = np.empty_like(X, dtype=dtype, subok=False)
        # In pieces, as the map makes several arrays of doubles.
        for piece in gen_batches(len(X), max(1, _ENTRIES // X.shape[1])):
            mapped[piece] = self._map(X[piece])
        return mapped

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        try:
            low, high = self.feature_bounds
            wanted = self._map_of(max(np.size(low), np.size(high)))
            tags.input_tags.sparse = wanted.keeps_zero
        except (TypeError, ValueError):
            tags.input_tags.sparse = False
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
