"""The report as Markdown: all that the text has, for all kinds of reports, as it was meant."""

import dataclasses
import math
import re

import numpy as np
import pytest

from skdp.accountant import (
    ErasureEvent,
    GaussianEvent,
    LaplaceEvent,
    PrivacyReport,
    RandomizedResponseEvent,
    calibrate,
    compose,
)
from skdp.ledger import PrivacyLedger
from skdp.linear_model import DPLogisticRegression, WALRClassifier
from skdp.model_selection import DPGridSearch

RNG = np.random.default_rng(11)
ROWS = RNG.uniform(-1, 1, (300, 2))
LABELS = (ROWS[:, 0] > 0).astype(int)


def poisson(**changes):
    noise = calibrate(1.0, 1e-5, sampling_rate=0.01, n_steps=100)
    fields = {
        "epsilon": 1.0,
        "delta": 1e-5,
        "adjacency": "zero_out",
        "events": (GaussianEvent(noise, 0.01, 100),),
        "clipping": 1.0,
        "accountant": "pld",
    }
    return PrivacyReport(**fields | changes)


def pure():
    fields = {"adjacency": "replace_one", "clipping": 1.0, "accountant": "basic"}
    return PrivacyReport(epsilon=1.0, delta=0.0, events=[LaplaceEvent(2.0)], **fields)


def erased():
    events = [ErasureEvent(1e-6), GaussianEvent(9.0)]
    fields = {"adjacency": "zero_out", "clipping": 1.0, "accountant": "pld"}
    return PrivacyReport(epsilon=1.0, delta=1e-5, events=events, **fields)


def label():
    return WALRClassifier(data_norm=2.0, classes=[0, 1]).fit(ROWS, LABELS).privacy_report_


def flipped():
    fields = {"adjacency": "replace_label", "clipping": None, "accountant": "basic"}
    events = [RandomizedResponseEvent(0.25)]
    return PrivacyReport(epsilon=1.2, delta=0.0, events=events, **fields)


def of_groups():
    model = DPLogisticRegression(classes=[0, 1], delta=1e-3)
    return model.fit(ROWS, LABELS, groups=np.arange(300) // 2).privacy_report_


def selected():
    search = DPGridSearch(DPLogisticRegression(classes=[0, 1]), {"alpha": [1e-3, 1e-2]}, delta=1e-3)
    return search.fit(ROWS, LABELS).privacy_report_


def of_ledger(tmp_path):
    return PrivacyLedger(tmp_path / "l.db", epsilon=2.0, delta=1e-5, dataset="d").report()


KINDS = {
    "Poisson": poisson,
    "seeded": lambda: poisson(reproducible=True),
    "no privacy": lambda: poisson(epsilon=float("inf"), events=(GaussianEvent(0.0, 0.01, 100),)),
    "composed": lambda: compose([poisson(), erased()]),
    "pure": pure,
    "erasure": erased,
    "label": label,
    "flipped labels": flipped,
    "groups": of_groups,
    "selection": selected,
}


def as_text(markdown):
    """Undo what Markdown does: escapes, cells, marks of lists and of bold text."""
    text = re.sub(r"(?m)^- |\N{WORD JOINER}", "", markdown.replace("**", "")).replace(" |", "")
    return " ".join(re.sub(r"\\(.)", r"\1", text).split())


def released(report):
    """What a reader is to find: releases by their names where they have any."""
    if report.names:
        named = zip(report.names, report.events, strict=True)
        return [f"{name}: {event}" for name, event in named]
    return [report.released or report.event]


def check(report):
    markdown = report.to_markdown()
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    assert rows[0] == f"| Privacy report | {report!r} |"
    assert rows[1] == "| --- | --- |"
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 3 for row in rows)
    assert not re.search(r"(?m)^#", markdown)
    text, plain = as_text(markdown), " ".join(report.to_text().split())
    for said in (*report.assumed_public, *report.not_covered, *report.notes, *released(report)):
        assert " ".join(said.split()) in text
    assert f"Adjacency {report.adjacency}" in text
    assert f"Made by skdp {report.skdp_version}" in text
    assert ("seed" in text) == bool(report.condition)
    if report.condition:
        caveat = report.to_text().split("\n\n")[-1]
        assert " ".join(caveat.split()) in text
    meaning = re.search(r"What it means: .(.*?[.])", plain)[1]
    assert meaning in text
    return text


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_markdown_says_what_the_text_says(make):
    check(make())


def test_a_ledgers_budget_as_markdown(tmp_path):
    assert "epsilon = 2, delta = 1e-05" in check(of_ledger(tmp_path))


@pytest.mark.long
def test_the_numbers_of_every_kind_of_release_are_explained():
    for make in KINDS.values():
        report = make()
        text = as_text(report.to_markdown())
        if math.isinf(report.epsilon):
            assert "Noise" not in text
            continue
        (noise,) = re.findall(r"Noise (.*?) Made by", text)
        for word in re.findall(r"([A-Z]\w+)\(", report.event):
            assert re.search(rf"\b{word.removeprefix('Spherical')} is ", noise), word


def test_words_of_others_stay_words():
    evil = (
        "a | b\n\n# c <img src=x> [d](e) `f` *g* _h_ \\ ~i~ $j$ &lt; http://k.example "
        "www.l.example WWW.m.example n@o.example mailto:p@q.example @r"
    )
    report = dataclasses.replace(poisson(), assumed_public=(evil,), notes=(evil,))
    (cell,) = re.findall(r"(?m)^\| Note \| (.*) \|$", report.to_markdown())
    assert not re.search(r"(?<!\\)([|#<>\[\]`*_~$&]|://)|(?i:www)\.|@(?!\N{WORD JOINER})", cell)
    check(report)
