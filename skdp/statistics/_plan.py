"""The plan of a description: what finds bins and words, what counts in them, and means.

The proof is in the documentation, "theory/describe".
"""

from dataclasses import replace

from skdp._release.plan import DESCRIPTION_KEY
from skdp._release.release import named
from skdp.preprocessing._plan import MOMENTS, count_release, hide_categories, moments_release
from skdp.preprocessing.table._plan import plan_table
from skdp.preprocessing.table._plan_kinds import plan_after_kinds
from skdp.statistics import _tuned as tuned

# Runs and reports call the release so.
CELLS = "counts of words and pairs"


def plan_description(budget, specs, n_pairs, *, n_records):
    """Plan the releases of a description of a table, of whose columns some things are given.

    A column of numbers has a histogram, one of words is searched for words and then has one, and a
    pair has a crosstab: all have like parts of the squared mu. `CELLS` are the counts of words and
    pairs, and `MOMENTS` the sums that means are made of.
    """
    rest, erasure = hide_categories(budget, len(specs.words) + len(specs.untyped))

    def make(specs, table_share):
        return _plan_for_kinds(budget, rest.part(table_share), specs, n_pairs, n_records, erasure)

    return plan_after_kinds(
        budget,
        rest,
        make,
        specs=specs,
        erasure=erasure,
        n_records=n_records,
        stream_key=(DESCRIPTION_KEY,),
    )


def _plan_for_kinds(budget, rest, specs, n_pairs, n_records, erasure):
    """Plan what `rest` pays for once the kinds of all columns are known."""
    n_numeric, n_words = len(specs.numeric), len(specs.words)
    n_searched, n_counted = n_numeric + n_words, n_words + n_pairs
    parts = n_searched + n_counted + tuned.SHARE_OF_MEAN * n_numeric
    table = plan_table(
        budget,
        rest.part(n_searched / parts),
        specs,
        erasure=erasure if n_words else 0.0,
        n_records=n_records,
        basis="hats",
        n_knots="auto",
    )
    more = ()
    if n_numeric:
        share = tuned.SHARE_OF_MEAN * n_numeric / parts
        moments = moments_release(rest, n_records=n_records, n_columns=n_numeric, share=share)
        more += named(MOMENTS, moments)
    if n_counted:
        share = n_counted / parts
        cells = count_release(rest, n_records=n_records, n_columns=n_counted, share=share)
        more += named(CELLS, cells)
    return replace(table, planned=table.planned + more, stream_key=(DESCRIPTION_KEY,))
