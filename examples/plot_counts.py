"""
Claims: a rate and an amount
============================

The expected yearly cost of an insurance policy is the rate of claims times the cost of a claim.
Both are never negative, and both have a model with a logarithm: Poisson regression for the rate,
gamma regression for the amount. This example fits them privately, without any bounds.
"""

# %%
# A made-up portfolio
# -------------------
# Young drivers, those with a bad record and those in towns have more claims; powerful cars have
# dear ones. The records are drawn here, so that the true rates are known.

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
claims = rng.poisson(rate)
train, test = np.split(rng.permutation(N_POLICIES), [N_POLICIES // 2])

# %%
# Two fits on two parts
# ---------------------
# The rate is learnt from the policies of the first half, and the amount from the claims of the
# other half. No policy is in both fits, so that each gives away one epsilon. The second fit takes
# the number of its rows as public, as all fits do (:doc:`../privacy_model`): here, how many claims
# there were in that half, which insurers publish. The scores below are computed without noise. On
# records of people they would need a budget, too: :doc:`../private_scores`.

had_claim = test[claims[test] > 0]
amount = rng.gamma(1.5, cost[had_claim] / 1.5)
how_often = DPPoissonRegressor(epsilon=1.0, random_state=SEED).fit(X[train], claims[train])
how_much = DPGammaRegressor(epsilon=1.0, random_state=SEED).fit(X[had_claim], amount)
print(f"{how_often.privacy_report_}; D2 {how_often.score(X[test], claims[test]):.3f}")
print(f"{how_much.privacy_report_}; D2 {how_much.score(X[had_claim], amount):.3f}")

# %%
# Are the rates right?
# --------------------
# Policies are put into ten parts by their predicted rate. If the model had the true rates, the dots
# would be on the line. The band on the right is where other noise would have put the predictions:
# made-up records may be fitted again and again.

predicted = how_often.predict(X[test])
tenths = np.array_split(np.argsort(predicted), 10)
means = np.array([[predicted[part].mean(), rate[test][part].mean()] for part in tenths])
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
left.plot(means[:, 0], means[:, 1], "o")
left.axline((0, 0), slope=1, color="grey", linewidth=1)
left.set(xlabel="predicted claims a year", ylabel="true rate", title="Ten parts of the policies")
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
right.legend()
plt.show()
