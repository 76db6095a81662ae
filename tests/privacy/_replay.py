"""Fits on neighbouring data with the same releases, and what must then be the same.

Given the releases of all steps, what is released next may depend on a record only as far as the
declared sensitivity goes, and whatever else happens may not depend on it at all.
"""

import io
import logging
import math
import pickle
import re
import warnings
from collections import Counter, defaultdict
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone

from skdp.exceptions import PrivacyWarning
from tests.door import (
    ExponentialChoice,
    GaussianMechanism,
    LaplaceMechanism,
    PartitionSampler,
    PoissonSampler,
    RandomizedResponse,
    SeededStream,
    SortedPartitionSampler,
    null_records,
    resolve_delta,
    walr_release_module as holder,
)
from tests.privacy._cases import people_of, with_rows_of
from tests.privacy._corners import K, neighbour
from tests.privacy._spending import TOLERANCE, Release, epsilon_of, exact_reach

# Numbers of a session's displays, which scikit-learn counts.
_DISPLAY_ID = re.compile(r"sk-(container|estimator)-id-[\w-]+")
# Of the calls of `partial_fit`, in units of the estimator's: neither the first nor the last is the
# largest.
SHARES_OF_CALLS = (0.5, 1.0, 0.7)
N_CALLS = len(SHARES_OF_CALLS)


@dataclass
class Run:
    """What a fit did and published.

    Attributes
    ----------
    estimator : estimator
        Fitted.
    values, released : list of ndarray
        What went into the releases and what came out.
    mechanisms : list
        Of the releases.
    log : list of tuple
        Random draws and releases, in order, without their values.
    batches : list of ndarray
        Rows of each batch, numbered as in the whole data.
    rates : list of float
        Probability of each batch that a row is in it, 1 where a row comes once a pass.
    asked : ndarray
        The epsilon that each row was promised.
    published : dict
        All that a fit leaves behind, in forms that can be compared.
    """

    estimator: object
    values: list = field(default_factory=list)
    released: list = field(default_factory=list)
    mechanisms: list = field(default_factory=list)
    log: list = field(default_factory=list)
    batches: list = field(default_factory=list)
    rates: list = field(default_factory=list)
    asked: np.ndarray | None = None
    published: dict = field(default_factory=dict)

    @cached_property
    def pairwise(self):
        """Whether the bound of a release is that of a pair of data sets, for each release."""
        events = self.estimator.privacy_report_.events
        return [event.pairwise for event in events for _ in range(event.n_releases)]

    @cached_property
    def whole_releases(self):
        """Mechanism and value of each release.

        Where fewer are accounted than were made, what belongs to one release is put together.
        """
        return whole_releases(self)

    @cached_property
    def broken_accounts(self):
        """What doesn't hold of what was spent, which is worked out once."""
        return broken_accounts(self)


def record(case, X, y, *, script=None, null=None, random_state=0, texts=False, groups=None):
    """Fit a case and return the run; releases are taken from `script` where it is given.

    Parameters
    ----------
    case : Case
    X, y : ndarray
    script : list of ndarray, default=None
        What a run released.
    null : int, default=None
        The row that is a null record; with groups the null group.
    random_state : int, default=0
    texts : bool, default=False
        Whether to publish what takes long to write: displays, the repr, and the report's texts.
    groups : ndarray, default=None
        Of rows, where these are the records.
    """
    run = Run(clone(case.estimator).set_params(random_state=random_state))
    if "verbose" in run.estimator.get_params():
        # What is shown is published, too.
        run.estimator.set_params(verbose=2)
    of_class = _class_attributes(run.estimator)
    with (
        pytest.MonkeyPatch.context() as patch,
        warnings.catch_warnings(record=True) as caught,
        redirect_stdout(io.StringIO()) as printed,
        redirect_stderr(io.StringIO()) as errors,
    ):
        warnings.simplefilter("always")
        logged = _spy_on_logs(patch)
        _spy_on_draws(run, patch)
        _spy_on_releases(run, script, patch)
        patch.setattr(holder, "token_hex", lambda n_bytes: "name")
        _fit(run, case, X, y, null, patch, groups)
    run.published["warnings"] = [(warning.category, str(warning.message)) for warning in caught]
    run.published["stdout"], run.published["stderr"] = printed.getvalue(), errors.getvalue()
    run.published["logs"] = logged
    run.published["class"] = _class_attributes(run.estimator).items() ^ of_class.items()
    run.published |= _published(run.estimator, texts)
    return run


def whole_releases(run):
    """Return mechanism and value of each release.

    Where fewer are accounted than were made, what belongs to one release is put together.
    """
    made = list(zip(run.mechanisms, run.values, strict=True))
    if len(made) == len(run.pairwise):
        return made
    found, parts = [], defaultdict(list)
    for mechanism, value in made:
        parts[id(mechanism)].append(value)
        pending = parts[id(mechanism)]
        if sum(part.size for part in pending) >= getattr(mechanism, "size", value.size):
            whole = value if len(pending) == 1 else np.concatenate([np.ravel(x) for x in pending])
            found.append((mechanism, whole))
            pending.clear()
    return made if any(parts.values()) else found


def _class_attributes(estimator):
    """Attributes of the estimator's class and its parents of the package, as texts."""
    return {
        (kind.__name__, name): repr(value)
        for kind in type(estimator).__mro__
        if kind.__module__.startswith("skdp.")
        for name, value in vars(kind).items()
        if name != "__doc__"
    }


def _spy_on_logs(patch):
    """Return the list that records of all loggers and levels go to."""
    logged = []

    def handle(self, found):
        # A kernel that is compiled for the first time tells of its code and types, by many records.
        if found.name.partition(".")[0] != "numba":
            logged.append((found.name, found.levelno, found.getMessage()))

    patch.setattr(logging.Logger, "isEnabledFor", lambda self, level: True)
    patch.setattr(logging.Logger, "handle", handle)
    return logged


def _spy_on_draws(run, patch):
    streams = []

    def spied(name, original):
        def draw(self, *sizes):
            if not any(stream is self for stream in streams):
                streams.append(self)
            number = next(i for i, stream in enumerate(streams) if stream is self)
            run.log.append((name, number, sizes))
            return original(self, *sizes)

        return draw

    for name in ("normal", "normal_number", "gamma", "uniform", "words", "spawn"):
        patch.setattr(SeededStream, name, spied(name, getattr(SeededStream, name)))


def _spy_on_releases(run, script, patch):
    kinds = (GaussianMechanism, LaplaceMechanism, RandomizedResponse, ExponentialChoice)
    for kind in kinds:

        def release(self, value, stream, original=kind.release):
            out = original(self, value, stream)
            if script is not None and len(run.values) < len(script):
                out = script[len(run.values)].copy()
            run.log.append(("release", self, value.shape, value.dtype, out.shape, out.dtype))
            run.mechanisms.append(self)
            run.values.append(value.copy())
            run.released.append(out.copy())
            return out

        patch.setattr(kind, "release", release)


def _fit(run, case, X, y, null, patch, groups):
    """Fit as the case says; batches are recorded with the number of their first row added."""
    first = 0
    for kind in (PoissonSampler, PartitionSampler, SortedPartitionSampler):

        def batches(self, stream, original=kind.batches):
            # Releases before the batches are of all rows.
            n_before = len(run.values) - len(run.batches)
            run.batches += [np.arange(len(X))] * n_before
            run.rates += [1.0] * n_before
            for batch in original(self, stream):
                run.batches.append(batch + first)
                run.rates.append(getattr(self, "rate", 1.0))
                yield batch

        patch.setattr(kind, "batches", batches)
    epsilon = run.estimator.epsilon
    run.asked = np.full(len(X), epsilon)
    weights = case.weights(len(X))
    if case.way == "calls":
        labels = {} if case.classes is None else {"classes": case.classes}
        parts = np.array_split(np.arange(len(X)), N_CALLS)
        for part, share in zip(parts, SHARES_OF_CALLS, strict=True):
            if part.size:
                first = int(part[0])
                run.estimator.set_params(epsilon=share * epsilon)
                run.asked[part] = share * epsilon
                counted = {name: given[part] for name, given in weights.items()}
                with _null(null, part):
                    run.estimator.partial_fit(case.read(X[part]), y[part], **labels, **counted)
        return
    personal = {}
    if case.way == "personal":
        run.asked = np.random.default_rng(0).permutation(np.linspace(0.2, 1.0, len(X)))
        personal["sample_epsilon"] = run.asked
    if groups is not None:
        personal["groups"] = groups
        run.asked = np.full(len(np.unique(groups)), epsilon)
        with null_records(np.flatnonzero(groups == null)):
            run.estimator.fit(X, y, **personal, **case.exposures(X))
        return
    with _null(null, np.arange(len(X))):
        run.estimator.fit(case.read(X), y, **personal, **weights, **case.exposures(X))


def _null(null, part):
    stack = ExitStack()
    if null is not None and null in part:
        stack.enter_context(null_records([null - part[0]]))
    return stack


def _published(estimator, texts):
    report = estimator.privacy_report_
    with warnings.catch_warnings():
        # All are seeded, and the pickle is looked at here only.
        warnings.simplefilter("ignore", PrivacyWarning)
        found = {"pickle": pickle.dumps(estimator)}
    found |= {name: pickle.dumps(value) for name, value in vars(estimator).items()}
    if texts:
        found["repr"] = repr(estimator)
        found["display"] = _DISPLAY_ID.sub("id", estimator._repr_html_())
        found["report"] = (repr(report), report.to_text(), report.to_json(), report._repr_html_())
    if hasattr(estimator, "aggregate_"):
        found["aggregate"] = (repr(estimator.aggregate_), estimator.aggregate_.to_json())
    return found


def broken_claims(base, other, *, k, null=False):
    """Return what doesn't hold of two runs on data that differ in record `k`.

    Parameters
    ----------
    base, other : Run
        The second with the first one's releases, or both with those of a third.
    k : int
    null : bool, default=False
        Whether the record is a null record in one of the two.

    Returns
    -------
    broken : set of str
    reach : float
        How far a release moved at most, as a share of its bound.
    """
    broken = set()
    for claim, is_release in (("releases", True), ("draws", False)):
        entries = [
            [entry for entry in run.log if (entry[0] == "release") == is_release]
            for run in (base, other)
        ]
        if entries[0] != entries[1]:
            broken.add(claim)
    if base.log != other.log:
        broken.add("order")
    if base.published.keys() != other.published.keys():
        broken.add("attributes")
    for name in base.published.keys() & other.published.keys():
        if base.published[name] != other.published[name]:
            broken.add(f"published {name}")
    releases, others = base.whole_releases, other.whole_releases
    if len(releases) != len(others):
        return broken, np.inf
    if len(base.pairwise) != len(releases):
        broken.add("number accounted")
        return broken, np.inf
    reach = 0.0
    for t, ((mechanism, value), (_, moved)) in enumerate(zip(releases, others, strict=True)):
        # Most batches of a few rows are without the record, and their sums are the same.
        if value.shape != moved.shape or np.array_equal(value, moved):
            continue
        factor = 1.0 if null or base.pairwise[t] else 2.0
        bound = mechanism.contribution_bound
        if isinstance(mechanism, ExponentialChoice):
            distance = np.abs(value - moved).max()
            if value.dtype.kind != "i" or distance > factor * bound:
                broken.add("sensitivity of the scores")
            reach = max(reach, distance / bound)
            continue
        distance = np.linalg.norm(value - moved)
        grid = mechanism.grid
        rounded = np.linalg.norm(np.rint(value / grid) - np.rint(moved / grid)) * grid
        if not distance <= factor * exact_reach(mechanism, value, moved):
            broken.add("sensitivity")
        if not rounded <= factor * mechanism.sensitivity:
            broken.add("sensitivity of the rounded value")
        reach = max(reach, distance / bound)
    broken |= _broken_batches(base, other, k) | base.broken_accounts
    return broken, reach


def noise_of(made):
    """Return the noise of a mechanism over its sensitivity, of a choice what it is accounted as."""
    if isinstance(made, ExponentialChoice):
        return made.noise_multiplier
    return made.noise_scale / made.sensitivity


def broken_accounts(run):
    """Check that no record spent more than it was promised, nor more than the report says."""
    report = run.estimator.privacy_report_
    broken = set()
    delta = resolve_delta(run.estimator.delta, len(run.asked))
    if report.epsilon > run.asked.max() or report.delta > delta:
        broken.add("more reported than asked for")
    batches, rates = run.batches, np.array(run.rates)
    mechanisms = [mechanism for mechanism, _ in run.whole_releases]
    if hasattr(run.estimator, "aggregate_") or not batches:
        # All rows take part: what is drawn are coordinates, or rows by what sees the release only.
        batches, rates = [np.arange(len(run.asked))] * len(mechanisms), np.ones(len(mechanisms))
    if not len(batches) == len(mechanisms) == len(run.pairwise):
        return broken | {"epsilon"}
    releases = [
        Release(noise_of(made), rate, pairwise, type(made) is LaplaceMechanism)
        for made, rate, pairwise in zip(mechanisms, rates.tolist(), run.pairwise, strict=True)
    ]
    events = [event for event in report.events for _ in range(event.n_releases)]
    # Passes over coordinates are done after steps that began later.
    in_order = sorted(releases, key=lambda release: release.noise)
    events.sort(key=lambda event: event.noise_multiplier)
    for release, event in zip(in_order, events, strict=True):
        least = event.noise_multiplier
        most = getattr(event, "largest_multiplier", None) or least
        if not least * (1.0 - TOLERANCE) <= release.noise <= most * (1.0 + TOLERANCE):
            broken.add("noise reported")
    times = np.array([np.bincount(batch, minlength=len(run.asked)) for batch in batches])
    for rate in np.unique(rates[rates < 1.0]):
        coins = times[rates == rate]
        if stats.binomtest(int(coins.sum()), coins.size, rate).pvalue < 1e-9:
            broken.add("coins")
    times[rates < 1.0] = 1
    kinds = list(dict.fromkeys(releases))
    of_kinds = np.zeros((len(kinds), times.shape[1]), dtype=int)
    np.add.at(of_kinds, [kinds.index(release) for release in releases], times)
    for asked, *counts in set(zip(run.asked.tolist(), *of_kinds.tolist(), strict=True)):
        taken = [release for release, n in zip(kinds, counts, strict=True) for _ in range(n)]
        spent = epsilon_of(taken, report.delta, report.adjacency)
        if not spent <= min(asked, report.epsilon) * (1.0 + TOLERANCE):
            broken.add("epsilon")
    return broken


def _broken_batches(base, other, k):
    """Check that a record takes part where its coin says so, and nowhere else."""
    if hasattr(base.estimator, "aggregate_") or not base.batches:
        return set()
    if len(base.batches) != len(base.values):
        return {"one release a batch"}
    broken = set()
    parts = base.estimator.privacy_report_.events[0].n_parts
    for first in range(0, len(base.batches) if parts > 1 else 0, parts):
        if np.concatenate(base.batches[first : first + parts]).tolist().count(k) != 1:
            broken.add("one release a pass")
    for one, two, value, moved in zip(
        base.batches, other.batches, base.values, other.values, strict=True
    ):
        if not np.array_equal(one, two):
            broken.add("batches")
        if k not in one and not np.array_equal(value, moved):
            broken.add("a release without the record")
    return broken


def n_off_grid(run):
    """Return how many releases aren't whole numbers of grid steps that a double holds exactly."""
    found = 0
    for mechanism, released in zip(run.mechanisms, run.released, strict=True):
        # Places are whole numbers.
        grid = getattr(mechanism, "grid", 1.0)
        assert math.frexp(grid)[0] == 0.5
        steps = np.abs(released / grid)
        found += not ((steps == np.rint(steps)) & (steps < 2.0**53)).all()
    return found


def compare_all(case, X, y, corners, k=K):
    """Broken claims of each pair of `X`, the data with a null record and those with a corner."""
    base = record(case, X, y)
    null = record(case, X, y, script=base.released, null=k)
    found = {"null record": broken_claims(base, null, k=k, null=True)}
    for corner in corners:
        other = record(case, *neighbour(case, X, y, corner, k), script=base.released)
        found[corner] = broken_claims(base, other, k=k)
        found[f"{corner}, null record"] = broken_claims(other, null, k=k, null=True)
    broken = {name: claims for name, (claims, _) in found.items() if claims}
    return broken, max(reach for _, reach in found.values()), base


def check_corners(case, corners=None):
    """Check that a record at a corner moves what is released by its bound, and nothing else.

    At any corner of the case, or at those of `corners` that it has.
    """
    X, y = case.records()
    tried = [corner for corner in case.corners if corners is None or corner in corners]
    for k in case.places:
        broken, reach, _ = compare_all(case, X, y, tried, k)
        assert not broken, k
        assert reach > 0.0, k


def check_corners_together(case, mu_of=lambda base: {}):
    """Check the same, and that all releases together tell of a record what is reported.

    `mu_of` gives, of a run, another mu, and how many releases it is about.
    """
    X, y = case.records()
    base = record(case, X, y)
    null = record(case, X, y, script=base.released, null=K)
    others = {
        corner: record(case, *neighbour(case, X, y, corner), script=base.released)
        for corner in case.corners
    }
    check_all_claims(base, null, others, **mu_of(base))
    return base


def check_unrelated_data(case, texts=False):
    """Check that given the releases all data look the same, and return the first run."""
    X, y = case.records()
    base = record(case, X, y, texts=texts)
    assert base.released
    for data in case.data.unrelated(case, X, y):
        other = record(case, *data, script=base.released, texts=texts)
        assert base.log == other.log
        assert base.published == other.published
    return base


def check_null_records(case, *corners):
    """Check that a null record adds nothing, whatever it would be: at these corners or at all."""
    X, y = case.records()
    for k in case.places:
        base = record(case, X, y, null=k)
        for corner in corners or case.corners:
            changed = neighbour(case, X, y, corner, k)
            other = record(case, *changed, script=base.released, null=k)
            broken, reach = broken_claims(base, other, k=k, null=True)
            assert not broken, (corner, k)
            assert reach == 0.0, (corner, k)


def check_a_person(case, persons):
    """Check that a person counts as one record: whose rows and labels are these, by a name."""
    X, y, groups, mine = people_of(case)
    base = record(case, X, y, groups=groups)
    null = record(case, X, y, groups=groups, script=base.released, null=mine)
    others = {}
    for name, (rows, labels) in persons.items():
        *data, ids = with_rows_of(mine, X, y, groups, rows, labels)
        others[name] = record(case, *data, groups=ids, script=base.released)
    check_all_claims(base, null, others, k=mine)


def loss_of(base, other, n_releases=None):
    """Return the realised loss, as a mu, of so many of the first releases, or of all."""
    squares = [
        np.sum((one - two) ** 2) / made.noise_scale**2
        for one, two, made in zip(base.values, other.values, base.mechanisms, strict=True)
    ]
    return math.sqrt(sum(squares[:n_releases]))


def check_all_claims(base, null, others, *, k=K, mu=None, n_releases=None):
    """Check runs in which the k-th record is another one, by name, and one in which it is null.

    Each release by its claims, and so many of the first, or all, together by a mu, or the report's.
    """
    mu = (base.estimator.privacy_report_.mu if mu is None else mu) * (1.0 + 1e-6)
    found = {}
    for name, other in others.items():
        found[name] = broken_claims(base, other, k=k)[0]
        found[f"{name}, null record"] = broken_claims(other, null, k=k, null=True)[0]
        # A record and none, or any two.
        pairs = [null] if base.estimator.adjacency == "zero_out" else others.values()
        assert max(loss_of(other, pair, n_releases) for pair in pairs) <= mu
    assert not {name: claims for name, claims in found.items() if claims}


def noisy_runs(case, n_entries):
    """Runs with seeds from 0 on whose releases of each shape together have so many entries."""
    X, y = case.records()
    runs = [record(case, X, y)]
    sizes = Counter()
    for mechanism, value in zip(runs[0].mechanisms, runs[0].values, strict=True):
        if not isinstance(mechanism, ExponentialChoice):
            sizes[value.shape] += value.size
    for seed in range(1, -(-n_entries // min(sizes.values()))):
        runs.append(record(case, X, y, random_state=seed))
    return runs


def noise_p_values(*runs):
    """P-values of the noise of runs: law, size, and that neighbouring entries don't share it.

    Releases of each shape are tested apart: those of one shape may be few among many others.
    """
    noises = defaultdict(list)
    for run in runs:
        for mechanism, value, released in zip(
            run.mechanisms, run.values, run.released, strict=True
        ):
            if isinstance(mechanism, ExponentialChoice):
                # Its law is tested apart.
                continue
            grid = mechanism.grid
            noise = (released - np.rint(value / grid) * grid) / mechanism.noise_scale
            noises[type(mechanism), value.shape].append(noise)
    return [p for (kind, _), group in noises.items() for p in _p_values(kind, np.stack(group))]


def _p_values(kind, noise):
    """P-values of noise at scale 1 of releases of a shape, along the first axis."""
    if kind is GaussianMechanism:
        found = [stats.kstest(noise.ravel(), "norm").pvalue]
        found += [_two_sided(stats.chi2(noise.size), np.square(noise).sum())]
    else:
        flat = noise.reshape(len(noise), -1)
        lengths = np.linalg.norm(flat, axis=1)
        found = [stats.kstest(lengths, stats.gamma(flat.shape[1]).cdf).pvalue]
        # Gamma variables of one scale add up to another.
        found += [_two_sided(stats.gamma(noise.size), lengths.sum())]
    rows = noise.reshape(len(noise), -1, noise.shape[-1] if noise.ndim > 1 else 1)
    for one, two in ((rows[:, :, :-1], rows[:, :, 1:]), (rows[:, :-1], rows[:, 1:])):
        if one.size > 2:
            found.append(stats.spearmanr(one.ravel(), two.ravel()).pvalue)
    return found


def _two_sided(law, value):
    return 2.0 * min(law.cdf(value), law.sf(value))
