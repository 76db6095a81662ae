"""Noisy sums of rows by label: all that training needs to know of the labels."""

import dataclasses
import json
import math

import numpy as np

from skdp._plan import CLASSES_READ
from skdp._plan_label import FEATURES_READ, LabelBudget, report_label_sums

_ARRAYS = ("sums", "noise_cov", "feature_sums")
_SEEDED_TWICE = (
    "aggregates made with a seed may share their noise, which their difference would then give "
    "away; make them with random_state=None."
)


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LabelAggregate:
    """What a holder of labels hands to one who trains without them.

    Made by :func:`label_aggregate`. It holds noisy sums of the rows of each class and public facts,
    never a label. Aggregates of disjoint sets of records add up: ``a + b``.

    **Guarantee.** Everything in it is (`epsilon`, `delta`)-differentially private for the label of
    one row; features, their sums included, are public and not protected. In a sum each record
    keeps the guarantee of the part that it is in, so that `epsilon` and `delta` are the largest of
    the parts' and the noise is all of theirs: covariances add.

    Parameters
    ----------
    sums : ndarray of shape (1, n_columns) or (n_classes, n_columns)
        Noisy sums of the rows of each class, of two classes of the second only. A row is clipped
        to `data_norm`, and followed by `bias` if that isn't 0.
    noise_cov : ndarray of shape (n_columns, n_columns)
        Covariance of the noise of each of the sums; those of different classes are independent.
    n_rows : int
        Number of records.
    classes : ndarray of shape (n_classes,)
        Class labels, sorted.
    data_norm : float
        Bound that rows were clipped to.
    bias : float
        Constant of the intercept's column, 0.0 if there is none.
    feature_sums : ndarray of shape (n_columns,)
        Exact sums of all rows, by which other features are noticed.
    feature_names : tuple of str or None
        Names of the features, where X had string column names.
    epsilon, delta : float
        The guarantee for one label.
    noise_multiplier : float
        Standard deviation of the noise over `sensitivity`, the smallest of the parts'.
    sensitivity : float or None
        Distance (L2) between the sums of data sets that differ in one label, in the coordinates
        in which they were released; None if it differs between the parts.
    names : tuple of str
        Random names of the parts, by which an aggregate that is added twice is noticed.
    reproducible : bool
        Whether the noise of a part came from a seed.
    classes_read, norm_read : bool
        Whether the class set was read from labels, and `data_norm` from features.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from skdp.linear_model import LabelAggregate, WALRClassifier, label_aggregate
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> text = label_aggregate(X, y, epsilon=1.0, classes=[0, 1]).to_json()
    >>> aggregate = LabelAggregate.from_json(text)
    >>> aggregate
    LabelAggregate(569 rows, 2 classes, (1, 1e-05)-DP for the label of one row)
    >>> model = WALRClassifier().fit_aggregate(X, aggregate)
    """

    sums: np.ndarray
    noise_cov: np.ndarray
    n_rows: int
    classes: np.ndarray
    data_norm: float
    bias: float
    feature_sums: np.ndarray
    feature_names: tuple | None
    epsilon: float
    delta: float
    noise_multiplier: float
    sensitivity: float | None
    names: tuple
    reproducible: bool
    classes_read: bool
    norm_read: bool

    def __post_init__(self):
        for name in _ARRAYS:
            array = np.array(getattr(self, name), dtype=np.float64)
            if not np.isfinite(array).all():
                raise ValueError(f"{name} must be finite.")
            self._set(name, array)
        self._set("classes", np.array(self.classes))
        self._set("names", tuple(self.names))
        if self.feature_names is not None:
            self._set("feature_names", tuple(self.feature_names))
        n_classes, n_columns = self.classes.size, self.feature_sums.size
        n_sums = n_classes if n_classes > 2 else 1
        if n_classes < 2 or self.sums.shape != (n_sums, n_columns):
            raise ValueError("sums must have the shape (1 or n_classes, n_columns).")
        if self.noise_cov.shape != (n_columns, n_columns):
            raise ValueError("noise_cov must have the shape (n_columns, n_columns).")
        if not (self.n_rows >= 1 and self.data_norm > 0.0 and self.bias >= 0.0 and self.names):
            raise ValueError("n_rows, data_norm, bias and names must describe at least one part.")
        if not (self.epsilon > 0.0 and 0.0 <= self.delta < 1.0):
            raise ValueError("epsilon must be positive and delta in [0, 1).")
        if math.isfinite(self.epsilon) and not self.noise_multiplier > 0.0:
            raise ValueError("noise_multiplier must be positive for a finite epsilon.")

    def _set(self, name, value):
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
        object.__setattr__(self, name, value)

    @property
    def n_features(self):
        """Number of features."""
        return self.feature_sums.size - (self.bias != 0.0)

    @property
    def noise_std(self):
        """Standard deviation of the noise of each column of a sum, of shape (n_columns,)."""
        return np.sqrt(np.diag(self.noise_cov))

    @property
    def report(self):
        """The guarantee, a :class:`skdp.accountant.PrivacyReport`."""
        public = (CLASSES_READ,) if self.classes_read else ()
        return report_label_sums(
            LabelBudget(self.epsilon, self.delta),
            noise_multiplier=self.noise_multiplier,
            n_parts=len(self.names),
            sensitivity=self.sensitivity,
            reproducible=self.reproducible,
            also_public=public + ((FEATURES_READ,) if self.norm_read else ()),
        )

    def __add__(self, other):
        if not isinstance(other, LabelAggregate):
            return NotImplemented
        for name in ("data_norm", "bias", "feature_names"):
            if getattr(self, name) != getattr(other, name):
                raise ValueError(
                    f"the aggregates differ in {name}, so their sums don't add up: all holders "
                    "must use the same columns and the same data_norm, given as a number."
                )
        if self.feature_sums.shape != other.feature_sums.shape:
            raise ValueError("the aggregates differ in the number of features.")
        if not np.array_equal(self.classes, other.classes):
            raise ValueError("the aggregates differ in their classes.")
        if set(self.names) & set(other.names):
            raise ValueError("the aggregates have a part in common: records must be disjoint.")
        if self.reproducible and other.reproducible:
            raise ValueError(_SEEDED_TWICE)
        same = self.sensitivity == other.sensitivity
        return dataclasses.replace(
            self,
            **{name: getattr(self, name) + getattr(other, name) for name in (*_ARRAYS, "n_rows")},
            epsilon=max(self.epsilon, other.epsilon),
            delta=max(self.delta, other.delta),
            noise_multiplier=min(self.noise_multiplier, other.noise_multiplier),
            sensitivity=self.sensitivity if same else None,
            names=self.names + other.names,
            reproducible=self.reproducible or other.reproducible,
            classes_read=self.classes_read or other.classes_read,
            norm_read=self.norm_read or other.norm_read,
        )

    def __repr__(self):
        return (
            f"LabelAggregate({self.n_rows} rows, {self.classes.size} classes, "
            f"({self.epsilon:g}, {self.delta:g})-DP for the label of one row)"
        )

    def to_json(self):
        """Give the aggregate as JSON; numbers come back to the last bit.

        Returns
        -------
        text : str
            Strict JSON.
        """
        content = {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)
            if field.name not in (*_ARRAYS, "classes")
        }
        content |= {name: getattr(self, name).tolist() for name in (*_ARRAYS, "classes")}
        content["dtype"] = self.classes.dtype.str
        if math.isinf(self.epsilon):
            content["epsilon"] = "inf"
        return json.dumps(content, allow_nan=False)

    @classmethod
    def from_json(cls, text):
        """Return the aggregate that `to_json` gave.

        Parameters
        ----------
        text : str
            What `to_json` returned.

        Returns
        -------
        aggregate : LabelAggregate

        Raises
        ------
        ValueError
            If it isn't the JSON of an aggregate.
        """
        try:
            content = json.loads(text)
            content["classes"] = np.array(content["classes"], dtype=content.pop("dtype"))
            content["epsilon"] = float(content["epsilon"])
            return cls(**content)
        except (TypeError, KeyError, json.JSONDecodeError):
            raise ValueError("text is not the JSON of a LabelAggregate.") from None
