"""Data sets of the benchmarks, ready for linear models.

They are files of one folder, which the environment variable SKDP_DATA or a script's option
``--data`` names; README.rst says what is in them. None of them is downloaded.

- ``load_prepared("adult")`` gives rows of norm at most 1, labels or targets, and the split.
- ``DATA_SETS["adult"]`` tells what is public: classes, bounds of the target and of the columns.
- ``load_frame("adult")`` gives the file.
"""

import os
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, OneHotEncoder

from skdp.preprocessing import BoundsScaler

MILLIONSONG_TRAIN_ROWS = 463_715
# UCI's file has no header.
_MILLIONSONG_COLUMNS = ["year", *(f"timbre_{i}" for i in range(1, 91))]


@dataclass(frozen=True)
class DataSet:
    """What is known of a data set before a row is seen.

    Parameters
    ----------
    files : tuple of str
        Names that the file may have.
    target : str
    classes : tuple or None
        Labels, the positive one last. None for a regression.
    target_bounds : (low, high) or None
        Bounds of a regression's target.
    bounds : dict
        Bounds of columns of numbers, where they aren't 0 and 1: what units, codes and geography
        allow, rounded. Values beyond are cut.
    dropped : tuple of str
        Columns known only after the label.
    dropped_in_paper : tuple of str
        Columns that the paper of DP-SCD leaves out besides.
    """

    files: tuple
    target: str
    classes: tuple | None = None
    target_bounds: tuple | None = None
    bounds: dict = field(default_factory=dict)
    dropped: tuple = ()
    dropped_in_paper: tuple = ()


_ADULT = {"age": (0, 100), "fnlwgt": (0, 1_500_000), "education_num": (1, 16)}
_ADULT |= {"capital_gain": (0, 100_000), "capital_loss": (0, 5000), "hours_per_week": (0, 99)}
_BANK = {"age": (0, 100), "campaign": (0, 50), "pdays": (0, 999), "previous": (0, 10)}
_BANK |= {"emp_var_rate": (-5, 5), "cons_price_idx": (90, 100), "cons_conf_idx": (-100, 0)}
_BANK |= {"euribor3m": (0, 6), "nr_employed": (4500, 5500)}
_HOUSES = {"MedInc": (0, 15), "HouseAge": (0, 52), "AveRooms": (0, 20), "AveBedrms": (0, 5)}
_HOUSES |= {"Population": (0, 5000), "AveOccup": (0, 10)}
_HOUSES |= {"Latitude": (32, 42), "Longitude": (-125, -114)}
_EMAIL = {"recency": (1, 12), "history": (0, 5000)}
_SONGS = dict.fromkeys(_MILLIONSONG_COLUMNS[2:13], (-100, 100)) | {"timbre_1": (0, 64)}
_SONGS |= dict.fromkeys(_MILLIONSONG_COLUMNS[13:25], (0, 2000))
_SONGS |= dict.fromkeys(_MILLIONSONG_COLUMNS[25:], (-1000, 1000))
_EMAIL_FILE, _YEARS = ("hillstrom_email.csv.gz",), (1922, 2011)

DATA_SETS = {
    "adult": DataSet(
        ("adult.csv.gz",),
        "income",
        ("<=50K", ">50K"),
        bounds=_ADULT,
        dropped_in_paper=("education", "native_country"),
    ),
    "bank_marketing": DataSet(
        ("bank_marketing.csv.gz",), "y", ("no", "yes"), bounds=_BANK, dropped=("duration",)
    ),
    # Prices in units of 100,000 USD, cut at 5.
    "california_housing": DataSet(
        ("california_housing.csv.gz",), "MedHouseVal", target_bounds=(0, 5), bounds=_HOUSES
    ),
    "electricity": DataSet(
        ("electricity.csv.gz",), "class", ("DOWN", "UP"), bounds={"day": (1, 7)}
    ),
    "hillstrom_conversion": DataSet(
        _EMAIL_FILE, "conversion", (0, 1), bounds=_EMAIL, dropped=("visit", "spend")
    ),
    "hillstrom_visit": DataSet(
        _EMAIL_FILE, "visit", (0, 1), bounds=_EMAIL, dropped=("conversion", "spend")
    ),
    "millionsong": DataSet(
        ("YearPredictionMSD.csv.gz", "YearPredictionMSD.txt"),
        "year",
        target_bounds=_YEARS,
        bounds=_SONGS,
    ),
    "millionsong_cs190": DataSet(("millionsong_cs190.csv.gz",), "year", target_bounds=_YEARS),
    "phishing": DataSet(("phishing.csv.gz",), "Result", (-1, 1)),
}


class Prepared(NamedTuple):
    """Rows (n, d) and labels or targets (n,) of both parts of a split."""

    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


@lru_cache(maxsize=2)
def load_prepared(name, scaling="paper", *, test_size=0.25, stratify=False):
    """Return the two parts of a data set: the given ones, or a fixed part is held out.

    Targets of regressions are mapped to [-1, 1] by public bounds, labels are the file's.

    Parameters
    ----------
    name : str
        A key of `DATA_SETS`.
    scaling : {"public", "paper", "box"}, default="paper"
        See `scale`.
    test_size : float, default=0.25
    stratify : bool, default=False
        Whether the held-out part has its share of every label.

    Returns
    -------
    Prepared
    """
    about, frame = DATA_SETS[name], load_frame(name)
    targets = _targets(frame[about.target], about.target_bounds)
    dropped = about.dropped + (about.dropped_in_paper if scaling == "paper" else ())
    features = frame.drop(columns=[about.target, "split", *dropped], errors="ignore")
    if "split" in frame:
        train, test = (np.flatnonzero(frame["split"] == part) for part in ("train", "test"))
    else:
        held = {"test_size": test_size, "stratify": targets if stratify else None}
        train, test = train_test_split(np.arange(len(frame)), random_state=0, **held)
    X_train, X_test = scale(features, train, test, scaling=scaling, bounds=about.bounds)
    return Prepared(X_train, targets[train], X_test, targets[test])


def scale(features, *parts, scaling="paper", bounds=None):
    """Return the rows of parts of a frame, the first of which is for training.

    Words are one-hot encoded: the set of words of a column is public.

    Parameters
    ----------
    features : DataFrame
    *parts : ndarray of int, or slice
        Numbers of rows.
    scaling : {"public", "paper", "box"}, default="paper"
        "public": numbers are mapped to [-1, 1] by public bounds, then rows are divided by their
        norm. The only one that reads no other row.
        "paper": missing words are replaced by the most frequent, columns divided by their largest
        absolute value in training and rows by their norm, as in Damaskinos et al. (2021), appendix
        E. NOT private.
        "box": numbers are mapped to [0, 1] by the smallest and largest in training. NOT private.
    bounds : dict or None
        Public bounds of columns of numbers; those of others are 0 and 1.
    """
    numbers = list(features.select_dtypes("number"))
    words = [name for name in features if name not in numbers]
    features = features.astype(dict.fromkeys(words, object))
    known = [sorted(features[name].unique()) for name in words] if scaling == "public" else "auto"
    one_hot = OneHotEncoder(categories=known, handle_unknown="ignore", sparse_output=False)
    if scaling == "public":
        lows, highs = np.array([(bounds or {}).get(name, (0, 1)) for name in numbers] or [(0, 1)]).T
        parted = ((BoundsScaler((lows, highs)), numbers), (one_hot, words))
        scaler = make_pipeline(make_column_transformer(*parted), Normalizer())
    elif scaling == "box":
        scaler = make_column_transformer((MinMaxScaler(clip=True), numbers), (one_hot, words))
    else:
        filled = SimpleImputer(missing_values="?", strategy="most_frequent")
        parted = (("passthrough", numbers), (make_pipeline(filled, one_hot), words))
        scaler = make_pipeline(make_column_transformer(*parted), MaxAbsScaler(), Normalizer())
    train, *others = (features.iloc[part] for part in parts)
    return [np.ascontiguousarray(scaler.fit_transform(train)), *map(scaler.transform, others)]


def load_frame(name):
    """Return the file of a data set of `DATA_SETS` as a frame, numbers that stand for words as words."""
    path = find_file(*DATA_SETS[name].files)
    if name == "millionsong":
        # With or without a line of names.
        n_headers = int(not str(pd.read_csv(path, header=None, nrows=1).iloc[0, 0]).isdigit())
        frame = pd.read_csv(path, header=None, names=_MILLIONSONG_COLUMNS, skiprows=n_headers)
        # UCI: the first rows train, so that no artist is on both sides.
        is_train = np.arange(len(frame)) < MILLIONSONG_TRAIN_ROWS
        return frame.assign(split=np.where(is_train, "train", "test"))
    frame = pd.read_csv(path, keep_default_na=False)
    if name == "phishing":
        return frame.astype({**dict.fromkeys(frame.columns, str), "Result": "int64"})
    return frame


def find_file(*names):
    """Return the path of the first file of some names that is in the folder of data sets."""
    folder = os.environ.get("SKDP_DATA", "")
    for name in names:
        if folder and (Path(folder) / name).is_file():
            return Path(folder) / name
    raise FileNotFoundError(
        f"{' or '.join(names)} not found: put it in the folder that --data or the environment "
        "variable SKDP_DATA names. benchmarks/README.rst says what it is."
    )


def _targets(column, bounds):
    if bounds is None:
        words = not pd.api.types.is_numeric_dtype(column)
        return column.to_numpy(dtype=object if words else None)
    low, high = bounds
    return (column.to_numpy(dtype=float) - (low + high) / 2.0) / ((high - low) / 2.0)
