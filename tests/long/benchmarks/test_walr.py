"""The script of the label-private comparison runs on synthetic data, and its rivals are right."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit, xlogy


@pytest.fixture
def script(load_script, data, monkeypatch):
    script = load_script("papers/walr/walr")
    monkeypatch.setattr(script, "NOTE_PASSES", 3)
    monkeypatch.setattr(script, "PROJECTION_STEPS", 20)
    return script


@pytest.fixture
def problem(script):
    return script.load_problem("hillstrom_visit")


def test_it_runs(script, run):
    options = "--problems hillstrom_visit --epsilons 5 --seeds 1 2"
    table, ablation = run("papers/walr/walr", options, "walr", "walr_ablation")
    assert len(table) == 2 + 5
    assert not table.drop(columns="chosen").isna().any(axis=None)
    assert (table["low"] <= table["high"]).all()
    assert table["auc"].between(0.0, 1.0).all()
    assert table["ece"].between(0.0, 1.0).all()
    assert table.loc[table["method"] == "no privacy", "gap"].item() == 0.0
    no_theorem = table["guarantee"] == "none by the note's theorem"
    assert no_theorem.equals(table["method"].str.startswith("note"))
    assert script.guarantee_of("note", 1.0) == "label"
    # What is chosen on test rows is told; ours chooses nothing.
    chosen = table["chosen"].notna()
    assert set(table.loc[chosen, "method"]) == {"note", "note, best alpha", "randomised response"}
    means = table.set_index("method")["log_loss"]
    assert means["note, best alpha"] <= means["note"]
    # The classic formula is refused above epsilon 1.
    assert len(ablation) == len(script.VARIANTS) + 1
    assert "classic formula" not in set(ablation["variant"])
    worse = ablation.set_index("variant")["worse_by"]
    assert worse["ours"] == 0.0
    assert worse["spherical noise"] != 0.0
    # The same release, trained to the same optimum.
    assert abs(worse["full-batch descent"]) < 0.01


def test_labels_and_rows(script, folder):
    """The given split is kept; the last class is positive."""
    frame = pd.read_csv(folder / "adult.csv.gz", keep_default_na=False)
    X_train, y_train, _, y_test = script.load_problem("adult")
    # Columns that the DP-SCD paper leaves out are there.
    assert X_train.shape == (200, 4 + 3 + 2 + 2 + 2)
    np.testing.assert_array_equal(y_train, frame["income"][:200] == ">50K")
    np.testing.assert_array_equal(y_test, frame["income"][200:] == ">50K")


def test_measures(script, rng):
    p = rng.uniform(0.05, 0.95, 30_000)
    y = (rng.uniform(size=p.size) < p).astype(int)
    decision = np.log(p / (1.0 - p))
    log_loss, auc, ece, bias = script.measure(decision, y)
    assert log_loss == pytest.approx(-np.mean(xlogy(y, p) + xlogy(1 - y, 1.0 - p)))
    assert ece < 0.02
    assert abs(bias) < 0.01
    off = script.measure(np.full(p.size, math.log(3.0)), y)
    # All rows get 3/4, about half of them are positive.
    assert off[1] == 0.5
    assert off[2] == pytest.approx(0.25, abs=0.03)
    assert off[3] == pytest.approx(0.25, abs=0.02)
    assert auc > 0.7
    assert np.isfinite(
        script.measure(np.array([np.nan, np.inf, -np.inf, 0.0]), np.array([0, 1, 1, 0]))
    ).all()


def test_the_notes_noise(script, rng, monkeypatch):
    """One step of one batch from zero moves by the rate times half the mean row less the release.

    The mean square of 4000 normal numbers is off by 25 % with probability below 1e-20.
    """
    monkeypatch.setattr(script, "NOTE_PASSES", 1)
    monkeypatch.setattr(script, "NOTE_BATCH", 50)
    X, y = rng.uniform(size=(50, 3999)), np.arange(50) % 2
    (w,) = script.fit_note(X, y, 0.5, 1, [(0.1, 0.0)])
    exact = np.append((y - 0.5) @ X, 0.0) / 50
    noise = w / 0.1 - exact
    sigma = math.sqrt(4000) / 50 * math.sqrt(2.0 * math.log(1.25 / 1e-6)) / 0.5
    assert np.mean(noise**2) == pytest.approx(sigma**2, rel=0.25)


def test_the_notes_descent_comes_to_the_optimum(script, problem, monkeypatch):
    """Without noise and with all rows in each step; the intercept isn't penalised."""
    X, y = problem[:2]
    monkeypatch.setattr(script, "NOTE_PASSES", 3000)
    monkeypatch.setattr(script, "NOTE_BATCH", len(y))
    (w,) = script.fit_note(X, y, math.inf, 1, [(0.5, 0.1)])
    np.testing.assert_allclose(w, _optimum(X, y, 0.1), atol=1e-3)


def test_randomised_response_is_debiased(script, problem, rng):
    """At a large epsilon no label is flipped; at a smaller one a mean of many fits is right.

    The mean of 40 fits has a standard error of 0.04 or less in each weight.
    """
    X, y = problem[:2]
    found = script.fit_response(X, y, 50.0, 0, script.ALPHAS)
    for alpha, w in zip(script.ALPHAS[:4], found, strict=False):
        np.testing.assert_allclose(w, _optimum(X, y, alpha), atol=1e-4)
    fits = [script.fit_response(X, y, 1.5, seed, (0.3,))[0] for seed in range(40)]
    np.testing.assert_allclose(np.mean(fits, axis=0), _optimum(X, y, 0.3), atol=0.25)


def test_projection_is_the_nearest(script, rng, monkeypatch):
    """Optimal: the gradient is 0 inside the box and points outwards at its sides."""
    monkeypatch.setattr(script, "PROJECTION_STEPS", 2000)
    X = rng.normal(size=(30, 4))
    root = rng.normal(size=(4, 4))
    noise_cov = root @ root.T
    inside = X.T @ rng.uniform(size=30)
    np.testing.assert_allclose(script.project(X, inside, noise_cov), inside, atol=1e-6)

    target = 5.0 * inside
    found = script.project(X, target, noise_cov)
    slope = X @ np.linalg.solve(noise_cov, found - target)
    # The linear problem that the optimum solves, whose optimum is at a corner.
    corner = X.T @ (slope < 0.0)
    assert np.linalg.norm(found - target) > 1.0
    gradient = np.linalg.solve(noise_cov, found - target)
    assert gradient @ (found - corner) == pytest.approx(0.0, abs=1e-3)


def test_verdicts(script):
    losses = {"ours": 0.30, "note": 0.30, "note, best alpha": 0.29, "randomised response": 0.2985}
    table = pd.DataFrame(losses.items(), columns=["method", "log_loss"])
    table = table.assign(problem="adult", epsilon=1.0, se=0.001)
    found = script.judge(table).set_index("method")
    np.testing.assert_allclose(found["ours_worse_by"], [0.0, 0.01, 0.0015], atol=1e-12)
    np.testing.assert_allclose(found["se"], 2**0.5 * 0.001)
    assert found["holds"].tolist() == [True, False, False]
    assert found["within_two_errors"].tolist() == [True, False, True]


def _optimum(X, y, alpha):
    X = np.hstack([X, np.ones((len(X), 1))])
    penalty = np.append(np.full(X.shape[1] - 1, alpha), 0.0)

    def objective(w):
        decision = X @ w
        value = np.mean(np.logaddexp(0.0, decision) - y * decision) + 0.5 * penalty @ w**2
        return value, X.T @ (expit(decision) - y) / len(y) + penalty * w

    return minimize(objective, np.zeros(X.shape[1]), jac=True, tol=1e-12).x
