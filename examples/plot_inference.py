"""
How sure is a coefficient
=========================

Which of a patient's numbers go with the progress of diabetes? A table of coefficients answers that
only with the errors beside them: a private coefficient is off because patients are a sample, and
because there is noise. ``inference=True`` tells both, in the same epsilon, and says when it can't.
"""

# %%
# A registry
# ----------
# The 442 patients that come with scikit-learn are too few for a small epsilon, so that we make a
# registry of their like: each of its patients is one of them with every number moved a little, and
# an outcome by the regression of the 442, with errors as large as theirs. So there is a truth to
# compare with. Seeds make this page repeatable; leave ``random_state`` alone when records are real.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression

from skdp.exceptions import NoIntervalError
from skdp.linear_model import DPRidge

N_REPEATS = 20
N_PATIENTS = 20_000

diabetes = load_diabetes(as_frame=True)
names = ["age", "sex", "bmi", "bp", "s5"]
real, outcome = diabetes.data[names] / 0.0476, diabetes.target  # in standard deviations
regression = LinearRegression().fit(real, outcome)
spread = (outcome - regression.predict(real)).std()


def registry(seed, columns=real):
    """Return a table of patients like those that are known, and their outcomes."""
    rng = np.random.default_rng(seed)
    X = columns.sample(N_PATIENTS, replace=True, random_state=seed, ignore_index=True)
    X = (X + 0.3 * rng.standard_normal(X.shape)).clip(-3, 3)
    y = regression.predict(X[names]) + spread * rng.standard_normal(N_PATIENTS)
    return X, y.clip(-100, 400)


# %%
# The table
# ---------
# Bounds are public: three standard deviations, and outcomes from -100 to 400. Errors by sampling
# are those that any statistician would report; those by privacy are ours. ``data_norm`` is about
# the length of a long row, so that hardly any row is scaled down.


def fit(X, y, seed, epsilon=1.0):
    model = DPRidge(
        epsilon=epsilon,
        data_norm=4.0,
        target_bounds=(-100, 400),
        inference=True,
        random_state=seed,
    )
    return model.fit(X, y)


X, y = registry(0)
model = fit(X, y, seed=1)
print(model.summary())

# %%
# Do intervals hold what they promise?
# ------------------------------------
# New registries, again and again, and how many of their intervals hold the truth. Where the noise
# happens to look like a bias there are none.

held = {}
for epsilon in (0.5, 1.0, 4.0):
    fits = [fit(*registry(s), s, epsilon) for s in range(1, N_REPEATS + 1)]
    told = [each for each in fits if each.inference_quality_ != "no"]
    ends = np.array([each.conf_int() for each in told])
    held[epsilon] = (ends[..., 0] < regression.coef_) & (regression.coef_ < ends[..., 1])
    width = np.median(ends[..., 1] - ends[..., 0])
    print(
        f"epsilon {epsilon:3}: {len(told)} of {N_REPEATS} have intervals, "
        f"{held[epsilon].mean():.0%} hold it, typical width {width:.1f}"
    )

# %%
# When it can't tell
# ------------------
# Six numbers of a blood test nearly add up to each other: total cholesterol is the sum of its
# parts. Which of them matters isn't to be seen through this much noise, and then there is no
# interval. A wrong one would be worse.

everything = diabetes.data / 0.0476
crowded = fit(*registry(0, everything), seed=0, epsilon=0.1)
print(crowded.summary())
try:
    crowded.conf_int()
except NoIntervalError as error:
    print(error)

# %%
# The figure
# ----------
# The smaller epsilon, the longer the intervals. Ticks are the truth.

figure, axes = plt.subplots(figsize=(7.0, 3.6), layout="constrained")
for shift, (epsilon, colour) in enumerate(zip(held, ("#d55e00", "#0072b2", "0.4"), strict=True)):
    found = fit(X, y, seed=1, epsilon=epsilon)
    places = np.arange(len(names)) + 0.2 * (shift - 1)
    low, high = found.conf_int().T
    axes.vlines(places, low, high, color=colour, lw=4, label=rf"$\varepsilon$ = {epsilon:g}")
    axes.plot(places, found.coef_, "o", color="white", ms=3)
axes.hlines(
    regression.coef_, np.arange(len(names)) - 0.35, np.arange(len(names)) + 0.35, color="k", lw=1
)
axes.axhline(0.0, color="0.8", lw=0.8, zorder=0)
axes.set(
    xticks=range(len(names)), xticklabels=names, ylabel="progress for a standard deviation more"
)
axes.legend(frameon=False)
axes.spines[["top", "right"]].set_visible(False)

plt.show()
