"""Data sets of the benchmarks, ready for linear models.

They are files of one folder, which the environment variable SKDP_DATA or a script's option
``--data`` names; README.rst says what is in them. None of them is downloaded.

- ``load_prepared("adult")`` gives rows of norm at most 1, labels or targets, and the split.
- ``DATA_SETS["adult"]`` tells what is public, as data_sets.toml says it: ``classes``,
  ``target_bounds``, ``bounds`` of columns.
- ``load_frame("adult")`` gives the file.
"""

import os
import tomllib
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
_MILLIONSONG_COLUMNS = ["year"]
_MILLIONSONG_COLUMNS += [f"timbre_avg_{i}" for i in range(1, 13)]
_MILLIONSONG_COLUMNS += [f"timbre_cov_{i}" for i in range(1, 79)]

DATA_SETS = tomllib.loads(Path(__file__).with_name("data_sets.toml").read_text(encoding="utf-8"))


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
    targets = _targets(frame[about["target"]], about.get("target_bounds"))
    dropped = ["split", about["target"], *about.get("dropped", [])]
    dropped += about.get("dropped_in_paper", []) if scaling == "paper" else []
    features = frame.drop(columns=dropped, errors="ignore")
    if "split" in frame:
        train, test = (np.flatnonzero(frame["split"] == part) for part in ("train", "test"))
    else:
        held = {"test_size": test_size, "stratify": targets if stratify else None}
        train, test = train_test_split(np.arange(len(frame)), random_state=0, **held)
    X_train, X_test = scale(features, train, test, scaling=scaling, bounds=about.get("bounds"))
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
        found = [_bounds_of(name, bounds or {}) for name in numbers]
        squeezed = BoundsScaler(tuple(np.array(found, dtype=float).reshape(-1, 2).T))
        parted = ((squeezed, numbers), (one_hot, words))
        scaler = make_pipeline(make_column_transformer(*parted), Normalizer())
    elif scaling == "box":
        scaler = make_column_transformer((MinMaxScaler(clip=True), numbers), (one_hot, words))
    else:
        filled = SimpleImputer(missing_values="?", strategy="most_frequent")
        parted = (("passthrough", numbers), (make_pipeline(filled, one_hot), words))
        scaler = make_pipeline(make_column_transformer(*parted), MaxAbsScaler(), Normalizer())
    train, *others = (features.iloc[part] for part in parts)
    return [np.ascontiguousarray(scaler.fit_transform(train)), *map(scaler.transform, others)]


def _bounds_of(name, bounds):
    return bounds.get(name) or bounds.get(name.rpartition("_")[0], (0, 1))


def load_frame(name):
    """Return the file of a key of `DATA_SETS`, numbers that stand for words as words."""
    path = find_file(*DATA_SETS[name]["files"])
    if name == "millionsong":
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
