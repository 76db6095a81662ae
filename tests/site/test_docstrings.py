"""Public docstrings: numpydoc, complete, with examples that run."""

import inspect
import pydoc
import re
import shutil
import sys
from importlib import import_module
from importlib.util import find_spec

import pytest
from sklearn.base import BaseEstimator

from tests._listed import PRIVATE, TRANSFORMERS
from tests._loops import for_each
from tests.site import shared_texts

PUBLIC = [
    "skdp.accountant",
    "skdp.additive",
    "skdp.audit",
    "skdp.calibration",
    "skdp.dask",
    "skdp.exceptions",
    "skdp.extend",
    "skdp.inspection",
    "skdp.ledger",
    "skdp.linear_model",
    "skdp.metrics",
    "skdp.model_selection",
    "skdp.pipeline",
    "skdp.plotting",
    "skdp.preprocessing",
    "skdp.statistics",
    "skdp.utils.discovery",
    "skdp.utils.estimator_checks",
    "skdp.utils.persistence",
]
if find_spec("skl2onnx") is not None:
    PUBLIC.append("skdp.onnx")


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


def test_delta_bounds_a_probability():
    """The loss may exceed epsilon with less."""
    for name in public_names():
        text = inspect.getdoc(pydoc.locate(name))
        for entry in re.findall(r"^delta : float or .*\n((?:    .*\n?)+)", text, re.MULTILINE):
            assert "that the loss may exceed `epsilon`" in " ".join(entry.split()), name


# They have nothing to refuse.
CANNOT_FAIL = {"AuditResult", "LargeDeltaWarning", "PrivacyWarning", "mu", "sample"}
CANNOT_FAIL |= {"scaled_to_group", "categories", "FitRun", "Sizes"}
CANNOT_FAIL |= {"to_dict", "to_json", "to_local", "to_markdown", "to_text", "PrivateDescription"}


@for_each("name", list(public_names()))
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
    for estimator in PRIVATE:
        text = inspect.getdoc(estimator)
        for part in ("**Guarantee.**", "References\n", "privacy_report_", ".. math::"):
            assert part in text
        assert "Minimises" in text or estimator in TRANSFORMERS


@pytest.mark.long
def test_what_several_docstrings_say_of_one_name_is_the_same():
    """Where it differs for a reason, shared_texts.toml says so; shared_texts.py copies a text."""
    assert not list(shared_texts.disagreements(shared_texts.all_texts(), shared_texts.read_table()))


@pytest.mark.long
def test_a_text_that_drifts_is_found_and_copied_to_all_that_share_it(tmp_path):
    root = tmp_path / "skdp"
    shutil.copytree(shared_texts.ROOT / "linear_model", root / "linear_model")
    path = root / "linear_model" / "whitened" / "_estimators.py"
    before = path.read_text(encoding="utf-8")
    drifted = before.replace("Threads that share a sum over all rows", "Threads for a sum", 1)
    path.write_text(drifted, encoding="utf-8")
    families = shared_texts.read_table()

    def disagreeing():
        texts = [text for text in shared_texts.all_texts(root) if text.name == "n_jobs"]
        return [
            sentence
            for sentence in shared_texts.disagreements(texts, families)
            if sentence.startswith("Parameters, n_jobs: linear_model.")
        ]

    assert "linear_model.DPLogisticRegression differs" in " ".join(disagreeing())
    changed = shared_texts.copy_text("linear_model.DPRidge", "n_jobs", root)
    assert "linear_model.DPPoissonRegressor" in changed
    assert not disagreeing()
    for path in (root / "linear_model").rglob("*.py"):
        assert max(map(len, path.read_text(encoding="utf-8").splitlines()), default=0) <= 100
