"""
Clipping and scaling, done right and wrong
==========================================

Data preparation is the most common source of errors with private models. A scaler fitted on private
records publishes facts about single people, whatever the report of the model says. Bounds that do
not fit cost far more accuracy than privacy itself. This example shows both errors, and a
preparation without them.
"""

# %%
# Loan applications, and one rich applicant
# -----------------------------------------
# A bank predicts which loans default. The two thousand applicants are made up, so we may look at
# values that must stay hidden in real records. One of them is very rich.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

from skdp.linear_model import DPLogisticRegression
from skdp.preprocessing import BoundsScaler

N_REPEATS = 8
N_APPLICANTS = 2000


def make_applicants(n_applicants, rng):
    """Return six facts on each applicant, and whether the loan defaulted."""
    income = rng.lognormal(10.6, 0.5, n_applicants)
    debt = rng.lognormal(9.0, 1.0, n_applicants)
    age = rng.normal(42.0, 12.0, n_applicants).clip(18, 90)
    employed = rng.gamma(1.5, 4.0, n_applicants)  # years
    loans = rng.poisson(5.0, n_applicants)
    missed = rng.poisson(0.6, n_applicants)  # payments, in the last year
    score = 1.1 * missed - 0.08 * employed - 0.02 * age - 2.0 * np.log(income) + 0.8 * np.log(debt)
    chance = 1 / (1 + np.exp(-13.0 - score))
    X = np.column_stack([income, debt, age, employed, loans, missed])
    return X, (rng.random(n_applicants) < chance).astype(int)


def make_private_records(seed):
    """Return the bank's records, the first of which is the rich applicant's."""
    X, y = make_applicants(N_APPLICANTS, np.random.default_rng(seed))
    X[0, 0], y[0] = 48e6, 0
    return X, y


X_test, y_test = make_applicants(20_000, np.random.default_rng(99))

# %%
# Seven ways to prepare them
# --------------------------
# The two scalers of scikit-learn are wrong here. ``StandardScaler`` and ``MinMaxScaler`` read the
# records and store what they learn. In addition, one record then changes all the rows that the
# model trains on. The guarantee of the model is for one row, so it no longer covers one person.
# These scalers are right for public records.
#
# All other preparations are private, because they learn nothing. The bounds are centred at a
# typical applicant and reach to both sides as far as most others, as a loan officer would guess.
# Bounds may be wrong by a lot, so this example also uses bounds 30 times too wide and 30 times too
# narrow. Amounts of money spread over powers of ten, so their logarithms are easier to bound.

TYPICAL = np.array([40e3, 10e3, 42, 6, 5, 1])
REACH = np.array([100e3, 50e3, 40, 20, 8, 4])
# Powers of ten in the first two columns: 4,000 to 400,000 and 300 to 300,000.
LOG_TYPICAL = np.array([4.6, 4.0, 42, 6, 5, 1])
LOG_REACH = np.array([1.0, 1.5, 40, 20, 8, 4])


def log_money(X):
    """Return X with the logarithms of income and debt; each row is changed on its own."""
    return np.column_stack([np.log10(np.maximum(X[:, :2], 1.0)), X[:, 2:]])


def bounds(typical, reach):
    return BoundsScaler(feature_bounds=(typical - reach, typical + reach))


RIGHT = (FunctionTransformer(log_money), bounds(LOG_TYPICAL, LOG_REACH))
PREPARATIONS = {
    "logarithm of money,\nthen public bounds": RIGHT,
    "public bounds": (bounds(TYPICAL, REACH),),
    "bounds 30 times too narrow": (bounds(TYPICAL, REACH / 30),),
    "no scaling at all": (),
    "bounds 30 times too wide": (bounds(TYPICAL, REACH * 30),),
    "StandardScaler": (StandardScaler(),),
    "MinMaxScaler": (MinMaxScaler((-1, 1)),),
}
LEAKS = ("StandardScaler", "MinMaxScaler")

# %%
# How well each works
# -------------------
# The score is the area under the ROC curve on new applicants, at epsilon 1. Seeds make this page
# repeatable; a real fit has none.


def fit(preparation, X, y, seed, epsilon=1.0, data_norm=1.0):
    """Return a fitted pipeline, whose report covers the model but not the preparation."""
    model = DPLogisticRegression(
        epsilon=epsilon, data_norm=data_norm, classes=[0, 1], random_state=seed
    )
    return make_pipeline(*preparation, model).fit(X, y)


def areas(preparation, **options):
    """Return scores of several fits."""
    fits = (
        fit(preparation, *make_private_records(seed), seed, **options) for seed in range(N_REPEATS)
    )
    return [roc_auc_score(y_test, model.decision_function(X_test)) for model in fits]


by_preparation = {name: areas(preparation) for name, preparation in PREPARATIONS.items()}
for name, scores in by_preparation.items():
    print(f"{' '.join(name.split()):40} {np.mean(scores):.3f}{'   LEAKS' * (name in LEAKS)}")

# %%
# Bad bounds cost accuracy but no privacy. The scalers that leak are not even accurate here, because
# a single income sets the scale of all others. For the same reason this income can be read from the
# scaler.

BLUE, RED = "#0072b2", "#d55e00"
figure, axes = plt.subplots(figsize=(7.0, 4.4), layout="constrained")
for row, (name, scores) in enumerate(by_preparation.items()):
    leaks = name in LEAKS
    colour = RED if leaks else BLUE
    axes.plot(np.quantile(scores, [0.1, 0.9]), [row, row], color=colour, lw=5, alpha=0.3)
    axes.plot(np.mean(scores), row, "X" if leaks else "o", color=colour, ms=9)
axes.set(
    yticks=range(len(by_preparation)),
    yticklabels=by_preparation,
    xlabel="area under the ROC curve, new applicants",
)
axes.invert_yaxis()
axes.axhspan(len(by_preparation) - 2.5, len(by_preparation) - 0.5, color=RED, alpha=0.07, lw=0)
axes.annotate("not private", (0.02, 0.02), xycoords="axes fraction", color=RED)
axes.annotate("private (band: middle 80 %)", (0.02, 0.36), xycoords="axes fraction", color=BLUE)
axes.set_title("Bad bounds cost accuracy, scalers cost privacy", loc="left", fontsize=11)
axes.grid(axis="x", alpha=0.25)
axes.spines[["top", "right"]].set_visible(False)

# %%
# The bound on the length of a row
# --------------------------------
# Rows longer than ``data_norm`` are clipped to it. A bound that is too small keeps the directions
# of rows and loses their lengths. A bound that is too large costs little, because the estimator
# learns how long rows are with a part of its budget. Without that part, ``ball_budget=0``, the
# noise hides rows of the length ``data_norm``, and a bound that is far too large hides everything.
# The predictions of a regression whose bound is too small are too large for longer rows, unless a
# ``NormClipper`` in the pipeline clips these rows in predictions too.

EPSILONS = (0.3, 3.0)
DATA_NORMS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
by_norm = np.array(
    [
        [np.mean(areas(RIGHT, epsilon=epsilon, data_norm=norm)) for norm in DATA_NORMS]
        for epsilon in EPSILONS
    ]
)
made_up = make_pipeline(*RIGHT).fit_transform(make_private_records(0)[0])
typical_length = np.median(np.linalg.norm(made_up, axis=1))
print(f"half of the rows are longer than {typical_length:.2f}")

figure, axes = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
for epsilon, scores, colour in zip(EPSILONS, by_norm, ("#5aa5d6", "#06304f"), strict=True):
    axes.plot(DATA_NORMS, scores, "o-", color=colour, ms=4)
    axes.annotate(
        rf"$\varepsilon$ = {epsilon:g}",
        (DATA_NORMS[-2], scores[-2]),
        (8, 4),
        textcoords="offset points",
        color=colour,
    )
axes.axvline(typical_length, color="0.35", ls="--", lw=1, zorder=1)
axes.annotate(
    "length of a\ntypical row",
    (typical_length, 0.02),
    (-4, 0),
    xycoords=("data", "axes fraction"),
    textcoords="offset points",
    ha="right",
    color="0.35",
    fontsize=9,
)
axes.set(
    xscale="log",
    xticks=DATA_NORMS,
    xticklabels=[f"{norm:g}" for norm in DATA_NORMS],
    xlabel="data_norm",
    ylabel="area under the ROC curve, new applicants",
)
axes.minorticks_off()
axes.set_title(
    "Too small a bound costs accuracy, too large a bound little", loc="left", fontsize=11
)
axes.grid(axis="y", alpha=0.25)
axes.spines[["top", "right"]].set_visible(False)

# %%
# What an attacker can read
# -------------------------
# An attacker wants to know whether the records contain the rich applicant, or an ordinary applicant
# in the same place. The wrong pipeline stores the answer in a fitted attribute. The right pipeline
# has noisy coefficients, which are about the same in both cases.

X_with, y_with = make_private_records(0)
X_without, y_without = make_applicants(N_APPLICANTS, np.random.default_rng(0))
largest = {
    "rich": MinMaxScaler().fit(X_with).data_max_[0],
    "ordinary": MinMaxScaler().fit(X_without).data_max_[0],
}
coefficients = {
    "rich": [fit(RIGHT, X_with, y_with, seed)[-1].coef_[0, 0] for seed in range(5 * N_REPEATS)],
    "ordinary": [
        fit(RIGHT, X_without, y_without, seed)[-1].coef_[0, 0]
        for seed in range(5 * N_REPEATS, 10 * N_REPEATS)
    ],
}

figure, (wrong, right) = plt.subplots(2, 1, figsize=(6.4, 4.4), layout="constrained")
COLOURS = {"rich": "#cc79a7", "ordinary": "0.45"}
for who, value in largest.items():
    wrong.axvline(value, color=COLOURS[who], lw=3)
    wrong.annotate(
        f"{who} applicant",
        (value, 0.75 if who == "ordinary" else 0.45),
        (6 if who == "ordinary" else -6, 0),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        ha="left" if who == "ordinary" else "right",
        color=COLOURS[who],
    )
wrong.set(xscale="log", xlim=(8e4, 1.2e8), yticks=[], xlabel="largest income, kept by MinMaxScaler")
wrong.set_title("Wrong: the scaler reveals the applicant", loc="left", fontsize=11)
bins = np.histogram_bin_edges(np.concatenate(list(coefficients.values())), bins=10)
for who, values in coefficients.items():
    right.hist(values, bins, color=COLOURS[who], alpha=0.55, label=f"{who} applicant")
right.set(
    yticks=[],
    ylim=(0, 1.3 * right.get_ylim()[1]),
    xlabel="coefficient of income, in private fits",
)
right.legend(frameon=False, loc="upper center", ncols=2, fontsize=9)
right.set_title("Right: it could be either", loc="left", fontsize=11)
for axes in (wrong, right):
    axes.spines[["top", "right", "left"]].set_visible(False)
plt.show()

# %%
# With the wrong pipeline the attacker is certain. With the right one they can do little better than
# guess.
