"""
What a grid search costs
========================

A private pipeline works in ``GridSearchCV`` like any other. The search fits it some sixty times,
and each fit spends epsilon, but the report of the final model covers one fit only. This example
adds up the cost of the search, and compares it with alternatives at the same guarantee.
"""

# %%
# A pipeline
# ----------
# The loans are made up. Each range follows from the meaning of the feature, and is written without
# looking at a row. Values outside are clipped to it. Seeds make this example repeatable; leave out
# ``random_state`` for real loans.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV, KFold, ParameterGrid, cross_validate
from sklearn.pipeline import make_pipeline

from skdp.accountant import calibrate, compose, get_epsilon
from skdp.linear_model import DPSGDClassifier
from skdp.preprocessing import BoundsScaler

N_REPEATS = 4
BOUNDS = {
    "age": (18, 90),
    "income (1000 a year)": (0, 150),
    "loan (1000)": (0, 60),
    "interest (%)": (0, 30),
    "years to pay": (0, 10),
    "late payments": (0, 10),
    "other loans": (0, 10),
    "years in the job": (0, 40),
}
DELTA = 1e-5


def loans(n, rng, *, abroad=False):
    """Return rows of made-up loans, and which of them were not paid back."""
    rate = rng.gamma(4.0, 2.5, n)
    X = np.column_stack(
        [
            rng.uniform(20.0, 75.0, n),
            rng.gamma(3.0, 15.0, n),
            rng.gamma(2.0, 6.0, n),
            rate,
            rng.integers(1, 8, n),
            rng.poisson(0.15 * rate, n),
            rng.poisson(1.0, n),
            rng.exponential(7.0, n),
        ]
    )
    effects = np.array([-0.01, -0.05, 0.06, 0.12, 0.05, 0.5, 0.3, -0.06])
    if abroad:
        effects = effects * rng.uniform(0.6, 1.4, effects.size)
    return X, (rng.random(n) < 1.0 / (1.0 + np.exp(0.6 - X @ effects))).astype(int)


def pipeline(epsilon=1.0, delta=DELTA, random_state=None):
    """Return a pipeline that spends epsilon when it is fitted."""
    return make_pipeline(
        BoundsScaler(feature_bounds=np.transpose(list(BOUNDS.values()))),
        DPSGDClassifier(
            epsilon=epsilon,
            delta=delta,
            batch_size=200,
            data_norm=1.0,
            classes=[0, 1],
            random_state=random_state,
        ),
    )


# %%
# One report is not the whole bill
# --------------------------------
# Twelve settings, five folds, and a refit of the best setting on all rows make 61 fits.
# ``GridSearchCV`` keeps the last one. ``cross_validate`` can keep them all, so it is used here to
# collect the reports that a search would not show. The folds are those of ``KFold``. Stratified
# folds, the default for classifiers, depend on the labels. With them one record may move others to
# another fold, and the reports cannot be composed.

GRID = {
    "dpsgdclassifier__alpha": [1e-4, 1e-3, 1e-2],
    "dpsgdclassifier__data_norm": [0.5, 1.0, 2.0, 4.0],
}
folds = KFold(5, shuffle=True, random_state=0)
X, y = loans(2_000, np.random.default_rng(0))
reports = []
for setting in ParameterGrid(GRID):
    fits = cross_validate(pipeline().set_params(**setting), X, y, cv=folds, return_estimator=True)
    reports += [fitted[-1].privacy_report_ for fitted in fits["estimator"]]
reports.append(pipeline().fit(X, y)[-1].privacy_report_)
bill = compose(reports)
print(f"The last report: {reports[-1]}. All {len(reports)} together: {bill}")

# %%
# ``compose`` computes the composition of all releases. It is far less than the sum of the epsilons,
# and still far more than the report of the winner. Even this total is incomplete: the scores that
# chose the winner were computed on private records without noise, and no report covers them. There
# are two more pitfalls. First, a seeded pipeline is cloned with its seed, so all folds share their
# noise, and ``compose`` refuses such reports:

seeded = [pipeline(random_state=0).fit(X, y)[-1].privacy_report_ for _ in range(2)]
try:
    compose(seeded)
except ValueError as error:
    print(error)

# %%
# Second, a scaler that learns from the rows, such as ``StandardScaler``, would have leaked in each
# of the fits.
#
# Alternatives
# ------------
# There are four ways to choose a model. Their accuracy on other loans is measured below:
#
# * search, with epsilon = 1 for each fit, at the total cost above;
# * search, with so small an epsilon for each fit that all fits together spend 1;
# * tune on public loans, here from abroad, where the effects are somewhat different, and fit once;
# * do not search: fit once, with the defaults and with bounds that were chosen beforehand.
#
# The accountant computes the epsilon that is left for one of so many fits. The noise is calibrated
# for the steps of all fits, and then the cost of the steps of one fit is computed. The fits on four
# of five folds have the highest sampling rate, so taking their rate for all fits is on the safe
# side.

fit_on_folds = reports[0].events[0]
noise = calibrate(
    1.0,
    DELTA,
    sampling_rate=fit_on_folds.sampling_rate,
    n_steps=sum(report.n_steps for report in reports),
)
small = {
    "delta": DELTA / len(reports),
    "epsilon": get_epsilon(
        noise,
        DELTA / len(reports),
        sampling_rate=fit_on_folds.sampling_rate,
        n_steps=fit_on_folds.n_steps,
    ),
}
n_fold = len(X) * 4 // 5
check = [pipeline(**small).fit(X[:n_fold], y[:n_fold])[-1].privacy_report_] * (len(reports) - 1)
check.append(pipeline(**small).fit(X, y)[-1].privacy_report_)
print(f"One fit: epsilon = {small['epsilon']:.3g}. All {len(check)} together: {compose(check)}")

# %%
# Now all four are compared, with other loans, other noise and other folds each time. Accuracy is
# measured on loans whose records are not private. (These searches are seeded to make the figure
# repeatable. Do not seed a real search.)


def search(X, y, seed, **budget):
    """Return a fitted search over the grid."""
    folds = KFold(5, shuffle=True, random_state=seed)
    return GridSearchCV(pipeline(**budget, random_state=seed), GRID, cv=folds).fit(X, y)


from_abroad = search(*loans(2_000, np.random.default_rng(1), abroad=True), seed=0).best_params_
scores = {name: [] for name in ("bill", "small", "public", "defaults", "no privacy")}
for seed in range(N_REPEATS):
    rng = np.random.default_rng([2, seed])
    X, y = loans(2_000, rng)
    X_test, y_test = loans(20_000, rng)
    for name, model in {
        "bill": search(X, y, seed),
        "small": search(X, y, seed, **small),
        "public": pipeline(random_state=1000 + seed).set_params(**from_abroad).fit(X, y),
        "defaults": pipeline(random_state=2000 + seed).fit(X, y),
        "no privacy": pipeline(epsilon=float("inf")).fit(X, y),
    }.items():
        scores[name].append(model.score(X_test, y_test))
for name, found in scores.items():
    print(f"{name:>10}  {np.mean(found):.3f}")

# %%
# A search within the budget adds so much noise to every fit that it chooses almost at random, and
# the chosen model is as noisy as the others. Without public data, keep to defaults and to bounds
# that follow from the meaning of the features.

COLOURS = {"bill": "#D55E00", "small": "#CC79A7", "public": "#009E73", "defaults": "#0072B2"}
NAMES = {
    "bill": f"grid search, $\\varepsilon = 1$ a fit\n(spends $\\varepsilon = {bill.epsilon:.1f}$)",
    "small": "grid search\nwithin $\\varepsilon = 1$",
    "public": "tuned on public loans,\none fit, $\\varepsilon = 1$",
    "defaults": "defaults, one fit,\n$\\varepsilon = 1$",
}
figure, axes = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
counts = np.array([1, 2, 3, 5, 10, 20, 30, 40, 50, len(reports)])
spent = [compose(reports[:count]).epsilon for count in counts]
axes.plot(counts, spent, color=COLOURS["bill"], lw=2)
axes.axhline(1.0, color=COLOURS["defaults"], lw=2)
axes.plot(counts[-1], spent[-1], "o", color=COLOURS["bill"])
axes.annotate(
    f"what the search spent:\n$\\varepsilon = {bill.epsilon:.1f}$, $\\delta = {bill.delta:.2g}$",
    (counts[-1], spent[-1]),
    xytext=(-60, -8),
    textcoords="offset points",
    ha="right",
    va="center",
    color=COLOURS["bill"],
)
axes.annotate(
    "what the winner's report says: $\\varepsilon = 1$",
    (counts[-1], 1.0),
    xytext=(0, -6),
    textcoords="offset points",
    ha="right",
    va="top",
    color=COLOURS["defaults"],
)
axes.set(
    xlabel="fits of the search",
    ylabel=r"$\varepsilon$ of all fits so far",
    ylim=0,
    title="The winner's report covers one fit of many",
)
axes.spines[["top", "right"]].set_visible(False)

# %%
# The accuracy of each way: a dot is a fit, and a bar is the mean of the fits.

figure, axes = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
for row, name in enumerate(NAMES):
    axes.plot(
        scores[name],
        row + np.linspace(-0.15, 0.15, N_REPEATS),
        "o",
        color=COLOURS[name],
        alpha=0.5,
        mew=0,
    )
    axes.plot(np.mean(scores[name]), row, "|", color=COLOURS[name], ms=30, mew=2.5)
reference = np.mean(scores["no privacy"])
axes.axvline(reference, color="0.5", ls="--", zorder=0)
axes.annotate(
    "defaults,\nno privacy",
    (reference, 1.1),
    xytext=(5, 0),
    textcoords="offset points",
    color="0.4",
)
axes.set(
    yticks=range(len(NAMES)),
    yticklabels=NAMES.values(),
    ylim=(len(NAMES) - 0.5, -0.5),
    xlabel="accuracy on other loans",
    title="Within the same budget, one fit beats a search",
)
axes.tick_params(axis="y", length=0)
axes.spines[["top", "right", "left"]].set_visible(False)
plt.show()
