"""A budget that takes any fits, of which each may follow from results."""

from dataclasses import dataclass

from skdp.accountant._filter import GaussianCost
from skdp.ledger._advice import refusal, warning_of_the_last
from skdp.ledger._rules import (
    Admission,
    Terms,
    assess,
    counted,
    epsilon_left,
    epsilon_spent,
    has_no_erasure_left,
    judge,
    n_more,
    share_of,
    share_spent,
)


@dataclass(frozen=True)
class Filter:
    """What a budget stands at that takes any fits, of which each may follow from results.

    `totals` are what a further charge adds to, see `joint_totals`.
    """

    terms: Terms
    totals: tuple

    planned = None

    @property
    def spent(self):
        """Epsilon of what was charged, at the budget's delta."""
        return epsilon_spent(self.totals, self.terms)

    @property
    def left(self):
        """Epsilon of the largest Gaussian fit that could follow, at the budget's delta."""
        return epsilon_left(self.totals, self.terms)

    @property
    def share(self):
        """Share of the budget that was charged."""
        return share_spent(self.totals, self.terms)

    def share_of(self, row):
        """Return the share of the budget that a charge took."""
        return share_of(row["mu"], row["alone"], self.terms)

    def cost(self, report):
        """Return what a fit costs, or raise a LedgerError if it can't be counted."""
        return assess(report, self.terms)

    def can_take(self, report):
        """Return whether a fit would be accepted."""
        return judge(report, self.cost(report), self.totals, self.terms).is_taken

    def covers_call(self, report, paid):
        """Return whether a charge of some mu and erasure covers a later call of its stream."""
        return self.cost(report).is_within(GaussianCost(paid["mu"], paid["erasure"]))

    def admit(self, report, where, charges):
        """Return how a fit is charged, or raise an error.

        `charges` returns the rows that count with it, for a refusal's words.
        """
        cost = self.cost(report)
        verdict = judge(report, cost, self.totals, self.terms)
        if not verdict.is_taken:
            raise refusal(report, cost, self.totals, self.terms, where, charges())
        warning = warning_of_the_last(verdict, report, cost, self.totals, self.terms, where)
        return Admission(cost, verdict.alone, warning=warning)

    def rest(self, charges):
        """Say what is left, after charges that are rows of the file."""
        left = f"epsilon = {self.left:.4g} for one more Gaussian fit"
        if charges:
            last = charges[-1]
            number = n_more(GaussianCost(last["mu"], last["erasure"]), self.totals, self.terms)
            left += f"; {counted(number, 'more fit')} like the last ({last['estimator']})"
        if self.left > 0 and has_no_erasure_left(self.totals, self.terms):
            left += "; none of sampled batches, whose share of delta is used"
        return left
