"""What every plan has: a budget, the one place where noise begins, and the one way to a report.

A plan holds what is run and what is accounted, so that the two can't drift apart. It is made of
public numbers only; of arrays with an entry per row none comes here but personal budgets, which
are public.
"""

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple

from skdp._checks import check_count, check_real
from skdp._release.random import make_stream
from skdp._release.release import Release, costs_of
from skdp._release.run import Run
from skdp.accountant import PrivacyReport, calibrate, calibrate_pure
from skdp.accountant._report import PART_OF_GROUP
from skdp.exceptions import LargeDeltaWarning, warn_user
from skdp.ledger._account import Account

# Keys of streams. The second word of a call's of `partial_fit` is the number of the call.
CALL_KEY = 2
# Batches are drawn by this key, and no release is.
BATCHES_KEY = 3
HISTOGRAM_KEY = 5
CALIBRATION_KEY = 6
SEARCH_KEY = 7
# A random search draws its candidates by this key.
CANDIDATES_KEY = 8
PIPELINE_KEY = 9
ADDITIVE_KEY = 10
DESCRIPTION_KEY = 11
# Each class of estimators outside the package has a second word of its own.
EXTEND_KEY = 12
CONFORMAL_KEY = 13
# Each class of private transformers has a key of its own.
SCALER_KEY = 20
QUANTILE_KEY = 21
NORM_KEY = 22
IMPUTER_KEY = 23
ENCODER_KEY = 24
TABLE_KEY = 25


ASSUMED_PUBLIC = (
    "every parameter of the estimator",
    "the numbers of rows and columns, and the names of the columns",
    "that the input was well formed (malformed input raises an error)",
)
CLASSES_READ = "the set of classes, which was read from y (declare it with classes=[...])"
NOT_COVERED = (
    "running time and memory use",
    "preprocessing fitted on the same records, and parameters chosen by looking at them",
    "what else is computed from these records: skdp.accountant.compose adds up reports of fits",
)
_ACCOUNTANTS = ("pld", "rdp")
# Share of a good prediction up to which errors count by their size, not only by their sign.
_FOLLOWED = 0.15
# The parts of a budget add up to it but for rounding; this is far above that.
SPLIT_SLACK = 1.0 + 1e-9
LARGE_DELTA = (
    "delta is larger than 1 / {n}: the guarantee would allow some records to be published "
    "outright. Choose a delta well below 1 / {n}."
)


# "auto" is at most the first, and at most the second divided by the number of records.
_MOST_DELTA, _DELTA_OF_RECORDS = 1e-5, 0.1


def resolve_delta(delta, n_records):
    """Return a delta; "auto" is below a tenth of one record's share, and no more than 1e-5."""
    if isinstance(delta, str) and delta == "auto":
        return min(_MOST_DELTA, _DELTA_OF_RECORDS / n_records)
    return delta


class OpenPart(NamedTuple):
    """A part of a fit that the budget of the fit doesn't cover."""

    # Its path, as in `set_params`.
    name: str
    # A report says this of it.
    text: str
    # It is unprotected if it learnt, or may have learnt, from the records without any guarantee.
    is_unprotected: bool

    def within(self, path):
        """Return this as a part of what is at a path."""
        return OpenPart(
            f"{path}__{self.name}", f"within step {path!r}: {self.text}", self.is_unprotected
        )


def unprotected_names(open_parts):
    """Return the names of those parts that no guarantee covers, as a report has them."""
    names = (part.name for part in open_parts if part.is_unprotected)
    return tuple(dict.fromkeys(map(printable, names)))


def printable(name):
    """Return a name as a report has it, which holds printable characters alone."""
    return name if name.isprintable() else ascii(name)[1:-1]


@dataclass(frozen=True)
class Budget:
    """What may be spent, and how it is counted: parameters of the same names."""

    epsilon: float
    delta: float
    adjacency: str
    accountant: str
    # Where the fit is charged, if there is a ledger; see `skdp.ledger`.
    account: Account | None = field(default=None, kw_only=True, compare=False)
    # Gaussian releases of full batches spend this share of the squared mu that epsilon and delta
    # allow.
    share: float = field(default=1.0, kw_only=True)

    adjacencies: ClassVar[tuple[str, ...]] = ("zero_out", "replace_one")
    unit: ClassVar[str] = "one row"
    of_groups: ClassVar = False
    assumed_public: ClassVar[tuple[str, ...]] = ASSUMED_PUBLIC
    not_covered: ClassVar[tuple[str, ...]] = NOT_COVERED
    # Messages call the number of records so.
    count: ClassVar = "n_samples"

    def __post_init__(self):
        # Parameters may come unvalidated (`sklearn.set_config`), and integers of any size.
        if self.adjacency not in self.adjacencies:
            raise ValueError(f"adjacency must be one of {self.adjacencies}.")
        if self.accountant not in _ACCOUNTANTS:
            raise ValueError(f"accountant must be one of {_ACCOUNTANTS}.")
        for name in ("epsilon", "delta"):
            object.__setattr__(self, name, check_real(getattr(self, name), name))

    @property
    def is_private(self):
        """Whether there is to be any noise."""
        return not math.isinf(self.epsilon)

    def part(self, share):
        """Return what spends a share of this: of the squared mu of full batches, which adds up."""
        return replace(self, share=self.share * share)

    def _refuse_part(self):
        # Other releases don't add up by their squared mu.
        if self.share != 1.0:
            raise ValueError("a part of a budget is for Gaussian releases of full batches alone.")

    def calibrate(self, *, n_steps=1, sampling_rate=1.0, pairwise=False, beside=()):
        """Return the noise multiplier of Gaussian releases that spend this.

        For the arguments see `skdp.accountant.calibrate`.
        """
        if sampling_rate != 1.0 or beside:
            self._refuse_part()
        noise = calibrate(
            self.epsilon,
            self.delta,
            sampling_rate=sampling_rate,
            n_steps=n_steps,
            adjacency=self.adjacency,
            accountant=self.accountant,
            pairwise=pairwise,
            beside=beside,
        )
        return noise if self.share == 1.0 else SPLIT_SLACK * noise / math.sqrt(self.share)

    def release(self, *, bound, pair_bound=None, share=None, n_records, size, slack=0.0, n_steps=1):
        """Plan Gaussian releases of sums for this, or for a share of its squared mu.

        One record moves the sums by `bound`. `pair_bound` is how far apart the sums of two data
        sets are where one record replaces another, if that is known to be less than twice `bound`.
        Nobody doubles it. Where it equals `bound`, it is taken as the bound of any pair. For the
        others see `Release`.
        """
        for_pairs = pair_bound is not None
        noise = self.calibrate(n_steps=n_steps, pairwise=for_pairs)
        pairwise = for_pairs and (pair_bound == bound or self.adjacency == "replace_one")
        if share is not None:
            noise = SPLIT_SLACK * noise / math.sqrt(share)
        return Release(
            bound=(pair_bound if pairwise else bound) if self.is_private else math.inf,
            noise_multiplier=noise,
            size=size,
            n_records=n_records,
            rounding_slack=slack,
            pairwise=pairwise,
            design={"n_steps": n_steps},
        )

    def calibrate_pure(self, n_steps=1, epsilons=None):
        """Return the noise multiplier of Laplace releases that spend epsilon, or public others.

        Of an array of others there is one for each.
        """
        self._refuse_part()
        epsilon = self.epsilon if epsilons is None else epsilons
        return calibrate_pure(epsilon, n_steps=n_steps, adjacency=self.adjacency)


class OfGroups:
    """What budgets of fits that protect groups of rows have in common."""

    unit = "one group"
    of_groups = True
    count = "n_groups"


@dataclass(frozen=True)
class GroupBudget(OfGroups, Budget):
    """What may be spent on protecting groups of rows, such as all rows of a person."""

    assumed_public: ClassVar[tuple[str, ...]] = (
        ASSUMED_PUBLIC[0],
        "the numbers of groups and columns, and the names of the columns",
        *ASSUMED_PUBLIC[2:],
        "that `groups` has one id for a person, in all rows of that person",
    )
    not_covered: ClassVar[tuple[str, ...]] = (
        "running time and memory use, which reveal the number of rows",
        PART_OF_GROUP,
        *NOT_COVERED[1:],
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class Plan:
    """What is run and the guarantee that it gives.

    Subclasses add what their solver needs, and derive `releases` and `clipping` from it. The noise
    was calibrated for the budget; `n_records` is the number of records, which is public.
    """

    budget: Budget
    n_records: int

    # Names the stream among those of one seed; see `make_stream`.
    stream_key: ClassVar[tuple[int, ...]] = ()
    # They say how to read the guarantee.
    notes: ClassVar[tuple[str, ...]] = ()

    @property
    def releases(self):
        """What a run of this makes, in order: a tuple of `Planned`."""
        raise NotImplementedError

    @property
    def costs(self):
        """What a run of this costs, by the name of what is released: a tuple of `Cost`."""
        return costs_of(self.releases)

    @property
    def events(self):
        """The releases that running this makes, for the accountant: a tuple of events."""
        return tuple(cost.event for cost in self.costs)

    @property
    def events_of_run(self):
        """What the releases of a run come to one by one, a tuple of events.

        This is what is charged, unless some of them are made of some records, and some of others.
        """
        return self.events

    def costs_after(self, steps):
        """Return what a run cost, by what its method says of the steps that it took."""
        return self.costs

    @property
    def clipping(self):
        """Bound that the noise of all releases is relative to, None if there is no single one."""
        return None

    def start(self, random_state):
        """Return a run of this plan, the only way to its randomness.

        The run is charged before there is a stream, so that whatever happens later, nothing that
        was released is missing in the ledger. A delta that allows to publish a record is warned of.
        """
        if self.budget.is_private and self.budget.delta > 1.0 / self.n_records:
            warn_user(LARGE_DELTA.format(n=self.budget.count), LargeDeltaWarning)
        if self.budget.account is not None:
            # The ledger needs the report now. What subclasses add is known after the run, and is no
            # release.
            unprotected = self.budget.account.unprotected
            is_seeded = random_state is not None
            report = Plan.report(self, reproducible=is_seeded)
            report = replace(report, unprotected=unprotected)
            self.budget.account.charge(report, random_state, self.stream_key)
        return Run(
            self.releases,
            make_stream(random_state, key=self.stream_key),
            adjacency=self.budget.adjacency,
            charged=self.events_of_run,
        )

    def report(
        self,
        *,
        reproducible,
        also_public=(),
        also_not_covered=(),
        open_parts=(),
        steps=None,
        costs=None,
    ):
        """Return the report of a run of this plan.

        `also_public` is what this fit assumes public besides what its budget does. The budget
        doesn't cover `open_parts`, nor what the texts `also_not_covered` say. `steps` is what a
        method says of those that it took, which some plans report. `costs` are those of the run
        where more than steps told how the plan goes on.
        """
        budget = self.budget
        if costs is None:
            costs = self.costs_after(steps)
        of_parts = tuple(part.text for part in open_parts)
        return PrivacyReport(
            epsilon=budget.epsilon,
            delta=budget.delta,
            adjacency=budget.adjacency,
            accountant=budget.accountant,
            unit=budget.unit,
            events=tuple(cost.event for cost in costs),
            # Names of steps, which users choose, are among them.
            names=tuple(printable(cost.name) for cost in costs),
            clipping=self.clipping,
            reproducible=reproducible,
            assumed_public=budget.assumed_public + tuple(also_public),
            not_covered=of_parts + budget.not_covered + tuple(also_not_covered),
            unprotected=unprotected_names(open_parts),
            notes=self.notes,
        )


def auto_batch_size(n_records, *, noise_of_fit=0.0):
    """Return a quarter of the square root of n, at least 8, or what the noise asks for if more.

    With the automatic clipping norm, a batch of L rows follows a row's error up to
    ``typical_prediction * L / noise_of_fit``, and only its sign beyond: at least `_FOLLOWED` of a
    typical prediction.
    """
    smallest = max(8, round(math.sqrt(n_records) / 4.0))
    return min(n_records, max(smallest, math.ceil(_FOLLOWED * noise_of_fit)))


def resolve_batch_size(batch_size, available, of="samples"):
    """Return a batch size as an int; a number above what there is (public) becomes that."""
    batch_size = check_count(batch_size, "batch_size")
    if batch_size > available:
        warn_user(f"batch_size={batch_size} is larger than n_{of}={available}; n_{of} is used.")
        return available
    return batch_size
