"""
Credit risk that a person can read: an additive model of a raw table
====================================================================

A lender has to give reasons for decisions on loans. An additive model is a sum of curves, one for
each column, so each decision has its reasons. This example fits one privately to a table with
missing values, words and amounts of unknown range. The risk is constrained to increase with debt.
"""

# %%
# The table
# ---------
# The table is generated. Its columns are age, yearly income, debt over income, and job. One income
# in ten is missing, and some people do not state their job. People with high debt, a low income or
# no work default more often. Young people default more often than middle-aged people.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from skdp.additive import DPAdditiveClassifier
from skdp.plotting import ExplanationDisplay, ShapeFunctionDisplay

N_REPEATS = 5
JOBS = {"employee": -0.2, "civil servant": -0.8, "self-employed": 0.4, "none": 1.0}


def applicants(n, seed):
    """Return a table of applicants, and 1 for each who defaults."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": np.clip(rng.gamma(9.0, 5.0, n), 18, 90).round()})
    frame["income"] = rng.lognormal(10.2, 0.6, n).round(-2)
    frame["debt_ratio"] = np.where(rng.random(n) < 0.3, 0.0, rng.gamma(1.5, 0.25, n))
    frame["job"] = rng.choice(list(JOBS), n, p=[0.6, 0.15, 0.15, 0.1])
    logit = 0.8 * np.minimum(((frame["age"] - 50) / 20) ** 2, 2.0)
    logit += 2.5 * np.tanh(2.0 * frame["debt_ratio"]) + frame["job"].map(JOBS)
    logit -= 0.8 * (np.log(frame["income"]) - 10.2)
    fails = (rng.random(n) < 1.0 / (1.0 + np.exp(3.0 - logit))).astype(int)
    frame.loc[rng.random(n) < 0.1, "income"] = np.nan
    frame.loc[rng.random(n) < 0.05, "job"] = None
    return frame, fails


X, y = applicants(20_000, 0)
X_test, y_test = applicants(20_000, 1)
print(X.head())

# %%
# The fit
# -------
# The model takes the raw table. Knots, categories and gaps are learnt within the same epsilon. It
# is known without the records that risk does not decrease with debt and does not increase with
# income. This knowledge is public, so it costs no privacy.

RULES = {"debt_ratio": 1, "income": -1}


def fitted(seed=None, **settings):
    """Return a private model."""
    model = DPAdditiveClassifier(classes=[0, 1], epsilon=1.0, random_state=seed, **settings)
    return model.fit(X, y)


model = fitted(0, monotonic_cst=RULES)
print(*model.terms_, sep="\n")
print(model.privacy_report_)

# %%
# The reasons for a decision
# --------------------------
# Contributions and the intercept add up to the logit of the risk.

person = X_test.iloc[[0]].round(2)
print(model.explain(person, as_frame=True).round(2))
print(f"risk: {model.predict_proba(person)[0, 1]:.3f}")

# %%
# A waterfall leads from the base rate to the risk. Bars say how many times as large the odds
# become. The picture of a private row is as private as the row.

ExplanationDisplay.from_estimator(model, person)
plt.show()

# %%
# What do the constraints cost, and what does privacy cost?

free = [fitted() for _ in range(N_REPEATS)]
ruled = [fitted(monotonic_cst=RULES) for _ in range(N_REPEATS)]
exact = DPAdditiveClassifier(classes=[0, 1], epsilon=float("inf")).fit(X, y)
for name, models in {"free": free, "monotonic": ruled, "no privacy": [exact]}.items():
    areas = [roc_auc_score(y_test, one.decision_function(X_test)) for one in models]
    print(f"{name:>10}: area under the curve {np.mean(areas):.3f}")

# %%
# The shapes
# ----------
# All panels share one axis of odds ratios, and the strongest term is first. The bands show the
# noise that was added for privacy, without the sampling error. At the bottom of each panel are the
# released shares of the records. Missing entries have a value of their own.

display = ShapeFunctionDisplay.from_estimator(model)
plt.show()

# %%
# :doc:`../additive` covers pairs of columns, costs, and what is assumed public.
