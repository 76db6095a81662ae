"""Ways to learn privately from records, one for each public name at least, and neighbours."""

import importlib
import importlib.util
import inspect
import itertools
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression

import skdp
from skdp import linear_model as linear, metrics, preprocessing
from skdp._rows.fused import sums_compiled
from skdp.additive import DPAdditiveClassifier, DPAdditiveRegressor, _tuned as additive_tuned
from skdp.calibration import (
    DPCalibratedClassifier,
    DPConformalClassifier,
    DPConformalRegressor,
)
from skdp.extend import DPBaseEstimator, Sum
from skdp.model_selection import DPGridSearch, DPRandomizedSearch, private_threshold
from skdp.pipeline import make_private_pipeline
from skdp.statistics import describe

N_RECORDS, N_GROUPS, SEED = 90, 30, 7
# The record that changes; where records are groups, the group.
PLACE = 11
# With little noise all of a ball is learnt, and with much of it only some.
BUDGETS = (25.0, "zero_out"), (1.0, "replace_one")
# With so little noise, as many records have it at a usual epsilon, steps follow the curvature.
QUIET = 1e5
NUMERIC = {"numeric_features": ["a", "b", "c"]}


@dataclass(frozen=True)
class Records:
    """Rows of numbers, and what else a fit may be given; words are a column of tables."""

    X: np.ndarray
    y: np.ndarray
    words: np.ndarray
    exposure: np.ndarray
    groups: np.ndarray
    public_weight: np.ndarray

    @property
    def table(self):
        """Numbers and words as a DataFrame."""
        return pd.DataFrame(self.X, columns=["a", "b", "c"]).assign(word=self.words)

    @property
    def column(self):
        """Words as a DataFrame."""
        return self.table[["word"]]


def make_records(target):
    """Return records whose targets are "labels", "targets", "counts" or "amounts"."""
    rng, n = np.random.default_rng(SEED), N_RECORDS
    X = rng.normal(0.0, 1.0, (n, 3)) * rng.choice([0.05, 0.5, 20.0], (n, 1))
    exposure = rng.uniform(0.1, 2.0, n)
    y = {
        "labels": rng.integers(0, 2, n),
        "targets": rng.normal(0.0, 1.0, n),
        "counts": rng.poisson(exposure).astype(float),
        "amounts": exposure * rng.gamma(2.0, 0.5, n) + 1e-3,
    }[target]
    words = rng.choice(["red", "green", "blue"], n).astype(object)
    # What else there is in a table, so that neighbours may have one more of it.
    words[3], words[4] = None, "once"
    weights = rng.choice([0.3, 1.0, 5.0], n)
    weights[PLACE] = 5.0
    return Records(X, y, words, exposure, np.arange(n) // (n // N_GROUPS), weights)


@dataclass(frozen=True)
class Subject:
    """A way to learn from records.

    Attributes
    ----------
    name : str
    covers : str
        The public name that is audited.
    learn : callable
        Gives, of `Records`, what has a report.
    target : str
        See `make_records`.
    is_table : bool
        Whether it reads the table, with gaps and words.
    has_groups : bool
    labels_only : bool
        Whether rows are public.
    is_sum : bool
        Whether all calls add up: those on parts of disjoint people, and of secret trials, don't.
    """

    name: str
    covers: str
    learn: Callable
    target: str = "targets"
    is_table: bool = False
    has_groups: bool = False
    labels_only: bool = False
    is_sum: bool = True


def neighbours(records, subject):
    """Give the name of each neighbour, its records, and the places of null records."""
    is_other = records.groups == PLACE if subject.has_groups else np.arange(N_RECORDS) == PLACE
    if not subject.labels_only:
        yield "null", records, np.flatnonzero(is_other).tolist()
    ends = {"labels": (0, 1), "counts": (0.0, 1e6), "amounts": (1e-3, 1e6)}
    low, high = ends.get(subject.target, (-1e6, 1e6))
    before = records.y[is_other]
    changes = {
        "target": {"y": 1 - before if subject.target == "labels" else high},
        "huge": {"X": 1e200, "y": high, "exposure": 1e6},
        "tiny": {"X": 1e-200, "exposure": 1e-9},
        "zeros": {"X": 0.0, "y": low, "words": "once", "exposure": 0.1},
        "turned": {"X": -records.X[is_other], "y": low + high - before, "words": "blue"},
        # An amount that was never seen is refused.
        "unseen": {"y": 0.0, "exposure": 0.0} if subject.target == "counts" else {"y": low},
    }
    if subject.is_table:
        changes["gaps"] = {"X": np.nan, "words": None}
        changes["rare"] = {"words": "of one record alone"}
    if subject.labels_only:
        changes = {"target": changes["target"]}
    for name, changed in changes.items():
        columns = {}
        for column, value in changed.items():
            columns[column] = getattr(records, column).copy()
            columns[column][is_other] = value
        yield name, replace(records, **columns), []


class OwnMean(DPBaseEstimator):
    """An estimator of one's own: the mean of rows that are cut to a norm."""

    def __init__(
        self, *, epsilon=1.0, delta="auto", adjacency="zero_out", ledger=None, random_state=None
    ):
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.ledger = ledger
        self.random_state = random_state

    def plan_releases(self, sizes):
        """Plan one sum."""
        return [Sum("sum of rows", shape=sizes.n_features, bound=1.0)]

    def learn(self, X, y, run):
        """Make it."""
        self.mean_ = run.sum("sum of rows", lambda X: X, X) / run.n_records


def fitted(make, takes, rows, records):
    """Return what `make` gives, fitted to rows and to what it takes of records besides."""
    given = {name: getattr(records, name) for name in takes}
    return make().fit(getattr(records, rows), **given)


def of_estimator(make, target=None, *, also=(), suffix="", **options):
    """Give the subject of an estimator's fit, and one for each tuple of what else it takes.

    With no target rows alone are fitted.
    """
    name = type(make()).__name__
    rows, with_y = "table" if options.get("is_table") else "X", () if target is None else ("y",)
    for takes in ((), *also):
        yield Subject(
            " ".join(filter(None, [name, suffix, ", ".join(takes)])),
            name,
            partial(fitted, make, (*with_y, *takes), rows),
            target or "targets",
            has_groups="groups" in takes,
            **options,
        )


GROUPS = (("groups",),)
RATES = (("exposure",), ("exposure", "public_weight"), ("exposure", "groups"))


def of_linear_models(budget):
    """Give linear models."""
    few, two = budget | {"max_iter": 3}, budget | {"classes": [0, 1]}
    for target, kind, options, also in (
        ("labels", linear.DPLogisticRegression, two, GROUPS),
        ("labels", linear.DPSCDClassifier, few | two, ()),
        ("labels", linear.DPSGDClassifier, few | two, ()),
        ("labels", linear.DPCDClassifier, few | two, ()),
        ("labels", linear.DPCDClassifier, few | two | {"selection": "greedy"}, ()),
        ("targets", linear.DPRidge, budget, GROUPS),
        ("targets", linear.DPHuberRegressor, budget, ()),
        ("targets", linear.DPQuantileRegressor, budget, ()),
        ("targets", linear.DPSCDRegressor, few, ()),
        ("targets", linear.DPSGDRegressor, few, ()),
        ("targets", linear.DPSGDRegressor, budget | {"mechanism": "laplace"}, ()),
        ("targets", linear.DPCDLasso, few, ()),
        ("targets", linear.DPCDElasticNet, few, ()),
        ("counts", linear.DPPoissonRegressor, budget, RATES),
        ("counts", linear.DPTweedieRegressor, budget | {"power": 1.5}, RATES),
        ("amounts", linear.DPGammaRegressor, budget, RATES),
    ):
        suffix = options.get("selection") or options.get("mechanism") or ""
        yield from of_estimator(partial(kind, **options), target, also=also, suffix=suffix)


def of_tables(budget):
    """Give additive models, transformers and descriptions."""
    two, table = budget | {"classes": [0, 1]}, {"is_table": True}
    yield from of_estimator(partial(DPAdditiveClassifier, **two), "labels", **table)
    yield from of_estimator(partial(DPAdditiveRegressor, **budget), "targets", **table)
    poisson = partial(DPAdditiveRegressor, loss="poisson", **budget)
    yield from of_estimator(poisson, "counts", also=RATES[::2], suffix="poisson", **table)
    vectorizer = partial(preprocessing.DPTableVectorizer, **budget)
    yield from of_estimator(vectorizer, **table)
    yield from of_estimator(partial(vectorizer, **NUMERIC), suffix="of given kinds", **table)
    imputer = partial(preprocessing.DPSimpleImputer, **budget)
    for kind in (preprocessing.DPStandardScaler, preprocessing.DPNormClipper, OwnMean):
        yield from of_estimator(partial(kind, **budget))
    yield from of_estimator(partial(preprocessing.DPQuantileClipper, **budget))
    for strategy in ("mean", "median"):
        yield from of_estimator(partial(imputer, strategy=strategy), suffix=strategy)
    for make in (
        partial(preprocessing.DPOneHotEncoder, **budget),
        partial(imputer, strategy="most_frequent"),
    ):
        name = type(make()).__name__
        yield Subject(f"{name} of words", name, partial(fitted, make, (), "column"), **table)
    yield Subject("describe", "describe", lambda r: describe(r.table, **budget), **table)


def of_models_inside(budget):
    """Give what fits other models of ours inside, or looks at fitted ones."""
    logistic, ridge = linear.DPLogisticRegression(classes=[0, 1]), linear.DPRidge()
    clipper = preprocessing.DPQuantileClipper()
    yield from of_estimator(partial(make_private_pipeline, clipper, logistic, **budget), "labels")
    apart = {"is_sum": False}
    for kind in (DPCalibratedClassifier, DPConformalClassifier):
        yield from of_estimator(partial(kind, logistic, **budget), "labels", **apart)
    yield from of_estimator(partial(DPConformalRegressor, ridge, **budget), "targets", **apart)
    others = make_records("labels")
    frozen = FrozenEstimator(LinearRegression().fit(others.X[::-1], others.y))
    for suffix, delta in (("frozen", "auto"), ("frozen, pure", 0.0)):
        make = partial(DPConformalRegressor, frozen, delta=delta, **budget)
        yield from of_estimator(make, "targets", suffix=suffix)
    grid = {"alpha": [1e-4, 1e-2]}
    for kind, options in (
        (DPGridSearch, {"method": "repeat", "n_trials": 2}),
        (DPGridSearch, {"method": "compose"}),
        (DPRandomizedSearch, {"method": "compose", "n_iter": 2}),
    ):
        make = partial(kind, logistic, grid, **options, **budget)
        yield from of_estimator(make, "labels", suffix=options["method"], **apart)
    models = [LogisticRegression(C=C).fit(others.X[::-1], others.y) for C in (1.0, 0.1)]
    costs = {"false_positive": 1.0, "false_negative": 2.0}
    for function, arguments in (
        (metrics.private_score, {}),
        (metrics.private_score, {"scoring": "roc_auc"}),
        (metrics.private_roc_curve, {}),
        (metrics.private_confusion_matrix, {}),
        (metrics.private_calibration_curve, {}),
        (private_threshold, {"costs": costs}),
        (metrics.private_compare, {}),
    ):
        n_models = 2 if function is metrics.private_compare else 1
        looked = partial(look, function, models[:n_models], arguments | budget)
        name = function.__name__
        yield Subject(f"{name} {arguments.get('scoring', '')}".strip(), name, looked, "labels")


def of_large_tables(budget):
    """Give fits as they are of many records, where sums are compiled, or steps are few."""
    two, quiet = budget | {"classes": [0, 1]}, budget | {"epsilon": QUIET}
    yield from of_estimator(partial(linear.DPRidge, **quiet), "targets", suffix="quiet")
    logistic = partial(linear.DPLogisticRegression, **quiet, classes=[0, 1])
    yield from of_estimator(logistic, "labels", suffix="quiet")
    # Sums are compiled with the extra "fast" alone.
    if importlib.util.find_spec("numba") is None:
        return
    for target, kind, options, also in (
        ("labels", linear.DPLogisticRegression, two, ()),
        ("labels", linear.DPSCDClassifier, two | {"max_iter": 3}, ()),
        ("labels", linear.DPCDClassifier, two | {"max_iter": 3}, ()),
        ("targets", linear.DPRidge, budget, GROUPS),
        ("targets", linear.DPHuberRegressor, budget, ()),
        ("targets", linear.DPQuantileRegressor, budget, ()),
        ("counts", linear.DPPoissonRegressor, budget, RATES),
        ("counts", linear.DPTweedieRegressor, budget | {"power": 1.5}, RATES),
        ("amounts", linear.DPGammaRegressor, budget, RATES),
        ("targets", linear.DPRidge, quiet, ()),
        ("labels", linear.DPLogisticRegression, two | quiet, ()),
    ):
        suffix = "quiet, compiled" if options["epsilon"] == QUIET else "compiled"
        make = partial(kind, **options)
        for subject in of_estimator(make, target, also=also, suffix=suffix):
            yield replace(subject, learn=partial(by_compiled_sums, subject.learn))
    # With more noise so few records have no terms.
    told = budget | {"epsilon": BUDGETS[0][0]}
    for target, kind, options, also in (
        ("labels", DPAdditiveClassifier, told | {"classes": [0, 1]}, ()),
        ("targets", DPAdditiveRegressor, told, GROUPS),
        ("counts", DPAdditiveRegressor, told | {"loss": "poisson"}, RATES),
    ):
        make = partial(kind, **options)
        suffix = f"{options.get('loss', '')} of codes".strip()
        for subject in of_estimator(make, target, also=also, suffix=suffix, is_table=True):
            yield replace(subject, learn=partial(by_compiled_sums, subject.learn))


def by_compiled_sums(learn, records):
    """Learn by compiled sums, those of additive models over codes of their terms."""
    with sums_compiled(True), mock.patch.object(additive_tuned, "SHARE_OF_ENTRIES", 1.0):
        return learn(records)


def look(function, models, arguments, records):
    """Return what a function gives of fitted models and records."""
    return function(*models, records.X, records.y, **arguments)


def of_labels():
    """Give what protects labels alone."""
    budget = {"random_state": SEED, "classes": [0, 1]}
    public = {"labels_only": True}
    for mechanism in ("analytic", "randomized_response"):
        make = partial(linear.WALRClassifier, mechanism=mechanism, **budget)
        yield from of_estimator(make, "labels", suffix=mechanism, **public)
    name = "label_aggregate"
    yield Subject(name, name, partial(look, linear.label_aggregate, (), budget), "labels", **public)


def in_partitions(budget):
    """Give subjects whose records are in partitions, or none where Dask isn't installed."""
    try:
        import dask
        import dask.array as da
        from dask import dataframe

        from skdp import dask as ours
    except ImportError:
        return
    # Lines are traced in one thread.
    dask.config.set(scheduler="synchronous")

    def in_parts(learn, records):
        columns = {
            name: da.from_array(value, chunks=(N_RECORDS // 3, *value.shape[1:]))
            for name, value in vars(records).items()
        }
        table = dataframe.from_pandas(records.table, npartitions=3, sort=False)
        return learn(SimpleNamespace(**columns, table=table))

    two = budget | {"classes": [0, 1]}
    for target, kind, options, also in (
        ("labels", ours.DaskDPLogisticRegression, two, GROUPS),
        ("targets", ours.DaskDPRidge, budget, ()),
        ("targets", ours.DaskDPHuberRegressor, budget, ()),
        ("targets", ours.DaskDPQuantileRegressor, budget, ()),
        ("counts", ours.DaskDPPoissonRegressor, budget, RATES[::2]),
        ("counts", ours.DaskDPTweedieRegressor, budget | {"power": 1.5}, RATES[:1]),
        ("amounts", ours.DaskDPGammaRegressor, budget, RATES[:1]),
    ):
        for subject in of_estimator(partial(kind, **options), target, also=also):
            yield replace(subject, learn=partial(in_parts, subject.learn))
    for target, kind, options in (
        ("labels", ours.DaskDPAdditiveClassifier, two),
        ("targets", ours.DaskDPAdditiveRegressor, budget),
    ):
        make = partial(kind, compute_chunk_sizes=True, **NUMERIC, **options)
        learn = partial(in_parts, partial(fitted, make, ("y",), "table"))
        yield Subject(kind.__name__, kind.__name__, learn, target, is_table=True)
    scaler = preprocessing.DPStandardScaler(**budget)
    yield Subject(
        "fit (Dask)", "fit", partial(in_parts, lambda parts: ours.fit(clone(scaler), parts.X))
    )
    given = {"random_state": SEED, "classes": [0, 1], "data_norm": 60.0}
    name, aggregate = "label_aggregate", partial(look, ours.label_aggregate, (), given)
    learn = partial(in_parts, aggregate)
    yield Subject(f"{name} (Dask)", name, learn, "labels", labels_only=True)


def all_subjects():
    """Return all subjects."""
    found = []
    for epsilon, adjacency in BUDGETS:
        budget = {"epsilon": epsilon, "adjacency": adjacency, "random_state": SEED}
        kinds = [of_linear_models(budget), of_tables(budget), of_models_inside(budget)]
        kinds += [of_large_tables(budget)]
        if adjacency == "zero_out":
            # In partitions each release reads all of them anew, which takes long to trace.
            kinds += [of_labels(), in_partitions(budget)]
        found += itertools.chain(*kinds)
    return found


def public_names():
    """Return the names of public estimators and functions that spend a budget on records."""
    found = set()
    for module in pkgutil.iter_modules(skdp.__path__):
        if module.name.startswith("_"):
            continue
        try:
            public = importlib.import_module(f"skdp.{module.name}")
        except ImportError:
            continue
        for name in getattr(public, "__all__", ()):
            one = getattr(public, name)
            is_estimator = inspect.isclass(one) and issubclass(one, BaseEstimator)
            if not is_estimator and not inspect.isfunction(one):
                continue
            names = inspect.signature(one).parameters.keys()
            if "epsilon" in names and (is_estimator or "X" in names):
                found.add(name)
    return found
