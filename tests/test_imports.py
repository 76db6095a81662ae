"""What importing a package of skdp brings with it."""

import subprocess
import sys

import pytest

import skdp


def modules_after(package):
    """Return the names of all modules of a new process that imported a package."""
    code = f"import sys, {package}; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(found.stdout.split())


def test_linear_models_bring_no_other_models_nor_what_is_slow_to_import():
    modules = modules_after("skdp.linear_model")
    others = ("additive", "audit", "calibration", "inspection", "pipeline", "statistics")
    assert not modules & {f"skdp.{name}" for name in others}
    assert not modules & {"dp_accounting", "matplotlib", "numba", "sklearn.impute"}


def test_packages_are_imported_when_they_are_used():
    assert "skdp.linear_model" not in modules_after("skdp")
    for name in skdp.__all__:
        assert getattr(skdp, name) is not None
        assert name in dir(skdp)
    with pytest.raises(AttributeError, match="module 'skdp' has no attribute 'nothing'"):
        skdp.nothing  # noqa: B018


FIRST = """
import importlib, sys

for name in {names}:
    for module in [name for name in sys.modules if name.split(".")[0] == "skdp"]:
        del sys.modules[module]
    importlib.import_module(f"skdp.{{name}}")
    print(name)
"""


@pytest.mark.long
def test_each_package_may_be_the_first_to_be_imported():
    names = [name for name in skdp.__all__ if not name.startswith("_")]
    code = [sys.executable, "-c", FIRST.format(names=names)]
    found = subprocess.run(code, capture_output=True, text=True, check=True)
    assert found.stdout.split() == names
