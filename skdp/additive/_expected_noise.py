"""The noise that an additive model is expected to have, by public numbers alone."""

import math
import warnings

import numpy as np
from scipy.linalg import block_diag
from scipy.special import ndtri

from skdp._families.targets import TargetUnits
from skdp._rows.kinds import NUMERIC
from skdp.additive import _tuned as tuned
from skdp.additive._plan import ConstantPlan
from skdp.additive._products import SecondView, count_paired
from skdp.additive._second_fit import TargetSizes, plan_first, plan_second
from skdp.exceptions import warn_user
from skdp.linear_model.whitened import _tuned as whitened
from skdp.linear_model.whitened._expected_solver import (
    ExpectedNoise,
    expected_noise,
    expected_steps,
    most_told,
)
from skdp.linear_model.whitened._method import rules_of
from skdp.preprocessing.table._given import read_specs
from skdp.preprocessing.table._terms import Basis, HatsTerm, LineTerm
from skdp.preprocessing.table._tuned import SHARE_BEYOND_LINE

_ALL_NOISE = (
    "The noise hides the effect of every column: no term can be told from noise, and all terms "
    "together can't. "
)
_MOST_NOISE = (
    "Noise is as large as the effects that columns mostly have, as public numbers tell, so that it "
    "may hide those of most columns. "
)
_ADVICE = "Take more records, a larger epsilon, or fewer columns"
_ENOUGH_FOR = (
    ": these {} records are enough for about {} of {} columns. skdp.inspection.predicted_noise "
    "says more."
)
_ENOUGH_FOR_NONE = (
    "Take more records or a larger epsilon: {} records are too few for a single column. "
    "skdp.inspection.predicted_noise says more."
)
# Units of targets change no noise in the units of training.
_UNITS = TargetUnits(0.0, 1.0, True, (-1.0, 1.0))


def warn_of_noise(parameters, plan, n_features, n_outputs, *, are_noise):
    """Warn where all terms are noise, or public numbers foresee that most effects are hidden.

    Records are rows: what groups have isn't foreseen, nor effects on counts and amounts.
    """
    advice = f"{_ADVICE}."
    loss = parameters.predicted.family().loss(n_outputs).name
    is_foreseen = loss in whitened.TYPICAL_EFFECTS and not plan.budget.of_groups
    hides_most = False
    if is_foreseen and not isinstance(plan, ConstantPlan):
        most = max(tuned.MOST_KNOTS_FORESEEN // plan.table.most_knots, 1)
        n_seen = min(n_features, most)
        # The fit has its own warnings of what it plans.
        with warnings.catch_warnings(action="ignore"):
            n_told = most_told(
                lambda n: expected_noise_of(parameters, plan.budget, plan.n_records, n, n_outputs),
                n_seen,
            )
        hides_most = n_told <= tuned.FEW_OF_COLUMNS * n_seen
        if hides_most and n_told:
            advice = f"{_ADVICE}{_ENOUGH_FOR.format(plan.n_records, n_told, n_features)}"
        elif hides_most:
            advice = _ENOUGH_FOR_NONE.format(plan.n_records)
    if are_noise or hides_most:
        warn_user((_ALL_NOISE if are_noise else _MOST_NOISE) + advice)


def expected_noise_of(parameters, budget, n_records, n_features, n_outputs):
    """Return the `ExpectedNoise` of a fit with such a budget, in the units of training.

    All columns are taken to hold numbers, with as many knots as columns of tables have.
    """
    specs, predicted = read_specs([""] * n_features, [NUMERIC] * n_features), parameters.predicted
    plan = parameters.plan(budget, specs, n_records, n_outputs)
    family, sizes = predicted.family(), TargetSizes(n_outputs)
    loss = family.loss(n_outputs).name
    if isinstance(plan, ConstantPlan):
        # All rows are predicted alike.
        return ExpectedNoise(math.inf, math.nan, whitened.TYPICAL_EFFECTS[loss])
    basis = _even_basis(n_features, plan)
    first = plan_first(parameters, family, basis, plan, sizes)
    steps = expected_steps(
        first.plan,
        rules_of(loss, in_ball=True),
        moment=_even_moment(basis),
        # No row is longer, and most are about as long.
        radius=basis.norm_bound,
    )
    # Its columns have the effects of terms together.
    fits = [steps._replace(n_columns=n_features)]
    if plan.second is not None:
        effect = whitened.TYPICAL_EFFECTS[loss]
        view = _typical_view(basis, effect, predicted.product_rules, plan.second.room)
        second = plan_second(parameters, family.known(_UNITS), view, plan, sizes)
        rules = rules_of(loss, in_ball=True, starts=True)
        fits.append(expected_steps(second.plan, rules))
    return expected_noise(fits, loss)


def _even_basis(n_features, plan):
    """Return terms of so many columns, with as many knots as columns of a table typically have."""
    n_knots = plan.table.knots_for(plan.n_records)
    if n_knots == 0:
        terms = [LineTerm(name="", feature=j, knots=np.arange(2.0)) for j in range(n_features)]
        return Basis(tuple(terms))
    if plan.table.n_knots == "auto":
        fewest = min(n_knots, tuned.FEWEST_EVEN_KNOTS)
        n_knots = max(round(tuned.SHARE_OF_KNOTS * n_knots), fewest)
    knots = np.arange(float(n_knots))
    return Basis(tuple(HatsTerm(name="", feature=j, knots=knots) for j in range(n_features)))


def _even_moment(basis):
    """Return the second moment of a basis about its mean.

    Numbers of hats lie evenly between their knots, as quantiles do. Those of lines are normal.
    """
    term = basis.terms[0]
    if term.kind == "line":
        return np.eye(len(basis.terms)) / ndtri(SHARE_BEYOND_LINE) ** 2
    n_parts = term.knots.size - 1
    # A hat's square has the mean 2 / 3 where it is, and the product of two neighbours 1 / 6.
    beside = np.full(n_parts, 1.0 / 6.0)
    own = np.append(beside, 0.0) + np.append(0.0, beside)
    of_hats = (2.0 * np.diag(own) + np.diag(beside, 1) + np.diag(beside, -1)) / n_parts
    means = 3.0 * own / n_parts
    return block_diag(*[of_hats - np.multiply.outer(means, means)] * len(basis.terms))


def _typical_view(basis, effect, rules, room):
    """Return the columns of a second fit to terms that have typical effects, all of one size."""
    n_curves = len(basis.terms)
    n_paired = count_paired(n_curves, n_curves, rules, room)
    return SecondView(
        basis=basis,
        coefs=np.zeros(basis.n_columns),
        intercept=0.0,
        means=np.zeros(n_curves),
        units=np.ones(n_curves),
        largest=np.full(n_curves, tuned.LARGEST_IN_SPREADS),
        products=(None,) * (n_paired * (n_paired - 1) // 2),
        variance=n_curves * effect**2,
    )
