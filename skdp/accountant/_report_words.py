"""What reports say in words: the guarantee to quote, how it was computed, and what was released."""

import math
from decimal import ROUND_CEILING, Context

# No row of a table is wider, unless a single name is.
_WIDTH = 63
# Beyond it the number has so many digits that the formula says more.
_LARGEST_EXPONENT = 20.0
_PROTECTED = {
    "one row": "one row",
    "one group": "one group of rows, such as all rows of one person",
    "the label of one row": "the label of one row",
}
_ALTERNATIVES = {
    "zero_out": (
        "With a given {record} in the data, or with a null {record} in its place, which "
        "contributes nothing"
    ),
    "replace_one": "With a given {record} in the data, or with any other {record} in its place",
    "replace_label": "With the label that a given record has, or with any other label",
}
ACCOUNTANTS = {
    "analytic": "closed form of the Gaussian mechanism (exact)",
    "pld": "privacy loss distributions (numerical, errs on the private side)",
    "rdp": "Renyi divergences (an upper bound)",
    "basic": "sum of pure epsilons (an upper bound; exact for one step)",
}


def quoted_guarantee(report, record):
    """Return two sentences about a report that can be quoted by themselves."""
    if math.isinf(report.epsilon):
        return (
            "What was published has no privacy: epsilon is infinite.",
            unbounded_words(report, record),
        )
    parts = ", ".join(repr(name) for name in report.unprotected)
    but = f"All but {parts} of what was published" if parts else "What was published"
    # Where a record changes what these published, all else may follow from that, too.
    outcome = f"any outcome of the rest, given what {parts} published," if parts else "any outcome"
    epsilon, delta = rounded_up(report.epsilon, 6), rounded_up(report.delta, 6)
    numbers = f"epsilon = {epsilon}, delta = {delta} {report.condition}".rstrip()
    plus = f", plus {delta}" if report.delta > 0 else ""
    times = f"exp({epsilon})"
    if report.epsilon <= _LARGEST_EXPONENT:
        times = rounded_up(math.exp(report.epsilon))
    # A unit that was set behind a frozen report's back is shown as it is.
    protected = _PROTECTED.get(report.unit, report.unit)
    alternatives = _ALTERNATIVES[report.adjacency].format(record=record)
    return (
        f"{but} is differentially private for {protected} (adjacency "
        f'"{report.adjacency}"), with {numbers}.',
        f"{alternatives}, the probabilities of {outcome} differ by at most a factor of {times}"
        f"{plus}.",
    )


def unbounded_words(report, record):
    """Say in a sentence why a report has no finite epsilon: which releases have no noise."""
    names = report.names or ("",) * len(report.events)
    exact = [
        f"{name} ({event})" if name else str(event)
        for name, event in zip(names, report.events, strict=True)
        if event.noise_multiplier == 0.0 or event.erasure == 1.0
    ]
    if len(exact) == len(report.events):
        return f"No noise was added, and the published numbers may reveal any {record}."
    if exact:
        return (
            f"Nothing is guaranteed for all of it together, because a part has no noise and may "
            f"reveal any {record}: {'; '.join(exact)}."
        )
    return (
        f"Noise was added, but at delta = {rounded_up(report.delta, 6)} no finite epsilon is "
        f"stated, and so nothing is guaranteed for any {record}."
    )


def rounded_up(value, digits=4):
    """Return a number in so many digits, rounded up."""
    # Beyond twelve digits there is nothing but rounding.
    up = Context(prec=digits, rounding=ROUND_CEILING).create_decimal(f"{value:.12g}")
    return f"{float(up):.{digits}g}"


def accountant_words(accountant, *, pure_beside_others, selections):
    """Say how epsilon was computed.

    `pure_beside_others` says whether there are releases of pure noise and others; `selections` are
    events of private selections.
    """
    method = ACCOUNTANTS[accountant]
    if selections:
        if all(event.is_pure for one in selections for event in one.inside):
            method = "a sum of pure epsilons"
        return f"an upper bound for private selection; for a single trial, {method}"
    if pure_beside_others and accountant != "basic":
        return (
            "an upper bound: the epsilons of releases with pure noise are added to the epsilon of "
            f"the others, which comes from the {method}"
        )
    return method


def gaussian_words(mu, shown, record):
    """Say what the parameter of Gaussian differential privacy means; `shown` are its digits."""
    if mu == 0.0:
        return f"mu = 0: nothing about a single {record} was released"
    noise = math.floor(1000 / mu) / 1000
    return (
        f"mu = {shown}: together, the releases tell as much as one with Gaussian noise of "
        f"{noise:g} times the most that one {record} can change"
    )


def released_lines(names, events):
    """Return a line for each release: its name, if it has one, how often, and the noise."""
    texts = [str(event) for event in events]
    named = [f"{name}:" if name else "" for name in names or ("",) * len(texts)]
    wide = max(len(name) for name in named) + 1
    times = [text.partition(" x ")[0] for text in texts]
    long = max(len(count) for count in times)
    if wide == 1 or any(
        wide + long - len(count) + len(text) > _WIDTH
        for count, text in zip(times, texts, strict=True)
    ):
        return tuple(" ".join(filter(None, pair)) for pair in zip(named, texts, strict=True))
    lines = zip(named, times, texts, strict=True)
    return tuple(f"{name:<{wide}}{'':{long - len(count)}}{text}" for name, count, text in lines)
