"""Numbers of descriptions that were chosen, each with its reason.

doc/theory/describe.rst derives the rules that they are in. None of them follows the records.
"""

# Share of a mean relative to that of a histogram or a pair of columns ("Shares").
SHARE_OF_MEAN = 0.25
# Ranges of a column of numbers in a crosstab, and bars of its histogram, at most.
MOST_RANGES = 8
MOST_BARS = 20
# Share of the records that bars leave out at each end.
SHARE_BEYOND_BARS = 0.005
# Numbers that each have a bar in a figure, at most.
MOST_NUMBERS_WITH_BARS = 24
# The middle of a column is between two such quantiles. The range of its numbers has all bins that
# are no farther from it than a part of its width, as tails of what is there usually are. Farther
# out are only bins that stand out together by so many deviations: a single one that is noise would
# make the range tens of times too wide ("Ranges, and numbers that aren't given").
MIDDLE_SHARES = (0.05, 0.95)
PART_BESIDE_MIDDLE = 0.5
DEVIATIONS_OF_FAR_BINS = 5.0
# A standard deviation is given if it is within this factor of the one without noise, but for a
# chance of one in a million: two intervals of so many deviations are missed less often.
LARGEST_ERROR_OF_STD = 2.0
DEVIATIONS_OF_STD = 5.2
# The most entries that seem to lie beyond the range, of all, with so many deviations of their noise
# added: a mean and a deviation of the others would say little of the column. So many deviations
# tell entries beside a single number from none, too ("Ranges, and numbers that aren't given").
MOST_BEYOND = {"mean": 0.5, "std": 0.075}
DEVIATIONS_OF_BEYOND = 2.5
# Gaps, and all other words together, are handed on where they are more than so many deviations of
# the noise of a count, as in the fit of a table.
DEVIATIONS_OF_REST = 4.0
