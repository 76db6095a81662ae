"""Numbers of private scores that were chosen, each with its reason.

doc/theory/scores.rst derives the rules that they are in. None of them follows the records.
"""

# Rows of a group that are counted lie within these, as in fits (doc/theory/people.rst, "Numbers
# that must not depend on the rows").
LEAST_ROWS_PER_GROUP = 2
MOST_ROWS_PER_GROUP = 16
# Noise may be this share of the number of groups: what a smaller cap hides is mostly more.
QUIET_SHARE = 0.02
# Bins of a probability are even in this power of its rank. It was chosen on seven sets of records,
# where it was best or near it for rare classes and even ones ("The area under the curve").
GRADE = 0.75
# Probabilities of the true class below this count as this much: the logarithm has no bound.
LEAST_PROBABILITY = 1e-4
# With so many nodes of targets their squares are exact in the mean ("The score R2").
MOST_TARGET_NODES = 8
# Deviances of amounts are clipped to this, which is that of a target 7 times its prediction.
LARGEST_GAMMA_DEVIANCE = 8.0
# D2 is a share of the mean deviance of targets, on so many nodes, from their mean ("The score D2").
NULL_NODES = 32
# A bin of a calibration curve is shown where it has more records than so many standard deviations
# of its noise.
SHOWN_DEVIATIONS = 3.0
# The number of bins for an area is this times the power of 2 / 5 of n over the noise, within these
# ends: the noise grows with the root of their number, the error of binning falls with its square,
# and usual scores have this constant ("The area under the curve"). Scores that lie close together
# are in two of fewer bins than the least, and intervals miss.
BINS_FACTOR = 0.72
LEAST_BINS = 10
MOST_BINS = 512
# The number of nodes for a mean lies within these ("Means of losses").
LEAST_NODES = 3
MOST_NODES = 1024
# Values within a bin or between nodes are made up as if records lay evenly there. This part of what
# that makes up is taken for the standard deviation of the error that is left.
UNEVEN_PART = 0.4
