import math
from dataclasses import fields

import numpy as np
import pytest

from skdp.accountant import calibrate
from tests._loops import for_each
from tests._runs import run_of
from tests.door import MATRIX, Budget, WhitenedProblem, as_vector, plan_ball, plan_inference

BIAS = 1.0 / 3.0


def matrix_mechanism(plan, bound):
    return run_of(plan).bound(MATRIX, bound)


def plan(**changes):
    arguments = {
        "n_records": 1000,
        "n_columns": 5,
        "n_outputs": 1,
        "row_norm": math.hypot(1.0, BIAS),
        "bias": BIAS,
        "rounding_slack": 1e-9,
        "alpha": 1e-4,
        "smoothness": 0.25,
        "typical_weight": 1.0,
        "wanted_weight": 1.0,
        "steepest": 1.0,
        "bounded_targets": True,
        "epsilon": 1.0,
        "delta": 1e-5,
        "adjacency": "zero_out",
        "accountant": "pld",
        "account": None,
        "share": 1.0,
        "moment_budget": "auto",
        "average": True,
        **dict.fromkeys(["max_iter", "clipping_norm", "step_size", "momentum"], "auto"),
        **changes,
    }
    problem, budget = (
        cls(**{field.name: arguments.pop(field.name) for field in fields(cls)})
        for cls in (WhitenedProblem, Budget)
    )
    return plan_inference(problem, budget, **arguments)


@for_each("adjacency", ["zero_out", "replace_one"])
@for_each("share", ["auto", 1e-6, 0.7])
@for_each("epsilon", [1e-3, 1.0, 100.0])
@for_each("max_iter", ["auto", 12, 1000])
def test_all_releases_together_spend_the_budget(max_iter, epsilon, share, adjacency):
    """Of the mechanisms that run, by the distances that the proofs give, without the accountant."""
    made = plan(
        epsilon=epsilon,
        adjacency=adjacency,
        moment_budget=share,
        max_iter=max_iter,
    )
    replaced = adjacency == "replace_one"
    steps = made.steps.split(made.n_steps).bounded(0.3, stretch=7.0).mechanism
    scale, means = made.scale.mechanism, made.means.mechanism
    matrix = matrix_mechanism(made, 0.7)
    root = math.sqrt(2.0) if replaced else 1.0
    # Each release's noise over the distance of neighbours.
    spent = [
        made.moment.mechanism.noise_multiplier
        * made.moment.mechanism.contribution_bound
        / (root * made.problem.row_norm**2),
        *[steps.noise_multiplier * steps.contribution_bound / (0.6 if replaced else 0.3)]
        * made.n_steps,
        scale.noise_multiplier * scale.contribution_bound / 1.0,
        means.noise_multiplier * means.contribution_bound / math.sqrt(2.0),
        matrix.noise_multiplier * matrix.contribution_bound / (root * 0.7),
    ]
    mu = math.sqrt(sum(s**-2 for s in spent))
    most = 1.0 / calibrate(epsilon, 1e-5, adjacency=adjacency)
    most *= 2.0 if replaced else 1.0
    assert (1.0 - 4e-9) * most < mu < most
    report = made.report(reproducible=False)
    assert report.mu == pytest.approx(mu, rel=1e-12)
    assert report.n_releases == made.n_steps + 4
    assert 0 < made.n_settling < made.n_steps


@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
def test_counts_of_lengths_take_their_share_where_a_ball_is_learnt(adjacency):
    budget = Budget(epsilon=1.0, delta=1e-5, adjacency=adjacency, accountant="pld")
    sizes = {"n_records": 1000, "n_columns": 4, "slack": 1e-9}
    ball, spent = plan_ball(
        budget, ball_budget=0.2, data_norm=1.0, centred=True, share_within=0.98, **sizes
    )
    made = plan(adjacency=adjacency, ball=ball, left=1.0 - spent)
    assert plan(adjacency=adjacency).lengths is None
    counts = made.lengths.mechanism
    apart = math.sqrt(2.0) if adjacency == "replace_one" else 1.0
    most = calibrate(1.0, 1e-5, adjacency=adjacency) / (2.0 if apart > 1.0 else 1.0)
    noise = counts.noise_multiplier * counts.contribution_bound / apart
    assert noise == pytest.approx(most / math.sqrt(0.04 * (1.0 - spent)), rel=1e-8)
    assert counts.size == 40
    report = made.report(reproducible=False)
    assert report.n_releases == len(ball.events) + made.n_steps + 5
    assert (1.0 - 1e-8) < report.mu * most < 1.0
    assert plan(epsilon=math.inf, ball=ball).lengths is None


def test_a_pair_of_matrices_is_no_further_apart_than_stated(rng):
    """Of positive semidefinite ones of a trace up to the bound; the worst pairs reach it."""
    rows = rng.standard_normal((400, 2))
    rows *= (rng.choice([1.0, 0.5], 400) / np.linalg.norm(rows, axis=1))[:, np.newaxis]
    sums = np.array([as_vector(np.outer(z, z)) for z in rows])
    apart = {
        "zero_out": np.linalg.norm(sums, axis=1).max(),
        "replace_one": np.linalg.norm(sums[:, np.newaxis] - sums, axis=2).max(),
    }
    for adjacency, far in apart.items():
        bound = matrix_mechanism(plan(adjacency=adjacency), 1.0).contribution_bound
        assert 0.99 * bound < far <= bound * (1.0 + 1e-12)


def test_only_distances_of_pairs_are_claimed_to_be_that():
    for adjacency, replaced in (("zero_out", False), ("replace_one", True)):
        events = plan(adjacency=adjacency).report(reproducible=False).events
        assert [event.pairwise for event in events] == [
            replaced,
            False,
            True,
            False,
            True,
            replaced,
        ]
        assert [event.n_steps for event in events] == [1, 8, 1, 24, 1, 1]


def test_the_mechanisms_fit_the_problem():
    made = plan(n_records=77, n_columns=6, rounding_slack=1e-6)
    found = (
        made.scale.mechanism,
        made.means.mechanism,
        matrix_mechanism(made, 2.0),
    )
    assert [mechanism.size for mechanism in found] == [1, 2, 21]
    assert {(mechanism.n_records, mechanism.rounding_slack) for mechanism in found} == {(77, 1e-6)}


def test_without_privacy_there_is_no_bound_and_no_noise():
    made = plan(epsilon=math.inf)
    for mechanism in (made.scale.mechanism, made.means.mechanism, matrix_mechanism(made, 1.0)):
        assert mechanism.noise_multiplier == 0.0
        assert mechanism.contribution_bound == math.inf


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"n_outputs": 2}, "one model for each target"),
        ({"moment_budget": 0.0}, "moment_budget"),
        ({"moment_budget": 0.71}, "moment_budget"),
        ({"max_iter": 11}, "max_iter"),
        ({"step_size": 1.0}, "step_size"),
        ({"momentum": 0.0}, "momentum"),
        ({"average": False}, "average"),
        ({"clipping_norm": -1.0}, "clipping_norm"),
    ],
)
def test_what_does_not_go_with_inference_is_refused(changes, match):
    with pytest.raises(ValueError, match=match):
        plan(**changes)
