"""The plan of an additive model: what learns the table, and what the model spends in all."""

from dataclasses import dataclass
from typing import ClassVar

from skdp._checks import check_within
from skdp._release.plan import ADDITIVE_KEY, Budget, Plan
from skdp._release.release import Cost, Planned, costs_of
from skdp.accountant import GaussianEvent
from skdp.additive import _tuned as tuned
from skdp.preprocessing._plan import count_release, hide_categories
from skdp.preprocessing.table._plan import TablePlan, plan_table
from skdp.preprocessing.table._plan_kinds import KindsPlan, plan_after_kinds

# What the linear model is charged as, as runs and reports call it.
MODEL = "linear model"
_NO_DELTA = (
    "delta must be positive: additive models have Gaussian noise. For delta=0 take "
    "DPSGDClassifier or DPSGDRegressor with mechanism='laplace' on scaled columns."
)


@dataclass(frozen=True, eq=False, kw_only=True)
class AdditivePlan(Plan):
    """The plan of a table, and what is left for a linear model of its columns.

    How many columns there are follows from the table's releases, and so does the model's plan. What
    all its releases come to is fixed before: as they are Gaussian, of full batches, they are one
    release of the multiplier that spends `rest`.
    """

    stream_key: ClassVar[tuple[int, ...]] = (ADDITIVE_KEY,)

    table: TablePlan
    rest: Budget
    # The plan of what is charged before, if kinds are learnt first; see `TablePlan`.
    charged: KindsPlan | None = None

    @property
    def releases(self):
        """The releases of the table, and one that stands for all of the model."""
        stand_in = GaussianEvent(self.rest.calibrate())
        return (*self.table.releases, Planned(MODEL, None, (stand_in,)))

    @property
    def costs(self):
        """What a run costs, that of kinds included."""
        return self._costs_with(costs_of(self.releases[-1:]))

    def _costs_with(self, of_model):
        costs = (*self.table.costs, *of_model)
        return costs if self.charged is None else self.charged.followed_by(costs)

    def following(self, given):
        """Return the plan of what is left to learn once all kinds are known: this."""
        return self

    def report(self, *, of_model=None, **changes):
        """Return the report of a run; `of_model` is that of the linear model, if there is one."""
        if of_model is not None:
            changes["costs"] = self._costs_with(map(Cost, of_model.names, of_model.events))
        return super().report(**changes)


def plan_additive(budget, given, *, features_budget, n_rows, n_knots):
    """Plan an additive model of so many records, of whose columns some things are given."""
    if budget.is_private and budget.delta == 0.0:
        raise ValueError(_NO_DELTA)
    n_terms = len(given.numeric) + len(given.words) + len(given.untyped)
    if features_budget != "auto":
        features_budget = check_within(features_budget, "features_budget", 0.0, 1.0, "()")
    share = features_budget if n_terms else 0.0
    if share == "auto":
        noise = count_release(budget, n_rows=n_rows, n_columns=n_terms).mechanism.noise_std / n_rows
        share = tuned.SMALLEST_SHARE
        if noise < tuned.LARGEST_NOISE_OF_COUNT:
            share = min(share + tuned.SHARE_PER_NOISE * noise, tuned.LARGEST_SHARE)
    # Also where there are no words: a pipeline plans, and is charged, before it knows.
    all_but, erasure = hide_categories(budget, 1)

    def make(given, table_share):
        table = plan_table(
            budget,
            all_but.part(table_share),
            given,
            erasure=erasure if given.words else 0.0,
            n_rows=n_rows,
            basis="hats",
            n_knots=n_knots,
        )
        rest = all_but.part(1.0 - share)
        return AdditivePlan(budget=budget, n_rows=n_rows, table=table, rest=rest)

    return plan_after_kinds(
        budget,
        all_but,
        make,
        given=given,
        erasure=erasure,
        n_rows=n_rows,
        stream_key=AdditivePlan.stream_key,
        table_share=share,
    )
