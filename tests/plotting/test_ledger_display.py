import numpy as np
import pytest

from skdp.plotting import LedgerDisplay
from tests.door import records_module as _records
from tests.ledger._fits import charges_of, make_ledger, report_of

pytest.importorskip("matplotlib", reason="displays draw with matplotlib, the extra [plot]")
import matplotlib.pyplot as plt
from matplotlib.dates import date2num

DAYS = ["2026-05-04", "2026-05-05", "2026-05-03", "2026-05-08"]


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    ledger = make_ledger(tmp_path, dataset="survey")
    for day, estimator in zip(DAYS, "ABAC", strict=True):
        monkeypatch.setattr(_records, "now", lambda day=day: f"{day}T12:00:00+00:00")
        ledger._charge(report_of(0.2), estimator=estimator, parameters={}, seed=None)
    return ledger


def heights(display):
    """Upper edges of the areas at the ends of steps."""
    found = []
    for area in display.areas_:
        corners = area.get_paths()[0].vertices
        found.append([corners[corners[:, 0] == x, 1].max() for x in sorted(set(corners[:, 0]))])
    return np.array(found)


@pytest.mark.long
def test_shares_are_stacked_by_estimator_and_add_up(ledger):
    display = LedgerDisplay.from_ledger(ledger)
    one = charges_of(ledger)[0]["share"]
    assert list(display.shares) == ["A", "B", "C"]
    assert display.x.tolist() == [0, 1, 2, 3, 4]
    assert display.shares["A"] / one == pytest.approx([1, 1, 2, 2, 2])
    assert display.shares["B"] / one == pytest.approx([0, 1, 1, 1, 1])
    assert heights(display)[-1] / one == pytest.approx([1, 2, 3, 4, 4])
    assert display.budget_.get_ydata() == [1.0, 1.0]
    assert display.ax_.get_ylim()[1] > 1.0
    legend = display.ax_.get_legend()
    assert legend.get_title().get_text() == "survey"
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts == ["budget: guaranteed", "C", "B", "A"]
    assert len({area.get_hatch() for area in display.areas_}) == 3
    display.figure_.canvas.draw()


@pytest.mark.long
def test_a_clock_that_went_back_stands_still(ledger):
    display = LedgerDisplay.from_ledger(ledger, axis="time", name="May", alpha=0.5)
    days = [str(day)[:10] for day in display.x[:-1]]
    assert days == ["2026-05-04", "2026-05-05", "2026-05-05", "2026-05-08"]
    assert display.x[-1] > display.x[-2]
    assert display.areas_[0].get_alpha() == 0.5
    assert display.ax_.get_legend().get_title().get_text() == "May"
    assert display.ax_.get_xlim()[0] <= date2num(display.x[0])
    display.figure_.canvas.draw()


def test_the_most_expensive_part_is_drawn_with_what_is_charged_to_all(ledger):
    ledger.part("north").charge(report_of(0.1))
    ledger.part("south").charge(report_of(0.3))
    display = LedgerDisplay.from_ledger(ledger)
    assert len(display.x) == 6
    assert display.name == "survey, south"
    total = sum(share[-1] for share in display.shares.values())
    assert total == pytest.approx(sum(one["share"] for one in charges_of(ledger.part("south"))))
    assert LedgerDisplay.from_ledger(ledger.part("north")).name == "survey, north"


@pytest.mark.parametrize("axis", ["charge", "time"])
def test_a_new_ledger_is_drawn(tmp_path, axis):
    display = LedgerDisplay.from_ledger(make_ledger(tmp_path), axis=axis)
    assert display.areas_ == []
    display.figure_.canvas.draw()


def test_what_isnt_a_ledger_is_refused(ledger):
    with pytest.raises(TypeError, match="PrivacyLedger"):
        LedgerDisplay.from_ledger(ledger.path)
    with pytest.raises(TypeError, match="ax must be"):
        LedgerDisplay.from_ledger(ledger, ax=1)
    with pytest.raises(ValueError, match="axis"):
        LedgerDisplay.from_ledger(ledger, axis="day")
