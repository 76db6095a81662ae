"""The plan of an additive model: what learns the table, and what the model spends in all.

The proof is in the documentation, "theory/additive".
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from skdp._ball._plan import TargetReleases, plan_targets
from skdp._checks import check_within
from skdp._release.plan import ADDITIVE_KEY, Budget, Plan
from skdp._release.release import Cost, Planned, Release, costs_of, named
from skdp._rows.blocks import rounding_slack
from skdp.accountant import GaussianEvent
from skdp.additive import _tuned as tuned
from skdp.preprocessing._plan import count_release, hide_categories
from skdp.preprocessing.table._given import without_learning
from skdp.preprocessing.table._plan import TablePlan, plan_table
from skdp.preprocessing.table._plan_kinds import KindsPlan, plan_after_kinds
from skdp.preprocessing.table._tuned import MOST_KNOTS

# Runs and reports call the linear model so. With the ending of a second one, see `SecondFit`, this
# is the name of that.
MODEL = "linear model"
OF_PRODUCTS, OF_CURVES = " of products", " of whole curves"
# These alone are released where noise would hide all else.
SHARES, MEANS = "shares of classes", "means of targets"
_TOO_FEW = (
    "The records are too few for this epsilon and so many columns, as public numbers tell: noise "
    "would hide the effect of every column. So the whole budget is spent on {}, and all rows are "
    "predicted alike. skdp.inspection.predicted_noise tells for how many columns they are enough. "
    "A features_budget fits a model all the same."
)
SHARES_ALONE = _TOO_FEW.format("the shares of the classes")
MEANS_ALONE = _TOO_FEW.format("the mean of the targets and, without target_bounds, their range")
_NO_DELTA = (
    "delta must be positive: additive models have Gaussian noise. For delta=0 take "
    "DPSGDClassifier or DPSGDRegressor with mechanism='laplace' on scaled columns."
)


class SecondFit(NamedTuple):
    """What a second linear model spends, of the first one's curves and, maybe, their products."""

    budget: Budget
    # It may have so many columns.
    room: float
    has_products: bool

    @property
    def ending(self):
        """Names of its releases end so, because both models call theirs alike."""
        return OF_PRODUCTS if self.has_products else OF_CURVES

    @property
    def name(self):
        """Runs and reports call the linear model so."""
        return f"{MODEL}{self.ending}"


@dataclass(frozen=True, eq=False, kw_only=True)
class AdditivePlan(Plan):
    """The plan of a table, and what is left for a linear model of its columns.

    How many columns there are follows from the table's releases, and so does the model's plan. What
    all its releases come to is fixed before: as they are Gaussian, of full batches, they are one
    release of the multiplier that spends `rest`. So it is with a `second` linear model, of which
    there is None where public numbers say so.
    """

    stream_key: ClassVar[tuple[int, ...]] = (ADDITIVE_KEY,)

    table: TablePlan
    rest: Budget
    second: SecondFit | None = None
    # The plan of what is charged before, if kinds are learnt first; see `TablePlan`.
    charged: KindsPlan | None = None

    @property
    def releases(self):
        """The releases of the table, and one that stands for all of each model."""
        return (*self.table.releases, *self._planned_models)

    @property
    def _planned_models(self):
        parts = {MODEL: self.rest}
        if self.second is not None:
            parts[self.second.name] = self.second.budget
        return tuple(
            Planned(name, None, (GaussianEvent(part.calibrate()),)) for name, part in parts.items()
        )

    @property
    def costs(self):
        """What a run costs, that of kinds included."""
        return self._costs_beside(costs_of(self._planned_models))

    def costs_by_reports(self, reports):
        """Return what a run cost, by the reports of its linear models.

        Names of the second one have its ending.
        """
        endings = ("",) if self.second is None else ("", self.second.ending)
        return self._costs_beside(
            Cost(f"{name}{ending}", event)
            for report, ending in zip(reports, endings, strict=True)
            for name, event in zip(report.names, report.events, strict=True)
        )

    def _costs_beside(self, model_costs):
        costs = (*self.table.costs, *model_costs)
        return costs if self.charged is None else self.charged.followed_by(costs)

    def following(self, specs):
        """Return the plan of what is left to learn once all kinds are known: this."""
        return self


@dataclass(frozen=True, eq=False, kw_only=True)
class ConstantPlan(Plan):
    """The plan of shares of classes or of means of targets alone, with the whole budget.

    The table has no releases: its columns are constants, but for those that are given.
    `target_releases` learn where targets lie, or are None. `constant` is a release of sums of
    numbers in [0, 1] less `centre`, which makes records short. It is called `name`.
    """

    stream_key: ClassVar[tuple[int, ...]] = (ADDITIVE_KEY,)
    # No kinds of columns are learnt before.
    charged: ClassVar[None] = None

    table: TablePlan
    target_releases: TargetReleases | None
    constant: Release
    centre: float
    name: str
    # Shares of classes are released then, and else means of targets.
    of_classes: bool
    notes: tuple  # type: ignore[misc]

    @property
    def releases(self):
        """Those of ranges of targets, where they are learnt, and one."""
        learnt = () if self.target_releases is None else self.target_releases.releases
        return (*learnt, *named(self.name, self.constant))

    def costs_by_reports(self, reports):
        """Return what a run costs: it fits no linear models, so that there are no reports."""
        return self.costs


class Alone(NamedTuple):
    """What may be all that is released: shares of classes, or means of targets.

    Of people nothing may be, as their rows may have several labels or targets.
    """

    # A label is so many numbers, 1 for two classes; or there are so many targets.
    n_outputs: int
    of_classes: bool
    # Nothing is known then of where targets lie.
    learns_ranges: bool = False


def strength_of(alpha, n_records):
    """Return the strength of the penalty for so many records."""
    return tuned.RECORDS_OF_PENALTY / n_records if alpha == "auto" else alpha


def plan_additive(
    budget,
    specs,
    *,
    features_budget,
    n_records,
    n_knots,
    most_of_auto,
    products=None,
    alone=None,
):
    """Plan an additive model of so many records, of whose columns some things are given.

    `products` are the `ProductRules` of its loss where products of curves are asked for, or None.
    `alone` says what may be all that is released where records are too few, or is None.
    """
    if budget.is_private and budget.delta == 0.0:
        raise ValueError(_NO_DELTA)
    n_terms = len(specs.numeric) + len(specs.words) + len(specs.untyped)
    if features_budget != "auto":
        features_budget = check_within(features_budget, "features_budget", 0.0, 1.0, "()")
    share = features_budget if n_terms else 0.0
    if share == "auto":
        noise = (
            count_release(budget, n_records=n_records, n_columns=n_terms).mechanism.noise_std
            / n_records
        )
        if alone is not None and noise > tuned.LARGEST_NOISE_OF_MODEL:
            return _plan_constant(budget, specs, n_records, alone)
        share = tuned.SMALLEST_SHARE
        if noise < tuned.LARGEST_NOISE_OF_COUNT:
            share = min(share + tuned.SHARE_PER_NOISE * noise, tuned.LARGEST_SHARE)
    # Also where there are no words: a pipeline plans, and is charged, before it knows.
    all_but, erasure = hide_categories(budget, 1)

    rest = all_but.part(1.0 - share)
    second = None
    if products is not None:
        part = rest.part(1.0 - products.share_of_curves)
        room = products.columns * n_records / max(part.calibrate(), 1e-300)
        if room >= max(tuned.LEAST_ROOM, len(specs.names) + tuned.LEAST_ROOM_BESIDE_CURVES):
            second = SecondFit(part, room, products.has_products)
            rest = rest.part(products.share_of_curves)

    def make(specs, table_share):
        table = plan_table(
            budget,
            all_but.part(table_share),
            specs,
            erasure=erasure if specs.words else 0.0,
            n_records=n_records,
            basis="hats",
            n_knots=n_knots,
            most_of_auto=min(max(n_records // tuned.RECORDS_OF_KNOT, MOST_KNOTS), most_of_auto),
        )
        return AdditivePlan(
            budget=budget,
            n_records=n_records,
            table=table,
            rest=rest,
            second=second,
        )

    return plan_after_kinds(
        budget,
        all_but,
        make,
        specs=specs,
        erasure=erasure,
        n_records=n_records,
        stream_key=AdditivePlan.stream_key,
        table_share=share,
    )


def _plan_constant(budget, specs, n_records, alone):
    """Plan to release shares of classes, or means of targets, alone; see `release_constants`.

    Each of k targets is in [-1/2, 1/2], in units of its range, and so is the label of two classes.
    Of more classes a label is the indicator of one, less the mean of the indicators of all. Two of
    these are sqrt(2) apart.
    """
    k, centre, spent, target_releases = alone.n_outputs, 0.5, 0.0, None
    bound, pair_bound = 0.5 * math.sqrt(k), math.sqrt(k)
    if alone.of_classes and k > 1:
        bound, pair_bound, centre = math.sqrt(1.0 - 1.0 / k), math.sqrt(2.0), 1.0 / k
    slack = rounding_slack(n_records, k, 1)
    if alone.learns_ranges:
        ranges, spent = plan_targets(
            budget,
            "auto",
            n_records=n_records,
            n_targets=k,
            slack=slack,
            for_means=True,
        )
        target_releases = TargetReleases(ranges=ranges)
    constant = budget.release(
        bound=bound,
        pair_bound=pair_bound,
        share=1.0 - spent if spent else None,
        n_records=n_records,
        size=k,
        slack=slack,
    )
    table = plan_table(
        budget, budget, without_learning(specs), n_records=n_records, basis="hats", n_knots="auto"
    )
    return ConstantPlan(
        budget=budget,
        n_records=n_records,
        table=table,
        target_releases=target_releases,
        constant=constant,
        centre=centre,
        name=SHARES if alone.of_classes else MEANS,
        of_classes=alone.of_classes,
        notes=(SHARES_ALONE if alone.of_classes else MEANS_ALONE,),
    )
