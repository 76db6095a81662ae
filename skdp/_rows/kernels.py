"""Sums over dense rows that are compiled, in one read of the rows and outside of Python's lock.

NumPy's sums are what these are compared with. Rows have any precision, results double. What one row
gives depends on its own entries alone, and the order of work on shapes alone. Numbers may overflow.

Rows are given as tuples: rows, a centre, a factor for each column, and which rows are void, which
count as 0. The rows are moved to these units as they are read, but where the centre is None.
"""

from functools import partial, wraps

import numpy as np
from numba import njit, types
from numba.extending import overload

LOSSES = {"log_loss": 0, "squared_error": 1}
# Bytes of rows that are still in the nearest cache when they are read again.
_TILE_BYTES = 12800
# Rows of a product of matrices, which fit into caches, too.
_PRODUCT_ROWS, _SINGLE_PRODUCT_ROWS = 64, 256
# Beyond it the logistic function is 0 or 1 to double precision.
_LARGEST = 40.0


def _compiled(*, fastmath=False):
    compiler = partial(njit, fastmath=fastmath, nogil=True, error_model="numpy")

    def compile_it(function):
        try:
            return compiler(cache=True)(function)
        except RuntimeError:
            # There is no folder to keep compiled code in.
            return compiler()(function)

    return compile_it


def _called_by_python(*, n_written=1):
    """Have Python's calls write to so many last arguments alone, and only read the others.

    numba compiles once for arrays that may be written to, and again for those that may not, such as
    rows from another process. So all that is read is handed over as what may not be written to.
    """

    def reads(kernel):
        @wraps(kernel)
        def call(*arguments):
            n_read = len(arguments) - n_written
            return kernel(*map(_read_only, arguments[:n_read]), *arguments[n_read:])

        return call

    return reads


def _read_only(argument):
    if isinstance(argument, tuple):
        return tuple(map(_read_only, argument))
    if isinstance(argument, np.ndarray) and argument.flags.writeable:
        argument = argument.view()
        argument.flags.writeable = False
    return argument


def _in_units(rows, centre, factors, is_void, start, end, room):
    """Return some rows; `room` has space for them where they are moved."""


# Nothing may be reordered here: whatever a row is used for, its entries have the same bits.
@overload(_in_units, jit_options={"error_model": "numpy", "nogil": True})
def _by_type(rows, centre, factors, is_void, start, end, room):
    def as_they_are(rows, centre, factors, is_void, start, end, room):
        return rows[start:end]

    def moved(rows, centre, factors, is_void, start, end, room):
        for i in range(start, end):
            if is_void[i]:
                room[i - start] = 0.0
            else:
                for j in range(len(centre)):
                    room[i - start, j] = (rows[i, j] - centre[j]) * factors[j]
        return room[: end - start]

    return as_they_are if isinstance(centre, types.NoneType) else moved


@_compiled()
def _rows_of_tile(rows):
    return max(4, _TILE_BYTES // (rows.shape[1] * rows.itemsize) // 4 * 4)


def _as_they_lie(rows, centre, is_void, start, end, room):
    """Return some rows in their own units; those that are void are at the centre, in `room`."""


@overload(_as_they_lie, jit_options={"error_model": "numpy", "nogil": True})
def _lying_by_type(rows, centre, is_void, start, end, room):
    def as_they_are(rows, centre, is_void, start, end, room):
        return rows[start:end]

    def without_void(rows, centre, is_void, start, end, room):
        is_any_void = False
        for i in range(start, end):
            is_any_void |= is_void[i]
        if not is_any_void:
            return rows[start:end]
        for i in range(start, end):
            room[i - start] = centre if is_void[i] else rows[i]
        return room[: end - start]

    return as_they_are if isinstance(centre, types.NoneType) else without_void


def _weights_of_rows(w, centre, factors):
    """Return weights of rows in their own units, and what all predictions have beside them."""


@overload(_weights_of_rows, jit_options={"error_model": "numpy", "nogil": True})
def _weights_by_type(w, centre, factors):
    def as_they_are(w, centre, factors):
        return w, 0.0

    def of_units(w, centre, factors):
        found, shift = w * factors, 0.0
        for j in range(len(w)):
            shift -= centre[j] * found[j]
        return found, shift

    return as_they_are if isinstance(centre, types.NoneType) else of_units


@_compiled(fastmath={"reassoc", "contract"})
def _set_products(rows, w, out):
    """Put the products of rows with w; of four at once, as these don't wait for each other."""
    i, d = 0, len(w)
    while i + 4 <= len(rows):
        a = b = c = e = 0.0
        for j in range(d):
            a += rows[i, j] * w[j]
            b += rows[i + 1, j] * w[j]
            c += rows[i + 2, j] * w[j]
            e += rows[i + 3, j] * w[j]
        out[i], out[i + 1], out[i + 2], out[i + 3] = a, b, c, e
        i += 4
    while i < len(rows):
        a = 0.0
        for j in range(d):
            a += rows[i, j] * w[j]
        out[i] = a
        i += 1


@_compiled(fastmath={"contract"})
def _add_rows(rows, factors, total):
    """Add rows times their factors; four at once, as the total is read and written each time."""
    i, d = 0, rows.shape[1]
    while i + 4 <= len(rows):
        a, b, c, e = factors[i], factors[i + 1], factors[i + 2], factors[i + 3]
        for j in range(d):
            one = a * rows[i, j] + b * rows[i + 1, j]
            total[j] += one + (c * rows[i + 2, j] + e * rows[i + 3, j])
        i += 4
    while i < len(rows):
        for j in range(d):
            total[j] += factors[i] * rows[i, j]
        i += 1


def _add_in_units(rows, centre, factors, weights, total):
    """Add rows, which are moved to their units as they are added, times their weights."""


# A row is added as `_in_units` makes it, to the last bit: of its two operations, a difference and a
# product, neither can be fused with the other.
@overload(
    _add_in_units, jit_options={"error_model": "numpy", "nogil": True, "fastmath": {"contract"}}
)
def _adding_by_type(rows, centre, factors, weights, total):
    def as_they_are(rows, centre, factors, weights, total):
        _add_rows(rows, weights, total)

    def moved(rows, centre, factors, weights, total):
        i = 0
        while i + 4 <= len(rows):
            a, b, c, e = weights[i], weights[i + 1], weights[i + 2], weights[i + 3]
            for j in range(len(centre)):
                of_column, factor = centre[j], factors[j]
                one = a * ((rows[i, j] - of_column) * factor)
                one += b * ((rows[i + 1, j] - of_column) * factor)
                two = c * ((rows[i + 2, j] - of_column) * factor)
                total[j] += one + (two + e * ((rows[i + 3, j] - of_column) * factor))
            i += 4
        while i < len(rows):
            for j in range(len(centre)):
                total[j] += weights[i] * ((rows[i, j] - centre[j]) * factors[j])
            i += 1

    return as_they_are if isinstance(centre, types.NoneType) else moved


@_compiled()
def _set_log_loss(targets, m):
    """Put the slopes of the logistic loss in the place of predictions."""
    for i in range(len(m)):
        y = targets[i]
        v = min(max(y * m[i], -_LARGEST), _LARGEST)
        # exp(v) is the 256th power of a series that is short for small numbers.
        r = v * (1.0 / 256.0)
        e = 1 / 6 + r * (1 / 24 + r * (1 / 120 + r * (1 / 720 + r / 5040)))
        e = 1.0 + r * (1.0 + r * (0.5 + r * e))
        e *= e
        e *= e
        e *= e
        e *= e
        e *= e
        e *= e
        e *= e
        e *= e
        m[i] = -y / (1.0 + e)


@_compiled()
def _set_slopes(loss, targets, lengths, weights, bound, m):
    """Put cut slopes in the place of predictions; of what is no number, or null, they are 0.

    Weights are empty where there are none.
    """
    if loss == 0:
        _set_log_loss(targets, m)
    else:
        for i in range(len(m)):
            m[i] -= targets[i]
    if len(weights):
        for i in range(len(m)):
            m[i] *= weights[i]
    for i in range(len(m)):
        slope = m[i] * (bound / max(abs(m[i]) * lengths[i], bound))
        is_there = (abs(slope) < np.inf) & (lengths[i] > 0.0)
        m[i] = slope if is_there else 0.0


@_called_by_python()
@_compiled()
def add_slopes(loss, size, units, scale, targets, lengths, weights, bound, w, constant, total):
    """Add the sum of slopes times rows, and of slopes, by blocks of `size` rows.

    Each slope times its weight is cut so that times its length it is within the bound. Rows count
    times their scale; `constant` is what the intercept's column adds to a prediction. Where there
    are no weights or no scale, these are empty: None would be compiled again.
    """
    rows, centre, factors, is_void = units
    n, d = rows.shape
    tile = _rows_of_tile(rows)
    slopes, part, room = np.empty(tile), np.empty(d + 1), np.empty((tile, d), rows.dtype)
    # A prediction may have any rounding errors: it only chooses the slope, from its row alone.
    weights_of_rows, shift = _weights_of_rows(w, centre, factors)
    for first in range(0, n, size):
        part[:] = 0.0
        stop = min(first + size, n)
        for start in range(first, stop, tile):
            end = min(start + tile, stop)
            m = slopes[: end - start]
            x = _as_they_lie(rows, centre, is_void, start, end, room)
            _set_products(x, weights_of_rows, m)
            for i in range(len(m)):
                m[i] += shift
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
            _add_in_units(x, centre, factors, m, part[:d])
        for j in range(d + 1):
            total[j] += part[j]


@_compiled(fastmath={"reassoc", "contract"})
def _set_norms(rows, out):
    for i in range(len(rows)):
        total = 0.0
        for j in range(rows.shape[1]):
            z = np.float64(rows[i, j])
            total += z * z
        out[i] = np.sqrt(total)


@_called_by_python()
@_compiled()
def set_lengths(units, out):
    """Put the lengths of rows."""
    rows, centre, factors, is_void = units
    tile = _rows_of_tile(rows)
    room = np.empty((tile, len(factors)), factors.dtype)
    for start in range(0, len(rows), tile):
        end = min(start + tile, len(rows))
        _set_norms(_in_units(rows, centre, factors, is_void, start, end, room), out[start:end])


@_called_by_python()
@_compiled()
def set_mapped_lengths(units, factors, constant, A, out):
    """Put the lengths of rows, times their factors and with the constant, that A maps."""
    rows, centre, per_unit, is_void = units
    room = np.empty((_PRODUCT_ROWS, len(per_unit)), per_unit.dtype)
    whole, mapped = np.empty((_PRODUCT_ROWS, len(A))), np.empty((_PRODUCT_ROWS, len(A)))
    for start in range(0, len(rows), _PRODUCT_ROWS):
        end = min(start + _PRODUCT_ROWS, len(rows))
        x = _in_units(rows, centre, per_unit, is_void, start, end, room)
        z, y, d = whole[: end - start], mapped[: end - start], x.shape[1]
        for i in range(len(z)):
            for j in range(d):
                z[i, j] = x[i, j] * factors[start + i]
            z[i, d:] = constant
        np.dot(z, A, y)
        _set_norms(y, out[start:end])


@_called_by_python()
@_compiled()
def set_single_lengths(units, factors, constant, norms, A, size, slack, out):
    """Put upper bounds of what `set_mapped_lengths` puts, by products in single precision.

    Rows are divided by their norms first, and A is one that was divided by its `size`, so that the
    `slack`, added to the length of a product, bounds all errors (`skdp._rows.certified_rows`).
    """
    rows, centre, per_unit, is_void = units
    room = np.empty((_SINGLE_PRODUCT_ROWS, len(per_unit)), per_unit.dtype)
    whole = np.empty((_SINGLE_PRODUCT_ROWS, len(A)), np.float32)
    mapped = np.empty((_SINGLE_PRODUCT_ROWS, len(A)), np.float32)
    for start in range(0, len(rows), _SINGLE_PRODUCT_ROWS):
        end = min(start + _SINGLE_PRODUCT_ROWS, len(rows))
        x = _in_units(rows, centre, per_unit, is_void, start, end, room)
        z, y, d = whole[: end - start], mapped[: end - start], x.shape[1]
        for i in range(len(z)):
            norm = norms[start + i]
            per_norm = 1.0 / norm if norm > 0.0 else 0.0
            factor = factors[start + i] * per_norm
            for j in range(d):
                z[i, j] = x[i, j] * factor
            z[i, d:] = constant * per_norm
        np.dot(z, A, y)
        lengths = out[start:end]
        _set_norms(y, lengths)
        for i in range(len(lengths)):
            lengths[i] = norms[start + i] * (size * (lengths[i] + slack))


def _put_counted(rows, centre, per_unit, is_void, factors, out):
    """Put rows in their units times their factors, as `_in_units` makes them, to the last bit."""


@overload(_put_counted, jit_options={"error_model": "numpy", "nogil": True})
def _putting_by_type(rows, centre, per_unit, is_void, factors, out):
    def as_they_are(rows, centre, per_unit, is_void, factors, out):
        for i in range(len(rows)):
            for j in range(rows.shape[1]):
                out[i, j] = rows[i, j] * factors[i]

    def moved(rows, centre, per_unit, is_void, factors, out):
        for i in range(len(rows)):
            if is_void[i]:
                out[i, : len(centre)] = 0.0
            else:
                for j in range(len(centre)):
                    out[i, j] = ((rows[i, j] - centre[j]) * per_unit[j]) * factors[i]

    return as_they_are if isinstance(centre, types.NoneType) else moved


@_called_by_python()
@_compiled()
def put_counted_rows(units, factors, constants, out):
    """Put rows times their factors, with their constants behind them."""
    rows, centre, per_unit, is_void = units
    _put_counted(rows, centre, per_unit, is_void, factors, out)
    for i in range(len(rows)):
        out[i, rows.shape[1] :] = constants[i]


@_called_by_python()
@_compiled()
def put_rows(units, out):
    """Put rows as they are in their units, in the type of these."""
    rows, centre, factors, is_void = units
    _in_units(rows, centre, factors, is_void, 0, len(rows), out)


@_called_by_python()
@_compiled()
def add_moved(size, units, weights, total):
    """Add rows times their weights, by blocks of `size` rows."""
    rows, centre, factors, is_void = units
    tile = _rows_of_tile(rows)
    room, part = np.empty((tile, len(factors)), factors.dtype), np.empty(len(total))
    for first in range(0, len(rows), size):
        part[:] = 0.0
        stop = min(first + size, len(rows))
        for start in range(first, stop, tile):
            end = min(start + tile, stop)
            x = _in_units(rows, centre, factors, is_void, start, end, room)
            _add_rows(x, weights[start:end], part)
        for j in range(len(total)):
            total[j] += part[j]


@_called_by_python()
@_compiled()
def count_entries(units, shift, first, n_bins, total):
    """Count the entries of each column by the leading bits of their distance from the centre.

    They are shifted, and `first` is that of the first bin, where entries of 0 are, too. Void rows
    aren't counted.
    """
    rows, centre, factors, is_void = units
    z, bin_of_entry = np.empty(len(centre)), np.empty(len(centre), np.int64)
    counts, bits = np.zeros(len(total), np.int64), z.view(np.int64)
    for i in range(len(rows)):
        if is_void[i]:
            continue
        for j in range(len(z)):
            z[j] = 0.0 if rows[i, j] == 0.0 else abs((rows[i, j] - centre[j]) * factors[j])
        for j in range(len(z)):
            bin_of_entry[j] = j * n_bins + min(max((bits[j] >> shift) - first, 0), n_bins - 1)
        for j in range(len(z)):
            counts[bin_of_entry[j]] += 1
    for k in range(len(total)):
        total[k] += counts[k]
