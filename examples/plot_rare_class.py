"""
A rare class: probabilities that are true
=========================================

One customer in nine says yes, and the caller needs the probability of a yes, not only a ranking.
Weights for the rare class distort probabilities, and the usual correction by a public share fails
under noise. This example shows a correction that works, and how to use the same model where yes is
rarer or more common.
"""

# %%
# A bank that calls people
# ------------------------
# A Portuguese bank offered deposits by telephone (Moro, Cortez and Rita, 2014). The table comes
# from OpenML. Without a network a made-up twin takes its place, with the same columns and types.
# What is found on the twin says nothing of the bank; the printed line says which of the two this
# page shows. The duration of a call is left out, because it is not known before the call.

import copy
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.calibration import calibration_curve
from sklearn.compose import make_column_transformer
from sklearn.datasets import fetch_openml
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from skdp.calibration import DPCalibratedClassifier
from skdp.linear_model import DPLogisticRegression
from skdp.preprocessing import BoundsScaler, NormClipper

N_REPEATS = 10
EPSILON, DELTA = 0.1, 1e-6
# Public ranges and answers, from the form that callers fill in.
RANGES = {
    "age": (18, 95),
    "balance": (-5_000, 20_000),
    "campaign": (1, 20),  # calls so far
    "previous": (0, 10),  # calls in earlier campaigns
}
ANSWERS = {
    "job": "admin. blue-collar entrepreneur housemaid management retired self-employed services "
    "student technician unemployed unknown",
    "marital": "divorced married single",
    "education": "primary secondary tertiary unknown",
    "housing": "no yes",
    "loan": "no yes",
    "contact": "cellular telephone unknown",
    "poutcome": "failure other success unknown",  # of an earlier campaign
}
ANSWERS = {name: answers.split() for name, answers in ANSWERS.items()}
# OpenML numbers the columns, V1 to V16.
NAMES = (
    "age job marital education default balance housing loan contact day month duration campaign "
    "pdays previous poutcome"
)


def twin(n):
    """Return a made-up table that looks like the bank's."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.choice(values, n) for name, values in ANSWERS.items()})
    X["poutcome"] = rng.choice(ANSWERS["poutcome"], n, p=[0.11, 0.04, 0.03, 0.82])
    X = X.astype("category")
    X["age"] = np.clip(18 + rng.gamma(4.0, 6.0, n), 18, 95).round()
    X["balance"] = (rng.lognormal(6.3, 1.4, n) - 300).round()
    X["campaign"], X["previous"] = rng.geometric(0.4, n), rng.poisson(0.5, n)
    logit = 0.8 * (X["contact"] == "cellular") - 0.6 * (X["housing"] == "yes")
    logit += 2.3 * (X["poutcome"] == "success") + 0.9 * X["job"].isin(["student", "retired"])
    logit += 0.4 * (X["education"] == "tertiary") - 0.2 * X["campaign"]
    return X, rng.binomial(1, 1.0 / (1.0 + np.exp(2.05 - logit)))


with warnings.catch_warnings(action="ignore"):  # of a second try
    try:
        table = fetch_openml(data_id=1461, n_retries=1, delay=0.1).frame
        X, y = table.iloc[:, :-1], (table["Class"] == "2").to_numpy().astype(int)
        X.columns = NAMES.split()
        print("Bank marketing, from OpenML.")
    except OSError:
        X, y = twin(40_000)
        print("No network: a made-up twin of bank marketing.")

# %%
# Ranges and answers are public, so the preparation learns nothing from the rows.

NORM = (0.2 * len(RANGES) + len(ANSWERS)) ** 0.5
known = OneHotEncoder(
    categories=list(ANSWERS.values()), handle_unknown="ignore", sparse_output=False
)
prepare = make_pipeline(
    make_column_transformer(
        (BoundsScaler(np.transpose(list(RANGES.values()))), list(RANGES)), (known, list(ANSWERS))
    ),
    NormClipper(NORM),
)
X, X_test, y, y_test = train_test_split(prepare.fit_transform(X), y, test_size=0.5, random_state=0)

# %%
# Four models
# -----------
# The bank has published how many people said yes, so the share is public. ``class_weight`` uses it
# to give both classes the same total weight, and reads no label for that.
#
# The probabilities of such a model are for a population in which every second person says yes. The
# textbook correction shifts the intercept by the difference of the log odds. This is right where
# training follows the weights. With noise, training follows them only in part: a rare class has few
# records, and records of large weight are clipped. The same shift therefore goes too far.
#
# Without weights there is less to correct. But at an epsilon as small as here, noise alone makes
# the probabilities of a rare class too low. ``DPCalibratedClassifier`` relies on none of this. It
# spends a tenth of the budget on counts of predictions and outcomes, and estimates the shift from
# them.

SHARE = 0.117
BALANCED = {0: 0.5 / (1 - SHARE), 1: 0.5 / SHARE}


def logit(share):
    return np.log(share / (1 - share))


def logistic(**parameters):
    """Return a model with public bounds."""
    return DPLogisticRegression(data_norm=NORM, classes=[0, 1], **parameters)


def fits(X, y):
    """Return the four models."""
    budget = {"epsilon": EPSILON, "delta": DELTA}
    weighted = logistic(class_weight=BALANCED, **budget).fit(X, y)
    moved = copy.deepcopy(weighted)
    moved.intercept_ += logit(SHARE) - logit(0.5)
    return {
        "weights": weighted,
        "weights, moved back by the share": moved,
        "no weights": logistic(**budget).fit(X, y),
        "no weights, calibrated": DPCalibratedClassifier(logistic(), **budget).fit(X, y),
    }


models = [fits(X, y) for _ in range(N_REPEATS)]

# %%
# How useful the probabilities are
# --------------------------------
# A call costs 1, and a yes gains 8. It pays to call people whose probability of a yes is above one
# in eight. With true probabilities this threshold follows by arithmetic, and needs no tuning on
# people's records. All four models rank people about equally well. They differ in whether their
# probabilities are true.

COLOURS = dict(zip(models[0], ("#D55E00", "#CC79A7", "0.5", "#0072B2"), strict=True))
print(f"{'':32} {'AUC':>6} {'log loss':>9} {'mean p':>7} {'gain of 1,000 people':>21}")
scores = {}
for name in COLOURS:
    p = np.array([each[name].predict_proba(X_test)[:, 1] for each in models])
    scores[name] = p
    area = np.mean([roc_auc_score(y_test, one) for one in p])
    loss = np.mean([log_loss(y_test, one) for one in p])
    gain = 1000 * np.mean((p > 1 / 8) * (8 * y_test - 1))
    print(f"{name:32} {area:6.3f} {loss:9.4f} {p.mean():7.3f} {gain:21.0f}")
print(f"{'':39} said yes: {y_test.mean():13.3f}")

# %%
# The figure
# ----------
# Each line is the mean of several fits. It shows the mean prediction in eight groups of people, and
# the share of each group that said yes. The table is public, so this curve can be exact. For
# private records, :func:`skdp.metrics.private_calibration_curve` computes such a curve, for an
# epsilon.

figure, axes = plt.subplots(figsize=(6.0, 5.0), layout="constrained")
axes.plot([0.01, 1.0], [0.01, 1.0], color="0.8", lw=6, zorder=0)
for name, colour in COLOURS.items():
    curves = [calibration_curve(y_test, p, n_bins=8, strategy="quantile") for p in scores[name]]
    true, predicted = np.mean(curves, axis=0)
    axes.plot(predicted, true, "o-", color=colour, lw=2, label=name)
axes.annotate("true", (0.55, 0.55), xytext=(8, -8), textcoords="offset points", ha="left")
axes.set(
    xscale="log",
    yscale="log",
    xlim=(0.015, 0.7),
    ylim=(0.015, 0.7),
    xlabel="predicted probability of a yes",
    ylabel="share that said yes",
    title=rf"A rare class at $\varepsilon$ = {EPSILON:g}: calibrated probabilities are true",
)
ticks = (0.02, 0.05, 0.1, 0.2, 0.5)
for axis in (axes.xaxis, axes.yaxis):
    axis.set_ticks(ticks, [f"{tick:.0%}" for tick in ticks])
    axis.set_minor_locator(plt.NullLocator())
axes.legend(frameon=False, loc="upper left", fontsize=9)
axes.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# Where yes is rarer
# ------------------
# Another bank has the same kind of customers, and its public share of yes is a third of ours. If
# only the share differs, and the people who say yes are like ours, the log odds differ by a known
# number. It is added to the offset. This is post-processing, which costs nothing.

rng = np.random.default_rng(1)
there = (y_test == 0) | (rng.random(len(y_test)) < 0.3)
share = 0.3 * SHARE / (0.3 * SHARE + 1 - SHARE)
here = models[0]["no weights, calibrated"]
elsewhere = copy.deepcopy(here)
elsewhere.offset_ += logit(share) - logit(SHARE)
for name, model in {"as it was": here, "moved by the public shares": elsewhere}.items():
    p = model.predict_proba(X_test[there])[:, 1]
    print(f"{name:28} log loss {log_loss(y_test[there], p):.4f}, mean p {p.mean():.3f}")
print(f"{'':28} said yes: {y_test[there].mean():15.3f}")
