"""Plans of gradient descent: Gaussian noise on Poisson batches, Laplace noise on disjoint ones.

doc/theory/default_rules.rst has the reasons of automatic batches, clipping and steps.

The proof is in the documentation, "user_guide/dpsgd".
"""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from skdp._checks import check_count, check_positive
from skdp._release.plan import CALL_KEY, resolve_batch_size
from skdp._release.release import Planned
from skdp._release.sampling import PartitionSampler, PoissonSampler, SortedPartitionSampler
from skdp.accountant import LaplaceEvent
from skdp.linear_model._plan import (
    STEPS,
    RowProblem,
    SteppedPlan,
    beside,
    scaled,
    within_range,
)
from skdp.linear_model.dpsgd import _tuned as tuned

# Relative error that sums of shares may have.
_ROUNDING = 1e-9

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


@dataclass(frozen=True, kw_only=True)
class DPSGDProblem(RowProblem):
    """With strengths of the penalty, see `Penalty`."""

    l1: float
    l2: float

    @property
    def n_terms(self):
        """Losses of a row: a multinomial one is stated for all outputs, others add up over them."""
        return 1 if self.loss.name == "multinomial" else self.n_outputs

    @property
    def lipschitz(self):
        """Bound on the slope of the loss of a row, all its outputs together."""
        return self.loss.lipschitz * math.sqrt(self.n_terms)

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
            radius = min(radius, self.loss.loss_at_zero * self.n_terms / self.l1)
        return radius * self.scale.largest


@dataclass(frozen=True, eq=False, kw_only=True)
class DPSGDPlan(SteppedPlan):
    """What is run and the guarantee that it gives, with the delta and largest epsilon spent.

    `batch_size` is the rows a step: expected for Poisson batches, else at most. The t-th step size,
    from 1, is ``eta0 * t ** -power``; `momentum` is the share of a step's direction that is that of
    the last one, and `radius` what the model is cut to. `event` is that of all calls of a stream,
    and `same_clip` tells whether all releases that are reported had this bound. Where records ask
    for different `noise_multipliers`, of shape (n_records,), `full_step_noise` is the noise
    multiplier over size up to which a batch takes a full step.
    """

    batch_size: int
    n_passes: int
    clipping_norm: float
    eta0: float
    momentum: float
    power: float
    radius: float
    sampler: PoissonSampler | PartitionSampler | SortedPartitionSampler
    noise_multipliers: np.ndarray | None = None
    full_step_noise: float = math.inf
    event: LaplaceEvent | None = None
    # These differ between plans of this class, unlike elsewhere.
    notes: tuple = ()  # type: ignore[misc]
    same_clip: bool = True
    stream_key: tuple = ()  # type: ignore[misc]

    @property
    def releases(self):
        """What is learnt and the steps, or the step of a call, which costs what all calls do."""
        if self.event is None:
            return super().releases
        return (Planned(STEPS, self.step, (self.event,)),)

    @property
    def clipping(self):
        """The mechanism's bound, if it was that of all releases."""
        return super().clipping if self.same_clip else None


class Step(NamedTuple):
    """The first step size, and the share of a step's direction that is that of the last one."""

    eta0: float
    momentum: float = 0.0


@dataclass(frozen=True)
class StepSizes:
    """What the parameters `learning_rate`, `eta0`, `power_t` and `alpha` ask for."""

    learning_rate: str
    eta0: float | str
    power_t: float
    alpha: float

    @property
    def power(self):
        """The p of step sizes proportional to ``t ** -p``."""
        return {"constant": 0.0, "invscaling": self.power_t, "inv_alpha": 1.0}[self.learning_rate]

    def first(self, problem, clip, noise, n_steps, *, with_momentum=True):
        """Return the first step.

        The noise of all steps, of standard deviation `noise` on each entry of a step's mean
        gradient over the clipping norm, moves an entry of w by up to eta0 * clip * noise *
        sqrt(sum of t ** (-2 p)). "auto" gives the vector of these, times a row, the length of the
        loss's reach. Steps longer than is stable without noise are taken with momentum.
        """
        if self.learning_rate == "inv_alpha":
            return Step(1.0 / self.alpha)
        if self.eta0 != "auto":
            return Step(float(self.eta0))
        loss, typical, row_norm = problem.loss, problem.scale.typical, problem.row_norm
        total = math.sqrt(_sum_of_powers(n_steps, 2.0 * self.power))
        smooth = math.isfinite(loss.smoothness)
        largest_momentum = 0.0
        if with_momentum:
            largest_momentum = 1.0 - 1.0 / max(1.0, tuned.LARGEST_MEMORY * n_steps)
        if noise == 0.0 and smooth:
            wanted = 1.0 / (typical * loss.smoothness * row_norm**2)
            longest = wanted * min(typical / problem.scale.largest, 1.0)
            return _with_momentum(wanted, longest, largest_momentum)
        if noise == 0.0:
            # This step has the least bound on the error of the subgradient method.
            slope = typical * problem.lipschitz
            distance = tuned.DISTANCE_OF_OPTIMUM * loss.noise_reach
            return Step(within_range(distance / (slope * row_norm**2 * total)))
        entry = loss.noise_reach / math.sqrt(min(problem.n_columns, tuned.LARGEST_COUNTED_COLUMNS))
        entry = min(entry, tuned.LARGEST_NOISE_OF_PREDICTION * math.sqrt(n_steps) / noise)
        wanted = entry / (row_norm * clip * noise * total)
        if not smooth:
            # No step moves a prediction by more than a share of the reach.
            longest = tuned.LARGEST_STRIDE * loss.noise_reach / (row_norm * clip)
            return Step(within_range(min(wanted, longest)))
        # From this step on gradient descent can diverge; what is heavier than typical is cut.
        longest = 2.0 / (typical * loss.smoothness * row_norm**2)
        return _with_momentum(wanted, longest, largest_momentum)


def plan_dpsgd(
    problem, budget, steps, *, max_iter, batch_size, clipping_norm, target_releases=None, ball=None
):
    """Plan DP-SGD: one Gaussian release of a bounded sum over a Poisson batch per step.

    There are ``ceil(max_iter * n_records / batch_size)`` steps at the sampling rate
    ``batch_size / n_records``; `max_iter` "auto" is 10. Beside the releases of `target_releases`
    and a `ball` they have more noise; batches and noise don't depend on how long rows are.
    """
    max_iter = tuned.GAUSSIAN_PASSES if max_iter == "auto" else check_count(max_iter, "max_iter")
    if batch_size == "auto":
        batch_size = auto_poisson_size(problem, max_iter, budget.calibrate())
    batch_size = resolve_batch_size(batch_size, problem.n_records)
    n_steps = math.ceil(max_iter * problem.n_records / batch_size)
    sampler = PoissonSampler(problem.n_records, batch_size / problem.n_records, n_steps)
    noise_multiplier = budget.calibrate(
        beside=beside(target_releases, ball), sampling_rate=sampler.rate, n_steps=n_steps
    )
    noise = _unit_noise("gaussian", problem, noise_multiplier) / batch_size
    slope = auto_slope(problem, noise / math.sqrt(n_steps))
    clip = _resolve_clip(clipping_norm, problem, noise_multiplier, slope)
    release = _release("gaussian", problem, clip, noise_multiplier, sampler.design)
    first = steps.first(problem, clip, noise, n_steps)

    def again(ratio, stretch):
        return plan_dpsgd(
            problem.stretched(ratio, stretch),
            budget,
            replace(steps, eta0=scaled(steps.eta0, ratio**-2.0)),
            max_iter=max_iter,
            batch_size=batch_size,
            clipping_norm=scaled(clipping_norm, ratio),
            target_releases=target_releases,
            ball=ball,
        )

    return DPSGDPlan(
        budget=budget,
        n_records=problem.n_records,
        step=release,
        batch_size=batch_size,
        n_passes=max_iter,
        clipping_norm=release.bound,
        eta0=first.eta0,
        momentum=first.momentum,
        power=steps.power,
        radius=_radius(problem, release),
        sampler=sampler,
        target_releases=target_releases,
        ball=ball,
        again=again,
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
    max_iter = tuned.LAPLACE_PASSES if max_iter == "auto" else check_count(max_iter, "max_iter")
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
        batch_size = resolve_batch_size(batch_size, problem.n_records)
    largest, full_step = None, math.inf
    if multipliers is None:
        if batch_size == "auto":
            size = auto_disjoint_size(problem.n_records, n_entries, noise_multiplier)
            batch_size = min(problem.n_records, int(size))
        sampler = PartitionSampler(problem.n_records, batch_size, max_iter)
        noise = unit_noise * sampler.n_parts / problem.n_records
    else:
        sampler, noises = sort_by_budget(multipliers, n_entries, max_iter, batch_size)
        if batch_size == "auto":
            batch_size = max(sampler.sizes)
        largest, full_step = float(multipliers.max()), full_step_noise(noises)
        noise = unit_noise * mean_noise(noises) / noise_multiplier
    slope = auto_slope(problem, noise / math.sqrt(sampler.n_steps))
    clip = _resolve_clip(clipping_norm, problem, noise_multiplier, slope)
    design = {"n_steps": max_iter, "n_parts": sampler.n_parts, "largest_multiplier": largest}
    release = _release("laplace", problem, clip, noise_multiplier, design)
    first = steps.first(problem, clip, noise, sampler.n_steps)
    return DPSGDPlan(
        budget=budget,
        n_records=problem.n_records,
        step=release,
        batch_size=batch_size,
        n_passes=max_iter,
        clipping_norm=release.bound,
        eta0=first.eta0,
        momentum=first.momentum,
        power=steps.power,
        radius=_radius(problem, release),
        sampler=sampler,
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
    noise_multiplier, n_records = budget.calibrate_pure(), problem.n_records
    slope = tuned.STREAM_SLOPE if math.isfinite(problem.loss.smoothness) else 1.0
    clip = _resolve_clip(clipping_norm, problem, noise_multiplier, slope)
    noise = _unit_noise("laplace", problem, noise_multiplier) / n_records
    first = steps.first(problem, clip, noise, n_calls, with_momentum=False)
    epsilon, smallest, largest = float(budget.epsilon), noise_multiplier, noise_multiplier
    if before is not None:
        epsilon = max(epsilon, before.epsilon)
        (event,) = before.events
        smallest = min(smallest, event.noise_multiplier)
        largest = max(largest, event.largest_multiplier or event.noise_multiplier)
    release = _release("laplace", problem, clip, noise_multiplier, {})
    event = replace(
        release.event,
        noise_multiplier=smallest,
        n_parts=n_calls,
        largest_multiplier=largest if largest > smallest else None,
    )
    return DPSGDPlan(
        budget=replace(budget, epsilon=epsilon, delta=0.0),
        n_records=n_records,
        step=release,
        batch_size=n_records,
        n_passes=1,
        clipping_norm=release.bound,
        eta0=first.eta0 * float(n_calls) ** -steps.power,
        momentum=first.momentum,
        power=0.0,
        radius=_radius(problem, release),
        sampler=PartitionSampler(n_records, n_records, 1),
        event=event,
        notes=(_STREAM.format(epsilon),),
        same_clip=before is None or before.clipping == clip,
        stream_key=(CALL_KEY, n_calls),
    )


def _radius(problem, release):
    """Return the length that a model is cut to: without noise none is."""
    return problem.radius if release.noise_multiplier > 0.0 else math.inf


def _release(kind, problem, clip, noise_multiplier, design):
    size = problem.n_columns * problem.n_outputs
    return problem.release(
        bound=clip, noise_multiplier=noise_multiplier, size=size, noise=kind, design=design
    )


def _unit_noise(kind, problem, noise_multiplier):
    """Return the standard deviation of an entry of the noise for a clipping norm of 1."""
    return _release(kind, problem, 1.0, noise_multiplier, {}).mechanism.noise_std


def _resolve_clip(clipping_norm, problem, noise_multiplier, slope):
    """Return what a gradient is clipped to: without noise nothing is.

    "auto" is the length of the gradient of a row at its bound, and of typical weight, where the
    loss has this slope.
    """
    if noise_multiplier == 0.0:
        return math.inf
    if clipping_norm != "auto":
        return check_positive(clipping_norm, "clipping_norm")
    slope = min(problem.lipschitz, slope) * problem.scale.typical
    return float(slope * problem.row_norm)


def auto_poisson_size(problem, n_passes, noise_of_fit):
    """Return the expected size of Poisson batches.

    `noise_of_fit` is the noise multiplier of one release of all rows that spends the whole budget.
    The noise of all steps together hardly depends on the size while the multiplier of a step,
    ``noise_of_fit * sqrt(n_passes * size / n_records)`` then, is LOUD_NOISE_MULTIPLIER or more.
    Without smoothness steps can't be longer instead of more, and batches stay small.
    """
    n_records = problem.n_records
    size = math.sqrt(n_records) / tuned.POISSON_BATCH_DIVISOR
    if noise_of_fit > 0.0 and math.isfinite(problem.loss.smoothness):
        loud = (tuned.LOUD_NOISE_MULTIPLIER / noise_of_fit) ** 2 * n_records / n_passes
        size = max(2.0 * size, min(loud, n_records * n_passes / tuned.FEWEST_STEPS))
    return min(n_records, max(tuned.SMALLEST_BATCH, round(size)))


def auto_slope(problem, noise):
    """Return the slope that gradients of rows at their bound are clipped at.

    `noise` is the standard deviation of an entry of the mean of all released mean gradients, over
    the clipping norm.
    """
    decay = problem.loss.clip_decay
    return 1.0 / (1.0 + math.sqrt(decay * math.sqrt(problem.n_columns) * noise))


def _with_momentum(wanted, longest, largest_momentum):
    """Return a step of the wanted length, or a shorter one where no momentum makes that stable.

    Steps up to `longest` are stable without momentum.
    """
    momentum = min(max(1.0 - longest / wanted, 0.0), largest_momentum)
    return Step(within_range(min(wanted, longest / (1.0 - momentum))), momentum)


def _sum_of_powers(n_steps, exponent):
    """Return about the sum of ``t ** -exponent`` over t from 1 to `n_steps`; exact for 0."""
    if exponent == 1.0:
        return 1.0 + math.log(n_steps)
    return 1.0 + (float(n_steps) ** (1.0 - exponent) - 1.0) / (1.0 - exponent)


def auto_disjoint_size(n_records, n_entries, noise_multiplier):
    """Return the size of disjoint batches, at least 8 and at most a share of the rows.

    Larger batches drown less in noise and leave fewer steps; in between, the best size was found to
    grow with the square root of the number of rows times the noise. Numbers or arrays.
    """
    noise = noise_multiplier * math.sqrt(n_entries + 1.0)
    size = np.rint(np.sqrt(n_records * noise) / tuned.DISJOINT_BATCH_DIVISOR)
    size = np.minimum(size, n_records // tuned.FEWEST_DISJOINT_BATCHES)
    return np.maximum(tuned.SMALLEST_BATCH, size)


def sort_by_budget(multipliers, n_entries, n_passes, batch_size):
    """Return a sampler whose batches have records of about the same public noise multiplier.

    With it comes the noise multiplier of each batch over its size. `multipliers` are what records
    ask for, and a release has `n_entries`.

    The `batch_size` "auto" gives each record a batch of the size that suits a fit of records like
    it. A quieter record, one of a smaller multiplier, counts as one of these, and a noisier one as
    the share of information that it has, which is inverse to the square of its noise.
    """
    n_records = multipliers.size
    ordered = np.sort(multipliers)
    if batch_size == "auto":
        information = ordered**-2.0
        noisier = np.cumsum(information[::-1])[::-1] - information
        n_alike = np.arange(1, n_records + 1) + ordered**2 * noisier
        wanted = np.minimum(n_records, auto_disjoint_size(n_alike, n_entries, ordered))
    else:
        wanted = np.full(n_records, batch_size)
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
