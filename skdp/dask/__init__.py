"""Private whitening where the rows are: on clusters, and on data larger than memory.

Needs the extra ``dask``: ``pip install "skdp[dask]"``.
"""

from skdp.dask._estimators import DaskDPLogisticRegression, DaskDPRidge
from skdp.dask._labels import label_aggregate
from skdp.dask._map import transform

__all__ = ["DaskDPLogisticRegression", "DaskDPRidge", "label_aggregate", "transform"]
