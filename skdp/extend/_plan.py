"""Releases of an estimator of one's own, as its author plans them, and what they cost."""

import math
import zlib
from dataclasses import dataclass
from typing import NamedTuple

from skdp._checks import check_count, check_real
from skdp._release.plan import EXTEND_KEY, SPLIT_SLACK, Plan
from skdp._release.release import Planned, Release
from skdp._rows.bounds import summation_slack

_UNIT_ROUNDOFF = 2.0**-53
# Beside one rounding for each number of a part, its length and the factor that cuts it take a few.
_ROUNDINGS_OF_A_CUT = 8
_NOTE = "{kind} isn't a class of skdp: its author answers for what it publishes besides releases{}."
_STATED = ", and for the bound of {}"
_NO_PLAN = (
    "plan_releases must return a list of skdp.extend.Sum, Value and Choice, with one at least."
)


class Sizes(NamedTuple):
    """Public sizes of a fit, which is all that a plan may follow from besides the parameters.

    Parameters
    ----------
    n_records : int
        Number of records.
    n_features : int
        Number of columns of X.
    n_classes : int
        Number of classes, 0 where the estimator is no classifier.

    Examples
    --------
    >>> from skdp.extend import Sizes
    >>> Sizes(n_records=1000, n_features=5, n_classes=2).n_records
    1000
    """

    n_records: int
    n_features: int
    n_classes: int


@dataclass(frozen=True)
class _OwnRelease:
    """What every release of one's own has; see `Sum`."""

    name: str

    def __post_init__(self):
        if not isinstance(self.name, str) or not self.name:
            raise ValueError("a release needs a name.")


def _check_common(release):
    """Check the bound, the number of steps and the share of a release, and set them as numbers."""
    bound, share = check_real(release.bound, "bound"), check_real(release.share, "share")
    if not 0.0 < bound < math.inf:
        raise ValueError("bound must be positive and finite.")
    if not 0.0 < share < math.inf:
        raise ValueError("share must be positive and finite.")
    object.__setattr__(release, "share", share)
    object.__setattr__(release, "n_steps", check_count(release.n_steps, "n_steps"))
    return bound


def _checked_shape(shape):
    """Return a shape as a tuple of numbers of at least 1."""
    sides = shape if isinstance(shape, tuple | list) else (shape,)
    return tuple(check_count(side, "shape") for side in sides)


@dataclass(frozen=True)
class Sum(_OwnRelease):
    """A sum over records with Gaussian noise, to which a record adds a part of bounded length.

    :meth:`FitRun.sum` makes it, and cuts each record's part to `bound`. So the bound holds whatever
    the data are, as long as the part of a record follows from that record alone.

    Parameters
    ----------
    name : str
        Under which the run is asked for it, and which the report has.
    shape : int or tuple of int
        Shape of the sum; () for one number.
    bound : float
        Euclidean length of a record's part, over all its numbers.
    n_steps : int, default=1
        How often the sum is released, of the same records: each step may follow from those before.
        All steps together spend what is said by `share`.
    share : float, default=1.0
        What this spends of the budget, in proportion to the shares of all releases of the plan.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    Rows of at most unit length and their number, where each row is in one of three classes:

    >>> import math
    >>> from skdp.extend import Sum
    >>> Sum("sums by class", shape=(3, 5), bound=math.hypot(1.0, 1.0)).shape
    (3, 5)
    """

    shape: tuple
    bound: float
    n_steps: int = 1
    share: float = 1.0

    def __post_init__(self):
        super().__post_init__()
        object.__setattr__(self, "bound", _check_common(self))
        object.__setattr__(self, "shape", _checked_shape(self.shape))


@dataclass(frozen=True)
class Value(_OwnRelease):
    """Numbers with Gaussian noise that a record moves by a bounded length, as you have proved.

    :meth:`FitRun.release` makes it. Nothing here knows how you computed the numbers, so nothing
    keeps them within the bound: use :class:`Sum` wherever it will do, and let
    :func:`skdp.utils.estimator_checks.check_private_estimator` look for records that move them
    farther.

    Parameters
    ----------
    name : str
        Under which the run is asked for it, and which the report has.
    shape : int or tuple of int
        Shape of the numbers; () for one.
    bound : float
        How far the numbers move, as a Euclidean length, if a record is left out. Without any
        records they are 0, and they are cut to what this allows for.
    pair_bound : float, default=None
        How far they move if another record takes a record's place. None is twice `bound`.
    n_steps : int, default=1
        How often the numbers are released; see :class:`Sum`.
    share : float, default=1.0
        What this spends of the budget; see :class:`Sum`.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    The second moment of rows of at most unit length:

    >>> from skdp.extend import Value
    >>> Value("second moment", shape=(5, 5), bound=1.0).pair_bound
    """

    shape: tuple
    bound: float
    pair_bound: float | None = None
    n_steps: int = 1
    share: float = 1.0

    def __post_init__(self):
        super().__post_init__()
        object.__setattr__(self, "bound", _check_common(self))
        object.__setattr__(self, "shape", _checked_shape(self.shape))
        if self.pair_bound is not None:
            pair_bound = check_real(self.pair_bound, "pair_bound")
            if not 0.0 < pair_bound <= 2.0 * self.bound:
                raise ValueError("pair_bound must be positive, and at most twice bound.")
            object.__setattr__(self, "pair_bound", pair_bound)


@dataclass(frozen=True)
class Choice(_OwnRelease):
    """The place of a large score among several, by the exponential mechanism.

    :meth:`FitRun.choose` makes it. A score is a whole number, and a record moves each of them by a
    bounded one, up or down, as you have proved: for counts, 1.

    Parameters
    ----------
    name : str
        Under which the run is asked for it, and which the report has.
    bound : int, default=1
        How far any score moves if a record is left out.
    n_steps : int, default=1
        How often a place is chosen; see :class:`Sum`.
    share : float, default=1.0
        What this spends of the budget; see :class:`Sum`.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from skdp.extend import Choice
    >>> Choice("the most frequent value").bound
    1
    """

    bound: int = 1
    n_steps: int = 1
    share: float = 1.0

    def __post_init__(self):
        super().__post_init__()
        _check_common(self)
        object.__setattr__(self, "bound", check_count(self.bound, "bound"))


@dataclass(frozen=True, eq=False, kw_only=True)
class OwnPlan(Plan):
    """The releases of an estimator of one's own, each a `Planned`, and what they are, by name."""

    planned: tuple
    own: dict
    # They differ between plans of this class, unlike elsewhere.
    stream_key: tuple  # type: ignore[misc]
    notes: tuple  # type: ignore[misc]

    @property
    def releases(self):
        """The releases that running this makes."""
        return self.planned


def plan_own(budget, releases, *, n_records, kind):
    """Plan releases, each a `Sum`, `Value` or `Choice`, that spend a budget by their shares.

    `kind` is the full name of the class that plans them. It names a stream of its own: what two
    classes release of the same records isn't to share noise.
    """
    if not isinstance(releases, list | tuple) or not releases:
        raise TypeError(_NO_PLAN)
    if not all(isinstance(one, _OwnRelease) for one in releases):
        raise TypeError(_NO_PLAN)
    own = {one.name: one for one in releases}
    if len(own) < len(releases):
        raise ValueError("two releases of a plan have the same name.")
    total = math.fsum(one.share for one in releases)
    planned = []
    for one in releases:
        release = _planned_release(one, budget, one.share / total, n_records)
        planned.append(Planned(one.name, release, (release.event,)))
    names = ", ".join(repr(one.name) for one in releases if not isinstance(one, Sum))
    return OwnPlan(
        budget=budget,
        n_records=n_records,
        planned=tuple(planned),
        own=own,
        stream_key=(EXTEND_KEY, zlib.crc32(kind.encode())),
        notes=(_NOTE.format(_STATED.format(names) if names else "", kind=kind.rpartition(".")[2]),),
    )


def _planned_release(own, budget, share, n_records):
    """Return the release that spends a share of a budget."""
    if isinstance(own, Choice):
        noise = budget.calibrate(n_steps=own.n_steps)
        return Release(
            bound=own.bound,
            noise_multiplier=SPLIT_SLACK * noise / math.sqrt(share),
            size=1,
            n_records=n_records,
            noise="choice",
            design={"n_steps": own.n_steps},
        )
    size = math.prod(own.shape)
    if isinstance(own, Sum):
        # Parts are whole numbers of grid steps once they are cut, and add up exactly.
        pair_bound, slack = None, 2.0 * _UNIT_ROUNDOFF * (size + _ROUNDINGS_OF_A_CUT)
    else:
        # Nobody knows in which order the author adds up.
        pair_bound, slack = own.pair_bound, summation_slack(n_records, size, 1, n_records)
    return budget.release(
        bound=own.bound,
        pair_bound=pair_bound,
        share=share,
        n_records=n_records,
        size=size,
        slack=slack,
        n_steps=own.n_steps,
    )
