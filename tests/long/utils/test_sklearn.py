"""Long tests beside the quick ones of `tests/utils/test_sklearn.py`."""

import os
import subprocess
import sys
import textwrap

import pytest

from tests.utils.test_sklearn import library_of


@pytest.mark.parametrize("library", ["array_api_strict", "torch"])
def test_real_arrays_are_refused_under_real_dispatch(library):
    """Another process, because SciPy reads its switch when it is imported."""
    library_of(library)
    script = f"""
        import numpy, sklearn, {library} as xp
        from skdp.linear_model import DPSCDClassifier
        X = numpy.linspace(-1, 1, 60).reshape(20, 3)
        y = numpy.arange(20) % 2
        DPSCDClassifier().fit(xp.asarray(X), xp.asarray(y))
        try:
            sklearn.set_config(array_api_dispatch=True)
        except ImportError:
            print("no dispatch")
        else:
            for arguments in ((xp.asarray(X), y), (X, xp.asarray(y))):
                try:
                    DPSCDClassifier().fit(*arguments)
                except TypeError as error:
                    print("y" if "or set array_api_dispatch=False" in str(error) else error)
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        env=os.environ | {"SCIPY_ARRAY_API": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
    )
    if run.stdout == "no dispatch\n":
        pytest.skip("scikit-learn 1.6 needs array_api_compat for it")
    assert run.stdout.split() == ["y", "y"], run.stderr
