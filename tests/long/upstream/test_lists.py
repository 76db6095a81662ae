"""The lists of what isn't run and of what can't hold name tests that there are, each once."""

from fnmatch import fnmatchcase

import pytest

from tests.long.upstream._load import upstream
from tests.long.upstream.conftest import HERE, LISTS

MODULES = {
    "test_calibration": "sklearn.tests.test_calibration",
    "test_glm": "sklearn.linear_model._glm.tests.test_glm",
    "test_logistic": "sklearn.linear_model.tests.test_logistic",
    "test_pipeline": "sklearn.tests.test_pipeline",
    "test_ridge": "sklearn.linear_model.tests.test_ridge",
    "test_search": "sklearn.model_selection.tests.test_search",
}


@pytest.mark.every
@pytest.mark.parametrize("name", MODULES)
def test_each_entry_names_a_test(name):
    assert (HERE / f"{name}.py").exists()
    listed, there = LISTS[name], upstream(MODULES[name], {})
    entries = [test for entry in listed["cannot_hold"] for test in entry["tests"]]
    for patterns in (listed["of_others"], listed["nightly"], entries):
        assert len(patterns) == len(set(patterns))
        for pattern in patterns:
            assert any(fnmatchcase(one, pattern.split("[")[0]) for one in there), pattern
    assert all(entry["kind"] and entry["why"] for entry in listed["cannot_hold"])


def test_each_list_is_of_a_module():
    assert LISTS.keys() == MODULES.keys()
