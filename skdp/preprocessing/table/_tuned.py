"""Numbers of learning a table that were chosen, each with its reason.

doc/theory/table.rst derives the rules that they are in, and has "Reasons for the choices". None of
them follows the records.
"""

# Kinds of columns ("Kinds that are learnt").
#
# A count must exceed so many standard deviations of its noise to be taken for any: that of numbers
# or dates, and that of codes and texts together. The page has the chances of an error.
SHOWN_NUMBERS = 2.0
SHOWN_WORDS = 4.0
# Up to this share of what was read, codes and texts are marks of gaps among numbers, or errors.
FEW_WORDS_SHARE = 0.1
# Counts of kinds have as much of the squared mu as makes the records of a column so many standard
# deviations of the noise of a count, within the least and the largest share. With 12, a column of
# which half are gaps has the wrong kind with a chance below .001. 1,000 records of Adult, Bank
# Marketing and Hillstrom's tables at epsilon .5, and 500 at epsilon 1, then have less than 1 %
# wrong kinds; with 2 % of the squared mu these were up to 8 and 26 %. The least share is enough
# from some thousand records on, and makes the noise of what follows 1 % larger. The largest makes
# it 5 % larger, where few records would lose more by a wrong kind (benchmarks/kinds.py).
DEVIATIONS_OF_KINDS = 12.0
LEAST_SHARE_OF_KINDS = 0.02
LARGEST_SHARE_OF_KINDS = 0.1

# Bins of numbers ("The releases").
#
# Numbers are told apart between 2**-128 and 2**128 in size.
OCTAVES = 128
# Ends within public bounds, about.
N_PUBLIC_ENDS = 64
# Shares of what numbers may spend on where they lie, about; on first counts, closer; and on the
# counts that terms are made of.
SHARE_OF_RANGES = 0.2
SHARE_OF_FIRST_COUNTS = 0.25
SHARE_OF_COUNTS = 0.55
# Entries of a bin are to be at least so many standard deviations of the noise of first counts, and
# of counts, so that they stand out there.
DEVIATIONS_OF_FIRST_BIN = 8.0
DEVIATIONS_OF_BIN = 6.0
# Counts must exceed so many standard deviations of their noise to be taken for any. What noise
# shows among first counts is left out again by the counts.
SHOWN_RANGES = 4.0
SHOWN_FIRST_COUNTS = 3.0
# Bins that are shown beyond a gap are kept if a count of ranges there exceeds the first number of
# standard deviations of its noise, or if first counts there exceed the second, times the root of
# their number. Otherwise noise may be all of them, and an end there would make knots and ranges
# absurd. Noise passes in a few of a million columns ("Bins that noise shows").
CERTAIN_RANGES, SHOWN_FAR = 6.0, 4.0
SHOWN_COUNTS = 4.0
# The most bins between ends that are about as full as others, and the most parts of one.
MOST_BINS = 128
MOST_PARTS = 2**10
# A part that holds more than one of so many parts of a column may be a number that many entries
# share, and is cut into so many parts.
HEAVY_PARTS = 12
SHARP_PARTS = 2**8

# Narrow columns ("Reasons for the choices").
#
# Numbers are narrow if all but this share lies in one of at least so many bins, or in two
# neighbours of twice as many. These are cut three times, into so many parts.
SHARE_ELSEWHERE = 0.05
MANY_BINS = 32
NARROW_PARTS = 2**8, 2**13, 2**18
# A record has this part in each of three bins, of three sizes: a whole number of sixteenths, whose
# square is less than a third.
SIXTEENTHS = 16.0
PART_OF_NARROW = 9.0 / SIXTEENTHS
# The chance that any bin shows that is noise: it may be very far from the others.
SHOWN_BY_CHANCE = 0.001
# The most bins that smaller ones stand for, and the most of these that are taken together.
MOST_REPLACED = 8
MOST_JOINED = 2**6

# Terms: knots, spikes, gaps and words.
#
# Gaps have a column of their own, and rare words are there at all, where they exceed so many
# standard deviations of noise.
SHOWN_GAPS = 4.0
SHOWN_RARE_WORDS = 4.0
# A number that holds this share of a column is a spike, if the rest is more than so many standard
# deviations of noise.
SPIKE_SHARE = 0.25
LEAST_REST = 10.0
# The rest of a column beside one number, or beyond all common ones, has a coefficient of its own
# where it exceeds so many standard deviations of its noise. Noise alone does so once in 700
# columns, and adds one coefficient that hardly any record has.
SHOWN_REST = 3.0
# Where few numbers hold all but this share of the rest, there are no others.
SHARE_BETWEEN = 0.1
# Shares of the records beyond the outermost knots, and beyond each end of a line.
SHARE_BEYOND_KNOTS = 0.002
SHARE_BEYOND_LINE = 0.005
# "auto" gives a knot for each so many standard deviations of noise, within the fewest and the most
# ("How many knots").
DEVIATIONS_OF_KNOT = 30.0
FEWEST_KNOTS = 4
MOST_KNOTS = 12
# Up to so many standard deviations of noise, lines are better than hats.
DEVIATIONS_OF_LINE = 40.0
# The most bins of a column that are told apart in a pair, which has all combinations.
MOST_BINS_OF_PAIR = 256

# Warnings of columns that are lost.
#
# A column of numbers is lost if at most this share of its gaps could be read. If at least so many
# times as much could, noise hides that once in 3e6 fits, by so many standard deviations.
READ_SHARE = 0.1
HEALTHY_FACTOR = 2.5
DEVIATIONS_OF_LOSS = 5.0
# Numbers or dates among words are lost if this share of what was read is in no word that was found.
SCATTERED_SHARE = 0.25
# A learnt count must exceed so many standard deviations of noise to say what a column holds.
SHOWN_CONTENT = 4.0
