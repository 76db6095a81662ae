"""For each mechanism a model of one number, and a record of which its coefficient tells most.

The larger delta is, the fewer fits tell: rates near 0 and 1 needn't be told apart. At a delta of
1e-5 no number of fits that a test can make bounds an epsilon of 1 away from 0.
"""

from dataclasses import dataclass

import numpy as np

from skdp.audit import audit
from skdp.linear_model import (
    DPCDLasso,
    DPRidge,
    DPSCDRegressor,
    DPSGDRegressor,
    WALRClassifier,
)

BUDGET = {"epsilon": 2.2, "delta": 0.2, "fit_intercept": False}
# Clipped in every step, whatever the noise of the steps before.
CLIPPED = {"target_bounds": (-1.0, 1.0), "clipping_norm": 1e-3, "max_iter": 1, **BUDGET}
DUAL = {"alpha": 1.0, "average": False, **CLIPPED}
SURE = 1.0 - 1e-7
ONE, FLIPPED = (np.ones(1), 1.0), (np.ones(1), 1.0, np.ones(1), -1.0)


@dataclass(frozen=True)
class Audited:
    """An estimator, and how it is audited.

    Attributes
    ----------
    estimator : estimator
    canary : tuple
    n_others : int
        Rows of zeros beside the canary.
    n_fits : int
    delta : float
    confidence : float
        Where coefficients are half of what is released, a true claim has a margin, and passes far
        more often than by this.
    """

    estimator: object
    canary: tuple = ONE
    n_others: int = 0
    n_fits: int = 2000
    delta: float = 0.2
    confidence: float = SURE

    def audit(self, random_state=0):
        return audit(
            self.estimator,
            np.zeros((self.n_others, 1)),
            np.zeros(self.n_others),
            canary=self.canary,
            n_fits=self.n_fits,
            delta=self.delta,
            confidence=self.confidence,
            random_state=random_state,
        )


# Rows are cut to a norm of 1 about 0.
PLAIN = {"ball_budget": 0, "data_norm": 1.0, "alpha": 1e-9, **CLIPPED}
HALF = {"n_fits": 3000, "confidence": 0.99}
AUDITED = {
    "dual, full batch": Audited(DPSCDRegressor(batch_size=1, **DUAL)),
    "dual, Poisson": Audited(DPSCDRegressor(batch_size=3, **DUAL), n_others=3, n_fits=3000),
    "noisy dual": Audited(DPSCDRegressor(noisy_dual=True, batch_size=1, **DUAL), **HALF),
    "sequential": Audited(
        DPSCDRegressor(solver="sequential", adjacency="replace_one", **DUAL), FLIPPED, **HALF
    ),
    "primal": Audited(
        DPSCDRegressor(solver="primal", adjacency="replace_one", **DUAL), FLIPPED, **HALF
    ),
    "DP-SGD": Audited(DPSGDRegressor(batch_size=1, average=False, **CLIPPED)),
    # As for whitening below. Steps are so short that the canary, far beyond the radius, is followed
    # by its target alone.
    "DP-SGD in a ball, Poisson": Audited(
        DPSGDRegressor(batch_size=170, average=False, ball_budget=0.01, eta0=1e-30, **CLIPPED),
        n_others=200,
    ),
    "DP-SGD, Laplace": Audited(
        DPSGDRegressor(mechanism="laplace", average=False, **CLIPPED),
        n_fits=3000,
        delta=0.05,
    ),
    "DP-CD": Audited(DPCDLasso(smoothness="bounds", alpha=1e-9, average_every=None, **CLIPPED)),
    # The moment is a release that the coefficient hardly tells of.
    "whitening": Audited(DPRidge(average=False, moment_budget=1e-6, **PLAIN)),
    "whitening, no moment": Audited(DPRidge(average=False, moment_budget=0.0, **PLAIN)),
    "whitening, public moment": Audited(
        DPRidge(average=False, public_moment=np.diag([1.0, 1e-3]), **PLAIN)
    ),
    # It tells of the steps, not of four releases besides.
    "whitening, inference": Audited(
        DPRidge(inference=True, moment_budget=1e-6, **(PLAIN | {"max_iter": 12})),
        **HALF,
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
        ),
        (np.ones(1), 1),
    ),
    "WALR, flipped labels": Audited(
        WALRClassifier(mechanism="randomized_response", alpha=0.1, classes=[0, 1], **BUDGET),
        (np.ones(1), 1),
    ),
}
