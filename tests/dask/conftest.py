import pytest


@pytest.fixture(scope="session", autouse=True)
def _imported():
    """Have workers forked from a process that has imported other packages, but nothing of ours."""
    utils = pytest.importorskip("distributed.utils", reason="needs the extra dask")
    packages = ["dask.dataframe", "distributed", "scipy.stats", "sklearn.linear_model"]
    utils.get_mp_context().set_forkserver_preload(packages)
