"""What estimators share that learn a ball: planning it, learning it, and publishing it."""

from collections.abc import Callable
from numbers import Real

import numpy as np

from skdp._estimator import is_private
from skdp._rows.blocks import rounding_slack
from skdp._rows.bounds import clip_rows
from skdp._rows.raw_rows import RawRows
from skdp._rows.rows_in_ball import rows_in_ball
from skdp._sklearn import Interval, StrOptions
from skdp.exceptions import warn_user
from skdp.linear_model.ball._plan import plan_ball, plan_targets
from skdp.linear_model.ball._solver import Ball, following, hardly_tells, learn_ball

FEW_FOR_TARGETS = (
    "target_bounds=None learns a range of the targets, for which the records are too few at this "
    "epsilon: predictions may be far off. Give public bounds, target_bounds=(low, high)."
)
FEW_FOR_SIZES = (
    "the size of the targets needs more records at this epsilon: predictions may be far off."
)
BALL_CONSTRAINTS = {"ball_budget": [Interval(Real, 0, 1, closed="left"), StrOptions({"auto"})]}
_BALL_ATTRIBUTES = "center_", "scale_", "radius_"


class BallMixin:
    """Planning a ball, learning it, and publishing it, for estimators that protect rows."""

    # Reads rows and targets; the mixins of regressors and of classifiers give it.
    _read: Callable
    # Estimators that use one thread have no such parameter.
    n_jobs = None
    # Batches are gathered from rows in a ball's units, for which the rows are copied.
    _copies_rows = True
    # Some learn sizes of targets, and not ranges.
    _learns_sizes = False

    def _without_ball(self):
        """Return what no ball is learnt with, or None."""

    def _learns_ball(self):
        """Return whether a ball is learnt where there is a share of the budget for it."""
        return True

    def _public_ball(self, n_features):
        """Return the ball that weighs rows where none is learnt, or None to clip them."""

    def _ball_budget(self):
        """Return the share of the budget that learns the ball, 0 where none can be learnt."""
        reason = self._without_ball()
        if reason is None or self.ball_budget == 0:
            return self.ball_budget
        if self.ball_budget != "auto":
            raise ValueError(
                f"ball_budget must be 'auto' or 0 with {reason}: no ball is learnt then, and rows "
                "are clipped to data_norm."
            )
        return 0

    def _has_share_for_targets(self):
        return self._ball_budget() != 0

    def _planned_learning(
        self, budget, n_records, sizes, data_norm, share_within=None, *, alike=False
    ):
        """Return plans of ranges of targets and of the ball, or None, and their share of mu^2.

        `sizes` are the numbers of features and of outputs. For `share_within` and `alike` see
        `plan_ball`.
        """
        n_features, n_outputs = sizes
        ranges, spent_on_targets, share = None, 0.0, self._ball_budget()
        share_of_ball = share if self._learns_ball() else 0
        if self._learns_targets():
            ranges, spent_on_targets = plan_targets(
                budget,
                share or "auto",
                n_rows=n_records,
                n_targets=n_outputs,
                slack=rounding_slack(n_records, n_outputs, 1),
                of_sizes=self._learns_sizes,
            )
            if self._learns_sizes and hardly_tells(ranges):
                warn_user(FEW_FOR_SIZES)
            elif self.target_bounds is None and hardly_tells(ranges):
                warn_user(FEW_FOR_TARGETS)
        ball, spent = plan_ball(
            budget,
            ball_budget=share_of_ball,
            data_norm=data_norm,
            centred=self.fit_intercept,
            n_rows=n_records,
            n_columns=n_features,
            slack=rounding_slack(n_records, n_features, 1),
            share_within=share_within,
            # Targets have a part of a share that was given.
            spent_on_targets=spent_on_targets if share_of_ball else 0.0,
            alike=alike,
        )
        return ranges, ball, spent_on_targets + spent

    def _certified_rows(self, X):
        # Releases that a ball is learnt from bound rows themselves.
        if self._ball_budget() != 0:
            return clip_rows(X, data_norm=1.0, fit_intercept=True, clip=False)
        return super()._certified_rows(X)

    def _placed(self, rows, plan, run):
        """Return rows with certified norms, the plan that follows their ball, and the ball.

        The ball is learnt here, if it is at all; else it is None.
        """
        if self._ball_budget() == 0:
            return rows, plan, None
        is_null = rows.norm == 0.0
        if plan.ball is None:
            return self._bounded_by(None, rows.X, is_null), plan, None
        with RawRows(rows.X, is_null, self.n_jobs).at_work() as as_read:
            ball = learn_ball(as_read, plan=plan.ball, run=run)
        rows = self._bounded_by(ball, rows.X, is_null)
        return rows, following(plan, ball, rows.stretch, rows.bias, run), ball

    def _bounded_by(self, ball, X, is_null):
        """Return rows in a ball's units with certified norms, or without one clipped ones."""
        if ball is None:
            ball = self._public_ball(X.shape[1])
        if ball is None:
            rows = super()._certified_rows(X)
            return rows._replace(norm=np.where(is_null, 0.0, rows.norm))
        return rows_in_ball(
            X,
            ball,
            is_null,
            fit_intercept=self.fit_intercept,
            clip=is_private(self),
            is_copied=self._copies_rows,
        )

    def _published_ball(self):
        """Return the ball of a fit, or None where none was learnt."""
        if not hasattr(self, "radius_"):
            return None
        return Ball(self.center_, self.scale_, self.radius_)

    def _set_ball(self, ball):
        """Publish what was learnt of the rows; None forgets what an earlier fit did."""
        if ball is None:
            for name in _BALL_ATTRIBUTES:
                vars(self).pop(name, None)
        else:
            self.center_, self.scale_, self.radius_ = ball.center, ball.scale, ball.radius


def shares_of(codes):
    """Return what rows count in their group, from the group of each row, or None."""
    return None if codes is None else 1.0 / np.bincount(codes)[codes]
