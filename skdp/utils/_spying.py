"""What mechanisms release, as seen by the checks of estimators."""

import contextlib
import copy
from typing import NamedTuple
from unittest import mock

import numpy as np

from skdp import _mechanisms


class _Release(NamedTuple):
    """A release that was made: by what mechanism, and what it gave."""

    mechanism: object
    result: object


@contextlib.contextmanager
def spied_releases(script=()):
    """Give a list that grows by the mechanism and result of every release made meanwhile.

    Releases give what is in the script in their place, as long as there is something; see
    `_as_scripted`.

    Parameters
    ----------
    script : sequence of _Release, default=()
    """
    made = []
    originals = {
        cls: cls.release
        for cls in vars(_mechanisms).values()
        if isinstance(cls, type) and hasattr(cls, "release")
    }

    def spy(cls):
        def release(self, *args, **kwargs):
            released = originals[cls](self, *args, **kwargs)
            if len(made) < len(script):
                released = _as_scripted(script[len(made)].result, released, args[0])
            made.append(_Release(self, copy.deepcopy(released)))
            return released

        return release

    with contextlib.ExitStack() as stack:
        for cls in originals:
            stack.enter_context(mock.patch.object(cls, "release", spy(cls)))
        yield made


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
