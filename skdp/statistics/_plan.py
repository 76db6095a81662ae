"""The plan of a description: what finds bins and words, what counts in them, and means."""

from dataclasses import replace

from skdp._plans._base import DESCRIPTION_KEY
from skdp.preprocessing._plan import count_release, hide_categories, moments_release
from skdp.preprocessing.table._plan import plan_table

# What a mean may spend over what a histogram or a pair of columns may.
_MEAN = 0.25


def plan_description(budget, *, n_rows, n_located, n_numeric, n_words, n_pairs):
    """Plan the releases of a description.

    A column of numbers has a histogram, one of words is searched for words and then has one, and a
    pair has a crosstab: all have like parts of the squared mu. "cells" are the counts of words and
    pairs, and "moments" the sums that means are made of.
    """
    rest, erasure = hide_categories(budget, n_words)
    n_searched, n_counted = n_numeric + n_words, n_words + n_pairs
    parts = n_searched + n_counted + _MEAN * n_numeric
    table = plan_table(
        budget,
        rest.part(n_searched / parts),
        erasure=erasure,
        n_rows=n_rows,
        n_located=n_located,
        n_numeric=n_numeric,
        n_words=n_words,
        basis="hats",
        n_knots="auto",
    )
    releases = dict(table.releases)
    if n_numeric:
        sizes = {"n_rows": n_rows, "n_columns": n_numeric}
        releases["moments"] = moments_release(rest, **sizes, share=_MEAN * n_numeric / parts)
    if n_counted:
        sizes = {"n_rows": n_rows, "n_columns": n_counted}
        releases["cells"] = count_release(rest, **sizes, share=n_counted / parts)
    return replace(table, releases=releases, stream_key=(DESCRIPTION_KEY,))
