"""What additive models of raw tables share: a table is learnt, and a linear model of it."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from numbers import Real

import numpy as np
from sklearn.utils.validation import check_consistent_length

from skdp._checks import check_finite, check_n_jobs
from skdp._estimator import BUDGET_CONSTRAINTS, CaptionMixin, is_private
from skdp._rows.frames import read_frame
from skdp._rows.kinds import NUMERIC
from skdp._sklearn import Interval, StrOptions, _fit_context, quietly
from skdp.additive import _tuned as tuned
from skdp.additive._chosen import chosen_signs, with_choices
from skdp.additive._constant import ConstantMixin
from skdp.additive._curves import roughness
from skdp.additive._expected_noise import ExpectedNoiseMixin
from skdp.additive._plan import ConstantPlan, plan_additive, strength_of
from skdp.additive._reading import ReadingMixin
from skdp.additive._second_fit import SecondFitMixin
from skdp.additive._shapes import all_noise, bent, means_of, monotone, shape_of
from skdp.additive._table import MemoryTable, TableSettings
from skdp.linear_model._base import (
    EXECUTION_CONSTRAINTS,
    POSITIVE,
    RowPrivateEstimator,
    weights_public,
)
from skdp.preprocessing.table._given import (
    check_n_knots,
    chosen_pairs,
    specs_before_fit,
    specs_of,
)
from skdp.preprocessing.table._kinds import settle_kinds
from skdp.preprocessing.table._plan_kinds import learnt_names
from skdp.preprocessing.table._solver import learn_table
from skdp.preprocessing.table._terms import Basis, PairTerm, on_fewer_knots
from skdp.preprocessing.table._tuned import MOST_KNOTS
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


class BaseAdditive(
    ReadingMixin,
    ExpectedNoiseMixin,
    SecondFitMixin,
    ConstantMixin,
    CaptionMixin,
    RowPrivateEstimator,
):
    """What additive models share: a table is learnt, and a linear model of its columns."""

    # Parameters of the constructors of subclasses.
    features_budget: float | str
    interactions: object
    knots: object
    monotonic_cst: object
    n_jobs: int | None
    # Subclasses give these for their targets, and for the linear model that is fitted to the basis.
    _linear: Callable
    _one_curve: str
    _set_target_units: Callable
    _validated_y: Callable

    _reads_raw, _most_knots = True, MOST_KNOTS
    # Bounds that a step before promises are of columns by place: here they are of names.
    _uses_feature_bounds = False
    # A fit sets them: the columns whose types said what they hold, and those whose entries did.
    _read = _untyped = ()

    def _takes_sparse(self):
        return False

    def _family(self, *, has_exposure=False):
        """Return what the loss is to a fit, as a `Family`."""
        return self._linear()._family(has_exposure=has_exposure)

    def _class_weight(self):
        """Return the parameter `class_weight`, None for regressors, which have none."""
        return None

    def _plan(self, n_rows, n_features, n_outputs=1, *, by_group=False):
        return self._plan_of(specs_before_fit(self, n_features), n_rows, n_outputs, by_group)

    def _plan_of(self, specs, n_records, n_outputs, by_group):
        check_n_jobs(self.n_jobs)
        budget = self._budget(n_records, by_group)
        return self._plan_table(budget, specs, n_records, n_outputs)

    def _plan_table(self, budget, specs, n_records, n_outputs):
        """Return the plan of a table whose columns have such specs, and of its models."""
        return plan_additive(
            budget,
            specs,
            features_budget=self.features_budget,
            n_rows=n_records,
            n_knots=check_n_knots(self.knots),
            products=self._rules_for(n_outputs, len(specs.names)),
            most_of_auto=self._most_knots,
            alone=None if budget.of_groups else self._alone(n_outputs),
        )

    def _assumed(self):
        return assumed_kinds(self._read, self._untyped) + self._linear()._assumed()

    def _read_table(self, X):
        """Return the table, and what is known of it and asked for, as `TableSettings`."""
        frame = read_frame(self, X, reset=True)
        pairs = chosen_pairs(self._named_pairs(), frame.names, "interactions")
        signs = chosen_signs(self.monotonic_cst, frame.names, frame.kinds, pairs)
        frame = frame.decided({place: NUMERIC for place in frame.untyped if signs[place]})
        specs = specs_of(self, frame.names, frame.kinds)
        specs = with_choices(specs, pairs, signs)
        return frame, TableSettings(frame.typed, specs, pairs, signs)

    def _check_table(self, X):
        """Refuse what a fit would; return what it assumes public of the table."""
        frame, _ = self._read_table(X)
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
        y = self._validated_y(y)
        frame, settings = self._read_table(X)
        quietly(check_consistent_length, y, range(frame.n_rows))
        model = self._linear()
        family = self._family(has_exposure=exposure is not None)
        family.check_settings()
        targets, units = family.read(y, exposure)
        weights = family.weigh(public_weight, len(targets), units, targets)
        n_outputs = family.n_outputs(targets.shape[1])
        self._check_curves(settings.signs, n_outputs > 1)
        codes, n_records = model._records(groups, targets, weights)
        plan = self._plan_of(settings.specs, n_records, n_outputs, codes is not None)
        run = plan.start(self.random_state)
        if isinstance(plan, ConstantPlan):
            return self._fit_constant(
                targets, units, public_weight, model, family, frame, settings, plan, run
            )
        table = self._in_memory(
            replace(frame, groups=codes), targets, weights, family.void_rows(targets)
        )
        # The table alone holds its columns, and only as long as they are read.
        del frame
        return self._fit_terms(
            table,
            settings,
            model,
            family,
            units,
            plan,
            run,
            n_there=self._n_there_of(weights, n_records, exposure),
            n_targets=targets.shape[1],
            by_group=codes is not None,
            scale=weights.scale,
            also_public=weights_public(public_weight),
        )

    def _fit_terms(
        self,
        table,
        settings,
        model,
        family,
        units,
        plan,
        run,
        *,
        n_there,
        n_targets,
        by_group,
        scale=None,
        also_public,
        also_not_covered=(),
    ):
        """Learn the terms of a table, in memory or in partitions (`MemoryTable`), and publish.

        Its linear model is for targets in `units`. `n_there` is the number of records with a
        weight, None where that isn't public.
        """
        table, specs, plan = settle_kinds(
            table, settings.specs, partial(specs_of, self), plan=plan, run=run
        )
        settings = settings._replace(specs=specs)
        basis = self._learn_basis(table, n_there, settings, plan, run)
        fitted, units = self._fit_models(
            table,
            model,
            family,
            basis,
            units,
            settings.signs,
            plan,
            run,
            n_targets=n_targets,
            by_group=by_group,
            scale=scale,
        )
        return self._publish(
            fitted,
            units,
            model,
            settings,
            plan,
            run,
            n_there=n_there,
            also_public=also_public,
            also_not_covered=also_not_covered,
        )

    def _in_memory(self, frame, targets, weights, is_void):
        """Return a table in memory in which rows of weight 0 aren't counted."""
        if weights.is_zero is None:
            return MemoryTable(frame, frame, slice(None), targets, weights, is_void)
        places = np.flatnonzero(~weights.is_zero)
        return MemoryTable(frame, frame.take(~weights.is_zero), places, targets, weights, is_void)

    def _check_curves(self, signs, has_several):
        if any(signs) and has_several:
            raise ValueError(self._one_curve)

    def _n_there_of(self, weights, n_records, exposure):
        """Return how many records have a weight; None where that is private."""
        # The numbers of records of a class and of exposed rows are as private as these.
        if exposure is not None or 0.0 in (self._class_weight() or {}).values():
            return None
        return n_records if weights.is_zero is None else int(np.count_nonzero(~weights.is_zero))

    def _learn_basis(self, table, n_there, settings, plan, run):
        """Return the terms of a table, pairs last; see `learn_table`."""
        _, specs, pairs, signs = settings
        terms = learn_table(table, specs, plan=plan.table, run=run, n_there=n_there)
        terms = tuple(bent(term) if signs[j] else term for j, term in enumerate(terms))
        sides = [on_fewer_knots(term, tuned.KNOTS_OF_PAIR) for term in terms]
        return Basis((*terms, *[PairTerm(sides[a], sides[b]) for a, b in pairs]))

    def _of_known_places(self, fitted):
        """Return a first fit without what noise alone tells of words."""
        return fitted.of_known_places() if is_private(self) else fitted

    def _plan_first(self, model, family, basis, plan, n_targets, *, by_group, scale=None):
        """Return the plan of a linear model of the columns of a basis."""
        model.alpha = strength_of(self.alpha, plan.n_rows)
        return self._plan_model(
            model,
            family,
            basis,
            plan.rest,
            plan.n_rows,
            n_targets,
            by_group=by_group,
            scale=scale,
            roughness=roughness(basis, plan.rest, plan.n_rows),
        )

    def _publish(
        self,
        fitted,
        target_units,
        model,
        settings,
        plan,
        run,
        *,
        n_there,
        also_public,
        also_not_covered=(),
    ):
        """Publish what a fit found, and its report; for `target_units` see `_set_coefs`."""
        check_finite(fitted.coefs)
        self._n_there = float("nan") if n_there is None else n_there
        self._read, self._untyped = settings.typed, learnt_names(plan)
        run.finish()
        self.privacy_report_ = plan.report(
            of_models=fitted.reports,
            reproducible=run.reproducible,
            also_public=self._assumed() + also_public,
            not_covered=(*plan.budget.not_covered, *also_not_covered),
        )
        model.n_features_in_ = fitted.basis.n_columns
        model._set_coefs(fitted.coefs, 1.0, target_units)
        self._set_target_units(model, target_units)
        covariance = np.max(self._family().unit(target_units)) ** 2 * fitted.covariance
        are_noise = self._set_terms(model, fitted.basis, settings, covariance)
        if is_private(self):
            self._warn_of_noise(
                plan, len(settings.specs.names), len(fitted.coefs), are_noise=are_noise
            )
        return self

    def _set_terms(self, model, basis, settings, covariance):
        """Publish the terms of a linear model of a basis, their means taken off.

        Return whether all of them are noise, even together.
        """
        specs, signs = settings.specs, settings.signs
        coefs, shapes = np.atleast_2d(model.coef_).copy(), []
        intercept = np.atleast_1d(np.array(model.intercept_, dtype=np.float64))
        covariances = [covariance[part, part] for part in basis.slices]
        for j, (term, part) in enumerate(zip(basis.terms, basis.slices, strict=True)):
            shape = shape_of(term)
            if j < len(signs) and signs[j]:
                coefs[0, part] = monotone(shape, coefs[0, part], signs[j])
            shapes.append(shape)

        parts = list(zip(shapes, basis.slices, covariances, strict=True))
        terms = tuple(shape.read(coefs[:, part], c, specs.names) for shape, part, c in parts)
        model.coef_ = coefs if model.coef_.ndim == 2 else coefs[0]
        model.intercept_ = float(intercept[0]) if np.ndim(model.intercept_) == 0 else intercept
        offsets = means_of(shapes, basis, coefs)
        self._kinds, self._basis, self._model, self._offsets = specs.kinds, basis, model, offsets
        self.terms_ = terms
        of_means = intercept + offsets.sum(axis=0)
        self.intercept_ = float(of_means[0]) if np.ndim(model.intercept_) == 0 else of_means
        self.term_importances_ = np.array([term.importance for term in terms])
        self.feature_importances_ = np.zeros(len(specs.names))
        for term, importance in zip(basis.terms, self.term_importances_, strict=True):
            # Features share alike what only all of them together do, as by Shapley values.
            self.feature_importances_[list(term.features)] += importance / len(term.features)
        # Nothing is hidden by noise where nothing was learnt.
        return bool(coefs.any()) and all_noise(terms, shapes, covariances)

    def _outputs(self):
        n_outputs = np.size(self.intercept_)
        return ["value"] if n_outputs == 1 else [f"value_{j}" for j in range(n_outputs)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        tags.input_tags.sparse = False
        return tags
