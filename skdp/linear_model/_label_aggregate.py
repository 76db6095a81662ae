"""Noisy sums of rows by label: all that training needs to know of the labels."""

import contextlib
import dataclasses
import json
import math
from collections import namedtuple

import numpy as np

from skdp._bounds import clip_rows, row_norms, summation_slack
from skdp._checks import check_count, check_flag, check_positive, check_real
from skdp._plans._base import CLASSES_READ
from skdp._plans._walr import CLASSES_DECLARED, FEATURES_READ, LabelBudget, WALRPlan
from skdp._random import random_name
from skdp._solvers._parallel import single_threaded_blas
from skdp._solvers._walr import BLOCK, PublicRows, release_sums
from skdp.accountant import calibrate
from skdp.linear_model._base import COMMON_CONSTRAINTS, POSITIVE, encode_labels
from skdp.utils._sklearn import StrOptions, validate_arrays, validate_params

# Of the parameters of a release, which are its options.
CONSTRAINTS = {
    "fit_intercept": COMMON_CONSTRAINTS["fit_intercept"],
    "classes": ["array-like", None],
    "epsilon": COMMON_CONSTRAINTS["epsilon"],
    "delta": COMMON_CONSTRAINTS["delta"],
    "mechanism": [StrOptions({"analytic", "classic"})],
    "noise_shape": [StrOptions({"auto", "adapted", "spherical"})],
    "data_norm": [POSITIVE, None],
    "random_state": COMMON_CONSTRAINTS["random_state"],
}
Options = namedtuple("Options", CONSTRAINTS)
# Columns up to which noise is adapted by default: that takes some cubes of their number.
_ADAPTED_COLUMNS = 500
# How far sums of the same features may lie apart for rounding, relative to their sizes.
_SAME_SUMS = 1e-6
_OTHER_ROWS = "X has other rows than the aggregate was made of, or rows scaled otherwise."
_ARRAYS = ("sums", "noise_cov", "part_sums")
# Sums of other rows agree to so many digits by accident only.
_EQUAL = 1e-9
_DISJOINT = "that the parts of a sum of aggregates are of different records, each in one part"
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
    part_sums : ndarray of shape (n_parts, n_columns)
        Exact sums of all rows of each part, by which other features are noticed.
    feature_names : tuple of str or None
        Names of the features, where X had string column names.
    epsilon, delta : float
        The guarantee for one label.
    noise_multiplier : float
        Standard deviation of the noise over `sensitivity`, the smallest of the parts'.
    sensitivity : float or None
        Largest distance (L2) between the sums, without noise, of data sets that differ in one
        label, in the coordinates in which they are released, rounding included; None if it differs
        between the parts.
    names : tuple of str
        Random names of the parts, by which an aggregate that is added twice is noticed.
    reproducible : bool
        Whether the noise of a part came from a seed.
    classes_read, norm_read : bool
        Whether the class set was read from labels, and `data_norm` from features.

    Raises
    ------
    ValueError
        If fields don't fit each other, or promise more than their noise gives. Adding raises it
        where parts have a record or a name in common, or were prepared differently.

    References
    ----------
    .. [1] Yuan and Lazarsfeld. Weighted aggregate logistic regression. Technical note, section
       "Label differential privacy".

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
    part_sums: np.ndarray
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
            self._set(name, np.array(getattr(self, name), dtype=np.float64))
        for name in ("data_norm", "bias", "epsilon", "delta", "noise_multiplier", "sensitivity"):
            if name != "sensitivity" or self.sensitivity is not None:
                self._set(name, check_real(getattr(self, name), name))
        for name in ("reproducible", "classes_read", "norm_read"):
            self._set(name, check_flag(getattr(self, name), name))
        self._set("n_rows", check_count(self.n_rows, "n_rows"))
        self._set("classes", np.array(self.classes))
        self._set("names", tuple(self.names))
        if self.feature_names is not None:
            self._set("feature_names", tuple(self.feature_names))
        self._check_numbers()
        self._check_arrays()

    def _check_numbers(self):
        numbers = (self.data_norm, self.bias, self.delta, self.noise_multiplier)
        if min(*numbers, self.sensitivity or 0.0) < 0.0 or math.isinf(self.data_norm + self.bias):
            raise ValueError("numbers must not be negative, data_norm and bias not infinite.")
        if not (self.epsilon > 0.0 and self.delta < 1.0 and self.data_norm > 0.0):
            raise ValueError("epsilon and data_norm must be positive and delta below 1.")
        if math.isfinite(self.epsilon):
            needed = calibrate(self.epsilon, self.delta, adjacency="replace_label")
            if not self.noise_multiplier >= needed * (1.0 - 1e-9):
                raise ValueError("noise_multiplier is too small for epsilon and delta.")

    def _check_arrays(self):
        n_classes = self.classes.size
        known = self.classes.dtype.kind in "biufU" or (
            self.classes.dtype.kind == "O" and all(isinstance(c, str) for c in self.classes.flat)
        )
        if not known or not np.array_equal(self.classes, np.unique(self.classes)) or n_classes < 2:
            raise ValueError(
                "classes must be numbers or strings, sorted, all different, 2 or more."
            )
        if self.part_sums.ndim != 2 or len(self.part_sums) != len(self.names):
            raise ValueError("part_sums must have the shape (n_parts, n_columns).")
        n_columns = self.part_sums.shape[1]
        for name, shape in (
            ("sums", (n_classes if n_classes > 2 else 1, n_columns)),
            ("noise_cov", (n_columns, n_columns)),
        ):
            if getattr(self, name).shape != shape:
                raise ValueError(f"{name} must have the shape {shape}.")
        if not all(np.isfinite(getattr(self, name)).all() for name in _ARRAYS):
            raise ValueError("sums, noise_cov and part_sums must be finite.")
        if not (
            np.allclose(self.noise_cov, self.noise_cov.T) and (np.diag(self.noise_cov) >= 0).all()
        ):
            raise ValueError("noise_cov must be a covariance.")
        for name in ("names", "feature_names"):
            if not all(isinstance(word, str) for word in getattr(self, name) or ()):
                raise ValueError(f"{name} must be strings.")
        if not self.names or len(set(self.names)) < len(self.names):
            raise ValueError("names must be different, one for each part.")
        if self.feature_names is not None and len(self.feature_names) != self.n_features:
            raise ValueError("feature_names must be as many as features.")

    def _set(self, name, value):
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
        object.__setattr__(self, name, value)

    def __setstate__(self, state):
        for name, value in state.items():
            self._set(name, value)

    def __eq__(self, other):
        if not isinstance(other, LabelAggregate):
            return NotImplemented
        return self.to_json() == other.to_json()

    def __hash__(self):
        return hash(self.names)

    @property
    def feature_sums(self):
        """Exact sums of all rows, of shape (n_columns,)."""
        return self.part_sums.sum(axis=0)

    @property
    def n_features(self):
        """Number of features."""
        return self.part_sums.shape[1] - (self.bias != 0.0)

    @property
    def noise_std(self):
        """Standard deviation of the noise of each column of a sum, of shape (n_columns,)."""
        return np.sqrt(np.diag(self.noise_cov))

    @property
    def report(self):
        """The guarantee, a :class:`skdp.accountant.PrivacyReport`."""
        public = (CLASSES_READ if self.classes_read else CLASSES_DECLARED,)
        public += (FEATURES_READ,) if self.norm_read else ()
        public += (_DISJOINT,) if len(self.names) > 1 else ()
        plan = WALRPlan(
            budget=LabelBudget(self.epsilon, self.delta),
            n_rows=self.n_rows,
            noise_multiplier=self.noise_multiplier,
            n_columns=self.sums.shape[1],
            n_classes=self.classes.size,
            n_parts=len(self.names),
        )
        return plan.report(
            reproducible=self.reproducible, also_public=public, clipping=self.sensitivity
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
        if self.n_features != other.n_features:
            raise ValueError("the aggregates differ in the number of features.")
        if not np.array_equal(self.classes, other.classes):
            raise ValueError("the aggregates differ in their classes.")
        if math.isinf(self.epsilon) != math.isinf(other.epsilon):
            raise ValueError("one of the aggregates has no privacy, and other rows than the other.")
        alike = (
            np.allclose(mine, others, rtol=_EQUAL, atol=0.0)
            for mine in self.part_sums
            for others in other.part_sums
        )
        if set(self.names) & set(other.names) or any(alike):
            raise ValueError("the aggregates have a part in common: records must be disjoint.")
        if self.reproducible and other.reproducible:
            raise ValueError(_SEEDED_TWICE)
        same = self.sensitivity == other.sensitivity
        return dataclasses.replace(
            self,
            sums=self.sums + other.sums,
            noise_cov=self.noise_cov + other.noise_cov,
            part_sums=np.vstack([self.part_sums, other.part_sums]),
            n_rows=self.n_rows + other.n_rows,
            epsilon=max(self.epsilon, other.epsilon),
            delta=max(self.delta, other.delta),
            noise_multiplier=min(self.noise_multiplier, other.noise_multiplier),
            sensitivity=self.sensitivity if same else None,
            names=self.names + other.names,
            reproducible=self.reproducible or other.reproducible,
            classes_read=self.classes_read or other.classes_read,
            norm_read=self.norm_read or other.norm_read,
        )

    def __radd__(self, other):
        # For the built-in sum, which starts at 0.
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __repr__(self):
        guarantee = f"({self.epsilon:g}, {self.delta:g})-DP for the label of one row"
        guarantee = f"{guarantee} {self.report.condition}".rstrip()
        return f"LabelAggregate({self.n_rows} rows, {self.classes.size} classes, {guarantee})"

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
        found = None
        # What is wrong isn't told in the words of other libraries, which quote it.
        with contextlib.suppress(TypeError, KeyError, ValueError, OverflowError, RecursionError):
            content = json.loads(text)
            content["classes"] = np.array(content["classes"], dtype=content.pop("dtype"))
            content["epsilon"] = float(content["epsilon"])
            found = cls(**content)
        if found is None:
            raise ValueError("text is not the JSON of a LabelAggregate.")
        return found


@validate_params(CONSTRAINTS, prefer_skip_nested_validation=True)
def label_aggregate(
    X,
    y,
    *,
    fit_intercept=True,
    classes=None,
    epsilon=1.0,
    delta=1e-5,
    mechanism="analytic",
    noise_shape="auto",
    data_norm=None,
    random_state=None,
):
    """Release noisy sums of rows by label, from which others train without seeing a label.

    The sums are (`epsilon`, `delta`)-differentially private for the label of one row. The features
    are public, and not protected. See :class:`WALRClassifier`, whose parameters these are.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Public rows.
    y : array-like of shape (n_samples,)
        Private labels.
    fit_intercept : bool, default=True
        Whether models will have intercepts.
    classes : array-like, default=None
        The class set; None reads it from y.
    epsilon : float, default=1.0
        Privacy loss, above 0; ``float("inf")`` adds no noise.
    delta : float, default=1e-5
        Probability, in (0, 1), that the loss may exceed `epsilon`.
    mechanism : {"analytic", "classic"}, default="analytic"
        How the noise is calibrated.
    noise_shape : {"auto", "adapted", "spherical"}, default="auto"
        Whether the noise suits the rows or is the same for every column.
    data_norm : float, default=None
        Bound on the L2 norm of a row; None reads the largest from X. Holders whose aggregates are
        to be added must all give the same number.
    random_state : int, RandomState instance or None, default=None
        A seed makes the noise reproducible, and removable by whoever learns it.

    Returns
    -------
    aggregate : LabelAggregate
        The release.

    Raises
    ------
    ValueError
        If a parameter or the input is invalid; no message quotes an entry of the data.
    TypeError
        If X is sparse.

    References
    ----------
    .. [1] Yuan and Lazarsfeld. Weighted aggregate logistic regression. Technical note, section
       "Label differential privacy".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skdp.linear_model import label_aggregate
    >>> X, y = load_iris(return_X_y=True)
    >>> label_aggregate(X, y, epsilon=2.0, classes=[0, 1, 2])
    LabelAggregate(150 rows, 3 classes, (2, 1e-05)-DP for the label of one row)
    """
    X, y, names = validate_arrays(
        "label_aggregate", X, y, dtype=[np.float64, np.float32], order="C"
    )
    options = Options(
        fit_intercept, classes, epsilon, delta, mechanism, noise_shape, data_norm, random_state
    )
    return release_labels(X, y, names, options)[1]


def release_labels(X, y, feature_names, options):
    """Return validated rows as `PublicRows`, and the aggregate of them and their labels."""
    classes, targets = encode_labels(y, options.classes)

    # 2. bound the data
    norms, norm_read = row_norms(X), options.data_norm is None
    data_norm = _largest(norms) if norm_read else check_positive(options.data_norm, "data_norm")
    # With this constant the intercept's noise and the others' cost about the same.
    bias = data_norm / X.shape[1] ** 0.25 if options.fit_intercept else 0.0
    budget = LabelBudget(options.epsilon, options.delta, mechanism=options.mechanism)
    intercept = {"fit_intercept": options.fit_intercept, "bias": bias}
    rows = clip_rows(X, data_norm=data_norm, clip=budget.is_private, norm=norms, **intercept)

    # 3. plan from public numbers
    plan = WALRPlan(
        budget=budget,
        noise_multiplier=budget.calibrate(),
        n_rows=X.shape[0],
        n_columns=rows.n_columns,
        n_classes=classes.size,
        rounding_slack=summation_slack(*X.shape, targets.shape[1], BLOCK),
    )
    stream = plan.start(options.random_state)

    # 4. release
    public, shape = PublicRows(rows), options.noise_shape
    adapted = shape == "adapted" or (shape == "auto" and public.n_columns <= _ADAPTED_COLUMNS)
    with single_threaded_blas, np.errstate(all="ignore"):
        released = release_sums(public, targets, plan=plan, adapted=adapted, stream=stream)
        part_sums = public.total[np.newaxis]
    return public, LabelAggregate(
        **released._asdict(),
        n_rows=public.n_rows,
        classes=classes,
        data_norm=data_norm,
        bias=bias,
        part_sums=part_sums,
        feature_names=feature_names,
        epsilon=budget.epsilon,
        delta=budget.delta,
        noise_multiplier=plan.noise_multiplier,
        names=(random_name(),),
        reproducible=stream.reproducible,
        classes_read=options.classes is None,
        norm_read=norm_read,
    )


def prepared_rows(X, aggregate, feature_names):
    """Return validated rows as `PublicRows`, as an aggregate was made of; refuse other rows."""
    if not isinstance(aggregate, LabelAggregate):
        raise TypeError("aggregate must be a LabelAggregate, as made by label_aggregate.")
    if X.shape != (aggregate.n_rows, aggregate.n_features):
        raise ValueError(
            f"X has the shape {X.shape}, but the aggregate was made of "
            f"{(aggregate.n_rows, aggregate.n_features)}."
        )
    if feature_names is not None and aggregate.feature_names not in (None, tuple(feature_names)):
        raise ValueError("X has other feature names than those that the aggregate was made of.")
    intercept = {"fit_intercept": aggregate.bias > 0.0, "bias": aggregate.bias}
    clip = not math.isinf(aggregate.epsilon)
    public = PublicRows(clip_rows(X, data_norm=aggregate.data_norm, clip=clip, **intercept))
    reach = _SAME_SUMS * public.n_rows * max(aggregate.data_norm, aggregate.bias)
    with single_threaded_blas, np.errstate(all="ignore"):
        if (np.abs(public.total - aggregate.feature_sums) > reach).any():
            raise ValueError(_OTHER_ROWS)
    return public


def _largest(norms):
    norm = float(norms.max())
    if norm != 0.0 and not 1e-30 <= norm <= 1e30:
        raise ValueError("X has rows too long or too short; scale them, or give data_norm.")
    return norm or 1.0
