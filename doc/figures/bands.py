"""What the figures of the guide share: made-up data, and lines with bands over seeds."""

import os

import numpy as np

# A single seed shows whether a figure can be drawn.
IS_QUICK = os.environ.get("SKDP_FIGURES") == "quick"


def logistic_data(n_rows, n_features, strength=2.5, seed=0):
    """Return rows of normal features and 0/1 labels that a logistic model draws."""
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n_rows, n_features))
    weights = np.linspace(1.0, -1.0, n_features)
    scores = strength * X @ weights / np.linalg.norm(weights)
    return X, (generator.random(n_rows) < 1.0 / (1.0 + np.exp(-scores))).astype(int)


def draw_bands(axes, score, values, seeds, label):
    """Draw the mean of ``score(value, seed)`` over the seeds, and a band from least to most."""
    seeds = seeds[:1] if IS_QUICK else seeds
    scores = np.array([[score(value, seed) for seed in seeds] for value in values])
    (line,) = axes.plot(values, scores.mean(axis=1), "o-", label=label)
    low, high = scores.min(axis=1), scores.max(axis=1)
    axes.fill_between(values, low, high, alpha=0.15, lw=0, color=line.get_color())


def finish(axes, values, xlabel, ylabel, **settings):
    """Label the axes; the horizontal one is logarithmic and has ticks at the values."""
    axes.set(
        xscale="log",
        xticks=values,
        xticklabels=[f"{value:g}" for value in values],
        xlabel=xlabel,
        ylabel=ylabel,
        **settings,
    )
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
