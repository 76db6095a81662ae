"""Numbers of DP-CD that were chosen, each with its reason.

doc/theory/default_rules.rst derives the rules that they are in, under "DP-CD", whose paragraphs are
named here. There nu is the noise of one pass that spends the whole budget, and k the clip in units
of a column's standard deviation.
"""

# The number of passes is the first number over the root of nu, within the next two: more reach
# directions in which features are correlated, and make single updates noisier ("Passes").
PASSES_PER_NOISE = 2.0
FEWEST_PASSES = 10
LARGEST_N_PASSES = 50
# Where slopes are bounded and nu is above 1/4, fewer passes allow a larger clip. They are this over
# the root of nu, and at least the second number ("Passes").
SETTLED_PASSES_PER_NOISE = 5.0
FEWEST_SETTLED_PASSES = 5
# Without privacy so many passes come close to the optimum.
PASSES_WITHOUT_PRIVACY = 100
# A step is this over the column's smoothness: the minimum of the quadratic that bounds the loss.
STEP_SIZE = 1.0

# The clip k is the first number over the root of nu, at most the second: the first was fitted, and
# the optimum is flat. Slopes of a very rare class are longer than any such clip ("Clipping").
CLIP = 0.18
LARGEST_CLIP = 3.0
# Where rows are clipped as a whole and slopes have no bound, k and its largest value are so many
# times as large, because lengths of rows vary less than their entries. R2 grew on all tables that
# were tried ("Clipping").
CLIP_FACTOR_BY_ROW = 0.5
# The noise of the last update of all columns moves predictions by at most this share of the loss's
# typical prediction ("Clipping").
LARGEST_NOISE_OF_PREDICTION = 0.15
# Up to this nu slopes are scaled rather than cut, because bias is then more than noise ("Scaling").
LARGEST_NOISE_TO_SCALE = 0.07
# Scaled slopes have about this share of the curvature ("Scaling").
SCALED_CURVATURE = 0.5

# The penalty of shrinkage is this times nu over the loss's typical prediction ("Shrinkage").
SHRINKAGE = 1.0
# It is at most this share of the curvature of the loss: correlated columns hold more of the signal
# than the derivation assumes. With 400 rows of breast cancer at epsilon 0.1, accuracy lost 0.05
# with this limit and 0.59 without it ("Shrinkage").
LARGEST_SHRINKAGE = 0.08

# The size of the features' means relative to their mean squares where one release tells both. At
# this weight, means raise the noise of mean squares by an eighth ("Bought means").
WEIGHT_OF_MEANS = 0.5
# The intercept has so many steps of its own: one before all others, to the best constant, and eight
# after them, as iterates carry more noise than their mean ("The intercept").
STEPS_OF_INTERCEPT = 9
