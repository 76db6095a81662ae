"""Calibration of two classes: what noise and cut slopes do to predictions is taken back."""

import math
from typing import NamedTuple

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy.optimize import brentq, fsolve
from scipy.special import expit

from skdp.linear_model.whitened import _tuned as tuned
from skdp.linear_model.whitened._solver import noise_covariance, typical_length

_NODES, _WEIGHTS = hermegauss(tuned.NODES_OF_PREDICTIONS)
_SHARES = _WEIGHTS / _WEIGHTS.sum()


class Law(NamedTuple):
    """The normal law of predictions, by what was released."""

    mean: float
    variance: float
    # The share of the variance that the noise of the steps is expected to have.
    share_of_noise: float
    # A step of the steepest slope leaves this share of itself in the spread of predictions.
    of_spread: float


class Movement(NamedTuple):
    """What moves the mean and the spread of predictions from step to step."""

    # The largest slope of a row of typical length.
    largest: float
    # The share of a gradient that the map leaves, along the spread of predictions and their mean.
    of_spread: float
    of_mean: float
    # The pull of the penalty on the intercept's weight, over the mean prediction.
    pull: float
    steps: object


# A warning about an overflow would reveal something of the data.
@np.errstate(all="ignore")
def calibrated(coefs, steps, plan, *, from_zero=True):
    r"""Return weights of two classes whose probabilities are nearer to the true ones, and steps.

    Predictions :math:`\theta` become :math:`m + a (\theta - m) + d`, with their mean m. The share a
    makes up for the noise of predictions, for cuts where slopes were cut, and for a part of what
    predictions lack where steps stop early. With d the mean risk is what it is expected to be. Both
    are functions of releases and of what is public. The noise that steps are known to have falls by
    a, too.

    Nothing is done where the law of predictions isn't known: without a released moment or an
    intercept, for rows with weights and groups of rows, and without privacy. Steps that didn't
    begin at 0 aren't taken again: only their noise is made up for, and where they stop.
    """
    law = _law_of(coefs[0], steps, plan)
    if law is None:
        return coefs, steps
    share, shift = _linear_map(law, coefs[0], steps, plan, from_zero)
    bias = plan.problem.bias
    weights = share * coefs
    weights[:, -1] += ((1.0 - share) * law.mean + shift) / bias
    if not np.isfinite(weights).all():
        return coefs, steps
    return weights, steps._replace(
        noise=share**2 * steps.noise, variances=share**2 * steps.variances
    )


def _law_of(w, steps, plan):
    """Return the law of predictions, or None where it isn't known."""
    problem, white = plan.problem, steps.white
    is_plain = problem.bias and {problem.typical_weight, problem.wanted_weight} == {1.0}
    if not is_plain or white.moment is None or plan.budget.of_groups or not plan.budget.is_private:
        return None
    known = white.moment - white.noise * np.eye(len(white.moment))
    # The constant is public, whatever the moment says of it.
    row = np.append(known[:-1, -1] / problem.bias, problem.bias)
    about_mean = known - np.multiply.outer(known[:, -1], known[:, -1]) / problem.bias**2
    covariance = noise_covariance(steps)
    variance, noise = w @ about_mean @ w, np.sum(about_mean * covariance)
    share = min(max(noise / variance, 0.0), tuned.LARGEST_SHARE_OF_NOISE) if variance > 0.0 else 0.0
    # The gradient along the predictions, in the coordinates of the steps, without its noise.
    along = white.A @ about_mean
    length = np.sum((along @ w) ** 2) - np.sum((along @ covariance) * along)
    of_spread = length / (variance * (1.0 - share)) if variance > 0.0 else 1.0
    law = (
        np.clip(w @ row, -tuned.FARTHEST_LOG_ODDS, tuned.FARTHEST_LOG_ODDS),
        np.clip(variance, 0.0, tuned.FARTHEST_LOG_ODDS),
        share,
        np.clip(of_spread, tuned.SMALLEST_SHARE_OF_GRADIENT, 1.0),
    )
    return Law(*map(float, law)) if np.isfinite(law).all() else None


def _linear_map(law, w, steps, plan, from_zero):
    """Return what predictions are multiplied by about their mean, and what is added to them."""
    share, at_mean, spread = 1.0 - law.share_of_noise, law.mean, math.sqrt(law.variance)
    largest = steps.clip / typical_length(steps.white, plan.problem)
    rate = mean_risk(spread, at_mean)
    if {plan.clipping_norm, plan.max_iter, plan.step_size} != {"auto"}:
        return share, _intercept_of(rate, share * spread, at_mean) - at_mean
    if largest < 1.0:
        pull = plan.problem.alpha * w[-1] / plan.problem.bias
        kept = max(0.0, 1.0 - tuned.BALANCE_LEFT_OUT_PER_NOISE * steps.noise)
        rate = mean_risk(spread, at_mean + kept * end_of_steps(law, largest, pull))
    odds = None
    if from_zero:
        odds = odds_behind(law, _movement_of(law, largest, steps, plan.problem))
    if odds is not None:
        slope, intercept = odds
        stretch = slope / (spread * math.sqrt(share))
        if stretch > 1.0:
            share *= min(stretch, share**-tuned.LARGEST_PART_GIVEN_BACK)
        elif largest < 1.0 and steps.white.effective_columns >= tuned.FEWEST_COLUMNS_OF_SLOPE:
            rate = mean_risk(slope, intercept)
            share *= stretch
    return share, _intercept_of(rate, share * spread, at_mean) - at_mean


def mean_risk(spread, at_mean):
    """Return the mean of probabilities whose log-odds are normal."""
    return float(_SHARES @ expit(spread * _NODES + at_mean))


def _intercept_of(rate, spread, otherwise):
    """Return the mean of normal log-odds whose probabilities have this mean."""
    farthest = 2.0 * tuned.FARTHEST_LOG_ODDS + tuned.ROOTS_IN_SPREADS * spread
    if not mean_risk(spread, -farthest) < rate < mean_risk(spread, farthest):
        return otherwise
    return brentq(lambda at_mean: mean_risk(spread, at_mean) - rate, -farthest, farthest)


def end_of_steps(law, largest, pull):
    r"""Return d if the logarithm of the true odds is :math:`\theta + d` where steps have stopped.

    Then the sum of cut slopes is 0, not that of slopes: of a rare class most are cut. With the
    probabilities q by true odds and p by the model, of predictions that are normal, and the largest
    slope g of a row of typical length,

    .. math:: E[(1 - q) \min(g, p) - q \min(g, 1 - p)] + \alpha w_b / b = 0 ,

    with the penalty of the intercept's weight. It is 0 where there is no such d.
    """
    predictions = law.mean + math.sqrt(law.variance) * _NODES
    fewer, more = (np.minimum(largest, expit(side * predictions)) for side in (1.0, -1.0))

    def slope(d):
        return _SHARES @ (fewer + pull - (fewer + more) * expit(predictions + d))

    farthest = 1.0 - math.log(largest)
    if not slope(-farthest) > 0.0 > slope(farthest):
        return 0.0
    return brentq(slope, -farthest, farthest)


def _movement_of(law, largest, steps, problem):
    """Return what moves predictions from step to step."""
    in_intercept = problem.bias**2 * float(steps.white.A[-1] @ steps.white.A[-1])
    return Movement(
        largest=largest,
        of_spread=law.of_spread,
        of_mean=min(max(in_intercept, tuned.SMALLEST_SHARE_OF_GRADIENT), 1.0),
        pull=problem.alpha / problem.bias**2,
        steps=steps,
    )


def averaged(slope, intercept, movement):
    """Return spread and mean of predictions that steps lead to if the true odds have these."""
    steps, q = movement.steps, expit(slope * _NODES + intercept)
    spread = mean = faster = shifting = 0.0
    total = np.zeros(2)
    for t in range(steps.n_steps):
        p = expit(spread * _NODES + mean)
        cut = (1.0 - q) * np.minimum(movement.largest, p) - q * np.minimum(
            movement.largest, 1.0 - p
        )
        faster = steps.momentum * faster + movement.of_spread * (_SHARES @ (_NODES * cut))
        pulled = _SHARES @ cut + movement.pull * mean
        shifting = steps.momentum * shifting + movement.of_mean * pulled
        spread, mean = spread - steps.size * faster, mean - steps.size * shifting
        if t >= steps.first:
            total += spread, mean
    return total / (steps.n_steps - steps.first)


def odds_behind(law, movement):
    """Return the slope and intercept of true log-odds under which steps lead to this law, or None.

    The law's noise is left out. None is returned where there is no solution.
    """
    spread = math.sqrt(law.variance * (1.0 - law.share_of_noise))
    if not spread > 0.0:
        return None

    def rest(odds):
        return averaged(*odds, movement) - (spread, law.mean)

    odds, info, _, _ = fsolve(rest, [tuned.FIRST_SLOPE * spread, law.mean], full_output=True)
    slope, intercept = (float(x) for x in odds)
    is_solved = bool(np.abs(info["fvec"]).max() < tuned.LARGEST_REST)
    if not (is_solved and slope > 0.0 and abs(intercept) < 2.0 * tuned.FARTHEST_LOG_ODDS):
        return None
    return slope, intercept
