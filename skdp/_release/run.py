"""A run of a plan: the only thing that makes releases, and what was made of the plan so far.

A plan says under which names a fit releases something, in which order, and what that costs. Its run
makes these releases and no others, each once, and keeps a log. So what is accounted and what was
done can't drift apart: where they would, the run stops before any noise is drawn.
"""

import math
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from skdp._progress import progress
from skdp._release.release import ROUNDING_OF_PARTS, costs_of, with_ending
from skdp.accountant import SelectionEvent
from skdp.accountant._profile import full_batch_mu

# Bounds that are products of the same numbers in another order differ by less than this.
_ROUNDING_OF_BOUNDS = 1e-12
# Events whose noise is over different bounds differ in these attributes.
_KINDS_OF_BOUND = "pairwise", "counts"


class Entry(NamedTuple):
    """What a run's log has of the releases under one name."""

    name: str
    # It counts all that were made, to the end.
    n_made: int
    noise_multiplier: float


class Run:
    """Makes the releases of a plan, with noise of a stream that stays in here.

    `releases`, each a `Planned`, are what may be released, in order; a name may occur several
    times. `charged` are the events that were charged, by default what these cost. `reproducible`
    tells whether the noise comes from a seed. Without noise the same releases are made.

    Where a release isn't planned, was made already, or costs more than planned, methods raise a
    RuntimeError, which has the name of the release and no number.
    """

    def __init__(self, releases, stream, *, adjacency="zero_out", charged=None):
        self._adjacency = adjacency
        self._left = list(releases)
        self._stream, self._coins = stream, None
        # Names of what was made, and of what is left and has a bound that releases gave.
        self._made, self._bounded = set(), set()
        self._log = []
        events = [cost.event for cost in costs_of(self._left)] if charged is None else charged
        self._allowed = self._squared_mu(events)
        self._spent = 0.0
        self._n_taken, self._progress = 0, progress()
        self.reproducible = stream.reproducible

    @property
    def log(self):
        """What was released so far: an `Entry` for each release, and one for all steps."""
        return tuple(steps.entry for steps in self._log)

    def plans(self, name):
        """Return whether there is a release of this name that wasn't made yet."""
        return any(planned.name == name for planned in self._left)

    def mechanism(self, name):
        """Return what will add the noise, which sums may need to know before they exist."""
        return self._left[self._place(name)].release.mechanism

    def bound(self, name, times, *, stretch=1.0):
        """Fix a bound that earlier releases gave, once, and return the mechanism under it.

        It is so many times the one that was planned. Rounding errors may have grown by the factor
        `stretch`, relative to the bound.
        """
        release = self._left[self._place(name)].release
        self._rebind(name, release.bounded(times * release.bound, stretch=stretch))
        return self.mechanism(name)

    def follow(self, releases):
        """Take over the bounds of a plan that earlier releases made of the one that was started."""
        for planned in releases:
            if not self.plans(planned.name) or planned.release is None:
                continue
            before = self._left[self._place(planned.name)].release
            if before == planned.release:
                continue
            own = {"bound": before.bound, "rounding_slack": before.rounding_slack}
            if replace(planned.release, **own) != before:
                raise RuntimeError(f"{planned.name!r} was planned otherwise, and not by its bound.")
            self._rebind(planned.name, planned.release)

    def fill(self, name, releases):
        """Plan what was charged under a name before earlier releases told what it would be.

        With no releases these are excused. What isn't spent of the charge stays spent.
        """
        reserve = self._left[self._place(name)]
        if reserve.release is not None:
            raise RuntimeError(f"{name!r} is one release, and no charge for others.")
        events = [event for one in releases for event in one.events]
        erasure = sum(one.erasure for one in releases)
        is_covered = (
            full_batch_mu(events, self._adjacency) is not None
            and _is_within(self._squared_mu(events), self._squared_mu(reserve.events))
            and erasure <= reserve.erasure
        )
        if not is_covered:
            raise RuntimeError(f"what follows as {name!r} costs more than its charge.")
        place = self._left.index(reserve)
        self._left[place : place + 1] = releases
        self._made.add(name)

    def release(self, name, value):
        """Return `value`, an array, with the noise that is planned under a name."""
        return self.steps(name, 1)(value)

    def exactly(self, name, value):
        """Return `value`, which was read as it is instead of what is planned under a name.

        It stands for all steps of that, and is refused where there is noise.
        """
        if self.mechanism(name).noise_multiplier > 0.0:
            raise RuntimeError(f"{name!r} has noise, and can't be read as it is.")
        release = self.steps(name)
        for _ in range(release.n_planned):
            value = release(value)
        return value

    def ask(self, name, place, query):
        """Return the answer of rows at a place, with the noise that is planned under a name.

        For the query see `BoundedQuery`. Before rows are asked, it is refused where a record moves
        its answer by more than was planned, or where it is made for another mechanism.
        """
        _refuse_other_bound(name, self._left[self._place(name)].release, place, query)
        return query.noisy(place.ask(query), partial(self.release, name))

    def steps(self, name, n_steps=None, *, with_coins=False):
        """Return what releases one value at each call, as often as there are steps.

        There are as many as are planned; or `n_steps`, where one release is planned that these
        spend together. A release that is planned in parts has a call for each. With coins the noise
        comes from the stream that `coins` gave.
        """
        planned = self._take(name)
        release = planned.release
        n_planned = release.event.n_releases
        n_steps = n_planned if n_steps is None else n_steps
        if n_planned == 1 and n_steps > 1:
            release = release.split(n_steps)
        steps = Steps(
            name,
            release.mechanism,
            self._coins if with_coins else self._stream,
            n_steps=n_steps,
            n_calls_each=release.n_calls,
            planned=release,
            on_release=self._shown(name),
        )
        self._log.append(steps)
        self._check_cost(planned, release, n_steps)
        return steps

    def made_within(self, *names):
        """Note that a fit within this one made what is planned under these names."""
        for name in names:
            if self._left[self._place(name)].release is not None:
                raise RuntimeError(f"{name!r} is a release of this run.")
            self._take(name)

    def finish(self):
        """Refuse to end where something that was planned wasn't made, with noise or without."""
        for planned in self._left:
            raise RuntimeError(f"{planned.name!r} was planned, and not released.")
        for steps in self._log:
            if steps.n_calls != steps.n_planned:
                raise RuntimeError(f"of {steps.name!r} not as many were released as planned.")

    def part(self, ending):
        """Return this run as a fit within this one asks it: names of its releases end so here."""
        return PartOfRun(self, ending)

    def coins(self):
        """Return a stream for samplers; noise comes from another one from now on."""
        (self._coins,) = self.spawn(2, noise=1)
        return self._coins

    def sample(self, sampler):
        """Return what a sampler draws, once: by a stream of its own, whatever the data are."""
        (stream,) = self.spawn(1)
        return sampler.draw(stream)

    def spawn(self, n_streams, *, noise=None):
        """Return so many streams that are independent of each other, for coins and fits within.

        That of the place `noise` isn't returned: noise comes from it from now on.
        """
        streams = self._stream.spawn(n_streams)
        if noise is not None:
            self._stream = streams.pop(noise)
        return streams

    def _place(self, name):
        """Return the place of the next release of a name among what is left."""
        for place, planned in enumerate(self._left):
            if planned.name == name:
                return place
        problem = "was already released" if name in self._made else "isn't planned"
        raise RuntimeError(f"{name!r} {problem}.")

    def _take(self, name):
        """Return what is planned next under a name, and count it as made."""
        planned = self._left.pop(self._place(name))
        self._made.add(name)
        self._bounded.discard(name)
        self._n_taken += 1
        return planned

    def _shown(self, name):
        """Return what shows how many steps of what was taken last are made, None for nothing."""
        if not self._progress.is_shown:
            return None
        return self._progress.released(name, self._n_taken, self._n_taken + len(self._left))

    def _rebind(self, name, release):
        if name in self._bounded:
            raise RuntimeError(f"{name!r} has its bound already.")
        self._bounded.add(name)
        place = self._place(name)
        self._left[place] = replace(self._left[place], release=release)

    def _check_cost(self, planned, release, n_steps):
        """Refuse what costs more than its name was planned for, or all so far more than charged."""
        event = release.event
        spent = self._squared_mu([event])
        self._spent += spent
        # Only Gaussian releases of full batches may be others than planned, as one into which
        # steps are split is: squared mu says that these cost no more.
        is_covered = spent > 0.0
        if not is_covered and planned.events:
            is_covered = all(_is_no_dearer(event, one) for one in planned.events)
        is_planned = (
            n_steps == event.n_releases
            and release.mechanism.noise_multiplier >= event.noise_multiplier
            and is_covered
            and _is_within(spent, self._squared_mu(planned.events))
            and _is_within(self._spent, self._allowed)
        )
        if not is_planned:
            raise RuntimeError(f"{planned.name!r} would cost more than was planned.")

    def _squared_mu(self, events):
        """Return what the Gaussian releases of full batches among events come to: a sum of mu^2."""
        mus = (full_batch_mu([event], self._adjacency) for event in events)
        return sum(mu**2 for mu in mus if mu is not None)


class PartOfRun:
    """A run as a fit within another one asks it, for releases whose names end otherwise there.

    So two fits that call their releases alike are one run, in which each release has its own name.
    """

    __slots__ = ("_ending", "_run")

    def __init__(self, run, ending):
        self._run, self._ending = run, ending

    def plans(self, name):
        """Return what the run does of the longer name, as all methods do."""
        return self._run.plans(f"{name}{self._ending}")

    def mechanism(self, name):
        """See `Run.mechanism`."""
        return self._run.mechanism(f"{name}{self._ending}")

    def bound(self, name, times, *, stretch=1.0):
        """See `Run.bound`."""
        return self._run.bound(f"{name}{self._ending}", times, stretch=stretch)

    def follow(self, releases):
        """See `Run.follow`."""
        self._run.follow(with_ending(releases, self._ending))

    def release(self, name, value):
        """See `Run.release`."""
        return self._run.release(f"{name}{self._ending}", value)

    def ask(self, name, place, query):
        """See `Run.ask`."""
        return self._run.ask(f"{name}{self._ending}", place, query)

    def sample(self, sampler):
        """See `Run.sample`."""
        return self._run.sample(sampler)

    def steps(self, name, n_steps=None):
        """See `Run.steps`."""
        return self._run.steps(f"{name}{self._ending}", n_steps)


def _is_no_dearer(event, planned):
    """Return whether an event has no less noise, no more steps and no larger batches than another.

    Both are of one kind, and noise is over the same bound: a record's part or a pair's distance, of
    one norm. Only a search, which contains releases, is of another kind, and has its own check.
    """
    if type(event) is not type(planned):
        return isinstance(planned, SelectionEvent)
    rates = [getattr(one, "sampling_rate", 1.0) for one in (event, planned)]
    bounds = [[getattr(one, name, None) for name in _KINDS_OF_BOUND] for one in (event, planned)]
    return (
        event.noise_multiplier >= planned.noise_multiplier
        and event.n_steps <= planned.n_steps
        and rates[0] <= rates[1]
        and bounds[0] == bounds[1]
    )


def _refuse_other_bound(name, planned, place, query):
    """Refuse a query whose bound is larger than the planned one, or that has another mechanism."""
    stated = query.pair_bound(place) if planned.pairwise else query.record_bound(place)
    if not stated <= planned.bound * (1.0 + _ROUNDING_OF_BOUNDS):
        raise RuntimeError(f"a record may move {name!r} by more than was planned.")
    if query.mechanism != planned.mechanism:
        raise RuntimeError(f"the answer for {name!r} is rounded for another mechanism.")


def _is_within(spent, allowed):
    """Return whether a sum of mu^2 is at most another, but for rounding."""
    return spent <= allowed * (1.0 + ROUNDING_OF_PARTS)


class Steps:
    """Releases of one name, made one after another: each call makes one of a value."""

    __slots__ = (
        "_most_numbers",
        "_n_calls_each",
        "_on_release",
        "_planned",
        "_release",
        "_stream",
        "mechanism",
        "n_calls",
        "n_planned",
        "name",
    )

    def __init__(
        self, name, mechanism, stream, *, n_steps, n_calls_each=1, planned=None, on_release=None
    ):
        self._planned = planned
        self.name, self.mechanism = name, mechanism
        self.n_planned, self._n_calls_each = n_steps * n_calls_each, n_calls_each
        self.n_calls = 0
        self._on_release = on_release
        # Each number of a release in parts is in one of them.
        self._most_numbers = mechanism.size // n_calls_each if n_calls_each > 1 else math.inf
        self._release, self._stream = mechanism.release, stream

    @property
    def entry(self):
        """What a log has of these."""
        n_made = self.n_calls // self._n_calls_each
        return Entry(self.name, n_made, self.mechanism.noise_multiplier)

    def __call__(self, value):
        """Return a value with noise."""
        if self.n_calls >= self.n_planned:
            raise RuntimeError(f"all of {self.name!r} were already released.")
        if value.size > self._most_numbers:
            raise RuntimeError(f"a part of {self.name!r} has more numbers than was planned.")
        self.n_calls += 1
        return self._seen(self._release(value, self._stream))

    def ask(self, place, query):
        """Return the answer of rows at a place with noise; see `Run.ask`."""
        _refuse_other_bound(self.name, self._planned, place, query)
        return query.noisy(place.ask(query), self)

    def serve(self, value, noise_multipliers):
        """Return a value with noise that is enough for each of an array of multipliers."""
        serving = self.mechanism.serving(noise_multipliers)
        is_cheaper = serving.noise_multiplier < self.mechanism.noise_multiplier
        if self.n_calls >= self.n_planned or is_cheaper:
            raise RuntimeError(f"{self.name!r} would cost more than was planned.")
        self.n_calls += 1
        return self._seen(serving.release(value, self._stream))

    def _seen(self, released):
        """Return what was released, after its number is shown."""
        if self._on_release is not None:
            self._on_release(self.n_calls, self.n_planned)
        return released

    def jointly(self, first, second):
        """Release two arrays as one vector and return them in their shapes."""
        released = self(np.concatenate([first.ravel(), second.ravel()]))
        parts = released[: first.size], released[first.size :]
        return parts[0].reshape(first.shape), parts[1].reshape(second.shape)
