"""Records that a replay changes one of, and how an estimator is fitted to them.

`tests/privacy/_recipes.py` has the estimators, `tests/privacy/_corners.py` what a record becomes.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import is_classifier

from skdp.linear_model import WALRClassifier
from tests._listed import suited
from tests.privacy import _corners
from tests.privacy._corners import K, neighbour

N_ROWS, N_FEATURES = 60, 4
# So many that all of a ball is bought.
N_BALL, N_TABLE = 400, 300
WORDS = ["a", "b", "c"]


def stored(X, seed=0):
    """Rows as CSR with entries in any order, some of 0, and halves of some in the same place."""
    rng = np.random.default_rng(seed)
    indices, data, pointers = [], [], [0]
    for row in X:
        places = np.flatnonzero((row != 0.0) | (rng.random(row.size) < 0.2))
        places = np.concatenate([places, places[rng.random(places.size) < 0.5]])
        places = rng.permutation(places)
        times = np.bincount(places, minlength=row.size)
        indices.append(places)
        data.append(row[places] / times[places])
        pointers.append(pointers[-1] + places.size)
    return csr_array((np.concatenate(data), np.concatenate(indices), pointers), shape=X.shape)


def as_table(X):
    """Numbers, and words of the last column; others of it are rare words or gaps."""
    frame = pd.DataFrame(X[:, :-1], columns=["x", "y", "z"])
    codes = [int(v) if abs(v) < 5.0 else 9 for v in np.nan_to_num(X[:, -1], nan=9.0)]
    frame["w"] = [
        WORDS[code] if 0 <= code < 3 else (None if code < 0 else "rare") for code in codes
    ]
    return frame


def mostly_absent(X, y, rng):
    """Entries in a third of the places."""
    present = rng.random(X.shape) < 0.4
    present[K] = [True, False, True, False]
    return X * present, y


def far_from_zero(X, y, rng):
    """Rows of heavy tails in columns of very different units."""
    return _corners.CENTRE + _corners.UNIT * rng.standard_t(1.5, X.shape), y


def far_and_sparse(X, y, rng):
    X, y = far_from_zero(X, y, rng)
    return X * (rng.random(X.shape) < 0.5), y


def far_targets(X, y, rng):
    """Targets far from 0, too, so that a record moves what others are cut to."""
    return far_from_zero(X, y, rng)[0], 1998.0 + 10.0 * y


def far_targets_of_sparse_rows(X, y, rng):
    return far_and_sparse(X, y, rng)[0], 1998.0 + 10.0 * y


def of_a_table(X, y, rng):
    """Columns that have offsets, tails, spikes and gaps."""
    n_rows = len(X)
    X = rng.standard_t(3.0, X.shape) * [1.0, 1e3, 1e-3, 2.0] + [0.0, 2e4, 1.0, 1.0]
    X[rng.random(X.shape) < 0.1] = np.nan
    X[rng.random(n_rows) < 0.4, 0] = 0.0
    return X, y


def unrelated_rows(case, X, y):
    """Other rows and labels, or labels alone where features are public."""
    other, labels = case.records(seed=1)
    ends = case.classes or [-1e308, 1e308]
    found = [
        (other[:, ::-1] ** 3, labels),
        (np.zeros_like(X), np.full_like(y, suited(case.estimator, ends[0]))),
        (np.full_like(X, 1e200), np.full_like(y, suited(case.estimator, ends[-1]))),
    ]
    if isinstance(case.estimator, WALRClassifier):
        return [(X, labels) for _, labels in found]
    return found


def unrelated_patterns(case, X, y):
    """Rows that are full, and rows without an entry."""
    full, labels = replace(case, data=DENSE).records(seed=1)
    return [(full, labels), (np.zeros_like(X), y), (np.full_like(X, 1e200), labels)]


def unrelated_sizes(case, X, y):
    all_alike = np.full_like(X, 1e200), np.zeros_like(X)
    return [(Z, y[::-1]) for Z in (X[::-1] ** 3, 1e-200 * X, *all_alike, 1e300 * X)]


def unrelated_tables(case, X, y):
    return [*unrelated_sizes(case, X, y)[:-1], (X * np.nan, y[::-1])]


def unrelated_targets(case, X, y):
    all_alike = np.full_like(y, 1e200), np.zeros_like(y)
    return [(X[::-1], other) for other in (-(y**3), 1e-200 * y, *all_alike, 1e300 * y)]


def as_given(X):
    return X


@dataclass(frozen=True)
class Data:
    """Records of one kind, and what one of them or all become.

    Attributes
    ----------
    name : str
    n_rows : int
    make : callable
        Makes, of rows of many lengths about 0, of targets and a generator, these records.
    corners : tuple of str
        Of `CORNERS`: what the record that changes becomes.
    unrelated : callable
        Gives data sets of the same shape that share nothing with one, of a case and its records.
    read : callable
        Makes of an ndarray what the estimator is given.
    """

    name: str
    n_rows: int
    make: Callable
    corners: tuple
    unrelated: Callable
    read: Callable = as_given


def as_they_are(X, y, rng):
    return X, y


ROW_CORNERS = tuple(_corners.ROWS)
DENSE = Data("", N_ROWS, as_they_are, ROW_CORNERS, unrelated_rows)
SPARSE = Data(
    "sparse", N_ROWS, mostly_absent, (*ROW_CORNERS, *_corners.PATTERNS), unrelated_patterns, stored
)
FAR = Data("far", N_BALL, far_from_zero, tuple(_corners.BALL), unrelated_sizes)
FAR_SPARSE = replace(FAR, name="far sparse", make=far_and_sparse, read=stored)
FAR_TARGETS = Data(
    "far targets", N_BALL, far_targets, tuple(_corners.LEARNT_TARGETS), unrelated_targets
)
FAR_TARGETS_SPARSE = replace(
    FAR_TARGETS, name="far targets, sparse", make=far_targets_of_sparse_rows, read=stored
)
TABLE = Data("table", N_TABLE, of_a_table, tuple(_corners.TABLES), unrelated_tables, as_table)
# Where records are people, rows are handed on as they are.
TABLE_OF_NUMBERS = replace(TABLE, name="table of numbers", read=np.asarray)


@dataclass(frozen=True)
class Case:
    """An estimator and how it is fitted.

    Attributes
    ----------
    estimator : estimator
    way : {"fit", "personal", "calls"}
        "personal" gives `sample_epsilon`, "calls" are three of `partial_fit`.
    n_targets : int
        Of a regressor.
    is_weighted : bool
        Whether rows have public weights.
    data : Data
    learnt : frozenset of str
        Stages of the ball that there is budget for.
    has_exposure : bool
        Whether rows have private exposures: those of a record follow from its first entry.
    """

    estimator: object
    way: str = "fit"
    n_targets: int = 1
    is_weighted: bool = False
    data: Data = DENSE
    learnt: frozenset = frozenset()
    has_exposure: bool = False

    def __str__(self):
        weighted = "weighted-" * self.is_weighted + "exposed-" * self.has_exposure
        data = f"{self.data.name}-" * bool(self.data.name)
        return f"{data}{weighted}{self.way}-{self.n_targets}-{self.estimator!r}"

    def weights(self, n_rows):
        """Return public weights as arguments of a fit: records that change are the heaviest."""
        if not self.is_weighted:
            return {}
        found = np.random.default_rng(3).choice([0.3, 1.0, 5.0], n_rows)
        found[3:5], found[K : K + 1], found[N_ROWS:] = 0.0, 5.0, 5.0
        return {"public_weight": found}

    def exposures(self, X):
        """Return private exposures as arguments of a fit: at corners they are 0, or huge."""
        if not self.has_exposure:
            return {}
        return {"exposure": np.nan_to_num(np.abs(X[:, 0].astype(float)))}

    @property
    def read(self):
        """What makes of an ndarray what the estimator is given."""
        return self.data.read

    @property
    def corners(self):
        """What the record becomes that changes."""
        if self.data is DENSE and not is_classifier(self.estimator):
            return (*self.data.corners, *_corners.TARGETS)
        return self.data.corners

    @property
    def places(self):
        """A record of each call of `partial_fit`: what one must not do, the first may not show."""
        return (K, 30, 50) if self.way == "calls" else (K,)

    @property
    def classes(self):
        """The declared classes, or None for a regressor."""
        return self.estimator.classes if is_classifier(self.estimator) else None

    @property
    def draws_rows(self):
        """Whether releases are sums over batches of rows, rather than over all rows."""
        return getattr(self.estimator, "solver", "dual") in ("dual", "sequential") and not (
            hasattr(self.estimator, "step_size") or hasattr(self.estimator, "transform")
        )

    def records(self, n_rows=None, seed=20210214):
        """Return rows of many lengths, and targets or labels of all kinds."""
        n_rows, rng = n_rows or self.data.n_rows, np.random.default_rng(seed)
        X = rng.standard_normal((n_rows, N_FEATURES)) * rng.choice([0.05, 0.5, 20.0], (n_rows, 1))
        if self.classes is not None:
            y = rng.choice(self.classes, n_rows)
        else:
            y = rng.uniform(-1.5, 1.5, (n_rows, self.n_targets))
            y = suited(self.estimator, y if self.n_targets > 1 else y[:, 0])
        return self.data.make(X, y, np.random.default_rng(seed))

    def other_label(self, label):
        """Return the next class, or the target's negative."""
        if self.classes is None:
            return -label if suited(self.estimator, -1.0) < 0.0 else 1e3 * label
        return self.classes[(list(self.classes).index(label) + 1) % len(self.classes)]

    @property
    def bound(self):
        """A length that rows are clipped to, or a value that features are clipped to."""
        data_norm = getattr(self.estimator, "data_norm", None)
        return 1.0 if data_norm is None else data_norm


# The quick tests have the corners, null records and noise of each class, way of fitting and
# mechanism. That all data look the same given the releases is asked of every case.
KIND = ("mechanism", "noise_shape", "noisy_dual", "solver", "selection", "inference", "ball_budget")


def first_of_a_kind(cases):
    """Parameters: the first case of each kind, and the others in the long tier."""
    seen = set()
    for case in cases:
        choices = [getattr(case.estimator, name, None) for name in KIND]
        kind = type(case.estimator), case.way, case.data.name, case.has_exposure, *choices
        yield pytest.param(case, marks=[pytest.mark.long] if kind in seen else [])
        seen.add(kind)


def label_neighbours(case, y):
    """Copies of y in which one label is another, for some of the records."""
    for k in (*range(0, N_ROWS, 13), N_ROWS, N_ROWS + 1, N_ROWS + 2):
        moved = y.copy()
        moved[k] = case.other_label(y[k])
        yield k, moved


def rows_at(case, X, y, corners, k=K):
    """Rows and labels of the record at each of some corners, one below the other."""
    changed = [neighbour(case, X, y, corner, k) for corner in corners]
    return np.array([Z[k] for Z, _ in changed]), np.array([labels[k] for _, labels in changed])


def people_of(case):
    """Rows of people who have three each, targets, ids, and who changes."""
    X, y = case.records(3 * case.data.n_rows)
    return X, y, np.arange(len(X)) // 3, case.data.n_rows // 2


def with_rows_of(person, X, y, groups, rows, labels):
    """Return data and ids in which the rows of a person are others, and last."""
    others = groups != person
    data = np.concatenate([X[others], rows]), np.append(y[others], labels)
    return *data, np.append(groups[others], np.full(len(rows), person))
