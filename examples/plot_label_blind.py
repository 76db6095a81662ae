"""
Label-blind training: the trainer never sees who bought
=======================================================

An ad platform knows every visit to a shop's pages, because it showed the pages. The shop knows
which visits ended in a purchase, and keeps this secret. The platform still wants a model of
purchases.

WALR (weighted aggregate logistic regression) needs one thing from the labels: a noisy sum of rows.
The shop computes it, adds the noise itself and sends it. This example plays both parts, with a JSON
text between them.
"""

# %%
# What both parties know
# ----------------------
# The rows are public *between the two*, and WALR doesn't protect them: the guarantee is for the
# purchase of one visit. So a ``StandardScaler`` fitted to all rows leaks nothing here, though it
# would anywhere else in this gallery. Both parties must prepare the rows in the same way, or
# ``fit_aggregate`` refuses them.
#
# The visits are made up. Seeds make this example repeatable; leave out ``random_state`` for real
# labels.

import json

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from skdp.linear_model import LabelAggregate, WALRClassifier, label_aggregate
from skdp.plotting import PrivacyUtilityDisplay

N_REPEATS = 12
FEATURES = {
    "minutes on page": 0.8,
    "discount": 0.7,
    "visits before": 0.45,
    "rating": 0.4,
    "evening": 0.1,
    "weekend": 0.0,
    "on a phone": -0.3,
    "price": -0.6,
}


def visits(n, rng):
    """Return rows of made-up visits, and which of them ended in a purchase."""
    X = np.column_stack(
        [
            rng.gamma(2.0, 1.5, n),
            rng.choice([0.0, 0.1, 0.2, 0.3], n, p=[0.6, 0.2, 0.1, 0.1]),
            rng.poisson(1.0, n),
            5.0 - rng.gamma(2.0, 0.4, n),
            rng.random(n) < 0.4,
            rng.random(n) < 2 / 7,
            rng.random(n) < 0.6,
            rng.normal(3.5, 0.8, n),
        ]
    )
    appeal = ((X - X.mean(axis=0)) / X.std(axis=0)) @ np.array(list(FEATURES.values()))
    return X, (rng.random(n) < 1.0 / (1.0 + np.exp(2.5 - appeal))).astype(int)


rng = np.random.default_rng(0)
X_raw, bought = visits(5_000, rng)
X_later_raw, bought_later = visits(20_000, rng)
scaler = StandardScaler().fit(X_raw)
X, X_later = scaler.transform(X_raw), scaler.transform(X_later_raw)
print(f"{len(X)} visits, {bought.mean():.1%} of them with a purchase")

# %%
# The shop: one noisy sum
# -----------------------
# Only this call reads a label. ``classes`` is declared, so even the set of classes is not read from
# the labels. The message also contains exact sums of the features, which detect that the rows
# differ. It must not go to third parties who may not know the visits.


def shop(epsilon, random_state=None):
    """Return what the shop sends, as text."""
    aggregate = label_aggregate(
        X, bought, epsilon=epsilon, classes=[0, 1], random_state=random_state
    )
    return aggregate.to_json()


message = shop(epsilon=1.0)
print(f"The shop sends {len(message) / 1000:.1f} kB: {', '.join(json.loads(message))}")

# %%
# The platform: a model without labels
# ------------------------------------
# The aggregate carries its guarantee. The amount of noise follows from it, and so does the strength
# of the penalty, so nothing has to be tuned. By post-processing, more models from the same message
# cost nothing (see :func:`skdp.linear_model.walr_path`).


def platform(message):
    """Return a model trained from the shop's message."""
    aggregate = LabelAggregate.from_json(message)
    # The guarantee is that of the aggregate. These parameters say that we expect it.
    model = WALRClassifier(epsilon=aggregate.epsilon, delta=aggregate.delta)
    return model.fit_aggregate(X, aggregate)


model = platform(message)
print(model.privacy_report_.to_text())

# %%
# Accuracy on later visits
# ------------------------
# The score is the area under the ROC curve on later visits, whose purchases the shop discloses. The
# guarantee does not cover such scores. Compute them on visits whose labels may be known, or let the
# shop compute them. ``epsilon=inf`` runs the same code without noise.

EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
results, coefs = [], []
for epsilon in (*EPSILONS, float("inf")):
    for seed in range(N_REPEATS):
        model = platform(shop(epsilon, random_state=seed))
        scores = model.decision_function(X_later)
        results.append((epsilon, seed, roc_auc_score(bought_later, scores)))
        if epsilon == 1.0:
            coefs.append(model.coef_[0])

seeing = LogisticRegression().fit(X, bought)

figure, axes = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
order = np.argsort(seeing.coef_[0])
for row, feature in enumerate(order):
    axes.plot(
        [coef[feature] for coef in coefs],
        np.full(len(coefs), row) + np.linspace(-0.2, 0.2, len(coefs)),
        "o",
        color="#0072B2",
        alpha=0.45,
        markersize=4,
        markeredgewidth=0,
    )
axes.plot(seeing.coef_[0][order], range(len(order)), "|", color="black", ms=22, mew=2)
axes.axvline(0.0, color="0.8", lw=1, zorder=0)
axes.set(
    yticks=range(len(order)),
    yticklabels=np.array(list(FEATURES))[order],
    xlabel="coefficient (features of unit variance)",
    title="What sells, found without seeing a purchase",
)
axes.annotate(
    "blue: label-blind, $\\varepsilon = 1$, one dot per release\n"
    "black: trained on all labels, no privacy",
    (1.0, 0.03),
    xycoords="axes fraction",
    ha="right",
    fontsize=9,
)
axes.spines[["top", "right", "left"]].set_visible(False)
axes.tick_params(axis="y", length=0)

# %%
# The last figure shows how well the purchases of later visits are predicted:

figure, axes = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
PrivacyUtilityDisplay.from_results(
    results,
    score_name="area under the ROC curve, later visits",
    ax=axes,
    name="label-blind",
    color="#0072B2",
)
axes.set(title="With thousands of labels, hiding each costs little")
axes.get_legend().set_loc("lower right")
axes.spines[["top", "right"]].set_visible(False)
plt.show()
