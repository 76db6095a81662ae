"""Numbers of private transformers that were chosen, each with its reason.

doc/theory/preprocessing.rst ("Constants chosen by experiment") and doc/theory/categories.rst derive
the rules that they are in. None of them follows the records.
"""

# Thresholds of a column's distribution function. Its noise grows with the logarithm of their number
# only, and this many tell ranges that are ten times too wide apart from what is there.
N_THRESHOLDS = 1023
# A logarithmic grid halves what is left of a range so many times.
OCTAVES = 40
# A share of records is taken for none up to so many standard deviations of its noise. Two cut off
# too much, and half of one too little, on three tables with bounds ten times too wide.
HIDDEN_DEVIATIONS = 1.0
# However much that is, the middle half of the records is looked for.
LARGEST_HIDDEN_SHARE = 0.25
# Share of a scaler's budget that finds where records are; the rest buys means and squares. Shares
# between 0.5 and 0.85 make little difference.
LOCATION_SHARE = 0.7
# Share of records that may lie beyond each end of where they are found to be.
TAIL_SHARE = 0.01
# Share of delta for categories of a single record. A ledger keeps 2 % of its delta for erasures, so
# that twenty discoveries of the ledger's delta fit in. More would lower the threshold by 9 %.
ERASURE_SHARE = 1e-3
# With a smaller delta nothing, or a number of few digits, would be left for that share.
LEAST_DELTA = 1e-300
# Halvings of a range in search of its median: a 4096th of it, which is fine enough where bounds are
# ten times too wide, and each one more costs 4 % of noise ("Median" in doc/theory/categories.rst).
N_HALVINGS = 12
# Variance of a column's mean in units of half its range, before anything is known of it: that of a
# mean which may be anywhere in the range ("Mean" in doc/theory/categories.rst).
PRIOR_VARIANCE_OF_MEAN = 1.0 / 3.0
