"""Numbers of additive models that were chosen, each with its reason.

doc/theory/table.rst has the rule of shares that they are in, under "Shares". Its form was chosen on
seven public tables of 500 to 24,000 rows, at epsilon from 0.25 to 4.
"""

# The share of mu^2 that learns knots and categories, where noise is small.
SMALLEST_SHARE = 0.2
# The share grows by this times the noise of a count over the number of records, if all of mu went
# to one release of counts, because noisy counts put knots in the wrong places.
SHARE_PER_NOISE = 20.0
LARGEST_SHARE = 0.5
# From this noise on, even the largest share would hardly find a column: a bin would need two fifths
# of the records to stand out of the first counts. So the table gets the smallest share.
LARGEST_NOISE_OF_COUNT = 0.0316

# A term is called noise where its mean square is within so many standard deviations of what noise
# alone is expected to give it. It was chosen as a usual level, about 2 % for one term.
STANDARD_DEVIATIONS_OF_NOISE = 2.0

# What a squared bend of a curve costs, over the noise of a mean of numbers in [-1, 1] on which all
# that the table leaves is spent. Twice as much or half was alike ("Stiff curves" in
# doc/theory/additive.rst).
STIFFNESS_PER_NOISE = 3.0
# Curves that are this stiff are lines. A larger number would only make rounding errors larger.
LARGEST_STIFFNESS = 1.0
