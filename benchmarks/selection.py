"""Private searches: twelve settings, one epsilon, against the default and settings run alone.

Each problem is a table of utility.py, its rows divided by their public norm, or by 100 times that:
units that nobody told the estimator of. Settings are two sets of features (all, or the first
columns), three values of data_norm and two penalties. Test accuracy of `DPLogisticRegression`:

- "search": `DPGridSearch` over the settings; "compose": the same by ``method="compose"``;
- "default": one fit of the estimator as it is by default, with the whole epsilon;
- "best", "median": of the settings, each run alone with the whole epsilon on all training rows, the
  one whose mean test accuracy is the best, which nobody knows beforehand, and the median of means.

Rows are clipped to data_norm in training and in prediction.

    python benchmarks/selection.py --data FOLDER --cache FOLDER
"""

import itertools
import warnings
from typing import NamedTuple

import _common as bench
import numpy as np
import pandas as pd
from _utility_sets import load_table
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import make_pipeline

from skdp.linear_model import DPLogisticRegression
from skdp.model_selection import DPGridSearch
from skdp.preprocessing import NormClipper

NOTE = "Scaling and norms are public. Means of test accuracies over seeds."
DELTA = 1e-5


class Problem(NamedTuple):
    """A table, what its rows are divided by, and the settings.

    Parameters
    ----------
    table : str
        Key of `TABLES`.
    n_first : int
        Columns of the smaller set of features.
    divisor : float
        Of the rows, in units of their public norm.
    norms, alphas : tuple of float
        Settings of data_norm and of alpha.
    """

    table: str
    n_first: int
    divisor: float = 1.0
    norms: tuple = (0.03, 0.3, 3.0)
    alphas: tuple = (1e-4, 1e-2)


SHORT = {"divisor": 100.0, "norms": (0.01, 0.1, 1.0), "alphas": (1e-8, 1e-4)}
PROBLEMS = {
    "breast_cancer": Problem("breast_cancer", 10),
    "phishing": Problem("phishing", 17),
    "bank_marketing": Problem("bank_marketing", 7),
    "adult": Problem("adult", 6),
    "phishing_short": Problem("phishing", 17, **SHORT),
}
COLOURS = {"search": "C0", "compose": "C2", "default": "C1", "best": "0.2", "median": "0.6"}


def read(name):
    """Return the parts of a problem."""
    problem = PROBLEMS[name]
    table = load_table(problem.table)
    scale = problem.divisor * table.data_norm
    return table.X_train / scale, table.y_train, table.X_test / scale, table.y_test


def model(**parameters):
    """Return a pipeline that clips rows also in prediction; all columns and all defaults."""
    return make_pipeline(
        ColumnTransformer([("kept", "passthrough", slice(0, None))]),
        NormClipper(1.0),
        DPLogisticRegression(classes=[-1.0, 1.0], delta=DELTA, **parameters),
    )


def grid(name):
    """Return the settings of a problem, of which each is a list of one."""
    problem = PROBLEMS[name]
    columns = slice(0, None), slice(0, problem.n_first)
    settings = itertools.product(columns, problem.norms, problem.alphas)
    return [
        {
            "columntransformer__transformers": [[("kept", "passthrough", kept)]],
            "normclipper__data_norm": [norm],
            "dplogisticregression__data_norm": [norm],
            "dplogisticregression__alpha": [alpha],
        }
        for kept, norm, alpha in settings
    ]


def score(name, way, epsilon, seed):
    """Return a test accuracy; `way` is the number of a setting, or a name."""
    X_train, y_train, X_test, y_test = read(name)
    options = {"epsilon": epsilon, "random_state": 1000 + seed}
    if way == "default":
        fitted = model(**options)
    elif way in ("search", "compose"):
        method = "auto" if way == "search" else "compose"
        fitted = DPGridSearch(model(), grid(name), delta=DELTA, method=method, **options)
    else:
        fitted = model(**options).set_params(**list(ParameterGrid(grid(name)))[way])
    with warnings.catch_warnings(action="ignore"):
        return fitted.fit(X_train, y_train).score(X_test, y_test)


def summarize(name, epsilon, found):
    """Return rows of the table, from scores by way and seed."""
    alone = np.array([found[way] for way in range(12)])
    order = np.argsort(alone.mean(axis=1))
    ways = {way: found[way] for way in ("search", "compose", "default")}
    ways |= {"best": alone[order[-1]], "median": alone[order[5:7]].mean(axis=0)}
    rows = []
    for way, values in ways.items():
        kept = bench.summarize(values, "mean", "se", "min")
        rows.append({"problem": name, "epsilon": epsilon, "way": way, **kept})
    return rows


def draw(table, options):
    """Draw accuracies by problem."""
    problems = list(table["problem"].unique())
    epsilons = list(table["epsilon"].unique())
    figure, (axes,) = bench.panels(1, len(epsilons), 6.5, 3.8, sharey=True)
    for axis, epsilon in zip(axes, epsilons, strict=True):
        for i, (way, colour) in enumerate(COLOURS.items()):
            part = table[(table["epsilon"] == epsilon) & (table["way"] == way)]
            rows = [problems.index(name) + 0.13 * (i - 2) for name in part["problem"]]
            style = {"fmt": "o", "color": colour, "ms": 5, "label": way}
            axis.errorbar(part["mean"], rows, xerr=2.0 * part["se"], **style)
        axis.set(title=f"$\\varepsilon$ = {epsilon:g} in all", xlabel="test accuracy")
        axis.set_yticks(range(len(problems)), problems)
    axes[0].invert_yaxis()
    handles, labels = axes[0].get_legend_handles_labels()
    legend = dict(zip(labels, handles, strict=True))
    bench.save_figure(figure, "selection.png", options, legend=legend)


def main(arguments=None):
    """Measure, write the table and draw it."""
    named = {"problems": PROBLEMS, "epsilons": (1.0,), "seeds": range(10)}
    options = bench.read_options(__file__, __doc__, arguments, **named)
    ways = ["search", "compose", "default", *range(12)]
    rows = []
    for name, epsilon in itertools.product(options.problems, options.epsilons):
        cells = [(name, way, epsilon) for way in ways]
        found = dict(zip(ways, bench.run_cells(score, cells, options.seeds, options), strict=True))
        rows += summarize(name, epsilon, found)
        table = pd.DataFrame(rows).round(4)
        bench.write_table(table, "selection.csv", options, NOTE, show=False)
    print(table.to_string(index=False))
    draw(table, options)


if __name__ == "__main__":
    bench.run_script(__file__)
