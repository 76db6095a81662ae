"""Plans of label privacy: one Gaussian release of the sums of rows by label."""

import math
from dataclasses import dataclass
from typing import ClassVar

from skdp._mechanisms import GaussianMechanism
from skdp._plans._dpscd import ASSUMED_PUBLIC, NOT_COVERED, USER_FRAMES, Budget
from skdp.accountant import GaussianEvent, calibrate, calibrate_classic

CLASSES_DECLARED = "the set of classes"
FEATURES_READ = "the largest row norm, which was read from X (set data_norm to declare a bound)"

_CALIBRATIONS = {"analytic": calibrate, "classic": calibrate_classic}


@dataclass(frozen=True)
class LabelBudget(Budget):
    """What may be spent on protecting labels, the features and the class set being public."""

    adjacency: str = "replace_label"
    accountant: str = "pld"

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


@dataclass(frozen=True)
class WALRPlan:
    """The noise of a release of sums by label, and the sizes of the sums.

    Parameters
    ----------
    noise_multiplier : float
    n_rows, n_columns, n_classes : int
    rounding_slack : float
        See `GaussianMechanism`, for sums of rows as they are.
    """

    noise_multiplier: float
    n_rows: int
    n_columns: int
    n_classes: int
    rounding_slack: float

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


def plan_walr(budget, *, mechanism, n_rows, n_columns, n_classes, rounding_slack):
    """Plan one release of the sums over all rows of the outer product of label and row.

    Parameters
    ----------
    budget : LabelBudget
    mechanism : {"analytic", "classic"}
        How the noise is calibrated.
    n_rows, n_columns, n_classes : int
    rounding_slack : float

    Returns
    -------
    WALRPlan
    """
    noise_multiplier = 0.0
    if budget.epsilon != math.inf:
        noise_multiplier = _CALIBRATIONS[mechanism](budget.epsilon, budget.delta)
        budget.warn_if_large(n_rows, USER_FRAMES)
    return WALRPlan(noise_multiplier, n_rows, n_columns, n_classes, rounding_slack)


def report_label_sums(
    budget, *, noise_multiplier, n_parts, sensitivity, reproducible, also_public=()
):
    """Return the report of releases of sums, one for each of `n_parts` disjoint sets of rows.

    Parameters
    ----------
    budget : LabelBudget
        Of the least private part.
    noise_multiplier : float
        The smallest.
    n_parts : int
    sensitivity : float or None
        Distance between the sums of neighbouring data sets, None if it differs between the parts.
    reproducible : bool
    also_public : tuple of str, default=()
    """
    event = GaussianEvent(noise_multiplier, n_parts=n_parts, pairwise=True)
    return budget.report(
        (event,), clipping=sensitivity, reproducible=reproducible, also_public=also_public
    )
