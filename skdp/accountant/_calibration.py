"""From a privacy target to a noise multiplier, and back."""

import functools
import math

from scipy.optimize import brentq

from skdp._checks import check_count, check_flag, check_real, check_within, check_word
from skdp.accountant._divergences import gaussian_log_delta, unamplified_epsilon
from skdp.accountant._events import GaussianEvent, checked_events
from skdp.accountant._loss_distribution import smallest_pld_delta
from skdp.accountant._profile import (
    ADJACENCIES,
    SMALLEST_RATE,
    build_profile,
    epsilon_of,
    full_batch_mu,
)

_TOLERANCE, _COARSE_TOLERANCE = 1e-3, 1e-2
# A record published in the clear with probability q already satisfies delta = q; with such a
# delta no noise is needed, and this much is returned.
_SMALLEST_NOISE, _LARGEST_NOISE = 0.01, 1e9
_MAX_TRIALS = 80
# The search of `largest_within` ends at these, the latter over its start. It takes a cost for no
# less than this power and this size, and no step is longer than this factor.
_SMALLEST_SPENT, _LARGEST_SPENT = 1e-12, 1e6
_LEAST_POWER, _NOTHING, _FARTHEST = 0.2, 1e-9, 16.0
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


def _search_noise(epsilon, delta, design, factor, full_batch, left):
    """Noise within the tolerance of the smallest for the first direction of the losses.

    `full_batch` is the noise that would do without sampling, and `left` the share of the squared mu
    that other releases leave.
    """
    sampling_rate, n_steps, adjacency, resolved, beside = design

    def excess(log_noise, is_coarse):
        event = GaussianEvent(math.exp(log_noise), sampling_rate, n_steps)
        profile = build_profile((*beside, event), adjacency, resolved, is_coarse=is_coarse)
        return profile.excess(epsilon, delta)

    # One step needs no more noise than several.
    floor = max(_SMALLEST_NOISE * factor, _one_step_noise(epsilon, delta, sampling_rate))
    guess = _guess(epsilon, delta, sampling_rate, n_steps, factor) / math.sqrt(left)
    low, high = math.log(floor), math.log(max(full_batch, floor)) + _TOLERANCE
    x = min(max(math.log(guess), low), high)
    # That is the slope for a Gaussian of small delta.
    slope = 2 * math.log(delta) - 1
    for is_coarse, tolerance in ((True, _COARSE_TOLERANCE), (False, _TOLERANCE)):
        x, slope = _root(functools.partial(excess, is_coarse=is_coarse), x, slope, low, tolerance)
        if x is None:
            raise ValueError(
                f"accountant={resolved!r} cannot certify epsilon={epsilon!r} at delta={delta!r} "
                "with any noise; use a larger epsilon or delta, or sampling_rate=1, and leave more "
                "of them where there are other releases."
            )
    return math.exp(x)


def largest_within(spent, start, *, enough):
    """Return about the largest x whose cost is within a budget, None if none was found.

    `spent` gives the cost over the budget, about a power of x; `enough` of it ends the search. It
    is a secant in logarithms, held between the largest x that is known to fit and the smallest that
    isn't: designs change by whole steps, so that costs may jump.
    """
    fits, exceeds, last, power = 0.0, math.inf, None, 1.0
    x = start
    for _ in range(_MAX_TRIALS):
        share = spent(x)
        if share <= 1.0:
            fits = max(fits, x)
            if share >= enough:
                break
        else:
            exceeds = min(exceeds, x)
        # A share of 0, as where delta alone pays for all, tells no slope, and neither does an
        # infinite one.
        if 0.0 < share < math.inf:
            if last is not None and share != last[1] and x != last[0]:
                power = max(math.log(share / last[1]) / math.log(x / last[0]), _LEAST_POWER)
            last = x, share
        factor = ((1.0 + enough) / 2.0 / max(share, _NOTHING)) ** (1.0 / power)
        x = min(x * min(max(factor, 1.0 / _FARTHEST), _FARTHEST), _LARGEST_SPENT * start)
        if not fits < x < exceeds:
            x = math.sqrt(fits * exceeds) if fits else exceeds / 2.0
        if not fits < x < exceeds or x < _SMALLEST_SPENT:
            break
    return fits or None


def _root(excess, x, slope, low, tolerance):
    """Return a point where a decreasing function is not positive, near its root, and the slope.

    The distance to the root is at most the tolerance, as far as the slope tells. The point is None
    if there is none from `low` on.
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
            if x > math.log(_LARGEST_NOISE):
                return None, slope
    return (inside[0] if inside else None), slope


_SMALLEST_EPSILON, _LARGEST_EPSILON = 1e-12, 1e6


def calibrate(
    epsilon,
    delta,
    *,
    sampling_rate=1.0,
    n_steps=1,
    adjacency="zero_out",
    accountant="pld",
    pairwise=False,
    beside=(),
):
    """Smallest noise that makes repeated Gaussian releases (epsilon, delta)-private.

    With full batches the answer is the analytic Gaussian mechanism [1]_, exact. With Poisson
    batches it comes from privacy loss distributions [2]_ and is 0.1 to 0.3 % above the smallest
    sufficient noise (1 % where 1e6 steps or a tiny epsilon leave rounding errors). It is never
    below: ``get_epsilon`` of the result, with the same other arguments (and ``pairwise=False``), is
    at most ``epsilon``.

    Parameters
    ----------
    epsilon : float
        Target, from 1e-12 to 1e6. ``inf`` means no privacy and returns 0.
    delta : float
        Target, in (0, 1). 0 is possible only for ``epsilon=inf``.
    sampling_rate : float, default=1.0
        Probability that a record takes part in a step, in (0, 1]. Below 1 the batches must be
        Poisson samples: an independent coin per record and step.
    n_steps : int, default=1
        Number of releases.
    adjacency : {"zero_out", "replace_one", "replace_label"}, default="zero_out"
        How neighbouring data sets differ. For "replace_one" the contribution of one record moves by
        up to twice its bound, and this function, not the caller, accounts for the factor.
        "replace_label" needs ``sampling_rate=1``, and the noise multiplier is then relative to the
        distance between the releases of two neighbouring data sets.
    accountant : {"pld", "rdp"}, default="pld"
        "rdp" uses Renyi divergences [3]_, which are looser. Below the delta where rounding errors
        make "pld" unreliable (1e-12, more beyond 250 steps), and beyond 4e6 steps, Poisson batches
        fall back to "rdp".
    pairwise : bool, default=False
        Whether the noise multiplier is relative to the distance between the releases of two
        neighbouring data sets, which is never doubled. Needs ``sampling_rate=1``.
    beside : tuple of GaussianEvent, default=()
        Other releases on full batches, whose cost epsilon and delta also cover. They may come
        before, and must not depend on these releases.

    Returns
    -------
    noise_multiplier : float
        Standard deviation of the noise divided by the bound on one record's contribution. It is
        0.01 where delta is so large that any noise is enough.

    Raises
    ------
    ValueError
        If an argument is out of range or the accountant cannot certify the target.

    References
    ----------
    .. [1] Balle and Wang, "Improving the Gaussian mechanism for differential privacy: analytical
       calibration and optimal denoising", ICML 2018, theorem 8.
    .. [2] Doroshenko, Ghazi, Kamath, Kumar and Manurangsi, "Connect the dots: tighter discrete
       approximations of privacy loss distributions", PoPETs 2022, algorithm 1.
       Zhu, Dong and Wang, "Optimal accounting of differential privacy via characteristic
       function", AISTATS 2022, theorem 10 (dominating pairs compose).
    .. [3] Mironov, "Renyi differential privacy", CSF 2017, and Mironov, Talwar and Zhang, "Renyi
       differential privacy of the sampled Gaussian mechanism", 2019, section 3.3.

    Examples
    --------
    >>> from skdp.accountant import calibrate
    >>> round(calibrate(1.0, 1e-5), 2)
    3.73
    """
    epsilon = check_real(epsilon, "epsilon")
    if epsilon != math.inf and not _SMALLEST_EPSILON <= epsilon <= _LARGEST_EPSILON:
        raise ValueError(
            f"epsilon must be positive, from {_SMALLEST_EPSILON:g} to {_LARGEST_EPSILON:g}, or "
            f"infinite for no privacy, got {epsilon!r}."
        )
    beside = checked_events(beside, (GaussianEvent,), "beside")
    if any(event.sampling_rate < 1 for event in beside):
        raise ValueError("beside must hold releases on full batches only: sampling_rate=1.")
    arguments = _check_arguments(delta, sampling_rate, n_steps, adjacency, accountant, beside)
    if check_flag(pairwise, "pairwise"):
        # The accounting of a label's change: nothing is doubled, nothing is sampled.
        design = sampling_rate, n_steps, "replace_label", accountant, beside
        arguments = _check_arguments(delta, *design)
    if math.isinf(epsilon):
        return 0.0
    if arguments[0] == 0:
        raise ValueError(
            "delta must be positive for Gaussian noise: what has mechanism='laplace' does without."
        )
    return _calibrate(epsilon, *arguments)


def calibrate_classic(epsilon, delta):
    """Noise of one Gaussian release by the classic formula, for comparison with `calibrate`.

    It is ``sqrt(2 log(1.25 / delta)) / epsilon`` [1]_, which is more than `calibrate` returns.

    Parameters
    ----------
    epsilon : float
        Target, in (0, 1]. The theorem does not cover larger values, for which the formula soon
        gives too little noise.
    delta : float
        Target, in (0, 0.05].

    Returns
    -------
    noise_multiplier : float
        Standard deviation of the noise divided by the distance between the values of two
        neighbouring data sets.

    Raises
    ------
    ValueError
        If a target is out of range.

    References
    ----------
    .. [1] Dwork and Roth, "The algorithmic foundations of differential privacy", 2014, theorem A.1.

    Examples
    --------
    >>> from skdp.accountant import calibrate_classic
    >>> round(calibrate_classic(1.0, 1e-5), 2)
    4.84
    """
    epsilon = check_real(epsilon, "epsilon")
    if not 0.0 < epsilon <= 1.0:
        raise ValueError(
            f"epsilon must be in (0, 1] for the classic formula, got {epsilon!r}: its theorem says "
            "nothing of larger ones, where it soon gives too little noise. Use calibrate, or "
            "mechanism='analytic' in an estimator."
        )
    delta = check_within(delta, "delta of the classic formula", 0.0, 0.05, "(]")
    return math.sqrt(2.0 * math.log(1.25 / delta)) / epsilon


def get_epsilon(
    noise_multiplier, delta, *, sampling_rate=1.0, n_steps=1, adjacency="zero_out", accountant="pld"
):
    """Epsilon at a delta of repeated Gaussian releases; the inverse of ``calibrate``.

    An upper bound: exact with full batches; otherwise usually within 0.3 % of the smallest.

    Parameters
    ----------
    noise_multiplier : float
        Standard deviation of the noise divided by the bound on one record's contribution.
        0 gives ``inf``, ``inf`` gives 0.
    delta : float
        In [0, 1). 0 gives ``inf``.
    sampling_rate : float, default=1.0
        Probability that a record takes part in a step, in (0, 1].
    n_steps : int, default=1
        Number of releases.
    adjacency : {"zero_out", "replace_one", "replace_label"}, default="zero_out"
        How neighbouring data sets differ, see :func:`calibrate`.
    accountant : {"pld", "rdp"}, default="pld"
        How steps are composed, see :func:`calibrate`.

    Returns
    -------
    epsilon : float
        Never negative.

    Raises
    ------
    ValueError
        If an argument is out of range or the accountant cannot answer.

    Examples
    --------
    >>> from skdp.accountant import get_epsilon
    >>> round(get_epsilon(3.73, 1e-5), 2)
    1.0
    """
    noise_multiplier = check_within(noise_multiplier, "noise_multiplier", 0.0, math.inf)
    arguments = _check_arguments(delta, sampling_rate, n_steps, adjacency, accountant)
    return _get_epsilon(noise_multiplier, *arguments)


def resolve_accountant(accountant, delta, sampling_rate=1.0, n_steps=1, adjacency="zero_out"):
    """Return the method that "pld" or "rdp" stands for: one of them or "analytic".

    The sampling rate is the smallest of the events, and the number of steps that of all.
    """
    if accountant == "rdp" and adjacency == "replace_one":
        raise ValueError("accountant='rdp' takes no adjacency='replace_one'; use accountant='pld'.")
    if accountant == "rdp":
        return "rdp"
    if sampling_rate == 1:
        return "analytic"
    least = smallest_pld_delta(n_steps)
    if 0 < delta < least and adjacency == "replace_one":
        raise ValueError(
            f"delta={delta!r} is below {least:.2g}, from which adjacency='replace_one' is reliable "
            f"with n_steps={n_steps} of Poisson batches. Use a larger delta, fewer steps, or full "
            "batches (sampling_rate=1; in an estimator, batch_size=n_samples)."
        )
    return "rdp" if 0 < delta < least else "pld"


def _check_arguments(delta, sampling_rate, n_steps, adjacency, accountant, beside=()):
    """Validated scalars, in the order of the cached functions."""
    delta = check_within(delta, "delta", 0.0, 1.0, "[)")
    sampling_rate = check_within(sampling_rate, "sampling_rate", 0.0, 1.0, "(]")
    n_steps = check_count(n_steps, "n_steps")
    check_word(adjacency, "adjacency", ADJACENCIES)
    check_word(accountant, "accountant", ("pld", "rdp"))
    if adjacency == "replace_label" and sampling_rate < 1:
        raise ValueError("adjacency='replace_label' needs sampling_rate=1.")
    n_all = n_steps + sum(event.n_steps for event in beside)
    resolved = resolve_accountant(accountant, delta, sampling_rate, n_all, adjacency)
    return delta, max(sampling_rate, SMALLEST_RATE), n_steps, adjacency, resolved, beside


def _get_epsilon(noise_multiplier, delta, sampling_rate, n_steps, adjacency, resolved, beside):
    event = GaussianEvent(noise_multiplier, sampling_rate, n_steps)
    return epsilon_of((*beside, event), adjacency, resolved, delta)


@functools.lru_cache(maxsize=1024)
def _calibrate(epsilon, delta, *design):
    _, n_steps, adjacency, resolved, beside = design
    factor = 2.0 if adjacency == "replace_one" else 1.0
    mu = gaussian_mu(epsilon, delta)
    left = 1 - (full_batch_mu(beside, adjacency) / mu) ** 2
    if left <= 0:
        raise ValueError("beside leaves nothing of epsilon and delta: other releases spend all.")
    full_batch = factor * math.sqrt(n_steps) / (mu * math.sqrt(left))
    if resolved == "analytic":
        noise, nudge = full_batch, 1e-9
    else:
        noise, nudge = _search_noise(epsilon, delta, design, factor, full_batch, left), 1e-4
    if noise > _LARGEST_NOISE:
        raise ValueError(
            f"epsilon={epsilon:g} at delta={delta:g} needs noise of more than {_LARGEST_NOISE:g} "
            "times a record's contribution; use a larger epsilon or delta, or smaller n_steps."
        )
    while _get_epsilon(noise, delta, *design) > epsilon:
        noise *= 1 + nudge
        nudge *= 2
    return noise
