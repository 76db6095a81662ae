"""What skops must trust to load fitted estimators."""

from skdp import accountant, linear_model, model_selection
from skdp.accountant._selection_event import RELEASES
from skdp.calibration import (
    DPCalibratedClassifier,
    DPConformalClassifier,
    DPConformalRegressor,
)
from skdp.pipeline import DPPipeline
from skdp.utils.discovery import all_estimators

__all__ = ["trusted_types"]

_OTHERS = (
    DPCalibratedClassifier,
    DPConformalClassifier,
    DPConformalRegressor,
    DPPipeline,
    model_selection.DPGridSearch,
    model_selection.DPRandomizedSearch,
    linear_model.LabelAggregate,
    accountant.PrivacyReport,
    *RELEASES,
)
# Fitted ones keep these for themselves.
_INSIDE = (
    "skdp.additive._products.BasisWithProducts",
    "skdp.additive._products.BoundedCurve",
    "skdp.additive._products.ProductTerm",
    "skdp.additive._shapes.ShapeTerm",
    "skdp.linear_model.dpsgd._base._Stream",
    "skdp.linear_model.walr._aggregate.ResponseAggregate",
    "skdp.pipeline._chain.PassedBounds",
    "skdp.preprocessing._bounded._Map",
    "skdp.preprocessing.table._given.CountedWords",
    "skdp.preprocessing.table._terms.Basis",
    "skdp.preprocessing.table._terms.HatsTerm",
    "skdp.preprocessing.table._terms.LineTerm",
    "skdp.preprocessing.table._terms.PairTerm",
    "skdp.preprocessing.table._terms.WordsTerm",
)


def trusted_types():
    """List the types of this package that :func:`skops.io.load` must trust.

    A skops file is data and not a program, unlike a pickle: what it names beyond the types that
    skops knows is loaded only where it is trusted. All of these hold numbers, texts and each other,
    and run nothing when they are loaded.

    Returns
    -------
    types : list of str
        Full names, sorted: of estimators, aggregates of labels, reports and their releases. Not of
        ``skdp.ledger.PrivacyLedger``, so that no file brings an open one.

    Raises
    ------
    ImportError
        If a part of this package can't be imported.

    Notes
    -----
    A ledger that is a path is a string, which skops loads unasked: a parameter `ledger` is what the
    file's writer made it, and decides where your next fit is charged. The weights and the report of
    a stream are the writer's too. Of a stranger's file set ``ledger`` before you fit, and don't go
    on with a stream by ``partial_fit``.

    Examples
    --------
    >>> from skdp.utils.persistence import trusted_types
    >>> "skdp.linear_model.whitened._estimators.DPRidge" in trusted_types()
    True

    With skops::

        model = skops.io.load("model.skops", trusted=trusted_types())
    """
    kinds = [*(kind for _, kind in all_estimators()), *_OTHERS]
    return sorted([*_INSIDE, *(f"{kind.__module__}.{kind.__qualname__}" for kind in kinds)])
