"""Long tests beside the quick ones of `tests/site/test_docstrings.py`."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest
from numpydoc.validate import validate

import skdp
from tests._loops import for_each
from tests.site.test_docstrings import public_names

# EX01: an example where it helps. SA01, SA04: See Also where there is something to see.
# ES01: an extended summary where there is something to add. GL08 is for members we inherit.
# SS06: scikit-learn's own one-line form.
IGNORED = {"EX01", "SA01", "SA04", "ES01", "SS06", "GL01", "GL03", "RT02"}


@for_each("name", list(public_names()))
def test_docstring_is_valid_numpydoc(name):
    errors = [error for error in validate(name)["errors"] if error[0] not in IGNORED]
    assert not errors


@pytest.mark.parametrize(
    "path", sorted(Path(skdp.__file__).parent.rglob("*.py")), ids=lambda path: path.stem
)
def test_examples_run(path):
    parts = path.relative_to(Path(skdp.__file__).parents[1]).with_suffix("").parts
    if "plotting" in parts:
        pytest.importorskip("matplotlib")
    if "onnx" in parts:
        pytest.importorskip("skl2onnx")
    module = import_module(".".join(parts).removesuffix(".__init__"))
    assert doctest.testmod(module).failed == 0
