"""Releases of a private choice between candidates, as the accountant counts them."""

import decimal
import math
from dataclasses import dataclass, replace
from functools import partial

from scipy.optimize import brentq

from skdp._checks import check_count, check_fields, check_within
from skdp.accountant._events import (
    EVENTS,
    ErasureEvent,
    Event,
    GaussianEvent,
    LaplaceEvent,
    check_not_negative,
    checked_events,
    common_value,
    joint_erasure,
    pure_factor,
)

_LARGEST_ETA, _SMALLEST_ETA, _SMALLEST_RATE = 100.0, 1e-12, 1e-12
# Digits of the law that is drawn from, and words of 64 bits of the uniform that draws.
_DIGITS, _WORDS = 80, 4
# Sums of a few logarithms and exponentials are accurate to this.
_ROUNDING = 1e-13


@dataclass(frozen=True)
class TruncatedNegativeBinomial:
    """Law of the number of trials in private selection.

    ``P(K = k)`` is proportional to ``(1 - g)^k`` times the product of ``(i + eta) / (i + 1)`` over
    ``0 < i < k``, divided by k for ``eta = 0``, for k = 1, 2, ... and the stopping rate g, which
    the papers call gamma.

    Parameters
    ----------
    eta : float
        In (-1, 100]. 1 is the geometric law, 0 the logarithmic. Small values give heavy tails:
        they cost less for the same mean, and are more often far from it.
    stopping_rate : float
        In [1e-12, 1]. 1 means a single trial.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    .. [1] Papernot and Steinke (2022). Hyperparameter tuning with Renyi differential privacy. ICLR.
       Definition 1.

    Examples
    --------
    >>> from skdp.accountant import TruncatedNegativeBinomial
    >>> law = TruncatedNegativeBinomial.of_mean(10, eta=-0.5)
    >>> round(law.mean, 9), round(1 / law.stopping_rate)
    (10.0, 361)
    """

    eta: float
    stopping_rate: float

    def __post_init__(self):
        eta = check_within(self.eta, "eta", -1.0, _LARGEST_ETA, "(]")
        # Differences between powers would lose the digits of smaller ones.
        object.__setattr__(self, "eta", eta if abs(eta) >= _SMALLEST_ETA else 0.0)
        check_fields(self, stopping_rate=partial(check_within, low=_SMALLEST_RATE, high=1.0))

    @classmethod
    def of_mean(cls, mean, eta):
        """Return the law with a mean.

        Parameters
        ----------
        mean : float
            Expected number of trials, at least 1.
        eta : float
            In (-1, 100].

        Returns
        -------
        law : TruncatedNegativeBinomial
            Its mean is exact up to rounding.

        Raises
        ------
        ValueError
            If no law that can be computed with has this mean.
        """
        mean = check_within(mean, "mean", 1.0, cls(eta, _SMALLEST_RATE).mean)
        if mean == 1:
            return cls(eta, 1.0)

        def excess(log_rate):
            return cls(eta, math.exp(log_rate)).mean - mean

        lowest = math.log(_SMALLEST_RATE) * (1 - 1e-15)
        return cls(eta, math.exp(brentq(excess, lowest, 0.0, xtol=1e-14, rtol=1e-14)))

    @property
    def odds(self):
        """Odds of going on: ``(1 - stopping_rate) / stopping_rate``."""
        return (1 - self.stopping_rate) / self.stopping_rate

    @property
    def mean(self):
        """Expected number of trials."""
        return self.odds / self.log_range if self.odds else 1.0

    @property
    def log_range(self):
        """``(1 - g^eta) / eta``, and its limit ``-log(g)`` for eta = 0."""
        log_rate = math.log(self.stopping_rate)
        return -math.expm1(self.eta * log_rate) / self.eta if self.eta else -log_rate

    def sample(self, stream):
        """Draw a number of trials, which must stay secret.

        A uniform of 256 bits is compared with sums of probabilities of 80 digits. The law that is
        drawn from differs from the exact one by less than 1e-60 in all, up to 1e7 trials.

        Parameters
        ----------
        stream : SeededStream or SecureStream
            Source of the randomness; four words are drawn.

        Returns
        -------
        n_trials : int
            At least 1.
        """
        words = stream.words(_WORDS).tolist()
        bits = sum(word << (64 * place) for place, word in enumerate(words))
        with decimal.localcontext(prec=_DIGITS):
            eta, rate = decimal.Decimal(self.eta), decimal.Decimal(self.stopping_rate)
            if rate == 1:
                return 1
            log_range = (rate**-eta - 1) / eta if eta else -rate.ln()
            chance = (1 - rate) / log_range
            left = decimal.Decimal(bits) / 2 ** (64 * _WORDS) - chance
            n_trials = 1
            while left >= 0:
                chance *= (1 - rate) * (n_trials + eta) / (n_trials + 1)
                left -= chance
                n_trials += 1
        return n_trials


def any_of(law, probability):
    """Return the probability that something happens in at least one trial, rounded up.

    It is ``1 - f(1 - p)`` with the generating function ``f(x) = E[x^K]``, and at most the mean of
    the law times the probability of one trial.
    """
    if not law.odds:
        return probability
    grown = math.log1p(law.odds * probability)
    grown = -math.expm1(-law.eta * grown) / law.eta if law.eta else grown
    return min(grown / law.log_range * (1 + _ROUNDING), 1.0)


def any_of_inverse(law, probability):
    """Return the probability in one trial of which `any_of` gives this one, rounded down."""
    if not law.odds:
        return probability
    grown = probability * (1 - _ROUNDING) * law.log_range
    grown = -math.log1p(-law.eta * grown) / law.eta if law.eta else grown
    return min(math.expm1(grown) / law.odds * (1 - _ROUNDING), 1.0)


@dataclass(frozen=True)
class NoisyMaxEvent(Event):
    """The name of the largest of several sums over records, each with noise; no sum is published.

    The noise is Gumbel's or exponential, of the same scale for each sum. A record adds between 0
    and 1 times its bound to each of them, such as 1 for each candidate that predicts it well.

    Parameters
    ----------
    noise_multiplier : float
        Scale of the noise divided by the bound on what one record adds to a sum.
    n_steps : int, default=1
        Number of choices.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    .. [1] McKenna and Sheldon (2020). Permute-and-flip: a new mechanism for differentially private
       selection. NeurIPS. With exponential noise, sums that all move in one direction cost half.

    Examples
    --------
    >>> from skdp.accountant import NoisyMaxEvent
    >>> event = NoisyMaxEvent(2.0)
    >>> event.epsilon("zero_out"), event.epsilon("replace_one")
    (0.5, 1.0)
    """

    noise_multiplier: float
    n_steps: int = 1

    is_pure = True

    def __post_init__(self):
        check_fields(self, noise_multiplier=check_not_negative, n_steps=check_count)

    def __str__(self):
        return self._repeated(f"NoisyMax(scale {self.noise_multiplier:.5g})")

    def epsilon(self, adjacency):
        """Pure epsilon of all steps.

        A record that is left out lowers all sums or none; one that is replaced is one left out and
        another put in.

        Parameters
        ----------
        adjacency : {"zero_out", "replace_one"}

        Returns
        -------
        epsilon : float
            Infinite without noise.

        Raises
        ------
        ValueError
            If `adjacency` is neither of them.
        """
        if self.noise_multiplier == 0:
            return math.inf
        return pure_factor(adjacency) * self.n_steps / self.noise_multiplier

    def scaled_to_group(self, group_size):
        """Event of one record that dominates this event seen by a group of records.

        Parameters
        ----------
        group_size : int
            Number of records that may change together.

        Returns
        -------
        event : NoisyMaxEvent
            With the noise of the group.
        """
        return replace(self, noise_multiplier=self.noise_multiplier / group_size)


INSIDE = (GaussianEvent, LaplaceEvent, NoisyMaxEvent, ErasureEvent)


@dataclass(frozen=True)
class SelectionEvent(Event):
    """The best of a secret number of trials, chosen by a score that is part of each.

    Trials are independent and identically distributed. Each draws a candidate at random, and
    publishes its releases and its score if it wins. The number of trials and all other trials stay
    secret.

    Parameters
    ----------
    alternatives : tuple of tuple of GaussianEvent, LaplaceEvent, NoisyMaxEvent and ErasureEvent
        Possible releases of a trial that involve one record: for each candidate the events of its
        fit, and those of its score if it uses other records, chosen without looking at them. A
        trial costs the largest of the alternatives.
    eta, stopping_rate : float
        Law of the number of trials, see :class:`TruncatedNegativeBinomial`. A stopping rate of 1
        means one trial: the event is then the largest of its alternatives.
    n_steps : int, default=1
        Number of such selections.

    Raises
    ------
    TypeError
        If `alternatives` holds anything else.
    ValueError
        If a parameter is out of range.

    References
    ----------
    .. [1] Liu and Talwar (2019). Private selection from private candidates.
       STOC.
    .. [2] Papernot and Steinke (2022). Hyperparameter tuning with Renyi differential privacy. ICLR.
    .. [3] Koskela, Redberg and Wang (2024). Privacy profiles for private selection. ICML.

    Examples
    --------
    >>> from skdp.accountant import GaussianEvent, PrivacyReport, SelectionEvent
    >>> event = SelectionEvent(((GaussianEvent(6.0),),), eta=1.0, stopping_rate=0.1)
    >>> fields = {"adjacency": "zero_out", "clipping": 1.0, "accountant": "pld"}
    >>> report = PrivacyReport(epsilon=1.2, delta=1e-5, events=[event], **fields)
    >>> round(report.epsilon_at(1e-5), 3)
    0.986
    """

    alternatives: tuple
    eta: float
    stopping_rate: float
    n_steps: int = 1

    def __post_init__(self):
        try:
            alternatives = tuple(tuple(events) for events in self.alternatives)
        except TypeError:
            raise TypeError("alternatives must be a tuple of tuples of events.") from None
        if not alternatives or not all(alternatives):
            raise ValueError("alternatives must hold at least one event each, and one of them.")
        name = "events of alternatives"
        checked = dict.fromkeys(checked_events(events, INSIDE, name) for events in alternatives)
        object.__setattr__(self, "alternatives", tuple(checked))
        law = self.repetitions
        object.__setattr__(self, "eta", law.eta)
        object.__setattr__(self, "stopping_rate", law.stopping_rate)
        check_fields(self, n_steps=check_count)

    def __str__(self):
        trial = " or ".join(
            "(" + ", then ".join(str(event) for event in events) + ")"
            for events in self.alternatives
        )
        law = self.repetitions
        if law.mean == 1:
            return f"{self.n_steps} x one of {trial}"
        return (
            f"{self.n_steps} x best of a secret number of trials (mean {law.mean:.4g}, "
            f"eta {self.eta:g}), each of them {trial}"
        )

    @classmethod
    def composed(cls, fits, choice):
        """Event of fits of all candidates, one of which is chosen on other records.

        Parameters
        ----------
        fits : iterable of event
            Events of all candidates.
        choice : event
            Event of the choice, made on records that no fit has used.

        Returns
        -------
        event : SelectionEvent
            Event of one trial: a record is in one part or in the other.

        Raises
        ------
        TypeError
            If anything other than events is given, or a selection.
        """
        return cls((tuple(fits), (choice,)), eta=0.0, stopping_rate=1.0)

    @property
    def repetitions(self):
        """Law of the number of trials."""
        return TruncatedNegativeBinomial(self.eta, self.stopping_rate)

    @property
    def pairwise(self):
        """Whether all multipliers are relative to distances between neighbours' values."""
        return all(event.pairwise for event in self.inside)

    @property
    def noise_multiplier(self):
        """Smallest noise multiplier inside."""
        return min(event.noise_multiplier for event in self.inside)

    @property
    def sampling_rate(self):
        """Smallest probability inside that a record takes part in a step."""
        return min(event.sampling_rate for event in self.inside)

    @property
    def sampling(self):
        """How batches are drawn: as all trials do it, or "mixed"."""
        return common_value(event.sampling for event in self.inside) or "mixed"

    @property
    def erasure_inside(self):
        """Probability that some trial reveals everything; it is no `erasure` beside the trials."""
        of_trial = max(joint_erasure(e.erasure for e in events) for events in self.alternatives)
        each = any_of(self.repetitions, of_trial)
        return ErasureEvent(each, self.n_steps).erasure if each > 0.0 else 0.0

    @property
    def inside(self):
        """Events of all alternatives, one after the other."""
        return [event for events in self.alternatives for event in events]

    def scaled_to_group(self, group_size):
        """Event of one record that dominates this event seen by a group of records.

        Members of a group may be in different parts of a trial, so the costs of all parts add up.

        Parameters
        ----------
        group_size : int
            Number of records that may change together.

        Returns
        -------
        event : SelectionEvent
            With one alternative, in which everything is.
        """
        together = tuple(event.scaled_to_group(group_size) for event in self.inside)
        return replace(self, alternatives=(together,) if group_size > 1 else self.alternatives)


RELEASES = (*EVENTS, NoisyMaxEvent, SelectionEvent)


def checked_releases(events):
    """Return events of any kind as a tuple after checking them again, see `checked_events`."""
    return checked_events(events, RELEASES, "events")


def merged_releases(pairs):
    """Return events and their names, of which neighbouring equal events are one with more steps.

    That has the names of all of them; where nothing has a name there are none.
    """
    events, names = [], []
    for event, name in pairs:
        if events and replace(events[-1], n_steps=event.n_steps) == event:
            event = replace(event, n_steps=events.pop().n_steps + event.n_steps)
            # Events that were composed before have names of several already.
            parts = f"{names.pop()}, {name}".split(", ")
            name = ", ".join(dict.fromkeys(part for part in parts if part))
        events.append(event)
        names.append(name)
    return tuple(events), tuple(names) if any(names) else ()


def both_directions(events):
    """Return events, in which a record was nulled, for one that goes and one that comes.

    Only distances between neighbours' values count twice, as others do so by themselves. The one
    that comes is in the place of the one that goes, and so in the same part of a trial.
    """
    return tuple(
        replace(event, alternatives=tuple(map(both_directions, event.alternatives)))
        if type(event) is SelectionEvent
        else (event.scaled_to_group(2) if event.pairwise else event)
        for event in events
    )
