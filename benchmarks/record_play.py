"""Record a fit, play it again with one record changed, and compare: an audit of all estimators.

The method is Re:cord-play (Cebere et al., arXiv 2602.17454). Its package isn't on the package
index, so this is written anew, from the paper's abstract and what its package says of itself. It
shares no code with the replays of the tests.

A run on records D is recorded: each call of a mechanism with its parameters, its input and its
output, and each draw of random numbers. A run on a neighbour D' gets the same outputs, and so has
the same past. Then five claims are checked:

- calls: mechanisms, their parameters, shapes and types, and what is drawn when are the same;
- sensitivity: the input of a call moves by no more than the call declares;
- published: attributes, the report, warnings and what is printed are equal to the last bit;
- lines: each line of the package runs as often for some of the neighbours, but in functions that
  are there to read records;
- account: a call has the noise that its entry in the report has, there are as many calls as
  entries, and Gaussian noise of all of them comes to the epsilon of the report at most.

One record of D' is replaced: by huge numbers, zeros, gaps, a word that no other record has, another
label or exposure, or by a null record, which adds nothing. For each mechanism releases are then
drawn again from the two inputs that were furthest apart, and an attacker guesses which of the two
each is of: Re:cord-play-sample.

The table has a line for each way to learn from records: how many calls and neighbours there were,
of how many neighbours delta alone protects a word so that nothing more is compared, the largest
distance over what was declared, and the claims that were broken. Lines of mechanisms have the share
of right guesses, and what the noise allows. Where a claim was broken the script ends with an error.

    python benchmarks/record_play.py
"""

import math
from collections import Counter

import _common as bench
import numpy as np
import pandas as pd
from _private_subjects import all_subjects, make_records, neighbours, public_names
from _tapes import distance, record
from scipy import optimize, stats

from skdp._release import mechanisms
from skdp._release.random import SeededStream

# Attacks that are right so often by chance are rarer than this.
CHANCE = 1e-7
N_SAMPLES, SEED = 20_000, 7
LARGEST_LOSS = 2.0
# Neighbours whose lines are counted.
LINES_OF = "null", "huge", "target"
NOTE = (
    "Runs on neighbouring records with the same releases. reach: largest distance over what is "
    "declared. broken: claims that don't hold. right: guesses of an attacker who sees one release."
)
# Functions that read, check and bound records, or count them, before anything is released. What
# they do differs from record to record, and nothing of it leaves but as the input of a mechanism.
READ_RECORDS = (
    "_rows.",
    "preprocessing._solver:CountsByCategory.total",
    "preprocessing._imputer:find_most_frequent",
    "preprocessing.table._terms:WordsTerm.placed",
)


def broken_claims(base, other, name, is_null):
    """Return the claims that don't hold of two tapes, with where they don't."""
    found = set()
    if is_by_threshold(base, other):
        return found
    if base.order != other.order or len(base.calls) != len(other.calls):
        found.add("calls: order")
    for one, moved in zip(base.calls, other.calls, strict=False):
        if one.declared != moved.declared:
            found.add(f"calls: {one.name}")
            continue
        if distance(one.mechanism, one.value, moved.value) > one.bound(is_null) * (1.0 + 1e-12):
            found.add(f"sensitivity: {one.name}")
    for key in base.published.keys() | other.published.keys():
        if base.published.get(key) != other.published.get(key):
            found.add(f"published: {key}")
    for function in differing_functions(base, other) if other.lines else ():
        if not function.startswith(READ_RECORDS):
            found.add(f"lines: {function}")
    return {f"{claim} ({name})" for claim in found}


def is_by_threshold(base, other):
    """Return whether runs differ by a count that is published only above a threshold.

    Words that one record alone has are a count more, which no tape has. That it is published has a
    probability that the report's delta contains, and what follows isn't the same past.
    """
    for one, moved in zip(base.calls, other.calls, strict=False):
        if one.declared != moved.declared:
            return one.has_threshold and abs(one.value.size - moved.value.size) == 1
    return False


def differing_functions(base, other):
    """Return the functions of which some line ran more often in one of two runs."""
    return {
        key[0]
        for key in base.lines.keys() | other.lines.keys()
        if base.lines[key] != other.lines[key]
    }


def reaches(base, other, is_null):
    """Give, of each pair of calls, its distance over what is declared, and the pair."""
    for one, moved in zip(base.calls, other.calls, strict=False):
        if one.declared != moved.declared:
            # What follows hasn't the same past.
            break
        share = distance(one.mechanism, one.value, moved.value) / one.bound(is_null)
        yield share, (one, moved, is_null)


def broken_account(subject, tape):
    """Return what doesn't hold of the noise of a tape, and of what its report says."""
    found, report = set(), tape.report
    n_calls = Counter()
    for call in tape.calls:
        n_calls[call.name] += 1.0 / call.n_parts
        if call.event is not None:
            least = call.event.noise_multiplier * (1.0 - 1e-9)
            if call.mechanism.noise_multiplier < least:
                found.add(f"account: noise of {call.name}")
            if isinstance(call.mechanism, mechanisms.GaussianMechanism):
                least *= call.mechanism.contribution_bound
                if call.mechanism.noise_std < least:
                    found.add(f"account: scale of {call.name}")
    if subject.is_sum and report.names and all(name in report.names for name in n_calls):
        reported = Counter()
        for name, event in zip(report.names, report.events, strict=True):
            reported[name] += getattr(event, "n_releases", 0)
        for name, number in n_calls.items():
            if round(number) > reported[name]:
                found.add(f"account: number of {name}")
    if subject.is_sum and spent_epsilon(tape) > report.epsilon * (1.0 + 1e-3):
        found.add("account: epsilon")
    return found


def spent_epsilon(tape):
    """Return epsilon of all calls at the report's delta, or 0 where it takes more than Gaussians.

    It is worked out here for batches of all rows, and by the accountant of dp-accounting for coins.
    """
    calls, report = tape.calls, tape.report
    events = [call.event for call in calls]
    is_gaussian = all(type(event).__name__ == "GaussianEvent" for event in events)
    if not is_gaussian or any(event.n_parts > 1 for event in events):
        return 0.0
    is_null = report.adjacency == "zero_out"
    rates = {event.sampling_rate for event in events}
    # A rate that the sampler has, and not what the plan states.
    if rates == {1.0}:
        squares = sum(
            (call.factor(is_null) / call.mechanism.noise_multiplier) ** 2 / call.n_parts
            for call in calls
        )
        return epsilon_of_gaussian(math.sqrt(squares), report.delta)
    return epsilon_of_coins(calls, report)


def epsilon_of_gaussian(mu, delta):
    """Return epsilon of Gaussian noise by Balle and Wang (2018), theorem 8."""

    def excess(epsilon):
        left = stats.norm.cdf(mu / 2.0 - epsilon / mu)
        log_right = epsilon + stats.norm.logcdf(-mu / 2.0 - epsilon / mu)
        return left - math.exp(min(log_right, 0.0)) - delta

    if excess(0.0) <= 0.0:
        return 0.0
    return optimize.brentq(excess, 0.0, mu * mu / 2.0 + 40.0 * mu)


def epsilon_of_coins(calls, report):
    """Return epsilon of batches that coins choose."""
    import dp_accounting
    from dp_accounting import pld

    is_null = report.adjacency == "zero_out"
    relation = dp_accounting.NeighboringRelation
    accountant = pld.PLDAccountant(relation.ADD_OR_REMOVE_ONE if is_null else relation.REPLACE_ONE)
    kinds = Counter()
    for call in calls:
        pairs = 2.0 if call.event.pairwise and not is_null else 1.0
        multiplier = call.mechanism.noise_multiplier * pairs
        kinds[round(multiplier, 9), call.event.sampling_rate] += 1
    for (multiplier, rate), number in kinds.items():
        event = dp_accounting.GaussianDpEvent(multiplier)
        if rate < 1.0:
            event = dp_accounting.PoissonSampledDpEvent(rate, event)
        accountant.compose(event, number)
    return accountant.get_epsilon(report.delta)


# One release drawn many times.


def guesses(furthest, n_samples):
    """Guess of which of two inputs releases are, and return how many and what share is allowed."""
    one, moved, is_null = furthest
    mechanism, stream = one.mechanism, SeededStream(np.random.SeedSequence(SEED))
    inputs = one.value, moved.value
    if isinstance(mechanism, mechanisms.DiscreteLaplaceMechanism):
        # Counts have noise of their own each, and it takes long to draw.
        inputs = [value[one.value != moved.value] for value in inputs]
    is_of_second = np.random.default_rng(SEED).random(n_samples) < 0.5
    released = [np.array(mechanism.release(inputs[int(i)], stream)) for i in is_of_second]
    statistic = np.array([likeness(mechanism, out, inputs) for out in released])
    first = np.arange(n_samples) < n_samples // 4
    if isinstance(mechanism, mechanisms.ExponentialChoice | mechanisms.NoisyMaximum):
        # Of places: what was drawn more often of the second.
        shares = {
            place: np.mean(is_of_second[first & (statistic == place)])
            for place in np.unique(statistic[first])
        }
        says = np.array([shares.get(place, 0.0) > 0.5 for place in statistic])
    else:
        says = statistic > 0.0
    right = int(np.sum(says[~first] == is_of_second[~first]))
    return right, int(np.sum(~first)), 0.5 + 0.5 * largest_gap(one, is_null)


def likeness(mechanism, out, inputs):
    """Return what grows with the likelihood of the second input, or a place that was chosen."""
    one, moved = (np.asarray(value, dtype=float) for value in inputs)
    if isinstance(mechanism, mechanisms.GaussianMechanism | mechanisms.LaplaceMechanism):
        return np.linalg.norm(out - one) - np.linalg.norm(out - moved)
    if isinstance(mechanism, mechanisms.DiscreteLaplaceMechanism):
        return float(np.abs(out - one).sum() - np.abs(out - moved).sum())
    if isinstance(mechanism, mechanisms.RandomizedResponse):
        return float(np.sum(out == moved) - np.sum(out == one))
    return float(out)


def largest_gap(call, is_null):
    """Return how much likelier any outcome may be of one input: a distance in total variation."""
    mechanism = call.mechanism
    if isinstance(mechanism, mechanisms.RandomizedResponse):
        flip = mechanism.flip_probability
        return 1.0 - mechanism.n_classes * flip
    times = call.factor(is_null) / mechanism.noise_multiplier
    if isinstance(mechanism, mechanisms.GaussianMechanism | mechanisms.ExponentialChoice):
        return 2.0 * stats.norm.cdf(times / 2.0) - 1.0
    return math.tanh(times / 2.0)


# All of it.


def audit(place):
    """Return a line of the table, and the calls furthest apart of each mechanism."""
    subject = all_subjects()[place]
    line, furthest = audit_subject(subject)
    return {"subject": subject.name} | line, furthest


def audit_subject(subject):
    """Return what is found of a subject, and the calls furthest apart of each mechanism."""
    records = make_records(subject.target)
    # What is kept in memory from call to call isn't counted as a line that differs.
    record(subject, records, with_lines=False)
    base = record(subject, records)
    broken = broken_account(subject, base)
    reach, furthest, n_neighbours, n_by_threshold = 0.0, {}, 0, 0
    for name, others, null in neighbours(records, subject):
        is_null = bool(null)
        with_lines = name in LINES_OF
        other = record(subject, others, tape=base, null=null, with_lines=with_lines)
        n_neighbours += 1
        n_by_threshold += is_by_threshold(base, other)
        broken |= broken_claims(base, other, name, is_null)
        for share, pair in reaches(base, other, is_null):
            reach = max(reach, share)
            kind = type(pair[0].mechanism).__name__
            loss = share * pair[0].factor(is_null) / pair[0].mechanism.noise_multiplier
            known = furthest.get(kind, (0.0, None))
            # An attacker who is nearly always right is no test.
            found = (loss, pair) if loss < LARGEST_LOSS else known
            furthest[kind] = max(known, found, key=lambda found: found[0])
    line = {"epsilon": base.report.epsilon, "adjacency": base.report.adjacency}
    line |= {"calls": len(base.calls), "neighbours": n_neighbours, "by_threshold": n_by_threshold}
    return line | {"reach": reach, "broken": "; ".join(sorted(broken))}, furthest


def main(arguments=None):
    """Audit all subjects, or those of some public names, and write the table."""
    subjects = all_subjects()
    names = {one.covers for one in subjects}
    named = {"subjects": bench.Some(sorted(names), None), "samples": N_SAMPLES}
    options = bench.read_options(__file__, __doc__, arguments, **named)
    chosen = options.subjects or names | public_names()
    tasks = [(place,) for place, one in enumerate(subjects) if one.covers in chosen]
    found = bench.run_jobs(audit, tasks, options)
    lines, furthest = [line for line, _ in found], {}
    for _, of_kinds in found:
        for kind, pair in of_kinds.items():
            furthest[kind] = max(furthest.get(kind, (0.0, None)), pair, key=lambda one: one[0])
    for kind, (_, pair) in sorted(furthest.items()):
        if pair is None:
            continue
        right, number, allowed = guesses(pair, options.samples)
        is_broken = stats.binom.sf(right - 1, number, allowed) < CHANCE
        line = {"subject": kind, "calls": number, "right": right / number, "allowed": allowed}
        lines.append(line | {"broken": "samples" if is_broken else ""})
    lines += [{"subject": name, "broken": "not audited"} for name in sorted(set(chosen) - names)]
    table = pd.DataFrame(lines)
    whole = ["calls", "neighbours", "by_threshold"]
    table[whole] = table[whole].astype("Int64")
    bench.write_table(table.round(4), "record_play.csv", options, NOTE)
    broken = table[table["broken"] != ""]
    if len(broken):
        raise SystemExit(broken[["subject", "broken"]].to_string())


if __name__ == "__main__":
    bench.run_script(__file__)
