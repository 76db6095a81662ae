"""What is said of a fit that takes the last of a budget, or that is refused."""

import math

from skdp.accountant import SelectionEvent
from skdp.accountant._calibration import gaussian_mu
from skdp.accountant._events import joint_erasure
from skdp.accountant._filter import FIT_SHARE, GaussianCost
from skdp.exceptions import BudgetExceededError
from skdp.ledger._rules import (
    Total,
    epsilon_left,
    judge,
    least_delta,
    leaves_more_than,
    n_more,
    takes,
)

# Share of a budget's epsilon below which a rest is called nothing.
_NOTHING = 1e-3
_COMPOSE = ' A search with method="compose" often costs less.'


def warning_of_the_last(verdict, report, cost, totals, terms, where):
    """Return what to say of a fit that is taken and leaves nothing, or nothing."""
    after = [total.followed_by(cost) for total in totals]
    takes_all = verdict.alone is not None
    if not takes_all and leaves_more_than(_NOTHING * terms.epsilon, after, terms):
        return ""
    rest = 0.0 if takes_all else epsilon_left(after, terms)
    remains = "no other fit can follow it"
    if rest > 0:
        remains = f"others would have epsilon = {rest:.2g} of {terms.epsilon:g}"
    advice = _what_would_cost_less(report, totals, terms)
    return (
        f"this fit takes all that is left in {where}: {remains}."
        f"{advice or ' A smaller epsilon would leave something.'}"
    )


def refusal(report, cost, totals, terms, where, charges):
    """Return the error for a fit that isn't taken, beside charges that count with it."""
    left = epsilon_left(totals, terms)
    asked = cost.epsilon(terms.delta)
    is_alone = judge(report, cost, [Total()], terms).alone is not None
    n_fits = n_more(cost, [Total()], terms) or int(is_alone)
    advice = _what_would_fit(report, cost, totals, terms)
    return BudgetExceededError(
        f"this fit costs epsilon = {asked:.4g} at delta = {terms.delta:g}, and {left:.4g} of "
        f"{terms.epsilon:g} is left in {where}; the whole budget pays for {n_fits} such "
        f"{'fit' if n_fits == 1 else 'fits'}.{advice}{_why_not_the_sum(report, terms, charges)} "
        "Nothing was fitted or charged.",
        left=left,
        asked=asked,
        n_fits=n_fits,
    )


def _why_not_the_sum(report, terms, charges):
    """Return why a fit is refused that a plain sum has room for, or nothing.

    Charges are rows of the file that count with the fit. Sums are taken for each part.
    """
    adjacencies = {report.adjacency, *(row["adjacency"] for row in charges)}
    # A fit in which records are nulled states no epsilon for one that replaces another.
    if terms.adjacency == "replace_one" and adjacencies != {"replace_one"}:
        return ""
    spent = {"": [(report.epsilon, report.delta)]}
    for row in charges:
        spent.setdefault(row["part"], []).append((row["epsilon"], row["delta"]))
    whole = spent.pop("")
    parts = [whole + more for more in spent.values()] or [whole]
    epsilon = max(math.fsum(one for one, _ in pairs) for pairs in parts)
    delta = max(math.fsum(one for _, one in pairs) for pairs in parts)
    if epsilon > terms.epsilon or delta > terms.delta:
        return ""
    return (
        f" The plain sum of epsilons, {epsilon:.4g}, and that of deltas, {delta:.3g}, would be "
        "within the budget. The ledger adds up squares of mu, which holds although choices may "
        "follow results. A plain sum holds by itself, too, but not the smaller of the two: who "
        "chooses by results which of them to exhaust gets a delta of .0142 where .0100 is stated "
        "(documentation, theory/ledger, which has .0159 for a choice of noise). A list that is "
        "fixed before has the smallest bound: a ledger of planned charges, PrivacyLedger(..., "
        "planned=[...])."
    )


def _what_would_cost_less(report, totals, terms):
    """Return a sentence on what would leave something where a fit takes all, or nothing."""
    if _is_repeated(report):
        return f"{_COMPOSE} A smaller epsilon would leave something."
    gaussian = _as_gaussian(report, totals, terms)
    if gaussian is None:
        return ""
    left = epsilon_left([total.followed_by(gaussian) for total in totals], terms)
    return (
        f" Gaussian noise of the same epsilon with a delta of {terms.delta:g} would cost "
        f"{gaussian.epsilon(terms.delta):.4g} and leave {left:.4g} for another fit."
    )


def _is_repeated(report):
    return any(
        isinstance(event, SelectionEvent) and event.repetitions.mean > 1 for event in report.events
    )


def _as_gaussian(report, totals, terms):
    """Return what Gaussian noise of a pure fit's epsilon costs, if there is room for it."""
    if report.adjacency != terms.adjacency or not all(event.is_pure for event in report.events):
        return None
    epsilon = math.fsum(event.epsilon(terms.adjacency) for event in report.events)
    if not 0 < epsilon <= terms.epsilon:
        return None
    gaussian = GaussianCost(gaussian_mu(epsilon, terms.delta))
    return gaussian if takes(gaussian, totals, terms.limits) else None


def _what_would_fit(report, cost, totals, terms):
    """Return a sentence on what would be taken instead of a fit, or nothing."""
    if _is_repeated(report):
        return _COMPOSE
    if report.adjacency == terms.adjacency and all(event.is_pure for event in report.events):
        gaussian = _as_gaussian(report, totals, terms)
        if gaussian is None:
            return ""
        spent = gaussian.epsilon(terms.delta)
        return f" Gaussian noise with a delta of {terms.delta:g} would cost {spent:.4g}."
    if not takes(GaussianCost(cost.mu), totals, terms.limits):
        return ""
    erasure = joint_erasure(event.erasure for event in report.events)
    if not erasure:
        return " Its delta has no share left for sampled batches; full batches still fit."
    # Sampled batches take a share of what there is, beside the erasure.
    return least_delta((max(total.erasure for total in totals) + erasure) / (1 - FIT_SHARE))
