"""From counts of right and wrong guesses to lower bounds on epsilon."""

import math

import numpy as np
from scipy.stats import beta, binom

_BISECTIONS = 50
_LARGEST_EPSILON = 500.0


def clopper_pearson(successes, trials, error):
    """Return a lower and an upper bound on a probability, each wrong with at most `error`.

    Parameters
    ----------
    successes : float or ndarray
        Out of `trials`; between whole numbers the bounds are interpolated.
    trials : int
    error : float

    Returns
    -------
    low, high : ndarray
    """
    successes = np.asarray(successes, dtype=np.float64)
    failures = trials - successes
    # At an end the interval reaches it, and the beta distribution's parameter would be 0.
    low = beta.ppf(error, np.where(successes > 0.0, successes, 1.0), failures + 1.0)
    high = beta.isf(error, successes + 1.0, np.where(failures > 0.0, failures, 1.0))
    return np.where(successes > 0.0, low, 0.0), np.where(failures > 0.0, high, 1.0)


def epsilon_from_rates(true_positives, positives, false_positives, negatives, *, delta, error):
    """Return a lower bound on epsilon from an attack's rates, wrong with at most `error`.

    Any (epsilon, delta)-private algorithm has ``tpr <= exp(epsilon) fpr + delta`` and
    ``1 - fpr <= exp(epsilon) (1 - tpr) + delta``. One bound on each rate serves both, and each has
    half of the error.

    Parameters
    ----------
    true_positives, false_positives : float or ndarray
    positives, negatives : int
    delta, error : float

    Returns
    -------
    ndarray
        At least 0.
    """
    low, _ = clopper_pearson(true_positives, positives, 0.5 * error)
    _, high = clopper_pearson(false_positives, negatives, 0.5 * error)
    with np.errstate(divide="ignore"):
        found = np.maximum(
            np.log(np.maximum(low - delta, 0.0)) - np.log(high),
            np.log(np.maximum(1.0 - high - delta, 0.0)) - np.log1p(-low),
        )
    return np.maximum(found, 0.0)


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
    """Return the epsilon below which so many right guesses have a probability below `error`.

    Parameters
    ----------
    n_canaries, n_guesses, n_right : int
        Canaries, guesses made about them, and those that were right.
    delta, error : float

    Returns
    -------
    float
        At least 0.
    """
    counts = {"n_canaries": n_canaries, "n_guesses": n_guesses, "n_right": n_right}

    def refuted(epsilon):
        return chance_of_guesses(epsilon, delta, **counts) < error

    low, high = 0.0, 1.0
    if not refuted(low):
        return 0.0
    while refuted(high) and high < _LARGEST_EPSILON:
        low, high = high, 2.0 * high
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low
