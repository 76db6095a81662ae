"""Plan of an encoder: a release of what categories there are in columns where nobody said."""

import math
from dataclasses import dataclass
from numbers import Integral
from typing import ClassVar

from skdp._checks import check_count, check_real
from skdp._plans._discovery import plan_counts
from skdp._plans._keys import ENCODER_KEY
from skdp._plans._preprocessing import TransformerPlan


@dataclass(frozen=True, eq=False, kw_only=True)
class EncoderPlan(TransformerPlan):
    """The release of an encoder; see `TransformerPlan`.

    Parameters
    ----------
    threshold : float
        What a category's noisy count must exceed.
    most : int or None
        Number of categories of a column that are kept at most.
    """

    threshold: float = math.inf
    most: int | None = None

    stream_key: ClassVar = (ENCODER_KEY,)


def plan_encoder(budget, *, n_rows, n_discovered, min_frequency, most):
    """Plan the discovery of categories in so many columns; none is free.

    Parameters
    ----------
    budget : Budget
    n_rows, n_discovered : int
    min_frequency : None, int or float
        Of records, or a share of them.
    most : int or None
        See `EncoderPlan`.
    """
    common = {"budget": budget, "n_rows": n_rows, "most": most}
    if n_discovered == 0:
        return EncoderPlan(mechanisms={}, releases=(), **common)
    counts = plan_counts(
        budget,
        n_rows=n_rows,
        n_columns=n_discovered,
        n_discovered=n_discovered,
        least=_least_count(min_frequency, n_rows),
    )
    return EncoderPlan(
        mechanisms={"counts": counts.mechanism},
        releases=counts.events,
        threshold=counts.threshold,
        **common,
    )


def _least_count(min_frequency, n_rows):
    if min_frequency is None:
        return 1
    if isinstance(min_frequency, Integral):
        return check_count(min_frequency, "min_frequency")
    # Parameters may come unvalidated (`sklearn.set_config`).
    share = check_real(min_frequency, "min_frequency")
    if not 0.0 < share < 1.0:
        raise ValueError("min_frequency must be a count of at least 1 or a share in (0, 1).")
    return max(math.ceil(share * n_rows), 1)
