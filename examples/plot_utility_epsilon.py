"""
Utility against epsilon
=======================

How much accuracy does privacy cost, and what buys it back? This example fits four private
classifiers on made-up hospital records for a range of epsilons, several times each, and draws what
to expect and how far single fits are from it. Then it does the same with fewer and with more
records.
"""

# %%
# Records that resemble the real ones
# -----------------------------------
# A hospital wants to predict which patients are back within a month. Before it spends any privacy
# on the real records it makes up some from what doctors know in general, and studies those:
# everything below, the figure included, then costs nothing. The same figure made of real records
# would have to stay in the hospital, since scores are not private.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline

from skdp.linear_model import (
    DPCDClassifier,
    DPLogisticRegression,
    DPSCDClassifier,
    DPSGDClassifier,
)
from skdp.plotting import PrivacyUtilityDisplay
from skdp.preprocessing import BoundsScaler

N_REPEATS = 8
EPSILONS = (0.03, 0.1, 0.3, 1.0)


def make_patients(n_patients, rng):
    """Return eight measurements of each patient, and whether they came back."""
    X = np.column_stack(
        [
            rng.normal(62, 16, n_patients),  # age in years
            rng.poisson(1.2, n_patients),  # earlier stays, in the last year
            rng.gamma(2.0, 2.5, n_patients),  # days of this stay
            rng.poisson(8.0, n_patients),  # drugs prescribed
            rng.normal(7.0, 2.0, n_patients),  # blood glucose, mmol/l
            rng.normal(135, 18, n_patients),  # systolic blood pressure, mmHg
            rng.lognormal(4.5, 0.3, n_patients),  # creatinine, umol/l
            rng.normal(28, 5, n_patients),  # body-mass index
        ]
    )
    effects = [0.03, 1.2, 0.2, 0.15, 0.3, -0.02, 0.015, 0.0]
    chance = 1 / (1 + np.exp(1.0 - (X - [62, 1, 5, 8, 7, 135, 90, 28]) @ effects))
    return X, (rng.random(n_patients) < chance).astype(int)


# %%
# Bounds from what the columns mean
# ---------------------------------
# A typical patient, and how far to both sides nearly all others are: any nurse could write this
# down, and no record was looked at. ``BoundsScaler`` maps the ranges to [-1, 1] with the typical
# patient at 0, where linear models learn best. Eight features could make a row ``sqrt(8)`` long,
# but most values are within a third of their range, which is a norm of about 1: the default
# ``data_norm`` fits.

TYPICAL = np.array([60, 1, 5, 8, 7, 135, 90, 28])
REACH = np.array([45, 4, 12, 12, 8, 60, 100, 20])
SCALER = BoundsScaler(feature_bounds=(TYPICAL - REACH, TYPICAL + REACH))

METHODS = {
    "whitening": DPLogisticRegression(classes=[0, 1]),
    "DP-SGD": DPSGDClassifier(classes=[0, 1]),
    "DP-SCD": DPSCDClassifier(classes=[0, 1]),
    "DP-CD": DPCDClassifier(classes=[0, 1]),
}

# %%
# Many fits
# ---------
# The table has a row for each fit: its epsilon, its seed, and the area under the ROC curve on
# fresh records, which is 0.5 for guessing. Seeds only make this page repeatable; a real fit has
# none.

X_test, y_test = make_patients(20_000, np.random.default_rng(1234))


def study(model, n_patients):
    """Return a table of epsilon, seed and score."""
    rows = []
    for seed in range(N_REPEATS):
        X, y = make_patients(n_patients, np.random.default_rng(seed))
        for epsilon in EPSILONS:
            model.set_params(epsilon=epsilon, random_state=seed)
            private = make_pipeline(SCALER, model).fit(X, y)
            rows.append((epsilon, seed, roc_auc_score(y_test, private.decision_function(X_test))))
    return rows


by_method = {name: study(model, 2000) for name, model in METHODS.items()}
by_size = {
    500: study(METHODS["whitening"], 500),
    2000: by_method["whitening"],
    8000: study(METHODS["whitening"], 8000),
}

public = make_pipeline(SCALER, LogisticRegression(C=100.0))
public.fit(*make_patients(16_000, np.random.default_rng(0)))
ceiling = roc_auc_score(y_test, public.decision_function(X_test))

# %%
# What it costs
# -------------
# Left: with two thousand records any of the methods is nearly free from epsilon 1 on. Far below
# that single fits differ a lot: a hospital fits once, and may get the lower end of a band. Right:
# four times the records do about as much as four times the epsilon, because it is their product
# that counts.

COLOURS = {"whitening": "#0072b2", "DP-SGD": "#cc79a7", "DP-SCD": "#d55e00", "DP-CD": "#009e73"}
SHADES = {500: "#7db8de", 2000: "#0072b2", 8000: "#06304f"}

figure, (left, right) = plt.subplots(
    ncols=2, sharey=True, figsize=(10.0, 4.4), layout="constrained"
)
for name, results in by_method.items():
    PrivacyUtilityDisplay.from_results(results, ax=left, name=name, color=COLOURS[name])
for n_patients, results in by_size.items():
    PrivacyUtilityDisplay.from_results(
        results, ax=right, name=f"{n_patients:,} records", color=SHADES[n_patients]
    )
for axes in (left, right):
    axes.axhline(ceiling, color="0.35", ls="--", lw=1, zorder=1)
    axes.annotate(
        "no privacy",
        (EPSILONS[0], ceiling),
        (0, 4),
        textcoords="offset points",
        color="0.35",
        fontsize=9,
    )
    axes.set(xticks=EPSILONS, xticklabels=[f"{epsilon:g}" for epsilon in EPSILONS])
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", alpha=0.25)
    axes.legend(loc="lower right", frameon=False)
left.set(ylabel="area under the ROC curve, fresh records", ylim=(0.5, 0.9))
left.set_title("The method matters little (2,000 records) ...", loc="left", fontsize=11)
right.set(ylabel="")
right.set_title("... the number of records a lot (whitening)", loc="left", fontsize=11)
left.annotate(
    "line: mean of the fits, band: middle 80 %",
    (0.98, 0.27),
    xycoords="axes fraction",
    ha="right",
    color="0.35",
    fontsize=9,
)

# %%
# In numbers, the area that privacy costs on average:

print("records   method     " + "".join(f"{f'eps {epsilon:g}':>9}" for epsilon in EPSILONS))
studies = [(2000, name, results) for name, results in by_method.items()]
studies += [(n_patients, "whitening", by_size[n_patients]) for n_patients in (500, 8000)]
for n_patients, name, results in studies:
    scores = np.reshape([score for _, _, score in results], (N_REPEATS, len(EPSILONS)))
    costs = "".join(f"{cost:9.3f}" for cost in ceiling - scores.mean(axis=0))
    print(f"{n_patients:7,}   {name:11}{costs}")

plt.show()
