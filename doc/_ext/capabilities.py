"""A directive that asks the estimators what they support, so that the table can't go stale.

.. code-block:: rst

    .. capabilities:: classifier
"""

import importlib.util
import inspect
import re

from sklearn.utils import get_tags
from sphinx.util.docutils import SphinxDirective

import skdp.dask
from skdp._estimator import RecordPrivateEstimator
from skdp.utils.discovery import all_estimators

NO = "–"
LOSS, PENALTY = "``loss``", "``penalty``"
DASK = ":doc:`Dask <../large_data>`"
ZERO_WIDTH_SPACE = "\N{ZERO WIDTH SPACE}"


def _parameters(estimator):
    return estimator().get_params(deep=False)


def _options(estimator, parameter):
    kinds = estimator._parameter_constraints.get(parameter, ())
    return sorted(set().union(*(kind.options for kind in kinds)))


def _yes(answer):
    return "yes" if answer else NO


def _has(parameter):
    return lambda estimator: _yes(parameter in _parameters(estimator))


def _fit_takes(argument):
    return lambda estimator: _yes(argument in inspect.signature(estimator.fit).parameters)


def _unit(estimator):
    if "adjacency" not in _parameters(estimator):
        return "a row's label"
    return "a row, or a group" if _fit_takes("groups")(estimator) == "yes" else "a row"


_OF_ONE_LOSS = {
    "DPPoissonRegressor": "poisson",
    "DPGammaRegressor": "gamma",
    "DPTweedieRegressor": "tweedie",
    "DPHuberRegressor": "huber",
    "DPQuantileRegressor": "pinball",
}


def _losses(estimator):
    given = "log_loss" if hasattr(estimator(), "predict_proba") else "squared_error"
    given = _OF_ONE_LOSS.get(estimator.__name__, given)
    return ", ".join(_options(estimator, "loss") or [given])


def _penalties(estimator):
    given = "elasticnet" if "l1_ratio" in _parameters(estimator) else "l2"
    if estimator.__name__ == "DPCDLasso":
        given = "l1"
    return ", ".join(_options(estimator, "penalty") or [given])


def _limits(estimator):
    found = [name for name in ("positive", "coef_bounds") if name in _parameters(estimator)]
    return ", ".join(f"``{name}``" for name in found) or NO


def _several_outputs(estimator):
    tags = get_tags(estimator())
    kind = tags.classifier_tags
    return _yes(tags.target_tags.multi_output if kind is None else kind.multi_class)


def _pure(estimator):
    mechanisms = _options(estimator, "mechanism")
    if "laplace" in mechanisms:
        return '``"laplace"``'
    return "``delta=0``" if "randomized_response" in mechanisms else NO


def _on_dask(estimator):
    name = f"Dask{estimator.__name__}"
    if name in skdp.dask.__all__:
        return f":class:`yes <skdp.dask.{name}>`"
    if hasattr(estimator, "fit_aggregate"):
        return ":func:`yes <skdp.dask.label_aggregate>`"
    return NO


# What is asked, in reStructuredText, and who answers.
ROWS = {
    "protects": _unit,
    LOSS: _losses,
    PENALTY: _penalties,
    "limits of coefficients": _limits,
    "pure epsilon, by ``mechanism``": _pure,
    "more than two classes, or one target": _several_outputs,
    ":doc:`sparse rows <../user_guide/sparse>`": lambda kind: _yes(
        get_tags(kind()).input_tags.sparse
    ),
    ":doc:`public_weight <../user_guide/weights>` of rows": _fit_takes("public_weight"),
    ":doc:`class_weight <../user_guide/weights>`": _has("class_weight"),
    ":doc:`groups <../people>`: several rows of one person": _fit_takes("groups"),
    "``sample_epsilon`` of each row": _fit_takes("sample_epsilon"),
    "``partial_fit``: streams": lambda kind: _yes(hasattr(kind, "partial_fit")),
    ":doc:`inference <../inference>`: intervals": _has("inference"),
    "``n_jobs``: threads": _has("n_jobs"),
    "steps of a :doc:`DPPipeline <../pipeline>`": lambda kind: _yes(
        issubclass(kind, RecordPrivateEstimator)
    ),
    DASK: _on_dask,
}
# It is the same for all of them, once there is such a module.
if importlib.util.find_spec("skdp.onnx"):
    ROWS["ONNX"] = lambda kind: _yes(hasattr(kind, "predict"))


def answers(kind):
    """Return the classifiers or regressors, and what each of them answers by question."""
    estimators = [estimator for _, estimator in all_estimators(kind)]
    asked = {title: [ask(one) for one in estimators] for title, ask in ROWS.items()}
    return estimators, {title: row for title, row in asked.items() if set(row) != {NO}}


def columns(kind):
    """Return groups of estimators, with their answers by question.

    Those that differ in nothing but the loss, the penalty and the name of their twin on Dask share
    a column, which lists all of these.
    """
    estimators, asked = answers(kind)
    shared = [row for title, row in asked.items() if title not in (LOSS, PENALTY, DASK)]
    groups = {}
    for i in range(len(estimators)):
        alike = (asked[DASK][i] == NO, *(row[i] for row in shared))
        groups.setdefault(alike, []).append(i)
    found = []
    for places in groups.values():
        told = {
            title: ", ".join(dict.fromkeys(row[i] for i in places)) for title, row in asked.items()
        }
        found.append(([estimators[i] for i in places], told))
    return found


def _linked(estimator):
    """Return a link to an estimator, whose long name may break before its kind."""
    module = ".".join(estimator.__module__.split(".")[:2])
    name = estimator.__name__
    shown = re.sub(r"(?<=\w)(?=Classifier|Regress|ElasticNet)", ZERO_WIDTH_SPACE, name)
    return f":class:`{shown} <{module}.{name}>`"


def lines(kind):
    """Return a table of what the estimators of a kind support, and what all of them do."""
    _, asked = answers(kind)
    groups = columns(kind)
    rows = [["Support for", *(", ".join(map(_linked, group)) for group, _ in groups)]]
    # Names of losses may break after an underscore, which would make a link of what is before it.
    rows += [
        [title, *(told[title].replace("_", rf"\_{ZERO_WIDTH_SPACE}") for _, told in groups)]
        if title in (LOSS, PENALTY)
        else [title, *(told[title] for _, told in groups)]
        for title, row in asked.items()
        if set(row) != {"yes"}
    ]
    found = [".. list-table::", "   :header-rows: 1", "   :stub-columns: 1"]
    found += ["   :class: capabilities", ""]
    for row in rows:
        found += [f"   {'* ' if i == 0 else '  '}- {cell}" for i, cell in enumerate(row)]
    common = "; ".join(title for title, row in asked.items() if set(row) == {"yes"})
    return [*found, "", f"All of them: {common}."]


class Capabilities(SphinxDirective):
    """The table of what the classifiers, or the regressors, support."""

    required_arguments = 1

    def run(self):
        """Make the table."""
        return self.parse_text_to_nodes("\n".join(lines(self.arguments[0])))


def setup(app):
    """Register the directive."""
    app.add_directive("capabilities", Capabilities)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
