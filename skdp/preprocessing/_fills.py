"""What fills gaps, by strategy, and where nothing is found."""

import numpy as np

from skdp._checks import check_real
from skdp._solvers._preprocessing_counts import keep_largest, release_counts
from skdp._solvers._preprocessing_fills import release_means, release_medians

# By default, of columns whose listed categories are strings, and of others.
_WORD, _NUMBER = "missing_value", 0.0


def default_fills(fill_value, categories):
    """Return what fills each column where nothing is found, which follows from parameters alone.

    Parameters
    ----------
    fill_value : str, number or None
    categories : list of lists or None
        Of each column, its categories where they are listed.

    Raises
    ------
    ValueError
        If `fill_value` is something else.
    """
    if fill_value is None:
        return [
            _WORD if listed is not None and isinstance(listed[0], str) else _NUMBER
            for listed in categories
        ]
    if isinstance(fill_value, str):
        return [str(fill_value)] * len(categories)
    # NaN may be wanted where it isn't what stands for a gap.
    fill = np.nan if fill_value != fill_value else check_real(fill_value, "fill_value")
    return [fill] * len(categories)


def _release_means(plan, X, low, high, stream):
    return release_means(
        X, low=low, high=high, n_rows=plan.n_rows, mechanism=plan.mechanisms["mean"], noise=stream
    )


def _release_medians(plan, X, low, high, stream):
    return release_medians(
        X,
        low=low,
        high=high,
        n_steps=plan.n_steps,
        mechanism=plan.mechanisms["median"],
        noise=stream,
    )


# By strategy.
RELEASES = {"mean": _release_means, "median": _release_medians}


def find_most_frequent(plan, columns, categories, fallbacks, stream):
    """Return the most frequent category of each column, where one is found."""
    found = release_counts(
        [[value for value in column if value == value] for column in columns],
        categories,
        threshold=plan.threshold,
        mechanism=plan.mechanisms["counts"],
        noise=stream,
    )
    largest = [keep_largest(names, counts, 1)[0] for names, counts in found]
    return [
        names[0] if names else fallback for names, fallback in zip(largest, fallbacks, strict=True)
    ]
