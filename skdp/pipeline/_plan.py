"""Plan of a pipeline: one budget, a part of it for each step that learns, fixed before all noise.

What a later step does depends on what earlier ones released: how many columns there are, how long
rows are. So the parts are pairs (mu, d0), see `skdp.accountant._filter`, which add up however each
step is designed later, as long as it stays within its own.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from skdp._release.plan import PIPELINE_KEY, Budget, GroupBudget, OfGroups, Plan
from skdp._release.release import Cost, Planned
from skdp.accountant._calibration import largest_within
from skdp.accountant._events import ErasureEvent, joint_erasure
from skdp.accountant._filter import (
    ERASURE_SHARE,
    FIT_SHARE,
    GaussianCost,
    gaussian_budget,
    gaussian_cost,
)
from skdp.accountant._profile import full_batch_mu

# A step's part is spent to at least this share of its mu.
_SPENT = 0.995
# Share of delta for the part that the numerical accountant of a step can't compute, as in a ledger.
_FIT_ERASURE = ERASURE_SHARE * FIT_SHARE


@dataclass(frozen=True)
class PipelineBudget(Budget):
    """What may be spent on a pipeline."""

    accountant: str = "pld"

    assumed_public: ClassVar[tuple[str, ...]] = (
        "every parameter of the pipeline and of its steps",
        *Budget.assumed_public[1:],
        "which columns hold numbers",
    )
    not_covered: ClassVar[tuple[str, ...]] = (
        Budget.not_covered[0],
        "preprocessing before the pipeline, and parameters chosen by looking at the records",
        *Budget.not_covered[2:],
    )


@dataclass(frozen=True)
class PipelineGroupBudget(OfGroups, PipelineBudget):
    """What may be spent on a pipeline that protects groups of rows."""

    assumed_public: ClassVar[tuple[str, ...]] = (
        PipelineBudget.assumed_public[0],
        *GroupBudget.assumed_public[1:],
        PipelineBudget.assumed_public[-1],
    )
    not_covered: ClassVar[tuple[str, ...]] = (
        *GroupBudget.not_covered[:2],
        *PipelineBudget.not_covered[1:],
    )


@dataclass(frozen=True)
class PrivateStep:
    """A step that learns from the records, as far as a plan knows it."""

    # Its path in the pipeline.
    name: str
    # Gives for an epsilon and a delta the events of a fit with them.
    releases: Callable
    # They are exact if they are known beforehand, and nothing that is released changes them.
    is_exact: bool


@dataclass(frozen=True)
class StepBudget:
    """What one step may spend."""

    name: str
    epsilon: float
    delta: float
    # The charge for it.
    events: tuple
    # The step may cost this; None where it is the only step and `events` are what it releases.
    cost: GaussianCost | None

    @property
    def is_whole(self):
        """Whether nothing is shared, so that there is nothing to exceed."""
        return self.cost is None or math.isinf(self.cost.mu)

    def reported(self, report, adjacency):
        """Return the costs that stand for what a step released, by its report; None: as charged.

        Full batches add up exactly, whatever they are. Other designs that followed from releases
        add up as the pair that was fixed before them.
        """
        charged = tuple(Cost(self.name, event) for event in self.events)
        if report is None:
            return charged
        if not self.is_whole:
            self.check(report.events, adjacency)
            if not _is_closed(report.events, adjacency):
                return charged
        names = report.names or ("",) * len(report.events)
        return tuple(
            Cost(f"{self.name}: {name}" if name else self.name, event)
            for name, event in zip(names, report.events, strict=True)
        )

    def check(self, events, adjacency):
        """Refuse what costs more than this part."""
        if not self._holds(events, adjacency):
            raise ValueError(f"step {self.name!r} would cost more than its part of the budget.")

    def _holds(self, events, adjacency):
        return _cost(events, adjacency, self.delta).is_within(self.cost)

    def fitting(self, releases, adjacency):
        """Return the epsilon of a step whose design has become known since the plan was made."""
        if self.is_whole:
            return self.epsilon
        events = releases(self.epsilon, self.delta)
        # A design without an erasure has a larger mu at the same epsilon than one that was planned
        # with it, so that this epsilon may be too large for the part.
        if _is_closed(events, adjacency) and self._holds(events, adjacency):
            return self.epsilon
        return _fill(self.name, releases, self.cost, self.delta, adjacency)


@dataclass(frozen=True, eq=False, kw_only=True)
class PipelinePlan(Plan):
    """The parts of a pipeline's steps, each a `StepBudget`."""

    parts: tuple

    stream_key: ClassVar[tuple[int, ...]] = (PIPELINE_KEY,)

    @property
    def releases(self):
        """What fits of the steps make, as it is charged."""
        return tuple(Planned(part.name, None, part.events) for part in self.parts)

    @property
    def notes(self):
        """A line for each step."""
        return tuple(
            f"step {part.name!r}: epsilon={part.epsilon:.4g} at delta={part.delta:.3g}"
            + (f", mu={part.cost.mu:.4g}" if part.cost else "")
            for part in self.parts
        )

    def joint_report(self, released, *, reproducible, also_public=(), open_parts=()):
        """Return the report of a run.

        Parameters
        ----------
        released : dict of str to PrivacyReport
            Of the steps that were fitted and released something, by name, each of which has a part.
        reproducible : bool
        also_public : tuple of str
            What is assumed public besides what is always.
        open_parts : tuple of OpenPart
            What isn't covered besides what never is.
        """
        names = {part.name for part in self.parts}
        without = [name for name in released if name not in names]
        if without:
            raise ValueError(f"step {without[0]!r} released something, and had no part.")
        costs = tuple(
            cost
            for part in self.parts
            for cost in part.reported(released.get(part.name), self.budget.adjacency)
        )
        return self.report(
            reproducible=reproducible,
            also_public=also_public,
            costs=costs,
            open_parts=open_parts,
        )


NOTHING_PRIVATE = (
    "no step of the pipeline learns privately, so that there is nothing to spend a budget on: use "
    "scikit-learn's Pipeline."
)


def plan_pipeline(budget, steps, shares, *, n_records):
    """Plan what each step may spend, so that all together spend the budget.

    Parameters
    ----------
    budget : PipelineBudget
    steps : list of PrivateStep
    shares : list of float
        Of the squared mu of all, one for each step.
    n_records : int
    """
    if not steps:
        raise ValueError(NOTHING_PRIVATE)
    if not budget.is_private or (len(steps) == 1 and steps[0].is_exact):
        spent = budget.epsilon, budget.delta
        parts = [StepBudget(step.name, *spent, step.releases(*spent), None) for step in steps]
        return PipelinePlan(budget=budget, n_records=n_records, parts=tuple(parts))
    adjacency, delta = budget.adjacency, budget.delta
    erasures = [_erasure(step, budget) for step in steps]
    mu = gaussian_budget(budget.epsilon, delta, erasure=joint_erasure(erasures)).mu
    parts = []
    for step, share, erasure in zip(steps, shares, erasures, strict=True):
        cost = GaussianCost(math.sqrt(share) * mu, erasure)
        epsilon = _fill(step.name, step.releases, cost, delta, adjacency)
        parts.append(StepBudget(step.name, epsilon, delta, cost.events(), cost))
    return PipelinePlan(budget=budget, n_records=n_records, parts=tuple(parts))


def _erasure(step, budget):
    """Return the probability of an erasure that a step needs."""
    events = step.releases(budget.epsilon, budget.delta)
    numerical = 0.0 if _is_closed(events, budget.adjacency) else _FIT_ERASURE * budget.delta
    return joint_erasure((numerical, *(event.erasure for event in events)))


def _fill(name, releases, cost, delta, adjacency):
    """Return an epsilon with which a step costs at most a pair, and nearly that."""

    def spent(epsilon):
        one = _cost(releases(epsilon, delta), adjacency, delta)
        if one.is_within(cost):
            return min(one.mu / cost.mu, 1.0)
        # A cost that exceeds the pair in its erasure alone is no closer to it than one without
        # privacy.
        return one.mu / cost.mu if one.mu > cost.mu else math.inf

    start = cost.epsilon(delta)
    epsilon_of_step = largest_within(spent, start, enough=_SPENT) if start > 0.0 else None
    if epsilon_of_step is None:
        raise ValueError(
            f"too little of the budget is left for step {name!r}: take a smaller delta, a larger "
            "epsilon, or a larger share for it."
        )
    return epsilon_of_step


def _cost(events, adjacency, delta):
    return gaussian_cost(events, adjacency, erasure=_FIT_ERASURE * delta)


def _is_closed(events, adjacency):
    """Return whether releases add up exactly, however they were designed."""
    noisy = [event for event in events if type(event) is not ErasureEvent]
    return full_batch_mu(noisy, adjacency) is not None
