"""
Which estimator when
====================

With many records and well-scaled features, all private estimators do about equally well. On harder
problems ``DPLogisticRegression`` and ``DPRidge`` do well, with a few exceptions. This example
compares the estimators on such problems, and measures how much the best choice gains.
"""

# %%
# Seven situations
# ----------------
# The data are generated, so that we know what makes each problem hard. Features are in [-1, 1], as
# after ``BoundsScaler``, and epsilon is 1.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import HuberRegressor, LassoCV, LogisticRegression
from sklearn.metrics import r2_score

from skdp.linear_model import (
    DPCDClassifier,
    DPCDElasticNet,
    DPCDLasso,
    DPLogisticRegression,
    DPRidge,
    DPSCDClassifier,
    DPSCDRegressor,
    DPSGDClassifier,
    DPSGDRegressor,
    WALRClassifier,
)

N_REPEATS = 6
N_ROWS = 4000


def one_scale(n_rows, rng):
    """Ten features of one scale, and a target that depends on all of them."""
    X = rng.normal(0.0, 1 / 3, (n_rows, 10)).clip(-1, 1)
    return X, X @ np.linspace(-1, 1, 10) + rng.normal(0.0, 0.2, n_rows)


def many_useless(n_rows, rng):
    """A hundred features, of which five matter."""
    X = rng.normal(0.0, 1 / 3, (n_rows, 100)).clip(-1, 1)
    return X, X[:, :5] @ [1.0, -0.8, 0.6, 0.4, 0.3] + rng.normal(0.0, 0.2, n_rows)


def wrong_targets(n_rows, rng):
    """A tenth of the targets are wrong, as if in another unit."""
    X, y = one_scale(n_rows, rng)
    wrong = rng.random(n_rows) < 0.1
    return X, np.where(wrong, rng.uniform(5.0, 20.0, n_rows), y)


def correlated(n_rows, rng):
    """Ten correlated features, and a target that depends on their differences."""
    X = 0.3 * rng.normal(size=(n_rows, 1)) + 0.02 * rng.normal(size=(n_rows, 10))
    return X.clip(-1, 1), X @ np.tile([12.0, -12.0], 5) + rng.normal(0.0, 0.2, n_rows)


def uneven_scales(n_rows, rng):
    """Small features beside large ones, all of which matter equally."""
    scales = np.geomspace(0.01, 0.4, 12)
    directions = rng.normal(size=(n_rows, 12))
    y = directions.mean(axis=1) + rng.normal(0.0, 0.1, n_rows)
    return (directions * scales).clip(-1, 1), y


def two_classes(make):
    """Return a generator of the same rows that asks only whether the target is positive."""

    def made(n_rows, rng):
        X, y = make(n_rows, rng)
        return X, (y > 0).astype(int)

    return made


# %%
# Each situation has a list of estimators, and the first is what we advise. Their options are public
# knowledge: for example that most features don't matter, or the range of the target.

CLASSES = {"classes": [0, 1]}
SMALL = {"target_bounds": (-3, 3)}
WIDE = {"target_bounds": (-20, 20)}
WEAK = {"alpha": 1e-6, **CLASSES}

# Name, records, what scikit-learn would use, what skdp offers.
SITUATIONS = [
    (
        "yes or no,\nten features of one scale",
        two_classes(one_scale),
        LogisticRegression(C=100.0),
        [
            DPLogisticRegression(**CLASSES),
            DPSCDClassifier(**CLASSES),
            DPSGDClassifier(**CLASSES),
            DPCDClassifier(**CLASSES),
        ],
    ),
    (
        "the same, and\ndelta must be 0",
        two_classes(one_scale),
        LogisticRegression(C=100.0),
        [DPSGDClassifier(mechanism="laplace", **CLASSES)],
    ),
    (
        "a number, five of\n100 features matter",
        many_useless,
        LassoCV(),
        [
            DPSGDRegressor(penalty="l1", alpha=0.01, data_norm=3.0, **SMALL),
            DPCDLasso(alpha=0.01, max_iter=10, **SMALL),
            DPRidge(data_norm=3.0, **SMALL),
            DPSCDRegressor(data_norm=3.0, **SMALL),
        ],
    ),
    (
        "a number, a tenth of\ntargets far off",
        wrong_targets,
        HuberRegressor(),
        [
            DPSGDRegressor(loss="huber", huber_threshold=0.5, **WIDE),
            DPRidge(**WIDE),
            DPSCDRegressor(**WIDE),
            DPCDElasticNet(**WIDE),
        ],
    ),
    (
        "yes or no,\ncorrelated features",
        two_classes(correlated),
        LogisticRegression(C=1e4, max_iter=1000),
        [
            DPLogisticRegression(**WEAK),
            DPSGDClassifier(**WEAK),
            DPSCDClassifier(**WEAK),
            DPCDClassifier(**WEAK),
        ],
    ),
    (
        "yes or no, features of\nvery uneven scale",
        two_classes(uneven_scales),
        LogisticRegression(C=1e4, max_iter=1000),
        [
            DPLogisticRegression(**WEAK),
            DPCDClassifier(**WEAK),
            DPSGDClassifier(**WEAK),
            DPSCDClassifier(**WEAK),
        ],
    ),
    (
        "the same, and only\nthe answer is private",
        two_classes(uneven_scales),
        LogisticRegression(C=1e4, max_iter=1000),
        [WALRClassifier(**CLASSES)],
    ),
]

ADVICE = [
    "any of them, such as\nDPLogisticRegression()",
    'DPSGDClassifier(\n    mechanism="laplace")',
    'DPSGDRegressor(\n    penalty="l1")\nor DPCDLasso(max_iter=10)',
    'DPSGDRegressor(\n    loss="huber")',
    "DPLogisticRegression(\n    alpha=1e-6)",
    "DPLogisticRegression or\nDPCDClassifier(alpha=1e-6)",
    "WALRClassifier()",
]

# %%
# Scores relative to no privacy
# -----------------------------
# The score is accuracy for classifiers and R2 for regressions, on new records whose targets are
# right. Both are mapped so that 0 is a constant prediction and 1 is scikit-learn on the same
# records without privacy. Seeds make this page repeatable; a real fit has none.


def score(model, X, y):
    """Return accuracy or R2, 0 for a constant prediction."""
    if hasattr(model, "classes_"):
        return 2.0 * model.score(X, y) - 1.0  # the two classes are equally frequent
    return r2_score(y, model.predict(X))


def mean_shares(make, public, models):
    """Return the mean score of each private model as a share of the score without privacy."""
    shares = np.empty((N_REPEATS, len(models)))
    make_test = one_scale if make is wrong_targets else make
    X_test, y_test = make_test(10_000, np.random.default_rng(1000))
    for seed in range(N_REPEATS):
        X, y = make(N_ROWS, np.random.default_rng(seed))
        possible = score(public.fit(X, y), X_test, y_test)
        for column, model in enumerate(models):
            model.set_params(random_state=seed).fit(X, y)
            shares[seed, column] = score(model, X_test, y_test) / possible
    return shares.mean(axis=0)


shares = []
for name, make, public, models in SITUATIONS:
    names = [type(model).__name__ for model in models]
    shares.append(list(zip(names, mean_shares(make, public, models), strict=True)))
    print(" ".join(name.split()))
    for estimator, value in shares[-1]:
        print(f"    {estimator:20} {value:6.2f}")

# %%
# The figure
# ----------
# The right side names the estimator to choose. In the first situation the estimators differ by less
# than their noise, and the pure guarantee of the second costs a little more. In the third, an L1
# penalty removes most of the noise from features that don't matter. ``DPRidge`` does about as well
# without it, but only ``DPCDLasso`` can set coefficients to zero. Wrong targets need wide bounds,
# which make the noise large, and they dominate a squared loss. Huber's loss has a bounded slope
# and neither problem. Where features are correlated or of uneven scale, short directions may carry
# the information. Private whitening stretches these directions. Coordinate descent has a step and
# a share of the noise for each feature, which helps with uneven scales. If only labels are private,
# ``WALRClassifier`` may scale features without any cost, and shapes its noise by them.

LOOKS = {
    "DPLogistic": ("private whitening", "P", "black"),
    "DPRidge": ("private whitening", "P", "black"),
    "DPSCD": ("DP-SCD", "s", "#d55e00"),
    "DPSGD": ("DP-SGD", "o", "#0072b2"),
    "DPCD": ("DP-CD", "^", "#009e73"),
    "WALR": ("WALR (labels only)", "D", "#cc79a7"),
}

figure, axes = plt.subplots(figsize=(9.5, 5.6), layout="constrained")
for place, row in enumerate(shares):
    axes.axhline(place, color="0.9", zorder=0)
    for rank, (estimator, value) in enumerate(row):
        label, marker, colour = next(
            look for start, look in LOOKS.items() if estimator.startswith(start)
        )
        # Side by side, so that equal values are visible; values below 0 are drawn at the edge.
        height = place + 0.16 * (rank - (len(row) - 1) / 2)
        axes.plot(max(value, 0.0), height, marker, color=colour, ms=9, clip_on=False, label=label)
    axes.text(1.06, place, ADVICE[place], va="center", family="monospace", fontsize=9)
axes.axvline(1.0, color="0.35", ls="--", lw=1)
axes.text(1.0, -0.58, "no\nprivacy", ha="center", color="0.35", fontsize=9)
axes.text(1.06, -0.58, "choose", fontweight="bold")
axes.set(
    xlim=(0.0, 1.04),
    xticks=np.linspace(0, 1, 6),
    xticklabels=["0 or\nless", "20 %", "40 %", "60 %", "80 %", "100 %"],
    xlabel=r"share of what is possible without privacy, at $\varepsilon$ = 1",
    ylim=(len(shares) - 0.5, -0.5),
    yticks=range(len(shares)),
    yticklabels=[name for name, *_ in SITUATIONS],
)
axes.tick_params(axis="y", length=0, pad=10)
axes.spines[["top", "right", "left"]].set_visible(False)
handles = dict(zip(*axes.get_legend_handles_labels()[::-1], strict=True))
figure.legend(handles.values(), handles, loc="outside lower center", ncols=5, frameon=False)
figure.suptitle("Easy problems need no choice, and some hard ones have a specialist", fontsize=12)

plt.show()
