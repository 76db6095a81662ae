"""What plans of models that are trained step by step share."""

from dataclasses import dataclass

from skdp._losses import Loss
from skdp._plans._base import Plan
from skdp._plans._release import Release
from skdp._weights import EVEN, WeightScale


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Public numbers of a training problem; sizes include the intercept's column.

    `rounding_slack` is that of `skdp._mechanisms.GaussianMechanism`.
    """

    n_rows: int
    n_columns: int
    n_outputs: int
    rounding_slack: float
    loss: Loss
    scale: WeightScale = EVEN

    def release(self, **fields):
        """Return a release of sums over the rows."""
        return Release(n_records=self.n_rows, rounding_slack=self.rounding_slack, **fields)


@dataclass(frozen=True, eq=False, kw_only=True)
class SteppedPlan(Plan):
    """A plan whose steps each make the release `step`."""

    step: Release

    @property
    def events(self):
        """One event of as many steps as there are."""
        return (self.step.event,)

    @property
    def mechanism(self):
        """What adds noise to a step's sums."""
        return self.step.mechanism

    @property
    def clipping(self):
        """The mechanism's bound."""
        return self.step.bound
