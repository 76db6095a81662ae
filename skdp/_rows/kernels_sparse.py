"""Sums over sparse rows that are compiled, in one read of their entries; see `skdp._rows.kernels`.

Rows are given as parts of a CSR array: where each begins and ends, the columns of entries, and the
entries. The work follows a row's own entries, and sums add rows one after another.
"""

import numpy as np

from skdp._rows.kernels import LOSSES, _called_by_python, _compiled, _set_norms, _set_slopes

__all__ = ["LOSSES", "add_products", "add_slopes", "set_mapped_lengths"]
# Rows whose entries are still in caches when they are read again.
_TILE = 64


@_called_by_python()
@_compiled()
def add_slopes(loss, size, units, scale, targets, lengths, weights, bound, w, constant, total):
    """Add the sum of slopes times rows, and of slopes, by blocks of `size` rows.

    See `skdp._rows.kernels.add_slopes`. What is still to be taken off of rows is in the constant.
    """
    ends, columns, entries = units
    n, d = len(ends) - 1, len(w)
    slopes, part = np.empty(_TILE), np.empty(d + 1)
    for first in range(0, n, size):
        part[:] = 0.0
        stop = min(first + size, n)
        for start in range(first, stop, _TILE):
            end = min(start + _TILE, stop)
            m = slopes[: end - start]
            for i in range(len(m)):
                product = 0.0
                for k in range(ends[start + i], ends[start + i + 1]):
                    product += entries[k] * w[columns[k]]
                m[i] = product
            if len(scale):
                for i in range(len(m)):
                    m[i] *= scale[start + i]
            for i in range(len(m)):
                m[i] += constant
            of_rows = weights[start:end]
            _set_slopes(loss, targets[start:end], lengths[start:end], of_rows, bound, m)
            for i in range(len(m)):
                part[d] += m[i]
            if len(scale):
                for i in range(len(m)):
                    m[i] *= scale[start + i]
            for i in range(len(m)):
                for k in range(ends[start + i], ends[start + i + 1]):
                    part[columns[k]] += m[i] * entries[k]
        for j in range(d + 1):
            total[j] += part[j]


@_called_by_python()
@_compiled(fastmath={"contract"})
def set_mapped_lengths(units, factors, constant, A, out):
    """Put the lengths of rows, times their factors and with a mapped constant, that A maps."""
    ends, columns, entries = units
    mapped = np.empty((1, len(constant)))
    y = mapped[0]
    for i in range(len(out)):
        y[:] = 0.0
        k, end, factor = ends[i], ends[i + 1], factors[i]
        # Four at once, as what is mapped is read and written each time.
        while k + 4 <= end:
            one, two = entries[k] * factor, entries[k + 1] * factor
            three, four = entries[k + 2] * factor, entries[k + 3] * factor
            a, b, c, e = A[columns[k]], A[columns[k + 1]], A[columns[k + 2]], A[columns[k + 3]]
            for j in range(len(y)):
                y[j] += (one * a[j] + two * b[j]) + (three * c[j] + four * e[j])
            k += 4
        while k < end:
            entry, a = entries[k] * factor, A[columns[k]]
            for j in range(len(y)):
                y[j] += entry * a[j]
            k += 1
        for j in range(len(y)):
            y[j] += constant[j]
        _set_norms(mapped, out[i : i + 1])


@_called_by_python()
@_compiled(fastmath={"contract"})
def add_products(ends, columns, entries, weighted, total):
    """Add the outer products of rows with rows of other entries in the same places.

    They are symmetric, and what is above the diagonal isn't added.
    """
    for i in range(len(ends) - 1):
        for k in range(ends[i], ends[i + 1]):
            entry, row = entries[k], total[columns[k]]
            for other in range(ends[i], k + 1):
                row[columns[other]] += entry * weighted[other]
