"""How a private estimator shows its guarantee in a notebook."""

import html
import math
from numbers import Real

from skdp.accountant import PrivacyReport
from skdp.utils._sklearn import diagram_box


class UnfoldingReport:
    """scikit-learn's diagram of an estimator with the report of its fit below, to unfold."""

    def _repr_html_inner(self):
        return super()._repr_html_inner() + _unfolding_report(self)

    def _repr_mimebundle_(self, **kwargs):
        bundle = super()._repr_mimebundle_(**kwargs)
        # Only scikit-learn's display="diagram" has it.
        if "text/html" in bundle:
            bundle["text/html"] += _unfolding_report(self)
        return bundle


class CaptionMixin:
    """The guarantee under an estimator's name, also in diagrams of pipelines and searches.

    It is that of the one fit: other fits, such as those of a search, cost what their reports say.
    """

    def _learns(self):
        """Tell whether a fit with these parameters reads the records, and so spends a budget."""
        return True

    def _sk_visual_block_(self):
        return diagram_box(self, _caption(self))


def _report_of(estimator):
    report = getattr(estimator, "privacy_report_", None)
    return report if isinstance(report, PrivacyReport) else None


def _caption(estimator):
    report = _report_of(estimator)
    if report is not None:
        return f"this fit: {_guarantee(report)}"
    if not estimator._learns():
        return "learns nothing, spends nothing"
    epsilon = getattr(estimator, "epsilon", None)
    if not isinstance(epsilon, Real):
        return "not fitted"
    if epsilon == math.inf:
        return "no privacy: epsilon = inf"
    condition = ""
    if getattr(estimator, "random_state", None) is not None:
        condition = " while the seed stays secret"
    return f"each fit spends epsilon = {epsilon}{condition}"


def _guarantee(report):
    if math.isinf(report.epsilon):
        return "no privacy (epsilon = inf)"
    return f"{report!r}, {report.adjacency}"


def _unfolding_report(estimator):
    report = _report_of(estimator)
    if report is None:
        return ""
    return (
        '<details style="margin:0.5em 0"><summary style="cursor:pointer">Privacy of this fit: '
        f"{html.escape(_guarantee(report))}, protects {html.escape(report.unit)}</summary>"
        f"{report._repr_html_()}</details>"
    )
