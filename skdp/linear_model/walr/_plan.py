"""Plans of label privacy: one Gaussian release of sums of rows by label, or flipped labels.

The proof is in the documentation, "theory/walr".
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from skdp._release.mechanisms import RandomizedResponse
from skdp._release.plan import ASSUMED_PUBLIC, BATCHES_KEY, NOT_COVERED, Budget, Plan
from skdp._release.random import make_stream
from skdp._release.release import FixedRelease, Release, named
from skdp.accountant import RandomizedResponseEvent, calibrate_classic, calibrate_response
from skdp.linear_model.walr import _tuned as tuned

# Runs and reports call releases so.
SUMS, LABELS = "sums of rows by label", "labels"


@dataclass(frozen=True)
class LabelBudget(Budget):
    """What may be spent on protecting labels, the features and the class set being public.

    Gaussian noise is calibrated exactly, or for ``mechanism="classic"`` by the note's formula.
    """

    adjacency: str = "replace_label"
    accountant: str = "pld"
    mechanism: str = "auto"

    adjacencies: ClassVar[tuple[str, ...]] = ("replace_label",)
    unit: ClassVar = "the label of one row"
    assumed_public: ClassVar[tuple[str, ...]] = (
        *ASSUMED_PUBLIC,
        "the features of every row: all of X",
    )
    not_covered: ClassVar[tuple[str, ...]] = (
        "the features, which are not protected at all: who took part, and with what features, may "
        "be learnt",
        *NOT_COVERED,
    )

    def calibrate_sums(self):
        """Return the noise multiplier of the one Gaussian release that spends this."""
        if self.mechanism == "classic" and self.is_private:
            return calibrate_classic(self.epsilon, self.delta)
        return self.calibrate()


@dataclass(frozen=True, eq=False, kw_only=True)
class WALRPlan(Plan):
    """The noise of releases of sums by label, and the sizes of the sums.

    There are `n_parts` releases, each of rows of its own, and `noise_multiplier` is the smallest of
    theirs. `rounding_slack` is for sums of rows as they are, see `GaussianMechanism`.
    """

    noise_multiplier: float
    n_columns: int
    n_classes: int
    rounding_slack: float = 0.0
    n_parts: int = 1

    kind: ClassVar = "gaussian"

    @property
    def releases(self):
        """The one release, of a part or of each."""
        return named(SUMS, self._release)

    @property
    def share_left(self):
        """Share of a sum's noise that is left where the sum over three classes or more is known.

        Their noises are independent, and what they have in common is removed.
        """
        return 1.0 - 1.0 / self.n_classes if self.n_classes > 2 else 1.0

    def mechanism(self, longest, stretch):
        """Return the mechanism for sums in coordinates in which no row is longer than `longest`.

        There rounding errors may be `stretch` times as large, relative to that. A label of two
        classes is one number, 0 or 1, and a flip moves the sum by that row. Of more classes it is
        one of k unit vectors, and a flip moves two sums by the row: sqrt(2) as far.
        """
        return self._release.bounded(longest * self._release.bound, stretch=stretch).mechanism

    @cached_property
    def _release(self):
        several = self.n_classes > 2
        return Release(
            bound=math.sqrt(2.0) if several else 1.0,
            noise_multiplier=self.noise_multiplier,
            size=self.n_columns * (self.n_classes if several else 1),
            n_records=self.n_records,
            rounding_slack=self.rounding_slack,
            pairwise=True,
            design={"n_parts": self.n_parts},
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class ResponsePlan(Plan):
    """Labels that coins replace by others: everything after them is post-processing.

    `flip_probability` is that of each of the other classes, the smallest of `n_parts` releases.
    The budget's delta is 0.
    """

    flip_probability: float
    n_classes: int
    n_parts: int = 1

    kind: ClassVar = "randomized_response"
    # Unbiased labels of a row add up to 1: the sums of all classes are right as they are.
    share_left: ClassVar = 1.0

    @property
    def releases(self):
        """The one release, of labels as numbers of classes."""
        flip, n_classes = self.flip_probability, self.n_classes
        mechanism = RandomizedResponse(flip, n_classes, self.noise_multiplier)
        return named(LABELS, FixedRelease(mechanism, self._event))

    @property
    def noise_multiplier(self):
        """Standard deviation of an unbiased label."""
        return self._event.noise_multiplier

    @property
    def _event(self):
        flip, n_classes = self.flip_probability, self.n_classes
        return RandomizedResponseEvent(flip, n_classes, n_parts=self.n_parts)


def plan_walr(budget, *, compare, n_records, n_columns, n_classes, rounding_slack):
    """Return the plans of which one is to be run: the budget's mechanism, or both for "auto".

    If these aren't to be compared, "auto" is Gaussian unless delta is 0.
    """
    plans = []
    auto = budget.mechanism == "auto" and budget.is_private
    pure = budget.mechanism == "randomized_response" or (auto and budget.delta == 0.0)
    if not pure:
        gaussian = WALRPlan(
            budget=budget,
            noise_multiplier=budget.calibrate_sums(),
            n_records=n_records,
            n_columns=n_columns,
            n_classes=n_classes,
            rounding_slack=rounding_slack,
        )
        plans.append(gaussian)
    if pure or (auto and compare and budget.epsilon >= tuned.SMALLEST_RESPONSE_EPSILON):
        response = ResponsePlan(
            # Flipped labels have no use for a delta.
            budget=replace(budget, delta=0.0),
            flip_probability=calibrate_response(budget.epsilon, n_classes=n_classes),
            n_records=n_records,
            n_classes=n_classes,
        )
        plans.append(response)
    return plans


def public_coins(random_state):
    """Return a stream for what reads public rows and releases only, apart from all noise."""
    return make_stream(random_state, key=(BATCHES_KEY,))
