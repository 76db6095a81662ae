"""The scripts of Adult's support vector machine, of defaults and of calibration run."""

import json
import math
import warnings
from dataclasses import replace

import numpy as np
import pytest

from skdp.exceptions import PrivacyWarning


def test_adult_svm_runs(run, capsys):
    table = run("adult_svm", "--seeds 3 4", "adult_svm")
    assert "not private" in capsys.readouterr().out
    assert table["epsilon"].tolist() == [0.1, 0.5, 1.0, 2.0, np.inf]
    assert table["noise_multiplier"].is_monotonic_decreasing
    assert (table["accuracy_min"] <= table["accuracy_median"]).all()
    assert (table["accuracy_median"] <= table["accuracy_max"]).all()


def test_pipeline_runs(run):
    table = run("pipeline", "--problems adult adult_gaps --epsilons 1 --seeds 0 1", "pipeline")
    assert table["preprocessing"].tolist() == 2 * ["by hand", "pipeline", "wide bounds"]
    assert table["mean"].between(0.0, 1.0).all()


SMALL_GRIDS = {
    "dpscd": {
        "batch_size": (500, 400, 50),
        "alpha": (1e-4,),
        "clipping_norm": (0.000123, 1 / 3),
    },
    "dpsgd": {"batch_size": (500,), "eta0": (0.1, 1 / 3), "learning_rate": ("constant",)},
    "dpcd": {"max_iter": (2, 3), "step_size": (0.5, 1.0)},
}


@pytest.fixture
def small_contests(load_script, monkeypatch):
    """Return the script with a small grid and few seeds for each method."""
    script = load_script("defaults")
    small = {
        method: {
            name: replace(contest, grids=(grid,), n_rerun=3, n_fresh=2, n_further=3)
            for name, contest in script.CONTESTS[method].items()
        }
        for method, grid in SMALL_GRIDS.items()
    }
    monkeypatch.setattr(script, "CONTESTS", small)
    return script


@pytest.mark.parametrize(
    ("method", "problem", "epsilons", "n_settings", "file"),
    [
        # Batch sizes above the 200 rows stand for all rows.
        ("dpscd", "adult_hinge", [0.5, 2.0], 4, "defaults"),
        ("dpsgd", "adult_log_loss", [1.0], 2, "defaults_dpsgd"),
        ("dpcd", "adult", [20.0], 4, "defaults_dpcd"),
    ],
)
def test_defaults_runs_and_keeps_its_grid(
    method, problem, epsilons, n_settings, file, small_contests, run, folder, monkeypatch
):
    fits = []

    def load_prepared(name):
        fits.append(name)
        return loaded(name)

    loaded = small_contests.load_prepared
    monkeypatch.setattr(small_contests, "load_prepared", load_prepared)
    options = f"--cache {folder / 'cache'} --method {method} --problems {problem}"
    options += f" --epsilons {' '.join(map(str, epsilons))}"
    n_epsilons, n_best = len(epsilons), min(3, n_settings)
    run("defaults", f"{options} --screen-only")
    # One to know the rows, the others to fit.
    assert len(fits) == n_epsilons * (1 + n_settings)
    assert not (folder / f"{file}.csv").exists()

    fits.clear()
    table = run("defaults", options, file)
    n_defaults = n_epsilons * (1 + 2 + 3)
    # And one without privacy.
    assert len(fits) == 1 + n_defaults + n_epsilons * (n_best * 2 + 3)
    assert table["epsilon"].tolist() == epsilons
    for name, values in SMALL_GRIDS[method].items():
        assert set(table[f"best_{name}"]) <= {
            min(value, 200) if name == "batch_size" else value for value in values
        }
    np.testing.assert_allclose(table["gap"], table["best"] - table["default"], atol=2e-4)
    # The table is rounded after the verdict.
    clear = table[table["gap"] != 0.01]
    assert (clear["passes"] == (clear["gap"] < 0.01)).all()
    assert (table["se_further"] > 0.0).all()
    assert (table["default_se"] >= 0.0).all()
    assert table["no_privacy"].between(0.5, 1.0).all()
    assert table[["auc", "no_privacy_auc"]].stack().between(0.0, 1.0).all()
    has_probabilities = problem != "adult_hinge"
    log_losses = table[["log_loss", "no_privacy_log_loss"]]
    assert (log_losses.notna() == has_probabilities).all(axis=None)
    assert (table["base_rate_log_loss"] > 0.0).all()

    # Again: only the defaults are run, for they may have changed.
    fits.clear()
    text = (folder / f"{file}.csv").read_text()
    run("defaults", options)
    assert len(fits) == 1 + n_defaults
    assert (folder / f"{file}.csv").read_text() == text


def test_defaults_refuses_problems_of_another_method(run):
    with pytest.raises(SystemExit, match="of dpcd are california_housing"):
        run("defaults", "--method dpcd --problems adult_hinge")


def test_the_grid_is_chosen_at_seeds_that_are_not_reported(small_contests, run, monkeypatch):
    """The default is told what the problem is, and the grid what is held besides."""
    fits = []

    def fit_and_score(data, estimator, score, settings, epsilon, seed):
        fits.append((seed, settings))
        return [0.5 + 1e-3 * seed, np.nan, 0.5]

    monkeypatch.setattr(small_contests, "fit_and_score", fit_and_score)
    run("defaults", "--problems adult_hinge --epsilons 1")
    default = {seed for seed, settings in fits if settings == {"loss": "hinge"}}
    assert default == {1, 2} | {11, 12, 13}
    held = {"loss", "fit_intercept", "max_iter", "average", "batch_size", "alpha", "clipping_norm"}
    grid = {seed: set(settings) for seed, settings in fits if settings != {"loss": "hinge"}}
    assert grid == dict.fromkeys([0, 1, 2, 11, 12, 13], held)


@pytest.mark.parametrize(
    ("method", "problem"),
    [
        ("dpscd", "california_housing"),
        ("dpscd", "adult_log_loss"),
        ("dpcd", "california_housing"),
        ("dpcd", "phishing"),
    ],
)
def test_the_reference_is_what_the_default_minimises(method, problem, load_script, data):
    """An estimator of the same objective without noise scores the same."""
    script = load_script("defaults")
    contest = script.CONTESTS[method][problem]
    found = script.without_privacy(contest)
    settings = contest.told | {"max_iter": 5000 if method == "dpcd" else 500, "ball_budget": 0}
    args = (contest.data, contest.estimator, contest.score)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        ours = script.fit_and_score(*args, settings, math.inf, 0)
    expected = [found[f"no_privacy{name}"] for name in ("", "_log_loss", "_auc")]
    np.testing.assert_allclose(ours, expected, rtol=0.005, atol=0.002)
    is_regression = contest.score == "r2"
    assert math.isnan(found["base_rate_log_loss"]) == is_regression
    if problem == "adult_log_loss":
        *_, y_train, _, y_test = script.load_prepared("adult")
        share, is_rich = np.mean(y_train == ">50K"), y_test == ">50K"
        losses = -np.log(np.where(is_rich, share, 1.0 - share))
        assert found["base_rate_log_loss"] == pytest.approx(losses.mean())


@pytest.mark.parametrize("method", ["dpscd", "dpsgd", "dpcd"])
def test_grids_differ_from_the_default_in_their_own_parameters_only(method, load_script):
    for contest in load_script("defaults").CONTESTS[method].values():
        default = contest.estimator().get_params()
        if default["max_iter"] == "auto":
            default["max_iter"] = 10
        assert {name: default[name] for name in contest.held} == contest.held
        (tried,) = {frozenset(grid) for grid in contest.grids}
        assert tried <= default.keys() - contest.held.keys() - contest.told.keys()
        n_settings = sum(math.prod(map(len, grid.values())) for grid in contest.grids)
        assert len(contest.settings(10**6)) == n_settings
        is_regression = contest.estimator.__name__.endswith(("Regressor", "Lasso"))
        assert (contest.score == "r2") == is_regression


def test_batch_sizes_above_the_rows_are_one_setting(load_script):
    contest = load_script("defaults").CONTESTS["dpsgd"]["phishing"]
    batches = {json.loads(setting)["batch_size"] for setting in contest.settings(100)}
    assert batches == {50, 100}


def test_calibration_runs(load_script, run, capsys, monkeypatch):
    script = load_script("calibration")
    monkeypatch.setattr(script, "DESIGNS", script.DESIGNS[:3])
    monkeypatch.setattr(script, "REPEATS", 1)
    grids = {"same designs": {"alpha": [1e-4, 1e-3]}, "different designs": {"max_iter": [1, 2]}}
    monkeypatch.setattr(script, "GRIDS", grids)
    with warnings.catch_warnings():
        # With so few rows other choices would warn, if at all.
        warnings.simplefilter("ignore", PrivacyWarning)
        files = ("calibration", "calibration_grid_search")
        table, searches = run("calibration", "--sampled 3 --jobs 1 --repeats 1", *files)
    assert "Slowest of 3 designs" in capsys.readouterr().out
    assert table["kind"].tolist() == ["first", *["design"] * 3, *["sample"] * 3]
    assert (table["seconds_min"] <= table["seconds_median"]).all()
    assert table["noise_multiplier"][0] == table["noise_multiplier"][1]
    assert searches["settings"].tolist() == [2, 2]
    parts = searches["seconds_calibrating"] + searches["seconds_fitting"]
    assert (parts <= searches["seconds_of_search"] + 1e-3).all()
    assert (searches["seconds_calibrating"] > 0.0).all()
