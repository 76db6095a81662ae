"""Counts of scores by bin with places within, and the sigmoid that follows from them."""

import itertools

import numpy as np
import pytest
from scipy.special import expit, logit

from skdp.calibration import DPCalibratedClassifier
from skdp.linear_model import DPLogisticRegression
from tests._loops import for_each
from tests.door import (
    BinnedScores,
    CountsAndPlaces,
    ScoredRows,
    fit_sigmoid,
    noise_of_counts,
    place_scores,
    typical_values,
)

NO_NOISE = None
N_BINS = 3
# Every row that there is on a grid of eighths.
ROWS = list(itertools.product([False, True], range(N_BINS), np.arange(9) / 8))


def released(rows, rows_of_record=1):
    """Return the exact answer of some rows, and the query."""
    query = CountsAndPlaces(N_BINS, NO_NOISE, rows_of_record)
    columns = zip(*rows, strict=True) if rows else ([], [], [])
    arrays = (np.array(c, dtype=t) for c, t in zip(columns, (bool, int, float), strict=True))
    return ScoredRows(*arrays).ask(query), query


def test_no_row_and_no_pair_moves_counts_and_places_by_more_than_is_stated():
    none, query = released([])
    of_rows = np.array([released([row])[0] - none for row in ROWS])
    lengths = np.linalg.norm(of_rows, axis=1)
    apart = np.linalg.norm(of_rows[:, np.newaxis] - of_rows, axis=2)
    # Both are reached.
    assert lengths.max() == pytest.approx(query.record_bound(None), rel=1e-12)
    assert apart.max() == pytest.approx(query.pair_bound(None), rel=1e-12)


def test_no_person_of_two_rows_moves_them_by_more_than_is_stated():
    none, query = released([], rows_of_record=2)
    some = ROWS[::2]
    of_people = np.array(
        [released(pair)[0] - none for pair in itertools.combinations_with_replacement(some, 2)]
    )
    lengths = np.linalg.norm(of_people, axis=1)
    apart = [np.linalg.norm(of_people - one, axis=1).max() for one in of_people]
    assert lengths.max() == pytest.approx(query.record_bound(None), rel=1e-12)
    assert max(apart) == pytest.approx(query.pair_bound(None), rel=1e-12)


def test_sums_of_places_are_exact_in_any_order():
    rng = np.random.default_rng(0)
    values = 10.0 * rng.standard_normal(10_000)
    rows = place_scores(values, rng.random(10_000) < 0.3, 7)
    query, order = CountsAndPlaces(7, NO_NOISE), rng.permutation(10_000)
    shuffled = ScoredRows(*(of_rows[order] for of_rows in rows))
    np.testing.assert_array_equal(rows.ask(query), shuffled.ask(query))


@for_each("value", [-np.inf, -800.0, -3.0, 0.0, 1e-9, 800.0, np.inf, np.nan])
def test_each_value_is_in_a_bin_and_between_its_ends(value):
    rows = place_scores(np.array([value]), np.array([True]), 6)
    assert 0 <= rows.bin[0] < 6
    assert 0.0 <= rows.place[0] <= 1.0


def scores_of(values, p, n_bins):
    """Return what is expected of many rows with such values and probabilities."""
    rows = place_scores(values, np.zeros(values.size, dtype=bool), n_bins)
    query = CountsAndPlaces(n_bins, NO_NOISE)
    answer = rows.ask(query)
    assert answer.size == query.size_of(n_bins)
    scores, positive = query.by_bin(answer), np.bincount(rows.bin, p, n_bins)
    return scores._replace(negative=scores.negative - positive, positive=positive)


@for_each("value", [-2.0, -0.4, 0.7])
def test_the_typical_value_is_where_the_records_are(value):
    scores = scores_of(np.full(1000, value), np.full(1000, 0.2), 6)
    place = place_scores(np.array([value]), np.array([True]), 6)
    middles = 2.0 * logit((np.arange(6) + 0.5) / 6)
    exact = typical_values(scores, 0.0)
    assert exact[place.bin[0]] == pytest.approx(value, abs=0.05)
    # There are no records elsewhere, and noise doesn't say where these would be.
    elsewhere = np.arange(6) != place.bin[0]
    np.testing.assert_allclose(exact[elsewhere], middles[elsewhere])
    # The noise of a place is four times that of a count.
    stds = 30.0 * np.array([[1.0], [1.0], [4.0], [4.0]])
    noise = stds * np.random.default_rng(0).standard_normal((200, 4, 6))
    noisy = [typical_values(BinnedScores(*(np.array(scores) + one)), 30.0) for one in noise]
    off = expit(0.5 * np.array(noisy)) - expit(0.5 * middles)
    # In units of half a bin. A place that is believed as it is would be anywhere in the bin.
    assert 12.0 * np.sqrt(np.mean(off[:, elsewhere] ** 2)) < 0.12
    # What hardly anybody is in is in the middle, as far as is known.
    hidden = typical_values(scores, 1e6)
    np.testing.assert_allclose(hidden, middles, atol=1e-3)


def test_the_place_is_the_most_likely_one():
    # Of 100 rows that add up to 80 at the high end, with a noise of 10 of counts and 40 of places.
    scores = BinnedScores(*np.array([[60.0], [40.0], [20.0], [80.0]]))
    place = 100.0 * 60.0 / (100.0**2 + 3.0 * 2.0 * 40.0**2)
    assert expit(0.5 * typical_values(scores, 10.0)) == pytest.approx(0.5 + 0.5 * place)


def test_values_at_an_end_are_a_number():
    at_end = scores_of(np.array([-1e9, 1e9]), np.array([0.5, 0.5]), 6)
    position = 6.0 * expit(0.5 * typical_values(at_end, 0.0)[[0, -1]])
    np.testing.assert_allclose(position, [0.025, 5.975])


@for_each("mean", [-3.0, -2.4, 0.3])
@for_each("slope", [0.6, 1.0])
def test_a_few_bins_bend_neither_the_slope_nor_the_mean_risk(slope, mean):
    """Eight bins have all records in two or three. From middles slopes are .6 to .75 of these."""
    values = np.random.default_rng(0).normal(mean, 0.5, 50_000)
    p = expit(slope * (values - mean) + mean)
    scores = scores_of(values, p, 8)
    typical = typical_values(scores, 0.0)
    found, offset = fit_sigmoid(scores.negative, scores.positive, typical, 0.0)
    assert found == pytest.approx(slope, rel=0.08)
    # A bin's records aren't all at their mean place, and a rare risk is convex.
    assert expit(found * values + offset).mean() == pytest.approx(p.mean(), rel=0.04)


@for_each("adjacency", ["zero_out", "replace_one"])
@for_each("n_outputs", [1, 3])
@for_each("counted", [{}, {"rows_per_group": 3}])
def test_bins_follow_the_noise_of_the_plan(counted, n_outputs, adjacency):
    model = calibrated(n_outputs, adjacency=adjacency, **counted)
    plan = model._plan(50_000, 4, n_outputs, by_group=bool(counted))
    rows = counted.get("rows_per_group", 1)
    foreseen = noise_of_counts(plan.budget, 0.1, n_outputs, rows)
    assert foreseen == pytest.approx(plan.mechanism.noise_std, rel=1e-3)
    assert plan.n_bins == round((50_000 / plan.mechanism.noise_std) ** 0.4) > 8


@for_each("adjacency", ["zero_out", "replace_one"])
@for_each("n_outputs", [1, 3])
def test_rows_of_a_person_follow_the_noise_of_the_plan(n_outputs, adjacency):
    plan = calibrated(n_outputs, adjacency=adjacency)._plan(1500, 4, n_outputs, by_group=True)
    # As many as leave the noise of a count below a tenth of the people, two at least.
    assert 2 < plan.rows_per_group < 16
    noise_of_row = plan.mechanism.noise_std / plan.rows_per_group
    assert plan.rows_per_group == int(0.1 * 1500 / noise_of_row)


def calibrated(n_outputs, **settings):
    """Return a calibrated classifier of so many columns of labels."""
    classes = list(range(max(n_outputs, 2)))
    return DPCalibratedClassifier(DPLogisticRegression(classes=classes), **settings)
