"""Numbers of greedy DP-CD that were chosen, each with its reason.

doc/theory/greedy.rst has the rules that they are in, under "Defaults". They were chosen on tables
made like "text" and "one-hot" of doc/user_guide/dpcd.rst, with other seeds, at epsilon 0.5 to 4.
"""

# The share of squared mu that choices spend, and steps the rest.
SHARE_OF_CHOICES = 0.65
# The size of the sum of squares in a step's release, relative to that of the slopes. The curvature
# only sets the length of a step, and at this weight it raises the noise of slopes by an eighth.
WEIGHT_OF_SQUARES = 0.5
# Slopes are clipped to this, for targets within [-1, 1] and for two classes, whose slopes are
# scaled. Several or weighted classes have the largest slope of their loss instead.
CLIP = 0.5
# Steps are so many times as long where slopes are scaled, which reduces the curvature: at twice the
# length they would swing about the optimum of balanced classes.
STEP_SIZE_OF_SCALED_SLOPES = 1.5

# The number of steps is this times the power 2/3 of what noise lets slopes tell, the power of
# Talwar, Thakurta and Zhang (2015), within bounds: a model of fewer than five steps tells little,
# and more steps than the last number would only cost time.
STEP_FACTOR = 0.33
FEWEST_STEPS = 5
LARGEST_N_STEPS = 10_000
# Without privacy, steps as many as so many passes over the columns come close to the optimum.
PASSES_WITHOUT_PRIVACY = 100
