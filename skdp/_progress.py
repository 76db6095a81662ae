"""What a fit shows of where it is, if it is asked to: parts of its plan, and how many are done.

What is shown follows from parameters, public sizes and releases, and so does when it is shown: a
part has as many marks as its plan has steps for, whatever the time that these take. No text has a
time. That a line comes when a step ends tells how long the step took, as the process itself does.
"""

import sys
from collections.abc import Callable
from contextlib import ExitStack, closing, contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from itertools import count

# A part with more steps has so many lines, or moves of a bar, evenly spaced.
_MOST_LINES, _MOST_MOVES = 10, 100


class _Display:
    """What is shown to users, which ends as a mark of its own."""

    def show(self, text, n_done, n_total):
        raise NotImplementedError

    def finish(self, text):
        """Show that all is done."""
        self.show(text, 1, 1)


class _Lines(_Display):
    """Prints a line for each mark, as scikit-learn does."""

    most_marks = _MOST_LINES

    def show(self, text, n_done, n_total):
        # Written at once, so that lines of several workers don't mix.
        print(f"{text}\n", end="", flush=True)

    def close(self):
        """Leave the lines as they are."""


class _Bar(_Display):
    """Moves a bar for each mark."""

    most_marks = _MOST_MOVES

    def __init__(self):
        from tqdm import tqdm

        self._bar = tqdm(total=1, bar_format="{desc} |{bar:20}|")

    def show(self, text, n_done, n_total):
        self._bar.n, self._bar.total = n_done, n_total
        self._bar.set_description_str(text)

    def close(self):
        """Leave the bar as it is."""
        self._bar.close()


class Progress:
    """Shows where a fit is; its lines begin with the name of the estimator."""

    is_shown = True

    def __init__(self, owner, displays):
        self._owner, self._displays = owner, displays

    def note(self, text):
        """Show what is about to be done."""
        self._show(text, 0, 1)

    def finish(self):
        """Show that all is done."""
        for display in self._displays:
            display.finish(self._text("done"))

    def counted(self, what, n_total):
        """Show that none of so many parts is done; return what to call at the end of each."""
        self._show(f"{what} 0/{n_total}", 0, n_total)
        numbers = count(1)
        return lambda: self._count(what, next(numbers), n_total)

    def each(self, what, n_total, items):
        """Give so many items, and show how many of them are used."""
        one_done = self.counted(what, n_total)
        for item in items:
            yield item
            one_done()

    def named(self, what, n_total):
        """Return what to call with the name of each of so many parts, as it begins."""
        numbers = count(1)

        def begin(name):
            number = next(numbers)
            self._show(f"{what} {number}/{n_total}: {name}", number - 1, n_total)

        return begin

    def released(self, name, place, n_planned):
        """Return what to call with the number of steps that are made of a planned release."""
        what = f"release {place}/{n_planned}: {name}"
        return lambda n_done, n_total: self._count(what, n_done, n_total, (place - 1, n_planned))

    def _count(self, what, n_done, n_total, within=(0, 1)):
        """Show how many of some steps are done: a part of so many that follows others."""
        text = what if n_total == 1 else f"{what} {n_done}/{n_total}"
        n_before, n_parts = within
        for display in self._displays:
            # The same number of marks is shown however many steps there are.
            most = display.most_marks
            if most * n_done // n_total > most * (n_done - 1) // n_total:
                place = n_before * n_total + n_done
                display.show(self._text(text), place, n_parts * n_total)

    def _show(self, text, n_done, n_total):
        for display in self._displays:
            display.show(self._text(text), n_done, n_total)

    def _text(self, text):
        # Users choose names of steps.
        text = text if text.isprintable() else ascii(text)[1:-1]
        return f"[{self._owner}] {text}"


class _Unseen(Progress):
    """Shows nothing."""

    is_shown = False

    def __init__(self):
        super().__init__("", ())

    def each(self, what, n_total, items):
        return items

    def _show(self, text, n_done, n_total):
        pass

    def _count(self, what, n_done, n_total, within=(0, 1)):
        pass


_UNSEEN = _Unseen()
_CURRENT: ContextVar[Progress] = ContextVar("_CURRENT", default=_UNSEEN)
_IS_SECRET = ContextVar("_IS_SECRET", default=False)


def progress():
    """Return what shows where the innermost fit is that runs now."""
    return _CURRENT.get()


@contextmanager
def showing(owner, verbose, others=()):
    """Show where what runs within is, by the name of its owner, as `verbose` says.

    It is shown on `others`, too: what opens displays.
    """
    openings = [*([_display_of(verbose)] if verbose else []), *others]
    if not openings or _IS_SECRET.get():
        with _current(_UNSEEN):
            yield
        return
    with ExitStack() as stack:
        displays = [stack.enter_context(closing(opening())) for opening in openings]
        shown = Progress(owner, displays)
        with _current(shown):
            shown.note("started")
            yield
            shown.finish()


@contextmanager
def showing_nothing():
    """Have nothing shown of what runs within, whatever it was asked to show."""
    before = _IS_SECRET.set(True)
    try:
        with _current(_UNSEEN):
            yield
    finally:
        _IS_SECRET.reset(before)


@contextmanager
def _current(shown):
    before = _CURRENT.set(shown)
    try:
        yield
    finally:
        _CURRENT.reset(before)


def _display_of(verbose) -> Callable:
    """Return a bar where there is one, and somebody to see it move; 2 asks for lines."""
    is_seen = "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())
    return _Bar if verbose == 1 and is_seen and find_spec("tqdm") is not None else _Lines
