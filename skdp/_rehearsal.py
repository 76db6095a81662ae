"""Fits that end where they would be charged: what they refuse is refused before anything is."""

import warnings

from sklearn.base import clone

from skdp.ledger._account import REHEARSAL, Rehearsed


def rehearse(estimator, X, y, groups=None, **settings):
    """Fit a copy of a private estimator up to its charge, silently; its errors are raised.

    A fit reads its input and plans before it is charged, and only then there is noise. So nothing
    is released, and the copy is forgotten. `settings` are parameters of the copy that differ.
    """
    copy = clone(estimator).set_params(ledger=REHEARSAL, random_state=None, **settings)
    given = {} if groups is None else {"groups": groups}
    with warnings.catch_warnings(action="ignore"):
        try:
            copy.fit(X, y, **given)
        except Rehearsed:
            return
