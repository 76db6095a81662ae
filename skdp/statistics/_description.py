"""What a description of a table says, as frames of pandas and as a figure."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from skdp._rows.labels import as_moments, texts_apart
from skdp.accountant import PrivacyReport
from skdp.plotting import DescriptionDisplay
from skdp.plotting._page import Html

_ENDS = ("value", "low", "high")
_NOTE = (
    "In brackets: {:g} % intervals for the values of the table itself. The noise hides what is "
    "unknown."
)
# Statistics that are whole numbers.
_COUNTS = ("count", "gaps", "freq")
# Statistics that are no dates where a column holds such.
_NO_DATES = ("count", "gaps", "std")


@dataclass(eq=False, repr=False)
class PrivateDescription:
    """A private description of a table, made by :func:`describe`.

    Intervals are for the values of the table itself: they cover the noise, but not the sampling of
    the records.

    Parameters
    ----------
    columns : list of objects
        The released statistics of each column.
    tables : list of tuples
        For each crosstab the names of two columns, the words of both, and counts.
    level : float
        Level of the intervals.
    privacy_report_ : skdp.accountant.PrivacyReport
        The guarantee of the whole description.

    See Also
    --------
    describe : Make one.

    Examples
    --------
    >>> import pandas as pd
    >>> from skdp.statistics import describe
    >>> table = pd.DataFrame({"smokes": ["yes", "no", "no"] * 1000})
    >>> found = describe(table, epsilon=1.0, random_state=0)
    >>> found.histograms_["smokes"].round().loc["no"].to_dict()
    {'count': 2002.0, 'low': 1993.0, 'high': 2011.0}
    """

    columns: list
    tables: list
    level: float
    privacy_report_: PrivacyReport

    def to_frame(self, intervals="beside"):
        """Return a row for each column of the table.

        Parameters
        ----------
        intervals : "beside" or bool, default="beside"
            How to give the ends of intervals. "beside" has columns such as "mean_low" and
            "mean_high" after "mean", and True has columns of two levels: the number, and "value",
            "low" and "high". False leaves intervals out. The most frequent word has none.

        Returns
        -------
        frame : pandas.DataFrame
            With the columns count (of entries), gaps (missing entries), mean, std (divided by the
            count), quantiles, top (the word that seems the most frequent) and freq (its count),
            where they apply. A mean, std or quantile that the noise hides is NaN, and its interval
            says what is known of it: a std that is given is within a factor of 2 of that of the
            numbers in their range, but for a chance of one in a million. Of dates mean, quantiles
            and ends of the range are timestamps, NaT where nothing is known, and std is in days.

        Raises
        ------
        ValueError
            If `intervals` is something else.
        ImportError
            If pandas isn't installed.
        """
        import pandas as pd

        if not isinstance(intervals, bool) and intervals != "beside":
            raise ValueError('intervals must be "beside", True or False.')
        parts = _ENDS if intervals else _ENDS[:1]
        rows = [
            {(name, end): x for name, of in row.items() for end, x in zip(parts, of, strict=False)}
            for row in map(_with_timestamps, self.columns, self._statistics())
        ]
        frame = pd.DataFrame(rows, index=[column.name for column in self.columns])
        frame.columns = pd.MultiIndex.from_tuples(frame.columns)
        if intervals == "beside":
            frame.columns = [n if end == "value" else f"{n}_{end}" for n, end in frame.columns]
        return frame if intervals else frame.droplevel(1, axis=1)

    def categories(self):
        """Return the words of all columns of words, as `categories` of a model takes them.

        A model that gets them doesn't search for words, and knows how many records have each: no
        release is made twice.

        Returns
        -------
        categories : dict of list
            For each column of words the words that were found, with NaN for gaps if these stand out
            from the noise. The lists also hold the noisy counts, and that of all other words, so
            that an additive model has shares of the records and importances. A list that is changed
            has no counts.

        See Also
        --------
        skdp.additive.DPAdditiveClassifier : An additive model that takes them.
        skdp.preprocessing.DPTableVectorizer : A transformer that takes them.

        Examples
        --------
        >>> import pandas as pd
        >>> from skdp.statistics import describe
        >>> table = pd.DataFrame({"smokes": ["yes", "no", "no", None] * 1000})
        >>> describe(table, epsilon=1.0, random_state=0).categories()
        {'smokes': ['no', 'yes', nan]}
        """
        return {column.name: column.known_words() for column in self.columns if column.holds_words}

    @property
    def histograms_(self):
        """Frames by column: how many records have each word, or lie in each bar of similar width.

        The first and the last bar also count the values beyond them. Where no number stands out
        from the noise, one bar without ends counts all.
        """
        import pandas as pd

        frames = {}
        for column in self.columns:
            places, *counts = column.histogram(self._z())
            if column.holds_dates and np.isfinite(places).all():
                places = pd.DatetimeIndex(as_moments(places))
            index = places if isinstance(places, list) else pd.IntervalIndex.from_breaks(places)
            counts = dict(zip(("count", "low", "high"), counts, strict=True))
            frames[column.name] = pd.DataFrame(counts, index=index).rename_axis(column.name)
        return frames

    @property
    def crosstabs_(self):
        """Frames by pair of names: how many records have both words, or lie in both ranges."""
        import pandas as pd

        frames = {}
        for names, words, counts in self.tables:
            index, columns = map(pd.Index, words)
            values = counts.values.reshape(len(index), len(columns))
            frame = pd.DataFrame(values, index, columns)
            frames[names] = frame.rename_axis(index=names[0], columns=names[1])
        return frames

    @property
    def crosstab_margins_(self):
        """By pair, the largest error of a cell, at the level of all intervals."""
        return {names: self._z() * float(counts.std()) for names, _, counts in self.tables}

    def plot(self, ax=None):
        """Draw how many records have each word or number, or lie in each range, with intervals.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to replace by the drawing; None makes a figure.

        Returns
        -------
        display : skdp.plotting.DescriptionDisplay
            What was drawn, with its ``axes_`` and its ``figure_``.

        Raises
        ------
        ImportError
            If matplotlib isn't installed.
        TypeError
            If `ax` is something else.
        """
        bars = tuple(column.bars(self._z()) for column in self.columns)
        return DescriptionDisplay(bars=bars, level=self.level).plot(ax=ax)

    def _statistics(self):
        """Return for each column what is known of it, by name: a value and its ends, if any."""
        return [column.statistics(self._z(), self._z(n_joint=2)) for column in self.columns]

    def _z(self, n_joint=1):
        """Return how many standard deviations an interval has to each side, if so many hold."""
        return -float(ndtri((1.0 - self.level) / (2.0 * n_joint)))

    def __repr__(self):
        n_columns, n_tables = len(self.columns), len(self.tables)
        sizes = f"{n_columns} columns" if n_columns != 1 else "1 column"
        if n_tables:
            sizes += f" and {n_tables} crosstabs" if n_tables > 1 else " and 1 crosstab"
        return f"PrivateDescription of {sizes}, {self.privacy_report_!r}"

    def _repr_html_(self):
        *tables, note = self._page_parts()
        # A table that is wider than the page scrolls by itself.
        style = "white-space: pre; overflow-x: auto"
        shown = "".join(f'<div style="{style}">{table}</div>' for table in tables)
        return f"{shown}<p>{note}</p>{self.privacy_report_._repr_html_()}"

    def _page_parts(self):
        """Return what a page shows: columns of numbers and those of words apart, and a note."""
        import pandas as pd

        rows_of = {False: {}, True: {}}
        for column, row in zip(self.columns, self._statistics(), strict=True):
            rows_of[column.holds_words][column.name] = {
                name: _in_cell(_is_date(column, name), name in _COUNTS, *of)
                for name, of in row.items()
            }
        frames = [
            pd.DataFrame(list(rows.values()), index=list(rows)).fillna("")
            for rows in rows_of.values()
            if rows
        ]
        # A cell has lines, which pandas would write as letters.
        tables = [
            Html(frame.to_html(border=0, formatters=[str] * frame.shape[1])) for frame in frames
        ]
        return *tables, _NOTE.format(100 * self.level)


def _is_date(column, name):
    """Return whether a statistic of a column is a date: a deviation is a number of days."""
    return column.holds_dates and name not in _NO_DATES


def _with_timestamps(column, row):
    """Return statistics with their ends, and those that are dates as what pandas has for these."""
    from pandas import Timestamp

    return {
        name: tuple(map(Timestamp, as_moments(of))) if _is_date(column, name) else of
        for name, of in row.items()
    }


def _in_cell(is_date, is_count, value, *ends):
    """Return a value and its interval as the text of a cell, in the digits that are told."""
    if isinstance(value, str):
        return value
    numbers = [float(number) for number in (value, *ends)]
    if is_date:
        finite = [number for number in numbers if np.isfinite(number)]
        dates = dict(zip(finite, texts_apart(finite, holds_dates=True), strict=True))
        texts = [dates.get(number, f"{number:g}") for number in numbers]
    else:
        texts = _rounded(numbers, is_count)
    text = "unknown" if np.isnan(value) else texts[0]
    # Dates are so long that each has a row of its own.
    return f"{text}\n({texts[1]} to{chr(10) if is_date else ' '}{texts[2]})" if ends else text


def _rounded(numbers, is_count):
    """Return numbers as texts: counts whole, and others with two digits of half their interval."""
    half = 0.5 * (numbers[2] - numbers[1]) if len(numbers) == 3 else 0.0
    if is_count:
        return [f"{number:,.0f}" for number in numbers]
    if not 1e-12 < half < 1e12:
        return [f"{number:.6g}" for number in numbers]
    n_digits = 1 - math.floor(math.log10(half))
    return [f"{round(number, n_digits):,.{max(n_digits, 0)}f}" for number in numbers]
