"""The benchmark scripts run, on synthetic data in the form of the real ones."""

import json
import math
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from skdp.exceptions import PrivacyWarning

pytest.importorskip("tqdm")


@pytest.fixture
def adult(rng):
    """Rows like Adult's: the file's columns, a few of its words, "?" for missing."""
    n = 300
    words = {
        "workclass": ["Private", "State-gov", "?"],
        "education": ["HS-grad", "Bachelors"],
        "marital_status": ["Divorced", "Never-married"],
        "occupation": ["Sales", "Adm-clerical", "?"],
        "relationship": ["Husband", "Wife"],
        "race": ["White", "Black"],
        "sex": ["Male", "Female"],
        "native_country": ["United-States", "?"],
        "income": ["<=50K", ">50K"],
    }
    numbers = {"age": 90, "fnlwgt": 10**6, "education_num": 16}
    numbers |= {"capital_gain": 10**5, "capital_loss": 4000, "hours_per_week": 99}
    columns = {name: rng.choice(values, n) for name, values in words.items()}
    columns |= {name: rng.integers(0, high, n) for name, high in numbers.items()}
    frame = pd.DataFrame(columns)
    frame.insert(0, "split", np.where(np.arange(n) < 200, "train", "test"))
    return frame


def test_adult_svm_runs(adult, load_script, tmp_path, capsys):
    adult.to_csv(tmp_path / "adult.csv.gz", index=False)
    output = tmp_path / "out.csv"
    load_script("adult_svm").main(
        ["--data", str(tmp_path), "--seeds", "3", "4", "--output", str(output)]
    )
    text = output.read_text()
    assert text.startswith("# python benchmarks/adult_svm.py --seeds 3 4\n")
    assert str(tmp_path) not in text
    assert "not private" in capsys.readouterr().out
    table = pd.read_csv(output, comment="#")
    assert table["epsilon"].tolist() == [0.1, 0.5, 1.0, 2.0, np.inf]
    assert table["noise_multiplier"].is_monotonic_decreasing
    assert (table["accuracy_min"] <= table["accuracy_median"]).all()
    assert (table["accuracy_median"] <= table["accuracy_max"]).all()


@pytest.mark.parametrize("train_first", [True, False])
def test_adult_from_openml_has_the_form_of_the_file(train_first, adult, load_script, monkeypatch):
    """OpenML: other column names, categories, NaN for missing, no column that tells the files."""
    n_train, n_test = 32_561, 16_281
    train = adult.sample(n_train, replace=True, random_state=0).assign(split="train")
    train.iloc[0, train.columns.get_indexer(["age", "fnlwgt"])] = 39, 77_516
    test = adult.sample(n_test, replace=True, random_state=1).assign(split="test")
    expected = pd.concat([train, test] if train_first else [test, train], ignore_index=True)

    served = expected.drop(columns="split").rename(columns={"income": "class"})
    served = served.rename(columns=lambda name: name.replace("_", "-"))
    for name in served.select_dtypes(exclude="number"):
        served[name] = served[name].replace("?", None).astype("category")
    data = load_script("_data")
    bunch = type("Bunch", (), {"frame": served})
    monkeypatch.setattr(data, "fetch_openml", lambda **kwargs: bunch)
    monkeypatch.delenv("SKDP_DATA", raising=False)

    loaded = data.load_adult()
    pd.testing.assert_frame_equal(loaded, expected, check_dtype=False)

    bunch.frame = served.iloc[::-1].reset_index(drop=True)
    with pytest.raises(ValueError, match="not found"):
        data.load_adult()


def _serve(monkeypatch, data, frame):
    """Let OpenML serve a frame, whatever is asked for."""
    bunch = type("Bunch", (), {"frame": frame})
    monkeypatch.setattr(data, "fetch_openml", lambda **kwargs: bunch)
    monkeypatch.delenv("SKDP_DATA", raising=False)


@pytest.fixture
def phishing(rng):
    columns = {f"f{i}": rng.choice([-1, 0, 1], 11_055) for i in range(30)}
    return pd.DataFrame(columns | {"Result": rng.choice([-1, 1], 11_055)})


def test_phishing_is_the_same_from_a_file_and_from_openml(
    phishing, load_script, monkeypatch, tmp_path
):
    data = load_script("_data")
    phishing.to_csv(tmp_path / "phishing.csv.gz", index=False)
    from_file = data.load_prepared("phishing", tmp_path)
    assert [part.shape for part in from_file] == [(8291, 90), (8291,), (2764, 90), (2764,)]
    np.testing.assert_allclose(np.linalg.norm(from_file[0], axis=1), 1.0)

    _serve(monkeypatch, data, phishing.astype(str).astype("category"))
    for part, other in zip(from_file, data.load_prepared("phishing"), strict=True):
        np.testing.assert_array_equal(part, other)

    _serve(monkeypatch, data, phishing.iloc[1:])
    with pytest.raises(ValueError, match="shape"):
        data.load_phishing()


def test_electricity_from_openml_has_a_day_of_numbers(load_script, monkeypatch):
    served = pd.DataFrame({f"f{i}": 0.5 for i in range(7)}, index=range(45_312))
    served["day"] = pd.Categorical(np.where(served.index % 2, "2", "7"))
    served["class"] = "UP"
    data = load_script("_data")
    _serve(monkeypatch, data, served)
    assert set(data.load_electricity()["day"]) == {2, 7}


def test_targets_are_scaled_by_public_bounds(rng, load_script, tmp_path):
    frame = pd.DataFrame({"a": rng.normal(size=40), "MedHouseVal": 2.0})
    frame.loc[0, "MedHouseVal"] = 5.0
    frame.to_csv(tmp_path / "california_housing.csv.gz", index=False)
    _, y_train, _, y_test = load_script("_data").load_prepared("california_housing", tmp_path)
    assert sorted({*y_train, *y_test}) == pytest.approx([-0.2, 1.0])


@pytest.mark.parametrize("name", ["bank_marketing", "millionsong", "millionsong_cs190"])
@pytest.mark.parametrize("has_folder", [True, False])
def test_data_that_cannot_be_downloaded_are_asked_for(
    name, has_folder, load_script, monkeypatch, tmp_path
):
    monkeypatch.delenv("SKDP_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match=r"\.csv\.gz"):
        load_script("_data").load_prepared(name, tmp_path if has_folder else None)


@pytest.mark.parametrize(
    ("file", "header"), [("YearPredictionMSD.csv.gz", True), ("YearPredictionMSD.txt", False)]
)
def test_millionsong_is_split_by_position(file, header, rng, load_script, monkeypatch, tmp_path):
    frame = pd.DataFrame(rng.normal(size=(6, 91))).add_prefix("c")
    frame["c0"] = [1922, 2011, 2001, 2001, 1990, 1980]
    frame.to_csv(tmp_path / file, index=False, header=header)
    data = load_script("_data")
    monkeypatch.setattr(data, "_MILLIONSONG_TRAIN_ROWS", 4)
    X_train, y_train, X_test, y_test = data.load_prepared("millionsong", tmp_path)
    assert (X_train.shape, X_test.shape, y_test.size) == ((4, 90), (2, 90), 2)
    np.testing.assert_array_equal(y_train[:2], [-1.0, 1.0])


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
    ("method", "problem", "epsilons", "n_settings"),
    [
        # Batch sizes above the 200 rows stand for all rows.
        ("dpscd", "adult_hinge", [0.5, 2.0], 4),
        ("dpsgd", "adult_log_loss", [1.0], 2),
        ("dpcd", "adult", [20.0], 4),
    ],
)
def test_defaults_runs_and_keeps_its_grid(
    method, problem, epsilons, n_settings, small_contests, adult, tmp_path, capsys, monkeypatch
):
    adult.to_csv(tmp_path / "adult.csv.gz", index=False)
    output, cache = tmp_path / "out.csv", tmp_path / "cache.csv"
    options = ["--data", str(tmp_path), "--cache", str(cache), "--output", str(output)]
    options += ["--method", method, "--problems", problem]
    options += ["--epsilons", *map(str, epsilons)]
    small_contests.main([*options, "--screen-only"])
    assert not output.exists()
    screened = pd.read_csv(cache)
    assert list(screened.columns) == list(small_contests.COLUMNS)
    assert len(screened) == len(epsilons) * n_settings

    small_contests.main(options)
    kept = pd.read_csv(cache)
    assert len(kept) == len(screened) + len(epsilons) * (min(3, n_settings) * 2 + 3)
    assert not kept.duplicated(small_contests.KEY).any()
    text = output.read_text()
    assert text.startswith(
        f"# python benchmarks/defaults.py --method {method} --problems {problem} "
        f"--epsilons {' '.join(map(str, epsilons))}\n"
    )
    assert str(tmp_path) not in text
    assert "not private" in capsys.readouterr().out
    table = pd.read_csv(output, comment="#")
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

    monkeypatch.setattr(small_contests, "run_setting", None)
    small_contests.main(options)
    assert output.read_text() == text


def test_defaults_refuses_problems_of_another_method(load_script, capsys):
    with pytest.raises(SystemExit):
        load_script("defaults").main(["--method", "dpcd", "--problems", "adult_hinge"])
    assert "of dpcd are california_housing" in capsys.readouterr().err


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


def test_batch_sizes_above_the_rows_are_one_setting(load_script):
    contest = load_script("defaults").CONTESTS["dpsgd"]["phishing"]
    batches = {json.loads(setting)["batch_size"] for setting in contest.settings(100)}
    assert batches == {20, 50, 100}


def test_the_default_is_told_the_problem_only(load_script, monkeypatch):
    class Estimator:
        def __init__(self, **parameters):
            self.parameters = parameters

        def fit(self, X, y):
            return self

    script = load_script("defaults")
    contest = script.Contest(
        data="adult",
        estimator=Estimator,
        grids=(),
        told={"loss": "hinge"},
        held={"max_iter": 10},
        score=lambda model, X, y: model.parameters,
    )
    monkeypatch.setitem(script.CONTESTS["dpsgd"], "adult_hinge", contest)
    told = {"epsilon": 0.5, "delta": 1e-5, "random_state": 7, "loss": "hinge"}
    assert script.fit_and_score(contest, 0.5, 7, [None] * 4) == told
    row = script.run_setting("dpsgd", "adult_hinge", 0.5, '{"eta0": 2.0}', 7, [None] * 4)
    assert row["score"] == told | {"max_iter": 10, "eta0": 2.0}


def test_auc_is_that_of_decision_values(load_script):
    """Scores that order the rows perfectly have an area of 1, whatever the threshold makes."""
    model = type("Model", (), {"decision_function": lambda self, X: X[:, 0]})()
    X, y = np.arange(1.0, 7.0)[:, None], np.array(["no"] * 3 + ["yes"] * 3)
    auc = load_script("defaults").auc
    assert auc(model, X, y) == 1.0
    assert auc(model, -X, y) == 0.0


def test_calibration_runs(adult, load_script, tmp_path, capsys, monkeypatch):
    adult.to_csv(tmp_path / "adult.csv.gz", index=False)
    script = load_script("calibration")
    monkeypatch.setattr(script, "DESIGNS", script.DESIGNS[:3])
    grids = {"same designs": {"alpha": [1e-4, 1e-3]}, "different designs": {"max_iter": [1, 2]}}
    monkeypatch.setattr(script, "GRIDS", grids)
    options = ["--sampled", "3", "--jobs", "1", "--repeats", "1", "--data", str(tmp_path)]
    with warnings.catch_warnings():
        # With so few rows other choices would warn, if at all.
        warnings.simplefilter("ignore", PrivacyWarning)
        script.main([*options, "--output", str(tmp_path)])
    text = (tmp_path / "calibration.csv").read_text()
    assert text.startswith("# python benchmarks/calibration.py --sampled 3 --jobs 1 --repeats 1\n")
    assert "Slowest of 3 designs" in capsys.readouterr().out
    table = pd.read_csv(tmp_path / "calibration.csv", comment="#")
    assert table["kind"].tolist() == ["first", *["design"] * 3, *["sample"] * 3]
    assert (table["seconds_min"] <= table["seconds_median"]).all()
    assert table["noise_multiplier"][0] == table["noise_multiplier"][1]
    searches = pd.read_csv(tmp_path / "calibration_grid_search.csv", comment="#")
    assert searches["settings"].tolist() == [2, 2]
    parts = searches["seconds_calibrating"] + searches["seconds_fitting"]
    assert (parts <= searches["seconds_of_search"] + 1e-3).all()


def test_calibration_draws_public_designs_that_have_an_answer(load_script):
    script = load_script("calibration")
    designs = script.draw_designs(200)
    assert designs == script.draw_designs(200)
    assert designs[:50] != script.draw_designs(50, seed=1)
    for name, low, high in (
        ("epsilon", 1e-3, 1e3),
        ("delta", 1e-12, 0.999),
        ("sampling_rate", 1e-5, 0.9),
        ("n_steps", 1, 10**6),
    ):
        values = [getattr(design, name) for design in designs]
        assert low <= min(values) < 30 * low
        assert high / 30 < max(values) <= high
