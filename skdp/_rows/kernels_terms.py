"""Places of numbers among knots, and values there, that are compiled; see `skdp._rows.kernels`.

Nothing is reordered: each result has the same bits as NumPy's, so a prediction doesn't depend on
which of them made it.
"""

import numpy as np

from skdp._rows.kernels import _called_by_python, _compiled


@_called_by_python(n_written=2)
@_compiled()
def place_numbers(x, knots, middle, spike, low, high, spike_column, gap_column, columns, shares):
    """Put the column of each number, and the row's shares of it and of the one after it.

    Numbers beyond the knots are at the outermost, and gaps at the middle one where `gap_column` is
    below 0. `spike` is NaN if there is none, and numbers are cut to [low, high] before they are
    compared with it.
    """
    last = len(knots) - 1
    for i in range(len(x)):
        z = x[i]
        if np.isnan(z):
            if gap_column >= 0:
                columns[i], shares[0, i], shares[1, i] = gap_column, 1.0, 0.0
                continue
            z = middle
        elif min(max(z, low), high) == spike:
            columns[i], shares[0, i], shares[1, i] = spike_column, 1.0, 0.0
            continue
        z = min(max(z, knots[0]), knots[last])
        left = 0
        # There are few knots: to count all of them is faster than to search.
        for j in range(1, last):
            left += knots[j] <= z
        share = (z - knots[left]) / (knots[left + 1] - knots[left])
        columns[i], shares[0, i], shares[1, i] = left, 1.0 - share, share


@_called_by_python()
@_compiled()
def set_values(columns, shares, table, out):
    """Put the values of rows with such places; the table has a row for each output."""
    for k in range(len(table)):
        for i in range(len(columns)):
            left = columns[i]
            out[k, i] = table[k, left] * shares[0, i] + table[k, left + 1] * shares[1, i]
