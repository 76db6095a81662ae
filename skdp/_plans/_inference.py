"""Plans of private whitening with standard errors: what else is released, and what it may cost."""

import math
from dataclasses import dataclass, fields, replace

from skdp._mechanisms import GaussianMechanism
from skdp._plans._base import SPLIT_SLACK
from skdp._plans._whitened import WhitenedPlan, plan_whitened
from skdp.accountant import GaussianEvent

# Shares of the squared Gaussian-DP parameter: of the moment where it is "auto", of each of the two
# releases of means, and of the matrix. What is left goes to the steps.
_MOMENT_SHARE, _SCALE_SHARE, _MEANS_SHARE, _MATRIX_SHARE = 0.3, 0.02, 0.12, 0.05
# What leaves something for the steps.
_LARGEST_MOMENT = 0.7
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
    pair_noise : float
        Noise multiplier, over the distance of a pair, of one release that spends all.
    **others
        See `WhitenedPlan`.
    """

    n_steps: int
    n_settling: int
    pair_noise: float

    def scale_mechanism(self):
        """Return the mechanism of a sum of one number in [0, 1] of each record."""
        return self._pair_mechanism(1.0, 1, _SCALE_SHARE)

    def means_mechanism(self):
        """Return the mechanism of the sums of two numbers in [0, 1] of each record."""
        return self._pair_mechanism(math.sqrt(2.0), 2, _MEANS_SHARE)

    def matrix_mechanism(self, bound):
        """Return the mechanism of a sum of positive semidefinite matrices, one of each record.

        Parameters
        ----------
        bound : float
            Of the trace of a record's matrix.
        """
        distance = bound * math.sqrt(2.0) if self.budget.adjacency == "replace_one" else bound
        n_columns = self.problem.n_columns
        return self._pair_mechanism(distance, n_columns * (n_columns + 1) // 2, _MATRIX_SHARE)

    def report(self, **facts):
        """Return the report of a run of this plan; see `Plan.report`."""
        return super().report(**facts | {"n_steps": self.n_steps})

    def _pair_mechanism(self, distance, size, share):
        return GaussianMechanism(
            contribution_bound=distance if self.budget.is_private else math.inf,
            noise_multiplier=self._pair_multiplier(share),
            size=size,
            n_records=self.problem.n_rows,
            rounding_slack=self.problem.rounding_slack,
        )

    def _pair_multiplier(self, share):
        return SPLIT_SLACK * self.pair_noise / math.sqrt(share)

    def _events(self, n_steps):
        """All releases, whatever `n_steps` is: it is the plan's."""
        moment, steps = super()._events(self.n_steps)
        settling = replace(steps, n_steps=self.n_settling)
        kept = replace(steps, n_steps=self.n_steps - self.n_settling)
        scale, means = (
            GaussianEvent(self._pair_multiplier(share), pairwise=True)
            for share in (_SCALE_SHARE, _MEANS_SHARE)
        )
        # As with the moment, the distance is that of a pair where one record replaces another.
        multiplier = self._pair_multiplier(_MATRIX_SHARE)
        matrix = GaussianEvent(multiplier, pairwise=moment.pairwise)
        return moment, settling, scale, kept, means, matrix


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
    if not 0.0 < moment_budget <= _LARGEST_MOMENT:
        raise ValueError(
            f"inference=True needs a moment_budget above 0 and up to {_LARGEST_MOMENT:g}."
        )
    if plain.max_iter < _LEAST_STEPS:
        raise ValueError(f"inference=True needs a max_iter of at least {_LEAST_STEPS}.")
    left = 1.0 - moment_budget - _SCALE_SHARE - _MEANS_SHARE - _MATRIX_SHARE
    made = {field.name: getattr(plain, field.name) for field in fields(plain)}
    made["steps_multiplier"] = SPLIT_SLACK * plain.noise / math.sqrt(left)
    return InferencePlan(
        **made,
        n_steps=plain.max_iter,
        n_settling=math.ceil(_SETTLING * plain.max_iter),
        pair_noise=budget.calibrate(pairwise=True),
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
