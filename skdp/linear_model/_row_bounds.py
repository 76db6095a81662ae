"""What a linear model does with rows, wherever they are."""

from dataclasses import dataclass

import numpy as np

from skdp._ball._solver import Ball
from skdp._checks import check_feature_bounds, check_positive
from skdp._families.family import Family
from skdp._rows.bounds import clip_rows, intercept_constant
from skdp._rows.certified_rows import CertifiedRows
from skdp._rows.grouped_rows import GroupedRows
from skdp._rows.rows_in_ball import rows_in_ball

_GROUPS_ALONE = "groups of rows go without weights of rows and without standard errors."


@dataclass(frozen=True)
class RowBounds:
    """Public numbers by which rows are bounded, in memory and by workers alike.

    With `awaits_ball` a ball may be learnt, so that rows are unbounded where they are read. `norm`
    is the length that they may have without one, or None where there always is one. Longer rows
    are clipped, if the bounds `clip`, or with `weigh` count less, as they do beyond a ball. Rows in
    a ball are a copy if `is_copied`; see `rows_in_ball`.
    """

    norm: float | None
    fit_intercept: bool
    is_private: bool
    awaits_ball: bool
    clip: bool
    weigh: bool = False
    is_copied: bool = True

    def read(self, X, n_jobs=None):
        """Return rows as they are read, with their norms; bounded ones if no ball is learnt."""
        if self.awaits_ball:
            # Releases that a ball is learnt from bound rows themselves.
            return clip_rows(X, data_norm=1.0, fit_intercept=True, clip=False, n_jobs=n_jobs)
        return self._clipped(X, n_jobs)

    def place(self, ball, X, is_null, n_jobs=None):
        """Return rows in a ball's units with certified norms, or without one bounded ones."""
        if ball is None and not self.weigh:
            rows = self._clipped(X, n_jobs)
            return rows._replace(norm=np.where(is_null, 0.0, rows.norm))
        if ball is None:
            # Coefficients of rows that are weighted stay those of rows as they are.
            ball = Ball(np.zeros(X.shape[1]), np.ones(X.shape[1]), self.norm)
        return rows_in_ball(
            X,
            ball,
            is_null,
            fit_intercept=self.fit_intercept,
            clip=self.is_private,
            is_copied=self.is_copied,
            n_jobs=n_jobs,
        )

    def bias_in(self, ball):
        """Return the entry of the intercept's column of rows in a ball, or without one."""
        return intercept_constant(self.norm if ball is None else ball.radius, self.fit_intercept)

    def _clipped(self, X, n_jobs):
        return clip_rows(
            X,
            data_norm=self.norm,
            fit_intercept=self.fit_intercept,
            clip=self.clip,
            n_jobs=n_jobs,
        )


@dataclass(frozen=True)
class RowTreatment:
    """What a fit does with rows: how they are bounded, and what their targets are.

    Workers get to know this of an estimator, and nothing else: no seed and no ledger. Where it
    `infers`, rows answer queries about standard errors, too.
    """

    family: Family
    bounds: RowBounds
    n_jobs: int | None
    infers: bool = False

    def answering(self, rows, targets, n_threads, weights=None, *, codes=None):
        """Return certified rows that answer queries, or groups of them."""
        # A group is cut as a whole: no weight of one of its rows is bounded, nor its error.
        if codes is not None and (weights is not None or self.infers):
            raise ValueError(_GROUPS_ALONE)
        n_columns = targets.shape[1]
        loss, n_outputs = self.family.loss(n_columns), self.family.n_outputs(n_columns)
        # Without noise nothing is cut, and a sum over groups is the sum over their rows.
        if codes is not None and self.bounds.is_private:
            return GroupedRows(rows, targets, loss, n_threads, codes=codes, n_outputs=n_outputs)
        return CertifiedRows(
            rows,
            targets,
            loss,
            n_threads,
            weights,
            inference=self.infers,
            n_outputs=n_outputs,
        )


def public_feature_bounds(settings, n_features):
    """Return the ranges (low, high) that `feature_bounds` of an estimator or method stands for."""
    bounds = settings.feature_bounds
    if bounds is None:
        norm = settings.data_norm
        reach = 1.0 if norm is None else check_positive(norm, "data_norm")
        bounds = (-reach, reach)
    return check_feature_bounds(bounds, n_features)
