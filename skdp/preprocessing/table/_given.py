"""What a user tells of the columns of a table; none of it costs anything."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from numbers import Integral

import numpy as np

from skdp._checks import LARGEST_BOUND, check_bounds, check_count
from skdp._rows.entries import are_dates, as_day
from skdp._rows.frames import check_words, find_column
from skdp._rows.kinds import DATE, NUMERIC, UNTYPED, WORD, holds_numbers, holds_words
from skdp.exceptions import warn_user

_AUTO = "auto"
_UNKNOWN = "{} names the column {!r}, which X doesn't have as a column of {}, or names it twice."
_PAIRS = "{} must be a list of pairs of different columns, by name or place, each once."
_NOTHING_BOUNDED = (
    "feature_bounds is of no column: none of X holds {}. Name the columns that do in "
    "numeric_features, or leave feature_bounds out."
)
NO_COLUMN = "{} names {!r}, which X does not have: give names of columns of X, or places."
_KNOTS = "an entry of knots must be a list of at least two finite numbers that are apart."


class CountedWords(list):
    """A list of categories that knows how many records have each, by an earlier release.

    Once it was changed it is a plain list, as nobody knows the counts of other words.

    Parameters
    ----------
    words : list
        The categories, NaN for gaps.
    counts : list of float, default=None
        How many records have each of them, and last how many have any other word. With None nobody
        knows: files of skops keep the words of a list alone.
    """

    def __init__(self, words, counts=None):
        super().__init__(words)
        self._counted = tuple(self)
        self._counts = None if counts is None else tuple(counts)

    @property
    def counts(self):
        """The counts of its words, and last that of all others; None once it was changed."""
        are_same = [
            one == other or (one != one and other != other)
            for one, other in zip(self, self._counted, strict=False)
        ]
        return self._counts if all(are_same) and len(self) == len(self._counted) else None

    def __reduce__(self):
        if self.counts is None:
            return list, (list(self),)
        return CountedWords, (list(self), self.counts)


@dataclass(frozen=True, eq=False)
class ColumnSpecs:
    """By column bounds, knots and categories, None where they are to be learnt.

    `counts` are how many records have each category and any other word, None where nobody knows,
    and `tallies` what was learnt of a column's kind, None where its type or parameters say it.
    `settings` are the parameters that name a column.
    """

    names: tuple
    kinds: tuple
    bounds: list
    knots: list
    categories: list
    counts: list
    tallies: list
    settings: tuple

    def with_settings(self, columns_by_parameter):
        """Return specs that know of more parameters which columns each of them names, by place."""
        more = [
            tuple(name for name, places in columns_by_parameter.items() if place in places)
            for place in range(len(self.names))
        ]
        both = zip(self.settings, more, strict=True)
        return replace(self, settings=tuple(known + new for known, new in both))

    @property
    def untyped(self):
        """Places of the columns whose kind is to be learnt."""
        return [place for place, kind in enumerate(self.kinds) if kind == UNTYPED]

    @property
    def numeric(self):
        """Places of the columns of numbers whose knots are to be learnt."""
        of_numbers = [j for j, kind in enumerate(self.kinds) if holds_numbers(kind)]
        return [j for j in of_numbers if self.knots[j] is None]

    @property
    def words(self):
        """Places of the columns of words whose categories are to be found."""
        return [
            j for j, k in enumerate(self.kinds) if holds_words(k) and self.categories[j] is None
        ]

    @property
    def located(self):
        """Places of the columns of numbers of which neither knots nor bounds are given."""
        return [j for j in self.numeric if self.bounds[j] is None]


def specs_of(estimator, names, kinds):
    """Return the specs of columns of such names and kinds that an estimator's parameters give.

    These may also be attributes of another object.
    """
    specs = read_specs(
        names,
        kinds,
        feature_bounds=estimator.feature_bounds,
        knots=estimator.knots,
        categories=estimator.categories,
    )
    named = {
        "numeric_features": estimator.numeric_features,
        "categorical_features": estimator.categorical_features,
        "knots": _columns_of(estimator.knots),
        "feature_bounds": _columns_of(estimator.feature_bounds),
        "categories": _columns_of(estimator.categories),
    }
    return specs.with_settings(
        {
            parameter: [find_column(column, names) for column in columns]
            for parameter, columns in named.items()
            if columns is not None
        }
    )


def _columns_of(value):
    """Return the columns that a setting names; one that is of all columns names none."""
    return value if isinstance(value, Mapping) else None


def without_learning(specs):
    """Return specs where nothing is learnt: a column of which nothing is specified is constant.

    A column without a kind is one of words.
    """
    kinds = tuple(WORD if kind == UNTYPED else kind for kind in specs.kinds)
    columns = list(zip(kinds, specs.knots, specs.categories, strict=True))
    return replace(
        specs,
        kinds=kinds,
        knots=[np.zeros(1) if holds_numbers(k) and at is None else at for k, at, _ in columns],
        categories=[[] if holds_words(k) and words is None else words for k, _, words in columns],
    )


def specs_before_fit(estimator, n_features):
    """Return specs of so many columns before a fit: all hold words but those declared.

    They cost what any others do, whatever columns turn out to hold.
    """
    declared = estimator.numeric_features
    n_numeric = min(0 if declared is None else len(declared), n_features)
    kinds = [NUMERIC] * n_numeric + [WORD] * (n_features - n_numeric)
    return read_specs([""] * n_features, kinds)


def read_specs(names, kinds, *, feature_bounds=None, knots="auto", categories="auto"):
    """Return the specs of columns of such names and kinds."""
    of_numbers = tuple(n if holds_numbers(k) else None for n, k in zip(names, kinds, strict=True))
    of_words = tuple(n if holds_words(k) else None for n, k in zip(names, kinds, strict=True))
    if feature_bounds is not None and not isinstance(feature_bounds, Mapping):
        feature_bounds = _range_of_all(feature_bounds, names, kinds)
    ranges = _by_column(feature_bounds, "feature_bounds", of_numbers, NUMERIC)
    learnt = knots is None or isinstance(knots, (str, Integral))
    at = _by_column(None if learnt else knots, "knots", of_numbers, NUMERIC)
    of = None if isinstance(categories, str) else categories
    listed = _by_column(of, "categories", of_words, WORD)
    return ColumnSpecs(
        names,
        kinds,
        [
            None if pair is None else check_bounds(_in_days(pair, kind), "feature_bounds")
            for pair, kind in zip(ranges, kinds, strict=True)
        ],
        [
            None if places is None else _check_knots(_in_days(places, kind))
            for places, kind in zip(at, kinds, strict=True)
        ],
        [
            None if words is None else check_words(words, kind, name)
            for words, kind, name in zip(listed, kinds, names, strict=True)
        ],
        [_counts_of(c) for c in listed],
        [None] * len(names),
        ((),) * len(names),
    )


def _range_of_all(pair, names, kinds):
    """Return a range by column: one of dates is of columns of dates, and any other of numbers.

    It is checked here, whatever columns there are: their kinds may be learnt, after the charge.
    """
    check_bounds(_in_days(pair, DATE), "feature_bounds")
    bounded = DATE if are_dates(pair) else NUMERIC
    if bounded not in kinds and UNTYPED not in kinds:
        warn_user(_NOTHING_BOUNDED.format("dates" if bounded == DATE else "numbers"))
    return {name: pair for name, kind in zip(names, kinds, strict=True) if kind == bounded}


def _in_days(numbers, kind):
    """Return numbers of a column; dates, for a column of these, as days since 1970."""
    if kind != DATE or not isinstance(numbers, Iterable) or isinstance(numbers, str):
        return numbers
    days = [(entry, as_day(entry)) for entry in numbers]
    return [entry if math.isnan(day) else day for entry, day in days]


def chosen_pairs(pairs, names, parameter):
    """Return the places of the columns of each pair."""
    chosen = []
    for pair in () if pairs is None else pairs:
        if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
            raise ValueError(_PAIRS.format(parameter))
        places = tuple(find_column(column, names) for column in pair)
        known = {frozenset(one) for one in chosen}
        if None in places:
            raise ValueError(NO_COLUMN.format(parameter, pair[places.index(None)]))
        if places[0] == places[1] or frozenset(places) in known:
            raise ValueError(_PAIRS.format(parameter))
        chosen.append(places)
    return chosen


def check_n_knots(knots):
    """Return "auto", or how many knots each column of numbers is to have."""
    if not isinstance(knots, Integral):
        return _AUTO
    if check_count(knots, "knots") < 2:
        raise ValueError("knots must be at least 2, 'auto', or a dict of lists by column.")
    return int(knots)


def _by_column(value_of, parameter, names, kind):
    """Return what a dict gives for each column, None for those that it doesn't name."""
    by_column = [None] * len(names)
    if value_of is None:
        return by_column
    if not isinstance(value_of, Mapping):
        raise ValueError(f"{parameter} must be a dict by column.")
    for column, value in value_of.items():
        place = find_column(column, names)
        if place is None or names[place] is None or by_column[place] is not None:
            content = f"{kind}s" if kind == WORD else "numbers"
            raise ValueError(_UNKNOWN.format(parameter, column, content))
        by_column[place] = value
    return by_column


def _counts_of(words):
    """Return the counts that a list of categories knows, None for a plain list or one changed."""
    if not isinstance(words, CountedWords) or words.counts is None:
        return None
    return np.array(words.counts)


def _check_knots(knots):
    try:
        knots = np.unique(np.asarray(knots, dtype=np.float64))
    except (TypeError, ValueError):
        raise ValueError(_KNOTS) from None
    is_known = knots.size >= 2 and (np.abs(knots) <= LARGEST_BOUND).all()
    if not is_known or np.diff(knots).min() < 1.0 / LARGEST_BOUND:
        raise ValueError(_KNOTS)
    return knots
