"""
A study of a week on one budget
===============================

A first look on Monday, a search on Tuesday, another method on Wednesday: each fit has its own
report, and no report covers the others. A ledger covers all. This example spends one budget over a
week, and two fits are refused.
"""

# %%
# Sunday: the records
# -------------------
# The table has patients with diabetes in 130 hospitals of the United States (Strack and others,
# 2014). Only the first stay of each patient is kept, so a row is a person. Did they come back? The
# table comes from OpenML. Without a network a made-up twin takes its place, with the columns that
# are used here and their types. What is found on the twin says nothing of the hospitals; the
# printed line says which of the two this page shows.

import tempfile
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.datasets import fetch_openml
from sklearn.model_selection import GridSearchCV, KFold, train_test_split

from skdp.exceptions import BudgetExceededError
from skdp.inspection import preview
from skdp.ledger import PrivacyLedger
from skdp.linear_model import DPLogisticRegression, DPSGDClassifier
from skdp.plotting import LedgerDisplay
from skdp.preprocessing import BoundsScaler

N_REPEATS = 5
EPSILON, DELTA = 1.0, 1e-6
# Public ranges, from what the columns count. Values beyond them are clipped.
BOUNDS = {
    "time_in_hospital": (0, 14),  # days
    "num_lab_procedures": (0, 100),
    "num_medications": (0, 40),
    "number_outpatient": (0, 5),  # visits in the year before
    "number_emergency": (0, 5),
    "number_inpatient": (0, 5),
    "number_diagnoses": (0, 16),
}


def twin(n):
    """Return a made-up table that looks like that of the hospitals."""
    rng = np.random.default_rng(0)
    ill = rng.standard_normal(n)
    table = pd.DataFrame({"patient_nbr": rng.permutation(n)})
    for name, (_, high) in BOUNDS.items():
        mean = (0.08 if high == 5 else 0.4) * high * np.exp(0.3 * ill)
        table[name] = rng.poisson(mean).clip(0, 2 * high)
    score = 0.5 * table["number_inpatient"] + 0.1 * table["number_diagnoses"] + 0.3 * ill - 1.2
    again = rng.random(n) < 1.0 / (1.0 + np.exp(-score))
    return table.assign(readmitted=pd.Categorical(np.where(again, ">30", "NO")))


with warnings.catch_warnings(action="ignore"):  # of a second try
    try:
        table = fetch_openml(data_id=4541, n_retries=1, delay=0.1).frame
        print("Diabetes in 130 hospitals, from OpenML.")
    except OSError:
        table = twin(40_000)
        print("No network: a made-up twin of Diabetes in 130 hospitals.")
table = table.drop_duplicates("patient_nbr")
X = BoundsScaler(np.transpose(list(BOUNDS.values()))).fit_transform(table[list(BOUNDS)])
y = table["readmitted"].ne("NO").to_numpy().astype(int)
X, X_test, y, y_test = train_test_split(X, y, train_size=0.5, random_state=0)

# %%
# Monday: the budget, and a first look
# ------------------------------------
# The people who are responsible for the records set the budget of all fits together, before the
# first one, and create a file for it. Everyone who has the path can fit, but all of them together
# cannot exceed the budget. A ledger accepts no seeds, so the numbers below differ from run to run.

folder = tempfile.TemporaryDirectory()
path = Path(folder.name, "study.db")
ledger = PrivacyLedger(path, epsilon=EPSILON, delta=DELTA)
days = {}


def evening(day):
    """Record what was spent by the end of a day."""
    days[day] = (len(ledger.to_frame()), ledger.spent)
    print(f"{day}: {ledger.spent:.2f} spent, {ledger.left:.2f} left")


model = DPLogisticRegression(epsilon=0.1, delta=DELTA, data_norm=2.0, classes=[0, 1], ledger=ledger)
model.fit(X, y)
evening("Monday")

# %%
# Tuesday: a search
# -----------------
# Four settings, three folds, and a refit make 13 fits, and all of them are charged. The folds are
# those of ``KFold``, because stratified ones read the labels. The scores that choose a setting are
# exact and are not charged. They stay where the records are, and no report covers what the chosen
# setting reveals.

grid = {"alpha": [1e-4, 1e-2], "data_norm": [1.0, 2.0]}
search = GridSearchCV(clone(model).set_params(epsilon=0.08), grid, cv=KFold(3)).fit(X, y)
evening("Tuesday")

# %%
# Wednesday: another method, several times
# ----------------------------------------
# How much do its results depend on the noise? Each repeat costs one fit.

sgd = DPSGDClassifier(
    epsilon=0.1, delta=DELTA, data_norm=2.0, batch_size=1000, classes=[0, 1], ledger=ledger
)
models = [clone(sgd).fit(X, y) for _ in range(N_REPEATS)]
spread = np.std([one.coef_[0] for one in models], axis=0).mean()
print(f"Coefficients differ by {spread:.2f} from fit to fit.")
evening("Wednesday")

# %%
# Thursday: a refusal
# -------------------
# A colleague opens the file by its path, and asks for one fit with all of epsilon. No noise is
# drawn, nothing is charged, and the error says what would be possible.

greedy = clone(model).set_params(epsilon=EPSILON, ledger=path)
try:
    greedy.fit(X, y)
except BudgetExceededError as error:
    print(error)
evening("Thursday")

# %%
# Friday: the refit
# -----------------
# The rest of the budget goes into the model that will be published. ``preview`` computes the report
# of a fit without the fit, and the ledger checks whether it can be afforded.

final = clone(model).set_params(**search.best_params_)
for epsilon in np.arange(EPSILON, 0.0, -0.02):
    final.set_params(epsilon=epsilon)
    if ledger.can_afford(preview(final, *X.shape)):
        break
final.fit(X, y)
score = final.score(X_test, y_test)
print(f"The last fit has epsilon = {epsilon:.2f}, and is right for {score:.1%} of other patients.")
evening("Friday")

# %%
# Saturday: nothing is left
# -------------------------

try:
    model.fit(X, y)
except BudgetExceededError as error:
    print(f"{error.asked:.2f} was asked for, {error.left:.2f} is left.")
print(ledger)

# %%
# The report of the study
# -----------------------
# The guarantee for everything that was released in this week is the budget. It could have been
# stated on Monday.

print(ledger.report().to_text())

# %%
# The first figure shows why a ledger is better than a list of epsilons: their plain sum is correct,
# but far too large.

figure, axes = plt.subplots(figsize=(6.6, 4.4), layout="constrained")
asked = np.append(0.0, np.cumsum(ledger.to_frame()["epsilon"]))
axes.plot(asked, color="#D55E00", lw=2)
axes.annotate(
    "sum of the epsilons",
    (len(asked) * 0.85, np.interp(len(asked) * 0.85, np.arange(len(asked)), asked)),
    xytext=(-8, 4),
    textcoords="offset points",
    ha="right",
    color="#D55E00",
)
counts, spent = np.transpose([(0, 0.0), *days.values()])
axes.plot(counts, spent, "o-", color="#0072B2", lw=2)
for day, (count, epsilon) in days.items():
    if day != "Thursday":
        axes.annotate(
            day, (count, epsilon), xytext=(8, -11), textcoords="offset points", color="#0072B2"
        )
axes.axhline(EPSILON, color="black", ls="--")
axes.annotate("budget: guaranteed", (0.0, EPSILON), xytext=(0, 4), textcoords="offset points")
axes.set(
    xlabel="charges, in the order in which they were made",
    ylabel=rf"$\varepsilon$ at $\delta$ = {DELTA:g}",
    xlim=(-0.5, 1.25 * len(asked)),
    ylim=(-0.1, 1.05 * asked[-1]),
    title="What the fits of a week cost together",
)
axes.spines[["top", "right"]].set_visible(False)

# %%
# The second figure is drawn by ``LedgerDisplay``. It shows shares of the budget, which add up, fit
# by fit.

display = LedgerDisplay.from_ledger(ledger, name="study of a week")
display.ax_.spines[["top", "right"]].set_visible(False)
folder.cleanup()
plt.show()
