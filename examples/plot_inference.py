"""
How sure is a coefficient
=========================

Which factors are associated with a high income: age, education, hours of work? A table of
coefficients needs standard errors, and a private coefficient has two kinds of error: sampling and
noise. ``inference=True`` estimates both within the same epsilon, and says when it cannot.
"""

# %%
# The census
# ----------
# Adult, of the census of 1994 in the United States, comes from OpenML. Without a network a made-up
# twin takes its place, with the same columns and types. What is found on the twin says nothing of
# the census; the printed line says which of the two this page shows.

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.datasets import fetch_openml

from skdp.exceptions import NoIntervalError
from skdp.linear_model import DPLogisticRegression

N_REPEATS = 20


def twin(n):
    """Return a made-up table that looks like Adult."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": np.clip(rng.gamma(9.0, 4.3, n), 17, 90).round()})
    table["education-num"] = np.clip(rng.normal(10, 2.5, n), 1, 16).round()
    table["hours-per-week"] = np.clip(rng.normal(40, 12, n), 1, 99).round()
    table["sex"] = rng.choice(["Male", "Female"], n, p=[0.67, 0.33])
    table["marital-status"] = rng.choice(["Married-civ-spouse", "Never-married", "Divorced"], n)
    score = 0.03 * table["age"] + 0.35 * table["education-num"] + 0.03 * table["hours-per-week"]
    score += (
        0.2 * (table["sex"] == "Male") + 2.0 * table["marital-status"].str.startswith("M") - 8.5
    )
    table["class"] = np.where(rng.random(n) < expit(score), ">50K", "<=50K")
    return table.astype({"sex": "category", "marital-status": "category", "class": "category"})


with warnings.catch_warnings(action="ignore"):  # of a second try
    try:
        table = fetch_openml(data_id=1590, n_retries=1, delay=0.1).frame
        print("Adult, from OpenML.")
    except OSError:
        table = twin(40_000)
        print("No network: a made-up twin of Adult.")

# %%
# Coefficients are easiest to read in meaningful units, relative to a typical person. Both are
# chosen without looking at the data, and extreme values are clipped.

X = pd.DataFrame(
    {
        "20 years older": (table["age"] - 40) / 20,
        "5 years of school more": (table["education-num"] - 10) / 5,
        "20 hours a week more": (table["hours-per-week"] - 40) / 20,
        "a man": table["sex"].eq("Male") - 0.5,
        "married": table["marital-status"].eq("Married-civ-spouse") - 0.5,
    }
).clip(-2, 2)
y = table["class"].eq(">50K").to_numpy().astype(int)

# %%
# The table
# ---------
# ``data_norm`` is a length that hardly any row exceeds: rows within it count whole, and longer ones
# count less. The penalty is almost zero. Sampling errors are those that any statistician would
# report. Privacy errors come from the added noise.


def fit(epsilon, rows=slice(None)):
    """Return a fit to some of the people."""
    model = DPLogisticRegression(
        alpha=1e-6, epsilon=epsilon, delta=1e-6, data_norm=3.0, classes=[0, 1], inference=True
    )
    return model.fit(X.iloc[rows], y[rows])


model = fit(1.0)
print(model.summary())

# %%
# The same without privacy
# ------------------------
# This is maximum likelihood by Newton's method, with errors from the curvature, as printed by
# ``summary()`` of statsmodels' ``Logit``.


def logit(X, y):
    """Return coefficients and their standard errors, the intercept's last."""
    X, w = np.column_stack([X, np.ones(len(X))]), np.zeros(X.shape[1] + 1)
    for _ in range(20):
        p = expit(X @ w)
        curvature = (X * (p * (1.0 - p))[:, np.newaxis]).T @ X
        w += np.linalg.solve(curvature, X.T @ (y - p))
    return w, np.sqrt(np.diag(np.linalg.inv(curvature)))


coefficients, errors = (values[:-1] for values in logit(X, y))
plain = pd.DataFrame({"coefficient": coefficients, "std error": errors}, index=X.columns)
print(plain.round(3))

# %%
# Do intervals have the promised coverage?
# ----------------------------------------
# The whole table is now the population, and people are drawn from it repeatedly. How many of the
# intervals contain the coefficient of the population? ``inference_quality_`` says in advance which
# fits have no valid interval.

rng = np.random.default_rng(0)
for n_people, epsilon in ((5_000, 4.0), (5_000, 1.0), (1_000, 0.3)):
    draws = (rng.choice(len(X), n_people, replace=False) for _ in range(N_REPEATS))
    fits = [fit(epsilon, rows) for rows in draws]
    ends = np.array([each.conf_int() for each in fits if each.inference_quality_ != "no"])
    print(
        f"{n_people} people, epsilon {epsilon}: {len(ends)} of {N_REPEATS} have intervals", end=""
    )
    if len(ends):
        held = (ends[..., 0] < coefficients) & (coefficients < ends[..., 1])
        print(f", {held.mean():.0%} of which contain it", end="")
    print()

# %%
# Where there is no interval, asking for one raises an error with the reason. A wrong interval would
# be worse.

for each in fits:
    try:
        each.conf_int()
    except NoIntervalError as error:
        print(error)
        break

# %%
# The figure
# ----------
# Intervals get longer as epsilon gets smaller. At epsilon 1 they are little longer than those
# without privacy, because this table has many rows.

figure, axes = plt.subplots(figsize=(6.8, 4.2), layout="constrained")
places = np.arange(len(X.columns))
axes.axvline(0.0, color="0.8", lw=0.8, zorder=0)
axes.errorbar(
    coefficients, places - 0.25, xerr=1.96 * errors, fmt="o", color="0.45", lw=3, label="no privacy"
)
for shift, epsilon, colour in ((0.0, 1.0, "#0072B2"), (0.25, 0.1, "#D55E00")):
    found = fit(epsilon)
    axes.errorbar(
        found.coef_[0],
        places + shift,
        xerr=1.96 * np.ravel(found.coef_std_error_),
        fmt="o",
        color=colour,
        lw=3,
        label=rf"$\varepsilon$ = {epsilon:g}",
    )
axes.invert_yaxis()
axes.set(
    yticks=places,
    yticklabels=X.columns,
    xlabel="log odds of more than 50,000 dollars",
    title="Intervals that include the noise",
)
axes.legend(frameon=False)
axes.spines[["top", "right"]].set_visible(False)
plt.show()
