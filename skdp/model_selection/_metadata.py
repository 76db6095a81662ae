"""Arguments of a search's fit besides rows and labels, and why none of them is taken."""

from sklearn import get_config
from sklearn.utils.metadata_routing import process_routing

_GROUPS = (
    "a search takes no groups: it protects one row. One person moves as many counts of a score as "
    "they have rows, so that scores would need noise for the largest number of rows anybody has. "
    "Keep one row of each person, or choose on other data and fit with groups once."
)
_PERSONAL = (
    "a search takes no sample_epsilon: trials and scores together spend the search's epsilon on "
    "every record, which may be more than a record stated. Choose on other data."
)
_OTHERS = (
    "a search takes no {!r} for its fits: what they release is planned from public numbers before "
    "there is noise, and this may change it. Set it as a parameter of the estimator."
)
_WEIGHTS = (
    "a search takes no public_weight: scores count all records alike. Choose without weights, and "
    "fit the best parameters with them once."
)
_REASONS = {"groups": _GROUPS, "sample_epsilon": _PERSONAL, "public_weight": _WEIGHTS}


def refuse_metadata(search, params):
    """Refuse what candidates' fits would get besides rows and labels.

    Where metadata is routed, scikit-learn's own error comes first if nobody asked for it.

    Parameters
    ----------
    search : estimator
    params : dict

    Raises
    ------
    ValueError
        If there is any that isn't None; its value isn't looked at.
    """
    given = [name for name, value in params.items() if value is not None]
    if not given:
        return
    if get_config()["enable_metadata_routing"]:
        process_routing(search, "fit", **params)
    name = given[0]
    # Of a step of a pipeline.
    raise ValueError(_REASONS.get(name.rpartition("__")[2], _OTHERS.format(name)))
