"""Numbers of the learnt ball and of ranges of targets that were chosen, each with its reason.

Shares are of mu squared. Noise of counts is in shares of the records. doc/theory/ball.rst has the
proof, which holds whatever these numbers are: they decide how well a ball fits. Where no reason is
given, a number was chosen on the public tables of benchmarks/ball.py, by the scores of models.
"""

# With ball_budget="auto" the ball spends this. Of the releases below, those that aren't made leave
# their share to the model.
BALL_BUDGET = 0.12
# A smaller share than this buys nothing, and its noise could overflow.
SMALLEST_BUDGET = 1e-6
# The parts of it by release, in the order in which they are made. Sizes of columns have most,
# because their counts have as many times the noise as the root of the number of columns; the last
# centre has more than the first, which only places the next counts.
SHARES_OF_BALL = {
    "units": 0.16,
    "coarse": 0.04,
    "reach": 0.06,
    "centre": 0.08,
    "distance": 0.08,
    "recentre": 0.14,
    "scales": 0.36,
    "radius": 0.08,
}

# Above this noise of a count there is no more than a radius about 0, or nothing at all where a
# bound is given: a centre and sizes would be lost in noise.
LARGEST_NOISE_OF_COUNT = 0.02
# Above these, entries aren't counted by column: with a bound, and where nobody gave a bound and
# columns may have any units, so that more is lost without their sizes.
LARGEST_NOISE_BY_COLUMN = 0.02
LARGEST_NOISE_OF_UNITS = 0.04
# Entries of more columns aren't counted: there would be millions of counts.
LARGEST_COUNTED_COLUMNS = 2000
# Above this noise, in lengths of rows, the centre isn't learnt: it would move rows off each other.
LARGEST_NOISE_OF_CENTRE = 0.5
# A radius about 0 alone is bought at this noise of a count, for a share within these bounds.
WANTED_NOISE_OF_RADIUS = 0.05
SMALLEST_SHARE_OF_RADIUS = 0.02
LARGEST_SHARE_OF_RADIUS = 0.25

# The share of the records that the last radius holds. Longer rows count less, which biases a model,
# and a longer radius has more noise. Noise is that of one release of everything, a mean of rows in
# units of a row's length. The share is the first number from the first noise on and falls to the
# second; below, all but so many times the noise are held, so that without noise all are.
SHARE_IN_LOUD_BALL, LOUD_NOISE = 0.9, 8e-3
SHARE_IN_FAIR_BALL, FAIR_NOISE = 0.85, 2e-3
SHARE_OUTSIDE_PER_NOISE = 100.0

# Lengths and centres are of a sample in which the noise of a count is the first number of the
# records at most, and the second of those that are to lie outside of the last radius: half of those
# stand out of it. As many blocks as the third number would hold these, so that a run of far rows,
# which has a stratum or two, decides nothing. A sample of fewer rows than the fourth number saves
# no time that anyone would notice, and neither does one of more than the fifth of all rows.
LARGEST_NOISE_IN_SAMPLE, LARGEST_NOISE_OF_THOSE_OUTSIDE = 1e-3, 0.075
LEAST_BLOCKS_OUTSIDE = 20
LEAST_ROWS_OF_SAMPLE, LARGEST_SAMPLE = 50_000, 0.5

# Radii before the last hold this share of the records: what they leave out isn't lost.
SHARE_IN_FIRST_RADIUS = 0.95
# The size of a column holds this share of its entries that aren't 0.
SHARE_IN_SIZE = 0.98
# Where the noise of a count is the second number or more, the size of a column is at least this
# share of the typical size, so that what noise hides in a narrow column isn't too long. With less
# noise the share is less, by the square of the noise.
SMALLEST_SIZE, NOISE_OF_SMALLEST_SIZE = 0.25, 0.016
# No bin of half an octave holds this share of a column that is a hill about its centre: at most a
# third ("One number"). Where one does, its entries don't tell how far the others are.
MOST_IN_ONE_BIN = 0.5
# Counts and a centre tell of entries outside such a bin by so many deviations of their noise: one
# of 250 narrow columns without any is taken for one that has them.
DEVIATIONS_OF_OTHERS = 3.0
# Where sizes aren't learnt, and for entries that noise hides, the root mean square of an entry is
# taken to be this share of the size of its column, as it is for columns of known sizes.
TYPICAL_ENTRY = 0.5

# Ranges of targets spend as much as makes the noise of a count the third number, within the first
# two; of a share that was given they spend a quarter.
SMALLEST_SHARE_OF_TARGETS = 0.04
LARGEST_SHARE_OF_TARGETS = 0.2
WANTED_NOISE_OF_TARGETS = 0.03
TARGETS_PART_OF_GIVEN_BUDGET = 0.25
# The parts of that of the first counts, and of each round's mean; counts by side share the rest.
PART_OF_COARSE_COUNTS = 0.16
PART_OF_MEAN = 0.12
# So many times the range is placed anew, about the mean of what the last range holds.
N_ROUNDS = 2
# Where nothing but means of targets follows, as records are too few for a model, ranges spend this
# share, the first counts have this part of it, and there are so many rounds. Noise that hides where
# targets are at all costs most then ("Few records" in doc/theory/additive.rst).
SHARE_OF_RANGES_FOR_MEANS = 0.7
PART_OF_COARSE_COUNTS_FOR_MEANS = 0.28
N_ROUNDS_FOR_MEANS = 1
# A range holds at least this share of the targets, and all but so many times the noise where that
# is more ("Targets").
SHARE_OF_TARGETS_IN_RANGE = 0.98
TARGETS_OUTSIDE_PER_NOISE = 100.0
# Targets are counted up to so many times the size of most from the centre: a tail of noise alone
# can't make a range longer than that.
REACH_OF_COUNTS = 4.0

# Counts for quantiles: what counts of targets and of errors between edges spend.
SHARE_OF_SPREAD = 0.03
SHARE_OF_ERRORS = 0.07
# Huber's and quantile regression cut targets to so many times the range that holds this share of
# them: their losses bound the pull of a far target anyway ("Targets").
SHARE_OF_TARGETS_IN_CORE = 0.95
WIDTH_OF_CUT = 2.0

# Noise alone passes each of three tests of a release of counts by this chance: then targets or
# columns look longer by up to hundreds of octaves, and a model is lost. Together that is less than
# one of ten million releases ("Noise alone").
CHANCE_OF_NOISE = 3e-8
# The chance where noise can't reach farther than four times the truth, or where the fit warns.
CHANCE_OF_NOISE_NEARBY = 1e-4
# Rows whose lengths noise hides are taken to be so long. All numbers of tables, identifiers of 64
# bits included, are near 0 beside it, so that predictions are about constant; by a shorter one,
# those of longer rows would be far off ("Few records"). Its square is far from overflow.
UNSEEN_LENGTH = 2.0**80
# Where no bin stands out alone or beside a neighbour, so many in a row may do so together.
WIDTHS_TOGETHER = (2, 4, 8)
# So many bins on both sides of those that stand out of the noise are counted, too: the ends of a
# distribution are less loud than its middle.
BINS_BESIDE = 2

# A tail of targets is told from none by so many standard deviations of its noise. With two, three
# times as many ranges would be far too wide ("Targets").
DEVIATIONS_OF_TAIL = 3.0
# From the first noise of a count on, ends are taken one bin farther, and from the second on one
# more, and the rules below hold: noise hides what is there ("Targets").
LOUD_NOISES_OF_SIDES = (0.002, 0.01)
# So many bins in a row tell of a tail if their sum is beyond so many standard deviations. On 300
# normal targets at epsilon 1, both rules reduce the share of clipped targets from .48 to .27.
WIDTHS_OF_TAIL = (2, 4, 8)
DEVIATIONS_OF_BINS_IN_A_ROW = 2.75
# One end is at least this share of the other, if the other is farther than so many deviations of
# the noise of the centre: targets usually reach about as far on both sides of their mean.
SMALLEST_SHARE_OF_OTHER_END = 0.5
DEVIATIONS_OF_CENTRE = 5.0

# Neither of two sums is believed below so many deviations of its noise. The logarithm of their
# quotient is taken to have this spread, whatever the data, and to be within the last number ("The
# mean in the end" in doc/theory/whitening.rst).
DEVIATIONS_OF_SIDES, SPREAD_OF_QUOTIENTS, LARGEST_QUOTIENT = 3.0, 0.3, 1.0
