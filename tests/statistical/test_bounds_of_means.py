"""The bounds that convict transcripts are wrong as rarely as stated, and are their sources'."""

import math

import numpy as np
import pytest
from scipy.special import rel_entr
from scipy.stats import binom

from tests.statistical import _transcripts
from tests.statistical._transcripts import bounds_of_mean


@pytest.mark.parametrize("n", [10, 120])
def test_bounds_of_coins_are_wrong_as_rarely_as_stated(n, monkeypatch):
    """Exactly, at error rates that coins come near to and at the one that is used."""
    heads = np.arange(n + 1)
    samples = (heads[:, np.newaxis] > np.arange(n)).astype(float)
    for rate in (0.1, 1e-3, _transcripts.ERROR_RATE):
        monkeypatch.setattr(_transcripts, "ERROR_RATE", rate)
        low, high = np.array([bounds_of_mean(sample) for sample in samples]).T
        assert (np.diff(low) >= -1e-9).all()
        assert (np.diff(high) >= -1e-9).all()
        for chance in np.linspace(0.02, 0.98, 25):
            law = binom.pmf(heads, n, chance)
            assert law[low > chance].sum() <= rate
            assert law[high < chance].sum() <= rate


def test_bounds_of_numbers_that_are_nearly_alike_are_bernsteins():
    values = 0.5 + 1e-3 * np.linspace(-1.0, 1.0, 4000)
    log_term = math.log(4.0 / _transcripts.ERROR_RATE)
    margin = math.sqrt(2.0 * values.var(ddof=1) * log_term / 4000) + 7.0 * log_term / (3.0 * 3999)
    low, high = bounds_of_mean(values)
    assert low == pytest.approx(0.5 - margin, abs=1e-12)
    assert high == pytest.approx(0.5 + margin, abs=1e-12)


@pytest.mark.parametrize("n", [50, 4000])
def test_no_bound_is_short_of_hoeffdings_by_rounding(n):
    allowed = math.log(2.0 / _transcripts.ERROR_RATE) / n
    for mean in np.linspace(0.0, 1.0, 201):
        for end in (0.0, 1.0):
            q = _transcripts._furthest(mean, end, allowed)
            divergence = rel_entr(mean, q) + rel_entr(1.0 - mean, 1.0 - q)
            assert q == end or divergence > allowed


@pytest.mark.parametrize("width", [1.0, 7.0])
def test_bounds_of_few_heads_are_hoeffdings(width):
    """At no head of n the upper one is where (1 - q)^n is the error, and the lower one is 0."""
    low, high = bounds_of_mean(np.zeros(50), width=width)
    assert low == 0.0
    assert high == pytest.approx(width * (1.0 - (_transcripts.ERROR_RATE / 2.0) ** (1 / 50)))
    low, high = bounds_of_mean(np.full(50, width), width=width)
    assert low == pytest.approx(width * (_transcripts.ERROR_RATE / 2.0) ** (1 / 50))
    assert high == width
