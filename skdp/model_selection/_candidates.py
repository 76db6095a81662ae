"""Models that a search may choose from: what they must be, and what their fits would release."""

import dataclasses

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.pipeline import Pipeline

from skdp._estimator import RecordPrivateEstimator, refuse_settings
from skdp.accountant import ErasureEvent
from skdp.ledger._account import ALREADY_CHARGED
from skdp.linear_model._base import RowPrivateEstimator
from skdp.pipeline._steps import all_leaves, find_leaks, fix_density, private_leaves, tree

SET_BY_SEARCH = ("epsilon", "delta", "adjacency", "ledger", "random_state")
# Steps of skdp take all finite rows; None and words such as 'passthrough' do, too.
_NEVER_FAIL = ("skdp", "builtins")
_TELLING = ("verbose", "memory")
_NOT_STATELESS = (
    "a search takes pipelines of which the steps before the last learn nothing from the rows: "
    "BoundsScaler, NormClipper, DPOneHotEncoder with lists of all categories, DPSimpleImputer with "
    "strategy='constant', 'passthrough', 'drop', and ColumnTransformer of these with columns by "
    "names or places, FeatureUnion and Pipeline. {} can't be one of them: {}."
)
_FAILS = "a single row may make it fail, and what fails isn't chosen, without any noise"
_FROZEN = "what it was fitted on is covered by no report of the search"
_SPENDS = (
    "a search spends its epsilon on models, and {} would spend one of its own in every trial. Fit "
    "it once, search with the rows that it transforms, and add up both reports by "
    "skdp.accountant.compose; or take BoundsScaler, listed categories, or constant fills."
)
_NOT_OURS = (
    "a search takes estimators of skdp that protect rows, or pipelines that end in one, got {}. "
    "For label privacy, walr_path chooses from one release."
)
_HAS_A_BUDGET = (
    "a search sets what its candidates spend, and {} sets that of its steps: give the search a "
    "Pipeline of scikit-learn whose steps before the last learn nothing."
)
_FINDS_WORDS = (
    "a search takes no fit that may look for categories, as what that costs doesn't add up there: "
    "name all columns of an additive model in numeric_features."
)


@dataclasses.dataclass(frozen=True)
class Candidates:
    """Settings of an estimator, and models that have them, whose fits are charged to nobody."""

    settings: tuple
    models: tuple
    classes_were_read: bool

    def assumed(self):
        """Return what fits assume besides what their plans do."""
        said = (words for model in self.models for words in last_step(model)._assumed())
        return tuple(dict.fromkeys(said))

    def fits(self, rows, n_rows, n_outputs):
        """Return a function of epsilon and delta that gives the events of each candidate's fit.

        Errors that follow from parameters, or from rows that steps don't take, are raised here,
        before there is any noise. How many columns steps make of the rows, of which there is one
        at least, is looked at, and not their values.
        """
        sizes = [_n_columns(model, rows) for model in self.models]
        last_steps = [last_step(model) for model in self.models]
        for last in last_steps:
            last._validate_params()
            # Refuses bounds of targets that are none.
            last._half_width()

        def events(epsilon, delta):
            fits = [clone(last).set_params(epsilon=epsilon, delta=delta) for last in last_steps]
            sized = zip(fits, sizes, strict=True)
            found = [fit._plan(n_rows, n_columns, n_outputs).events for fit, n_columns in sized]
            if any(isinstance(event, ErasureEvent) for of_fit in found for event in of_fit):
                raise ValueError(_FINDS_WORDS)
            return found

        return events


def make_candidates(search, settings, classes):
    """Return the candidates of a search; `classes` gives the classes if nobody declared them."""
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
    were_read = _declare_classes(models, classes)
    return Candidates(settings, tuple(models), were_read)


def last_step(model):
    """Return the estimator of a pipeline, or a model itself."""
    return model.steps[-1][1] if type(model) is Pipeline else model


def check_candidate(model):
    """Refuse what reads rows elsewhere than in a private fit."""
    if isinstance(model, RecordPrivateEstimator) and isinstance(model, Pipeline):
        raise TypeError(_HAS_A_BUDGET.format(type(model).__name__))
    _check_steps(_steps_before_last(model))
    for name, value in model.get_params().items():
        if name.rpartition("__")[2] in _TELLING and value:
            raise ValueError(f"{name!r} of a candidate would tell how many fits ran: unset it.")
    last = last_step(model)
    if not isinstance(last, RowPrivateEstimator):
        raise TypeError(_NOT_OURS.format(type(last).__name__))


def _steps_before_last(model):
    steps = model.steps[:-1] if type(model) is Pipeline else ()
    return [tree(name, step) for name, step in steps]


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
        if type(leaf.estimator).__module__.partition(".")[0] not in _NEVER_FAIL:
            raise TypeError(_NOT_STATELESS.format(leaf.kind, _FAILS))


def _n_columns(model, rows):
    if type(model) is Pipeline and len(model.steps) > 1:
        rows = clone(model[:-1]).fit_transform(rows)
    return rows.shape[1]


def _declare_classes(models, read):
    """Hand all classifiers the same classes; return whether they had to be read."""
    if not is_classifier(last_step(models[0])):
        return False
    declared = [last_step(model).classes for model in models]
    known = {tuple(np.unique(classes)) for classes in declared if classes is not None}
    if len(known) > 1:
        raise ValueError("candidates must declare the same classes.")
    classes = np.array(known.pop()) if known else read()
    for model in models:
        last_step(model).set_params(classes=classes)
    return all(one is None for one in declared)
