r"""Texts that public docstrings share: each is written once, and filled in where it is named.

By the name of what is described and, where some have a text of their own, by theirs.

[accountant]
accountant : {"pld", "rdp"}, default="pld"
    How the privacy of all releases is composed. Batches are full, so "pld" is a closed form, which
    is exact; "rdp" uses Renyi differential privacy (for comparison; zero_out only).

[accountant:dpsgd]
accountant : {"pld", "rdp"}, default="pld"
    How the privacy of many steps is composed: privacy loss distributions (tight) or Renyi
    differential privacy (for comparison; zero_out only). Without effect for
    ``mechanism="laplace"``, where epsilons are added.

[adjacency]
adjacency : {"zero_out", "replace_one"}, default="zero_out"
    Which data sets are neighbouring. One record is replaced by a null record that contributes
    nothing ("zero_out"), or by any other record ("replace_one"). The second needs about twice the
    noise.

[adjacency:score]
adjacency : {"zero_out", "replace_one"}, default="zero_out"
    Which data sets are neighbouring; see :func:`private_score`.

[average_every]
average_every : int, "auto" or None, default="auto"
    Passes between averagings. Each averaging replaces the iterate by the mean of the iterates since
    the last one. It costs no privacy. None averages nothing. "auto" averages the second half of the
    passes once, before the penalty is applied, so a coefficient that is 0 on average stays exactly
    0. It also adds nine steps of the intercept alone, at the start and at the end. Without privacy
    it averages nothing.

[average_over]
average_over : {"rows", "groups"}, default="rows"
    What counts alike: "rows", as in a fit with `groups`, up to `rows_per_group` of a group, or
    "groups", of each of which one row is counted, drawn at random; see :func:`private_score`.

[ax]
ax : matplotlib Axes, default=None
    Where to draw; None makes a figure.

[batch_size]
batch_size : int or "auto", default="auto"
    Expected number of rows per step. "auto" is a function of n_samples, n_features and the
    parameters: a quarter of the square root of n_samples, at least 8, or more where small batches
    would add noise (for ``solver="dual"``).

[batch_size:dpsgd]
batch_size : int or "auto", default="auto"
    Rows per step: the expected number for Gaussian noise, the largest number for Laplace noise.
    "auto" is a function of public numbers: half the square root of n_samples, at least 8, or more
    for Gaussian noise where a smaller batch would gain no further amplification. With personal
    budgets, records of a smaller epsilon have larger batches.

[ball_budget]
ball_budget : float or "auto", default="auto"
    Share of the budget (of the squared Gaussian-DP parameter), in [0, 1), for learning the ball
    that contains the rows: a centre, a scale for each column, and a radius. `alpha` penalises the
    scaled columns, as after a StandardScaler, and rows beyond the radius count less. With 0 no ball
    is learnt, and rows are clipped to `data_norm` about 0. "auto" is 0.12, and up to 0.5 where the
    records are so few that only a radius about 0 is learnt. Parts that noise would hide are not
    learnt. If that includes a scale for each column (``scale_`` is then one number), columns of
    large numbers dominate the others: bring them to similar units, for example with
    `skdp.preprocessing.BoundsScaler`. For a regressor without `target_bounds`, a quarter of the
    share learns these; "auto" is then 0.04 more, and up to 0.2 with few records.

[ball_budget:dpcd]
ball_budget : float or "auto", default="auto"
    Share of the budget (of the squared Gaussian-DP parameter), in [0, 1), for learning the ball
    that contains the rows: a centre, a scale for each column, and a radius. `alpha` penalises the
    scaled columns, as after a StandardScaler, and rows beyond the radius count less. Values are
    then not clipped: `data_norm` and `feature_bounds` only bound the length of rows. `coef_bounds`
    stay in units of X. With 0 no ball is learnt. "auto" is 0.12, more where the records are few,
    and 0 where noise would hide the ball, where a `clipping_norm` is given, and where `smoothness`
    isn't "private": these refer to rows that are not scaled. For a regressor without
    `target_bounds`, a quarter of the share learns these; "auto" is then 0.04 more, and up to 0.2
    with few records.

[ball_budget:dpscd]
ball_budget : float or "auto", default="auto"
    Share of the budget (of the squared Gaussian-DP parameter), in [0, 1), for learning the ball
    that contains the rows: a centre, a scale for each column, and a radius. `alpha` penalises the
    scaled columns, as after a StandardScaler, and rows beyond the radius count less. Other settings
    are for rows as long as `data_norm`, and follow the radius. With 0 no ball is learnt, and rows
    are clipped to `data_norm` about 0. "auto" is 0.12, more where the records are few, and 0 where
    noise would hide the ball, where a `clipping_norm` is given, and with ``noisy_dual=True`` or
    another solver than "dual": these refer to rows that are not scaled. For a regressor without
    `target_bounds`, a quarter of the share learns these; "auto" is then 0.04 more, and up to 0.2
    with few records.

[ball_budget:dpsgd]
ball_budget : float or "auto", default="auto"
    Share of the budget (of the squared Gaussian-DP parameter), in [0, 1), for learning the ball
    that contains the rows: a centre, a scale for each column, and a radius. `alpha` penalises the
    scaled columns, as after a StandardScaler, and rows beyond the radius count less. Other settings
    are for rows as long as `data_norm`, and follow the radius. With 0 no ball is learnt, and rows
    are clipped to `data_norm` about 0. "auto" is 0.12, more where the records are few, and 0 where
    noise would hide the ball, and for ``mechanism="laplace"``. For a regressor without
    `target_bounds`, a quarter of the share learns these; "auto" is then 0.04 more, and up to 0.2
    with few records.

[ball]
center_ : ndarray of shape (n_features,)
    Learnt centre of the rows; 0 without an intercept. This attribute and the next two exist only if
    a ball was learnt.
scale_ : ndarray of shape (n_features,)
    Divisors of the columns: about the size of most of their entries that are not 0. Without
    privacy, their standard deviations.
radius_ : float
    Radius of the ball. Rows ``(x - center_) / scale_`` that are longer count less, by the radius
    over their length.

[BudgetExceededError]
BudgetExceededError
    If there is a ledger, and too little is left in it.

[class_weight]
class_weight : dict, default=None
    Public weights of the classes, by label; a class without one has 1. A record counts as many
    times as the weight of its label, and is clipped to the same bound as all others, so the label
    stays private. Weights that balance classes are ``1 / (n_classes * share)``, with shares that
    are known or guessed without the data. "balanced" would read the shares from the data, and is
    refused. None gives all classes the weight 1.

[classes]
classes : array-like, default=None
    The class set. None reads it from y, which reveals whether a rare class occurs; declare it if
    that is not public. Labels outside it are refused, classes without a row are kept.

[classes_]
classes_ : ndarray of shape (n_classes,)
    Class labels, sorted.

[clipping_norm]
clipping_norm : float or "auto", default="auto"
    Factor C of the clipping thresholds ``C_j = sqrt(M_j / sum(M)) C``, where M is the smoothness.
    They bound what one row contributes to the j-th entry of the gradient; see `clip_by`. "auto"
    follows from M, the sizes and the privacy parameters: the less noise, the less clipping. It
    gives the intercept a bound of its own, so the slopes of a rare class are not clipped.

[clip_by]
clip_by : {"row", "entry"}, default="row"
    What is clipped. "entry", as in the paper, clips the j-th entry of a row's contribution to C_j.
    "row" clips the slope of a row, so that over a pass the squares of its entries divided by C_j
    add up to at most the number of features. The noise is the same, and less is clipped.

[clipping_norm:dpscd]
clipping_norm : float or "auto", default="auto"
    Clipping bound on the contribution of one row to a release, in the units of its dual variable
    times its norm (for ``solver="primal"``: on the update of a coefficient times its column's norm
    bound). With a centre, "auto" is so large that all passes together can move a dual variable
    through its range, or through 0.6 of it where the noise is large. Without a centre, "auto"
    balances the noise in a prediction against how far the rows can move it. Both are functions of
    n_samples and the parameters.

[clipping_norm_]
clipping_norm_ : float or None
    The factor C of the clipping bounds; None where it follows from privately released smoothness
    constants, and so isn't public.

[coef_]
coef_ : ndarray of shape (n_features,) or (n_outputs, n_features)
    Coefficients, in the units of y. A table of one target has the shape of a flat y here and in
    predictions, as for scikit-learn's Ridge; `intercept_` is an array then.

[coef_:classification]
coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
    Coefficients; one row if there are two classes.

[data_norm]
data_norm : float, default=None
    Public bound on the L2 norm of a row. Where no ball is learnt (see `ball_budget`), longer rows
    are clipped to it in `fit`, but not in `predict`: put
    ``skdp.preprocessing.NormClipper(data_norm)`` before the estimator. None clips no row: the
    guarantee doesn't need it. Where rows are known to be short, the bound lets
    ``clipping_norm="auto"`` choose a smaller one.

[data_norm:classification]
data_norm : float, default=1.0
    Public bound on the L2 norm of a row. Where a ball is learnt (see `ball_budget`), it may be far
    too wide. Otherwise longer rows are clipped to it in `fit`, but not in `predict`: put
    ``skdp.preprocessing.NormClipper(data_norm)`` before the estimator, or probabilities of long
    rows are overconfident. In that case take the length of a typical row: ``sqrt(0.2 * a + b)`` for
    `a` numbers in [-1, 1] and `b` one-hot coded columns, counted before coding. A bound ten times
    too wide can cost all accuracy. `skdp.preprocessing.BoundsScaler` gives features public ranges.

[data_norm:regression]
data_norm : float, default=1.0
    Public bound on the L2 norm of a row. Where a ball is learnt (see `ball_budget`), it may be far
    too wide. Otherwise longer rows are clipped to it in `fit`, but not in `predict`: put
    ``skdp.preprocessing.NormClipper(data_norm)`` before the estimator, or predictions for long rows
    are far off. In that case take the length of a typical row: ``sqrt(0.2 * a + b)`` for `a`
    numbers in [-1, 1] and `b` one-hot coded columns, counted before coding. A bound ten times too
    wide can cost all accuracy. `skdp.preprocessing.BoundsScaler` gives features public ranges.

[data_norm:whitened]
data_norm : float or None, default=None
    Public bound on the L2 norm of a row. None sets no bound: a ball that contains the rows is
    learnt, see `ball_budget`. A bound makes this cheaper. Where there is too much noise to learn a
    ball, rows are clipped to the bound in `fit` (not in `predict`).

[delta]
delta : float or "auto", default="auto"
    Probability, in (0, 1), that the loss may exceed `epsilon`. "auto" is 1e-5, or ``0.1 / n`` where
    that is less; n is the number of records, or of people where groups are given.

[delta:score]
delta : float or "auto", default="auto"
    Probability, in [0, 1), that the loss may exceed `epsilon`. With 0 the guarantee is pure, and
    for a single release the noise is mostly the smallest. "auto" is 0 without a ledger. With one,
    whose charge for 0 is mostly far more than `epsilon`, it is the delta of the ledger's budget; it
    stays 0 for ``mechanism="laplace"``, and where the pure release costs the ledger less, as it
    does for large deltas. The report states the delta that was used.

[delta:short]
delta : float or "auto", default="auto"
    Probability, in (0, 1), that the loss may exceed `epsilon`; "auto" is 1e-5, and ``0.1 / n`` for
    more than 10,000 records.

[epsilon]
epsilon : float, default=1.0
    Privacy loss, above 0. ``float("inf")`` runs the same code without noise or bounds.

[epsilon:score]
epsilon : float
    Privacy loss, above 0. ``float("inf")`` adds no noise.

[errors]
coef_std_error_ : ndarray of the shape of `coef_`
    Standard errors, for sampling and privacy noise together; nan where there is none. This
    attribute and the next four exist only with ``inference=True``.
intercept_std_error_ : float or ndarray of the shape of `intercept_`
    Standard error of the intercept.
inference_quality_ : {"yes", "wide", "weighted", "no"}
    Whether intervals have their stated coverage of the coefficients, have at least that, are of the
    weighted regression instead, or can't be given. "weighted" is that of fits without `data_norm`:
    rows longer than ``radius_`` count less, and the coverage is at least that stated, of the
    weighted coefficients and not of the unweighted ones. No quality can detect large errors in few
    rows; `summary` says in how few.
inference_reasons_ : tuple of str
    Why the quality isn't "yes".
weighted_share_ : float
    Estimated share of the rows that count less, from released counts. It exists only where the
    quality may be "weighted". However small it is, weighted and unweighted coefficients may be far
    apart.

[estimator]
estimator : estimator
    An estimator of skdp that protects rows, a :class:`~skdp.pipeline.DPPipeline` or
    :class:`~skdp.calibration.DPCalibratedClassifier` of such, or a pipeline of scikit-learn that
    ends in one and whose other steps learn nothing: :class:`~skdp.preprocessing.BoundsScaler`,
    :class:`~skdp.preprocessing.NormClipper`, :class:`~skdp.preprocessing.DPOneHotEncoder` with
    lists of all categories, :class:`~skdp.preprocessing.DPSimpleImputer` with
    ``strategy="constant"``, and ColumnTransformer of these with columns by name or position,
    FeatureUnion and Pipeline. The search sets its epsilon, delta, adjacency, ledger and
    random_state. Leave their defaults, which count as unset; values that differ from those of the
    search are an error.

[eta0]
eta0 : float or "auto", default="auto"
    First step size. "auto" balances the noise that a fit adds to the weights against how far its
    rows can move them; it is a function of the numbers of rows and columns and of the parameters.
    Where steps would be too long to be stable, "auto" also uses momentum. In `partial_fit`, where
    the number of later calls is unknown, it falls with the number of calls. Ignored for
    ``learning_rate="inv_alpha"``.

[feature_bounds]
feature_bounds : pair (low, high), default=None
    Public range of the features, two numbers or two array-likes of shape (n_features,): (lows,
    highs). For two features a list of two pairs is refused, because it can be read in two ways, and
    a tuple of two lists isn't. Where no ball is learnt (see `ball_budget`), values beyond the range
    are clipped to it in `fit`, but not in `predict`: where there are many, predictions are far off.
    None means ``(-data_norm, data_norm)``, or ``(-1, 1)`` without a `data_norm`, which suits
    features scaled by `skdp.preprocessing.BoundsScaler`; raw ones need bounds of their own.

[feature_bounds:dpscd]
feature_bounds : pair (low, high), default=None
    Public range of the features, two numbers or two array-likes of shape (n_features,), which for
    two features must be a tuple of lists or arrays. It is for ``solver="primal"`` only, which clips
    values to it after rows are clipped to `data_norm`. None means ``(-data_norm, data_norm)``.

[feature_bounds:transformer]
feature_bounds : pair (low, high), default=(-1.0, 1.0)
    Public range of the features: two numbers for all features, or two array-likes of shape
    (n_features,): (lows, highs). For two features a list of two pairs is refused, because it can be
    read in two ways, and a tuple of two lists isn't. Choose them by the meaning of the features,
    never from the data. A range ten times too wide costs little. A range that is too narrow hides
    the values beyond it.

[feature_names_in_]
feature_names_in_ : ndarray of shape (n_features,)
    Names of the features, where X had string column names.

[figure_]
figure_ : matplotlib Figure
    Figure of the axes.

[fit_intercept]
fit_intercept : bool, default=True
    Whether to fit an intercept. It is penalised like the coefficients, by its distance from the
    middle of the bounds of the targets, given or learnt (from 0 without them). It belongs to a
    constant column, equal to a third of the ball's radius, or of `data_norm` where no ball is
    learnt.

[fit_intercept:classification]
fit_intercept : bool, default=True
    Whether to fit an intercept. It is penalised like the coefficients, as in LinearSVC. It belongs
    to a constant column, equal to a third of the ball's radius, or of `data_norm` where no ball is
    learnt.

[fit_intercept:dpcd]
fit_intercept : bool, default=True
    Whether to fit an intercept. It is penalised like the coefficients, by its distance from the
    middle of the bounds of the targets, given or learnt (from 0 without them). It belongs to a
    constant column, equal to a third of the ball's radius, or of `data_norm` where no ball is
    learnt (1 / 3 without it). `positive` and `coef_bounds` leave it free.

[group_size]
group_size : int
    Number of records that may change together.

[groups]
groups : array-like of shape (n_samples,), default=None
    See :func:`private_score`.

[errors:dask]
RuntimeError
    If a task fails on the workers; what it says isn't repeated.
TypeError
    If X, y or groups is no Dask collection.
ValueError
    If a parameter or the input is invalid, or rows of a group lie in two partitions; no
    message quotes an entry of the data.

[groups:dask]
groups : dask.array.Array or dask.dataframe.Series of shape (n_samples,), default=None
    The person, household, ... of each row, as words or numbers, in the same partitions, of
    which one has all rows of a group. Then the guarantee is for one group, with all its
    rows, and the number of groups is public. None: each row is a record.

[groups:drawn]
groups : array-like of shape (n_samples,), default=None
    The person, household, ... of each row, as hashable ids. The guarantee is then for one group,
    with all its rows. One row of each group counts, drawn at random. The number of groups is
    public. A Series must have the index of X. With None each row is a record.

[groups:whitened]
groups : array-like of shape (n_samples,), default=None
    The person, household, ... of each row, as hashable ids. The guarantee is then for one group,
    with all its rows. The number of groups is public; the number of rows of each group is not. The
    number of groups sets `delta`, and divides the sum over all rows in the objective. Under
    "zero_out" a part of a group, such as one of its rows, has the guarantee of
    ``privacy_report_.epsilon_at(delta, group_size=2)``. A Series must have the index of X, as ids
    are matched with rows by their place. With None each row is a record.

[guarantee:transformer]
**Guarantee.** The fitted attributes are (`epsilon`, `delta`)-differentially private for one row
under `adjacency`, for any data, whatever the other parameters. ``privacy_report_`` lists what is
assumed public and what is not covered. The output of `transform` for private rows is as private as
these rows: pass it to a private estimator, whose guarantee composes with this one.

[ImportError]
ImportError
    If matplotlib is missing.

[inference]
inference : bool, default=False
    Whether to also release what standard errors and confidence intervals need, within the same
    budget: see `conf_int` and `summary`. It supports one target, or two classes. The coefficients
    then come from other steps, for which `step_size`, `average` and, where there is one, `momentum`
    must keep their defaults. "auto" then means a `moment_budget` of 0.3, and a `max_iter` of 32;
    `max_iter` must be at least 12. With a `data_norm` no ball is learnt (`ball_budget` must be
    "auto" or 0), and every row within it counts whole: take one that no row exceeds, as longer rows
    count less. Without it rows beyond the learnt radius count less, and intervals are of that
    weighted regression, not of the unweighted coefficient: see ``inference_quality_``. `DPRidge`
    has no intervals without bounds of targets, given or learnt. doc/theory/inference.rst derives
    them.

[intercept_]
intercept_ : float or ndarray of shape (n_outputs,)
    Intercept.

[intercept_:classification]
intercept_ : ndarray of shape (1,) or (n_classes,)
    Intercepts.

[l1_ratio]
l1_ratio : float, default=0.5
    Share of the L1 penalty for ``penalty="elasticnet"``.

[ledger]
ledger : str, path or PrivacyLedger, default=None
    Budget of the study, to which a fit is charged before its noise is drawn; see
    :class:`skdp.ledger.PrivacyLedger`. None uses the ledger that the environment variable
    ``SKDP_LEDGER`` names; without it nothing is recorded.

[ledger:score]
ledger : str, PathLike, PrivacyLedger or None, default=None
    Ledger to which the release is charged; see :mod:`skdp.ledger`.

[LedgerError]
LedgerError
    If the file can't be used.

[LedgerError:score]
skdp.exceptions.LedgerError
    If there is a ledger, and it refuses this release.

[mechanism]
mechanism : {"auto", "laplace", "gaussian"}, default="auto"
    Noise; see :func:`private_score`.

[mechanism:dpsgd]
mechanism : {"gaussian", "laplace"}, default="gaussian"
    "gaussian" draws Poisson batches, which amplify privacy. "laplace" gives the pure guarantee
    (delta = 0) of the paper, by spherical noise on disjoint batches. These are drawn without
    looking at the data, so a record takes part in one release per pass. Several passes share
    `epsilon`. It allows personal budgets (see `fit`) and streams (`partial_fit`).

[method:dpcd]
Algorithm 1 of [1]_: each step releases one coordinate of the gradient over all rows, and takes a
proximal step along it. The coordinates of a pass come in random order, while the paper draws each
independently. Coordinates whose features are small have small bounds, little noise and long steps,
so features need not have the same scale. With ``clip_by="row"`` a pass over the features is one
Gaussian release. The noise is that of the exact composition of Gaussian mechanisms.

[moment_budget]
moment_budget : float or "auto", default="auto"
    Share of the budget, in [0, 1) and in terms of the squared parameter of Gaussian differential
    privacy, for releasing the second moment of the rows. "auto" is 0.1, and 0 above 2,000 columns,
    where computing the eigenvectors of the moment would take longer than the rest of the fit. With
    0 rows aren't whitened, which is less accurate wherever columns are correlated or of uneven
    scale.

[guarantee:generalized]
**Guarantee.** The fitted attributes are (`epsilon`, `delta`)-differentially private for one row
(its features and its target) under `adjacency`, for any data, whatever the other parameters; for a
fit with `groups`, for one group, which is all rows of a person. ``privacy_report_`` lists what is
assumed public and what is not covered.

[search]
epsilon : float, default=1.0
    Privacy loss of the whole search, above 0. ``float("inf")`` runs the same code without noise
    or bounds.
delta : float or "auto", default="auto"
    Probability, in [0, 1), that the loss may exceed `epsilon`. "auto" is 1e-5, or ``0.1 /
    n_samples`` where that is less. With 0 the candidates must be pure, such as
    ``DPSGDClassifier(mechanism="laplace")``.
{adjacency}
scoring : str, default=None
    A score of :func:`skdp.metrics.private_score`. None means "accuracy", or
    "neg_mean_squared_error" for a regression. Targets are scored within the estimator's
    `target_bounds`, which must be given where a fit would learn them.
validation_size : float, default=0.25
    Share of the rows, in (0, 1), that models are scored on. Models are fitted on the others,
    and the best one isn't fitted again.
n_trials : float or "auto", default="auto"
    Mean of the number of trials for ``method="repeat"``, at least 1. The mean is public, but
    the number isn't. "auto" is three for each candidate, or six without delta, and at least 5.
method : {"auto", "repeat", "compose"}, default="auto"
    "repeat" fits and scores candidates drawn at random, a secret number of times, and publishes
    only the best trial. "compose" fits each candidate once, with a share of the budget, and chooses
    by a noisy maximum. It has no score to publish, and needs a `scoring` that is a mean over rows.
    "auto" is the method with less noise, by public numbers; the report states both.
average_over : {"rows", "groups"}, default="rows"
    With `groups`, what a score is a mean over. "rows" is what fits optimise: people with many rows
    count more, up to `rows_per_group`. With "groups" each person counts once, by one of their rows,
    drawn at random.
rows_per_group : int or "auto", default="auto"
    For "rows" with `groups`: so many rows of a person are scored on at most, drawn at random.
    "auto" is 2 to 16, larger with less noise, and follows from public numbers.
n_jobs : int, default=None
    Workers that share the trials, as in joblib. The result is the same to the last bit for
    every value.
random_state : int, RandomState instance or None, default=None
    None draws all randomness from the operating system. A seed makes the search reproducible,
    also for anyone who learns it and subtracts the noise. The report says that there was one.
ledger : str, path or PrivacyLedger, default=None
    Budget of the study, to which the whole search is charged once, before any noise is drawn; see
    :class:`skdp.ledger.PrivacyLedger`. None uses the ledger that the environment variable
    ``SKDP_LEDGER`` names; without it nothing is recorded.

[guarantee:search]
**Guarantee.** One call is (`epsilon`, `delta`)-differentially private for one row (its features
and its label) under `adjacency`, or with `groups` for one group. This covers all that is
published (the choice, the chosen model and its score together), for any data and any
candidates. ``privacy_report_`` lists what is assumed public and what is not covered: above all
the running time, which reveals how many models were fitted.

[fitted:search]
best_estimator_ : estimator
    The chosen model, fitted on the rows that aren't for validation. Its epsilon and delta are
    those of a trial. Its ``privacy_report_``, and that of all steps inside, is that of the
    whole search, which is its cost.
best_params_ : dict
    The setting of the chosen model.
best_index_ : int
    Its index among the candidates.
best_score_ : float
    Noisy score of the chosen trial, for ``method="repeat"`` only. It is the best of several, so
    it is slightly too high.
method_ : {"repeat", "compose"}
    The method used.
n_trials_ : float
    Mean of the number of trials, for ``method="repeat"`` only. The number itself is not stored.
classes_ : ndarray of shape (n_classes,)
    Class labels, sorted; of classifiers.
privacy_report_ : skdp.accountant.PrivacyReport
    The guarantee of the search.
{n_features_in_, feature_names_in_}

[notes:search]
There is no ``cv_results_``: a table of trials would reveal their number, and the proof [1]_
[2]_ [3]_ needs that to be secret. For the same reason fits inside give no warnings and print
nothing, and a trial that fails has the worst score. Running time can't be hidden.

A record is in one part only, so a trial costs the larger of fit and score, not the sum.
doc/theory/selection.rst has the proofs. The split is random; a stratified split would read
labels. Without `groups` several rows of one person may be in both parts, because the guarantee
is for one row.

[notes:generalized]
The method is that of `DPRidge`, with one difference. Counts of targets by size are released first,
from a share of the budget. The mean follows from them, and so does the clipping bound of slopes:
clipping fewer would add noise to all, and clipping more would bias the mean. The linear predictor
is clipped to seven on both sides of the logarithm of the mean (without an intercept, of 0), so no
step overflows. A wrong mean costs accuracy, not privacy. Because slopes are clipped, they need no
bound (doc/theory/whitening.rst).

[generalized]
alpha : float, default=1e-4
    Strength of the L2 penalty, for a deviance of targets divided by their mean.
{fit_intercept, epsilon, delta, adjacency, moment_budget, public_moment, data_norm:whitened}
{ball_budget}
target_bounds : pair of floats (low, high), default=None
    Public range of y, if there is one. Targets and predictions beyond it are clipped to it. None
    clips nothing.
max_iter : int or "auto", default="auto"
    Number of steps, all of which are taken. Each reads all rows once, after up to eleven passes
    over the rows before the first step. "auto" follows from the released moment and public numbers.
clipping_norm : float or "auto", default="auto"
    Clipping bound on the contribution of one row to a step: its slope, for targets divided by their
    mean, times the length of the whitened row. "auto" follows from releases and public numbers.
step_size : float or "auto", default="auto"
    Length of the steps in whitened coordinates. "auto" is 0.4 divided by the curvature of a typical
    mean over rows.
momentum : float or "auto", default="auto"
    Share of the last step, in [0, 1), that each step repeats.
average : bool, default=True
    Whether to return the mean of the later iterates. It costs no privacy.
{rows_per_group, n_jobs:whitened, ledger, random_state}

[notes:robust]
A range of most targets is learnt first, even with `target_bounds`. Then a histogram of targets
gives their middle and spread, for 3 % of what range and ball leave of the budget. Slopes are at
most `huber_threshold`, or 1, for any target. So outliers move the model little, including those
that are clipped for privacy.

[alpha:robust]
alpha : float, default=1e-4
    Strength of the L2 penalty, for a loss of targets in units of their spread.

[robust]
{fit_intercept, epsilon, delta, adjacency, moment_budget, public_moment, data_norm:whitened}
{ball_budget}
target_bounds : pair of floats (low, high), default=None
    Public range of y, which may be far too wide. Targets and predictions beyond it are clipped to
    it. None takes twice the range of most targets, wherever they lie. That range is learnt from a
    share of the budget: see `ball_budget`. Where this share is 0, y is used unchanged, with a
    warning where there are no bounds. The fit is then still private, but accurate only if the
    bounds are narrow, or most targets are in [-1, 1].
max_iter : int or "auto", default="auto"
    Number of steps, all of which are taken. Each reads all rows once, after up to eleven passes
    over the rows before the first step. "auto" follows from the released moment and public numbers.
clipping_norm : float or "auto", default="auto"
    Clipping bound on the contribution of one row to a step: its slope, for targets in units of
    their spread, times the length of the whitened row. "auto" follows from the released moment and
    public numbers.
step_size : float or "auto", default="auto"
    Length of the steps in whitened coordinates. "auto" is 1 divided by the curvature of a typical
    mean over rows.
momentum : float or "auto", default="auto"
    Share of the last step, in [0, 1), that each step repeats.
average : bool, default=True
    Whether to return the mean of the later iterates. It costs no privacy.
{rows_per_group, n_jobs:whitened, ledger, random_state}

[fitted:robust]
n_iter_ : int
    Steps taken.
clipping_norm_ : float
    Bound to which a row's contribution to a step was clipped; see `clipping_norm`.
step_size_ : float
    Length of the steps; see `step_size`.
momentum_ : float
    Share of the last step that each step repeated.
{ball, moment_}
{privacy_report_, n_features_in_, feature_names_in_}

[fitted:generalized]
coef_ : ndarray of shape (n_features,)
    Coefficients of the linear predictor, whose exponential is the prediction.
intercept_ : float
    Intercept of the linear predictor.
target_bounds_ : tuple (low, high)
    Bounds to which predictions are clipped.
n_iter_ : int
    Steps taken.
clipping_norm_ : float
    Bound to which a row's contribution to a step was clipped; see `clipping_norm`.
step_size_ : float
    Length of the steps; see `step_size`.
momentum_ : float
    Share of the last step that each step repeated.
{ball, moment_}
{privacy_report_, n_features_in_, feature_names_in_}

[public_moment]
public_moment : array-like of shape (n_features + 1, n_features + 1), default=None
    Second moment of public rows, in place of a released one: the mean of ``np.outer(z, z)`` over
    rows ``z = (1, x)``, in the units of X, or ``moment_`` of an earlier model. With groups it is
    the mean over people of the sums over their rows. No budget is then spent on a moment. It is
    assumed public; a wrong one costs only accuracy. With ``epsilon=inf`` it is not needed: rows are
    whitened by their own moment.

[moment_]
moment_ : ndarray of shape (n_features + 1, n_features + 1)
    Second moment of the rows (1, x) by which rows were whitened: the released moment, shrunk, plus
    what noise may hide. Rows beyond the ball, or `data_norm`, count in it as they did in the fit.
    It exists where a moment was released, with an intercept; see `public_moment`.

[n_features_in_]
n_features_in_ : int
    Number of features seen in `fit`.

[n_iter_]
n_iter_ : int
    Passes taken.

[interactions]
interactions : list of pairs, default=None
    Pairs of columns, by name or position, that get a surface in addition to their curves. Choose
    them by the meaning of the columns, not by looking at the records.

[monotonic_cst]
monotonic_cst : dict by column or array-like of int of shape (n_features,), default=None
    1 for an increasing curve, -1 for a decreasing one, 0 for any. Only for columns of numbers, and
    for one output. The constraint is applied after the fit, by post-processing, which costs
    nothing.

[knots:table]
knots : "auto", int or dict, default="auto"
    Largest number of knots of a column of numbers; "auto" is 4 to 12, depending on its noise. A
    dict by column has lists of knots, which cost nothing; columns that it doesn't name have "auto".

[categories:table]
categories : "auto" or dict, default="auto"
    A dict by column has lists of the categories to distinguish, with NaN for missing entries, which
    costs nothing. In all other columns of words, the categories are learnt privately.

[kinds:table]
numeric_features, categorical_features : list, default=None
    Columns of numbers and of words, by name or position. Of all others the types say what they
    hold, which the report names as assumed public: numbers, booleans, dates, or words, if it is
    categories. What columns of objects or text hold, or those of lists, is learnt within the
    budget. In a column of numbers, an entry that is not a number is missing. doc/reading.rst has
    the rules.

[feature_bounds:table]
feature_bounds : pair (low, high) or dict, default=None
    Public range of the columns of numbers, or, if its ends are dates, of those of dates; or a
    dict of ranges by column. Numbers beyond it are clipped to it in `fit`. It saves the release
    that learns the range of the numbers.

[features_budget]
features_budget : float or "auto", default="auto"
    Share of the squared mu of Gaussian DP, in (0, 1), for learning kinds, knots and categories;
    "auto" is 0.2, and up to 0.5 where records are few. It is 0.2 again where they are so few that
    even half would hardly find a column. The rest goes to the model. Nothing is spent on them where
    both are given for all columns.

[terms_]
terms_ : tuple of objects
    One for each column, in their order, and then one for each pair of `interactions`. Each has
    ``name``, ``kind`` ("hats", "line", "words" or "pair"), ``features``, ``knots``, ``categories``,
    ``labels`` of the places that have values, ``values``, ``std`` of the noise that privacy added
    to them, ``weights``, the share of the records at each (NaN where none was released, as of
    knots and categories that were given without counts), and ``is_noise``: whether noise alone
    makes values as large. `std` is not a sampling error. It is a prediction, mostly right to within
    a factor of 2 where there are records. For a classifier with given knots it is up to five times
    too small. Where there are almost no records, the noise is larger. Words that the released
    counts don't show, such as new ones, have the value 0.

[feature_importances_]
feature_importances_ : ndarray of shape (n_features,)
    For each column the `term_importances_` of its own term, and half of those of each pair that it
    is in.

[term_importances_]
term_importances_ : ndarray of shape (n_terms,)
    Mean absolute value of each of ``terms_`` under the released counts, in units of its values.
    Where shares of the records aren't known, it is the plain mean over the term's knots or words.

[n_jobs]
n_jobs : int, default=None
    Threads that share a step, as in joblib. They are used only where a step has enough work to pay
    for them; the result is the same to the last bit for every value.

[n_jobs:whitened]
n_jobs : int, default=None
    Threads that share a sum over all rows, as in joblib. They are used only where a sum has enough
    work to pay for them, and at most two where sums aren't compiled (the extra ``fast`` of the
    package), because more would take longer. The result is the same to the last bit for every
    value.

[noisy_dual]
noisy_dual : bool, default=False
    Whether the dual variable gets noise of its own, as in the paper's Algorithm 1, which makes the
    noise on the model sqrt(2) times larger. For comparison: the dual variable is not published here
    either, and the guarantee is that of the fitted attributes alone.

[NotFittedError]
NotFittedError
    If the estimator isn't fitted.

[papers:counts]
.. [1] Fichtenberger, Henzinger and Upadhyay (2023). Constant matters:
   fine-grained error bound on differentially private continual observation. ICML. Section 1.1.

[papers:dpcd]
.. [1] Mangold, Bellet, Salmon and Tommasi (2022). Differentially private
   coordinate descent for composite empirical risk minimization. ICML. Algorithm 1, sections 5.1 and
   5.2.
.. [2] Mangold, Bellet, Salmon and Tommasi (2023). High-dimensional private empirical risk
   minimization by greedy coordinate descent. AISTATS.

[papers:dpsgd]
.. [1] Song, Chaudhuri and Sarwate (2013). Stochastic gradient descent with
   differentially private updates. GlobalSIP. Equations 5 and 6, theorem 1.
.. [2] Abadi, Chu, Goodfellow, McMahan, Mironov, Talwar and Zhang (2016). Deep learning with
   differential privacy. CCS. Algorithm 1.

[papers:labels]
.. [1] Yuan and Lazarsfeld. Weighted aggregate logistic regression.
   Technical note, section "Label differential privacy".

[papers:selection]
.. [1] Liu and Talwar (2019). Private selection from private candidates.
   STOC.
.. [2] Papernot and Steinke (2022). Hyperparameter tuning with Renyi differential privacy. ICLR.
.. [3] Koskela, Redberg and Wang (2024). Privacy profiles for private selection. ICML.

[papers:whitened]
.. [1] Dong, Roth and Su (2022). Gaussian differential privacy. Journal of
   the Royal Statistical Society B. Corollary 3.3, on composition.
.. [2] Bun, Allez, Bouchaud and Potters (2016). Rotational invariant estimator for general noisy
   matrices. IEEE Transactions on Information Theory. On shrinking eigenvalues.

[params]
**params : dict
    Refused: nothing else is planned for.

[penalty]
penalty : {"l2", "l1", "elasticnet"}, default="l2"
    ``||w||^2 / 2``, ``||w||_1``, or ``l1_ratio`` of the second and the rest of the first.

[privacy_report_]
privacy_report_ : skdp.accountant.PrivacyReport
    The guarantee of this fit.
delta_ : float
    The delta of that guarantee; see `delta`.

[proximal]
proximal : float or "auto", default="auto"
    Strength of a proximal term (for ``solver="dual"``): :math:`\frac{\kappa}{2} \|w -
    \text{centre}\|^2` is added to the objective, with a centre that follows the released model. It
    damps noise and, as the centre moves, hardly the model. It costs no privacy. 0 is the paper's
    algorithm. "auto" is 0 for the squared loss and where a `clipping_norm` is given, and otherwise
    a function of n_samples, n_features and the parameters. The strength for the intercept is a
    public share of it, between a ninth and all.

[public_weight]
public_weight : array-like of shape (n_samples,), default=None
    Weight of each record, 0 or more: a weight of 2 is as if the record occurred twice. The loss is
    the weighted mean, so only ratios matter. The contribution of a record to a release is clipped
    to the same bound, whatever its weight. Weights are assumed public, and are not published. They
    must not depend on the records, and keep their positions if a record changes. A Series must have
    the index of X. In a meta-estimator they need metadata routing, see ``set_fit_request``. Without
    weights all records count equally.

[random_state]
random_state : int, RandomState instance or None, default=None
    None draws all randomness from the operating system. A seed makes the fit reproducible, also for
    anyone who learns it and subtracts the noise. Fits with an equal seed share their noise (so do
    the folds of a cross-validation, which clones the seed), and their guarantees don't compose. The
    report says that there was a seed.

[random_state:dpsgd]
random_state : int, RandomState instance or None, default=None
    None draws all randomness from the operating system. A seed makes the fit reproducible, also for
    anyone who learns it and subtracts the noise. Fits with an equal seed share their noise (so do
    the folds of a cross-validation, which clones the seed), and their guarantees don't compose. The
    report says that there was a seed. Within a stream each call of `partial_fit` has noise of its
    own; streams of one seed share it.

[random_state:score]
random_state : int, RandomState instance or None, default=None
    See :func:`private_score`.

[rows_per_group:score]
rows_per_group : int or "auto", default="auto"
    Largest number of rows of a group that are counted; see :func:`private_score`.

[rows_per_group]
rows_per_group : float or "auto", default="auto"
    For fits with `groups`: bound on the contribution of a group to the second moment, as a number
    of rows of full length, at least 1. Groups with more are clipped to it there; the steps use all
    rows. "auto" is 2 to 16, larger with less noise, and follows from public numbers.

[sample_weight]
sample_weight : array-like of shape (n_samples,), default=None
    Weights in the score.

[selection]
selection : {"cyclic", "greedy"}, default="cyclic"
    How coordinates are selected. "cyclic" updates all of them in each pass. "greedy" [2]_ is for
    thousands of columns of which few matter: each update is along one coordinate, which is
    privately selected among the steepest. Coordinates that aren't selected keep the coefficient 0.
    Columns are measured in units of `feature_bounds`, which should be tight. No ball is learnt, and
    the mean square of a column is released with its slope. `clipping_norm` is then the bound to
    which the slope of one row is clipped. Parameters of passes (`smoothness`, `smoothness_budget`,
    `clip_by`, `average_every` and `shrinkage`) must be left out.

[self]
self : object
    The fitted estimator.

[shrinkage]
shrinkage : float or "auto", default="auto"
    Strength s of a penalty ``s / 2 * mean(x_j ** 2) * w_j ** 2`` on each coefficient, which reduces
    the noise and is added to the penalty of the model. "auto" follows from the sizes and the
    privacy parameters. Under an L1 penalty, and with ``average_every="auto"``, it also sets to 0
    the coefficients that noise alone would explain. It is 0 without privacy.

[smoothness]
smoothness : {"private", "bounds"} or array-like of shape (n_features,), default="private"
    Where the smoothness constants ``M_j = beta * mean(x_j ** 2)`` come from, beta being 1.
    "private" spends `smoothness_budget` on the means. "bounds" replaces the mean by the largest
    square that `feature_bounds` allow, and learns slowly where values are mostly far inside them.
    An array holds public guesses of ``mean(x_j ** 2)``, positive, in squared units of the features.
    With ``epsilon=inf`` the first two are the exact means. With an intercept "private" also
    releases the means of the features, and trains on centred features. This is the same model
    except for the penalty on the intercept; M is then that of the centred features.

[smoothness_budget]
smoothness_budget : float, default=0.1
    Share of the budget, in (0, 1) and in terms of the squared parameter of Gaussian differential
    privacy, that ``smoothness="private"`` spends. It is a share of what a learnt ball leaves.

[solver]
solver : {"dual", "sequential", "primal"}, default="dual"
    The paper's Algorithm 1, or for comparison its two baselines, which need far more noise:
    "sequential" (Algorithm 3, updates see those before them in a batch) and "primal" (Algorithm 2,
    coordinates of the model; smooth losses only; `batch_size` then counts columns, "auto" being 1).
    Both are accounted without amplification by sampling, and every release has the pairwise
    sensitivity ``2 C sqrt(L (L + 1))`` with C the clipping norm and L the batch size, under either
    adjacency. `n_jobs` has no effect there.

[step_size]
step_size : float or "auto", default="auto"
    Factor of the steps ``step_size / M_j``. "auto" is 1, and 1.5 for two classes whose slopes are
    scaled with ``selection="greedy"``.

[step_size_]
step_size_ : float
    The factor of the steps.

[stream]
Available for ``mechanism="laplace"``. All rows of a call form one batch, used once. Records of
different calls belong to different people, so the guarantee of all calls together is that of the
least private one: the report's epsilon doesn't grow. A record in several calls breaks this
assumption, and has the sum of their epsilons. So does a call that is repeated from a copy (a
checkpoint, a pickle): a ledger charges it again, and without a ledger nothing detects it. All state
between calls is computed from releases. `fit` starts afresh, and so does the first call after it.

[target_bounds]
target_bounds : pair of floats (low, high), default=None
    Public range of y. Targets beyond it are clipped to it, and training works on targets mapped to
    [-1, 1] (without an intercept: divided by the larger absolute bound). None learns a range of
    most targets where a ball is learnt (see `ball_budget`) and the objective has no number in the
    units of y, such as the strength of an L1 penalty or the threshold of Huber's loss. Elsewhere y
    is used unchanged, with a warning: the fit is still private, but accurate only if the targets
    are within about [-1, 1].

[target_bounds_]
target_bounds_ : tuple (low, high)
    Bounds to which predictions are clipped: those of the targets, given or learnt, with an entry
    for each of several learnt targets. Infinite where there are none, and without privacy.

[target_bounds:dpcd]
target_bounds : pair of floats (low, high), default=None
    Public range of y. Targets beyond it are clipped to it, and training works on targets mapped to
    [-1, 1] (without an intercept: divided by the larger absolute bound). None learns a range of
    most targets where a ball is learnt: see `ball_budget`; the ranges of several targets are
    equally wide. Elsewhere y is used unchanged, with a warning: the fit is still private, but
    accurate only if the targets are within about [-1, 1]. The objective is that of the targets in
    their own units.

[TypeError:display]
TypeError
    If `ax` isn't a matplotlib Axes.

[TypeError:score]
TypeError
    If X or y is of a kind that can't be read, or an id can't be hashed.

[TypeError:transformer]
TypeError
    If X is sparse.

[TypeError:unreadable]
TypeError
    If X is of a kind that can't be read.

[ValueError]
ValueError
    If a parameter or the input is invalid; no message quotes an entry of the data.

[ValueError:either]
ValueError
    If a parameter or the input is invalid, if labels have one class, or a class that isn't among
    those declared; no message quotes an entry of the data.

[ValueError:event]
ValueError
    If a parameter is out of range.

[ValueError:numbers]
ValueError
    If X has another number of features than in `fit`, or isn't a finite array of numbers.

[ValueError:score]
ValueError
    If a parameter or the input is invalid, or the estimator doesn't fit them; no message quotes an
    entry of the data.

[ValueError:X]
ValueError
    If X doesn't fit the estimator; no message quotes an entry of the data.

[ValueError:X_y]
ValueError
    If X or y don't fit the estimator; no message quotes an entry of the data.

[X]
X : array-like of shape (n_samples, n_features)
    Rows to predict.

[X:complete]
X : array-like of shape (n_samples, n_features)
    Rows, without missing values.

[X:dask]
X : array-like or Dask collection of shape (n_samples, n_features)
    Rows to predict.

[X:pipeline]
X : array-like of shape (n_samples, n_features)
    Training rows, as the first step takes them.

[X:rows]
X : array-like of shape (n_samples, n_features)
    Rows.

[X:scaled]
X : array-like or sparse of shape (n_samples, n_features)
    Rows.

[X:score]
X : array-like of shape (n_samples, n_features)
    Rows, as the estimator takes them.

[X:sparse]
X : array-like or sparse of shape (n_samples, n_features)
    Rows to predict.

[X:training]
X : array-like or sparse of shape (n_samples, n_features)
    Training rows, dense or CSR; float32 and float64 are kept in their precision.

[y]
y : None
    Ignored.

[y:dask]
y : dask.array.Array, dask.dataframe.Series or dask.dataframe.DataFrame
    Labels or targets, in partitions of as many rows as those of X.

[y:either]
y : array-like of shape (n_samples,) or (n_samples, n_outputs)
    Targets of a regression, one or more of each row; or labels of any type that can be sorted.

[y:score]
y : array-like of shape (n_samples,)
    Their labels, which must be among ``estimator.classes_``.
"""

import re
import textwrap

_TEXT = re.compile(r"^\[([\w:]+)\]\n(.+?)(?=\n\n\[|\n\Z)", re.MULTILINE | re.DOTALL)
# Empty where docstrings are stripped.
TEXTS = dict(_TEXT.findall(__doc__ or ""))
_LINE = re.compile(r"^( *)\{(?:(\w+): )?([\w:]+(?:, [\w:]+)*)\}$", re.MULTILINE)


def shared_docs(thing):
    """Fill in lines ``{name, name}`` and ``{Section: name}`` of docstrings with shared texts.

    The docstrings are those of a function, or of a class, its own methods and properties. An
    unknown name is a KeyError. Where docstrings are stripped nothing is done.
    """
    parts = [thing, *vars(thing).values()] if isinstance(thing, type) else [thing]
    for part in parts:
        # What a decorator made of a function has a text of its own.
        while part is not None:
            text = getattr(part, "__doc__", None)
            if isinstance(text, str) and _LINE.search(text):
                part.__doc__ = _LINE.sub(_fill, text)
            part = getattr(part, "__wrapped__", None)
    return thing


def _fill(line):
    indent, section, names = line.groups()
    heading = [section, "-" * len(section)] if section else []
    lines = [*heading, *(_LINE.sub(_fill, TEXTS[name]) for name in names.split(", "))]
    return textwrap.indent("\n".join(lines), indent)
