"""Products of curves: the columns of a second fit, which follow from a row and released numbers."""

import itertools
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from skdp._rows.coded_rows import CodedRows
from skdp.additive import _tuned as tuned
from skdp.preprocessing.table._terms import Basis, TermOfTwo

# Rows of codes of which curves are made at once.
_ROWS = 2**14
# Quotients of smaller numbers have few digits.
_SMALLEST_SPREAD = 1e-100


@dataclass(frozen=True, eq=False)
class BoundedCurve:
    """A curve over twice its spread, bent so that it is within `LARGEST_CURVE` on both sides.

    `weights` are of the columns of its term, and `shift` is taken off their product.
    """

    weights: np.ndarray
    shift: float

    def of_columns(self, columns):
        """Return the curve at rows of its term's columns."""
        return self.bent(_products_by_row(columns, self.weights))

    def bent(self, products):
        """Return the curve where the products of columns and weights are such."""
        return tuned.LARGEST_CURVE * np.tanh(products - self.shift)


@dataclass(frozen=True, eq=False)
class ProductTerm(TermOfTwo):
    """The product of two curves, as one column: `first` and `second` are terms of a table."""

    kind: ClassVar = "product"
    n_columns: ClassVar = 1

    first: object
    second: object
    curves: tuple

    @property
    def low(self):
        return np.full(1, -(tuned.LARGEST_CURVE**2))

    @property
    def labels(self):
        """Name of the column."""
        return [self.name]


@dataclass(frozen=True, eq=False)
class BasisWithProducts(Basis):
    """The columns of terms, and of products of the curves of some of them, which are last."""

    n_own: int

    def matrix(self, frame, dtype=np.float64):
        """Return the columns of a frame's rows."""
        own = Basis(self.terms[: self.n_own])
        columns = own.matrix(frame, dtype)
        products = products_of(self.terms[self.n_own :], columns, own.slices)
        return np.column_stack([columns, products.astype(dtype)])


def products_of(terms, columns, slices):
    """Return the columns of products, of the columns of the terms that they are of."""
    curves = {
        place: curve.of_columns(columns[:, slices[place]])
        for place, curve in _curves_of(terms).items()
    }
    return _multiplied(terms, curves, len(columns))


def _curves_of(products):
    """Return the curves of products by the places of their terms."""
    return {
        place: curve
        for product in products
        for place, curve in zip(product.features, product.curves, strict=True)
    }


def _multiplied(products, curves, n_rows):
    """Return the columns of products of curves, which are given by the places of their terms."""
    out = np.empty((n_rows, len(products)))
    for j, product in enumerate(products):
        first, second = product.features
        out[:, j] = curves[first] * curves[second]
    return out


@dataclass(frozen=True, eq=False, kw_only=True)
class SecondView:
    """Rows as the second fit takes them: each curve over its unit, and products of some.

    All is a function of a row and of what was released before. `coefs` are the first fit's, of the
    columns of `basis`, and `intercept` is its mean prediction; `means` are those of
    its curves under the released counts, `units` what these are divided by, and `largest` what no
    row exceeds in these. `variance` is that of the first fit's predictions, as if columns were
    independent.
    """

    basis: Basis
    coefs: np.ndarray
    intercept: float
    means: np.ndarray
    units: np.ndarray
    largest: np.ndarray
    products: tuple
    variance: float

    @property
    def n_columns(self):
        return self.means.size + len(self.products)

    @property
    def norm_bound(self):
        """L2 norm that no row exceeds, 1 where all curves are flat."""
        squares = np.square(self.largest).sum() + tuned.LARGEST_CURVE**4 * len(self.products)
        return max(float(np.sqrt(squares)), 1.0)

    @property
    def start(self):
        """The coefficients of these columns that make the first fit, of shape (1, n + 1)."""
        of_products = np.zeros(len(self.products))
        return np.concatenate([self.units, of_products, [self.intercept]])[np.newaxis]

    def penalty(self, rules, noise):
        """Return the strength of the penalty of the distance from the first fit.

        The noise is that of a mean of numbers in [-1, 1] on which all of the second fit is spent.
        """
        of_predictions = (rules.clip * (self.n_columns + 1) * noise / rules.curvature) ** 2
        expected = max(tuned.CHANGE_OF_VARIANCE * self.variance, _SMALLEST_SPREAD)
        of_noise = rules.curvature * of_predictions / expected
        return min(rules.penalty * noise + of_noise, tuned.LARGEST_PENALTY_OF_CHANGE)

    def of_columns(self, columns):
        """Return rows as the second fit takes them, from rows of the basis."""
        if isinstance(columns, CodedRows):
            return self._of_codes(columns)
        out, slices = np.empty((len(columns), self.n_columns)), self.basis.slices
        for j, part in enumerate(slices):
            out[:, j] = _products_by_row(columns[:, part], self.coefs[part])
        out[:, : len(slices)] = self._in_units(out[:, : len(slices)])
        out[:, len(slices) :] = products_of(self.products, columns, slices)
        return out

    def _of_codes(self, rows):
        """Return what `of_columns` does of rows of codes, of the same bits."""
        slices, curves = self.basis.slices, _curves_of(self.products)
        out, of_curves = np.empty((rows.shape[0], self.n_columns)), np.zeros(rows.n_columns)
        for place, curve in curves.items():
            of_curves[slices[place]] = curve.weights
        for start in range(0, len(out), _ROWS):
            block = slice(start, min(start + _ROWS, len(out)))
            sums = rows.sums_by_part(of_curves, block)
            bent = {place: curve.bent(sums[:, place]) for place, curve in curves.items()}
            products = _multiplied(self.products, bent, len(sums))
            curved = self._in_units(rows.sums_by_part(self.coefs, block))
            np.concatenate([curved, products], axis=1, out=out[block])
        return out

    def _in_units(self, sums):
        """Return sums of terms about their means, each over its unit."""
        return (sums - self.means) / self.units

    def of_basis(self, coefs):
        """Return coefficients of the columns of the basis and of products, and the intercept.

        `coefs` are of the second fit's columns, and its intercept.
        """
        n_curves = self.means.size
        times = coefs[:n_curves] / self.units
        of_columns = self.coefs * np.repeat(times, [t.n_columns for t in self.basis.terms])
        return np.concatenate([of_columns, coefs[n_curves:-1], [coefs[-1] - times @ self.means]])

    def covariance(self, first, second, coefs):
        """Return the covariance of what `of_basis` makes of coefficients, but the intercept.

        Those of the first and the second fit's noise are given. What curves and products have in
        common isn't told.
        """
        n_own, n_curves = self.coefs.size, self.means.size
        out = np.zeros((n_own + len(self.products),) * 2)
        for j, part in enumerate(self.basis.slices):
            unit = self.coefs[part] / self.units[j]
            out[part, part] = (coefs[j] / self.units[j]) ** 2 * first[part, part]
            out[part, part] += second[j, j] * np.multiply.outer(unit, unit)
        out[n_own:, n_own:] = second[n_curves:, n_curves:]
        return out


def count_paired(n_curves, n_strong, rules, room):
    """Return how many of the strong curves are multiplied with each other."""
    most_paired = rules.most if room > tuned.ROOM_FOR_MOST else rules.most_in_little_room
    n_paired = 0
    while n_paired < min(n_strong, most_paired):
        if n_curves + (n_paired + 1) * n_paired // 2 > room:
            break
        n_paired += 1
    return n_paired


def second_view(basis, shapes, coefs, rules, room, is_free):
    """Return the columns of a second fit, from the coefficients of a first, its intercept last.

    `room` is how many columns noise allows, and `is_free` says of each term whether it may be in a
    product.
    """
    coefs, intercept = coefs[:-1], float(coefs[-1])
    means, spreads, largest = [], [], []
    for shape, part in zip(shapes, basis.slices, strict=True):
        mean = float(shape.mean @ coefs[part])
        at_points = shape.points @ coefs[part] - mean
        means.append(mean)
        spreads.append(float(np.sqrt(shape.shares @ at_points**2)))
        largest.append(float(np.abs(shape.nodes @ coefs[part] - mean).max()))
    means, spreads, largest = map(np.array, (means, spreads, largest))
    variance = float(spreads @ spreads)
    # Curves of rounding errors have no strongest.
    largest_coef = max(np.abs(coefs).max(), abs(intercept))
    flat = max(tuned.LARGEST_FLAT_CURVE * largest_coef, _SMALLEST_SPREAD)
    strongest_spread = spreads.max() if spreads.max() > flat else 1.0
    is_strong = (spreads > rules.strong * strongest_spread) & np.array(is_free)
    spreads = np.maximum(spreads, tuned.SMALLEST_SPREAD * strongest_spread)
    units = np.maximum(spreads, largest / tuned.LARGEST_IN_SPREADS)
    order = np.argsort(-spreads, kind="stable")
    strongest = order[is_strong[order]]
    n_paired = count_paired(spreads.size, strongest.size, rules, room)
    slices = basis.slices

    def curve(place):
        twice = 2.0 * spreads[place]
        return BoundedCurve(coefs[slices[place]] / twice, means[place] / twice)

    pairs = itertools.combinations(np.sort(strongest[:n_paired]).tolist(), 2)
    products = tuple(
        ProductTerm(basis.terms[a], basis.terms[b], (curve(a), curve(b))) for a, b in pairs
    )
    return SecondView(
        basis=basis,
        coefs=coefs,
        intercept=intercept + means.sum(),
        means=means,
        units=units,
        largest=largest / units,
        products=products,
        variance=variance,
    )


def _products_by_row(columns, weights):
    """Return the products of rows and weights, each the same wherever its row lies."""
    total = np.zeros(len(columns))
    for column, weight in zip(columns.T, weights.tolist(), strict=True):
        total += column * weight
    return total
