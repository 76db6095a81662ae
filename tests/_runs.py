"""Runs for tests that call a solver by itself."""

from functools import partial

from tests.door import GaussianMechanism, Run, Steps, make_stream

# A query that is asked without noise has it.
NO_NOISE = GaussianMechanism(1.0, 0.0, size=1, n_records=1)


def run_of(plan, random_state=0):
    """Return a run of the releases of a plan, or of a part of one, which was charged nowhere."""
    return Run(plan.releases, make_stream(random_state))


class HandRun:
    """What a solver sees of a run, with one mechanism under all names, as often as it asks."""

    reproducible = True

    def __init__(self, mechanism, *, coins=None, noise=None):
        self._mechanism, self._coins, self._noise = mechanism, coins, noise

    def plans(self, name):
        return True

    def mechanism(self, name):
        return self._mechanism

    def bound(self, name, times, *, stretch=1.0):
        return self._mechanism

    def coins(self):
        return self._coins

    def release(self, name, value):
        return self._mechanism.release(value, self._noise)

    def ask(self, name, place, query):
        return query.noisy(place.ask(query), partial(self.release, name))

    def steps(self, name, n_steps=None, *, with_coins=False):
        stream = self._coins if with_coins else self._noise
        return Steps(name, self._mechanism, stream, n_steps=float("inf"))
