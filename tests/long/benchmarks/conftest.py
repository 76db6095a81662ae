"""A folder of small data sets in the form of the real ones, and scripts run on it."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

pytest.importorskip("matplotlib")
pytest.importorskip("tqdm")


def pytest_collection_modifyitems(items):
    """Targets are scaled to [-1, 1] before, and models aren't told."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.filterwarnings("ignore:(target_bounds=N|the size of)"))


def _adult(rng, n=300):
    """The file's columns, a few of its words, "?" for missing."""
    words = {
        "workclass": ["Private", "State-gov", "?"],
        "education": ["HS-grad", "Bachelors"],
        "sex": ["Male", "Female"],
        "native_country": ["United-States", "?"],
        "income": ["<=50K", ">50K"],
    }
    numbers = {"age": 90, "fnlwgt": 10**6, "education_num": 16, "hours_per_week": 99}
    columns = {name: rng.choice(values, n) for name, values in words.items()}
    columns |= {name: rng.integers(0, high, n) for name, high in numbers.items()}
    return pd.DataFrame(columns).assign(split=np.where(np.arange(n) < 200, "train", "test"))


def _hillstrom(rng, n=400):
    """A number, a word and three outcomes."""
    recency, channel = rng.uniform(1.0, 12.0, n), rng.choice(["Phone", "Web", "None"], n)
    visit = (rng.uniform(size=n) < expit(6.0 - recency + (channel == "Web"))).astype(int)
    frame = pd.DataFrame({"recency": recency, "channel": channel, "visit": visit})
    return frame.assign(conversion=0, spend=7.0 * visit)


def _connections(rng, n=120):
    """Rows like KDDCup99's: some of its columns of numbers and words, several attacks."""
    label = rng.choice(["normal.", "smurf.", "neptune."], n)
    frame = pd.DataFrame({"protocol_type": np.where(label == "normal.", "tcp", "icmp")})
    frame["service"] = rng.choice(["http", "smtp", "ftp", "auth", "eco_i", "ecr_i"], n)
    return frame.assign(duration=rng.integers(0, 9, n), rate=rng.uniform(size=n), label=label)


def _images(rng):
    """Images like MNIST's, half of them ones, which are brighter on the left."""
    digits = np.where(np.arange(100) % 2, 1, rng.integers(2, 10, 100)).astype(np.uint8)
    images = rng.integers(0, 100, (100, 784)).astype(np.uint8)
    images[digits == 1, ::2] += 100
    images = images.reshape(-1, 28, 28)
    parts = {"x_train": images, "y_train": digits}
    return parts | {"x_test": images[50:], "y_test": digits[50:]}


@pytest.fixture
def folder(rng, tmp_path):
    """A folder of data sets; regressions and classifications can be learnt."""
    X = rng.uniform(0.5, 1.0, size=(160, 3))
    frame = pd.DataFrame(X, columns=["MedInc", "HouseAge", "AveRooms"])
    prices = frame.assign(day=rng.integers(1, 8, 160))
    prices["class"] = np.where(X[:, 0] + rng.normal(0.0, 0.1, 160) > 0.75, "UP", "DOWN")
    words = pd.DataFrame(rng.choice([-1, 0, 1], (160, 3)), columns=list("abc"))
    songs = pd.DataFrame(rng.normal(size=(60, 91))).add_prefix("c")
    tables = {
        "adult": _adult(rng),
        "california_housing": frame.assign(MedHouseVal=5.0 * X[:, 0]),
        "electricity": prices,
        "hillstrom_email": _hillstrom(rng),
        "kddcup99_10percent": _connections(rng),
        "phishing": words.assign(Result=np.where(words["a"] > 0, 1, -1)),
        "YearPredictionMSD": songs.assign(c0=rng.integers(1922, 2012, 60)),
    }
    for name, table in tables.items():
        table.to_csv(tmp_path / f"{name}.csv.gz", index=False)
    np.savez(tmp_path / "mnist.npz", **_images(rng))
    return tmp_path


@pytest.fixture
def data(load_script, folder, monkeypatch):
    """The module that loads data sets, with the folder of small ones."""
    monkeypatch.setenv("SKDP_DATA", str(folder))
    return load_script("_data")


@pytest.fixture
def run(load_script, folder):
    """A function that runs a script on the small data sets and returns tables that it wrote.

    Each names the script in the command of its first line, has a note, and no path of the machine.
    """

    def run(name, arguments, *tables):
        options = ["--data", str(folder), "--output", str(folder), *arguments.split()]
        load_script(name).main(options)
        found = []
        for table in tables:
            text = (folder / f"{table}.csv").read_text()
            first, note, *_ = text.splitlines()
            assert first.startswith(f"# python benchmarks/{name}.py --")
            assert note.startswith("# ")
            assert str(folder) not in text
            found.append(pd.read_csv(folder / f"{table}.csv", comment="#"))
        for picture in folder.glob("*.png"):
            assert picture.stat().st_size > 10_000
        return found[0] if len(found) == 1 else found

    return run
