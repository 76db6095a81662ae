"""
A study by patient, from the table to the page
==============================================

A hospital wants to know who comes back within a month, and to hand on what it found: a description
of its visits, a model, how good it is, and a page for the data-protection officer. The guarantee is
for a patient with all visits. The table is a made-up twin of a hospital's.
"""

# %%
# The table
# ---------
# It stays as it comes, with gaps, words and dates. A split by patients looks at ids only, so each
# patient is in one of the two parts.

import matplotlib.pyplot as plt
from sklearn.model_selection import GroupShuffleSplit

from skdp.additive import DPAdditiveClassifier
from skdp.datasets import load_visits
from skdp.metrics import private_score
from skdp.plotting import ShapeFunctionDisplay, report_page
from skdp.statistics import describe

visits = load_visits()
X, y, patient = visits.data, visits.target, visits.patient
train, test = next(GroupShuffleSplit(1, test_size=0.3, random_state=0).split(X, y, patient))
X_train, y_train, patient_train = X.iloc[train], y.iloc[train], patient.iloc[train]
X_test, y_test, patient_test = X.iloc[test], y.iloc[test], patient.iloc[test]

# %%
# What does the table hold?
# -------------------------
# One call describes all columns, within an epsilon of its own.

found = describe(X_train, epsilon=0.3, groups=patient_train)
print(found.to_frame(intervals=False)[["count", "gaps", "mean", "std", "top"]].round(1))

# %%
# The model
# ---------
# It reads the table within its epsilon. Nothing is tuned.

model = DPAdditiveClassifier(epsilon=1, classes=["home", "readmitted"])
model.fit(X_train, y_train, groups=patient_train)
display = ShapeFunctionDisplay.from_estimator(model)
plt.show()

# %%
# Its values are a scorecard. The strongest:

card = model.to_frame()
strongest = card["value"].abs().nlargest(8).index
print(card.loc[strongest, ["term", "label", "odds_ratio", "n"]].round(2))

# %%
# How good is it?
# ---------------
# The score is for patients who weren't in the fit, and spends an epsilon of its own on them.

score = private_score(model, X_test, y_test, groups=patient_test, scoring="roc_auc", epsilon=1)
print(score)

# %%
# A model file
# ------------
# With the extra ``onnx`` the model becomes a file that needs no Python. It holds released numbers
# only. It takes dates as days since 1970, which ``inputs`` makes of them.

try:
    from skl2onnx import to_onnx

    from skdp.onnx import initial_types
except ImportError:
    print("skl2onnx isn't installed")
else:
    sent = to_onnx(model, initial_types=initial_types(model), options={"zipmap": False})
    print(f"a model of {len(sent.SerializeToString()):,} bytes")

# %%
# The page
# --------
# It has the guarantee of all three releases together in its first lines, and is one file to hand
# on. Nothing on it shows a single patient's row.

parts = {
    "What the table holds": found,
    "The model": model,
    "Its curves": display,
    "Its scorecard": card,
    "How good it is": score,
}
page = report_page(parts, "study.html", title="Who comes back within a month?")
print(page.read_text(encoding="utf-8").split('class="guarantee">')[1].split("</p>")[0])
