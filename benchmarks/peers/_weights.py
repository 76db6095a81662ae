"""What the peers of utility.py share that run in environments of their own.

    python peers/NAME.py problem.npz tasks.json weights.npz

The problem holds X, y, epsilon, delta and row_norm; a task is a dictionary of settings with a seed;
and the weights are ``coef`` of shape (tasks, d, k) and ``intercept`` of shape (tasks, k).
"""

import json
import sys
import warnings

import numpy as np


def run(fit):
    """Run the tasks of the command line.

    Parameters
    ----------
    fit : callable
        ``fit(X, y, epsilon, delta, row_norm, seed, **settings)`` returns a coefficient (d, k) and
        an intercept (k,).
    """
    # They warn of what the problem says on purpose.
    warnings.simplefilter("ignore")
    _, problem, tasks, weights = sys.argv
    with np.load(problem) as file:
        X, y = file["X"], file["y"]
        numbers = [float(file[name]) for name in ("epsilon", "delta", "row_norm")]
    with open(tasks, encoding="utf-8") as file:
        found = [fit(X, y, *numbers, **task) for task in json.load(file)]
    coef, intercept = (np.array(part) for part in zip(*found, strict=True))
    np.savez(weights, coef=coef, intercept=intercept)
