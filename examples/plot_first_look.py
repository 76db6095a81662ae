"""
A first look: what does the table hold?
=======================================

Questions come before a model. How many values are missing, how large is a typical amount, which
jobs occur? Each answer from private records, and each histogram, is a release. This example answers
all questions at once, within one epsilon that is charged to the ledger of a study.
"""

# %%
# The table
# ---------
# The table has thirty thousand stays in a made-up hospital. Patients are of all ages, and some have
# several stays. Bills have a long tail, and some entries for the ward are missing. One ward is so
# rare that its name would reveal someone.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skdp.ledger import PrivacyLedger
from skdp.statistics import describe

N_REPEATS = 20
rng = np.random.default_rng(0)
N_STAYS, N_PATIENTS = 30_000, 20_000
patient = rng.integers(N_PATIENTS, size=N_STAYS)
age = np.clip(rng.gamma(9.0, 6.0, N_PATIENTS), 0, 100).round()
stays = pd.DataFrame({"age": age[patient]})
stays["days"] = rng.geometric(0.25, N_STAYS)
stays["bill"] = (stays["days"] * np.exp(rng.normal(6.5, 0.6, N_STAYS))).round(2)
wards = ["surgery", "medicine", "maternity", "intensive"]
stays["ward"] = rng.choice(wards, N_STAYS, p=[0.35, 0.45, 0.15, 0.05])
stays.loc[[7, 19], "ward"] = "burns"
stays["ward"] = stays["ward"].mask(rng.random(N_STAYS) < 0.04)
print(stays.head())

# %%
# One call
# --------
# With `groups` the guarantee is for a patient with all stays, and one stay of each patient is
# described. The ledger holds the budget of the whole study.

folder = Path(tempfile.mkdtemp())
ledger = PrivacyLedger(folder / "study.db", epsilon=2.0, delta=1e-5, unit="one group")
found = describe(
    stays, epsilon=0.5, delta=1e-6, crosstabs=[("ward", "age")], groups=patient, ledger=ledger
)
print(found)
print(found.to_frame().round(1).T)
print(f"left for a model: epsilon {ledger.left:.2f}")

# %%
# How accurate are the answers?
# -----------------------------
# Each number has an interval for its value without noise, in the table of one stay per patient.
# These are the means and medians of all numeric columns, with intervals in a level of their own:

intervals = found.to_frame(intervals=True)
print(intervals.loc[["age", "days", "bill"], ["mean", "50%"]].round(1))

# %%
# Made-up stays may be described many times. Without `groups` all stays are described, and about one
# interval in twenty should miss their mean age:

n_held = 0
for seed in range(N_REPEATS):
    look = describe(stays[["age"]], epsilon=0.5, delta=1e-6, random_state=seed)
    mean = look.to_frame(intervals=True).loc["age", "mean"]
    n_held += mean["low"] <= stays["age"].mean() <= mean["high"]
print(f"{n_held} of {N_REPEATS} intervals contain the mean age")

# %%
# The ward of only two patients shares a line with all other rare wards. The release does not reveal
# whether such a ward exists:

print(found.histograms_["ward"].round())

# %%
# Two columns together
# --------------------
# A crosstab counts pairs. Ages are binned into ranges with about equal shares of the patients, and
# all cells have the same amount of noise:

print(found.crosstabs_["ward", "age"].round())
print(f"each cell is within {found.crosstab_margins_['ward', 'age']:.0f}, at a level of 95 %")

# %%
# All columns in one picture
# --------------------------
# Thin lines are the intervals. Numbers have a bar each where they are few; else bars are ranges of
# one width, which have their lower end. The line below a panel counts missing entries.

found.plot()
plt.show()

# %%
# By post-processing, releases may be used again at no cost: the range of bills as bounds of a
# model, and the wards as its categories, which `categories()` hands on with their counts.
# :doc:`../describe` explains what the intervals cover, and
# what they do not.
