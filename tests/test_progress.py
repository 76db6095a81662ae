"""What fits show of where they are: their plan alone, at once, and in lines that don't mix."""

import re
import sys

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.pipeline import make_pipeline

from skdp.additive import DPAdditiveRegressor
from skdp.extend import DPBaseEstimator, Sum
from skdp.linear_model import DPCDLasso, DPLogisticRegression, DPRidge, DPSGDClassifier
from skdp.model_selection import DPGridSearch
from skdp.pipeline import DPPipeline
from skdp.preprocessing import BoundsScaler, DPStandardScaler
from skdp.utils.discovery import all_estimators
from tests.door import progress, showing, showing_nothing

SHOWN = [kind for _, kind in all_estimators() if "verbose" in kind().get_params()]
LINE = re.compile(r"\[\w+\] (started|done|release \d+/\d+: [\w ]+?( \d+/\d+)?)")


def records(n_rows=300, width=1.0):
    rng = np.random.default_rng(20)
    X = rng.normal(size=(n_rows, 3)) * width
    return X, 1 + (X[:, 0] > 0.0)


def quick(kind, **options):
    """Return an estimator of two steps or passes, where it has any."""
    taken = kind().get_params()
    options = {"max_iter": 2, "target_bounds": (0, 2), "classes": [1, 2]} | options
    return kind(**{name: value for name, value in options.items() if name in taken})


def lines_of(estimator, capsys, data=None):
    estimator.fit(*(records() if data is None else data))
    printed = capsys.readouterr()
    assert printed.err == ""
    return printed.out.splitlines()


@pytest.mark.parametrize("kind", SHOWN)
def test_a_fit_shows_the_releases_of_its_report(kind, capsys):
    """In their order, all of them, each with its name; and a fit that isn't asked to shows none."""
    model = quick(kind, verbose=2, random_state=0)
    lines = lines_of(model, capsys)
    name = kind.__name__
    assert (lines[0], lines[-1]) == (f"[{name}] started", f"[{name}] done")
    assert all(map(LINE.fullmatch, lines))
    shown = re.findall(r"release (\d+)/\d+: ([a-z ]+?)(?: \d+/\d+)?$", "\n".join(lines), re.M)
    places = {int(place): text for place, text in shown}
    assert tuple(places[place] for place in sorted(places)) == model.privacy_report_.names
    assert sorted(places) == list(range(1, len(places) + 1))
    silent = clone(model).set_params(verbose=0)
    assert lines_of(silent, capsys) == []
    # Nothing else differs.
    for attribute, value in vars(model).items():
        if attribute.endswith("_") and isinstance(value, np.ndarray):
            np.testing.assert_array_equal(value, getattr(silent, attribute))


@pytest.mark.long
def test_lines_of_many_steps_follow_from_their_number(capsys):
    lines = lines_of(DPSGDClassifier(ball_budget=0, verbose=2, batch_size=1, max_iter=1), capsys)
    steps = [f"[DPSGDClassifier] release 1/1: steps {n}/300" for n in range(30, 301, 30)]
    assert lines == ["[DPSGDClassifier] started", *steps, "[DPSGDClassifier] done"]
    model = DPRidge(ball_budget=0, data_norm=1.0, max_iter=3, target_bounds=(0, 2), verbose=2)
    lines = lines_of(model, capsys)
    assert lines[1] == "[DPRidge] release 1/2: second moment"
    assert lines[2:-1] == [f"[DPRidge] release 2/2: steps {n}/3" for n in (1, 2, 3)]


@pytest.mark.parametrize("kind", [DPLogisticRegression, DPCDLasso, DPSGDClassifier])
def test_what_is_shown_does_not_follow_rows(kind, capsys):
    """Whatever they hold; tests/privacy compares it for each estimator, given its releases."""
    model = quick(kind, verbose=2, random_state=0)
    assert lines_of(model, capsys) == lines_of(model, capsys, records(width=1e3))
    X, y = records()
    assert lines_of(model, capsys, (np.zeros_like(X), y)) == lines_of(model, capsys)


def test_something_is_seen_before_rows_are_read(capsys):
    X, y = records()
    X[7, 1] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        DPRidge(verbose=1).fit(X, y)
    assert capsys.readouterr().out == "[DPRidge] started\n"
    # What was shown of that fit is over.
    assert not progress().is_shown


def test_an_additive_model_goes_on_as_its_table_told(capsys):
    """How many releases follow is known once columns are."""
    model = DPAdditiveRegressor(verbose=2, target_bounds=(0, 2), random_state=0)
    lines = lines_of(model, capsys, records(3000))
    planned = [int(line.split("/")[1].split(":")[0]) for line in lines[1:-1]]
    n_planned = len(model.privacy_report_.names)
    assert planned[0] < planned[-1] == n_planned
    assert f" release {n_planned}/{n_planned}: " in lines[-2]


def test_steps_of_a_pipeline_are_named(capsys):
    steps = [
        ("bounds", BoundsScaler(feature_bounds=(-4, 4))),
        ("none", "passthrough"),
        ("scale", DPStandardScaler()),
        ("a\nmodel", DPRidge(max_iter=2, target_bounds=(0, 2), verbose=2)),
    ]
    lines = lines_of(DPPipeline(steps, verbose=2), capsys)
    own = [line for line in lines if line.startswith("[DPPipeline]")]
    assert own == [
        "[DPPipeline] started",
        "[DPPipeline] step 1/4: bounds",
        "[DPPipeline] step 2/4: none",
        "[DPPipeline] step 3/4: scale",
        r"[DPPipeline] step 4/4: a\nmodel",
        "[DPPipeline] done",
    ]
    # The model's fit is within its step, and its rehearsal isn't seen.
    assert lines.count("[DPRidge] started") == 1
    assert lines.index("[DPRidge] started") == lines.index(own[4]) + 1
    last = DPPipeline([*steps[:3], ("model", clone(steps[3][1]).set_params(verbose=0))], verbose=2)
    assert all(line.startswith("[DPPipeline]") for line in lines_of(last, capsys))


@pytest.mark.long
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_composed_search_counts_candidates(n_jobs, capsys):
    grid = {"data_norm": [0.1, 1.0, 10.0]}
    model = DPLogisticRegression(classes=[1, 2], max_iter=2)
    search = DPGridSearch(model, grid, method="compose", verbose=2, n_jobs=n_jobs, random_state=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JOBLIB_MULTIPROCESSING", "0")
        lines = lines_of(search, capsys)
    counts = [f"candidates {done} {n}/3" for done in ("tried", "fitted") for n in range(4)]
    own = ["started", *counts, "release 1/1: choice of a candidate and its fit", "done"]
    assert lines == [f"[DPGridSearch] {text}" for text in own]
    silent = clone(search).set_params(verbose=0).fit(*records())
    np.testing.assert_array_equal(silent.best_estimator_.coef_, search.best_estimator_.coef_)


@pytest.mark.parametrize("method", ["repeat", "compose"])
def test_a_search_takes_no_candidate_that_shows_its_fits(method):
    grid = {"verbose": [0, 1]}
    search = DPGridSearch(DPLogisticRegression(classes=[1, 2]), grid, method=method, verbose=1)
    with pytest.raises(ValueError, match="'verbose' of a candidate would reveal"):
        search.fit(*records())


def test_nothing_is_shown_of_what_is_secret(capsys):
    with showing("outer", 2), showing_nothing():
        DPRidge(max_iter=2, target_bounds=(0, 2), verbose=2).fit(*records())
        progress().note("within")
    assert capsys.readouterr().out == "[outer] started\n[outer] done\n"


def test_a_fit_within_another_shows_what_it_was_asked_to(capsys):
    with showing("outer", 2):
        DPRidge(max_iter=2, target_bounds=(0, 2)).fit(*records())
        progress().note("between")
    assert capsys.readouterr().out == "[outer] started\n[outer] between\n[outer] done\n"


def test_lines_of_workers_do_not_mix(monkeypatch):
    """Each is written at once, with its end."""

    class Written:
        def __init__(self):
            self.texts = []

        def write(self, text):
            self.texts.append(text)

        def flush(self):
            self.texts.append("flushed")

    written = Written()
    monkeypatch.setattr(sys, "stdout", written)
    make_pipeline(DPRidge(max_iter=2, target_bounds=(0, 2), verbose=2)).fit(*records())
    texts = [text for text in written.texts if text]
    lines, flushes = texts[::2], texts[1::2]
    assert set(flushes) == {"flushed"}
    assert len(lines) == len(flushes) > 5
    assert all(LINE.fullmatch(line[:-1]) and line.endswith("\n") for line in lines)


def in_a_terminal(monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)


def test_a_terminal_has_a_bar(capsys, monkeypatch):
    in_a_terminal(monkeypatch)
    model = DPRidge(ball_budget=0, data_norm=1.0, max_iter=3, target_bounds=(0, 2), verbose=1)
    model.fit(*records())
    printed = capsys.readouterr()
    assert printed.out == ""
    moves = [move.split("|")[0].strip() for move in printed.err.split("\r")]
    own = [move for move in dict.fromkeys(moves) if move]
    assert own == [
        f"[DPRidge] {text}"
        for text in (
            "started",
            "release 1/2: second moment",
            *(f"release 2/2: steps {n}/3" for n in (1, 2, 3)),
            "done",
        )
    ]
    # Nothing has a time, nor a rate.
    assert not re.search(r"\d:\d|/s|it", printed.err.replace("DPRidge", "").replace("fit", ""))
    assert len(lines_of(clone(model).set_params(verbose=2), capsys)) == len(own)


def test_a_terminal_without_tqdm_has_lines(capsys, monkeypatch):
    in_a_terminal(monkeypatch)
    monkeypatch.setitem(sys.modules, "tqdm", None)
    lines = lines_of(DPRidge(verbose=True, max_iter=2, target_bounds=(0, 2)), capsys)
    assert lines[0] == "[DPRidge] started"


class Mean(DPBaseEstimator):
    """An own estimator."""

    def __init__(
        self,
        epsilon=1.0,
        delta=1e-4,
        adjacency="zero_out",
        ledger=None,
        random_state=None,
        verbose=0,
    ):
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.ledger = ledger
        self.random_state = random_state
        self.verbose = verbose

    def plan_releases(self, sizes):
        return [Sum("sum of rows", shape=sizes.n_features, bound=2.0)]

    def learn(self, X, y, run):
        self.mean_ = run.sum("sum of rows", lambda X: X, X) / run.n_records


def test_own_estimators_are_shown_as_those_of_the_package(capsys):
    own = ["started", "release 1/1: sum of rows", "done"]
    assert lines_of(Mean(verbose=2), capsys) == [f"[Mean] {text}" for text in own]
    assert lines_of(Mean(), capsys) == []


def test_calls_in_a_stream_are_shown_one_by_one(capsys):
    X, y = records()
    model = DPSGDClassifier(classes=[1, 2], mechanism="laplace", verbose=2, batch_size=100)
    model.partial_fit(X, y).partial_fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert lines[: len(lines) // 2] == lines[len(lines) // 2 :]
    assert lines[-2] == "[DPSGDClassifier] release 1/1: steps"


def test_all_models_and_searches_can_show_where_they_are():
    """What learns by steps over rows takes long; transformers and label sums take few reads."""
    lacking = {kind.__name__ for _, kind in all_estimators()} - {kind.__name__ for kind in SHOWN}
    is_model = {name for name in lacking if is_classifier(dict(all_estimators())[name]())}
    assert is_model == {"WALRClassifier"}
    assert not any(name.endswith("Regressor") for name in lacking)
