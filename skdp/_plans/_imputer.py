"""Plan of an imputer: what is released to fill gaps in all columns at once."""

import math
from dataclasses import dataclass

from skdp._mechanisms import GaussianMechanism
from skdp._plans._discovery import plan_counts
from skdp._plans._keys import IMPUTER_KEY
from skdp._plans._preprocessing import TransformerPlan
from skdp.accountant import GaussianEvent

# Halvings of a range in search of its median: a 4096th of it, which is fine enough where bounds are
# ten times too wide, and each one more costs 4 % of noise.
_N_HALVINGS = 12
_STRATEGIES = ("mean", "median", "most_frequent", "constant")


@dataclass(frozen=True, eq=False, kw_only=True)
class ImputerPlan(TransformerPlan):
    """The releases of an imputer; see `TransformerPlan`.

    Parameters
    ----------
    strategy : {"mean", "median", "most_frequent", "constant"}
    n_steps : int
        Number of releases.
    threshold : float
        What a category's noisy count must exceed, where categories are discovered.
    """

    strategy: str
    n_steps: int = 0
    threshold: float = math.inf

    @property
    def stream_key(self):
        """That of a strategy: what they release of the same records isn't to share noise."""
        return IMPUTER_KEY, _STRATEGIES.index(self.strategy)


def plan_imputer(budget, *, strategy, n_rows, n_columns, n_discovered):
    """Plan what fills the gaps of columns.

    Parameters
    ----------
    budget : Budget
    strategy : {"mean", "median", "most_frequent", "constant"}
    n_rows, n_columns : int
    n_discovered : int
        Number of columns whose categories aren't given, of use for "most_frequent" only.

    Notes
    -----
    All columns are released together. Of one column, a record adds to two sums for the mean: an
    entry adds its distance from the middle of the range, in units of half the range, to the first
    and nothing to the second, and a gap adds 1 to the second and nothing to the first. So it moves
    the pair by at most 1, and d pairs by sqrt(d). In the search for medians it adds a sign, or for
    a gap 0, to one sum a column and step. For counts see `plan_counts`.
    """
    common = {"budget": budget, "n_rows": n_rows, "strategy": strategy}
    if strategy == "constant":
        return ImputerPlan(mechanisms={}, releases=(), **common)
    if strategy == "most_frequent":
        counts = plan_counts(
            budget, n_rows=n_rows, n_columns=n_columns, n_discovered=n_discovered, least=1.0
        )
        return ImputerPlan(
            mechanisms={"counts": counts.mechanism},
            releases=counts.events,
            n_steps=1,
            threshold=counts.threshold,
            **common,
        )
    n_steps = _N_HALVINGS if strategy == "median" else 1
    noise = budget.calibrate(n_steps=n_steps)
    mechanism = GaussianMechanism(
        contribution_bound=math.sqrt(n_columns) if budget.is_private else math.inf,
        noise_multiplier=noise,
        size=n_columns if strategy == "median" else 2 * n_columns,
        n_records=n_rows,
    )
    return ImputerPlan(
        mechanisms={strategy: mechanism},
        releases=(GaussianEvent(noise, n_steps=n_steps),),
        n_steps=n_steps,
        **common,
    )
