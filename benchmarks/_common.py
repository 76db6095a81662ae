"""What all benchmarks share: options, jobs that can be resumed, results, problems and panels.

A script is a function from small arguments to numbers, run over seeds, and a table::

    import _common as bench
    from _data import load_prepared

    def score(data, epsilon, seed):
        X_train, y_train, X_test, y_test = load_prepared(data, "public")
        model = DPSCDClassifier(epsilon=epsilon, random_state=seed).fit(X_train, y_train)
        return model.score(X_test, y_test)

    def main(arguments=None):
        named = {"problems": ["adult"], "epsilons": (0.5, 1.0), "seeds": range(5)}
        options = bench.read_options(__file__, __doc__, arguments, **named)
        cells = list(itertools.product(options.problems, options.epsilons))
        found = bench.run_cells(score, cells, options.seeds, options)  # (cells, seeds)
        table = pd.DataFrame(cells, columns=["data", "epsilon"])
        table = table.join(pd.DataFrame(map(bench.summarize, found)))  # mean, std, se, ...
        bench.write_table(table.round(5), "example.csv", options, "Scaled by public bounds.")

    if __name__ == "__main__":
        bench.run_script(__file__)

- `read_options` makes an option of each keyword, beside ``--data``, ``--output``, ``--n-jobs`` and
  ``--cache``, and knows the command that repeats the run, which is the first line of each table.
- `run_jobs` and `run_cells` run a function on many arguments. With ``--cache FOLDER`` a finished
  job is kept there by `joblib.Memory`, so that an interrupted run goes on where it was. A job is
  known by the text of its function and by its arguments: give it all that its value depends on, as
  small things and not as tables. The package's version and the files of the data aren't known:
  remove the folder when they change.
- `write_table` writes CSV, and how long that took; `summarize` gives mean, standard error, median
  and range over seeds.
- `Problem` is an objective on a data set, with its optimum; `_data.load_prepared` has the data.
- `panels`, `band` and `save_figure` draw.
"""

import argparse
import os
import shlex
import time
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from joblib import Memory, Parallel, delayed
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from tqdm import tqdm

# When the script began, for what it took.
BEGAN = time.perf_counter()
ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
NOT_PRIVATE = "Scaling is the paper's and not private: the guarantee covers the fit alone."
GENERATED = "Rows are generated. BLAS and OpenMP have one thread (OMP_NUM_THREADS=1) everywhere."


class Some(NamedTuple):
    """Words that may be chosen, of which not all are the default; None is none of them."""

    choices: Iterable
    default: list | None


def read_options(script, doc, arguments=None, *, chosen_by=(), unnamed=None, **named):
    """Return the options of a script.

    Parameters
    ----------
    script : path
        Its file.
    doc : str
        What ``--help`` says.
    arguments : list of str or None
        None: those of the process.
    chosen_by : collection of int
        Seeds that choose settings, which ``--seeds`` refuses.
    unnamed : dict or None
        Options that aren't part of the command, for they are the machine's.
    **named : dict, sequence, Some, type or scalar
        Defaults by name. Of a dictionary or a sequence of words, any are chosen, all by default; of
        other sequences, any values of the same type. A type has no default, and False is a flag.

    Returns
    -------
    Namespace
        `named` and `unnamed`, `data`, `output`, `n_jobs`, `cache`, and `command`.
    """
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", help="folder of the data sets (default: SKDP_DATA)")
    parser.add_argument("--output", type=Path, default=RESULTS, help="folder of the results")
    parser.add_argument("--cache", type=Path, help="folder that keeps finished jobs")
    parser.add_argument("--n-jobs", type=int, default=1, help="processes")
    for name, default in (named | (unnamed or {})).items():
        parser.add_argument(f"--{name.replace('_', '-')}", **_argument(default))
    options = parser.parse_args(arguments)
    if set(getattr(options, "seeds", ())) & set(chosen_by):
        parser.error(f"seeds {list(chosen_by)} choose settings; measure with others.")
    if options.data:
        # Jobs in other processes find it there.
        os.environ["SKDP_DATA"] = options.data
    script = Path(script).resolve().relative_to(ROOT)
    # Scripts of two papers may have the same name.
    options.cache = options.cache and options.cache / script.with_suffix("")
    words = ["python", script.as_posix()]
    for name in named:
        found = getattr(options, name)
        if found is not None and found is not False:
            values = found if isinstance(found, list) else [found] * (found is not True)
            words += [f"--{name.replace('_', '-')}", *map(_word, values)]
    options.command = " ".join(words)
    return options


def run_script(script):
    """Run `main` of a script by the script's name, by which jobs in other processes find it too."""
    import_module(Path(script).stem).main()


def _argument(default):
    if default is False:
        return {"action": "store_true"}
    if isinstance(default, type):
        return {"type": default}
    if isinstance(default, (str, int, float)):
        return {"type": type(default), "default": default}
    if isinstance(default, Some):
        return {"nargs": "+", "choices": list(default.choices), "default": default.default}
    values = list(default)
    choices = values if isinstance(values[0], str) else None
    return {"nargs": "+", "type": type(values[0]), "choices": choices, "default": values}


def _word(value):
    return f"{value:g}" if isinstance(value, float) else shlex.quote(str(value))


def run_jobs(function, tasks, options):
    """Return a function's values for tuples of arguments, in order; see the top of this file."""
    kept = Memory(options.cache, verbose=0).cache(function)
    found = Parallel(options.n_jobs, return_as="generator")(delayed(kept)(*task) for task in tasks)
    return list(progress(found, len(tasks)))


def progress(cells, total=None):
    """Return cells, and show how many are done where there are several."""
    total = len(cells) if total is None else total
    return tqdm(cells, total=total, leave=False, disable=total < 2)


def run_cells(function, cells, seeds, options):
    """Return a function's values for each cell's arguments and each seed, last.

    Returns
    -------
    ndarray of shape (cells, seeds, ...)
    """
    found = run_jobs(function, [(*cell, seed) for cell in cells for seed in seeds], options)
    return np.reshape(found, (len(cells), len(seeds), *np.shape(found[0])))


def summarize(values, *names):
    """Return statistics of values over seeds, those named or all.

    `se` is the standard error of the mean, `std` the standard deviation.
    """
    std = np.std(values, ddof=1) if len(values) > 1 else 0.0
    found = {"mean": np.mean(values), "std": std, "se": std / np.sqrt(len(values))}
    found |= {"median": np.median(values), "min": np.min(values), "max": np.max(values)}
    return {name: found[name] for name in names or found}


def write_table(table, name, options, note=NOT_PRIVATE, show=True, is_whole=True):
    """Write a table as CSV below comments, and print it.

    Comments are the command, a note, and what the script took until then; a run that goes on where
    another was interrupted, or that kept a part of the table, doesn't know that.
    """
    options.output.mkdir(parents=True, exist_ok=True)
    with open(options.output / name, "w", encoding="utf-8", newline="\n") as file:
        file.write(f"# {options.command}\n# {note}\n")
        if is_whole and options.cache is None:
            file.write(f"# {taken()}\n")
        table.to_csv(file, index=False, lineterminator="\n")
    if show:
        print(note, table.to_string(index=False), sep="\n", flush=True)


def taken():
    """Say what the script has taken, that of its ended processes included."""
    on_processors = sum(os.times()[:4])
    return (
        f"It took {time.perf_counter() - BEGAN:.0f} s, and {on_processors:.0f} s on processors, of "
        f"which the machine has {os.cpu_count()}."
    )


def read_kept(name, options):
    """Return the table of an earlier run, empty if there is none or another command made it."""
    path = options.output / name
    if path.is_file() and path.read_text(encoding="utf-8").startswith(f"# {options.command}\n"):
        return pd.read_csv(path, comment="#")
    return pd.DataFrame()


@dataclass(frozen=True)
class Problem:
    """A linear model without an intercept: the mean of a loss plus a penalty of strength alpha.

    Parameters
    ----------
    title : str
    data : str
        A key of `_data.DATA_SETS`, or a name that the paper's module knows.
    alpha : float
    loss : {"squared_error", "log_loss", "hinge"}, default="squared_error"
        The squared error has a factor of 1 / 2.
    penalty : {"l2", "l1"}, default="l2"
        The squared norm with a factor of 1 / 2, or the sum of absolute values.
    max_iter : int, default=10
        Passes.
    """

    title: str
    data: str
    alpha: float
    loss: str = "squared_error"
    penalty: str = "l2"
    max_iter: int = 10

    @property
    def is_regression(self):
        return self.loss == "squared_error"

    @property
    def score_name(self):
        return "MSE" if self.is_regression else "accuracy"

    def score(self, model, X, y):
        """Return accuracy, or the mean squared error."""
        if self.is_regression:
            return float(np.mean((model.predict(X) - y) ** 2))
        return float(model.score(X, y))

    def lost(self, score, reference):
        """Return how much worse a score is than a reference."""
        return score - reference if self.is_regression else reference - score

    def objective(self, w, X, y):
        """Return what `fit` minimises, for weights of shape (d,)."""
        penalty = np.abs(w).sum() if self.penalty == "l1" else 0.5 * w @ w
        if self.is_regression:
            losses = 0.5 * (y - X @ w) ** 2
        else:
            losses = np.logaddexp(0.0, -np.where(y == y.max(), 1.0, -1.0) * (X @ w))
        return losses.mean() + self.alpha * penalty

    def optimum(self, X, y):
        """Return the weights that minimise the objective, by scikit-learn."""
        if self.penalty == "l1":
            model = Lasso(self.alpha, tol=1e-12, max_iter=10**6)
        elif self.is_regression:
            model = Ridge(self.alpha * len(y), solver="cholesky")
        else:
            settings = {"solver": "newton-cholesky", "tol": 1e-10, "max_iter": 1000}
            model = LogisticRegression(C=1.0 / (self.alpha * len(y)), **settings)
        return model.set_params(fit_intercept=False).fit(X, y).coef_.ravel()


def panels(n_rows, n_columns, width, height, **settings):
    """Return a figure and an array of axes, of a size in inches each."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    settings = {"squeeze": False, "layout": "constrained"} | settings
    size = (width * n_columns, height * n_rows)
    figure, axes = plt.subplots(n_rows, n_columns, figsize=size, **settings)
    for axis in axes.flat:
        axis.grid(alpha=0.3)
    return figure, axes


def band(axis, table, x, middle="median", ends=("min", "max"), alpha=0.15, **style):
    """Draw a line of a table's columns within a band, and return the line."""
    (line,) = axis.plot(table[x], table[middle], **({"marker": "o"} | style))
    low, high = (table[name] for name in ends)
    axis.fill_between(table[x], low, high, color=line.get_color(), alpha=alpha, linewidth=0)
    return line


def plain_ticks(axis, values):
    """Write values below a logarithmic axis, and nothing else."""
    axis.set_xscale("log")
    axis.set_xticks(list(values), labels=[f"{value:g}" for value in values])
    axis.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)


def save_figure(figure, name, options, title=None, legend=None, columns=5):
    """Write a figure, with a title, and below it a legend of labels to handles."""
    import matplotlib.pyplot as plt

    if legend:
        place = {"loc": "outside lower center", "ncols": columns, "frameon": False}
        figure.legend(legend.values(), legend.keys(), **place)
    figure.suptitle(title)
    figure.savefig(options.output / name, dpi=150)
    plt.close(figure)
