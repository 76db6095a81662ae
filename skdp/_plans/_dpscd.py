"""Plans: one object holds what is run and what is accounted, so that the two can't drift apart.

A plan is made of public numbers only; no array with an entry per row ever comes here.
"""

import math
import warnings
from dataclasses import dataclass
from typing import ClassVar

from skdp._checks import check_real
from skdp._mechanisms import GaussianMechanism
from skdp._sampling import CoordinateSampler, PartitionSampler, PoissonSampler
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
    "scores on private records, cross-validation's included: they carry no noise",
    "other fits on the same records: add them up with skdp.accountant.compose",
)

# Share of a good prediction up to which errors count by their size, not only by their sign.
_FOLLOWED = 0.15

# Frames from a warning here to the caller of `fit`.
USER_FRAMES = 6

LARGE_DELTA = (
    "delta is larger than 1 / n_samples: the guarantee would allow some records to be published "
    "outright. Choose a delta well below 1 / n_samples."
)


@dataclass(frozen=True)
class Budget:
    """What may be spent, and how it is counted: parameters of the same names."""

    epsilon: float
    delta: float
    adjacency: str
    accountant: str

    adjacencies: ClassVar = ("zero_out", "replace_one")
    unit: ClassVar = "one row"
    assumed_public: ClassVar = ASSUMED_PUBLIC
    not_covered: ClassVar = NOT_COVERED

    def __post_init__(self):
        # Parameters may come unvalidated (`sklearn.set_config`), and integers of any size.
        if self.adjacency not in self.adjacencies:
            raise ValueError(f"adjacency must be one of {self.adjacencies}.")
        for name in ("epsilon", "delta"):
            object.__setattr__(self, name, check_real(getattr(self, name), name))

    def warn_if_large(self, n_rows, frames):
        """Warn where delta allows to publish a record; the user is so many frames up from here."""
        if self.delta > 1.0 / n_rows:
            warnings.warn(LARGE_DELTA, PrivacyWarning, stacklevel=frames + 1)

    def report(self, events, *, clipping, reproducible, also_public=(), notes=()):
        """Return the report of a fit that spends this by some events; see `PrivacyReport`."""
        return PrivacyReport(
            epsilon=self.epsilon,
            delta=self.delta,
            adjacency=self.adjacency,
            events=tuple(events),
            clipping=clipping,
            accountant=self.accountant,
            unit=self.unit,
            assumed_public=self.assumed_public + tuple(also_public),
            not_covered=self.not_covered,
            reproducible=reproducible,
            notes=notes,
        )


@dataclass(frozen=True)
class Problem:
    """Public numbers of a training problem.

    Parameters
    ----------
    n_rows, n_columns, n_outputs : int
        Sizes, the intercept's column included.
    row_norm : float
        Public bound on the norm of a certified row.
    rounding_slack : float
        See `GaussianMechanism`.
    alpha : float
        Regularisation.
    margin : float
        Size of a good prediction under the loss.
    """

    n_rows: int
    n_columns: int
    n_outputs: int
    row_norm: float
    rounding_slack: float
    alpha: float
    margin: float


@dataclass(frozen=True)
class Plan:
    """A sampler, a mechanism and the guarantee that running them gives.

    Parameters
    ----------
    batch_size : int
        Expected rows (or columns) a step.
    clipping_norm : float
        What one update is clipped to.
    sampler : object of `skdp._sampling`
    mechanism : GaussianMechanism
    budget : Budget
        The guarantee, which the mechanism's noise multiplier was calibrated for.
    pairwise : bool
        Whether the mechanism's bound is the distance between the values of two neighbouring data
        sets and not one record's contribution.
    """

    batch_size: int
    clipping_norm: float
    sampler: PoissonSampler | PartitionSampler | CoordinateSampler
    mechanism: GaussianMechanism
    budget: Budget
    pairwise: bool

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
            self.mechanism.noise_multiplier, pairwise=self.pairwise, **self.sampler.design
        )
        return self.budget.report(
            (event,),
            clipping=self.mechanism.contribution_bound,
            reproducible=reproducible,
            also_public=also_public,
        )


def plan_dpscd(problem, budget, *, max_iter, batch_size, clipping_norm, noisy_dual):
    """Plan DP-SCD: one release of a bounded sum over a Poisson batch per step.

    There are ``ceil(max_iter * n_rows / batch_size)`` steps at the sampling rate
    ``batch_size / n_rows``. The bound of a release is the clipping norm; sqrt(2) times that if the
    dual variable is released with it (Damaskinos et al. 2021, Lemma 1).
    """
    if batch_size == "auto":
        noise_of_fit = max_iter * _noise_of_one_pass(budget)
        batch_size = auto_batch_size(problem.n_rows, noise_of_fit=noise_of_fit)
    batch_size = resolve_batch_size(batch_size, problem.n_rows)
    n_steps = math.ceil(max_iter * problem.n_rows / batch_size)
    return _plan(
        PoissonSampler(problem.n_rows, batch_size / problem.n_rows, n_steps),
        problem,
        budget,
        batch_size=batch_size,
        clipping_norm=clipping_norm,
        bound_per_clip=math.sqrt(2.0) if noisy_dual else 1.0,
        size=problem.n_columns + (problem.n_rows if noisy_dual else 0),
        prediction_per_release=problem.row_norm / (problem.alpha * problem.n_rows),
        largest_clip=min(
            _dual_range(problem, joint=noisy_dual),
            # A row is then followed up to an error as large as a good prediction.
            problem.margin * problem.alpha * problem.n_rows / (problem.row_norm * batch_size),
        ),
        pairwise=False,
    )


def plan_dpscd_sequential(problem, budget, *, max_iter, batch_size, clipping_norm):
    """Plan seqDP-SCD: one joint release of v and the dual variable per batch of a partition.

    Two neighbouring data sets give values at most ``2 C sqrt(L (L + 1))`` apart, whether a record
    is nulled or replaced (Damaskinos et al. 2021, Lemma 5). All state is released, so a record
    matters in one release a pass: `max_iter` Gaussians, without amplification.
    """
    if batch_size == "auto":
        batch_size = auto_batch_size(problem.n_rows)
    batch_size = resolve_batch_size(batch_size, problem.n_rows)
    return _plan(
        PartitionSampler(problem.n_rows, batch_size, max_iter),
        problem,
        budget,
        batch_size=batch_size,
        clipping_norm=clipping_norm,
        bound_per_clip=2.0 * math.sqrt(batch_size * (batch_size + 1)),
        size=problem.n_columns + batch_size,
        prediction_per_release=problem.row_norm / (problem.alpha * problem.n_rows),
        largest_clip=_dual_range(problem, joint=True),
        pairwise=True,
    )


def plan_dpscd_primal(problem, budget, *, max_iter, batch_size, clipping_norm):
    """Plan primalDP-SCD: one joint release of the predictions and a batch of coordinates per step.

    With columns of norm at most 1, two neighbouring data sets give values at most
    ``2 C sqrt(L (L + 1))`` apart (Damaskinos et al. 2021, Lemma 4). Every row takes part in each of
    the ``ceil(max_iter * n_columns / batch_size)`` steps.
    """
    batch_size = 1 if batch_size == "auto" else batch_size
    batch_size = resolve_batch_size(batch_size, problem.n_columns, of="columns")
    n_steps = math.ceil(max_iter * problem.n_columns / batch_size)
    return _plan(
        CoordinateSampler(problem.n_columns, batch_size, n_steps),
        problem,
        budget,
        batch_size=batch_size,
        clipping_norm=clipping_norm,
        bound_per_clip=2.0 * math.sqrt(batch_size * (batch_size + 1)),
        size=problem.n_rows + batch_size,
        prediction_per_release=1.0,
        largest_clip=math.inf,
        pairwise=True,
    )


def _plan(
    sampler,
    problem,
    budget,
    *,
    batch_size,
    clipping_norm,
    bound_per_clip,
    size,
    prediction_per_release,
    largest_clip,
    pairwise,
):
    design = sampler.design
    noise_multiplier = calibrate(
        budget.epsilon,
        budget.delta,
        sampling_rate=design["sampling_rate"],
        n_steps=design["n_steps"],
        adjacency=budget.adjacency,
        accountant=budget.accountant,
        pairwise=pairwise,
    )
    clip = math.inf
    if noise_multiplier > 0.0:
        budget.warn_if_large(problem.n_rows, USER_FRAMES)
        clip = _resolve_clipping_norm(
            clipping_norm,
            noise_per_clip=noise_multiplier * bound_per_clip * math.sqrt(sampler.n_steps),
            prediction_per_release=prediction_per_release,
            margin=problem.margin,
            largest=largest_clip,
        )
    mechanism = GaussianMechanism(
        contribution_bound=bound_per_clip * clip,
        noise_multiplier=noise_multiplier,
        size=size * problem.n_outputs,
        n_records=problem.n_rows,
        rounding_slack=problem.rounding_slack,
    )
    return Plan(batch_size, clip, sampler, mechanism, budget, pairwise)


def _dual_range(problem, *, joint):
    """Return the largest update of a row that a dual variable of range 1 asks for.

    That is its range for labels, and about that for targets in [-1, 1]. A joint clip bounds the
    dual update as well as what it adds to v.
    """
    return max(1.0, problem.row_norm) if joint else problem.row_norm


def _noise_of_one_pass(budget):
    """Return the noise multiplier of one release of the whole data.

    P times this is what the noise of all steps of P passes, s sqrt(T), comes to for small batches.
    """
    return calibrate(budget.epsilon, budget.delta, adjacency=budget.adjacency)


def auto_batch_size(n_rows, *, noise_of_fit=0.0):
    """Return a quarter of the square root of n, at least 8, or what the noise asks for if more.

    With the automatic clipping norm, a batch of L rows follows a row's error up to
    ``margin * L / noise_of_fit``, and only its sign beyond: `_FOLLOWED` of the margin at least.
    """
    smallest = max(8, round(math.sqrt(n_rows) / 4.0))
    return min(n_rows, max(smallest, math.ceil(_FOLLOWED * noise_of_fit)))


def resolve_batch_size(batch_size, available, of="samples"):
    """Return a batch size as an int; a number above what there is becomes that.

    Warns
    -----
    UserWarning
        If the number given is above `available`, which is public.
    """
    batch_size = int(batch_size)
    if batch_size > available:
        warnings.warn(
            f"batch_size={batch_size} is larger than n_{of}={available}; n_{of} is used.",
            UserWarning,
            stacklevel=USER_FRAMES,
        )
        return available
    return batch_size


def _resolve_clipping_norm(
    clipping_norm, *, noise_per_clip, prediction_per_release, margin, largest
):
    """Return what an update is clipped to, C, for a `clipping_norm` parameter.

    The noise of a whole fit, ``C * noise_per_clip`` before contraction and averaging, moves a
    prediction by up to `prediction_per_release` times that. "auto" makes it as large as a good
    prediction: more drowns the model (contraction and averaging take most of the noise away, not
    all), less and the rows can't move it far enough in the passes that they have. No update needs
    more than `largest`.
    """
    if clipping_norm != "auto":
        return float(clipping_norm)
    return min(margin / (prediction_per_release * noise_per_clip), largest)
