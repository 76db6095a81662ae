"""What the fits of an additive model found, in terms of its columns as they are."""

from typing import NamedTuple

import numpy as np

from skdp._ball._solver import outside
from skdp.additive._products import BasisWithProducts
from skdp.additive._shapes import Shape
from skdp.linear_model.whitened._solver import noise_covariance
from skdp.preprocessing.table._terms import Basis


class Fitted(NamedTuple):
    """Coefficients of the columns of a basis, and what they were made of."""

    # The shape is (k, n_columns + 1): the intercept is last.
    coefs: np.ndarray
    covariance: np.ndarray
    basis: Basis
    # Reports of the linear models that were fitted.
    reports: tuple

    @classmethod
    def of_columns(cls, solution, columns):
        """Return what a linear model makes of columns as they are."""
        training = solution.training
        plan, ball, bias = training.plan, training.ball, training.bias
        coefs = outside(ball, solution.coefs, bias)
        coefs[:, -1] *= bias
        if solution.shift:
            coefs[:, -1] += solution.shift
        width = columns.n_columns
        covariance = noise_covariance(solution.steps)[:width, :width]
        if ball is not None:
            covariance = covariance / np.multiply.outer(ball.scale, ball.scale)
        report = plan.report(steps=solution.steps, reproducible=False)
        return cls(coefs, covariance, columns, (report,))

    def of_known_places(self):
        """Return this with coefficients under which words that nobody has add the mean.

        A second fit multiplies the coefficients of a term, and leaves them so.
        """
        coefs = self.coefs.copy()
        for term, part in zip(self.basis.terms, self.basis.slices, strict=True):
            coefs[:, part] = Shape.of(term).known(coefs[:, part])
        return self._replace(coefs=coefs)

    def followed_by(self, second, view, signs):
        """Return what a second fit, whose columns are those of a view, makes of this one.

        `signs` are 1 or -1 for curves that are to rise or to fall.
        """
        coefs = second.coefs[0].copy()
        # A curve that was turned round would fall where it is to rise.
        is_signed = np.flatnonzero(signs)
        coefs[is_signed] = np.maximum(coefs[is_signed], 0.0)
        return Fitted(
            view.of_basis(coefs)[np.newaxis],
            view.covariance(self.covariance, second.covariance, coefs),
            BasisWithProducts((*self.basis.terms, *view.products), len(self.basis.terms)),
            self.reports + second.reports,
        )
