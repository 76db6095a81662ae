"""Plans of DP-SCD and its two baselines: one release of a bounded sum per step.

The proof is in the documentation, "theory/hidden_dual".
"""

import math
from dataclasses import dataclass, replace

from skdp._checks import check_positive
from skdp._release.plan import auto_batch_size, resolve_batch_size
from skdp._release.sampling import CoordinateSampler, PartitionSampler, PoissonSampler
from skdp.linear_model._plan import RowProblem, SteppedPlan, beside, scaled, within_range
from skdp.linear_model.dpscd import _tuned as tuned


def proximal_strength(row_norm, n_columns, noise, noise_of_steps=None):
    """Return the strength of the pull that the noise asks for.

    `noise` is the noise multiplier of one release of all rows, over their number, and
    `noise_of_steps` the same for the steps that are run, where it differs.
    """
    steps = noise if noise_of_steps is None else noise_of_steps
    n_counted = min(n_columns, tuned.LARGEST_COUNTED_COLUMNS)
    asked = n_counted * (tuned.PULL_PER_COLUMN + tuned.PULL_PER_COLUMN_AND_NOISE * noise)
    return row_norm**2 * asked * steps


def intercept_share(n_columns):
    """Return the intercept's strength as a share of the others', between 1/9 and 1."""
    alike = tuned.COLUMNS_OF_INTERCEPT / min(n_columns, tuned.LARGEST_COUNTED_COLUMNS)
    return min(1.0, max(alike, 1.0 / tuned.COLUMNS_OF_INTERCEPT))


def proximal_batch_size(n_records, n_columns, *, max_iter, noise_of_pass, at_least):
    """Return the batch that costs least where dual variables still move fast enough.

    Small batches amplify badly: their noise grows by `_excess`. Large ones ask for a strong pull,
    as the noise does; the batch where both ask for the same is taken, or the first that leaves
    little excess.
    """
    if noise_of_pass == 0.0:
        return at_least
    strength = proximal_strength(1.0, n_columns, noise_of_pass / n_records)
    asked = tuned.LARGEST_CURVATURE * strength * n_records
    per_row = max_iter * noise_of_pass**2 / n_records
    size = float(at_least)
    # A contraction: the excess falls with the root of the size at most.
    for _ in range(40):
        size = 0.5 * (size + asked * _excess(per_row * size))
    size = min(size, tuned.LARGE_BATCH / per_row, tuned.LARGEST_BATCH_SHARE * n_records)
    return min(n_records, max(at_least, math.ceil(size)))


def dual_share(noise):
    """Return the share of its range that a dual variable may reach in all passes."""
    return max(tuned.SMALLEST_DUAL_SHARE, 1.0 / (1.0 + tuned.DUAL_SHARE_PER_NOISE * noise))


def _excess(u):
    """Return the noise of P passes at a sampling rate q over that of large batches, u = P q s^2.

    From the central limit theorem of subsampled Gaussians (Bu et al. 2020): mu is
    ``q sqrt(T (exp(1 / sigma^2) - 1))`` for T = P / q steps, and 1 / s for a single release.
    """
    return 1.0 / math.sqrt(u * math.log1p(1.0 / u))


@dataclass(frozen=True, kw_only=True)
class DPSCDProblem(RowProblem):
    """With the regularisation."""

    alpha: float


@dataclass(frozen=True, eq=False, kw_only=True)
class DPSCDPlan(SteppedPlan):
    """A sampler, a mechanism and the guarantee that running them gives.

    `batch_size` is the expected number of rows (or columns) a step, `clipping_norm` what one update
    is clipped to, and `noisy_dual` tells whether the dual variable's updates are released with what
    they add to v. `proximal` and `intercept_proximal` are strengths of the pull to a moving centre,
    of the intercept's column in particular.
    """

    batch_size: int
    clipping_norm: float
    sampler: PoissonSampler | PartitionSampler | CoordinateSampler
    noisy_dual: bool = False
    proximal: float = 0.0
    intercept_proximal: float = 0.0


def plan_dpscd(
    problem,
    budget,
    *,
    max_iter,
    batch_size,
    clipping_norm,
    noisy_dual,
    proximal,
    target_releases=None,
    ball=None,
):
    """Plan DP-SCD: one release of a bounded sum over a Poisson batch per step.

    There are ``ceil(max_iter * n_records / batch_size)`` steps at the sampling rate
    ``batch_size / n_records``. The bound of a release is the clipping norm; sqrt(2) times that if
    the dual variable is released with it (Damaskinos et al. 2021, Lemma 1). Beside
    `target_releases` and a `ball` there is more noise; batches and noise don't depend on how long
    rows are.
    """
    asked_clip, asked_proximal = clipping_norm, proximal
    n_records, n_columns, row_norm = problem.n_records, problem.n_columns, problem.row_norm
    is_clip_given = clipping_norm != "auto" and budget.is_private
    if proximal == "auto" and (math.isinf(problem.loss.lipschitz) or is_clip_given):
        # Clipped updates follow Huber's loss then, which is centred where errors are symmetric.
        # A given clip was chosen for the method as it was published, and drowns in the pull.
        proximal = 0.0
    is_pulled = proximal != 0.0
    if is_pulled and proximal != "auto":
        proximal = check_positive(proximal, "proximal")
    # This is the multiplier of one release of all rows. P times it is what the noise of all steps
    # of P passes, s sqrt(T), comes to for small batches.
    noise_of_pass = replace(budget, accountant="pld").calibrate()
    if batch_size == "auto":
        batch_size = auto_batch_size(n_records, noise_of_fit=max_iter * noise_of_pass)
        if is_pulled:
            batch_size = proximal_batch_size(
                n_records,
                n_columns,
                max_iter=max_iter,
                noise_of_pass=noise_of_pass,
                at_least=batch_size,
            )
    batch_size = resolve_batch_size(batch_size, n_records)
    reach = _dual_range(problem, joint=noisy_dual)
    if clipping_norm == "auto" and is_pulled:
        # The radius of rows of zeros is almost 0.
        clipping_norm = within_range(reach * dual_share(noise_of_pass / n_records) / max_iter)
    # A row is then followed up to an error as large as a good prediction.
    followed = problem.loss.typical_prediction * problem.alpha * n_records / (row_norm * batch_size)
    n_steps = math.ceil(max_iter * n_records / batch_size)
    plan = _plan(
        problem,
        budget,
        PoissonSampler(n_records, batch_size / n_records, n_steps),
        batch_size=batch_size,
        clipping_norm=clipping_norm,
        bound_per_clip=math.sqrt(2.0) if noisy_dual else 1.0,
        size=n_columns + (n_records if noisy_dual else 0),
        prediction_per_release=row_norm / (problem.alpha * n_records),
        largest_clip=min(reach, followed),
        noisy_dual=noisy_dual,
        target_releases=target_releases,
        ball=ball,
    )
    if proximal == "auto":
        noise = noise_of_pass / n_records
        noise_of_steps = plan.mechanism.noise_multiplier * math.sqrt(n_steps) / max_iter / n_records
        strength = proximal_strength(row_norm, n_columns, noise, noise_of_steps)
        proximal = max(strength, row_norm**2 * (batch_size / n_records) / tuned.LARGEST_CURVATURE)

    def again(ratio, stretch):
        return plan_dpscd(
            problem.stretched(ratio, stretch),
            budget,
            max_iter=max_iter,
            batch_size=batch_size,
            clipping_norm=scaled(asked_clip, ratio),
            noisy_dual=noisy_dual,
            proximal=scaled(asked_proximal, ratio**2),
            target_releases=target_releases,
            ball=ball,
        )

    return replace(
        plan,
        again=again,
        proximal=float(proximal),
        intercept_proximal=intercept_share(n_columns) * proximal,
    )


def plan_dpscd_sequential(problem, budget, *, max_iter, batch_size, clipping_norm):
    """Plan seqDP-SCD: one joint release of v and the dual variable per batch of a partition.

    Two neighbouring data sets give values at most ``2 C sqrt(L (L + 1))`` apart, whether a record
    is nulled or replaced (Damaskinos et al. 2021, Lemma 5). All state is released, so a record
    matters in one release a pass: `max_iter` Gaussians, without amplification.
    """
    if batch_size == "auto":
        batch_size = auto_batch_size(problem.n_records)
    batch_size = resolve_batch_size(batch_size, problem.n_records)
    return _plan(
        problem,
        budget,
        PartitionSampler(problem.n_records, batch_size, max_iter),
        batch_size=batch_size,
        clipping_norm=clipping_norm,
        bound_per_clip=2.0 * math.sqrt(batch_size * (batch_size + 1)),
        size=problem.n_columns + batch_size,
        prediction_per_release=problem.row_norm / (problem.alpha * problem.n_records),
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
        problem,
        budget,
        CoordinateSampler(problem.n_columns, batch_size, n_steps),
        batch_size=batch_size,
        clipping_norm=clipping_norm,
        bound_per_clip=2.0 * math.sqrt(batch_size * (batch_size + 1)),
        size=problem.n_records + batch_size,
        prediction_per_release=1.0,
        largest_clip=math.inf,
        pairwise=True,
    )


PLANS = {"dual": plan_dpscd, "sequential": plan_dpscd_sequential, "primal": plan_dpscd_primal}


def _plan(
    problem,
    budget,
    sampler,
    *,
    clipping_norm,
    bound_per_clip,
    size,
    prediction_per_release,
    largest_clip,
    batch_size,
    noisy_dual=False,
    pairwise=False,
    target_releases=None,
    ball=None,
):
    """Return the plan of releases of `size` numbers an output, bounded by a multiple of the clip.

    The noise of a whole fit, before contraction and averaging, moves a prediction by up to
    `prediction_per_release` times what it is. The clip "auto" makes it as large as a good
    prediction: more drowns the model (contraction and averaging take most of the noise away, not
    all), less and the rows can't move it far enough in the passes that they have. No update needs
    more than `largest_clip`.
    """
    noise_multiplier = budget.calibrate(
        beside=beside(target_releases, ball),
        sampling_rate=sampler.design["sampling_rate"],
        n_steps=sampler.design["n_steps"],
        pairwise=pairwise,
    )
    if not budget.is_private:
        clip = math.inf
    elif clipping_norm != "auto":
        clip = check_positive(clipping_norm, "clipping_norm")
    else:
        noise_per_clip = noise_multiplier * bound_per_clip * math.sqrt(sampler.n_steps)
        noise = prediction_per_release * noise_per_clip
        clip = min(problem.loss.typical_prediction / noise, largest_clip)
    step = problem.release(
        bound=bound_per_clip * clip,
        noise_multiplier=noise_multiplier,
        size=size * problem.n_outputs,
        pairwise=pairwise,
        design=sampler.design,
    )
    return DPSCDPlan(
        budget=budget,
        n_records=problem.n_records,
        step=step,
        batch_size=batch_size,
        clipping_norm=clip,
        sampler=sampler,
        noisy_dual=noisy_dual,
        target_releases=target_releases,
        ball=ball,
    )


def _dual_range(problem, *, joint):
    """Return the largest update of a row that a dual variable of range 1 asks for.

    That is its range for labels, and about that for targets in [-1, 1]. Weights would make it as
    many times as large: half of that, in logarithms, was found to lose least to noise. A joint clip
    bounds the dual update as well as what it adds to v.
    """
    reach = max(1.0, problem.row_norm) if joint else problem.row_norm
    return reach * math.sqrt(problem.scale.typical)
