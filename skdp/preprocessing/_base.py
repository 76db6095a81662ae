"""What private transformers share."""

from sklearn.base import TransformerMixin

from skdp._estimator import RecordPrivateEstimator


class PrivateTransformer(TransformerMixin, RecordPrivateEstimator):
    """A transformer that learns from the records it protects.

    Subclasses have `_plan`, which makes the plan of a fit from the numbers of rows and features.
    What a fitted one promises of its output, whatever rows it gets, is public: ``norm_bound_``, an
    L2 norm that no row exceeds, and ``feature_bounds_``, a pair of arrays of shape (n_outputs,)
    with the range of each column.
    """
