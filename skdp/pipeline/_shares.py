"""How a pipeline's budget is divided among its steps."""

import math

from skdp._checks import check_real, read_numbers
from skdp.pipeline._tree import SEPARATOR

# Of the squared mu of all, for a last step that predicts; the others share the rest. From 0.6 to
# 0.9 it hardly matters: benchmarks/pipeline.py.
_LAST_SHARE = 0.75


def resolve_shares(shares, steps):
    """Return the share of each step that spends something; they sum to 1.

    Parameters
    ----------
    shares : "auto", dict or sequence of float
    steps : list of Step

    Raises
    ------
    ValueError
        If they aren't positive numbers, one for each step.
    """
    if isinstance(shares, str):
        given = _automatic(steps)
    elif isinstance(shares, dict):
        given = _by_name(shares, [step.path for step in steps])
    else:
        given = read_numbers(shares, "shares must be positive numbers.").ravel().tolist()
        if len(given) != len(steps):
            names = [step.path for step in steps]
            raise ValueError(
                f"shares must hold one number for each step that spends something: {names}."
            )
    if not all(0.0 < share < math.inf for share in given):
        raise ValueError("shares must be positive numbers.")
    whole = math.fsum(given)
    return [share / whole for share in given]


def _automatic(steps):
    if len(steps) < 2 or not hasattr(steps[-1].estimator, "predict"):
        return [1.0] * len(steps)
    return [(1.0 - _LAST_SHARE) / (len(steps) - 1)] * (len(steps) - 1) + [_LAST_SHARE]


def _by_name(shares, paths):
    """Divide what is given for a name equally among the steps that have it, the longest first."""
    owners = [_owner(shares, path) for path in paths]
    for name in shares:
        if name not in owners:
            raise ValueError(f"shares name {name!r}, which is no step that spends something.")
    return [check_real(shares[owner], "shares") / owners.count(owner) for owner in owners]


def _owner(shares, path):
    fitting = [name for name in shares if f"{path}{SEPARATOR}".startswith(f"{name}{SEPARATOR}")]
    if not fitting:
        raise ValueError(f"shares must hold a number for step {path!r}, too.")
    return max(fitting, key=len)
