"""Private whitening where the rows are: on clusters, and on data larger than memory.

Needs the extra ``dask``: ``pip install "skdp[dask]"``.
"""

from skdp.dask._estimators import DaskDPLogisticRegression, DaskDPRidge
from skdp.dask._labels import label_aggregate

__all__ = ["DaskDPLogisticRegression", "DaskDPRidge", "label_aggregate"]
