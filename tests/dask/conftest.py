import pytest


@pytest.fixture(scope="session", autouse=True)
def _imported():
    """Have processes of workers forked from one that has imported what they need."""
    utils = pytest.importorskip("distributed.utils", reason="needs the extra dask")
    utils.get_mp_context().set_forkserver_preload(["dask.dataframe", "distributed", "skdp.dask"])
