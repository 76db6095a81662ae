"""Planned charges: a list that is accepted once, by the smallest bound of all of it.

The proof is in the documentation, "theory/ledger". What a release tells of a record is a random
function of one draw from its dominating pair. So whatever is chosen of a fixed list, in whatever
order, is a function of one draw for each of its items, and every bound on all of them together
holds. The bound is chosen once, from the list and before any result.
"""

import json
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from skdp._checks import check_count
from skdp.accountant import ErasureEvent, GaussianEvent, LaplaceEvent, PrivacyReport
from skdp.accountant._calibration import gaussian_mu
from skdp.accountant._events import Event, joint_erasure
from skdp.accountant._filter import (
    ERASURE_SHARE,
    ErasureTooSmallError,
    GaussianCost,
    events_under,
    gaussian_cost,
)
from skdp.accountant._profile import epsilon_of, full_batch_mu
from skdp.accountant._report_formats import read_events, write_events
from skdp.accountant._selection_event import checked_releases
from skdp.exceptions import BudgetExceededError
from skdp.ledger._rules import Admission, Terms, check_unit

_FORM = (
    "planned must be a list whose entries are a report, an event or a list of events, or a tuple "
    "of one of these and how often it is planned, and perhaps the name of a part"
)


@dataclass(frozen=True)
class PlannedCharge:
    """So many equal charges of a list, for a part or for all ("").

    Each has these events, as the ledger accounts them, and is (epsilon, delta)-private under the
    ledger's adjacency.
    """

    events: tuple
    count: int
    part: str
    epsilon: float
    delta: float

    @property
    def key(self):
        """What equal charges have in common, as text."""
        return json.dumps([self.part, write_events(self.events)], allow_nan=False)

    def __str__(self):
        released = ", then ".join(str(event) for event in self.events)
        part = f", part {self.part!r}" if self.part else ""
        return f"{self.count} x ({self.epsilon:.4g}, {self.delta:.3g})-DP{part}: {released}"


def read_planned(planned, terms, check_name):
    """Return a list of a user as planned charges, or raise an error; `check_name` reads parts."""
    if isinstance(planned, (str, dict, Event, PrivacyReport)) or not isinstance(planned, Iterable):
        raise TypeError(f"{_FORM}; got {type(planned).__name__}.")
    split = [_split(entry, terms, check_name) for entry in planned]
    charges = [one for one in split if one is not None]
    if not charges:
        raise ValueError("planned must hold at least one charge; leave it out for a ledger of any.")
    # Releases for which no delta is stated share what the others leave.
    n_open = sum(count for _, count, _, stated in charges if stated is None)
    stated = math.fsum(count * pair[1] for _, count, _, pair in charges if pair is not None)
    rest = max(terms.delta - stated, 0.0) / max(n_open, 1)
    joined = {}
    for events, count, part, pair in charges:
        pair = pair or _pair_of(events, rest, terms)
        one = PlannedCharge(events, count, part, *pair)
        before = joined.get(one.key)
        joined[one.key] = replace(before, count=before.count + count) if before else one
    return list(joined.values())


def write_item(item):
    """Return a planned charge as a row of the file."""
    events = json.dumps(write_events(item.events), allow_nan=False)
    numbers = {"epsilon": item.epsilon, "delta": item.delta, "count": item.count}
    return {"part": item.part, "events": events, **numbers}


def read_item(row):
    """Return the planned charge that `write_item` gave a row of."""
    names = ("count", "part", "epsilon", "delta")
    return PlannedCharge(read_events(json.loads(row["events"])), *(row[name] for name in names))


def counts_of(items):
    """Return how many of each are planned, by what equal charges have in common."""
    return {item.key: item.count for item in items}


def _split(entry, terms, check_name):
    """Return events, count, part and stated pair of an entry; None of what releases nothing."""
    what, count, part = (*entry, "")[:3] if _is_counted(entry) else (entry, 1, "")
    count = check_count(count, "the count of a planned charge")
    part = check_name(part, "the part of a planned charge") if part else ""
    if what is None:
        return None
    if isinstance(what, PrivacyReport):
        report = replace(what)
        check_unit(report, terms)
        events = _normal(events_under(report, terms.adjacency), terms.adjacency)
        if report.adjacency == terms.adjacency:
            return events, count, part, (report.epsilon, report.delta)
        return events, count, part, _pair_of(events, report.delta, terms)
    events = [what] if isinstance(what, Event) else what
    if not isinstance(events, (list, tuple)) or not events:
        raise TypeError(f"{_FORM}; got {type(what).__name__} in it.")
    events = _normal(checked_releases(events), terms.adjacency)
    is_pure = all(event.is_pure for event in events)
    return events, count, part, _pair_of(events, 0.0, terms) if is_pure else None


def _is_counted(entry):
    return isinstance(entry, tuple) and len(entry) in (2, 3) and not isinstance(entry[1], Event)


def _pair_of(events, delta, terms):
    return epsilon_of(events, terms.adjacency, "pld", delta), delta


def _normal(events, adjacency):
    """Return events of the same joint law in one form, in which equal ones are found to be equal.

    Gaussian releases of full batches are one release, and erasures are one. Of other events equal
    ones are one with more steps.
    """
    full = tuple(event for event in events if _is_full_gaussian(event))
    mu = full_batch_mu(full, adjacency)
    erasure = joint_erasure(event.erasure for event in events)
    steps = Counter()
    for event in events:
        if not (_is_full_gaussian(event) or event.erasure):
            # A record is in one of several disjoint batches. Their number adds nothing, nor does
            # the largest noise of a batch: what counts is the smallest.
            once = {"n_steps": 1, "n_parts": 1, "largest_multiplier": None}
            once = {name: value for name, value in once.items() if name in vars(event)}
            steps[replace(event, **once)] += event.n_steps
    others = [replace(event, n_steps=number) for event, number in steps.items()]
    normal = sorted(
        others, key=lambda event: (_without_noise(event), event.noise_multiplier or 0.0)
    )
    if mu > 0:
        normal.append(GaussianEvent(1 / mu, pairwise=True))
    if erasure > 0:
        normal.append(ErasureEvent(erasure))
    return tuple(normal)


def _is_full_gaussian(event):
    return type(event) is GaussianEvent and event.sampling_rate == 1


def _without_noise(event):
    """Return a text of what of an event must be equal for its noise to be compared."""
    if type(event) in (GaussianEvent, LaplaceEvent):
        event = {**vars(event), "noise_multiplier": None, "type": type(event).__name__}
        return json.dumps(event, sort_keys=True)
    return json.dumps(write_events([event]), sort_keys=True)


def covers(planned, events):
    """Return whether planned events dominate others: the same ones with no less noise.

    More noise of the same kind is post-processing of less, and so is no noisy release, or no
    erasure. Both are in the form of `_normal`.
    """
    if _erasure(events) > _erasure(planned) or _full_mu(events) > _full_mu(planned):
        return False
    pairs = [[one for one in compared if _is_other(one)] for compared in (planned, events)]
    return len(pairs[0]) == len(pairs[1]) and all(
        _without_noise(one) == _without_noise(other)
        and other.noise_multiplier >= one.noise_multiplier
        for one, other in zip(*pairs, strict=True)
    )


def _is_other(event):
    return not (_is_full_gaussian(event) or event.erasure)


def _full_mu(events):
    noises = [event.noise_multiplier for event in events if _is_full_gaussian(event)]
    return max((1 / noise if noise > 0 else math.inf for noise in noises), default=0.0)


def _erasure(events):
    return max((event.erasure for event in events), default=0.0)


def bound_of_list(items, terms):
    """Return the smallest valid epsilon, at a budget's delta, of a list that is fixed beforehand.

    Neighbours differ in a record of one part, or of none: the largest over parts is the list's.
    """
    whole = [item for item in items if not item.part]
    parts = {item.part for item in items if item.part}
    lists = [whole + [item for item in items if item.part == part] for part in parts]
    return max(_joint_bound(one, terms) for one in lists or [whole])


def _joint_bound(items, terms):
    """Return the least of three bounds: of loss distributions, of sums, of Gaussian costs."""
    if not items:
        return 0.0
    by_sum = math.inf
    if math.fsum(item.count * item.delta for item in items) <= terms.delta:
        by_sum = math.fsum(item.count * item.epsilon for item in items)
    repeated = [
        replace(event, n_steps=event.n_steps * item.count)
        for item in items
        for event in item.events
    ]
    by_profile = epsilon_of(_normal(repeated, terms.adjacency), terms.adjacency, "pld", terms.delta)
    return min(by_sum, by_profile, _bound_by_costs(items, terms))


def _bound_by_costs(items, terms):
    n_charges = sum(item.count for item in items)
    each = ERASURE_SHARE * terms.delta / n_charges
    try:
        costs = [gaussian_cost(item.events, terms.adjacency, erasure=each) for item in items]
    except ErasureTooSmallError:
        return math.inf
    pairs = list(zip(items, costs, strict=True))
    square = math.fsum(item.count * cost.mu**2 for item, cost in pairs)
    erasure = math.fsum(item.count * cost.erasure for item, cost in pairs)
    return GaussianCost(math.sqrt(square), min(erasure, 1.0)).epsilon(terms.delta)


def check_list(items, terms):
    """Return the bound of a list, or raise an error if a budget doesn't allow it."""
    bound = bound_of_list(items, terms)
    if not bound <= terms.epsilon:
        raise BudgetExceededError(
            f"the planned charges come to epsilon = {bound:.4g} at delta = {terms.delta:g} "
            f"together, and the budget is {terms.epsilon:g}: plan fewer, or with more noise. "
            "No ledger was made.",
            left=terms.epsilon,
            asked=bound,
            n_fits=0,
        )
    return bound


@dataclass(frozen=True)
class PlannedList:
    """What a budget stands at that takes the charges of a list, each once, and nothing else.

    `items` are those that count for a part or for all, by their numbers in the file, and `used`
    says how many charges of each were made. The bound of the whole list was accepted with the
    budget, and is never computed again for a charge.
    """

    terms: Terms
    bound: float
    items: dict
    used: dict
    part: str

    @property
    def planned(self):
        """The list, as types that JSON knows."""
        return [
            {
                "part": item.part or None,
                "epsilon": item.epsilon,
                "delta": item.delta,
                "events": ", then ".join(str(event) for event in item.events),
                "count": item.count,
                "used": self._n_used(number),
            }
            for number, item in self.items.items()
        ]

    @property
    def spent(self):
        """Epsilon of the planned charges that were made, at the budget's delta."""
        made = [replace(item, count=n) for item, n in self._pairs(self._n_used) if n]
        return min(bound_of_list(made, self.terms), self.bound) if made else 0.0

    @property
    def left(self):
        """Epsilon of the largest planned charge that wasn't made, at the budget's delta."""
        rest = [item for item, number in self._pairs(self._n_left) if number]
        return max((self._epsilon(item.events) for item in rest), default=0.0)

    @property
    def share(self):
        """Share of the list that was charged, by squares of mu."""
        return self._square(self._n_used) / self._whole

    def share_of(self, row):
        """Return the share of the list that a charge took."""
        return row["mu"] ** 2 / self._whole

    def cost(self, report):
        """Return a fit's cost for orientation: of the Gaussian release with its epsilon."""
        return GaussianCost(self._mu(self._events(report)))

    def can_take(self, report):
        """Return whether a fit is a planned charge that wasn't made yet."""
        return self._match(self._events(report)) is not None

    def covers_call(self, report, paid):
        """Return whether a planned charge covers a later call of its stream."""
        item = self.items.get(paid["planned"])
        return item is not None and covers(item.events, self._events(report))

    def admit(self, report, where, charges):
        """Return as which planned charge a fit is charged, or raise an error."""
        events = self._events(report)
        number = self._match(events)
        if number is None:
            similar = [n for item, n in self._pairs(self._n_planned) if covers(item.events, events)]
            raise BudgetExceededError(
                f"this fit isn't among the planned charges that are left in {where}. It is "
                f"({report.epsilon:.4g}, {report.delta:.3g})-DP: {report.event}. {self.rest([])}. "
                "A planned charge has the planned events, or the same ones with more noise, for "
                "the planned part. Nothing was fitted or charged.",
                left=self.left,
                asked=self._epsilon(events),
                n_fits=sum(similar),
            )
        return Admission(self.cost(report), planned=number)

    def rest(self, _):
        """Say what is left."""
        rest = [replace(item, count=number) for item, number in self._pairs(self._n_left) if number]
        if not rest:
            return "nothing: all planned charges were made, and no other is ever taken"
        return f"planned charges, and no others: {'; '.join(str(item) for item in rest)}"

    def _events(self, report):
        check_unit(report, self.terms)
        return _normal(events_under(report, self.terms.adjacency), self.terms.adjacency)

    def _match(self, events):
        """Return the number of the least planned charge that is left and covers events, or None.

        One of equal events is the least.
        """
        if not self.bound <= self.terms.epsilon:  # lowered by hand
            return None
        covering = [
            number
            for number, item in self.items.items()
            if item.part == self.part and self._n_left(number) and covers(item.events, events)
        ]
        return min(covering, key=lambda number: self._mu(self.items[number].events), default=None)

    def _pairs(self, count):
        return [(item, count(number)) for number, item in self.items.items()]

    def _n_planned(self, number):
        return self.items[number].count

    def _n_used(self, number):
        return self.used.get(number, 0)

    def _n_left(self, number):
        return self._n_planned(number) - self._n_used(number)

    def _epsilon(self, events):
        return epsilon_of(events, self.terms.adjacency, "pld", self.terms.delta)

    def _mu(self, events):
        """Mu of the Gaussian release that has the epsilon of events at the budget's delta."""
        epsilon = self._epsilon(events)
        if not 0 < epsilon < math.inf:
            return epsilon
        return gaussian_mu(epsilon, self.terms.delta)

    def _square(self, count):
        """Sum of squared mu over so many of each, the largest over parts."""
        sums = Counter()
        for item, number in self._pairs(count):
            sums[item.part] += number * self._mu(item.events) ** 2
        whole = sums.pop("", 0.0)
        return whole + max(sums.values(), default=0.0)

    @property
    def _whole(self):
        # A list whose charges cost nothing is spent by none of them.
        return self._square(self._n_planned) or 1.0
