"""Plans: one object holds what is run and what is accounted, so that the two can't drift apart.

A plan is made of public numbers only; no array with an entry per row ever comes here.
"""

import math
import warnings
from dataclasses import dataclass

from skdp._mechanisms import GaussianMechanism
from skdp._sampling import PoissonSampler
from skdp.accountant import GaussianEvent, PrivacyReport, calibrate
from skdp.exceptions import PrivacyWarning

ASSUMED_PUBLIC = (
    "every parameter of the estimator",
    "the numbers of rows and columns, and the names of the columns",
    "that the input was well formed (malformed input raises an error)",
)
CLASSES_READ = "the set of classes, which was read from y (declare it with classes=[...])"
NOT_COVERED = (
    "running time and memory use",
    "preprocessing fitted on the same records, and parameters chosen by looking at them",
    "other fits on the same records, cross-validation included: add them up with "
    "skdp.accountant.compose",
)

# Frames from a warning here to the caller of `fit`.
_USER = 6

# Standard deviation, in units of the loss's margin, that the noise of a whole fit may add to a
# prediction before contraction and averaging, which take most of it away.
_PREDICTION_NOISE = 2.0


@dataclass(frozen=True)
class Plan:
    """A sampler, a mechanism and the guarantee that running them gives.

    Parameters
    ----------
    batch_size : int
        Expected rows a step.
    sampler : PoissonSampler
    mechanism : GaussianMechanism
    epsilon, delta : float
        The guarantee, which the mechanism's noise multiplier was calibrated for.
    adjacency : {"zero_out", "replace_one"}
    accountant : {"pld", "rdp"}
    """

    batch_size: int
    sampler: PoissonSampler
    mechanism: GaussianMechanism
    epsilon: float
    delta: float
    adjacency: str
    accountant: str

    def report(self, *, reproducible, also_public=()):
        """Return the privacy report of a run of this plan.

        Parameters
        ----------
        reproducible : bool
            Whether the randomness came from a seed.
        also_public : tuple of str, default=()
            What this fit assumes public besides `ASSUMED_PUBLIC`.
        """
        event = GaussianEvent(
            self.mechanism.noise_multiplier, self.sampler.rate, self.sampler.n_steps
        )
        return PrivacyReport(
            epsilon=self.epsilon,
            delta=self.delta,
            adjacency=self.adjacency,
            events=(event,),
            clipping=self.mechanism.contribution_bound,
            accountant=self.accountant,
            assumed_public=ASSUMED_PUBLIC + tuple(also_public),
            not_covered=NOT_COVERED,
            reproducible=reproducible,
        )


def plan_dual_cd(
    *,
    n_rows,
    n_columns,
    n_outputs,
    row_norm,
    rounding_slack,
    margin,
    alpha,
    epsilon,
    delta,
    adjacency,
    accountant,
    max_iter,
    batch_size,
    clipping_norm,
):
    """Plan DP-SCD: one Gaussian release of a bounded sum over a Poisson batch per step.

    There are ``ceil(max_iter * n_rows / batch_size)`` steps at the sampling rate
    ``batch_size / n_rows``.

    Parameters
    ----------
    n_rows, n_columns, n_outputs : int
        Sizes of the problem, the intercept's column included.
    row_norm : float
        Public bound on the norm of a certified row.
    rounding_slack : float
        See `GaussianMechanism`.
    margin : float
        Size of a good prediction under the loss.
    alpha, epsilon, delta, adjacency, accountant, max_iter, batch_size, clipping_norm
        Parameters of the estimator.

    Returns
    -------
    Plan

    Warns
    -----
    PrivacyWarning
        If `delta` is above ``1 / n_rows``.
    """
    batch_size = resolve_batch_size(batch_size, n_rows)
    rate = batch_size / n_rows
    n_steps = math.ceil(max_iter * n_rows / batch_size)
    noise_multiplier = calibrate(
        epsilon,
        delta,
        sampling_rate=rate,
        n_steps=n_steps,
        adjacency=adjacency,
        accountant=accountant,
    )
    bound = math.inf
    if noise_multiplier > 0.0:
        _warn_of_large_delta(delta, n_rows)
        bound = resolve_dual_clipping_norm(
            clipping_norm,
            theta_unit=alpha * n_rows,
            row_norm=row_norm,
            accumulated_noise=noise_multiplier * math.sqrt(n_steps),
            margin=margin,
        )
    return Plan(
        batch_size=batch_size,
        sampler=PoissonSampler(n_rows, rate, n_steps),
        mechanism=GaussianMechanism(
            contribution_bound=bound,
            noise_multiplier=noise_multiplier,
            size=n_columns * n_outputs,
            n_records=n_rows,
            rounding_slack=rounding_slack,
        ),
        epsilon=float(epsilon),
        delta=float(delta),
        adjacency=adjacency,
        accountant=accountant,
    )


def _warn_of_large_delta(delta, n_rows):
    if delta > 1.0 / n_rows:
        warnings.warn(
            "delta is larger than 1 / n_samples: the guarantee would allow some records to be "
            "published outright. Choose a delta well below 1 / n_samples.",
            PrivacyWarning,
            stacklevel=_USER,
        )


def resolve_batch_size(batch_size, n_rows):
    """Return the expected batch size that a `batch_size` parameter stands for.

    "auto" is a quarter of the square root of n, at least 8. A number above n becomes n.

    Warns
    -----
    UserWarning
        If the number given is above n, which is public.
    """
    if batch_size == "auto":
        return min(n_rows, max(8, round(math.sqrt(n_rows) / 4.0)))
    if batch_size > n_rows:
        warnings.warn(
            f"batch_size={batch_size} is larger than n_samples={n_rows}; n_samples is used.",
            UserWarning,
            stacklevel=_USER,
        )
        return n_rows
    return int(batch_size)


def resolve_dual_clipping_norm(clipping_norm, *, theta_unit, row_norm, accumulated_noise, margin):
    """Return the bound on one row's contribution that DP-SCD's `clipping_norm` stands for.

    A release moves theta by itself over `theta_unit`, so noise of standard deviation
    `accumulated_noise` times the bound C moves a prediction by up to
    ``C * row_norm * accumulated_noise / theta_unit``. "auto" makes that `_PREDICTION_NOISE` times
    the margin: more drowns the model, less and the rows can't move it far enough in the passes that
    they have. No row needs more than the range of its dual variable, 1 for labels and for targets
    in [-1, 1].

    Parameters
    ----------
    clipping_norm : float or "auto"
    theta_unit : float
        Regularisation times rows, ``alpha * n``.
    row_norm : float
        Public bound on the norm of a certified row.
    accumulated_noise : float
        Noise multiplier times the square root of the number of steps.
    margin : float
        Size of a good prediction under the loss.
    """
    if clipping_norm != "auto":
        return float(clipping_norm)
    noise = _PREDICTION_NOISE * margin
    return min(noise * theta_unit / (row_norm * accumulated_noise), row_norm)
