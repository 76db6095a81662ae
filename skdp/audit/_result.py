"""The result of an audit, in one immutable object."""

import math
import textwrap
from dataclasses import dataclass

import numpy as np
from scipy.stats import beta, binom

_BISECTIONS = 50
_LARGEST_EPSILON = 500.0


def clopper_pearson(successes, trials, error):
    """Return a lower and an upper bound on a probability, each wrong with at most `error`.

    Between whole numbers of `successes` the bounds are interpolated.
    """
    successes = np.asarray(successes, dtype=np.float64)
    failures = trials - successes
    # At an end the interval reaches it, and the beta distribution's parameter would be 0.
    low = beta.ppf(error, np.where(successes > 0.0, successes, 1.0), failures + 1.0)
    high = beta.isf(error, successes + 1.0, np.where(failures > 0.0, failures, 1.0))
    return np.where(successes > 0.0, low, 0.0), np.where(failures > 0.0, high, 1.0)


def epsilon_from_rates(true_positives, positives, false_positives, negatives, *, delta, error):
    """Return a lower bound on epsilon from an attack's rates, at least 0, wrong with `error`.

    Any (epsilon, delta)-private algorithm has ``tpr <= exp(epsilon) fpr + delta`` and
    ``1 - fpr <= exp(epsilon) (1 - tpr) + delta``. One bound on each rate serves both, and each has
    half of the error.
    """
    low, _ = clopper_pearson(true_positives, positives, 0.5 * error)
    _, high = clopper_pearson(false_positives, negatives, 0.5 * error)
    with np.errstate(divide="ignore"):
        of_positives = np.log(np.maximum(low - delta, 0.0)) - np.log(high)
        of_negatives = np.log(np.maximum(1.0 - high - delta, 0.0)) - np.log1p(-low)
    return np.maximum(np.maximum(of_positives, of_negatives), 0.0)


def chance_of_guesses(epsilon, delta, *, n_canaries, n_guesses, n_right):
    """Bound the probability that so many guesses about fair coins are right.

    The bound is that of Steinke, Nasr and Jagielski (2023), theorem 3.1, for guesses made from the
    output of an algorithm that is (epsilon, delta)-private in each of `n_canaries` coins: without
    delta, no attack beats a binomial number of right guesses, each right with probability
    ``exp(epsilon) / (1 + exp(epsilon))``. Delta adds its chance to spoil i guesses at once,
    ``2 m delta`` times the largest mean of the binomial's probabilities of the i numbers below
    `n_right`.
    """
    right = 1.0 / (1.0 + math.exp(-epsilon))
    chance = float(binom.sf(n_right - 1, n_guesses, right))
    if delta > 0.0 and n_right > 0:
        below = np.cumsum(binom.pmf(np.arange(n_right - 1, -1, -1), n_guesses, right))
        chance += 2.0 * n_canaries * delta * float((below / np.arange(1, n_right + 1)).max())
    return min(chance, 1.0)


def epsilon_from_guesses(*, n_canaries, n_guesses, n_right, delta, error):
    """Return the epsilon below which so many right guesses have a probability below `error`."""

    def refuted(epsilon):
        chance = chance_of_guesses(
            epsilon, delta, n_canaries=n_canaries, n_guesses=n_guesses, n_right=n_right
        )
        return chance < error

    low, high = 0.0, 1.0
    if not refuted(low):
        return 0.0
    while refuted(high) and high < _LARGEST_EPSILON:
        low, high = high, 2.0 * high
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low


_WIDTH = 88
_NEIGHBOURS = {
    "zero_out": "null records",
    "replace_one": "other records",
    "replace_label": "the same rows with other labels",
}


@dataclass(frozen=True, kw_only=True, repr=False)
class AuditResult:
    """Result of an attack on an estimator. **Not private**: it reveals the training data.

    Parameters
    ----------
    epsilon_lower_bound : float
        Lower bound on epsilon at `delta`; it is wrong with a probability of at most ``1 -
        confidence``.
    epsilon : float
        Epsilon that the estimator's report claims at `delta`.
    largest_bound : float
        The bound if every guess had been right. A claim above it can't fail.
    delta : float
        Delta at which the two are compared.
    confidence : float
        Least probability that a true claim passes.
    adjacency : {"zero_out", "replace_one", "replace_label"}
        Adjacency of the guarantee, from the report.
    method : {"threshold", "one_run"}
        The attack.
    n_fits : int
        Number of fits that were attacked.
    n_canaries : int
        Number of records that were guessed about.
    positives, true_positives : int
        Number of guesses about canaries that took part, and of these the right ones. For
        "threshold" there is one guess for each fit that the bound is counted on.
    negatives, false_positives : int
        Number of guesses about canaries that were left out or replaced, and of these the wrong
        ones.
    threshold : float or None
        Score above which the guess is that the canary took part; None for "one_run".

    See Also
    --------
    audit : Make such a result.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from skdp.audit import audit
    >>> from skdp.linear_model import DPSCDClassifier
    >>> X, y = make_classification(n_samples=50, n_features=4, random_state=0)
    >>> model = DPSCDClassifier(epsilon=1.0, delta=1e-3, data_norm=3.0)
    >>> result_not_private = audit(model, X, y, n_fits=30, random_state=0)
    >>> result_not_private.passed, result_not_private.n_fits
    (True, 30)
    """

    epsilon_lower_bound: float
    epsilon: float
    largest_bound: float
    delta: float
    confidence: float
    adjacency: str
    method: str
    n_fits: int
    n_canaries: int
    positives: int
    true_positives: int
    negatives: int
    false_positives: int
    threshold: float | None

    @property
    def passed(self):
        """Whether the bound is at most the claim: the attack found no fault."""
        return self.epsilon_lower_bound <= self.epsilon

    @property
    def has_power(self):
        """Whether the claim could have failed with these guesses, delta and confidence."""
        return self.largest_bound > self.epsilon

    @property
    def tpr(self):
        """Share of the guesses that were right where the canary took part."""
        return self.true_positives / self.positives if self.positives else math.nan

    @property
    def fpr(self):
        """Share of the guesses that were wrong where the canary didn't take part."""
        return self.false_positives / self.negatives if self.negatives else math.nan

    def to_text(self):
        """Return the result in plain words, for a terminal.

        Returns
        -------
        text : str
            Lines of at most 88 columns.
        """
        paragraphs = (repr(self), self._attack(), self._verdict(), _NOT_PRIVATE)
        return "\n\n".join(textwrap.fill(paragraph, _WIDTH) for paragraph in paragraphs)

    def _attack(self):
        canaries, neighbours = "a canary", _NEIGHBOURS[self.adjacency]
        if self.method == "one_run":
            canaries = f"{self.n_canaries} canaries"
        fits = "one fit" if self.n_fits == 1 else f"{self.n_fits} fits"
        return (
            f"Attack ({self.method}): tell from {fits} whether {canaries} took part, against "
            f"{neighbours} in their place. True positives: {self.true_positives} of "
            f"{self.positives}. False positives: {self.false_positives} of {self.negatives}."
        )

    def _verdict(self):
        bound = (
            f"With a confidence of {self.confidence:g}, epsilon is at least "
            f"{self.epsilon_lower_bound:.3g} at delta = {self.delta:g}"
        )
        if not self.has_power:
            return (
                f"{bound}. NO POWER: a perfect attack would show {self.largest_bound:.3g} here, "
                f"which is no more than the claim, {self.epsilon:g}, so that passing means "
                "nothing. Take more fits (or canaries), a larger delta or a smaller epsilon."
            )
        claim = f"the claim, {self.epsilon:g},"
        if self.passed:
            return f"{bound}, and {claim} passed: no proof of it, as other attacks may find more."
        chance = f"{1.0 - self.confidence:.1g}"
        return f"{bound}, and {claim} FAILED. A true claim fails with a chance of at most {chance}."

    def __repr__(self):
        verdict = "FAILED"
        if self.passed:
            verdict = "passed" if self.has_power else "no power"
        return (
            f"AuditResult({verdict}: epsilon >= {self.epsilon_lower_bound:.3g}, "
            f"claimed {self.epsilon:g}, delta={self.delta:g})"
        )


_NOT_PRIVATE = (
    "Not private: this was computed from the training data, many times over. Audit on public or "
    "made-up data, or keep the result to yourself."
)
