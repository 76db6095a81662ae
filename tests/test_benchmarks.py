"""The benchmark scripts run, on synthetic data in the form of the real ones."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("tqdm")

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"

if not BENCHMARKS.is_dir():
    pytest.skip("benchmarks are not part of an installed package", allow_module_level=True)


@pytest.fixture
def load_script(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield importlib.import_module
    for name in ("_data", "adult_svm"):
        sys.modules.pop(name, None)


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
