"""Methods: how steps of a linear model are taken, and how rows are bounded for them."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from skdp._ball._plan import plan_ball
from skdp._ball._solver import Ball
from skdp._checks import check_n_jobs, check_positive
from skdp._families.family import Family
from skdp._rows.blocks import rounding_slack
from skdp._rows.groups import encode_groups
from skdp._settings import Settings
from skdp.linear_model._row_bounds import RowBounds, RowTreatment


class Training(NamedTuple):
    """What steps are taken with: public numbers, and what was released before them."""

    family: Family
    # Units of targets: `TargetUnits`, `RateUnits`, or classes.
    units: object
    # The plan that follows the ball.
    plan: object
    ball: Ball | None
    # The entry of the intercept's column, 0 without one.
    bias: float
    # Coefficients in the units of the ball that steps begin at, or None: at 0.
    start: np.ndarray | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Method(Settings):
    """How steps are taken, by settings that an estimator has as parameters.

    Subclasses have `plan` and `solve`, and say what they publish. Sizes are the numbers of records,
    of features and of columns of targets.
    """

    alpha: float
    fit_intercept: bool
    # Public bound on the length of rows where no ball is learnt, or None.
    data_norm: float | None
    ball_budget: float | str
    max_iter: int | str
    clipping_norm: float | str
    # Without privacy nothing is clipped.
    is_private: bool
    # Methods that use one thread have no such setting.
    n_jobs: int | None = None

    # The report of a fit assumes this public.
    assumed: ClassVar[tuple[str, ...]] = ()
    takes_sparse: ClassVar[bool] = True
    # A clip that is given is for rows as they are: a ball is then learnt only if it is asked for.
    clips_rows_as_they_are: ClassVar[bool] = False
    # A method that has a setting `feature_bounds` may make no use of it.
    uses_feature_bounds: ClassVar[bool] = True
    # Records may be groups of rows.
    takes_groups: ClassVar[bool] = False
    # Names of attributes that not every fit has.
    sometimes: ClassVar[tuple[str, ...]] = ()

    @property
    def without_ball(self):
        """What no ball is learnt with, in words, or None."""
        return None

    @property
    def learns_ball(self):
        """Whether a ball is learnt where there is a share of the budget for it."""
        return True

    @property
    def share_of_ball(self):
        """The share of the budget that learns the ball, 0 where none can be learnt."""
        is_clip_given = self.clipping_norm != "auto" and self.ball_budget == "auto"
        if self.clips_rows_as_they_are and is_clip_given:
            return 0
        reason = self.without_ball
        if reason is None or self.ball_budget == 0:
            return self.ball_budget
        if self.ball_budget != "auto":
            raise ValueError(
                f"ball_budget must be 'auto' or 0 with {reason}: no ball is learnt then, and rows "
                "are clipped to data_norm."
            )
        return 0

    @property
    def row_bounds(self):
        """How rows are bounded, as `RowBounds`."""
        norm = None if self.data_norm is None else check_positive(self.data_norm, "data_norm")
        return RowBounds(
            norm=norm,
            fit_intercept=self.fit_intercept,
            is_private=self.is_private,
            awaits_ball=self.share_of_ball != 0,
            clip=self.is_private and norm is not None,
        )

    def treatment(self, family):
        """Return what a fit does with rows, as a `RowTreatment`."""
        return RowTreatment(family, self.row_bounds, self.n_jobs)

    def n_columns(self, n_features):
        """Return the number of columns of certified rows."""
        return n_features + bool(self.fit_intercept)

    def order_of(self, X):
        """Return the order in memory that rows are read in, None for any."""
        return None

    def read_groups(self, groups, n_rows, weights):
        """Return the group of each row, or None, and how many records there are."""
        return encode_groups(groups, n_rows)

    def check(self, sizes, family):
        """Refuse settings that can't be used, or don't go together, before anything is spent."""
        check_n_jobs(self.n_jobs)

    def plan(self, sizes, family, budget, *, scale=None):
        """Return the plan of a fit; without a `scale` records weigh as the family says."""
        raise NotImplementedError

    def plan_learning(self, sizes, family, budget, data_norm, *, share_within=None, alike=False):
        """Return what is learnt of targets, the plan of the ball, each or None, and their share.

        For `share_within` and `alike` see `plan_ball`. The share is one of mu^2.
        """
        n_records, n_features, n_targets = sizes
        share = self.share_of_ball
        share_of_ball = share if self.learns_ball else 0
        ranges, spent_on_targets = family.plan(budget, share or "auto", n_records, n_targets)
        ball, spent = plan_ball(
            budget,
            ball_budget=share_of_ball,
            data_norm=data_norm,
            centred=self.fit_intercept,
            n_records=n_records,
            n_columns=n_features,
            slack=rounding_slack(n_records, n_features, 1),
            share_within=share_within,
            # Targets have a part of a share that was given.
            spent_on_targets=spent_on_targets if share_of_ball else 0.0,
            alike=alike,
        )
        spent = spent_on_targets + spent
        learnt, spent_on_rest = family.plan_rest(budget, ranges, 1.0 - spent, n_records)
        return learnt, ball, spent + spent_on_rest

    def solve(self, rows, training, run):
        """Return the coefficients that steps lead to, in the units of the ball, and the steps."""
        raise NotImplementedError

    def linear_model(self, training, coefs):
        """Return the `LinearModel` of coefficients of rows as they are, the intercept's last."""
        n_features = coefs.shape[1] - bool(self.fit_intercept)
        return training.family.linear_model(coefs, training.bias, training.units, n_features)

    def attributes(self, training, steps, linear):
        """Return what a fit publishes beside the `LinearModel`, by the name of the attribute."""
        raise NotImplementedError
