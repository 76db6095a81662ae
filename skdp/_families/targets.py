"""Labels, classes and targets: what users give, and what training takes."""

from typing import NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.multiclass import check_classification_targets

from skdp._checks import LARGEST_BOUND, check_finite_input
from skdp._sklearn import quietly


class TargetUnits(NamedTuple):
    """How targets were mapped before training: ``y = midpoint + half_width * target``.

    Each is a number, or an array of one for each target. `one_axis` says whether y is flat, and not
    a table of one column or several. `bounds` are the ends (low, high) that y was moved to.
    """

    midpoint: float | np.ndarray
    half_width: float | np.ndarray
    one_axis: bool
    bounds: tuple = (-np.inf, np.inf)

    def move(self, targets):
        """Return targets, as they were read, in these units."""
        return (np.clip(targets, *self.bounds) - self.midpoint) / self.half_width


class RateUnits(NamedTuple):
    """The mean that amounts are divided by, and where rows have exposures, how these are cut.

    With exposures, `mean` is that of a rate. Exposures are divided by their own mean, and amounts
    by the product of both.
    """

    mean: float
    exposure: float = 1.0
    # A row that was seen for longer counts as long as this.
    longest: float = np.inf
    has_exposure: bool = False
    # Slopes, and sums in the end, are cut where amounts are so many times their mean.
    size: float = 1.0
    size_in_sums: float = 1.0

    def move(self, targets):
        """Return targets in these units: one column of amounts, or a second one of exposures.

        An amount is cut together with its exposure. Cutting that alone would raise the rate.
        """
        if not self.has_exposure:
            return targets / self.mean
        kept = np.minimum(self.longest / targets[:, 1:], 1.0)
        return targets * kept / [self.mean * self.exposure, self.exposure]


def encode_labels(y, classes):
    """Return the class set and targets in {-1, 1}: one column for two classes, else one a class.

    Where `classes` is None, nobody declared the class set, and it is read from `y`.
    """
    if classes is None:
        quietly(check_classification_targets, y)
        classes, codes = quietly(np.unique, y, return_inverse=True)
        if classes.size < 2:
            raise ValueError("A classifier needs at least 2 classes; the data contains one class.")
    else:
        classes = _check_classes(classes)
        codes = _declared_codes(y, classes)
    if classes.size == 2:
        return classes, np.where(codes == 1, 1.0, -1.0)[:, np.newaxis]
    targets = np.full((codes.size, classes.size), -1.0)
    targets[np.arange(codes.size), codes] = 1.0
    return classes, targets


def _check_classes(classes):
    listed = np.asarray(classes, dtype=object)
    if listed.ndim != 1:
        raise ValueError("The 'classes' parameter must be a flat list of labels.")
    if len({isinstance(label, str) for label in listed}) > 1:
        raise ValueError("The 'classes' parameter must not mix strings with other labels.")
    if any(label is None or label != label for label in listed):
        raise ValueError("The 'classes' parameter must not contain missing values.")
    classes = np.unique(np.asarray(classes))
    if classes.dtype.kind in "biufSU" and set(classes.tolist()) != set(listed.tolist()):
        raise ValueError(
            "The 'classes' parameter holds labels that no type of NumPy holds together, such as "
            "floats and large integers: declare labels of one type."
        )
    if classes.size < 2:
        raise ValueError("The 'classes' parameter must name at least 2 classes.")
    return classes


def _declared_codes(y, classes):
    known = _stored_as(y.dtype, classes)
    if y.dtype == known.dtype and y.dtype.kind in "biuf":
        codes = np.maximum(np.searchsorted(known, y, side="right") - 1, 0)
        codes[known[codes] != y] = -1
    elif y.dtype == object:
        codes = quietly(_codes_one_by_one, y.tolist(), classes)
    else:
        index = _places(known)
        codes = np.array([index.get(label, -1) for label in y.tolist()])
    if (codes < 0).any():
        raise ValueError("y contains labels that are not among the declared classes.")
    return codes


def _stored_as(dtype, classes):
    """Return classes as labels of a type hold them: with fewer digits, or another unit of time."""
    is_alike = dtype.kind == classes.dtype.kind and dtype.kind in "fM"
    return classes.astype(dtype) if is_alike else classes


def _places(classes):
    return {label: code for code, label in enumerate(classes.tolist())}


def _codes_one_by_one(labels, classes):
    """Return the code of each label, which follows from it alone, -1 where it is no class.

    Labels are equal where Python has them equal: 1 and 1.0 are, 2**53 + 1 is no float.
    """
    places, codes = {object: _places(classes)}, []
    for label in labels:
        # Only these have types of their own that hold a class otherwise than it was declared.
        is_typed = isinstance(label, np.floating | np.datetime64)
        dtype = label.dtype if is_typed else object
        if dtype not in places:
            places[dtype] = _places(_stored_as(dtype, classes))
        label = label.item() if isinstance(label, np.generic) else label
        codes.append(places[dtype].get(label, -1))
    return np.array(codes)


def as_targets(y):
    """Return regression targets as float64 of shape (n_samples, n_outputs)."""
    if issparse(y):
        raise TypeError("Sparse y is not supported; pass a dense array.")
    y = quietly(np.asarray, y, dtype=np.float64)
    # Entries of object arrays were not looked at before.
    check_finite_input(y, "y")
    return y.reshape(y.shape[0], -1)


@np.errstate(all="ignore")
def clip_targets(y, target_bounds, *, center, clip=True):
    """Map targets from public bounds to [-1, 1] and return them with the map's midpoint and width.

    Without bounds, `y` is left as it is, within +-1e100. With `center` the midpoint of the bounds
    goes to 0; without (a model with no intercept) targets are divided by the larger absolute bound.
    Wherever y was within the bounds, it is ``midpoint + half_width * scaled``.
    """
    midpoint, half_width = target_scale(target_bounds, center=center)
    low, high = (-LARGEST_BOUND, LARGEST_BOUND) if target_bounds is None else target_bounds
    if clip:
        y = np.clip(y, low, high)
    if target_bounds is not None:
        y = (y - midpoint) / half_width
    return y, midpoint, half_width


def target_scale(target_bounds, *, center):
    """Return the midpoint and half width of `clip_targets`."""
    if target_bounds is None:
        return 0.0, 1.0
    low, high = target_bounds
    if center:
        return 0.5 * low + 0.5 * high, 0.5 * high - 0.5 * low
    return 0.0, np.maximum(np.abs(low), np.abs(high))


def of_one_width(bounds, *, center):
    """Return ranges (low, high) of several targets, widened so that one number divides them all."""
    midpoint, half_width = target_scale(bounds, center=center)
    widest = np.full_like(half_width, half_width.max())
    return midpoint - widest, midpoint + widest
