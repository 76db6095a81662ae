"""
Which digits may it be?
=======================

A model that was trained on public pictures of digits reads those of a hospital's forms. Its
probabilities are wrong, because its penalty holds it back. This example finds sets of digits that
hold the true one with a stated probability, at a small cost in privacy for the people who filled in
the forms.
"""

# %%
# Public and private pictures
# ---------------------------
# The 1,797 pictures come with scikit-learn. A fifth of them stands for the public ones, half for
# those of the forms, and the others are new. The model's penalty is strong, and makes it far too
# cautious.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from skdp.calibration import DPConformalClassifier

SEED = 0
N_REPEATS = 10
X, y = load_digits(return_X_y=True)
X_public, X_rest, y_public, y_rest = train_test_split(X, y, train_size=0.2, random_state=SEED)
model = LogisticRegression(C=0.001, max_iter=1000).fit(X_public, y_public)
sure = model.predict_proba(X_rest).max(axis=1).mean()
print(f"It is right in {model.score(X_rest, y_rest):.2f} of the cases, and says {sure:.2f}.")

# %%
# Sets with a stated coverage
# ---------------------------
# The model is frozen, as it isn't fitted again. All that is released of the forms are noisy counts
# of the probabilities that it gave to the true digits. A cautious model is cheap here: one that
# gives some true digits hardly a chance, as naive Bayes does, needs more records, and a warning
# says so.

X_forms, X_new, y_forms, y_new = train_test_split(X_rest, y_rest, train_size=900, random_state=SEED)
frozen = FrozenEstimator(model)
conformal = DPConformalClassifier(frozen, confidence_level=0.9, epsilon=1.0, random_state=SEED)
sets = conformal.fit(X_forms, y_forms).predict_set(X_new)
print(conformal.privacy_report_)
print(f"covered: {sets[np.arange(y_new.size), y_new].mean():.3f}")
print(f"digits in a set: {sets.sum(axis=1).mean():.2f}")

# %%
# How much do they cover?
# -----------------------
# Without privacy the mean coverage is the level. Noise is allowed for, so that with it the coverage
# is above the level, by more for a smaller epsilon, and sets have more digits. The records are
# public here, so that they may be drawn many times.

LEVELS = np.linspace(0.75, 0.9, 4)
EPSILONS = {0.5: "epsilon 0.5", 2.0: "epsilon 2", float("inf"): "without privacy"}
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for epsilon, label in EPSILONS.items():
    covered, sizes = [], []
    for level in LEVELS:
        found = []
        for seed in range(N_REPEATS):
            parts = train_test_split(X_rest, y_rest, train_size=900, random_state=seed)
            one = DPConformalClassifier(frozen, confidence_level=level, epsilon=epsilon)
            one.set_params(random_state=seed).fit(parts[0], parts[2])
            sets = one.predict_set(parts[1])
            found.append([sets[np.arange(len(sets)), parts[3]].mean(), sets.sum(axis=1).mean()])
        means = np.mean(found, axis=0)
        covered.append(means[0])
        sizes.append(means[1])
    left.plot(LEVELS, covered, "o-", label=label)
    right.plot(LEVELS, sizes, "o-", label=label)
left.axline((0.75, 0.75), slope=1, color="grey", linewidth=1)
left.set(xlabel="confidence_level", ylabel="mean coverage", title="Stated and found")
right.set(xlabel="confidence_level", ylabel="mean number of digits", title="What is left open")
right.legend(frameon=False)
for axes in (left, right):
    axes.spines[["top", "right"]].set_visible(False)

# %%
# Which are hard to read?
# -----------------------
# These pictures have the largest sets.

sets = conformal.predict_set(X_new)
hardest = np.argsort(-sets.sum(axis=1), kind="stable")[:5]
figure, panels = plt.subplots(1, 5, figsize=(9, 2.3), layout="constrained")
for axes, place in zip(panels, hardest, strict=True):
    axes.imshow(X_new[place].reshape(8, 8), cmap="gray_r")
    axes.set_title(", ".join(map(str, conformal.classes_[sets[place]])), fontsize=10)
    axes.set_xlabel(f"true: {y_new[place]}")
    axes.set(xticks=[], yticks=[])
plt.show()
