"""Plans of the learnt ball: counts of lengths, counts of entries by column, and means of rows."""

import math
import struct
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from skdp._checks import check_within
from skdp._release.release import Release, costs_of, named

# Shares of what the ball may spend, by stage, in the order of `BallPlan`.
_SHARES = {
    "units": 0.16,
    "coarse": 0.04,
    "reach": 0.06,
    "centre": 0.08,
    "distance": 0.08,
    "recentre": 0.14,
    "scales": 0.36,
    "radius": 0.08,
}
# What is released of rows, targets and errors, as runs and reports call it.
FIRST_SIZES, SIZES = "first sizes of columns", "sizes of columns"
FIRST_LENGTHS, LENGTHS = "first lengths of rows", "lengths of rows"
FIRST_CENTRE, CENTRE = "first centre of rows", "centre of rows"
FIRST_DISTANCES, DISTANCES = "first distances from the centre", "distances from the centre"
DEVIATIONS = "deviations of columns"
FIRST_RANGES, RANGES, MIDDLES = (
    "first ranges of targets",
    "ranges of targets",
    "middles of targets",
)
SPREAD, ERRORS = "spread of targets", "errors of predictions"
# Share of mu^2 that "auto" spends, and the least that may be given.
_AUTO_BUDGET, _LEAST_BUDGET = 0.12, 1e-6
# Noise of a count, in shares of the records, above which there is no more than a radius about 0,
# or nothing at all where there is a bound; above which entries aren't counted by column, and where
# nobody gave a bound and columns may have any units; and at which a radius about 0 is bought if
# there is nothing else, for shares of mu^2 in between.
_MOST_NOISE, _MOST_BY_COLUMN, _MOST_FOR_UNITS = 0.02, 0.02, 0.04
_WANTED_NOISE, _LEAST_FOR_RADIUS, _MOST_FOR_RADIUS = 0.05, 0.02, 0.25
# Of more columns entries aren't counted: there would be millions of counts.
_MOST_COLUMNS = 2000
# Noise of the centre in rows, above which it isn't learnt.
_MOST_CENTRE = 0.5


@dataclass(frozen=True)
class Bins:
    """Bins of lengths over a unit, by their logarithm; the first and last take what lies beyond.

    They are the leading bits of a number in double precision, all but the last `shift`: its
    exponent, and with a shift of 51 the first bit of its fraction, so that ends are 1 and 1.5 times
    powers of 2.
    """

    unit: float
    shift: int
    first: int
    n_bins: int

    def end(self, place):
        """Return the upper end of a bin."""
        bits = (self.first + int(place) + 1) << self.shift
        return self.unit * struct.unpack("<d", struct.pack("<q", bits))[0]


def _bins(unit, octaves, shift):
    """Return bins of so many octaves below and above a unit."""
    below, above = ((1023 + octave) << 52 >> shift for octave in octaves)
    return Bins(unit, shift, below, above - below)


COARSE_BINS, UNIT_BINS = _bins(1.0, (-999, 1001), 55), _bins(1.0, (-251, 249), 53)
_FINE = 80


def bins_below(length):
    """Return bins of half octaves up to a length."""
    return _bins(length, (-40, 0), 51)


# Of mapped rows.
N_LENGTHS = 40


def fine_bins_below(length):
    """Return bins of a quarter of a power of 2 up to a length."""
    return _bins(length, (-N_LENGTHS // 4, 0), 50)


def bins_about(length):
    """Return bins of half octaves on both sides of a length."""
    return _bins(length, (-20, 20), 51)


class _Learning:
    """What is released before the steps of a model: subclasses have `releases`."""

    @property
    def events(self):
        """What the accountant adds up."""
        return tuple(cost.event for cost in costs_of(self.releases))


@dataclass(frozen=True, eq=False, kw_only=True)
class BallPlan(_Learning):
    """Releases that learn the ball, in the order in which they are made, each None if left out.

    All are sums over records. Of lengths, each record is in one bin of a histogram, so that it
    moves the counts by 1, and a pair by sqrt(2); in `units` and `scales` in one bin for each
    column. `centre` and `recentre` are sums of rows that are cut to a radius: they are planned for
    the radius 1, and follow the one that was released before them. Without privacy there are
    `centre` and `squares` alone, which are exact. `data_norm` is a public bound of the rows, or
    None. `quantile` is the share of the records that the last radius is to hold.
    """

    n_rows: int
    n_columns: int
    data_norm: float | None
    quantile: float
    units: Release | None = None
    coarse: Release | None = None
    reach: Release | None = None
    centre: Release | None = None
    distance: Release | None = None
    recentre: Release | None = None
    scales: Release | None = None
    radius: Release | None = None
    squares: Release | None = None

    @property
    def releases(self):
        """What a run makes to learn the ball, in order."""
        return (
            *named(FIRST_SIZES, self.units),
            *named(FIRST_LENGTHS, self.coarse),
            *named(LENGTHS, self.reach),
            *named(FIRST_CENTRE, self.centre),
            *named(FIRST_DISTANCES, self.distance),
            *named(CENTRE, self.recentre),
            *named(SIZES, self.scales),
            *named(DISTANCES, self.radius),
            *named(DEVIATIONS, self.squares),
        )


def plan_ball(
    budget,
    *,
    ball_budget,
    data_norm,
    centred,
    n_rows,
    n_columns,
    slack,
    held=None,
    taken=0.0,
    alike=False,
):
    """Plan what the ball is learnt by, and return the share of mu^2 that it spends, too.

    The plan is None where nothing is learnt. `n_columns` doesn't count the intercept's. `centred`
    tells whether the rows may be moved: with an intercept. `held` is the share of the records that
    the last radius is to hold, or None for one that rises as noise falls. `taken` is the share that
    `plan_targets` spends: of a given `ball_budget` it is a part. Of columns that are `alike`, of
    one size by what is public, no sizes are learnt.
    """
    share = _share(ball_budget, _AUTO_BUDGET)
    if ball_budget != "auto":
        share -= taken
    if share == 0.0:
        return None, 0.0
    shares = {name: share * part for name, part in _SHARES.items()}
    sizes = {"n_records": n_rows, "slack": slack}

    def count(name, n_bins, columns=1):
        bounds = {"bound": math.sqrt(columns), "pair_bound": math.sqrt(2.0 * columns)}
        return budget.release(**bounds, share=shares[name], size=n_bins * columns, **sizes)

    def mean(name):
        return budget.release(bound=1.0, share=shares[name], size=n_columns, **sizes)

    found, fields = {}, {"n_rows": n_rows, "n_columns": n_columns, "data_norm": data_norm}
    if not budget.is_private:
        shares["squares"] = share
        found = {"centre": mean("centre")} if centred else {}
        return BallPlan(**fields, quantile=1.0, squares=mean("squares"), **found), share
    noise = count("radius", _FINE).mechanism.noise_std / n_rows
    if noise <= _MOST_NOISE:
        most_for_units = _MOST_FOR_UNITS if data_norm is None else _MOST_BY_COLUMN
        by_column = (
            {}
            if alike
            else {"units": (UNIT_BINS.n_bins, most_for_units), "scales": (_FINE, _MOST_BY_COLUMN)}
        )
        for name, (n_bins, most) in by_column.items():
            release = count(name, n_bins, n_columns)
            is_quiet = release.mechanism.noise_std <= most * n_rows
            if is_quiet and n_columns <= _MOST_COLUMNS:
                found[name] = release
        centre = mean("centre")
        if centred and centre.mechanism.noise_std * math.sqrt(n_columns) <= _MOST_CENTRE * n_rows:
            found |= {"centre": centre, "recentre": mean("recentre")}
            found["distance"] = count("distance", _FINE)
        found["radius"] = count("radius", _FINE)
    else:
        # Of one release of everything.
        whole = budget.calibrate(pairwise=True) * math.sqrt(2.0) / n_rows
        wanted = (whole / _WANTED_NOISE) ** 2
        if data_norm is not None and wanted > _MOST_FOR_RADIUS:
            return None, 0.0
        each = 0.5 * share
        if ball_budget == "auto":
            each = min(max(wanted, _LEAST_FOR_RADIUS), _MOST_FOR_RADIUS)
        shares["coarse"] = shares["reach"] = each
    if data_norm is None and "units" not in found:
        found["coarse"] = count("coarse", COARSE_BINS.n_bins)
    found["reach"] = count("reach", _FINE)
    spent = sum(shares[name] for name in found)
    noise = budget.calibrate() * math.sqrt(n_columns + 1.0) / n_rows
    return BallPlan(**fields, quantile=_quantile(noise) if held is None else held, **found), spent


def _share(ball_budget, auto):
    """Return the share of mu^2 that a ball_budget stands for."""
    if ball_budget == "auto":
        return auto
    share = check_within(ball_budget, "ball_budget", 0.0, 1.0, "[)")
    if 0.0 < share < _LEAST_BUDGET:
        raise ValueError(f"ball_budget must be 0, or at least {_LEAST_BUDGET:g}.")
    return share


# Where the noise of one release of everything, a mean of rows in units of a row's length, is large
# the radius holds `_LOUD_SHARE`; where it is moderate, `_FAIR_SHARE`; without noise, all.
_LOUD_SHARE, _FAIR_SHARE, _LOUD, _FAIR, _RISE = 0.9, 0.85, 8e-3, 2e-3, 100.0


def _quantile(noise):
    """Return the share of the records that the ball is to hold: more where noise is large."""
    place = (math.log(noise) - math.log(_FAIR)) / (math.log(_LOUD) - math.log(_FAIR))
    fair = _FAIR_SHARE + (_LOUD_SHARE - _FAIR_SHARE) * min(max(place, 0.0), 1.0)
    return max(fair, 1.0 - _RISE * noise)


# Of the targets: the least and the most share of mu^2 that "auto" spends, the part of a given one,
# and the noise of a count that is wanted; shares of the first count and of each mean.
_LEAST_FOR_TARGETS, _MOST_FOR_TARGETS, _PART_FOR_TARGETS, _QUIET_TARGETS = 0.04, 0.2, 0.25, 0.03
_OF_COARSE, _OF_MEAN, _N_ROUNDS = 0.16, 0.12, 2
# Share of the targets that are held at least, and how far it rises as noise falls.
_TARGETS_HELD, _TARGETS_RISE = 0.98, 100.0


@dataclass(frozen=True, eq=False, kw_only=True)
class TargetsPlan(_Learning):
    """Releases that learn a range for each target: where y lies, whatever its units are.

    First counts on both sides of 0, in bins that take all numbers, and in finer ones; then, in each
    round, a mean of what was cut to the last ranges, and counts on both sides of it. In counts each
    record is in one bin for each target. Means are planned for the radius 1. `quantile` is the
    share of the records that the ranges are to hold; with `holds_outliers`, also those that stand
    out of the noise, however few. Without rounds, the counts alone tell the size of targets that
    aren't negative.
    """

    n_rows: int
    n_targets: int
    quantile: float
    coarse: Release
    sides: Release
    centre: Release | None
    n_rounds: int
    holds_outliers: bool = True

    @property
    def releases(self):
        """What a run makes to learn the ranges, in order."""
        of_round = (*named(MIDDLES, self.centre), *named(RANGES, self.sides))
        first = (*named(FIRST_RANGES, self.coarse), *named(RANGES, self.sides))
        return (*first, *of_round * self.n_rounds)


def plan_targets(budget, ball_budget, *, n_rows, n_targets, slack, of_sizes=False):
    """Plan what ranges of targets are learnt by, and return the share of mu^2 that it spends, too.

    It is more where records are few. With `of_sizes` it is their sizes alone, for `learn_sizes`.
    """
    n_rounds = 0 if of_sizes else _N_ROUNDS
    of_sides = (1.0 - _OF_COARSE - n_rounds * _OF_MEAN) / (1 + n_rounds)
    bounds = {"bound": math.sqrt(n_targets), "pair_bound": math.sqrt(2.0 * n_targets)}
    release = partial(budget.release, n_records=n_rows, slack=slack)
    noise = release(**bounds, size=1).mechanism.noise_std / n_rows
    wanted = (noise / _QUIET_TARGETS) ** 2 / of_sides
    spent = _share(ball_budget, 0.0) * _PART_FOR_TARGETS
    spent = spent or min(max(wanted, _LEAST_FOR_TARGETS), _MOST_FOR_TARGETS)
    n_bins = 2 * n_targets * UNIT_BINS.n_bins, 2 * n_targets * _FINE
    plan = TargetsPlan(
        n_rows=n_rows,
        n_targets=n_targets,
        quantile=max(_TARGETS_HELD, 1.0 - _TARGETS_RISE * noise),
        coarse=release(**bounds, share=spent * _OF_COARSE, size=n_bins[0]),
        sides=release(**bounds, share=spent * of_sides, size=n_bins[1]),
        centre=release(bound=1.0, share=spent * _OF_MEAN, size=n_targets) if n_rounds else None,
        n_rounds=n_rounds,
    )
    return plan, spent


# Of the budget, what counts of targets and of errors between edges spend.
_FOR_SPREAD, _FOR_ERRORS = 0.03, 0.07
# Of the range that most targets are in: the share of them that it holds, and how many times as
# wide the range is that they are cut to.
_MOST_HELD, CUT_TO = 0.95, 2.0
# Edges of targets over half that range, and of errors in spreads, which are denser towards 0: there
# may be many small ones, and fewer edges add less noise up.
_DENSE, _BEYOND = np.geomspace(2.0**-8, 1.0, 9), np.geomspace(1.0, CUT_TO, 4)[1:]
TARGET_EDGES = np.concatenate([-_BEYOND[::-1], np.linspace(-1.0, 1.0, 65), _BEYOND])
ERROR_EDGES = np.concatenate([-_DENSE[::-1], [0.0], _DENSE])


@dataclass(frozen=True, eq=False, kw_only=True)
class CountsPlan(_Learning):
    """Counts of targets about the range of most, which tell of their spread, and later of errors.

    `ranges` learns that range, or is None. Each record is counted once in each of the others.
    """

    ranges: TargetsPlan | None
    spread: Release
    errors: Release | None

    @property
    def releases(self):
        """What a run releases of targets, in order."""
        learnt = () if self.ranges is None else self.ranges.releases
        return (*learnt, *named(SPREAD, self.spread))


def plan_counts(budget, ranges, *, left, n_rows, slack, quantile, of_errors):
    """Plan counts between edges, and return the share of mu^2 that they spend, too.

    A share `left` of it is there for them and for all that follows. The range holds more where the
    `quantile` that is asked for is near to 0 or 1: nothing is known of those beyond.
    """
    bounds = {"bound": 1.0, "pair_bound": math.sqrt(2.0), "n_records": n_rows, "slack": slack}
    if ranges is not None:
        held = max(_MOST_HELD, quantile, 1.0 - quantile)
        ranges = replace(ranges, quantile=held, holds_outliers=False)
    spread = budget.release(**bounds, share=left * _FOR_SPREAD, size=TARGET_EDGES.size + 1)
    if not of_errors:
        return CountsPlan(ranges=ranges, spread=spread, errors=None), left * _FOR_SPREAD
    errors = budget.release(**bounds, share=left * _FOR_ERRORS, size=ERROR_EDGES.size + 1)
    return CountsPlan(ranges=ranges, spread=spread, errors=errors), left * (
        _FOR_SPREAD + _FOR_ERRORS
    )
