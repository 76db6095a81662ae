"""What an audit found, in one immutable object."""

import textwrap
from dataclasses import dataclass

_WIDTH = 88
_NEIGHBOURS = {
    "zero_out": "null records",
    "replace_one": "other records",
    "replace_label": "the same rows with other labels",
}


@dataclass(frozen=True, kw_only=True, repr=False)
class AuditResult:
    """What an attack on an estimator found. **Not private**: it tells of the training data.

    Parameters
    ----------
    epsilon_lower_bound : float
        What epsilon is at least, at `delta`, but for a probability of ``1 - confidence``.
    epsilon : float
        What the estimator's report claims at `delta`.
    largest_bound : float
        What the bound would be if every guess had been right. A claim above it can't fail.
    delta : float
        Where the two are compared.
    confidence : float
        Probability that a true claim passes, at least.
    adjacency : {"zero_out", "replace_one", "replace_label"}
        What the guarantee compares, from the report.
    method : {"threshold", "one_run"}
        The attack.
    n_fits : int
        Fits that the attack saw.
    n_canaries : int
        Records that were guessed about.
    positives, true_positives : int
        Guesses that were made of canaries that took part, and those that said so. For "threshold"
        a guess is made of each fit that its bound is counted on.
    negatives, false_positives : int
        Guesses that were made of canaries that were left out or replaced, and those that said that
        they took part.
    threshold : float or None
        Score from which the guess is that the canary took part; None for "one_run".

    See Also
    --------
    audit : What makes it.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from skdp.audit import audit
    >>> from skdp.linear_model import DPSCDClassifier
    >>> X, y = make_classification(n_samples=50, n_features=4, random_state=0)
    >>> model = DPSCDClassifier(epsilon=1.0, delta=1e-3, data_norm=3.0)
    >>> result_not_private = audit(model, X, y, n_fits=30, random_state=0)
    >>> result_not_private.passed, result_not_private.n_fits
    (True, 30)
    """

    epsilon_lower_bound: float
    epsilon: float
    largest_bound: float
    delta: float
    confidence: float
    adjacency: str
    method: str
    n_fits: int
    n_canaries: int
    positives: int
    true_positives: int
    negatives: int
    false_positives: int
    threshold: float | None

    @property
    def passed(self):
        """Whether the bound is at most what is claimed: the attack found no fault."""
        return self.epsilon_lower_bound <= self.epsilon

    @property
    def has_power(self):
        """Whether the claim could have failed, by so many guesses at this delta and confidence."""
        return self.largest_bound > self.epsilon

    @property
    def tpr(self):
        """Share of the guesses that were right where the canary took part."""
        return self.true_positives / self.positives if self.positives else float("nan")

    @property
    def fpr(self):
        """Share of the guesses that were wrong where the canary didn't take part."""
        return self.false_positives / self.negatives if self.negatives else float("nan")

    def to_text(self):
        """Give the result in plain words, for a terminal.

        Returns
        -------
        text : str
            Lines of at most 88 columns.
        """
        return "\n".join(
            line
            for paragraph in (repr(self), self._attack(), self._verdict(), _NOT_PRIVATE)
            for line in [*textwrap.wrap(paragraph, _WIDTH), ""]
        ).rstrip()

    def _attack(self):
        canaries, neighbours = "a canary", _NEIGHBOURS[self.adjacency]
        if self.method == "one_run":
            canaries = f"{self.n_canaries} canaries"
        fits = "one fit" if self.n_fits == 1 else f"{self.n_fits} fits"
        return (
            f"Attack ({self.method}): tell from {fits} whether {canaries} took part, against "
            f"{neighbours} in their place. True positives: {self.true_positives} of "
            f"{self.positives}. False positives: {self.false_positives} of {self.negatives}."
        )

    def _verdict(self):
        bound = (
            f"With a confidence of {self.confidence:g}, epsilon is at least "
            f"{self.epsilon_lower_bound:.3g} at delta = {self.delta:g}"
        )
        if not self.has_power:
            return (
                f"{bound}. NO POWER: a perfect attack would show {self.largest_bound:.3g} here, "
                f"which is no more than the claim, {self.epsilon:g}, so that passing means "
                "nothing. Take more fits (or canaries), a larger delta or a smaller epsilon."
            )
        if self.passed:
            return (
                f"{bound}. The claim, {self.epsilon:g}, passed: that is no proof of it, because "
                "other attacks may find more."
            )
        return (
            f"{bound}, and the claim is {self.epsilon:g}: it FAILED. A true claim fails with a "
            f"probability of at most {1.0 - self.confidence:.1g}."
        )

    def __repr__(self):
        verdict = "FAILED"
        if self.passed:
            verdict = "passed" if self.has_power else "no power"
        return (
            f"AuditResult({verdict}: epsilon >= {self.epsilon_lower_bound:.3g}, "
            f"claimed {self.epsilon:g}, delta={self.delta:g})"
        )


_NOT_PRIVATE = (
    "Not private: this was computed from the training data, many times over. Audit on public or "
    "made-up data, or keep the result to yourself."
)
