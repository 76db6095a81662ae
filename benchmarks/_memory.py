"""A fit in a process of its own, whose memory memory.py reads: Linux only.

python benchmarks/_memory.py '{"estimator": ..., "X": ..., "y": ..., ...}'
"""

import json
import resource
import sys
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np

from skdp import linear_model

_WARM_UP_ROWS = 300
_POLL_SECONDS = 0.01


def status(*names):
    """Return fields of /proc/self/status in bytes."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    fields = dict(line.split(":", 1) for line in lines)
    return [1024 * int(fields[name].split()[0]) for name in names]


def reset_peak():
    """Let the peak of the resident set start from now."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


class Watcher(threading.Thread):
    """Follows anonymous memory, of which the kernel keeps no peak."""

    def __init__(self):
        super().__init__(daemon=True)
        self.peak = 0
        self._stopped = threading.Event()

    def run(self):
        while not self._stopped.wait(_POLL_SECONDS):
            self.peak = max(self.peak, *status("RssAnon"))

    def stop(self):
        self._stopped.set()
        self.join()


def measure(estimator, settings, X, y, *, layout="C", mapped=False, limit=None):
    """Return the peaks of a fit's memory in bytes, above what was there before, and its seconds.

    Parameters
    ----------
    estimator : str or None
        A class of `skdp.linear_model`. None adds the entries of X up and fits nothing.
    settings : dict
    X, y : str
        Files of `numpy.save`.
    layout : {"C", "F"}
        Order of X in memory.
    mapped : bool
        Whether X stays in its file.
    limit : int or None
        Bytes of private memory that the process may have. The fit fails above.
    """
    X = np.load(X, mmap_mode="r" if mapped else None)
    y = np.load(y)
    if layout == "F":
        X = np.asfortranarray(X)
    if estimator is None:
        run = X.sum
    else:
        model = getattr(linear_model, estimator)(**settings)
        # Loads all that is loaded late.
        model.fit(np.array(X[:_WARM_UP_ROWS], order="C"), y[:_WARM_UP_ROWS])
        run = partial(model.fit, X, y)
    watcher = Watcher()
    reset_peak()
    before, anonymous_before = status("VmRSS", "RssAnon")
    watcher.start()
    if limit is not None:
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    start = time.perf_counter()
    run()
    seconds = time.perf_counter() - start
    watcher.stop()
    (peak,) = status("VmHWM")
    return {
        "before": before,
        "peak": peak,
        "anonymous_before": anonymous_before,
        "anonymous_peak": max(watcher.peak, *status("RssAnon")),
        "seconds": seconds,
        "X_bytes": X.nbytes,
    }


if __name__ == "__main__":
    print(json.dumps(measure(**json.loads(sys.argv[1]))))
