"""Numbers of calibration that were chosen, each with its reason.

doc/theory/scores.rst ("Slope and offset") derives the rules that they are in. None of them follows
the records.
"""

# Standard deviations of the prior of the slope's logarithm and of the offset: a classifier is about
# right. Where noise hides the counts, it is left unchanged.
LOG_SLOPE_SPREAD = 1.0
OFFSET_SPREAD = 0.5
# No slope's logarithm and no offset is larger: decision values this large are sure in any case.
LARGEST_PARAMETER = 12.0
# Starting points of the search: the surface may have a valley beside that of 0.
STARTS = ((0.0, 0.0), (-1.5, 0.0), (1.0, 0.0))
# Noise of a count that may be this share of the number of groups costs less than what a smaller cap
# on their rows hides: two numbers are learnt from all counts together.
QUIET_SHARE = 0.1
# A cell of no records has no variance of its own, and gets this.
LEAST_VARIANCE = 1e-3
# A record adds this part of what it adds to a count to the two numbers of places, which makes the
# noise 3 % larger. With .35 and .5, and with six bins, losses on seven public tables at epsilon .1
# were as often larger as smaller. Places are rounded to so many in a bin, and the mean place is no
# nearer to an end than this, of half the width from the middle.
PART_OF_PLACE = 0.25
PLACES_IN_BIN = 64
FARTHEST_PLACE = 0.95
# The search for the noise of counts stops where this part of what may be spent is spent.
LEAST_SHARE_SPENT = 0.98

# Numbers of conformal intervals and sets: doc/theory/conformal.rst ("Numbers that were chosen").
# Parts of 1 less the confidence level that the noise may have for its own failure: the smaller, the
# wider the band. The least costly is taken.
FAILURE_PARTS = (0.02, 0.05, 0.1, 0.2, 0.3)
# Bins of an octave of scores: more are finer, and have more noise.
BINS_OF_AN_OCTAVE = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
# Octaves of scores, the first of which begins at 2 to this: 1e-19 to 1e19.
FIRST_OCTAVE = -64
N_OCTAVES = 128
# Share of the budget that tells in which octave the quantile is, and no more. Of .2, .3 and .5 the
# first two gave like widths, the last wider ones.
OCTAVE_SHARE = 0.25
# An octave has records for certain if its count is more than so many standard deviations of the
# noise: discrete Laplace noise of all octaves stays below it in 99 of 100 fits. The quantile is
# looked for up to so many octaves above these. Where they have fewer than half of the records, more
# octaves are taken for one.
LOUD_DEVIATIONS = 6.0
OCTAVES_AT_ONCE = (1, 2, 4, 8, 16)
OCTAVES_BEYOND = 8
# Ends of bins beyond the fine ones, as octaves above the one with the quantile: where the noise
# asks for more records than the fine bins have, an interval needn't be infinite. Scores of two
# kinds, whose tail has a twelfth of the records, need the last.
BINS_BEYOND = (2, 3, 5, 9, 17)
# By default, as small a share of the records within these is kept apart for calibration as leaves
# the mean coverage above its level by less than this part of 1 less the level.
LEAST_CALIBRATION_SHARE = 0.2
MOST_CALIBRATION_SHARE = 0.5
N_CALIBRATION_SHARES = 13
ENOUGH_COVERAGE = 0.2
# The square of the band's shape is the variance of a bridge of K steps and this part of K. With it
# the band is a sixth narrower where half of the bins are passed than without, and near both ends
# narrower than one of even width.
EVEN_PART_OF_BAND = 0.125
# Paths of noise are simulated until so many are beyond the band, or until there are so many paths
# of which at least one is. More paths only make the band vary less from fit to fit.
MOST_PATHS_BEYOND = 20
MOST_PATHS = 20_000
# So many numbers are simulated at a time.
SIMULATED_AT_ONCE = 1_000_000
