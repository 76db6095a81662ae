"""Plans of the learnt ball: counts of lengths, counts of entries by column, and means of rows.

The proof is in the documentation, "theory/ball".
"""

import math
import struct
from dataclasses import dataclass, replace

import numpy as np

from skdp._ball import _tuned as tuned
from skdp._checks import check_within
from skdp._release.release import Release, costs_of, named
from skdp._release.sampling import BlockSampler

# Runs and reports call releases of rows, targets and errors so.
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
SIDES = "amounts and what is expected"
# Names of releases of a sample of the rows end so.
_OF_SAMPLE = ", of a sample"


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
# `bins_below` and `bins_about` have so many bins.
_N_FINE_BINS = 80


def bins_below(length):
    """Return bins of half octaves up to a length."""
    return _bins(length, (-40, 0), 51)


# `fine_bins_below` has so many bins.
N_LENGTHS = 40


def fine_bins_below(length):
    """Return bins of a quarter of a power of 2 up to a length."""
    return _bins(length, (-N_LENGTHS // 4, 0), 50)


def bins_about(length):
    """Return bins of half octaves on both sides of a length."""
    return _bins(length, (-20, 20), 51)


class _Learning:
    """What is learnt beside the steps of a model: what is released before them is `releases`."""

    releases: tuple
    # Releases that follow the steps, each `Planned`.
    last: tuple = ()

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
    `centre` and `squares` alone, which are exact (`is_exact`), or `centre` where columns are alike.
    `data_norm` is a public bound of the rows, or None. `quantile` is the share of the records that
    the last radius is to hold.

    Where there is a `sample`, lengths and centres are those of its rows. Entries are counted of all
    rows: a column of few entries other than 0 would be lost in a sample.
    """

    n_records: int
    n_columns: int
    data_norm: float | None
    quantile: float
    sample: BlockSampler | None = None
    is_exact: bool = False
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
            *named(self.name(FIRST_LENGTHS), self.coarse),
            *named(self.name(LENGTHS), self.reach),
            *named(self.name(FIRST_CENTRE), self.centre),
            *named(self.name(FIRST_DISTANCES), self.distance),
            *named(self.name(CENTRE), self.recentre),
            *named(SIZES, self.scales),
            *named(self.name(DISTANCES), self.radius),
            *named(DEVIATIONS, self.squares),
        )

    @property
    def n_sampled(self):
        """Number of records that lengths and centres are of, which is public."""
        return self.n_records if self.sample is None else self.sample.n_drawn

    def name(self, of_rows):
        """Return the name of a release of lengths or centres, which tells of a sample."""
        return of_rows if self.sample is None else f"{of_rows}{_OF_SAMPLE}"


def plan_ball(
    budget,
    *,
    ball_budget,
    data_norm,
    centred,
    n_records,
    n_columns,
    slack,
    share_within=None,
    spent_on_targets=0.0,
    alike=False,
):
    """Plan what the ball is learnt by, and return the share of mu^2 that it spends, too.

    The plan is None where nothing is learnt. `n_columns` doesn't count the intercept's. `centred`
    tells whether the rows may be moved: with an intercept. `share_within` is the share of the
    records that the last radius is to hold, or None for one that rises as noise falls.
    `spent_on_targets` is the share that `plan_targets` spends, which is a part of a given
    `ball_budget`. Where columns are `alike`, of one size by what is public, no sizes are learnt.
    """
    share = _share(ball_budget, tuned.BALL_BUDGET)
    if ball_budget != "auto":
        share -= spent_on_targets
    if share == 0.0:
        return None, 0.0
    shares = {name: share * part for name, part in tuned.SHARES_OF_BALL.items()}
    if share_within is None and budget.is_private:
        share_within = _share_within(budget.calibrate() * math.sqrt(n_columns + 1.0) / n_records)
        sample = None if alike else _sample(budget, shares["radius"], 1.0 - share_within, n_records)
    else:
        sample = None
    n_sampled = n_records if sample is None else sample.n_drawn

    def count(name, n_bins, columns=1, n_counted=n_sampled):
        return budget.release(
            bound=math.sqrt(columns),
            pair_bound=math.sqrt(2.0 * columns),
            share=shares[name],
            size=n_bins * columns,
            n_records=n_counted,
            slack=slack,
        )

    def mean(name):
        return budget.release(
            bound=1.0, share=shares[name], size=n_columns, n_records=n_sampled, slack=slack
        )

    if not budget.is_private:
        shares["squares"] = share
        plan = BallPlan(
            is_exact=True,
            n_records=n_records,
            n_columns=n_columns,
            data_norm=data_norm,
            quantile=1.0,
            centre=mean("centre") if centred else None,
            squares=None if alike else mean("squares"),
        )
        return plan, share
    releases = {}
    noise = count("radius", _N_FINE_BINS).mechanism.noise_std / n_records
    if noise <= tuned.LARGEST_NOISE_OF_COUNT:
        largest_noise = tuned.LARGEST_NOISE_BY_COLUMN
        if not alike and n_columns <= tuned.LARGEST_COUNTED_COLUMNS:
            units = count("units", UNIT_BINS.n_bins, n_columns, n_records)
            is_free = data_norm is None
            largest_of_units = tuned.LARGEST_NOISE_OF_UNITS if is_free else largest_noise
            if units.mechanism.noise_std <= largest_of_units * n_records:
                releases["units"] = units
            scales = count("scales", _N_FINE_BINS, n_columns, n_records)
            if scales.mechanism.noise_std <= largest_noise * n_records:
                releases["scales"] = scales
        centre = mean("centre")
        noise_of_centre = centre.mechanism.noise_std * math.sqrt(n_columns)
        if centred and noise_of_centre <= tuned.LARGEST_NOISE_OF_CENTRE * n_sampled:
            releases["centre"], releases["recentre"] = centre, mean("recentre")
            releases["distance"] = count("distance", _N_FINE_BINS)
        releases["radius"] = count("radius", _N_FINE_BINS)
    else:
        noise_of_all = budget.calibrate(pairwise=True) * math.sqrt(2.0) / n_records
        wanted = (noise_of_all / tuned.WANTED_NOISE_OF_RADIUS) ** 2
        if data_norm is not None and wanted > tuned.LARGEST_SHARE_OF_RADIUS:
            return None, 0.0
        each = 0.5 * share
        if ball_budget == "auto":
            each = min(max(wanted, tuned.SMALLEST_SHARE_OF_RADIUS), tuned.LARGEST_SHARE_OF_RADIUS)
        shares["coarse"] = shares["reach"] = each
    if data_norm is None and "units" not in releases:
        releases["coarse"] = count("coarse", COARSE_BINS.n_bins)
    releases["reach"] = count("reach", _N_FINE_BINS)
    plan = BallPlan(
        n_records=n_records,
        n_columns=n_columns,
        data_norm=data_norm,
        quantile=share_within,
        sample=sample,
        units=releases.get("units"),
        coarse=releases.get("coarse"),
        reach=releases["reach"],
        centre=releases.get("centre"),
        distance=releases.get("distance"),
        recentre=releases.get("recentre"),
        scales=releases.get("scales"),
        radius=releases.get("radius"),
    )
    return plan, sum(shares[name] for name in releases)


def _sample(budget, share, share_outside, n_records):
    """Return what draws the rows whose lengths tell of the ball, or None: all rows do.

    They are so many that the noise of a count is a small share of them, and of those that are to
    lie outside of the last radius, which come from several blocks. `share` is that of mu^2 which
    counts the last distances. Where records are groups the number of their rows is private.
    """
    if budget.of_groups:
        return None
    noise = budget.release(
        bound=1.0, pair_bound=math.sqrt(2.0), share=share, n_records=n_records, size=1
    ).mechanism.noise_std
    largest_share = min(
        tuned.LARGEST_NOISE_IN_SAMPLE, tuned.LARGEST_NOISE_OF_THOSE_OUTSIDE * share_outside
    )
    several = tuned.LEAST_BLOCKS_OUTSIDE * BlockSampler.block_size / share_outside
    least = max(tuned.LEAST_ROWS_OF_SAMPLE, noise / largest_share, several)
    if least > tuned.LARGEST_SAMPLE * n_records:
        return None
    return BlockSampler(n_records, math.ceil(least / BlockSampler.block_size))


def _share(ball_budget, auto):
    """Return the share of mu^2 that a ball_budget stands for."""
    if ball_budget == "auto":
        return auto
    share = check_within(ball_budget, "ball_budget", 0.0, 1.0, "[)")
    if 0.0 < share < tuned.SMALLEST_BUDGET:
        raise ValueError(f"ball_budget must be 0, or at least {tuned.SMALLEST_BUDGET:g}.")
    return share


def _share_within(noise):
    """Return the share of the records that the last radius is to hold, by the noise of a mean.

    The noise is that of one release of everything, in lengths of rows. Much noise makes far rows
    weigh less than a longer radius would cost, and little noise makes all rows count.
    """
    loudest = math.log(tuned.LOUD_NOISE) - math.log(tuned.FAIR_NOISE)
    loudness = min(max((math.log(noise) - math.log(tuned.FAIR_NOISE)) / loudest, 0.0), 1.0)
    more = tuned.SHARE_IN_LOUD_BALL - tuned.SHARE_IN_FAIR_BALL
    share = tuned.SHARE_IN_FAIR_BALL + more * loudness
    return max(share, 1.0 - tuned.SHARE_OUTSIDE_PER_NOISE * noise)


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

    n_records: int
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


def plan_targets(
    budget, ball_budget, *, n_records, n_targets, slack, of_sizes=False, for_means=False
):
    """Plan what ranges of targets are learnt by, and return the share of mu^2 that it spends, too.

    It is more where records are few, and most `for_means`, where nothing but these follows.
    With `of_sizes` it is their sizes alone, for `learn_sizes`.
    """
    n_rounds, part_of_coarse = 0 if of_sizes else tuned.N_ROUNDS, tuned.PART_OF_COARSE_COUNTS
    if for_means:
        n_rounds, part_of_coarse = tuned.N_ROUNDS_FOR_MEANS, tuned.PART_OF_COARSE_COUNTS_FOR_MEANS
    part_of_sides = (1.0 - part_of_coarse - n_rounds * tuned.PART_OF_MEAN) / (1 + n_rounds)

    def count(size, share=None):
        return budget.release(
            bound=math.sqrt(n_targets),
            pair_bound=math.sqrt(2.0 * n_targets),
            share=share,
            size=size,
            n_records=n_records,
            slack=slack,
        )

    noise = count(1).mechanism.noise_std / n_records
    wanted = (noise / tuned.WANTED_NOISE_OF_TARGETS) ** 2 / part_of_sides
    spent = _share(ball_budget, 0.0) * tuned.TARGETS_PART_OF_GIVEN_BUDGET
    if for_means:
        spent = tuned.SHARE_OF_RANGES_FOR_MEANS
    if spent == 0.0:
        spent = max(wanted, tuned.SMALLEST_SHARE_OF_TARGETS)
        spent = min(spent, tuned.LARGEST_SHARE_OF_TARGETS)
    centre = None
    if n_rounds:
        centre = budget.release(
            bound=1.0,
            share=spent * tuned.PART_OF_MEAN,
            size=n_targets,
            n_records=n_records,
            slack=slack,
        )
    share_in_range = 1.0 - tuned.TARGETS_OUTSIDE_PER_NOISE * noise
    plan = TargetsPlan(
        n_records=n_records,
        n_targets=n_targets,
        quantile=max(tuned.SHARE_OF_TARGETS_IN_RANGE, share_in_range),
        coarse=count(2 * n_targets * UNIT_BINS.n_bins, spent * part_of_coarse),
        sides=count(2 * n_targets * _N_FINE_BINS, spent * part_of_sides),
        centre=centre,
        n_rounds=n_rounds,
    )
    return plan, spent


# Targets are counted between these edges over half the range that most are in, and errors in
# spreads. Edges of errors are denser towards 0, where there may be many errors. Fewer edges add
# less noise up.
_DENSE, _BEYOND = np.geomspace(2.0**-8, 1.0, 9), np.geomspace(1.0, tuned.WIDTH_OF_CUT, 4)[1:]
TARGET_EDGES = np.concatenate([-_BEYOND[::-1], np.linspace(-1.0, 1.0, 65), _BEYOND])
ERROR_EDGES = np.concatenate([-_DENSE[::-1], [0.0], _DENSE])


@dataclass(frozen=True, eq=False, kw_only=True)
class TargetReleases(_Learning):
    """What is learnt of targets: ranges that most are in, or None, and what tells more of them.

    What is released `then` follows the ranges, and the `last` follows the steps of a model: tuples
    of `Planned`.
    """

    ranges: TargetsPlan | None
    then: tuple = ()
    last: tuple = ()

    @property
    def releases(self):
        """What a run releases of targets before the steps, in order."""
        learnt = () if self.ranges is None else self.ranges.releases
        return (*learnt, *self.then)


def plan_counts(budget, ranges, *, left, n_records, slack, quantile, of_errors):
    """Plan counts of targets between edges, and return the share of mu^2 that they spend, too.

    Counts about the ranges tell of their spread, and counts of errors follow the steps, if they are
    `of_errors`. A record is in one bin of each. A share `left` of mu^2 is there for them and for
    all that follows. The range holds more where the `quantile` that is asked for is near to 0 or 1:
    nothing is known of those beyond.
    """

    def count(share, edges):
        return budget.release(
            bound=1.0,
            pair_bound=math.sqrt(2.0),
            share=share,
            size=edges.size + 1,
            n_records=n_records,
            slack=slack,
        )

    if ranges is not None:
        share_in_core = max(tuned.SHARE_OF_TARGETS_IN_CORE, quantile, 1.0 - quantile)
        ranges = replace(ranges, quantile=share_in_core, holds_outliers=False)
    share = tuned.SHARE_OF_SPREAD
    spread, errors = count(left * share, TARGET_EDGES), None
    if of_errors:
        errors = count(left * tuned.SHARE_OF_ERRORS, ERROR_EDGES)
        share = share + tuned.SHARE_OF_ERRORS
    planned = TargetReleases(ranges=ranges, then=named(SPREAD, spread), last=named(ERRORS, errors))
    return planned, left * share


def plan_sides(budget, share, *, n_records, slack):
    """Plan the sums of amounts and of what is expected of them, with a share of mu^2.

    Of vectors without negative numbers two are at most sqrt(2) times as far apart as one is long.
    """
    return budget.release(
        bound=1.0,
        pair_bound=math.sqrt(2.0),
        share=share,
        size=2,
        n_records=n_records,
        slack=slack,
    )
