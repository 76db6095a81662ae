"""Times of several contenders that take turns, so that what slows the machine slows them all.

A contender is a function without arguments that returns seconds. Peers that need an environment of
their own run in a process that fits once for each line it is sent.
"""

import json
import os
import subprocess
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

PEERS = Path(__file__).parent / "peers"
THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
# Of each contender and race, first turns that don't count: they calibrate noise and fill caches.
_WARM_UPS = 1


@dataclass(frozen=True)
class Claim:
    """A ratio of two contenders' times, or of one to a constant, and what it should be.

    Parameters
    ----------
    text : str
    slow, fast : str or float
        Contenders, or seconds; the ratio is that of `slow` to `fast`.
    at_most, at_least : float or None
        The target, if there is one.
    minus : str or None
        A contender whose seconds are taken off those of `slow`.
    """

    text: str
    slow: str | float
    fast: str | float = 1.0
    at_most: float | None = None
    at_least: float | None = None
    minus: str | None = None

    @property
    def target(self):
        """The target in words."""
        if self.at_most is not None:
            return f"<= {self.at_most:g}"
        return "" if self.at_least is None else f">= {self.at_least:g}"

    def judge(self, seconds):
        """Return a row of the table of ratios from the seconds of each contender, or None."""
        row = {"claim": self.text, "target": self.target}
        slow, fast, minus = (
            seconds[name] if isinstance(name, str) else name
            for name in (self.slow, self.fast, self.minus or 0.0)
        )
        if any(found is None for found in (slow, fast, minus)):
            return row | {"met": "skipped"}
        # Turn by turn: both saw the same machine.
        found = spread((slow - minus) / fast)
        return row | found | {"met": self._is_met(found["median"])}

    def _is_met(self, ratio):
        if not self.target:
            return ""
        is_met = ratio <= self.at_most if self.at_most is not None else ratio >= self.at_least
        return "yes" if is_met else "no"


@dataclass
class Race:
    """What runs side by side, and what is claimed of it.

    Parameters
    ----------
    unit : str
        What is timed.
    sizes : dict
        Columns of the table that all contenders share.
    repeats : int
        Turns.
    """

    unit: str
    sizes: dict
    repeats: int = 7
    contenders: dict = field(default_factory=dict)
    notes: dict = field(default_factory=dict)
    claims: list = field(default_factory=list)

    def add(self, name, contender, note=""):
        """Add a contender, or None for one that isn't at hand, and what the table says of it."""
        self.contenders[name], self.notes[name] = contender, note

    def claim(self, *words, **settings):
        """Add a `Claim`."""
        self.claims.append(Claim(*words, **settings))

    def run(self, repeats=None):
        """Return the rows of the table of times and of that of ratios."""
        running = {name: run for name, run in self.contenders.items() if run is not None}
        turns = []
        with threadpool_limits(1):
            for _ in range(_WARM_UPS + (repeats or self.repeats)):
                turns.append([contender() for contender in running.values()])
        columns = np.array(turns[_WARM_UPS:]).T
        seconds = dict.fromkeys(self.contenders) | dict(zip(running, columns, strict=True))
        times = []
        for name, found in seconds.items():
            row = {"contender": name, "unit": self.unit, **self.sizes}
            row |= {} if found is None else spread(found)
            times.append(row | {"note": self.notes[name]})
        return times, [claim.judge(seconds) for claim in self.claims]


def spread(values):
    """Return the median and the quartiles, to four digits, and the number of values."""
    quartiles = (float(f"{value:.4g}") for value in np.quantile(values, [0.5, 0.25, 0.75]))
    return dict(zip(("median", "q1", "q3"), quartiles, strict=True)) | {"repeats": len(values)}


def timed(function, *arguments):
    """Return a contender that times a call."""

    def contender():
        start = time.perf_counter()
        function(*arguments)
        return time.perf_counter() - start

    return contender


def process(*command):
    """Return a contender that times a process from its start to its end."""

    def run():
        subprocess.run(command, env=_environment(command[0]), check=True, capture_output=True)

    return timed(run)


class Peers:
    """Starts scripts of peers/, which fit once for each line they are sent, and ends them.

    Parameters
    ----------
    pythons : dict
        Name of a peer to an interpreter that has it, or None.
    folder : path
        For the files of problems.
    """

    def __init__(self, pythons, folder):
        self.pythons = {"numpy": sys.executable} | pythons
        self._folder = Path(folder)
        self._processes = ExitStack()

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self._processes.close()

    def save(self, X, y, *, batch_size, passes):
        """Write a problem and return its file."""
        path = self._folder / f"{y.dtype}_{batch_size}.npz"
        np.savez(path, X=X, y=y, batch_size=batch_size, passes=passes)
        return path

    def start(self, name, script, problem):
        """Return a contender or None, and what the table says of it."""
        python = self.pythons.get(name)
        if python is None:
            return None, f"skipped: no --{name}-python"
        # What it warns of would fill a pipe that nobody reads.
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        command = [python, str(PEERS / f"{script}.py"), str(problem)]
        peer = subprocess.Popen(command, env=_environment(python), text=True, **pipes)
        self._processes.callback(peer.communicate)

        def read():
            line = peer.stdout.readline()
            if not line:
                raise RuntimeError("A peer ended early: run its script by hand to see why.")
            return json.loads(line)

        def fit():
            peer.stdin.write("fit\n")
            peer.stdin.flush()
            return read()["seconds"]

        return fit, ", ".join(f"{package} {found}" for package, found in read().items())


def _environment(python):
    environment = os.environ | THREADS
    # What is for this interpreter isn't for others.
    if python != sys.executable:
        environment.pop("PYTHONPATH", None)
    return environment
