"""Table 3 of the DP-CD paper: seconds for 2 to 50 passes.

The paper's seconds are those of its C++ on its laptop. Ours are medians of whole fits, validation
of the input and the copy by columns included; calibration is closed-form. "secure" draws the noise
from the operating system, "seeded" from a generator.

    python benchmarks/papers/dpcd/table3.py --data FOLDER
"""

import itertools
import sys
import time
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[2]))
import _common as bench
from _dpcd import PASSES, PROBLEMS, load_instance, published

STREAMS = {"seeded": 0, "secure": None}


def measure(name, passes, stream, repeats):
    """Return the row of the table for one problem, number of passes and kind of stream."""
    instance = load_instance(name)
    model = instance.make(
        smoothness=instance.mean_squares,
        adjacency="replace_one",
        max_iter=passes,
        random_state=STREAMS[stream],
    )
    seconds = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        model.fit(instance.X, instance.y)
        seconds.append(time.perf_counter() - start)
    # The first calibrates.
    found = bench.summarize(seconds[1:], "median", "min", "max")
    row = {"problem": name, "passes": passes, "stream": stream, "seconds": found.pop("median")}
    paper = published().loc[(name, passes), "seconds"]
    return row | found | {"paper_seconds": paper, "ratio": row["seconds"] / paper}


def main(arguments=None):
    named = {"problems": PROBLEMS, "passes": PASSES, "repeats": 10}
    options = bench.read_options(__file__, __doc__, arguments, **named)
    cells = itertools.product(options.problems, options.passes, STREAMS)
    table = pd.DataFrame(measure(*cell, options.repeats) for cell in cells).round(5)
    bench.write_table(table, "dpcd_table3.csv", options)


if __name__ == "__main__":
    bench.run_script(__file__)
