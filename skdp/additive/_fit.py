"""The fit of an additive model: it learns terms of a table, and then is a linear fit on them."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from skdp._ball._solver import hardly_tells
from skdp._families.family import Family
from skdp._families.means import FEW_FOR_TARGETS
from skdp._families.weights import weigh
from skdp._release.run import Run
from skdp._rows.kinds import WORD
from skdp.additive import _tuned as tuned
from skdp.additive._constant import of_constants, release_constants
from skdp.additive._fitted import Fitted
from skdp.additive._parameters import Parameters
from skdp.additive._second_fit import TargetSizes, fit_models
from skdp.additive._shapes import bent
from skdp.additive._table import TableSettings
from skdp.exceptions import warn_user
from skdp.linear_model._memory import MemoryRows
from skdp.preprocessing.table._given import without_learning
from skdp.preprocessing.table._kinds import settle_kinds
from skdp.preprocessing.table._solver import learn_table
from skdp.preprocessing.table._terms import Basis, PairTerm, on_fewer_knots


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
    # The linear model of terms, which has no coefficients yet.
    model: Any


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
    if plan.ranges is not None and hardly_tells(plan.ranges):
        warn_user(FEW_FOR_TARGETS)
    weights = weigh(public_weight)
    model = fit.parameters.predicted.linear()
    # Rows without columns: nothing but targets is asked of them.
    of_nothing = np.empty((frame.n_rows, 0))
    rows = MemoryRows(model._method().treatment(fit.family), of_nothing, targets, weights)
    units = fit.family.learn(rows, fit.units, plan, run).units
    means = release_constants(rows.records().targets, weights, frame, plan, run)
    frame = frame.decided(dict.fromkeys(frame.untyped, WORD))
    specs = replace(without_learning(fit.settings.specs), kinds=frame.kinds)
    # Numbers of records are known only for terms that are learnt.
    fit = replace(fit, settings=fit.settings._replace(specs=specs), n_there=None)
    basis = _learn_basis(frame, fit)
    constants = fit.parameters.predicted.constants(means, units)
    return FoundTerms(fit, of_constants(constants, basis), units, model)


def _learn_basis(table, fit):
    """Return the terms of a table, pairs last; see `learn_table`."""
    _, specs, pairs, signs = fit.settings
    terms = learn_table(table, specs, plan=fit.plan.table, run=fit.run, n_there=fit.n_there)
    terms = tuple(bent(term) if signs[j] else term for j, term in enumerate(terms))
    sides = [on_fewer_knots(term, tuned.KNOTS_OF_PAIR) for term in terms]
    return Basis((*terms, *[PairTerm(sides[a], sides[b]) for a, b in pairs]))
