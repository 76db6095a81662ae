"""What estimators have in common that fit a private one inside, with noisy counts beside it."""

from sklearn.base import MetaEstimatorMixin

from skdp._estimator import PrivateEstimator, RecordPrivateEstimator, fits_of, model_of
from skdp._rows.numbers import validate_numbers
from skdp._sklearn import validate_table

_IN_PARTITIONS = (
    "estimator is fitted to partitions, and {around} reads records in memory: take an estimator of "
    "skdp.linear_model or skdp.additive{instead}, got {got}."
)


def refuse_partitions(estimator, around, instead=""):
    """Refuse an estimator of `skdp.dask`, which takes no rows in memory; say what to do instead."""
    got = type(model_of(estimator))
    if got.__module__.startswith("skdp.dask."):
        around = type(around).__name__
        text = _IN_PARTITIONS.format(around=around, instead=instead, got=got.__name__)
        raise ValueError(text)


class AroundPrivate(MetaEstimatorMixin, RecordPrivateEstimator):
    """An estimator around a private one, which it fits and publishes as `estimator_`.

    Subclasses have `_check_estimator`, which refuses estimators that they can't be around.
    """

    # A parameter of the constructors of subclasses.
    estimator: object

    def set_params(self, **params):
        """Set parameters of this estimator and of the one inside.

        A new ledger is also set in the fitted estimator inside: another fit of it is charged there.

        Parameters
        ----------
        **params : dict
            Values by name, those of the estimator inside as in ``estimator__alpha``.

        Returns
        -------
        self : object
            This estimator.

        Raises
        ------
        ValueError
            If there is no such parameter.
        """
        # A frozen estimator inside keeps what it has.
        if "ledger" in params and isinstance(vars(self).get("estimator_"), PrivateEstimator):
            self.estimator_.set_params(ledger=params["ledger"])
        return super().set_params(**params)

    @property
    def _reads_raw(self):
        return getattr(self.estimator, "_reads_raw", False)

    def _read(self, X, *y, reset=True, **checks):
        """Return rows as the estimator inside takes them, and labels or targets if given."""
        if not self._reads_raw:
            return validate_numbers(self, X, *y, reset=reset, **checks)
        return validate_table(self, X, *y, reset=reset, **checks)

    def _assumed(self):
        return getattr(self, "estimator_", self.estimator)._assumed()

    def _refitted(self):
        inside = self.estimator_
        # Each fit makes an estimator of its own, before it publishes anything.
        fits = fits_of(inside)
        if fits.count != 1 or fits.number > fits_of(self).number:
            return ("estimator_",)
        return tuple(f"estimator___{path}" for path in inside._refitted())

    def _open_parts(self):
        self._check_estimator()
        return self.estimator._open_parts()
