"""
A table in parts, and workers that may die
==========================================

A fit by private whitening computes some forty sums over all rows, and adds noise to each sum once.
Rows can therefore stay on the workers of a cluster, and the failure of a worker costs only time.
Here the cluster is two threads of this process. For a real cluster only
``Client("scheduler:8786")`` changes.
"""

# %%
# A census in partitions
# ----------------------
# The table is Adult, from the census of 1994 in the United States. Who earns more than 50,000
# dollars a year? The table comes from OpenML. Without a network a made-up twin takes its place,
# with the columns that are used here and their types. What is found on the twin says nothing of the
# census; the printed line says which of the two this page shows. Each partition stands for the file
# of one county, and its number of rows is public.

import warnings

import dask
import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster
from sklearn.datasets import fetch_openml
from sklearn.metrics import log_loss

from skdp.dask import DaskDPLogisticRegression, transform
from skdp.linear_model import DPLogisticRegression
from skdp.preprocessing import BoundsScaler

N_REPEATS = 3
ROWS = 2_000
# Public ranges, written without looking at the data. Values beyond them are clipped.
BOUNDS = {
    "age": (0, 100),
    "education-num": (1, 16),
    "capital-gain": (0, 20_000),
    "capital-loss": (0, 5_000),
    "hours-per-week": (0, 100),
}


def twin(n):
    """Return a made-up table that looks like Adult."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": np.clip(rng.gamma(9.0, 4.3, n), 17, 90).round()})
    table["education-num"] = np.clip(rng.normal(10, 2.5, n), 1, 16).round()
    for name, share in {"capital-gain": 0.08, "capital-loss": 0.05}.items():
        table[name] = np.where(rng.random(n) < share, rng.lognormal(7.8, 0.6, n), 0.0).round()
    table["hours-per-week"] = np.clip(rng.normal(40, 12, n), 1, 99).round()
    score = 0.04 * table["age"] + 0.35 * table["education-num"] + 0.04 * table["hours-per-week"]
    score += 0.0003 * table["capital-gain"] - 8.0
    earns = rng.random(n) < 1.0 / (1.0 + np.exp(-score))
    return table.assign(**{"class": pd.Categorical(np.where(earns, ">50K", "<=50K"))})


with warnings.catch_warnings(action="ignore"):  # of a second try
    try:
        table = fetch_openml(data_id=1590, n_retries=1, delay=0.1).frame
        print("Adult, from OpenML.")
    except OSError:
        table = twin(40_000)
        print("No network: a made-up twin of Adult.")

half = len(table) // 2
rows, test = table.iloc[:half], table.iloc[half:]
scaler = BoundsScaler(np.transpose(list(BOUNDS.values())))
X = transform(scaler, da.from_array(rows[list(BOUNDS)].to_numpy(float), chunks=(ROWS, -1)))
y = da.from_array(rows["class"].eq(">50K").to_numpy().astype(int), chunks=ROWS)

# %%
# One fit, three ways
# -------------------
# The same fit runs in memory, partition by partition in this process, and on the workers that hold
# the partitions. The seed makes the noise equal for the comparison; leave out ``random_state`` for
# real rows.

shared = {"classes": [0, 1], "data_norm": 1.5, "random_state": 0}
in_memory = DPLogisticRegression(**shared).fit(X.compute(), y.compute())
one_by_one = DaskDPLogisticRegression(**shared).fit(X, y)

options = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
with LocalCluster(**options) as cluster, Client(cluster) as client:
    held = client.persist([X, y])
    on_workers = DaskDPLogisticRegression(**shared).fit(*held)

print("in order and on workers, equal bits:", np.array_equal(one_by_one.coef_, on_workers.coef_))
print(f"in memory, equal to within {np.abs(in_memory.coef_ - on_workers.coef_).max():.0e}")

# %%
# The report
# ----------

report = on_workers.privacy_report_
print(report, report.not_covered[-1], sep="\n")

# %%
# More rows
# ---------
# Noise is added once to a sum, whatever its number of rows. The cost of privacy therefore falls
# with the number of rows. The partitions fit into memory, so they are kept there and not computed
# again in each pass. No ball is learnt here: the ranges are public, and two of the columns are
# amounts that are 0 for most people, which suits a ball badly.

X, y = dask.persist(X, y)
X_test = scaler.fit_transform(test[list(BOUNDS)])
y_test = test["class"].eq(">50K").to_numpy().astype(int)


def loss(size, epsilon):
    """Return the log loss, on other people, of a fit to that many partitions."""
    model = DaskDPLogisticRegression(
        epsilon=epsilon, delta=1e-6, classes=[0, 1], data_norm=1.5, ball_budget=0
    )
    model.fit(X.blocks[:size], y.blocks[:size])
    return log_loss(y_test, model.predict_proba(X_test))


sizes = np.array([1, 3, 10])
figure, axes = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
for epsilon, colour in {0.1: "#D55E00", 1.0: "#0072B2", np.inf: "0.45"}.items():
    # Without noise a fit is the same each time.
    repeats = N_REPEATS if np.isfinite(epsilon) else 1
    losses = np.array([[loss(size, epsilon) for size in sizes] for _ in range(repeats)])
    name = rf"$\varepsilon$ = {epsilon:g}" if np.isfinite(epsilon) else "no privacy"
    axes.plot(ROWS * sizes, losses.mean(axis=0), "o-", color=colour, lw=2, label=name)
    axes.fill_between(
        ROWS * sizes, losses.min(axis=0), losses.max(axis=0), color=colour, alpha=0.15, lw=0
    )
axes.set(
    xscale="log",
    xticks=ROWS * sizes,
    xticklabels=[f"{size:,}" for size in ROWS * sizes],
    xlabel="rows",
    ylabel="log loss on other people",
    title="The cost of privacy falls with the number of rows",
)
axes.minorticks_off()
axes.legend(frameon=False)
axes.spines[["top", "right"]].set_visible(False)
plt.show()
