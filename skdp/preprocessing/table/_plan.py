"""The plan of what learns a table: counts of numbers, three times and ever finer, and of words.

The proof is in the documentation, "theory/table".
"""

from dataclasses import dataclass

from skdp._release.plan import TABLE_KEY
from skdp._release.release import named
from skdp.preprocessing._plan import (
    TransformerPlan,
    count_release,
    hide_categories,
    hiding_threshold,
)
from skdp.preprocessing.table import _tuned as tuned
from skdp.preprocessing.table._plan_kinds import KindsPlan, plan_after_kinds

# Runs and reports call releases of a table so.
RANGES, FIRST_COUNTS, COUNTS = "ranges of columns", "first counts of numbers", "counts of numbers"
WORDS = "counts of words"
_SHARES = {
    RANGES: tuned.SHARE_OF_RANGES,
    FIRST_COUNTS: tuned.SHARE_OF_FIRST_COUNTS,
    COUNTS: tuned.SHARE_OF_COUNTS,
}
_DEVIATIONS_OF_BIN = {
    FIRST_COUNTS: tuned.DEVIATIONS_OF_FIRST_BIN,
    COUNTS: tuned.DEVIATIONS_OF_BIN,
}
_DELTA = (
    "delta must be positive: the counts of a table have Gaussian noise. For delta=0 give knots and "
    "categories of all columns, or scale numbers by skdp.preprocessing.BoundsScaler."
)


@dataclass(frozen=True, eq=False, kw_only=True)
class TablePlan(TransformerPlan):
    """Releases that learn a table, those that aren't needed left out.

    `RANGES`, `FIRST_COUNTS` and `COUNTS` are histograms of columns of numbers: a record is in one
    bin of each column, a gap's included.
    """

    basis: str
    # "auto", or how many a column has.
    n_knots: object
    # The most that "auto" gives to a column.
    most_of_auto: int
    # This was charged for the table and for kinds before they were learnt; None where none are.
    charged: KindsPlan | None = None

    @property
    def costs(self):
        """What a run costs, that of kinds included."""
        own = super().costs
        return own if self.charged is None else self.charged.followed_by(own)

    def following(self, specs):
        """Return the plan of what is left to learn once all kinds are known: this."""
        return self

    def least_of_bin(self, stage):
        """Return how many entries a bin is to hold at least, for its counts to show in a stage."""
        return _DEVIATIONS_OF_BIN[stage] * self.mechanisms[stage].noise_std

    @property
    def most_knots(self):
        """The most knots that a column of numbers may have."""
        return self.most_of_auto if self.n_knots == "auto" else self.n_knots

    def knots_for(self, n_records):
        """Return how many knots so many records of a column have, 0 for a line.

        Hats have a coefficient for each knot, with noise of its own, and lines have one. `noise` is
        that of a count of the last stage, which grows with that of the model.
        """
        if self.basis == "linear":
            return 0
        if self.n_knots != "auto":
            return self.n_knots
        noise = self.mechanisms[COUNTS].noise_std
        if noise == 0.0:
            return self.most_knots
        noises = n_records / noise
        if noises < tuned.DEVIATIONS_OF_LINE:
            return 0
        wanted = noises / tuned.DEVIATIONS_OF_KNOT
        return int(min(max(wanted, tuned.FEWEST_KNOTS), self.most_knots))


def plan_table(
    budget, rest, specs, *, erasure=0.0, n_records, basis, n_knots, most_of_auto=tuned.MOST_KNOTS
):
    """Plan what a table is learnt by, of whose columns some things are given.

    Parameters
    ----------
    budget : Budget
        What is promised.
    rest : Budget
        What the counts spend: after `hide_categories` took the erasure off, all or a part of it.
    specs : ColumnSpecs
    erasure : float
        What words cost; it is 0 where there are none to be found.
    n_records : int
    basis : {"hats", "linear"}
    n_knots : int or "auto"
    most_of_auto : int
        The most knots that "auto" gives to a column.
    """
    n_numeric, n_words = len(specs.numeric), len(specs.words)
    learnt, of_words = (), n_words / max(n_words + n_numeric, 1)
    sizes = {RANGES: len(specs.located), FIRST_COUNTS: n_numeric, COUNTS: n_numeric}
    if not rest.is_private:
        # Without privacy places of numbers are read as they are, and need no counts before.
        sizes = {COUNTS: n_numeric}
    spent = sum(_SHARES[stage] for stage, n_columns in sizes.items() if n_columns)
    for stage, n_columns in sizes.items():
        if n_columns:
            share = (1.0 - of_words) * _SHARES[stage] / spent
            counts = count_release(rest, n_records=n_records, n_columns=n_columns, share=share)
            learnt += named(stage, counts)
    threshold = 0.0
    if n_words:
        words = count_release(rest, n_records=n_records, n_columns=n_words, share=of_words)
        learnt += named(WORDS, words, erasure=erasure)
        if erasure > 0.0:
            threshold = hiding_threshold(words.mechanism, erasure, n_words)
    return TablePlan(
        budget=budget,
        n_records=n_records,
        planned=learnt,
        stream_key=(TABLE_KEY,),
        threshold=threshold,
        basis=basis,
        n_knots=n_knots,
        most_of_auto=most_of_auto,
    )


def plan_vectorizer(budget, specs, *, n_records, basis, n_knots):
    """Plan to learn a table, of whose columns some things are given, with the whole budget."""
    # Also where there are no words: a pipeline plans before it knows.
    rest, erasure = hide_categories(budget, int(budget.delta > 0.0))

    def make(specs, table_share):
        if budget.is_private and budget.delta == 0.0 and (specs.numeric or specs.words):
            raise ValueError(_DELTA)
        return plan_table(
            budget,
            rest.part(table_share),
            specs,
            erasure=erasure if specs.words else 0.0,
            n_records=n_records,
            basis=basis,
            n_knots=n_knots,
        )

    return plan_after_kinds(
        budget,
        rest,
        make,
        specs=specs,
        erasure=erasure,
        n_records=n_records,
        stream_key=(TABLE_KEY,),
    )
