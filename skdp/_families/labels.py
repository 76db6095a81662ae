"""Labels: the families of the logistic losses and of the hinge."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from skdp._checks import check_public_weight
from skdp._families.family import Family, LinearModel
from skdp._families.losses import LOSSES, Multinomial
from skdp._families.targets import encode_labels
from skdp._families.weights import class_scale, weigh, weights_of_classes
from skdp._release.plan import CLASSES_READ


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelFamily(Family):
    """Labels from -1 to 1, one column for two classes. Their units are the class set.

    Several classes are `multinomial`, or each is against all others. Where `classes` is None they
    are read from y.
    """

    classes: object
    class_weight: dict | None
    loss_name: str = "log_loss"
    multinomial: bool = False

    is_numeric: ClassVar = False
    takes_several: ClassVar = False

    @property
    def reads_classes(self):
        """Whether nobody declared the class set."""
        return self.classes is None

    @property
    def has_probabilities(self):
        """Whether the loss is that of probabilities."""
        return self.loss_name == "log_loss"

    @property
    def assumed(self):
        """What the report says of the class set."""
        return (CLASSES_READ,) if self.reads_classes else ()

    def loss(self, n_columns):
        if self.multinomial and self.has_probabilities and n_columns > 1:
            return Multinomial(n_columns)
        return LOSSES[self.loss_name]

    def n_columns(self, n_targets):
        return self._encoded_class()[1].shape[1]

    def first_units(self, one_axis=True):
        return self._encoded_class()[0]

    def _encoded_class(self):
        """Return the declared classes, and targets of one record, which are as wide as all."""
        return encode_labels(np.asarray(self.classes)[:1], self.classes)

    def read(self, y, exposure=None):
        classes, targets = encode_labels(y, self.classes)
        return targets, classes

    def weigh(self, public_weight, n_rows, classes=None, targets=None):
        of_rows = check_public_weight(public_weight, n_rows)
        return weigh(of_rows, class_weight=self.class_weight, classes=classes, targets=targets)

    def weight_scale(self, n_outputs):
        if self.class_weight is not None and self.classes is not None:
            weights_of_classes(self.class_weight, np.unique(np.asarray(self.classes)))
        return class_scale(self.class_weight, max(2, n_outputs))

    def linear_model(self, coefs, bias, units, n_features):
        intercept = bias * coefs[:, -1] if bias else np.zeros(coefs.shape[0])
        return LinearModel(coefs[:, :n_features].copy(), intercept)

    def attributes(self, linear, units):
        return {"classes_": units}
