"""Data sets of utility.py: real and generated, as a private fit may see them.

What scales them is public. Numbers are mapped to [-1, 1] by the bounds that data_sets.toml or this
file has, amounts after a logarithm; the set of words of a column is known, and they are one-hot
encoded; pixels are in [0, 1]. Rows are then clipped by `NormClipper` to one public norm, the root
of 0.2 for each column of numbers or pixels and 1 for each column of words: a number that is spread
over a part of its range has a mean square of about 0.2, and a word is a one among zeros.

Parts are given or a public random quarter is held out.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from _data import DATA_SETS, _bounds_of, _targets, find_file, load_frame
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import OneHotEncoder

from skdp.preprocessing import BoundsScaler, NormClipper

# Of the data sets "..._wide": bounds of every third column of numbers are as many times too wide.
TOO_WIDE = 5.0
# Mean squares of a number and of a word.
_OF_NUMBER, _OF_WORD = 0.2, 1.0

# Of breast cancer's columns, from 0: means, errors and worst values of ten measurements of cells.
_CELLS = [30, 40, 200, 2600, 0.2, 0.4, 0.5, 0.25, 0.4, 0.1]
_CELLS += [3, 5, 25, 600, 0.04, 0.15, 0.4, 0.06, 0.1, 0.04]
_CELLS += [40, 50, 260, 4500, 0.25, 1.2, 1.3, 0.3, 0.7, 0.25]


class Table(NamedTuple):
    """Both parts of a data set.

    Parameters
    ----------
    X_train, y_train, X_test, y_test : ndarray
        Rows (n, d); labels -1 and 1, labels 0, 1 and so on, or targets in [-1, 1].
    data_norm : float
        Public bound on the norm of a row.
    task : {"binary", "multiclass", "regression"}
    rate : float
        Share of positive labels in testing: the true one, where rows are generated.
    """

    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    data_norm: float
    task: str
    rate: float

    @property
    def n_classes(self):
        return int(self.y_train.max()) + 1


def _table(X, y, *, n_numbers, n_words=0, parts=None, risk=None):
    """Clip rows and part them."""
    data_norm = float(np.sqrt(_OF_NUMBER * n_numbers + _OF_WORD * n_words))
    X = NormClipper(data_norm).fit_transform(X)
    if parts is None:
        parts = train_test_split(np.arange(len(X)), test_size=0.25, random_state=0)
    train, test = parts
    task = "multiclass" if y.dtype.kind == "i" else "regression"
    rate = np.nan
    if set(np.unique(y)) == {-1.0, 1.0}:
        task, rate = "binary", float(np.mean(y[test] == 1.0 if risk is None else risk[test]))
    return Table(X[train], y[train], X[test], y[test], data_norm, task, rate)


def widen(low, high, times):
    """Return bounds about the same middle; those of every third column are wider."""
    low, high = np.array(low, dtype=float), np.array(high, dtype=float)
    middle, half = (low + high) / 2.0, (high - low) / 2.0
    half[::3] *= times
    return middle - half, middle + half


def _from_file(name, positive=None, wide=1.0, rows=None):
    """Return the table of a key of `DATA_SETS`, of a positive label or of targets."""
    about, frame = DATA_SETS[name], load_frame(name)
    if rows is not None and rows < len(frame):
        frame = frame.sample(rows, random_state=0).reset_index(drop=True)
    y = _targets(frame[about["target"]], about.get("target_bounds"))
    y = np.clip(y, -1.0, 1.0) if positive is None else np.where(y == positive, 1.0, -1.0)
    parts = None
    if "split" in frame:
        parts = [np.flatnonzero(frame["split"] == part) for part in ("train", "test")]
    dropped = ["split", about["target"], *about.get("dropped", [])]
    features = frame.drop(columns=dropped, errors="ignore")
    numbers = list(features.select_dtypes("number"))
    words = [name for name in features if name not in numbers]
    columns = []
    if numbers:
        bounds = np.array([_bounds_of(name, about.get("bounds", {})) for name in numbers], float)
        values = features[numbers].to_numpy(dtype=float, copy=True)
        is_log = np.isin(numbers, about.get("logs", []))
        values[:, is_log] = np.log1p(np.maximum(values[:, is_log], 0.0))
        bounds[is_log] = np.log1p(bounds[is_log])
        columns.append(BoundsScaler(widen(*bounds.T, wide)).fit_transform(values))
    if words:
        coded = OneHotEncoder(sparse_output=False).fit_transform(features[words].astype(object))
        columns.append(coded)
    return _table(np.hstack(columns), y, n_numbers=len(numbers), n_words=len(words), parts=parts)


def _mnist(digits=None, rows=None):
    """Return MNIST: one digit against another, or all of them."""
    with np.load(find_file("mnist.npz")) as file:
        n_train = len(file["y_train"])
        X, y = (np.concatenate([file[f"{name}_train"], file[f"{name}_test"]]) for name in "xy")
    X, y = X.reshape(len(X), -1), y.ravel()
    train, test = np.arange(n_train), np.arange(n_train, len(y))
    if rows is not None:
        train = np.random.default_rng(0).permutation(train)[:rows]
    labels = y.astype(int)
    if digits is not None:
        train, test = (part[np.isin(y[part], digits)] for part in (train, test))
        labels = np.where(y == digits[1], 1.0, -1.0)
    kept = np.concatenate([train, test])
    parts = np.arange(len(train)), np.arange(len(train), len(kept))
    return _table(X[kept] / 255.0, labels[kept], n_numbers=X.shape[1], parts=parts)


def _breast_cancer():
    X, y = load_breast_cancer(return_X_y=True)
    X = BoundsScaler((np.zeros(30), np.array(_CELLS, dtype=float))).fit_transform(X)
    return _table(X, np.where(y == 1, 1.0, -1.0), n_numbers=30)


def _digits():
    X, y = load_digits(return_X_y=True)
    return _table(X / 16.0, y, n_numbers=64)


def _diabetes():
    """Return scikit-learn's diabetes, whose columns have the norm 1 in the file."""
    X, y = load_diabetes(return_X_y=True)
    X = BoundsScaler((-0.2, 0.2)).fit_transform(X)
    return _table(X, np.clip(y / 175.0 - 1.0, -1.0, 1.0), n_numbers=10)


def _draw_labels(rng, logits, rate):
    """Return labels, and probabilities of positive ones whose mean is `rate`."""
    shift = brentq(lambda shift: expit(logits + shift).mean() - rate, -50.0, 50.0)
    risk = expit(logits + shift)
    return np.where(rng.uniform(size=len(risk)) < risk, 1.0, -1.0), risk


def _words(rng, n, shares):
    """Return one-hot columns of a word of given shares."""
    return np.eye(len(shares))[rng.choice(len(shares), n, p=shares)]


def _rare(n_train=50_000, n_test=50_000):
    """Return a table of which 1 % is positive: ten correlated numbers and three words."""
    rng, n = np.random.default_rng(101), n_train + n_test
    mixing = np.eye(10) + 0.3 * rng.normal(size=(10, 10))
    numbers = np.clip(rng.normal(size=(n, 10)) @ mixing / 4.0, -1.0, 1.0)
    words = [_words(rng, n, (0.5, 0.3, 0.15, 0.05)) for _ in range(3)]
    X = np.hstack([numbers, *words])
    weights = np.concatenate([rng.normal(0.0, 2.0, 10), rng.normal(0.0, 0.6, 12)])
    y, risk = _draw_labels(rng, X @ weights, 0.01)
    parts = np.arange(n_train), np.arange(n_train, n)
    return _table(X, y, n_numbers=10, n_words=3, parts=parts, risk=risk)


def _credit(n_train=30_000, n_test=15_000, wide=1.0):
    """Return a table like a bank's of defaults, 22 % positive.

    14 amounts up to a million, many of them 0 and all of them correlated, after a logarithm; six
    delays in months from -2 to 8 and an age; and three words of 13 values.
    """
    rng, n = np.random.default_rng(102), n_train + n_test
    wealth = rng.normal(size=(n, 1))
    amounts = np.exp(9.0 + 1.3 * (0.8 * wealth + 0.6 * rng.normal(size=(n, 14))))
    amounts *= rng.uniform(size=(n, 14)) > rng.uniform(0.05, 0.4, 14)
    trouble = 0.7 * rng.normal(size=(n, 1)) - 0.3 * wealth
    delays = np.clip(np.round(trouble + 0.8 * rng.normal(size=(n, 6))), -2, 8)
    ages = 18.0 + rng.gamma(6.0, 6.0, (n, 1))
    low = np.repeat([0.0, -2.0, 18.0], [14, 6, 1])
    high = np.repeat([np.log1p(1e6), 8.0, 100.0], [14, 6, 1])
    values = np.hstack([np.log1p(amounts), delays, ages])
    words = [_words(rng, n, rng.dirichlet(np.ones(k))) for k in (2, 4, 7)]
    signal = BoundsScaler((low, high)).fit_transform(values)
    numbers = BoundsScaler(widen(low, high, wide)).fit_transform(values)
    weights = [-0.6 * np.abs(rng.normal(size=14)), [3.0, 1.2, 0.8, 0.5, 0.4, 0.4, 0.4]]
    weights = np.concatenate([*weights, 0.2 * rng.normal(size=13)])
    y, risk = _draw_labels(rng, np.hstack([signal, *words]) @ weights, 0.22)
    parts = np.arange(n_train), np.arange(n_train, n)
    X = np.hstack([numbers, *words])
    return _table(X, y, n_numbers=21, n_words=3, parts=parts, risk=risk)


class Source(NamedTuple):
    """A function that returns a `Table`, and the options that it is called with."""

    load: Callable
    options: dict = {}  # noqa: RUF012
    is_slow: bool = False


# Quick ones first: a run that is broken off has the most.
TABLES = {
    "diabetes": Source(_diabetes),
    "millionsong_cs190": Source(_from_file, {"name": "millionsong_cs190"}),
    "california_housing": Source(_from_file, {"name": "california_housing"}),
    "breast_cancer": Source(_breast_cancer),
    "phishing": Source(_from_file, {"name": "phishing", "positive": 1}),
    "electricity": Source(_from_file, {"name": "electricity", "positive": "UP"}),
    "credit": Source(_credit),
    "credit_wide": Source(_credit, {"wide": TOO_WIDE}),
    "rare": Source(_rare),
    "hillstrom_visit": Source(_from_file, {"name": "hillstrom_visit", "positive": 1}),
    "bank_marketing": Source(_from_file, {"name": "bank_marketing", "positive": "yes"}),
    "bank_wide": Source(
        _from_file, {"name": "bank_marketing", "positive": "yes", "wide": TOO_WIDE}
    ),
    "digits": Source(_digits),
    "adult": Source(_from_file, {"name": "adult", "positive": ">50K"}),
    "mnist_3_8": Source(_mnist, {"digits": (3, 8)}, is_slow=True),
    "kddcup99": Source(
        _from_file,
        {"name": "kddcup99_10percent", "positive": "normal.", "rows": 100_000},
        is_slow=True,
    ),
    "mnist_10": Source(_mnist, {"rows": 20_000}, is_slow=True),
}


@lru_cache(maxsize=1)
def load_table(name):
    """Return the `Table` of a key of `TABLES`."""
    return TABLES[name].load(**TABLES[name].options)
