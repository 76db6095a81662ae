"""Parameters of an additive model, as its plan and its fit go by them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from skdp._checks import check_n_jobs
from skdp._settings import Settings
from skdp.additive._chosen import count_signs
from skdp.additive._plan import plan_additive, strength_of
from skdp.additive._predicted import PredictedLabels, PredictedTargets
from skdp.preprocessing.table._given import check_n_knots


@dataclass(frozen=True, eq=False, kw_only=True)
class Parameters(Settings):
    """Parameters of an additive model that aren't of a run."""

    alpha: Any
    interactions: Any
    monotonic_cst: Any
    knots: Any
    # Columns hold what these declare.
    feature_bounds: Any
    categories: Any
    numeric_features: Any
    categorical_features: Any
    features_budget: Any
    predicted: PredictedLabels | PredictedTargets
    # Rows in partitions aren't few, so that there is always a model of them.
    may_be_constant: bool = True

    @property
    def finds_pairs(self):
        """Whether products of curves are asked for, where they can be made."""
        return isinstance(self.interactions, str)

    @property
    def named_pairs(self):
        """The pairs of columns that are to have a surface, as they were given."""
        return () if self.finds_pairs else self.interactions

    def plan(self, budget, specs, n_records, n_outputs):
        """Return the plan of a table whose columns have such specs, and of its models."""
        check_n_jobs(self.predicted.n_jobs)
        alone = None
        # Rows of people may be of several classes.
        if self.may_be_constant and not budget.of_groups:
            alone = self.predicted.alone(n_outputs)
        return plan_additive(
            budget,
            specs,
            features_budget=self.features_budget,
            n_records=n_records,
            n_knots=check_n_knots(self.knots),
            products=self.rules_for(n_outputs, len(specs.names)),
            most_of_auto=self.predicted.most_knots,
            alone=alone,
        )

    def rules_for(self, n_outputs, n_columns):
        """Return the rules of products, or None where no product can be made.

        Products are of two curves that nothing constrains, and add to the sum of one output.
        """
        n_free = n_columns - count_signs(self.monotonic_cst)
        can_be_made = self.finds_pairs and n_outputs == 1 and n_free > 1
        return self.predicted.product_rules if can_be_made else None

    def strength(self, n_records):
        """Return the strength of the penalty for so many records."""
        return strength_of(self.alpha, n_records)

    def check_curves(self, signs, n_outputs):
        """Refuse curves that are to rise or to fall where there are several outputs."""
        if any(signs) and n_outputs > 1:
            raise ValueError(self.predicted.one_curve)

    def count_there(self, weights, n_records, *, has_exposure):
        """Return how many records have a weight; None where that is private."""
        # The numbers of records of a class and of exposed rows are as private as these.
        if has_exposure or 0.0 in (self.predicted.class_weight or {}).values():
            return None
        return n_records if weights.is_zero is None else int(np.count_nonzero(~weights.is_zero))


def parameters_of(model, predicted):
    """Return the `Parameters` of a model that predicts something, as they are now."""
    return Parameters(
        alpha=model.alpha,
        interactions=model.interactions,
        monotonic_cst=model.monotonic_cst,
        knots=model.knots,
        feature_bounds=model.feature_bounds,
        categories=model.categories,
        numeric_features=model.numeric_features,
        categorical_features=model.categorical_features,
        features_budget=model.features_budget,
        predicted=predicted,
    )
