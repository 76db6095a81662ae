"""Steps whose last fit may not be the one that the rest of a pipeline learnt from."""

from skdp._estimator import PrivateEstimator, fits_of, refitted_inside, report_of
from skdp._release.plan import OpenPart
from skdp.pipeline._steps import SEPARATOR, all_leaves

_AGAIN = (
    "step {path!r} ({kind}) was fitted again, {number} fits in all: only the last one is counted "
    "here, and other steps may have learnt from an earlier one. Fit a clone of the pipeline for a "
    "total that holds"
)
_EARLIER = (
    "earlier fits of step {path!r} ({kind}), which was fitted again, {number} fits in all: only "
    "the last one is counted here"
)
_AFTER = (
    "step {path!r} ({kind}) was fitted again or exchanged after the fit of step {later!r}, which "
    "learnt from another fit, and no report here covers that one. Fit a clone of the pipeline for "
    "a total that holds"
)
_NOT_AS_IT_WAS = (
    "{path!r} was fitted again or exchanged after the fit of all, and the report of all doesn't "
    "cover that. Fit all again"
)


def refits(steps):
    """Return an `OpenPart` for each step of a fitted pipeline that was fitted again, or may be.

    One that no later step learns from is no unprotected part: its last fit is all that is left.
    """
    parts = []
    for leaf, learners in _private_steps(steps, ()):
        n_fits = fits_of(leaf.estimator).count
        older = [later for later in learners if _number(later) < _number(leaf)]
        if n_fits > 1:
            template = _AGAIN if learners else _EARLIER
            text = template.format(path=leaf.path, kind=leaf.kind, number=n_fits)
            parts.append(OpenPart(leaf.path, text, is_unprotected=bool(learners)))
        elif older:
            text = _AFTER.format(path=leaf.path, kind=leaf.kind, later=older[0].path)
            parts.append(OpenPart(leaf.path, text, is_unprotected=True))
        parts += refits_inside(leaf.estimator, leaf.path + SEPARATOR)
    return parts


def refits_inside(estimator, above=""):
    """Return an `OpenPart` for each part of a fitted estimator that isn't as its fit left it."""
    paths = [f"{above}{path}" for path in refitted_inside(estimator)]
    return [OpenPart(path, _NOT_AS_IT_WAS.format(path=path), is_unprotected=True) for path in paths]


def _private_steps(steps, behind):
    """Yield each private leaf of a chain with those that come later and learn from what it makes.

    `behind` are such leaves after all steps.
    """
    for index, step in enumerate(steps):
        learners = [leaf for leaf in all_leaves(steps[index + 1 :]) if _learns(leaf)] + list(behind)
        if step.is_chain:
            yield from _private_steps(step.inner, learners)
        elif step.inner:
            for inside in step.inner:
                yield from _private_steps((inside,), learners)
        elif isinstance(step.estimator, PrivateEstimator):
            yield step, learners


def _learns(leaf):
    """Return whether a fit of the pipeline fits a step, which then learns from those before."""
    is_private = isinstance(leaf.estimator, PrivateEstimator)
    return is_private and not leaf.is_frozen and report_of(leaf.estimator) is not None


def _number(leaf):
    """Return the place of a step's fit among those of this process, see `Fits`."""
    return fits_of(leaf.estimator).number
