"""Plan of a search: what each trial may spend, how many there are, and what choosing costs."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from skdp._checks import check_real
from skdp._mechanisms import NoisyMaximum
from skdp._plans._base import Budget, Plan
from skdp._plans._histogram import ScoreBudget, plan_histogram
from skdp._plans._keys import CANDIDATES_KEY, SEARCH_KEY
from skdp._random import make_stream
from skdp.accountant import (
    NoisyMaxEvent,
    SelectionEvent,
    TruncatedNegativeBinomial,
    calibrate_selection,
    selection_noise,
)

# The law of the number of trials: of laws that cost about the same, this one leaves few candidates
# untried. Trials for each candidate, and the fewest of all. See doc/selection.rst.
_ETA = 2.0
_TRIALS_EACH, _FEWEST_TRIALS = 3, 5
# A row's score is a whole number of these parts of 1.
SCORE_PARTS = 2**20


@dataclass(frozen=True)
class SearchBudget(Budget):
    """What may be spent on a search."""

    accountant: str = "pld"

    assumed_public: ClassVar = (
        "every parameter of the search: the candidates, and how they are chosen among",
        *Budget.assumed_public[1:],
    )
    not_covered: ClassVar = (
        "running time, memory use and the state of the process, which tell how many trials there "
        "were",
        *Budget.not_covered[1:2],
        "other scores on private records: they carry no noise",
        *Budget.not_covered[3:],
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class SelectionPlan(Plan):
    """How a model is chosen, and the guarantee that it gives.

    Parameters
    ----------
    budget, n_rows
        See `Plan`.
    n_validation : int
        Rows that models are scored on; they are fitted on the others.
    n_candidates : int
    fit_epsilon : float
        What a fit may spend, at `fit_delta`.
    fit_delta : float
    event : SelectionEvent
    noise : dict of str to float
        What a search costs in noise, by method; empty without privacy.
    """

    n_validation: int
    n_candidates: int
    fit_epsilon: float
    fit_delta: float
    event: SelectionEvent
    noise: dict

    stream_key: ClassVar = (SEARCH_KEY,)

    @property
    def events(self):
        """The one event."""
        return (self.event,)

    @property
    def notes(self):
        """How the model was chosen, and what the other way would have cost."""
        said = (f"each fit had epsilon={self.fit_epsilon:.4g} at delta={self.fit_delta:.3g}",)
        if self.noise:
            costs = ", ".join(f"{name} {factor:.2f}" for name, factor in self.noise.items())
            said += (f"noise of a fit over that of a single fit with the whole budget: {costs}",)
        return said


@dataclass(frozen=True, eq=False, kw_only=True)
class RepeatPlan(SelectionPlan):
    """Plan of the best of a secret number of trials, each of a candidate drawn at random."""

    method: ClassVar = "repeat"

    @property
    def law(self):
        """Law of the number of trials."""
        return self.event.repetitions


@dataclass(frozen=True, eq=False, kw_only=True)
class ComposePlan(SelectionPlan):
    """Plan of fits of all candidates, and a noisy maximum of their scores."""

    method: ClassVar = "compose"

    @cached_property
    def mechanism(self):
        """The choice."""
        return NoisyMaximum(_choice_noise(self.budget), SCORE_PARTS)


def plan_selection(
    budget, *, n_rows, n_validation, n_candidates, method, n_trials, fits, is_additive
):
    """Plan a search.

    Parameters
    ----------
    budget : SearchBudget
    n_rows, n_validation, n_candidates : int
    method : {"auto", "repeat", "compose"}
    n_trials : float or "auto"
        Mean of the number of trials.
    fits : callable
        Given an epsilon and a delta, the events of each candidate's fit with them.
    is_additive : bool
        Whether the score is a mean over rows, as composition needs it.

    Notes
    -----
    A record is in one part only: it is seen by fits or by scores. Scores have the epsilon and delta
    of fits, and Gaussian noise, as whatever is more private wouldn't make the larger of both less.
    """
    if n_trials == "auto":
        n_trials = max(_FEWEST_TRIALS, _TRIALS_EACH * n_candidates)
    n_trials = check_real(n_trials, "n_trials")
    if not is_additive and method == "compose":
        raise ValueError("method='compose' needs a scoring that is a mean over rows.")
    noise = {}
    if budget.is_private:
        noise = selection_noise(
            budget.epsilon, budget.delta, n_candidates=n_candidates, mean=n_trials, eta=_ETA
        )
    if method == "auto":
        cheaper = min(noise, key=noise.get) if noise else "compose"
        method = cheaper if is_additive else "repeat"
    kind = {"repeat": _repeated, "compose": _composed}[method]
    return kind(
        budget,
        n_trials,
        fits,
        n_rows=n_rows,
        n_validation=n_validation,
        n_candidates=n_candidates,
        noise=noise,
    )


def public_choices(random_state):
    """Return a RandomState for the candidates that a random search tries."""
    return make_stream(random_state, key=(CANDIDATES_KEY,)).twister()


def _repeated(budget, n_trials, fits, *, n_validation, **public):
    def alternatives(epsilon, delta):
        score = ScoreBudget(epsilon, delta, budget.adjacency, mechanism="gaussian")
        return (
            *fits(epsilon, delta),
            plan_histogram(score, n_rows=n_validation, n_cells=1).events,
        )

    law = TruncatedNegativeBinomial.of_mean(n_trials, _ETA)
    promised = _calibrated(budget, n_trials, alternatives)
    return RepeatPlan(
        budget=budget,
        n_validation=n_validation,
        fit_epsilon=promised[0],
        fit_delta=promised[1],
        event=SelectionEvent(alternatives(*promised), law.eta, law.stopping_rate),
        **public,
    )


def _composed(budget, n_trials, fits, **public):
    choice = NoisyMaxEvent(_choice_noise(budget))

    def joined(epsilon, delta):
        return [event for events in fits(epsilon, delta) for event in events]

    promised = _calibrated(budget, 1.0, lambda *spent: (joined(*spent), (choice,)))
    return ComposePlan(
        budget=budget,
        fit_epsilon=promised[0],
        fit_delta=promised[1],
        event=SelectionEvent.composed(joined(*promised), choice),
        **public,
    )


def _calibrated(budget, mean, alternatives):
    """Return the epsilon and delta of fits, the largest that the whole has room for."""
    if not budget.is_private:
        return math.inf, budget.delta
    return calibrate_selection(
        budget.epsilon,
        budget.delta,
        mean=mean,
        eta=_ETA,
        trial_events=alternatives,
        adjacency=budget.adjacency,
        accountant=budget.accountant,
    )


def _choice_noise(budget):
    """Return the noise multiplier of a choice that spends the whole epsilon."""
    return budget.calibrate_pure()
