"""
Quick start: private classification of medical records
======================================================

Train a classifier on breast-cancer records with differential privacy, in a pipeline, and see what
privacy costs in accuracy. Everything runs in well under a minute::

    python -m pip install ".[examples]" && python examples/plot_quickstart.py

The records are scikit-learn's bundled copy of the Wisconsin diagnostic breast-cancer data
(W. N. Street, W. H. Wolberg and O. L. Mangasarian, 1993): ten measurements of cell nuclei in an
image of a fine-needle aspirate, each given as a mean, a standard error and a "worst" value.
"""

# %%
# Public bounds, without looking at the data
# ------------------------------------------
# A private model needs to know how large a record may be *before* it sees one: a bound read from
# the data would itself reveal the most extreme patient. So each range below is written from what
# the measurement means. A range that is too wide costs some accuracy and one that is too narrow
# clips some values; neither costs privacy.

import argparse
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from tqdm import tqdm

from skdp.linear_model import DPLogisticRegression
from skdp.preprocessing import BoundsScaler, NormClipper

MEAN_BOUNDS = {
    # Half the width of a nucleus in micrometres: a few for a healthy cell, and several times that
    # for the swollen nuclei of a tumour.
    "radius": (5.0, 30.0),
    # Standard deviation of grey levels from 0 to 255 within a nucleus. Evenly stained nuclei use a
    # small part of the scale.
    "texture": (5.0, 45.0),
    # 2 pi times the radius, and a little more for outlines that are not circles.
    "perimeter": (30.0, 200.0),
    # Pi times the squared radius: 80 to 2800.
    "area": (0.0, 2800.0),
    # Difference between neighbouring radii as a part of the radius; a quarter is very ragged.
    "smoothness": (0.0, 0.25),
    # Squared perimeter over area, relative to a circle's, minus one: 0 for a circle, 0.27 for a
    # square.
    "compactness": (0.0, 0.5),
    # Depth of the dents of the outline as a part of its size.
    "concavity": (0.0, 0.5),
    # Part of the outline that is dented: a quarter would be a star.
    "concave points": (0.0, 0.25),
    # Difference of the two halves as a part of the whole; no outline is quite symmetric.
    "symmetry": (0.1, 0.4),
    # "Coastline dimension" minus one: 0 for a smooth curve, well below that of a coast (0.25).
    "fractal dimension": (0.0, 0.15),
}


def public_bounds():
    """Return the lowest and highest plausible value of each of the 30 features.

    The mean comes from the table. Its standard error is at most a tenth of the range: values in a
    range have a standard deviation of a quarter of its width or less as a rule, and an image has
    ten nuclei or more. The "worst" value is the mean of the three largest nuclei, at most half as
    large again.
    """
    low, high = np.array(list(MEAN_BOUNDS.values())).T
    error_low, error_high = np.zeros_like(low), (high - low) / 10.0
    return np.concatenate([low, error_low, low]), np.concatenate([high, error_high, 1.5 * high])


# %%
# A private pipeline
# ------------------
# ``BoundsScaler`` maps the public ranges to [-1, 1], so a record is at most ``sqrt(30)`` long. The
# classifier gets a smaller ``data_norm``, because hardly any record is at an end of all ranges at
# once. ``NormClipper`` scales down longer records, in training and in prediction.
#
# ``max_iter`` and ``momentum`` could be left out. With a few hundred records the noise is large,
# and the automatic choice stops early to keep probabilities calibrated. Here only the decisions
# count, and they tolerate more noise. The thirty measurements are mostly correlated, so more steps
# find the informative differences. This was seen on these records, which are public; on records of
# your own keep the defaults, or decide on other data.


def private_pipeline(epsilon, random_state=None):
    """Return a pipeline that spends `epsilon` when it is fitted."""
    return make_pipeline(
        BoundsScaler(feature_bounds=public_bounds()),
        NormClipper(3.0),
        DPLogisticRegression(
            epsilon=epsilon,
            delta=1e-5,
            data_norm=3.0,
            max_iter=40,
            momentum=0.5,
            classes=[0, 1],
            random_state=random_state,
        ),
    )


# %%
# What privacy costs
# ------------------
# Accuracy on held-out records for several epsilons, and without privacy by the same code
# (``epsilon=inf``), over several random splits. Seeds make this example repeatable; leave out
# ``random_state`` for a real model.

EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0, float("inf"))


def accuracies(X, y, n_seeds):
    """Return test accuracies, one row per epsilon and one column per seed."""
    scores = np.empty((len(EPSILONS), n_seeds))
    with tqdm(total=scores.size, desc="Training private models") as progress:
        for seed in range(n_seeds):
            X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=seed)
            for row, epsilon in enumerate(EPSILONS):
                model = private_pipeline(epsilon, random_state=seed).fit(X_train, y_train)
                scores[row, seed] = model.score(X_test, y_test)
                progress.update()
    return scores


def plot(scores, baseline):
    """Draw accuracy against epsilon and return the figure."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
    epsilons, private, public = EPSILONS[:-1], scores[:-1], scores[-1]
    axes.fill_between(
        epsilons, *np.quantile(private, [0.1, 0.9], axis=1), alpha=0.2, lw=0, label="8 of 10 fits"
    )
    axes.plot(epsilons, private.mean(axis=1), "o-", label="private (mean)")
    axes.axhline(public.mean(), color="C1", ls="--", label="no privacy, same code")
    axes.axhline(baseline, color="0.5", ls=":", label="always the more common class")
    axes.set(
        xscale="log",
        xticks=epsilons,
        xticklabels=[f"{epsilon:g}" for epsilon in epsilons],
        xlabel=r"$\varepsilon$  (stronger privacy to the left)",
        ylabel="accuracy on held-out records",
        title="What privacy costs: breast-cancer records",
        ylim=(min(baseline, np.quantile(private, 0.1)) - 0.03, 1.0),
    )
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 0.13), frameon=False)
    return figure


def main():
    """Print the table, train one model, print its report and write the plot."""
    parser = argparse.ArgumentParser(description="Private classification of medical records.")
    parser.add_argument("--seeds", type=int, default=20, help="random splits (default: 20)")
    parser.add_argument("--output", type=Path, default=Path("plot_quickstart.png"))
    options, _ = parser.parse_known_args()

    X, y = load_breast_cancer(return_X_y=True)
    scores = accuracies(X, y, options.seeds)
    baseline = np.bincount(y).max() / y.size
    print(f"\nAccuracy on held-out records, mean of {options.seeds} splits (delta = 1e-5)\n")
    print("  epsilon   accuracy   worst split")
    for epsilon, row in zip(EPSILONS, scores, strict=True):
        name = "no privacy" if epsilon == float("inf") else f"{epsilon:g}"
        print(f"  {name:>10} {row.mean():8.3f} {row.min():11.3f}")
    print(f"  (always the more common class: {baseline:.3f})\n")

    # A real fit has no seed. Its report is the guarantee.
    model = private_pipeline(epsilon=1.0).fit(X, y)
    print(model[-1].privacy_report_.to_text())

    plot(scores, baseline).savefig(options.output, dpi=150)
    print(f"\nThe plot is in {options.output}.")


if __name__ == "__main__":
    main()
