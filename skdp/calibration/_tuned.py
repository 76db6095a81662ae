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
# The search for the noise of counts stops where this part of what may be spent is spent.
LEAST_SHARE_SPENT = 0.98
