"""What a pipeline's steps may spend, from their public parameters and sizes."""

import contextlib
import dataclasses
import math

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import check_consistent_length

from skdp._checks import check_real, read_numbers
from skdp._estimator import (
    RecordPrivateEstimator,
    fit_groups,
    model_of,
    refuse_settings,
    require_groups,
)
from skdp._families.targets import encode_labels
from skdp._rows.containers import refuse_foreign
from skdp._sklearn import quietly, read_list
from skdp.ledger._account import ALREADY_CHARGED
from skdp.pipeline._chain import ask_for_groups, fit_last, reset_bounds
from skdp.pipeline._plan import PrivateStep, plan_pipeline
from skdp.pipeline._steps import (
    SEPARATOR,
    declared_width,
    fix_density,
    private_leaves,
    step_list,
    width_after,
    widths,
)

# Share of the squared mu for a last step that predicts; the others divide the rest. Values from 0.6
# to 0.9 hardly matter: benchmarks/pipeline.py.
_LAST_SHARE = 0.75


def resolve_shares(shares, steps):
    """Return the share of each step that spends something; they sum to 1."""
    paths = [step.path for step in steps]
    if isinstance(shares, str):
        numbers = _automatic(steps)
    elif isinstance(shares, dict):
        numbers = _by_name(shares, paths)
    else:
        numbers = read_numbers(shares, "shares must be positive numbers.").ravel().tolist()
        if len(numbers) != len(steps):
            raise ValueError(
                f"shares must hold one number for each step that spends something: {paths}."
            )
    if not all(0.0 < share < math.inf for share in numbers):
        raise ValueError("shares must be positive numbers.")
    whole = math.fsum(numbers)
    return [share / whole for share in numbers]


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


# Steps have these only while they are fitted. The ledger they keep.
_LENT = ("epsilon", "delta", "adjacency")
_DIVIDED = ", whose parameter shares divides it among the steps"
_NO_Y = "This DPPipeline estimator requires y to be passed, but the target y is None."


def sizes_of(X, y, last):
    """Return the numbers of rows, of features, and of outputs of a last step that predicts."""
    refuse_foreign(y, "y")
    n_records, n_features = np.shape(X)[0], n_columns_of(X)
    if n_records == 0:
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    if not _is_model(last):
        return n_records, n_features, 1
    if y is None:
        raise ValueError(_NO_Y)
    check_consistent_length(X, y)
    targets = quietly(np.asarray, quietly(read_list, y))
    if is_classifier(last):
        targets = encode_labels(targets.ravel(), model_of(last).classes)[1]
    return n_records, n_features, 1 if targets.ndim == 1 else targets.shape[1]


def n_columns_of(X):
    """Return the number of columns of an array or a frame; words or numbers alone are one."""
    shape = np.shape(X)
    return shape[1] if len(shape) == 2 else 1


def fresh_steps(pipeline):
    """Return copies of the steps that know nothing of an earlier fit, nor of density."""
    steps = [(name, clone(step, safe=False)) for name, step in pipeline.steps]
    fix_density(step_list(steps))
    for leaf in private_leaves(step_list(steps)):
        refuse_settings(leaf.estimator, pipeline, f"step {leaf.path!r}", division=_DIVIDED)
        reset_bounds(leaf.estimator)
    return steps


def protect_groups(steps):
    """Have what learns in steps ask for groups; refuse what protects rows alone."""
    leaves = private_leaves(steps)
    for leaf in leaves:
        require_groups(leaf.estimator, f"step {leaf.path!r}")
    ask_for_groups([leaf.estimator for leaf in leaves])


def _all_private_leaves(steps):
    """Yield those of the steps as they were given, and then as fits left them in containers."""
    for fitted in (False, True):
        yield from private_leaves(step_list(steps, fitted=fitted))


def share_ledger(pipeline, ledger):
    """Give another ledger to the steps that have the pipeline's."""
    # `fit` reports what is wrong with steps.
    with contextlib.suppress(TypeError, ValueError):
        for leaf in _all_private_leaves(pipeline.steps):
            if pipeline.ledger is not None and leaf.estimator.ledger == pipeline.ledger:
                leaf.estimator.set_params(ledger=ledger)


def plan_steps(budget, shares, steps, width, sizes):
    """Plan the steps from the first private one on.

    Parameters
    ----------
    budget : PipelineBudget
    shares : "auto", dict or sequence of float
    steps : list of Step
    width : int or None
        Number of columns that the first of them gets, None if it isn't known.
    sizes : tuple of int
        As `sizes_of` gives them. The number of features stands in for widths that aren't known:
        what a step may spend doesn't depend on them.
    """
    n_records, stand_in, n_outputs = sizes
    private_steps, leaves = [], []
    for step in steps:
        for leaf, n_columns in widths(step, width):
            if leaf.is_frozen or not isinstance(leaf.estimator, RecordPrivateEstimator):
                continue
            n_features = n_columns or declared_width(leaf.estimator) or stand_in or 1
            estimator = leaf.estimator if leaf is steps[0] else with_norm(leaf.estimator)
            releases = releases_of(estimator, budget, n_records, n_features, n_outputs)
            if releases(budget.epsilon, budget.delta):
                # Nothing that is released comes before the first step.
                is_exact = leaf is steps[0] and n_columns is not None
                private_steps.append(PrivateStep(leaf.path, releases, is_exact))
                leaves.append(leaf)
        width = width_after(step, width)
    if len(leaves) == 1:
        budget = dataclasses.replace(budget, accountant=leaves[0].estimator.accountant)
    return plan_pipeline(budget, private_steps, resolve_shares(shares, leaves), n_records=n_records)


def with_norm(step):
    """Return a step with a norm where it needs one, which a step before may promise later.

    What is released costs the same, whatever the norm is.
    """
    model = model_of(step)
    if getattr(model, "ball_budget", None) == 0 and model.data_norm is None:
        step = clone(step)
        model_of(step).set_params(data_norm=1.0)
    return step


def _is_model(step):
    return isinstance(step, RecordPrivateEstimator) and hasattr(step, "predict")


def releases_of(step, budget, n_records, n_features, n_outputs):
    """Return a function of epsilon and delta that gives the events of a step's fit."""
    sizes = (n_records, n_features)
    if _is_model(step):
        sizes += (n_outputs,)
    step._validate_params()
    step = clone(step).set_params(adjacency=budget.adjacency, ledger=ALREADY_CHARGED)

    def releases(epsilon, delta):
        step.set_params(epsilon=epsilon, delta=delta)
        return step._plan(*sizes, by_group=budget.of_groups).events

    return releases


def assign_budgets(plan, steps, streams):
    """Set what steps may spend, and return what they had of that, by path.

    Those that learn nothing have no part.
    """
    own_settings = {}
    parts = {part.name: (part, stream) for part, stream in zip(plan.parts, streams, strict=True)}
    for leaf in private_leaves(steps):
        part, stream = parts.get(leaf.path, (plan.budget, None))
        own_settings[leaf.path] = {name: getattr(leaf.estimator, name) for name in _LENT}
        leaf.estimator.set_params(
            epsilon=part.epsilon,
            delta=part.delta,
            adjacency=plan.budget.adjacency,
            # All are charged together.
            ledger=ALREADY_CHARGED,
            random_state=stream and stream.as_random_state(),
        )
    return own_settings


def fit_model(plan, step, X, y, n_outputs, groups=None):
    """Fit the last step; the design of a private model may have become known just now."""
    name, model = step
    if not _is_model(model):
        fit_last(step, X, y, groups)
        return
    (part,) = [part for part in plan.parts if part.name == name]
    releases = releases_of(model, plan.budget, plan.n_records, X.shape[1], n_outputs)
    model.set_params(epsilon=part.fitting(releases, plan.budget.adjacency))
    fit_groups(model, X, y, groups)


def collect_reports(steps, own_settings, ledger):
    """Return the reports of fitted steps by name, and leave no seed in what is published.

    Steps get back what `assign_budgets` returned, as another fit may have another budget, and the
    ledger that a fit of a single step is charged to from now on.
    """
    released = {}
    for leaf in _all_private_leaves(steps):
        if (report := getattr(leaf.estimator, "privacy_report_", None)) is not None:
            released[leaf.path] = report
        leaf.estimator.set_params(
            random_state=None, ledger=ledger, **own_settings.get(leaf.path, {})
        )
    return released
