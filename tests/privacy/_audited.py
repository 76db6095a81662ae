"""For each mechanism a small model, and records of which its coefficients tell most.

Each of several records is alone in its direction, with noise of its own, so that one fit tells as
much as a fit for each of them would. Coins say which of them are there. An attacker who knows all
but the coins guesses each coin from one coefficient, and is right with a probability of at most
``(1 + delta) / 2``, delta being what the report claims at an epsilon of 0. Guesses of one fit are
independent, as their noise is: what all of them share tells of none.
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from skdp.linear_model import (
    DPCDLasso,
    DPRidge,
    DPSCDRegressor,
    DPSGDRegressor,
    WALRClassifier,
)
from tests.door import Fitter, given_canaries, make_stream

BUDGET = {"epsilon": 2.2, "delta": 0.2, "fit_intercept": False}
# Clipped in every step, whatever the noise of the steps before.
CLIPPED = {"target_bounds": (-1.0, 1.0), "clipping_norm": 1e-3, "max_iter": 1, **BUDGET}
DUAL = {"alpha": 1.0, "average": False, **CLIPPED}
# One fit in so many chooses the threshold. Guesses are made about the others.
TRAINING = 4


@dataclass(frozen=True)
class Guessed:
    """How many of so many guesses were right, and the probability that the claim allows."""

    n_right: int
    n_guesses: int
    allowed: float

    @property
    def chance(self):
        """Probability of so many right guesses or more, at most, if the noise is as claimed."""
        return stats.binom.sf(self.n_right - 1, self.n_guesses, self.allowed)


@dataclass(frozen=True)
class Audited:
    """An estimator, and how it is audited.

    Attributes
    ----------
    estimator : estimator
    n_others : int
        Rows of zeros beside the canaries.
    n_fits : int
    n_canaries : int
        In as many orthogonal directions.
    chance : float
        Below this the claim is convicted.
    abstains : bool
        Whether coins are guessed only where the coefficient is beyond both means. A pure epsilon
        claims no more of these guesses than of all, and most are right there.
    """

    estimator: object
    n_others: int = 0
    n_fits: int = 60
    n_canaries: int = 20
    chance: float = 5e-8
    abstains: bool = False

    def guess(self, random_state=0):
        """Guess coins in many fits."""
        d, coins_and_seeds = self.n_canaries, make_stream(random_state).spawn(2)
        classes = getattr(self.estimator, "classes", None)
        adjacency = getattr(self.estimator, "adjacency", "replace_label")
        labels = np.ones(self.n_others + d, dtype=float if classes is None else int)
        X, y = np.zeros((self.n_others, d)), 0 * labels[d:]
        canaries = given_canaries(self.estimator, X, y, (np.eye(d), labels[:d]), several=True)
        present = coins_and_seeds[0].uniform(self.n_fits * d).reshape(-1, d) <= 0.5
        worlds = [canaries.world(X, y, adjacency, here) for here in present]
        fitter = Fitter(self.estimator, coins_and_seeds[1], None)
        allowed = 0.5 + 0.5 * fitter.probe(worlds[0]).privacy_report_.delta_at(0.0)
        moves = canaries.contrasts(self.estimator, classes, adjacency)
        scores = fitter.weights(worlds)[:, :d] @ moves[:, :d].T
        first = np.arange(self.n_fits) < self.n_fits // TRAINING
        means = [scores[first][present[first] == here].mean() for here in (False, True)]
        is_right = (scores[~first] > np.mean(means)) == present[~first]
        if self.abstains:
            is_right = is_right[(scores[~first] <= means[0]) | (scores[~first] >= means[1])]
        return Guessed(int(is_right.sum()), is_right.size, allowed)


# Rows are cut to a norm of 1 about 0.
PLAIN = {"ball_budget": 0, "data_norm": 1.0, "alpha": 1e-9, **CLIPPED}
# Coefficients are half of what is released, or less. So a true claim isn't even nearly convicted,
# and more rarely than of the others.
HALF = {"n_fits": 100, "chance": 1e-4}
# The bound of one record's part grows with the others'.
ALONE = {"n_canaries": 1, "n_fits": 1500}
AUDITED = {
    "dual, full batch": Audited(DPSCDRegressor(batch_size=20, **DUAL)),
    "dual, Poisson": Audited(DPSCDRegressor(batch_size=30, **DUAL), n_others=20, n_fits=100),
    "noisy dual": Audited(DPSCDRegressor(noisy_dual=True, batch_size=20, **DUAL), **HALF),
    "sequential": Audited(
        DPSCDRegressor(solver="sequential", adjacency="replace_one", **(DUAL | {"epsilon": 5.0})),
        **(HALF | ALONE),
    ),
    "primal": Audited(
        DPSCDRegressor(solver="primal", adjacency="replace_one", **(DUAL | {"epsilon": 5.0})),
        **(HALF | ALONE),
    ),
    "DP-SGD": Audited(DPSGDRegressor(batch_size=20, average=False, **CLIPPED)),
    # As for whitening below. Steps are so short that the canary, far beyond the radius, is followed
    # by its target alone.
    "DP-SGD in a ball, Poisson": Audited(
        DPSGDRegressor(batch_size=170, average=False, ball_budget=0.01, eta0=1e-30, **CLIPPED),
        n_others=200,
        n_fits=100,
    ),
    # Its noise has one length for all directions.
    "DP-SGD, Laplace": Audited(
        DPSGDRegressor(mechanism="laplace", average=False, **(CLIPPED | {"epsilon": 1.5})),
        abstains=True,
        **ALONE,
    ),
    "DP-CD": Audited(DPCDLasso(smoothness="bounds", alpha=1e-9, average_every=None, **CLIPPED)),
    # The moment is a release that the coefficient hardly tells of.
    "whitening": Audited(DPRidge(average=False, moment_budget=1e-6, **PLAIN)),
    "whitening, no moment": Audited(DPRidge(average=False, moment_budget=0.0, **PLAIN)),
    "whitening, public moment": Audited(
        DPRidge(average=False, public_moment=np.diag([1.0] * 20 + [1e-3]), **PLAIN)
    ),
    # It tells of the steps, not of four releases besides.
    "whitening, inference": Audited(
        DPRidge(inference=True, moment_budget=1e-6, **(PLAIN | {"max_iter": 12})), **HALF
    ),
    # The other rows are zeros, so that the radius is small, and the canary is cut to it.
    "whitening in a ball": Audited(
        DPRidge(
            average=False,
            moment_budget=0.0,
            **(PLAIN | {"ball_budget": 0.01, "alpha": 1e-30}),
        ),
        n_others=200,
    ),
    "WALR": Audited(
        WALRClassifier(
            mechanism="analytic", noise_shape="spherical", alpha=0.1, classes=[0, 1], **BUDGET
        )
    ),
    "WALR, flipped labels": Audited(
        WALRClassifier(
            mechanism="randomized_response",
            alpha=0.1,
            classes=[0, 1],
            **(BUDGET | {"epsilon": 1.0}),
        ),
        n_fits=80,
    ),
}
