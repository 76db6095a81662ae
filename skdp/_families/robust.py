"""Targets in units of their spread, for losses whose slopes are bounded: Huber's and quantiles'."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from skdp._ball._plan import ERROR_EDGES, ERRORS, SPREAD, TARGET_EDGES, plan_counts
from skdp._ball._solver import learn_quantiles, learn_targets
from skdp._ball._tuned import WIDTH_OF_CUT
from skdp._families.family import Learnt
from skdp._families.means import RegressionFamily
from skdp._families.replacements import Errors
from skdp._families.targets import as_targets, target_scale
from skdp._rows.ball_queries import ExactQuantiles
from skdp._rows.blocks import rounding_slack

# The quartiles of a normal distribution are so many standard deviations apart.
_QUARTILES_APART = 1.349
# The smallest spread of targets is half a bin, over half the range that most are in.
_SMALLEST_SPREAD = 2.0**-6
# Larger bounds carry no information on the size of the targets.
_LARGEST_UNIT = 1e30


@dataclass(frozen=True, kw_only=True)
class RobustFamily(RegressionFamily):
    """Targets about their middle, or about a quantile, in units of a spread that is released.

    In the end the intercept is moved to the `quantile` of the errors, if it isn't None.
    """

    own_loss: Any
    quantile: float | None = None

    takes_several: ClassVar = False

    @property
    def learns_targets(self):
        """Whether a fit learns where targets lie; given bounds may be far too wide."""
        return self.is_private and self.may_learn

    def loss(self, n_columns):
        return self.own_loss

    def first_units(self, one_axis=True):
        return self.read(np.ones(1 if one_axis else (1, 1)))[1]

    def read(self, y, exposure=None):
        # Targets keep their units: in those of bounds that are far too wide, few digits are left.
        targets, units = self.in_range(as_targets(y), None, y.ndim == 1)
        if self.bounds is None or not self.is_private:
            return targets, units
        return np.clip(targets, *self.bounds), units._replace(bounds=self.bounds)

    def plan_rest(self, budget, ranges, left, n_records):
        return plan_counts(
            budget,
            ranges,
            left=left,
            n_records=n_records,
            slack=rounding_slack(n_records, 1, 1),
            quantile=self.quantile or 0.5,
            of_errors=self.centred and self.quantile is not None,
        )

    def learn(self, rows, units, plan, run):
        """Learn the middle of targets, or their quantile, and their spread, and move them."""
        core = self._learn_core(rows, units, plan.target_releases.ranges, run)
        units = self._learn_spread(rows, core, run)
        rows.move_targets(units)
        return Learnt(units)

    # A warning would reveal something of the data.
    @np.errstate(all="ignore")
    def _learn_core(self, rows, units, plan, run):
        """Return the units in which most targets are in [-1, 1], within given bounds."""
        bounds = self.bounds
        if plan is None:
            midpoint, half_width = target_scale(bounds, center=self.centred)
            return units._replace(midpoint=midpoint, half_width=half_width)
        unit = min(target_scale(bounds, center=False)[1], _LARGEST_UNIT)
        rows.move_targets(units._replace(midpoint=0.0, half_width=unit))
        ends = [unit * end for end in learn_targets(rows.of_targets(), plan=plan, run=run)]
        if bounds is not None:
            within = np.clip(ends, *bounds)
            ends = within if within[0] < within[1] else bounds
        midpoint, half_width = target_scale(ends, center=True)
        return units._replace(midpoint=midpoint, half_width=half_width)

    @np.errstate(all="ignore")
    def _learn_spread(self, rows, core, run):
        """Return units of the targets' spread, about their middle or quantile."""
        wanted = np.array([0.25, 0.75, self.quantile or 0.5])
        midpoint, half_width = core.midpoint, core.half_width
        rows.move_targets(core)
        quantiles = self._quantiles(rows, TARGET_EDGES, wanted, SPREAD, run)
        first, third, start = midpoint + half_width * quantiles
        smallest = _SMALLEST_SPREAD * half_width if self.is_private else 0.0
        spread = half_width
        if third > first:
            spread = max((third - first) / _QUARTILES_APART, smallest)
        start, bounds = start if self.centred else 0.0, core.bounds
        if self.bounds is None and self.learns_targets:
            reach = WIDTH_OF_CUT * half_width
            bounds = midpoint - reach, midpoint + reach
        return core._replace(midpoint=start, half_width=spread, bounds=bounds)

    def finish(self, rows, coefs, bias, units, plan, run):
        """Return how far the quantile of the errors is from 0."""
        if not plan.last:
            return 0.0
        rows.replace_targets(Errors(coefs, bias))
        return self._quantiles(rows, ERROR_EDGES, self.quantile, ERRORS, run)

    def _quantiles(self, rows, edges, wanted, name, run):
        """Return quantiles of targets as they are now, by counts between edges."""
        targets = rows.of_targets(weighted=True)
        if not self.is_private:
            query = ExactQuantiles(wanted)
            return run.exactly(name, query.quantiles(targets.ask(query)))
        return learn_quantiles(targets, run, name, edges=edges, wanted=wanted)
