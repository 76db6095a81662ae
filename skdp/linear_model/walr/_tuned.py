"""Numbers of WALR that were chosen, each with its reason.

doc/theory/walr.rst derives the rules that they are in. None of them follows labels, so that a poor
choice costs accuracy and no privacy.
"""

import numpy as np

# These are assumed of labels before any is read, under "Flipped labels" and "The shape of the
# noise". The curvature of the loss is this share of the rows' second moment: p (1 - p) of a rather
# sure model, whose largest value is 0.25.
CURVATURE_SHARE = 0.1
# Scores have this variance: most odds are then between 1 to 50 and 50 to 1.
SCORE_VARIANCE = 4.0
# Adapted noise is less than spherical noise, so it needs this share of the regularisation that
# would be best for spherical noise.
ALPHA_SHARE = 0.3
# The square of a weight is expected to be proportional to this power of the curvature of its
# direction, negated. Powers from 0 to 1 were compared on three data sets ("Regularisation").
WEIGHT_POWER = 0.5
# A class's share is drawn to equal shares as a share of this prior variance is: the standard
# deviation is a quarter ("The intercept").
CLASS_SHARE_VARIANCE = 1.0 / 16.0
# The intercept's column is the longest row divided by this power of the number of features. It was
# the best of 0, 1/4 and 1/2 on two data sets ("The intercept").
INTERCEPT_POWER = 0.25

# The search for the shape of the noise ("The shape of the noise") stops after so many rounds, or
# where the longest squared row is within this factor of the mean.
DESIGN_ITERATIONS = 30
DESIGN_TOLERANCE = 1.05
# It looks at so many rows at even distances and at so many of the longest, and adds rows that turn
# out to be longer so many times. The longest rows decide the shape, and a design of all rows would
# take longer. Whatever the shape, the noise serves the longest of all rows.
EVEN_DESIGN_ROWS = 2500
LONG_DESIGN_ROWS = 1500
DESIGN_ROUNDS = 4
# Adapting the noise and comparing the mechanisms take several cubes of the number of columns. Up
# to this number they are the default.
LARGEST_ADAPTED_COLUMNS = 500
# The covariance of the noise of more columns would take more than three gigabytes.
LARGEST_N_COLUMNS = 20_000
# Below this epsilon flipped labels carry almost no information, and aren't compared.
SMALLEST_RESPONSE_EPSILON = 1e-6

# The grid of the variances of weights, as logarithms: a factor of 1.28 apart, over 13 powers of 10,
# so that its ends are never the likeliest of data in double precision.
LOG_WEIGHT_SIZES = np.linspace(-15.0, 15.0, 121)
# The number of strengths of which the one of the smallest expected loss is taken.
N_ALPHAS = 241
# The factor by which a second look may change the automatic strength: a model that fits the noise
# is sure of everything ("Regularisation").
LARGEST_ALPHA_CORRECTION = 4.0
# A path reaches from the automatic strength times this number to a share of as many.
PATH_FACTOR = 1e3
# More strengths would be a mistake of the caller's.
LARGEST_N_ALPHAS = 10_000

# Columns up to which an eigendecomposition makes the problem round for L-BFGS.
LARGEST_DENSE_COLUMNS = 1500
# L-BFGS stops at a gradient of this size, which was chosen to be far below the noise of releases.
GRADIENT_TOLERANCE = 1e-8
# Passes of each solver for max_iter="auto". "lbfgs" nearly always stops before by itself; plain
# descent needs as many, and its batches of BATCH_SIZE rows, those of the note, fewer.
PASSES = {"lbfgs": 1000, "gd": 1000, "hybrid": 20}
BATCH_SIZE = 256
