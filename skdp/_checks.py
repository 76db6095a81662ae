"""Public arguments that a user gave, as numbers that can be counted on."""

import math
from collections.abc import Mapping, Set
from numbers import Integral, Real
from reprlib import repr as short

import numpy as np
from scipy.sparse import issparse

from skdp._rows.containers import RefusedValueError
from skdp._rows.entry_types import is_of_numbers

LARGEST_BOUND = 1e100
LARGEST_WEIGHT = 1e15
_LARGEST_COUNT = 10**15


def check_real(value, name):
    """Return a finite or infinite real number as a float, or raise a ValueError."""
    if not isinstance(value, Real) or isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be a real number, got {short(value)}.")
    try:
        value = float(value)
    except OverflowError:
        raise ValueError(f"{name} is too large for a float.") from None
    if math.isnan(value):
        raise ValueError(f"{name} must not be nan.")
    return value


def check_within(value, name, low, high, ends="[]"):
    """Return a real number of an interval as a float; "(" and ")" leave its ends out."""
    value = check_real(value, name)
    is_left_out = (value == low and ends[0] == "(") or (value == high and ends[1] == ")")
    if not low <= value <= high or is_left_out:
        raise ValueError(f"{name} must be in {ends[0]}{low:g}, {high:g}{ends[1]}, got {value!r}.")
    return value


def check_word(value, name, known):
    """Return one of some known words, or raise a ValueError, which doesn't quote another."""
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{name} must be one of {tuple(known)}.")
    return value


def check_is_object(value, name):
    """Refuse a class where one of its objects is wanted."""
    if isinstance(value, type):
        kind = value.__name__
        raise TypeError(f"{name} must be an object, and {kind} is a class: give {kind}(...).")


def check_fields(owner, **checks):
    """Set fields of a frozen object to what checks, functions of value and name, make of them."""
    for name, check in checks.items():
        object.__setattr__(owner, name, check(getattr(owner, name), name))


def check_n_jobs(n_jobs):
    """Refuse 0 workers; None and negative numbers are joblib's."""
    if n_jobs == 0:
        raise ValueError("The 'n_jobs' parameter must not be 0.")


def check_count(value, name):
    """Return an integer of at least 1 as an int, or raise a ValueError."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be an integer of at least 1, got {short(value)}.")
    if value > _LARGEST_COUNT:
        raise ValueError(f"{name} must be at most {_LARGEST_COUNT:g}.")
    return int(value)


def check_finite_input(values, name):
    """Refuse NaN and infinity, whether or not scikit-learn was told to assume there are none."""
    entries = values.data if issparse(values) else values
    if not np.isfinite(entries).all():
        raise ValueError(
            f"Input {name} contains NaN or infinity: no bound holds for these records. "
            "Leave them out, or fill them, for example by skdp.preprocessing.DPSimpleImputer."
        )


def check_flag(value, name):
    """Return a bool, or raise a ValueError."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, got {short(value)}.")
    return bool(value)


def read_numbers(values, problem):
    """Return public real numbers as a float64 array, or raise a ValueError of this text."""
    try:
        numbers = np.asarray(values)
        if numbers.dtype.kind == "O":
            numbers = numbers.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(problem) from None
    if not is_of_numbers(numbers.dtype) or np.ma.isMaskedArray(values):
        raise ValueError(problem)
    with np.errstate(over="ignore"):
        return numbers.astype(np.float64)


_TWO_READINGS = (
    "{} can be read in two ways for two features: as a range for each, which is {} to {} for the "
    "first and {} to {} for the second, or as lows and highs, which is {} to {} for the first and "
    "{} to {} for the second. Give a tuple of two lists, (lows, highs): ([{}, {}], [{}, {}]) for "
    "the former, ([{}, {}], [{}, {}]) for the latter."
)


def read_pair(bounds, name, problem, n_features, *, may_be_equal=False):
    """Return a pair as two float64 arrays of shape (n_features,); see `read_numbers`.

    For two features a table of two rows may hold a range for each feature, or lows and highs, and
    is refused. A tuple of lists or arrays holds lows and highs, and so does an array or a tuple of
    tuples of which a row can't be a range: its ends aren't in order, or are equal unless they
    `may_be_equal`.
    """
    if isinstance(bounds, Mapping | Set) or hasattr(bounds, "columns"):
        # They unpack to keys, to names of columns, or in any order.
        raise ValueError(problem)
    try:
        low, high = bounds
    except (TypeError, ValueError):
        raise ValueError(problem) from None
    are_tuples = isinstance(low, tuple) and isinstance(high, tuple)
    low, high = (read_numbers(bound, problem) for bound in (low, high))
    is_table = n_features == 2 and low.shape == high.shape == (2,)
    if is_table and (are_tuples or not isinstance(bounds, tuple)):
        (a, b), (c, d) = low, high
        are_ranges = (a <= b and c <= d) if may_be_equal else (a < b and c < d)
        if are_ranges or isinstance(bounds, list):
            ends = (a, b, c, d, a, c, b, d, a, c, b, d, a, b, c, d)
            raise RefusedValueError(_TWO_READINGS.format(name, *(f"{end:g}" for end in ends)))
    try:
        return np.broadcast_to(low, n_features), np.broadcast_to(high, n_features)
    except ValueError:
        raise ValueError(problem) from None


def check_bounds(bounds, name):
    """Return (low, high) as floats after checking that they are finite numbers with low < high."""
    pair = read_pair(bounds, name, f"{name} must be a pair of numbers (low, high).", 1)
    low, high = (float(end[0]) for end in pair)
    if not (abs(low) <= LARGEST_BOUND and abs(high) <= LARGEST_BOUND):
        raise ValueError(f"{name} must be finite and at most 1e100 in size, got ({low}, {high}).")
    if not high - low >= 1.0 / LARGEST_BOUND:
        raise ValueError(f"{name} must have low < high by 1e-100 or more, got ({low}, {high}).")
    return low, high


@np.errstate(over="ignore")
def check_positive(value, name):
    """Return a public number within 1e-30 and 1e30 as a float."""
    if not isinstance(value, Real) or not 1e-30 <= value <= 1e30:
        raise ValueError(f"{name} must be a float in the range [1e-30, 1e30], got {short(value)}.")
    return float(value)


def check_sample_epsilon(sample_epsilon, n_rows, epsilon):
    """Return public personal epsilons, in (0, epsilon], as a float64 array of shape (n_rows,)."""
    if not np.isfinite(epsilon):
        raise ValueError("sample_epsilon needs a finite epsilon.")
    epsilons = _read_for_rows(sample_epsilon, "sample_epsilon", n_rows)
    if not ((epsilons > 0.0) & (epsilons <= epsilon)).all():
        raise ValueError(f"sample_epsilon must have entries in (0, epsilon] = (0, {epsilon:g}].")
    return epsilons


def check_public_weight(public_weight, n_rows):
    """Return public weights of rows as a float64 array of shape (n_rows,), or None for None."""
    if public_weight is None:
        return None
    weights = _read_for_rows(public_weight, "public_weight", n_rows)
    if not _are_weights(weights).all():
        raise ValueError("public_weight must have entries that are 0 or within 1e-15 and 1e15.")
    if not weights.any():
        raise ValueError("public_weight must have an entry above 0.")
    return weights


def check_exposure(exposure, n_rows):
    """Return private exposures of rows as a float64 array of shape (n_rows,)."""
    exposures = _read_for_rows(exposure, "exposure", n_rows)
    if not (np.isfinite(exposures) & (exposures >= 0.0)).all():
        raise ValueError("exposure must have finite entries that are 0 or more, and no gaps.")
    return exposures


def _read_for_rows(values, name, n_rows):
    numbers = read_numbers(values, f"{name} must be an array of real numbers, none of them masked.")
    if numbers.shape != (n_rows,):
        raise ValueError(f"{name} must have the shape (n_samples,) = ({n_rows},).")
    return numbers


def check_class_weight(class_weight):
    """Return public weights of classes as a dict of floats."""
    if not isinstance(class_weight, dict):
        raise ValueError(
            "class_weight must be a dict of public numbers, or None. 'balanced' would read labels: "
            "take shares that are public or guessed, as {label: 1 / (n_classes * share)}."
        )
    weights = {label: check_real(weight, "class_weight") for label, weight in class_weight.items()}
    if not _are_weights(np.array(list(weights.values()))).all():
        raise ValueError("class_weight must have values that are 0 or within 1e-15 and 1e15.")
    return weights


def _are_weights(weights):
    return (weights == 0.0) | ((weights >= 1.0 / LARGEST_WEIGHT) & (weights <= LARGEST_WEIGHT))


def check_feature_bounds(feature_bounds, n_features):
    """Return float64 arrays (low, high) of shape (n_features,)."""
    problem = (
        "feature_bounds must be a pair (lows, highs) of numbers or of arrays of shape "
        f"(n_features,) = ({n_features},), not one pair for each feature."
    )
    low, high = read_pair(feature_bounds, "feature_bounds", problem, n_features)
    if not ((np.abs(low) <= LARGEST_BOUND) & (np.abs(high) <= LARGEST_BOUND)).all():
        raise ValueError("feature_bounds must be finite and at most 1e100 in size.")
    if not (low < high).all():
        raise ValueError("feature_bounds must be (lows, highs) with low < high for every feature.")
    return low, high


def check_finite(coefs):
    """Refuse to publish coefficients that overflowed; as released values they may be looked at."""
    if not np.isfinite(coefs).all():
        raise ValueError("The fit overflowed: scale the features and targets to moderate size.")
