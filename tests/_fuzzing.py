"""Running cases of tests/long/test_fuzz.py: what may come out of a call, and must be true then."""

import contextlib
import dataclasses
import math
import os
import signal
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings

from tests._strategies import MARK
from tests.door import ExponentialChoice, RandomizedResponse, resolve_delta
from tests.privacy._replay import whole_releases
from tests.privacy._spending import exact_reach
from tests.statistical._transcripts import recorded_releases

LONG = os.environ.get("SKDP_FUZZ") == "long"
# How many times the cases of continuous integration.
SCALE = 55 if LONG else 1
SECONDS = 5.0
LABELS_ONLY = ("WALRClassifier",)
# Errors that a combination of valid numbers and rows may lead to.
OVERFLOWED = "The fit overflowed"


def fuzzed(n_cases):
    return settings(
        max_examples=n_cases * SCALE,
        derandomize=not LONG,
        deadline=None,
        database=None,
        print_blob=True,
        # Cases are small as they are.
        phases=(Phase.explicit, Phase.generate),
        suppress_health_check=list(HealthCheck),
    )


class Slow(BaseException):
    """Not an Exception, which the code under test may catch."""


@contextlib.contextmanager
def limited_time():
    """Stop what takes too long, in seconds of this process so that other work doesn't count."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_):
        raise Slow

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    except Slow:
        pytest.fail(f"took more than {SECONDS} s", pytrace=True)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def chain_of(error):
    """An error and all that its traceback would show besides it."""
    found, left = [], [error]
    while left:
        error = left.pop()
        if error is not None and error not in found:
            found.append(error)
            left += [error.__cause__, error.__context__]
    return found


def attempt(function, *args, named=(), kinds=(ValueError, TypeError), **kwargs):
    """Return what a call gives and None, or None and the error that refuses it.

    An error must be of these kinds, tell no entry, and tell one of the names if there are any.
    """
    result = refusal = None
    with warnings.catch_warnings(record=True) as caught, limited_time():
        warnings.simplefilter("always")
        try:
            result = function(*args, **kwargs)
        except kinds as error:
            refusal = error
    texts = [f"{found} {found!r}" for found in chain_of(refusal)]
    for warning in caught:
        known = kinds is Exception or issubclass(warning.category, UserWarning)
        assert known, warning.message
        texts.append(str(warning.message))
    assert not [text for text in texts if MARK in text]
    if refusal is not None and named:
        message = str(refusal)
        assert any(name in message for name in named) or message.startswith(OVERFLOWED), message
    return result, refusal


def check_model(model, made, validated=True):
    """The published numbers are finite, and the report is that of the releases made."""
    learnt = ("norm_bound_", "feature_bounds_", "mean_", "scale_", "coef_", "intercept_")
    learnt += ("feature_importances_", "term_importances_")
    found = [getattr(model, name) for name in learnt if hasattr(model, name)]
    assert len(found) >= 2
    # What isn't clipped has an infinite range.
    is_told = np.isfinite if hasattr(model, "coef_") else _is_number
    assert all(is_told(numbers).all() for numbers in found)
    report = model.privacy_report_
    if report is None:
        # Nothing was learnt.
        assert not made
        return
    check_report(report, model.epsilon, model.delta)
    labels_only = type(model).__name__ in LABELS_ONLY
    assert report.adjacency == ("replace_label" if labels_only else model.adjacency)
    n_releases = sum(e.n_releases for e in report.events if e.noise_multiplier < math.inf)
    n_made = len(_whole(made, n_releases))
    assert n_made == n_releases if validated else n_made <= n_releases
    least = min(event.noise_multiplier for event in report.events)
    for mechanism in (one.mechanism for one in made):
        assert mechanism.noise_multiplier >= least
        if math.isfinite(report.epsilon):
            enough = mechanism.noise_multiplier * mechanism.contribution_bound
            assert 0.0 < enough <= mechanism.noise_std < math.inf
    # Of rows whose features are public the report may tell the largest norm.
    texts = [] if labels_only else [repr(report), report.to_text(), report.to_json()]
    assert not [text for text in (repr(model), *texts) if MARK in text]


def _whole(made, n_releases):
    """Return mechanism and value of releases, of which parts may be accounted as one."""
    run = {"mechanisms": [one.mechanism for one in made], "values": [one.value for one in made]}
    return whole_releases(SimpleNamespace(**run, pairwise=range(n_releases)))


def check_report(report, epsilon, delta):
    """What was asked is what the noise gives, computed without the epsilon that is reported."""
    assert 0.0 < report.epsilon <= float(epsilon)
    # Of so few records "auto" is one number.
    assert 0.0 <= report.delta <= resolve_delta(delta, 1)
    noise_only = dataclasses.replace(report, epsilon=math.inf)
    assert noise_only.epsilon_at(report.delta) <= float(epsilon)


def _is_number(numbers):
    return ~np.isnan(numbers)


def small(cls, **parameters):
    """An estimator whose fits are fast."""
    passes = {"max_iter": 20 if cls.__name__ in LABELS_ONLY else 2}
    if "max_iter" not in cls._parameter_constraints:
        passes = {}
    return cls(**{**passes, "random_state": 0} | parameters)


def records():
    X = np.random.RandomState(0).standard_normal((12, 3))
    return X, np.arange(12) % 2


def check_neighbour(model, X, y, made, *, exposure_of_record=None, **given):
    """Fit again with one record changed: no value moves further than its noise was made for.

    With groups all rows of one change. `given` is what a fit takes besides, and an exposure of the
    record takes the place of its own.
    """
    X, y, labels_only = X.copy(), y.copy(), type(model).__name__ in LABELS_ONLY
    groups = given.get("groups", np.arange(len(X)))
    is_changed = groups == groups[7]
    y[is_changed] = y.min() + y.max() - y[is_changed]
    if not labels_only:
        X[is_changed] *= -1e6
    if "exposure" in given:
        given["exposure"] = np.where(is_changed, exposure_of_record, given["exposure"])
    with recorded_releases([one.released for one in made]) as other, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y, **given)
    events = model.privacy_report_.events
    pairwise = [event.pairwise for event in events for _ in range(event.n_releases)]
    assert len(made) == len(other)
    made, other = (_whole(releases, len(pairwise)) for releases in (made, other))
    for (mechanism, one), (moved_by, moved), is_pair in zip(made, other, pairwise, strict=False):
        assert mechanism == moved_by
        if isinstance(mechanism, RandomizedResponse):
            # Labels have coins of their own.
            assert np.count_nonzero(one != moved) <= 1
            continue
        if isinstance(mechanism, ExponentialChoice):
            # Each score has the bound.
            assert np.abs(one - moved).max() <= 2.0 * mechanism.contribution_bound
            continue
        reach = exact_reach(mechanism, one, moved)
        distance = np.linalg.norm(one - moved)
        assert distance <= (1.0 if is_pair else 2.0) * reach
