"""
Personal budgets: the strictest record sets the noise of its batch
==================================================================

Hospitals share a model of which patients come back within a month. The ethics board of each
hospital decides on the protection of its patients. Most boards accept epsilon = 2, and some ask for
0.1. The strictest epsilon for all would waste accuracy. ``sample_epsilon`` gives each record its
own epsilon. The result depends on which records share a batch.
"""

# %%
# Budgets that reveal nothing
# ---------------------------
# A budget is public, and must not depend on the record. If people with an embarrassing diagnosis
# asked for more protection, their budget would reveal it. Here boards decide before patients are
# admitted. The patients are made up, and their features are already scaled to [-1, 1] by public
# ranges. Seeds make this example repeatable; leave out ``random_state`` for real patients.

import matplotlib.pyplot as plt
import numpy as np

from skdp.linear_model import DPSGDClassifier

N_REPEATS = 6
N_PATIENTS = 6_000
STRICT, USUAL = 0.1, 2.0


def patients(n, rng):
    """Return rows of made-up patients, and which of them came back."""
    X = rng.uniform(-1.0, 1.0, (n, 5))
    effects = np.array([4.0, -3.0, 2.0, 1.0, -1.0])
    return X, (rng.random(n) < 1.0 / (1.0 + np.exp(-0.3 - X @ effects))).astype(int)


def budgets(share, rng):
    """Return the epsilon of each patient; a share of them has the strict one."""
    return np.where(rng.random(N_PATIENTS) < share, STRICT, USUAL)


def new_model(epsilon=USUAL, **parameters):
    """Return a model for pure epsilon (delta = 0), which supports personal budgets."""
    # Rows are at most sqrt(5) long. Few are longer than 1.5, and these are clipped to it.
    return DPSGDClassifier(
        mechanism="laplace", epsilon=epsilon, data_norm=1.5, classes=[0, 1], **parameters
    )


# %%
# One fit, many epsilons
# ----------------------
# Each record takes part in one batch, and the strictest record of a batch sets its noise.
# ``epsilon`` is the largest personal epsilon.

rng = np.random.default_rng(0)
X, y = patients(N_PATIENTS, rng)
sample_epsilon = budgets(0.1, rng)
model = new_model().fit(X, y, sample_epsilon=sample_epsilon)
print(model.privacy_report_.to_text())

# %%
# What mixing would cost
# ----------------------
# With one strict record in ten, nearly every random batch contains a strict record, and gets the
# noise for it. In effect, all records would be trained at the strictest epsilon. But budgets are
# public, so batches may depend on them. ``fit`` puts records of the same budget into the same
# batch, at random among these. Strict records have larger batches, which tolerate more noise.
# Batches that are still noisy take shorter steps.
#
# The code below does by hand what ``fit`` avoids. ``partial_fit`` takes one batch at a time, with
# the current epsilon of the estimator. The batches are as large as in a fit at the strictest
# epsilon for all.

batch_size = new_model(STRICT).fit(X, y).batch_size_


def fit_mixed(X, y, sample_epsilon, rng, random_state=None):
    """Return a model whose batches are drawn from all patients alike."""
    model = new_model(random_state=random_state)
    for batch in np.array_split(rng.permutation(len(X)), len(X) // batch_size):
        model.set_params(epsilon=sample_epsilon[batch].min()).partial_fit(X[batch], y[batch])
    return model


model = fit_mixed(X, y, sample_epsilon, rng)
print(model.privacy_report_, "in", model.n_iter_, "batches, all of them noisy")

# %%
# The gain in accuracy
# --------------------
# Accuracy is measured on 10,000 patients whose records are not private, for a growing share of
# strict budgets. An important comparison is a fit that leaves out the strict patients.

SHARES = (0.001, 0.01, 0.1, 0.5, 0.9, 0.99)
scores = {name: [] for name in ("strictest", "mixed", "grouped", "left out")}
for seed in range(N_REPEATS):
    rng = np.random.default_rng([1, seed])
    X, y = patients(N_PATIENTS, rng)
    X_test, y_test = patients(10_000, rng)
    strictest = new_model(STRICT, random_state=seed).fit(X, y)
    for share in SHARES:
        sample_epsilon = budgets(share, rng)
        usual = sample_epsilon == USUAL
        for name, model in {
            "strictest": strictest,
            "mixed": fit_mixed(X, y, sample_epsilon, rng, random_state=seed),
            "grouped": new_model(random_state=seed).fit(X, y, sample_epsilon=sample_epsilon),
            "left out": new_model(random_state=seed).fit(X[usual], y[usual]),
        }.items():
            scores[name].append(model.score(X_test, y_test))
scores = {name: np.reshape(found, (N_REPEATS, -1)) for name, found in scores.items()}

# %%
# While most patients have the usual budget, ``sample_epsilon`` does as well as a fit without the
# strict patients, and no better. The strict patients add little beside their noise, and all
# patients here are alike. When few have the usual budget, the model depends on the strict patients,
# and leaving them out is costly. With ``sample_epsilon`` one need not know the share beforehand.
# Random batches gain something while strict records are rare. From one in ten on, they amount to
# the strictest epsilon for all.
#
# Patients with more protection have less influence on the model. Where strict patients differ from
# the others, check how the model does for them, on records that are not private.

RED, BLUE, GREEN, GREY = "#D55E00", "#0072B2", "#009E73", "0.5"
figure, axes = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
places = np.arange(len(SHARES))
for name, label, colour, style, point, shift in (
    ("left out", "strict patients left out", GREY, ":", 5, (-12, 0)),
    ("grouped", "sample_epsilon: batches by budget", GREEN, "o-", 2, (0, 9)),
    ("mixed", "batches at random", BLUE, "o-", 1, (10, 2)),
    ("strictest", "strictest epsilon for all", RED, "--", 0, (0, -14)),
):
    mean = scores[name].mean(axis=0)
    axes.plot(places, mean, style, color=colour, lw=2)
    axes.annotate(
        label,
        (places[point], mean[point]),
        xytext=shift,
        textcoords="offset points",
        ha={"left out": "right", "grouped": "center"}.get(name, "left"),
        color=colour,
    )
axes.set(
    xticks=places,
    xticklabels=[f"{100 * share:g} %" for share in SHARES],
    xlabel=rf"patients with $\varepsilon = {STRICT:g}$; the others have {USUAL:g}",
    ylabel="accuracy on other patients",
    title="One strict record makes its whole batch noisy",
)
axes.margins(y=0.1)
axes.spines[["top", "right"]].set_visible(False)

# %%
# Which batches are noisy? A dot is a patient, and a box is a batch, drawn smaller than it is. A
# strict patient (red, here one in ten) makes the whole batch noisy.

figure, places = plt.subplots(2, 1, figsize=(5.6, 5.6), layout="constrained")
drawn = np.where(np.random.default_rng(3).random(18 * 24) < 0.1, STRICT, USUAL)
for axes, name, members in zip(
    places, ("batches at random", "batches by budget"), (drawn, np.sort(drawn)), strict=True
):
    n_loud = 0
    for batch, epsilons in enumerate(members.reshape(18, 24)):
        left, bottom = 9 * (batch % 6), -6 * (batch // 6)
        loud = epsilons.min() == STRICT
        n_loud += loud
        colour = "#F6D5BF" if loud else "#E3EEF6"
        axes.add_patch(plt.Rectangle((left - 1, bottom - 1), 7.6, 5, color=colour, lw=0))
        place = np.arange(24)
        axes.scatter(
            left + 1.1 * (place % 6),
            bottom + place // 6,
            s=14,
            c=np.where(epsilons == STRICT, RED, BLUE),
            linewidths=0,
        )
    axes.set(aspect="equal")
    axes.axis("off")
    axes.set_title(f"{name}: {n_loud} of 18 are noisy", fontsize=11)
plt.show()
