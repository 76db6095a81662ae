"""What estimators of private whitening share."""

from numbers import Integral, Real

from skdp._sklearn import Interval, StrOptions, _fit_context
from skdp.linear_model._base import (
    BALL_CONSTRAINTS,
    COMMON_CONSTRAINTS,
    POSITIVE,
    is_private,
    weights_public,
)
from skdp.linear_model._fit import BaseLinear, fit_to, read_rows
from skdp.linear_model.whitened._method import Whitened

AUTO = StrOptions({"auto"})
CONSTRAINTS = {
    **{name: allowed for name, allowed in COMMON_CONSTRAINTS.items() if name != "accountant"},
    "moment_budget": [Interval(Real, 0, 1, closed="left"), AUTO],
    "public_moment": ["array-like", None],
    "data_norm": [POSITIVE, None],
    **BALL_CONSTRAINTS,
    "max_iter": [Interval(Integral, 1, 10**4, closed="both"), AUTO],
    "clipping_norm": [POSITIVE, AUTO],
    "step_size": [POSITIVE, AUTO],
    "average": ["boolean"],
    "rows_per_group": [Interval(Real, 1, 1e30, closed="both"), AUTO],
    "inference": ["boolean"],
    "n_jobs": [Integral, None],
}

# Regressions of other losses than squares have these: their errors aren't inferred.
REGRESSION_CONSTRAINTS = {
    **{name: allowed for name, allowed in CONSTRAINTS.items() if name != "inference"},
    "momentum": [Interval(Real, 0, 1, closed="left"), AUTO],
    "target_bounds": ["array-like", None],
}


class BaseWhitened(BaseLinear):
    """What the whitened estimators share."""

    # Parameters of the constructors of subclasses.
    average: bool
    ball_budget: float | str
    clipping_norm: float | str
    max_iter: int | str
    moment_budget: float | str
    rows_per_group: float | str
    step_size: float | str
    # Estimators without these parameters have nothing to set.
    momentum: float | str | None = None
    public_moment: object = None
    inference: bool = False

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, groups=None, public_weight=None):
        """Fit the model privately.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Training rows, dense or CSR; float32 and float64 are kept in their precision, in order.
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
            If a parameter or the input is invalid, if y has one class, or a class that isn't among
            those declared, or a target outside the range of the loss, or if an id of a group is
            missing; no message quotes an entry of the data.
        TypeError
            If X or y is of a kind that can't be read, X is sparse with `inference`, or an id can't
            be hashed.
        """
        method, family = self._method(), self._family()
        rows, units = read_rows(self, method, family, X, y, public_weight, groups)
        return fit_to(self, method, rows, units, weights_public(public_weight))

    def _method(self):
        return Whitened(
            alpha=self.alpha,
            fit_intercept=self.fit_intercept,
            data_norm=self.data_norm,
            ball_budget=self.ball_budget,
            max_iter=self.max_iter,
            clipping_norm=self.clipping_norm,
            is_private=is_private(self),
            n_jobs=self.n_jobs,
            moment_budget=self.moment_budget,
            public_moment=self.public_moment,
            step_size=self.step_size,
            momentum=self.momentum,
            average=self.average,
            rows_per_group=self.rows_per_group,
            inference=self.inference,
        )

    def _expected_noise(self, budget, n_records, n_features, n_outputs):
        """Return the `ExpectedNoise` of a fit with such a budget, in the units of training."""
        sizes = n_records, n_features, n_outputs
        return self._method().expected_noise(sizes, self._family(), budget)
