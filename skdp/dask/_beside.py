"""Parts of collections that have an entry for each row, together."""

from functools import partial
from typing import NamedTuple
from uuid import uuid4

from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph


class Beside(NamedTuple):
    """Targets of a part, and what else each of its rows has."""

    targets: object
    # An id of its group for each row.
    groups: object = None
    exposure: object = None


def beside(targets, **others):
    """Return delayed parts of several collections as `Beside`; they have one graph together.

    `others` are lists of parts by their names there.
    """
    name = f"skdp-beside-{uuid4().hex}"
    join = partial(_joined, tuple(others))
    parts = enumerate(zip(targets, *others.values(), strict=True))
    layer = {(name, place): (join, *[one.key for one in part]) for place, part in parts}
    first = [collection[0] for collection in (targets, *others.values())]
    graph = HighLevelGraph.from_collections(name, layer, dependencies=first)
    return [Delayed(key, graph, layer=name) for key in layer]


def _joined(names, targets, *others):
    return Beside(targets, **dict(zip(names, others, strict=True)))
