"""Names of releases: in texts, in JSON, in files of before, and where reports are composed."""

import dataclasses
import pickle
import re

import pytest

from skdp.accountant import GaussianEvent, PrivacyReport, compose

EVENTS = (GaussianEvent(20.0, pairwise=True), GaussianEvent(90.0, n_steps=40))
NAMES = ("second moment", "steps")


def a_report(names=NAMES, **changes):
    fields = {"adjacency": "zero_out", "clipping": None, "accountant": "pld", "events": EVENTS}
    return PrivacyReport(epsilon=1.0, delta=1e-5, names=names, **fields | changes)


def test_texts_list_releases_by_name():
    lines = a_report().to_text().splitlines()
    place = lines.index("Released        second moment:  1 x pairwise Gaussian(20)")
    assert lines[place + 1] == "                steps:         40 x Gaussian(90)"
    cells = [
        re.findall(r"<td[^>]*>([^<]*)</td>", row)
        for row in a_report()._repr_html_().split("<tbody>")[2].split("</tbody>")[0].split("</tr>")
    ]
    assert cells == [
        ["second moment", "1 x pairwise Gaussian(20)"],
        ["steps", "40 x Gaussian(90)"],
        [],
    ]
    markdown = a_report().to_markdown()
    listed = "\n- second moment: 1 x pairwise Gaussian(20)\n- steps: 40 x Gaussian(90)\n"
    assert f"**Released**\n{listed}" in markdown
    said = "second moment: 1 x pairwise Gaussian(20), then steps: 40 x Gaussian(90)"
    assert said in a_report().to_registry_yaml()


def test_nothing_is_said_of_what_has_no_name():
    line = "Released        1 x pairwise Gaussian(20), then 40 x Gaussian(90)"
    assert line in a_report(()).to_text().splitlines()
    lines = a_report(("", "steps")).to_text().splitlines()
    assert "Released                1 x pairwise Gaussian(20)" in lines
    # A report of a ledger's events has words of its own.
    assert "Released        three fits" in a_report(released="three fits").to_text().splitlines()


def test_names_cost_nothing():
    assert a_report().epsilon_at(1e-6) == a_report(()).epsilon_at(1e-6)
    assert a_report().event == a_report(()).event
    assert a_report() != a_report(("sums", "steps"))


def test_names_are_kept_in_json_and_in_copies():
    assert PrivacyReport.from_json(a_report().to_json()) == a_report()
    assert pickle.loads(pickle.dumps(a_report())) == a_report()


def test_what_was_stored_before_names_is_read_without_any():
    entries = a_report().to_dict()
    del entries["names"]
    assert PrivacyReport.from_dict(entries) == a_report(())
    report = a_report()
    stored = {name: value for name, value in vars(report).items() if name != "names"}
    read = object.__new__(PrivacyReport)
    read.__setstate__(stored)
    assert read.names == ()
    assert "1 x pairwise Gaussian(20)" in read.to_text()


@pytest.mark.parametrize("names", [("one",), ("a", "b", "c"), ("a", 1), "ab", ("a\n", "b")])
def test_names_that_are_not_one_for_each_event_are_refused(names):
    with pytest.raises((TypeError, ValueError), match="names"):
        a_report(names)
    with pytest.raises((TypeError, ValueError), match="names"):
        dataclasses.replace(a_report(), names=names)


def test_composed_reports_keep_names():
    assert compose([a_report(), a_report()]).names == NAMES * 2
    steps = a_report(("steps",), events=EVENTS[1:])
    more = a_report(("counts",), events=EVENTS[1:])
    joint = compose([steps, steps])
    assert joint.names == ("steps",)
    assert joint.events == (GaussianEvent(90.0, n_steps=80),)
    assert compose([steps, more, steps]).names == ("steps, counts",)
    assert compose([a_report(()), steps]).names == ("", "steps")
    assert compose([a_report(()), a_report(())]).names == ()
