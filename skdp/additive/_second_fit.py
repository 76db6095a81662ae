"""The linear models of an additive model: of its terms, and of their curves and products of them.

They are planned before rows are asked for either, by public and released numbers.
"""

from dataclasses import replace
from typing import NamedTuple

from skdp._families.family import Family
from skdp._families.weights import WeightScale
from skdp._release.release import with_ending
from skdp.additive._curves import roughness
from skdp.additive._fitted import Fitted
from skdp.additive._plan import MODEL
from skdp.additive._products import second_view
from skdp.additive._shapes import Shape
from skdp.linear_model._fit import train
from skdp.linear_model.whitened._method import Whitened


class TargetSizes(NamedTuple):
    """What is public of the targets of a fit, beside the number of records."""

    # Columns of targets in training.
    n_targets: int
    scale: WeightScale | None = None


class PlannedModel(NamedTuple):
    """A linear model that isn't fitted yet: its method, what its loss is to a fit, and the plan."""

    method: Whitened
    family: Family
    plan: object


def plan_first(parameters, family, basis, plan, sizes):
    """Return a linear model of the columns of a basis, as a `PlannedModel`."""
    method = _method_for(parameters, basis, parameters.strength(plan.n_records))
    rough = roughness(basis, plan.rest, plan.n_records)
    return _planned(method, family, basis, plan.rest, plan.n_records, sizes, rough)


def plan_second(parameters, family, view, plan, sizes):
    """Return a linear model of the columns of a view, as a `PlannedModel`."""
    budget = plan.second.budget
    penalty = view.penalty(parameters.predicted.product_rules, budget.calibrate() / plan.n_records)
    method = _method_for(parameters, view, parameters.strength(plan.n_records) + penalty)
    return _planned(method, family, view, budget, plan.n_records, sizes._replace(n_targets=1))


def _method_for(parameters, columns, alpha):
    """Return the method of a linear model of columns, with a penalty of such strength."""
    method = parameters.predicted.linear()._method()
    return replace(method, alpha=alpha, data_norm=columns.norm_bound)


def _planned(method, family, columns, budget, n_records, sizes, rough=None):
    """Plan a linear model of the columns of a basis, or of a second view."""
    plan = method.plan(
        (n_records, columns.n_columns, sizes.n_targets),
        family,
        budget,
        scale=sizes.scale,
        # All are up to 1, or in units of their spread. Sizes that are learnt could be those of
        # a hat's foot.
        alike=True,
        roughness=rough,
    )
    return PlannedModel(method, family, plan)


def fit_models(table, basis, fit):
    """Fit a linear model to the columns of a basis, and another one to products, if planned.

    The table gives rows in these columns, in memory or in partitions.
    Return what was fitted, as `Fitted`, and the units of targets.
    """
    parameters, plan, run, sizes = fit.parameters, fit.plan, fit.run, fit.sizes
    family = fit.family if plan.second is None else fit.family.followed()
    first = plan_first(parameters, family, basis, plan, sizes)
    run.fill(MODEL, first.plan.releases)
    rows = table.map_to(first.method.treatment(family), basis)
    with rows.at_work():
        solution = train(first.method, rows, first.plan, fit.units, run)
        units = solution.training.units
        fitted = Fitted.of_columns(solution, basis)
        if plan.budget.is_private:
            # Noise alone tells of other words.
            fitted = fitted.of_known_places()
        if plan.second is not None:
            view = _second_view(fitted, basis, fit)
            family = parameters.predicted.family(has_exposure=family.has_exposure).known(units)
            second = plan_second(parameters, family, view, plan, sizes)
            of_curves = fit_second(rows, view, second, units, run, plan.second)
            fitted = fitted.followed_by(of_curves, view, fit.settings.signs)
    return fitted, units


def fit_second(rows, view, second, units, run, planned):
    """Fit a linear model to the columns of a view of rows."""
    run.fill(planned.name, with_ending(second.plan.releases, planned.ending))
    part = run.part(planned.ending)
    with rows.view(second.method.treatment(second.family), view):
        solved = train(second.method, rows, second.plan, units, part, view.start)
    return Fitted.of_columns(solved, view)


def _second_view(fitted, basis, fit):
    """Return the columns of a second fit, which follow from the first."""
    return second_view(
        basis,
        [Shape.of(term) for term in basis.terms],
        fitted.coefs[0],
        fit.parameters.predicted.product_rules,
        fit.plan.second.room,
        [sign == 0 for sign in fit.settings.signs],
    )
