"""Plans of gradient descent: Gaussian noise on Poisson batches, Laplace noise on disjoint ones."""

import math
from dataclasses import dataclass, replace

import numpy as np

from skdp._checks import check_count, check_positive
from skdp._plans._base import CALL_KEY, Plan, resolve_batch_size
from skdp._plans._release import Release
from skdp._sampling import PartitionSampler, PoissonSampler, SortedPartitionSampler
from skdp.accountant import LaplaceEvent
from skdp.linear_model.dpsgd._plan_rules import auto_poisson_size, auto_slope

# Disjoint batches are at most this share of the rows, so that there are some steps to take.
_FEWEST_PARTS = 40
# Relative error that sums of shares may have.
_ROUNDING = 1e-9


def auto_disjoint_size(n_rows, n_entries, noise_multiplier):
    """Return the size of disjoint batches, at least 8 and at most a share of the rows.

    Larger batches drown less in noise and leave fewer steps; in between, the best size was found to
    grow with the square root of the number of rows times the noise. Numbers or arrays.
    """
    noise = noise_multiplier * math.sqrt(n_entries + 1.0)
    size = np.rint(np.sqrt(n_rows * noise) / 3.0)
    return np.maximum(8, np.minimum(size, n_rows // _FEWEST_PARTS))


def sort_by_budget(multipliers, n_entries, n_passes, batch_size):
    """Return a sampler whose batches have records of about the same public noise multiplier.

    Parameters
    ----------
    multipliers : ndarray of shape (n_rows,)
        What each record asks for.
    n_entries : int
        Entries of a release.
    n_passes : int
    batch_size : int or "auto"
        "auto" gives each record a batch of the size that suits a fit of records like it. A quieter
        record, one of a smaller multiplier, counts as one of these, and a noisier one as the share
        of information that it has, which is inverse to the square of its noise.

    Returns
    -------
    sampler : SortedPartitionSampler
    noises : ndarray of shape (n_parts,)
        Noise multiplier of each batch over its size.
    """
    n_rows = multipliers.size
    ordered = np.sort(multipliers)
    if batch_size == "auto":
        information = ordered**-2.0
        noisier = np.cumsum(information[::-1])[::-1] - information
        n_alike = np.arange(1, n_rows + 1) + ordered**2 * noisier
        wanted = np.minimum(n_rows, auto_disjoint_size(n_alike, n_entries, ordered))
    else:
        wanted = np.full(n_rows, batch_size)
    ends = _ends(wanted)
    sizes = np.diff(ends, prepend=0)
    sampler = SortedPartitionSampler(multipliers, tuple(sizes.tolist()), n_passes)
    return sampler, ordered[ends - 1] / sizes


def full_step_noise(noises):
    """Return the noise over size up to which batches take full steps: that of the mean information.

    Noisier ones take steps that are shorter by the square of the ratio. Where noise is all that
    limits training, steps inverse to its variance make the most of the batches.
    """
    return 1.0 / math.sqrt(np.mean(noises**-2.0))


def mean_noise(noises):
    """Return the root mean square of what batches' noises come to, shorter steps included."""
    lengths = np.minimum(1.0, full_step_noise(noises) / noises) ** 2
    return math.sqrt(np.mean((lengths * noises) ** 2))


def _ends(wanted):
    """Return where batches end, if each row is to be in a batch of at most about its wanted size.

    A row fills a share of its batch; all batches are filled alike. Equal wishes give sizes that
    differ by at most one and are no larger than wished for.
    """
    filled = np.cumsum(1.0 / wanted)
    n_parts = math.ceil(filled[-1] * (1.0 - _ROUNDING))
    limits = filled[-1] * np.arange(1, n_parts + 1) / n_parts
    return np.searchsorted(filled, limits * (1.0 + _ROUNDING), side="right")


# Slope that gradients of smooth losses are clipped at in streams, whose length nobody knows.
_STREAM_SLOPE = 0.3

_SEVERAL_PASSES = (
    "each pass is private on its own and the epsilons of the {} passes add up (basic composition)"
)
_PERSONAL = (
    "each record stated its own epsilon, from {:g} to {:g}, and this fit protects it with that: "
    "the noise of a batch serves its most demanding member, and with several passes each takes an "
    "equal share. Epsilons of other fits add to each record's own"
)
_STREAM = (
    "calls of partial_fit compose in parallel, which assumes that no record was shown to two of "
    "them: a record shown to k calls has up to k times the largest epsilon of a call, {:g}"
)


@dataclass(frozen=True)
class DPSGDProblem:
    """Public numbers of a training problem.

    Parameters
    ----------
    n_rows, n_columns, n_outputs : int
        Sizes, the intercept's column included.
    row_norm : float
        Bound on the norm of a certified row.
    rounding_slack : float
        See `GaussianMechanism`.
    l1, l2 : float
        Strengths of the penalty, see `Penalty`.
    noise_reach, clip_decay, smoothness, lipschitz, loss_at_zero : float
        Of the loss of a row, all its outputs together.
    typical_weight, largest_weight : float
        See `WeightScale`.
    """

    n_rows: int
    n_columns: int
    n_outputs: int
    row_norm: float
    rounding_slack: float
    l1: float
    l2: float
    noise_reach: float
    clip_decay: float
    smoothness: float
    lipschitz: float
    loss_at_zero: float
    typical_weight: float = 1.0
    largest_weight: float = 1.0

    @property
    def radius(self):
        """Length that the minimiser never exceeds.

        At the minimum the L2 penalty's gradient is no longer than the loss's, ``lipschitz *
        row_norm``; for rows in the unit ball that is the 1 / alpha of Song et al. (2013). The L1
        penalty is at most the loss of the zero model.
        """
        radius = math.inf
        if self.l2 > 0.0:
            radius = self.lipschitz * self.row_norm / self.l2
        if self.l1 > 0.0:
            radius = min(radius, self.loss_at_zero / self.l1)
        return radius * self.largest_weight


@dataclass(frozen=True, eq=False, kw_only=True)
class DPSGDPlan(Plan):
    """What is run and the guarantee that it gives.

    Parameters
    ----------
    budget, n_rows
        See `Plan`; with the delta and the largest epsilon that are spent.
    batch_size : int
        Rows a step: expected for Poisson batches, else at most.
    n_passes : int
    clipping_norm : float
        What the gradient of a row is clipped to.
    eta0, power : float
        The t-th step size, from 1, is ``eta0 * t ** -power``.
    momentum : float
        Share of a step's direction that is that of the last one.
    radius : float
        Length that the model is cut to.
    sampler : PoissonSampler, PartitionSampler or SortedPartitionSampler
    step : Release
        The noise of a step, and unless there is an `event`, the event of all of them.
    event : LaplaceEvent or None
        Of all calls of a stream.
    noise_multipliers : ndarray of shape (n_rows,) or None
        What each record asks for, where they differ.
    full_step_noise : float
        Noise multiplier over size up to which a batch takes a full step, where they differ.
    notes : tuple of str
        How the guarantee is to be read.
    same_clip : bool
        Whether all releases that are reported had this bound.
    stream_key : tuple of int
        See `skdp._random.make_stream`.
    """

    batch_size: int
    n_passes: int
    clipping_norm: float
    eta0: float
    momentum: float
    power: float
    radius: float
    sampler: PoissonSampler | PartitionSampler | SortedPartitionSampler
    step: Release
    noise_multipliers: np.ndarray | None = None
    full_step_noise: float = math.inf
    event: LaplaceEvent | None = None
    notes: tuple = ()
    same_clip: bool = True
    stream_key: tuple = ()

    @property
    def events(self):
        """The one event."""
        return (self.event or self.step.event,)

    @property
    def mechanism(self):
        """What adds noise to a step's sum."""
        return self.step.mechanism

    @property
    def clipping(self):
        """The mechanism's bound, if it was that of all releases."""
        return self.step.bound if self.same_clip else None


def plan_dpsgd(problem, budget, steps, *, max_iter, batch_size, clipping_norm):
    """Plan DP-SGD: one Gaussian release of a bounded sum over a Poisson batch per step.

    There are ``ceil(max_iter * n_rows / batch_size)`` steps at the sampling rate
    ``batch_size / n_rows``; `max_iter` "auto" is 10.
    """
    max_iter = 10 if max_iter == "auto" else check_count(max_iter, "max_iter")
    if batch_size == "auto":
        batch_size = auto_poisson_size(problem, max_iter, budget.calibrate())
    batch_size = resolve_batch_size(batch_size, problem.n_rows)
    n_steps = math.ceil(max_iter * problem.n_rows / batch_size)
    sampler = PoissonSampler(problem.n_rows, batch_size / problem.n_rows, n_steps)
    noise_multiplier = budget.calibrate(sampling_rate=sampler.rate, n_steps=n_steps)
    noise = _unit_noise("gaussian", problem, noise_multiplier) / batch_size
    clip = _resolve_clip(
        clipping_norm, problem, noise_multiplier, auto_slope(problem, noise / math.sqrt(n_steps))
    )
    step = steps.first(problem, clip, noise, n_steps)
    return DPSGDPlan(
        n_rows=problem.n_rows,
        batch_size=batch_size,
        n_passes=max_iter,
        clipping_norm=clip,
        eta0=step.eta0,
        momentum=step.momentum,
        power=steps.power,
        radius=problem.radius if noise_multiplier > 0.0 else math.inf,
        sampler=sampler,
        step=_release("gaussian", problem, clip, noise_multiplier, sampler.design),
        budget=budget,
    )


def plan_dpsgd_laplace(
    problem, budget, steps, *, max_iter, batch_size, clipping_norm, sample_epsilon=None
):
    """Plan the pure DP-SGD of Song et al. (2013): spherical noise, disjoint batches.

    A record takes part in one release a pass, so the batches of a pass compose in parallel and
    passes by adding their epsilons; `max_iter` "auto" is 1. With `sample_epsilon`, an array of
    public epsilons, one a record, the noise of a batch is that of its most demanding member, and
    the batches are made of records with about the same epsilon.
    """
    max_iter = 1 if max_iter == "auto" else check_count(max_iter, "max_iter")
    notes = (_SEVERAL_PASSES.format(max_iter),) if max_iter > 1 else ()
    epsilon, multipliers = budget.epsilon, None
    if sample_epsilon is not None:
        epsilon = float(sample_epsilon.max())
        notes += (_PERSONAL.format(sample_epsilon.min(), epsilon),)
        if sample_epsilon.min() < epsilon:
            multipliers = budget.calibrate_pure(max_iter, sample_epsilon)
    budget = replace(budget, epsilon=epsilon, delta=0.0)
    noise_multiplier = budget.calibrate_pure(max_iter)
    n_entries = problem.n_columns * problem.n_outputs
    unit_noise = _unit_noise("laplace", problem, noise_multiplier)
    if batch_size != "auto":
        batch_size = resolve_batch_size(batch_size, problem.n_rows)
    largest, full_step = None, math.inf
    if multipliers is None:
        if batch_size == "auto":
            size = auto_disjoint_size(problem.n_rows, n_entries, noise_multiplier)
            batch_size = min(problem.n_rows, int(size))
        sampler = PartitionSampler(problem.n_rows, batch_size, max_iter)
        noise = unit_noise * sampler.n_parts / problem.n_rows
    else:
        sampler, noises = sort_by_budget(multipliers, n_entries, max_iter, batch_size)
        if batch_size == "auto":
            batch_size = max(sampler.sizes)
        largest, full_step = float(multipliers.max()), full_step_noise(noises)
        noise = unit_noise * mean_noise(noises) / noise_multiplier
    clip = _resolve_clip(
        clipping_norm,
        problem,
        noise_multiplier,
        auto_slope(problem, noise / math.sqrt(sampler.n_steps)),
    )
    step = steps.first(problem, clip, noise, sampler.n_steps)
    design = {"n_steps": max_iter, "n_parts": sampler.n_parts, "largest_multiplier": largest}
    return DPSGDPlan(
        n_rows=problem.n_rows,
        batch_size=batch_size,
        n_passes=max_iter,
        clipping_norm=clip,
        eta0=step.eta0,
        momentum=step.momentum,
        power=steps.power,
        radius=problem.radius if noise_multiplier > 0.0 else math.inf,
        sampler=sampler,
        step=_release("laplace", problem, clip, noise_multiplier, design),
        budget=budget,
        noise_multipliers=multipliers,
        full_step_noise=full_step,
        notes=notes,
    )


def plan_dpsgd_stream(problem, budget, steps, *, n_calls, clipping_norm, before=None):
    """Plan a call of `partial_fit`, the `n_calls`-th: one release of a sum over all its rows.

    The first step size is that of a fit of as many steps as there were calls, as nobody knows how
    many will follow. `before` is the report of the calls so far: records of different calls are
    different, so that their guarantees don't add up.
    """
    noise_multiplier = budget.calibrate_pure()
    slope = _STREAM_SLOPE if math.isfinite(problem.smoothness) else 1.0
    clip = _resolve_clip(clipping_norm, problem, noise_multiplier, slope)
    noise = _unit_noise("laplace", problem, noise_multiplier) / problem.n_rows
    first = steps.first(problem, clip, noise, n_calls, with_momentum=False)
    epsilon, least, most = float(budget.epsilon), noise_multiplier, noise_multiplier
    if before is not None:
        epsilon = max(epsilon, before.epsilon)
        (event,) = before.events
        least = min(least, event.noise_multiplier)
        most = max(most, event.largest_multiplier or event.noise_multiplier)
    design = {"n_parts": n_calls}
    release = _release("laplace", problem, clip, noise_multiplier, design)
    return DPSGDPlan(
        n_rows=problem.n_rows,
        batch_size=problem.n_rows,
        n_passes=1,
        clipping_norm=clip,
        eta0=first.eta0 * float(n_calls) ** -steps.power,
        momentum=0.0,
        power=0.0,
        radius=problem.radius if noise_multiplier > 0.0 else math.inf,
        sampler=PartitionSampler(problem.n_rows, problem.n_rows, 1),
        step=release,
        event=replace(
            release.event, noise_multiplier=least, largest_multiplier=most if most > least else None
        ),
        budget=replace(budget, epsilon=epsilon, delta=0.0),
        notes=(_STREAM.format(epsilon),),
        same_clip=before is None or before.clipping == clip,
        stream_key=(CALL_KEY, n_calls),
    )


def _release(noise, problem, clip, noise_multiplier, design):
    return Release(
        bound=clip,
        noise_multiplier=noise_multiplier,
        size=problem.n_columns * problem.n_outputs,
        n_records=problem.n_rows,
        rounding_slack=problem.rounding_slack,
        noise=noise,
        design=design,
    )


def _unit_noise(noise, problem, noise_multiplier):
    """Return the standard deviation of an entry of the noise for a clipping norm of 1."""
    return _release(noise, problem, 1.0, noise_multiplier, {}).mechanism.noise_std


def _resolve_clip(clipping_norm, problem, noise_multiplier, slope):
    """Return what a gradient is clipped to: without noise nothing is.

    "auto" is the length of the gradient of a row at its bound, and of typical weight, where the
    loss has this slope.
    """
    if noise_multiplier == 0.0:
        return math.inf
    if clipping_norm != "auto":
        return check_positive(clipping_norm, "clipping_norm")
    slope = min(problem.lipschitz, slope) * problem.typical_weight
    return float(slope * problem.row_norm)
