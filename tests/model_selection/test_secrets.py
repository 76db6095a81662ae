"""What must not tell how many trials there were, or more of a record than was paid for."""

import io
import logging
import warnings
from contextlib import redirect_stderr, redirect_stdout
from itertools import product
from traceback import walk_tb

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from skdp.accountant import TruncatedNegativeBinomial
from skdp.exceptions import PrivacyWarning
from skdp.ledger import PrivacyLedger
from skdp.linear_model import DPLogisticRegression, DPRidge
from skdp.preprocessing import NormClipper
from tests.door import (
    SCORES,
    GaussianMechanism,
    NoisyMaximum,
    model_selection_trials_module as _trials,
    row_scores,
)
from tests.model_selection._searches import GRID, published, records, search

K = 17
# Of which half are bad: all of one kind only once in 2**30 times.
N_TRIALS = 30


class Watched:
    """Everything that a search leaves behind but time.

    Attributes
    ----------
    values, released, mechanisms : list
        Of all releases, and with `script` in place of what came out.
    parts : list of str
        "fit" or "score", for each release.
    left : dict
        What is published, printed, logged and warned of, and the sizes of joblib's lists of tasks.
    """

    def __init__(self, searched, X, y, *, n_trials=None, script=None, score=None):
        self.values, self.released, self.mechanisms, self.parts = [], [], [], []
        self._part, self._script = "fit", script
        self.left = {"tasks": [], "logs": []}
        with (
            pytest.MonkeyPatch.context() as patch,
            warnings.catch_warnings(record=True) as caught,
            redirect_stdout(io.StringIO()) as printed,
            redirect_stderr(io.StringIO()) as errors,
        ):
            warnings.simplefilter("always")
            self._watch(patch, n_trials, score)
            self.search = searched.fit(X, y)
        self.left["published"] = published(self.search)
        self.left["warnings"] = [str(warning.message) for warning in caught]
        self.left["printed"] = printed.getvalue() + errors.getvalue()

    def _watch(self, patch, n_trials, score):
        if n_trials is not None:
            patch.setattr(TruncatedNegativeBinomial, "sample", lambda *_: n_trials)
        for kind in (GaussianMechanism, NoisyMaximum):
            patch.setattr(kind, "release", self._releasing(kind.release))
        scored = _trials.private_score

        def scores(*args, **kwargs):
            self._part = "score"
            found = scored(*args, **kwargs)
            self._part = "fit"
            return found if score is None else score(found)

        patch.setattr(_trials, "private_score", scores)
        parallel = _trials.Parallel

        class Counting(parallel):
            def __call__(inner, tasks):
                tasks = list(tasks)
                self.left["tasks"].append(len(tasks))
                return super().__call__(tasks)

        patch.setattr(_trials, "Parallel", Counting)
        patch.setattr(logging.Logger, "isEnabledFor", lambda *_: True)
        patch.setattr(
            logging.Logger, "handle", lambda _, found: self.left["logs"].append(found.getMessage())
        )

    def _releasing(self, release):
        def watched(mechanism, value, stream):
            out = release(mechanism, value, stream)
            if self._script is not None:
                out = self._script[len(self.values)]
            self.mechanisms.append(mechanism)
            self.values.append(np.array(value))
            self.released.append(out)
            self.parts.append(self._part if isinstance(mechanism, GaussianMechanism) else "score")
            return np.copy(out) if isinstance(out, np.ndarray) else out

        return watched


class FirstWins:
    """Scores of which each is below the last."""

    def __init__(self):
        self.n_scores = 0

    def __call__(self, found):
        self.n_scores += 1
        return type(found)(1.0 / self.n_scores, 0.0, 1.0, found.report)


@pytest.mark.long
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_nothing_but_time_tells_how_many_trials_there_were(n_jobs):
    """The same trial wins, of few or of many: whatever can be looked at is the same."""
    X, y = records(60)
    # Each of the fits would warn that its delta is large.
    model = make_pipeline(NormClipper(), DPLogisticRegression(classes=[0, 1]))
    grid = {f"dplogisticregression__{name}": values for name, values in GRID.items()}
    options = {"estimator": model, "param_grid": grid, "delta": 0.6, "method": "repeat"}
    options["n_jobs"] = n_jobs
    score = None if n_jobs else FirstWins
    found = [
        Watched(search(**options), X, y, n_trials=n_trials, score=score and score()).left
        for n_trials in ((1, 1) if n_jobs else (1, 2, 9))
    ]
    assert found[0]["tasks"] == [n_jobs or 1]
    assert found[0]["printed"] == ""
    assert sum("delta is larger" in message for message in found[0]["warnings"]) == 1
    assert all(one == found[0] for one in found)


@pytest.mark.every
def test_what_a_search_shows_does_not_tell_how_many_trials_there_were():
    """Nor does what it warns of, or logs."""
    X, y = records(60)
    found = [
        Watched(search(method="repeat", delta=0.01, verbose=2), X, y, n_trials=n_trials).left
        for n_trials in (1, 2, 9)
    ]
    shown = found[0]["printed"].splitlines()
    tried = [f"candidates tried {n}/4" for n in range(5)]
    own = ["started", *tried, "trials, whose number is secret", "done"]
    assert shown == [f"[DPGridSearch] {text}" for text in own]
    for told in ("printed", "warnings", "logs", "tasks"):
        assert all(one[told] == found[0][told] for one in found)


@pytest.mark.long
@pytest.mark.parametrize("method", ["repeat", "compose"])
@pytest.mark.parametrize("corner", ["the label", "the row", "both"])
def test_given_the_releases_a_record_moves_each_by_its_bound_and_nothing_else(method, corner):
    """It moves those of fits or those of scores, never both, and no others."""
    X, y = records(40)
    options = {"method": method, "adjacency": "replace_one", "delta": 0.02, "verbose": 2}
    first = Watched(search(**options), X, y, n_trials=6)
    moved_parts = set()
    for k in range(K, K + 12):
        other, labels = X.copy(), y.copy()
        if corner != "the label":
            other[k] = 1e6 * np.ones(3)
        if corner != "the row":
            labels[k] = 1 - labels[k]
        second = Watched(search(**options), other, labels, n_trials=6, script=first.released)
        assert second.left == first.left
        parts = set()
        for mechanism, before, after, part in zip(
            first.mechanisms, first.values, second.values, first.parts, strict=True
        ):
            distance = np.linalg.norm(after.astype(float) - before)
            if distance == 0.0:
                continue
            parts.add(part)
            if isinstance(mechanism, NoisyMaximum):
                assert np.abs(after - before).max() <= mechanism.contribution_bound
            elif part == "score":
                assert distance <= mechanism.contribution_bound
            else:
                assert distance <= 2.0 * mechanism.sensitivity
        assert len(parts) <= 1
        moved_parts |= parts
    assert moved_parts == {"fit", "score"}


TWO_TARGETS = {"estimator": DPRidge(target_bounds=(-3, 3)), "param_grid": {"alpha": [1e-4, 1e-2]}}


@pytest.mark.long
@pytest.mark.parametrize("options", [{}, TWO_TARGETS], ids=["labels", "two targets"])
@pytest.mark.parametrize("method", ["repeat", "compose"])
def test_the_releases_that_were_made_are_those_of_the_report(method, options):
    X, y = records(60)
    y = X[:, :2] if options else y
    found = Watched(search(method=method, delta=0.01, **options), X, y, n_trials=5)
    event = found.search.privacy_report_.events[0]
    spent = [
        sum(one.n_steps / one.noise_multiplier**2 for one in events)
        for events in event.alternatives[:-1]
    ]
    for fits in _fits(found, found.mechanisms):
        assert sum(1.0 / one.noise_multiplier**2 for one in fits) == pytest.approx(spent[0])
    scores = {
        mechanism.noise_multiplier
        for mechanism, part in zip(found.mechanisms, found.parts, strict=True)
        if part == "score"
    }
    assert scores == {event.alternatives[-1][0].noise_multiplier}
    # Each with noise of its own, whatever the candidate.
    first = [np.ravel(fits[0])[0] for fits in _fits(found, found.released)]
    assert len(set(first)) == len(first)


def _fits(found, items):
    """What releases had before each score: of a fit, or for a composition of all of them."""
    group = []
    for item, part in zip(items, found.parts, strict=True):
        if part == "score":
            yield group
            group = []
        else:
            group.append(item)


@pytest.mark.long
@pytest.mark.parametrize(
    ("method", "n_bad", "kind"),
    product(
        ["repeat", "compose"],
        [1, 4],
        [ValueError, FloatingPointError, KeyError, MemoryError],
    ),
)
def test_a_fit_that_fails_is_a_trial_that_loses(method, n_bad, kind, monkeypatch, tmp_path):
    """What fails is told only if nothing else was tried, in words that tell nothing more."""
    X, y = records()
    bad, fit = GRID["alpha"][:1] if n_bad == 1 else GRID["alpha"], DPLogisticRegression.fit

    def failing(model, X, y):
        fitted = fit(model, X, y)
        if model.alpha in bad:
            raise kind(f"The fit overflowed: {fitted.coef_}")
        return fitted

    monkeypatch.setattr(DPLogisticRegression, "fit", failing)
    monkeypatch.setattr(TruncatedNegativeBinomial, "sample", lambda *_: N_TRIALS)
    ledger = PrivacyLedger(tmp_path / "study", epsilon=8.0, delta=1e-2)
    searched = search(method=method, random_state=None, ledger=ledger, n_trials=N_TRIALS)
    if n_bad == 1:
        assert searched.fit(X, y).best_params_["alpha"] == GRID["alpha"][1]
    else:
        with pytest.raises(ValueError, match="the fit that was chosen failed") as caught:
            searched.fit(X, y)
        assert caught.value.__cause__ is caught.value.__context__ is None
        # No variable of the trials is within reach of who sees the error.
        assert not {"n_trials", "streams"} & {
            name
            for frame, _ in walk_tb(caught.value.__traceback__)
            for name in frame.f_locals
            if frame.f_code.co_filename == _trials.__file__
        }
    assert len(ledger.to_dict()["charges"]) == 1


@pytest.mark.long
@pytest.mark.parametrize("kind", [ValueError, IndexError])
@pytest.mark.parametrize("method", ["repeat", "compose"])
def test_a_score_that_fails_is_a_trial_that_loses(method, kind, monkeypatch):
    X, y = records()
    bad, predict = GRID["alpha"][0], DPLogisticRegression.predict

    def failing(model, X):
        if model.alpha == bad:
            raise kind(f"no class for {X[0]}")
        return predict(model, X)

    monkeypatch.setattr(DPLogisticRegression, "predict", failing)
    monkeypatch.setattr(TruncatedNegativeBinomial, "sample", lambda *_: N_TRIALS)
    found = search(method=method, random_state=None, n_trials=N_TRIALS).fit(X, y)
    assert found.best_params_["alpha"] == GRID["alpha"][1]
    with pytest.raises(ValueError, match="the fit that was chosen failed") as caught:
        search(param_grid={"alpha": [bad]}, method=method).fit(X, y)
    assert caught.value.__cause__ is caught.value.__context__ is None


@pytest.mark.long
@pytest.mark.parametrize("method", ["repeat", "compose"])
def test_a_user_may_stop_a_search(method, monkeypatch):
    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(DPLogisticRegression, "fit", stopped)
    with pytest.raises(KeyboardInterrupt):
        search(method=method).fit(*records())


@pytest.mark.parametrize("scoring", [name for name, score in SCORES.items() if score.row_spread])
def test_a_rows_score_is_within_0_and_1(scoring, rng):
    X, y = records()
    model, bounds = DPLogisticRegression(epsilon=np.inf).fit(X, y), None
    if scoring.startswith("neg_mean"):
        # A deviance of amounts has no lower bound of 0.
        model, bounds = DPRidge(epsilon=np.inf).fit(X, y), (1e-4, 0.5)
    far = X * rng.choice([1e-9, 1.0, 1e200], len(X))[:, np.newaxis]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = row_scores(model, far, y, scoring, bounds)
    assert found.shape == y.shape
    assert found.min() >= 0.0
    assert found.max() <= 1.0
    assert np.ptp(found) > 0.5


@pytest.mark.long
def test_large_deltas_warn_once():
    X, y = records(60)
    with pytest.warns(PrivacyWarning, match="delta is larger") as caught:
        search(delta=0.1, n_trials=5, method="repeat").fit(X, y)
    assert len(caught) == 1
