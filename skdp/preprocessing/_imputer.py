"""Filling gaps privately."""

import math
from numbers import Integral, Real

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skdp._checks import check_feature_bounds, check_real
from skdp._estimator import BUDGET_CONSTRAINTS
from skdp._rows.categories import check_categories, in_categories, read_categories
from skdp._rows.gaps import find_gaps, is_gap
from skdp._rows.naming import as_array
from skdp._rows.numbers import are_numbers, validate_numbers
from skdp._sklearn import StrOptions, _fit_context, read_feature_names
from skdp.preprocessing._base import PrivateTransformer
from skdp.preprocessing._bounded import type_that_holds
from skdp.preprocessing._plan import plan_imputer
from skdp.preprocessing._solver import keep_largest, release_counts, release_means, release_medians

# The default fills: for columns whose listed categories are strings, and for all others.
_WORD, _NUMBER = "missing_value", 0.0


def default_fills(fill_value, categories):
    """Return what fills each column where nothing is found, which follows from parameters alone."""
    if fill_value is None:
        return [
            _WORD if listed is not None and isinstance(listed[0], str) else _NUMBER
            for listed in categories
        ]
    if isinstance(fill_value, str):
        return [str(fill_value)] * len(categories)
    # NaN may be wanted where it isn't what stands for a gap.
    fill = np.nan if fill_value != fill_value else check_real(fill_value, "fill_value")
    return [fill] * len(categories)


# Strategies that are of numbers alone, and what finds their fills.
_OF_NUMBERS = {"mean": release_means, "median": release_medians}


def find_most_frequent(plan, columns, categories, fallbacks, run):
    """Return the most frequent category of each column, where one is found."""
    present = [{v: count for v, count in counts.items() if v == v} for counts in columns]
    counted = release_counts(present, categories, plan=plan, run=run)
    largest = [keep_largest(names, counts, 1)[0] for names, counts in counted]
    return [
        names[0] if names else fallback for names, fallback in zip(largest, fallbacks, strict=True)
    ]


class DPSimpleImputer(PrivateTransformer):
    r"""Fill missing values with a private mean, median or most frequent value of their column.

    The counterpart of scikit-learn's SimpleImputer for private records. The number and the places
    of missing values are protected like the values. Of n rows and the entries u of a column, mapped
    from its range to [-1, 1], the mean is about

    .. math:: \frac{\sum u + z}{n - (\text{number of gaps} + z')}, \qquad
              z, z' \sim N(0, \sigma^2) ,

    mapped back to the range.

    **Guarantee.** The fitted attributes are (`epsilon`, `delta`)-differentially private for one row
    under `adjacency`, for any data, whatever the other parameters. ``privacy_report_`` lists what
    is assumed public and what is not covered. The output of `transform` for private rows is as
    private as these rows: pass it to a private estimator, whose guarantee composes with this one.

    Parameters
    ----------
    missing_values : int, float, str, np.nan or None, default=np.nan
        The value that marks a missing entry. NaN and None both mean all of NaN, None and pandas'
        NA.
    strategy : {"mean", "median", "most_frequent", "constant"}, default="mean"
        How the missing entries of a column are filled. "mean" and "median" are for numbers, the
        other two for numbers or strings. "constant" learns nothing and costs nothing, and its
        report is None.
    fill_value : str or number, default=None
        Fill value of "constant", and of "most_frequent" where no category is common enough to be
        released. None is "missing_value" where `categories` lists strings, and 0 elsewhere,
        whatever the records hold: give a word for columns of words.
    add_indicator : bool or array-like of int or str, default=False
        Whether to append columns that are 1 where a value was missing: for all features (True), or
        for features with these numbers or names. Which features have missing values is data, so
        they are never chosen by that.
    categories : "auto" or list of array-like, default="auto"
        For "most_frequent": for each feature, its possible values; others are not counted. "auto",
        for all or in place of one list, counts the values that occur, and considers those so common
        that no single record is revealed; see :class:`DPOneHotEncoder`. Listed values need less
        noise. The mark of a missing entry can't be listed.
    epsilon : float, default=1.0
        Privacy loss, above 0. ``float("inf")`` runs the same code without noise or bounds.
    delta : float or "auto", default="auto"
        Probability, in (0, 1), that the loss may exceed `epsilon`. "auto" is 1e-5, or ``0.1 / n``
        where that is less; n is the number of records, or of people where groups are given.
    adjacency : {"zero_out", "replace_one"}, default="zero_out"
        Which data sets are neighbouring. One record is replaced by a null record that contributes
        nothing ("zero_out"), or by any other record ("replace_one"). The second needs about twice
        the noise.
    feature_bounds : pair (low, high), default=(-1.0, 1.0)
        For "mean" and "median": public range of the features, two numbers for all features or two
        array-likes of shape (n_features,). Values beyond it are clipped, also by `transform`.
        Choose them by the meaning of the features, never from the data. The median loses little
        with bounds that are ten times too wide.
    ledger : str, path or PrivacyLedger, default=None
        Budget of the study, to which a fit is charged before its noise is drawn; see
        :class:`skdp.ledger.PrivacyLedger`. None uses the ledger that the environment variable
        ``SKDP_LEDGER`` names; without it nothing is recorded.
    random_state : int, RandomState instance or None, default=None
        None draws all randomness from the operating system. A seed makes the fit reproducible, also
        for anyone who learns it and subtracts the noise. Fits with an equal seed share their noise
        (so do the folds of a cross-validation, which clones the seed), and their guarantees don't
        compose. The report says that there was a seed.

    Attributes
    ----------
    statistics_ : ndarray of shape (n_features,)
        Fill value of each feature: float64 if all are numbers, otherwise objects.
    indicator_features_ : ndarray of shape (n_indicators,)
        Numbers of the features that have a column of indicators.
    feature_bounds_ : tuple of two ndarrays of shape (n_outputs,)
        Range of each column of the output, for any rows, up to rounding; infinite where nothing is
        clipped: for "most_frequent" and "constant", and for ``epsilon=inf``.
    norm_bound_ : float
        L2 norm that no row of the output exceeds, up to rounding; infinite where a range is.
    privacy_report_ : skdp.accountant.PrivacyReport
        The guarantee of this fit.
    delta_ : float
        The delta of that guarantee; see `delta`.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X had string column names.

    See Also
    --------
    DPOneHotEncoder : Columns for categories, found privately, that of missing values among them.
    BoundsScaler : Map features from public ranges to a common one.

    Notes
    -----
    All columns are released at once, in full batches of Gaussian noise. The mean is the noisy sum
    of the distances from the middle of the range, divided by a noisy number of entries. The median
    is found by halving the range twelve times, each time by a noisy balance of the entries above
    and below, so a range ten times too wide costs three halvings. Both move to the middle of the
    range where entries are few or the noise is large. A column without entries is kept.

    Each entry is read by itself. For "mean" and "median" the text of a number is that number, a
    mark such as "?" is a gap, and other text is refused. For "most_frequent" and "constant" numbers
    of all types are floats, False and True are 0 and 1, and dates are strings such as "2024-01-31".

    With ``epsilon=inf`` fill values are those of scikit-learn, and bounds don't clip.

    References
    ----------
    .. [1] Dong, Roth and Su (2022). Gaussian differential privacy. Journal of the Royal Statistical
       Society B. Corollary 3.3, on composition.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.preprocessing import DPSimpleImputer
    >>> rng = np.random.default_rng(0)
    >>> ages = rng.uniform(20, 60, (5000, 1))
    >>> ages[rng.random(5000) < 0.2] = np.nan
    >>> imputer = DPSimpleImputer(strategy="median", feature_bounds=(0, 1000), random_state=0)
    >>> bool(abs(imputer.fit(ages).statistics_[0] - 40) < 2)
    True
    >>> imputer.privacy_report_.epsilon
    1.0
    """

    _parameter_constraints = {  # noqa: RUF012
        "missing_values": [Real, Integral, str, None],
        "strategy": [StrOptions({"mean", "median", "most_frequent", "constant"})],
        "fill_value": [Real, str, None],
        "add_indicator": ["boolean", "array-like"],
        "categories": [StrOptions({"auto"}), list, tuple],
        **BUDGET_CONSTRAINTS,
        "feature_bounds": ["array-like"],
    }

    def __init__(
        self,
        *,
        missing_values=np.nan,
        strategy="mean",
        fill_value=None,
        add_indicator=False,
        categories="auto",
        epsilon=1.0,
        delta="auto",
        adjacency="zero_out",
        feature_bounds=(-1.0, 1.0),
        ledger=None,
        random_state=None,
    ):
        self.missing_values = missing_values
        self.strategy = strategy
        self.fill_value = fill_value
        self.add_indicator = add_indicator
        self.categories = categories
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.feature_bounds = feature_bounds
        self.ledger = ledger
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None, groups=None):
        """Learn the fill values privately.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, of numbers for "mean" and "median".
        y : None
            Ignored.
        groups : array-like of shape (n_samples,), default=None
            The person, household, ... of each row, as hashable ids. The guarantee is then for one
            group, with all its rows. One row of each group counts, drawn at random. The number of
            groups is public. A Series must have the index of X. With None each row is a record.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        BudgetExceededError
            If there is a ledger, and too little is left in it.
        ValueError
            If a parameter or the input is invalid; no message quotes an entry of the data.
        TypeError
            If X is sparse, or holds entries of a type that can't be read.
        """
        self._strategy, self._missing_values = self.strategy, self.missing_values
        X, gaps, columns = self._read(X, reset=True)
        n_features = self.n_features_in_
        self.indicator_features_ = self._indicated()
        categories = self._listed(n_features)
        fills = default_fills(self.fill_value, categories)

        low, high = check_feature_bounds(self.feature_bounds, n_features)

        plan, run, rows = self._start(gaps, groups)

        if self.strategy in _OF_NUMBERS:
            records = np.where(gaps[rows], np.nan, X[rows])
            find = _OF_NUMBERS[self.strategy]
            fills = find(records, low=low, high=high, plan=plan, run=run).tolist()
        if self.strategy == "most_frequent":
            counts = [column.count(rows) for column in columns or in_categories(X, gaps)]
            fills = find_most_frequent(plan, counts, categories, fills, run)
        # Its type follows from what is released, and not from that of X, which one gap may change.
        self.statistics_ = as_array(fills)

        self.privacy_report_ = self._report(plan, run)
        if self.strategy not in _OF_NUMBERS or not plan.budget.is_private:
            low, high = np.full_like(low, -np.inf), np.full_like(high, np.inf)
        zeros = np.zeros(self.indicator_features_.size)
        self.feature_bounds_ = np.append(low, zeros), np.append(high, zeros + 1.0)
        self.norm_bound_ = math.hypot(*np.maximum(*np.abs(self.feature_bounds_)).tolist())
        return self

    def transform(self, X):
        """Fill missing values, and clip to `feature_bounds` for "mean" and "median".

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        X_filled : ndarray of shape (n_samples, n_features + n_indicators)
            A new array: of numbers where X is of a numeric type, in all columns, and all fill
            values are numbers. Otherwise of objects, also where all of these are numbers: "mean"
            and "median" apart, the type doesn't follow what lists and columns of objects hold.
            Numbers are float64, or float32 if X is and can hold the fill values and ranges.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X has another number of features than in `fit`, or can't be read; no message quotes
            an entry.
        TypeError
            As in `fit`.
        """
        check_is_fitted(self)
        X, gaps, columns = self._read(X, reset=False)
        fills = self.statistics_
        if columns or fills.dtype == object:
            read = zip(columns or in_categories(X, gaps), fills.tolist(), strict=True)
            filled = np.column_stack([column.filled(fill) for column, fill in read])
        else:
            low, high = (bound[: X.shape[1]] for bound in self.feature_bounds_)
            filled = np.clip(np.where(gaps, fills, X), low, high)
            filled = filled.astype(type_that_holds(X.dtype, fills, low, high), copy=False)
        indicators = gaps[:, self.indicator_features_].astype(np.float64)
        return np.hstack([filled, indicators.astype(filled.dtype)])

    def get_feature_names_out(self, input_features=None):
        """Return the names of the output's columns.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the features, where `fit` saw none.

        Returns
        -------
        names : ndarray of shape (n_outputs,)
            Those of the features, then those of the indicators, which begin with
            ``missingindicator_``.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If the names are too few or many, or not those of `fit`.
        """
        check_is_fitted(self)
        names = read_feature_names(self, input_features)
        indicators = [f"missingindicator_{name}" for name in names[self.indicator_features_]]
        return np.concatenate([names, np.array(indicators, dtype=object)])

    def _learns(self):
        return self.strategy != "constant"

    def _fills_words(self):
        """Return whether a gap may become a word, also in a column of numbers."""
        n_features = 1 if isinstance(self.categories, str) else len(self.categories)
        listed = [value for column in self._listed(n_features) for value in column or ()]
        may_be_words = self.strategy not in _OF_NUMBERS
        return may_be_words and any(isinstance(one, str) for one in (self.fill_value, *listed))

    def _fills_gaps(self):
        """Return whether what stands for a missing value may become another kind of gap, NaN."""
        n_features = 1 if isinstance(self.categories, str) else len(self.categories)
        listed = [value for column in self._listed(n_features) for value in column or ()]
        is_chosen = self.strategy not in _OF_NUMBERS
        return is_chosen and any(is_gap(one) for one in (self.fill_value or 0.0, *listed))

    def _plan(self, n_records, n_features, *, by_group=False):
        n_discovered = self._listed(n_features).count(None)
        return plan_imputer(
            self._budget(n_records, by_group),
            strategy=self.strategy,
            n_records=n_records,
            n_columns=n_features,
            n_discovered=n_discovered,
        )

    def _read(self, X, *, reset):
        """Return X as floats, where it has gaps, and its columns where it isn't all numbers."""
        missing = self._missing_values
        if self._strategy in _OF_NUMBERS or are_numbers(X):
            finite = "allow-nan" if is_gap(missing) else True
            X = validate_numbers(self, X, reset=reset, ensure_all_finite=finite)
            return X, find_gaps(X, missing), None
        columns = read_categories(self, X, reset=reset, missing_values=missing)
        return None, np.column_stack([column.gaps for column in columns]), columns

    def _indicated(self):
        """Return the numbers of the features that have indicators."""
        numbers = range(self.n_features_in_)
        if isinstance(self.add_indicator, bool | np.bool_):
            return np.array(numbers if self.add_indicator else [], dtype=int)
        names = list(getattr(self, "feature_names_in_", ()))
        given = np.asarray(self.add_indicator).tolist()
        places = [names.index(f) if f in names else f for f in given]
        if not all(type(place) is int and place in numbers for place in places):
            raise ValueError("add_indicator must be True, False, or numbers or names of features.")
        return np.array(places, dtype=int)

    def _listed(self, n_features):
        """Return for each feature the categories that are listed and of use, or None."""
        if self.strategy != "most_frequent":
            return [None] * n_features
        listed = check_categories(self.categories, n_features)
        for categories in listed:
            values = np.array(categories or [], dtype=object)
            if (find_gaps(values) | find_gaps(values, self.missing_values)).any():
                raise ValueError("categories must not list what stands for a missing value.")
        return listed

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = is_gap(self.missing_values)
        tags.input_tags.string = tags.input_tags.categorical = self.strategy not in _OF_NUMBERS
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
