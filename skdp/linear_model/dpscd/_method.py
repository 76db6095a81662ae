"""DP-SCD and its baselines as a method: what is planned, solved and published of them."""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from scipy.sparse import issparse

from skdp._checks import check_count, check_positive, check_word
from skdp._rows.bounds import augmented_norm, bound_columns, summation_slack
from skdp._rows.threads import BLOCK_ROWS
from skdp.linear_model._method import Method
from skdp.linear_model._row_bounds import public_feature_bounds
from skdp.linear_model.dpscd._plan import PLANS, DPSCDProblem
from skdp.linear_model.dpscd._solver import solve_dpscd, solve_dpscd_primal, solve_dpscd_sequential


@dataclass(frozen=True, kw_only=True, eq=False)
class DPSCD(Method):
    """Updates of dual variables by batches of rows, or of the weights of columns."""

    clips_rows_as_they_are: ClassVar = True

    solver: str
    batch_size: int | str
    noisy_dual: bool
    feature_bounds: object
    average: bool
    proximal: float | str

    @property
    def without_ball(self):
        """What no ball is learnt with, in words, or None."""
        if self.solver != "dual":
            return f"solver={self.solver!r}"
        return "noisy_dual=True" if self.noisy_dual else None

    @property
    def takes_sparse(self):
        """Whether rows may be sparse."""
        return str(self.solver) == "dual"

    @property
    def uses_feature_bounds(self):
        """Whether the setting `feature_bounds` bounds anything."""
        return self.solver == "primal"

    def order_of(self, X):
        """Return the order in memory that the solver reads X in; "primal" copies it by columns.

        Sparse X is for one of the solvers.
        """
        if issparse(X) and not self.takes_sparse:
            raise TypeError(
                f"Sparse data was passed for X, which solver={self.solver!r} doesn't take: use "
                "solver='dual', or X.toarray()."
            )
        return None if self.solver == "primal" else "C"

    def check(self, sizes, family):
        """Refuse settings that can't be used, or don't go together, before anything is spent."""
        super().check(sizes, family)
        _, n_features, n_outputs = sizes
        loss = family.loss(n_outputs)
        if self.solver != "dual" and self.noisy_dual:
            raise ValueError("noisy_dual=True needs solver='dual': others release what they keep.")
        if self.solver != "dual" and self.proximal not in ("auto", 0):
            raise ValueError("proximal is for solver='dual'; the other solvers have no centre.")
        if self.solver != "primal" and self.feature_bounds is not None:
            raise ValueError("feature_bounds is for solver='primal'; clip features beforehand.")
        if self.solver == "primal" and not np.isfinite(loss.smoothness):
            raise ValueError(f"solver='primal' needs a smooth loss, and loss={loss.name!r} isn't.")
        if self.solver == "primal":
            public_feature_bounds(self, n_features)

    def plan(self, sizes, family, budget, *, scale=None):
        """Return the plan of a fit; without a `scale` records weigh as the family says."""
        n_records, n_features, n_outputs = sizes
        n_columns = self.n_columns(n_features)
        problem = DPSCDProblem(
            n_records=n_records,
            n_columns=n_columns,
            n_outputs=n_outputs,
            rounding_slack=summation_slack(n_records, n_columns, n_outputs, BLOCK_ROWS),
            loss=family.loss(n_outputs),
            scale=scale or family.weight_scale(n_outputs),
            row_norm=augmented_norm(float(self.data_norm), self.fit_intercept),
            alpha=float(self.alpha),
        )
        max_iter = check_count(self.max_iter, "max_iter")
        data_norm = check_positive(self.data_norm, "data_norm")
        target_releases, ball, _ = self.plan_learning(sizes, family, budget, data_norm)
        plan = PLANS[check_word(self.solver, "solver", PLANS)]
        if self.solver != "dual":
            return plan(
                problem,
                budget,
                max_iter=max_iter,
                batch_size=self.batch_size,
                clipping_norm=self.clipping_norm,
            )
        return plan(
            problem,
            budget,
            max_iter=max_iter,
            batch_size=self.batch_size,
            clipping_norm=self.clipping_norm,
            noisy_dual=self.noisy_dual,
            proximal=self.proximal,
            target_releases=target_releases,
            ball=ball,
        )

    def solve(self, rows, training, run):
        """Return the coefficients that updates of batches lead to, and nothing of the steps."""
        records = rows.records()
        solve = {
            "dual": partial(solve_dpscd, n_jobs=self.n_jobs),
            "sequential": solve_dpscd_sequential,
            "primal": solve_dpscd_primal,
        }[self.solver]
        bounded = records.rows
        if self.solver == "primal":
            low, high = public_feature_bounds(self, bounded.X.shape[1])
            bounded = bound_columns(bounded, low=low, high=high, clip=self.is_private)
        coefs = solve(
            bounded,
            records.targets,
            plan=training.plan,
            loss=training.family.loss(records.targets.shape[1]),
            alpha=float(self.alpha),
            average=self.average,
            run=run,
            weights=records.joint_weights,
        )
        return coefs, None

    def attributes(self, training, steps, linear):
        """Return what a fit publishes beside the `LinearModel`, by the name of the attribute."""
        plan = training.plan
        return {
            "n_iter_": self.max_iter,
            "batch_size_": plan.batch_size,
            "clipping_norm_": plan.clipping_norm,
            "proximal_": plan.proximal,
        }
