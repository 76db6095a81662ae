"""What every private estimator is: a guarantee, where it is charged, and what copies of it hold.

It is also what one that is inside another keeps of its settings.
"""

import contextlib
import copy
import html
import inspect
import itertools
import math
import warnings
import weakref
from numbers import Real
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.metaestimators import available_if

from skdp._callbacks import CallbackSupportMixin, are_callbacks_known, refuse_reading
from skdp._checks import check_is_object
from skdp._progress import showing_nothing
from skdp._release.plan import Budget, GroupBudget, resolve_delta, unprotected_names
from skdp._sklearn import Interval, StrOptions, diagram_box, forget_owner
from skdp.accountant import PrivacyReport
from skdp.exceptions import PrivacyWarning, warn_user
from skdp.ledger._account import (
    LEDGER_CONSTRAINT,
    REHEARSAL,
    Rehearsed,
    is_same_ledger,
    named_ledger,
    resolve_account,
)


def report_of(estimator):
    """Return the report of an estimator's fit, or None where there is none."""
    report = getattr(estimator, "privacy_report_", None)
    return report if isinstance(report, PrivacyReport) else None


def _caption(estimator):
    report = report_of(estimator)
    if report is not None:
        return f"this fit: {_guarantee(report)}"
    if not estimator._learns():
        return "learns nothing, spends nothing"
    epsilon = getattr(estimator, "epsilon", None)
    if not isinstance(epsilon, Real):
        return "not fitted"
    if epsilon == math.inf:
        return "no privacy: epsilon = inf"
    seeded = getattr(estimator, "random_state", None) is not None
    condition = " while the seed stays secret" if seeded else ""
    return f"each fit spends epsilon = {epsilon}{condition}"


def captioned_box(estimator):
    """Return the box of an estimator in diagrams of pipelines and searches: its guarantee is below.

    It is that of the one fit: other fits, such as those of a search, cost what their reports say.
    """
    return diagram_box(estimator, _caption(estimator))


def _guarantee(report):
    if math.isinf(report.epsilon):
        return "no privacy (epsilon = inf)"
    return f"{report!r}, {report.adjacency}"


def _unfolding_report(estimator):
    report = report_of(estimator)
    if report is None:
        return ""
    return (
        '<details style="margin:0.5em 0"><summary style="cursor:pointer">Privacy of this fit: '
        f"{html.escape(_guarantee(report))}, protects {html.escape(report.unit)}</summary>"
        f"{report._repr_html_()}</details>"
    )


_SEED_IN_COPY = (
    "This {} was fitted with a seed, and the copy holds it as random_state: anyone who has it can "
    "remove the noise. Publish a fit that was made with random_state=None."
)
# Every private estimator has these parameters.
BUDGET_CONSTRAINTS = {
    "epsilon": [Interval(Real, 0, None, closed="right")],
    "delta": [Interval(Real, 0, 1, closed="left"), StrOptions({"auto"})],
    "adjacency": [StrOptions({"zero_out", "replace_one"})],
    "ledger": LEDGER_CONSTRAINT,
    "random_state": ["random_state"],
}


class Fits(NamedTuple):
    """The fits of an estimator that published a report.

    Files hold their count alone: the number of the last would tell how many fits the process made,
    which a private selection keeps secret.
    """

    # Nobody asks this tuple how often it holds something; files of before have the name.
    count: int  # type: ignore[assignment]
    # Place of the last one among all fits in this process. What was made elsewhere, such as in a
    # worker, has the place at which it came here, after what is inside it; 0 in a file.
    number: int


# By estimator. They are no attributes: those of two fits on like records are the same.
_FITS: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
_NUMBERS = itertools.count(1)
# Their name where an estimator is copied.
_OF_FITS = "_fits"


def fits_of(estimator):
    """Return the `Fits` of an estimator; skdp 0.3.0 counted none."""
    was_fitted = vars(estimator).get("privacy_report_") is not None
    return _FITS.get(estimator, Fits(count=int(was_fitted), number=0))


def refitted_inside(estimator):
    """Return paths of what is in an estimator and isn't as a fit left it that has a report."""
    is_reported = isinstance(estimator, PrivateEstimator) and report_of(estimator) is not None
    return estimator._refitted() if is_reported else ()


NO_GROUPS = (
    "{} ({}) protects rows and takes no groups. DPLogisticRegression, DPRidge, DPHuberRegressor, "
    "DPQuantileRegressor, DPPoissonRegressor, DPGammaRegressor, DPTweedieRegressor, additive "
    "models and all private transformers do."
)


class PrivateEstimator(CallbackSupportMixin, BaseEstimator):
    """What every private estimator is: scikit-learn's diagram has the report of its fit below.

    A copy that holds the seed of its noise is warned of, and one that fits elsewhere is charged to
    the same ledger. Files of skops hold the ledger as it was set.
    """

    # Parameters of the constructors of subclasses.
    ledger: object
    random_state: object

    # Classes without such a parameter fit in little time, and show nothing.
    verbose = 0

    @property
    def privacy_report_(self):
        """The guarantee of the last fit, None if that learnt nothing from the records."""
        if "privacy_report_" not in vars(self):
            raise AttributeError("privacy_report_ is there after a fit.")
        return vars(self)["privacy_report_"]

    @privacy_report_.setter
    def privacy_report_(self, report):
        # Whatever releases something publishes its report here, by `fit` or not: so fits are
        # counted, of which a later step of a pipeline may have learnt from an earlier one.
        n_before = fits_of(self).count
        self._restate(report)
        if report is not None or n_before:
            _FITS[self] = Fits(count=n_before + 1, number=next(_NUMBERS))

    @privacy_report_.deleter
    def privacy_report_(self):
        vars(self).pop("privacy_report_", None)

    def _restate(self, report):
        """Set a report that stands for the last fit and for what was reported before it."""
        vars(self)["privacy_report_"] = report

    def _refitted(self):
        """Return paths of what is inside and isn't any more as the last fit of this left it."""
        return ()

    @property
    def delta_(self):
        """Delta of the guarantee of a fit, which `delta` may leave to the number of records."""
        report = report_of(self)
        if report is None:
            raise AttributeError("delta_ is there after a fit.")
        return report.delta

    @property
    def differentially_private_(self):
        """Whether this may be published as private: see the report's attribute.

        What learns nothing from the records may, too. What is inside must be as the fit left it.
        """
        if not hasattr(self, "privacy_report_"):
            raise AttributeError("differentially_private_ is there after a fit.")
        report = self.privacy_report_
        return report is None or (report.differentially_private and not self._refitted())

    @available_if(are_callbacks_known)
    def set_callbacks(self, *callbacks):
        """Set callbacks that show how far a fit is; those that read its rows are refused.

        A fit calls them a hundred times, evenly over its plan, and once as a whole. It hands them
        neither rows nor models. A search calls none of its candidates' callbacks where the number
        of trials is secret.

        Parameters
        ----------
        *callbacks : callback instances
            Such as ``sklearn.callback.ProgressBar()``; none removes those that were set before.

        Returns
        -------
        self : object
            The estimator.

        Raises
        ------
        ValueError
            If a callback asks for rows, labels, metadata or a fitted model, as
            ``sklearn.callback.ScoringMonitor`` does.
        TypeError
            If one is no callback, or is a class of callbacks.
        """
        for callback in callbacks:
            check_is_object(callback, "a callback")
            refuse_reading(callback)
        return super().set_callbacks(*callbacks)

    def _promised(self, n_records):
        """Return epsilon, delta and adjacency of a fit of so many records."""
        return self.epsilon, resolve_delta(self.delta, n_records), self.adjacency

    def _account(self):
        """Return where a fit is charged, or None."""
        parameters = self.get_params(deep=False)
        account = resolve_account(self.ledger, type(self).__name__, parameters)
        return account and account._replace(unprotected=unprotected_names(self._open_parts()))

    def _open_parts(self):
        """Return what the report of a fit doesn't cover of what is inside: each an `OpenPart`."""
        return ()

    def _learns(self):
        """Return whether a fit with these parameters reads the records, and so spends a budget."""
        return True

    def _takes_sparse(self):
        """Return whether `fit` takes sparse rows."""
        return True

    def _repr_html_inner(self):
        return super()._repr_html_inner() + _unfolding_report(self)

    def _repr_mimebundle_(self, **kwargs):
        bundle = super()._repr_mimebundle_(**kwargs)
        # Only scikit-learn's display="diagram" has it.
        if "text/html" in bundle:
            bundle["text/html"] += _unfolding_report(self)
        return bundle

    # Reading a signature takes a tenth of a small fit, which asks for its parameters several times.
    @classmethod
    def _get_param_names(cls):
        if "_names" not in vars(cls):
            cls._names = tuple(super()._get_param_names())
        return list(cls._names)

    def __sklearn_clone__(self):
        copy = super().__sklearn_clone__()
        forget_owner(copy)
        return copy

    def __getstate__(self):
        report = report_of(self)
        is_seeded = report is not None and report.reproducible and self.random_state is not None
        if is_seeded and math.isfinite(report.epsilon):
            # The depth is that of `pickle.dumps`.
            message = _SEED_IN_COPY.format(type(self).__name__)
            warn_user(message, PrivacyWarning, depth=4)
        state = super().__getstate__()
        if self in _FITS:
            state = {**state, _OF_FITS: tuple(_FITS[self]._replace(number=0))}
        return state

    def __reduce_ex__(self, protocol):
        # A pickle may be on its way to a worker, whose fits are charged to the same ledger.
        parts = super().__reduce_ex__(protocol)
        # A subclass with a `__reduce__` of its own may have no state, or one of another kind.
        build, arguments, state, *rest = (*parts, None) if len(parts) == 2 else parts
        if isinstance(state, dict) and "ledger" in state:
            state = {**state, "ledger": named_ledger(state["ledger"])}
        return (build, arguments, state, *rest)

    def __copy__(self):
        return _with_state(self, self.__getstate__(), type(self).__new__(type(self)))

    def __deepcopy__(self, memo):
        copied = memo[id(self)] = type(self).__new__(type(self))
        return _with_state(self, copy.deepcopy(self.__getstate__(), memo), copied)

    def __setstate__(self, state):
        state = dict(state)
        fits = state.pop(_OF_FITS, None)
        parameters = inspect.signature(type(self).__init__).parameters
        for name in set(self._get_param_names()) - state.keys():
            # Files of an earlier version lack the parameters that came later.
            if parameters[name].default is not inspect.Parameter.empty:
                state[name] = parameters[name].default
        super().__setstate__(state)
        if fits is not None:
            count, number = fits
            _FITS[self] = Fits(count, number or next(_NUMBERS))


def _with_state(estimator, state, copied):
    """Set the state of a copy that stays in this process, where the order of fits is known."""
    copied.__setstate__(state)
    if estimator in _FITS:
        _FITS[copied] = _FITS[estimator]
    return copied


def is_of_skdp(estimator):
    """Return whether the class comes with the package, so that all that it does is known."""
    return type(estimator).__module__.startswith("skdp.")


class RecordPrivateEstimator(PrivateEstimator):
    """What the parameters of those that protect records say in the same way everywhere.

    Subclasses have `_plan`, which makes the plan of a fit from sizes: the numbers of records and
    features, and of what learns to predict that of outputs. With `by_group` records are groups.
    """

    # Where it can't be chosen all batches are full: the sum of all releases is a closed form.
    accountant = "pld"
    # An estimator that reads a raw table itself gets it as it came: scikit-learn would make one
    # array.
    _reads_raw = False
    # One that parts the records goes around pipelines, and into none of them and into no search.
    _is_outermost = False
    # Some options of estimators that have `feature_bounds` make no use of them.
    _uses_feature_bounds = True

    def _budget(self, n_records, by_group=False):
        kind = GroupBudget if by_group else Budget
        return kind(*self._promised(n_records), self.accountant, account=self._account())

    def _assumed(self):
        """Return what the report assumes public besides what the plan does."""
        return ()

    def _check_targets(self, y):
        """Refuse targets that no fit takes, whatever else is asked of it."""

    def _preview(self, *sizes, by_group=False):
        """Return the report that a fit of such sizes would have."""
        return self._plan(*sizes, by_group=by_group).report(
            reproducible=self.random_state is not None,
            also_public=self._assumed(),
            open_parts=self._open_parts(),
        )


def model_of(estimator):
    """Return the model that a pipeline ends in, or that is within another, or a model itself."""
    for name in ("_final_estimator", "estimator"):
        if (inner := getattr(estimator, name, None)) is not None:
            return model_of(inner)
    return estimator


def require_groups(estimator, place):
    """Refuse an estimator that can't protect groups of rows, called by its place."""
    if "groups" not in inspect.signature(type(estimator).fit).parameters:
        raise ValueError(NO_GROUPS.format(place, type(estimator).__name__))


def rehearse(estimator, X, y, groups=None, *, budget=None):
    """Fit a copy of a private estimator up to its charge, silently; its errors are raised.

    A fit reads its input and plans before it is charged, and only then there is noise. So nothing
    is released, and the copy is forgotten. It has the epsilon and the delta of a budget, if there
    is one.
    """
    copy = clone(estimator).set_params(ledger=REHEARSAL, random_state=None)
    if budget is not None:
        copy.set_params(epsilon=budget.epsilon, delta=budget.delta)
    silence = warnings.catch_warnings(action="ignore")
    with silence, showing_nothing(), contextlib.suppress(Rehearsed):
        fit_groups(copy, X, y, groups)


def fit_groups(estimator, X, y, groups=None):
    """Fit an estimator, which may take no groups where there are none."""
    return estimator.fit(X, y) if groups is None else estimator.fit(X, y, groups=groups)


def is_default(estimator, name):
    """Return whether a parameter is there and as the constructor makes it: nobody gave it."""
    parameters = inspect.signature(type(estimator)).parameters
    if name not in parameters:
        return False
    value, default = getattr(estimator, name), parameters[name].default
    try:
        return np.array_equal(value, default)
    except ValueError:
        # Two arrays of different shapes.
        return False


def refuse_settings(part, wrapper, place, *, division=""):
    """Refuse what an estimator inside another was given, and the other one would overwrite.

    What is as the constructor makes it counts as not given, and what both have as agreed. The
    message calls the part by its `place`, says the `division` by which the wrapper shares its
    epsilon and delta, and quotes no value.
    """
    for name in BUDGET_CONSTRAINTS:
        if is_default(part, name) or _is_agreed(name, getattr(part, name), getattr(wrapper, name)):
            continue
        outer = type(wrapper).__name__
        division_of_name = division if name in ("epsilon", "delta") else ""
        raise ValueError(
            f"{name} of {place} is set, and {outer} sets its own there: give {name} to the "
            f"{outer}{division_of_name}, and leave it as {type(part).__name__} has it by default."
        )


def _is_agreed(name, inner, outer):
    """Return whether two values of a setting are one; generators, which fits change, never are."""
    if name == "ledger":
        return is_same_ledger(inner, outer)
    return all(isinstance(value, str | Real) for value in (inner, outer)) and inner == outer


def is_private(estimator):
    """Return whether an estimator's epsilon is finite, whatever was set as its epsilon."""
    try:
        return not math.isinf(estimator.epsilon)
    except (TypeError, OverflowError):
        return True
