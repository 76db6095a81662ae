"""What tests use of the private modules of `skdp.dask`, which needs the extra `dask`.

See `door.py`, which has those of all other rooms.
"""

from skdp.dask import (
    _labels as labels_module,
    _partitioned as partitioned_module,
    _parts as parts_module,
    _pinned as pinned_module,
    _tables as tables_module,
)
from skdp.dask._beside import Beside
from skdp.dask._clients import CHANGED, RowsChangedError
from skdp.dask._estimators import Reader, reader_of as reader_by
from skdp.dask._groups import read_groups
from skdp.dask._parts import (
    KeyedDigest,
    PartitionSpec,
    RejectedPartition,
    _rows,
    answer,
    own_part,
    place_part,
)
from skdp.dask._passes import passes
from skdp.dask._table import parts_of_frame, read_table
from skdp.dask._tables import RawTable, TableReader


def reader_of(model):
    """Return the `Reader` of a model whose parameters stay as they are."""
    return reader_by(model, model._method(), model._family())
