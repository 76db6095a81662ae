"""The second fit of an additive model: to the curves of the first one, and to products of them."""

from collections.abc import Callable

from skdp._release.release import with_ending
from skdp.additive._chosen import count_signs
from skdp.additive._fitted import Fitted
from skdp.additive._plan import MODEL, strength_of
from skdp.additive._products import second_view
from skdp.additive._shapes import Shape


class SecondFitMixin:
    """What additive models do for ``interactions="auto"``."""

    # Parameters of the constructors of subclasses, and what these say of their linear model.
    alpha: float
    interactions: object
    monotonic_cst: object
    _linear: Callable
    _product_rules: Callable
    _plan_first: Callable
    _of_known_places: Callable

    def _finds_pairs(self):
        """Return whether products of curves are asked for, where they can be made."""
        return isinstance(self.interactions, str)

    def _named_pairs(self):
        """Return the pairs of columns that are to have a surface, as they were given."""
        return () if self._finds_pairs() else self.interactions

    def _rules_for(self, n_outputs, n_columns):
        """Return the rules of products, or None where no product can be made.

        Products are of two curves that nothing constrains, and add to the sum of one output.
        """
        n_free = n_columns - count_signs(self.monotonic_cst)
        can_be_made = self._finds_pairs() and n_outputs == 1 and n_free > 1
        return self._product_rules() if can_be_made else None

    def _plan_model(
        self, model, family, columns, budget, n_rows, n_targets, *, by_group, scale, roughness=None
    ):
        """Return the plan of a linear model of the columns of a basis, or of a second view."""
        model.data_norm, model.n_features_in_ = columns.norm_bound, columns.n_columns
        return model._plan(
            n_rows,
            columns.n_columns,
            n_targets,
            by_group=by_group,
            scale=scale,
            budget=budget,
            # All are up to 1, or in units of their spread. Sizes that are learnt could be those of
            # a hat's foot.
            alike=True,
            roughness=roughness,
            family=family,
        )

    def _fit_models(
        self,
        table,
        model,
        family,
        basis,
        target_units,
        signs,
        plan,
        run,
        *,
        n_targets,
        by_group,
        scale=None,
    ):
        """Fit a linear model to the columns of a basis, and another one to products, if planned.

        The table gives rows in these columns, in memory or in partitions.
        Return what was fitted, and the units of targets.
        """
        if plan.second is not None:
            family = family.followed()
        of_model = self._plan_first(
            model, family, basis, plan, n_targets, by_group=by_group, scale=scale
        )
        run.fill(MODEL, of_model.releases)
        rows = table.map_to(model._treatment(family), basis)
        with rows.at_work():
            solution = model._solve(rows, of_model, target_units, run)
            target_units = solution.training.units
            fitted = self._of_known_places(Fitted.of_columns(solution, basis))
            if plan.second is not None:
                view = self._second_view(fitted, basis, signs, plan)
                second_family = self._family(has_exposure=family.has_exposure).known(target_units)
                second = self._second_model(
                    view, second_family, plan, run, by_group=by_group, scale=scale
                )
                of_products = self._fit_second(rows, view, second_family, target_units, *second)
                fitted = fitted.followed_by(of_products, view, signs)
        return fitted, target_units

    def _fit_second(self, rows, view, family, target_units, model, of_model, run):
        """Fit a linear model to the columns of a view of rows."""
        with rows.view(model._treatment(family), view):
            solved = model._solve(rows, of_model, target_units, run, view.start)
        return Fitted.of_columns(solved, view)

    def _second_model(self, view, family, plan, run, *, by_group, scale=None):
        """Return a linear model of the columns of a view, its plan, and the run of its releases."""
        model = self._linear()
        of_model = self._plan_second(model, family, view, plan, by_group=by_group, scale=scale)
        ending = plan.second.ending
        run.fill(plan.second.name, with_ending(of_model.releases, ending))
        return model, of_model, run.part(ending)

    def _plan_second(self, model, family, view, plan, *, by_group, scale=None):
        """Return the plan of a linear model of the columns of a view."""
        noise = plan.second.budget.calibrate() / plan.n_rows
        strength = strength_of(self.alpha, plan.n_rows)
        model.alpha = strength + view.penalty(self._product_rules(), noise)
        return self._plan_model(
            model, family, view, plan.second.budget, plan.n_rows, 1, by_group=by_group, scale=scale
        )

    def _second_view(self, fitted, basis, signs, plan):
        """Return the columns of a second fit, which follow from the first."""
        shapes = [Shape.of(term) for term in basis.terms]
        is_free = [sign == 0 for sign in signs]
        rules = self._product_rules()
        return second_view(basis, shapes, fitted.coefs[0], rules, plan.second.room, is_free)
