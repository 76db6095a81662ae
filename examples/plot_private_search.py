"""
Choosing a model with one epsilon
=================================

A lab wants to predict from sensors which machines will fail, but the units of the sensors are
unknown. So are the length of a row, the best penalty, and whether the second half of the sensors is
useful. A search over settings would find out, but each of its fits spends epsilon. ``DPGridSearch``
pays once: fits, scores and the choice together have one epsilon.
"""

# %%
# Sensors in unknown units
# ------------------------
# The machines are made up. Seeds make this example repeatable; leave out ``random_state`` for real
# records.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import make_pipeline

from skdp.accountant import selection_noise
from skdp.linear_model import DPLogisticRegression
from skdp.model_selection import DPGridSearch
from skdp.preprocessing import NormClipper

N_REPEATS = 4
N_USEFUL, N_OTHERS = 5, 25


def machines(n, rng):
    """Return readings of sensors in some unit, and which machines failed."""
    X = rng.standard_normal((n, N_USEFUL + N_OTHERS))
    effects = np.append(np.linspace(2.0, 0.5, N_USEFUL), np.zeros(N_OTHERS))
    return X / 300.0, (rng.random(n) < 1.0 / (1.0 + np.exp(-X @ effects))).astype(int)


# %%
# Settings, chosen without looking at the data
# --------------------------------------------
# All sensors or the first five, four bounds on the length of a row over powers of ten, and two
# penalties that follow from the bound make sixteen settings. The steps that select columns and clip
# rows learn nothing, so they may be steps of a searched pipeline.

ALL = [("kept", "passthrough", slice(0, None))]
FIRST = [("kept", "passthrough", slice(0, N_USEFUL))]
SETTINGS = [
    {
        "columntransformer__transformers": [columns],
        "normclipper__data_norm": [norm],
        "dplogisticregression__data_norm": [norm],
        "dplogisticregression__alpha": [strength * norm**2],
    }
    for columns in (ALL, FIRST)
    for norm in (0.001, 0.01, 0.1, 1.0)
    for strength in (1e-4, 1e-1)
]


def model(**parameters):
    """Return a pipeline of all columns and the defaults."""
    return make_pipeline(
        ColumnTransformer(ALL),
        NormClipper(),
        DPLogisticRegression(classes=[0, 1], **parameters),
    )


X, y = machines(4_000, np.random.default_rng(0))
search = DPGridSearch(model(), SETTINGS, epsilon=1.0, random_state=0).fit(X, y)
print(search.privacy_report_)
print({name.rpartition("__")[2]: value for name, value in search.best_params_.items()})
print(f"noisy accuracy on the rows held out: {search.best_score_:.3f}")

# %%
# The search draws its number of trials at random, and keeps it secret. Each trial draws one of the
# settings, fits it on three quarters of the rows and scores it, with noise, on the rest. The best
# trial is published and the others are discarded. There is no table of trials, because it would
# reveal their number, and the search is cheap only while this number is secret. The report also
# gives the cost of the alternative, which fits all settings once:

for note in search.privacy_report_.notes:
    print(note)

# %%
# The gain in accuracy
# --------------------
# Four ways to choose a setting are compared, on other machines each time. "Known" is the best
# setting, as if it had been known beforehand. "At random" is the mean over the settings.

BUDGET = {"epsilon": 1.0}
ways = {name: [] for name in ("known", "search", "default", "at random")}
for seed in range(N_REPEATS):
    rng = np.random.default_rng([1, seed])
    X, y = machines(4_000, rng)
    X_test, y_test = machines(20_000, rng)
    alone = [
        model(random_state=1000 * seed + i, **BUDGET)
        .set_params(**setting)
        .fit(X, y)
        .score(X_test, y_test)
        for i, setting in enumerate(ParameterGrid(SETTINGS))
    ]
    found = DPGridSearch(model(), SETTINGS, random_state=seed, **BUDGET).fit(X, y)
    ways["known"].append(max(alone))
    ways["search"].append(found.score(X_test, y_test))
    ways["default"].append(model(random_state=seed, **BUDGET).fit(X, y).score(X_test, y_test))
    ways["at random"].append(np.mean(alone))
for name, scores in ways.items():
    print(f"{name:>10}  {np.mean(scores):.3f}")

COLOURS = {"known": "0.4", "search": "#0072B2", "default": "#D55E00", "at random": "#CC79A7"}
figure, axes = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
for row, (name, scores) in enumerate(ways.items()):
    heights = row + np.linspace(-0.15, 0.15, N_REPEATS)
    axes.plot(scores, heights, "o", color=COLOURS[name], alpha=0.5, mew=0)
    axes.plot(np.mean(scores), row, "|", color=COLOURS[name], ms=30, mew=2.5)
axes.set(
    yticks=range(len(ways)),
    yticklabels=ways,
    ylim=(len(ways) - 0.5, -0.5),
    xlabel="accuracy on other machines",
    title="Sixteen settings, one $\\varepsilon = 1$",
)
axes.tick_params(axis="y", length=0)
axes.spines[["top", "right", "left"]].set_visible(False)

# %%
# The cost is noise, measured relative to a single fit with the whole epsilon. It grows slowly with
# the number of settings. Fitting all settings costs the square root of their number. For two or
# three settings this is cheaper, and the search then fits them all.

figure, axes = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
counts = np.array([1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48])
noise = [
    selection_noise(1.0, 1e-5, n_candidates=n, mean=max(5, 3 * n), eta=2.0) for n in counts.tolist()
]
styles = {
    "repeat": (COLOURS["search"], "best of a secret\nnumber of trials"),
    "compose": ("#009E73", "all settings once"),
}
for method, (colour, label) in styles.items():
    line = [one[method] for one in noise]
    axes.plot(counts, line, color=colour, lw=2)
    axes.annotate(
        label, (counts[-4], line[-4]), xytext=(0, -26), color=colour, textcoords="offset points"
    )
axes.set(
    xlabel="settings",
    ylabel="noise of a fit, single fit = 1",
    ylim=0,
    title="The cost of choosing",
)
axes.spines[["top", "right"]].set_visible(False)
plt.show()
