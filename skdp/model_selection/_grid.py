"""The search over all settings of a grid."""

from sklearn.model_selection import ParameterGrid

from skdp.model_selection._search import CONSTRAINTS, BaseSearch


class DPGridSearch(BaseSearch):
    """Choose among all settings of a grid with one privacy budget.

    Rows are parted once at random. Candidates are fitted privately on one part and scored privately
    on the other, and only the best is published.

    **Guarantee.** One call is (`epsilon`, `delta`)-differentially private for one row (its features
    and its label) under `adjacency`: all that is published, the choice, the chosen model and its
    score together, for any data, whatever the candidates are. What is assumed public and what is
    not covered is listed in ``privacy_report_``: above all running time, which tells how many
    models were fitted.

    Parameters
    ----------
    estimator : estimator
        An estimator of skdp that protects rows, or a pipeline that ends in one and whose other
        steps learn nothing: :class:`~skdp.preprocessing.BoundsScaler`,
        :class:`~skdp.preprocessing.NormClipper`, :class:`~skdp.preprocessing.DPOneHotEncoder` with
        lists of all categories, :class:`~skdp.preprocessing.DPSimpleImputer` with
        ``strategy="constant"``, and ColumnTransformer of these with columns by names or places,
        FeatureUnion and Pipeline. Its epsilon, delta, adjacency, ledger and random_state are set by
        the search: leave them at their defaults, which count as not given. Others than the
        search's are an error.

    param_grid : dict or list of dict
        Lists of values by the name of a parameter, as in scikit-learn's GridSearchCV. Steps of a
        pipeline are parameters, too, so that candidates may be of different classes. The grid is
        public: write it without looking at the rows.

    epsilon : float, default=1.0
        Privacy loss of the whole search, above 0. ``float("inf")`` runs the same code without noise
        and bounds.

    delta : float, default=1e-5
        Probability, in [0, 1), that the loss may exceed `epsilon`. Take ``0.1 / n_samples`` or
        less. With 0 candidates must be pure, as ``DPSGDClassifier(mechanism="laplace")`` is.

    adjacency : {"zero_out", "replace_one"}, default="zero_out"
        What the guarantee compares: data sets in which one record is a null record that contributes
        nothing, or in which one record is any other. The second needs about twice the noise.

    scoring : str, default=None
        A score of :func:`skdp.metrics.private_score`. None means "accuracy", or of a regression
        "neg_mean_squared_error". Targets are scored within the estimator's `target_bounds`.

    validation_size : float, default=0.25
        Share of the rows, in (0, 1), that models are scored on. Models are fitted on the others,
        and the best one isn't fitted again.

    n_trials : float or "auto", default="auto"
        Mean of the number of trials for ``method="repeat"``, at least 1. It is public, the number
        isn't. "auto" is three for each candidate, or six without delta, and 5 at least.

    method : {"auto", "repeat", "compose"}, default="auto"
        "repeat" fits and scores candidates drawn at random, a secret number of times, and publishes
        the best trial alone. "compose" fits every candidate once, each with a share of the budget,
        chooses by a noisy maximum, and has no score to publish; it needs a `scoring` that is a
        mean over rows. "auto" is the one of less noise, by public numbers; the report has both.

    n_jobs : int, default=None
        Workers that share the trials, as in joblib. The result is the same to the last bit for
        every value.

    random_state : int, RandomState instance or None, default=None
        None draws all randomness from the operating system. A seed makes the search reproducible,
        also for whoever learns it and subtracts the noise. The report says that there was one.

    ledger : str, path or PrivacyLedger, default=None
        Budget of the study that the whole search is charged to, once, before any noise is drawn,
        see :class:`skdp.ledger.PrivacyLedger`. None takes the one that the environment variable
        ``SKDP_LEDGER`` names, and without it records nothing.

    Attributes
    ----------
    best_estimator_ : estimator
        The chosen model, fitted on the rows that aren't for validation. Its epsilon and delta are
        those of a trial, and its ``privacy_report_`` is the search's, which is what it cost.

    best_params_ : dict
        The setting of the chosen model.

    best_index_ : int
        Its place among the candidates.

    best_score_ : float
        Noisy score of the chosen trial, for ``method="repeat"`` only. It is the best of several,
        and so a little too good.

    method_ : {"repeat", "compose"}
        The method used.

    n_trials_ : float
        Mean of the number of trials, for ``method="repeat"`` only. The number itself is nowhere.

    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted; of classifiers.

    privacy_report_ : skdp.accountant.PrivacyReport
        The guarantee of the search.

    n_features_in_ : int
        Number of features seen in `fit`.

    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X had string column names.

    See Also
    --------
    DPRandomizedSearch : Settings drawn at random.
    skdp.metrics.private_score : Score a model on other private records.
    skdp.accountant.calibrate_selection : What a trial may cost.

    Notes
    -----
    There is no ``cv_results_``: a table of trials would tell how many there were, and the proof
    [1]_ [2]_ [3]_ needs that to be secret. For the same reason fits inside warn of nothing and
    print nothing, and a trial that fails has the worst score. Running time can't be
    hidden.

    A record is in one part only, so that a trial costs the larger of fit and score, not the sum.
    doc/theory/selection.rst has the proofs. The parts are made by chance alone; stratified ones
    would read labels. Several rows of one person may be in both parts: one row is what is
    protected.

    References
    ----------
    .. [1] Liu and Talwar (2019). Private selection from private candidates. STOC.
    .. [2] Papernot and Steinke (2022). Hyperparameter tuning with Renyi differential privacy. ICLR.
    .. [3] Koskela, Redberg and Wang (2024). Privacy profiles for private selection. ICML.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from skdp.linear_model import DPLogisticRegression
    >>> from skdp.model_selection import DPGridSearch
    >>> X, y = make_classification(n_samples=4000, n_features=5, random_state=0)
    >>> model = DPLogisticRegression(classes=[0, 1])
    >>> search = DPGridSearch(model, {"data_norm": [0.1, 3.0, 100.0]}, epsilon=1.0)
    >>> search.fit(X, y).privacy_report_
    (1, 1e-05)-DP
    >>> sorted(search.best_params_)
    ['data_norm']
    """

    _parameter_constraints = {  # noqa: RUF012
        **CONSTRAINTS,
        "param_grid": [dict, list],
    }

    def __init__(
        self,
        estimator,
        param_grid,
        *,
        epsilon=1.0,
        delta=1e-5,
        adjacency="zero_out",
        scoring=None,
        validation_size=0.25,
        n_trials="auto",
        method="auto",
        n_jobs=None,
        random_state=None,
        ledger=None,
    ):
        self.estimator = estimator
        self.param_grid = param_grid
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.scoring = scoring
        self.validation_size = validation_size
        self.n_trials = n_trials
        self.method = method
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.ledger = ledger

    def _settings(self):
        return ParameterGrid(self.param_grid)
