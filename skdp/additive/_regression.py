"""Additive models of targets."""

from sklearn.base import RegressorMixin

from skdp._docs import shared_docs
from skdp._estimator import is_private
from skdp._sklearn import StrOptions, quietly
from skdp.additive._estimators import CONSTRAINTS, BaseAdditive
from skdp.linear_model import DPGammaRegressor, DPPoissonRegressor, DPRidge

_OF_LOSS = {"squared_error": DPRidge, "poisson": DPPoissonRegressor, "gamma": DPGammaRegressor}


@shared_docs
class DPAdditiveRegressor(RegressorMixin, BaseAdditive):
    r"""Additive ridge regression of a raw table.

    Predicts

    .. math:: \beta_0 + \sum_j f_j(x_j) ,

    in which a term :math:`f_j` is a curve for a column of numbers, and a value for each word of a
    column of words; or with another `loss` than the first, the exponential of this sum. Minimises
    half the mean squared error, or deviance, with `alpha` times half the squared coefficients.
    Curves are straight between knots. Knots, words, missing entries and the range of y are learnt
    from the records within the budget, so no ranges, categories or fill values need to be given.
    The model is `DPRidge`, `DPPoissonRegressor` or `DPGammaRegressor` on the columns of a
    `DPTableVectorizer`.

    **Guarantee.** The fitted attributes are (`epsilon`, `delta`)-differentially private for one row
    (its features and its targets) under `adjacency`, for any data, whatever the other parameters;
    of a fit with `groups` for one group, which is all rows of a person.
    What is assumed public and what is not covered is listed in ``privacy_report_``.

    Parameters
    ----------
    alpha : float, default=1e-4
        Strength of the L2 penalty, on columns centred and scaled; see `DPRidge`.
    {interactions, monotonic_cst, knots:table, categories:table, kinds:table}
    loss : {"squared_error", "poisson", "gamma"}, default="squared_error"
        Squared error, or the deviance of counts and of amounts that may be 0, or of amounts above
        0. With a deviance, the terms multiply predictions: terms, intercept and `explain` are on
        the scale of logarithms.
    {epsilon, delta, adjacency, features_budget, feature_bounds:table}
    target_bounds : pair of floats (low, high), default=None
        Public range of y. Targets beyond it are clipped to it. None learns a range of most targets,
        wherever they lie, from a share of the model's part of the budget; for counts and amounts it
        learns their mean and size.
    {n_jobs:whitened, ledger, random_state}

    Attributes
    ----------
    {target_bounds_, terms_}
    intercept_ : float or ndarray of shape (n_outputs,)
        The mean of the sum of all terms and the constant under the released counts.
    {feature_importances_, term_importances_, privacy_report_, n_features_in_, feature_names_in_}

    See Also
    --------
    DPAdditiveClassifier : The same for labels.
    skdp.preprocessing.DPTableVectorizer : The columns alone.

    Notes
    -----
    See the notes of `DPAdditiveClassifier`.

    References
    ----------
    .. [1] Hastie and Tibshirani (1986). Generalized additive models. Statistical Science 1 (3).

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.additive import DPAdditiveRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, (5000, 1))
    >>> y = 100 + 20 * np.sin(X[:, 0]) + rng.standard_normal(5000)
    >>> model = DPAdditiveRegressor(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _one_curve = "monotonic_cst is for one target: fit one model for each."
    _parameter_constraints = {  # noqa: RUF012
        **CONSTRAINTS,
        "loss": [StrOptions(set(_OF_LOSS))],
        "target_bounds": ["array-like", None],
    }

    def __init__(
        self,
        alpha=1e-4,
        *,
        interactions=None,
        monotonic_cst=None,
        knots="auto",
        categories="auto",
        numeric_features=None,
        categorical_features=None,
        loss="squared_error",
        epsilon=1.0,
        delta="auto",
        adjacency="zero_out",
        features_budget="auto",
        feature_bounds=None,
        target_bounds=None,
        n_jobs=None,
        ledger=None,
        random_state=None,
    ):
        self.alpha = alpha
        self.interactions = interactions
        self.monotonic_cst = monotonic_cst
        self.knots = knots
        self.categories = categories
        self.numeric_features = numeric_features
        self.categorical_features = categorical_features
        self.loss = loss
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.features_budget = features_budget
        self.feature_bounds = feature_bounds
        self.target_bounds = target_bounds
        self.n_jobs = n_jobs
        self.ledger = ledger
        self.random_state = random_state

    def _checks_of_targets(self):
        return {"multi_output": self._is_linear(), "y_numeric": True}

    def _is_linear(self):
        """Return whether predictions are sums of terms, and not exponentials of them."""
        return self.loss == "squared_error"

    def _check_targets(self, y):
        self._linear()._check_targets(y)

    def _set_told(self, model, told):
        """Publish what a linear model was told of y."""
        self.target_bounds_ = model.target_bounds_

    def _linear(self):
        return _OF_LOSS[self.loss](target_bounds=self.target_bounds, **self._of_linear())

    def predict(self, X):
        """Predict targets, clipped to ``target_bounds_``.

        {Parameters: X:rows}

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Predicted targets, in the units of the training targets.

        {Raises: NotFittedError, ValueError:X}
        """
        matrix = self._matrix(X)
        return self._model.predict(matrix)

    def score(self, X, y, sample_weight=None):
        """Return R2, or D2 of the deviance that is minimised. Computed without noise: not private.

        {Parameters: X:rows}
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            True targets.
        {sample_weight}

        Returns
        -------
        score : float
            R2 of the predictions, or D2 with another `loss` than squared errors.

        {Raises: NotFittedError, ValueError:X_y}
        """
        if not self._is_linear():
            return self._model.score(self._matrix(X), y, sample_weight)
        return quietly(super().score, X, y, sample_weight)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = is_private(self)
        tags.target_tags.multi_output = self._is_linear()
        tags.target_tags.positive_only = not self._is_linear()
        return tags
