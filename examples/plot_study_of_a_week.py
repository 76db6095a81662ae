"""
A study of a week on one budget
===============================

A first look on Monday, a search on Tuesday, another method on Wednesday: each fit has a report of
its own, and none of them knows of the others. A ledger does. This example spends one budget over a
week, and is refused twice.
"""

# %%
# Sunday: the budget
# ------------------
# Made-up patients, and whether they came back to the hospital within a month. The people who answer
# for the records decide what all fits together may spend, before the first one, and make a file of
# it. Whoever has the path can fit; nobody can spend more. A ledger takes no seeds, so the numbers
# below are others at each run.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold

from skdp.exceptions import BudgetExceededError
from skdp.inspection import preview
from skdp.ledger import PrivacyLedger
from skdp.linear_model import DPLogisticRegression, DPSGDClassifier
from skdp.plotting import LedgerDisplay

N_REPEATS = 5
N_PATIENTS = 20_000
EPSILON, DELTA = 1.0, 1e-6
rng = np.random.default_rng(0)


def patients(n):
    """Return rows of made-up patients, and who of them came back."""
    X = np.clip(rng.standard_normal((n, 8)) / 2.0, -1.0, 1.0)
    risk = X @ [2.0, 1.5, -1.0, 1.0, 0.0, 0.0, 0.5, -0.5] - 1.0
    return X, (rng.random(n) < 1.0 / (1.0 + np.exp(-risk))).astype(int)


X, y = patients(N_PATIENTS)
folder = tempfile.TemporaryDirectory()
path = Path(folder.name, "study.db")
ledger = PrivacyLedger(path, epsilon=EPSILON, delta=DELTA)
days = {}


def evening(day):
    """Keep what was spent by the end of a day."""
    days[day] = (len(ledger.to_frame()), ledger.spent)
    print(f"{day}: {ledger.spent:.2f} spent, {ledger.left:.2f} left")


# %%
# Monday: a first look
# --------------------

model = DPLogisticRegression(epsilon=0.1, delta=DELTA, data_norm=2.0, classes=[0, 1], ledger=ledger)
model.fit(X, y)
evening("Monday")

# %%
# Tuesday: a search
# -----------------
# Four settings, three folds, and a refit: 13 fits, all of them charged. The folds are those of
# ``KFold``, because stratified ones read the labels. The scores that choose are exact and on no
# bill: they stay where the records are, and no report covers what the choice of a setting tells.

grid = {"alpha": [1e-4, 1e-2], "data_norm": [1.0, 2.0]}
search = GridSearchCV(clone(model).set_params(epsilon=0.08), grid, cv=KFold(3)).fit(X, y)
evening("Tuesday")

# %%
# Wednesday: another method, several times
# ----------------------------------------
# How much do its results depend on the noise? To see that costs one fit each time.

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
# A colleague opens the file by its path, and wants one fit with all of epsilon. Nothing is drawn,
# nothing is charged, and the error says what would be possible.

greedy = clone(model).set_params(epsilon=EPSILON, ledger=path)
try:
    greedy.fit(X, y)
except BudgetExceededError as error:
    print(error)
evening("Thursday")

# %%
# Friday: the refit
# -----------------
# What is left goes into the model that will be published. ``preview`` tells the report of a fit
# without making it, and the ledger whether it can be afforded.

final = clone(model).set_params(**search.best_params_)
for epsilon in np.arange(EPSILON, 0.0, -0.02):
    final.set_params(epsilon=epsilon)
    if ledger.can_afford(preview(final, *X.shape)):
        break
final.fit(X, y)
score = final.score(*patients(N_PATIENTS))
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
# What may be said of everything that came out in this week is the budget, and it could have been
# said on Sunday. The left figure shows shares of it, which add up, fit by fit. The right one shows
# why a ledger is worth more than a list of epsilons: their plain sum is correct and far too large.

print(ledger.report().to_text())

figure, (left, right) = plt.subplots(1, 2, figsize=(11.0, 4.6), layout="constrained")
LedgerDisplay.from_ledger(ledger, ax=left, name="study of a week")
left.set(title="Who spent the budget")
asked = np.append(0.0, np.cumsum(ledger.to_frame()["epsilon"]))
right.plot(asked, color="#D55E00", lw=2)
right.annotate(
    "sum of the epsilons",
    (len(asked) * 0.85, np.interp(len(asked) * 0.85, np.arange(len(asked)), asked)),
    xytext=(-8, 4),
    textcoords="offset points",
    ha="right",
    color="#D55E00",
)
counts, spent = np.transpose([(0, 0.0), *days.values()])
right.plot(counts, spent, "o-", color="#0072B2", lw=2)
for day, (count, epsilon) in days.items():
    if day != "Thursday":
        right.annotate(
            day, (count, epsilon), xytext=(8, -11), textcoords="offset points", color="#0072B2"
        )
right.axhline(EPSILON, color="black", ls="--")
right.annotate("budget: guaranteed", (0.0, EPSILON), xytext=(0, 4), textcoords="offset points")
right.set(
    xlabel="charges, in the order in which they were made",
    ylabel=r"$\varepsilon$ at $\delta = 10^{-6}$",
    xlim=(-0.5, 1.25 * len(asked)),
    ylim=(0.0, 1.05 * asked[-1]),
    title="What the fits cost together",
)
for axes in (left, right):
    axes.spines[["top", "right"]].set_visible(False)
folder.cleanup()
plt.show()
