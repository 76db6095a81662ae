"""What additive models of labels and of targets have of their own: a loss, and linear models."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from skdp.additive import _tuned as tuned
from skdp.additive._constant import logs_of_shares
from skdp.additive._plan import Alone
from skdp.additive._reading import Reading
from skdp.linear_model import (
    DPGammaRegressor,
    DPLogisticRegression,
    DPPoissonRegressor,
    DPRidge,
)
from skdp.preprocessing.table._tuned import MOST_KNOTS

_MODELS_OF_TARGETS: dict[str, type] = {
    "squared_error": DPRidge,
    "poisson": DPPoissonRegressor,
    "gamma": DPGammaRegressor,
}
LOSSES_OF_TARGETS = frozenset(_MODELS_OF_TARGETS)


@dataclass(frozen=True, eq=False, kw_only=True)
class Predicted:
    """What an additive model predicts, and parameters of the linear models that it is made of."""

    epsilon: float
    delta: Any
    adjacency: str
    n_jobs: int | None

    # An error says so where curves of several outputs are to rise or to fall.
    one_curve: ClassVar[str]

    @property
    def most_knots(self):
        """The most knots that "auto" gives to a column."""
        return MOST_KNOTS

    @property
    def product_rules(self):
        """The rules of products and of a second fit, None where there is none."""
        raise NotImplementedError

    def linear(self):
        """Return a linear model of columns of terms."""
        raise NotImplementedError

    def family(self, *, has_exposure=False):
        """Return what the loss is to a fit, as a `Family`."""
        return self.linear()._family(has_exposure=has_exposure)

    def alone(self, n_outputs):
        """Return what may be all that is released, as `Alone`, or None."""
        raise NotImplementedError

    def constants(self, means, units):
        """Return intercepts, of shape (k,), by means in [0, 1] that were released alone."""
        raise NotImplementedError

    def naming(self, model):
        """Return how values of a fitted model are named in tables, as `Reading`."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False, kw_only=True)
class PredictedLabels(Predicted):
    """Labels, by logistic regression."""

    classes: Any
    class_weight: Any

    one_curve: ClassVar = "monotonic_cst is for two classes: fit one class against the others."

    @property
    def product_rules(self):
        return tuned.PRODUCT_RULES["log_loss"]

    def linear(self):
        return DPLogisticRegression(
            classes=self.classes,
            class_weight=self.class_weight,
            epsilon=self.epsilon,
            delta=self.delta,
            adjacency=self.adjacency,
            n_jobs=self.n_jobs,
        )

    def alone(self, n_outputs):
        return Alone(n_outputs, of_classes=True)

    def constants(self, means, units):
        return logs_of_shares(means, self.class_weight, units)

    def naming(self, model):
        classes, n_there = model.classes_, model._n_there
        if len(classes) == 2:
            heading = f"log-odds of {classes[1:].tolist()[0]!r}"
            return Reading(["value"], heading, "odds_ratio", n_there)
        return Reading([f"value_{c}" for c in classes], "score", None, n_there)


@dataclass(frozen=True, eq=False, kw_only=True)
class PredictedTargets(Predicted):
    """Targets, by their mean or its logarithm."""

    loss: str
    target_bounds: Any
    exposure_bounds: Any

    one_curve: ClassVar = "monotonic_cst is for one target: fit one model for each."
    # There are no classes that weigh anything.
    class_weight: ClassVar = None

    @property
    def is_linear(self):
        """Whether predictions are sums of terms, and not exponentials of them."""
        return self.loss == "squared_error"

    @property
    def product_rules(self):
        return tuned.PRODUCT_RULES.get(self.loss)

    @property
    def most_knots(self):
        return tuned.MOST_KNOTS_OF_TARGETS if self.is_linear else MOST_KNOTS

    def linear(self):
        model = _MODELS_OF_TARGETS[self.loss](
            target_bounds=self.target_bounds,
            epsilon=self.epsilon,
            delta=self.delta,
            adjacency=self.adjacency,
            n_jobs=self.n_jobs,
        )
        return model if self.is_linear else model.set_params(exposure_bounds=self.exposure_bounds)

    def family(self, *, has_exposure=False):
        expects_exposure = self.is_linear and self.exposure_bounds is not None
        return super().family(has_exposure=has_exposure or expects_exposure)

    def alone(self, n_outputs):
        if not self.is_linear:
            return None
        return Alone(n_outputs, of_classes=False, learns_ranges=self.family().learns_targets)

    def constants(self, means, units):
        # Targets from -1 to 1 are trained on.
        return 2.0 * means - 1.0

    def naming(self, model):
        n_outputs, n_there = np.size(model.intercept_), model._n_there
        if not self.is_linear:
            return Reading(["value"], "logarithm of the mean", "ratio", n_there)
        outputs = ["value"] if n_outputs == 1 else [f"value_{j}" for j in range(n_outputs)]
        return Reading(outputs, "units of the target", None, n_there)
