"""Plans of private whitening: the rows' second moment, full-batch steps, and standard errors."""

import math
from dataclasses import dataclass, fields, replace

from skdp._checks import check_count, check_flag, check_positive, check_real
from skdp._plans._base import SPLIT_SLACK, Plan
from skdp._plans._release import Release

# Share of the budget that buys the moment, and the columns up to which it is bought: its products
# and its eigenvectors take some squares and cubes of their number.
_AUTO_SHARE, _MOST_COLUMNS = 0.1, 2000
# Rows of a group in the moment: least, most, and where the noise is one of them in a mean of all.
_LEAST_ROWS, _MOST_ROWS = 2.0, 16.0
_QUIET_ROWS = 0.18
_LARGEST_MOMENT = 20_000
_TOO_MANY_COLUMNS = (
    f"A second moment of more than {_LARGEST_MOMENT} columns takes gigabytes, and its noise drowns "
    "it: take moment_budget=0, or fewer columns (user guide, sparse rows and many columns)."
)
_NO_MOMENT = (
    f"no second moment of the rows was released, as there are more than {_MOST_COLUMNS} columns: "
    "the rows were not whitened"
)


@dataclass(frozen=True)
class WhitenedProblem:
    """Public numbers of a training problem.

    Parameters
    ----------
    n_rows, n_columns, n_outputs : int
        Number of records, and sizes, the intercept's column included.
    row_norm, bias : float
        Bound on the norm of a certified row, or where records are groups on the root of the trace
        of one's moment; and the constant of the intercept's column.
    rounding_slack : float
        See `GaussianMechanism`, for sums of rows as they are.
    alpha : float
        Regularisation.
    smoothness : float
        Bound on the slope of the loss's derivative.
    typical_weight, wanted_weight, steepest : float
        See `WeightScale`.
    bounded_targets : bool
        Whether targets are in [-1, 1] or labels.
    """

    n_rows: int
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

    Parameters
    ----------
    budget, n_rows
        See `Plan`.
    problem : WhitenedProblem
    moment : Release or None
        Of the sum of rows' outer products with themselves; None if it isn't bought.
    steps : Release
        One that stands for all steps together.
    noise : float
        Noise multiplier of one release that spends the whole budget.
    max_iter, clipping_norm, step_size, momentum
        As in the estimators, "auto" included.
    average : bool
    notes : tuple of str
        Whether there was a choice not to buy the moment.
    """

    problem: WhitenedProblem
    moment: Release | None
    steps: Release
    noise: float
    max_iter: int | str
    clipping_norm: float | str
    step_size: float | str
    momentum: float | str
    average: bool
    notes: tuple = ()

    @property
    def events(self):
        """The release of the moment, if it is bought, and one that stands for all steps."""
        return self._events(1)

    def step_mechanism(self, bound, n_steps, stretch):
        """Return the mechanism of each of so many steps.

        Parameters
        ----------
        bound : float
            What a record's contribution is clipped to.
        n_steps : int
        stretch : float
            By how much the map of rows may make one direction longer than another.
        """
        return self.steps.split(n_steps).bounded(bound, stretch=stretch).mechanism

    def report(self, *, n_steps=1, **facts):
        """Return the report of a run of this plan in so many steps; see `Plan.report`.

        Until the moment is released, one stands for all.
        """
        return super().report(events=self._events(n_steps), **facts)

    def _events(self, n_steps):
        steps = self.steps.split(n_steps).event
        return (steps,) if self.moment is None else (self.moment.event, steps)


def resolve_rows_per_group(rows_per_group, budget, n_groups, n_columns, moment_budget):
    """Return how many rows of full length those of a group may come to in the moment.

    Fewer make the moment's noise smaller. More than a typical group has would be waste; much less
    makes the moment so small that steps are too long. "auto" takes what keeps the noise well below
    the moment of rows that fill all columns alike, within limits.
    """
    if rows_per_group != "auto":
        rows_per_group = check_positive(rows_per_group, "rows_per_group")
        if rows_per_group < 1.0:
            raise ValueError("rows_per_group must be at least 1.")
        return rows_per_group
    if moment_budget == 0:
        return _LEAST_ROWS
    noise = budget.calibrate(pairwise=True) * n_columns**1.5
    return min(max(_QUIET_ROWS * n_groups / max(noise, 1e-300), _LEAST_ROWS), _MOST_ROWS)


def plan_whitened(
    problem, budget, *, moment_budget, max_iter, clipping_norm, step_size, momentum, average
):
    """Plan private whitening.

    Parameters
    ----------
    problem : WhitenedProblem
    budget : Budget
    moment_budget : float or "auto"
        Share of the squared Gaussian-DP parameter that buys the second moment; 0 buys none.
    max_iter, clipping_norm, step_size, momentum, average
        As in the estimators.

    Notes
    -----
    The outer product of a row with itself has the Frobenius norm B^2 if the row has the norm B.
    So a null record moves the sum by at most B^2. Two such matrices z z' and y y' are positive
    semidefinite, so that their inner product isn't negative and they lie at most sqrt(2) B^2
    apart: that is the distance under "replace_one", and a bound of a pair, which nobody doubles.
    """
    notes = ()
    if moment_budget == "auto":
        moment_budget = _AUTO_SHARE if problem.n_columns <= _MOST_COLUMNS else 0.0
        notes = () if moment_budget else (_NO_MOMENT,)
    # Parameters may come unvalidated (`sklearn.set_config`).
    moment_budget = check_real(moment_budget, "moment_budget")
    if not 0.0 <= moment_budget < 1.0:
        raise ValueError("moment_budget must be in [0, 1).")
    if max_iter != "auto":
        max_iter = check_count(max_iter, "max_iter")
    if clipping_norm != "auto":
        clipping_norm = check_positive(clipping_norm, "clipping_norm")
    if step_size != "auto":
        step_size = check_positive(step_size, "step_size")
    if momentum != "auto" and not 0.0 <= check_real(momentum, "momentum") < 1.0:
        raise ValueError("momentum must be in [0, 1).")
    if moment_budget > 0.0 and problem.n_columns > _LARGEST_MOMENT:
        raise ValueError(_TOO_MANY_COLUMNS)
    shared = {"n_records": problem.n_rows, "slack": problem.rounding_slack}
    moment = None
    if moment_budget > 0.0:
        trace = problem.row_norm**2
        moment = budget.release(
            bound=trace,
            pair_bound=trace * math.sqrt(2.0),
            share=moment_budget,
            size=problem.n_columns * (problem.n_columns + 1) // 2,
            **shared,
        )
    steps = budget.release(
        bound=1.0, share=1.0 - moment_budget, size=problem.n_columns * problem.n_outputs, **shared
    )
    return WhitenedPlan(
        budget=budget,
        n_rows=problem.n_rows,
        problem=problem,
        moment=moment,
        steps=steps,
        noise=budget.calibrate(),
        max_iter=max_iter,
        clipping_norm=clipping_norm if budget.is_private else math.inf,
        step_size=step_size,
        momentum=momentum,
        average=check_flag(average, "average"),
        notes=notes,
    )


# Shares of the squared Gaussian-DP parameter: of the moment where it is "auto", of each of the two
# releases of means, and of the matrix. What is left goes to the steps.
_MOMENT_SHARE, _SCALE_SHARE, _MEANS_SHARE, _MATRIX_SHARE = 0.3, 0.02, 0.12, 0.05
# What leaves something for the steps.
_LARGEST_SHARE = 0.7
# Steps, and how many of them are taken before one is kept.
_AUTO_STEPS, _LEAST_STEPS, _SETTLING = 32, 12, 0.25


@dataclass(frozen=True, eq=False, kw_only=True)
class InferencePlan(WhitenedPlan):
    """A plan of private whitening that also releases what standard errors are made of.

    In the order in which they are made: the moment, steps that settle, one number, the steps that
    are kept, two numbers, and a matrix. All numbers of releases are fixed beforehand.

    Parameters
    ----------
    n_steps, n_settling : int
        All steps, and those of them that aren't kept.
    scale, means, matrix : Release
        Of a sum of one number in [0, 1] of each record, of sums of two such numbers, and of a sum
        of positive semidefinite matrices of trace 1 at most.
    **others
        See `WhitenedPlan`.
    """

    n_steps: int
    n_settling: int
    scale: Release
    means: Release
    matrix: Release

    def matrix_mechanism(self, bound):
        """Return the mechanism of a sum of positive semidefinite matrices, one of each record.

        Parameters
        ----------
        bound : float
            Of the trace of a record's matrix.
        """
        return self.matrix.bounded(bound * self.matrix.bound).mechanism

    def report(self, **facts):
        """Return the report of a run of this plan; see `Plan.report`."""
        return super().report(**facts | {"n_steps": self.n_steps})

    def _events(self, n_steps):
        """All releases, whatever `n_steps` is: it is the plan's."""
        steps = self.steps.split(self.n_steps).event
        settling = replace(steps, n_steps=self.n_settling)
        kept = replace(steps, n_steps=self.n_steps - self.n_settling)
        scale, means, matrix = self.scale.event, self.means.event, self.matrix.event
        return self.moment.event, settling, scale, kept, means, matrix


def plan_inference(problem, budget, *, moment_budget, max_iter, **settings):
    """Plan private whitening with standard errors.

    Parameters
    ----------
    problem : WhitenedProblem
    budget : Budget
    moment_budget, max_iter
        As in the estimators.
    **settings
        The others of `plan_whitened`.

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
    _refuse(problem, settings)
    if moment_budget == "auto":
        moment_budget = _MOMENT_SHARE
    if max_iter == "auto":
        max_iter = _AUTO_STEPS
    plain = plan_whitened(
        problem, budget, moment_budget=moment_budget, max_iter=max_iter, **settings
    )
    if not 0.0 < moment_budget <= _LARGEST_SHARE:
        raise ValueError(
            f"inference=True needs a moment_budget above 0 and up to {_LARGEST_SHARE:g}."
        )
    if plain.max_iter < _LEAST_STEPS:
        raise ValueError(f"inference=True needs a max_iter of at least {_LEAST_STEPS}.")
    n_columns = problem.n_columns
    left = 1.0 - moment_budget - _SCALE_SHARE - _MEANS_SHARE - _MATRIX_SHARE
    made = {field.name: getattr(plain, field.name) for field in fields(plain)}
    made["steps"] = replace(
        plain.steps, noise_multiplier=SPLIT_SLACK * plain.noise / math.sqrt(left)
    )
    shared = {"n_records": problem.n_rows, "slack": problem.rounding_slack}
    return InferencePlan(
        **made,
        n_steps=plain.max_iter,
        n_settling=math.ceil(_SETTLING * plain.max_iter),
        scale=budget.release(bound=1.0, pair_bound=1.0, share=_SCALE_SHARE, size=1, **shared),
        means=budget.release(
            bound=math.sqrt(2.0), pair_bound=math.sqrt(2.0), share=_MEANS_SHARE, size=2, **shared
        ),
        matrix=budget.release(
            bound=1.0,
            pair_bound=math.sqrt(2.0),
            share=_MATRIX_SHARE,
            size=n_columns * (n_columns + 1) // 2,
            **shared,
        ),
    )


def _refuse(problem, settings):
    if problem.n_outputs > 1:
        raise ValueError(
            "inference=True is for one target or two classes: fit one model for each target, or "
            "for each class against the others, with a part of the budget each."
        )
    taken = {"step_size": "auto", "momentum": "auto", "average": True}
    if any(settings[name] != value for name, value in taken.items()):
        raise ValueError(
            "inference=True takes steps of its own: leave step_size, momentum and average as they "
            "are by default."
        )
