"""
Which words matter, out of five thousand
========================================

Notes of patients contain thousands of words, but only a few matter. Noise on all coefficients hides
these few. Greedy coordinate descent privately selects the steepest word, takes a step along it
alone, and selects again. All other coefficients stay exactly 0.
"""

# %%
# Made-up notes
# -------------
# A note contains about a hundred of 5,000 words, some of which are far more frequent than others.
# The label depends on six of them.

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import csr_array
from sklearn.metrics import roc_auc_score

from skdp.linear_model import DPCDClassifier, DPSGDClassifier

N_NOTES, N_WORDS, SEED = 15_000, 5_000, 0
N_REPEATS = 4
rng = np.random.default_rng(SEED)
share = 1 / (np.arange(N_WORDS) + 10)
lengths = rng.poisson(100, N_NOTES)
words = rng.choice(N_WORDS, size=lengths.sum(), p=share / share.sum())
X = csr_array((np.ones(words.size), (np.repeat(np.arange(N_NOTES), lengths), words)))
X.sum_duplicates()
X.data[:] = 1.0  # whether a word occurs, not how often
matter = {3: 1.5, 8: -1.5, 15: 1.5, 30: -2.0, 60: 2.0, 90: -2.0}
score = X[:, list(matter)] @ np.array(list(matter.values()))
y = rng.random(N_NOTES) < 1 / (1 + np.exp(score.mean() - score))
train, test = slice(0, 10_000), slice(10_000, None)

# %%
# Choices and noise
# -----------------
# Values are 0 and 1, and greedy selection needs no other bound. It makes some tens of choices, and
# each spends a part of the budget. DP-SGD adds noise to all 5,000 coefficients in each of its
# steps. Scores here are computed without noise; on real records they would need a budget, too.

known = {"epsilon": 1.0, "classes": [False, True]}
models = {
    "greedy": DPCDClassifier(selection="greedy", feature_bounds=(0, 1), **known),
    "DP-SGD": DPSGDClassifier(data_norm=10.0, **known),
}
coefs = {}
for name, model in models.items():
    areas, coefs[name] = [], []
    for seed in range(N_REPEATS):
        model.set_params(random_state=seed).fit(X[train], y[train])
        areas.append(roc_auc_score(y[test], model.decision_function(X[test])))
        coefs[name].append(model.coef_[0])
    n_used = np.count_nonzero(coefs[name], axis=1)
    print(f"{name}: {model.privacy_report_}")
    print(f"  AUC {np.mean(areas):.3f}; {n_used.min()} to {n_used.max()} words have a coefficient")

# %%
# What was found
# --------------
# Rings are true coefficients, and dots are released coefficients of several fits. A rare word that
# was chosen by noise alone may get a large coefficient. Few notes contain it, so it hardly matters.

figure, panels = plt.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
for panel, (name, found) in zip(panels, coefs.items(), strict=True):
    for coef in found:
        chosen = np.flatnonzero(coef)
        panel.plot(chosen + 1, coef[chosen], ".", color="C0", alpha=0.5, markersize=5)
    places = np.array(list(matter)) + 1
    panel.plot(places, list(matter.values()), "o", fillstyle="none", color="black", markersize=9)
    panel.set(xscale="log", xlabel="word, by frequency", title=name)
panels[0].set_ylabel("coefficient")
plt.show()
