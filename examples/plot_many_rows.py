"""
One person, many rows: protect patients, not visits
===================================================

A hospital wants to learn which visits end in an admission. Some patients come once, some forty
times. Each row of the table is a visit, and a model that hides one visit still shows who comes
every week. ``fit(X, y, groups=ids)`` hides the patient, with all visits. What does it cost?
"""

# %%
# Visits that are made up
# -----------------------
# Tables with ids of real patients may not be handed on, so these are made up: a few measurements
# that vary more between patients than between visits, and numbers of visits with a long tail. The
# sick come more often. Seeds make this example repeatable; leave ``random_state`` alone when
# patients are real.

import matplotlib.pyplot as plt
import numpy as np

from skdp.linear_model import DPLogisticRegression

N_REPEATS = 6
N_PATIENTS, MOST = 8_000, 40
EFFECTS = np.array([2.0, -1.5, 1.0, 0.5])


def visits(rng):
    """Return rows of visits, which of them ended in an admission, and whose they are."""
    n_visits = np.minimum((1.0 - rng.random(N_PATIENTS)) ** (-1.0 / 1.5), MOST).astype(int)
    ids = np.repeat(np.arange(N_PATIENTS), n_visits)
    patient = 0.35 * rng.standard_normal((N_PATIENTS, 4))
    patient[:, 0] += 0.15 * np.log(n_visits)
    X = np.clip(patient[ids] + 0.2 * rng.standard_normal((len(ids), 4)), -1.0, 1.0)
    risk = 1.0 / (1.0 + np.exp(1.0 - X @ EFFECTS - 0.5 * rng.standard_normal(N_PATIENTS)[ids]))
    return X, (rng.random(len(ids)) < risk).astype(int), ids


def new_model(**parameters):
    """Return a model with public bounds: rows are at most 2 long, and few are longer than 1.5."""
    return DPLogisticRegression(data_norm=1.5, delta=1e-5, classes=[0, 1], **parameters)


X, y, ids = visits(np.random.default_rng(0))
n_visits = np.bincount(ids)
print(f"{len(X)} visits of {N_PATIENTS} patients; {np.mean(n_visits == 1):.0%} of them came once,")
print(f"and {np.mean(n_visits >= 10):.1%} ten times or more.")

# %%
# What a report says
# ------------------
# Without ``groups`` the guarantee is for a visit. What it comes to for the patient who came forty
# times can be asked, and is nothing; with ``groups`` it is for a patient.

by_visit = new_model().fit(X, y).privacy_report_
by_patient = new_model().fit(X, y, groups=ids).privacy_report_
print(f"{by_visit.unit}: {by_visit}; forty rows: {by_visit.epsilon_at(1e-5, group_size=MOST):.0f}")
print(f"{by_patient.unit}: {by_patient}")

# %%
# The whole report says what is public now. The number of visits isn't, in all or of a patient.

print(by_patient.to_text())

# %%
# Three ways to protect a patient
# -------------------------------
# At the same epsilon for a patient: all visits with ``groups``; one visit of each, drawn at random;
# or all visits, each with a fortieth of the budget. The error is that of the coefficients to those
# of a fit on all visits without privacy.

EPSILONS = (0.25, 0.5, 1.0, 2.0, 4.0)


def one_visit_each(ids, rng):
    """Return the place of one row of each patient."""
    order = rng.permutation(len(ids))
    return order[np.unique(ids[order], return_index=True)[1]]


errors = {name: [] for name in ("groups", "one visit", "a fortieth")}
for seed in range(N_REPEATS):
    rng = np.random.default_rng(seed)
    X, y, ids = visits(rng)
    best = new_model(epsilon=np.inf, average=False, max_iter=200).fit(X, y, groups=ids).coef_
    rows = one_visit_each(ids, rng)
    for epsilon in EPSILONS:
        for name, model in {
            "groups": new_model(epsilon=epsilon, random_state=seed).fit(X, y, groups=ids),
            "one visit": new_model(epsilon=epsilon, random_state=seed).fit(X[rows], y[rows]),
            # Of small epsilons it is a little more than a fortieth that forty visits add up to.
            "a fortieth": new_model(epsilon=epsilon / MOST, random_state=seed).fit(X, y),
        }.items():
            error = np.linalg.norm(model.coef_ - best) / np.linalg.norm(best)
            errors[name].append(error)
errors = {name: np.reshape(found, (N_REPEATS, -1)) for name, found in errors.items()}

# %%
# ``groups`` is best at every epsilon. One visit each is private too, but fewer rows tell less, and
# patients who come often count for less: no budget makes up for that.
#
# What ``groups`` can't do is to let a patient with forty visits count forty times as much as one
# with one visit: everybody's part in a step is cut to the same length. Where those with many visits
# are what matters, look at how the model does for them, on records that aren't private.

RED, BLUE, GREEN, GREY = "#D55E00", "#0072B2", "#009E73", "0.5"
figure, (left, right) = plt.subplots(
    1, 2, figsize=(11.0, 4.2), layout="constrained", width_ratios=(1.0, 1.4)
)

counts = np.bincount(np.bincount(ids), minlength=MOST + 1)[1:]
left.bar(np.arange(1, MOST + 1), counts, color=BLUE, width=0.8)
left.set(
    yscale="log",
    xlabel="visits of a patient",
    ylabel="patients",
    title="Few patients have many of the rows",
)

for name, label, colour, shift in (
    ("a fortieth", "all visits, each with a fortieth of epsilon", RED, (40, 14)),
    ("one visit", "one visit of each patient", GREY, (0, 10)),
    ("groups", "groups=ids: all visits", GREEN, (0, -16)),
):
    mean = errors[name].mean(axis=0)
    spread = errors[name].std(axis=0)
    right.plot(EPSILONS, mean, "o-", color=colour, lw=2)
    right.fill_between(EPSILONS, mean - spread, mean + spread, color=colour, alpha=0.15, lw=0)
    right.annotate(
        label, (1.0, mean[2]), xytext=shift, textcoords="offset points", ha="center", color=colour
    )
right.set(
    xscale="log",
    yscale="log",
    xticks=EPSILONS,
    xticklabels=[f"{epsilon:g}" for epsilon in EPSILONS],
    xlabel=r"$\varepsilon$ for a patient (standard deviations over data sets shaded)",
    ylabel="relative error of coefficients",
    title="The same guarantee for a patient, three ways",
)
right.minorticks_off()
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
