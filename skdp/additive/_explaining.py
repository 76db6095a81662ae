"""Contributions to predictions of rows, as a table that a person reads."""

from numbers import Real

import numpy as np

from skdp._rows.labels import MISSING

# Libraries print gaps that aren't numbers in these ways.
GAPS = "NaT", "<NA>"


def explanation_frame(X, terms, contributions, outputs):
    """Return a line for each row and term, as a data frame of the kind of X, or else of pandas.

    `terms` are those of the basis, which know the places of their columns. `contributions` have the
    shape (n_rows, n_terms, n_outputs).
    """
    rows, n_rows = _rows_of(X), len(contributions)
    columns = _columns_of(X)
    values = [_values_of(term, columns) for term in terms]
    lines = {
        "row": [row for row in rows for _ in terms],
        "term": [term.name for _ in rows for term in terms],
        "value": [values[j][i] for i in range(n_rows) for j in range(len(terms))],
    }
    lines |= {
        name: contributions[:, :, k].ravel().tolist() for k, name in enumerate(_headings(outputs))
    }
    if hasattr(X, "get_columns"):
        import polars

        # A column of polars has one type.
        lines["value"] = [value if value is None else str(value) for value in lines["value"]]
        return polars.DataFrame(lines)
    import pandas as pd

    lines["value"] = pd.Series(lines["value"], dtype=object)
    return pd.DataFrame(lines)


def _headings(outputs):
    if len(outputs) == 1:
        return ["contribution"]
    return [f"contribution_{name}" for name in outputs]


def _rows_of(X):
    """Return what names rows: labels of pandas, or else numbers from 0."""
    return X.index.tolist() if hasattr(X, "iloc") else list(range(len(X)))


def _columns_of(X):
    """Return the entries of each column of a table as they are."""
    if hasattr(X, "iloc"):
        return [X.iloc[:, j].tolist() for j in range(X.shape[1])]
    if hasattr(X, "get_columns"):
        return [column.to_list() for column in X.get_columns()]
    if hasattr(X, "itercolumns"):
        return [column.to_pylist() for column in X.itercolumns()]
    return np.array(X, dtype=object).T.tolist()


def _values_of(term, columns):
    """Return what each row has in the column of a term, or in both columns of a pair."""
    of_columns = [columns[place] for place in term.features]
    if len(of_columns) == 1:
        return of_columns[0]
    texts = [[entry_text(entry) for entry in entries] for entries in of_columns]
    return [f"{first} x {second}" for first, second in zip(*texts, strict=True)]


def entry_text(entry):
    """Return an entry of a table as a text of few digits."""
    if entry is None or str(entry) in GAPS or entry != entry:
        return MISSING
    if isinstance(entry, Real) and not isinstance(entry, bool):
        return f"{entry:.6g}"
    return str(entry).removesuffix(" 00:00:00")
