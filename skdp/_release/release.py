"""One release: the noise that is run and the event that is accounted, from the same numbers."""

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, NamedTuple

from skdp._release.mechanisms import (
    DiscreteLaplaceMechanism,
    ExponentialChoice,
    GaussianMechanism,
    LaplaceMechanism,
)
from skdp.accountant import ErasureEvent, GaussianEvent, LaplaceEvent

# Parts of a budget add up to it but for rounding, which is far below this.
ROUNDING_OF_PARTS = 1e-6


@dataclass(frozen=True, kw_only=True)
class Release:
    """Sums with noise, of which each record contributes a bounded part.

    `bound` is what one record moves the sums by; where `pairwise`, how far apart the sums of two
    neighbouring data sets are. `noise_multiplier` is the size of the noise over it. `noise` is
    "gaussian", "laplace", "counts", for Laplace noise on whole counts, or "choice": the place of a
    large score, of which Gaussian noise would tell at least as much. `design` says how often and on
    which batches the sums are released: fields of the event. `n_calls` is in how many calls one
    release is made, each of a part of its numbers. For the others see
    `skdp._release.mechanisms.GaussianMechanism`.
    """

    bound: float
    noise_multiplier: float
    size: int
    n_records: int
    rounding_slack: float = 0.0
    pairwise: bool = False
    noise: str = "gaussian"
    design: dict = field(default_factory=dict)
    n_calls: int = 1

    @cached_property
    def mechanism(self):
        """What adds the noise."""
        if self.noise == "counts":
            return DiscreteLaplaceMechanism(self.noise_multiplier, self.bound)
        if self.noise == "choice":
            return ExponentialChoice(self.noise_multiplier, self.bound)
        kind = GaussianMechanism if self.noise == "gaussian" else LaplaceMechanism
        return kind(
            contribution_bound=self.bound,
            noise_multiplier=self.noise_multiplier,
            size=self.size,
            n_records=self.n_records,
            rounding_slack=self.rounding_slack,
        )

    @cached_property
    def event(self):
        """What the accountant adds up."""
        if self.noise in ("gaussian", "choice"):
            return GaussianEvent(self.noise_multiplier, pairwise=self.pairwise, **self.design)
        counts = self.noise == "counts"
        return LaplaceEvent(self.noise_multiplier, counts=counts, **self.design)

    def bounded(self, bound, *, stretch=1.0):
        """Return the same release under a bound that earlier releases gave.

        Rounding errors may have grown by the factor `stretch`, relative to the bound.
        """
        return replace(self, bound=bound, rounding_slack=self.rounding_slack * stretch)

    def split(self, n_steps):
        """Return so many steps that spend together what this spends."""
        noise = self.noise_multiplier * math.sqrt(n_steps)
        return replace(self, noise_multiplier=noise, design={**self.design, "n_steps": n_steps})


@dataclass(frozen=True)
class FixedRelease:
    """A release of which nothing follows from a bound: a mechanism and its event."""

    mechanism: object
    event: object
    n_calls: ClassVar = 1


class Cost(NamedTuple):
    """What a release costs, under the name that a report has."""

    name: str
    event: object


@dataclass(frozen=True)
class Planned:
    """A release under the name by which a run is asked for it, and which a report has.

    `release` adds the noise; None is for what others make: a fit within this one, or releases that
    are planned once earlier ones are made. The accountant adds up `events`. `erasure` is a second
    cost: the probability that the release gives away what a threshold is to hide.
    """

    name: str
    release: Release | FixedRelease | None
    events: tuple
    erasure: float = 0.0


def named(name, release, *, erasure=0.0):
    """Plan a release under a name, or nothing where it is None: a tuple of one, or of none."""
    return () if release is None else (Planned(name, release, (release.event,), erasure),)


def with_ending(releases, ending):
    """Return planned releases whose names end so, as those of a fit within another one do."""
    return tuple(replace(one, name=f"{one.name}{ending}") for one in releases)


def made_by_fit(report):
    """Plan what a fit within another one makes, as its report has it."""
    return tuple(
        Planned(name, None, (event,))
        for name, event in zip(report.names, report.events, strict=True)
    )


def costs_of(releases):
    """Return the costs of planned releases in their order, and then those of erasures."""
    noise = [Cost(one.name, event) for one in releases for event in one.events]
    hidden = [Cost(one.name, ErasureEvent(one.erasure)) for one in releases if one.erasure > 0.0]
    return (*noise, *hidden)
