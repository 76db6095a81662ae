"""scikit-learn's own tests, read from where it is installed, with our estimators in theirs' place.

A module of tests is run a second time, in a namespace of its own, while the names that it imports
stand for ours. Nothing of it is copied, and what scikit-learn's own tests see is left as it is.
"""

import importlib
import importlib.util
from contextlib import ExitStack
from unittest import mock

import pytest
import sklearn

# The lists of what can't hold name the tests of this version. Others have other tests.
VERSION = "1.9"


def upstream(name, replaced):
    """Return the namespace of a module of scikit-learn's tests with some names replaced.

    `replaced` has what stands for a name, such as "sklearn.linear_model.Ridge", within that module.
    """
    if not sklearn.__version__.startswith(f"{VERSION}."):
        pytest.skip(f"the lists are of scikit-learn {VERSION}'s tests", allow_module_level=True)
    if importlib.util.find_spec("sklearn.tests") is None:
        pytest.skip("scikit-learn is installed without its tests", allow_module_level=True)
    # What it imports for the first time would keep our names, too.
    found = importlib.import_module(name).__spec__
    module = importlib.util.module_from_spec(found)
    with ExitStack() as stack:
        for place, ours in replaced.items():
            stack.enter_context(mock.patch(place, ours))
        found.loader.exec_module(module)
    return {key: value for key, value in vars(module).items() if not key.startswith("__")}
