"""Data sets of the benchmarks, from a folder or by download, their preparation, and tables.

The folder is an option of each script or the environment variable SKDP_DATA. Without one, the data
are downloaded by scikit-learn, which caches them, where it can.

The preparation is NOT private: modes, categories and largest values come from the training rows, so
the guarantee covers the fit alone. `NOT_PRIVATE` says so on every table.
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.datasets import fetch_california_housing, fetch_kddcup99, fetch_openml
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, Normalizer, OneHotEncoder

NOT_PRIVATE = "Scaling is the paper's and not private: the guarantee covers the fit alone."

_ADULT_TRAIN_ROWS = 32_561
_ADULT_ROWS = 48_842
# Age and fnlwgt of the first row of the training file.
_ADULT_FIRST_TRAIN_ROW = (39, 77_516)

_MNIST_TRAIN_ROWS = 60_000

_MILLIONSONG_TRAIN_ROWS = 463_715
# UCI's file has no header.
_MILLIONSONG_COLUMNS = [
    "year",
    *(f"timbre_avg_{i}" for i in range(1, 13)),
    *(f"timbre_cov_{i}" for i in range(1, 79)),
]

# Public: what the unit of the prices (100,000 USD, cut at 5) and the catalogue's years allow.
_PRICE_BOUNDS = (0.0, 5.0)
_YEAR_BOUNDS = (1922.0, 2011.0)


def load_adult(folder=None):
    """Return the UCI Adult (census income) data with a `split` column, "train" or "test".

    Parameters
    ----------
    folder : path, default=None
        Folder with adult.csv.gz; None uses the environment variable SKDP_DATA, or else OpenML.

    Returns
    -------
    DataFrame
        14 features, `income` ("<=50K" or ">50K") and `split`; missing values are "?".
    """
    frame = _read(folder, "adult.csv.gz")
    if frame is not None:
        return frame
    return _adult_from_openml(fetch_openml(data_id=1590, as_frame=True).frame)


def load_phishing(folder=None):
    """Return UCI's phishing websites: 30 features of two or three words each, and `Result`."""
    frame = _read(folder, "phishing.csv.gz")
    if frame is None:
        # The same columns and values, as categories.
        frame = _from_openml(4534, shape=(11_055, 31))
    # Numbers that stand for words: all columns are one-hot encoded.
    features = frame.columns.drop("Result")
    return frame.astype({**dict.fromkeys(features, str), "Result": "int64"})


def load_bank_marketing(folder=None):
    """Return UCI's bank marketing data with economic indicators: 20 features and `y`."""
    frame = _read(folder, "bank_marketing.csv.gz")
    if frame is None:
        # OpenML's bank-marketing, 1461, is the older file: other rows and 16 nameless features.
        raise _no_download("bank_marketing.csv.gz")
    return frame


def load_california_housing(folder=None):
    """Return the California housing data: 8 features and `MedHouseVal`, in 100,000 USD."""
    frame = _read(folder, "california_housing.csv.gz")
    if frame is None:
        # The same columns in the same order.
        frame = fetch_california_housing(as_frame=True).frame
    return frame


def load_electricity(folder=None):
    """Return the electricity prices of New South Wales: 8 features and `class`, in time order."""
    frame = _read(folder, "electricity.csv.gz")
    if frame is None:
        # The same columns and values, the day as a category.
        frame = _from_openml(151, shape=(45_312, 9))
    return frame.astype({"day": "int64"})


def load_hillstrom_email(folder=None):
    """Return Hillstrom's e-mail test: 9 features, then `visit`, `conversion` and `spend`."""
    frame = _read(folder, "hillstrom_email.csv.gz")
    if frame is None:
        raise _no_download("hillstrom_email.csv.gz")
    return frame


def load_kddcup99(folder=None):
    """Return a tenth of KDD Cup 1999: 41 features and `label`, "normal." or an attack's name."""
    frame = _read(folder, "kddcup99_10percent.csv.gz")
    if frame is None:
        frame = _kddcup99_from_sklearn(fetch_kddcup99(percent10=True, as_frame=True).frame)
    return frame


def load_mnist(folder=None):
    """Return MNIST's training images, of 784 pixels from 0 to 255, and their digits.

    Parameters
    ----------
    folder : path, default=None
        Folder with mnist.npz; None uses the environment variable SKDP_DATA, or else OpenML.

    Returns
    -------
    images : ndarray of shape (60000, 784)
    digits : ndarray of shape (60000,)
    """
    folder = _folder(folder)
    if folder:
        with np.load(Path(folder) / "mnist.npz") as file:
            images, digits = file["x_train"], file["y_train"]
    else:
        # The training images come first.
        bunch = fetch_openml(data_id=554, as_frame=False)
        images, digits = bunch.data[:_MNIST_TRAIN_ROWS], bunch.target[:_MNIST_TRAIN_ROWS]
    return images.reshape(len(images), -1).astype(np.uint8), digits.astype(np.int64)


def load_millionsong_cs190(folder=None):
    """Return the CS190 sample of YearPredictionMSD: `year` and 12 features."""
    frame = _read(folder, "millionsong_cs190.csv.gz")
    if frame is None:
        raise _no_download("millionsong_cs190.csv.gz")
    return frame


def load_millionsong(folder=None):
    """Return YearPredictionMSD with a `split` column: `year` and 90 features.

    Parameters
    ----------
    folder : path, default=None
        Folder with YearPredictionMSD.csv.gz or UCI's YearPredictionMSD.txt, with or without a line
        of names; None uses the environment variable SKDP_DATA.

    Raises
    ------
    FileNotFoundError
        If neither file is there.
    """
    names = ("YearPredictionMSD.csv.gz", "YearPredictionMSD.txt")
    folder = _folder(folder)
    paths = [Path(folder) / name for name in names] if folder else []
    for path in paths:
        if path.is_file():
            break
    else:
        raise _no_download(" or ".join(names))
    frame = pd.read_csv(path, header=None, names=_MILLIONSONG_COLUMNS, skiprows=_n_headers(path))
    # UCI: the first 463,715 rows train, so that no artist is on both sides.
    is_train = np.arange(len(frame)) < _MILLIONSONG_TRAIN_ROWS
    frame.insert(0, "split", np.where(is_train, "train", "test"))
    return frame


# Loader, target, columns left out, and public bounds of a regression's target.
DATA_SETS = {
    "adult": (load_adult, "income", ["education", "native_country"], None),
    "bank_marketing": (load_bank_marketing, "y", ["duration"], None),
    "california_housing": (load_california_housing, "MedHouseVal", [], _PRICE_BOUNDS),
    "electricity": (load_electricity, "class", [], None),
    "millionsong": (load_millionsong, "year", [], _YEAR_BOUNDS),
    "millionsong_cs190": (load_millionsong_cs190, "year", [], _YEAR_BOUNDS),
    "phishing": (load_phishing, "Result", [], None),
}


def load_prepared(name, folder=None):
    """Return X_train, y_train, X_test, y_test of a data set, ready for a linear model.

    The given split is used where there is one, otherwise a fixed quarter is held out. Columns are
    divided by their largest absolute value in training, rows by their norm, as in Damaskinos et al.
    (2021), appendix E; targets of regressions are mapped to [-1, 1] by public bounds.

    Parameters
    ----------
    name : str
        A key of `DATA_SETS`.
    folder : path, default=None
    """
    load, target, dropped, bounds = DATA_SETS[name]
    return prepare(load(folder), target=target, dropped=dropped, target_bounds=bounds)


def prepare(frame, *, target, dropped=(), target_bounds=None):
    """Return X_train, y_train, X_test, y_test of a frame; see `load_prepared`.

    Parameters
    ----------
    frame : DataFrame
        Numbers are used as they are, words are one-hot encoded with "?" as missing.
    target : str
    dropped : sequence of str
    target_bounds : (low, high), default=None
        Public bounds of a regression's target.
    """
    if "split" in frame:
        train, test = (frame[frame["split"] == part] for part in ("train", "test"))
    else:
        train, test = train_test_split(frame, test_size=0.25, random_state=0)
    numbers, words = _columns(frame.drop(columns=[target, "split", *dropped], errors="ignore"))
    scaler = _scaler(numbers, words)
    return (
        scaler.fit_transform(train.astype(dict.fromkeys(words, object))),
        _targets(train[target], target_bounds),
        scaler.transform(test.astype(dict.fromkeys(words, object))),
        _targets(test[target], target_bounds),
    )


def scale(features):
    """Return the rows of a frame, scaled as in `load_prepared`."""
    numbers, words = _columns(features)
    return _scaler(numbers, words).fit_transform(features.astype(dict.fromkeys(words, object)))


def read_kept(path, command):
    """Return the table that a file has of an earlier run, empty if another command made it."""
    if path.is_file():
        with open(path, encoding="utf-8") as file:
            if file.readline() == f"# {command}\n":
                return pd.read_csv(path, comment="#")
    return pd.DataFrame()


def write_table(table, path, command, note=NOT_PRIVATE):
    """Write a table as CSV below comments: the command that made it, and a note."""
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(f"# {command}\n# {note}\n")
        table.to_csv(file, index=False, lineterminator="\n")


def _columns(features):
    """Return the names of the columns of numbers and of those of words."""
    numbers = list(features.select_dtypes("number"))
    return numbers, [name for name in features if name not in numbers]


def _scaler(numbers, words):
    return make_pipeline(
        make_column_transformer(
            ("passthrough", numbers),
            (
                make_pipeline(
                    SimpleImputer(missing_values="?", strategy="most_frequent"),
                    OneHotEncoder(handle_unknown="ignore", sparse_output=False),
                ),
                words,
            ),
        ),
        MaxAbsScaler(),
        Normalizer(),
    )


def _targets(column, bounds):
    if bounds is None:
        words = not pd.api.types.is_numeric_dtype(column)
        return column.to_numpy(dtype=object if words else None)
    low, high = bounds
    return (column.to_numpy(dtype=float) - (low + high) / 2.0) / ((high - low) / 2.0)


def _folder(folder):
    return folder or os.environ.get("SKDP_DATA")


def _read(folder, name):
    """Return a file of the folder, or None if there is no folder."""
    folder = _folder(folder)
    if not folder:
        return None
    return pd.read_csv(Path(folder) / name, keep_default_na=False)


def _no_download(names):
    return FileNotFoundError(
        f"{names} not found, and there is no download: put it in the folder given by --data or by "
        "the environment variable SKDP_DATA."
    )


def _n_headers(path):
    first = pd.read_csv(path, header=None, nrows=1, dtype=str).iloc[0, 0]
    return 0 if first.strip().isdigit() else 1


def _from_openml(data_id, *, shape):
    frame = fetch_openml(data_id=data_id, as_frame=True).frame
    if frame.shape != shape:
        raise ValueError(f"Expected OpenML's {data_id} to have shape {shape}, got {frame.shape}.")
    return frame


def _kddcup99_from_sklearn(frame):
    """Turn bytes into words and the other columns into numbers."""
    frame = frame.rename(columns={"labels": "label"})
    for name in frame.columns:
        if isinstance(frame[name].iloc[0], bytes):
            frame[name] = frame[name].str.decode("ascii")
        else:
            frame[name] = pd.to_numeric(frame[name])
    return frame


def _adult_from_openml(frame):
    frame = frame.rename(columns=lambda name: name.replace("-", "_"))
    frame = frame.rename(columns={"class": "income"})
    for name in frame.columns:
        if pd.api.types.is_numeric_dtype(frame[name]):
            frame[name] = frame[name].astype("int64")
        else:
            frame[name] = frame[name].astype(object).where(frame[name].notna(), "?")
    frame.insert(0, "split", _adult_split(frame))
    return frame


def _adult_split(frame):
    """Tell the two files that OpenML joined apart: one follows the other, in their own order."""
    if len(frame) != _ADULT_ROWS:
        raise ValueError(f"Expected {_ADULT_ROWS} rows of Adult, got {len(frame)}.")
    n_test_rows = _ADULT_ROWS - _ADULT_TRAIN_ROWS
    for first, files in (
        (0, ["train"] * _ADULT_TRAIN_ROWS + ["test"] * n_test_rows),
        (n_test_rows, ["test"] * n_test_rows + ["train"] * _ADULT_TRAIN_ROWS),
    ):
        if tuple(frame[["age", "fnlwgt"]].iloc[first]) == _ADULT_FIRST_TRAIN_ROW:
            return files
    raise ValueError("The training rows of Adult were not found where they were expected.")
