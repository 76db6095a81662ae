"""Speed: skdp against scikit-learn without privacy and against other private libraries.

Contenders of a race take turns. Tables have medians and quartiles; a ratio is that of two times of
the same turn. Times of fits include validation of the input and leave calibration out, which a
first fit leaves in a cache; whole processes include it. Rows are generated, each shorter than the
bound but where "clipped" is said. Peers run in environments of their own (see peers/README.rst) and
are skipped where none is given.

    python benchmarks/speed.py --diffprivlib-python PATH --opacus-python PATH

Races that a run leaves out stay in the tables as they were, if the options were the same:
``--races`` goes on after a break.
"""

import argparse
import os
import tempfile
from pathlib import Path

import pandas as pd
from _data import read_kept, write_table
from _race import Peers
from _speed_figure import draw
from _speed_races import RACES
from tqdm import tqdm

RESULTS = Path(__file__).parent / "results"
NOTE = "Rows are generated. BLAS and OpenMP have one thread (OMP_NUM_THREADS=1) everywhere."
TABLES = ("speed.csv", "speed_ratios.csv")
PEERS = ("diffprivlib", "opacus")


def replace_races(path, rows, command):
    """Return a table of races by name: those of a file, and those just run in their places."""
    table = read_kept(path, command)
    kept = dict(list(table.groupby("race"))) if len(table) else {}
    kept |= {name: pd.DataFrame(found).assign(race=name) for name, found in rows.items()}
    table = pd.concat([kept[name] for name in RACES if name in kept], ignore_index=True)
    return table[["race", *table.columns.drop("race")]]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for peer in PEERS:
        variable = f"{peer.upper()}_PYTHON"
        parser.add_argument(
            f"--{peer}-python",
            default=os.environ.get(variable),
            help=f"interpreter that has {peer} (default: the environment variable {variable})",
        )
    parser.add_argument("--races", nargs="+", choices=RACES, default=list(RACES))
    parser.add_argument("--repeats", type=int, help="turns (default: each race's own number)")
    parser.add_argument("--shrink", type=int, default=1, help="divide the rows, for a trial")
    parser.add_argument("--output", type=Path, default=RESULTS, help="folder of the results")
    options = parser.parse_args(arguments)
    pythons = {peer: getattr(options, f"{peer}_python") for peer in PEERS}
    line = "python benchmarks/speed.py"
    line += f" --repeats {options.repeats}" if options.repeats else ""
    line += f" --shrink {options.shrink}" if options.shrink > 1 else ""
    for name in tqdm(options.races, unit="race", leave=False):
        with tempfile.TemporaryDirectory() as folder, Peers(pythons, folder) as peers:
            times, ratios = RACES[name](peers, options.shrink).run(options.repeats)
        for file, rows in zip(TABLES, (times, ratios), strict=True):
            table = replace_races(options.output / file, {name: rows}, line)
            write_table(table, options.output / file, line, NOTE)
    times, ratios = (
        pd.read_csv(options.output / file, comment="#")
        for file in ("speed.csv", "speed_ratios.csv")
    )
    draw(times, ratios, options.output / "speed.png")
    print(times.to_string(index=False))
    print(ratios.to_string(index=False))


if __name__ == "__main__":
    main()
