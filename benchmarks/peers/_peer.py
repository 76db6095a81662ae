"""What the peers share: seconds of one fit after the other, on the data of an .npz file.

    python peers/NAME.py problem.npz --repeats 5

The file holds X, y, batch_size and passes. Without ``--repeats`` a fit is run for each line of the
standard input, so that a parent can take turns with several peers.
"""

import argparse
import json
import platform
import sys
import time
from importlib.metadata import version

import numpy as np


def run(prepare, packages):
    """Write a line of versions, and a line for each fit.

    Parameters
    ----------
    prepare : callable
        ``prepare(X, y, batch_size, passes)`` gives a function without arguments that fits once.
    packages : sequence of str
        Whose versions to tell.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("problem", help=".npz file")
    parser.add_argument("--repeats", type=int, help="fits after a first one that doesn't count")
    parser.add_argument("--once", action="store_true", help="fit once and say nothing")
    options = parser.parse_args()
    with np.load(options.problem) as file:
        X, y = file["X"], file["y"]
        fit = prepare(X, y, int(file["batch_size"]), int(file["passes"]))
    fit()
    if options.once:
        return
    versions = {name: version(name) for name in packages}
    _say({"python": platform.python_version(), **versions})
    for _ in sys.stdin if options.repeats is None else range(options.repeats):
        start = time.perf_counter()
        fit()
        _say({"seconds": time.perf_counter() - start})


def _say(message):
    print(json.dumps(message), flush=True)
