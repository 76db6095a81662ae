"""Trials of a search: fits and scores of which the best is published and the others are forgotten.

What runs here must be silent: a warning, a line of a log or a number of tasks for each trial would
tell how many there were. All that can be wrong with parameters and input was found before, and
trials get what was checked then, see `_rows`. So what fails now, with whatever exception, follows
from releases: it is told as an outcome if this trial wins, and not at all if it doesn't.
"""

import contextlib
import math
import warnings
from itertools import chain
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn import config_context
from sklearn.base import clone

from skdp._estimator import fit_groups
from skdp._progress import progress, showing_nothing
from skdp._rows.bounds import counted_rows
from skdp._sklearn import take_rows
from skdp.ledger._account import ALREADY_CHARGED
from skdp.metrics import private_score
from skdp.metrics._scorings import row_scores
from skdp.model_selection._plan import SCORE_PARTS, SEARCH
from skdp.model_selection._rows import last_step, rows_for_last

_FAILED = (
    "the fit that was chosen failed: scale the features and targets to moderate size. What was "
    "released is charged, and nothing is published."
)


class Records(NamedTuple):
    """Rows and labels or targets of both parts, and how models are scored."""

    X_train: object
    y_train: np.ndarray
    X_validation: object
    y_validation: np.ndarray
    scoring: str
    target_bounds: tuple | None
    # The group of each row that is fitted.
    groups: np.ndarray | None = None
    # The group of each row that is scored, of which a group has `rows_per_group` at most. With None
    # each row is a record of its own.
    groups_validation: np.ndarray | None = None
    rows_per_group: float = 1
    # Rows as they came, for models that don't take X, which are numbers.
    table_train: object = None
    table_validation: object = None

    @classmethod
    def split(
        cls,
        X,
        y,
        n_validation,
        stream,
        codes=None,
        rows_per_group=1,
        *,
        table=None,
        scoring,
        target_bounds,
    ):
        """Return records parted by chance alone: nothing is read, so that no row moves another.

        With the group of each row, all rows of a group are in one part, and it is scored on as many
        of them as `rows_per_group`, or on all that it has. They are drawn by chance. X or table is
        None where no model takes it.
        """
        n_records = len(y) if codes is None else int(codes.max()) + 1
        is_held = np.zeros(n_records, dtype=bool)
        is_held[np.argsort(stream.uniform(n_records))[:n_validation]] = True
        groups = groups_validation = None
        if codes is None:
            rest, held_out = np.flatnonzero(~is_held), np.flatnonzero(is_held)
        else:
            drawn = counted_rows(y, codes, stream, rows_per_group)
            rest, held_out = np.flatnonzero(~is_held[codes]), drawn[is_held[codes[drawn]]]
            groups = codes[rest]
            if rows_per_group > 1:
                groups_validation = codes[held_out]
        return cls(
            X_train=_take(X, rest),
            y_train=_take(y, rest),
            X_validation=_take(X, held_out),
            y_validation=_take(y, held_out),
            scoring=scoring,
            target_bounds=target_bounds,
            groups=groups,
            groups_validation=groups_validation,
            rows_per_group=1 if groups_validation is None else rows_per_group,
            table_train=_take(table, rest),
            table_validation=_take(table, held_out),
        )


def _take(array, rows):
    return None if array is None else take_rows(array, rows)


class Outcome(NamedTuple):
    """What a trial gives: only the best is ever looked at.

    The score is noisy; that of a fit that failed, which is a release as any other, is minus
    infinity. Trials of equal scores are alike, and the first of them is the better.
    """

    score: float
    place: int
    candidate: int
    model: object

    @property
    def rank(self):
        """What the best has most of."""
        return self.score, -self.place


def run_repeated(plan, models, records, run, n_jobs):
    """Run a secret number of trials and return the best outcome."""
    progress().note("trials, whose number is secret")
    count, trials = run.spawn(2)
    n_trials = plan.event.repetitions.sample(count)
    streams = list(enumerate(trials.spawn(n_trials)))

    def best_of(numbered):
        outcomes = (_trial(plan, models, records, *one) for one in numbered)
        return max(outcomes, key=lambda outcome: outcome.rank, default=None)

    best = _in_parallel(best_of, streams, n_jobs)
    run.made_within(SEARCH)
    return max((one for one in best if one is not None), key=lambda one: one.rank)


def run_composed(plan, models, records, run, n_jobs):
    """Fit all candidates and return that of a noisy maximum; its score isn't published."""
    (fits,) = run.spawn(2, noise=0)
    numbered = list(enumerate(fits.spawn(len(models))))

    def all_of(numbered):
        return [(i, *_fit_and_count(models[i], plan, records, one)) for i, one in numbered]

    # Workers count nothing: a few candidates at a time are shown as they are done.
    shown, fitted = progress(), []
    n_at_once = effective_n_jobs(n_jobs) if shown.is_shown else len(models)
    one_done = shown.counted("candidates fitted", len(models))
    for first in range(0, len(models), n_at_once):
        some = numbered[first : first + n_at_once]
        fitted += chain(*_in_parallel(all_of, some, n_jobs))
        for _ in some:
            one_done()
    fitted.sort(key=lambda one: one[0])
    place = run.release(SEARCH, np.array([total for _, total, _ in fitted]))
    return Outcome(math.nan, 0, place, fitted[place][2])


def _in_parallel(function, items, n_jobs):
    """Return what a function gives of each part of a list: always one part for each worker."""
    n_workers = effective_n_jobs(n_jobs)
    parts = [items[first::n_workers] for first in range(n_workers)]
    # Workers that are processes have filters of their own; those that are threads share these.
    jobs = (delayed(_silently)(function, part) for part in parts)
    with _silence():
        return Parallel(n_jobs=n_jobs, verbose=0)(jobs)


def _silently(function, *args):
    with _silence():
        return function(*args)


@contextlib.contextmanager
def _silence():
    """Have nothing that a record does to a trial be seen, nor be made an error by a setting."""
    with showing_nothing(), warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
        yield


def _trial(plan, models, records, place, stream):
    draw, fit, score = stream.spawn(3)
    candidate = int(draw.integers(len(models), 1)[0])
    try:
        model = _fit(models[candidate], plan, records, fit)
        value = _score(model, plan, records, score)
    except Exception:
        return Outcome(-math.inf, place, candidate, None)
    return Outcome(value, place, candidate, model)


def _score(model, plan, records, stream):
    counts_all = records.groups_validation is None or math.isinf(records.rows_per_group)
    score = private_score(
        last_step(model),
        _rows_to_score(model, records),
        records.y_validation,
        scoring=records.scoring,
        epsilon=plan.fit_epsilon,
        delta=plan.fit_delta,
        adjacency=plan.budget.adjacency,
        mechanism=plan.score_noise,
        groups=records.groups_validation,
        rows_per_group="auto" if counts_all else records.rows_per_group,
        target_bounds=records.target_bounds,
        random_state=stream.as_random_state(),
        ledger=ALREADY_CHARGED,
    )
    return score.value


def _rows_to_score(model, records):
    """Return what the last step of a fitted model gets of the rows that it is scored on."""
    return rows_for_last(model, records.X_validation, records.table_validation, reset=False)


def _fit_and_count(model, plan, records, stream):
    """Return the sum of rows' scores in whole parts, and the fitted model."""
    try:
        model = _fit(model, plan, records, stream)
        held_out = _rows_to_score(model, records), records.y_validation
        rows = row_scores(last_step(model), *held_out, records.scoring, records.target_bounds)
    except Exception:
        return 0, None
    return int(np.rint(SCORE_PARTS * rows).astype(np.int64).sum()), model


def _fit(model, plan, records, stream):
    model = clone(model)
    last = last_step(model)
    last.set_params(epsilon=plan.fit_epsilon, delta=plan.fit_delta)
    last.set_params(random_state=stream.as_random_state())
    # Where metadata is routed, what is in the last step would have to ask for it.
    with config_context(enable_metadata_routing=False):
        rows = rows_for_last(model, records.X_train, records.table_train, reset=True)
        fit_groups(last, rows, records.y_train, records.groups)
    # The published model holds no seed.
    last.set_params(random_state=None)
    return model


def check_outcome(outcome):
    """Return an outcome, or tell that its trial failed.

    A traceback holds the variables of the calls that it goes through. So this isn't called where
    the number of trials is one of them.
    """
    if outcome.model is None:
        raise ValueError(_FAILED)
    return outcome
