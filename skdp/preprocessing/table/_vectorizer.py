"""DPTableVectorizer: a raw table in, bounded columns of numbers out."""

from dataclasses import replace
from functools import partial
from numbers import Integral

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skdp._estimator import BUDGET_CONSTRAINTS
from skdp._rows.frames import read_frame, warn_of_unread
from skdp._rows.groups import encode_groups
from skdp._rows.private_rows import rows_are_new
from skdp._sklearn import Interval, StrOptions, _fit_context, read_feature_names
from skdp.preprocessing._base import PrivateTransformer
from skdp.preprocessing.table._given import check_n_knots, specs_before_fit, specs_of
from skdp.preprocessing.table._kinds import settle_kinds
from skdp.preprocessing.table._plan import plan_vectorizer
from skdp.preprocessing.table._plan_kinds import learnt_names
from skdp.preprocessing.table._solver import learn_table
from skdp.preprocessing.table._terms import Basis

TABLE_CONSTRAINTS = {
    "knots": [StrOptions({"auto"}), Interval(Integral, 2, None, closed="left"), dict],
    "categories": [StrOptions({"auto"}), dict],
    "numeric_features": ["array-like", None],
    "categorical_features": ["array-like", None],
    "feature_bounds": [dict, tuple, list, None],
}


def assumed_kinds(typed, untyped):
    """Return what a report assumes public of columns, by name, whose kinds nobody declared."""
    typed, untyped = (", ".join(map(repr, names)) for names in (typed, untyped))
    said = ()
    if typed:
        kinds = "whether columns hold numbers, dates or words"
        said += (f"{kinds}, as read from the types of {typed}",)
    if untyped:
        said += (f"that {untyped} came as text or objects (kind of {untyped}: learnt)",)
    return said


class DPTableVectorizer(PrivateTransformer):
    r"""Make bounded columns of a raw table: hats of numbers, indicators of words and gaps.

    The counterpart of skrub's TableVectorizer. It needs no bounds, categories or fill values,
    because it learns what it needs of the columns privately. A number x of a column becomes hats on
    knots :math:`k_1 < \ldots < k_K`,

    .. math:: h_j(x) = \max\Bigl(0,\ 1 - \frac{|x - k_j|}{|k_{j \pm 1} - k_j|}\Bigr) ,
        \qquad \sum_j h_j(x) = 1 ,

    with the neighbour of :math:`k_j` on the side of x. A linear model of the hats is then a curve
    for each column. Knots are quantiles of noisy counts. Words become indicators: one for each
    frequent word, and one for all others together.

    **Guarantee.** The fitted attributes are (`epsilon`, `delta`)-differentially private for one row
    under `adjacency`, for any data, whatever the other parameters. ``privacy_report_`` lists what
    is assumed public and what is not covered. The output of `transform` for private rows is as
    private as these rows: pass it to a private estimator, whose guarantee composes with this one.

    Parameters
    ----------
    basis : {"hats", "linear"}, default="hats"
        Basis of numbers. "hats" has hats where there are enough records for several knots, and
        otherwise a line from -1 to 1. "linear" always has lines, clipped to a range that contains
        nearly all of a column.
    knots : "auto", int or dict, default="auto"
        Largest number of knots of a column of numbers; "auto" is 4 to 12, depending on its noise. A
        dict by column has lists of knots, which cost nothing; columns that it doesn't name have
        "auto".
    categories : "auto" or dict, default="auto"
        A dict by column has lists of the categories to distinguish, with NaN for missing entries,
        which costs nothing. In all other columns of words, the categories are learnt privately.
    numeric_features, categorical_features : list, default=None
        Columns of numbers and of words, by name or position. Of all others the types say what they
        hold, which the report names as assumed public: numbers, booleans, dates, or words, if it is
        categories. What columns of objects or text hold, or those of lists, is learnt within the
        budget. In a column of numbers, an entry that is not a number is missing. doc/reading.rst
        has the rules.
    epsilon : float, default=1.0
        Privacy loss, above 0. ``float("inf")`` runs the same code without noise or bounds.
    delta : float or "auto", default="auto"
        Probability, in (0, 1), that the loss may exceed `epsilon`. "auto" is 1e-5, or ``0.1 / n``
        where that is less; n is the number of records, or of people where groups are given.
    adjacency : {"zero_out", "replace_one"}, default="zero_out"
        Which data sets are neighbouring. One record is replaced by a null record that contributes
        nothing ("zero_out"), or by any other record ("replace_one"). The second needs about twice
        the noise.
    feature_bounds : pair (low, high) or dict, default=None
        Public range of the columns of numbers, or, if its ends are dates, of those of dates; or a
        dict of ranges by column. Numbers beyond it are clipped to it in `fit`. It saves the release
        that learns the range of the numbers.
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
    knots_ : dict of ndarray
        By column of numbers, the knots of its hats, or the two ends of its line.
    categories_ : dict of ndarray
        By column of words, the words that have a column of their own: in the order given, or
        otherwise sorted, with NaN for missing entries last.
    feature_bounds_ : tuple of two ndarrays of shape (n_outputs,)
        Range of each column of the output: 0 to 1, or -1 to 1 for a line.
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
    DPOneHotEncoder : Columns for categories alone.
    DPQuantileClipper : Ranges of numbers.

    Notes
    -----
    Kinds that types don't say follow from noisy counts: of numbers, dates, codes (digits after a
    zero), other texts and gaps. A column holds words if codes and texts stand out from the noise
    and are more than a tenth of what is no gap, or if nothing stands out, and otherwise numbers or
    dates. Numbers are counted three times, in bins that get finer where there are many numbers:
    between powers of 2, then finer, twice. So columns may have any unit and tail, and lie up to
    about a million times their width from 0. A record is in one bin of each column (missing and
    non-finite numbers have a bin of their own), or in parts in three, so its sensitivity over all
    counts is ``sqrt(n_columns)``. A number that makes up a quarter of a
    column, such as 0, has an indicator of its own in place of the hats, and knots follow the rest.
    Missing entries have an indicator if their count stands out from the noise; otherwise they count
    as a number in the middle. Knots are numbers of few digits. doc/theory/table.rst has the proof.

    A row of a data frame adds to counts by its values alone. It does not matter whether a column
    has integers or floats, or has missing entries, or which categories a type declares. What a
    column was in `fit` decides how `transform` reads it, whatever type it has then.

    References
    ----------
    .. [1] Hastie and Tibshirani (1986). Generalized additive models. Statistical Science 1 (3).
    .. [2] Korolova, Kenthapadi, Mishra and Ntoulas (2009). Releasing search queries and clicks
       privately. WWW. Section 4, for words.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skdp.preprocessing import DPTableVectorizer
    >>> rng = np.random.default_rng(0)
    >>> table = pd.DataFrame({"age": rng.integers(18, 80, 5000)})
    >>> table["job"] = rng.choice(["nurse", "clerk"], 5000)
    >>> vectorizer = DPTableVectorizer(random_state=0).fit(table)
    >>> vectorizer.knots_["age"]
    array([18., 23., 29., 35., 40., 46., 51., 56., 63., 69., 74., 79.])
    >>> vectorizer.categories_["job"]
    array(['clerk', 'nurse'], dtype=object)
    """

    _parameter_constraints = {  # noqa: RUF012
        "basis": [StrOptions({"hats", "linear"})],
        **TABLE_CONSTRAINTS,
        **BUDGET_CONSTRAINTS,
    }
    # Bounds that a step before promises are of columns by place: here they are of names.
    _uses_feature_bounds = False

    def __init__(
        self,
        *,
        basis="hats",
        knots="auto",
        categories="auto",
        numeric_features=None,
        categorical_features=None,
        epsilon=1.0,
        delta="auto",
        adjacency="zero_out",
        feature_bounds=None,
        ledger=None,
        random_state=None,
    ):
        self.basis = basis
        self.knots = knots
        self.categories = categories
        self.numeric_features = numeric_features
        self.categorical_features = categorical_features
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.feature_bounds = feature_bounds
        self.ledger = ledger
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None, groups=None):
        """Learn the ranges of numbers, and find words.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Raw rows, as a frame of pandas, polars or Arrow, an array, or lists.
        y : None
            Ignored.
        groups : array-like of shape (n_samples,), default=None
            The person, household, ... of each row, as hashable ids. The guarantee is then for one
            group, with all its rows. The number of groups is public. A group counts as the mean of
            its rows, and in a column of words with its most frequent word. With None each row is a
            record.

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
            If X is sparse, an id can't be hashed, or a column is of a type that can't be read.
        """
        frame = read_frame(self, X, reset=True)
        specs = specs_of(self, frame.names, frame.kinds)

        # A record is in one bin or category of each column.
        codes, n_records = encode_groups(groups, frame.n_rows)
        frame = replace(frame, groups=codes)
        return self._learn(frame, specs, frame, n_records, codes is not None)

    def _learn(
        self, frame, specs, counted, n_records, by_group, *, also_public=(), also_not_covered=()
    ):
        """Publish what counts of records tell, see `learn_table`, of a frame of such columns."""
        budget = self._budget(n_records, by_group)
        plan = self._table_plan(budget, n_records, specs)
        run = plan.start(self.random_state)

        counted, specs, plan = settle_kinds(
            counted, specs, partial(specs_of, self), plan=plan, run=run
        )
        basis = Basis(learn_table(counted, specs, plan=plan, run=run, n_there=n_records))

        self._kinds, self._basis = specs.kinds, basis
        self._read, self._untyped = frame.typed, learnt_names(plan)
        numbers = [term for term in basis.terms if term.kind != "words"]
        words = [term for term in basis.terms if term.kind == "words"]
        self.knots_ = {term.name: term.knots for term in numbers}
        self.categories_ = {term.name: term.categories for term in words}
        self.feature_bounds_, self.norm_bound_ = basis.bounds, basis.norm_bound
        self.privacy_report_ = self._report(
            plan, run, also_public=self._assumed() + also_public, also_not_covered=also_not_covered
        )
        return self

    def transform(self, X):
        """Return the columns of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        X_table : ndarray of shape (n_samples, n_outputs)
            Of float64.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If a parameter or the input is invalid; no message quotes an entry of the data.
        TypeError
            If a column is of a type that can't be read.
        """
        check_is_fitted(self)
        frame = read_frame(self, X, reset=False)
        # A step on the way to a prediction. Other rows may be those of a fit that follows.
        if rows_are_new():
            warn_of_unread(frame)
        return self._basis.matrix(frame)

    def get_feature_names_out(self, input_features=None):
        """Return the names of the output's columns.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the features, which must be those of `fit`.

        Returns
        -------
        names : ndarray of shape (n_outputs,)
            A feature's name, and after an underscore a knot, a word, "is" and a spike, "missing" or
            "infrequent". These are in brackets where they are words of the column.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If the names are too few or many, or not those of `fit`.
        """
        check_is_fitted(self)
        read_feature_names(self, input_features)
        return np.array(self._basis.labels, dtype=object)

    def _check_table(self, X):
        """Refuse what a fit would; return what it assumes public of the table."""
        frame = read_frame(self, X, reset=True)
        specs_of(self, frame.names, frame.kinds)
        return assumed_kinds(frame.typed, [frame.names[place] for place in frame.untyped])

    def _assumed(self):
        # Before a fit nothing was read.
        return assumed_kinds(getattr(self, "_read", ()), getattr(self, "_untyped", ()))

    def _plan(self, n_records, n_features, *, by_group=False):
        specs = specs_before_fit(self, n_features)
        return self._table_plan(self._budget(n_records, by_group), n_records, specs)

    def _table_plan(self, budget, n_records, specs):
        n_knots = check_n_knots(self.knots)
        return plan_vectorizer(
            budget, specs, n_records=n_records, basis=self.basis, n_knots=n_knots
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = []
        return tags
