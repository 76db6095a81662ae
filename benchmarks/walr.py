"""Label-private logistic regression: WALR here, as in its note, and its rivals.

Log loss, area under the ROC curve and calibration on test rows, means over seeds. Features are
public in this setting, so they are scaled to [0, 1] by their training rows, as the note assumes,
and words are one-hot encoded. Calibration is the mean distance of predictions from outcomes over
15 bins of equally many rows, and the mean prediction less the share of positive labels.

- "no privacy": without noise and almost without penalty. "constant": the share of positive labels
  in training, exactly known.
- "ours": `WALRClassifier` as it is by default.
- "note": noise on the mean of y x as in the note, of the classic Gaussian formula for the length
  sqrt(k) that k features in [0, 1] may have, a constant one among them; trained by the note's
  hybrid descent, without a penalty. Above epsilon 1 the formula's theorem gives no guarantee.
- "note, best alpha": the same with an L2 penalty, which the note doesn't have.
- "randomised response": labels flipped with probability 1 / (1 + e^epsilon), which needs no delta,
  and the debiased loss with an L2 penalty, solved to its optimum.
- "DP-SGD": protects whole rows, features too, for scale: `DPSGDClassifier` as it is by default,
  data_norm being the largest norm. Its guarantee doesn't cover the scaling.

The learning rate and alpha of the note's forms and alpha of randomised response are the best of a
grid ON THE TEST ROWS, for each data set and epsilon, which favours them: ours chooses nothing.

The second table changes one part of ours at a time: differences at equal seeds, so that noise of
the same shape is the same.

    python benchmarks/walr.py --data FOLDER
"""

import argparse
import dataclasses
import math
import warnings
from collections.abc import Callable
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
import pandas as pd
from _data import load_adult, load_bank_marketing, load_hillstrom_email, write_table
from _figures import add_options, command, run_all
from scipy.linalg import eigh
from scipy.special import expit
from sklearn.compose import make_column_transformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder

from skdp._bounds import clip_rows
from skdp._solvers._walr import PublicRows, solve_lbfgs, start_of
from skdp.linear_model import DPSGDClassifier, WALRClassifier, label_aggregate, walr_path

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, NullFormatter

NOTE = (
    "Features are public, scaling reads no label; the guarantees are for labels alone but DP-SGD's."
)
DELTA = 1e-6
EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0)
SEEDS = tuple(range(20))
N_BINS = 15

NOTE_BATCH = 256
NOTE_PASSES = 20
NOTE_RATES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
NOTE_ALPHAS = (0.0, 1e-4, 1e-3, 1e-2, 1e-1)
ALPHAS = (1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
# Only where noise is so large for alpha that the loss is hopeless, more would be taken.
MAX_ITER = 100

ABLATION_EPSILONS = (0.1, 1.0, 5.0)
ABLATION_SEEDS = 5
ABLATION_ALPHAS = (1e-3, 1e-4)
# Of full-batch descent and of the projection, which take long.
SLOW_SEEDS = 2
PROJECTION_STEPS = 500
# Ours at epsilon 1 on bank_marketing is to be as near as this to no privacy.
NEAR = 0.005


class Problem(NamedTuple):
    """A data set, its label, and what isn't known when the label is predicted."""

    title: str
    load: Callable
    target: str
    positive: object
    dropped: tuple


PROBLEMS = {
    "bank_marketing": Problem("Bank marketing", load_bank_marketing, "y", "yes", ("duration",)),
    "hillstrom_visit": Problem(
        "Hillstrom, visit", load_hillstrom_email, "visit", 1, ("conversion", "spend")
    ),
    "hillstrom_conversion": Problem(
        "Hillstrom, conversion", load_hillstrom_email, "conversion", 1, ("visit", "spend")
    ),
    "adult": Problem("Adult", load_adult, "income", ">50K", ()),
}


def load_problem(name, folder=None):
    """Return X_train, y_train, X_test, y_test, features in [0, 1] and labels 0 or 1."""
    problem = PROBLEMS[name]
    frame = problem.load(folder)
    y = (frame[problem.target] == problem.positive).to_numpy(dtype=np.int64)
    features = frame.drop(columns=[problem.target, "split", *problem.dropped], errors="ignore")
    if "split" in frame:
        train, test = (np.flatnonzero(frame["split"] == part) for part in ("train", "test"))
    else:
        train, test = train_test_split(np.arange(len(y)), test_size=0.3, random_state=0, stratify=y)
    numbers = list(features.select_dtypes("number"))
    words = [column for column in features if column not in numbers]
    features = features.astype(dict.fromkeys(words, object))
    scaler = make_column_transformer(
        (MinMaxScaler(clip=True), numbers),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), words),
    )
    X_train = np.ascontiguousarray(scaler.fit_transform(features.iloc[train]))
    return X_train, y[train], scaler.transform(features.iloc[test]), y[test]


def weights_of(model):
    """Return the coefficients of a fitted model and its intercept, as one row."""
    return np.append(model.coef_[0], model.intercept_[0])[np.newaxis]


def fit_ours(X, y, epsilon, seed, settings):
    (settings,) = settings
    model = WALRClassifier(epsilon=epsilon, delta=DELTA, random_state=seed, **settings)
    return weights_of(model.fit(X, y))


def fit_constant(X, y, epsilon, seed, settings):
    return np.append(np.zeros(X.shape[1]), math.log(y.mean() / (1.0 - y.mean())))[np.newaxis]


def fit_sgd(X, y, epsilon, seed, settings):
    model = DPSGDClassifier(
        loss="log_loss",
        epsilon=epsilon,
        delta=DELTA,
        data_norm=float(np.linalg.norm(X, axis=1).max()),
        random_state=seed,
    )
    return weights_of(model.fit(X, y))


def fit_note(X, y, epsilon, seed, settings):
    """Run the note's hybrid descent for all settings at once; the intercept isn't penalised."""
    rng = np.random.default_rng(seed)
    X = np.hstack([X, np.ones((len(X), 1))])
    n_rows, n_columns = X.shape
    sensitivity = math.sqrt(n_columns) / n_rows
    sigma = sensitivity * math.sqrt(2.0 * math.log(1.25 / DELTA)) / epsilon
    product = (y @ X / n_rows + rng.normal(scale=sigma, size=n_columns))[:, np.newaxis]
    rates, alphas = np.array(settings).T
    penalty = np.tile(alphas, (n_columns, 1))
    penalty[-1] = 0.0
    w = np.zeros(penalty.shape)
    for _ in range(NOTE_PASSES):
        order = rng.permutation(n_rows)
        for first in range(0, n_rows, NOTE_BATCH):
            x = X.take(order[first : first + NOTE_BATCH], axis=0)
            gradient = x.T @ expit(x @ w) / len(x) - product
            # Proximal in the penalty: stable for any strength.
            w = (w - rates * gradient) / (1.0 + rates * penalty)
    return w.T


def fit_response(X, y, epsilon, seed, settings):
    """Minimise the debiased loss of flipped labels, for falling strengths of regularisation."""
    rng = np.random.default_rng(seed)
    flip = 1.0 / (1.0 + math.exp(epsilon))
    flipped = np.where(rng.uniform(size=len(y)) < flip, 1 - y, y)
    public = PublicRows(clip_rows(X, data_norm=1.0, fit_intercept=True, clip=False))
    debiased = (flipped - flip) / (1.0 - 2.0 * flip)
    means = public.sums(debiased[:, np.newaxis]) / len(y)
    # With a share beyond 0 or 1 the problem had no minimum.
    means[:, -1] = np.clip(means[:, -1], 0.5 / len(y), 1.0 - 0.5 / len(y))
    w, found = start_of(means, public.bias), []
    for alpha in settings:
        w, _, _ = solve_lbfgs(public, means, alpha=alpha, max_iter=MAX_ITER, start=w)
        found.append(w[0])
    return np.array(found)


def fit_path(X, y, epsilon, seed, settings):
    """Fit ours for falling strengths of regularisation, from one release."""
    aggregate = label_aggregate(X, y, epsilon=epsilon, delta=DELTA, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        _, coefs, intercepts, _ = walr_path(X, aggregate, alphas=settings, max_iter=MAX_ITER)
    return np.hstack([coefs[:, 0], intercepts])


def fit_projected(X, y, epsilon, seed, settings):
    """Fit to the means nearest to the released ones that labels between 0 and 1 could have."""
    aggregate = label_aggregate(X, y, epsilon=epsilon, delta=DELTA, random_state=seed)
    constant = np.full((len(X), 1), aggregate.bias)
    sums = project(np.hstack([X, constant]), aggregate.sums[0], aggregate.noise_cov)
    projected = dataclasses.replace(aggregate, sums=sums[np.newaxis])
    model = WALRClassifier(epsilon=epsilon, delta=DELTA)
    return weights_of(model.fit_aggregate(X, projected))


def project(X, sums, noise_cov):
    """Return the nearest sums X^T z with z in [0, 1]^n, distances being in units of the noise."""
    values, vectors = eigh(noise_cov)
    kept = values > 1e-12 * values[-1]
    whitened = X @ (vectors[:, kept] / np.sqrt(values[kept]))
    target = sums @ (vectors[:, kept] / np.sqrt(values[kept]))
    step = 1.0 / np.linalg.norm(whitened.T @ whitened, 2)
    z = ahead = np.full(len(X), 0.5)
    momentum = 1.0
    for _ in range(PROJECTION_STEPS):
        gradient = whitened @ (whitened.T @ ahead - target)
        following = np.clip(ahead - step * gradient, 0.0, 1.0)
        if gradient @ (following - z) > 0.0:
            momentum = 1.0
        later = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * momentum**2))
        ahead = following + (momentum - 1.0) / later * (following - z)
        z, momentum = following, later
    return X.T @ z


class Method(NamedTuple):
    """A way to fit: a function that returns weights for each of some settings."""

    fit: Callable
    settings: tuple = ({},)
    guarantee: str = "label"
    n_seeds: int | None = None
    color: str = "black"
    marker: str = ""


NO_PRIVACY = {
    "no privacy": Method(fit_ours, ({"alpha": 1e-6},), guarantee="none", n_seeds=1),
    "constant": Method(fit_constant, guarantee="none", n_seeds=1),
}
NOTE_FORMS = ("note", "note, best alpha")
# Those without a penalty first.
NOTE_SETTINGS = tuple((rate, alpha) for alpha in NOTE_ALPHAS for rate in NOTE_RATES)
METHODS = {
    "ours": Method(fit_ours, color="tab:blue", marker="o"),
    "note": Method(fit_note, NOTE_SETTINGS, color="tab:orange", marker="s"),
    "note, best alpha": Method(fit_note, NOTE_SETTINGS, color="tab:red", marker="v"),
    "randomised response": Method(
        fit_response, ALPHAS, "label, delta = 0", color="tab:green", marker="^"
    ),
    "DP-SGD": Method(fit_sgd, guarantee="whole row", n_seeds=5, color="tab:purple", marker="D"),
}
VARIANTS = {
    "ours": Method(fit_ours),
    "spherical noise": Method(fit_ours, ({"noise_shape": "spherical"},)),
    "classic formula": Method(fit_ours, ({"mechanism": "classic"},)),
    "alpha": Method(fit_path, ALPHAS),
    "data_norm = sqrt(k)": Method(fit_ours, ("sqrt(k)",)),
    "hybrid descent": Method(fit_ours, ({"solver": "hybrid"},)),
    "full-batch descent": Method(fit_ours, ({"solver": "gd"},), n_seeds=SLOW_SEEDS),
    "projected means": Method(fit_projected, n_seeds=SLOW_SEEDS),
}


def guarantee_of(name, epsilon):
    """Return what a method protects."""
    if name in NOTE_FORMS and epsilon > 1.0:
        return "none by the note's theorem"
    return (METHODS | NO_PRIVACY)[name].guarantee


def describe(setting):
    """Return what was chosen, "" if that is nothing."""
    if isinstance(setting, dict):
        return ""
    names = ("rate", "alpha") if isinstance(setting, tuple) else ("alpha",)
    values = np.atleast_1d(setting)
    return " ".join(f"{name}={value:g}" for name, value in zip(names, values, strict=True))


def run_fit(method, epsilon, seed, data):
    """Return test measures of one fit, a row for each setting."""
    X_train, y_train, X_test, y_test = data
    settings = method.settings
    if settings == ("sqrt(k)",):
        settings = ({"data_norm": math.sqrt(X_train.shape[1])},)
    weights = method.fit(X_train, y_train, epsilon, seed, settings)
    return np.array([measure(X_test @ w[:-1] + w[-1], y_test) for w in weights])


MEASURES = ("log_loss", "auc", "ece", "bias")


def measure(decision, y):
    """Return log loss, area under the curve, calibration error and bias of decision values."""
    # Weights that a descent sent to infinity predict nothing.
    decision = np.clip(np.nan_to_num(decision), -1e6, 1e6)
    p = expit(decision)
    log_loss = np.mean(np.logaddexp(0.0, decision) - y * decision)
    bins = np.array_split(np.argsort(decision, kind="stable"), N_BINS)
    ece = sum(abs(p[rows].sum() - y[rows].sum()) for rows in bins) / len(y)
    return log_loss, roc_auc_score(y, decision), ece, p.mean() - y.mean()


def measure_cells(methods, epsilons, seeds, data, n_jobs):
    """Return measures by method and epsilon: arrays of shape (seeds, settings, measures)."""
    cells = {
        (name, epsilon): seeds[: method.n_seeds]
        for epsilon in epsilons
        for name, method in methods.items()
        # The formula is refused above.
        if not (name == "classic formula" and epsilon > 1.0)
    }
    tasks = [
        (methods[name], epsilon, seed, data)
        for (name, epsilon), of_cell in cells.items()
        for seed in of_cell
    ]
    found = run_all(run_fit, tasks, n_jobs)
    return {cell: np.array([next(found) for _ in of_cell]) for cell, of_cell in cells.items()}


def standard_error(values):
    return values.std(ddof=1) / math.sqrt(len(values)) if len(values) > 1 else 0.0


def compare(name, epsilons, seeds, data, n_jobs):
    """Return the rows of the first table for one problem."""
    cells = measure_cells(NO_PRIVACY, [math.inf], seeds, data, n_jobs)
    best = cells["no privacy", math.inf][0, 0, 0]
    run = {method: METHODS[method] for method in METHODS if method != "note, best alpha"}
    cells |= measure_cells(run, epsilons, seeds, data, n_jobs)
    for epsilon in epsilons:
        cells["note, best alpha", epsilon] = cells["note", epsilon]
        cells["note", epsilon] = cells["note", epsilon][:, : len(NOTE_RATES)]
    order = [(method, math.inf) for method in NO_PRIVACY]
    order += [(method, epsilon) for epsilon in epsilons for method in METHODS]
    rows = []
    for method, epsilon in order:
        found = cells[method, epsilon]
        # On the test rows: of a method with one setting, nothing is chosen.
        chosen = found[:, :, 0].mean(axis=0).argmin()
        of_chosen = found[:, chosen]
        setting = (METHODS | NO_PRIVACY)[method].settings[chosen]
        losses = of_chosen[:, 0]
        rows.append(
            {
                "problem": name,
                "epsilon": epsilon,
                "method": method,
                "guarantee": guarantee_of(method, epsilon),
                "chosen": describe(setting),
                "seeds": len(found),
            }
            | dict(zip(MEASURES, of_chosen.mean(axis=0), strict=True))
            | {
                "se": standard_error(losses),
                "low": np.quantile(losses, 0.1),
                "high": np.quantile(losses, 0.9),
                "gap": losses.mean() - best,
            }
        )
    return rows


def ablate(name, epsilons, seeds, data, n_jobs):
    """Return the rows of the second table for one problem."""
    cells = measure_cells(VARIANTS, epsilons, seeds, data, n_jobs)
    rows = []
    for (variant, epsilon), found in cells.items():
        columns = {variant: 0}
        if variant == "alpha":
            columns = {f"alpha = {alpha:g}": ALPHAS.index(alpha) for alpha in ABLATION_ALPHAS}
            columns["alpha best on the test rows"] = found[:, :, 0].mean(axis=0).argmin()
        for title, column in columns.items():
            losses = found[:, column, 0]
            worse = losses - cells["ours", epsilon][: len(losses), 0, 0]
            rows.append(
                {
                    "problem": name,
                    "epsilon": epsilon,
                    "variant": title,
                    "seeds": len(losses),
                    "log_loss": losses.mean(),
                    "worse_by": worse.mean(),
                    "se": standard_error(worse),
                }
            )
    return rows


def judge(table):
    """Say for each problem and epsilon whether ours is at least as good as its rivals."""
    rows = table.set_index(["problem", "epsilon", "method"])
    for problem, epsilon in dict.fromkeys(zip(table["problem"], table["epsilon"], strict=True)):
        if math.isinf(epsilon):
            continue
        ours = rows.loc[problem, epsilon, "ours"]
        for rival in (*NOTE_FORMS, "randomised response"):
            other = rows.loc[problem, epsilon, rival]
            gap, error = ours["log_loss"] - other["log_loss"], math.hypot(ours["se"], other["se"])
            holds = "holds" if gap <= 0.0 else "does NOT hold"
            if 0.0 < gap <= 2.0 * error:
                holds += ", but within 2 standard errors"
            said = f"{gap:+.5f} (standard error {error:.5f})"
            yield f"{problem}, epsilon {epsilon:g}: ours <= {rival}: {said}: {holds}"
    if ("bank_marketing", 1.0, "ours") in rows.index:
        gap = rows.loc["bank_marketing", 1.0, "ours"]["gap"]
        holds = "holds" if gap <= NEAR else "does NOT hold"
        yield f"bank_marketing, epsilon 1: within {NEAR} of no privacy: {gap:+.5f}: {holds}"


def draw(table, path):
    """Draw log loss against epsilon: a column for each problem, with what privacy costs below."""
    names = list(dict.fromkeys(table["problem"]))
    figure, axes = plt.subplots(
        2,
        len(names),
        figsize=(3.4 * len(names), 6.4),
        sharex=True,
        squeeze=False,
        layout="constrained",
    )
    for name, (above, below) in zip(names, axes.T, strict=True):
        of_problem = table[table["problem"] == name]
        of_none, of_constant = of_problem["log_loss"].iloc[:2]
        handles = draw_panel(above, of_problem, 0.0)
        draw_panel(below, of_problem, of_none)
        above.set_title(PROBLEMS[name].title)
        # Predictions far worse than a constant aren't worth the room.
        highest = min(of_problem["high"].max(), 1.9 * of_constant - 0.9 * of_none)
        margin = 0.05 * (highest - of_none)
        above.set_ylim(of_none - margin, highest + margin)
        below.set_yscale("symlog", linthresh=1e-4)
        below.axhspan(-1e-4, 1e-4, color="black", alpha=0.05, linewidth=0)
        below.set_ylim(bottom=-1e-4)
        below.set_xlabel(r"$\epsilon$")
    axes[0, 0].set_ylabel("test log loss")
    axes[1, 0].set_ylabel("test log loss above no privacy")
    figure.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=4, frameon=False
    )
    figure.suptitle(
        rf"Labels private, $\delta$ = {DELTA:g}: mean over seeds, and 10 to 90 %; grey: linear"
    )
    figure.savefig(path, dpi=150)
    plt.close(figure)


def draw_panel(axis, table, level):
    """Draw the log loss above a level."""
    handles = {}
    groups = dict(list(table.groupby("method")))
    for name, line in zip(NO_PRIVACY, ("--", ":"), strict=True):
        loss = groups[name]["log_loss"].iloc[0] - level
        handles[name] = axis.axhline(loss, color="black", linestyle=line)
    for name, method in METHODS.items():
        group, style = groups[name], {"color": method.color, "marker": method.marker}
        (handles[name],) = axis.plot(group["epsilon"], group["log_loss"] - level, **style)
        low, high = group["low"] - level, group["high"] - level
        axis.fill_between(group["epsilon"], low, high, color=method.color, alpha=0.15, linewidth=0)
    axis.set_xscale("log")
    axis.set_xticks(sorted(set(table["epsilon"][np.isfinite(table["epsilon"])])))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.grid(alpha=0.3)
    return handles


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_options(parser, seeds=SEEDS)
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--epsilons", type=float, nargs="+", default=list(EPSILONS))
    options = parser.parse_args(arguments)

    rows, ablation = [], []
    changed = [epsilon for epsilon in options.epsilons if epsilon in ABLATION_EPSILONS]
    for name in options.problems:
        data = load_problem(name, options.data)
        rows += compare(name, options.epsilons, options.seeds, data, options.n_jobs)
        print(f"{name}: compared", flush=True)
    table = pd.DataFrame(rows)
    line = command(
        "walr", problems=options.problems, epsilons=options.epsilons, seeds=options.seeds
    )
    write_table(table.round(6), options.output / "walr.csv", line, NOTE)
    draw(table, options.output / "walr.png")
    print(NOTE)
    print(table.drop(columns=["guarantee"]).round(5).to_string(index=False))
    print(*judge(table), sep="\n", flush=True)

    for name in options.problems:
        data = load_problem(name, options.data)
        seeds = options.seeds[:ABLATION_SEEDS]
        ablation += ablate(name, changed, seeds, data, options.n_jobs)
        table = pd.DataFrame(ablation).round(6)
        write_table(table, options.output / "walr_ablation.csv", line, NOTE)
        print(f"{name}: ablated", flush=True)
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
