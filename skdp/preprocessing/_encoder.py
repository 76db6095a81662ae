"""Columns for categories, which are found privately where nobody lists them."""

import math
from numbers import Integral

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from skdp._estimator import BUDGET_CONSTRAINTS
from skdp._rows.categories import Known, check_categories, read_categories
from skdp._rows.frames import open_columns
from skdp._rows.labels import INFREQUENT, label_beside
from skdp._rows.naming import as_array, make_unique, number_in_words
from skdp._sklearn import Interval, RealNotInt, StrOptions, _fit_context, read_feature_names
from skdp.preprocessing._base import PrivateTransformer
from skdp.preprocessing._plan import plan_encoder
from skdp.preprocessing._solver import keep_largest, release_counts


class DPOneHotEncoder(PrivateTransformer):
    r"""Encode categories as columns of 0 and 1; unlisted categories are found privately.

    The counterpart of scikit-learn's OneHotEncoder, which has a column for each category in the
    records, even if only one record has it. Here a category is published if its noisy count
    satisfies

    .. math:: n_v + z_v > \tau, \qquad z_v \sim N(0, \sigma^2) ,

    with a threshold :math:`\tau` that noisy counts of 1 exceed only with a probability taken from
    `delta`. All others share the column "infrequent". Listed categories cost nothing.

    **Guarantee.** The fitted attributes are (`epsilon`, `delta`)-differentially private for one row
    under `adjacency`, for any data, whatever the other parameters. ``privacy_report_`` lists what
    is assumed public and what is not covered. The output of `transform` for private rows is as
    private as these rows: pass it to a private estimator, whose guarantee composes with this one.

    Parameters
    ----------
    categories : "auto" or list of array-like, default="auto"
        For each feature, a list of its categories, numbers, booleans or strings, NaN for missing
        values. An entry "auto", or "auto" for all, finds them privately. With lists for all
        features nothing is learnt: this costs nothing, and the report is None.
    handle_unknown : {"infrequent", "ignore"}, default="infrequent"
        Encoding of a value that is not one of the categories: 1 in a last column of the feature,
        which always exists, or 0 in all columns of the feature.
    min_frequency : int or float, default=None
        Least noisy count of found categories, as a number or a share of `n_samples`, if it is above
        the threshold for privacy.
    max_categories : int, default=None
        Largest number of columns of a feature whose categories are found, including "infrequent".
        The categories with the largest noisy counts are kept.
    sparse_output : bool, default=False
        Whether `transform` returns a ``scipy.sparse.csr_array``.
    epsilon : float, default=1.0
        Privacy loss, above 0. ``float("inf")`` runs the same code without noise or bounds.
    delta : float or "auto", default="auto"
        Probability, in (0, 1), that the loss may exceed `epsilon`. "auto" is 1e-5, or ``0.1 / n``
        where that is less; n is the number of records, or of people where groups are given.
    adjacency : {"zero_out", "replace_one"}, default="zero_out"
        Which data sets are neighbouring. One record is replaced by a null record that contributes
        nothing ("zero_out"), or by any other record ("replace_one"). The second needs about twice
        the noise.
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
    categories_ : list of ndarray
        The categories of each feature, sorted, missing values last; possibly none. Their type
        follows only from the categories: float64 for numbers, booleans included, and object for
        strings.
    category_counts_ : list of ndarray
        How many records have each category, with noise; empty for features whose categories were
        listed.
    feature_bounds_ : tuple of two ndarrays of shape (n_outputs,)
        Range of each column of the output: 0 and 1.
    norm_bound_ : float
        L2 norm that no row of the output exceeds: ``sqrt(n_features)``.
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
    DPSimpleImputer : Fill missing values, which are a category of their own here.

    Notes
    -----
    A record has one category in each of c features. So the standard deviation of the noise on each
    count is ``sqrt(c)`` times that for one feature. The threshold is about six standard deviations,
    which is of the order of ``20 * sqrt(c) / epsilon`` records. The cost is that of a Gaussian
    release and an erasure, which is a release that shows everything with a small probability [1]_;
    doc/theory/categories.rst has the proof.

    Each entry is read by itself, so that no record decides how others are read. Numbers of all
    types are floats, False and True are 0 and 1, spans of time are days, and dates are strings such
    as "2024-01-31". In `transform` the same value in another type has the same category: of a
    number also the text, and of text a number that is written so. Where all categories are numbers,
    a mark for a gap such as "?" is a missing value.

    Categories that a data frame declares aren't read, because they may have been made from the
    records. Unknown values in `transform` are never an error, whatever they are: infinite numbers
    and objects are encoded as other unknown values. In `fit` they are.

    References
    ----------
    .. [1] Korolova, Kenthapadi, Mishra and Ntoulas (2009). Releasing search queries and clicks
       privately. WWW. Section 4, for noise and a threshold of this kind.

    Examples
    --------
    >>> from skdp.preprocessing import DPOneHotEncoder
    >>> jobs = [["clerk"]] * 700 + [["nurse"]] * 500 + [["astronaut"]]
    >>> encoder = DPOneHotEncoder(random_state=0).fit(jobs)
    >>> encoder.get_feature_names_out(["job"])
    array(['job_clerk', 'job_nurse', 'job_infrequent'], dtype=object)
    >>> encoder.transform([["nurse"], ["astronaut"]])
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """

    _parameter_constraints = {  # noqa: RUF012
        "categories": [StrOptions({"auto"}), list, tuple],
        "handle_unknown": [StrOptions({INFREQUENT, "ignore"})],
        "min_frequency": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="neither"),
            None,
        ],
        "max_categories": [Interval(Integral, 1, None, closed="left"), None],
        "sparse_output": ["boolean"],
        **BUDGET_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        categories="auto",
        handle_unknown="infrequent",
        min_frequency=None,
        max_categories=None,
        sparse_output=False,
        epsilon=1.0,
        delta="auto",
        adjacency="zero_out",
        ledger=None,
        random_state=None,
    ):
        self.categories = categories
        self.handle_unknown = handle_unknown
        self.min_frequency = min_frequency
        self.max_categories = max_categories
        self.sparse_output = sparse_output
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.ledger = ledger
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None, groups=None):
        """Find categories privately, where they aren't listed.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of numbers and strings. Each entry is read by itself: True and False are 1 and 0,
            dates are strings such as "2024-01-31", and None is a missing value.
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
        # A record is in one category of each column.
        columns = read_categories(self, X, reset=True)
        n_features = self.n_features_in_
        categories = check_categories(self.categories, n_features)
        n_last = int(self.handle_unknown == INFREQUENT)
        n_kept = None if self.max_categories is None else self.max_categories - n_last

        plan, run, rows = self._start(np.column_stack([c.codes for c in columns]), groups)

        counts = [np.empty(0) for _ in categories]
        searched = [j for j, listed in enumerate(categories) if listed is None]
        if searched:
            of_searched = [columns[j].count(rows) for j in searched]
            counted = release_counts(of_searched, [None] * len(searched), plan=plan, run=run)
            for j, released in zip(searched, counted, strict=True):
                categories[j], counts[j] = keep_largest(*released, n_kept)

        self._n_last = n_last
        self.categories_ = [as_array(listed) for listed in categories]
        self.category_counts_ = counts
        self.privacy_report_ = self._report(plan, run)
        n_outputs = sum(self._widths())
        self.feature_bounds_ = np.zeros(n_outputs), np.ones(n_outputs)
        self.norm_bound_ = math.sqrt(n_features)
        return self

    def transform(self, X):
        """Encode rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        X_encoded : ndarray or csr_array of shape (n_samples, n_outputs)
            Of float64.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X has another number of features than in `fit`, or can't be read; no message quotes
            an entry.
        TypeError
            If X is sparse, or an array of times.
        """
        check_is_fitted(self)
        _, sources = open_columns(self, X, reset=False)
        columns = [source.entries() for source in sources]
        places, first = np.empty((len(columns[0].codes), len(columns)), dtype=np.int64), 0
        for j, (entries, known, width) in enumerate(
            zip(columns, self.categories_, self._widths(), strict=True)
        ):
            unknown = known.size if self._n_last else -1
            within = Known(known.tolist()).places(entries, unknown)
            places[:, j] = np.where(within < 0, -1, first + within)
            first += width
        rows, columns = np.nonzero(places >= 0)
        ones = np.ones(rows.size), (rows, places[rows, columns])
        encoded = sparse.csr_array(ones, shape=(len(places), first))
        return encoded if self.sparse_output else encoded.toarray()

    def get_feature_names_out(self, input_features=None):
        """Return the names of the output's columns.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the features, where `fit` saw none.

        Returns
        -------
        names : ndarray of shape (n_outputs,)
            A feature's name, and after an underscore the category or "infrequent", or
            "(infrequent)" where that is a category. Further underscores distinguish equal names.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If the names are too few or many, or not those of `fit`.
        """
        check_is_fitted(self)
        features = read_feature_names(self, input_features)
        names = (
            f"{name}_{text}"
            for name, known in zip(features, self.categories_, strict=True)
            for text in _texts(known.tolist(), self._n_last)
        )
        return np.array(make_unique(names), dtype=object)

    def _learns(self):
        categories = self.categories
        return isinstance(categories, str) or None in check_categories(categories, len(categories))

    def _plan(self, n_records, n_features, *, by_group=False):
        n_discovered = check_categories(self.categories, n_features).count(None)
        return plan_encoder(
            self._budget(n_records, by_group),
            n_records=n_records,
            n_discovered=n_discovered,
            min_frequency=self.min_frequency,
        )

    def _widths(self):
        """Return the number of columns of each feature."""
        return [known.size + self._n_last for known in self.categories_]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _texts(categories, has_others):
    """Return categories as texts that differ, and last what stands for all others, if anything."""
    known = [
        number_in_words(category) if isinstance(category, float) else category
        for category in categories
        if category == category
    ]
    # A label that stands for a gap is the last of them.
    gaps = [label_beside("nan", known)] * (len(categories) - len(known))
    return [*known, *gaps, *[label_beside(INFREQUENT, known)] * has_others]
