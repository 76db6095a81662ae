"""Plans of label privacy: one Gaussian release of the sums of rows by label."""

import math
from dataclasses import dataclass
from typing import ClassVar

from skdp._mechanisms import GaussianMechanism
from skdp._plans._base import ASSUMED_PUBLIC, NOT_COVERED, Budget, Plan
from skdp._random import make_stream
from skdp.accountant import GaussianEvent, calibrate_classic

CLASSES_DECLARED = "the set of classes"
FEATURES_READ = "the largest row norm, which was read from X (set data_norm to declare a bound)"
# Of random streams that no release draws from.
_BATCHES = 3


@dataclass(frozen=True)
class LabelBudget(Budget):
    """What may be spent on protecting labels, the features and the class set being public.

    The Gaussian noise is calibrated exactly, or for ``mechanism="classic"`` by the note's formula.
    """

    adjacency: str = "replace_label"
    accountant: str = "pld"
    mechanism: str = "analytic"

    adjacencies: ClassVar = ("replace_label",)
    unit: ClassVar = "the label of one row"
    assumed_public: ClassVar = (
        *ASSUMED_PUBLIC,
        "the features of every row: all of X",
    )
    not_covered: ClassVar = (
        "the features, which are not protected at all: who took part, and with what features, may "
        "be learnt",
        *NOT_COVERED,
    )

    def calibrate(self):
        """Return the noise multiplier of the one release that spends this."""
        if self.mechanism == "classic" and self.is_private:
            return calibrate_classic(self.epsilon, self.delta)
        return super().calibrate()


@dataclass(frozen=True, eq=False, kw_only=True)
class WALRPlan(Plan):
    """The noise of releases of sums by label, and the sizes of the sums.

    Parameters
    ----------
    budget, n_rows
        See `Plan`.
    noise_multiplier : float
        The smallest of the releases'.
    n_columns, n_classes : int
    rounding_slack : float
        See `GaussianMechanism`, for sums of rows as they are.
    n_parts : int
        Releases, one for each of so many disjoint sets of rows.
    """

    noise_multiplier: float
    n_columns: int
    n_classes: int
    rounding_slack: float = 0.0
    n_parts: int = 1

    @property
    def events(self):
        """One event of a release for each part."""
        return (GaussianEvent(self.noise_multiplier, n_parts=self.n_parts, pairwise=True),)

    def mechanism(self, longest, stretch):
        """Return the mechanism for sums in some coordinates.

        A label of two classes is one number, 0 or 1, and a flip moves the sum by that row. Of more
        classes it is one of k unit vectors, and a flip moves two sums by the row: sqrt(2) as far.

        Parameters
        ----------
        longest : float
            What no row is longer than in these coordinates.
        stretch : float
            Factor by which rounding errors may have grown, relative to that.
        """
        several = self.n_classes > 2
        return GaussianMechanism(
            contribution_bound=longest * (math.sqrt(2.0) if several else 1.0),
            noise_multiplier=self.noise_multiplier,
            size=self.n_columns * (self.n_classes if several else 1),
            n_records=self.n_rows,
            rounding_slack=self.rounding_slack * stretch,
        )


def public_coins(random_state):
    """Return a stream for what reads public rows and releases only, apart from all noise."""
    return make_stream(random_state, key=(_BATCHES,))
