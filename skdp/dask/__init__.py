"""Private whitening where the rows are: on clusters, and on data larger than memory.

Needs the extra ``dask``: ``python -m pip install ".[dask]"`` in a copy of the source.
"""

try:
    from skdp.dask._additive import DaskDPAdditiveClassifier, DaskDPAdditiveRegressor
    from skdp.dask._estimators import (
        DaskDPHuberRegressor,
        DaskDPLogisticRegression,
        DaskDPQuantileRegressor,
        DaskDPRidge,
    )
    from skdp.dask._generalized import (
        DaskDPGammaRegressor,
        DaskDPPoissonRegressor,
        DaskDPTweedieRegressor,
    )
    from skdp.dask._labels import label_aggregate
    from skdp.dask._table import transform
    from skdp.dask._transformers import fit
except ModuleNotFoundError as error:
    raise ImportError(
        f"skdp.dask needs {error.name}, which isn't installed: in a copy of the source of skdp, "
        "python -m pip install '.[dask]'"
    ) from error

__all__ = [
    "DaskDPAdditiveClassifier",
    "DaskDPAdditiveRegressor",
    "DaskDPGammaRegressor",
    "DaskDPHuberRegressor",
    "DaskDPLogisticRegression",
    "DaskDPPoissonRegressor",
    "DaskDPQuantileRegressor",
    "DaskDPRidge",
    "DaskDPTweedieRegressor",
    "fit",
    "label_aggregate",
    "transform",
]
