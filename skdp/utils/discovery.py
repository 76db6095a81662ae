"""Lists of the estimators of skdp."""

from importlib import import_module
from inspect import getmembers, isclass

from sklearn.base import BaseEstimator, is_classifier, is_regressor

__all__ = ["all_estimators"]

_PUBLIC_MODULES = ("skdp.additive", "skdp.linear_model", "skdp.preprocessing")
_FILTERS = {
    "classifier": is_classifier,
    "regressor": is_regressor,
    "transformer": lambda estimator: hasattr(estimator, "transform"),
    "private": lambda estimator: "epsilon" in estimator.get_params(),
}


def all_estimators(type_filter=None):
    """List the estimator classes of skdp.

    Parameters
    ----------
    type_filter : {"classifier", "regressor", "transformer", "private"}, default=None
        Kind of estimators to list; "private" are those that spend a privacy budget. None lists all.

    Returns
    -------
    estimators : list of (str, type)
        Names and classes, sorted by name.

    Raises
    ------
    ValueError
        If `type_filter` is none of these.

    Examples
    --------
    >>> from skdp.utils.discovery import all_estimators
    >>> [name for name, _ in all_estimators("transformer") if name.startswith("DPS")]
    ['DPSimpleImputer', 'DPStandardScaler']
    """
    if type_filter is not None and type_filter not in _FILTERS:
        raise ValueError(f"type_filter must be one of {sorted(_FILTERS)}, got {type_filter!r}.")
    members = []
    for module in map(import_module, _PUBLIC_MODULES):
        public = [one for one in getmembers(module, isclass) if one[0] in module.__all__]
        members += [one for one in public if issubclass(one[1], BaseEstimator)]
    if type_filter is not None:
        members = [member for member in members if _FILTERS[type_filter](member[1]())]
    return sorted(members)
