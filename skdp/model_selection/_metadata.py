"""Arguments of candidates' fits that a search refuses, each with what to do instead."""

from sklearn import get_config
from sklearn.utils.metadata_routing import process_routing

_REASONS = {
    "groups": "groups are given to the search, which passes them on: fit(X, y, groups=ids).",
    "sample_epsilon": "a search takes no sample_epsilon: trials and scores together spend the "
    "search's epsilon on every record, maybe more than it stated. Choose on other data.",
    "public_weight": "a search takes no public_weight: scores count all records alike. Choose "
    "without weights, and fit the best parameters with them once.",
    "exposure": "a search takes no exposure: scores are of counts, and not of rates. Choose "
    "parameters by other data, and fit them with exposures once.",
}
_OTHERS = (
    "a search takes no {!r} for its fits: what they release is planned from public numbers before "
    "there is noise, and this may change it. Set it as a parameter of the estimator."
)


def refuse_metadata(search, params):
    """Refuse what candidates' fits would get besides rows and labels.

    Where metadata is routed, scikit-learn's own error comes first if nobody asked for it. Of a
    value this looks only at whether it is None.
    """
    given = [name for name, value in params.items() if value is not None]
    if not given:
        return
    if get_config()["enable_metadata_routing"]:
        process_routing(search, "fit", **params)
    name = given[0]
    # The argument of a pipeline's step has the step's name before its own.
    raise ValueError(_REASONS.get(name.rpartition("__")[2], _OTHERS.format(name)))
