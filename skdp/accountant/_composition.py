"""The guarantee of several fits on the same records together."""

import dataclasses
import math

from skdp.accountant import _profile
from skdp.accountant._events import common_value, total
from skdp.accountant._report import PrivacyReport
from skdp.accountant._selection_event import merged_releases


def compose(reports):
    """Joint guarantee of several fits on the same records.

    Parameters
    ----------
    reports : iterable of PrivacyReport or None
        Reports with the same adjacency and unit. The choice of records for each fit must not depend
        on the data: fits on stratified folds can't be composed. None is the report of a step that
        learns nothing, and adds nothing.

    Returns
    -------
    report : PrivacyReport
        Its delta is the sum of the deltas; its epsilon is that of all releases together at that
        delta, computed from their events. It may be above the sum of the epsilons, mostly by less
        than 0.1 %, and by more where noise differs by orders of magnitude or only Renyi divergences
        can compute it. Where Renyi divergences were requested and loss distributions can compute it
        too, epsilon is the sum if that is smaller, but never below what loss distributions give.

    Raises
    ------
    TypeError
        If anything other than reports is given.
    ValueError
        If there is no report, the adjacencies or units differ, a report states less than its events
        give, or more than one fit was made with a seed: composition needs independent noise, and
        equal seeds give equal noise.

    References
    ----------
    .. [1] Zhu, Dong and Wang (2022). Optimal accounting of differential privacy via characteristic
       function. AISTATS. Theorem 10: dominating pairs compose adaptively.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from skdp.accountant import compose
    >>> from skdp.linear_model import DPCDClassifier
    >>> X, y = make_classification(n_samples=1000, n_features=4, random_state=0)
    >>> fits = [DPCDClassifier(epsilon=0.5, classes=[0, 1]).fit(X, y) for _ in range(2)]
    >>> joint = compose([fit.privacy_report_ for fit in fits])
    >>> round(joint.epsilon, 2), joint.delta
    (0.69, 2e-05)
    """
    try:
        reports = tuple(report for report in reports if report is not None)
    except TypeError:
        raise TypeError("reports must be a list of reports.") from None
    if not reports:
        raise ValueError("reports must hold at least one report.")
    if not all(isinstance(report, PrivacyReport) for report in reports):
        raise TypeError("reports must be instances of PrivacyReport.")
    # They are checked anew: one that was unpickled, or changed behind a frozen object's back, never
    # was.
    reports = tuple(dataclasses.replace(report) for report in reports)
    for name in ("adjacency", "unit"):
        if common_value(getattr(report, name) for report in reports) is None:
            raise ValueError(f"reports must all have the same {name}.")
    if sum(report.reproducible for report in reports) > 1:
        raise ValueError(
            "fits made with a seed may share their noise, and then nothing is guaranteed for them "
            "together; fit with random_state=None."
        )
    delta = math.fsum(report.delta for report in reports)
    if delta >= 1:
        raise ValueError("the deltas of the reports add up to 1 or more: nothing is guaranteed.")
    events, names = merged_releases(
        pair
        for report in reports
        for pair in zip(report.events, report.names or ("",) * len(report.events), strict=True)
    )
    methods = {report.accountant for report in reports} - {"analytic", "basic"}
    joint = dataclasses.replace(
        reports[0],
        epsilon=math.inf,
        delta=delta,
        events=events,
        names=names,
        clipping=common_value(report.clipping for report in reports),
        accountant="rdp" if methods == {"rdp"} else "pld",
        accountant_version=None,
        skdp_version=None,
        assumed_public=_union(report.assumed_public for report in reports),
        not_covered=_union(report.not_covered for report in reports),
        unprotected=_union(report.unprotected for report in reports),
        notes=_numbered_notes(reports),
        released=_all_released(reports),
        reproducible=any(report.reproducible for report in reports),
    )
    # A reader who doesn't know the single fits can compute this much again.
    least = _profile.least_epsilon(joint.events, joint.adjacency, joint.accountant, delta)
    apart = max(total(report.epsilon for report in reports), least)
    return dataclasses.replace(joint, epsilon=min(joint.epsilon_at(delta), apart))


def _numbered_notes(reports):
    """Notes of single fits, which say nothing of all of them together."""
    if len(reports) == 1:
        return reports[0].notes
    return tuple(
        f"of fit {number} of {len(reports)} alone: {note}"
        for number, report in enumerate(reports, start=1)
        for note in report.notes
    )


def _all_released(reports):
    """Say what was released in all fits, "" where the events say it."""
    if not any(report.released for report in reports):
        return ""
    return ", then ".join(report.released or report.event for report in reports)


def _union(groups):
    return tuple(dict.fromkeys(item for group in groups for item in group))
