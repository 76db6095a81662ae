"""Tapes of runs: what mechanisms were given and returned, and what a run left behind."""

import contextlib
import inspect
import io
import logging
import sys
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

import joblib
import numpy as np

import skdp
from skdp._release import mechanisms, run as runs, sampling
from skdp._release.random import SeededStream
from skdp._rows.bounds import null_records
from skdp.linear_model.walr import _release as aggregates

PACKAGE = Path(skdp.__file__).parent
DRAWS = "normal", "normal_number", "gamma", "uniform", "words", "integers", "spawn", "twister"


@dataclass
class Call:
    """A call of a mechanism.

    Attributes
    ----------
    name : str
        Of the release in the report, empty where no run planned it.
    event : object or None
        What the plan accounts for it.
    has_threshold : bool
        Whether what a record alone has is hidden with a probability that delta contains.
    n_parts : int
        In how many calls the release is made.
    mechanism : object
    value, released : ndarray
        What went in and came out.
    """

    name: str
    event: object
    has_threshold: bool
    n_parts: int
    mechanism: object
    value: np.ndarray
    released: np.ndarray

    @property
    def declared(self):
        """What must be the same whatever the records are."""
        value, released = self.value, self.released
        return self.name, self.mechanism, value.shape, value.dtype, released.shape, released.dtype

    def bound(self, is_null):
        """Return how far the input may move, if a record becomes null or else another one."""
        declared = self.mechanism.contribution_bound
        # What numbers are rounded by is declared, too.
        return self.factor(is_null) * getattr(self.mechanism, "sensitivity", declared)

    def factor(self, is_null):
        """Return how many bounds that is."""
        # What a record adds to scores of a maximum is from 0 to the bound.
        is_range = isinstance(self.mechanism, mechanisms.NoisyMaximum)
        is_pairwise = getattr(self.event, "pairwise", False)
        is_label = isinstance(self.mechanism, mechanisms.RandomizedResponse)
        return 1.0 if is_null or is_pairwise or is_range or is_label else 2.0


def distance(mechanism, one, other):
    """Return how far two inputs of a mechanism are apart, in the norm that its bound is about.

    Numbers are rounded to the mechanism's grid before noise is added.
    """
    rounded = getattr(mechanism, "rounded", np.asarray)
    one, other = rounded(one), rounded(other)
    apart = np.abs(np.asarray(one, dtype=float) - np.asarray(other, dtype=float)).ravel()
    if isinstance(mechanism, mechanisms.GaussianMechanism | mechanisms.LaplaceMechanism):
        # Squares of huge numbers overflow.
        largest = apart.max(initial=0.0)
        return largest * np.linalg.norm(apart / largest) if largest > 0.0 else 0.0
    if isinstance(mechanism, mechanisms.DiscreteLaplaceMechanism):
        return apart.sum()
    if isinstance(mechanism, mechanisms.RandomizedResponse):
        return float(np.count_nonzero(apart))
    if isinstance(mechanism, mechanisms.ExponentialChoice | mechanisms.NoisyMaximum):
        return apart.max(initial=0.0)
    raise TypeError(f"nothing is known of {type(mechanism).__name__}.")


@dataclass
class Tape:
    """What a run on some records did, and what it left behind."""

    calls: list = field(default_factory=list)
    # Calls, draws and batches in order, without their values.
    order: list = field(default_factory=list)
    lines: Counter = field(default_factory=Counter)
    published: dict = field(default_factory=dict)
    report: object = None


def record(subject, records, *, tape=None, null=(), with_lines=True):
    """Run a subject and return its tape; calls return what is on a tape that is given.

    To count lines takes twenty times as long, and can be left out.
    """
    made, printed = Tape(), io.StringIO()
    handler = logging.StreamHandler(printed)
    logging.getLogger().addHandler(handler)
    try:
        with (
            spied(made, tape),
            traced(made.lines) if with_lines else contextlib.nullcontext(),
            warnings.catch_warnings(record=True) as caught,
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(printed),
            null_records(null),
        ):
            warnings.simplefilter("always")
            found = subject.learn(records)
    finally:
        logging.getLogger().removeHandler(handler)
    made.report = getattr(found, "privacy_report_", None) or found.report
    made.published = {name: joblib.hash(value) for name, value in vars(found).items()}
    made.published["report"] = made.report.to_json()
    made.published["repr"] = repr(found)
    made.published["warnings"] = [(one.category, str(one.message)) for one in caught]
    made.published["printed"] = printed.getvalue()
    return made


@contextlib.contextmanager
def traced(lines):
    """Count how often each line of the package runs, by its function."""

    def enter(frame, event, arg):
        code = frame.f_code
        if not code.co_filename.startswith(str(PACKAGE)):
            return None
        path = Path(code.co_filename).relative_to(PACKAGE).with_suffix("")
        function = f"{'.'.join(path.parts)}:{code.co_qualname}"

        def count(frame, event, arg):
            if event == "line":
                lines[function, frame.f_lineno] += 1
            return count

        return count

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        yield
    finally:
        sys.settrace(before)


@contextlib.contextmanager
def spied(made, tape):
    """Have mechanisms and streams note what they do, and mechanisms return what a tape has."""
    # Draws of a mechanism are its own; they are what its parameters say.
    inside, planned, events, streams = [], [], {}, []

    def as_release(original):
        def release(self, value, stream):
            given, place = np.array(value), len(made.calls)
            is_on_tape = tape is not None and place < len(tape.calls)
            # With what it was given before, the stream goes on from where it did then.
            fed = tape.calls[place].value if is_on_tape else given
            inside.append(self)
            try:
                result = original(self, fed, stream)
            finally:
                inside.pop()
            made.order.append("call")
            known = planned[-1] if planned else ("", None, False, 1)
            made.calls.append(Call(*known, self, given, np.array(result)))
            return result

        return release

    def as_draw(name, original):
        def draw(self, *sizes):
            if not inside:
                if not any(stream is self for stream in streams):
                    streams.append(self)
                number = next(i for i, stream in enumerate(streams) if stream is self)
                made.order.append((name, number, sizes))
            inside.append(self)
            try:
                return original(self, *sizes)
            finally:
                inside.pop()

        return draw

    def as_take(original):
        def take(self, name):
            found = original(self, name)
            events[name] = getattr(found.release, "event", None), found.erasure > 0.0
            return found

        return take

    def as_steps(original):
        def call(self, *arguments):
            event, is_hidden = events.get(self.name, (None, False))
            planned.append((self.name, event, is_hidden, self._n_calls_each))
            try:
                return original(self, *arguments)
            finally:
                planned.pop()

        return call

    def as_batches(original):
        def batches(self, stream):
            made.order.append(("batches", type(self).__name__, str(self.design)))
            return original(self, stream)

        return batches

    with contextlib.ExitStack() as stack:

        def patch(kind, name, function):
            stack.enter_context(mock.patch.object(kind, name, function))

        for _, kind in inspect.getmembers(mechanisms, inspect.isclass):
            if "release" in vars(kind):
                patch(kind, "release", as_release(kind.release))
        for name in DRAWS:
            patch(SeededStream, name, as_draw(name, getattr(SeededStream, name)))
        for _, kind in inspect.getmembers(sampling, inspect.isclass):
            if "batches" in vars(kind):
                patch(kind, "batches", as_batches(kind.batches))
        patch(runs.Run, "_take", as_take(runs.Run._take))
        # The random name of an aggregate.
        patch(aggregates, "token_hex", lambda n_bytes: "name")
        for name in ("__call__", "serve"):
            patch(runs.Steps, name, as_steps(getattr(runs.Steps, name)))
        yield
