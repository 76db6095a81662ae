"""Numbers of additive models that were chosen, each with its reason.

doc/theory/table.rst has the rule of shares that they are in, under "Shares". Its form was chosen on
seven public tables of 500 to 24,000 rows, at epsilon from 0.25 to 4.
"""

from typing import NamedTuple

# The share of mu^2 that learns knots and categories, where noise is small.
SMALLEST_SHARE = 0.2
# The share grows by this times the noise of a count over the number of records, if all of mu went
# to one release of counts, because noisy counts put knots in the wrong places.
SHARE_PER_NOISE = 20.0
LARGEST_SHARE = 0.5
# From this noise on, even the largest share would hardly find a column: a bin would need two fifths
# of the records to stand out of the first counts. So the table gets the smallest share.
LARGEST_NOISE_OF_COUNT = 0.0316

# Above this noise the table could not tell two parts of any column apart, because a bin would need
# more than half of the records to stand out. So the shares of classes, or the mean of targets, are
# all that is released. On 15 public tables no model was better than that from here on, and half of
# them were better just below ("Few records" in doc/theory/additive.rst).
LARGEST_NOISE_OF_MODEL = 0.04
# A class of weight 0 is taken to have this share, so that its logarithm is finite.
SMALLEST_SHARE_OF_CLASS = 1e-9

# A term is called noise where its mean square is within so many standard deviations of what noise
# alone is expected to give it. It was chosen as a usual level, about 5 % for one term.
STANDARD_DEVIATIONS_OF_NOISE = 2.0

# A squared bend of a curve costs this, and so does the square of how far a word's value is from the
# mean of all, over the noise of a mean of numbers in [-1, 1] on which all that the table leaves is
# spent. Twice as much was better for most small tables, and worse where a few records have much of
# what there is to learn ("How the constants were chosen" in doc/theory/additive.rst).
PENALTY_PER_NOISE = 1.5
# With this curves are lines. A larger number would only make rounding errors larger.
LARGEST_PENALTY = 1.0


# Products of curves (doc/theory/additive.rst). Chosen on five public tables, at epsilon from 0.5 to
# 4.
class ProductRules(NamedTuple):
    """What is chosen for a loss."""

    # The share of mu^2 of what the table leaves that the curves have, where there is a second fit.
    share_of_curves: float
    # The columns that the second fit may have, over its number of records times mu.
    columns: float
    # Curves in products have at least this share of the spread of the strongest.
    strong: float
    # So many curves at most are in products, where there is room for few columns and for many.
    most_in_little_room: int
    most: int
    # The penalty of the distance from the first fit, besides alpha, times n mu. Cut slopes make
    # labels' predictions too sure where steps arrive: so curves change where that tells much.
    penalty: float
    # A clip over the root of the number of columns, and the typical curvature of the loss: what the
    # noise of predictions is foreseen by.
    clip: float
    curvature: float

    @property
    def has_products(self):
        """Whether a second fit may have products at all."""
        return self.most > 0


# The second fit has curves alone: products had more noise than they told. It takes off what is
# noise of a curve, and has few columns, so that a small part of the budget is enough.
_CURVES_OF_AMOUNTS = ProductRules(
    share_of_curves=0.7,
    columns=0.022,
    strong=1.0,
    most_in_little_room=0,
    most=0,
    penalty=20.0,
    clip=1.2,
    curvature=0.4,
)
# Squares bend alike everywhere, and a slope tells more of them than of a label.
PRODUCT_RULES = {
    "log_loss": ProductRules(
        share_of_curves=0.6,
        columns=0.022,
        strong=0.15,
        most_in_little_room=6,
        most=9,
        penalty=200.0,
        clip=1.2,
        curvature=0.1,
    ),
    "squared_error": ProductRules(
        share_of_curves=0.6,
        columns=0.088,
        strong=0.03,
        most_in_little_room=8,
        most=10,
        penalty=10.0,
        clip=1.6,
        curvature=0.8,
    ),
    "poisson": _CURVES_OF_AMOUNTS,
    "gamma": _CURVES_OF_AMOUNTS,
}
# Curves that all have a smaller spread than this, over the largest coefficient, are of rounding
# errors: these are some thousand times smaller.
LARGEST_FLAT_CURVE = 1e-12
# There is no second fit below this room, or where it isn't so many columns more than there are
# curves.
LEAST_ROOM, LEAST_ROOM_BESIDE_CURVES = 26.0, 4.0
ROOM_FOR_MOST = 120.0
# A curve in a product is bent to be within so many times its spread, so that few rows are far
# longer than others.
LARGEST_CURVE = 2.5
# The unit of a curve is so large that its largest value is so many units, and that it is this share
# of the strongest spread: rows of rare values, or of curves of noise, would be far longer
# than others.
LARGEST_IN_SPREADS, SMALLEST_SPREAD = 5.0, 0.02

# alpha="auto" is so many over the number of records. So the penalty weighs as much whatever that
# is, and shrinks the value of a word that few records have. 10 was worse on Adult at epsilon 4, by
# .0026 in log loss.
RECORDS_OF_PENALTY = 3.0

# The most knots that "auto" gives to a column where the squared error is minimised: targets tell
# more of a curve than labels do.
MOST_KNOTS_OF_TARGETS = 24
# A knot beyond the most of all columns needs so many records: on 3,000 wages at epsilon 4, more
# knots lost .003 of R2 to the errors of the sample.
RECORDS_OF_KNOT = 500

# The most learnt knots that a pair of columns takes of each, as it has all products. On the map of
# California 4 and 6 lost .031 and .020 of R2 at epsilon 1, .024 and .022 at 4.
KNOTS_OF_PAIR = 12

# A second fit is expected to change predictions by this share of their variance. The less noise
# leaves of that, the more is it held at the first fit, but not by more than the second number.
CHANGE_OF_VARIANCE, LARGEST_PENALTY_OF_CHANGE = 0.3, 100.0

# Before a fit each column is taken to have this share of the knots that columns of many numbers
# have, and no fewer than so many if there are so many: on 13 public tables columns of few numbers
# and of words have fewer coefficients ("Noise before a fit" in doc/theory/whitening.rst).
SHARE_OF_KNOTS, FEWEST_EVEN_KNOTS = 0.7, 4

# A fit warns where this share of its columns, or less, would be told from noise: on 12 public
# tables at least half of the terms were noise in 22 of the 25 fits that it warned of. It looks at
# the columns that have so many knots together, at most. More would take seconds, and noise that
# hides these hides more, too.
FEW_OF_COLUMNS, MOST_KNOTS_FORESEEN = 0.5, 400

# A line has so many bins in a scorecard: about as many as credit desks give to a column. Bins and
# rounding together cost at most .0015 of the area on three tables (doc/additive.rst).
BINS_OF_LINE = 6

# Rows with at most this share of entries that aren't 0 are kept as codes. A sum takes longer for an
# entry of these than for one of a whole row.
SHARE_OF_ENTRIES = 0.33
# It is foreseen that a column of a table becomes so many columns of a model. On Dask that decides
# whether sums are compiled, before knots and words are learnt. A table of 13 numbers and 10 words
# has 17 for each where records are many, and 8 where noise leaves few knots.
COLUMNS_OF_EACH = 8
