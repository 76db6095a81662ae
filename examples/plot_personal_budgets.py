"""
Personal budgets: a batch is as quiet as its most demanding member
==================================================================

Hospitals share a model of which patients come back within a month, and the ethics board of each
decides how well its patients are to be protected: most boards are content with epsilon = 2, some
ask for 0.1. Must everybody be trained with the strictest? No: ``sample_epsilon`` gives every record
an epsilon of its own. How much that gains depends on who shares a batch with whom.
"""

# %%
# Budgets that tell nothing
# -------------------------
# A budget is public, and must not depend on the record: if people with an embarrassing diagnosis
# asked for more protection, their budget would give it away. Here boards decide before anybody is
# admitted. The patients are made up, with features that are scaled to [-1, 1] by public ranges
# already. Seeds make this example repeatable; leave ``random_state`` alone when they are real.

import matplotlib.pyplot as plt
import numpy as np

from skdp.linear_model import DPSGDClassifier

N_REPEATS = 10
N_PATIENTS = 6_000
STRICT, USUAL = 0.1, 2.0


def patients(n, rng):
    """Return rows of made-up patients, and who of them came back."""
    X = rng.uniform(-1.0, 1.0, (n, 5))
    effects = np.array([4.0, -3.0, 2.0, 1.0, -1.0])
    return X, (rng.random(n) < 1.0 / (1.0 + np.exp(-0.3 - X @ effects))).astype(int)


def budgets(share, rng):
    """Return the epsilon of each patient; a share of them has the strict one."""
    return np.where(rng.random(N_PATIENTS) < share, STRICT, USUAL)


def new_model(epsilon=USUAL, **parameters):
    """Return a model for pure epsilon (delta = 0), the kind that knows personal budgets."""
    # Rows are at most sqrt(5) long, and few are longer than 1.5, to which they are then scaled.
    return DPSGDClassifier(
        mechanism="laplace", epsilon=epsilon, data_norm=1.5, classes=[0, 1], **parameters
    )


# %%
# One fit, many epsilons
# ----------------------
# Each record takes part in one batch, and the noise of a batch serves its most demanding member.
# ``epsilon`` is the largest that anybody allows. Give ``batch_size`` as well: the automatic one
# suits that largest epsilon, and would be far too small for batches with the noise of the smallest.
# Take the one of a fit that protects everybody as the strict ask for. It is a function of public
# numbers.

rng = np.random.default_rng(0)
X, y = patients(N_PATIENTS, rng)
sample_epsilon = budgets(0.1, rng)
batch_size = new_model(STRICT).fit(X, y).batch_size_
model = new_model(batch_size=batch_size).fit(X, y, sample_epsilon=sample_epsilon)
print(model.privacy_report_.to_text())

# %%
# The note tells which epsilons were kept. With one strict record in ten and batches of this size,
# nearly every batch has a strict member, and its noise.
#
# Batches of one kind
# -------------------
# Budgets are public, so the batches may be chosen by them. ``partial_fit`` takes one batch at a
# time, each with the epsilon that the estimator has then. The report tells the largest; a record
# has the epsilon of the one call that it was shown to. The strict come first, since late steps
# count more in the average.


def fit_by_budget(X, y, sample_epsilon, rng, random_state=None):
    """Return a model whose batches have one budget each."""
    model = new_model(random_state=random_state)
    for epsilon in np.unique(sample_epsilon):
        alike = rng.permutation(np.flatnonzero(sample_epsilon == epsilon))
        for batch in np.array_split(alike, max(1, alike.size // batch_size)):
            model.set_params(epsilon=epsilon).partial_fit(X[batch], y[batch])
    return model


model = fit_by_budget(X, y, sample_epsilon, rng)
print(model.privacy_report_, "in", model.n_iter_, "batches")

# %%
# What it gains
# -------------
# Accuracy on 10,000 patients whose records are not private, for a growing share of strict budgets.
# The comparison that must not be forgotten: leave out who is strict.

SHARES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.4)
scores = {name: [] for name in ("strictest", "mixed", "sorted", "left out")}
for seed in range(N_REPEATS):
    rng = np.random.default_rng([1, seed])
    X, y = patients(N_PATIENTS, rng)
    X_test, y_test = patients(10_000, rng)
    strictest = new_model(STRICT, random_state=seed).fit(X, y)
    for share in SHARES:
        sample_epsilon = budgets(share, rng)
        usual = sample_epsilon == USUAL
        mixed = new_model(batch_size=batch_size, random_state=seed)
        for name, model in {
            "strictest": strictest,
            "mixed": mixed.fit(X, y, sample_epsilon=sample_epsilon),
            "sorted": fit_by_budget(X, y, sample_epsilon, rng, random_state=seed),
            "left out": new_model(random_state=seed).fit(X[usual], y[usual]),
        }.items():
            scores[name].append(model.score(X_test, y_test))
scores = {name: np.reshape(found, (N_REPEATS, -1)) for name, found in scores.items()}

# %%
# Personal budgets in one fit pay while strict ones are rare. Once most batches have a strict
# member, everybody is trained with the strictest, and batches of one kind are worth their few
# lines; but a mere handful of patients makes such a batch too noisy to help. To leave the strict
# out does as well or better, because these patients are like the others. Where they are not, a
# model without them is a model that doesn't know them.

RED, BLUE, GREEN, GREY = "#D55E00", "#0072B2", "#009E73", "0.5"
figure, axes = plt.subplot_mosaic(
    [["mixed", "accuracy"], ["sorted", "accuracy"]],
    figsize=(11.0, 5.0),
    layout="constrained",
    width_ratios=(1.0, 1.2),
)

drawn = np.where(np.random.default_rng(3).random(18 * 24) < 0.1, STRICT, USUAL)
for name, members in (("mixed", drawn), ("sorted", np.sort(drawn))):
    ax, n_loud = axes[name], 0
    for batch, epsilons in enumerate(members.reshape(18, 24)):
        left, bottom = 9 * (batch % 6), -6 * (batch // 6)
        loud = epsilons.min() == STRICT
        n_loud += loud
        colour = "#F6D5BF" if loud else "#E3EEF6"
        ax.add_patch(plt.Rectangle((left - 1, bottom - 1), 7.6, 5, color=colour, lw=0))
        place = np.arange(24)
        ax.scatter(
            left + 1.1 * (place % 6),
            bottom + place // 6,
            s=14,
            c=np.where(epsilons == STRICT, RED, BLUE),
            linewidths=0,
        )
    ax.set(aspect="equal")
    ax.axis("off")
    what = {"mixed": "batches at random", "sorted": "batches of one kind"}[name]
    ax.set_title(f"{what}: {n_loud} of 18 are noisy", fontsize=11)
axes["sorted"].annotate(
    "a dot is a patient, a box a batch (drawn smaller than it is);\n"
    "a strict patient (red), here one in ten, makes the whole box noisy",
    (0.5, -0.05),
    xycoords="axes fraction",
    ha="center",
    va="top",
    fontsize=9,
)

ax = axes["accuracy"]
for name, label, colour, style, point, shift in (
    ("left out", "strict patients left out", GREY, ":", 2, (0, 8)),
    ("sorted", "batches of one kind", GREEN, "o-", 2, (16, -14)),
    ("mixed", "one fit with\nsample_epsilon", BLUE, "o-", 2, (-14, -8)),
    ("strictest", "everybody trained with the strictest", RED, "o-", 3, (0, -18)),
):
    mean = scores[name].mean(axis=0)
    ax.plot(SHARES, mean, style, color=colour, lw=2)
    ax.annotate(
        label,
        (SHARES[point], mean[point]),
        xytext=shift,
        textcoords="offset points",
        ha={"mixed": "right", "sorted": "left"}.get(name, "center"),
        color=colour,
    )
ax.set(
    xscale="log",
    xticks=SHARES,
    xticklabels=[f"{100 * share:g} %" for share in SHARES],
    xlabel=rf"patients with $\varepsilon = {STRICT:g}$; the others have {USUAL:g}",
    ylabel="accuracy on other patients",
    title="One strict record costs its whole batch",
)
ax.minorticks_off()
ax.margins(y=0.1)
ax.spines[["top", "right"]].set_visible(False)
plt.show()
