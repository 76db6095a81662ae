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


@dataclass(frozen=True)
class Race:
    """What runs side by side.

    Parameters
    ----------
    unit : str
        What is timed.
    sizes : dict
        Columns of the table that all contenders share.
    contenders : dict
        Name to a function, or to None for one that isn't at hand.
    claims : list of Claim
    repeats : int
    notes : dict
        Name of a contender to what the table says of it.
    """

    unit: str
    sizes: dict
    contenders: dict
    claims: list
    repeats: int = 7
    notes: dict = field(default_factory=dict)

    def run(self, repeats=None):
        """Return the rows of the table of times and of that of ratios."""
        running = {name: run for name, run in self.contenders.items() if run is not None}
        turns = []
        with threadpool_limits(1):
            for _ in range(_WARM_UPS + (repeats or self.repeats)):
                turns.append([contender() for contender in running.values()])
        columns = np.array(turns[_WARM_UPS:]).T
        seconds = dict.fromkeys(self.contenders) | dict(zip(running, columns, strict=True))
        times = [
            {
                "contender": name,
                "unit": self.unit,
                **self.sizes,
                **({} if found is None else spread(found)),
                "note": self.notes.get(name, ""),
            }
            for name, found in seconds.items()
        ]
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


def fit_of(model, X, y):
    """Return a contender that times a fit."""
    return timed(model.fit, X, y)


def process(*command):
    """Return a contender that times a process from its start to its end."""

    def run():
        subprocess.run(command, env=_environment(command[0]), check=True, capture_output=True)

    return timed(run)


class Peer:
    """A script of peers/ that fits once for each line it is sent; a contender.

    Parameters
    ----------
    python : str
        Interpreter.
    script : str
        Name of the script.
    problem : path
        Its .npz file.
    """

    def __init__(self, python, script, problem):
        self._process = subprocess.Popen(
            [python, str(PEERS / f"{script}.py"), str(problem)],
            env=_environment(python),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # What it warns of would fill a pipe that nobody reads.
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.versions = self._read()

    def __call__(self):
        self._process.stdin.write("fit\n")
        self._process.stdin.flush()
        return self._read()["seconds"]

    def close(self):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def _read(self):
        line = self._process.stdout.readline()
        if not line:
            self.close()
            raise RuntimeError("A peer ended early: run its script by hand to see why.")
        return json.loads(line)


class Peers:
    """Starts peers, and knows which are at hand.

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
        self._started = ExitStack()

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self._started.close()

    def save(self, X, y, *, batch_size, passes):
        """Write a problem and return its file."""
        path = self._folder / f"{y.dtype}_{batch_size}.npz"
        np.savez(path, X=X, y=y, batch_size=batch_size, passes=passes)
        return path

    def start(self, name, script, problem):
        """Return a peer or None, and what the table says of it."""
        if self.pythons.get(name) is None:
            return None, f"skipped: no --{name}-python"
        peer = Peer(self.pythons[name], script, problem)
        self._started.callback(peer.close)
        return peer, ", ".join(f"{package} {found}" for package, found in peer.versions.items())


def _environment(python):
    environment = os.environ | THREADS
    # What is for this interpreter isn't for others.
    if python != sys.executable:
        environment.pop("PYTHONPATH", None)
    return environment
