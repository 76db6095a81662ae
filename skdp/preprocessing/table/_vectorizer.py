"""DPTableVectorizer: a raw table in, bounded columns of numbers out."""

from numbers import Integral

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skdp._docs import shared_docs
from skdp._estimator import BUDGET_CONSTRAINTS
from skdp._sklearn import Interval, StrOptions, _fit_context, read_feature_names
from skdp.preprocessing._base import PrivateTransformer
from skdp.preprocessing._columns import as_array
from skdp.preprocessing._plan import hide_categories
from skdp.preprocessing.table._frames import NUMERIC, WORD, read_frame
from skdp.preprocessing.table._given import check_n_knots, read_given
from skdp.preprocessing.table._plan import plan_table
from skdp.preprocessing.table._solver import learn_table
from skdp.preprocessing.table._terms import Basis

TABLE_CONSTRAINTS = {
    "knots": [StrOptions({"auto"}), Interval(Integral, 2, None, closed="left"), dict],
    "categories": [StrOptions({"auto"}), dict],
    "numeric_features": ["array-like", None],
    "categorical_features": ["array-like", None],
    "feature_bounds": [dict, tuple, list, None],
}


@shared_docs
class DPTableVectorizer(PrivateTransformer):
    r"""Learn a raw table privately, and make bounded columns of numbers of its rows.

    {guarantee:transformer}

    Parameters
    ----------
    {epsilon, delta, adjacency, ledger, random_state}

    Attributes
    ----------
    {privacy_report_, n_features_in_, feature_names_in_}
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
        feature_bounds=None,
        epsilon=1.0,
        delta=1e-5,
        adjacency="zero_out",
        ledger=None,
        random_state=None,
    ):
        self.basis = basis
        self.knots = knots
        self.categories = categories
        self.numeric_features = numeric_features
        self.categorical_features = categorical_features
        self.feature_bounds = feature_bounds
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.ledger = ledger
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None):
        """Learn where numbers lie, and find words.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Raw rows.
        {y}

        {Returns: self}

        {Raises: BudgetExceededError, ValueError}
        """
        # 1. scikit-learn's contract
        frame = read_frame(self, X, reset=True)
        given = self._given(frame.names, frame.kinds)

        # 2. bound the data: a record is in one bin or category of each column

        # 3. plan from public numbers
        plan = self._table_plan(frame.n_rows, given)
        stream = plan.start(self.random_state)

        # 4. release
        basis = Basis(learn_table(frame, given, plan=plan, noise=stream))

        # 5. publish
        self._kinds, self._basis = frame.kinds, basis
        numbers = [term for term in basis.terms if term.kind != "words"]
        words = [term for term in basis.terms if term.kind == "words"]
        self.knots_ = {term.name: term.knots for term in numbers}
        self.categories_ = {term.name: as_array(term.categories) for term in words}
        self.feature_bounds_, self.norm_bound_ = basis.bounds, basis.norm_bound
        self.privacy_report_ = plan.report(
            reproducible=self.random_state is not None, also_public=self._read_kinds(frame.read)
        )
        return self

    def transform(self, X):
        """Return the columns of rows."""
        check_is_fitted(self)
        return self._basis.matrix(read_frame(self, X, reset=False))

    def get_feature_names_out(self, input_features=None):
        """Return the names of the output's columns."""
        check_is_fitted(self)
        read_feature_names(self, input_features)
        return np.array(self._basis.labels, dtype=object)

    def _given(self, names, kinds):
        asked = {name: getattr(self, name) for name in ("feature_bounds", "knots", "categories")}
        return read_given(names, kinds, **asked)

    def _plan(self, n_rows, n_features):
        """Return the plan of a table of numbers, but for columns that are declared to be words."""
        n_words = 0 if self.categorical_features is None else len(self.categorical_features)
        kinds = [WORD] * n_words + [NUMERIC] * (n_features - n_words)
        return self._table_plan(n_rows, read_given([""] * n_features, kinds))

    def _table_plan(self, n_rows, given):
        budget = self._budget()
        rest, erasure = hide_categories(budget, len(given.words))
        return plan_table(
            budget,
            rest,
            erasure=erasure,
            n_rows=n_rows,
            **given.sizes,
            basis=self.basis,
            n_knots=check_n_knots(self.knots),
        )

    def _read_kinds(self, names):
        """Return what the report assumes public of columns that nobody declared."""
        if not names:
            return ()
        listed = ", ".join(map(repr, names))
        return (f"whether columns hold numbers or words, as read from the types of {listed}",)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = []
        return tags
