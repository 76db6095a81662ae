"""Public docstrings: numpydoc, complete, with examples that run."""

import doctest
import inspect
import pydoc
import re
import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path

import pytest
from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import validate
from sklearn.base import BaseEstimator
from sklearn.utils._testing import assert_docstring_consistency

import skdp
from skdp.utils.discovery import all_estimators
from tests._listed import PRIVATE, TRANSFORMERS
from tests._loops import for_each

PUBLIC = [
    "skdp.accountant",
    "skdp.additive",
    "skdp.audit",
    "skdp.calibration",
    "skdp.dask",
    "skdp.exceptions",
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


@pytest.mark.long
@for_each("name", list(public_names()))
def test_docstring_is_valid_numpydoc(name):
    errors = [error for error in validate(name)["errors"] if error[0] not in IGNORED]
    assert not errors


def test_delta_bounds_a_probability():
    """The loss may exceed epsilon with less."""
    for name in public_names():
        text = inspect.getdoc(pydoc.locate(name))
        for entry in re.findall(r"^delta : float or .*\n((?:    .*\n?)+)", text, re.MULTILINE):
            assert "that the loss may exceed `epsilon`" in " ".join(entry.split()), name


# They have nothing to refuse.
CANNOT_FAIL = {"AuditResult", "LargeDeltaWarning", "PrivacyWarning", "mu", "sample"}
CANNOT_FAIL |= {"scaled_to_group", "categories"}
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


# Classes, by their first letters, whose text of a parameter or attribute is their own for a reason:
# a method's own meaning, choice or sentence. Those of one entry share a text, as do all others.
CLASSIFIERS = (
    "DPLogisticRegression",
    "DPSCDClassifier",
    "DPCDClassifier",
    "DPSGDClassifier",
    "WALRClassifier",
)
REGRESSORS = ("DPSCDRegressor", "DPCDLasso", "DPCDElasticNet", "DPSGDRegressor")
NUMBERS = ("DPQuantileClipper", "DPStandardScaler")
LEARNT = ["NormClipper", "DPNorm", *NUMBERS, "DPSimpleImputer"]
WHITENED = ("DPLogisticRegression", "DPRidge")
GENERALIZED = ("DPGammaRegressor", "DPPoissonRegressor", "DPTweedieRegressor")
ROBUST = ("DPHuberRegressor", "DPQuantileRegressor")
WITH_MOMENTUM = (*GENERALIZED, *ROBUST)
LIKE_WHITENED = (*WHITENED, *WITH_MOMENTUM)
TABLES = ("DPTable", "DPAdditive")
ADDITIVE = ("DPAdditiveClassifier", "DPAdditiveRegressor")
DIFFERENCES = {
    "accountant": ["DPCD", "DPSGD"],
    "alpha": [
        GENERALIZED,
        ROBUST,
        "DPAdditiveClassifier",
        "DPAdditiveRegressor",
        *CLASSIFIERS,
        ("DPRidge", "DPSCDRegressor"),
        *REGRESSORS[1:],
    ],
    "average": ["DPSGD", "WALR", LIKE_WHITENED],
    "batch_size": ["DPSGD", "WALR"],
    "batch_size_": ["DPSGD"],
    "categories": ["DPOneHotEncoder", TABLES],
    "categories_": ["DPTable"],
    "class_weight": ["DPLogisticRegression"],
    "clipping_norm": [
        GENERALIZED,
        ROBUST,
        "DPCDClassifier",
        "DPCD",
        "DPSGDClassifier",
        "DPSGDRegressor",
        WHITENED,
    ],
    "clipping_norm_": ["DPCD", "DPSGD", LIKE_WHITENED],
    "coef_": [GENERALIZED, ("DPRidge", *REGRESSORS, *ROBUST)],
    "coef_bounds": ["DPCDClassifier"],
    "data_norm": [
        "DPCD",
        LIKE_WHITENED,
        ("DPSCDRegressor", "DPSGDRegressor"),
        "NormClipper",
        "WALR",
    ],
    "ball_budget": [LIKE_WHITENED, "DPSCD", "DPSGD", "DPCD"],
    "delta": ["DPSGD", "WALR"],
    "eta0": ["WALR"],
    "feature_bounds": ["BoundsScaler", "DPSCD", NUMBERS, "DPSimpleImputer", TABLES],
    "feature_bounds_": [*LEARNT, "DPOneHotEncoder", "DPTable"],
    "fit_intercept": [
        "DPCDClassifier",
        ("DPCDElasticNet", "DPCDLasso"),
        ("DPRidge", "DPSCDRegressor", "DPSGDRegressor", *WITH_MOMENTUM),
        "WALR",
    ],
    "intercept_": [GENERALIZED, *ADDITIVE, ("DPRidge", *REGRESSORS, *ROBUST)],
    "huber_threshold": ["DPHuberRegressor"],
    "l1_ratio": ["DPCDElasticNet"],
    "loss": ["DPAdditive", REGRESSORS],
    "max_iter": [WITH_MOMENTUM, "DPCDClassifier", "DPCD", "DPSGD", "WALR", *WHITENED],
    "mechanism": ["WALR"],
    "n_iter_": ["DPSGD", "WALR", LIKE_WHITENED],
    "n_jobs": [(*LIKE_WHITENED, "DPAdditive")],
    "norm_bound_": [*LEARNT, ("DPOneHotEncoder", "DPTable")],
    "quantile": ["DPQuantileRegressor"],
    "random_state": ["DPSGD"],
    "scale_": [(*LIKE_WHITENED, "DPSCD", "DPSGD", "DPCD")],
    "smoothness": ["DPCDClassifier"],
    "solver": ["WALR"],
    "step_size": [GENERALIZED, ROBUST, *WHITENED],
    "momentum": [WITH_MOMENTUM],
    "momentum_": [WITH_MOMENTUM],
    "target_bounds_": [GENERALIZED],
    "step_size_": [LIKE_WHITENED],
    "target_bounds": [
        GENERALIZED,
        ROBUST,
        "DPCD",
        ("DPRidge", "DaskDPRidge"),
        "DPAdditiveRegressor",
    ],
}


@cache
def documented(section):
    """Classes by the name of what a section of their docstring describes."""
    found = {}
    for _, estimator in all_estimators():
        for name, *_ in NumpyDocString(inspect.getdoc(estimator))[section]:
            found.setdefault(name, []).append(estimator)
    return found


TOLD = [(part, name) for part in ("Parameters", "Attributes") for name in documented(part)]


def test_differences_are_of_names_that_exist():
    assert set(DIFFERENCES) <= {name for _, name in TOLD}


@pytest.mark.long
@for_each("section, name", TOLD)
def test_one_name_has_one_text_but_where_it_differs_for_a_reason(section, name):
    rest, groups = documented(section)[name], []
    for letters in DIFFERENCES.get(name, ()):
        groups.append([one for one in rest if one.__name__.startswith(letters)])
        rest = [one for one in rest if one not in groups[-1]]
    groups += [rest] if rest else []
    option = {"Parameters": "include_params", "Attributes": "include_attrs"}[section]
    for group in groups:
        assert_docstring_consistency(group, **{option: [name]})
    for one, other in combinations(groups, 2):
        with pytest.raises(AssertionError, match=name):
            assert_docstring_consistency([one[0], other[0]], **{option: [name]})


@pytest.mark.long
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
