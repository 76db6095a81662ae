"""Which of scikit-learn's tests run on ours, and what is made of those that can't hold."""

import tomllib
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from tests.long.upstream import _adapters

# Of each list of cases: scikit-learn has thousands, many of which differ in what ours hasn't.
MOST_CASES = 3
# The same of searches, each of which fits many models.
MOST_SEARCHES = 1
HERE = Path(__file__).parent
LISTS = {
    path.stem: tomllib.loads(path.read_text(encoding="utf-8"))
    for path in HERE.glob("listed/*.toml")
}


def pytest_configure(config):
    config.addinivalue_line("markers", "thread_unsafe: of scikit-learn's tests")


@pytest.fixture
def global_random_seed():
    """scikit-learn's tests are certified for it."""
    return 42


@pytest.fixture
def global_dtype():
    """scikit-learn's tests take this one, but where they are asked for others."""
    return np.float64


@pytest.fixture
def pyplot():
    """Matplotlib, without figures before a test and after it."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.close("all")
    yield pyplot
    pyplot.close("all")


def _contents(value):
    if isinstance(value, tuple | list):
        return [one for part in value for one in _contents(part)]
    return [value]


def _is_ours(value):
    kinds = [one if isinstance(one, type) else type(one) for one in _contents(value)]
    kinds = [kind for kind in kinds if issubclass(kind, BaseEstimator)]
    return None if not kinds else any(kind.__module__ == _adapters.__name__ for kind in kinds)


def pytest_generate_tests(metafunc):
    """Leave out cases of other estimators beside cases of ours, and all solvers but one.

    Ours has one solver, so that cases which differ in it are the same.
    """
    parametrize = metafunc.parametrize
    is_of_searches = metafunc.definition.path.stem == "test_search"
    most = MOST_SEARCHES if is_of_searches else MOST_CASES

    def parametrize_with_ours(names, values, *others, ids=None, **options):
        values = list(values)
        of_ours = [_is_ours(getattr(value, "values", value)) for value in values]
        kept = [place for place, is_ours in enumerate(of_ours) if is_ours is not False]
        if True not in of_ours:
            kept = list(range(len(values)))
        kept = kept[: 1 if names in ("solver", ["solver"]) else most]
        if ids is not None and not callable(ids):
            ids = list(ids)
            ids = [ids[place] for place in kept]
        parametrize(names, [values[place] for place in kept], *others, ids=ids, **options)

    metafunc.parametrize = parametrize_with_ours


def _matches(name, patterns):
    # Brackets are of names of cases, and not of sets of characters.
    return any(
        fnmatchcase(name.replace("[", "("), pattern.replace("[", "("))
        or name.startswith(f"{pattern}[")
        for pattern in patterns
    )


def pytest_collection_modifyitems(config, items):
    """Mark what can't hold, and leave out what isn't of ours or takes too long for each change."""
    kept, left_out = [], []
    for item in items:
        listed = LISTS.get(item.path.stem) if item.path.parent == HERE else None
        if listed is None:
            kept.append(item)
            continue
        slow = [] if config.getoption("all_cases") else listed["nightly"]
        if _matches(item.name, [*listed["of_others"], *slow]):
            left_out.append(item)
            continue
        # What scikit-learn's code warns of is for its own tests to tell.
        item.add_marker(pytest.mark.filterwarnings("default"), append=False)
        for entry in listed["cannot_hold"]:
            if _matches(item.name, entry["tests"]):
                item.add_marker(pytest.mark.xfail(strict=True, reason=entry["why"]))
        kept.append(item)
    config.hook.pytest_deselected(items=left_out)
    items[:] = kept


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    _adapters.FITS.clear()
    result = yield
    if item.path.stem in LISTS and not _adapters.FITS:
        pytest.fail("it passes, and has fitted nothing of ours: list it under of_others")
    return result
