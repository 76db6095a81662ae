"""Queries to public rows with private labels, wherever they are."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from skdp._release.mechanisms import GaussianMechanism
from skdp._rows.queries import PUBLIC, Query
from skdp.linear_model.walr._solver import PublicRows


class LabelledRows(NamedTuple):
    """Public rows in memory, and their labels as by `encode_labels`."""

    rows: PublicRows
    targets: np.ndarray

    def ask(self, query):
        """Return the answer to a `Query`."""
        return query.total(self)


@dataclass(frozen=True, eq=False)
class SumsByLabel(Query):
    """The sum of the rows of each class, of two classes of the second only."""

    mechanism: GaussianMechanism

    view = PUBLIC

    def total(self, labelled):
        is_of_class = (labelled.targets > 0.0).astype(np.float64)
        return self.mechanism.rounded(labelled.rows.sums(is_of_class))


class SumOfRows(Query):
    """The sum of the rows, which is public, of shape (p,)."""

    view, grid = PUBLIC, 0.0

    def total(self, labelled):
        return labelled.rows.total
