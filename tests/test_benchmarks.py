"""The benchmark scripts run, on synthetic data in the form of the real ones."""

import numpy as np
import pandas as pd
import pytest

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


@pytest.fixture
def small_grid(load_script, monkeypatch):
    script = load_script("defaults")
    for name, values in {
        "BATCH_SIZES": (500, 400, 50),
        "CLIPPING_NORMS": (0.000123, 1 / 3),
        "FRESH_SEEDS": (1, 2),
        "FURTHER_SEEDS": (3, 4, 5),
        "N_RERUN": 3,
    }.items():
        monkeypatch.setattr(script, name, values)
    return script


def test_defaults_runs_and_keeps_its_grid(small_grid, adult, tmp_path, capsys, monkeypatch):
    adult.to_csv(tmp_path / "adult.csv.gz", index=False)
    output, cache = tmp_path / "out.csv", tmp_path / "cache.csv"
    options = ["--data", str(tmp_path), "--cache", str(cache), "--output", str(output)]
    options += ["--problems", "adult_hinge", "--epsilons", "0.5", "2"]
    small_grid.main([*options, "--screen-only"])
    assert not output.exists()
    # Both batch sizes above the 200 rows stand for all rows.
    screened = pd.read_csv(cache)
    assert list(screened.columns) == list(small_grid.COLUMNS)
    assert len(screened) == 2 * 2 * 2 * 3

    small_grid.main(options)
    kept = pd.read_csv(cache)
    assert len(kept) == len(screened) + 2 * 3 * 2 + 2 * 3
    assert not kept.duplicated(small_grid.KEY).any()
    text = output.read_text()
    assert text.startswith(
        "# python benchmarks/defaults.py --problems adult_hinge --epsilons 0.5 2.0\n"
    )
    assert str(tmp_path) not in text
    assert "not private" in capsys.readouterr().out
    table = pd.read_csv(output, comment="#")
    assert table["epsilon"].tolist() == [0.5, 2.0]
    assert set(table["best_clipping"]) <= set(small_grid.CLIPPING_NORMS)
    np.testing.assert_allclose(table["gap"], table["best"] - table["default"], atol=2e-4)
    assert (table["passes"] == (table["gap"] <= 0.01)).all()
    assert (table["se_further"] > 0.0).all()

    monkeypatch.setattr(small_grid, "run_setting", None)
    small_grid.main(options)
    assert output.read_text() == text
