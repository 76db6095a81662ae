"""Standardisation with private means and variances."""

import math
from numbers import Real

import numpy as np
from sklearn.base import OneToOneFeatureMixin

from skdp._checks import check_feature_bounds, check_positive
from skdp._docs import shared_docs
from skdp._estimator import BUDGET_CONSTRAINTS
from skdp._sklearn import Interval, _fit_context, validate_data
from skdp.preprocessing._base import DTYPES, NumberTransformer
from skdp.preprocessing._bounded import same_bounds
from skdp.preprocessing._plan import linear_edges, plan_scaler
from skdp.preprocessing._solver import scale_columns


@shared_docs
class DPStandardScaler(OneToOneFeatureMixin, NumberTransformer):
    r"""Remove the mean and scale to unit variance, both learnt privately; then clip.

    A value x of column j becomes

    .. math:: \min\bigl(c, \max\bigl(-c, (x - m_j) / s_j\bigr)\bigr)

    with c the parameter `clip`, :math:`m_j` about the mean and :math:`s_j` about the standard
    deviation of the column's bulk. The bounds may be generous: where the records are is found
    first, and mean and deviation are taken there.

    {guarantee:transformer}

    {Parameters: feature_bounds:transformer}
    clip : float, default=3.0
        How many standard deviations from the mean the output may be, a public number. It holds
        for ``epsilon=inf`` too.
    {epsilon, delta, adjacency, ledger, random_state}

    Attributes
    ----------
    mean_ : ndarray of shape (n_features,)
        What is subtracted.
    scale_ : ndarray of shape (n_features,)
        What is divided by; never 0, also of a column of one value.
    norm_bound_ : float
        L2 norm that no row of the output exceeds, up to rounding: ``clip * sqrt(n_features)``.
        Most rows are about ``sqrt(n_features)`` long, which suits an estimator's `data_norm`, with
        :class:`NormClipper` of the same number in between.
    feature_bounds_ : tuple of two ndarrays of shape (n_features,)
        Range of each column of the output, up to rounding: `clip` to both sides of 0.
    {privacy_report_, n_features_in_, feature_names_in_}

    See Also
    --------
    BoundsScaler : Map features from public ranges to a common one, at no cost.
    DPQuantileClipper : Find where most values of each feature are.

    Notes
    -----
    There are two releases. The first is of the columns' distribution functions at 1,023 public
    thresholds, by the square root of the matrix of a running sum [1]_, whose noise grows with the
    logarithm of the number of thresholds only. It says where all but about a hundredth of the
    records on each side are, more where noise hides more. The second is of means and mean squares
    of the values clipped to that range. doc/theory/preprocessing.rst has the proofs.

    {References: papers:counts}

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.preprocessing import DPStandardScaler
    >>> X = np.random.default_rng(0).normal(38.0, 10.0, (5000, 1))
    >>> scaler = DPStandardScaler(feature_bounds=(0, 1000), random_state=0).fit(X)
    >>> scaler.mean_.round(), scaler.scale_.round()
    (array([38.]), array([10.]))
    >>> scaler.privacy_report_
    (1, 1e-05)-DP while the seed stays secret
    """

    _parameter_constraints = {  # noqa: RUF012
        "feature_bounds": ["array-like"],
        "clip": [Interval(Real, 1e-30, 1e30, closed="both")],
        **BUDGET_CONSTRAINTS,
    }

    def __init__(
        self,
        feature_bounds=(-1.0, 1.0),
        *,
        clip=3.0,
        epsilon=1.0,
        delta=1e-5,
        adjacency="zero_out",
        ledger=None,
        random_state=None,
    ):
        self.feature_bounds = feature_bounds
        self.clip = clip
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.ledger = ledger
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None):
        """Learn means and standard deviations privately.

        {Parameters: X:complete, y}

        {Returns: self}

        {Raises: BudgetExceededError, ValueError, TypeError:transformer}
        """
        # 1. scikit-learn's contract
        X = validate_data(self, X, dtype=DTYPES)

        # 2. the solver bounds the data, by ranges that the plan has
        # 3. plan from public numbers
        plan = self._plan(*X.shape)
        clip = check_positive(self.clip, "clip")
        stream = plan.start(self.random_state)

        # 4. solve
        mean, scale = scale_columns(X, plan=plan, noise=stream)

        # 5. publish
        self.mean_, self.scale_ = mean, scale
        self.norm_bound_ = clip * math.sqrt(X.shape[1])
        self.feature_bounds_ = same_bounds(-clip, clip, X.shape[1])
        self.privacy_report_ = plan.report(reproducible=stream.reproducible)
        return self

    def transform(self, X):
        """Standardise and clip the features.

        {Parameters: X:rows}

        Returns
        -------
        X_scaled : ndarray of shape (n_samples, n_features)
            A new array, float32 if X is.

        {Raises: NotFittedError, ValueError:numbers}
        """
        X = self._numbers(X)
        with np.errstate(all="ignore"):
            standard = (X - self.mean_) / self.scale_
        return np.clip(standard, *self.feature_bounds_).astype(X.dtype, copy=False)

    def _plan(self, n_rows, n_features):
        bounds = check_feature_bounds(self.feature_bounds, n_features)
        return plan_scaler(self._budget(), n_rows=n_rows, grid=linear_edges, bounds=bounds)
