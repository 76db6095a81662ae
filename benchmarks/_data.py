"""Data sets of the benchmarks, from a folder or from OpenML.

The folder is an option of each script or the environment variable SKDP_DATA. Without one, the data
are downloaded by scikit-learn, which caches them.
"""

import os
from pathlib import Path

import pandas as pd
from sklearn.datasets import fetch_openml

_ADULT_TRAIN_ROWS = 32_561
_ADULT_ROWS = 48_842
# Age and fnlwgt of the first row of the training file.
_ADULT_FIRST_TRAIN_ROW = (39, 77_516)


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
    folder = folder or os.environ.get("SKDP_DATA")
    if folder:
        return pd.read_csv(Path(folder) / "adult.csv.gz", keep_default_na=False)
    return _adult_from_openml(fetch_openml(data_id=1590, as_frame=True).frame)


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
