"""From noisy histograms and means of rows to the ball that they lie in."""

import math
from functools import partial
from typing import NamedTuple

import numpy as np

from skdp._ball import _tuned as tuned
from skdp._ball._counts import (
    MIDDLE,
    loudest,
    quantile,
    seen_quantile,
    sizes_in_units,
    sizes_of_columns,
    standing_out,
)
from skdp._ball._plan import (
    CENTRE,
    COARSE_BINS,
    DEVIATIONS,
    DISTANCES,
    FIRST_CENTRE,
    FIRST_DISTANCES,
    FIRST_LENGTHS,
    FIRST_RANGES,
    FIRST_SIZES,
    LENGTHS,
    MIDDLES,
    RANGES,
    SIZES,
    UNIT_BINS,
    bins_about,
    bins_below,
)
from skdp._rows.ball_queries import (
    CountsBetween,
    CountsByColumn,
    CountsBySide,
    CountsOfLengths,
    LongestLength,
    SumOfCutRows,
    SumOfCutSides,
    SumOfSquares,
)
from skdp.exceptions import warn_user

_UNSEEN_LENGTHS = (
    "the noise of released counts hides how long rows are, or all are 0: predictions are about "
    "constant. At this epsilon there may be too few records for data_norm=None. Scale columns by "
    "public ranges (BoundsScaler), and give the norm of such rows as data_norm."
)
# Targets that are all alike have this width over their size, far above rounding.
_SMALLEST_WIDTH = 2.0**-40
# No radius is smaller, as that of rows that are all alike could be.
_SMALLEST_LENGTH = 1e-45


class Ball(NamedTuple):
    """Where rows lie: ``(x - center) / scale`` of most is within the radius."""

    center: np.ndarray
    scale: np.ndarray
    radius: float
    # Estimated share of the records that lie farther out, from the counts that gave the radius.
    share_beyond: float = 0.0


# Callers check what is published, and say what to do about an overflow.
@np.errstate(all="ignore")
def outside(ball, coefs, bias):
    """Return coefficients of rows as they are from those of rows in a ball's units, or None's."""
    if ball is None:
        return coefs
    coefs = coefs.copy()
    features = coefs[:, : ball.scale.size]
    features /= ball.scale
    if bias:
        coefs[:, -1] -= features @ ball.center / bias
    return coefs


def inside(ball, coefs, bias):
    """Return coefficients of rows in a ball's units from those of rows as they are, or None's."""
    if ball is None:
        return coefs
    coefs = coefs.copy()
    features = coefs[:, : ball.scale.size]
    if bias:
        coefs[:, -1] += features @ ball.center / bias
    features *= ball.scale
    return coefs


def start_inside(ball, start, bias):
    """Return coefficients in a ball's units, from those of rows as they are, the intercept last.

    None's are None. The intercept is in units of its column's constant then.
    """
    if start is None:
        return None
    return inside(ball, np.append(start[:, :-1], start[:, -1:] / bias, axis=1), bias)


def following(plan, ball, stretch, bias, run):
    """Return the plan for rows of a ball, whose bounds a run takes over.

    See `WhitenedPlan.following`.
    """
    plan = plan.following(ball.radius, stretch, partial(outside, ball, bias=bias))
    run.follow(plan.releases)
    return plan


# A warning about an overflow would tell of the data.
@np.errstate(all="ignore")
def learn_ball(rows, *, plan, run):
    """Return the ball that a plan's releases tell of, of rows as they were read."""
    d = plan.n_columns
    centre, unit = np.zeros(d), np.ones(d)
    if plan.is_exact:
        return _exact_ball(rows, plan, run)
    sampled = rows if plan.sample is None else rows.sampled(run.sample(plan.sample))

    def counted(of_rows, bins):
        name = plan.name(of_rows)
        mechanism = run.mechanism(name)
        counts = run.ask(name, sampled, CountsOfLengths(bins, centre, unit, mechanism))
        return counts, mechanism.noise_std, bins

    def counted_by_column(name, bins):
        mechanism = run.mechanism(name)
        counts = run.ask(name, rows, CountsByColumn(bins, centre, unit, mechanism))
        return counts, mechanism.noise_std, bins, np.abs(centre) / unit

    def moved(of_rows):
        stretch, name = rows.stretch(centre / unit, radius), plan.name(of_rows)
        return _moved(sampled, run, name, centre, unit, radius, plan.n_sampled, stretch)

    if plan.units is not None:
        unit, _ = sizes_of_columns(*counted_by_column(FIRST_SIZES, UNIT_BINS), plan.n_records)
        bins = bins_about(math.sqrt(d))
    elif plan.data_norm is not None:
        bins = bins_below(plan.data_norm)
    else:
        # A length is the unit from here on, so that no number is near the ends of double precision.
        counts, noise, bins = counted(FIRST_LENGTHS, COARSE_BINS)
        # Rows of zeros tell of no unit: by the smallest, coefficients would overflow.
        counts = np.append(0.0, counts[1:])
        length = seen_quantile(counts, noise, bins, 0.5)
        if length is None:
            warn_user(_UNSEEN_LENGTHS)
            length = tuned.UNSEEN_LENGTH
        unit = unit * length
        bins = bins_about(1.0)
    last_counts = counted(LENGTHS, bins)
    radius = quantile(*last_counts, tuned.SHARE_IN_FIRST_RADIUS)
    noise_of_centre = math.inf
    if plan.centre is not None:
        centre = moved(FIRST_CENTRE)
        bins = bins_below(2.0 * radius)
        radius = min(radius, quantile(*counted(FIRST_DISTANCES, bins), tuned.SHARE_IN_FIRST_RADIUS))
        centre = moved(CENTRE)
        noise_of_centre = radius * plan.recentre.mechanism.noise_std / plan.n_sampled
    bins = bins_below(2.0 * radius)
    if plan.scales is not None:
        of_columns = counted_by_column(SIZES, bins)
        unit = unit * sizes_in_units(*of_columns, plan.n_records, noise_of_centre)
        bins = bins_about(math.sqrt(d))
    if plan.radius is not None:
        last_counts = counted(DISTANCES, bins)
        radius = quantile(*last_counts, plan.quantile)
    counts, _, bins = last_counts
    beyond = share_beyond(counts, bins, radius, plan.n_sampled)
    if plan.scales is None and plan.data_norm is None:
        # Columns of no known size are as long as those of a known one, to the penalty.
        typical = tuned.TYPICAL_ENTRY * math.sqrt(d)
        unit, radius = unit * (radius / typical), typical
    return Ball(centre, unit, max(radius, _SMALLEST_LENGTH), beyond)


@np.errstate(all="ignore")
def learn_targets(rows, *, plan, run):
    """Return the lower and upper ends of targets, of shape (k,), that a plan's releases tell of.

    `rows` are the targets, as rows, in memory or in partitions.
    """
    k = plan.n_targets
    centre, unit = np.zeros(k), np.ones(k)

    def counted(name, bins):
        mechanism = run.mechanism(name)
        return run.ask(name, rows, CountsBySide(bins, centre, unit, mechanism))

    def reach(is_occupied, bins, margin=0):
        """Return how far below and above the centre targets are, in units, of shape (k, 2)."""
        ends = _farthest(is_occupied, bins, margin)
        # Where no bin stands out, all that is known is the unit.
        return np.where(ends.any(axis=1, keepdims=True), ends, 1.0)

    unit = reach(_bins_of_targets(counted(FIRST_RANGES, UNIT_BINS), plan), UNIT_BINS).max(axis=1)
    noise = plan.sides.mechanism.noise_std / plan.n_records
    tail = 0.5 * (1.0 - plan.quantile) * plan.n_records
    margin = sum(noise > loud for loud in tuned.LOUD_NOISES_OF_SIDES)
    is_loud = margin == len(tuned.LOUD_NOISES_OF_SIDES)
    for place in range(plan.n_rounds + 1):
        if place:
            centre = _moved(rows, run, MIDDLES, centre, unit, math.sqrt(k), plan.n_records)
        bins = bins_below(tuned.REACH_OF_COUNTS)
        is_occupied = _bins_beyond_tail(
            counted(RANGES, bins),
            plan.sides.mechanism.noise_std,
            tail=tail,
            holds_outliers=plan.holds_outliers,
            in_a_row=tuned.WIDTHS_OF_TAIL if is_loud else (),
        )
        ends = reach(is_occupied, bins, margin)
        if place and is_loud:
            # Most targets reach far on both sides of their mean, which has noise.
            noise_std = plan.centre.mechanism.noise_std
            doubt = tuned.DEVIATIONS_OF_CENTRE * math.sqrt(k) * noise_std / plan.n_records
            of_other = np.where(ends > doubt, tuned.SMALLEST_SHARE_OF_OTHER_END * ends, 0.0)
            ends = np.maximum(ends, of_other[:, ::-1])
        below, above = ends.T
        centre, unit = centre + 0.5 * (above - below) * unit, 0.5 * (above + below) * unit
        unit = np.maximum(unit, _SMALLEST_WIDTH * np.maximum(_SMALLEST_LENGTH, abs(centre)))
    return tuple(float(end[0]) if k == 1 else end for end in (centre - unit, centre + unit))


@np.errstate(all="ignore")
def learn_sizes(rows, *, plan, run, noises):
    """Return means of targets that aren't negative, and sizes from which on they are cut.

    Returned, too, are the shares of records that counts show to have any. Means and shares are of
    shape (k,), and all follow from counts of targets by size. Cutting at a smaller size moves the
    mean by more. A larger size has more noise: in a prediction, one of the `noises` times the size
    over the mean. The size with the smallest sum of the squares of both is returned for each of
    the noises, in an array of shape (k, noises).
    """
    k = plan.n_targets
    zeros = np.zeros(k)

    def counted(name, bins, units):
        mechanism = run.mechanism(name)
        return run.ask(name, rows, CountsBySide(bins, zeros, units, mechanism))

    # No target is below 0.
    known = _bins_of_targets(counted(FIRST_RANGES, UNIT_BINS, np.ones(k)), plan)[:, 1]
    units = np.where(known.any(axis=1), _farthest(known, UNIT_BINS, 0), 1.0)
    bins = bins_below(tuned.REACH_OF_COUNTS)
    counts = counted(RANGES, bins, units)[:, 1]
    noise_std, by_chance = plan.sides.mechanism.noise_std, tuned.CHANCE_OF_NOISE_NEARBY
    largest_noise = loudest(noise_std, 2 * k * bins.n_bins, by_chance)
    learnt = [
        _sizes_of(one, bins, unit, largest_noise, noises, plan.n_records)
        for one, unit in zip(counts, units.tolist(), strict=True)
    ]
    means, sizes, shares = map(np.array, zip(*learnt, strict=True))
    return means, sizes, shares


def _sizes_of(counts, bins, unit, largest_noise, noises, n_records):
    """Return the mean and the sizes of one target, and how many have one; see `learn_sizes`."""
    known = np.flatnonzero(counts > largest_noise)
    if not known.size:
        return unit, [unit] * len(noises), 0.0
    last = min(known[-1] + tuned.BINS_BESIDE, bins.n_bins - 1)
    ends = unit * np.array([bins.end(place) for place in range(last + 1)])
    shares = np.maximum(counts[: last + 1], 0.0) / n_records
    sizes = MIDDLE * ends
    mean = float(shares @ sizes)
    cut = np.array([shares @ np.maximum(sizes - end, 0.0) for end in ends])
    best = [np.argmin(np.square(cut) + np.square(noise * ends)) for noise in noises]
    # Zeros are in the first bin.
    share = float(counts[known[known > 0]].sum()) / n_records
    return mean, [max(float(ends[place]), mean) for place in best], share


def learn_quantiles(rows, run, name, *, edges, wanted):
    """Return quantiles that released counts between edges tell of, and the first and last edge.

    Between two edges the records are taken to lie evenly.
    """
    counts = run.ask(name, rows, CountsBetween(edges, run.mechanism(name)))
    below = np.maximum.accumulate(np.maximum(np.cumsum(counts), 0.0))
    if not below[-1] > 0.0:
        return np.zeros_like(wanted)
    return np.interp(np.asarray(wanted) * below[-1], below[:-1], edges)


def learn_quotient(rows, run, name, *, radius):
    """Return the logarithm of the quotient of the sums of two columns, of rows cut to a radius.

    No entry of the rows is negative.
    """
    mechanism = run.bound(name, radius)
    query = SumOfCutSides(np.zeros(2), np.ones(2), radius, mechanism)
    return log_of_quotient(run.ask(name, rows, query), mechanism.noise_std)


def log_of_quotient(released, noise_std):
    """Return the logarithm of the quotient of two released sums, as it is expected to be.

    Neither sum is believed below some deviations of its noise. What is returned is shrunk as if it
    were normal about 0 and had the noise of both.
    """
    sums = np.maximum(released, tuned.DEVIATIONS_OF_SIDES * noise_std)
    variance = np.square(noise_std / sums).sum()
    spread = tuned.SPREAD_OF_QUOTIENTS**2
    shift = float(np.log(sums[0] / sums[1]) * spread / (spread + variance))
    return min(max(shift, -tuned.LARGEST_QUOTIENT), tuned.LARGEST_QUOTIENT)


def hardly_tells(plan):
    """Tell whether a range of targets is lost in noise: a count of half the records would be."""
    return loudest(plan.coarse.mechanism.noise_std, plan.coarse.size) > 0.5 * plan.n_records


def _bins_of_targets(counts, plan):
    """Tell which bins of the first counts of targets, of shape (k, 2, n_bins), hold any."""
    noise = plan.coarse.mechanism.noise_std
    is_occupied = standing_out(counts, noise)
    if hardly_tells(plan):
        # The bulk isn't to be lost where it is about as loud as noise, of which the fit warns.
        largest = counts.max(axis=(1, 2), keepdims=True)
        is_heard = largest > loudest(noise, counts.size, tuned.CHANCE_OF_NOISE_NEARBY)
        is_occupied |= (counts == largest) & is_heard
    return is_occupied


def _bins_beyond_tail(counts, noise, *, tail, holds_outliers, in_a_row):
    """Tell which bins, on each side, have more than a tail and noise from them on.

    With `holds_outliers` also those whose count stands out of the noise.
    """
    n_bins = counts.shape[-1]
    # These are sums of counts from the farthest bin on.
    farther = np.cumsum(counts[..., ::-1], axis=-1)
    sure = tuned.DEVIATIONS_OF_TAIL * noise
    is_occupied = farther > tail + sure * np.sqrt(1.0 + np.arange(n_bins))
    # Loud noise of the bins before would hide what those in a row hold.
    for width in in_a_row:
        before = np.pad(farther, [(0, 0)] * (farther.ndim - 1) + [(width, 0)])[..., :-width]
        sure = tuned.DEVIATIONS_OF_BINS_IN_A_ROW * noise
        is_occupied |= farther - before > tail + sure * math.sqrt(width)
    is_occupied = is_occupied[..., ::-1]
    if holds_outliers:
        # The farthest bin is near to the others here.
        of_noise = loudest(noise, 2 * n_bins, tuned.CHANCE_OF_NOISE_NEARBY)
        is_occupied = is_occupied | (counts > of_noise)
    return is_occupied


def _farthest(is_occupied, bins, margin):
    """Return the end of the farthest occupied bin, or of one `margin` bins farther; 0 of none."""
    places = bins.n_bins - 1 - np.argmax(is_occupied[..., ::-1], axis=-1)
    ends = np.vectorize(bins.end)(np.minimum(places + margin, bins.n_bins - 1))
    return np.where(is_occupied.any(axis=-1), ends, 0.0)


def _moved(rows, run, name, centre, unit, radius, n_records, stretch=1.0):
    """Return the centre, moved by a mean of rows that are cut to the radius."""
    mechanism = run.bound(name, radius, stretch=stretch)
    total = run.ask(name, rows, SumOfCutRows(centre, unit, radius, mechanism))
    return centre + unit * _shrunk(total / n_records, mechanism.noise_std / n_records)


def _exact_ball(rows, plan, run):
    """Return the means of columns, their sizes, and the longest row, without noise."""
    d = plan.n_columns
    centre, unit = np.zeros(d), np.ones(d)
    if plan.centre is not None:
        query = SumOfCutRows(centre, unit, math.inf, run.mechanism(FIRST_CENTRE))
        centre = run.ask(FIRST_CENTRE, rows, query) / plan.n_records
    if plan.squares is None:
        return Ball(centre, unit, max(rows.ask(LongestLength(centre, unit)), _SMALLEST_LENGTH))
    query = SumOfSquares(centre, unit, math.inf, run.mechanism(DEVIATIONS))
    squares = run.ask(DEVIATIONS, rows, query) / plan.n_records
    # A column that is constant but for rounding has no scale of its own.
    least = (np.abs(centre) * 2.0**-40) ** 2
    unit = np.where(squares > least, np.sqrt(squares), 1.0)
    return Ball(centre, unit, max(rows.ask(LongestLength(centre, unit)), _SMALLEST_LENGTH))


def share_beyond(counts, bins, radius, n_records):
    """Return the share of the records in bins beyond a radius, as noisy counts tell it."""
    is_beyond = [bins.end(place) > radius for place in range(bins.n_bins)]
    return float(np.clip(counts[is_beyond].sum() / n_records, 0.0, 1.0))


def _shrunk(mean, noise):
    """Return a noisy mean as short as it is expected to be (James and Stein 1961)."""
    length = float(mean @ mean)
    return mean * max(0.0, 1.0 - mean.size * noise**2 / max(length, 1e-300))
