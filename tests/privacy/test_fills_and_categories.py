"""Imputers and encoders on neighbouring data: what a record moves, and what else it may change."""

import itertools
import math
import pickle
import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone

from skdp.exceptions import PrivacyWarning
from tests.privacy._corners import ENTRIES_OF_A_RANGE
from tests.privacy._recipes import IMPUTERS, SEARCHES
from tests.privacy._recorded import record

pytestmark = pytest.mark.filterwarnings("ignore::skdp.exceptions.PrivacyWarning")
ADJACENCIES = ("zero_out", "replace_one")
NAN = np.nan
OTHERS = np.array([[0.1, -0.7], [NAN, 0.2], [-1.0, NAN], [5.0, 1.0], [0.3, 0.3]])
# What a record moves in units of its bound, at most and at least at one of the corners: a record
# of full size that is nulled, and two of opposite size. Whole and opposite counts are sqrt(2)
# apart, which their bound has inside.
REACHED = {("mean", "replace_one"): 2.0, ("median", "replace_one"): 2.0}


def published(fitted):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        return pickle.dumps(fitted)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("name", IMPUTERS)
def test_no_record_moves_a_release_further_than_its_bound_and_some_as_far(name, adjacency):
    """All records of two columns, against each other and against none; the rest stays the same."""
    estimator = clone(IMPUTERS[name]).set_params(adjacency=adjacency)
    data = [np.vstack([OTHERS, row]) for row in itertools.product(ENTRIES_OF_A_RANGE, repeat=2)]
    base, *rest = record(estimator, data[0])
    runs = [record(estimator, X, script=rest[1]) for X in data]
    runs.append(record(estimator, data[0], script=rest[1], null=len(OTHERS)))
    none = runs[-1]
    pairs = (
        itertools.combinations(runs, 2) if adjacency == "replace_one" else ((r, none) for r in runs)
    )
    reach = 0.0
    for (one, values, _, mechanisms), (other, moved, _, _) in pairs:
        assert published(one) == published(other)
        for value, of_other, mechanism in zip(values, moved, mechanisms, strict=True):
            distance = np.linalg.norm(value - of_other) / mechanism.contribution_bound
            reach = max(reach, distance)
    most = REACHED.get((name, adjacency), 1.0)
    assert reach == pytest.approx(most, rel=1e-12)
    assert len(base.privacy_report_.events) == 1
    (event,) = base.privacy_report_.events
    assert event.n_steps == len(rest[0])
    assert event.pairwise == (adjacency == "replace_one" and name == "listed")


@pytest.mark.parametrize("name", IMPUTERS)
def test_given_the_releases_all_data_look_the_same(name):
    rng = np.random.default_rng(0)
    X = np.round(rng.uniform(-1.5, 1.5, (60, 2)), 1)
    unrelated = np.where(rng.random((60, 2)) < 0.7, NAN, 100.0 * X[::-1] ** 3)
    fitted, _, released, _ = record(IMPUTERS[name], X)
    for other in (unrelated, np.full_like(X, NAN), np.zeros_like(X), np.ones_like(X)):
        again, values, _, _ = record(IMPUTERS[name], other, script=released)
        assert len(values) == len(released)
        assert published(fitted) == published(again)


COMMON = [["a", 1.0]] * 40 + [["b", 2.0]] * 30 + [["a", None]] * 25
RECORDS = (["a", 1.0], ["b", None], ["new", 1.0], ["a", 3.5], ["new", -1.0], [None, None])


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("name", SEARCHES)
def test_a_category_of_one_record_changes_nothing_but_a_count_below_the_threshold(name, adjacency):
    """Given the other counts' releases, and that its own stays below the threshold."""
    estimator = clone(SEARCHES[name]).set_params(adjacency=adjacency)
    noise = np.random.default_rng(0).normal(size=40)

    def answer(value):
        """All others' counts as they are without the record, in their order."""
        others = iter(40.0 + noise)
        return np.array([next(others) + 100.0 if count > 2 else 0.9 for count in value])

    runs = []
    for row in RECORDS:
        X = np.array([*COMMON, row], dtype=object)
        runs.append(record(estimator, X, answer=answer))
    runs.append(record(estimator, X, answer=answer, null=len(COMMON)))
    first = runs[0]
    for fitted, values, _, mechanisms in runs[1:]:
        assert published(fitted) == published(first[0])
        assert mechanisms == first[3]
        assert len(values) == 1
    largest = max(
        _distance(one, other)
        for one, other in (
            itertools.combinations(runs, 2)
            if adjacency == "replace_one"
            else ((run, runs[-1]) for run in runs)
        )
    )
    assert largest <= first[3][0].contribution_bound * (1 + 1e-12)
    # Of counts that both have, two move: one record's in each column, or with the other's four.
    moved = {"zero_out": 2, "replace_one": 4}[adjacency] if name != "imputer" else None
    assert moved is None or largest == pytest.approx(math.sqrt(moved))


def _distance(run, other):
    """Between counts of categories that many records are in."""
    value, moved = (np.array([c for c in found[1][0] if c > 2]) for found in (run, other))
    return np.linalg.norm(value - moved)


@pytest.mark.parametrize("name", ["encoder", "imputer"])
def test_a_category_of_no_record_or_of_a_null_one_is_never_published(name):
    """However large the noise: as what is released is at least 1000, all that are there show."""
    X = np.array([*COMMON, ["secret", 77.0]], dtype=object)
    fitted, *_ = record(SEARCHES[name], X, answer=lambda value: 1000.0 + value, null=len(COMMON))
    assert b"secret" not in published(fitted)
    fitted, *_ = record(SEARCHES["encoder"], X, answer=lambda value: 1000.0 + value)
    assert b"secret" in published(fitted)


TRANSCRIPTS = [*IMPUTERS.values(), SEARCHES["encoder"]]


@pytest.mark.long
@pytest.mark.parametrize("estimator", TRANSCRIPTS, ids=["mean", "median", "listed", "encoder"])
def test_the_noise_is_the_one_reported_and_fresh_for_every_entry(estimator):
    """Of 200 unseeded fits; a p-value below 1e-9 is chance in one of a million suites."""
    X = np.vstack([OTHERS] * 3)
    noises = []
    for _ in range(200):
        _, values, released, mechanisms = record(estimator, X, random_state=None)
        for value, out, mechanism in zip(values, released, mechanisms, strict=True):
            assert mechanism.noise_scale >= mechanism.noise_multiplier * mechanism.sensitivity
            noises.append((out - np.rint(value / mechanism.grid) * mechanism.grid).ravel())
            noises[-1] /= mechanism.noise_scale
    noise = np.stack(noises)
    assert stats.kstest(noise.ravel(), "norm").pvalue > 1e-9
    assert stats.spearmanr(noise[:, :-1].ravel(), noise[:, 1:].ravel()).pvalue > 1e-9
    assert stats.spearmanr(noise[:-1].ravel(), noise[1:].ravel()).pvalue > 1e-9


def test_an_encoder_and_an_imputer_of_one_seed_share_no_noise():
    X = np.vstack([OTHERS] * 3)
    noises = []
    for estimator in (SEARCHES["encoder"], IMPUTERS["listed"]):
        _, (value,), (out,), (mechanism,) = record(estimator, X)
        noises.append(np.round((out - value) / mechanism.noise_scale, 4))
    assert not np.isin(*noises).any()
