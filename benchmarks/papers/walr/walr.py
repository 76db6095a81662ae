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
the same shape is the same. "Gaussian noise" and "flipped labels" leave no choice between the two;
spherical noise is Gaussian.

    python benchmarks/papers/walr/walr.py --data FOLDER
"""

import dataclasses
import math
import sys
import warnings
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.linalg import eigh
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score

sys.path.insert(0, str(Path(__file__).parents[2]))
import _common as bench
from _data import DATA_SETS, load_prepared

from skdp._rows.bounds import clip_rows
from skdp.linear_model import DPSGDClassifier, WALRClassifier, label_aggregate, walr_path
from skdp.linear_model.walr._solver import PublicRows, solve_lbfgs, start_of

NOTE = (
    "Features are public, scaling reads no label; the guarantees are for labels alone but DP-SGD's."
)
DELTA = 1e-6
EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0)
SEEDS = range(20)
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


TITLES = {
    "bank_marketing": "Bank marketing",
    "hillstrom_visit": "Hillstrom, visit",
    "hillstrom_conversion": "Hillstrom, conversion",
    "adult": "Adult",
}


@lru_cache(maxsize=1)
def load_problem(name):
    """Return X_train, y_train, X_test, y_test, features in [0, 1] and labels 0 or 1."""
    X_train, y_train, X_test, y_test = load_prepared(name, "box", test_size=0.3, stratify=True)
    positive = DATA_SETS[name]["classes"][1]
    return X_train, (y_train == positive).astype(int), X_test, (y_test == positive).astype(int)


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
    told = {"epsilon": epsilon, "delta": DELTA, "random_state": seed}
    largest = float(np.linalg.norm(X, axis=1).max())
    return weights_of(DPSGDClassifier(loss="log_loss", data_norm=largest, **told).fit(X, y))


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
    public = PublicRows(clip_rows(X, data_norm=1.0, fit_intercept=True, clip=False, bias=1.0))
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
    "randomised response": Method(fit_response, ALPHAS, "label, delta = 0", None, "tab:green", "^"),
    "DP-SGD": Method(fit_sgd, guarantee="whole row", n_seeds=5, color="tab:purple", marker="D"),
}
VARIANTS = {
    "ours": Method(fit_ours),
    "Gaussian noise": Method(fit_ours, ({"mechanism": "analytic"},)),
    "flipped labels": Method(fit_ours, ({"mechanism": "randomized_response"},)),
    "spherical noise": Method(fit_ours, ({"mechanism": "analytic", "noise_shape": "spherical"},)),
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


def run_fit(name, fit, settings, epsilon, seed):
    """Return test measures of one fit, a row for each setting."""
    X_train, y_train, X_test, y_test = load_problem(name)
    if settings == ("sqrt(k)",):
        settings = ({"data_norm": math.sqrt(X_train.shape[1])},)
    weights = fit(X_train, y_train, epsilon, seed, settings)
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


def measure_cells(name, methods, epsilons, seeds, options):
    """Return measures by method and epsilon: arrays of shape (seeds, settings, measures)."""
    cells = {
        (method, epsilon): seeds[: methods[method].n_seeds]
        for epsilon in epsilons
        for method in methods
        # The formula is refused above.
        if not (method == "classic formula" and epsilon > 1.0)
    }
    tasks = [
        (name, *methods[method][:2], epsilon, seed)
        for (method, epsilon), of_cell in cells.items()
        for seed in of_cell
    ]
    found = iter(bench.run_jobs(run_fit, tasks, options))
    return {cell: np.array([next(found) for _ in of_cell]) for cell, of_cell in cells.items()}


def compare(name, options):
    """Return the rows of the first table for one problem."""
    cells = measure_cells(name, NO_PRIVACY, [math.inf], options.seeds, options)
    best = cells["no privacy", math.inf][0, 0, 0]
    run = {method: METHODS[method] for method in METHODS if method != "note, best alpha"}
    cells |= measure_cells(name, run, options.epsilons, options.seeds, options)
    for epsilon in options.epsilons:
        cells["note, best alpha", epsilon] = cells["note", epsilon]
        cells["note", epsilon] = cells["note", epsilon][:, : len(NOTE_RATES)]
    order = [(method, math.inf) for method in NO_PRIVACY]
    order += [(method, epsilon) for epsilon in options.epsilons for method in METHODS]
    rows = []
    for method, epsilon in order:
        found = cells[method, epsilon]
        # On the test rows: of a method with one setting, nothing is chosen.
        chosen = found[:, :, 0].mean(axis=0).argmin()
        setting = (METHODS | NO_PRIVACY)[method].settings[chosen]
        row = {"problem": name, "epsilon": epsilon, "method": method}
        row |= {"guarantee": guarantee_of(method, epsilon), "chosen": describe(setting)}
        row |= {"seeds": len(found)}
        row |= dict(zip(MEASURES, found[:, chosen].mean(axis=0), strict=True))
        losses = found[:, chosen, 0]
        low, high = np.quantile(losses, (0.1, 0.9))
        row |= bench.summarize(losses, "se") | {"low": low, "high": high}
        rows.append(row | {"gap": losses.mean() - best})
    return rows


def ablate(name, options):
    """Return the rows of the second table for one problem."""
    epsilons = [epsilon for epsilon in options.epsilons if epsilon in ABLATION_EPSILONS]
    cells = measure_cells(name, VARIANTS, epsilons, options.seeds[:ABLATION_SEEDS], options)
    rows = []
    for (variant, epsilon), found in cells.items():
        columns = {variant: 0}
        if variant == "alpha":
            columns = {f"alpha = {alpha:g}": ALPHAS.index(alpha) for alpha in ABLATION_ALPHAS}
            columns["alpha best on the test rows"] = found[:, :, 0].mean(axis=0).argmin()
        for title, column in columns.items():
            losses = found[:, column, 0]
            worse = losses - cells["ours", epsilon][: len(losses), 0, 0]
            row = {"problem": name, "epsilon": epsilon, "variant": title, "seeds": len(losses)}
            row |= {"log_loss": losses.mean(), "worse_by": worse.mean()}
            rows.append(row | bench.summarize(worse, "se"))
    return rows


def judge(table):
    """Return how much worse ours is than each rival, with the standard error of that."""
    keys = ["problem", "epsilon"]
    ours = table.loc[table["method"] == "ours", [*keys, "log_loss", "se"]]
    rivals = table[table["method"].isin([*NOTE_FORMS, "randomised response"])]
    both = rivals.merge(ours, on=keys, suffixes=("", "_ours"))
    worse, error = both["log_loss_ours"] - both["log_loss"], np.hypot(both["se_ours"], both["se"])
    found = both[[*keys, "method"]].assign(ours_worse_by=worse, se=error, holds=worse <= 0.0)
    return found.assign(within_two_errors=worse <= 2.0 * error)


def draw(table, options):
    """Draw log loss against epsilon: a column for each problem, with what privacy costs below."""
    figure, axes = bench.panels(2, len(options.problems), 3.4, 3.2, sharex=True)
    for name, (above, below) in zip(options.problems, axes.T, strict=True):
        of_problem = table[table["problem"] == name]
        of_none, of_constant = of_problem["log_loss"].iloc[:2]
        handles = draw_panel(above, of_problem, 0.0)
        draw_panel(below, of_problem, of_none)
        above.set_title(TITLES[name])
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
    title = f"Labels private, $\\delta$ = {DELTA:g}: mean over seeds, and 10 to 90 %; grey: linear"
    bench.save_figure(figure, "walr.png", options, title, handles, columns=4)


def draw_panel(axis, table, level):
    """Draw the log loss above a level."""
    shown = table.assign(**{name: table[name] - level for name in ("log_loss", "low", "high")})
    handles = {}
    for name, line in zip(NO_PRIVACY, ("--", ":"), strict=True):
        loss = shown.loc[shown["method"] == name, "log_loss"].iloc[0]
        handles[name] = axis.axhline(loss, color="black", linestyle=line)
    for name, method in METHODS.items():
        style = {"color": method.color, "marker": method.marker}
        of_method = shown[shown["method"] == name]
        handles[name] = bench.band(axis, of_method, "epsilon", "log_loss", ("low", "high"), **style)
    bench.plain_ticks(axis, sorted(set(table["epsilon"][np.isfinite(table["epsilon"])])))
    return handles


def main(arguments=None):
    named = {"problems": TITLES, "epsilons": EPSILONS, "seeds": SEEDS}
    options = bench.read_options(__file__, __doc__, arguments, **named)
    table = pd.DataFrame(row for name in options.problems for row in compare(name, options))
    bench.write_table(table.round(6), "walr.csv", options, NOTE)
    draw(table, options)
    print(judge(table).round(5).to_string(index=False), flush=True)
    table = pd.DataFrame(row for name in options.problems for row in ablate(name, options))
    bench.write_table(table.round(6), "walr_ablation.csv", options, NOTE)


if __name__ == "__main__":
    bench.run_script(__file__)
