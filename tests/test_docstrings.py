"""Public docstrings: numpydoc, complete, with examples that run."""

import doctest
import inspect
from importlib import import_module
from pathlib import Path

import pytest
from numpydoc.validate import validate

import skdp

PUBLIC = [
    "skdp.accountant",
    "skdp.audit",
    "skdp.exceptions",
    "skdp.inspection",
    "skdp.linear_model",
    "skdp.plotting",
    "skdp.preprocessing",
    "skdp.utils.discovery",
    "skdp.utils.estimator_checks",
]
# EX01: an example where it helps. SA01, SA04: See Also where there is something to see.
# ES01: an extended summary where there is something to add. GL08 is for members we inherit.
# SS06: scikit-learn's own one-line form.
IGNORED = {"EX01", "SA01", "SA04", "ES01", "SS06", "GL01", "GL03", "RT02"}


def public_names():
    for module in map(import_module, PUBLIC):
        for name in module.__all__:
            value = getattr(module, name)
            yield f"{module.__name__}.{name}"
            if inspect.isclass(value):
                for member, inner in vars(value).items():
                    is_method = inspect.isfunction(inner) or isinstance(inner, classmethod)
                    if not member.startswith("_") and is_method:
                        yield f"{module.__name__}.{name}.{member}"


@pytest.mark.parametrize("name", public_names())
def test_docstring_is_valid_numpydoc(name):
    errors = [error for error in validate(name)["errors"] if error[0] not in IGNORED]
    assert not errors


def test_estimators_state_objective_guarantee_and_source():
    from skdp.utils.discovery import all_estimators

    for _, estimator in all_estimators("private"):
        text = inspect.getdoc(estimator)
        for part in ("Minimises", "**Guarantee.**", "References\n", "privacy_report_", ".. math::"):
            assert part in text


@pytest.mark.parametrize(
    "path", sorted(Path(skdp.__file__).parent.rglob("*.py")), ids=lambda path: path.stem
)
def test_examples_run(path):
    parts = path.relative_to(Path(skdp.__file__).parents[1]).with_suffix("").parts
    if "plotting" in parts:
        pytest.importorskip("matplotlib")
    module = import_module(".".join(parts).removesuffix(".__init__"))
    assert doctest.testmod(module).failed == 0
