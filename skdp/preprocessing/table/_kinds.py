"""Kinds of columns whose types don't say them: numbers, dates or words, by noisy counts."""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from skdp._rows.entries import DATE_ENTRY, NUMBER_ENTRY
from skdp._rows.kinds import DATE, NUMERIC, WORD
from skdp._rows.table_queries import CountsByClass
from skdp.preprocessing.table import _tuned as tuned
from skdp.preprocessing.table._lost import warn_of_mixtures
from skdp.preprocessing.table._plan_kinds import FOLLOWING, KINDS


class Tally(NamedTuple):
    """How many records have an entry of each of `skdp._rows.entries.CLASSES`, with such noise."""

    counts: np.ndarray
    noise: float

    @property
    def kind(self):
        """The kind of the column."""
        n_numbers, n_dates, n_codes, n_texts, _ = self.counts.tolist()
        n_words, larger = n_codes + n_texts, max(n_numbers, n_dates)
        n_read = n_numbers + n_dates + n_words
        hidden = tuned.SHOWN_WORDS * math.sqrt(2.0) * self.noise
        if n_words > max(hidden, tuned.FEW_WORDS_SHARE * n_read):
            return WORD
        # Where nothing stands out, words lose less: of few different numbers they are as good.
        if larger <= max(tuned.SHOWN_NUMBERS * self.noise, n_words):
            return WORD
        return NUMERIC if n_numbers >= n_dates else DATE

    @property
    def unsuited(self):
        """The class of many entries that the kind doesn't suit, numbers or dates, or None.

        Among words these are most of what was read, and text, rather than codes, made it words.
        """
        n_numbers, n_dates, n_codes, n_texts, _ = self.counts.tolist()
        if self.kind == WORD:
            n_words, n_larger = n_codes + n_texts, max(n_numbers, n_dates)
            is_unsuited = n_larger - n_words > tuned.SHOWN_WORDS * math.sqrt(3.0) * self.noise
            larger = NUMBER_ENTRY if n_numbers >= n_dates else DATE_ENTRY
            return larger if is_unsuited and n_texts > n_codes else None
        n_others, n_read = min(n_numbers, n_dates), self.counts[:-1].sum()
        if n_others <= max(tuned.SHOWN_WORDS * self.noise, tuned.FEW_WORDS_SHARE * n_read):
            return None
        return DATE_ENTRY if self.kind == NUMERIC else NUMBER_ENTRY


def settle_kinds(table, specs, make_specs, *, plan, run):
    """Learn the kinds of untyped columns; return all for kinds that are known, and what follows.

    Where there are no such columns, all is returned as it is.

    Parameters
    ----------
    table : Frame
        The records that count, or what else has `ask` and `decided` of them.
    specs : ColumnSpecs
    make_specs : callable
        It makes `ColumnSpecs` of names and kinds.
    plan : KindsPlan, TablePlan or AdditivePlan
        It was started.
    run : Run or None

    Returns
    -------
    table : Frame, or what it was
    specs : ColumnSpecs
    plan : TablePlan or AdditivePlan
        The plan of the rest of the fit, which is charged already.
    """
    if not specs.untyped:
        return table, specs, plan
    mechanism = run.mechanism(KINDS)
    released = run.ask(KINDS, table, CountsByClass(specs.untyped, mechanism))
    tally_of = {
        place: Tally(counts, mechanism.noise_std)
        for place, counts in zip(specs.untyped, released, strict=True)
    }
    kinds = {place: tally.kind for place, tally in tally_of.items()}
    all_kinds = tuple(kinds.get(place, kind) for place, kind in enumerate(specs.kinds))
    tallies = [tally_of.get(place) for place in range(len(specs.names))]
    specs = replace(make_specs(specs.names, all_kinds), tallies=tallies, settings=specs.settings)
    warn_of_mixtures(specs)
    plan = plan.following(specs)
    run.fill(FOLLOWING, plan.releases)
    return table.decided(kinds), specs, plan
