"""Queries to tables, columns, cells and labels keep the bounds that they state, too."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from skdp.additive import DPAdditiveClassifier
from skdp.linear_model import DPLogisticRegression, DPRidge
from skdp.preprocessing import DPTableVectorizer
from tests._loops import for_each
from tests.door import (
    Balances,
    Cells,
    CountedColumns,
    CountedEntries,
    CountsBelow,
    CountsByBin,
    CountsByCategory,
    CountsByCell,
    CountsByClass,
    CountsByWord,
    Frame,
    LabelledRows,
    MomentsOfNumbers,
    PublicRows,
    SecondMoment,
    SumOfConstants,
    SumsAndGaps,
    SumsByLabel,
    SumsOfMoments,
    WeighedTargets,
    Weights,
    Words,
    adapted_coordinates,
    clip_rows,
    linear_edges,
    null_records,
    read_frame,
    weigh,
)

# There is noise, so that what isn't bounded is cut; but no answer is rounded.
MECHANISM = SimpleNamespace(grid=0.0, rounded=lambda total: total, noise_multiplier=1.0)
OTHERS = np.random.default_rng(1).normal(size=(60, 2)) * [1.0, 3.0]
LOW, HIGH = np.array([-2.0, 0.0]), np.array([2.0, 5.0])
MIDDLE, HALF = 0.5 * LOW + 0.5 * HIGH, 0.5 * HIGH - 0.5 * LOW
# Numbers of a record: at ends of ranges, beyond them, none, in the middle and next to an end.
NUMBERS = [LOW, HIGH, -HIGH, MIDDLE, np.array([np.nan, 5.0]), np.array([1e-300, 2.5])]
NUMBERS += [np.full(2, number) for number in (1e300, -1e300, np.nan)]
ENDS = [np.array([-2.0, 0.0, 1.0]), np.array([0.0, 1e-300, 5.0])]
# A record has such a part in each of three bins of the first column, see `_release_fine`.
PARTS_OF_NARROW = [9.0 / 16.0, 1.0, 9.0 / 16.0, 9.0 / 16.0]
ENTRIES = ["7", 1.5, "many", None, "2024-01-31", "007", math.inf]
WORDS = ("a", "b", np.nan)
WEIGHTS = weigh(np.linspace(0.1, 2.0, len(OTHERS) + 1)[::-1])


def table(columns, kind, n_rows, groups=None):
    return Frame(("x", "y"), (kind, kind), (), tuple(columns), n_rows, groups)


def of_numbers(x):
    return table(np.vstack([x, OTHERS]).T, "numeric", len(OTHERS) + 1)


def of_people(rows):
    """Return a table in which the first person has these rows, and others have three."""
    groups = np.r_[np.zeros(len(rows), int), 1 + np.arange(len(OTHERS)) // 3]
    return table(np.vstack([rows, OTHERS]).T, "numeric", len(groups), groups)


def of_entries(entry):
    X = np.empty((len(ENTRIES) + 1, 2), dtype=object)
    X[:, 0] = X[:, 1] = [entry, *ENTRIES]
    return read_frame(DPTableVectorizer(), X, reset=True)


def of_words(codes, *, by_person=False):
    """Return a table whose first person, or no row, has words of such numbers."""
    column = Words(np.array([*codes, 0, 1, 2]), WORDS)
    groups = np.array([*[0] * len(codes), 1, 2, 3]) if by_person else None
    return table([column, column], "word", len(codes) + 3, groups)


def of_columns(x):
    return CountedColumns(np.vstack([x, OTHERS]))


def of_targets(target, weights):
    n_rows, k = len(OTHERS) + 1, len(target)
    others = np.where(np.arange(n_rows - 1)[:, np.newaxis] % k == np.arange(k), 1.0, -1.0)
    rows = SimpleNamespace(counted=lambda parts: parts)
    return WeighedTargets(np.vstack([target, others]), weights, rows)


def of_label(n_classes):
    """Return functions of labels and of the query, for rows of which the first is the longest."""
    X = np.vstack([[3.0, -4.0], 0.9 * OTHERS / np.abs(OTHERS).max()])
    rows = PublicRows(clip_rows(X, data_norm=5.0, fit_intercept=True, bias=1.0))

    def place(label):
        codes = np.r_[label, np.arange(len(OTHERS)) % n_classes]
        shown = np.arange(1 if n_classes == 2 else 0, n_classes)
        return LabelledRows(rows, np.where(np.equal.outer(codes, shown), 1.0, -1.0))

    return rows, place


def signs(k):
    return [np.array(one) for one in np.ndindex(*(2,) * k)]


def released(query, place):
    """Return the array that a run would add noise to."""
    arrays = []
    query.noisy(place.ask(query), lambda array: arrays.append(array) or array)
    return np.asarray(arrays[0], dtype=np.float64)


def without_first(place, n_rows=1):
    """Return what asks a table whose first rows are null records."""

    def ask(query):
        with null_records(np.arange(n_rows)):
            return place.ask(query)

    return SimpleNamespace(ask=ask)


def of_table(make, records):
    """Return a table without a record, and with one of several."""
    n_rows = np.atleast_2d(records[0]).shape[0] if make is of_people else 1
    return [without_first(make(records[0]), n_rows), *map(make, records)]


PEOPLE = [np.tile(x, (5, 1)) for x in NUMBERS] + [np.array(NUMBERS[:5]), np.array(NUMBERS[4:])]
# Of each case a query, and places of which the first is without the record.
CASES = {
    "bins": (
        CountsByBin([0, 1], [None, (0.0, 5.0)], ENDS, 0.0, [1.0, 1.0], MECHANISM),
        of_table(of_numbers, NUMBERS),
    ),
    "narrow bins": (
        CountsByBin([0, 1, 0, 0], [None] * 4, [*ENDS, *ENDS], 0.0, PARTS_OF_NARROW, MECHANISM),
        of_table(of_numbers, NUMBERS),
    ),
    "bins of people": (
        CountsByBin([0, 1], [None, None], ENDS, 2.0**-20, [1.0, 1.0], MECHANISM),
        of_table(of_people, PEOPLE),
    ),
    "classes of entries": (CountsByClass([0, 1], MECHANISM), of_table(of_entries, ENTRIES)),
    "words": (
        CountsByWord([None, None], -math.inf, MECHANISM, [0, 1]),
        [of_words([]), *(of_words([code]) for code in range(3))],
    ),
    "words of people": (
        CountsByWord([None, None], -math.inf, MECHANISM, [0, 1]),
        [
            of_words([], by_person=True),
            *(of_words(codes, by_person=True) for codes in ([0] * 9, [0, 1, 2], [2, 2, 1], [1])),
        ],
    ),
    "categories": (
        CountsByCategory([["a", "b"], None], -math.inf, MECHANISM),
        [
            CountedEntries([[*own, "a", "b", "c"], [*own, "a", "b", "c"]])
            for own in ([], ["a"], ["b"], ["c"])
        ],
    ),
    "thresholds": (
        CountsBelow(linear_edges(LOW, HIGH), MECHANISM),
        [CountedColumns(OTHERS), *map(of_columns, NUMBERS[:6])],
    ),
    "moments": (
        SumsOfMoments(MIDDLE, HALF, MECHANISM),
        [CountedColumns(OTHERS), *map(of_columns, NUMBERS)],
    ),
    "moments of a table": (
        MomentsOfNumbers([0, 1], list(zip(MIDDLE, HALF, strict=True)), MECHANISM),
        of_table(of_numbers, NUMBERS),
    ),
    "sums and gaps": (
        SumsAndGaps(MIDDLE, HALF, MECHANISM),
        [CountedColumns(OTHERS), *map(of_columns, NUMBERS)],
    ),
    "balances": (
        Balances(MIDDLE, MECHANISM),
        [CountedColumns(OTHERS), *map(of_columns, NUMBERS)],
    ),
    "cells": (
        CountsByCell((3, 4), MECHANISM, 2),
        [
            Cells((np.array([*own, 0, 1, 2]), np.array([*own, 3, 2, 1])))
            for own in ([], [0, 0], [1, 1], [0, 2], [2])
        ],
    ),
}


@for_each("name", CASES)
def test_no_record_moves_what_is_released_by_more_than_its_query_states(name):
    query, places = CASES[name]
    without, *with_one = (released(query, place) for place in places)
    check(query, places[0], without, with_one)


def check(query, place, without, with_one):
    """Compare answers without a record and with one of several with what a query states."""
    slack, record, pair = 1.0 + 1e-9, query.record_bound(place), query.pair_bound(place)
    moved = [np.linalg.norm(one - without) for one in with_one]
    apart = [np.linalg.norm(one - other) for one in with_one for other in with_one]
    assert max(moved) <= record * slack
    assert max(apart) <= pair * slack
    # What is stated isn't far above what some record does.
    assert max(moved) >= 0.6 * record
    assert max(apart) >= 0.6 * pair


@for_each("weights", [Weights(), WEIGHTS])
@for_each("k, of_classes", [(1, True), (3, True), (5, True), (1, False), (2, False)])
def test_a_target_moves_constants_by_no_more_than_is_stated(k, of_classes, weights):
    """From zero, which a null record adds; a weight is the largest, or one of many alike."""
    centre = 1.0 / k if of_classes and k > 1 else 0.5
    query = SumOfConstants(centre, k, of_classes, MECHANISM)
    targets = [2.0 * one - 1.0 for one in signs(k)]
    if of_classes and k > 1:
        targets = list(2.0 * np.eye(k) - 1.0)
    elif not of_classes:
        targets += [np.full(k, 1e300), np.full(k, -1e300), np.zeros(k)]
    places = [of_targets(target, weights) for target in targets]
    rows = SimpleNamespace(counted=lambda parts: parts[1:])
    without = released(query, places[0]._replace(frame=rows))
    check(query, places[0], without, [released(query, place) for place in places])


@for_each("n_classes", [2, 3])
@for_each("is_adapted", [False, True])
def test_a_label_moves_sums_by_no_more_than_is_stated(n_classes, is_adapted):
    rows, place = of_label(n_classes)
    transform = adapted_coordinates(rows, 5.0)[0] if is_adapted else None
    query = SumsByLabel(MECHANISM, rows.longest, n_classes, transform)
    answers = [released(query, place(label)) for label in range(n_classes)]
    apart = [np.linalg.norm(one - other) for one in answers for other in answers]
    assert max(apart) <= query.pair_bound(place(0)) * (1.0 + 1e-9)
    if not is_adapted:
        # The longest row is the one whose label changed.
        assert max(apart) >= query.pair_bound(place(0)) * (1.0 - 1e-9)
    else:
        longest = np.linalg.norm(transform @ rows.take(np.arange(rows.n_rows)).T, axis=0).max()
        assert longest == pytest.approx(rows.longest, rel=1e-12)


# Of a model and rows of it: what a second moment is of, and how long rows may be.
FITS = {
    "a public bound": DPRidge(data_norm=1.0, ball_budget=0, target_bounds=(-1.0, 1.0)),
    "a ball": DPRidge(target_bounds=(-1.0, 1.0)),
    "weights": DPLogisticRegression(classes=[-1.0, 1.0], class_weight={1.0: 9.0}),
    "inference": DPLogisticRegression(classes=[-1.0, 1.0], inference=True),
    "hats": DPAdditiveClassifier(classes=[-1.0, 1.0], feature_bounds=(-1.0, 1.0)),
}


def test_rows_are_within_what_their_second_moment_states(rng, monkeypatch):
    """As they are certified when it is asked: a replay measures two data sets, this each row."""
    shares = []

    def total(query, rows, original=SecondMoment.total):
        X = rows.X.in_memory if rows.are_coded else rows.X
        z = rows.products(X, rows.scale, np.eye(rows.n_columns))
        if rows.ball_weights is not None:
            z = z * rows.ball_weights[:, np.newaxis]
        shares.append(np.square(z).sum(axis=1).max() / query.record_bound(rows))
        return original(query, rows)

    monkeypatch.setattr(SecondMoment, "total", total)
    X = rng.normal(size=(400, 3))
    X[:4] = [[1e200, 0.0, 0.0], [-1e3, 1e3, 0.0], [0.0, 0.0, 1e-200], [9.0, 9.0, 9.0]]
    y = np.sign(X[:, 1] + 0.1)
    for name, model in FITS.items():
        n_before = len(shares)
        model.set_params(random_state=0).fit(X, y)
        assert len(shares) > n_before, name
    assert max(shares) <= 1.0 + 1e-9
    assert min(shares) >= 0.5
