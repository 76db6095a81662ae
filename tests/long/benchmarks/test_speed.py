"""The scripts that measure time run on tiny problems, and judge what they measure rightly."""

import math
import platform
import sys
from pathlib import Path
from types import ModuleType
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge


@pytest.fixture
def race(load_script):
    return load_script("_race")


@pytest.fixture
def reference(load_script):
    """The transcription of DP-SCD, a peer."""
    return load_script("peers/dpscd_reference")


def test_contenders_take_turns_and_the_first_turn_does_not_count(race):
    calls = []

    def contender(name, seconds):
        def run():
            calls.append(name)
            return seconds[calls.count(name) - 1]

        return run

    slow, fast = contender("slow", [99.0, 2.0, 6.0, 4.0]), contender("fast", [99.0, 1.0, 2.0, 4.0])
    found = race.Race("fit", {"rows": 5}, repeats=3)
    for name, contender in (("slow", slow), ("fast", fast)):
        found.add(name, contender)
    found.add("absent", None, "skipped: no")
    found.claim("ratio", "slow", "fast", at_most=1.9)
    found.claim("constant", 4.0, "fast", at_least=2.0)
    found.claim("difference", "slow", minus="fast")
    found.claim("absent", "absent", "fast", at_most=1.0)
    times, ratios = map(pd.DataFrame, found.run())
    assert calls == ["slow", "fast"] * 4
    assert times["contender"].tolist() == ["slow", "fast", "absent"]
    assert times["median"].tolist()[:2] == [4.0, 2.0]
    assert times["q1"].tolist()[:2] == [3.0, 1.5]
    assert math.isnan(times["median"][2])
    assert times["note"].tolist() == ["", "", "skipped: no"]
    # Turn by turn the ratios are 2, 3 and 1; the differences 1, 4 and 0.
    assert ratios["median"].tolist()[:3] == [2.0, 2.0, 1.0]
    assert ratios["met"].tolist() == ["no", "yes", "", "skipped"]
    assert ratios["target"].tolist() == ["<= 1.9", ">= 2", "", "<= 1"]


def test_a_peer_fits_once_for_each_line(race, rng, tmp_path):
    with race.Peers({"opacus": None}, tmp_path) as peers:
        X = rng.uniform(-0.1, 0.1, (40, 3))
        problem = peers.save(X, X[:, 0], batch_size=10, passes=2)
        fit, note = peers.start("numpy", "dpscd_reference", problem)
        assert note == f"python {platform.python_version()}, numpy {np.__version__}"
        assert all(fit() > 0.0 for _ in range(3))
        absent = peers.start("opacus", "opacus_dpsgd", problem)
        assert absent == (None, "skipped: no --opacus-python")
        with pytest.raises(RuntimeError, match="ended early"):
            peers.start("numpy", "dpscd_reference", tmp_path / "absent.npz")


@pytest.mark.parametrize(
    ("script", "name", "settings"),
    [
        ("linear", "LinearRegression", {"bounds_X": (-1.0, 1.0), "bounds_y": (-1.0, 1.0)}),
        ("logistic", "LogisticRegression", {"data_norm": 1.0}),
    ],
)
def test_diffprivlib_has_the_bounds_of_the_rows(script, name, settings, load_script, monkeypatch):
    """Rows in the unit ball, targets in [-1, 1], and the epsilon of ours."""
    model = Mock()
    models = ModuleType("diffprivlib.models")
    setattr(models, name, model)
    monkeypatch.setitem(sys.modules, "diffprivlib", ModuleType("diffprivlib"))
    monkeypatch.setitem(sys.modules, "diffprivlib.models", models)
    load_script(f"peers/diffprivlib_{script}").prepare("X", "y", 256, 10)()
    model.assert_called_once_with(epsilon=1.0, **settings)
    model().fit.assert_called_once_with("X", "y")


def test_peers_have_one_thread_and_nothing_of_this_interpreter(race, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "somewhere")
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    other = race._environment("/another/python")
    assert "PYTHONPATH" not in other
    assert other["OMP_NUM_THREADS"] == other["OPENBLAS_NUM_THREADS"] == "1"
    assert race._environment(sys.executable)["PYTHONPATH"] == "somewhere"


def test_the_transcription_solves_ridge_regression(reference, rng, monkeypatch):
    X = rng.normal(size=(200, 4))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.clip(X @ rng.normal(size=4), -1.0, 1.0)
    monkeypatch.setattr(reference, "ALPHA", 0.05)
    expected = Ridge(alpha=200 * 0.05, fit_intercept=False).fit(X, y).coef_
    monkeypatch.setattr(reference, "SIGMA", 0.0)
    exact = reference.dpscd(X, y, 10, 100, rng)
    np.testing.assert_allclose(exact, expected, rtol=1e-6)
    # From nothing: updates of a batch of all are independent, so each has the curvature of all.
    first = X.T @ (y / (1.0 + 1.0 / 0.05)) / (0.05 * 200)
    np.testing.assert_allclose(reference.dpscd(X, y, 200, 1, rng), first, rtol=1e-9)
    # The clipping bound binds, and the noise is sqrt(2) times it on each step's entries.
    monkeypatch.setattr(reference, "CLIPPING", 1e-3)
    one_pass = reference.dpscd(X, y, 200, 1, rng)
    assert np.linalg.norm(one_pass) <= 200 * 1e-3 / (0.05 * 200)
    monkeypatch.setattr(reference, "SIGMA", 1e3)
    noise = [reference.dpscd(X, y, 200, 1, rng) - one_pass for _ in range(400)]
    assert np.std(noise) == pytest.approx(1e3 * math.sqrt(2.0) * 1e-3 / (0.05 * 200), rel=0.15)


def test_rows_are_shorter_than_the_bound(load_script):
    X, labels, targets = load_script("_speed_races").generate(10_000, 7, 10)
    assert X.shape == (1000, 7)
    assert np.linalg.norm(X, axis=1).max() < 1.0
    assert set(labels) == {0, 1}
    assert np.abs(targets).max() <= 1.0


def test_a_step_is_timed_without_what_surrounds_it(load_script, monkeypatch):
    races = load_script("_speed_races")

    def timed(fit, X, y):
        # Seconds of a fit: 100 for what surrounds it, and 3 for each of 7 steps a pass.
        return lambda: 100.0 + 21.0 * fit.__self__.max_iter

    monkeypatch.setattr(races, "timed", timed)
    X = np.zeros((700, 2))
    assert races.step_of(races.DPSGDRegressor, X, X[:, 0], 100)() == pytest.approx(3.0)


def test_speed_runs_and_goes_on_after_a_break(run, monkeypatch):
    for peer in ("DIFFPRIVLIB_PYTHON", "OPACUS_PYTHON"):
        monkeypatch.delenv(peer, raising=False)
    options, files = "--shrink 500 --repeats 2 --races", ("speed", "speed_ratios")
    before, _ = run("speed", f"{options} logistic step_50", *files)
    times, ratios = run("speed", f"{options} ridge", *files)
    assert times["race"].drop_duplicates().tolist() == ["logistic", "ridge", "step_50"]
    for name, kept in before.groupby("race"):
        found = times[times["race"] == name]
        assert found["median"].tolist() == pytest.approx(kept["median"].tolist(), nan_ok=True)
    skipped = times["note"].fillna("").str.startswith("skipped")
    assert times["median"].isna().equals(skipped)
    assert times.loc[skipped, "contender"].str.startswith(("Opacus", "diffprivlib")).all()
    assert (times["q1"] <= times["q3"])[~skipped].all()
    assert "published DP-SCD, batch 100" in set(times["contender"])
    assert set(ratios["met"].dropna()) <= {"yes", "no", "skipped"}
    judged = ratios["met"] != "skipped"
    assert (ratios["target"].notna() == ratios["met"].isin(["yes", "no"]))[judged].all()


def test_races_have_the_contenders_and_claims_of_the_results(load_script, tmp_path):
    """What the site shows is by name: none was lost or renamed since it was measured."""
    races = load_script("_speed_races").RACES
    peers = load_script("_race").Peers({}, tmp_path)
    results = Path(races["logistic"].__code__.co_filename).with_name("results")
    times = pd.read_csv(results / "speed.csv", comment="#").groupby("race")["contender"]
    ratios = pd.read_csv(results / "speed_ratios.csv", comment="#").groupby("race")["claim"]
    with peers:
        for name, race in races.items():
            found = race(peers, 10_000)
            assert set(found.contenders) == set(times.get_group(name))
            assert {claim.text for claim in found.claims} == set(ratios.get_group(name))


def test_scaling_runs(load_script, run, monkeypatch):
    scaling = load_script("scaling")
    monkeypatch.setattr(scaling, "BASE", {"rows": 100, "passes": 2, "columns": 3})
    steps = {"rows": (100, 200), "passes": (2, 6), "columns": (3, 10)}
    monkeypatch.setattr(scaling, "STEPS", steps)
    table = pd.DataFrame({"size": [1.0, 10.0, 100.0], "seconds": [0.5, 5.0, 50.0]})
    assert scaling.slope(table) == pytest.approx(1.0)
    table = run("scaling", "--repeats 1", "scaling")
    assert (table["seconds"] > 0.0).all()
    models = table.groupby("grows")["model"].nunique().to_dict()
    assert models == {"columns": 4, "passes": 3, "rows": 4}


def test_whitening_runs(run):
    table = run("whitening", "--rows 300 --columns 4 --repeats 1", "whitening")
    ratios = table.filter(like="over_").to_numpy()
    assert (ratios > 0.0).all()
    assert ratios.shape == (2, 4)
