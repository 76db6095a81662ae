"""The plan of a description: what finds bins and words, what counts in them, and means."""

from dataclasses import replace

from skdp._plans._base import DESCRIPTION_KEY
from skdp.preprocessing._plan import count_release, hide_categories, moments_release
from skdp.preprocessing.table._plan import plan_table

# Share of a mean relative to that of a histogram or a pair of columns.
_MEAN = 0.25


def plan_description(budget, sizes, n_pairs, *, n_rows):
    """Plan the releases of a description of a table, of whose columns `Given` has the sizes.

    A column of numbers has a histogram, one of words is searched for words and then has one, and a
    pair has a crosstab: all have like parts of the squared mu. "cells" are the counts of words and
    pairs, and "moments" the sums that means are made of.
    """
    n_numeric, n_words = sizes["n_numeric"], sizes["n_words"]
    rest, erasure = hide_categories(budget, n_words)
    n_searched, n_counted = n_numeric + n_words, n_words + n_pairs
    parts = n_searched + n_counted + _MEAN * n_numeric
    share, sizes = n_searched / parts, {**sizes, "n_rows": n_rows}
    settings = {"erasure": erasure, "basis": "hats", "n_knots": "auto"}
    table, releases = plan_table(budget, rest.part(share), **sizes, **settings), {}
    if n_numeric:
        share = _MEAN * n_numeric / parts
        releases["moments"] = moments_release(rest, n_rows=n_rows, n_columns=n_numeric, share=share)
    if n_counted:
        share = n_counted / parts
        releases["cells"] = count_release(rest, n_rows=n_rows, n_columns=n_counted, share=share)
    return replace(table, releases=table.releases | releases, stream_key=(DESCRIPTION_KEY,))
