from tests.dask.conftest import _imported
