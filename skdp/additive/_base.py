"""What additive models of raw tables share: a table is learnt, and a linear model of it."""

from collections.abc import Callable
from numbers import Real

from skdp._estimator import BUDGET_CONSTRAINTS, RecordPrivateEstimator, captioned_box
from skdp._sklearn import Interval, StrOptions, _fit_context
from skdp.additive._expected_noise import expected_noise_of
from skdp.additive._fit import fit_table, frame_and_settings
from skdp.additive._parameters import Parameters
from skdp.additive._reading import ReadingMixin
from skdp.linear_model._base import EXECUTION_CONSTRAINTS, POSITIVE
from skdp.linear_model._fit import budget_by
from skdp.preprocessing.table._given import specs_before_fit
from skdp.preprocessing.table._vectorizer import TABLE_CONSTRAINTS, assumed_kinds

CONSTRAINTS = {
    "alpha": [POSITIVE, StrOptions({"auto"})],
    **BUDGET_CONSTRAINTS,
    **TABLE_CONSTRAINTS,
    "interactions": ["array-like", StrOptions({"auto"}), None],
    "monotonic_cst": ["array-like", dict, None],
    "features_budget": [Interval(Real, 0, 1, closed="neither"), StrOptions({"auto"})],
    **EXECUTION_CONSTRAINTS,
}


class BaseAdditive(ReadingMixin, RecordPrivateEstimator):
    """What additive models share: a table is learnt, and a linear model of its columns."""

    # A parameter of the constructors of subclasses, and what these make of all of them.
    n_jobs: int | None
    _parameters: Callable[..., Parameters]

    _reads_raw = True
    # Bounds that a step before promises are of columns by place: here they are of names.
    _uses_feature_bounds = False
    # A fit says here what it assumed public of the kinds of columns.
    _kinds_assumed: tuple[str, ...] = ()

    def _takes_sparse(self):
        return False

    def _check_targets(self, y):
        self._family().check(y)

    def _sk_visual_block_(self):
        return captioned_box(self)

    def _family(self, *, has_exposure=False):
        """Return what the loss is to a fit, as a `Family`."""
        return self._parameters().predicted.family(has_exposure=has_exposure)

    def _plan(self, n_records, n_features, n_outputs=1, *, by_group=False):
        parameters = self._parameters()
        method, family = parameters.predicted.linear()._method(), parameters.predicted.family()
        budget = budget_by(self, method, family, n_records, by_group)
        return parameters.plan(budget, specs_before_fit(self, n_features), n_records, n_outputs)

    def _expected_noise(self, budget, n_records, n_features, n_outputs):
        """Return the `ExpectedNoise` of a fit with such a budget, in the units of training."""
        return expected_noise_of(self._parameters(), budget, n_records, n_features, n_outputs)

    def _assumed(self):
        return self._kinds_assumed + self._parameters().predicted.linear()._assumed()

    def _check_table(self, X):
        """Refuse what a fit would; return what it assumes public of the table."""
        frame, _ = frame_and_settings(self, X, self._parameters())
        return assumed_kinds(frame.typed, [frame.names[place] for place in frame.untyped])

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, groups=None, public_weight=None):
        """Learn the table and fit the terms privately.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            Raw rows: numbers, words, booleans, categories, missing entries.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets of a regression, one or more of each row; or labels of any type that can be
            sorted.
        groups : array-like of shape (n_samples,), default=None
            The person, household, ... of each row, as hashable ids. The guarantee is then for one
            group, with all its rows. The number of groups is public; the number of rows of each
            group is not. The number of groups sets `delta`, and divides the sum over all rows in
            the objective. Under "zero_out" a part of a group, such as one of its rows, has the
            guarantee of ``privacy_report_.epsilon_at(delta, group_size=2)``. A Series must have the
            index of X, as ids are matched with rows by their place. With None each row is a record.
        public_weight : array-like of shape (n_samples,), default=None
            Weight of each record, 0 or more: a weight of 2 is as if the record occurred twice. The
            loss is the weighted mean, so only ratios matter. The contribution of a record to a
            release is clipped to the same bound, whatever its weight. Weights are assumed public,
            and are not published. They must not depend on the records, and keep their positions if
            a record changes. A Series must have the index of X. In a meta-estimator they need
            metadata routing, see ``set_fit_request``. Without weights all records count equally.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        BudgetExceededError
            If there is a ledger, and too little is left in it.
        ValueError
            If a parameter or the input is invalid, or an id of a group is missing; no message
            quotes an entry.
        TypeError
            If a column is of a kind that can't be read.
        """
        return fit_table(self, X, y, groups, public_weight)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        tags.input_tags.sparse = False
        return tags
