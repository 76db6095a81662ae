"""What a record can do to a score: move one count by one, and nothing else."""

import math
import warnings

import numpy as np
import pytest

from tests._loops import for_each
from tests.door import (
    DiscreteLaplaceMechanism,
    GaussianMechanism,
    SeededStream,
    null_records,
)
from tests.metrics._models import CLASSIFICATION, binary_records, calls

K, N = 5, 40
# The last are predictions that no model should make.
ROWS = (-800.0, -1.0, 0.0, 0.3, 1.999, 2.0, 800.0, 1e308, math.inf, -math.inf, math.nan)
NAMES = list(calls(epsilon=1.0))


class Transcript:
    """Counts that went into releases, what came out, and draws in their order."""

    def __init__(self, monkeypatch, script=None):
        self.counts, self.released, self.log, self.mechanisms = [], [], [], []
        for kind in (DiscreteLaplaceMechanism, GaussianMechanism):
            self._watch_release(monkeypatch, kind, script)
        for name in ("uniform", "integers", "normal"):
            self._watch_draw(monkeypatch, name)

    def _watch_release(self, monkeypatch, kind, script):
        def release(mechanism, counts, stream):
            self.counts.append(counts.copy())
            self.mechanisms.append(mechanism)
            self.log.append(("release", counts.shape))
            out = counts + 0.0 if script is None else script[len(self.released)]
            self.released.append(out)
            return out

        monkeypatch.setattr(kind, "release", release)

    def _watch_draw(self, monkeypatch, name):
        draw = getattr(SeededStream, name)

        def watched(stream, *arguments):
            self.log.append((name, arguments))
            return draw(stream, *arguments)

        monkeypatch.setattr(SeededStream, name, watched)


def record(call, X, y, script=None, null=()):
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(), null_records(null):
        warnings.simplefilter("error")
        seen = Transcript(patch, script)
        seen.result = call(X, y, random_state=0)
    return seen


def outcome(found):
    """All fields of a result, to be compared."""
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else repr(value)
        for name, value in vars(found).items()
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_record_moves_one_count_by_one(name, rng):
    """From a null record one count moves by one; between two records two do, or none."""
    call = calls(epsilon=1.0)[name]
    X, y = binary_records(rng, N)
    null = record(call, X, y, null=[K])
    assert len(null.counts) == 1
    assert null.counts[0].dtype == np.int64
    assert null.counts[0].sum() == N - 1
    cells = set()
    for row in ROWS:
        for label in (0, 1):
            X[K], y[K] = row, label
            other = record(call, X, y)
            moved = other.counts[0] - null.counts[0]
            assert sorted(moved[moved != 0]) == [1]
            assert other.log == null.log
            cells.add(int(np.flatnonzero(moved)[0]))
    assert len(cells) > 1


@pytest.mark.long
@for_each("name", NAMES)
@for_each("adjacency", ["zero_out", "replace_one"])
@for_each("delta", [0.0, 1e-5])
def test_noise_serves_the_distance_that_neighbours_have(name, adjacency, delta, rng):
    """L1 1 or 2 for Laplace noise, with which a probability changes by exp(L1 / scale)."""
    X, y = binary_records(rng, N)
    seen = record(calls(epsilon=0.4, delta=delta, adjacency=adjacency)[name], X, y)
    (mechanism,) = seen.mechanisms
    distance = 2.0 if adjacency == "replace_one" else 1.0
    assert isinstance(mechanism, DiscreteLaplaceMechanism)
    assert distance / mechanism.noise_multiplier <= 0.4
    assert distance / mechanism.noise_multiplier > 0.4 * (1 - 1e-9)
    report = seen.result.report
    assert report.epsilon == pytest.approx(0.4)
    assert report.adjacency == adjacency


@pytest.mark.parametrize("name", NAMES)
def test_given_the_counts_all_records_look_the_same(name, rng):
    """Results, warnings and draws follow from what was released and public numbers alone."""
    call = calls(epsilon=1.0)[name]
    X, y = binary_records(rng, N)
    base = record(call, X, y)
    for rows, labels in ((np.zeros_like(X), 0 * y), (X[::-1] ** 3, 1 - y), (0 * X + np.nan, y)):
        other = record(call, rows, labels, script=base.released)
        assert other.log == base.log
        assert outcome(other.result) == outcome(base.result)


@pytest.mark.parametrize("name", NAMES)
def test_null_records_are_in_no_cell_whatever_they_were(name, rng):
    call = calls(epsilon=1.0)[name]
    X, y = binary_records(rng, N)
    base = record(call, X, y, null=[0, K])
    X[K], y[K], X[0] = 1e308, 1 - y[K], math.nan
    other = record(call, X, y, null=[0, K])
    np.testing.assert_array_equal(base.counts[0], other.counts[0])


def test_fractions_of_counts_never_reach_a_release(rng):
    X, y = binary_records(rng, N)
    for name in CLASSIFICATION:
        assert record(calls(epsilon=1.0)[name], X, y).counts[0].dtype.kind == "i"
