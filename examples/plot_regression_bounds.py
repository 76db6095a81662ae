"""
A regression between public bounds
==================================

What does a house cost? A private regression needs the range of its targets and features before it
reads them, because the noise has to hide the largest possible error of a record. This example
writes bounds from what the columns mean, and shows the effect of wrong bounds.
"""

# %%
# Houses of California
# --------------------
# The table is from the census of 1990. A row is a district of some thousand people, with its median
# income, the age of its houses, rooms and so on. The target is the median value of a house in units
# of 100,000 dollars. scikit-learn downloads the table. Without a network a made-up twin takes its
# place, with the same columns. What is found on the twin says nothing of the state; the printed
# line says which of the two this page shows.

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import fetch_california_housing
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from skdp.linear_model import DPRidge
from skdp.metrics import private_score
from skdp.preprocessing import BoundsScaler, NormClipper

N_REPEATS = 10


def twin(n):
    """Return a made-up table that looks like California's, and values of houses."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"MedInc": np.clip(rng.gamma(4.5, 0.85, n), 0.5, 15)})
    X["HouseAge"] = rng.uniform(1, 52, n).round()
    X["AveRooms"] = rng.normal(3.5, 0.7, n) + 0.5 * X["MedInc"]
    X["AveBedrms"] = 1.05 + 0.1 * rng.standard_normal(n)
    X["Population"] = rng.lognormal(7.0, 0.7, n).round()
    X["AveOccup"] = 2.2 + rng.gamma(2.0, 0.4, n)
    south = rng.random(n) < 0.6
    X["Latitude"] = np.where(south, 33.8, 37.8) + 0.5 * rng.standard_normal(n)
    X["Longitude"] = np.where(south, -118.0, -121.8) + 0.5 * rng.standard_normal(n)
    value = 0.45 * X["MedInc"] + 0.01 * X["HouseAge"] - 0.1 * X["AveOccup"] + 0.4
    value -= 0.4 * (X["Latitude"] - 35.6) + 0.4 * (X["Longitude"] + 119.6)
    return X, (value + 0.6 * rng.standard_normal(n)).clip(0.15, 5.0)


with warnings.catch_warnings(action="ignore"):  # of a second try
    try:
        X, y = fetch_california_housing(return_X_y=True, as_frame=True, n_retries=1, delay=0.1)
        print("California housing.")
    except OSError:
        X, y = twin(20_000)
        print("No network: a made-up twin of California housing.")
X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, random_state=0)

# %%
# Bounds from a map and a form
# ----------------------------
# The borders of the state are public, and the form of the census had no box above 500,000 dollars.
# For the rest a guess is enough, because values beyond a range are clipped to it. No record was
# looked at. ``data_norm`` is about the length of a typical row, ``sqrt(0.2 * 8)`` by the rule of
# thumb. ``NormClipper`` clips longer rows, in predictions too.

BOUNDS = {
    "MedInc": (0, 10),  # in 10,000 dollars
    "HouseAge": (0, 60),
    "AveRooms": (1, 10),
    "AveBedrms": (0, 2),
    "Population": (0, 5_000),
    "AveOccup": (1, 6),
    "Latitude": (32, 42),
    "Longitude": (-125, -114),
}
VALUES = (0, 5)
NORM = 1.3


def pipeline(epsilon, target_bounds=VALUES, widen=1.0):
    """Return a private regression, on ranges that are `widen` times as wide as the bounds."""
    low, high = np.transpose([BOUNDS[name] for name in X.columns])
    middle, half = (low + high) / 2, widen * (high - low) / 2
    return make_pipeline(
        BoundsScaler((middle - half, middle + half)),
        NormClipper(NORM),
        DPRidge(epsilon=epsilon, delta=1e-6, data_norm=NORM, target_bounds=target_bounds),
    )


model = pipeline(1.0).fit(X, y)
print(model[-1].privacy_report_)

# %%
# How good is it?
# ---------------
# The score is R2 on other districts, which are also private. ``private_score`` spends epsilon = 0.1
# on them, and gives an interval that covers both sampling and noise.

print(private_score(model, X_test, y_test, scoring="r2", target_bounds=VALUES, epsilon=0.1))

# %%
# The effect of wrong bounds
# --------------------------
# The scores of many fits are exact here, because this table is public. Bounds that are too narrow
# remove a part of the signal, at any epsilon. Bounds that are too wide scale up all noise by the
# same factor, which a large epsilon or a long table makes up for.

EPSILONS = (0.1, 0.3, 1.0, 3.0)
CHOICES = {
    "public bounds": ("#0072B2", {}),
    "targets clipped at half": ("#CC79A7", {"target_bounds": (0, 2.5)}),
    "targets ten times too wide": ("#E69F00", {"target_bounds": (0, 50)}),
    "features ten times too wide": ("#D55E00", {"widen": 10.0}),
}
scores = {
    name: [
        [r2_score(y_test, pipeline(e, **options).fit(X, y).predict(X_test)) for e in EPSILONS]
        for _ in range(N_REPEATS)
    ]
    for name, (_, options) in CHOICES.items()
}
same = pipeline(np.inf).fit(X, y).score(X_test, y_test)
plain = LinearRegression().fit(X, y).score(X_test, y_test)
print(f"{'epsilon':28}", *[f"{epsilon:6g}" for epsilon in EPSILONS])
for name, found in scores.items():
    print(f"{name:28}", *[f"{value:6.2f}" for value in np.mean(found, axis=0)])
print(f"no privacy: {same:.2f}, and {plain:.2f} by LinearRegression on unclipped rows")

# %%
# Clipping also has a benefit. The real table has districts with a thousand people to a house. They
# have a large influence on a regression on unclipped rows, and hardly any on one on clipped rows.

figure, axes = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
axes.axhline(same, color="0.35", ls="--", lw=1)
axes.annotate(
    "no privacy", (EPSILONS[0], same), (0, 4), textcoords="offset points", color="0.35", fontsize=9
)
for name, (colour, _) in CHOICES.items():
    axes.plot(EPSILONS, np.mean(scores[name], axis=0), "o-", color=colour, lw=2, label=name)
axes.set(
    xscale="log",
    xticks=EPSILONS,
    xticklabels=[f"{epsilon:g}" for epsilon in EPSILONS],
    ylim=(0.0, same + 0.08),
    xlabel=r"$\varepsilon$",
    ylabel="$R^2$ on other districts",
    title="Bounds from common sense suffice, far too wide ones do not",
)
axes.minorticks_off()
axes.legend(frameon=False, loc="lower right")
axes.spines[["top", "right"]].set_visible(False)
plt.show()
