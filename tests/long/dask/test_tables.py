"""Long tests beside the quick ones of `tests/dask/test_tables.py`."""

import numpy as np
import pandas as pd
import pytest

from tests.door import CountsByBin

pytest.importorskip("distributed", reason="needs the extra dask")
import dask.array
import dask.dataframe
from distributed import Client, LocalCluster

from tests.dask.test_tables import (
    COLUMNS,
    PLACES,
    cuts_of,
    in_parts,
    parts_of,
    put,
    table,
    targets_of,
    twin_of,
    untyped,
)
from tests.door_dask import (
    partitioned_module as _sums,
    pinned_module as _pinned,
    tables_module as _tables,
)


@pytest.fixture(scope="module")
def cluster():
    options = {"threads_per_worker": 2, "dashboard_address": ":0", "processes": True}
    with LocalCluster(n_workers=2, **options) as made:
        yield made


def test_workers_that_lost_rows_decide_the_kinds_again(untyped, table, monkeypatch):
    _, model = twin_of("binary")
    with dask.config.set({"dataframe.convert-string": False}):
        X, y = in_parts(untyped), in_parts(pd.Series(targets_of("binary", table), name="y"))
    expected = model.fit(X, y).explain(untyped)
    ask, lost = _sums.PartitionedRows.ask, []

    def then_lost(self, query):
        # Half of what is pinned, once the kinds are decided.
        for key in list(_pinned._PINNED)[::2] if isinstance(query, CountsByBin) else ():
            del _pinned._PINNED[key]
            lost.append(key)
        return ask(self, query)

    monkeypatch.setattr(_sums.PartitionedRows, "ask", then_lost)
    options = {"threads_per_worker": 2, "dashboard_address": ":0", "processes": False}
    with LocalCluster(n_workers=2, **options) as made, Client(made) as client:
        model.set_params(client=client).fit(X, y)
    assert lost
    np.testing.assert_array_equal(model.explain(untyped), expected)


@pytest.mark.parametrize("where", ["here", "cluster"])
@pytest.mark.parametrize("kind", ["binary", "no noise"])
def test_the_bits_are_the_same_wherever_rows_lie(kind, where, table, request, monkeypatch):
    _, model = twin_of(kind)
    X, y = parts_of(table, targets_of(kind, table))
    expected = model.fit(X, y).explain(table[COLUMNS])
    client = Client(request.getfixturevalue("cluster")) if where == "cluster" else None
    for place in ["memory"] if client else PLACES:
        put(monkeypatch, place)
        model.set_params(client=client, n_jobs=2).fit(X, y)
        np.testing.assert_array_equal(model.explain(table[COLUMNS]), expected)
    if client:
        found = model.predict(X).compute()
        np.testing.assert_array_equal(found, model.predict(table[COLUMNS]))
        client.close()


class _Usage:
    free = 4e5


@pytest.mark.parametrize("where", ["here", "workers"])
@pytest.mark.parametrize("by_group", [False, True])
def test_columns_for_which_there_is_no_room_are_made_anew(by_group, where, table, monkeypatch):
    """Where the raw rows have room: the bits are the same."""
    _, model = twin_of("binary")
    cuts = cuts_of(table)
    X, y = parts_of(table, targets_of("binary", table), divisions=cuts)
    ids = in_parts(table.person, cuts) if by_group else None
    expected = model.fit(X, y, groups=ids).explain(table[COLUMNS])
    held = []

    def of_mapped(kept, original=_tables.of_mapped):
        held.append(kept)
        return original(kept)

    for module in (_pinned, _tables):
        monkeypatch.setattr(module, "of_mapped", of_mapped)
    if where == "workers":
        options = {"threads_per_worker": 2, "dashboard_address": ":0", "processes": False}
        with LocalCluster(n_workers=2, **options) as made, Client(made) as client:
            model.set_params(client=client).fit(X, y, groups=ids)
            assert len(held) == len(cuts) + 1
            held.clear()
            has_room = _pinned._has_room
            monkeypatch.setattr(
                _pinned, "_has_room", lambda w, k: k.table.basis is None and has_room(w, k)
            )
            model.fit(X, y, groups=ids)
    else:
        monkeypatch.setattr(_sums, "_memory_for_rows", lambda: 0)
        monkeypatch.setattr(_sums.shutil, "disk_usage", lambda path: _Usage)
        model.fit(X, y, groups=ids)
    assert len(held) < len(cuts)
    np.testing.assert_array_equal(model.explain(table[COLUMNS]), expected)
