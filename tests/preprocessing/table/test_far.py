"""Numbers that are far from 0 over their width keep their knots and have no others."""

import numpy as np
import pandas as pd
import pytest

from skdp.preprocessing import DPTableVectorizer
from skdp.statistics import describe

N = 10_000
RNG = np.random.default_rng(0)
# Each has about a hundred numbers or a width of about a hundred.
WIDE = {
    "whole": RNG.integers(18, 90, N).astype(float),
    "smooth": RNG.gamma(9.0, 6.0, N),
    "around": RNG.normal(0.0, 20.0, N),
}
# Also both sides of a power of two, a multiple of many, and no round number.
OFFSETS = [1e5, -(2.0**16), 1e6, -1234567.875, 2.0**23, 1e7, 1.6e7, 2.0**24]


def with_gap_and_spike(x, offset):
    """A tenth are gaps, and a third of the others one number, at 0 or within."""
    x = np.where(RNG.random(N) < 1 / 3, 0.0 if offset > 0 else offset + 50.0, x)
    return np.where(RNG.random(N) < 0.1, np.nan, x)


def assert_even(x, term):
    """Knots lie where the records do, in shares of these that are about equal."""
    x = np.sort(x[~np.isnan(x) & (x != term.spike)])
    ranks = np.searchsorted(x, term.knots) / x.size
    assert term.kind == "hats"
    assert term.knots.size >= 4
    assert ranks[0] < 0.12
    assert ranks[-1] > 0.88
    assert np.diff(ranks).max() < 2.5 / (term.knots.size - 1)
    width = np.ptp(x)
    assert x[0] - 0.3 * width < term.knots[0] < term.knots[-1] < x[-1] + 0.3 * width


@pytest.mark.long
@pytest.mark.parametrize("epsilon", [1.0, 4.0, float("inf")])
@pytest.mark.parametrize("name", WIDE)
def test_knots_follow_the_records_at_any_offset(name, epsilon):
    X = pd.DataFrame({str(offset): offset + WIDE[name] for offset in OFFSETS})
    fitted = DPTableVectorizer(epsilon=epsilon, random_state=0).fit(X)
    for j, term in enumerate(fitted._basis.terms):
        assert_even(X.iloc[:, j].to_numpy(), term)


@pytest.mark.parametrize("offset", OFFSETS)
def test_gaps_and_numbers_of_many_records_are_told_far_from_zero_too(offset):
    x = with_gap_and_spike(offset + WIDE["smooth"], offset)
    (term,) = DPTableVectorizer(random_state=0).fit(pd.DataFrame({"x": x}))._basis.terms
    assert term.spike == (0.0 if offset > 0 else offset + 50.0)
    assert term.has_gap
    assert_even(x, term)


def test_knots_follow_the_records_within_bounds_that_are_much_too_wide():
    X = pd.DataFrame({"x": 3e5 + WIDE["smooth"]})
    fitted = DPTableVectorizer(feature_bounds={"x": (-1e6, 1e7)}, random_state=0).fit(X)
    assert_even(X["x"].to_numpy(), fitted._basis.terms[0])


@pytest.mark.long
@pytest.mark.parametrize(("n_fits", "largest"), [(3, 5), (10, 7)])
def test_no_knot_is_noise(n_fits, largest):
    """In 200 columns less than one bin of noise is expected; eight are chance in a million.

    So are six in 60 columns.
    """
    X = pd.DataFrame({f"x{j}": 1.6e7 + WIDE["whole"] for j in range(20)})
    n_far = 0
    for seed in range(n_fits):
        fitted = DPTableVectorizer(epsilon=20.0, random_state=seed).fit(X)
        for knots in fitted.knots_.values():
            assert knots.size > 2
            n_far += knots[0] < 1.6e7 - 50 or knots[-1] > 1.6e7 + 150
    assert n_far <= largest


@pytest.mark.parametrize("offset", [0.0, *OFFSETS])
def test_descriptions_are_right_at_any_offset(offset):
    x = offset + WIDE["smooth"]
    found = describe(pd.DataFrame({"x": x}), epsilon=1.0, random_state=0).to_frame().loc["x"]
    width = x.std()
    assert abs(found["mean"] - x.mean()) < 0.05 * width
    assert abs(found["std"] - width) < 0.05 * width
    for share in (0.25, 0.5, 0.75):
        name = f"{100 * share:g}%"
        assert abs(found[name] - np.quantile(x, share)) < 0.4 * width
        assert found[f"{name}_low"] <= np.quantile(x, share) <= found[f"{name}_high"]


@pytest.mark.long
def test_what_noise_shows_far_out_is_no_end_of_a_column():
    # Noise leaves an end far out in six of a million columns, so in three of these by a chance of
    # 1.3e-7. It did in one of 150: a bin reached from there to a few large or small numbers.
    rng = np.random.default_rng(0)
    shape = 300, 1500
    x = np.where(rng.random(shape) < 0.05, rng.lognormal(3.0, size=shape), rng.normal(40, 6, shape))
    found = describe(pd.DataFrame(x).add_prefix("x"), epsilon=60.0, delta=1e-6, random_state=0)
    assert np.max(x) < 1e4
    assert sum(np.abs(column.ends).max(initial=0.0) > 1e5 for column in found.columns) <= 2


@pytest.mark.parametrize("bounds", [(33.310843, 1.7e6), (1 / 3, 1e6), (0.0, 2.0**20)])
def test_knots_follow_the_records_within_bounds_that_are_not_round(bounds):
    x = np.random.default_rng(0).lognormal(8.0, 1.0, N)
    X = pd.DataFrame({"x": np.clip(x, *bounds)})
    model = DPTableVectorizer(epsilon=0.1, feature_bounds={"x": bounds}, random_state=0).fit(X)
    knots = model._basis.terms[0].knots
    assert knots.size >= 4
    assert knots[-1] < np.quantile(x, 0.999)
    assert np.median(x) > knots[1]
