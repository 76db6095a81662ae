"""Steps of a pipeline and of what is inside them, and which of them are refused."""

from dataclasses import dataclass

import numpy as np
from sklearn.base import OneToOneFeatureMixin
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import FeatureUnion, Pipeline

from skdp._estimator import RecordPrivateEstimator, refitted_inside, report_of
from skdp._release.plan import OpenPart
from skdp._sklearn import set_remainder
from skdp.pipeline._chain import BoundsPassingPipeline
from skdp.pipeline._leaks import why_refused

_REFUSED = "step {path!r} ({kind}) leaks: {reason}. Instead, {instead}."
_ALLOW = " If that is meant, name it in allow=({path!r},); the report will say so."
_ALLOWED = "step {!r} ({}), which may learn from the records without privacy and is named in allow"
_BEFORE = (
    "step {path!r} ({kind}), which was fitted before and reports {report!r} for {report.unit} "
    "under {report.adjacency!r}: if that was on these records, add both reports up by "
    "skdp.accountant.compose"
)
_NAMES = (
    "step {path!r}: names of steps must differ from each other, also as paths with '__' between "
    "them, and hold no '__' of their own."
)
_MAKE_SPARSE = {"HashingVectorizer", "FeatureHasher", "CountVectorizer"}
SEPARATOR = "__"
# Default threshold of a ColumnTransformer.
_USUAL_THRESHOLD = 0.3


@dataclass(frozen=True)
class Step:
    """A step, and where it is."""

    # Names of the containers that it is in and its own, as in `set_params`.
    path: str
    name: str
    estimator: object
    # A ColumnTransformer gives it these, None for all.
    columns: object = None
    # The steps within a container.
    inner: tuple = ()
    # In a chain each of `inner` gets what the one before makes; otherwise all get the same.
    is_chain: bool = False
    # A frozen step is used as it was fitted before.
    is_frozen: bool = False

    @property
    def kind(self):
        """Name of the class, as messages and reports say it."""
        name = type(self.estimator).__name__
        return f"frozen {name}" if self.is_frozen else name

    def leaves(self):
        """Yield those that are no containers, in order."""
        return (step for step in self.all_steps() if not step.inner)

    def all_steps(self):
        """Yield this step and all within."""
        yield self
        for step in self.inner:
            yield from step.all_steps()

    def containers(self):
        """Yield the containers, this one first."""
        return (step for step in self.all_steps() if step.inner)


def tree(name, estimator, columns=None, *, above="", fitted=False, is_frozen=False):
    """Return a step with all that is in it; of a frozen one, what was frozen in its place.

    Its path begins with `above`. With `fitted` what a fit left is looked at, where a container
    keeps that apart; `is_frozen` tells whether it is in something that is frozen.
    """
    if type(estimator) is FrozenEstimator:
        # Its methods are those of what it holds, as it was fitted.
        inside = estimator.estimator
        return tree(name, inside, columns, above=above, fitted=True, is_frozen=True)
    path = f"{above}{name}"
    inner = tuple(
        tree(inside, step, chosen, above=f"{path}{SEPARATOR}", fitted=fitted, is_frozen=is_frozen)
        for inside, step, chosen in _inside(estimator, fitted)
    )
    is_chain = type(estimator) in _CHAINS
    return Step(path, str(name), estimator, columns, inner, is_chain, is_frozen)


# Only these classes themselves: a subclass may do anything.
_CHAINS = (Pipeline, BoundsPassingPipeline)


def _inside(estimator, fitted):
    """Return name, estimator and columns of each step in a container."""
    kind = type(estimator)
    if kind is ColumnTransformer:
        if fitted and hasattr(estimator, "transformers_"):
            return estimator.transformers_
        return [*estimator.transformers, ("remainder", estimator.remainder, _the_rest)]
    if kind is FeatureUnion:
        return [(name, step, None) for name, step in estimator.transformer_list]
    return [(name, step, None) for name, step in estimator.steps] if kind in _CHAINS else []


def _the_rest(frame):
    """Stand for the columns that nothing else chose."""


def step_list(steps, *, fitted=False):
    """Return the steps of a pipeline, whose paths differ; see `tree`."""
    trees = [tree(name, estimator, fitted=fitted) for name, estimator in steps]
    seen = set()
    for step in (inside for top in trees for inside in top.all_steps()):
        # Two steps would be taken for one: what one releases would be lost.
        if step.path in seen or SEPARATOR in step.name:
            raise ValueError(_NAMES.format(path=step.path))
        seen.add(step.path)
    return trees


def all_leaves(steps):
    """Return the leaves of several steps, in order."""
    return [leaf for step in steps for leaf in step.leaves()]


def private_leaves(steps):
    """Return those of them that may spend a budget; what is frozen did so before."""
    return [
        leaf
        for leaf in all_leaves(steps)
        if isinstance(leaf.estimator, RecordPrivateEstimator) and not leaf.is_frozen
    ]


def n_public(steps):
    """Return how many steps there are before the first that may spend something."""
    for index, step in enumerate(steps):
        if any(leaf.estimator._learns() for leaf in private_leaves([step])):
            return index
    return len(steps)


def fix_density(steps):
    """Have ColumnTransformers make dense rows, whatever they get.

    They would make rows dense or sparse by the number of zeros in all of them, and keep which.
    """
    for container in (container for step in steps for container in step.containers()):
        if hasattr(container.estimator, "sparse_threshold") and not container.is_frozen:
            container.estimator.set_params(sparse_threshold=0)


def passing_bounds(steps):
    """Return steps in which Pipelines, also within containers, hand promises on in a fit.

    The containers are changed: they must be copies of those that a user has.
    """
    return _with_pipelines(steps, Pipeline, BoundsPassingPipeline)


def without_passing(steps):
    """Return steps, as `passing_bounds` made them, with scikit-learn's Pipelines again."""
    return _with_pipelines(steps, BoundsPassingPipeline, Pipeline)


def _with_pipelines(steps, before, after):
    """Replace pipelines of one class by ones of another with the same steps and settings."""
    return [(name, _with_pipeline(step, before, after)) for name, step in steps]


def _with_pipeline(step, before, after):
    kind = type(step)
    if kind is ColumnTransformer:
        # Before and after a fit, which makes copies of what it is given.
        for attribute in ("transformers", "transformers_"):
            if hasattr(step, attribute):
                replaced = [
                    (name, _with_pipeline(inner, before, after), columns)
                    for name, inner, columns in getattr(step, attribute)
                ]
                setattr(step, attribute, replaced)
        set_remainder(step, _with_pipeline(step.remainder, before, after))
    elif kind is FeatureUnion:
        step.transformer_list = _with_pipelines(step.transformer_list, before, after)
    elif kind in _CHAINS:
        step.steps = _with_pipelines(step.steps, before, after)
    if kind is not before:
        return step
    replacing = after(step.steps)
    # This includes what `set_output` and requests of metadata have set.
    vars(replacing).update(vars(step))
    return replacing


def check_leaks(steps, allow):
    """Refuse steps that learn from the records without privacy, but for those named in `allow`.

    Returns
    -------
    open_parts : tuple of OpenPart
        Those that do, and frozen ones that spent something before; also of a pipeline within a
        step. What was fitted before without noise or with a seed is as open as what leaks.
    """
    for leaf in all_leaves(steps):
        _refuse_what_is_no_estimator(leaf)
    allowed = []
    for step, (reason, instead) in find_leaks(steps):
        is_container = step.inner and not step.is_frozen
        # A private pipeline never calls `fit_resample`.
        is_barred = is_container or hasattr(step.estimator, "fit_resample")
        if is_barred or step.path not in allow:
            text = _REFUSED if is_barred else _REFUSED + _ALLOW
            raise ValueError(
                text.format(path=step.path, kind=step.kind, reason=reason, instead=instead)
            )
        allowed.append(step)
    unknown = [name for name in allow if name not in {step.path for step in allowed}]
    if unknown:
        raise ValueError(
            f"allow names {unknown[0]!r}, which is no step that leaks: its names are those of "
            "steps, with '__' between that of a container and those inside."
        )
    open_parts = [
        OpenPart(step.path, _ALLOWED.format(step.path, step.kind), is_unprotected=True)
        for step in allowed
    ]
    for leaf, report in _spent_before(steps):
        text = _BEFORE.format(path=leaf.path, kind=leaf.kind, report=report)
        is_unprotected = not report.differentially_private or bool(refitted_inside(leaf.estimator))
        open_parts.append(OpenPart(leaf.path, text, is_unprotected))
    for leaf in private_leaves(steps):
        open_parts += [part.within(leaf.path) for part in leaf.estimator._open_parts()]
    return tuple(open_parts)


def _refuse_what_is_no_estimator(leaf):
    does_nothing = leaf.estimator is None or isinstance(leaf.estimator, str)
    if not does_nothing and not hasattr(leaf.estimator, "fit"):
        raise TypeError(
            f"step {leaf.path!r} is of type {leaf.kind}, which has no fit: give an estimator, or "
            "'passthrough'."
        )


def _spent_before(steps):
    """Yield frozen leaves that spent something, each with its report."""
    for leaf in all_leaves(steps):
        if leaf.is_frozen:
            if (report := report_of(leaf.estimator)) is not None:
                yield leaf, report
            yield from _spent_before(_steps_within(leaf))


def _steps_within(leaf):
    """Return the steps of a frozen private pipeline, calibrated or not, maybe not those it fitted.

    What it fitted it reports. Without a report each of them was fitted by itself, and so was what
    has another report than it left there. All else has no steps.
    """
    pipeline = getattr(leaf.estimator, "estimator_", leaf.estimator)
    if not leaf.is_frozen or not isinstance(pipeline, Pipeline):
        return []
    reported = {id(report) for report in getattr(pipeline, "_step_reports", ())}
    above, steps = f"{leaf.path}{SEPARATOR}", []
    for name, estimator in pipeline.steps:
        left = reports_within([tree(name, estimator, above=above, fitted=True)])
        is_covered = report_of(leaf.estimator) and all(id(report) in reported for report in left)
        steps.append(tree(name, estimator, above=above, fitted=True, is_frozen=not is_covered))
    return steps


def reports_within(steps):
    """Return the reports of all leaves, as objects: a fit makes one of its own."""
    reports = (report_of(leaf.estimator) for leaf in all_leaves(steps))
    return tuple(report for report in reports if report is not None)


def refitted_steps(steps, reports):
    """Return paths of what was fitted again, or put in, since a fit left these reports."""
    ids = {id(report) for report in reports}
    paths = []
    for leaf in all_leaves(steps):
        report = report_of(leaf.estimator)
        if report is not None and id(report) not in ids:
            paths.append(leaf.path)
        paths += [f"{leaf.path}{SEPARATOR}{path}" for path in refitted_inside(leaf.estimator)]
    return tuple(paths)


def find_leaks(steps):
    """Yield containers and leaves that leak, each with why it does and what to use instead."""
    for step in steps:
        for container in step.containers():
            if leak := why_container_is_refused(container):
                yield container, leak
        for leaf in step.leaves():
            if leak := why_refused(leaf.estimator, leaf is steps[-1], leaf.is_frozen):
                yield leaf, leak
            else:
                yield from find_leaks(_steps_within(leaf))


def width_after(step, width):
    """Return how many columns a step makes of so many, None where that isn't known beforehand."""
    if width is None or step.estimator is None or step.estimator == "passthrough":
        return width
    if step.is_chain:
        return width_of_all(step.inner, width)
    return width if isinstance(step.estimator, OneToOneFeatureMixin) else None


def width_of_all(steps, width):
    """Return how many columns steps make of so many, one after the other; see `width_after`."""
    for step in steps:
        width = width_after(step, width)
    return width


def declared_width(estimator):
    """Return the number of columns that an estimator's parameters are for, None if for any."""
    categories = getattr(estimator, "categories", "auto")
    if not isinstance(categories, str) and hasattr(categories, "__len__"):
        return len(categories)
    bounds = getattr(estimator, "feature_bounds", None)
    sizes = () if bounds is None else (np.size(end) for end in bounds if np.ndim(end) == 1)
    return next(iter(sizes), None)


def widths(step, width):
    """Yield each leaf of a step that gets so many columns with their number, None if unknown."""
    if step.columns is not None:
        width = _n_chosen(step.columns, width)
    if not step.inner:
        yield step, width
    for inside in step.inner:
        yield from widths(inside, width)
        if step.is_chain:
            width = width_after(inside, width)


def _n_chosen(columns, width):
    """Return how many columns a ColumnTransformer's choice is, None if that takes their names."""
    if isinstance(columns, (str, int)):
        return 1
    if isinstance(columns, slice):
        ends = (columns.start, columns.stop, columns.step)
        if width is None or any(isinstance(end, str) for end in ends):
            return None
        return len(range(width)[columns])
    if callable(columns):
        return None
    columns = np.asarray(columns)
    return int(columns.sum()) if columns.dtype.kind == "b" else columns.size


def why_container_is_refused(container):
    """Return why what joins steps leaks, whatever they are, or None; see `why_refused`."""
    joined = container.estimator
    if getattr(joined, "memory", None) is not None:
        return "what it keeps in its memory follows from exact records", "set memory=None"
    if getattr(joined, "transform_input", None) is not None:
        return "further input isn't planned for", "set transform_input=None"
    # As they were given: a fit leaves what functions chose.
    for *_, columns in getattr(joined, "transformers", ()):
        if callable(columns) and type(columns) is not make_column_selector:
            reason = "a function chooses its columns, and may look at their values or types"
            return reason, "give columns by names or places, or take make_column_selector"
    threshold = getattr(joined, "sparse_threshold", 0)
    kinds = [leaf.path for leaf in container.leaves() if _makes_sparse(leaf)]
    # A frozen step keeps what followed from its threshold.
    harmless = (0,) if container.is_frozen else (0, _USUAL_THRESHOLD)
    if threshold not in harmless or (threshold != 0 and kinds):
        reason = "whether what it makes is sparse may follow from how many zeros there are"
        if kinds:
            reason = f"{kinds[0]!r} makes sparse rows, and {reason}"
        return reason, "set sparse_threshold=0 (and sparse_output=False of an encoder)"
    return None


def choose_by_type(steps):
    """Return whether steps choose columns by their types, which are assumed public then."""
    choices = (
        columns
        for step in steps
        for container in step.containers()
        for *_, columns in getattr(container.estimator, "transformers", ())
        if type(columns) is make_column_selector
    )
    return any(one.dtype_include is not None or one.dtype_exclude is not None for one in choices)


def _makes_sparse(leaf):
    says_so = getattr(leaf.estimator, "sparse_output", getattr(leaf.estimator, "sparse", False))
    return says_so is True or leaf.kind in _MAKE_SPARSE
