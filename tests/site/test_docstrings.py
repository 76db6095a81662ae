"""Public docstrings: numpydoc, complete, with examples that run."""

import doctest
import inspect
import pydoc
import sys
from importlib import import_module
from pathlib import Path

import pytest
from numpydoc.validate import validate
from sklearn.base import BaseEstimator

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
                for member, inner in inspect.getmembers(value, inspect.isroutine):
                    ours = str(getattr(inner, "__module__", "")).startswith("skdp.")
                    if ours and not member.startswith("_"):
                        yield f"{module.__name__}.{name}.{member}"


@pytest.mark.parametrize("name", public_names())
def test_docstring_is_valid_numpydoc(name):
    errors = [error for error in validate(name)["errors"] if error[0] not in IGNORED]
    assert not errors


# They have nothing to refuse.
CANNOT_FAIL = {"AuditResult", "PrivacyWarning", "mu", "scaled_to_group"}
CANNOT_FAIL |= {"to_dict", "to_json", "to_text"}


@pytest.mark.parametrize("name", public_names())
def test_docstring_has_errors_and_examples(name):
    *path, last = name.split(".")
    value = pydoc.locate(name)
    text = inspect.getdoc(value)
    # Estimators check their parameters in fit, and displays what they are made from.
    only_stores = inspect.isclass(value) and (
        issubclass(value, BaseEstimator) or last.endswith("Display")
    )
    if last not in CANNOT_FAIL and not only_stores:
        assert "\nRaises\n------\n" in text
    if pydoc.locate(".".join(path)) is sys.modules.get(".".join(path)):
        assert "\nExamples\n--------\n" in text, "an object of a module shows how it is used"


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
