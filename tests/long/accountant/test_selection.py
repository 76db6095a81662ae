"""Long tests beside the quick ones of `tests/accountant/test_selection.py`."""

import pytest

from skdp.accountant import GaussianEvent, LaplaceEvent
from tests.accountant.test_selection import ZERO, report, search
from tests.door import LargestProfile, build_profile


def test_a_trial_costs_the_largest_of_its_alternatives():
    pair = [(GaussianEvent(6.0),), (GaussianEvent(1.2, 0.01, 500), LaplaceEvent(9.0))]
    joint = report(search(*pair))
    for delta in (1e-6, 1e-4):
        single = [report(search(events)).epsilon_at(delta) for events in pair]
        assert joint.epsilon_at(delta) >= max(single) * (1 - 1e-9)
    assert report(search(*pair), accountant="rdp").epsilon_at(1e-5) > joint.epsilon_at(1e-5)
    trials = [build_profile(events, *ZERO) for events in pair]
    for epsilon in (0.0, 0.3, 1.0):
        exact = max(trial.delta(epsilon) for trial in trials)
        assert LargestProfile(trials).delta(epsilon) == exact
