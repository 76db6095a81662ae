"""The reference: its tables of what estimators support are what fits do, and it lists all pages."""

import inspect
import json
import math
import re
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import is_classifier

from skdp.pipeline import DPPipeline
from skdp.utils.discovery import all_estimators
from tests._listed import LINEAR, suited

DOC = Path(__file__).parents[2] / "doc"
KINDS = ("classifier", "regressor")
PREDICTORS = [estimator for kind in KINDS for _, estimator in all_estimators(kind)]
N_ROWS = 60
# Questions whose answers are more than yes or no.
LOSS, PENALTY, PURE = "``loss``", "``penalty``", "pure epsilon, by ``mechanism``"
DASK = ":doc:`Dask <../large_data>`"


@pytest.fixture(scope="module")
def extension():
    pytest.importorskip("sphinx")
    pytest.importorskip("dask")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(DOC / "_ext"), *sys.path])
        yield import_module


@pytest.fixture(scope="module")
def told(extension):
    """What the tables say: by estimator and question."""
    found = {}
    module = extension("capabilities")
    for kind in KINDS:
        estimators, asked = module.answers(kind)
        for i, one in enumerate(estimators):
            found[one] = {title: row[i] for title, row in asked.items()}
            # Rows without any are left out.
            found[one] = {title: found[one].get(title, module.NO) for title in module.ROWS}
    return found


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(-0.5, 0.5, (N_ROWS, 3))
    return X, (X[:, 0] + 0.1 * rng.standard_normal(N_ROWS) > 0).astype(int)


def make(estimator, **parameters):
    if not is_classifier(estimator()):
        parameters["target_bounds"] = (0, 1)
    return estimator(**parameters)


def works(call):
    """What a table says of something that is done, or refused as what isn't there."""
    try:
        call()
    except (TypeError, ValueError, AttributeError):
        return "–"
    return "yes"


def each_half(X):
    return np.full(len(X), 0.5)


# By a part of the question: what may be given, and what `fit` may be given.
OPTIONS = {
    "class_weight": {"class_weight": {0: 1.0, 1: 2.0}},
    "inference": {"inference": True},
    "n_jobs": {"n_jobs": 2},
}
ARGUMENTS = {
    "public_weight": each_half,
    "groups": lambda X: np.arange(len(X)) // 2,
    "sample_epsilon": each_half,
}


@pytest.mark.filterwarnings("ignore:no step bounds", "ignore:the size of the targets")
@pytest.mark.parametrize("estimator", PREDICTORS)
def test_tables_say_what_fits_take(estimator, told, data):
    X, y = data[0], suited(estimator(), data[1])

    asked = {"protects", LOSS, PENALTY, PURE, DASK, "ONNX"}

    def answer(word):
        (title,) = (title for title in told[estimator] if word in title)
        asked.add(title)
        return told[estimator][title]

    for name, parameters in OPTIONS.items():
        assert answer(name) == works(lambda some=parameters: make(estimator, **some).fit(X, y))
    pure = {"mechanism": "laplace"} if "laplace" in told[estimator][PURE] else {}
    for name, values in ARGUMENTS.items():
        model, argument = make(estimator, **pure), {name: values(X)}
        assert answer(name) == works(lambda fit=model.fit, more=argument: fit(X, y, **more))
    three, two = np.arange(N_ROWS) % 3, np.column_stack([y, y])
    outputs = three if is_classifier(estimator()) else two
    assert answer("more than two") == works(lambda: make(estimator).fit(X, outputs))
    assert answer("sparse rows") == works(lambda: make(estimator).fit(csr_array(X), y))
    first = [[0, 1]] if is_classifier(estimator()) else []
    assert answer("partial_fit") == works(lambda: make(estimator, **pure).partial_fit(X, y, *first))
    steps = [("model", make(estimator))]
    assert answer("DPPipeline") == works(lambda: DPPipeline(steps).fit(X, y))
    for name, value in (("positive", True), ("coef_bounds", (-1, 1))):
        done = works(lambda limit={name: value}: make(estimator, **limit).fit(X, y))
        assert (name in answer("limits of coefficients")) == (done == "yes")
    assert asked >= set(told[estimator])


@pytest.mark.filterwarnings("ignore:the size of the targets")
@pytest.mark.parametrize("estimator", [one for one in PREDICTORS if one in LINEAR])
def test_tables_say_what_is_minimised(estimator, told, data):
    X, y = data[0], suited(estimator(), data[1])
    losses = told[estimator][LOSS].split(", ")
    assert ("log_loss" in losses) == hasattr(estimator(), "predict_proba")
    alone = losses[0] in ("poisson", "gamma", "tweedie", "pinball") or losses == ["huber"]
    assert ("squared_error" in losses) != (is_classifier(estimator()) or alone)
    if "loss" in estimator().get_params():
        for loss in ("log_loss", "hinge", "squared_error", "huber"):
            done = works(lambda loss=loss: make(estimator, loss=loss).fit(X, y))
            assert (loss in losses) == (done == "yes")
    penalties = told[estimator][PENALTY].split(", ")
    if "penalty" in estimator().get_params():
        for penalty in ("l1", "l2", "elasticnet"):
            done = works(lambda penalty=penalty: make(estimator, penalty=penalty).fit(X, y))
            assert (penalty in penalties) == (done == "yes")
    else:
        strong = make(estimator, alpha=0.1, epsilon=math.inf).fit(X, y)
        assert (np.count_nonzero(strong.coef_) < X.shape[1]) == (penalties != ["l2"])
    assert ("elasticnet" in penalties) == ("l1_ratio" in estimator().get_params())


@pytest.mark.filterwarnings("ignore:no step bounds", "ignore:the size of the targets")
@pytest.mark.parametrize("estimator", PREDICTORS)
def test_tables_say_what_is_promised(estimator, told, data):
    X, y = data[0], suited(estimator(), data[1])
    pure = told[estimator][PURE]
    ways = {"–": {}, '``"laplace"``': {"mechanism": "laplace"}, "``delta=0``": {"delta": 0}}
    report = make(estimator, **ways[pure]).fit(X, y).privacy_report_
    assert (report.delta == 0) == (pure != "–")
    if pure == "–":
        assert works(lambda: make(estimator, delta=0).fit(X, y)) == "–"
    units = [report.unit]
    if "groups" in inspect.signature(estimator.fit).parameters:
        by_group = make(estimator).fit(X, y, groups=np.arange(N_ROWS) // 2)
        units.append(by_group.privacy_report_.unit)
    short = {"one row": "a row", "one group": "a group", "the label of one row": "a row's label"}
    assert told[estimator]["protects"] == ", or ".join(short[unit] for unit in units)
    by_dask = re.search(r"skdp\.dask\.(\w+)", told[estimator][DASK])
    if by_dask is not None:
        assert hasattr(import_module("skdp.dask"), by_dask[1])


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:the size of the targets")
def test_models_become_onnx(told, data):
    skl2onnx = pytest.importorskip("skl2onnx")
    pytest.importorskip("skdp.onnx")
    X = data[0].astype(np.float32)
    for estimator, says in told.items():
        model = make(estimator).fit(data[0], suited(estimator(), data[1]))
        assert says["ONNX"] == works(lambda model=model: skl2onnx.to_onnx(model, X[:1]))


def test_every_page_of_the_reference_is_in_the_list(extension):
    module = extension("everything")
    for path in (DOC / "api").glob("*.rst"):
        if path.stem != "index":
            _, names = module.listed(path)
            lines = module.section(path)
            assert set(names) <= {line.strip() for line in lines}
            assert f"   {names[0]}" in lines


def test_versions_of_the_site():
    """A list that the theme reads, with links that hold on any host."""
    versions = json.loads((DOC / "_static" / "switcher.json").read_text(encoding="utf-8"))
    assert sum(one.get("preferred", False) for one in versions) <= 1
    for one in versions:
        assert set(one) <= {"version", "name", "url", "preferred"}
        assert re.fullmatch(r"/[\w.]+/", one["url"])


@pytest.mark.parametrize("kind", KINDS)
def test_estimators_that_share_a_column_have_its_answers(extension, told, kind):
    module = extension("capabilities")
    listed = []
    for group, shown in module.columns(kind):
        listed += group
        for estimator in group:
            for title, answer in shown.items():
                assert told[estimator][title] in answer
                if title not in (LOSS, PENALTY, DASK):
                    assert told[estimator][title] == answer
    assert sorted(one.__name__ for one in listed) == [name for name, _ in all_estimators(kind)]
