import os

# One thread per BLAS call from the start: tests share two cores with each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MPLBACKEND", "Agg")
# To import all that a worker needs takes it longer than most tests.
os.environ.setdefault("DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD", "forkserver")

import gc
import inspect
import sys
from pathlib import Path

# To compile the tests takes longer than to import them. Where Python may not keep what it
# compiles, each worker and each process of each run would do it again.
if sys.dont_write_bytecode:
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

import pytest

LONG = Path(__file__).parent / "long"


def pytest_configure(config):
    """Register what tests share, but where they are handed out to other processes."""
    hands_out = config.getoption("numprocesses", None) and not hasattr(config, "workerinput")
    if not hands_out:
        from tests import _fixtures

        config.pluginmanager.register(_fixtures)


def pytest_addoption(parser):
    """Add the options that have more tests collected than the quick ones."""
    parser.addoption("--all-cases", action="store_true", help="all tests, with all their cases")
    parser.addoption(
        "--first-cases",
        action="store_true",
        help="all tests, with the first case of each list, or all with the marker `every`",
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give each process tests that follow one another; one that has ended takes some of another's.

    So fewer kernels are compiled twice, and no process waits for another's last tests. The value
    "load" is what `-n` alone sets.
    """
    if config.getoption("dist") != "load":
        return None
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


def _has_long_tests(config):
    return config.getoption("all_cases") or config.getoption("first_cases")


def pytest_ignore_collect(collection_path, config):
    """Leave out the long tests, but where they are named or all are asked for.

    pytest asks this of nothing that the command names. `pytest tests tests/long` names tests alone:
    pytest leaves out a path within another.
    """
    return True if collection_path == LONG and not _has_long_tests(config) else None


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector, name, obj):
    """Leave out a test that has the marker `long`, but where it or its file is named.

    pytest goes on with an empty list as with a file without the test.
    """
    config = collector.config
    if _has_long_tests(config) or collector.path.is_relative_to(LONG):
        return None
    is_long = inspect.isfunction(obj) and _is_long(getattr(obj, "pytestmark", ()))
    return [] if is_long and not is_named(collector.path, name, config) else None


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc):
    """Leave out the cases of a test that the quick tests lack.

    A test has the first case of each of its lists, or all with the marker `every`, but for cases
    with the marker `long`. Those in tests/long have all cases where they are named. With
    `--first-cases` they have the first as all tests do, and a list of long cases has its first.
    """
    config = metafunc.config
    has_first = config.getoption("first_cases")
    if config.getoption("all_cases"):
        return
    if not has_first and metafunc.definition.path.is_relative_to(LONG):
        return
    has_all = metafunc.definition.get_closest_marker("every")
    parametrize = metafunc.parametrize

    def parametrize_with_few(names, values, *others, ids=None, **options):
        values = list(values)
        kept = [
            place for place, value in enumerate(values) if not _is_long(getattr(value, "marks", ()))
        ]
        if not kept and has_first:
            kept = list(range(len(values)))[:1]
        kept = kept if has_all else kept[:1]
        if ids is not None and not callable(ids):
            ids = list(ids)
            ids = [ids[place] for place in kept]
        parametrize(names, [values[place] for place in kept], *others, ids=ids, **options)

    metafunc.parametrize = parametrize_with_few


def is_named(path, name, config):
    """Return whether the command names a test, or the file that it is in."""
    for argument in config.args:
        file, _, test = argument.partition("::")
        is_of_file = Path(file).resolve() == path.resolve()
        if is_of_file and (not test or name in test.partition("[")[0].split("::")):
            return True
    return False


def _is_long(marks):
    return any(mark.name == "long" for mark in marks)


@pytest.hookimpl(tryfirst=True)
def pytest_collection():
    """Search for no garbage while modules, which stay, are imported."""
    gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish():
    """Search for garbage again. Nothing is frozen: older Hypothesis looks for what refers to it."""
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_unconfigure():
    """Search for garbage now: the interpreter would take seconds for it when it ends."""
    gc.collect()
    gc.freeze()
