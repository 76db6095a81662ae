"""Counts and amounts whose mean has a log link, and their rates where rows have exposures."""

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from skdp._ball._plan import SIDES, TargetReleases, plan_sides, plan_targets
from skdp._ball._solver import hardly_tells, learn_quotient, learn_sizes
from skdp._checks import check_exposure
from skdp._families import _tuned as tuned
from skdp._families.family import Learnt, LinearModel, Slopes
from skdp._families.losses import Tweedie, TweedieRate
from skdp._families.means import RegressionFamily
from skdp._families.replacements import Sides
from skdp._families.targets import RateUnits, as_targets
from skdp._release.release import named
from skdp._rows.ball_queries import exact_means
from skdp._rows.blocks import rounding_slack
from skdp.exceptions import warn_user

# Steps of a reciprocal of this move nothing; a larger one would overflow.
_STEEPEST = 1e100
_OUT_OF_RANGE = (
    "y is out of the range of the loss: targets must be at least 0, and above 0 for the gamma "
    "distribution and powers from 2 on. Poisson's loss, and powers from 1 to 2, take amounts of 0."
)
_FEW_EXPOSED = (
    "released counts show few rows with an exposure above 0: predicted rates may be many times too "
    "high or too low. Leave out rows that were not seen, if who they are is public."
)
_FEW_FOR_SIZES = (
    "the size of the targets needs more records at this epsilon: predictions may be far off."
)
_NO_EXPOSURE_GIVEN = (
    "exposure_bounds is set, and the fit was given no exposure: give fit(X, y, exposure=...), in a "
    "meta-estimator of scikit-learn by set_fit_request(exposure=True). skdp's own pipelines, "
    "searches and other meta-estimators take no exposure: leave exposure_bounds out there."
)
_NEGATIVE = "target_bounds must have a high above 0: targets aren't negative."
# The noise of both sums in their quotient, over that of one release of the whole budget.
_NOISE_OF_SIDES = math.sqrt(2.0 / tuned.SHARE_OF_SIDES)
_POWER = "power must be 0 or at least 1: no distribution has one in between."


@dataclass(frozen=True, kw_only=True)
class RateFamily(RegressionFamily):
    """Means that are exponentials of linear predictors; `power` is that of their variance.

    Targets are divided by their mean, which is released together with their size. If rows have
    exposures, these are a second column, and targets and exposures are cut together to the
    `longest` exposure.
    """

    power: float
    # A bound on exposures was given.
    expects_exposure: bool = False
    # The public bound on exposures, infinite where none is given.
    longest: float = math.inf
    # An earlier fit moved targets to their units, and learnt their sizes.
    is_known: bool = False
    # Another fit to the same targets follows, and mends the mean in the end.
    is_followed: bool = False

    takes_exposure: ClassVar = True
    takes_several: ClassVar = False
    half_width: ClassVar = 1.0

    def __post_init__(self):
        super().__post_init__()
        if 0.0 < self.power < 1.0:
            raise ValueError(_POWER)
        if self.bounds is not None and self.bounds[1] <= 0.0:
            raise ValueError(_NEGATIVE)

    @property
    def learns_targets(self):
        """Whether a fit learns the size of targets."""
        return self.is_private and not self.is_known

    @property
    def _reach(self):
        """How far a linear predictor may be from that of the released mean."""
        return tuned.LARGEST_LINEAR_PREDICTOR if self.is_private else math.inf

    @property
    def _limits(self):
        """What targets are moved to, and predictions."""
        if self.bounds is None or not self.is_private:
            return 0.0, math.inf
        return max(self.bounds[0], 0.0), self.bounds[1]

    def loss(self, n_columns):
        kind = TweedieRate if self.has_exposure else Tweedie
        return kind(self.power, self._reach)

    def n_columns(self, n_targets):
        return n_targets + self.has_exposure

    def n_outputs(self, n_columns):
        # An amount and its exposure have one prediction.
        return 1

    def check(self, y):
        least = as_targets(y).min()
        if least < 0.0 or (self.power >= 2.0 and least == 0.0):
            raise ValueError(_OUT_OF_RANGE)

    def check_settings(self):
        if self.expects_exposure and not self.has_exposure:
            raise ValueError(_NO_EXPOSURE_GIVEN)

    def first_units(self, one_axis=True):
        return RateUnits(1.0)

    def read(self, y, exposure=None):
        """Return targets within the public bounds, their exposures beside them, and the units."""
        self.check(y)
        targets = np.clip(as_targets(y), *self._limits)
        if self.has_exposure:
            targets = np.column_stack([targets, check_exposure(exposure, len(targets))])
        return targets, self.first_units()

    def void_rows(self, targets):
        return targets[:, 1] == 0.0 if self.has_exposure else None

    def plan(self, budget, share, n_records, n_columns):
        if not self.learns_targets:
            return None, 0.0
        slack = rounding_slack(n_records, n_columns, 1)
        sizes, spent = plan_targets(
            budget, share, n_records=n_records, n_targets=n_columns, slack=slack, of_sizes=True
        )
        if hardly_tells(sizes):
            warn_user(_FEW_FOR_SIZES)
        return sizes, spent

    def plan_rest(self, budget, ranges, left, n_records):
        sides, spent = None, 0.0
        if self.is_private and self.centred and not self.is_followed:
            spent = left * tuned.SHARE_OF_SIDES
            slack = rounding_slack(n_records, 2, 1)
            sides = plan_sides(budget, spent, n_records=n_records, slack=slack)
        if ranges is None and sides is None:
            return None, 0.0
        return TargetReleases(ranges=ranges, last=named(SIDES, sides)), spent

    def followed(self):
        return replace(self, is_followed=True)

    def known(self, units):
        return replace(self, is_known=True)

    # A warning about an overflow would reveal something of the data.
    @np.errstate(all="ignore")
    def learn(self, rows, units, plan, run):
        """Divide targets by their mean; tell how long and how steep slopes are then.

        Without an intercept a prediction of 0 is a mean of 1, whatever the targets are. Exposures
        are divided by theirs.
        """
        if self.is_known:
            return Learnt(units, Slopes(length=units.size, steepness=1.0))
        if plan.target_releases is None:
            means = exact_means(rows)
            sizes, shares = np.ones((len(means), 2)), np.ones(len(means))
        else:
            noise = plan.noise_in_predictions
            noises = noise, noise * _NOISE_OF_SIDES / plan.problem.n_columns
            means, sizes, shares = learn_sizes(
                rows.of_targets(), plan=plan.target_releases.ranges, run=run, noises=noises
            )
        units = self._units_of(means, sizes[:, 0])
        if self.has_exposure and shares[1] < tuned.FEWEST_EXPOSED:
            warn_user(_FEW_EXPOSED)
        mean, (size, size_in_sums) = units.mean, sizes[0] / units.exposure
        # At predictions of the mean the derivative's slope is one.
        steepness = 1.0
        if not (self.centred and mean > 0.0):
            # At predictions of the mean, and of 1, from where steps start.
            power = self.power
            steepness = max(np.float64(mean) ** (2.0 - power), 2.0 - power + (power - 1.0) * mean)
            steepness, mean = float(np.clip(steepness, 1.0, _STEEPEST)), 1.0
        size, size_in_sums = (max(float(one) / mean, 1.0) for one in (size, size_in_sums))
        units = units._replace(mean=mean, size=size, size_in_sums=size_in_sums)
        rows.move_targets(units)
        return Learnt(units, Slopes(length=size, steepness=steepness))

    def _units_of(self, means, sizes):
        """Return the units of targets, and of exposures if there are some, of such means and sizes.

        Where nothing tells of exposures they are in units of 1.
        """
        if not self.has_exposure:
            return RateUnits(mean=float(means[0]))
        longest = min(self.longest, float(sizes[1]) if self.is_private else math.inf)
        exposure = min(float(means[1]), longest)
        exposure = exposure if exposure > 0.0 else 1.0
        return RateUnits(float(means[0]) / exposure, exposure, longest, has_exposure=True)

    # A warning about an overflow would reveal something of the data.
    @np.errstate(all="ignore")
    def finish(self, rows, coefs, bias, units, plan, run):
        """Return what makes predictions come to the amounts: cut slopes made them too small."""
        if not plan.last:
            return 0.0
        rows.replace_targets(Sides(coefs, bias, self.loss(1)))
        radius = math.hypot(units.size_in_sums, tuned.LARGEST_EXPECTED)
        return learn_quotient(rows.of_targets(weighted=True), run, SIDES, radius=radius)

    def during(self, means, exposure):
        """Return predicted means of so many exposures of rows."""
        return means * check_exposure(exposure, len(means))

    def unit(self, units):
        return 1.0

    def linear_model(self, coefs, bias, units, n_features):
        intercept = 0.0
        if self.centred:
            intercept = math.log(units.mean) + float(bias * coefs[0, -1])
        ends = units.mean * math.exp(-self._reach), units.mean * math.exp(self._reach)
        # The bounds that were given are of amounts, and predictions are of rates.
        limits = (0.0, math.inf) if units.has_exposure else self._limits
        ends = tuple(float(end) for end in np.clip(ends, *limits))
        return LinearModel(coefs[0, :n_features], intercept, ends)
