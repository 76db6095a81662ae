"""
Selecting features under noise
==============================

The LASSO sets the coefficients of useless features to zero. Private training adds noise to all of
them, and noise looks like a small effect. This example shows what that does to a LASSO path, how to
choose a penalty that is above the noise without spending privacy, and which effects can then be
found at which epsilon.
"""

# %%
# A survey of sleep
# -----------------
# Ten thousand night workers answer 40 questions on a scale from 0 to 10, and wear a watch that
# scores their sleep from 0 to 100. Six of the answers are related to sleep. The people are made up,
# so we know which six, and may look at everything.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Lasso

from skdp.accountant import compose
from skdp.linear_model import DPCDLasso
from skdp.preprocessing import BoundsScaler

N_REPEATS = 10
N_PEOPLE = 10_000

# Points of sleep for half the scale of an answer.
EFFECTS = {
    "pain": -20,
    "exercise": 14,
    "late coffee": -10,
    "traffic": -7,
    "daylight": 5,
    "screens": -3,
}
N_USEFUL, N_QUESTIONS = len(EFFECTS), 40


def make_answers(rng):
    """Return answers, and scores of sleep that depend on the first six of them."""
    X = rng.normal(5.0, 1.8, (N_PEOPLE, N_QUESTIONS)).round().clip(0, 10)
    effect = (X[:, :N_USEFUL] - 5.0) / 5.0 @ list(EFFECTS.values())
    return X, (60.0 + effect + rng.normal(0.0, 8.0, N_PEOPLE)).clip(0, 100)


# %%
# The model
# ---------
# The scales of answers and scores are public bounds by design. By default a private LASSO removes
# effects that noise alone would explain. The options below turn this off, to show the effects of
# noise and of a penalty: no shrinkage, few passes (each adds noise), and the last iterate instead
# of an average.

SCALER = BoundsScaler(feature_bounds=(0, 10))


def select(X, y, alpha, epsilon=1.0, random_state=None):
    """Return a private LASSO."""
    model = DPCDLasso(
        alpha,
        epsilon=epsilon,
        target_bounds=(0, 100),
        max_iter=10,
        average_every=None,
        shrinkage=0.0,
        random_state=random_state,
    )
    return model.fit(SCALER.fit_transform(X), y)


# %%
# A path, without privacy and with it
# -----------------------------------
# Each point of a private path is a fit of its own, and spends epsilon. On real people the figure
# would have cost the composition of all fits. (These fits have no seed, because fits that share a
# seed cannot be composed.)

ALPHAS = np.geomspace(0.03, 5.0, 12)

X, y = make_answers(np.random.default_rng(0))
path = np.array([Lasso(alpha).fit(SCALER.fit_transform(X), y).coef_ for alpha in ALPHAS])
fits = [select(X, y, alpha) for alpha in ALPHAS]
private_path = np.array([fit.coef_ for fit in fits])
print("one fit:       ", fits[0].privacy_report_)
print("the whole path:", compose(fit.privacy_report_ for fit in fits))

# %%
# A penalty above the noise, at no cost
# -------------------------------------
# The amount of noise in a fit depends on public numbers, and hardly on people's answers. So we
# generate people whose sleep does not depend on any answer, fit them at the epsilon of the real
# fit, and take the smallest penalty that selects nothing in several fits. This needs no real
# records. Seeds make this page repeatable; a real fit has none.


def smallest_alpha(epsilon):
    """Return a penalty at which fits to unrelated scores select nothing."""
    for alpha in ALPHAS:
        for seed in range(N_REPEATS):
            rng = np.random.default_rng(1000 + seed)
            X_null, _ = make_answers(rng)
            y_null = rng.normal(60.0, 15.0, N_PEOPLE)
            if select(X_null, y_null, alpha, epsilon, random_state=seed).coef_.any():
                break
        else:
            return alpha
    return ALPHAS[-1]


EPSILONS = (0.1, 0.3, 1.0, 3.0)
alphas = {epsilon: smallest_alpha(epsilon) for epsilon in EPSILONS}

# %%
# The real survey would pay for one fit at that penalty. How often does it select each answer?

found = np.zeros((N_QUESTIONS, len(EPSILONS)))
for seed in range(N_REPEATS):
    X, y = make_answers(np.random.default_rng(seed))
    for column, epsilon in enumerate(EPSILONS):
        coef = select(X, y, alphas[epsilon], epsilon, random_state=seed).coef_
        found[:, column] += coef != 0
found /= N_REPEATS

print("epsilon   alpha   useful of 6   useless of 34")
for epsilon, share in zip(EPSILONS, found.T, strict=True):
    useful, useless = share[:N_USEFUL].sum(), share[N_USEFUL:].sum()
    print(f"{epsilon:7g} {alphas[epsilon]:7.2f} {useful:13.1f} {useless:15.1f}")

# %%
# The figures
# -----------
# At a penalty that was chosen on made-up people, most selected effects are real. A small epsilon
# misses the weaker effects.

figure, axes = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
table = np.vstack([found[:N_USEFUL], found[N_USEFUL:].mean(axis=0)])
axes.imshow(table, cmap="Blues", vmin=0, vmax=1, aspect="auto")
for (row, column), share in np.ndenumerate(table):
    axes.text(
        column, row, f"{share:.0%}", ha="center", va="center", color="w" if share > 0.5 else "0.2"
    )
axes.set(
    xticks=range(len(EPSILONS)),
    xticklabels=[f"{epsilon:g}" for epsilon in EPSILONS],
    xlabel=r"$\varepsilon$  (stronger privacy to the left)",
    yticks=range(N_USEFUL + 1),
    yticklabels=[*EFFECTS, "each of 34 others"],
)
axes.tick_params(length=0)
axes.spines[:].set_visible(False)
axes.set_title("Share of fits that select each answer", loc="left", fontsize=11)

# %%
# These are the paths. Without privacy, the useless answers leave first, and the others leave in
# order of their effects. With noise, useless answers stay in the model until the penalty is above
# the noise, and weak effects cannot be distinguished from it.

figure, (left, right) = plt.subplots(ncols=2, figsize=(9.0, 4.4), layout="constrained")
colours = plt.get_cmap("viridis")(np.linspace(0, 0.75, N_USEFUL))
for axes, coefs in ((left, path), (right, private_path)):
    axes.plot(ALPHAS, coefs[:, N_USEFUL:], color="0.6", lw=0.8)
    for name, values, colour in zip(EFFECTS, coefs.T, colours, strict=False):
        axes.plot(ALPHAS, values, color=colour, lw=2)
        axes.annotate(
            name,
            (ALPHAS[0], EFFECTS[name]),
            (-6, 0),
            textcoords="offset points",
            ha="right",
            va="center",
            color=colour,
        )
    axes.annotate("34 others", (ALPHAS[0], 0), (-6, 0), textcoords="offset points", ha="right")
    axes.set(
        xscale="log",
        xticks=(0.1, 1.0),
        xticklabels=("0.1", "1"),
        xlabel="penalty alpha",
        ylim=(-22, 16),
        yticks=[],
    )
    axes.spines[["top", "right", "left"]].set_visible(False)
left.set_ylabel("coefficient", labelpad=62)
left.set_title("No privacy: useless answers leave first", loc="left", fontsize=11)
right.set_title(r"$\varepsilon$ = 1: noise looks like small effects", loc="left", fontsize=11)
right.axvline(alphas[1.0], color="#d55e00", ls="--", lw=1)
right.annotate(
    "chosen on\nmade-up people",
    (alphas[1.0], 15.5),
    (4, 0),
    textcoords="offset points",
    va="top",
    color="#d55e00",
    fontsize=9,
)
plt.show()
