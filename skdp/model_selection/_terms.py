"""What a search passes on of the model that it chose: above all its terms."""

from collections.abc import Callable

from sklearn.utils.metaestimators import available_if


def has_method(name):
    """Return a check that the model, or the estimator before there is one, has a method."""

    def check(search):
        # Its error is the one to be seen.
        getattr(getattr(search, "best_estimator_", search.estimator), name)
        return True

    return check


class TermsMixin:
    """Terms of the chosen model, and what they add to predictions, if it is an additive one."""

    # The chosen model, once there is one.
    _best: Callable

    @available_if(has_method("explain"))
    def explain(self, X, *, as_frame=False):
        """Return the contribution of each term of the chosen model to the prediction of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        as_frame : bool, default=False
            Whether to return a data frame that also names terms, and has what each row holds.

        Returns
        -------
        contributions : ndarray of shape (n_samples, n_terms) or (n_samples, n_terms, n_outputs)
            In the order of ``terms_``. With `as_frame` a data frame, as the model returns it.

        Raises
        ------
        AttributeError
            If the model has no terms.
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X doesn't fit the estimator; no message quotes an entry of the data.
        """
        return self._best().explain(X, as_frame=as_frame)

    @available_if(has_method("to_frame"))
    def to_frame(self):
        """Return all values of all terms of the chosen model as a data frame of pandas.

        Returns
        -------
        scorecard : DataFrame
            A line for each value, as the model returns it.

        Raises
        ------
        AttributeError
            If the model has no terms.
        NotFittedError
            If the estimator isn't fitted.
        ImportError
            If pandas isn't installed.
        """
        return self._best().to_frame()

    @property
    def terms_(self):
        """Terms of the chosen model, if it is an additive one."""
        return self._best().terms_
