import itertools
import math
from dataclasses import fields
from types import SimpleNamespace

import numpy as np
import pytest

from skdp.accountant import calibrate
from tests._loops import for_each
from tests.door import Budget, WhitenedProblem, plan_whitened

NAMES = ["max_iter", "clipping_norm", "step_size", "momentum"]
BIAS = 1.0 / 3.0


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
        "epsilon": 1.0,
        "delta": 1e-5,
        "adjacency": "zero_out",
        "accountant": "pld",
        "account": None,
        "share": 1.0,
        "typical_weight": 1.0,
        "wanted_weight": 1.0,
        "steepest": 1.0,
        "bounded_targets": True,
        "moment_budget": "auto",
        "average": True,
        **dict.fromkeys(NAMES, "auto"),
        **changes,
    }
    problem, budget = (
        cls(**{field.name: arguments.pop(field.name) for field in fields(cls)})
        for cls in (WhitenedProblem, Budget)
    )
    return plan_whitened(problem, budget, **arguments)


@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 7.0, 100.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-5, 1e-4])
@for_each("share", [0.0, 1e-6, 0.1, 0.5, 0.999])
def test_the_parts_of_a_budget_add_up_to_it_for_every_number_of_steps(
    delta, epsilon, share, adjacency
):
    """Of the mechanisms that run, by the distances that the proofs give, without the accountant."""
    options = {"epsilon": epsilon, "delta": delta, "adjacency": adjacency}
    made, most = plan(moment_budget=share, **options), 1.0 / calibrate(**options)
    factor = 2.0 if adjacency == "replace_one" else 1.0
    found = set()
    for n_steps in (1, 2, 10, 20, 39, 40, 100, 12_345):
        report = made.report(steps=SimpleNamespace(n_steps=n_steps), reproducible=False)
        step = made.steps.split(n_steps).bounded(0.3, stretch=7.0).mechanism
        assert step.contribution_bound == 0.3
        steps = factor * math.sqrt(n_steps) / step.noise_multiplier
        moment = 0.0
        if share > 0.0:
            distance = made.problem.row_norm**2 * math.sqrt(factor)
            assert made.moment.mechanism.contribution_bound == distance
            moment = 1.0 / made.moment.mechanism.noise_multiplier
        assert report.mu == pytest.approx(math.hypot(moment, steps), rel=1e-13)
        most_mu = factor * most
        assert (1.0 - 2e-9) * most_mu < report.mu < most_mu
        assert moment**2 / report.mu**2 == pytest.approx(share, rel=1e-9)
        assert [event.n_steps for event in report.events] == [1] * (share > 0.0) + [n_steps]
        assert report.n_releases == n_steps + (share > 0.0)
        found.add(float(f"{report.mu:.12g}"))
    assert max(found) - min(found) <= 1e-11 * max(found)
    assert 0.999 * epsilon < report._profile().epsilon(delta) <= epsilon


def test_nothing_is_calibrated_to_a_number_of_steps(monkeypatch):
    designs = []
    original = Budget.calibrate

    def spy(self, **design):
        designs.append(design)
        return original(self, **design)

    monkeypatch.setattr(Budget, "calibrate", spy)
    made = [plan(max_iter=n_steps) for n_steps in (1, 7, 10**6, "auto")]
    assert {design.get("n_steps", 1) for design in designs} == {1}
    assert len({(one.moment.mechanism, one.steps.noise_multiplier, one.noise) for one in made}) == 1


def test_a_moment_claims_the_distance_of_a_pair_where_there_is_one():
    """Elsewhere the bound is that of a record, and a reader may double it."""
    for adjacency, pairwise in (("zero_out", False), ("replace_one", True)):
        moment, steps = (
            plan(adjacency=adjacency)
            .report(steps=SimpleNamespace(n_steps=3), reproducible=False)
            .events
        )
        assert moment.pairwise is pairwise
        assert not steps.pairwise


@pytest.mark.long
@pytest.mark.parametrize("bias", [0.0, BIAS, 1.0])
def test_no_pair_of_records_moves_the_moment_further_than_stated(bias, rng):
    """In random directions and lengths; the worst pairs reach the distance."""
    bounds = {
        adjacency: plan(
            adjacency=adjacency, bias=bias, row_norm=math.hypot(1.0, bias)
        ).moment.mechanism.contribution_bound
        for adjacency in ("zero_out", "replace_one")
    }
    far = {"zero_out": 0.0, "replace_one": 0.0}
    for n_features in (1, 2, 5):
        rows = rng.standard_normal((3000, n_features))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        rows *= rng.choice([1.0, 0.99, 0.3, 0.0], (3000, 1), p=[0.7, 0.1, 0.1, 0.1])
        z = np.column_stack([rows, np.full(3000, bias)])
        products = z[:, :, np.newaxis] * z[:, np.newaxis]
        far["zero_out"] = max(far["zero_out"], np.linalg.norm(products, axis=(1, 2)).max())
        apart = np.linalg.norm(products[:, np.newaxis][:300] - products, axis=(2, 3)).max()
        far["replace_one"] = max(far["replace_one"], apart)
    for adjacency, bound in bounds.items():
        assert 0.999 * bound < far[adjacency] <= bound * (1.0 + 1e-12)


def test_the_mechanisms_fit_the_problem():
    made = plan(n_records=77, n_columns=6, n_outputs=3, rounding_slack=1e-6)
    moment, step = made.moment.mechanism, made.steps.split(4).bounded(0.5, stretch=100.0).mechanism
    assert (moment.size, moment.n_records, moment.rounding_slack) == (21, 77, 1e-6)
    assert (step.size, step.n_records) == (18, 77)
    assert step.rounding_slack == pytest.approx(1e-4)
    assert step.noise_multiplier == 2.0 * made.steps.noise_multiplier


def test_the_automatic_share_is_none_where_eigenvectors_take_too_long():
    assert plan(n_columns=2000).moment is not None
    assert plan(n_columns=2000).notes == plan(n_columns=3000, moment_budget=0.0).notes == ()
    wide = plan(n_columns=2001)
    assert "no second moment" in wide.report(reproducible=False).to_text()
    assert wide.moment is None
    assert len(wide.events) == 1
    assert wide.steps.noise_multiplier == pytest.approx(wide.noise)
    assert plan(n_columns=2001, moment_budget=0.1).moment is not None


def test_without_privacy_there_is_no_bound_and_no_noise():
    made = plan(epsilon=math.inf, clipping_norm=0.1)
    assert made.clipping_norm == made.moment.mechanism.contribution_bound == math.inf
    assert made.moment.mechanism.noise_multiplier == made.steps.noise_multiplier == 0.0
    assert made.report(steps=SimpleNamespace(n_steps=4), reproducible=False).mu == math.inf


BAD = {
    "moment_budget": [-1e-9, 1.0, 2.0, math.nan, math.inf, -math.inf, None, True, "x", 1j],
    "max_iter": [0, -1, 1.5, math.nan, None, "x", True, 10**400],
    "clipping_norm": [0.0, -1.0, math.nan, math.inf, 1e-31, None, "x"],
}


@for_each("name, value", [*itertools.chain(*(itertools.product([k], v) for k, v in BAD.items()))])
def test_numbers_that_change_the_noise_are_checked_here_too(name, value):
    with pytest.raises(ValueError, match=name):
        plan(**{name: value})


def test_a_share_of_almost_nothing_and_of_almost_all():
    for share in (1e-300, 1e-12, 1.0 - 1e-12):
        report = plan(moment_budget=share).report(
            steps=SimpleNamespace(n_steps=3), reproducible=False
        )
        assert report.mu <= 1.0 / calibrate(1.0, 1e-5)
