"""scikit-learn's callbacks, from 1.9 on: private fits take those that show how far a fit is.

A callback that asks for the rows of a fit, or for a model to score them by, gets what no report
covers. One that asks to stop would have a fit take as many steps as its data suggest. What others
are told follows from the plan, as what `verbose` shows does.
"""

from inspect import signature

from sklearn.utils.metaestimators import available_if

try:
    from sklearn.callback import CallbackSupportMixin
except ImportError:  # before scikit-learn 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """What has no callbacks."""


# A fit is so many tasks to a callback, whatever its plan: what it learns first may tell how many
# releases follow.
_N_TASKS = 100
_HOOKS = ("on_fit_task_begin", "on_fit_task_end")
_READS = (
    "{kind} asks for {asked} of each task of a fit. What it makes of the training rows, such as "
    "their score, is exact, and no report would cover it. A private fit takes callbacks that show "
    "how far it is, such as sklearn.callback.ProgressBar. skdp.metrics.private_score gives a score "
    "with noise, for a part of a budget."
)
_CLASS = "callbacks are objects, and {kind} is a class: give set_callbacks({kind}(...))."
_STOPS = (
    "A callback asks to stop, and a private fit takes all steps of its plan. What it released "
    "before is charged, and nothing of it is published."
)


def _has_callbacks(estimator):
    return hasattr(CallbackSupportMixin, "set_callbacks")


class CallbacksMixin(CallbackSupportMixin):
    """Callbacks of private estimators."""

    @available_if(_has_callbacks)
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
            if isinstance(callback, type):
                raise TypeError(_CLASS.format(kind=callback.__name__))
            if asked := _asked_by(callback):
                text = _READS.format(kind=type(callback).__name__, asked=", ".join(asked))
                raise ValueError(text)
        return super().set_callbacks(*callbacks)


def _asked_by(callback):
    """Return what scikit-learn would hand to a callback: its hooks' arguments by keyword alone."""
    hooks = [getattr(callback, hook) for hook in _HOOKS if hasattr(callback, hook)]
    arguments = [one for hook in hooks for one in signature(hook).parameters.values()]
    return tuple(dict.fromkeys(one.name for one in arguments if one.kind == one.KEYWORD_ONLY))


def has_callbacks(estimator):
    """Return whether an estimator has callbacks, its own or those of what it is in."""
    return bool(getattr(estimator, "_skl_callbacks", ()))


class CallbackDisplay:
    """Shows a fit to the callbacks of its estimator: a display, see `_progress`."""

    most_marks = _N_TASKS

    def __init__(self, estimator):
        self._estimator, self._n_ended = estimator, 0
        context = estimator._init_callback_context(max_subtasks=_N_TASKS)
        self._context = context.call_on_fit_task_begin(estimator=estimator)

    def show(self, text, n_done, n_total):
        """End as many tasks as are due. The last is that of the fit, parts of which start anew."""
        self._end_until(min(_N_TASKS * n_done // n_total, _N_TASKS - 1), text)

    def finish(self, text):
        """End all tasks, and the fit."""
        self._end_until(_N_TASKS, text)
        self._context.call_on_fit_task_end(estimator=self._estimator)

    def close(self):
        """Leave it to scikit-learn's decorator of fits to tear callbacks down."""

    def _end_until(self, n_due, text):
        while self._n_ended < n_due:
            self._n_ended += 1
            task = self._context.subcontext(task_name=text)
            task.call_on_fit_task_begin(estimator=self._estimator)
            if task.call_on_fit_task_end(estimator=self._estimator):
                raise ValueError(_STOPS)
