"""Numbers of families that were chosen, each with its reason.

doc/theory/whitening.rst derives the forms that they are in; sections are named here. Whatever they
are, the guarantee holds.
"""

# Models of counts and amounts. Linear predictors are within this of the mean's: a factor of 1,100,
# so that no exponential overflows ("Losses without a smooth slope").
LARGEST_LINEAR_PREDICTOR = 7.0
# The share of what is left after targets and ball that sums of amounts and of what is expected of
# them have, by which the mean is mended in the end. .05 and .2 were as good ("The mean in the
# end").
SHARE_OF_SIDES = 0.1
# The mean that is expected of a row is mostly within so many times that of all.
LARGEST_EXPECTED = 3.0
# The width of the smoothed pinball, in spreads of the targets. A narrower one is closer to the
# pinball, and its derivative is steeper.
PINBALL_WIDTH = 0.03

# Where fewer rows than this share have an exposure, a fit warns. With a tenth of 6,000 rows rates
# were up to a fifth too low at epsilon 1, and with a fiftieth of 20,000 up to eight times too high.
FEWEST_EXPOSED = 0.2
