"""Speed: skdp against scikit-learn without privacy and against other private libraries.

Contenders of a race take turns. Tables have medians and quartiles; a ratio is that of two times of
the same turn. Times of fits include validation of the input and leave calibration out, which a
first fit leaves in a cache; whole processes include it. Rows are generated, each shorter than the
bound but where "clipped" is said. Peers run in environments of their own (see peers/README.rst) and
are skipped where none is given.

    python benchmarks/speed.py --diffprivlib-python PATH --opacus-python PATH

Races that a run leaves out stay in the tables as they were, if the options were the same:
``--races`` goes on after a break. ``--repeats`` is the number of turns, by default each race's own,
and ``--shrink`` divides the rows, for a trial. The environment variables DIFFPRIVLIB_PYTHON and
OPACUS_PYTHON do the same as the options for peers.
"""

import os
import tempfile

import _common as bench
import pandas as pd
from _race import Peers
from _speed_figure import draw
from _speed_races import RACES

TABLES = ("speed.csv", "speed_ratios.csv")
PEERS = ("diffprivlib", "opacus")


def replace_races(name, rows, options):
    """Return a table of races by name: those of a file, and those just run in their places."""
    table = bench.read_kept(name, options)
    kept = dict(list(table.groupby("race"))) if len(table) else {}
    kept |= {name: pd.DataFrame(found).assign(race=name) for name, found in rows.items()}
    table = pd.concat([kept[name] for name in RACES if name in kept], ignore_index=True)
    return table[["race", *table.columns.drop("race")]]


def main(arguments=None):
    unnamed = {"races": RACES} | {f"{peer}_python": str for peer in PEERS}
    named = {"repeats": int, "shrink": int}
    options = bench.read_options(__file__, __doc__, arguments, unnamed=unnamed, **named)
    pythons = {
        peer: getattr(options, f"{peer}_python") or os.environ.get(f"{peer.upper()}_PYTHON")
        for peer in PEERS
    }
    for name in bench.progress(options.races):
        with tempfile.TemporaryDirectory() as folder, Peers(pythons, folder) as peers:
            found = RACES[name](peers, options.shrink or 1).run(options.repeats)
        tables = [replace_races(f, {name: r}, options) for f, r in zip(TABLES, found, strict=True)]
        for file, table in zip(TABLES, tables, strict=True):
            bench.write_table(table, file, options, bench.GENERATED, show=False)
    print(*(table.to_string(index=False) for table in tables), sep="\n")
    draw(*tables, options)


if __name__ == "__main__":
    bench.run_script(__file__)
