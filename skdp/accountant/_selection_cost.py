"""The cost that a trial of a private selection may have, and the cost of the alternative."""

import functools
import math

from skdp._checks import check_count, check_within, check_word
from skdp.accountant._calibration import gaussian_mu, largest_within
from skdp.accountant._events import GaussianEvent, LaplaceEvent
from skdp.accountant._profile import ADJACENCIES, epsilon_of
from skdp.accountant._selection_event import (
    SelectionEvent,
    TruncatedNegativeBinomial,
    any_of_inverse,
)

_SMALLEST_EPSILON, _LARGEST_EPSILON = 1e-6, 1e4
# These are relative to epsilon. The first is coarse, because trials may take a calibration each.
_TOLERANCE, _EXACT_TOLERANCE = 2e-4, 1e-9


def calibrate_selection(
    epsilon, delta, *, mean, eta=-0.5, trial_events=None, adjacency="zero_out", accountant="pld"
):
    """Epsilon and delta of a trial with which the best of several trials is private.

    If fits and scores, each on separate records, are calibrated to them, the
    :class:`SelectionEvent` of the selection costs at most ``(epsilon, delta)``.

    Parameters
    ----------
    epsilon : float
        Target, from 1e-6 to 1e4.
    delta : float
        Target, in [0, 1); 0 for pure releases, which `trial_events` must then return.
    mean : float
        Expected number of trials, at least 1. The mean is public, but the number isn't.
    eta : float, default=-0.5
        Shape of the law of the number of trials, see :class:`TruncatedNegativeBinomial`.
    trial_events : callable, default=None
        Function of the epsilon and delta of a trial that returns the alternatives of its
        :class:`SelectionEvent`, which must cost more for a larger epsilon. None means Gaussian
        releases on full batches.
    adjacency : {"zero_out", "replace_one", "replace_label"}, default="zero_out"
        Adjacency of the events; it has no effect where `trial_events` is None.
    accountant : {"pld", "rdp"}, default="pld"
        How the events of a trial are composed.

    Returns
    -------
    trial_epsilon, trial_delta : float
        For Gaussian releases they are exact for the bound, for others within 0.1 % of the largest
        epsilon that the search found.

    Raises
    ------
    ValueError
        If an argument is out of range or the trials can't be made private enough.

    References
    ----------
    .. [1] Koskela, Redberg and Wang (2024). Privacy profiles for private selection. ICML. The bound
       used here is below theirs; it is proved in "theory/selection" of the documentation.

    Examples
    --------
    >>> from skdp.accountant import calibrate, calibrate_selection
    >>> trial = calibrate_selection(1.0, 1e-5, mean=10)
    >>> round(trial[0], 3), round(calibrate(*trial) / calibrate(1.0, 1e-5), 2)
    (0.796, 1.4)
    """
    epsilon = check_within(epsilon, "epsilon", _SMALLEST_EPSILON, _LARGEST_EPSILON)
    delta = check_within(delta, "delta", 0.0, 1.0, "[)")
    check_word(adjacency, "adjacency", ADJACENCIES)
    check_word(accountant, "accountant", ("pld", "rdp"))
    law = TruncatedNegativeBinomial.of_mean(mean, eta)
    if trial_events is None:
        if delta == 0:
            raise ValueError("delta = 0 needs trial_events: Gaussian releases are never pure.")
        return _calibrate_gaussian(epsilon, delta, law)
    return _calibrate_selection(
        epsilon, delta, law, trial_events, adjacency, accountant, _TOLERANCE
    )


def selection_noise(epsilon, delta, *, n_candidates, mean, eta=-0.5):
    """Noise of a Gaussian trial for both selection methods, relative to that of a single fit.

    Parameters
    ----------
    epsilon, delta : float
        Target of the whole, see :func:`calibrate_selection`. With a delta of 0 trials have Laplace
        noise, or are pure in another way.
    n_candidates : int
        Number of candidates, all of which are fitted for "compose".
    mean : float
        Expected number of trials for "repeat".
    eta : float, default=-0.5
        Shape of their law, see :class:`TruncatedNegativeBinomial`.

    Returns
    -------
    noise : dict of str to float
        "repeat" for the best of a random number of trials, and "compose" for fits of all candidates
        and a noisy maximum on other records, which has the whole epsilon to itself.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> from skdp.accountant import selection_noise
    >>> noise = selection_noise(1.0, 1e-5, n_candidates=12, mean=24)
    >>> {method: round(factor, 2) for method, factor in noise.items()}
    {'repeat': 1.52, 'compose': 3.46}
    """
    n_candidates = check_count(n_candidates, "n_candidates")
    if delta == 0:
        trial = calibrate_selection(epsilon, 0.0, mean=mean, eta=eta, trial_events=_pure_trial)
        return {"repeat": float(epsilon) / trial[0], "compose": float(n_candidates)}
    trial = calibrate_selection(epsilon, delta, mean=mean, eta=eta)
    return {
        "repeat": gaussian_mu(float(epsilon), float(delta)) / gaussian_mu(*trial),
        "compose": math.sqrt(n_candidates),
    }


def _pure_trial(epsilon, delta):
    return ((LaplaceEvent(1.0 / epsilon),),)


@functools.lru_cache(maxsize=1024)
def _calibrate_gaussian(epsilon, delta, law):
    def trial_events(epsilon, delta):
        return ((GaussianEvent(1 / gaussian_mu(epsilon, delta), pairwise=True),),)

    return _calibrate_selection(
        epsilon, delta, law, trial_events, "zero_out", "pld", _EXACT_TOLERANCE
    )


def _calibrate_selection(epsilon, delta, law, trial_events, adjacency, accountant, tolerance):
    # Epsilon is the sum of that of a trial at this delta and of a shift.
    trial_delta = any_of_inverse(law, delta)

    def spent(trial_epsilon):
        event = SelectionEvent(trial_events(trial_epsilon, trial_delta), law.eta, law.stopping_rate)
        return epsilon_of((event,), adjacency, accountant, delta) / epsilon

    largest_epsilon = largest_within(spent, epsilon, enough=1.0 - tolerance)
    if largest_epsilon is None:
        raise ValueError(
            f"no trials of a selection with epsilon={epsilon!r} at delta={delta!r} are private "
            "enough; use larger targets or a smaller mean."
        )
    return largest_epsilon, trial_delta
