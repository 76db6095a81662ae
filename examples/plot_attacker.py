"""
What an attacker sees: the promise of a report against a real attack
====================================================================

Epsilon is a guarantee against attackers. An attacker knows every record of a training set but one,
and even the measurements of that one. They see the published model, and want to know one thing: was
this patient ill or well? The report of a fit bounds how often they can be right. This example
carries out many attacks, and compares their success with the bound of the report.
"""

# %%
# A strong attacker, on purpose
# -----------------------------
# The patients are made up. An attack on real records would reveal information about them that no
# report covers. Everything is in the attacker's favour. The patients are few, and the attacked
# patient is unlike the others, so almost only her own record moves the model in her direction. The
# model takes one step with all rows. No random batch hides who takes part, and the only release is
# one noisy sum.
#
# With ``adjacency="replace_one"``, neighbouring data sets differ in one record: here the same
# patient, ill or well. Seeds make this example repeatable, but a model with a known seed protects
# no one.

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

from skdp.audit import audit
from skdp.linear_model import DPSGDClassifier
from skdp.plotting import PrivacyDisplay

N_REPEATS = 6
DELTA = 1e-3
rng = np.random.default_rng(0)
X = rng.uniform(-0.5, 0.5, (100, 3))
X[:, 2] = 0.0
y = (rng.random(100) < 1.0 / (1.0 + np.exp(-4.0 * X[:, 0]))).astype(int)
patient = np.array([0.0, 0.0, 1.0])
BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"


def world(label):
    """Return the training set in which the patient has a label."""
    return np.vstack([X, patient]), np.append(y, label)


def make_model(epsilon, kind=DPSGDClassifier):
    """Return a model that takes one step with all rows."""
    return kind(
        epsilon=epsilon,
        delta=DELTA,
        adjacency="replace_one",
        batch_size=len(X) + 1,
        max_iter=1,
        classes=[0, 1],
    )


report = make_model(epsilon=2.0).fit(*world(1)).privacy_report_
print(report.to_text())

# %%
# Two worlds
# ----------
# The attacker knows all other rows, and can compute the model without noise in either world. Only
# the model's decision value for the patient matters. It is noisy, so its distributions in the two
# worlds overlap.

N_FITS = 100 * N_REPEATS
decisions = {
    label: [
        make_model(epsilon=2.0)
        .set_params(random_state=2 * seed + label)
        .fit(*world(label))
        .decision_function([patient])[0]
        for seed in range(N_FITS // 2)
    ]
    for label in (0, 1)
}

# %%
# The audit
# ---------
# ``skdp.audit`` runs this attack properly. It chooses the threshold on a third of the fits and
# counts errors on the others, with exact confidence bounds. Its verdict is one-sided. A lower bound
# above the claim refutes the claim. A bound below the claim proves nothing, because a better attack
# may exist. Epsilons are compared at delta = 0.05, where errors are frequent enough to be counted.


def attack(model, seed):
    """Return the result of an attack on a model."""
    canary = (patient, 1, patient, 0)
    return audit(model, X, y, canary=canary, n_fits=N_FITS, delta=0.05, random_state=seed)


reports, audits = {}, {}
for seed, epsilon in enumerate((0.5, 2.0, 5.0)):
    model = make_model(epsilon)
    audits[epsilon] = attack(model, seed)
    reports[epsilon] = model.fit(*world(1)).privacy_report_
    print(audits[epsilon])

# %%
# A false promise
# ---------------
# What if the code is wrong? This model spends four times the epsilon that it reports. Nothing else
# about it looks different.


class OverPromising(DPSGDClassifier):
    """Spend four times the epsilon that is reported."""

    def fit(self, X, y):
        promised = self.epsilon
        report = super().fit(X, y).privacy_report_
        self.epsilon = 4.0 * promised
        super().fit(X, y)
        self.epsilon, self.privacy_report_ = promised, report
        return self


false = attack(make_model(epsilon=2.0, kind=OverPromising), seed=3)
print(false.to_text())

# %%
# Promise and attack
# ------------------
# Each curve is the bound of a report: no attack can have errors below it. A blind guess lies on the
# diagonal. The attacks come close to their curves, because everything is in their favour. Where an
# attack lies below its curve, the distance is about what the intervals allow. The attack on the
# false promise is far below the curve of that promise.

figure, axes = plt.subplots(figsize=(6.2, 5.2), layout="constrained")
for (epsilon, report), colour in zip(reports.items(), (GREEN, BLUE, ORANGE), strict=True):
    display = PrivacyDisplay.from_report(
        report, audit=audits[epsilon], ax=axes, color=colour, linestyle="-", linewidth=2
    )
    place = {0.5: 0.6, 2.0: 0.45, 5.0: 0.27}[epsilon]
    axes.annotate(
        rf"$\varepsilon = {epsilon:g}$",
        (place, np.interp(place, display.x, display.y)),
        xytext=(-2, -3),
        textcoords="offset points",
        ha="right",
        va="top",
        color=colour,
        fontsize=12,
    )
axes.get_legend().remove()
axes.annotate("blind guess", (0.83, 0.19), rotation=-45, rotation_mode="anchor", color="0.4")
axes.annotate(
    "dots: honest models under attack,\nwith 95 % intervals", (0.98, 0.96), ha="right", va="top"
)
axes.plot(false.fpr, 1.0 - false.tpr, "X", color=RED, ms=11, mec="white", zorder=5)
axes.annotate(
    "promises $\\varepsilon = 2$,\nspends 8: convicted",
    (false.fpr, 1.0 - false.tpr),
    xytext=(0.98, 0.7),
    ha="right",
    color=RED,
    arrowprops={"arrowstyle": "-", "color": RED, "shrinkB": 8},
)
axes.set(title="Honest models keep their promise, the false one is caught")
axes.spines[["top", "right"]].set_visible(False)

# %%
# The attacker sees one decision value, which is drawn from one of two overlapping distributions.
# Here epsilon is 2.

figure, axes = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
bins = np.histogram_bin_edges(np.concatenate(list(decisions.values())), 30)
for label, colour in ((0, "0.55"), (1, BLUE)):
    axes.hist(decisions[label], bins, color=colour, alpha=0.3, density=True)
    centre, spread = np.mean(decisions[label]), np.std(decisions[label])
    grid = np.linspace(bins[0], bins[-1], 200)
    axes.plot(grid, norm.pdf(grid, centre, spread), color=colour, lw=2)
    axes.annotate(
        ("well", "ill")[label],
        (centre + (2 * label - 1) * spread, norm.pdf(1.0) / spread),
        xytext=(30 * (2 * label - 1), 18),
        textcoords="offset points",
        ha="center",
        color=colour,
        fontsize=12,
    )
axes.set(
    yticks=[],
    xlabel="decision value of the published model for the patient",
    title=r"Was she ill? Decision values in both worlds, $\varepsilon = 2$",
)
axes.spines[["top", "right", "left"]].set_visible(False)
plt.show()
