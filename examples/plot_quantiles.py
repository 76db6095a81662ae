"""
How long nine patients in ten stay
==================================

A hospital plans beds. The mean stay is too short for this purpose. It needs the number of days
within which half of the patients leave, and nine in ten. This example predicts both privately, and
shows that records with typing errors hardly matter.
"""

# %%
# Made-up stays
# -------------
# Old patients stay longer, and the stays of severe cases vary more. One record in two hundred has
# hours instead of days.

import matplotlib.pyplot as plt
import numpy as np

from skdp.linear_model import DPHuberRegressor, DPQuantileRegressor, DPRidge

N_PATIENTS, SEED = 40_000, 0
N_REPEATS = 20
rng = np.random.default_rng(SEED)
age, severity = rng.uniform(18, 90, N_PATIENTS), rng.uniform(0, 1, N_PATIENTS)
X = np.column_stack([age, severity])
days = 2 + 0.05 * age + rng.exponential(0.5 + 5 * severity)
train, test = np.arange(N_PATIENTS) < N_PATIENTS // 2, np.arange(N_PATIENTS) >= N_PATIENTS // 2
typed = np.where(rng.random(N_PATIENTS) < 0.005, 24 * days, days)

# %%
# Two quantiles, one epsilon each
# -------------------------------
# No bound is given, neither for ages nor for stays. The shares below are computed without noise; on
# real records they would need a budget, too.

quantiles = {
    share: DPQuantileRegressor(quantile=share, epsilon=0.5, random_state=SEED)
    for share in (0.5, 0.9)
}
for share, model in quantiles.items():
    below = np.mean(days[test] <= model.fit(X[train], typed[train]).predict(X[test]))
    print(f"{share}: {model.privacy_report_}; {below:.3f} of stays are below it")

# %%
# Typing errors
# -------------
# The right panel shows the effect of a year of age in twenty fits of each method. Ridge regression
# follows the errors, and more so with a larger budget, which learns a range that includes them.
# Huber regression does not.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
shown = rng.choice(np.flatnonzero(test), 1500, replace=False)
left.plot(severity[shown], days[shown], ".", color="grey", alpha=0.3, markersize=3)
line = np.column_stack([np.full(50, 60.0), np.linspace(0, 1, 50)])
for share, model in quantiles.items():
    left.plot(line[:, 1], model.predict(line), label=f"{share:.0%} of those aged 60")
left.set(xlabel="severity", ylabel="days", ylim=(0, 40), title="Days until patients leave")
left.legend(frameon=False)
kinds = [DPRidge, DPHuberRegressor]
effects = [
    [
        kind(epsilon=epsilon, random_state=seed).fit(X[train], typed[train]).coef_[0]
        for seed in range(N_REPEATS)
    ]
    for kind in kinds
    for epsilon in (0.5, 4.0)
]
right.boxplot(effects, tick_labels=["ridge\n0.5", "ridge\n4", "Huber\n0.5", "Huber\n4"])
right.axhline(0.05, color="grey", linewidth=1)
right.set(xlabel="method and epsilon", ylabel="days", title="What a year of age adds")
plt.show()
