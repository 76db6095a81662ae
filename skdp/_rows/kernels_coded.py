"""Sums over rows of codes that are compiled, in one read of them; see `skdp._rows.kernels`.

Rows are given as the arrays of `skdp._rows.coded_rows.CodedRows`, in its order. Sums add rows one
after another.
"""

import numpy as np

from skdp._rows.kernels import LOSSES, _called_by_python, _compiled, _set_norms, _set_slopes

__all__ = [
    "LOSSES",
    "add_by_part",
    "add_outer_products",
    "add_rows",
    "add_slopes",
    "put_entries",
    "set_lengths",
    "set_mapped_lengths",
    "set_products",
]
# Rows whose codes are still in caches when they are read again.
_TILE = 64


@_compiled()
def _set_row_products(units, start, w, out):
    """Put the products of rows from `start` on with w."""
    hats, shares, ones, others, entries = units
    for i in range(start, start + len(out)):
        product = 0.0
        for j in range(hats.shape[1]):
            left, share = hats[i, j], shares[i, j]
            product += (1.0 - share) * w[left] + share * w[left + 1]
        for j in range(ones.shape[1]):
            product += w[ones[i, j]]
        for j in range(others.shape[1]):
            product += entries[i, j] * w[others[i, j]]
        out[i - start] = product


@_compiled()
def _add_times_rows(units, start, factors, total):
    """Add rows from `start` on times a factor each, one after another."""
    hats, shares, ones, others, entries = units
    for i in range(start, start + len(factors)):
        factor = factors[i - start]
        for j in range(hats.shape[1]):
            left, share = hats[i, j], shares[i, j]
            total[left] += factor * (1.0 - share)
            total[left + 1] += factor * share
        for j in range(ones.shape[1]):
            total[ones[i, j]] += factor
        for j in range(others.shape[1]):
            total[others[i, j]] += factor * entries[i, j]


@_called_by_python()
@_compiled()
def set_products(units, w, out):
    """Put the products of rows with w."""
    _set_row_products(units, 0, w, out)


@_called_by_python()
@_compiled()
def add_by_part(units, parts, w, out):
    """Add the products of what a row has in each of its parts with w."""
    hats, shares, ones, others, entries = units
    n_hats, n_ones = hats.shape[1], ones.shape[1]
    of_ones, of_others = parts[n_hats:], parts[n_hats + n_ones :]
    for i in range(len(out)):
        for j in range(n_hats):
            left, share = hats[i, j], shares[i, j]
            out[i, parts[j]] += (1.0 - share) * w[left] + share * w[left + 1]
        for j in range(n_ones):
            out[i, of_ones[j]] += w[ones[i, j]]
        for j in range(others.shape[1]):
            out[i, of_others[j]] += entries[i, j] * w[others[i, j]]


@_called_by_python()
@_compiled()
def add_rows(size, units, factors, total):
    """Add rows times a factor each, by blocks of `size` rows."""
    part = np.empty(len(total))
    for first in range(0, len(factors), size):
        part[:] = 0.0
        _add_times_rows(units, first, factors[first : first + size], part)
        for j in range(len(total)):
            total[j] += part[j]


@_called_by_python()
@_compiled()
def add_slopes(loss, size, units, scale, targets, lengths, weights, bound, w, constant, total):
    """Add the sum of slopes times rows, and last that of slopes, by blocks of `size` rows.

    See `skdp._rows.kernels.add_slopes`. What is still to be taken off of rows is in the constant.
    """
    n, d = len(targets), len(total) - 1
    slopes, part = np.empty(_TILE), np.empty(d + 1)
    for first in range(0, n, size):
        part[:] = 0.0
        stop = min(first + size, n)
        for start in range(first, stop, _TILE):
            end = min(start + _TILE, stop)
            m = slopes[: end - start]
            _set_row_products(units, start, w, m)
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
            _add_times_rows(units, start, m, part[:d])
        for j in range(d + 1):
            total[j] += part[j]


@_called_by_python()
@_compiled()
def set_lengths(units, shift, of_shift, slack, out):
    """Put distances of rows from a point, with a bound of rounding errors added.

    See `skdp._rows.rows_in_ball.lengths_from`.
    """
    hats, shares, ones, others, entries = units
    for i in range(len(out)):
        square, product = 0.0, 0.0
        for j in range(hats.shape[1]):
            left, share = hats[i, j], shares[i, j]
            rest = 1.0 - share
            square += rest * rest + share * share
            product += rest * shift[left] + share * shift[left + 1]
        for j in range(ones.shape[1]):
            square += 1.0
            product += shift[ones[i, j]]
        for j in range(others.shape[1]):
            entry = entries[i, j]
            square += entry * entry
            product += entry * shift[others[i, j]]
        moved = square - 2.0 * product + of_shift**2
        rounded = slack * (np.sqrt(square) + of_shift) ** 2
        out[i] = np.sqrt(max(moved, 0.0) + rounded)


@_called_by_python()
@_compiled(fastmath={"contract"})
def set_mapped_lengths(units, factors, constant, A, out):
    """Put the lengths of rows, times their factors and with a mapped constant, that A maps."""
    hats, shares, ones, others, entries = units
    n_hats, n_ones = hats.shape[1], ones.shape[1]
    mapped = np.empty((1, len(constant)))
    y = mapped[0]
    for i in range(len(out)):
        y[:] = 0.0
        # Several at once, as what is mapped is read and written each time.
        j = 0
        while j + 2 <= n_hats:
            one, two = shares[i, j], shares[i, j + 1]
            three, four = 1.0 - one, 1.0 - two
            a, b = A[hats[i, j]], A[hats[i, j] + 1]
            c, e = A[hats[i, j + 1]], A[hats[i, j + 1] + 1]
            for k in range(len(y)):
                y[k] += (three * a[k] + one * b[k]) + (four * c[k] + two * e[k])
            j += 2
        while j < n_hats:
            one = shares[i, j]
            three, a, b = 1.0 - one, A[hats[i, j]], A[hats[i, j] + 1]
            for k in range(len(y)):
                y[k] += three * a[k] + one * b[k]
            j += 1
        j = 0
        while j + 4 <= n_ones:
            a, b = A[ones[i, j]], A[ones[i, j + 1]]
            c, e = A[ones[i, j + 2]], A[ones[i, j + 3]]
            for k in range(len(y)):
                y[k] += (a[k] + b[k]) + (c[k] + e[k])
            j += 4
        while j < n_ones:
            a = A[ones[i, j]]
            for k in range(len(y)):
                y[k] += a[k]
            j += 1
        for j in range(others.shape[1]):
            entry, a = entries[i, j], A[others[i, j]]
            for k in range(len(y)):
                y[k] += entry * a[k]
        for k in range(len(y)):
            y[k] = y[k] * factors[i] + constant[k]
        _set_norms(mapped, out[i : i + 1])


@_called_by_python()
@_compiled(fastmath={"contract"})
def add_outer_products(size, units, factors, of_bias, counts, bias, total):
    """Add outer products of rows, times a factor each, as often as they count.

    If the bias isn't 0, rows have a last column, of which each has it, times a factor `of_bias`. A
    product of two columns is added at one of its two places.
    """
    hats, shares, ones, others, entries = units
    n_hats, n_ones, n_others = hats.shape[1], ones.shape[1], others.shape[1]
    width = 2 * n_hats + n_ones + n_others + (bias != 0.0)
    columns, row = np.empty(width, np.int64), np.empty(width)
    part = np.empty(total.shape)
    for first in range(0, len(factors), size):
        part[:] = 0.0
        for i in range(first, min(first + size, len(factors))):
            k, factor = 0, factors[i]
            for j in range(n_hats):
                share = shares[i, j]
                columns[k], columns[k + 1] = hats[i, j], hats[i, j] + 1
                row[k], row[k + 1] = (1.0 - share) * factor, share * factor
                k += 2
            for j in range(n_ones):
                columns[k], row[k] = ones[i, j], factor
                k += 1
            for j in range(n_others):
                columns[k], row[k] = others[i, j], entries[i, j] * factor
                k += 1
            if bias != 0.0:
                columns[k], row[k] = len(total) - 1, bias * of_bias[i]
            for k in range(width):
                entry, of_column = row[k] * counts[i], part[columns[k]]
                for other in range(k + 1):
                    of_column[columns[other]] += entry * row[other]
        for j in range(len(total)):
            for k in range(len(total)):
                total[j, k] += part[j, k]


@_called_by_python(n_written=2)
@_compiled()
def put_entries(units, places, columns, out):
    """Put the columns of rows and their entries, each of them in its place in a row."""
    hats, shares, ones, others, entries = units
    n_hats, n_ones = hats.shape[1], ones.shape[1]
    of_ones, of_others = places[2 * n_hats :], places[2 * n_hats + n_ones :]
    for i in range(len(out)):
        for j in range(n_hats):
            left, right = places[2 * j], places[2 * j + 1]
            columns[i, left], columns[i, right] = hats[i, j], hats[i, j] + 1
            out[i, left], out[i, right] = 1.0 - shares[i, j], shares[i, j]
        for j in range(n_ones):
            columns[i, of_ones[j]], out[i, of_ones[j]] = ones[i, j], 1.0
        for j in range(others.shape[1]):
            columns[i, of_others[j]], out[i, of_others[j]] = others[i, j], entries[i, j]
