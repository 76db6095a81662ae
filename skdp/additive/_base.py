"""What additive models of raw tables share: a table is learnt, and a linear model of it."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length

from skdp._checks import check_finite, check_n_jobs, check_public_weight
from skdp._estimator import (
    BUDGET_CONSTRAINTS,
    RecordPrivateEstimator,
    captioned_box,
    is_private,
)
from skdp._rows.frames import read_frame
from skdp._rows.kinds import NUMERIC
from skdp._sklearn import Interval, StrOptions, _fit_context, quietly
from skdp.additive._chosen import chosen_signs, with_choices
from skdp.additive._expected_noise import expected_noise_of, warn_of_noise
from skdp.additive._fit import TermsFit, fit_constant, fit_terms
from skdp.additive._parameters import Parameters
from skdp.additive._plan import ConstantPlan
from skdp.additive._reading import ReadingMixin
from skdp.additive._second_fit import TargetSizes
from skdp.additive._shapes import importances, read_terms
from skdp.additive._table import MemoryTable, TableSettings
from skdp.linear_model._base import (
    EXECUTION_CONSTRAINTS,
    POSITIVE,
    publish_coefs,
    weights_public,
)
from skdp.linear_model._fit import EPSILON_CHANGED
from skdp.preprocessing.table._given import (
    chosen_pairs,
    specs_before_fit,
    specs_of,
)
from skdp.preprocessing.table._plan_kinds import learnt_names
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

    # Parameters of the constructors of subclasses.
    alpha: Any
    features_budget: float | str
    interactions: object
    knots: object
    monotonic_cst: object
    n_jobs: int | None
    # Subclasses give these for their targets.
    _predicted: Callable
    _set_target_units: Callable
    _validated_y: Callable

    _reads_raw = True
    # Bounds that a step before promises are of columns by place: here they are of names.
    _uses_feature_bounds = False
    # A fit sets them: the columns whose types said what they hold, and those whose entries did.
    _read = _untyped = ()

    def _takes_sparse(self):
        return False

    def _check_targets(self, y):
        self._family().check(y)

    def _sk_visual_block_(self):
        return captioned_box(self)

    def _parameters(self):
        """Return parameters as a plan and a fit go by them."""
        return Parameters(
            alpha=self.alpha,
            interactions=self.interactions,
            monotonic_cst=self.monotonic_cst,
            knots=self.knots,
            features_budget=self.features_budget,
            predicted=self._predicted(),
        )

    def _family(self, *, has_exposure=False):
        """Return what the loss is to a fit, as a `Family`."""
        return self._predicted().family(has_exposure=has_exposure)

    def _plan(self, n_rows, n_features, n_outputs=1, *, by_group=False):
        return self._plan_of(specs_before_fit(self, n_features), n_rows, n_outputs, by_group)

    def _plan_of(self, specs, n_records, n_outputs, by_group):
        return self._plan_by(self._parameters(), specs, n_records, n_outputs, by_group)

    def _plan_by(self, parameters, specs, n_records, n_outputs, by_group):
        """Return the plan of a fit by parameters, which were read before the rows."""
        check_n_jobs(self.n_jobs)
        budget = self._budget(n_records, by_group)
        if budget.is_private != is_private(parameters.predicted):
            raise ValueError(EPSILON_CHANGED)
        return parameters.plan(budget, specs, n_records, n_outputs)

    def _expected_noise(self, budget, n_rows, n_features, n_outputs):
        """Return the `ExpectedNoise` of a fit with such a budget, in the units of training."""
        return expected_noise_of(self._parameters(), budget, n_rows, n_features, n_outputs)

    def _assumed(self):
        return self._assumed_by(self._predicted())

    def _assumed_by(self, predicted):
        """Return what a fit assumes public of the table, and of what it predicts."""
        return assumed_kinds(self._read, self._untyped) + predicted.linear()._assumed()

    def _read_table(self, X, parameters):
        """Return the table, and what is known of it and asked for, as `TableSettings`."""
        frame = read_frame(self, X, reset=True)
        pairs = chosen_pairs(parameters.named_pairs, frame.names, "interactions")
        signs = chosen_signs(parameters.monotonic_cst, frame.names, frame.kinds, pairs)
        frame = frame.decided({place: NUMERIC for place in frame.untyped if signs[place]})
        specs = specs_of(self, frame.names, frame.kinds)
        specs = with_choices(specs, pairs, signs)
        return frame, TableSettings(frame.typed, specs, pairs, signs)

    def _check_table(self, X):
        """Refuse what a fit would; return what it assumes public of the table."""
        frame, _ = self._read_table(X, self._parameters())
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
        return self._fit_table(X, y, groups, public_weight)

    def _fit_table(self, X, y, groups, public_weight, exposure=None):
        """Fit the model; rows of exposure 0 count as null records from the start."""
        # Rows are bounded by these, and noise is planned by them, whatever changes from here on.
        parameters = self._parameters()
        family = parameters.predicted.family(has_exposure=exposure is not None)
        y = self._validated_y(y)
        frame, settings = self._read_table(X, parameters)
        quietly(check_consistent_length, y, range(frame.n_rows))
        public_weight = check_public_weight(public_weight, frame.n_rows)
        family.check_settings()
        targets, units = family.read(y, exposure)
        weights = family.weigh(public_weight, len(targets), units, targets)
        n_outputs = family.n_outputs(targets.shape[1])
        parameters.check_curves(settings.signs, n_outputs)
        method = parameters.predicted.linear()._method()
        codes, n_records = method.records(groups, len(targets), weights)
        by_group = codes is not None
        plan = self._plan_by(parameters, settings.specs, n_records, n_outputs, by_group)
        fit = TermsFit(
            parameters=parameters,
            settings=settings,
            family=family,
            units=units,
            sizes=TargetSizes(targets.shape[1], weights.scale),
            n_there=parameters.count_there(weights, n_records, has_exposure=exposure is not None),
            plan=plan,
            run=plan.start(self.random_state),
        )
        if isinstance(plan, ConstantPlan):
            found = fit_constant(frame, fit, targets, public_weight)
        else:
            is_void = family.void_rows(targets)
            table = MemoryTable.of(replace(frame, groups=codes), targets, weights, is_void)
            # The table alone holds its columns, and only as long as they are read.
            del frame
            found = fit_terms(table, fit, partial(specs_of, self))
        return self._publish(found, weights_public(public_weight))

    def _publish(self, found, also_public, also_not_covered=()):
        """Publish what a fit found, and its report, by the units of targets."""
        (fit, fitted, units, model), plan = found, found.fit.plan
        check_finite(fitted.coefs)
        self._n_there = float("nan") if fit.n_there is None else fit.n_there
        self._read, self._untyped = fit.settings.typed, learnt_names(plan)
        fit.run.finish()
        self.privacy_report_ = plan.report(
            of_models=fitted.reports,
            reproducible=fit.run.reproducible,
            also_public=self._assumed_by(fit.parameters.predicted) + also_public,
            not_covered=(*plan.budget.not_covered, *also_not_covered),
        )
        model.n_features_in_ = fitted.basis.n_columns
        publish_coefs(model, fit.family, fitted.coefs, 1.0, units)
        self._set_target_units(model, units)
        covariance = np.max(fit.family.unit(units)) ** 2 * fitted.covariance
        read = read_terms(model, fitted.basis, covariance, fit.settings)
        names = fit.settings.specs.names
        self._kinds, self._basis = fit.settings.specs.kinds, fitted.basis
        self._model, self._offsets = model, read.offsets
        self.terms_, self.intercept_ = read.terms, read.intercept
        self.term_importances_ = np.array([term.importance for term in read.terms])
        self.feature_importances_ = importances(fitted.basis, read.terms, len(names))
        if plan.budget.is_private:
            n_outputs, are_noise = len(fitted.coefs), read.are_noise
            warn_of_noise(fit.parameters, plan, len(names), n_outputs, are_noise=are_noise)
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        tags.input_tags.sparse = False
        return tags
