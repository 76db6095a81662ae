"""Plans of private whitening: the rows' second moment, full-batch steps, and standard errors.

Proofs are in the documentation, "theory/whitening" and "theory/inference".
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from skdp._ball._plan import N_LENGTHS, BallPlan, TargetReleases
from skdp._checks import check_count, check_flag, check_positive, check_real
from skdp._release.plan import SPLIT_SLACK, Plan
from skdp._release.release import Planned, Release, costs_of, named
from skdp.linear_model._plan import STEPS, learnt_before
from skdp.linear_model.whitened import _tuned as tuned
from skdp.linear_model.whitened._moment import as_training_has_it

# Runs and reports call releases besides those of targets, the ball and steps so.
MOMENT = "second moment"
MAPPED_LENGTHS, SETTLING, KEPT = "lengths of mapped rows", "steps that settle", "steps"
FIRST_MEAN, MEANS, MATRIX = "first mean of weights", "means of weights", "matrix of weights"
_TOO_MANY_COLUMNS = (
    f"A second moment of more than {tuned.LARGEST_N_COLUMNS} columns takes gigabytes, and its "
    "noise drowns it: take moment_budget=0, or fewer columns (user guide, sparse rows and many "
    "columns)."
)
_OWN_MOMENT = "inference=True releases a moment of its own: leave public_moment=None."
_TWO_MOMENTS = (
    "moment_budget must be 'auto' or 0 with public_moment: nothing is spent on the moment then."
)
_NO_MOMENT = (
    f"no second moment of the rows was released, as there are more than "
    f"{tuned.LARGEST_WHITENED_COLUMNS} columns: the rows were not whitened"
)


@dataclass(frozen=True)
class WhitenedProblem:
    """Public numbers of a training problem; columns include the intercept's.

    `row_norm` bounds the norm of a certified row, or where records are groups the root of the trace
    of one's moment. `bias` is the constant of the intercept's column, `smoothness` a bound on the
    slope of the loss's derivative, and `bounded_targets` tells whether targets are in [-1, 1] or
    labels. `rounding_slack` is for sums of rows as they are; see `GaussianMechanism`, and for
    weights `WeightScale`.
    """

    n_records: int
    n_columns: int
    n_outputs: int
    row_norm: float
    bias: float
    rounding_slack: float
    alpha: float
    smoothness: float
    typical_weight: float = 1.0
    wanted_weight: float = 1.0
    steepest: float = 1.0
    bounded_targets: bool = True


@dataclass(frozen=True, eq=False, kw_only=True)
class WhitenedPlan(Plan):
    """Mechanisms, what the steps may spend together, and the guarantee that running them gives.

    How many steps there are follows from the released moment. It is fixed beforehand what they come
    to together: T Gaussian releases of multiplier ``s sqrt(T)`` are one of multiplier s to the
    accountant, whatever T is.

    `target_releases`, if it isn't None, says what is learnt of targets, first of all, and `ball`
    how the ball of the rows is learnt; the problem's row_norm and bias are then those of the radius
    1, until `following`. `moment` is of the sum of rows' outer products with themselves, and None
    if it isn't bought; `public_moment`, of rows as they are, may stand in its place.
    `steps` stands for all steps together, and `noise` is the multiplier of one release that spends
    the whole budget. `last` is what is released after the steps. `roughness` is a positive
    semidefinite matrix P: the objective has ``coef P coef / 2`` too, of coefficients of rows as
    they are, without the intercept's. The rest is as in the estimators, "auto" included.
    """

    problem: WhitenedProblem
    moment: Release | None
    public_moment: np.ndarray | None = None
    steps: Release
    noise: float
    ball: BallPlan | None = None
    target_releases: TargetReleases | None = None
    last: tuple[Planned, ...] = ()
    roughness: np.ndarray | None = None
    stretch: float = 1.0
    outside: Callable | None = None
    max_iter: int | str
    clipping_norm: float | str
    step_size: float | str
    momentum: float | str
    average: bool
    # It differs between plans of this class, unlike elsewhere.
    notes: tuple = ()  # type: ignore[misc]

    @property
    def releases(self):
        """The releases of targets, ball and moment, if they are bought, and one for all steps."""
        return self._releases_in(1)

    @property
    def known_moment(self):
        """The public moment of rows as training takes them, or None."""
        if self.public_moment is None:
            return None
        return as_training_has_it(self.public_moment, self.problem, self.outside)

    @property
    def known_roughness(self):
        """The matrix of `roughness` for weights as training has them, or None."""
        if self.roughness is None or self.moment is None:
            # Rows that aren't whitened have many columns: there are no curves among so many.
            return None
        n_columns = self.problem.n_columns
        to_rows = np.eye(n_columns)
        if self.outside is not None:
            to_rows = self.outside(to_rows)
        to_rows = to_rows[:, : len(self.roughness)]
        return to_rows @ self.roughness @ to_rows.T

    @property
    def moment_noise(self):
        """Standard deviation of the noise of the moment's sum.

        A public one counts as if it had that of one that is bought: it needn't be of these rows,
        and steps are noisy in every direction.
        """
        if self.moment is not None:
            return self.moment.mechanism.noise_std
        return self.problem.row_norm**2 * self.noise / math.sqrt(tuned.MOMENT_BUDGET)

    @property
    def noise_in_predictions(self):
        """Noise of one release of everything, a mean of rows, in a prediction."""
        return self.noise * self.problem.n_columns / self.n_records

    def for_slopes(self, slopes):
        """Return the plan for slopes as releases tell of them, see `Slopes`."""
        problem = replace(
            self.problem,
            typical_weight=slopes.length * self.problem.typical_weight,
            wanted_weight=slopes.length * self.problem.wanted_weight,
            smoothness=slopes.steepness * self.problem.smoothness,
        )
        return replace(self, problem=problem)

    def following(self, radius, stretch, outside):
        """Return the plan for rows of a ball of this radius, which was released.

        Cancellation makes rounding errors larger by `stretch`, relative to the rows' bound. The
        function `outside` maps coefficients in the ball's units to those of rows as they are.
        """
        problem = self.problem
        row_norm, bias = radius * problem.row_norm, radius * problem.bias
        moment = self.moment
        if moment is not None:
            moment = moment.bounded(radius**2 * moment.bound, stretch=stretch**2)
        return replace(
            self,
            problem=replace(problem, row_norm=row_norm, bias=bias),
            moment=moment,
            stretch=stretch,
            outside=outside,
        )

    def costs_after(self, steps):
        """Return what a run cost; one step stands for all until it is known how many there are."""
        return self.costs if steps is None else costs_of(self._releases_in(steps.n_steps))

    def _releases_in(self, n_steps):
        """Return what is released in so many steps."""
        return (
            *learnt_before(self.target_releases, self.ball),
            *named(MOMENT, self.moment),
            *named(STEPS, self.steps.split(n_steps)),
            *self.last,
        )


def resolve_rows_per_group(rows_per_group, budget, n_groups, n_columns, moment_budget):
    """Return how many rows of full length those of a group may come to in the moment.

    Fewer make the moment's noise smaller. More than a typical group has would be waste, and far
    fewer would make the moment so small that steps are too long. "auto" is the number at which
    noise is well below the moment of rows that fill all columns alike, within limits.
    """
    if rows_per_group != "auto":
        rows_per_group = check_positive(rows_per_group, "rows_per_group")
        if rows_per_group < 1.0:
            raise ValueError("rows_per_group must be at least 1.")
        return rows_per_group
    if moment_budget == 0:
        return tuned.FEWEST_ROWS_OF_GROUP
    noise = budget.calibrate(pairwise=True) * n_columns**1.5
    n_rows = tuned.ROWS_OF_GROUP_PER_NOISE * n_groups / max(noise, 1e-300)
    return min(max(n_rows, tuned.FEWEST_ROWS_OF_GROUP), tuned.LARGEST_N_ROWS_OF_GROUP)


def _check_share(value, name):
    value = check_real(value, name)
    if not 0.0 <= value < 1.0:
        raise ValueError(f"{name} must be in [0, 1).")
    return value


def _unless_auto(check, value, name):
    """Return a setting that is "auto" or is checked, as it may come unvalidated."""
    return value if value == "auto" else check(value, name)


def plan_whitened(
    problem,
    budget,
    *,
    moment_budget,
    max_iter,
    clipping_norm,
    step_size,
    momentum,
    average,
    public_moment=None,
    roughness=None,
    ball=None,
    target_releases=None,
    last=(),
    left=1.0,
):
    """Plan private whitening, by the settings of the estimators.

    A share `left` of the squared mu is there for it, if a ball or targets are learnt before.
    Without noise the moment of the rows themselves is taken, whatever the public one is.

    Notes
    -----
    The outer product of a row with itself has the Frobenius norm B^2 if the row has the norm B.
    So a null record moves the sum by at most B^2. Two such matrices z z' and y y' are positive
    semidefinite, so that their inner product isn't negative and they lie at most sqrt(2) B^2
    apart: that is the distance under "replace_one", and a bound of a pair, which nobody doubles.
    """
    notes = ()
    if public_moment is not None:
        if moment_budget not in ("auto", 0):
            raise ValueError(_TWO_MOMENTS)
        moment_budget = 0 if budget.is_private else "auto"
        public_moment = public_moment if budget.is_private else None
    if moment_budget == "auto":
        moment_budget = tuned.MOMENT_BUDGET
        if problem.n_columns > tuned.LARGEST_WHITENED_COLUMNS:
            moment_budget, notes = 0.0, (_NO_MOMENT,)
    moment_budget = _check_share(moment_budget, "moment_budget")
    max_iter = _unless_auto(check_count, max_iter, "max_iter")
    clipping_norm = _unless_auto(check_positive, clipping_norm, "clipping_norm")
    step_size = _unless_auto(check_positive, step_size, "step_size")
    momentum = _unless_auto(_check_share, momentum, "momentum")
    if moment_budget > 0.0 and problem.n_columns > tuned.LARGEST_N_COLUMNS:
        raise ValueError(_TOO_MANY_COLUMNS)
    release = partial(budget.release, n_records=problem.n_records, slack=problem.rounding_slack)
    moment = None
    if moment_budget > 0.0:
        trace, size = problem.row_norm**2, _moment_size(problem)
        moment = release(
            bound=trace, pair_bound=trace * math.sqrt(2.0), share=left * moment_budget, size=size
        )
    size = problem.n_columns * problem.n_outputs
    return WhitenedPlan(
        budget=budget,
        n_records=problem.n_records,
        problem=problem,
        moment=moment,
        public_moment=public_moment,
        steps=release(bound=1.0, share=left * (1.0 - moment_budget), size=size),
        noise=budget.calibrate(),
        ball=ball,
        target_releases=target_releases,
        last=last,
        roughness=roughness,
        max_iter=max_iter,
        clipping_norm=clipping_norm if budget.is_private else math.inf,
        step_size=step_size,
        momentum=momentum,
        average=check_flag(average, "average"),
        notes=notes,
    )


def _moment_size(problem):
    return problem.n_columns * (problem.n_columns + 1) // 2


@dataclass(frozen=True, eq=False, kw_only=True)
class InferencePlan(WhitenedPlan):
    """A plan of private whitening that also releases what standard errors are made of.

    In the order in which they are made: the moment, where a ball is learnt counts of mapped rows by
    length, steps that settle, one number, the steps that are kept, two numbers, and a matrix. All
    numbers of releases are fixed beforehand. `lengths` has each record in one bin, `scale` is of a
    sum of one number in [0, 1] of each record, `means` of sums of two such numbers, and `matrix` of
    a sum of positive semidefinite matrices of trace 1 at most.
    """

    n_steps: int
    n_settling: int
    scale: Release
    means: Release
    matrix: Release
    lengths: Release | None

    def _releases_in(self, n_steps):
        """Return all releases, whatever `n_steps` is: it is the plan's."""
        steps = self.steps.split(self.n_steps)
        settling = replace(steps, design={**steps.design, "n_steps": self.n_settling})
        n_kept = self.n_steps - self.n_settling
        kept = replace(steps, design={**steps.design, "n_steps": n_kept})
        return (
            *learnt_before(self.target_releases, self.ball),
            *named(MOMENT, self.moment),
            *named(MAPPED_LENGTHS, self.lengths),
            *named(SETTLING, settling),
            *named(FIRST_MEAN, self.scale),
            *named(KEPT, kept),
            *named(MEANS, self.means),
            *named(MATRIX, self.matrix),
        )


def plan_inference(
    problem,
    budget,
    *,
    moment_budget,
    max_iter,
    clipping_norm,
    step_size,
    momentum,
    average,
    public_moment=None,
    ball=None,
    target_releases=None,
    last=(),
    left=1.0,
):
    """Plan private whitening with standard errors, by the settings of the estimators.

    Raises
    ------
    ValueError
        If a setting doesn't go with standard errors, or is out of range.

    Notes
    -----
    Numbers in [0, 1] of two records differ by at most 1, so that k sums of such numbers are at most
    sqrt(k) apart, whatever the adjacency. Of positive semidefinite matrices of traces up to a bound
    none is longer than it, and two are at most sqrt(2) times as far apart, as in `plan_whitened`.
    """
    if problem.n_outputs > 1:
        raise ValueError(
            "inference=True is for one target or two classes: fit one model for each target, or "
            "for each class against the others, with a part of the budget each."
        )
    if public_moment is not None:
        raise ValueError(_OWN_MOMENT)
    if (step_size, momentum, average) != ("auto", "auto", True):
        raise ValueError(
            "inference=True takes steps of its own: leave step_size, momentum and average as they "
            "are by default."
        )
    share = tuned.INFERENCE_MOMENT_BUDGET if moment_budget == "auto" else moment_budget
    plain = plan_whitened(
        problem,
        budget,
        moment_budget=share,
        max_iter=tuned.INFERENCE_STEPS if max_iter == "auto" else max_iter,
        clipping_norm=clipping_norm,
        step_size=step_size,
        momentum=momentum,
        average=average,
        ball=ball,
        target_releases=target_releases,
        last=last,
        left=left,
    )
    largest = tuned.LARGEST_INFERENCE_MOMENT_BUDGET
    if not 0.0 < share <= largest:
        raise ValueError(f"inference=True needs a moment_budget above 0 and up to {largest:g}.")
    if plain.max_iter < tuned.FEWEST_INFERENCE_STEPS:
        fewest = tuned.FEWEST_INFERENCE_STEPS
        raise ValueError(f"inference=True needs a max_iter of at least {fewest}.")
    releases_lengths = ball is not None and budget.is_private
    share_of_lengths = tuned.SHARE_OF_LENGTHS if releases_lengths else 0.0
    share_of_steps = (
        1.0 - share - tuned.SHARE_OF_FIRST_MEAN - tuned.SHARE_OF_MEANS - tuned.SHARE_OF_MATRIX
    ) - share_of_lengths
    noise = SPLIT_SLACK * plain.noise / math.sqrt(left * share_of_steps)
    release = partial(budget.release, n_records=problem.n_records, slack=problem.rounding_slack)
    # Two sums of numbers in [0, 1], and two one-hot vectors or matrices, are at most so far apart.
    pair = math.sqrt(2.0)
    lengths = None
    if releases_lengths:
        lengths = release(bound=1.0, pair_bound=pair, share=left * share_of_lengths, size=N_LENGTHS)
    return InferencePlan(
        budget=budget,
        n_records=problem.n_records,
        problem=problem,
        moment=plain.moment,
        steps=replace(plain.steps, noise_multiplier=noise),
        noise=plain.noise,
        ball=ball,
        target_releases=target_releases,
        max_iter=plain.max_iter,
        clipping_norm=plain.clipping_norm,
        step_size=plain.step_size,
        momentum=plain.momentum,
        average=plain.average,
        notes=plain.notes,
        n_steps=plain.max_iter,
        n_settling=math.ceil(tuned.SETTLING_SHARE * plain.max_iter),
        scale=release(bound=1.0, pair_bound=1.0, share=left * tuned.SHARE_OF_FIRST_MEAN, size=1),
        means=release(bound=pair, pair_bound=pair, share=left * tuned.SHARE_OF_MEANS, size=2),
        matrix=release(
            bound=1.0,
            pair_bound=pair,
            share=left * tuned.SHARE_OF_MATRIX,
            size=_moment_size(problem),
        ),
        lengths=lengths,
    )
