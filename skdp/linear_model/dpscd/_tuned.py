"""Numbers of DP-SCD that were chosen, each with its reason.

doc/theory/default_rules.rst derives the rules that they are in, under "DP-SCD", whose paragraphs
are named here. They were chosen on the sets of benchmarks/utility.py. There R is the bound on a
row, s_1 the noise multiplier of one release of all rows that spends the budget, and n the number of
rows.
"""

# The strength of the proximal term over R^2 s / n, for each column, and for each column and unit of
# s_1 / n. The first is best where important directions are as strong as the average, the second
# where they are far weaker, as with one-hot columns ("Strength").
PULL_PER_COLUMN = 1.0 / 30.0
PULL_PER_COLUMN_AND_NOISE = 3.0
# With more columns, such as pixels, a few directions hold most of the mean squares ("Strength").
LARGEST_COUNTED_COLUMNS = 100
# The intercept's column, a third of R, has the mean square of each of so many columns ("Strength").
COLUMNS_OF_INTERCEPT = 9

# Up to this curvature of a batch, five times the least of the logistic loss's conjugate, a dual
# variable still reaches its value in ten passes ("Batches").
LARGEST_CURVATURE = 20.0
# From this u = P L s_1^2 / n on, small batches have a tenth more noise at most ("Batches").
LARGE_BATCH = 2.0
# Batches have at most this share of the rows, so that a pass takes some steps ("Batches").
LARGEST_BATCH_SHARE = 0.1

# The share of its range that a dual variable may reach falls with s_1 / n by this rate, as noise is
# proportional to it, and never below the second number: a smaller share biases the rows that are
# predicted worst ("Clipping").
DUAL_SHARE_PER_NOISE = 150.0
SMALLEST_DUAL_SHARE = 0.6

# The share of the iterates that aren't averaged: a half, as published, and more where the centre
# moves for most of training ("Averaging").
SKIPPED_SHARE = 0.5
SKIPPED_SHARE_WITH_CENTRE = 0.75
