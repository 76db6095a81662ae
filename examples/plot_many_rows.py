"""
One person, many rows: protect patients, not stays
==================================================

Which patients come back to the hospital? Some patients are in the table once, some forty times.
Each row is a stay, and a model that protects one stay may still reveal who comes every month.
``fit(X, y, groups=ids)`` protects the patient with all stays. This example measures its cost.
"""

# %%
# Stays in 130 hospitals
# ----------------------
# Ten years of patients with diabetes in the United States (Strack and others, 2014): 101,766 stays
# of 71,518 patients, from OpenML. Without a network a made-up twin takes the table's place, with
# the columns that are used here and their types. What is found on the twin says nothing of the
# hospitals; the printed line says which of the two this page shows.

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import fetch_openml

from skdp.accountant import calibrate, get_epsilon
from skdp.linear_model import DPLogisticRegression
from skdp.preprocessing import BoundsScaler

N_REPEATS = 2
MOST = 40
# Public ranges, from what the columns count. Values beyond them are clipped.
BOUNDS = {
    "time_in_hospital": (0, 14),  # days
    "num_lab_procedures": (0, 100),
    "num_procedures": (0, 6),
    "num_medications": (0, 40),
    "number_outpatient": (0, 5),  # visits in the year before
    "number_emergency": (0, 5),
    "number_inpatient": (0, 5),
    "number_diagnoses": (0, 16),
}


def twin(n_patients):
    """Return a made-up table of stays; sicker patients come more often, and patients differ."""
    rng = np.random.default_rng(0)
    n_stays = np.minimum((1.0 - rng.random(n_patients)) ** (-1.0 / 1.7), MOST).astype(int)
    ids = np.repeat(rng.permutation(n_patients), n_stays)
    ill = np.repeat(rng.standard_normal(n_patients) + 0.5 * np.log(n_stays), n_stays)
    table = pd.DataFrame({"patient_nbr": ids})
    for name, (_, high) in BOUNDS.items():
        visits = name.startswith("number_") and name != "number_diagnoses"
        mean = (0.08 if visits else 0.35) * high * np.exp(0.25 * ill)
        table[name] = rng.poisson(mean).clip(0, 2 * high)
    score = 0.35 * table["number_inpatient"] + 0.05 * table["number_diagnoses"] + 0.4 * ill - 1.0
    again = rng.random(len(ids)) < 1.0 / (1.0 + np.exp(-score))
    late = np.where(rng.random(len(ids)) < 0.7, ">30", "<30")
    return table.assign(readmitted=pd.Categorical(np.where(again, late, "NO")))


with warnings.catch_warnings(action="ignore"):  # of a second try
    try:
        table = fetch_openml(data_id=4541, n_retries=1, delay=0.1).frame
        print("Diabetes in 130 hospitals, from OpenML.")
    except OSError:
        table = twin(20_000)
        print("No network: a made-up twin of Diabetes in 130 hospitals.")

X = BoundsScaler(np.transpose(list(BOUNDS.values()))).fit_transform(table[list(BOUNDS)])
y = table["readmitted"].ne("NO").to_numpy().astype(int)
ids = table["patient_nbr"].to_numpy()
n_stays = np.unique(ids, return_counts=True)[1]
print(f"{len(X)} stays of {len(n_stays)} patients; {np.mean(n_stays == 1):.0%} of them came once,")
print(f"and {np.mean(n_stays >= 5):.1%} five times or more.")

# %%
# What a report says
# ------------------
# Without ``groups`` the guarantee is for a stay. The report can convert it to a guarantee for a
# patient with forty stays, which is worthless. With ``groups`` the guarantee is for a patient.


def new_model(**parameters):
    """Return a model with public bounds: rows are at most ``sqrt(8)`` long, mostly shorter."""
    return DPLogisticRegression(data_norm=2.0, delta=1e-6, classes=[0, 1], **parameters)


by_stay = new_model().fit(X, y).privacy_report_
by_patient = new_model().fit(X, y, groups=ids).privacy_report_
print(f"{by_stay.unit}: {by_stay}; forty rows: {by_stay.epsilon_at(1e-6, group_size=MOST):.0f}")
print(f"{by_patient.unit}: {by_patient}")

# %%
# The full report lists what is public. The number of stays is not, neither in total nor for a
# patient.

print(by_patient.to_text())

# %%
# Three ways to protect a patient
# -------------------------------
# Three fits have the same epsilon for a patient: all stays with ``groups``; one stay of each
# patient, drawn at random; and all stays, each with a fortieth of the budget. The error is the
# distance of the coefficients from those of a fit to all stays without privacy.

EPSILONS = (0.25, 0.5, 1.0, 2.0)


def one_stay_each(rng):
    """Return the place of one row of each patient."""
    order = rng.permutation(len(ids))
    return order[np.unique(ids[order], return_index=True)[1]]


best = new_model(epsilon=np.inf, average=False, max_iter=100).fit(X, y).coef_
errors = {name: np.empty((N_REPEATS, len(EPSILONS))) for name in ("groups", "one", "fortieth")}
for repeat in range(N_REPEATS):
    rows = one_stay_each(np.random.default_rng(repeat))
    for place, epsilon in enumerate(EPSILONS):
        # A fortieth in terms of the noise, where forty stays add up; of epsilon it would be more.
        fortieth = get_epsilon(MOST * calibrate(epsilon, 1e-6), 1e-6)
        for name, model in {
            "groups": new_model(epsilon=epsilon).fit(X, y, groups=ids),
            "one": new_model(epsilon=epsilon).fit(X[rows], y[rows]),
            "fortieth": new_model(epsilon=fortieth).fit(X, y),
        }.items():
            error = np.linalg.norm(model.coef_ - best) / np.linalg.norm(best)
            errors[name][repeat, place] = error
for name, found in errors.items():
    print(f"{name:10}", *[f"{value:6.3f}" for value in found.mean(axis=0)])

# %%
# One stay per patient is private too, but fewer rows carry less information, and patients who come
# often count for less. No budget makes up for that.
#
# With ``groups``, a patient with forty stays cannot count forty times as much as a patient with one
# stay, because the contribution of each patient to a step is clipped to the same length. Where
# patients with many stays matter most, check how the model does for them, on records that are not
# private.

figure, axes = plt.subplots(figsize=(6.6, 4.4), layout="constrained")
for name, label, colour in (
    ("fortieth", "all stays, each with a fortieth of the budget", "#D55E00"),
    ("one", "one stay of each patient", "0.5"),
    ("groups", "groups=ids: all stays", "#0072B2"),
):
    found = errors[name]
    axes.plot(EPSILONS, found.mean(axis=0), "o-", color=colour, lw=2, label=label)
    axes.fill_between(
        EPSILONS, found.min(axis=0), found.max(axis=0), color=colour, alpha=0.15, lw=0
    )
axes.set(
    xscale="log",
    yscale="log",
    xticks=EPSILONS,
    xticklabels=[f"{epsilon:g}" for epsilon in EPSILONS],
    xlabel=r"$\varepsilon$ for a patient",
    ylabel="relative error of coefficients",
    ylim=(None, 4.0),
    title="The same guarantee for a patient, three ways",
)
axes.minorticks_off()
axes.legend(frameon=False)
axes.spines[["top", "right"]].set_visible(False)
plt.show()
