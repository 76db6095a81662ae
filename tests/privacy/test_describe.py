"""A description of a table on neighbouring data: what a record moves, and what else changes."""

import itertools

import numpy as np
import pandas as pd
import pytest

from tests.privacy._corners import NUMBERS, pairs_of
from tests.privacy._recorded import record
from tests.privacy.test_fills_and_categories import published
from tests.statistics._describing import Describing

pytestmark = pytest.mark.filterwarnings("ignore::skdp.exceptions.PrivacyWarning")
ADJACENCIES = ("zero_out", "replace_one")
NAN = np.nan
PAIRS = [("x", "z"), ("x", "w"), ("w", "v")]
OTHERS = pd.DataFrame({"x": [0.0, 1.5, -3.0, NAN, 1e9], "z": [1.0, 1.0, 2.0, 3.0, 1900.0]})
OTHERS = OTHERS.assign(w=["a", "b", "b", None, "c"], v=["k", "k", "k", "l", None])
ROWS = [(x, z, w, "k") for w, (x, z) in zip("abc" * 9, itertools.product(NUMBERS, (1.0, NAN)))]  # noqa: B905
ROWS += [(2.0, -1e308, None, None), (NAN, NAN, None, "l"), (-1e308, 1e308, "a", "l")]


def with_rows(*rows):
    return pd.DataFrame([*OTHERS.itertuples(index=False), *rows], columns=OTHERS.columns)


def reach_of(runs, adjacency):
    """How far apart releases of any two runs are, as a share of what is allowed; the last is null.

    Whatever else there is has to be the same.
    """
    events = [event for event in runs[0][0].privacy_report_.events if hasattr(event, "mu")]
    reach = np.zeros(len(events))
    for (one, values, _, made), (other, moved, _, _) in pairs_of(runs, adjacency):
        assert published(one) == published(other)
        assert len(values) == len(moved) == reach.size
        bounds = [
            mechanism.contribution_bound * (1 if event.pairwise or adjacency == "zero_out" else 2)
            for mechanism, event in zip(made, events, strict=True)
        ]
        distances = [np.linalg.norm(a - b) for a, b in zip(values, moved, strict=True)]
        reach = np.maximum(reach, np.divide(distances, bounds))
    return reach


@pytest.mark.long
@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_no_record_moves_a_release_further_than_its_bound_and_some_as_far(adjacency):
    """Kinds, bins of three stages, words, moments, and cells of words and pairs."""
    describing = Describing(adjacency=adjacency, crosstabs=PAIRS)
    script = record(describing, with_rows(ROWS[0]))[2]
    runs = [record(describing, with_rows(row), script=script) for row in ROWS]
    runs.append(record(describing, with_rows(ROWS[0]), script=script, null=len(OTHERS)))
    reach = reach_of(runs, adjacency)
    assert reach.size == 7
    # Moments are whole numbers of steps, for which the noise has room.
    np.testing.assert_allclose(reach, 1.0, rtol=1e-7)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_no_person_moves_a_release_further_than_its_bound_and_some_as_far(adjacency):
    describing = Describing(adjacency=adjacency, crosstabs=PAIRS)
    people = [ROWS[:1], ROWS[3:6], ROWS[-3:], [ROWS[-1]] * 7, [(NAN, 1.0, "b", "l")] * 2]
    people += [[ROWS[-3]] * 2, [(1e308, -1e308, "b", "k")] * 3, [(-1e308, 1e308, "a", "l")] * 2]

    def of(rows, **script):
        groups = np.append(np.arange(len(OTHERS)), np.full(len(rows), len(OTHERS)))
        return record(describing, with_rows(*rows), groups=groups, **script)

    script = of(people[0])[2]
    runs = [of(rows, script=script) for rows in people]
    runs.append(of(people[0], script=script, null=len(OTHERS)))
    assert runs[0][0].privacy_report_.unit == "one group"
    reach = reach_of(runs, adjacency)
    np.testing.assert_allclose(reach, 1.0, rtol=1e-7)


def test_a_record_is_in_one_bin_word_and_cell_each_and_null_ones_in_none():
    for null, n_records in ((None, 5), (0, 4)):
        _, values, _, _ = record(Describing(crosstabs=PAIRS), OTHERS, null=null)
        assert [value.sum() for value in values[:5]] == [2 * n_records] * 5
        assert values[6].sum() == 5 * n_records
        assert values[5].shape == (2, 2)


def test_one_row_of_a_person_is_counted_whole_which_coins_choose():
    X = pd.DataFrame({"x": np.arange(40.0), "w": pd.Categorical(["a", "b"] * 20)})
    groups = np.repeat(np.arange(20), 2)
    chosen = set()
    for seed in range(3):
        describing = Describing(crosstabs=[("x", "w")])
        values = record(describing, X, groups=groups, random_state=seed)[1]
        assert values[3].sum() == 20.0
        chosen.add(tuple(values[0]))
    assert len(chosen) == 3


def test_a_word_that_one_record_has_stays_below_the_threshold():
    found = Describing(delta=1e-6).fit(with_rows((0.0, 0.0, "new", "k"))).found_
    assert [word for column in found.columns[2:] for word in column.words[:-2]] == []


def test_what_is_charged_and_reported_is_what_all_releases_come_to():
    """At the whole budget, without the erasure's share of delta."""
    for adjacency in ADJACENCIES:
        describing = Describing(adjacency=adjacency, crosstabs=PAIRS)
        report, *_, mechanisms = (
            record(describing, OTHERS)[0].privacy_report_,
            *record(describing, OTHERS),
        )
        assert report.epsilon_at(1e-3) == pytest.approx(1.0, rel=1e-6)
        noises = [m.noise_scale / m.sensitivity for m in mechanisms]
        told = [event.noise_multiplier for event in report.events if hasattr(event, "mu")]
        np.testing.assert_allclose(noises, told)
