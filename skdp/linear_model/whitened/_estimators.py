"""Logistic and ridge regression by private whitening."""

from functools import partial
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin, RegressorMixin

from skdp._checks import check_finite, check_n_jobs, check_positive
from skdp._families.losses import LOSSES, Multinomial
from skdp._families.targets import unit_of
from skdp._rows.bounds import augmented_norm, intercept_constant
from skdp._rows.fused import sums_of
from skdp._rows.group_sums import GroupSums, group_rounding_slack
from skdp._rows.groups import encode_groups
from skdp._rows.row_sums import InferenceSums, RowSums, rounding_slack
from skdp._sklearn import Interval, StrOptions, _fit_context
from skdp.linear_model._base import (
    CLASS_WEIGHT,
    COMMON_CONSTRAINTS,
    POSITIVE,
    LinearClassifierMixin,
    LinearRegressorMixin,
    RowPrivateEstimator,
    is_private,
    weights_public,
)
from skdp.linear_model.ball._mixin import BALL_CONSTRAINTS, BallMixin
from skdp.linear_model.ball._solver import Ball, inside, outside
from skdp.linear_model.whitened import _tuned as tuned
from skdp.linear_model.whitened._inference import MODELS, solve_inference
from skdp.linear_model.whitened._moment import as_users_have_it, check_moment
from skdp.linear_model.whitened._plan import (
    WhitenedProblem,
    plan_inference,
    plan_whitened,
    resolve_rows_per_group,
)
from skdp.linear_model.whitened._solver import balance, solve_whitened
from skdp.linear_model.whitened._summary import InferenceMixin

AUTO = StrOptions({"auto"})
NOT_INFERRED = (
    "inference=True takes dense rows, each a record of its own, without groups, public_weight and "
    "class_weight: what errors are made of isn't bounded or true otherwise."
)
_NO_LEARNT_BALL = (
    "ball_budget must be 'auto' or 0 with inference=True and a data_norm: no ball is learnt then, "
    "as rows beyond its radius would count less, and all rows within data_norm count whole."
)
_NO_NORM = (
    "data_norm=None needs a learnt ball: give ball_budget, or a public bound data_norm on the norm "
    "of a row."
)
_MOMENT_STATED = (
    "public_moment, the second moment of public rows (a wrong one costs accuracy, not privacy)"
)
_WEIGHED_GROUPS = "groups go without public_weight and class_weight: a group is cut as a whole."
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


class Solved(NamedTuple):
    """What a fit found: coefficients in the units of its ball, and what it learnt on the way."""

    coefs: np.ndarray
    steps: object
    # The plan that follows the ball.
    plan: object
    ball: Ball | None


class BaseWhitened(BallMixin, RowPrivateEstimator):
    """What the whitened estimators share."""

    # Estimators without these parameters have their defaults.
    momentum, public_moment = "auto", None
    _copies_rows = False

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
        # 1. scikit-learn's contract
        X, y = self._read(X, y)
        targets, target_units, weights = self._read_targets(y, public_weight)

        # 2. bound the data
        X = rows_of(groups, X)
        with sums_of(groups):
            rows = weights.without_zero_weights(self._certified_rows(X))
        codes, n_records = self._records(groups, X, weights)

        # 3. plan from public numbers
        plan = self._plan(
            n_records,
            X.shape[1],
            targets.shape[1],
            by_group=codes is not None,
            scale=weights.scale,
        )
        run = plan.start(self.random_state)

        # 4. solve
        is_null = rows.norm == 0.0
        with sums_of(groups):
            targets, target_units, plan = self._learnt(
                targets, target_units, plan, run, is_null, codes
            )
            rows, plan, ball = self._placed(rows, plan, run, codes)
            coefs, steps = self._solve(plan, rows, targets, run, weights, codes)

        # 5. publish
        solved = Solved(coefs, steps, plan, ball)
        return self._publish(solved, target_units, run, weights_public(public_weight))

    def _publish(self, solved, target_units, run, also_public, also_not_covered=()):
        """Publish what a fit found, in the units of targets, and its report."""
        plan, steps, ball, bias = solved.plan, solved.steps, solved.ball, solved.plan.problem.bias
        self._set_report(plan, steps, run, also_public, also_not_covered)
        self._set_ball(ball)
        self._set_moment(plan, steps, ball)
        self._set_coefs(outside(ball, solved.coefs, bias), bias, target_units)
        self._set_errors(steps.errors, bias, unit_of(target_units), ball)
        return self

    def _learns_ball(self):
        # No ball that holds all rows within a public bound has a shorter radius than that bound.
        return not self.inference or self.data_norm is None

    def _ball_budget(self):
        if self.ball_budget not in ("auto", 0) and not self._learns_ball():
            raise ValueError(_NO_LEARNT_BALL)
        return super()._ball_budget()

    def _public_ball(self, n_features):
        if not self.inference:
            return None
        # Coefficients of rows that are weighted stay those of rows as they are.
        radius = check_positive(self.data_norm, "data_norm")
        return Ball(np.zeros(n_features), np.ones(n_features), radius)

    def _takes_sparse(self):
        return not self.inference

    def _plan(self, n_records, n_features, n_outputs, *, by_group=False, scale=None, budget=None):
        check_n_jobs(self.n_jobs)
        n_columns = self._n_columns(n_features)
        data_norm = None if self.data_norm is None else check_positive(self.data_norm, "data_norm")
        scale = scale or self._weight_scale(n_outputs)
        budget = budget or self._budget(n_records, by_group)
        moment = self.public_moment
        if moment is not None:
            moment = check_moment(moment, n_features)
        n_rows, slack = 1.0, rounding_slack
        ranges, ball, spent = self._planned_learning(
            budget,
            n_records,
            (n_features, n_outputs),
            data_norm,
            tuned.SHARE_IN_BALL_OF_INFERENCE if self.inference else None,
        )
        if ball is not None:
            data_norm = 1.0
        elif data_norm is None:
            raise ValueError(_NO_NORM)
        if by_group:
            slack = group_rounding_slack
            n_rows = resolve_rows_per_group(
                self.rows_per_group, budget, n_records, n_columns, self.moment_budget
            )
        problem = WhitenedProblem(
            n_rows=n_records,
            n_columns=n_columns,
            n_outputs=n_outputs,
            # To the moment all rows of a group are one, whose length is the root of their squares'.
            row_norm=augmented_norm(data_norm, self.fit_intercept) * n_rows**0.5,
            bias=intercept_constant(data_norm, self.fit_intercept),
            rounding_slack=slack(n_records, n_columns, n_outputs),
            alpha=check_positive(self.alpha, "alpha"),
            smoothness=self._loss(n_outputs).smoothness,
            typical_weight=scale.typical,
            wanted_weight=scale.wanted,
            steepest=scale.steepest,
            bounded_targets=ranges is not None or self._has_given_bounds(),
        )
        make_plan = plan_inference if self.inference else plan_whitened
        return make_plan(
            problem,
            budget,
            ball=ball,
            ranges=ranges,
            left=1.0 - spent,
            moment_budget=self.moment_budget,
            public_moment=moment,
            clipping_norm=self.clipping_norm,
            max_iter=self.max_iter,
            step_size=self.step_size,
            momentum=self.momentum,
            average=self.average,
        )

    def _certified_rows(self, X):
        if self.ball_budget == 0 and self.data_norm is None:
            raise ValueError(_NO_NORM)
        return super()._certified_rows(X)

    def _records(self, groups, X, weights):
        """Return the group of each row, or None, and how many records there are."""
        if self.inference and not (groups is None and weights.of_rows is None):
            raise ValueError(NOT_INFERRED)
        if groups is not None and weights.of_rows is not None:
            raise ValueError(_WEIGHED_GROUPS)
        return encode_groups(groups, X.shape[0])

    def _solve(self, plan, rows, targets, run, weights, codes=None):
        # Without noise nothing is cut, and a sum over groups is the sum over their rows.
        codes = codes if plan.budget.is_private else None
        sums = self._sums(
            rows,
            targets,
            self.n_jobs,
            weights.of_rows,
            codes=codes,
            largest_trace=plan.problem.row_norm**2,
        )
        with sums.at_work():
            return self._stepped(sums, plan, targets.shape[1], run)

    def _sums(self, rows, targets, n_jobs, weights=None, *, codes=None, largest_trace=None):
        """Return sums over certified rows, over groups of them, or those of inference."""
        loss = self._loss(targets.shape[1])
        if self.inference:
            return InferenceSums(MODELS[loss.name], rows, targets, loss, n_jobs)
        if codes is None:
            return RowSums(rows, targets, loss, n_jobs, weights)
        return GroupSums(rows, targets, loss, n_jobs, codes=codes, largest_trace=largest_trace)

    def _stepped(self, sums, plan, n_outputs, run):
        """Return the coefficients that steps on sums lead to, and the steps."""
        loss = self._loss(n_outputs)
        if self.inference:
            coefs, steps = solve_inference(sums, plan=plan, model=MODELS[loss.name], run=run)
        else:
            rules = (tuned.RULES if plan.ball is None else tuned.RULES_IN_BALL)[loss.name]
            coefs, steps = solve_whitened(sums, plan=plan, rules=rules, run=run)
        # Before there is a report: that would be beside the coefficients of a fit before.
        check_finite(coefs if plan.outside is None else plan.outside(coefs))
        if loss.name == "log_loss" and not self.inference:
            coefs = balance(coefs, steps, plan)
        return coefs, steps

    def _assumed(self):
        assumed = super()._assumed()
        if self.public_moment is not None and is_private(self):
            assumed = (_MOMENT_STATED, *assumed)
        return assumed

    def _set_report(self, plan, steps, run, also_public=(), also_not_covered=()):
        """Publish the report, first of all: there are no coefficients without theirs."""
        run.finish()
        self.privacy_report_ = plan.report(
            n_steps=steps.n_steps,
            reproducible=run.reproducible,
            also_public=self._assumed() + also_public,
            not_covered=(*plan.budget.not_covered, *also_not_covered),
        )
        self.n_iter_ = steps.n_steps
        self.clipping_norm_ = float(steps.clip)
        self.step_size_ = steps.size
        if "momentum" in self._parameter_constraints:
            self.momentum_ = steps.momentum

    def _set_moment(self, plan, steps, ball):
        """Publish the moment that was released, or forget that of a fit before."""
        vars(self).pop("moment_", None)
        problem, white = plan.problem, steps.white
        if plan.moment is not None and problem.bias and white is not None:
            to_rows = partial(inside, ball, bias=problem.bias)
            self.moment_ = as_users_have_it(white.moment, to_rows, problem.bias)


def rows_of(groups, X):
    """Return rows as sums over groups take them: dense, as mapped ones are."""
    return X.toarray() if groups is not None and issparse(X) else X


class DPRidge(InferenceMixin, LinearRegressorMixin, RegressorMixin, BaseWhitened):
    r"""Ridge regression by private whitening, the recommended regressor.

    Minimises, over rows :math:`x_i` in the units of a learnt ball,

    .. math:: \frac{1}{n} \sum_i \frac{1}{2} (y_i - x_i^\top w)^2 + \frac{\alpha}{2} \|w\|^2 .

    **Guarantee.** The fitted attributes are (`epsilon`, `delta`)-differentially private for one row
    (its features and its targets) under `adjacency`, for any data, whatever the other parameters;
    for a fit with `groups`, for one group, which is all rows of a person. ``privacy_report_`` lists
    what is assumed public and what is not covered.

    Parameters
    ----------
    alpha : float, default=1e-4
        Strength of the L2 penalty; scikit-learn's Ridge has ``n_samples * alpha``.
    fit_intercept : bool, default=True
        Whether to fit an intercept. It is penalised like the coefficients, by its distance from the
        middle of the bounds of the targets, given or learnt (from 0 without them). It belongs to a
        constant column, equal to a third of the ball's radius, or of `data_norm` where no ball is
        learnt.
    epsilon : float, default=1.0
        Privacy loss, above 0. ``float("inf")`` runs the same code without noise or bounds.
    delta : float or "auto", default="auto"
        Probability, in (0, 1), that the loss may exceed `epsilon`. "auto" is 1e-5, or ``0.1 / n``
        where that is less; n is the number of records, or of people where groups are given.
    adjacency : {"zero_out", "replace_one"}, default="zero_out"
        Which data sets are neighbouring. One record is replaced by a null record that contributes
        nothing ("zero_out"), or by any other record ("replace_one"). The second needs about twice
        the noise.
    moment_budget : float or "auto", default="auto"
        Share of the budget, in [0, 1) and in terms of the squared parameter of Gaussian
        differential privacy, for releasing the second moment of the rows. "auto" is 0.1, and 0
        above 2,000 columns, where computing the eigenvectors of the moment would take longer than
        the rest of the fit. With 0 rows aren't whitened, which is less accurate wherever columns
        are correlated or of uneven scale.
    public_moment : array-like of shape (n_features + 1, n_features + 1), default=None
        Second moment of public rows, in place of a released one: the mean of ``np.outer(z, z)``
        over rows ``z = (1, x)``, in the units of X, or ``moment_`` of an earlier model. With groups
        it is the mean over people of the sums over their rows. No budget is then spent on a moment.
        It is assumed public; a wrong one costs only accuracy. With ``epsilon=inf`` it is not
        needed: rows are whitened by their own moment.
    data_norm : float or None, default=None
        Public bound on the L2 norm of a row. None sets no bound: a ball that contains the rows is
        learnt, see `ball_budget`. A bound makes this cheaper. Where there is too much noise to
        learn a ball, rows are clipped to the bound in `fit` (not in `predict`).
    ball_budget : float or "auto", default="auto"
        Share of the budget (of the squared Gaussian-DP parameter), in [0, 1), for learning the ball
        that contains the rows: a centre, a scale for each column, and a radius. `alpha` penalises
        the scaled columns, as after a StandardScaler, and rows beyond the radius count less. For a
        regressor without `target_bounds`, a quarter of the share learns these. With 0 no ball is
        learnt, and public bounds clip the rows about 0. "auto" is 0.12, more for targets and where
        the records are few, and 0 where noise would hide the ball or where another setting refers
        to rows that are not scaled: see :doc:`/theory/ball`.
    target_bounds : pair of floats (low, high), default=None
        Public range of y. Targets beyond it are clipped to it, and training works on targets mapped
        to [-1, 1] (without an intercept: divided by the larger absolute bound). None learns a range
        of most targets, wherever they lie, from a share of the budget: see `ball_budget`. Where
        this share is 0, y is used unchanged, with a warning: the fit is still private, but accurate
        only if the targets are within about [-1, 1].
    max_iter : int or "auto", default="auto"
        Number of steps, all of which are taken. Each reads all rows once, after up to eleven passes
        over the rows before the first step. "auto" follows from the released moment and public
        numbers: 10, 20 or 40, more where noise is large, and 100 where no moment is released.
    clipping_norm : float or "auto", default="auto"
        Clipping bound on the contribution of one row to a step: the length of its slopes times that
        of the whitened row. "auto" follows from the released moment and public numbers.
    step_size : float or "auto", default="auto"
        Length of the steps in whitened coordinates. "auto" is 1, the reciprocal of the largest
        curvature of the loss, with which steps don't diverge.
    average : bool, default=True
        Whether to return the mean of the later iterates. It costs no privacy.
    rows_per_group : float or "auto", default="auto"
        For fits with `groups`: bound on the contribution of a group to the second moment, as a
        number of rows of full length, at least 1. Groups with more are clipped to it there; the
        steps use all rows. "auto" is 2 to 16, larger with less noise, and follows from public
        numbers.
    inference : bool, default=False
        Whether to also release what standard errors and confidence intervals need, within the same
        budget: see `conf_int` and `summary`. It supports one target, or two classes. The
        coefficients then come from other steps, for which `step_size`, `average` and, where there
        is one, `momentum` must keep their defaults. "auto" then means a `moment_budget` of 0.3, and
        a `max_iter` of 32; `max_iter` must be at least 12. With a `data_norm` no ball is learnt
        (`ball_budget` must be "auto" or 0), and every row within it counts whole: take one that no
        row exceeds, as longer rows count less. Without it rows beyond the learnt radius count less,
        and intervals are of that weighted regression, not of the unweighted coefficient: see
        ``inference_quality_``. `DPRidge` has no intervals without bounds of targets, given or
        learnt. doc/theory/inference.rst derives them.
    n_jobs : int, default=None
        Threads that share a sum over all rows, as in joblib. They are used only where a sum has
        enough work to pay for them, and at most two where sums aren't compiled (the extra ``fast``
        of the package), because more would take longer. The result is the same to the last bit for
        every value.
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
    coef_ : ndarray of shape (n_features,) or (n_outputs, n_features)
        Coefficients, in the units of y. A table of one target has the shape of a flat y here and in
        predictions, as for scikit-learn's Ridge; `intercept_` is an array then.
    intercept_ : float or ndarray of shape (n_outputs,)
        Intercept.
    target_bounds_ : tuple (low, high)
        Bounds to which predictions are clipped: those of the targets, given or learnt, with an
        entry for each of several learnt targets. Infinite where there are none, and without
        privacy.
    n_iter_ : int
        Steps taken.
    clipping_norm_ : float
        Bound to which a row's contribution to a step was clipped; see `clipping_norm`.
    step_size_ : float
        Length of the steps; see `step_size`.
    center_ : ndarray of shape (n_features,)
        Learnt centre of the rows; 0 without an intercept. This attribute and the next two exist
        only if a ball was learnt.
    scale_ : ndarray of shape (n_features,)
        Divisors of the columns: about the size of most of their entries that are not 0. Without
        privacy, their standard deviations.
    radius_ : float
        Radius of the ball. Rows ``(x - center_) / scale_`` that are longer count less, by the
        radius over their length.
    moment_ : ndarray of shape (n_features + 1, n_features + 1)
        Second moment of the rows (1, x) by which rows were whitened: the released moment, shrunk,
        plus what noise may hide. Rows beyond the ball, or `data_norm`, count in it as they did in
        the fit. It exists where a moment was released, with an intercept; see `public_moment`.
    coef_std_error_ : ndarray of the shape of `coef_`
        Standard errors, for sampling and privacy noise together; nan where there is none. This
        attribute and the next four exist only with ``inference=True``.
    intercept_std_error_ : float or ndarray of the shape of `intercept_`
        Standard error of the intercept.
    inference_quality_ : {"yes", "wide", "weighted", "no"}
        Whether intervals have their stated coverage of the coefficients, have at least that, are of
        the weighted regression instead, or can't be given. "weighted" is that of fits without
        `data_norm`: rows longer than ``radius_`` count less, and the coverage is at least that
        stated, of the weighted coefficients and not of the unweighted ones. No quality can detect
        large errors in few rows; `summary` says in how few.
    inference_reasons_ : tuple of str
        Why the quality isn't "yes".
    weighted_share_ : float
        Estimated share of the rows that count less, from released counts. It exists only where the
        quality may be "weighted". However small it is, weighted and unweighted coefficients may be
        far apart.
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
    DPLogisticRegression : Private classification by the same algorithm.
    DPCDLasso : Private regression with coefficients of zero.
    DPSGDRegressor : Private regression on streams, with pure epsilon, or with outliers.

    Notes
    -----
    The fit releases one noisy second moment of the rows, and then takes noisy gradient steps over
    all rows in the coordinates in which that moment is about the identity. All batches are full, so
    the releases compose to one Gaussian exactly [1]_, and ``privacy_report_.mu`` is exact.
    Eigenvalues of the moment are shrunk according to the noise [2]_. doc/theory/whitening.rst has
    the proofs and the reasons for the automatic settings. Several targets are clipped and released
    together: each adds noise, but none takes a share of the budget.

    References
    ----------
    .. [1] Dong, Roth and Su (2022). Gaussian differential privacy. Journal of
       the Royal Statistical Society B. Corollary 3.3, on composition.
    .. [2] Bun, Allez, Bouchaud and Potters (2016). Rotational invariant estimator for general noisy
       matrices. IEEE Transactions on Information Theory. On shrinking eigenvalues.

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> from skdp.linear_model import DPRidge
    >>> X, y = make_regression(n_samples=1000, n_features=3, random_state=0)
    >>> model = DPRidge(epsilon=1.0, data_norm=3.0, target_bounds=(-300, 300))
    >>> model.fit(X, y).privacy_report_
    (1, 1e-05)-DP
    """

    _parameter_constraints = {**CONSTRAINTS, "target_bounds": ["array-like", None]}  # noqa: RUF012

    def __init__(
        self,
        alpha=1e-4,
        *,
        fit_intercept=True,
        epsilon=1.0,
        delta="auto",
        adjacency="zero_out",
        moment_budget="auto",
        public_moment=None,
        data_norm=None,
        ball_budget="auto",
        target_bounds=None,
        max_iter="auto",
        clipping_norm="auto",
        step_size="auto",
        average=True,
        rows_per_group="auto",
        inference=False,
        n_jobs=None,
        ledger=None,
        random_state=None,
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.moment_budget = moment_budget
        self.public_moment = public_moment
        self.data_norm = data_norm
        self.ball_budget = ball_budget
        self.target_bounds = target_bounds
        self.max_iter = max_iter
        self.clipping_norm = clipping_norm
        self.step_size = step_size
        self.average = average
        self.rows_per_group = rows_per_group
        self.inference = inference
        self.n_jobs = n_jobs
        self.ledger = ledger
        self.random_state = random_state

    def _described_targets(self):
        low, high = self.target_bounds_
        if not np.isfinite(low):
            return ""
        place = "clipped to the learnt range" if self._learns_targets() else "in"
        return f"targets {place} [{low:g}, {high:g}], "

    def _loss(self, n_outputs):
        return LOSSES["squared_error"]


class DPLogisticRegression(InferenceMixin, LinearClassifierMixin, ClassifierMixin, BaseWhitened):
    r"""Logistic regression by private whitening, the recommended classifier.

    Minimises, over rows :math:`x_i` in the units of a learnt ball and labels
    :math:`y_i \in \{-1, 1\}`,

    .. math:: \frac{1}{n} \sum_i \log(1 + e^{-y_i x_i^\top w}) + \frac{\alpha}{2} \|w\|^2 ,

    and with several classes the multinomial logistic loss,

    .. math:: \frac{1}{n} \sum_i \Bigl(\log \sum_k e^{x_i^\top w_k} - x_i^\top w_{y_i}\Bigr)
              + \frac{\alpha}{2} \|W\|^2 .

    **Guarantee.** The fitted attributes are (`epsilon`, `delta`)-differentially private for one row
    (its features and its label) under `adjacency`, for any data, whatever the other parameters; for
    a fit with `groups`, for one group, which is all rows of a person. With ``classes=None`` the set
    of classes is read from y and assumed public. ``privacy_report_`` lists what is assumed public
    and what is not covered.

    Parameters
    ----------
    alpha : float, default=1e-4
        Strength of the L2 penalty; scikit-learn's LogisticRegression has
        ``C = 1 / (n_samples * alpha)``.
    fit_intercept : bool, default=True
        Whether to fit an intercept. It is penalised like the coefficients, as in LinearSVC. It
        belongs to a constant column, equal to a third of the ball's radius, or of `data_norm` where
        no ball is learnt.
    classes : array-like, default=None
        The class set. None reads it from y, which reveals whether a rare class occurs; declare it
        if that is not public. Labels outside it are refused, classes without a row are kept.
    class_weight : dict, default=None
        Public weights of the classes, by label; a class without one has 1. A record counts as many
        times as the weight of its label, and is clipped to the same bound as all others, so the
        label stays private. Weights that balance classes are ``1 / (n_classes * share)``, with
        shares that are known or guessed without the data. "balanced" would read the shares from the
        data, and is refused. None gives all classes the weight 1.
        ``step_size="auto"`` is divided by the geometric mean of the weights where that is above 1
        and there is noise.
    epsilon : float, default=1.0
        Privacy loss, above 0. ``float("inf")`` runs the same code without noise or bounds.
    delta : float or "auto", default="auto"
        Probability, in (0, 1), that the loss may exceed `epsilon`. "auto" is 1e-5, or ``0.1 / n``
        where that is less; n is the number of records, or of people where groups are given.
    adjacency : {"zero_out", "replace_one"}, default="zero_out"
        Which data sets are neighbouring. One record is replaced by a null record that contributes
        nothing ("zero_out"), or by any other record ("replace_one"). The second needs about twice
        the noise.
    moment_budget : float or "auto", default="auto"
        Share of the budget, in [0, 1) and in terms of the squared parameter of Gaussian
        differential privacy, for releasing the second moment of the rows. "auto" is 0.1, and 0
        above 2,000 columns, where computing the eigenvectors of the moment would take longer than
        the rest of the fit. With 0 rows aren't whitened, which is less accurate wherever columns
        are correlated or of uneven scale.
    public_moment : array-like of shape (n_features + 1, n_features + 1), default=None
        Second moment of public rows, in place of a released one: the mean of ``np.outer(z, z)``
        over rows ``z = (1, x)``, in the units of X, or ``moment_`` of an earlier model. With groups
        it is the mean over people of the sums over their rows. No budget is then spent on a moment.
        It is assumed public; a wrong one costs only accuracy. With ``epsilon=inf`` it is not
        needed: rows are whitened by their own moment.
    data_norm : float or None, default=None
        Public bound on the L2 norm of a row. None sets no bound: a ball that contains the rows is
        learnt, see `ball_budget`. A bound makes this cheaper. Where there is too much noise to
        learn a ball, rows are clipped to the bound in `fit` (not in `predict`).
    ball_budget : float or "auto", default="auto"
        Share of the budget (of the squared Gaussian-DP parameter), in [0, 1), for learning the ball
        that contains the rows: a centre, a scale for each column, and a radius. `alpha` penalises
        the scaled columns, as after a StandardScaler, and rows beyond the radius count less. For a
        regressor without `target_bounds`, a quarter of the share learns these. With 0 no ball is
        learnt, and public bounds clip the rows about 0. "auto" is 0.12, more for targets and where
        the records are few, and 0 where noise would hide the ball or where another setting refers
        to rows that are not scaled: see :doc:`/theory/ball`.
    max_iter : int or "auto", default="auto"
        Number of steps, all of which are taken. Each reads all rows once, after up to eleven passes
        over the rows before the first step. "auto" follows from the released moment and public
        numbers: 10, 20 or 40, fewer where noise is large, and 100 where no moment is released.
    clipping_norm : float or "auto", default="auto"
        Clipping bound on the contribution of one row to a step: the length of its slopes times that
        of the whitened row. "auto" follows from the released moment and public numbers.
    step_size : float or "auto", default="auto"
        Length of the steps in whitened coordinates. "auto" is the reciprocal of the largest
        curvature of the loss, 4 for two classes and 2 for more, with which steps don't diverge.
    momentum : float or "auto", default="auto"
        Share of the last step, in [0, 1), that each step repeats. "auto" follows from the released
        moment and public numbers: none where noise is large.
    average : bool, default=True
        Whether to return the mean of the later iterates. It costs no privacy.
    rows_per_group : float or "auto", default="auto"
        For fits with `groups`: bound on the contribution of a group to the second moment, as a
        number of rows of full length, at least 1. Groups with more are clipped to it there; the
        steps use all rows. "auto" is 2 to 16, larger with less noise, and follows from public
        numbers.
    inference : bool, default=False
        Whether to also release what standard errors and confidence intervals need, within the same
        budget: see `conf_int` and `summary`. It supports one target, or two classes. The
        coefficients then come from other steps, for which `step_size`, `average` and, where there
        is one, `momentum` must keep their defaults. "auto" then means a `moment_budget` of 0.3, and
        a `max_iter` of 32; `max_iter` must be at least 12. With a `data_norm` no ball is learnt
        (`ball_budget` must be "auto" or 0), and every row within it counts whole: take one that no
        row exceeds, as longer rows count less. Without it rows beyond the learnt radius count less,
        and intervals are of that weighted regression, not of the unweighted coefficient: see
        ``inference_quality_``. `DPRidge` has no intervals without bounds of targets, given or
        learnt. doc/theory/inference.rst derives them.
    n_jobs : int, default=None
        Threads that share a sum over all rows, as in joblib. They are used only where a sum has
        enough work to pay for them, and at most two where sums aren't compiled (the extra ``fast``
        of the package), because more would take longer. The result is the same to the last bit for
        every value.
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
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients; one row if there are two classes.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    n_iter_ : int
        Steps taken.
    clipping_norm_ : float
        Bound to which a row's contribution to a step was clipped; see `clipping_norm`.
    step_size_ : float
        Length of the steps; see `step_size`.
    center_ : ndarray of shape (n_features,)
        Learnt centre of the rows; 0 without an intercept. This attribute and the next two exist
        only if a ball was learnt.
    scale_ : ndarray of shape (n_features,)
        Divisors of the columns: about the size of most of their entries that are not 0. Without
        privacy, their standard deviations.
    radius_ : float
        Radius of the ball. Rows ``(x - center_) / scale_`` that are longer count less, by the
        radius over their length.
    moment_ : ndarray of shape (n_features + 1, n_features + 1)
        Second moment of the rows (1, x) by which rows were whitened: the released moment, shrunk,
        plus what noise may hide. Rows beyond the ball, or `data_norm`, count in it as they did in
        the fit. It exists where a moment was released, with an intercept; see `public_moment`.
    momentum_ : float
        Share of the last step that each step repeated; see `momentum`.
    coef_std_error_ : ndarray of the shape of `coef_`
        Standard errors, for sampling and privacy noise together; nan where there is none. This
        attribute and the next four exist only with ``inference=True``.
    intercept_std_error_ : float or ndarray of the shape of `intercept_`
        Standard error of the intercept.
    inference_quality_ : {"yes", "wide", "weighted", "no"}
        Whether intervals have their stated coverage of the coefficients, have at least that, are of
        the weighted regression instead, or can't be given. "weighted" is that of fits without
        `data_norm`: rows longer than ``radius_`` count less, and the coverage is at least that
        stated, of the weighted coefficients and not of the unweighted ones. No quality can detect
        large errors in few rows; `summary` says in how few.
    inference_reasons_ : tuple of str
        Why the quality isn't "yes".
    weighted_share_ : float
        Estimated share of the rows that count less, from released counts. It exists only where the
        quality may be "weighted". However small it is, weighted and unweighted coefficients may be
        far apart.
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
    DPRidge : Private regression by the same algorithm.
    DPCDClassifier : Private classification with coefficients of zero.
    DPSGDClassifier : Private classification on streams, with pure epsilon, or by the hinge loss.
    WALRClassifier : Logistic regression where only labels are private.

    Notes
    -----
    The fit releases one noisy second moment of the rows, and then takes noisy gradient steps over
    all rows in the coordinates in which that moment is about the identity. All batches are full, so
    the releases compose to one Gaussian exactly [1]_, and ``privacy_report_.mu`` is exact.
    Eigenvalues of the moment are shrunk according to the noise [2]_. doc/theory/whitening.rst has
    the proofs and the reasons for the automatic settings. The classes are clipped and released
    together: each adds noise, but none takes a share of the budget.

    Clipping lowers the risk of a rare class. The intercept of two classes is moved at the end to
    make up for that, from what was released, unless `clipping_norm`, `max_iter` or `step_size` is
    given, or rows have weights or are grouped.

    References
    ----------
    .. [1] Dong, Roth and Su (2022). Gaussian differential privacy. Journal of
       the Royal Statistical Society B. Corollary 3.3, on composition.
    .. [2] Bun, Allez, Bouchaud and Potters (2016). Rotational invariant estimator for general noisy
       matrices. IEEE Transactions on Information Theory. On shrinking eigenvalues.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from skdp.linear_model import DPLogisticRegression
    >>> X, y = make_classification(n_samples=1000, n_features=5, random_state=0)
    >>> model = DPLogisticRegression(epsilon=1.0, data_norm=3.0, classes=[0, 1])
    >>> model.fit(X, y).privacy_report_
    (1, 1e-05)-DP
    """

    _parameter_constraints = {  # noqa: RUF012
        **CONSTRAINTS,
        "classes": ["array-like", None],
        "class_weight": CLASS_WEIGHT,
        "momentum": [Interval(Real, 0, 1, closed="left"), AUTO],
    }

    def __init__(
        self,
        alpha=1e-4,
        *,
        fit_intercept=True,
        classes=None,
        class_weight=None,
        epsilon=1.0,
        delta="auto",
        adjacency="zero_out",
        moment_budget="auto",
        public_moment=None,
        data_norm=None,
        ball_budget="auto",
        max_iter="auto",
        clipping_norm="auto",
        step_size="auto",
        momentum="auto",
        average=True,
        rows_per_group="auto",
        inference=False,
        n_jobs=None,
        ledger=None,
        random_state=None,
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.classes = classes
        self.class_weight = class_weight
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.moment_budget = moment_budget
        self.public_moment = public_moment
        self.data_norm = data_norm
        self.ball_budget = ball_budget
        self.max_iter = max_iter
        self.clipping_norm = clipping_norm
        self.step_size = step_size
        self.momentum = momentum
        self.average = average
        self.rows_per_group = rows_per_group
        self.inference = inference
        self.n_jobs = n_jobs
        self.ledger = ledger
        self.random_state = random_state

    def _loss(self, n_outputs):
        return LOSSES["log_loss"] if n_outputs == 1 else Multinomial(n_outputs)
