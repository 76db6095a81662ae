"""
A table in parts, and workers that may die
==========================================

A fit by private whitening is some forty sums over all rows, and noise is added to each sum once. So
rows can stay where they are, on the workers of a cluster, and a worker that dies costs time. Here
the cluster is two threads of this process; ``Client("scheduler:8786")`` is all that a real one
changes.
"""

# %%
# Trips in partitions
# -------------------
# The trips are made up: will a passenger tip? Bounds are public, written down before anybody rode.
# Each partition would be a file, and its number of rows is public.

import dask
import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client, LocalCluster
from sklearn.metrics import log_loss

from skdp.dask import DaskDPLogisticRegression, transform
from skdp.linear_model import DPLogisticRegression
from skdp.preprocessing import BoundsScaler

N_REPEATS = 5
PARTITIONS, ROWS = 20, 5_000
BOUNDS = {"distance (km)": (0, 30), "minutes": (0, 90), "fare": (0, 100), "hour": (0, 24)}


def trips(seed):
    """Return the rows of one partition: four features, and whether there was a tip."""
    rng = np.random.default_rng(seed)
    distance = rng.gamma(2.0, 2.5, ROWS)
    minutes = 4.0 * distance * rng.uniform(0.5, 2.0, ROWS)
    fare = 3.0 + 2.0 * distance + 0.4 * minutes
    hour = rng.uniform(0.0, 24.0, ROWS)
    score = 0.12 * fare - 0.08 * minutes + 0.25 * (hour - 12.0)
    return np.column_stack([distance, minutes, fare, hour, rng.logistic(score) > 0.0])


def partition(block_info):
    """Make the partition of a place: Dask tells which one it wants."""
    return trips(block_info[None]["chunk-location"][0])


table = da.map_blocks(
    partition, chunks=((ROWS,) * PARTITIONS, (5,)), dtype=float, meta=np.empty((0, 5))
)
X = transform(BoundsScaler(np.transpose(list(BOUNDS.values()))), table[:, :4])
y = table[:, 4].astype(int)

# %%
# One fit, three ways
# -------------------
# In memory, partition after partition in this process, and on the workers that hold the partitions.
# The seed makes the noise the same for the comparison; leave ``random_state`` alone for real rows.

shared = {"classes": [0, 1], "data_norm": 1.5, "random_state": 0}
in_memory = DPLogisticRegression(**shared).fit(X.compute(), y.compute())
one_by_one = DaskDPLogisticRegression(**shared).fit(X, y)

options = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
with LocalCluster(**options) as cluster, Client(cluster) as client:
    held = client.persist([X, y])
    on_workers = DaskDPLogisticRegression(**shared).fit(*held)

print("in order and on workers the same bits:", np.array_equal(one_by_one.coef_, on_workers.coef_))
print(f"in memory the same to {np.abs(in_memory.coef_ - on_workers.coef_).max():.0e}")

# %%
# What the report says of it
# --------------------------

report = on_workers.privacy_report_
print(report, report.not_covered[-1], sep="\n")

# %%
# More rows
# ---------
# Noise is added once to a sum, however many rows it is of: what privacy costs falls with them. The
# partitions fit into memory, so they are kept there and not made again at each pass.

X, y = dask.persist(X, y)
epsilons = {0.05: "#D55E00", 0.5: "#0072B2"}
sizes = [1, 2, 5, 20]
test = trips(10**6)
X_test = BoundsScaler(np.transpose(list(BOUNDS.values()))).fit_transform(test[:, :4])
figure, axes = plt.subplots(figsize=(7.0, 4.2), layout="constrained")
for epsilon, colour in epsilons.items():
    scores = np.empty((N_REPEATS, len(sizes)))
    for repeat in range(N_REPEATS):
        for place, size in enumerate(sizes):
            model = DaskDPLogisticRegression(epsilon=epsilon, classes=[0, 1], data_norm=1.5)
            model.fit(X.blocks[:size], y.blocks[:size])
            scores[repeat, place] = log_loss(test[:, 4], model.predict_proba(X_test))
    rows = ROWS * np.array(sizes)
    axes.plot(rows, scores.mean(axis=0), color=colour, marker="o")
    axes.fill_between(rows, scores.min(axis=0), scores.max(axis=0), color=colour, alpha=0.15, lw=0)
    axes.annotate(
        rf"$\varepsilon = {epsilon:g}$",
        (rows[0], scores.mean(axis=0)[0]),
        xytext=(-6, 0),
        textcoords="offset points",
        ha="right",
        va="center",
        color=colour,
    )
axes.set(
    xscale="log",
    xlabel="rows",
    ylabel="log loss on other trips",
    title="What privacy costs falls with the number of rows",
    xlim=(2_000, 150_000),
)
axes.spines[["top", "right"]].set_visible(False)
plt.show()
