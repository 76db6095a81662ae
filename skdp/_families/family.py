"""What a loss is to a fit: how targets are read, what is learnt of them, and what users get."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from skdp._checks import check_public_weight
from skdp._families.losses import Loss
from skdp._families.weights import EVEN, weigh

_NO_EXPOSURE = (
    "exposure is for counts and amounts whose mean has a log link: DPPoissonRegressor, "
    "DPGammaRegressor, DPTweedieRegressor with a power other than 0, and additive models with such "
    "a loss."
)


class Slopes(NamedTuple):
    """What releases tell of a loss's slopes, over what a plan takes them to be.

    They are so many times as long, and the slope of the derivative is at most so many times as
    steep.
    """

    length: float
    steepness: float


class Learnt(NamedTuple):
    """What was learnt of targets: the units that they are in from now on."""

    units: object
    # None where nothing tells of slopes: the plan stays as it is.
    slopes: Slopes | None = None


class LinearModel(NamedTuple):
    """Coefficients as users have them, and the ends of predictions, which labels don't have."""

    coef: np.ndarray
    intercept: float | np.ndarray
    ends: tuple | None = None


@dataclass(frozen=True, kw_only=True)
class Family:
    """What a loss is to a fit, whatever the method is and wherever rows are.

    It holds public numbers alone and is never changed, so that workers get it as it is. Subclasses
    have `loss`, `read`, `linear_model` and `attributes`, and for collections `first_units`. Targets
    have shape (n, k); with an exposure of each row that is one more column.
    """

    # Without privacy nothing is cut or learnt by releases.
    is_private: bool
    # Targets may have an exposure of each row beside them.
    has_exposure: bool = False

    # Targets may be such that an exposure makes rates of them.
    takes_exposure: ClassVar[bool] = False
    # Targets are numbers, of which rows may have several, or labels.
    is_numeric: ClassVar[bool] = True
    takes_several: ClassVar[bool] = True
    # A fit learns where targets lie.
    learns_targets: ClassVar[bool] = False
    # A fit without privacy takes targets to be about their exact means.
    takes_means_off: ClassVar[bool] = False
    # Targets are in a range that is known, as labels are.
    has_bounds: ClassVar[bool] = True
    # Scores of classes may be logarithms of odds.
    has_probabilities: ClassVar[bool] = False
    # The class set is read from labels where nobody declared it.
    reads_classes: ClassVar[bool] = False
    # Targets are divided by this, as far as it is public.
    half_width: ClassVar[float] = 1.0
    # The report of a fit assumes this public.
    assumed: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self):
        if self.has_exposure and not self.takes_exposure:
            raise ValueError(_NO_EXPOSURE)

    def loss(self, n_columns) -> Loss:
        """Return the `Loss` of targets of so many columns."""
        raise NotImplementedError

    def n_columns(self, n_targets):
        """Return how many columns targets have in training, of so many that were given."""
        return n_targets

    def n_outputs(self, n_columns):
        """Return how many predictions a row has whose targets have so many columns."""
        return n_columns

    def check(self, y):
        """Refuse targets that no fit takes, whatever else is asked of it."""

    def check_settings(self):
        """Refuse or warn of settings that don't go with a fit, whatever the targets are."""

    def first_units(self, one_axis=True):
        """Return the units of targets before anything is learnt of them, without looking."""
        raise NotImplementedError

    def read(self, y, exposure=None):
        """Return targets of shape (n, k) as training takes them, and their units."""
        raise NotImplementedError

    @property
    def checks_of_targets(self):
        """What scikit-learn's checks of input are to know of targets: keyword arguments."""
        return {"multi_output": self.takes_several, "y_numeric": self.is_numeric}

    def void_rows(self, targets):
        """Tell which rows add nothing to any release, as their targets say; None if none does."""
        return

    def weigh(self, public_weight, n_rows, classes=None, targets=None):
        """Return the `Weights` of records."""
        return weigh(check_public_weight(public_weight, n_rows))

    def weight_scale(self, n_outputs):
        """Return the public `WeightScale` of records whose rows have no weights."""
        return EVEN

    def plan(self, budget, share, n_records, n_columns):
        """Return the plan of ranges of targets, or None, and its share of mu^2.

        A share of mu^2 that is "auto" follows from the number of records.
        """
        return None, 0.0

    def plan_rest(self, budget, ranges, left, n_records):
        """Return all that is learnt of targets, or None, and the share it spends beside ranges.

        It is `TargetReleases`, and those ranges are among them. A share `left` of mu^2 is there for
        what it releases besides, and for all that follows.
        """
        return None, 0.0

    def followed(self):
        """Return the family of a fit that another one, to the same targets, follows and ends."""
        return self

    def known(self, units):
        """Return the family of a fit to targets that an earlier fit moved to these units."""
        return self

    def learn(self, rows, units, plan, run):
        """Move the targets of rows to where a plan's releases tell that they lie: a `Learnt`."""
        return Learnt(units)

    def finish(self, rows, coefs, bias, units, plan, run):
        """Return what is added to linear predictions in the end, in the units of training.

        Coefficients are those of rows as they are; `bias` is the intercept's constant.
        """
        return 0.0

    def unit(self, units):
        """Return what targets were divided by, a number or an array of one for each."""
        return 1.0

    def linear_model(self, coefs, bias, units, n_features) -> LinearModel:
        """Return the `LinearModel` of coefficients, of shape (k, d), for targets in such units."""
        raise NotImplementedError

    def attributes(self, linear, units):
        """Return what a fit publishes beside coefficients, by the name of the attribute."""
        raise NotImplementedError
