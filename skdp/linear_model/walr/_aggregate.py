"""Noisy sums of rows by label, as their holder passes them on."""

import dataclasses
import json
import math
import operator
from functools import partial, reduce
from typing import ClassVar

import numpy as np

from skdp._checks import check_count, check_fields, check_flag, check_real, check_within
from skdp._families.weights import WEIGHTS_STATED
from skdp._release.plan import CLASSES_READ
from skdp.accountant import calibrate
from skdp.linear_model.walr._noise import mean_length, row_lengths
from skdp.linear_model.walr._plan import LabelBudget, ResponsePlan, WALRPlan

_CLASSES_DECLARED = "the set of classes"
_FEATURES_READ = "the largest row norm, which was read from X (set data_norm to declare a bound)"
# Sums of the same features may differ by so much for rounding, relative to their sizes.
SAME_SUMS = 1e-6
_check_norm = partial(check_within, low=0.0, high=math.inf, ends="()")
_check_bias = partial(check_within, low=0.0, high=math.inf, ends="[)")
_check_positive = partial(check_within, low=0.0, high=math.inf, ends="(]")
_check_not_negative = partial(check_within, low=0.0, high=math.inf)
_check_delta = partial(check_within, low=0.0, high=1.0, ends="[)")
_FLAGS = ("reproducible", "classes_read", "norm_read", "weighted")
_ARRAYS = ("sums", "noise_cov", "part_sums")
# Sums of other rows agree to so many digits by accident only.
_EQUAL = 1e-9
# A row may exceed what its noise is for by this factor: for rounding, and columns that nearly
# cancel.
LENIENT = 1.005
_DISJOINT = "that the parts of a sum of aggregates are of different records, each in one part"
_DIFFERS = (
    "the aggregates differ in {}, so their sums don't add up: all holders must use the same "
    "columns and classes, and name one data_norm and one mechanism (the default may choose either)."
)
_SEEDED_TWICE = (
    "aggregates made with a seed may share their noise, which their difference would then give "
    "away; make them with random_state=None."
)


class TooLittleNoise(ValueError):
    """An aggregate's noise isn't enough for what it promises."""


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LabelAggregate:
    """Noisy sums by label, from the holder of labels to a trainer without labels.

    Created by :func:`label_aggregate`. It has noisy sums of the rows of each class and public
    facts, but no label. Aggregates of disjoint sets of records can be added: ``a + b``.

    **Guarantee.** Everything in it is (`epsilon`, `delta`)-differentially private for the label of
    one row; features and their sums are public and not protected. In a sum each record keeps the
    guarantee of its part (parallel composition), so `epsilon` and `delta` are the largest of the
    parts, and the covariances of the noise add up.

    **What is checked.** The receiver of an aggregate can check the stated noise. A row x is
    protected by noise of covariance S and a multiplier s if ``x' S^-1 x`` is at most ``1 / s**2``,
    or half of that with three classes or more. When a release is made or read, its mean row must be
    protected, and the largest noise must be that of the multiplier and the sensitivity. Training
    checks every row, which must be protected by a part of a sum. Noise is checked to half a
    percent, and no more precisely than 1e-4 times that of the columns, times the square root of
    their number, where columns nearly cancel. Where labels were flipped, `flip_probability` must be
    enough for `epsilon`, and the covariance that of the rows. Whether the sums really have the
    stated noise can't be checked: in this the holder is trusted.

    Parameters
    ----------
    sums : ndarray of shape (1, n_columns) or (n_classes, n_columns)
        Noisy sums of the rows of each class; with two classes, of the second only. A row is clipped
        to `data_norm`, and followed by `bias` if that isn't 0.
    noise_cov : ndarray of shape (n_columns, n_columns)
        Covariance of the noise of each of the sums. Gaussian noise of different classes is
        independent; where labels were flipped, the sums of all classes add up to that of all rows.
    n_rows : int
        Number of records.
    classes : ndarray of shape (n_classes,)
        Class labels, sorted.
    data_norm : float
        Bound to which rows were clipped.
    bias : float
        Constant of the intercept's column; 0.0 if there is none.
    part_sums : ndarray of shape (n_parts, n_columns)
        Exact sums of all rows of each part, which detect other features.
    feature_names : tuple of str or None
        Names of the features, where X had string column names.
    epsilon, delta : float
        The guarantee for one label.
    noise_multiplier : float
        Standard deviation of the noise divided by `sensitivity`; the smallest of the parts.
    sensitivity : float or None
        Largest distance (L2) between the sums, without noise, of data sets that differ in one
        label, in the coordinates in which they are released, rounding included; None if it differs
        between the parts.
    names : tuple of str
        Random names of the parts, which detect an aggregate that is added twice; one name, except
        in a sum.
    reproducible : bool
        Whether the noise of a part came from a seed.
    classes_read, norm_read : bool
        Whether the class set was read from labels, and `data_norm` from features.
    weighted : bool, default=False
        Whether rows were multiplied by public weights.

    Attributes
    ----------
    parts : tuple of LabelAggregate
        The releases in a sum; () for a release. Sums can be made only by adding.
    mechanism : {"gaussian", "randomized_response"}
        Source of the noise. Only aggregates of one mechanism can be added.
    flip_probability : float
        Probability that a label was replaced by each of the other classes, the smallest of the
        parts. Only for randomised response, whose `sensitivity` is None.

    Raises
    ------
    ValueError
        If fields don't match, or claim more than their noise gives. Adding raises it where parts
        have a record or a name in common, or were prepared differently.

    References
    ----------
    .. [1] Yuan and Lazarsfeld. Weighted aggregate logistic regression.
       Technical note, section "Label differential privacy".

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from skdp.linear_model import LabelAggregate, WALRClassifier, label_aggregate
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> text = label_aggregate(X, y, epsilon=1.0, classes=[0, 1]).to_json()
    >>> aggregate = LabelAggregate.from_json(text)
    >>> aggregate
    LabelAggregate(569 rows, 2 classes, randomized_response, (1, 0)-DP for the label of one row)
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
    weighted: bool = False

    parts = ()
    mechanism = "gaussian"
    # A sum has the smallest number that any of its parts has.
    _smallest: ClassVar[tuple[str, ...]] = ("noise_multiplier",)

    def __post_init__(self):
        for name in _ARRAYS:
            self._set(name, np.array(getattr(self, name), dtype=np.float64))
        check_fields(self, n_rows=check_count, data_norm=_check_norm, bias=_check_bias)
        check_fields(self, epsilon=_check_positive, delta=_check_delta)
        check_fields(self, noise_multiplier=_check_not_negative)
        if self.sensitivity is not None:
            check_fields(self, sensitivity=_check_not_negative)
        for name in _FLAGS:
            self._set(name, check_flag(getattr(self, name), name))
        self._set("classes", np.array(self.classes))
        self._set("names", tuple(self.names))
        if self.feature_names is not None:
            self._set("feature_names", tuple(self.feature_names))
        self._check_fields()
        if math.isfinite(self.epsilon):
            self._check_noise()

    def _check_fields(self):
        if len(self.names) != 1:
            raise ValueError("names must be one, that of a release: sums are made by adding.")
        for name in ("names", "feature_names"):
            if not all(isinstance(word, str) for word in getattr(self, name) or ()):
                raise ValueError(f"{name} must be strings.")
        n_classes, kind = self.classes.size, self.classes.dtype.kind
        words = all(isinstance(label, str) for label in self.classes.flat)
        known = kind in "biufU" or (kind == "O" and words)
        if not known or not np.array_equal(self.classes, np.unique(self.classes)) or n_classes < 2:
            raise ValueError("classes must be 2 or more numbers or strings, sorted, all different.")
        n_columns = self.part_sums.size
        n_sums = n_classes if n_classes > 2 else 1
        for name, length in (("part_sums", 1), ("sums", n_sums), ("noise_cov", n_columns)):
            if getattr(self, name).shape != (length, n_columns):
                raise ValueError(f"{name} must have the shape {(length, n_columns)}.")
            if not np.isfinite(getattr(self, name)).all():
                raise ValueError(f"{name} must be finite.")
        is_symmetric = np.allclose(self.noise_cov, self.noise_cov.T)
        if not is_symmetric or (np.diag(self.noise_cov) < 0.0).any():
            raise ValueError("noise_cov must be a covariance.")
        if self.feature_names is not None and len(self.feature_names) != self.n_features:
            raise ValueError("feature_names must be as many as features.")
        last = self.part_sums[0, -1]
        if self.bias and not math.isclose(last, self.n_rows * self.bias, rel_tol=SAME_SUMS):
            raise ValueError("part_sums must end with n_rows times bias.")

    @np.errstate(all="ignore")
    def _check_noise(self):
        """Refuse noise that can be seen to be too little without a row."""
        needed = calibrate(self.epsilon, self.delta, adjacency="replace_label")
        if not self.noise_multiplier >= needed * (1.0 - 1e-9):
            raise ValueError("noise_multiplier is too small for epsilon and delta.")
        if not self.sensitivity:
            raise TooLittleNoise("sensitivity must be positive.")
        # Some row is no longer in the coordinates of the release than in those of X.
        largest = math.sqrt(np.abs(self.noise_cov).sum(axis=1).max())
        if not LENIENT * largest >= self.noise_multiplier * self.sensitivity:
            raise TooLittleNoise("noise_cov is too small for noise_multiplier and sensitivity.")
        mean = self.part_sums[0] / self.n_rows
        if not self._moves(mean_length(self.noise_cov, mean)) <= LENIENT:
            raise TooLittleNoise("noise_cov is too small for the mean of part_sums.")

    def _moves(self, lengths):
        """Return how far a flip of a row of each length moves the sums, over what noise allows."""
        return lengths * self.noise_multiplier * math.sqrt(2.0 if self.classes.size > 2 else 1.0)

    def _check_rows(self, public):
        """Refuse noise that is too little for a row; in a sum a part must serve it."""
        moves = np.full(public.n_rows, np.inf)
        for part in self.parts or (self,):
            moves = np.fmin(moves, part._moves(row_lengths(public, part.noise_cov)))
            if moves.max() <= LENIENT:
                return
        raise TooLittleNoise("noise_cov is too small for rows of X.")

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
    def share_left(self):
        """Share of the noise of a sum that is left where the sum over all classes is known."""
        return self._plan.share_left

    @property
    def _plan(self):
        return WALRPlan(
            budget=LabelBudget(self.epsilon, self.delta),
            noise_multiplier=self.noise_multiplier,
            n_records=self.n_rows,
            n_columns=self.sums.shape[1],
            n_classes=self.classes.size,
            n_parts=len(self.names),
        )

    @property
    def report(self):
        """The guarantee, a :class:`skdp.accountant.PrivacyReport`."""
        public = [CLASSES_READ if self.classes_read else _CLASSES_DECLARED]
        if self.norm_read:
            public.append(_FEATURES_READ)
        if self.weighted:
            public.append(WEIGHTS_STATED)
        if len(self.names) > 1:
            public.append(_DISJOINT)
        report = self._plan.report(reproducible=self.reproducible, also_public=tuple(public))
        return dataclasses.replace(report, clipping=self.sensitivity)

    def __add__(self, other):
        if not isinstance(other, LabelAggregate):
            return NotImplemented
        for name in ("mechanism", "data_norm", "bias", "feature_names", "n_features", "classes"):
            if not np.array_equal(getattr(self, name), getattr(other, name)):
                raise ValueError(_DIFFERS.format(name))
        if math.isinf(self.epsilon) != math.isinf(other.epsilon):
            raise ValueError("one of the aggregates has no privacy, and other rows than the other.")
        # Columns that were centred have sums of rounding errors.
        reach = _EQUAL * max(self.n_rows, other.n_rows) * max(self.data_norm, self.bias)
        gaps = np.abs(self.part_sums[:, np.newaxis] - other.part_sums)
        alike = (gaps <= reach + _EQUAL * np.abs(other.part_sums)).all(axis=2).any()
        if set(self.names) & set(other.names) or alike:
            raise ValueError("the aggregates have a part in common: records must be disjoint.")
        if self.reproducible and other.reproducible:
            raise ValueError(_SEEDED_TWICE)
        # Made of checked parts, and from left to right, however they were added before.
        parts = (self.parts or (self,)) + (other.parts or (other,))
        of = {name: [getattr(part, name) for part in parts] for name in vars(parts[0])}
        added = {name: sum(of[name]) for name in ("sums", "noise_cov", "n_rows")}
        added |= {name: max(of[name]) for name in ("epsilon", "delta")}
        added |= {name: min(of[name]) for name in self._smallest}
        added |= {name: any(of[name]) for name in _FLAGS}
        added |= {
            "part_sums": np.vstack(of["part_sums"]),
            "sensitivity": self.sensitivity if len(set(of["sensitivity"])) == 1 else None,
            "names": self.names + other.names,
            "parts": parts,
        }
        total = object.__new__(type(self))
        total.__setstate__(vars(self) | added)
        return total

    def __radd__(self, other):
        # For the built-in sum, which starts at 0.
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __repr__(self):
        guarantee = f"({self.epsilon:g}, {self.delta:g})-DP for the label of one row"
        guarantee = f"{guarantee} {self.report.condition}".rstrip()
        size = f"{self.n_rows} rows, {self.classes.size} classes"
        return f"LabelAggregate({size}, {self.mechanism}, {guarantee})"

    def to_json(self):
        """Return the aggregate as JSON, a sum as its parts; numbers are kept to the last bit.

        Returns
        -------
        text : str
            Strict JSON.
        """
        return json.dumps(self._to_content(), allow_nan=False, default=np.ndarray.tolist)

    def _to_content(self):
        if self.parts:
            return {"parts": [part._to_content() for part in self.parts]}
        content = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        content |= {"dtype": self.classes.dtype.str, "mechanism": self.mechanism}
        if math.isinf(self.epsilon):
            content["epsilon"] = "inf"
        return content

    @classmethod
    def _from_content(cls, content):
        if set(content) == {"parts"}:
            parts = [cls._from_content(part) for part in content["parts"]]
            return reduce(operator.add, parts)
        content["classes"] = np.array(content["classes"], dtype=content.pop("dtype"))
        content["epsilon"] = float(content["epsilon"])
        # Texts that name no mechanism were written when there was one.
        return AGGREGATES[content.pop("mechanism", cls.mechanism)](**content)

    @classmethod
    def from_json(cls, text):
        """Return the aggregate that `to_json` wrote.

        Parameters
        ----------
        text : str
            Result of `to_json`.

        Returns
        -------
        aggregate : LabelAggregate

        Raises
        ------
        ValueError
            If it isn't the JSON of an aggregate, or of one with too little noise. Sums without
            their parts, in an older format, can't be checked and are refused.
        """
        problem = "."
        # Other libraries quote the text in their errors, whose words are therefore not passed on.
        try:
            return cls._from_content(json.loads(text))
        except TooLittleNoise as error:
            problem = f": {error}"
        except (TypeError, KeyError, ValueError, OverflowError, RecursionError):
            pass
        raise ValueError("text is not the JSON of a LabelAggregate" + problem)


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ResponseAggregate(LabelAggregate):
    """A `LabelAggregate` of randomised response, for whose fields see there.

    Its guarantee rests on `flip_probability` alone, which must be enough for `epsilon`. The
    covariance of the noise isn't chosen but follows from it and the rows: the square of
    `noise_multiplier`, times the sum of the rows' outer products with themselves. Whoever has the
    rows can compare them.
    """

    flip_probability: float

    mechanism = "randomized_response"
    _smallest: ClassVar[tuple[str, ...]] = ("noise_multiplier", "flip_probability")

    def __post_init__(self):
        self._set("flip_probability", check_real(self.flip_probability, "flip_probability"))
        super().__post_init__()

    @property
    def _plan(self):
        return ResponsePlan(
            budget=LabelBudget(self.epsilon, self.delta),
            flip_probability=self.flip_probability,
            n_records=self.n_rows,
            n_classes=self.classes.size,
            n_parts=len(self.names),
        )

    @np.errstate(all="ignore")
    def _check_noise(self):
        (event,) = self._plan.events
        if not event.epsilon("replace_label") <= self.epsilon * (1.0 + 1e-9):
            raise TooLittleNoise("flip_probability is too small for epsilon.")
        if not math.isclose(self.noise_multiplier, event.noise_multiplier, rel_tol=SAME_SUMS):
            raise ValueError("noise_multiplier must be that of flip_probability.")
        if self.sensitivity is not None:
            raise ValueError("sensitivity must be None where labels were flipped.")
        # A mean of squares is no less than the square of the mean.
        length = mean_length(self.noise_cov, self.part_sums[0] / self.n_rows)
        if not length * self.noise_multiplier * math.sqrt(self.n_rows) <= LENIENT:
            raise TooLittleNoise("noise_cov is too small for the mean of part_sums.")

    def _check_rows(self, public):
        """Refuse a covariance that isn't that of flipped labels of these rows."""
        parts = self.parts or (self,)
        stated = sum(part.noise_cov / part.noise_multiplier**2 for part in parts)
        expected = public.n_rows * public.second_moment
        # Squares of tiny columns underflow.
        sizes = np.sqrt(np.diag(expected)) + 1e-100
        if not (np.abs(stated - expected) <= SAME_SUMS * np.multiply.outer(sizes, sizes)).all():
            raise TooLittleNoise("noise_cov isn't that of flipped labels of the rows of X.")


AGGREGATES = {kind.mechanism: kind for kind in (LabelAggregate, ResponseAggregate)}
