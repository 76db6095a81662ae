"""The second fit of an additive model: to the curves of the first one, and to products of them."""

from collections.abc import Callable

import numpy as np

from skdp._estimator import is_private
from skdp.additive._fitted import Fitted
from skdp.additive._plan import PRODUCTS, strength_of
from skdp.additive._products import second_view
from skdp.additive._shapes import Shape
from skdp.linear_model.ball._solver import start_inside
from skdp.linear_model.whitened._base import Solved


class SecondFitMixin:
    """What additive models do for ``interactions="auto"``."""

    # Parameters of the constructors of subclasses, and what these say of their linear model.
    alpha: float
    interactions: object
    _linear: Callable
    _product_rules: Callable

    def _finds_pairs(self):
        """Return whether products of curves are asked for."""
        return isinstance(self.interactions, str)

    def _plan_model(self, model, columns, budget, n_rows, n_outputs, *, by_group, scale):
        """Return the plan of a linear model of the columns of a basis, or of a second view."""
        model.data_norm, model.n_features_in_ = columns.norm_bound, columns.n_columns
        # All are up to 1, or in units of their spread. Sizes that are learnt could be those of a
        # hat's foot.
        model._alike_columns = True
        return model._plan(
            n_rows, columns.n_columns, n_outputs, by_group=by_group, scale=scale, budget=budget
        )

    def _refined(self, fitted, basis, rows, targets, target_units, signs, plan, run):
        """Fit a linear model to the curves of a first fit, and to products of them."""
        X, codes, weights = rows
        view = self._second_view(fitted, basis, signs, plan)
        model, of_model = self._second_model(
            view, target_units, plan, run, by_group=codes is not None, scale=weights.scale
        )
        rows = weights.without_zero_weights(model._certified_rows(view.of_columns(X)))
        rows, of_model, ball = model._placed(rows, of_model, run, codes)
        start = start_inside(ball, view.start, of_model.problem.bias)
        coefs, steps = model._solve(of_model, rows, targets, run, weights, codes, start)
        second = Fitted.of_columns(Solved(coefs, steps, of_model, ball), view)
        return fitted.followed_by(second, view, signs)

    def _second_model(self, view, target_units, plan, run, *, by_group, scale=None):
        """Return a linear model of the columns of a view, and its plan, which a run takes over."""
        model = self._of_known_units(target_units)
        noise = plan.of_products.calibrate() / plan.n_rows
        strength = strength_of(self.alpha, plan.n_rows)
        model.alpha = strength + view.penalty(self._product_rules(), noise)
        of_model = self._plan_model(
            model, view, plan.of_products, plan.n_rows, 1, by_group=by_group, scale=scale
        )
        run.fill(PRODUCTS, of_model.releases)
        return model, of_model

    def _of_known_units(self, target_units):
        """Return a linear model for targets whose units are known."""
        return self._linear()

    def _second_view(self, fitted, basis, signs, plan):
        """Return the columns of a second fit, which follow from the first."""
        shapes = [Shape.of(term) for term in basis.terms]
        coefs = fitted.coefs[0].copy()
        for shape, part in zip(shapes, basis.slices, strict=True):
            if is_private(self):
                coefs[part] = shape.known(coefs[np.newaxis, part])[0]
        is_free = [sign == 0 for sign in signs]
        return second_view(basis, shapes, coefs, self._product_rules(), plan.room, is_free)
