"""The plan of learning kinds: counts of five classes by column, and a charge for all that follows.

What follows depends on the kinds, which a release tells. So there are two plans: this one, which is
charged, and one that it makes of the kinds. Whatever they are, that spends the same.

The proof is in the documentation, "theory/table".
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from skdp._release.plan import Budget
from skdp._release.release import ROUNDING_OF_PARTS, Planned, named
from skdp.accountant import ErasureEvent, GaussianEvent
from skdp.accountant._profile import full_batch_mu
from skdp.preprocessing._plan import TransformerPlan, count_release
from skdp.preprocessing.table import _tuned as tuned

# Runs and reports call the release so, and the charge for the rest.
KINDS, FOLLOWING = "kinds of columns", "releases after the kinds of columns"
_DECLARE = (
    "delta must be positive to learn whether the columns {} hold numbers, dates or words, as their "
    "types don't say. For delta=0 name them in numeric_features or categorical_features."
)


@dataclass(frozen=True, eq=False, kw_only=True)
class KindsPlan(TransformerPlan):
    """A release `KINDS` of how many entries of each class columns have, and what follows it.

    What follows is charged before the kinds are known, as one Gaussian release that spends `rest`,
    and the erasure of words.
    """

    # Names of the columns whose kinds are learnt.
    names: tuple
    rest: Budget
    # Makes the plan of what follows, of what is given of the columns once their kinds are known.
    make: Callable

    # Words cost this, if there will be any.
    erasure: float

    @property
    def releases(self):
        """Kinds, and the charge for what follows."""
        stand_in = GaussianEvent(self.rest.calibrate())
        return (*self.planned, Planned(FOLLOWING, None, (stand_in,), self.erasure))

    def following(self, specs):
        """Return the plan of what follows for what is given of columns of such kinds."""
        return replace(self.make(specs), charged=self)

    def followed_by(self, costs):
        """Return the costs of a run in which these followed: together they are what was charged."""
        noisy = [cost for cost in costs if type(cost.event) is not ErasureEvent]
        kinds, stand_in, *erasure = self.costs
        spent, charged = self._mu(noisy), self._mu([stand_in])
        if spent > charged * (1.0 + ROUNDING_OF_PARTS):
            raise RuntimeError("what followed the release of kinds costs more than its charge.")
        # Releases that were left out because of the kinds were charged all the same.
        following = [stand_in] if spent < charged * (1.0 - ROUNDING_OF_PARTS) else noisy
        return (kinds, *following, *erasure)

    def _mu(self, costs):
        return full_batch_mu([cost.event for cost in costs], self.budget.adjacency)


def plan_after_kinds(
    budget, whole, make, *, specs, erasure, n_records, stream_key, table_share=1.0
):
    """Plan to learn what kinds columns have, if there are untyped ones, and then what these need.

    Parameters
    ----------
    budget : Budget
        What is promised.
    whole : Budget
        What is spent in all, after `hide_categories` took the erasure off.
    make : callable
        Makes the plan of what follows, of `ColumnSpecs` and of the share of `whole` for its table.
    specs : ColumnSpecs
    erasure : float
        What words cost, if there will be any.
    n_records : int
    stream_key : tuple
    table_share : float, default=1.0
        Share of `whole` that learns the table, kinds included.

    Raises
    ------
    ValueError
        If kinds are to be learnt and delta is 0.
    """
    if not specs.untyped:
        return make(specs, table_share)
    names = tuple(specs.names[place] for place in specs.untyped)
    if budget.is_private and budget.delta == 0.0:
        raise ValueError(_DECLARE.format(", ".join(map(repr, names))))
    of_table, n_columns = whole.part(table_share), len(names)
    share = _share_of_kinds(of_table, n_records=n_records, n_columns=n_columns)
    # It is a share of the table's part, so that parts are rounded as where no kinds are learnt.
    release = count_release(of_table, n_records=n_records, n_columns=n_columns, share=share)
    share *= table_share
    return KindsPlan(
        budget=budget,
        n_records=n_records,
        planned=named(KINDS, release),
        stream_key=stream_key,
        erasure=erasure,
        names=names,
        rest=whole.part(1.0 - share),
        make=partial(make, table_share=table_share - share),
    )


def _share_of_kinds(of_table, *, n_records, n_columns):
    """Return the share of what a table may spend that learns the kinds of so many columns."""
    release = count_release(of_table, n_records=n_records, n_columns=n_columns)
    noise = release.mechanism.noise_std / n_records
    wanted = (tuned.DEVIATIONS_OF_KINDS * noise) ** 2
    return min(max(wanted, tuned.LEAST_SHARE_OF_KINDS), tuned.LARGEST_SHARE_OF_KINDS)


def learnt_names(plan):
    """Return the names of the columns whose kinds were learnt before what a plan has."""
    return () if plan.charged is None else plan.charged.names
