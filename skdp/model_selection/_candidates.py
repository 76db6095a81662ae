"""Models that a search may choose from: what they must be, and what their fits would release."""

import dataclasses

import numpy as np
from sklearn import config_context
from sklearn.base import clone, is_classifier
from sklearn.pipeline import Pipeline

from skdp._estimator import (
    RecordPrivateEstimator,
    is_of_skdp,
    is_private,
    model_of,
    refuse_settings,
    rehearse,
    require_groups,
)
from skdp._progress import progress
from skdp.additive._base import BaseAdditive
from skdp.exceptions import CostlySearchWarning, warn_user
from skdp.ledger._account import ALREADY_CHARGED
from skdp.linear_model.whitened._base import BaseWhitened
from skdp.model_selection._rows import (
    has_steps,
    last_step,
    reader_of,
    rows_for_last,
    takes_numbers,
)
from skdp.pipeline._steps import (
    all_leaves,
    choose_by_type,
    find_leaks,
    fix_density,
    private_leaves,
    step_list,
    tree,
)
from skdp.preprocessing import DPSimpleImputer

SET_BY_SEARCH = ("epsilon", "delta", "adjacency", "ledger", "random_state")
# Steps of skdp take all finite rows; None and words such as 'passthrough' do, too.
_NEVER_FAIL = ("skdp", "builtins")
_TELLING = ("verbose", "memory")
# Objects and strings.
_VALUES = "OSU"
_NOT_STATELESS = (
    "a search takes pipelines of which the steps before the last learn nothing from the rows: "
    "BoundsScaler, NormClipper, DPOneHotEncoder with lists of all categories, DPSimpleImputer with "
    "strategy='constant', 'passthrough', 'drop', and ColumnTransformer of these with columns by "
    "names or places, FeatureUnion and Pipeline. {} can't be one of them: {}."
)
_FAILS = "a single row may make it fail, and what fails isn't chosen, without any noise"
_FROZEN = "what it was fitted on is covered by no report of the search"
_SPENDS = (
    "a search spends its epsilon on models, and {} would spend one of its own in every trial. Put "
    "the steps in a skdp.pipeline.DPPipeline, which shares the epsilon of a trial among them; or "
    "take BoundsScaler, listed categories, or constant fills."
)
_NOT_OURS = (
    "a search takes estimators of skdp that protect rows, or pipelines that end in one, got {}. "
    "For label privacy, walr_path chooses from one release."
)
_OUTERMOST = (
    "a search takes no {0}, which keeps some of the records apart itself: search first, and then "
    "calibrate the search on other records, as {0}(FrozenEstimator(search))."
)
_MAY_FAIL = (
    "a search takes a DPPipeline whose steps are all of skdp, and {} isn't: a record may make it "
    "fail, and what fails isn't chosen, without any noise."
)
_FILLS_WORDS = (
    "a search takes no DPPipeline with a DPSimpleImputer that fills with words: a gap among "
    "numbers may make a trial fail, and what fails isn't chosen, without any noise. Fill with "
    "numbers."
)
_FILLS_GAPS = (
    "a search takes no DPPipeline with a DPSimpleImputer that may fill with NaN: a record may make "
    "the next step fail, and what fails isn't chosen, without any noise. Fill with numbers."
)
_SEARCH_OF_ALPHA = (
    "A search over alpha alone is mostly worse than one fit by default: it divides the budget, and "
    "alpha matters little. doc/selection.rst has numbers."
)
_ALLOWS = "a search takes no DPPipeline that allows steps to learn without privacy."


@dataclasses.dataclass(frozen=True)
class Candidates:
    """Settings of an estimator, and models that have them, whose fits are charged to nobody."""

    settings: tuple
    models: tuple
    # Each candidate gets so many columns; see `check_rows`.
    n_columns: list = dataclasses.field(default_factory=list)

    def assumed(self):
        """Return what fits assume besides what their plans do."""
        said = (words for model in self.models for words in last_step(model)._assumed())
        return tuple(dict.fromkeys(said))

    def declare_classes(self, read):
        """Hand all classifiers the same classes; return whether they had to be read."""
        if not is_classifier(self.models[0]):
            return False
        declared = [model_of(model).classes for model in self.models]
        known = {tuple(np.unique(classes)) for classes in declared if classes is not None}
        if len(known) > 1:
            raise ValueError("candidates must declare the same classes.")
        classes = np.array(known.pop()) if known else read()
        for model in self.models:
            model_of(model).set_params(classes=classes)
        return all(one is None for one in declared)

    def need_numbers(self, X):
        """Return whether one takes rows of numbers alone, as they come.

        All others read a raw table, or begin with steps that make numbers of what isn't an array.
        """
        others = [model for model in self.models if reader_of(model) is None]
        is_array = getattr(getattr(X, "dtype", None), "kind", "O") not in _VALUES
        return bool(others) and (is_array or not all(map(has_steps, others)))

    def need_table(self):
        """Return whether one takes rows as they came."""
        return not all(map(takes_numbers, self.models))

    def choose_numbers_by_type(self):
        """Return whether one that gets numbers chooses columns by their types."""
        return any(
            choose_by_type(step_list(inner.steps))
            for model in self.models
            if takes_numbers(model)
            for inner in _pipelines_within(model)
        )

    def check_rows(self, X, table):
        """Refuse what some would fail on; return what readers of the table assume public of it.

        How many columns each gets, of which there is one at least, is kept.
        """
        columns_and_assumed = [_check_rows(model, X, table) for model in self.models]
        self.n_columns[:] = [n_columns for n_columns, _ in columns_and_assumed]
        return tuple(dict.fromkeys(words for _, said in columns_and_assumed for words in said))

    def rehearse(self, X, table, y, groups, budget):
        """Fit all up to where they would be charged: what one refuses is an error here."""
        tried = progress().counted("candidates tried", len(self.models))
        for model in map(clone, self.models):
            rows = rows_for_last(model, X, table, reset=True)
            # Trials do the same.
            with config_context(enable_metadata_routing=False):
                rehearse(last_step(model), rows, y, groups, budget=budget)
            tried()

    def check_targets(self, y):
        """Refuse targets that some would fail on."""
        for model in self.models:
            model_of(last_step(model))._check_targets(y)

    def fits(self, n_records, n_outputs, of_groups):
        """Return a function of epsilon and delta that gives the events of each candidate's fit.

        Errors that follow from parameters are raised here, before there is any noise.
        """
        last_steps = [last_step(model) for model in self.models]
        for last in last_steps:
            last._validate_params()
            # Refuses bounds of targets that are none.
            model_of(last)._family()
            if of_groups:
                require_groups(last, "a candidate")

        def events(epsilon, delta):
            fits = [clone(last).set_params(epsilon=epsilon, delta=delta) for last in last_steps]
            plans = [
                fit._plan(n_records, n_columns, n_outputs, by_group=of_groups)
                for fit, n_columns in zip(fits, self.n_columns, strict=True)
            ]
            return [plan.events for plan in plans]

        return events


def make_candidates(search, settings):
    """Return the candidates of a search."""
    settings = tuple(settings)
    if not settings:
        raise ValueError("there must be at least one candidate.")
    models, estimator = [], search.estimator
    for setting in settings:
        for name in setting:
            if name.rpartition("__")[2] in SET_BY_SEARCH:
                raise ValueError(f"{name!r} is set by the search and can't be searched for.")
        copied = {name: clone(value, safe=False) for name, value in setting.items()}
        model = clone(estimator).set_params(**copied)
        check_candidate(model)
        fix_density(_steps_before_last(model))
        for leaf in private_leaves([tree("estimator", model)]):
            refuse_settings(leaf.estimator, search, repr(leaf.path))
        last_step(model).set_params(
            adjacency=search.adjacency, ledger=ALREADY_CHARGED, random_state=None
        )
        models.append(model)
    if len({is_classifier(model) for model in (estimator, *models)}) > 1:
        raise ValueError("candidates must all be classifiers or regressors, as the estimator is.")
    if is_private(search):
        _warn_of_alpha(settings, models)
    return Candidates(settings, tuple(models))


def _warn_of_alpha(settings, models):
    """Advise against a search of nothing but the penalty of models that choose all else themselves.

    With other settings there is another reason to search.
    """
    names = {name.rpartition("__")[2] for setting in settings for name in setting}
    last = [model_of(model) for model in models]
    if names == {"alpha"} and any(isinstance(m, (BaseWhitened, BaseAdditive)) for m in last):
        warn_user(_SEARCH_OF_ALPHA, CostlySearchWarning)


def set_report(model, report):
    """Give a report to a fitted model and to what is inside: its own part says less than is true.

    It was one of several fits, of which the best is published.
    """
    if getattr(model, "privacy_report_", None) is None:
        return
    model._restate(report)
    if hasattr(model, "steps"):
        model._step_reports = (report,)
        for leaf in private_leaves(step_list(model.steps, fitted=True)):
            set_report(leaf.estimator, report)
    if hasattr(model, "estimator_"):
        set_report(model.estimator_, report)


def check_candidate(model):
    """Refuse what reads rows elsewhere than in a private fit."""
    _check_steps(_steps_before_last(model))
    for name, value in model.get_params().items():
        if name.rpartition("__")[2] in _TELLING and value:
            raise ValueError(f"{name!r} of a candidate would reveal how many fits ran: unset it.")
    last = last_step(model)
    is_private_model = isinstance(last, RecordPrivateEstimator) and hasattr(last, "predict")
    # Errors of a user's own estimator, and so which trials fail, may follow from a record.
    if not is_private_model or not is_of_skdp(last):
        raise TypeError(_NOT_OURS.format(type(last).__name__))
    if last._is_outermost:
        raise TypeError(_OUTERMOST.format(type(last).__name__))
    _check_pipeline(last)


def _check_pipeline(model):
    """Refuse a private pipeline, or what is within, of which a step may fail or leak."""
    if hasattr(model, "estimator"):
        _check_pipeline(model.estimator)
    if not hasattr(model, "steps"):
        return
    if model.allow:
        raise TypeError(_ALLOWS)
    for leaf in all_leaves(step_list(model.steps)):
        if leaf.is_frozen or not _is_safe(leaf):
            raise TypeError(_MAY_FAIL.format(leaf.kind))
        if isinstance(leaf.estimator, DPSimpleImputer):
            _check_fills(leaf.estimator)
        _check_pipeline(leaf.estimator)


def _check_fills(imputer):
    if imputer._fills_words():
        raise TypeError(_FILLS_WORDS)
    if imputer._fills_gaps():
        raise TypeError(_FILLS_GAPS)


def _steps_before_last(model):
    steps = model.steps[:-1] if type(model) is Pipeline else ()
    return [tree(name, step) for name, step in steps]


def _pipelines_within(model):
    """Yield a private pipeline that a model is or has inside."""
    if hasattr(model, "steps"):
        yield model
    elif hasattr(model, "estimator"):
        yield from _pipelines_within(model.estimator)


def _check_steps(steps):
    """Refuse steps that leak, as a private pipeline does, and those that learn, spend or fail."""
    for leaf in private_leaves(steps):
        if leaf.estimator._learns():
            raise TypeError(_SPENDS.format(leaf.kind))
    for step, (reason, _) in find_leaks(steps):
        raise TypeError(_NOT_STATELESS.format(step.kind, reason))
    for leaf in all_leaves(steps):
        if leaf.is_frozen:
            raise TypeError(_NOT_STATELESS.format(leaf.kind, _FROZEN))
        if not _is_safe(leaf):
            raise TypeError(_NOT_STATELESS.format(leaf.kind, _FAILS))


def _is_safe(leaf):
    return type(leaf.estimator).__module__.partition(".")[0] in _NEVER_FAIL


def _check_rows(model, X, table):
    """Return how many columns a model gets, and what it assumes public of them."""
    model = clone(model)
    rows = rows_for_last(model, X, table, reset=True)
    if (reader := reader_of(last_step(model))) is None:
        return rows.shape[1], ()
    reader = clone(reader)
    said = reader._check_table(rows)
    return reader.n_features_in_, said
