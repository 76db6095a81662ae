"""Numbers of DP-SGD that were chosen, each with its reason.

doc/theory/default_rules.rst derives the rules that they are in, under "DP-SGD". What differs by
loss (`noise_reach` and `clip_decay`) stands with the losses. Where neither a reason nor a paragraph
is named, a number was chosen on public tables.
"""

# Passes over the rows for max_iter="auto". Poisson batches gain from more passes, as their noise is
# shared by all steps; a record of a disjoint batch takes part in one release a pass, and its
# epsilon is shared by the passes.
GAUSSIAN_PASSES = 10
LAPLACE_PASSES = 1

# Batches. Below this noise multiplier of a step, smaller batches cost noise ("Batches").
LOUD_NOISE_MULTIPLIER = 1.25
# Larger batches leave at least so many steps, of which few rows need some to arrive ("Batches").
FEWEST_STEPS = 300
# All batches have at least so many rows, so that the cost of a step is in proportion.
SMALLEST_BATCH = 8
# Without smoothness, steps can't be longer instead of more. Batches are then the root of the number
# of rows over this, which lies in the flat part of the optimum; for smooth losses twice that is
# quick and costs nothing.
POISSON_BATCH_DIVISOR = 4.0
# Disjoint batches are the root of rows times noise over this, as was found best, and there are at
# least so many of them, so that there are some steps to take ("Batches").
DISJOINT_BATCH_DIVISOR = 3.0
FEWEST_DISJOINT_BATCHES = 40

# Steps. The reach is the length of so many coordinates of the optimum. Where there are more, those
# of the optimum weren't found to shrink further ("How long").
LARGEST_COUNTED_COLUMNS = 64
# With few rows no direction is learnt fully: the noise of a prediction is at most this share of the
# inverse noise of the mean gradient ("How long").
LARGEST_NOISE_OF_PREDICTION = 0.1
# Momentum remembers at most this share of the steps; what is older is no help to them ("Momentum").
LARGEST_MEMORY = 1.0 / 15.0
# Without smoothness no step moves a prediction by more than this share of the reach ("Momentum").
LARGEST_STRIDE = 0.2
# The subgradient method without noise assumes the optimum at this share of the reach.
DISTANCE_OF_OPTIMUM = 0.8
# Slopes of smooth losses are cut to this in streams, whose length, and so whose noise, nobody knows
# ("The clip").
STREAM_SLOPE = 0.3
# The mean of a stream's iterates counts the t-th of T about as t to this power: late ones matter
# most (Shamir and Zhang 2013).
STREAM_AVERAGE_POWER = 3.0
