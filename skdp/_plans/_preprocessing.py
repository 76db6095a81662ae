"""What plans of private transformers share: releases that spend one budget in shares."""

from dataclasses import dataclass

from skdp._plans._base import Plan


@dataclass(frozen=True, eq=False, kw_only=True)
class TransformerPlan(Plan):
    """The releases of a private transformer, all on full batches.

    Parameters
    ----------
    budget, n_rows
        See `Plan`.
    mechanisms : dict
        By what is released; empty where nothing is learnt, which costs nothing.
    releases : tuple of events
        What `mechanisms` release, for the accountant.
    """

    mechanisms: dict
    releases: tuple

    @property
    def events(self):
        """The releases that running this makes; none where nothing is learnt."""
        return self.releases

    def start(self, random_state):
        """Return the stream of a run, None where nothing is learnt: that is charged nowhere."""
        return super().start(random_state) if self.events else None

    def report(self, **facts):
        """Return the report of a run, None where nothing is learnt; see `Plan.report`."""
        return super().report(**facts) if self.events else None
