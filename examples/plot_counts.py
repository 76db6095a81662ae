"""
Claims: a rate and an amount
============================

The expected yearly cost of an insurance policy is the rate of claims times the cost of a claim.
Neither is ever negative, and each has a model with a logarithmic link: Poisson regression for the
rate, gamma regression for the amount. This example fits them privately, without any bounds.
"""

# %%
# A made-up portfolio
# -------------------
# Young drivers, drivers with a bad record and drivers in towns have more claims. Claims for
# powerful cars cost more. The records are generated here, so the true rates are known.

import matplotlib.pyplot as plt
import numpy as np

from skdp.linear_model import DPGammaRegressor, DPPoissonRegressor

N_POLICIES, SEED = 120_000, 0
N_REPEATS = 10
rng = np.random.default_rng(SEED)
age = 18 + rng.gamma(5.0, 5.0, N_POLICIES)
bonus = 50 + rng.exponential(15.0, N_POLICIES)  # 50 is the best record
town = rng.normal(6.0, 1.8, N_POLICIES)  # logarithm of people per square kilometre
power = rng.integers(4, 15, N_POLICIES)
X = np.column_stack([age, age < 26, bonus, town, power]).astype(float)

rate = 0.07 * np.exp(0.6 * (age < 26) + 0.02 * (bonus - 65) + 0.1 * (town - 6))
cost = 1500 * np.exp(0.06 * (power - 9))
# A quarter of the policies run for a year, and the others began or ended in it.
years = np.where(rng.random(N_POLICIES) < 0.25, 1.0, rng.beta(0.9, 1.1, N_POLICIES))
claims = rng.poisson(rate * years)
train, test = np.split(rng.permutation(N_POLICIES), [N_POLICIES // 2])

# %%
# Two fits on two parts
# ---------------------
# The rate is learnt from the policies of the first half, and the amount from the claims of the
# other half. How long a policy ran is its exposure: the rate is that of a year, and a policy counts
# by the time that it ran, which is as private as its claims. No policy is in both fits, so each
# policy spends one epsilon. Like all fits, the second fit takes the number of its rows as public
# (:doc:`../privacy_model`). Here this is the number of claims in that half, which insurers publish.
# The scores below are computed without noise. On real records they would need a budget, too:
# :doc:`../private_scores`.

had_claim = test[claims[test] > 0]
amount = rng.gamma(1.5, cost[had_claim] / 1.5)
how_often = DPPoissonRegressor(epsilon=1.0, random_state=SEED)
how_often.fit(X[train], claims[train], exposure=years[train])
how_much = DPGammaRegressor(epsilon=1.0, random_state=SEED).fit(X[had_claim], amount)
score = how_often.score(X[test], claims[test], exposure=years[test])
print(f"{how_often.privacy_report_}; D2 {score:.3f}")
print(f"{how_much.privacy_report_}; D2 {how_much.score(X[had_claim], amount):.3f}")

# %%
# Are the rates right?
# --------------------
# Policies are grouped into ten parts by their predicted rate. With the true rates, the dots would
# lie on the line. The band on the right shows the predictions of fits with other noise: made-up
# records may be fitted many times.

predicted = how_often.predict(X[test])
tenths = np.array_split(np.argsort(predicted), 10)
means = np.array([[predicted[part].mean(), rate[test][part].mean()] for part in tenths])
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
left.plot(means[:, 0], means[:, 1], "o")
left.axline((0, 0), slope=1, color="grey", linewidth=1)
left.set(xlim=0, ylim=0, xlabel="predicted claims a year", ylabel="true rate")
left.set_title("Ten parts of the policies")
powers = np.unique(power)
typical = np.tile(np.median(X[:, :4], axis=0), (powers.size, 1))
typical = np.column_stack([typical, powers])
fits = [
    DPGammaRegressor(epsilon=1.0, random_state=seed).fit(X[had_claim], amount).predict(typical)
    for seed in range(N_REPEATS)
]
right.fill_between(powers, np.min(fits, axis=0), np.max(fits, axis=0), alpha=0.3)
right.plot(powers, how_much.predict(typical), "o", label="predicted")
right.plot(powers, 1500 * np.exp(0.06 * (powers - 9)), color="grey", linewidth=1, label="true")
right.set(xlabel="power of the car", ylabel="mean cost of a claim", title="What a claim costs")
right.legend(frameon=False)
for axes in (left, right):
    axes.spines[["top", "right"]].set_visible(False)
plt.show()
