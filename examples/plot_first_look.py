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
# Thirty thousand stays in a made-up hospital: patients of all ages, some of whom come again. Bills
# have a long tail, a ward is missing here and there, and one ward is so rare that to name it would
# tell of somebody.

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
# With `groups` the guarantee is for a patient with all their stays: one stay of each is described.
# The ledger holds what the whole study may spend.

folder = Path(tempfile.mkdtemp())
ledger = PrivacyLedger(folder / "study.db", epsilon=2.0, delta=1e-5, unit="one group")
found = describe(
    stays, epsilon=0.5, delta=1e-6, crosstabs=[("ward", "age")], groups=patient, ledger=ledger
)
print(found)
print(found.to_frame().round(1).T)
print(f"left for a model: epsilon {ledger.left:.2f}")

# %%
# How sure is that?
# -----------------
# Each number has an interval for what the table of one stay each says without noise. Here are the
# means, and medians, of all columns of numbers:

intervals = found.to_frame(intervals=True)
print(intervals.loc[["age", "days", "bill"], ["mean", "50%"]].round(1))

# %%
# Stays that are made up may be looked at again and again. Without `groups` all of them are
# described, and about one in twenty intervals for their mean age should miss it:

n_held = 0
for seed in range(N_REPEATS):
    look = describe(stays[["age"]], epsilon=0.5, delta=1e-6, random_state=seed)
    told = look.to_frame(intervals=True).loc["age", "mean"]
    n_held += told["low"] <= stays["age"].mean() <= told["high"]
print(f"{n_held} of {N_REPEATS} intervals hold the mean age")

# %%
# The ward that two patients had shares a line with all that few had. Whether there is such a ward
# can't be told:

print(found.histograms_["ward"].round())

# %%
# Two columns together
# --------------------
# A crosstab counts pairs. Ages are cut into ranges that hold like shares of them, and the noise of
# all cells is as large:

print(found.crosstabs_["ward", "age"].round())
print(f"each cell within {found.crosstab_margins_['ward', 'age']:.0f}, at a level of 95 %")

# %%
# All columns in one picture
# --------------------------
# Grey bands are the intervals. The last bar of a column of numbers has all beyond it, too.

found.plot()
plt.show()

# %%
# What was released may be used again at no cost: the range of bills as bounds of a model, the wards
# as its categories. `doc/describe.rst` says what the intervals are for, and what isn't in them.
