"""Queries to public rows with private labels, wherever they are."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from skdp._release.mechanisms import GaussianMechanism
from skdp._rows.queries import PUBLIC, BoundedQuery, Query
from skdp.linear_model.walr._solver import PublicRows


class LabelledRows(NamedTuple):
    """Public rows in memory, and their labels as by `encode_labels`."""

    rows: PublicRows
    targets: np.ndarray

    def ask(self, query):
        """Return the answer to a `Query`."""
        return query.total(self)


@dataclass(frozen=True, eq=False)
class SumsByLabel(BoundedQuery):
    """The sum of the rows of each class, of two classes of the second only.

    No row is longer than `longest`, which is public, nor is it longer once it is mapped by the
    matrix `transform`, if there is one. Then the mapped sums leave.
    """

    mechanism: GaussianMechanism
    longest: float
    n_classes: int
    transform: np.ndarray | None = None

    view = PUBLIC

    def record_bound(self, place):
        # Without its label a row is in no sum.
        return self.longest

    def pair_bound(self, place):
        # Another of several labels moves the sums of two classes by the row.
        return self.longest * (math.sqrt(2.0) if self.n_classes > 2 else 1.0)

    def total(self, labelled):
        is_of_class = (labelled.targets > 0.0).astype(np.float64)
        sums = labelled.rows.sums(is_of_class)
        return self.mechanism.rounded(sums) if self.transform is None else sums

    def noisy(self, sums, release):
        return release(sums if self.transform is None else sums @ self.transform.T)


class SumOfRows(Query):
    """The sum of the rows, which is public, of shape (p,)."""

    view, grid = PUBLIC, 0.0

    def total(self, labelled):
        return labelled.rows.total
