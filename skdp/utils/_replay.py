"""What fits release: fits with the releases of another one, and how far a record moves these."""

import contextlib
import copy
import itertools
import warnings
from typing import NamedTuple
from unittest import mock

import numpy as np

from skdp._release import mechanisms
from skdp._release.mechanisms import DiscreteLaplaceMechanism, ExponentialChoice, NoisyMaximum

# Bounds that don't allow for rounding themselves may be exceeded by this, relative to them.
_ROUNDING = 1e-9


class Made(NamedTuple):
    """A release that was made: by what mechanism, of what value, and what it gave."""

    mechanism: object
    value: object
    result: object


@contextlib.contextmanager
def spied_releases(script=()):
    """Give a list that grows by a `Made` for every release made meanwhile.

    Releases give what is in the script in their place, as long as there is something; see
    `_as_scripted`.
    """
    made = []
    originals = {
        cls: cls.release
        for cls in vars(mechanisms).values()
        if isinstance(cls, type) and hasattr(cls, "release")
    }

    def spy(cls):
        def release(self, *args, **kwargs):
            value = copy.deepcopy(args[0])
            released = originals[cls](self, *args, **kwargs)
            if len(made) < len(script):
                released = _as_scripted(script[len(made)].result, released, args[0])
            made.append(Made(self, value, copy.deepcopy(released)))
            return released

        return release

    with contextlib.ExitStack() as stack:
        for cls in originals:
            stack.enter_context(mock.patch.object(cls, "release", spy(cls)))
        yield made


@contextlib.contextmanager
def texts_of_warnings():
    """Give a set that has the texts of all warnings that were given meanwhile."""
    texts = set()
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        yield texts
    texts.update(str(one.message) for one in given)


def _as_scripted(scripted, released, value):
    """Return what is in a script in place of a release of a value.

    Where counts of categories are released, one may be there that a single record has alone: it
    gets no noise, which any threshold hides.
    """
    if np.shape(scripted) == np.shape(released):
        return copy.deepcopy(scripted)
    filled = np.array(value, dtype=np.float64)
    alone = filled == 1.0
    assert np.size(scripted) == np.sum(~alone), "the size of a release depends on the data"
    filled[~alone] = scripted
    return filled


def assert_within_bounds(fits, events, names, *, null=None):
    """Check that no two fits, of data that differ in one record, release values too far apart.

    Parameters
    ----------
    fits : dict
        What each fit made, by what the record is there. All have the releases of one.
    events : list
        Of each release, the event that is accounted.
    names : list of str
        Of each release.
    null : str, default=None
        The fit in which the record is a null record, if there is one.
    """
    moves = []
    for one, other in itertools.combinations(fits, 2):
        for first, second, event, name in zip(fits[one], fits[other], events, names, strict=True):
            # Two records may be twice as far apart as one is from a null record.
            is_pair = null not in (one, other) and not getattr(event, "pairwise", False)
            bound = _bound(first.mechanism) * (2.0 if is_pair else 1.0)
            share = _distance(first.mechanism, first.value, second.value) / bound
            moves.append((share, name, one, other))
    share, name, one, other = max(moves)
    assert share <= 1.0, (
        f"{name!r} moves by {share:.4g} times its bound where a record that is {one} becomes "
        f"{other}"
    )


def _bound(mechanism):
    """Return how far a record may move what a mechanism releases."""
    exact = mechanism.contribution_bound * (1.0 + _ROUNDING)
    return max(getattr(mechanism, "sensitivity", exact), exact)


def _distance(mechanism, one, other):
    """Return how far apart two values are in the norm that a mechanism is about."""
    difference = np.abs(np.asarray(one, dtype=np.float64) - np.asarray(other, dtype=np.float64))
    if isinstance(mechanism, DiscreteLaplaceMechanism):
        return float(difference.sum())
    if isinstance(mechanism, ExponentialChoice | NoisyMaximum):
        return float(difference.max())
    return float(np.linalg.norm(difference))
