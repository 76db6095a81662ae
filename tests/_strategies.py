"""What tests/long/test_fuzz.py throws at the package: parameters, rows and labels, many wrong."""

import datetime
import math
import warnings
from decimal import Decimal
from fractions import Fraction
from numbers import Real

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from scipy.sparse import csr_array, csr_matrix
from sklearn.utils._param_validation import Interval, StrOptions

# Planted in rows and labels in many types; a text that contains the mark quotes an entry.
SECRET, MARK = 471147.5, "471147"
HUGE = 10**400


class _Unreadable:
    """Quotes an entry in the error of its conversion to an array."""

    shape = (12, 3)

    def __len__(self):
        return 12

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError(f"can't convert {SECRET}")


ABSURD = [
    *(None, True, False, np.True_, "", "auto", "1.0", "inf", b"1", 0, -1, 1, 2, HUGE, -HUGE),
    *(0.0, -0.0, 5e-324, 1e-310, 1e-30, 0.5, 1.5, 1e30, 1e308, math.inf, -math.inf, math.nan),
    *(np.float16(0.5), np.float32(0.5), np.float64("nan"), np.longdouble("1e400"), np.int8(3)),
    *(np.uint64(2**63), 1j, Fraction(1, 3), Decimal("0.5"), np.datetime64("2020-01-01")),
    *(datetime.date(2020, 1, 1), pd.NA, pd.NaT, object(), int, len, {}, {"a": 1}, {0, 1}),
    *([], [1], (0, 1), [1, 0], (-1.0, 1.0), (-0.5, math.nan), (0, HUGE), (None, None), "ab"),
    *((0.0, 5e-324), (-1e100, 1e100), (-math.inf, math.inf), ("-1", "1"), (-1j, 1j), [0, 1, 2]),
    *(([0, 0, 0], [1, 1, 1]), ([0, 0], [1, 1]), [[0, 1], [2]], ["a", "b"], [0, "a"], ["a", None]),
    *([math.nan, 1.0], [HUGE, 1], [[1], [2]], [pd.NA, 1], [{}, 1]),
    *(
        np.zeros(3),
        np.ones(3),
        np.full(3, 1e-310),
        np.ones((2, 3)),
        np.array(1.0),
        np.empty((0, 3)),
    ),
    *(np.array([0, 1j]), np.array(["x", "y"]), np.array([0.0, 1.0], dtype=object)),
    *(np.array(["2020", "2021"], dtype="M8[Y]"), np.ma.masked_array([0.1, 0.5], [True, False])),
    *(pd.DataFrame({"a": [0.0], "b": [1.0]}), pd.Series([0.0, 1.0]), csr_array(np.eye(2))),
]

# Settings of arrays, which constraints don't describe.
_CHOICES = {
    "array-like": [],
    "classes": [[0, 1], np.array([1, 0]), [0.0, 1.0], [0, 1, 2], ["a", "b"]],
    "coef_bounds": [(-0.1, 0.2), ([-1.0] * 3, [1.0] * 3), (-math.inf, 0.0), (0.0, 0.0)],
    "feature_bounds": [(-1.0, 1.0), (0.0, 1e-30), ([-1.0] * 3, [1.0, 2.0, 3.0]), (-1e100, 1e100)],
    "smoothness": [np.ones(3), [1e-60, 1.0, 1e200]],
    "target_bounds": [(-1.0, 1.0), (0.0, 1e-100), (-1e100, 1e100), (5.0, 6.0), np.array([0, 1])],
    "boolean": [True, False],
    "verbose": [0, 2],
    "random_state": [0, None, 2**32 - 1, np.random.RandomState(0)],
}


def valid_values(cls, name):
    """Some values of a parameter that an estimator takes, ends of its range included."""
    values = list(_CHOICES.get(name, []))
    for constraint in cls._parameter_constraints[name]:
        if isinstance(constraint, StrOptions):
            values += sorted(constraint.options)
        elif isinstance(constraint, Interval):
            ends = [end for end in (constraint.left, constraint.right) if end is not None]
            values += [1, 3, *ends] if constraint.type is not Real else [*ends, 1e-9, 0.3, 1.0]
        elif isinstance(constraint, str):
            values += _CHOICES[constraint]
        elif constraint is None:
            values.append(None)
    return values


def is_long(name, value, limit=10**9):
    """Tell whether a valid number asks for a fit that takes long."""
    return name in ("max_iter", "alphas") and isinstance(value, Real) and 30 < value <= limit


def any_value(valid=()):
    strategies = [st.sampled_from(ABSURD), st.floats(), st.integers(), st.text(max_size=5)]
    # Numbers of every size, most of which are in range for most parameters.
    strategies.append(st.floats(-310, 308).map(lambda power: 10.0**power))
    if valid:
        strategies += 12 * [st.sampled_from(valid)]
    return st.one_of(strategies)


@st.composite
def changes(draw, cls, limit=10**9, leave=()):
    """A few parameters of an estimator, set to anything, but for the path of a ledger."""
    names = sorted(set(cls._parameter_constraints) - {"ledger", *leave})
    chosen = draw(st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True))
    return {
        name: draw(
            any_value(valid_values(cls, name)).filter(
                lambda value, name=name: not is_long(name, value, limit)
            )
        )
        for name in chosen
    }


def _object_with(value):
    def spoil(X):
        X = X.astype(object)
        X[(-1,) * X.ndim] = value
        return X

    return spoil


def _frame(X):
    return pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])


def _mixed_frame(X):
    frame = _frame(X)
    frame["c0"] = np.arange(len(frame), dtype=np.int8)
    frame["c1"] = np.arange(len(frame)) % 2 == 0
    return frame.assign(c2=frame["c2"].astype(np.float32))


def _frame_with(column):
    def spoil(X):
        return _frame(X).assign(c1=pd.Series((column * len(X))[: len(X)]))

    return spoil


def _frozen(X):
    X = X.copy()
    X.flags.writeable = False
    return X


# From an array of rows to what is passed as X. Some fit not all shapes, and leave those alone.
FORMS = [
    *(lambda X: X, np.asfortranarray, _frozen, lambda X: X[::-1][..., ::-1]),
    *(lambda X: np.repeat(X, 2, axis=0)[::2], lambda X: X.astype(">f8"), lambda X: X.tolist()),
    *(lambda X, t=t: X.astype(t) for t in ("f2", "f4", "g", "i8", "u1", "?", "O", "U9", "S9")),
    *(lambda X, t=t: X.astype(t) for t in ("c16", "M8[s]", "m8[s]")),
    lambda X: X.astype("g") * np.longdouble("1e2000"),
    lambda X: X + SECRET * 1j,
    *(_object_with(v) for v in (None, f"w{MARK}", HUGE + 471147, [SECRET], math.nan, SECRET * 1j)),
    *(
        _object_with(v)
        for v in (pd.NA, Decimal("471147.547"), {MARK: 1}, datetime.date(4711, 4, 7))
    ),
    *(_frame, _mixed_frame, lambda X: pd.DataFrame(X, columns=["c"] * X.shape[1])),
    lambda X: pd.DataFrame(X, columns=[0, *"abcdefghijklmnopqrstuvwxyz"][: X.shape[1]]),
    *(_frame_with(column) for column in ([f"w{MARK}", "b"], [SECRET, None], [471147, HUGE])),
    lambda X: _frame(X).assign(c1=pd.array([471147, None] * len(X), dtype="Int64")[: len(X)]),
    lambda X: _frame(X).assign(c1=pd.Categorical([f"w{MARK}"] * len(X))),
    lambda X: _frame(X).assign(c1=pd.to_datetime(["2020-04-11"] * len(X))),
    *(lambda X: pd.Series(list(X)), lambda X: np.ma.masked_array(X, X == SECRET)),
    *(csr_array, csr_matrix, lambda X: [*X.tolist(), [SECRET]], lambda X: tuple(X.tolist())),
    *(lambda X: iter(X.tolist()), lambda X: {"a": SECRET}, lambda X: None, lambda X: f"w{MARK}"),
    *(lambda X: _Unreadable(), np.matrix, lambda X: np.rec.fromarrays(X.T)),
]
_FEW_FORMS = FORMS[:10]
_SHAPES = [(12, 3), (1, 3), (2, 1), (5, 40), (0, 3), (12, 0), (12,), (2, 3, 2), ()]
_VALUES = [0.0, 1.0, -1e3, math.nan, math.inf, -math.inf, 1e30, 1e154, 1e308, -1.7e308, 5e-324]


@st.composite
def matrices(draw):
    """Rows in any shape and form, and how many there are."""
    # Most are what a fit takes, so that what is done with them is tried too.
    shape = draw(st.one_of(*2 * [st.just((12, 3))], st.sampled_from(_SHAPES)))
    form = draw(st.one_of(st.sampled_from(_FEW_FORMS), st.sampled_from(FORMS)))
    value = draw(st.one_of(*2 * [st.just(1.0)], st.sampled_from(_VALUES)))
    X = np.random.RandomState(draw(st.integers(0, 99))).standard_normal(shape)
    flat = np.atleast_1d(X).reshape(-1)
    flat[: draw(st.integers(0, flat.size))] = value
    flat[-2:-1] = SECRET
    X = flat.reshape(shape)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return form(X), (shape or (1,))[0]
        except (ValueError, TypeError, KeyError, IndexError, OverflowError):
            return X, (shape or (1,))[0]


def _cycle(*values):
    return lambda n: (list(values) * (n + 1))[:n]


def _array(*values, dtype=None):
    return lambda n: np.array(_cycle(*values)(n), dtype=dtype)


def _objects(*values):
    def make(n):
        y = np.empty(n, dtype=object)
        for i, value in enumerate(_cycle(*values)(n)):
            y[i] = value
        return y

    return make


_FEW_LABELS = [
    *(_array(0, 1), _array(1, 0, 2), _cycle(0, 1), _array(0.0, 1.0), _array(True, False)),
    *(_array("a", "b"), _objects("a", "b"), lambda n: np.arange(2.0 * n).reshape(n, 2)),
    *(_array(0.5, SECRET), lambda n: pd.Series(_cycle(0, 1)(n)), _array(0, 1, dtype="f4")),
]
LABELS = [
    *_FEW_LABELS,
    *(_array(0, 471147), _array(f"w{MARK}", "b"), _objects(f"w{MARK}", 0), _objects(0, None)),
    *(_objects(HUGE, 471147), _objects(0, math.nan), _objects([SECRET], 1), _objects({MARK}, 1)),
    *(
        _objects(pd.NA, 1),
        _objects(SECRET, "1"),
        _objects(SECRET * 1j, 1),
        _objects(b"471147", "1"),
    ),
    *(_array(math.nan, 1.0), _array(math.inf, SECRET), _array(1e308, -1e308), _array(5e-324, 0.0)),
    *(
        _array(1e160, SECRET),
        _array(SECRET),
        _array(2**64 - 1, 471147, dtype="u8"),
        _array(-(2**63), 0),
    ),
    *(_array(0, 1, dtype=t) for t in ("f2", "g", "c16", "M8[s]", "m8[s]", "S1", "U4", "O", "i1")),
    *(lambda n: np.array(_cycle(0, 1)(n)).reshape(n, 1), lambda n: np.zeros((n, 2, 2))),
    *(lambda n: np.zeros((n, 0)), lambda n: np.array(_cycle("a", f"w{MARK}")(2 * n)).reshape(n, 2)),
    *(lambda n: csr_array(np.ones((max(n, 1), 1))), lambda n: None, lambda n: SECRET),
    *(lambda n: _cycle(0, 1)(n + 1), lambda n: [[SECRET]] * n + [[1, 2]], lambda n: f"w{MARK}"),
    *(lambda n: [[0], [1, 471147]] * n, lambda n: {"a": SECRET}, lambda n: tuple(_cycle(0, 1)(n))),
    *(lambda n: pd.Series(_cycle("a", f"w{MARK}")(n), dtype="category"), lambda n: _Unreadable()),
    *(lambda n: pd.Series(_cycle(471147, None)(n), dtype="Int64"), lambda n: {0, 471147}),
    *(
        lambda n: pd.Series(_cycle(True, None)(n), dtype="boolean"),
        _objects(Decimal("471147.547"), 1),
    ),
    *(lambda n: pd.DataFrame({"t": _cycle(0, SECRET)(n)}), lambda n: np.arange(n) + SECRET),
    lambda n: np.ma.masked_array(_cycle(0, 1)(n), _cycle(True, False, False)(n)),
    lambda n: pd.Series(_cycle("a", f"w{MARK}", None)(n), dtype="string"),
]


def labels(n):
    """Labels or targets of n rows in any form."""
    chosen = st.one_of(*2 * [st.sampled_from(_FEW_LABELS)], st.sampled_from(LABELS))
    return chosen.map(lambda make: make(n))
