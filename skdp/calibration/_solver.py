"""From scores of calibration records to a quantile that noise hardly ever makes too small."""

import math
from typing import NamedTuple

import numpy as np

from skdp._rows.queries import Cells, CountsByCell
from skdp.calibration import _tuned as tuned
from skdp.calibration._plan_conformal import OCTAVES, SCORES, ends_of_bins


class Quantile(NamedTuple):
    """A quantile of scores, and whether released counts show no records near it.

    It is far if an octave or more is between it and all octaves that have records for certain.
    """

    value: float
    is_far: bool


def find_quantile(scores, plan, run, coins):
    """Release counts of scores, and return a `Quantile`: the end of a bin, maybe infinite.

    It is at least the score of the rank that is planned, unless the noise leaves its band. Scores
    aren't negative, and one that isn't a number counts as infinite.
    """
    scores = np.where(np.isnan(scores), np.inf, scores)
    counts = _release_counts(OCTAVES, _octaves(scores), tuned.N_OCTAVES, run)
    found = _octaves_with_records(counts, plan.octaves.mechanism.noise_std, plan.n_calibration)
    octave = _octave_of_rank(counts, *found, plan.n_calibration, plan.design)
    ends = ends_of_bins(plan.design.n_bins, octave)
    mechanism = plan.counts.mechanism
    is_possible = plan.design.rank <= plan.n_calibration
    # It comes before the counts, so that nothing but coins is in it.
    critical = critical_value(mechanism, plan.design, coins) if is_possible else 0.0
    bins = np.searchsorted(ends, scores, side="right")
    counts = _release_counts(SCORES, bins, ends.size + 1, run)
    place = crossing(counts, plan.n_calibration, plan.design.rank, critical * mechanism.noise_std)
    value = float(ends[place]) if is_possible and place < ends.size else math.inf
    return Quantile(value, is_far=value > 2.0 ** (tuned.FIRST_OCTAVE + found[1] + 2))


def _release_counts(name, bins, n_bins, run):
    """Release how many scores are in each bin; `bins` has that of each."""
    return run.ask(name, Cells((bins,)), CountsByCell((n_bins,), run.mechanism(name)))


def crossing(counts, n_records, rank, deviation):
    """Return the first bin up to which there are as many records as a rank, or the last bin.

    All records together are `n_records`, so that the sum of all noise is known, and what is left of
    it is a bridge: of variance k (K - k) / K up to the k-th of K bins. `deviation` times the shape
    of the band is what it may be.
    """
    place = np.arange(1.0, counts.size + 1.0)
    sums = np.cumsum(counts, dtype=np.float64)
    sums -= place / counts.size * (sums[-1] - n_records)
    # Rounding adds far less to a sum than the last term.
    is_enough = sums > rank - 1.0 + deviation * _spread(counts.size) + 1e-6
    is_enough[-1] = True
    return int(np.argmax(is_enough))


def critical_value(mechanism, design, stream):
    """Return what noise may have over the band's shape, in standard deviations, at all bins.

    It is that of a rank among simulated paths of noise, with which the path to come is
    exchangeable. So this one has more with a probability of at most ``design.failure``.
    """
    if mechanism.noise_std == 0.0:
        return 0.0
    n_beyond = min(max(int(tuned.MOST_PATHS * design.failure), 1), tuned.MOST_PATHS_BEYOND)
    n_paths = math.ceil(n_beyond / design.failure) - 1
    at_once = max(tuned.SIMULATED_AT_ONCE // design.n_bins, 1)
    largest = [
        _largest(mechanism.simulate((min(at_once, n_paths - start), design.n_bins), stream))
        for start in range(0, n_paths, at_once)
    ]
    of_all = np.sort(np.concatenate(largest))
    return float(of_all[-n_beyond]) / mechanism.noise_std


def _largest(noise):
    """Return what the bridge of each path of noise has at most, over the band's shape."""
    n_bins = noise.shape[1]
    sums = np.cumsum(noise, axis=1)
    sums -= np.arange(1.0, n_bins + 1.0) / n_bins * sums[:, -1:]
    return (sums[:, :-1] / _spread(n_bins)[:-1]).max(axis=1)


def _spread(n_bins):
    """Return the shape of the band after each bin: about that of a bridge of steps of variance 1.

    Its square is between the bridge's variance and the same number everywhere.
    """
    place = np.arange(1.0, n_bins + 1.0)
    return np.sqrt(place * (n_bins - place) / n_bins + tuned.EVEN_PART_OF_BAND * n_bins)


def _octaves(scores):
    """Return the number of the octave that each score is in; the ends take what is beyond."""
    exponent = np.frexp(scores)[1] - 1 - tuned.FIRST_OCTAVE
    octave = np.clip(exponent, 0, tuned.N_OCTAVES - 1)
    octave[scores == 0.0] = 0
    octave[np.isinf(scores)] = tuned.N_OCTAVES - 1
    return octave


def _octave_of_rank(counts, first, last, n_records, design):
    """Return the power of 2 at which about the octave ends that the quantile will be in.

    It is a guess: a wrong one makes intervals wide, and not short. Counts are added up from above,
    as the noise of all octaves below would be larger than the number of records beyond the rank,
    and from not far above those that have records for certain, the first to the last.
    """
    last = min(last + tuned.OCTAVES_BEYOND, counts.size - 1)
    beyond = np.cumsum(counts[last:first:-1])[::-1]
    is_enough = np.append(beyond <= n_records - design.rank - 0.5 * design.band, True)
    return tuned.FIRST_OCTAVE + first + int(np.argmax(is_enough)) + 1


def _octaves_with_records(counts, noise_std, n_records):
    """Return the first and the last octave of those that have records for certain.

    Scores that are spread over many octaves have few records in each: then several are one.
    """
    for width in tuned.OCTAVES_AT_ONCE:
        sums = counts.reshape(-1, width).sum(axis=1)
        is_loud = sums > tuned.LOUD_DEVIATIONS * noise_std * math.sqrt(width)
        if sums[is_loud].sum() >= 0.5 * n_records:
            break
    loud = np.flatnonzero(is_loud) if is_loud.any() else np.array([np.argmax(sums)])
    return int(loud[0]) * width, int(loud[-1] + 1) * width - 1
