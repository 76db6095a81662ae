"""Terms of an additive model, as they are read: values, their noise, and what they weigh."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression

from skdp.additive import _tuned as tuned
from skdp.additive._products import ProductTerm
from skdp.preprocessing.table._terms import HatsTerm, LineTerm, PairTerm, WordsTerm


@dataclass(frozen=True, eq=False, kw_only=True)
class ShapeTerm:
    """A term of a fitted additive model.

    Attributes
    ----------
    name : str
        Name of its column, or of both columns of a pair.
    kind : {"hats", "line", "words", "pair", "product"}
        A curve that is straight between knots, a line between two, a value for each word, a
        surface, or a multiple of the product of two curves. These are divided by twice their
        spread there, and bent by 2.5 tanh. The multiple is the only value.
    features : tuple of str
        Its columns.
    knots : ndarray, or tuple of those of a pair, or None
        Where a curve bends. None for a product.
    categories : ndarray, or tuple of those of a pair, or None
        Words that have a value of their own. None for a product.
    labels : tuple of str
        Names of the places that have a value: knots, a spike, missing entries, words; of a product
        its name.
    sides : tuple of tuples of str
        The labels; of a pair, those of each column, whose combinations are the labels; of a
        product, those of both curves.
    values : ndarray of shape (n_labels,) or (n_labels, n_classes)
        Contribution of the term to the prediction there. Its mean is 0 under `weights`; where these
        aren't known, its plain mean over the knots or words.
    std : ndarray of shape (n_labels,)
        Predicted standard deviation of the noise that was added to them for privacy. It is too
        small where there are almost no records. It does not include the sampling error of the
        records.
    weights : ndarray of shape (n_labels,)
        Noisy shares of the records. NaN where none were released, as of knots and categories that
        were given without counts.
    importance : float
        Mean absolute value, under the released counts. Where `weights` aren't known, the plain mean
        over the knots or words: how far apart values are, and not how many records have them.
    is_noise : bool
        Whether values are no larger than noise alone would make them.
    holds_dates : bool, or tuple of those of a pair
        Whether knots are days since 1970, which labels print as dates.
    spike : float or None
        A number with a value of its own beside a curve, because many records share it.
    has_few_numbers : bool
        Whether all numbers of a column that were released are its knots and spike.
    products : ndarray of shape (n_first, n_second) or None
        Of a product, that of both curves at the places in `sides`, less its mean. Times the only
        value it is the contribution there.
    """

    name: str
    kind: str
    features: tuple
    knots: object
    categories: object
    labels: tuple
    sides: tuple
    values: np.ndarray
    std: np.ndarray
    weights: np.ndarray
    importance: float
    is_noise: bool
    holds_dates: object = False
    spike: float | None = None
    has_few_numbers: bool = False
    products: np.ndarray | None = None

    def __repr__(self):
        noise = ", is noise" if self.is_noise else ""
        unknown = ", shares unknown" if np.isnan(self.weights).any() else ""
        count = "1 value" if len(self.labels) == 1 else f"{len(self.labels)} values"
        return f"{self.name} ({self.kind}): {count}{noise}{unknown}"


@dataclass(frozen=True, eq=False)
class Shape:
    """How a term of a table is read: of coefficients c its values are ``(nodes - mean) @ c``.

    `nodes` are the columns at places of interest, of shape (n_labels, n_columns), with `labels`;
    `points` the columns of bins that were released, with their `shares` of the records, and `mean`
    the mean of those. Without `known_shares` knots or words have even ones, which say nothing of
    the records: values have to be relative to some mean.
    """

    term: HatsTerm | LineTerm | WordsTerm | PairTerm
    labels: tuple
    nodes: np.ndarray
    points: np.ndarray
    shares: np.ndarray
    known_shares: bool

    @classmethod
    def of(cls, term):
        """Return the shape of a term of a table."""
        labels, nodes = _nodes(term)
        profile = term.profile()
        points, counts = (nodes, np.zeros(len(nodes))) if profile is None else profile
        counts = np.maximum(counts, 0.0)
        known_shares = bool(counts.sum() > 0.0)
        if not known_shares:
            points, counts = nodes, _even(term)
        return cls(term, tuple(labels), nodes, points, counts / counts.sum(), known_shares)

    @cached_property
    def mean(self):
        return self.shares @ self.points

    @property
    def weights(self):
        """Shares at the nodes, where columns are shares between these."""
        if self.term.kind == "pair":
            parts = (Shape.of(part) for part in (self.term.first, self.term.second))
            return np.kron(*[part.weights for part in parts])
        if self.term.kind == "line":
            on_line = 1.0 - self.mean[1:].sum()
            ends = 0.5 * (on_line + np.array([-1.0, 1.0]) * self.mean[0])
            return np.append(ends, self.mean[1:])
        shares = np.maximum(self.mean, 0.0)
        return shares / max(shares.sum(), 1e-300)

    def known(self, coefs):
        """Return coefficients under which words that nobody has, by the counts, add the mean.

        What is learnt of them is noise of all releases, and would be added to those of new words.
        """
        if self.term.kind != "words" or self.term.counts is None:
            return coefs
        return np.where(self.shares > 0.0, coefs, (coefs @ self.mean)[:, np.newaxis])

    @property
    def _centred(self):
        centred = self.nodes - self.mean
        if self.term.kind == "words" and self.term.counts is not None:
            # These are the mean itself.
            centred = np.where(self.shares[:, np.newaxis] > 0.0, centred, 0.0)
        return centred

    def squares_of_noise(self, covariance, n_outputs):
        """Return mean and variance of values' mean square by noise of such a covariance alone."""
        rooted = np.sqrt(self.weights)[:, np.newaxis] * self._centred
        of_values = rooted @ covariance @ rooted.T
        # The sum of squares of normal numbers of covariance B has the variance 2 tr(B B).
        return n_outputs * np.trace(of_values), 2.0 * n_outputs * np.square(of_values).sum()

    def read(self, coefs, covariance, names):
        """Return the term with coefficients of shape (k, n_columns), and their covariance."""
        centred = self._centred
        values = centred @ coefs.T
        std = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", centred, covariance, centred), 0.0))
        weights, n_outputs = self.weights, len(coefs)
        mean_square = weights @ (values**2).sum(axis=1)
        at_points = np.abs((self.points - self.mean) @ coefs.T)
        term, parts = self.term, (self.term,)
        if term.kind == "pair":
            parts = (term.first, term.second)

        def is_words(part):
            return part.kind == "words"

        return ShapeTerm(
            name=term.name,
            kind=term.kind,
            features=tuple(names[j] for j in term.features),
            knots=_one_or_all(None if is_words(part) else part.knots for part in parts),
            categories=_one_or_all(part.categories if is_words(part) else None for part in parts),
            labels=self.labels,
            sides=tuple(tuple(_nodes(part)[0]) for part in parts),
            values=values[:, 0] if n_outputs == 1 else values,
            std=std,
            weights=weights if self.known_shares else np.full(len(weights), np.nan),
            importance=float(self.shares @ at_points.mean(axis=1)),
            is_noise=_is_noise(mean_square, *self.squares_of_noise(covariance, n_outputs)),
            holds_dates=_one_or_all(not is_words(part) and part.holds_dates for part in parts),
            spike=None if len(parts) > 1 or is_words(term) else term.spike,
            has_few_numbers=len(parts) == 1 and not is_words(term) and _has_few_numbers(term),
        )


def _is_noise(mean_square, mean, variance):
    """Return whether a mean square is about what noise alone would give, by its moments."""
    return bool(mean_square <= mean + tuned.STANDARD_DEVIATIONS_OF_NOISE * np.sqrt(variance))


def all_noise(terms, shapes, covariances):
    """Return whether no term can be told from noise, and all of them together can't either.

    Many weak terms may each look like noise. Their mean squares add up, and so does the noise.
    """
    mean_square = mean = variance = 0.0
    for term, shape, covariance in zip(terms, shapes, covariances, strict=True):
        values = term.values.reshape(len(term.labels), -1)
        of_noise = shape.squares_of_noise(covariance, values.shape[1])
        mean_square += shape.weights @ (values**2).sum(axis=1)
        mean, variance = mean + of_noise[0], variance + of_noise[1]
    return all(term.is_noise for term in terms) and _is_noise(mean_square, mean, variance)


@dataclass(frozen=True, eq=False)
class ProductShape:
    """How a product of two curves is read: by one number, its coefficient.

    Its mean is that under the released counts if columns were independent. `points` are both curves
    at the bins of their columns, and `shares` those of the records there.
    """

    term: ProductTerm
    parts: tuple
    points: tuple
    shares: tuple

    @classmethod
    def of(cls, term):
        """Return the shape of a product."""
        parts = tuple(Shape.of(part) for part in (term.first, term.second))
        curves = zip(term.curves, parts, strict=True)
        points = tuple(curve.of_columns(part.points) for curve, part in curves)
        return cls(term, parts, points, tuple(part.shares for part in parts))

    @cached_property
    def mean(self):
        of_curves = zip(self.shares, self.points, strict=True)
        return np.atleast_1d(np.prod([shares @ points for shares, points in of_curves]))

    @property
    def weights(self):
        """The share of the records that have a product: all."""
        return np.ones(1)

    def squares_of_noise(self, covariance, n_outputs):
        """Return mean and variance of the coefficient's square by noise alone; see `Shape`."""
        variance = max(float(covariance[0, 0]), 0.0)
        return n_outputs * variance, 2.0 * n_outputs * variance**2

    def read(self, coefs, covariance, names):
        """Return the term with coefficients of shape (1, 1), and their variance."""
        value, std = float(coefs[0, 0]), float(np.sqrt(max(covariance[0, 0], 0.0)))
        size = _mean_distance(*self.points, *self.shares, float(self.mean[0]))
        curves = zip(self.term.curves, self.parts, strict=True)
        at_nodes = [curve.of_columns(part.nodes) for curve, part in curves]
        return ShapeTerm(
            name=self.term.name,
            kind=self.term.kind,
            features=tuple(names[j] for j in self.term.features),
            knots=None,
            categories=None,
            labels=(self.term.name,),
            sides=tuple(tuple(part.labels) for part in self.parts),
            values=np.array([value]),
            std=np.array([std]),
            weights=self.weights,
            importance=float(abs(value) * size),
            is_noise=_is_noise(value**2, *self.squares_of_noise(covariance, 1)),
            products=np.multiply.outer(*at_nodes) - self.mean[0],
        )


def _mean_distance(first, second, shares, others, mean):
    """Return the mean of ``|first * second - mean|``, over all pairs of points.

    Without noise each value of a column is a point, and pairs would be too many for memory. So
    points of `second` are sorted, and summed up to where the difference changes its sign.
    """
    order = np.argsort(second)
    values, weights = second[order], others[order]
    below = np.concatenate([[0.0], np.cumsum(weights)])
    summed = np.concatenate([[0.0], np.cumsum(weights * values)])
    # Where a curve is 0 the product is, too; a quotient would overflow.
    is_flat = np.abs(first) < 1e-100
    turns = mean / np.where(is_flat, 1.0, first)
    places = np.searchsorted(values, turns)
    distances = turns * (2.0 * below[places] - below[-1]) + summed[-1] - 2.0 * summed[places]
    return float(shares @ np.where(is_flat, abs(mean), np.abs(first) * distances))


def shape_of(term):
    """Return how a term is read."""
    return ProductShape.of(term) if term.kind == "product" else Shape.of(term)


def _one_or_all(values):
    """Return the value of a term's only column, or a tuple of those of a pair."""
    values = tuple(values)
    return values[0] if len(values) == 1 else values


def _nodes(term):
    """Return labels of places of interest, and the columns of a term there."""
    if term.kind == "pair":
        (labels, nodes), (others, columns) = _nodes(term.first), _nodes(term.second)
        return [f"{a} x {b}" for a in labels for b in others], np.kron(nodes, columns)
    if term.kind == "line":
        nodes = np.eye(term.n_columns + 1)[:, 1:]
        nodes[:2, 0] = -1.0, 1.0
        return term.knot_labels + term.labels[1:], nodes
    return term.labels, np.eye(term.n_columns)


def _has_few_numbers(term):
    """Return whether a column of numbers was seen at its knots and its spike alone."""
    if term.kind != "hats" or term.points is None:
        return False
    numbers = term.knots if term.spike is None else np.append(term.knots, term.spike)
    return bool(np.isin(term.points[~np.isnan(term.points)], numbers).all())


def _even(term):
    """Return even shares of knots and words, none of gaps and new words.

    Nobody may have these, and what is learnt of them is noise then.
    """
    if term.kind == "pair":
        return np.kron(_even(term.first), _even(term.second))
    even = np.zeros(len(_nodes(term)[0]))
    # Where no word was given, there are new ones alone.
    even[: len(term.categories if term.kind == "words" else term.knots) or None] = 1.0
    return even


def bent(term):
    """Return a term whose curve can be monotone: a spike is a knot of it, and lines are hats."""
    if term.spike is None:
        return term
    return HatsTerm(
        name=term.name,
        feature=term.feature,
        has_gap=term.has_gap,
        points=term.points,
        counts=term.counts,
        holds_dates=term.holds_dates,
        knots=np.unique(np.append(term.knots, term.spike)),
    )


def monotone(shape, coefs, sign):
    """Return coefficients of one output under which a term rises (sign 1) or falls (-1).

    Those of knots are the closest that do, each weighed by the records near it.
    """
    coefs = coefs.copy()
    if shape.term.kind == "line":
        coefs[0] = sign * max(sign * coefs[0], 0.0)
        return coefs
    n_knots = shape.term.knots.size
    weights = np.maximum(shape.mean[:n_knots], 1e-6)
    coefs[:n_knots] = sign * isotonic_regression(sign * coefs[:n_knots], weights=weights).x
    return coefs


def means_of(shapes, basis, coefs):
    """Return the mean of each term, of shape (n_terms, k)."""
    parts = zip(shapes, basis.slices, strict=True)
    return np.array([shape.mean @ coefs[:, part].T for shape, part in parts])


class ReadTerms(NamedTuple):
    """What a linear model of a basis says of terms, their means taken off."""

    terms: tuple
    intercept: Any
    # These means were taken off: they have the shape (n_terms, k).
    offsets: np.ndarray
    # All terms are noise, even together.
    are_noise: bool


def read_terms(model, basis, covariance, settings):
    """Return the terms of a linear model, as `ReadTerms`; curves with a sign of it are bent so."""
    coefs, shapes = np.atleast_2d(model.coef_).copy(), []
    intercept = np.atleast_1d(np.array(model.intercept_, dtype=np.float64))
    covariances = [covariance[part, part] for part in basis.slices]
    signs = settings.signs
    for j, (term, part) in enumerate(zip(basis.terms, basis.slices, strict=True)):
        shape = shape_of(term)
        if j < len(signs) and signs[j]:
            coefs[0, part] = monotone(shape, coefs[0, part], signs[j])
        shapes.append(shape)

    parts = list(zip(shapes, basis.slices, covariances, strict=True))
    names = settings.specs.names
    terms = tuple(shape.read(coefs[:, part], c, names) for shape, part, c in parts)
    is_single = np.ndim(model.intercept_) == 0
    model.coef_ = coefs if model.coef_.ndim == 2 else coefs[0]
    model.intercept_ = float(intercept[0]) if is_single else intercept
    offsets = means_of(shapes, basis, coefs)
    of_means = intercept + offsets.sum(axis=0)
    # Nothing is hidden by noise where nothing was learnt.
    are_noise = bool(coefs.any()) and all_noise(terms, shapes, covariances)
    return ReadTerms(terms, float(of_means[0]) if is_single else of_means, offsets, are_noise)


def importances(basis, terms, n_features):
    """Return the importance of each feature, by those of the terms that it is in."""
    of_features = np.zeros(n_features)
    for of_basis, term in zip(basis.terms, terms, strict=True):
        # Features share alike what only all of them together do, as by Shapley values.
        of_features[list(of_basis.features)] += term.importance / len(of_basis.features)
    return of_features
