"""scikit-learn's callbacks, from 1.9 on: private fits take those that show how far a fit is.

A callback that asks for the rows of a fit, or for a model to score them by, gets what no report
covers. One that asks to stop would have a fit take as many steps as its data suggest. What others
are told follows from the plan, as what `verbose` shows does.
"""

from inspect import signature

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
_STOPS = (
    "A callback asks to stop, and a private fit takes all steps of its plan. What it released "
    "before is charged, and nothing of it is published."
)


def are_callbacks_known(estimator):
    """Return whether this version of scikit-learn has callbacks."""
    return hasattr(CallbackSupportMixin, "set_callbacks")


def refuse_reading(callback):
    """Refuse a callback that asks for rows, labels, metadata or a fitted model."""
    if asked := _asked_by(callback):
        kind = type(callback).__name__
        raise ValueError(_READS.format(kind=kind, asked=", ".join(asked)))


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
