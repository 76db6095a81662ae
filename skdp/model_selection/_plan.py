"""Plan of a search: what each trial may spend, how many there are, and what choosing costs.

The proof is in the documentation, "theory/selection".
"""

import functools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.special import ndtr

from skdp._checks import check_real
from skdp._release.mechanisms import NoisyMaximum
from skdp._release.plan import (
    CANDIDATES_KEY,
    SEARCH_KEY,
    SPLIT_SLACK,
    Budget,
    GroupBudget,
    OfGroups,
    Plan,
)
from skdp._release.random import make_stream
from skdp._release.release import FixedRelease, Planned
from skdp.accountant import (
    NoisyMaxEvent,
    SelectionEvent,
    TruncatedNegativeBinomial,
    calibrate_selection,
    selection_noise,
)
from skdp.metrics._plan import ScoreBudget, describe_counted, plan_histogram

# Runs and reports call the release so.
SEARCH = "choice of a candidate and its fit"
# Shape of the law of the number of trials, and how many there are for each candidate by default. Of
# laws that cost about the same, the first leaves few candidates untried. With pure trials more of
# them cost nothing, and the shape does. See doc/theory/selection.rst.
_LAW, _PURE_LAW = (2.0, 3), (1.0, 6)
_FEWEST_TRIALS = 5
# The noise of a choice may cost this part of the standard error that a score has by its sample.
_CHOICE_LOSS = 0.25
# A row's score is a whole number of these parts of 1.
SCORE_PARTS = 2**20


@dataclass(frozen=True)
class SearchBudget(Budget):
    """What may be spent on a search."""

    accountant: str = "pld"

    assumed_public: ClassVar[tuple[str, ...]] = (
        "every parameter of the search: the candidates, and how they are chosen among",
        *Budget.assumed_public[1:],
    )
    not_covered: ClassVar[tuple[str, ...]] = (
        "running time, memory use and the state of the process, which reveal the number of trials",
        *Budget.not_covered[1:],
    )


@dataclass(frozen=True)
class SearchGroupBudget(OfGroups, SearchBudget):
    """What may be spent on a search that protects groups of rows."""

    assumed_public: ClassVar[tuple[str, ...]] = (
        SearchBudget.assumed_public[0],
        *GroupBudget.assumed_public[1:],
    )
    not_covered: ClassVar[tuple[str, ...]] = (
        SearchBudget.not_covered[0],
        GroupBudget.not_covered[1],
        *SearchBudget.not_covered[1:],
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class SelectionPlan(Plan):
    """How a model is chosen, and the guarantee that it gives.

    Models are scored on `n_validation` records, of each of which `rows_per_group` rows count at
    most, and fitted on the others. A fit may spend `fit_epsilon` at `fit_delta`. `noise` is what a
    search costs in noise, by method; empty without privacy.
    """

    n_validation: int
    n_candidates: int
    fit_epsilon: float
    fit_delta: float
    event: SelectionEvent
    noise: dict
    average_over: str = "rows"
    rows_per_group: float = 1

    stream_key: ClassVar[tuple[int, ...]] = (SEARCH_KEY,)

    @property
    def releases(self):
        """All of it as one: how many trials there are is secret."""
        return (Planned(SEARCH, None, (self.event,)),)

    @property
    def notes(self):
        """How the model was chosen, and what the other way would have cost."""
        said = (f"each fit had epsilon={self.fit_epsilon:.4g} at delta={self.fit_delta:.3g}",)
        if self.noise:
            costs = ", ".join(f"{name} {factor:.2f}" for name, factor in self.noise.items())
            said += (f"noise of a fit over that of a single fit with the whole budget: {costs}",)
        if self.budget.of_groups:
            counted = describe_counted(self.average_over, self.rows_per_group)
            said += (f"counted in scores: {counted}",)
        return said


@dataclass(frozen=True, eq=False, kw_only=True)
class RepeatPlan(SelectionPlan):
    """Plan of the best of a secret number of trials, each of a candidate drawn at random."""

    method: ClassVar = "repeat"

    @property
    def score_noise(self):
        """Noise of a trial's score: what is more private than fits wouldn't make a trial so."""
        return "gaussian" if self.fit_delta > 0.0 else "laplace"


@dataclass(frozen=True, eq=False, kw_only=True)
class ComposePlan(SelectionPlan):
    """Plan of fits of all candidates, and a noisy maximum of their scores."""

    choice: NoisyMaxEvent

    method: ClassVar = "compose"

    @property
    def releases(self):
        """The choice, which costs what it does with all fits before."""
        return (Planned(SEARCH, FixedRelease(self.mechanism, self.choice), (self.event,)),)

    @cached_property
    def mechanism(self):
        """The choice."""
        if not self.budget.is_private:
            return NoisyMaximum(0.0, SCORE_PARTS)
        return NoisyMaximum(self.choice.noise_multiplier, SCORE_PARTS * self.rows_per_group)

    @property
    def notes(self):
        """What the choice had, too."""
        if not self.budget.is_private:
            return super().notes
        epsilon = self.choice.epsilon(self.budget.adjacency)
        lost = self.choice.noise_multiplier * _excess_of_largest(self.n_candidates)
        lost *= self.rows_per_group
        said = (
            f"the choice had epsilon={epsilon:.4g}, and is expected to lose "
            f"{lost / self.n_validation:.2g} of a score within 0 and 1 at most"
        )
        return (*super().notes, said)


def plan_selection(
    budget,
    *,
    n_records,
    n_validation,
    n_candidates,
    method,
    n_trials,
    fits,
    row_spread,
    n_releases=1,
    average_over="rows",
    rows_per_group=1,
):
    """Plan a search by a method, or by that of less noise for "auto".

    Given an epsilon and a delta, `fits` gives the events of each candidate's fit with them. If the
    score is a mean over rows, as composition needs it, `row_spread` is about what standard
    deviation their scores have, which are within 0 and 1; otherwise None. `n_trials` is a mean or
    "auto", and a score needs `n_releases` histograms.

    A record is in one part only: it is seen by fits or by scores. Scores have the epsilon and delta
    of fits, as whatever is more private wouldn't make the larger of both less.
    """
    eta, trials_each = _LAW if budget.delta > 0.0 else _PURE_LAW
    if n_trials == "auto":
        n_trials = max(_FEWEST_TRIALS, trials_each * n_candidates)
    n_trials = check_real(n_trials, "n_trials")
    if row_spread is None and method == "compose":
        raise ValueError("method='compose' needs a scoring that is a mean over rows.")
    noise = {}
    if budget.is_private:
        noise = selection_noise(
            budget.epsilon, budget.delta, n_candidates=n_candidates, mean=n_trials, eta=eta
        )
    if method == "auto":
        cheaper = min(noise, key=noise.get) if noise else "compose"
        method = "repeat" if row_spread is None else cheaper
    if method == "repeat":
        law = TruncatedNegativeBinomial.of_mean(n_trials, eta)
        alternatives = _alternatives(budget, fits, n_validation, n_releases)
        fit_epsilon, fit_delta = _calibrated(budget, law, alternatives)
        trials = alternatives(fit_epsilon, fit_delta)
        make = functools.partial(
            RepeatPlan, event=SelectionEvent(trials, law.eta, law.stopping_rate)
        )
    else:
        # The noise of a choice grows with the rows of a record, and what it may cost does not.
        spread = row_spread / rows_per_group if budget.is_private else row_spread
        choice = NoisyMaxEvent(_choice_noise(budget, n_validation, n_candidates, spread))
        fit_epsilon, fit_delta = _calibrated_to_choice(budget, fits, choice)
        event = SelectionEvent.composed(_joined(fits(fit_epsilon, fit_delta)), choice)
        make = functools.partial(ComposePlan, event=event, choice=choice)
    return make(
        budget=budget,
        n_records=n_records,
        n_validation=n_validation,
        n_candidates=n_candidates,
        fit_epsilon=fit_epsilon,
        fit_delta=fit_delta,
        noise=noise,
        average_over=average_over,
        rows_per_group=rows_per_group,
    )


def public_choices(random_state):
    """Return a RandomState for the candidates that a random search tries."""
    return make_stream(random_state, key=(CANDIDATES_KEY,)).twister()


def _alternatives(budget, fits, n_validation, n_releases):
    """Return a function of epsilon and delta that gives the events of each thing a trial may do.

    That is any candidate's fit, or a score, which is on other records.
    """

    def alternatives(epsilon, delta):
        noise = "gaussian" if delta > 0.0 else "laplace"
        score = ScoreBudget(epsilon, delta, budget.adjacency, mechanism=noise)
        histogram = plan_histogram(score, n_records=n_validation, n_cells=1, n_steps=n_releases)
        return (*fits(epsilon, delta), histogram.events)

    return alternatives


def _calibrated_to_choice(budget, fits, choice):
    """Return the epsilon and delta of fits that are all made, beside a choice on other records."""
    once = TruncatedNegativeBinomial(0.0, 1.0)
    return _calibrated(budget, once, lambda *spent: (_joined(fits(*spent)), (choice,)))


def _joined(fits):
    return [event for events in fits for event in events]


def _calibrated(budget, law, alternatives):
    """Return the epsilon and delta of fits, the largest that the whole has room for."""
    if not budget.is_private:
        return math.inf, budget.delta
    return calibrate_selection(
        budget.epsilon,
        budget.delta,
        mean=law.mean,
        eta=law.eta,
        trial_events=alternatives,
        adjacency=budget.adjacency,
        accountant=budget.accountant,
    )


def _choice_noise(budget, n_validation, n_candidates, row_spread):
    """Return the noise multiplier of a choice whose noise costs little beside the sample's.

    It spends the whole epsilon at most, and at least what a ledger takes for the fits anyway. With
    a ledger it spends no more than that: see doc/theory/selection.rst.
    """
    if not budget.is_private:
        return 0.0
    max_noise = budget.calibrate_pure(epsilons=_as_pure(budget))
    allowed = _CHOICE_LOSS * row_spread * math.sqrt(n_validation)
    excess = _excess_of_largest(n_candidates)
    is_free = budget.account is None and excess > 0.0
    wanted = min(allowed / excess, max_noise) if is_free else max_noise
    return max(float(wanted), SPLIT_SLACK * budget.calibrate_pure())


def _as_pure(budget):
    """Return a pure epsilon that costs a ledger what a Gaussian release of the budget does."""
    if budget.delta == 0.0:
        return budget.epsilon
    reach = 0.5 / budget.calibrate(pairwise=True)
    return min(float(np.log(ndtr(reach) / ndtr(-reach))), budget.epsilon)


def _excess_of_largest(n_candidates):
    """Return by how much the largest of several exponential numbers exceeds one, in the mean."""
    return math.fsum(1.0 / k for k in range(2, n_candidates + 1))
