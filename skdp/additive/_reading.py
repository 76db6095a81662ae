"""Additive models as tables that a person reads."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from skdp._rows.frames import read_frame, warn_of_unread
from skdp._rows.private_rows import rows_are_private
from skdp.additive._explaining import explanation_frame
from skdp.additive._look_up import LookUp
from skdp.preprocessing.table._terms import Basis


@dataclass(frozen=True)
class Reading:
    """How values of terms are named in tables, and how many records their shares are of.

    `outputs` are the columns of values, and `heading` says what these are. `ratio` is the column of
    their exponentials, which multiply odds or means; None where values add up. `n_records` is NaN
    where it isn't public.
    """

    outputs: list
    heading: str
    ratio: str | None
    n_records: float

    @property
    def headings(self):
        """The columns of values, in words."""
        if len(self.outputs) == 1:
            return [self.heading]
        return [f"{name}: {self.heading}" for name in self.outputs]

    def rows(self, terms):
        """Give one row for each value of each term, as a dict."""
        for term in terms:
            values = term.values.reshape(len(term.labels), -1)
            for j, label in enumerate(places_of(term)):
                row = {"term": term.name, "kind": term.kind, "label": label}
                row |= dict(zip(self.outputs, values[j].tolist(), strict=True))
                if self.ratio is not None:
                    row[self.ratio] = _exponential(values[j, 0])
                share = float(term.weights[j])
                row |= {"std": float(term.std[j]), "share": share}
                yield {**row, "n": np.rint(share * self.n_records), "is_noise": term.is_noise}


def _exponential(value):
    with np.errstate(over="ignore"):
        return float(np.exp(value))


def places_of(term):
    """Return the labels of a term without the names of its columns."""
    if term.kind == "product":
        return ["product"]
    categories = term.categories if term.kind == "pair" else (term.categories,)
    sides = [
        [_place(label.removeprefix(f"{name}_"), words is not None) for label in labels]
        for labels, name, words in zip(term.sides, term.features, categories, strict=True)
    ]
    return [" x ".join(places) for places in itertools.product(*sides)]


def _place(label, is_word):
    """Return a label of a word as it is, and that of a number with spaces, as in "is not 0"."""
    is_spike = not is_word and label.startswith("is_")
    return label.replace("is_", "is ").replace("not_", "not ") if is_spike else label


_ALL_FLAT = (
    "The noise hides the effect of every column: the model predicts the same for all rows. Take "
    "more records, a larger epsilon, or fewer columns."
)


def are_flat(terms):
    """Return whether the values of all terms are 0, as where shares of classes are released alone.

    Terms that look like noise keep their values.
    """
    return not any(term.values.any() for term in terms)


def as_frame(terms, reading):
    """Return terms as a data frame of pandas."""
    # Only this function needs it.
    import pandas as pd

    frame = pd.DataFrame(list(reading.rows(terms)))
    # The heading stands above the index, so that columns keep their names.
    frame.columns.name = reading.heading
    return frame


def _in_cell(text):
    """Return a text as it stands in one cell of a table."""
    return " ".join(text.replace("|", "\\|").splitlines())


def as_markdown(terms, intercept, reading):
    """Return the intercept and terms as a table in Markdown."""
    ratio = [] if reading.ratio is None else [reading.ratio]
    header = ["term", "label", *map(_in_cell, reading.headings)]
    header += [*[name.replace("_", " ") for name in ratio], "std", "share", "n"]
    start = [f"{value:.3g}" for value in np.ravel(intercept)]
    start += [f"{_exponential(np.ravel(intercept)[0]):.3g}" for _ in ratio]
    lines = [header, ["---"] * len(header), ["intercept", "", *start, "", "", ""]]
    for row in reading.rows(terms):
        name = f"{row['term']} (noise)" if row["is_noise"] else row["term"]
        numbers = [f"{row[key]:.3g}" for key in (*reading.outputs, *ratio, "std", "share")]
        if np.isnan(row["share"]):
            numbers[-1] = "unknown"
        numbers.append("unknown" if np.isnan(row["n"]) else f"{row['n']:.0f}")
        lines.append([_in_cell(name), _in_cell(str(row["label"])), *numbers])
    note = f"{_ALL_FLAT}\n\n" if are_flat(terms) else ""
    return note + "\n".join("| " + " | ".join(line) + " |" for line in lines)


def read_rows(model, X):
    """Return rows as a fitted model reads them, as a `Frame`."""
    check_is_fitted(model)
    frame = read_frame(model, X, reset=False)
    if not rows_are_private():
        warn_of_unread(frame)
    return frame


def looked_up(model, X):
    """Return the terms of a fitted model at rows."""
    check_is_fitted(model)
    return LookUp(model._basis, np.atleast_2d(model._model.coef_), read_rows(model, X))


def linear_values(model, X):
    """Return the sums of terms and the constant, in the shape that the linear model's have."""
    sums = looked_up(model, X).sums()
    return (sums[:, 0] if model._model.coef_.ndim == 1 else sums) + model._model.intercept_


class ReadingMixin:
    """Tables of what a fit published."""

    terms_: tuple
    # A number, or one for each output.
    intercept_: Any
    # The terms of a table, their means under the released counts, and the linear model of them.
    _basis: Basis
    _offsets: np.ndarray
    _model: Any
    # Subclasses have this.
    _parameters: Callable

    def explain(self, X, *, as_frame=False):
        """Return the contribution of each term to the prediction of each row.

        Their sum and ``intercept_`` are the decision value of a classifier, or the prediction of a
        regressor before it is clipped to ``target_bounds_``. For counts and amounts it is the
        logarithm of the prediction. The result for a private row is as private as the row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        as_frame : bool, default=False
            Whether to return a data frame that also names terms, and has what each row holds.

        Returns
        -------
        contributions : ndarray of shape (n_samples, n_terms) or (n_samples, n_terms, n_outputs)
            In the order of ``terms_``. With `as_frame` a data frame of polars where X is one, and
            else of pandas. It has a line for each row and term, and the columns row (its label, or
            its number from 0), term, value (the entry of the row, of a pair both) and contribution;
            with several outputs, one such column for each.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X doesn't fit the estimator; no message quotes an entry of the data.
        """
        contributions = looked_up(self, X).by_term() - self._offsets
        if as_frame:
            n_outputs = contributions.shape[2]
            has_classes = n_outputs > 1 and is_classifier(self)
            names = self.classes_ if has_classes else range(n_outputs)
            return explanation_frame(X, self._basis.terms, contributions, names)
        return contributions[:, :, 0] if contributions.shape[2] == 1 else contributions

    def to_frame(self):
        """Return all values of all terms as a data frame of pandas, one row each.

        Returns
        -------
        scorecard : DataFrame
            Columns term, kind, label, value, std, share, n, is_noise; with several outputs, one
            value column for each. Labels don't repeat the column. Behind the value of two classes
            is its exponential, odds_ratio: what the odds are multiplied by. Behind that of
            counts and amounts it is ratio, of the mean. The number n is that of the records, or of
            people with `groups`, by the released share. The name of ``columns`` says what a value
            is.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ImportError
            If pandas isn't installed.
        """
        check_is_fitted(self)
        return as_frame(self.terms_, self._parameters().predicted.naming(self))

    def to_markdown(self):
        """Return the intercept and all values of all terms as a table in Markdown.

        Returns
        -------
        text : str
            The table, with a line for each value.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        """
        check_is_fitted(self)
        naming = self._parameters().predicted.naming(self)
        return as_markdown(self.terms_, self.intercept_, naming)
