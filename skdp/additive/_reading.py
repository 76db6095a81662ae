"""Additive models as tables that a person reads."""

import numpy as np


def _rows(terms, outputs):
    """Give one row for each value of each term, as a dict."""
    for term in terms:
        values = term.values.reshape(len(term.labels), -1)
        for j, label in enumerate(term.labels):
            row = {"term": term.name, "kind": term.kind, "label": label}
            row |= dict(zip(outputs, values[j].tolist(), strict=True))
            row |= {"std": float(term.std[j]), "share": float(term.weights[j])}
            yield {**row, "is_noise": term.is_noise}


ALL_NOISE = (
    "The noise hides the effect of every column: the model predicts the same for all rows. Take "
    "more records, a larger epsilon, or fewer columns."
)


def are_flat(terms):
    """Return whether the values of all terms are 0, as where noise hides all of them together."""
    # Weak terms that together are more than noise keep their values.
    return not any(term.values.any() for term in terms)


def as_frame(terms, outputs):
    """Return terms as a data frame of pandas."""
    # Only this function needs it.
    import pandas as pd

    return pd.DataFrame(list(_rows(terms, outputs)))


def _in_cell(text):
    """Return a text as it stands in one cell of a table."""
    return " ".join(text.replace("|", "\\|").splitlines())


def as_markdown(terms, intercept, outputs):
    """Return the intercept and terms as a table in Markdown."""
    header = ["term", "label", *map(_in_cell, outputs), "std", "share"]
    lines = [header, ["---"] * len(header)]
    start = [f"{value:.3g}" for value in np.ravel(intercept)]
    lines.append(["intercept", "", *start, "", ""])
    for row in _rows(terms, outputs):
        name = f"{row['term']} (noise)" if row["is_noise"] else row["term"]
        numbers = [f"{row[key]:.3g}" for key in (*outputs, "std", "share")]
        if np.isnan(row["share"]):
            numbers[-1] = "unknown"
        lines.append([_in_cell(name), _in_cell(str(row["label"])), *numbers])
    note = f"{ALL_NOISE}\n\n" if are_flat(terms) else ""
    return note + "\n".join("| " + " | ".join(line) + " |" for line in lines)
