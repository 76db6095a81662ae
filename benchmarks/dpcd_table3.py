"""Table 3 of the DP-CD paper: seconds for 2 to 50 passes.

The paper's seconds are those of its C++ on its laptop. Ours are medians of whole fits, validation
of the input and the copy by columns included; calibration is closed-form. "secure" draws the noise
from the operating system, "seeded" from a generator.

    python benchmarks/dpcd_table3.py --data FOLDER
"""

import argparse
import itertools
import time
from pathlib import Path

import numpy as np
import pandas as pd
from _data import write_table
from _dpcd import PASSES, PROBLEMS, load_instance

RESULTS = Path(__file__).parent / "results"
STREAMS = {"seeded": 0, "secure": None}


def time_fits(instance, passes, random_state, repeats):
    """Return the seconds of each of some fits after a first one."""
    model = instance.make(
        smoothness=instance.mean_squares,
        adjacency="replace_one",
        max_iter=passes,
        random_state=random_state,
    )
    seconds = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        model.fit(instance.X, instance.y)
        seconds.append(time.perf_counter() - start)
    return seconds[1:]


def measure(name, folder, passes, stream, repeats):
    """Return the row of the table for one problem, number of passes and kind of stream."""
    instance = load_instance(name, folder)
    seconds = time_fits(instance, passes, STREAMS[stream], repeats)
    paper = PROBLEMS[name].seconds[PASSES.index(passes)]
    return {
        "problem": name,
        "passes": passes,
        "stream": stream,
        "seconds": np.median(seconds),
        "min": min(seconds),
        "max": max(seconds),
        "paper_seconds": paper,
        "ratio": np.median(seconds) / paper,
    }


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", help="folder of the data sets (default: SKDP_DATA, or downloads)")
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--passes", type=int, nargs="+", choices=PASSES, default=list(PASSES))
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--output", type=Path, default=RESULTS, help="folder of the results")
    options = parser.parse_args(arguments)
    table = pd.DataFrame(
        measure(name, options.data, passes, stream, options.repeats)
        for name, passes, stream in itertools.product(options.problems, options.passes, STREAMS)
    ).round(5)
    line = (
        f"python benchmarks/dpcd_table3.py --problems {' '.join(options.problems)} "
        f"--passes {' '.join(map(str, options.passes))} --repeats {options.repeats}"
    )
    write_table(table, options.output / "dpcd_table3.csv", line)
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
