"""Targets of a regression that are mapped from a range, given or learnt, to [-1, 1]."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skdp._ball._plan import TargetReleases, plan_targets
from skdp._ball._solver import hardly_tells, learn_targets
from skdp._families.family import Family, Learnt, LinearModel
from skdp._families.targets import (
    TargetUnits,
    as_targets,
    clip_targets,
    of_one_width,
    target_scale,
)
from skdp._rows.ball_queries import exact_means
from skdp._rows.blocks import rounding_slack
from skdp.exceptions import warn_user

FEW_FOR_TARGETS = (
    "target_bounds=None learns a range of the targets, for which the records are too few at this "
    "epsilon: predictions may be far off. Give public bounds, target_bounds=(low, high)."
)
NO_TARGET_BOUNDS = (
    "target_bounds=None assumes that the targets are within about [-1, 1], without looking; where "
    "they aren't, predictions are far off. Give public bounds, target_bounds=(low, high)."
)
_UNIT_TARGETS = (
    "the scale of the targets: [-1, 1], as target_bounds=None takes it (it only affects accuracy)"
)


@dataclass(frozen=True, kw_only=True)
class RegressionFamily(Family):
    """Targets that are numbers, within public bounds or None.

    They are `centred` where there is an intercept. A fit `may_learn` where they lie, if it has a
    share of the budget for it.
    """

    bounds: tuple | None
    centred: bool
    may_learn: bool

    @property
    def has_bounds(self):
        """Whether targets are in a range that the caller gave."""
        return self.bounds is not None

    @property
    def half_width(self):
        """What targets are divided by, as far as it is public."""
        return target_scale(self.bounds, center=self.centred)[1]

    @property
    def assumed(self):
        """What the report says of the targets' scale."""
        is_taken = self.bounds is None and self.is_private and not self.learns_targets
        return (_UNIT_TARGETS,) if is_taken else ()

    def check_settings(self):
        if self.assumed:
            warn_user(NO_TARGET_BOUNDS, depth=5)

    def plan(self, budget, share, n_records, n_columns):
        if not self.learns_targets:
            return None, 0.0
        slack = rounding_slack(n_records, n_columns, 1)
        ranges, spent = plan_targets(
            budget, share, n_records=n_records, n_targets=n_columns, slack=slack
        )
        if self.bounds is None and hardly_tells(ranges):
            warn_user(FEW_FOR_TARGETS)
        return ranges, spent

    def plan_rest(self, budget, ranges, left, n_records):
        return None if ranges is None else TargetReleases(ranges=ranges), 0.0

    def unit(self, units):
        return units.half_width

    def linear_model(self, coefs, bias, units, n_features):
        coef = np.reshape(units.half_width, (-1, 1)) * coefs[:, :n_features]
        intercept = 0.0
        if self.centred:
            intercept = units.midpoint + units.half_width * bias * coefs[:, -1]
            intercept = float(intercept[0]) if units.one_axis else intercept
        # A column is one target, as for scikit-learn's Ridge, which has an array of one intercept.
        return LinearModel(coef[0] if len(coef) == 1 else coef, intercept, units.bounds)

    def attributes(self, linear, units):
        return {"target_bounds_": linear.ends}

    def in_range(self, targets, bounds, one_axis):
        """Return targets moved from a range, or None's, to [-1, 1], and their units."""
        targets, midpoint, half_width = clip_targets(
            targets, bounds, center=self.centred, clip=self.is_private
        )
        units = TargetUnits(midpoint, half_width, one_axis)
        if bounds is not None and self.is_private:
            units = units._replace(bounds=bounds)
        return targets, units


@dataclass(frozen=True, kw_only=True)
class MeanFamily(RegressionFamily):
    """Targets in units of their range, for losses that need no more than that."""

    own_loss: Any
    # One number divides all of several targets.
    of_one_width: bool = False

    @property
    def learns_targets(self):
        """Whether a fit learns where targets lie."""
        return self.bounds is None and self.is_private and self.may_learn

    def loss(self, n_columns):
        return self.own_loss

    @property
    def takes_means_off(self):
        """Whether targets are taken to be about their means, which nothing hides without privacy.

        The intercept is penalised, so that it would be too near to 0 for targets far from there.
        """
        return self.bounds is None and not self.is_private and self.may_learn and self.centred

    def known(self, units):
        bounds = units.bounds if self.learns_targets else self.bounds
        return replace(self, bounds=bounds, may_learn=False)

    def first_units(self, one_axis=True):
        return self.in_range(np.zeros((1, 1)), self.bounds, one_axis)[1]

    def read(self, y, exposure=None):
        return self.in_range(as_targets(y), self.bounds, y.ndim == 1)

    def learn(self, rows, units, plan, run):
        """Move targets into the ranges that a plan learns, or by their means without privacy."""
        if self.takes_means_off:
            units = units._replace(midpoint=exact_means(rows))
            rows.move_targets(units)
            return Learnt(units)
        if plan.target_releases is None:
            return Learnt(units)
        ranges = plan.target_releases.ranges
        ends = learn_targets(rows.of_targets(), plan=ranges, run=run)
        if self.of_one_width and ranges.n_targets > 1:
            ends = of_one_width(ends, center=self.centred)
        units = self.in_range(np.zeros((1, 1)), ends, units.one_axis)[1]
        rows.move_targets(units)
        return Learnt(units)
