"""What plans of models that are trained step by step share."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from skdp._ball._plan import BallPlan, TargetReleases
from skdp._families.losses import Loss
from skdp._families.weights import EVEN, WeightScale
from skdp._release.plan import Plan
from skdp._release.release import Release, named

# Runs and reports of all methods call their steps so.
STEPS = "steps"
# Squares of larger ones could overflow.
LARGEST_NORM = 1e150
# Parameters have to lie within these.
SMALLEST, LARGEST = 1e-30, 1e30


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Public numbers of a training problem; sizes include the intercept's column.

    `rounding_slack` is that of `skdp._release.mechanisms.GaussianMechanism`.
    """

    n_records: int
    n_columns: int
    n_outputs: int
    rounding_slack: float
    loss: Loss
    scale: WeightScale = EVEN

    def release(
        self,
        *,
        bound,
        noise_multiplier,
        size,
        design,
        pairwise=False,
        noise="gaussian",
        n_calls=1,
    ):
        """Return a release of sums over the rows; see `Release`."""
        return Release(
            bound=bound,
            noise_multiplier=noise_multiplier,
            size=size,
            n_records=self.n_records,
            rounding_slack=self.rounding_slack,
            pairwise=pairwise,
            noise=noise,
            design=design,
            n_calls=n_calls,
        )


@dataclass(frozen=True, kw_only=True)
class RowProblem(Problem):
    """With a public bound on the norm of a certified row."""

    row_norm: float

    def stretched(self, ratio, stretch):
        """Return the problem of rows so many times as long, and with rounding errors so large."""
        row_norm = min(ratio * self.row_norm, LARGEST_NORM)
        return replace(self, row_norm=row_norm, rounding_slack=stretch * self.rounding_slack)


@dataclass(frozen=True, eq=False, kw_only=True)
class SteppedPlan(Plan):
    """A plan whose steps each make the release `step`.

    `target_releases` and then `ball`, where they aren't None, say what is learnt of the targets and
    the ball of the rows before. `again` gives the plan of the same steps for rows that are so many
    times as long, and whose rounding errors are.
    """

    step: Release
    target_releases: TargetReleases | None = None
    ball: BallPlan | None = None
    again: Callable | None = None

    @property
    def releases(self):
        """Those of targets and ball, and as many steps as there are."""
        return (*learnt_before(self.target_releases, self.ball), *named(STEPS, self.step))

    @property
    def mechanism(self):
        """What adds noise to a step's sums."""
        return self.step.mechanism

    @property
    def clipping(self):
        """The mechanism's bound, if no release has another."""
        return self.step.bound if self.target_releases is self.ball is None else None

    def following(self, radius, stretch, outside):
        """Return the plan for rows of a ball of this radius, which was released.

        All numbers follow that are in units of rows, and nothing else does. What `outside` makes of
        coefficients isn't asked for.
        """
        return self.again(radius / self.ball.data_norm, stretch)


def learnt_before(*plans):
    """Return the releases of plans of what is learnt before, or of None."""
    return tuple(release for plan in plans if plan is not None for release in plan.releases)


def beside(*plans):
    """Return the events of plans of what is learnt before, or of None."""
    return tuple(event for plan in plans if plan is not None for event in plan.events)


def scaled(setting, factor):
    """Return a setting in units of rows for rows of another length; "auto" and 0 stay."""
    if setting == "auto" or setting == 0.0:
        return setting
    return within_range(factor * setting)


def within_range(number):
    """Return a number moved to where parameters are."""
    return float(min(max(number, SMALLEST), LARGEST))
