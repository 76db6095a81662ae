"""How far a private description of Adult is off, by what it says.

All of the table's columns, with two crosstabs. Errors of means, standard deviations and quantiles
are in standard deviations of the column, those of counts in shares of the records: the root mean
square over seeds, for the columns in the middle and at worst. "covered" is the share of 95 %
intervals that hold the table's own number. Means of columns with long tails are cut.

    python benchmarks/describe.py --data FOLDER
"""

import _common as bench
import numpy as np
import pandas as pd
from _data import load_frame

from skdp.statistics import describe

QUANTILES = {"5%": 0.05, "25%": 0.25, "50%": 0.5, "75%": 0.75, "95%": 0.95}
PAIRS = [("education", "sex"), ("age", "income")]
NOTE = "Against the table itself. Intervals of means are for numbers that are cut."


def of_numbers(table, found):
    """Yield the error of each number of a description's frame, and whether it is covered."""
    frame = found.to_frame(intervals=True)
    for name, column in table.items():
        x, unit = column.dropna(), len(column)
        truth = {"gaps": len(column) - len(x)}
        if column.dtype.kind in "if":
            unit, truth["mean"], truth["std"] = x.std(ddof=0), x.mean(), x.std(ddof=0)
            shares = list(QUANTILES.values())
            truth |= zip(QUANTILES, np.quantile(x, shares, method="inverted_cdf"), strict=True)
        for statistic, of in truth.items():
            value, low, high = frame.loc[name, statistic]
            size = len(column) if statistic == "gaps" else unit
            yield statistic, name, (value - of) / size, low - 1e-9 <= of <= high + 1e-9


def of_counts(table, found):
    """Yield the same of words and cells, those that are infrequent or missing left out."""
    n = len(table)
    for name in table.select_dtypes(exclude="number"):
        lines = found.histograms_[name].iloc[:-2]
        of = table[name].value_counts()[lines.index]
        covered = lines["low"].le(of) & of.le(lines["high"])
        yield "words", name, np.sqrt(((lines["count"] - of) ** 2).mean()) / n, covered.mean()
    pair = PAIRS[0]
    cells = found.crosstabs_[pair].iloc[:-2, :-2]
    off = cells - pd.crosstab(table[pair[0]], table[pair[1]]).loc[cells.index, cells.columns]
    covered = np.abs(off.to_numpy()) <= found.crosstab_margins_[pair]
    yield "cells", "a pair", np.sqrt((off.to_numpy() ** 2).mean()) / n, covered.mean()


def errors(epsilon, seed):
    """Return a row for each column and statistic of one description."""
    table = load_frame("adult").drop(columns="split").replace("?", None)
    found = describe(table, epsilon=epsilon, crosstabs=PAIRS, random_state=seed)
    rows = [*of_numbers(table, found), *of_counts(table, found)]
    return pd.DataFrame(rows, columns=["statistic", "column", "error", "covered"])


def main(arguments=None):
    named = {"epsilons": [0.5, 1.0], "seeds": range(60)}
    options = bench.read_options(__file__, __doc__, arguments, **named)
    tasks = [(epsilon, seed) for epsilon in options.epsilons for seed in options.seeds]
    found = bench.run_jobs(errors, tasks, options)
    found = [one.assign(epsilon=epsilon) for one, (epsilon, _) in zip(found, tasks, strict=True)]
    by = ["epsilon", "statistic", "column"]
    columns = pd.concat(found).astype({"error": float, "covered": float}).groupby(by, sort=False)
    errors_of = columns["error"].agg(lambda of: np.sqrt((of**2).mean()))
    statistics = errors_of.groupby(level=[0, 1], sort=False)
    table = statistics.agg(columns="size", median_error="median", largest_error="max")
    # Where a description gives no value in any column, there is no worst.
    known = errors_of.dropna().groupby(level=[0, 1], sort=False)
    table["worst_column"] = known.idxmax().str[2]
    table["covered"] = columns["covered"].mean().groupby(level=[0, 1], sort=False).mean()
    bench.write_table(table.reset_index().round(5), "describe.csv", options, NOTE)


if __name__ == "__main__":
    bench.run_script(__file__)
