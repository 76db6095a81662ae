"""Settings of a fit: what an estimator's parameters were at one moment."""

from copy import deepcopy
from dataclasses import dataclass, fields


@dataclass(frozen=True, kw_only=True, eq=False)
class Settings:
    """Copies of an estimator's parameters, which rows are bounded by and noise is planned by.

    Both go by the same lists and arrays, whatever callers do with theirs while rows are read.
    Nothing is checked here: what can't be used is refused by what first needs it.
    """

    def __post_init__(self):
        for field in fields(self):
            object.__setattr__(self, field.name, deepcopy(getattr(self, field.name)))
