import os
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from tests.door import SecureStream, SeededStream, make_stream, plan_module as _base

# Statistical tests on secure streams can't be seeded. Each rejects below this p-value.
P_VALUE = 1e-9


def test_an_int_seeds_a_reproducible_stream():
    first, second = make_stream(7), make_stream(7)
    assert first.reproducible
    np.testing.assert_array_equal(first.normal((3, 4)), second.normal((3, 4)))
    np.testing.assert_array_equal(first.uniform(5), second.uniform(5))
    assert not np.array_equal(make_stream(7).normal(5), make_stream(8).normal(5))


def test_a_random_state_gives_a_seed_and_moves_on():
    state = np.random.RandomState(3)
    first, second = make_stream(state), make_stream(state)
    again = make_stream(np.random.RandomState(3))
    assert first.reproducible
    values = first.normal(4)
    np.testing.assert_array_equal(values, again.normal(4))
    assert not np.array_equal(values, second.normal(4))


def test_a_random_state_gives_all_its_seed_bits():
    words = make_stream(np.random.RandomState(3))._seed_sequence.entropy
    assert len(set(words)) == 8


def test_none_ignores_numpys_global_state():
    draws = []
    for _ in range(2):
        np.random.seed(0)
        stream = make_stream(None)
        assert isinstance(stream, SecureStream)
        assert not stream.reproducible
        draws.append(np.concatenate([stream.normal(4), stream.uniform(4)]))
    assert not np.isin(draws[0], draws[1]).any()


@pytest.mark.parametrize("random_state", [0, None])
def test_spawned_streams_differ(random_state):
    parent = make_stream(random_state)
    streams = [parent, *parent.spawn(3)]
    draws = np.concatenate([stream.normal(100) for stream in streams])
    assert np.unique(draws).size == draws.size


def test_no_normal_is_handed_out_twice():
    stream = make_stream(0)
    pieces = [stream.normal(size).copy() for size in [5, 8000, 300, 9000, 2, 8192, 1]]
    draws = np.concatenate(pieces)
    assert np.unique(draws).size == draws.size


def test_what_a_caller_writes_into_a_draw_stays_with_the_caller():
    spoilt, clean = make_stream(0), make_stream(0)
    spoilt.normal(10)[:] = np.nan
    clean.normal(10)
    np.testing.assert_array_equal(spoilt.normal(10), clean.normal(10))


@pytest.mark.parametrize("make", [lambda: SeededStream(np.random.SeedSequence(0)), SecureStream])
def test_normals_are_normal_with_both_tails(make):
    draws = make().normal(400_000)
    assert stats.kstest(draws, "norm").pvalue > P_VALUE
    for threshold in (2.0, 3.0, 4.0):
        for tail in (draws > threshold, draws < -threshold):
            test = stats.binomtest(int(tail.sum()), draws.size, stats.norm.sf(threshold))
            assert test.pvalue > P_VALUE


@pytest.mark.parametrize("make", [lambda: SeededStream(np.random.SeedSequence(0)), SecureStream])
def test_uniforms_are_uniform_and_never_zero(make):
    draws = make().uniform(400_000)
    assert stats.kstest(draws, "uniform").pvalue > P_VALUE
    assert draws.min() > 0.0
    assert draws.max() <= 1.0


def test_secure_uniforms_have_full_precision_near_zero():
    """Words with many leading zeros get further bits: the last bits of their doubles vary."""
    stream = SecureStream()
    uniforms = stream._dense_uniform(np.full(1000, 5, dtype=np.uint64))
    assert np.unique(uniforms).size == 1000
    assert uniforms.min() >= 5 * 2.0**-64
    assert uniforms.max() <= 6 * 2.0**-64
    assert stream._dense_uniform(np.zeros(1, dtype=np.uint64))[0] > 0.0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_process_gets_other_secure_normals():
    stream = SecureStream()
    stream.normal(1)
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write_end, stream.normal(4).tobytes())
        os._exit(0)
    os.waitpid(child, 0)
    from_child = np.frombuffer(os.read(read_end, 32))
    os.close(read_end)
    os.close(write_end)
    assert not np.isin(from_child, stream.normal(4)).any()


@pytest.mark.parametrize("shape", [1, 2, 90])
@pytest.mark.parametrize("make", [lambda: SeededStream(np.random.SeedSequence(0)), SecureStream])
def test_gammas_have_their_law_in_both_tails(make, shape):
    stream = make()
    draws = np.array([stream.gamma(shape) for _ in range(20_000)])
    law = stats.gamma(shape)
    assert stats.kstest(draws, law.cdf).pvalue > P_VALUE
    for tail in (1e-2, 1e-3):
        for beyond in (draws < law.ppf(tail), draws > law.isf(tail)):
            assert stats.binomtest(int(beyond.sum()), draws.size, tail).pvalue > P_VALUE


def test_keys_give_streams_of_their_own():
    streams = [make_stream(7), *make_stream(7).spawn(2)]
    streams += [make_stream(7, key=(2, call)) for call in range(1, 4)]
    streams += [make_stream(7, key=(2, 1)).spawn(2)[0], make_stream(None, key=(2, 1))]
    draws = np.concatenate([stream.normal(50).copy() for stream in streams])
    assert np.unique(draws).size == draws.size
    again = make_stream(7, key=(2, 3)).normal(5)
    np.testing.assert_array_equal(again, make_stream(7, key=(2, 3)).normal(5))


def test_each_use_of_a_seed_has_a_key_of_its_own():
    keys = [key for name, key in vars(_base).items() if name.endswith("_KEY")]
    assert len(set(keys)) == len(keys) >= 6
    assert min(keys) >= 2
    for path in Path(_base.__file__).parents[1].rglob("*.py"):
        # Numbers are given to names in one place.
        assert not re.search(r"key\b[^=\n]*=\s*\(\d", path.read_text(encoding="utf-8")), path.name


@pytest.mark.long
@pytest.mark.parametrize("random_state", [0, None])
def test_words_have_64_even_bits(random_state):
    stream = make_stream(random_state)
    words = stream.words(20_000)
    assert words.dtype == np.uint64
    bits = (words[:, np.newaxis] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    for count in bits.sum(axis=0):
        assert stats.binomtest(int(count), words.size).pvalue > P_VALUE / 64
    again = make_stream(random_state).words(20_000)
    assert np.array_equal(words, again) == stream.reproducible
    assert not np.isin(words, stream.words(20_000)).any()


@pytest.mark.parametrize("make", [lambda: SeededStream(np.random.SeedSequence(0)), SecureStream])
@pytest.mark.parametrize("end", [1, 7, 8, 2**53 + 1])
def test_whole_numbers_are_all_equally_likely(make, end):
    drawn = make().integers(end, 40_000)
    assert drawn.dtype == np.int64
    assert 0 <= drawn.min() <= drawn.max() < end
    if 1 < end < 10:
        assert stats.chisquare(np.bincount(drawn, minlength=end)).pvalue > P_VALUE
    elif end > 10:
        assert stats.kstest(drawn / end, "uniform").pvalue > P_VALUE
        assert stats.chisquare(np.bincount(drawn % 8, minlength=8)).pvalue > P_VALUE
