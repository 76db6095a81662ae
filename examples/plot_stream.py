"""
A model that learns every day, and a person's epsilon that doesn't grow
=======================================================================

A clinic wants to predict which patients miss their appointment, and learns from each day's patients
at the end of the day. A model that is fitted again each day spends epsilon each day.
``partial_fit`` does not, as long as each day has *other* people: each person takes part in one
step, and the guarantee for all days is that of one.
"""

# %%
# Appointments, and public bounds
# -------------------------------
# The patients are made up. The range of each feature follows from its meaning, and was written
# before the first patient came. A booking is at most 90 days ahead, and a patient travels at most
# 50 km. More than ten visits, missed appointments or reminders carry no further information. Values
# outside a range are clipped to it.
#
# Seeds make this example repeatable; leave out ``random_state`` for real patients.

import matplotlib.pyplot as plt
import numpy as np

from skdp.linear_model import DPSGDClassifier
from skdp.preprocessing import BoundsScaler

N_REPEATS = 8
N_DAYS = 60
PATIENTS_A_DAY = 120
BOUNDS = {
    "age": (0, 100),
    "days since booking": (0, 90),
    "distance (km)": (0, 50),
    "visits so far": (0, 10),
    "appointments missed": (0, 10),
    "reminders": (0, 10),
}


def patients(n, rng):
    """Return rows of made-up patients, and which of them did not come."""
    missed = rng.poisson(rng.gamma(1.0, 1.5, n))
    X = np.column_stack(
        [
            rng.uniform(0.0, 95.0, n),
            rng.gamma(2.0, 15.0, n),
            rng.exponential(12.0, n),
            missed + rng.poisson(3.0, n),
            missed,
            rng.poisson(2.0, n),
        ]
    )
    effects = np.array([-0.03, 0.05, 0.04, -0.25, 0.9, -0.5])
    return X, (rng.random(n) < 1.0 / (1.0 + np.exp(-X @ effects))).astype(int)


# %%
# One step a day
# --------------
# ``BoundsScaler`` maps the ranges to [-1, 1]. A step also needs a public bound on the length of a
# row. It is 1.5, because few patients are at an end of all six ranges at once, and longer rows are
# clipped to it. Streams use spherical Laplace noise, whose guarantee has delta = 0.

scaler = BoundsScaler(feature_bounds=np.transpose(list(BOUNDS.values())))
# It learns nothing, so a row of zeros is enough to fit it.
scaler.fit(np.zeros((1, len(BOUNDS))))


def new_model(epsilon, random_state=None):
    """Return a model that learns from a day's patients by partial_fit."""
    return DPSGDClassifier(
        mechanism="laplace",
        epsilon=epsilon,
        data_norm=1.5,
        classes=[0, 1],
        random_state=random_state,
    )


model = new_model(epsilon=1.0)
for day in range(3):
    X, y = patients(PATIENTS_A_DAY, np.random.default_rng(day))
    model.partial_fit(scaler.transform(X), y)
    print(f"after day {day + 1}: {model.privacy_report_}")
report = model.privacy_report_

# %%
# The notes of the report state what this relies on.

for note in report.notes:
    print(note)

# %%
# Two months
# ----------
# Accuracy is measured after each day, on 10,000 patients whose records are not private. Everything
# is repeated with other patients and other noise.

EPSILONS = {0.1: "#D55E00", 1.0: "#0072B2", float("inf"): "0.35"}
scores = {epsilon: np.empty((N_REPEATS, N_DAYS)) for epsilon in EPSILONS}
for repeat in range(N_REPEATS):
    rng = np.random.default_rng([1, repeat])
    models = {epsilon: new_model(epsilon, random_state=repeat) for epsilon in EPSILONS}
    X_test, y_test = patients(10_000, rng)
    X_test = scaler.transform(X_test)
    for day in range(N_DAYS):
        X, y = patients(PATIENTS_A_DAY, rng)
        X = scaler.transform(X)
        for epsilon, model in models.items():
            model.partial_fit(X, y)
            scores[epsilon][repeat, day] = model.score(X_test, y_test)
always = max(y_test.mean(), 1.0 - y_test.mean())

days = np.arange(1, N_DAYS + 1)
figure, axes = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
for epsilon, colour in EPSILONS.items():
    private = np.isfinite(epsilon)
    name = rf"$\varepsilon = {epsilon:g}$" if private else "no privacy"
    mean = scores[epsilon].mean(axis=0)
    if private:
        low, high = np.quantile(scores[epsilon], [0.1, 0.9], axis=0)
        axes.fill_between(days, low, high, color=colour, alpha=0.15, lw=0)
    axes.plot(days, mean, color=colour, lw=2, ls="-" if private else "--")
    axes.annotate(
        name,
        (N_DAYS, mean[-1]),
        xytext=(6, -8 if private else 5),
        textcoords="offset points",
        color=colour,
    )
axes.axhline(always, color="0.6", ls=":")
axes.annotate("always the more common outcome", (N_DAYS, always), ha="right", va="bottom", c="0.45")
axes.set(
    xlabel=f"days of {PATIENTS_A_DAY} patients each",
    ylabel="accuracy on other patients",
    xlim=(0, N_DAYS + 9),
    title="The model improves daily, and one visit costs one epsilon",
)
axes.annotate(
    "bands: 8 of 10 repeats",
    (0, 1),
    xycoords="axes fraction",
    va="top",
    xytext=(8, -4),
    textcoords="offset points",
    color="0.45",
)
axes.spines[["top", "right"]].set_visible(False)

# %%
# If the *same* people came every day, their epsilons would add up, as the rising line shows. A
# stream is for records that come once. Where people return, fit the model from time to time on all
# records, or set ``epsilon`` to what a day may cost a person.

figure, axes = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
once, daily = np.full(N_DAYS, report.epsilon), days * report.epsilon
axes.plot(days, daily, color="#CC79A7", lw=2)
axes.plot(days, once, color=EPSILONS[report.epsilon], lw=2)
axes.fill_between(days, once, daily, color="#CC79A7", alpha=0.12, lw=0)
axes.annotate("came every day", (30, 33), ha="right", color="#CC79A7")
axes.annotate("came once", (N_DAYS, 3), ha="right", color=EPSILONS[report.epsilon])
axes.set(
    xlabel=f"days of {PATIENTS_A_DAY} patients each",
    ylabel=r"a person's $\varepsilon$",
    ylim=0,
    xlim=(0, N_DAYS + 9),
    title="People who come every day spend epsilon every day",
)
axes.spines[["top", "right"]].set_visible(False)
plt.show()
