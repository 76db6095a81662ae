"""The smallest noise that meets a privacy target, where there is no closed form."""

import functools
import math

from scipy.optimize import brentq

from skdp.accountant._divergences import gaussian_log_delta, unamplified_epsilon
from skdp.accountant._events import GaussianEvent
from skdp.accountant._profile import build_profile

_TOLERANCE, _COARSE_TOLERANCE = 1e-3, 1e-2
# A record published in the clear with probability q already satisfies delta = q; with such a
# delta no noise is needed, and this much is returned.
_SMALLEST_NOISE = 0.01
LARGEST_NOISE = 1e9
_MAX_TRIALS = 80
# Secant steps in a row that may leave more than half of the bracket.
_MAX_STALLED = 2


@functools.lru_cache(maxsize=1024)
def gaussian_mu(epsilon, delta):
    """Largest mu such that mu-Gaussian differential privacy implies (epsilon, delta)."""
    log_delta = math.log(delta)

    def excess(log_mu):
        return float(gaussian_log_delta(epsilon, math.exp(log_mu))) - log_delta

    # log delta(epsilon) lies between the logarithms of Gaussian tails at these two points.
    low, high = math.log(epsilon) - 1, math.log(epsilon) + 1
    while excess(low) > 0:
        low -= 1
    while excess(high) < 0:
        high += 1
    return math.exp(brentq(excess, low, high, xtol=1e-13, rtol=1e-13))


def _one_step_noise(epsilon, delta, sampling_rate):
    """Noise of one subsampled step; 0 if any will do."""
    if delta >= sampling_rate:
        return 0.0
    if sampling_rate == 1:
        return 1 / gaussian_mu(epsilon, delta)
    inner = float(unamplified_epsilon(epsilon, sampling_rate))
    return 1 / gaussian_mu(inner, delta / sampling_rate)


def _guess(epsilon, delta, sampling_rate, n_steps, factor):
    """Noise that is often within a few percent of the smallest, and seldom twice or half of it."""
    # The central limit of subsampled Gaussians (Bu, Dong, Long and Su 2020).
    ratio = gaussian_mu(epsilon, delta) / sampling_rate / math.sqrt(n_steps) / factor
    guess = 1 / math.sqrt(math.log1p(ratio**2))
    if sampling_rate * n_steps < 1:
        # A record that hardly ever takes part twice: one step at the rate of taking part at all.
        once = -math.expm1(n_steps * math.log1p(-sampling_rate))
        guess = min(guess, max(_one_step_noise(epsilon, delta, once), _SMALLEST_NOISE))
    # Losses that are rare and large: their chance grows with the number of steps.
    return max(guess, _one_step_noise(epsilon, delta / n_steps, sampling_rate))


def search_noise(epsilon, delta, design, full_batch):
    """Noise that is about the smallest.

    It is within the tolerance of that for the first direction of the losses.

    Parameters
    ----------
    epsilon, delta : float
        Target.
    design : tuple
        Sampling rate, number of steps, adjacency, and "pld" or "rdp".
    full_batch : float
        Noise that would do without sampling.

    Returns
    -------
    noise_multiplier : float
    """
    sampling_rate, n_steps, adjacency, resolved = design

    def excess(log_noise, is_coarse):
        event = GaussianEvent(math.exp(log_noise), sampling_rate, n_steps)
        profile = build_profile((event,), adjacency, resolved, is_coarse=is_coarse)
        return profile.excess(epsilon, delta)

    # One step needs no more noise than several.
    factor = 2.0 if adjacency == "replace_one" else 1.0
    floor = max(_SMALLEST_NOISE * factor, _one_step_noise(epsilon, delta, sampling_rate))
    guess = _guess(epsilon, delta, sampling_rate, n_steps, factor)
    low, high = math.log(floor), math.log(max(full_batch, floor)) + _TOLERANCE
    x = min(max(math.log(guess), low), high)
    # Of a Gaussian of small delta.
    slope = 2 * math.log(delta) - 1
    for is_coarse, tolerance in ((True, _COARSE_TOLERANCE), (False, _TOLERANCE)):
        trial = functools.partial(excess, is_coarse=is_coarse)
        x, slope = _root(trial, x, slope, low, tolerance)
        if x is None:
            raise ValueError(
                f"accountant={resolved!r} cannot certify epsilon={epsilon!r} at delta={delta!r} "
                "with any noise; use a larger epsilon or delta, or sampling_rate=1."
            )
    return math.exp(x)


def _root(excess, x, slope, low, tolerance):
    """Return a point where a decreasing function is not positive, near its root, and the slope.

    The distance to the root is at most the tolerance, as far as the slope tells. The point is None
    if there is none.

    Parameters
    ----------
    excess : callable
    x, slope : float
        First point, and what the slope may be there.
    low : float
        Least point that is tried.
    tolerance : float
    """
    margin = tolerance / 4
    outside, inside, last = None, None, None
    reach, gap, stalled = 0.2, math.inf, 0
    for _ in range(_MAX_TRIALS):
        y = excess(x)
        if last is not None and (y - last[1]) / (x - last[0]) < 0:
            slope = (y - last[1]) / (x - last[0])
        last = x, y
        if y > 0:
            outside = last
        else:
            inside = last
            if x <= low or y / slope <= tolerance:
                break
        root = x - y / slope
        if outside and inside:
            if inside[0] - outside[0] <= tolerance:
                break
            stalled = stalled + 1 if inside[0] - outside[0] > gap / 2 else 0
            gap = inside[0] - outside[0]
            if stalled < _MAX_STALLED:
                x = min(max(root + margin, outside[0] + gap / 50), inside[0] - gap / 50)
            else:
                x, stalled = (inside[0] + outside[0]) / 2, 0
        else:
            move = min(max(root + margin - x, -reach), reach)
            x = max(x + move, low)
            reach *= 2
            if x > math.log(LARGEST_NOISE):
                return None, slope
    return (inside[0] if inside else None), slope
