"""The fit of an additive model: it learns terms of a table, and then is a linear fit on them."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_consistent_length

from skdp._ball._solver import hardly_tells
from skdp._checks import check_finite, check_public_weight
from skdp._families.family import Family
from skdp._families.means import FEW_FOR_TARGETS
from skdp._families.weights import weigh
from skdp._release.run import Run
from skdp._rows.frames import read_frame
from skdp._rows.kinds import NUMERIC, WORD
from skdp._sklearn import quietly, validate_data
from skdp.additive import _tuned as tuned
from skdp.additive._chosen import chosen_signs, with_choices
from skdp.additive._constant import of_constants, release_constants
from skdp.additive._expected_noise import warn_of_noise
from skdp.additive._fitted import Fitted
from skdp.additive._parameters import Parameters
from skdp.additive._plan import ConstantPlan
from skdp.additive._second_fit import TargetSizes, fit_models
from skdp.additive._shapes import bent, importances, read_terms
from skdp.additive._table import MemoryTable, TableSettings
from skdp.exceptions import warn_user
from skdp.linear_model._base import publish, publish_coefs, weights_public
from skdp.linear_model._fit import budget_by
from skdp.linear_model._memory import MemoryRows
from skdp.preprocessing.table._given import chosen_pairs, specs_of, without_learning
from skdp.preprocessing.table._kinds import settle_kinds
from skdp.preprocessing.table._plan_kinds import learnt_names
from skdp.preprocessing.table._solver import learn_table
from skdp.preprocessing.table._terms import Basis, PairTerm, on_fewer_knots
from skdp.preprocessing.table._vectorizer import assumed_kinds


@dataclass(frozen=True, eq=False, kw_only=True)
class TermsFit:
    """A fit that has begun: what it goes by, its plan and its run."""

    parameters: Parameters
    settings: TableSettings
    family: Family
    # Targets are in these before anything is learnt of them.
    units: Any
    sizes: TargetSizes
    # The number of records with a weight, None where that isn't public.
    n_there: int | None
    plan: Any
    run: Run


class FoundTerms(NamedTuple):
    """What a fit found, in the end, and by what it went."""

    fit: TermsFit
    fitted: Fitted
    # Targets are in these, as they were learnt.
    units: Any


def frame_and_settings(model, X, parameters):
    """Return a table as a `Frame`, and what is known of it and asked for, as `TableSettings`."""
    frame = read_frame(model, X, reset=True)
    pairs = chosen_pairs(parameters.named_pairs, frame.names, "interactions")
    signs = chosen_signs(parameters.monotonic_cst, frame.names, frame.kinds, pairs)
    frame = frame.decided({place: NUMERIC for place in frame.untyped if signs[place]})
    specs = specs_of(parameters, frame.names, frame.kinds)
    specs = with_choices(specs, pairs, signs)
    return frame, TableSettings(frame.typed, specs, pairs, signs)


def fit_table(model, X, y, groups, public_weight, exposure=None):
    """Fit a model to a table; rows of exposure 0 count as null records from the start."""
    # Rows are bounded by these, and noise is planned by them, whatever changes from here on.
    parameters = model._parameters()
    family = parameters.predicted.family(has_exposure=exposure is not None)
    y = validate_data(model, "no_validation", y, **family.checks_of_targets)
    frame, settings = frame_and_settings(model, X, parameters)
    quietly(check_consistent_length, y, range(frame.n_rows))
    public_weight = check_public_weight(public_weight, frame.n_rows)
    family.check_settings()
    targets, units = family.read(y, exposure)
    weights = family.weigh(public_weight, len(targets), units, targets)
    n_outputs = family.n_outputs(targets.shape[1])
    parameters.check_curves(settings.signs, n_outputs)
    method = parameters.predicted.linear()._method()
    codes, n_records = method.read_groups(groups, len(targets), weights)
    budget = budget_by(model, method, family, n_records, by_group=codes is not None)
    plan = parameters.plan(budget, settings.specs, n_records, n_outputs)
    fit = TermsFit(
        parameters=parameters,
        settings=settings,
        family=family,
        units=units,
        sizes=TargetSizes(targets.shape[1], weights.scale),
        n_there=parameters.count_there(weights, n_records, has_exposure=exposure is not None),
        plan=plan,
        run=plan.start(model.random_state),
    )
    if isinstance(plan, ConstantPlan):
        found = fit_constant(frame, fit, targets, public_weight)
    else:
        is_void = family.void_rows(targets)
        table = MemoryTable.of(replace(frame, groups=codes), targets, weights, is_void)
        # The table alone holds its columns, and only as long as they are read.
        del frame
        found = fit_terms(table, fit, partial(specs_of, parameters))
    return publish_terms(model, found, weights_public(public_weight))


def publish_terms(model, found, also_public, also_not_covered=()):
    """Publish what a fit found, and before that its report."""
    fit, fitted, units = found
    plan, predicted = fit.plan, fit.parameters.predicted
    check_finite(fitted.coefs)
    model._n_there = float("nan") if fit.n_there is None else fit.n_there
    model._kinds_assumed = assumed_kinds(fit.settings.typed, learnt_names(plan))
    fit.run.finish()
    linear = predicted.linear()
    model.privacy_report_ = plan.report(
        costs=plan.costs_by_reports(fitted.reports),
        reproducible=fit.run.reproducible,
        also_public=model._kinds_assumed + linear._assumed() + also_public,
        also_not_covered=also_not_covered,
    )
    linear.n_features_in_ = fitted.basis.n_columns
    coefficients = publish_coefs(linear, fit.family, fitted.coefs, 1.0, units)
    publish(model, fit.family.attributes(coefficients, units))
    covariance = np.max(fit.family.unit(units)) ** 2 * fitted.covariance
    read = read_terms(linear, fitted.basis, covariance, fit.settings)
    names = fit.settings.specs.names
    model._kinds, model._basis = fit.settings.specs.kinds, fitted.basis
    model._model, model._offsets = linear, read.offsets
    model.terms_, model.intercept_ = read.terms, read.intercept
    model.term_importances_ = np.array([term.importance for term in read.terms])
    model.feature_importances_ = importances(fitted.basis, read.terms, len(names))
    if plan.budget.is_private:
        n_outputs, are_noise = len(fitted.coefs), read.are_noise
        warn_of_noise(fit.parameters, plan, len(names), n_outputs, are_noise=are_noise)
    return model


def fit_terms(table, fit, make_specs):
    """Learn the terms of a table, in memory or in partitions (`MemoryTable`), as `FoundTerms`.

    `make_specs` makes `ColumnSpecs` of names and kinds of columns.
    """
    table, specs, plan = settle_kinds(
        table, fit.settings.specs, make_specs, plan=fit.plan, run=fit.run
    )
    fit = replace(fit, settings=fit.settings._replace(specs=specs), plan=plan)
    basis = _learn_basis(table, fit)
    return FoundTerms(fit, *fit_models(table, basis, fit))


def fit_constant(frame, fit, targets, public_weight):
    """Learn the shares of classes or the means of targets alone, as `FoundTerms`."""
    plan, run = fit.plan, fit.run
    for note in plan.notes:
        warn_user(note)
    learnt = plan.target_releases
    if learnt is not None and hardly_tells(learnt.ranges):
        warn_user(FEW_FOR_TARGETS)
    weights = weigh(public_weight)
    method = fit.parameters.predicted.linear()._method()
    # Rows without columns: nothing but targets is asked of them.
    of_nothing = np.empty((frame.n_rows, 0))
    rows = MemoryRows(method.treatment(fit.family), of_nothing, targets, weights)
    units = fit.family.learn(rows, fit.units, plan, run).units
    means = release_constants(rows.records().targets, weights, frame, plan, run)
    frame = frame.decided(dict.fromkeys(frame.untyped, WORD))
    specs = replace(without_learning(fit.settings.specs), kinds=frame.kinds)
    # Numbers of records are known only for terms that are learnt.
    fit = replace(fit, settings=fit.settings._replace(specs=specs), n_there=None)
    basis = _learn_basis(frame, fit)
    constants = fit.parameters.predicted.constants(means, units)
    return FoundTerms(fit, of_constants(constants, basis), units)


def _learn_basis(table, fit):
    """Return the terms of a table, pairs last; see `learn_table`."""
    _, specs, pairs, signs = fit.settings
    terms = learn_table(table, specs, plan=fit.plan.table, run=fit.run, n_there=fit.n_there)
    terms = tuple(bent(term) if signs[j] else term for j, term in enumerate(terms))
    sides = [on_fewer_knots(term, tuned.KNOTS_OF_PAIR) for term in terms]
    return Basis((*terms, *[PairTerm(sides[a], sides[b]) for a, b in pairs]))
