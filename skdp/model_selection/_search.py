"""Private searches over settings: a grid of them, and settings that are drawn at random."""

import math
from collections.abc import Callable
from numbers import Integral, Real

import numpy as np
from scipy.sparse import issparse
from sklearn import config_context
from sklearn.base import MetaEstimatorMixin, is_classifier
from sklearn.model_selection import ParameterGrid, ParameterSampler
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from skdp._checks import check_bounds, check_finite_input, check_n_jobs
from skdp._estimator import (
    BUDGET_CONSTRAINTS,
    PrivateEstimator,
    is_private,
    model_of,
    report_of,
)
from skdp._families.means import NO_TARGET_BOUNDS
from skdp._families.targets import encode_labels
from skdp._release.plan import CLASSES_READ
from skdp._rows.containers import WordOrGapError
from skdp._rows.groups import encode_groups
from skdp._rows.numbers import validate_numbers
from skdp._sklearn import (
    HasMethods,
    Interval,
    StrOptions,
    _fit_context,
    quietly,
    validate_table,
)
from skdp.exceptions import warn_user
from skdp.metrics._plan import ScoreBudget, check_counted, count_noise, resolve_rows_counted
from skdp.metrics._release import COUNTED
from skdp.metrics._scorings import SCORES, check_scoring, n_releases
from skdp.model_selection._candidates import make_candidates, set_report
from skdp.model_selection._metadata import refuse_metadata
from skdp.model_selection._plan import (
    SearchBudget,
    SearchGroupBudget,
    plan_selection,
    public_choices,
)
from skdp.model_selection._rows import has_steps, in_frame_of, last_step, types_are_kept
from skdp.model_selection._terms import TermsMixin, has_method
from skdp.model_selection._trials import Records, check_outcome, run_composed, run_repeated
from skdp.pipeline._steps import find_leaks, step_list

_NO_COMMON_BOUNDS = (
    "a search scores all candidates within the same bounds of the targets, and each fit would "
    "learn others: give the estimator target_bounds=(low, high)."
)
# Steps that learn what to do with them may fail in a trial.
_RAW_TABLE = (
    "X has words or gaps (NaN), or y of a regression words. A search takes such an X only where "
    "every candidate begins with DPTableVectorizer, or is an additive model: put it in the place "
    "of encoders and imputers that learn."
)
_OTHER_TYPES = (
    "a candidate chooses columns by their types (make_column_selector), and X has columns of "
    "numbers whose types aren't those of numbers, as which trials get them: give such columns a "
    "type of NumPy's, by X.astype({...}), or choose columns by names."
)
_CHOOSE = {"repeat": run_repeated, "compose": run_composed}
CONSTRAINTS = {
    **BUDGET_CONSTRAINTS,
    "estimator": [HasMethods(["fit", "predict"])],
    "scoring": [StrOptions(set(SCORES)), None],
    "validation_size": [Interval(Real, 0, 1, closed="neither")],
    "n_trials": [Interval(Real, 1, None, closed="left"), StrOptions({"auto"})],
    "method": [StrOptions({"auto", "repeat", "compose"})],
    "n_jobs": [Integral, None],
    "verbose": ["verbose"],
    **COUNTED,
}


def _targets_as_numbers(y):
    """Return finite targets, as trials get them: words and objects fail here, and not there."""
    if issparse(y):
        raise TypeError("Sparse y is not supported; pass a dense array.")
    y = quietly(np.asarray, y, dtype=np.float64)
    check_finite_input(y, "y")
    return y


class BaseSearch(TermsMixin, MetaEstimatorMixin, PrivateEstimator):
    """What searches share; subclasses have `_settings`, the candidates."""

    # Parameters of the constructors of subclasses.
    estimator: object
    method: str
    n_jobs: int | None
    n_trials: int | str
    scoring: object
    validation_size: float
    _settings: Callable

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y=None, groups=None, **params):
        """Choose a model, and fit it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows. A data frame is passed on as one. It may have words and missing entries where all
            candidates begin with `DPTableVectorizer`, are additive models, or are pipelines of
            scikit-learn whose steps turn it into numbers.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Labels or targets.
        groups : array-like of shape (n_samples,), default=None
            The person, household, ... of each row, as hashable ids. The guarantee is then for one
            group, with all its rows. The number of groups is public. Models are fitted on some
            groups, and scored on the others, of which `average_over` says what counts. With None
            each row is a record.
        **params
            Other arguments of the candidates' fits, by metadata routing or without. All are refused
            before any noise is drawn: `sample_epsilon`, because a search spends the whole epsilon
            on each record; and others, because they may change what a fit releases.

        Returns
        -------
        self : object
            The fitted search.

        Raises
        ------
        BudgetExceededError
            If there is a ledger, and too little is left in it.
        ValueError
            If a parameter of the search or of a candidate, or the input is invalid, or if the
            chosen fit failed, which is reported as a release; no message quotes an entry of the
            data.
        TypeError
            If a candidate isn't an estimator that a search can make private, or X is sparse and a
            candidate doesn't accept it.
        """
        refuse_metadata(self, params)
        classifies = is_classifier(self.estimator)
        several = get_tags(self).target_tags.multi_output
        candidates = make_candidates(self, self._settings())
        X, table, y = self._read(X, y, candidates, several_outputs=several)
        y = y if classifies else _targets_as_numbers(y)
        check_n_jobs(self.n_jobs)
        codes, n_records = encode_groups(groups, len(y))
        check_counted(codes is not None, self.average_over, self.rows_per_group)
        n_validation = self._n_validation(n_records)

        classes_were_read = candidates.declare_classes(lambda: encode_labels(y, None)[0])
        read_of_table = candidates.check_rows(X, table)
        candidates.check_targets(y)
        n_outputs = 1 if y.ndim == 1 else y.shape[1]
        if classifies:
            self.classes_, targets = encode_labels(y, model_of(candidates.models[0]).classes)
            n_outputs = targets.shape[1]

        scoring, classes = self._scoring(classifies), self.classes_ if classifies else None
        for model in candidates.models:
            check_scoring(model, scoring, classes, n_outputs)
        target_bounds = self._target_bounds(classifies)
        make_budget = SearchBudget if codes is None else SearchGroupBudget
        budget = make_budget(*self._promised(n_records), account=self._account())
        n_histograms = n_releases(scoring, classes)
        plan = plan_selection(
            budget,
            n_records=n_records,
            n_validation=n_validation,
            n_candidates=len(candidates.settings),
            method=self.method,
            n_trials=self.n_trials,
            fits=candidates.fits(n_records - n_validation, n_outputs, budget.of_groups),
            row_spread=SCORES[scoring].row_spread,
            n_releases=n_histograms,
            average_over=self.average_over if budget.of_groups else "rows",
            rows_per_group=self._rows_counted(budget, n_validation, n_histograms),
        )
        candidates.rehearse(X, table, y, codes, budget)
        run = plan.start(self.random_state)

        (split,) = run.spawn(2, noise=1)
        records = Records.split(
            X,
            y,
            n_validation,
            split,
            codes,
            plan.rows_per_group,
            table=table,
            scoring=scoring,
            target_bounds=target_bounds,
        )
        choose = _CHOOSE[plan.method]
        best = check_outcome(choose(plan, candidates.models, records, run, self.n_jobs))
        run.finish()

        public = (
            *candidates.assumed(),
            *([CLASSES_READ] if classes_were_read else []),
            *read_of_table,
        )
        report = plan.report(reproducible=run.reproducible, also_public=public)
        self._publish(plan, candidates, best, report)
        return self

    @config_context(assume_finite=False)
    def _read(self, X, y, candidates, *, several_outputs):
        """Return rows as numbers and as they came, None where no candidate takes them so, and y.

        They are as scikit-learn's contract has them. What a fit refuses in a trial would be told
        as a release.
        """
        y_numeric = not is_classifier(self.estimator)
        if not candidates.need_numbers(X):
            X, y = validate_table(self, X, y, y_numeric=y_numeric, multi_output=several_outputs)
            # Rows are taken of lists, too, and not of what only becomes an array.
            becomes_array = hasattr(X, "__array__") and not hasattr(X, "shape")
            return None, quietly(np.asarray, X) if becomes_array else X, y
        try:
            numbers, y = validate_numbers(
                self, X, y, y_numeric=y_numeric, multi_output=several_outputs
            )
        except WordOrGapError:
            raise ValueError(_RAW_TABLE) from None
        takes_sparse = [get_tags(model).input_tags.sparse for model in candidates.models]
        if issparse(numbers) and not all(takes_sparse):
            raise TypeError("Sparse data was passed for X, and a candidate takes dense X only.")
        is_frame = hasattr(X, "columns")
        if is_frame and candidates.choose_numbers_by_type() and not types_are_kept(X):
            raise ValueError(_OTHER_TYPES)
        table = X if is_frame else numbers
        numbers = in_frame_of(X, numbers)
        return numbers, table if candidates.need_table() else None, y

    def _n_validation(self, n_records):
        """Return the number of records to score on, both parts having one at least."""
        if n_records < 2:
            raise ValueError(f"a search needs at least 2 records, got n_samples = {n_records}.")
        return min(math.ceil(self.validation_size * n_records), n_records - 1)

    def _rows_counted(self, budget, n_validation, n_releases):
        """Return how many rows of a group scores count at most, by public numbers."""
        if not budget.of_groups:
            return 1
        whole = ScoreBudget(budget.epsilon, budget.delta, budget.adjacency)
        noise = count_noise(whole, n_releases)
        return resolve_rows_counted(
            self.average_over, self.rows_per_group, budget, n_validation, noise
        )

    def _scoring(self, classifies):
        if self.scoring is not None:
            return self.scoring
        return "accuracy" if classifies else "neg_mean_squared_error"

    def _target_bounds(self, classifies):
        """Return the range that targets are scored in, that of the estimator as it was given."""
        if classifies:
            return None
        last = model_of(self.estimator)
        bounds = last.target_bounds
        if bounds is None and is_private(self):
            if last._family().learns_targets:
                raise ValueError(_NO_COMMON_BOUNDS)
            warn_user(NO_TARGET_BOUNDS)
        return (-1.0, 1.0) if bounds is None else check_bounds(bounds, "target_bounds")

    def _refitted(self):
        model = last_step(self.best_estimator_)
        if report_of(model) is not self.privacy_report_:
            return ("best_estimator_",)
        paths = list(model._refitted())
        if has_steps(self.best_estimator_):
            # A search refuses these, so that they were put in since.
            leaks = find_leaks(step_list(self.best_estimator_.steps, fitted=True))
            paths += [step.path for step, _ in leaks]
        return tuple(f"best_estimator___{path}" for path in paths)

    def _publish(self, plan, candidates, best, report):
        model = last_step(best.model)
        # The cost of this fit is in the report of the search; another fit of it is charged like any
        # other.
        model.set_params(ledger=self.ledger)
        set_report(model, report)
        self.best_estimator_ = best.model
        self.best_index_ = best.candidate
        self.best_params_ = dict(candidates.settings[best.candidate])
        self.method_ = plan.method
        self.privacy_report_ = report
        if plan.method == "repeat":
            self.best_score_ = best.score
            self.n_trials_ = plan.event.repetitions.mean

    @available_if(has_method("predict"))
    def predict(self, X):
        """Predict by the chosen model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Predicted labels or targets.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X doesn't fit the estimator; no message quotes an entry of the data.
        """
        return self._best().predict(X)

    @available_if(has_method("predict_proba"))
    def predict_proba(self, X):
        """Estimate class probabilities by the chosen model, if it has them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            One column per class, in the order of ``classes_``.

        Raises
        ------
        AttributeError
            If the model has no probabilities.
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X doesn't fit the estimator; no message quotes an entry of the data.
        """
        return self._best().predict_proba(X)

    @available_if(has_method("predict_log_proba"))
    def predict_log_proba(self, X):
        """Estimate logarithms of class probabilities by the chosen model, if it has them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
            One column per class, in the order of ``classes_``.

        Raises
        ------
        AttributeError
            If the model has no probabilities.
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X doesn't fit the estimator; no message quotes an entry of the data.
        """
        return self._best().predict_log_proba(X)

    @available_if(has_method("decision_function"))
    def decision_function(self, X):
        """Compute decision values by the chosen model, if it has them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            With two classes, a positive value means ``classes_[1]``.

        Raises
        ------
        AttributeError
            If the model has no decision values.
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X doesn't fit the estimator; no message quotes an entry of the data.
        """
        return self._best().decision_function(X)

    @available_if(has_method("score"))
    def score(self, X, y):
        """Return the accuracy, or R2 of a regression. Computed without noise: not private.

        `skdp.metrics.private_score` computes a private score, on records that the search has not
        read.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.
        y : array-like of shape (n_samples,)
            True labels or targets.

        Returns
        -------
        score : float
            Of the chosen model.

        Raises
        ------
        NotFittedError
            If the estimator isn't fitted.
        ValueError
            If X or y don't fit the model; no message quotes an entry of the data.
        """
        return self._best().score(X, y)

    def _best(self):
        check_is_fitted(self)
        return self.best_estimator_

    def get_metadata_routing(self):
        """Return the metadata routing of the search.

        Returns
        -------
        router : sklearn.utils.metadata_routing.MetadataRouter
            As for scikit-learn's searches. The search itself uses `groups`, if requested by
            ``set_fit_request``; other routed arguments are refused, see `fit`.

        Raises
        ------
        TypeError
            If the estimator has no metadata routing.
        """
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=type(self).__name__)
        router.add_self_request(self)
        return router.add(estimator=self.estimator, method_mapping=mapping)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        tags.target_tags.required = True
        tags.target_tags.multi_output = inner.target_tags.multi_output
        tags.input_tags.sparse = inner.input_tags.sparse
        kind = tags.classifier_tags or tags.regressor_tags
        if kind is not None:
            kind.poor_score = is_private(self)
        return tags


class DPGridSearch(BaseSearch):
    """Choose among all settings of a grid with one privacy budget.

    Rows are split once at random. Candidates are fitted privately on one part and scored privately
    on the other, and only the best model is published.

    **Guarantee.** One call is (`epsilon`, `delta`)-differentially private for one row (its features
    and its label) under `adjacency`, or with `groups` for one group. This covers all that is
    published (the choice, the chosen model and its score together), for any data and any
    candidates. ``privacy_report_`` lists what is assumed public and what is not covered: above all
    the running time, which reveals how many models were fitted.

    Parameters
    ----------
    estimator : estimator
        An estimator of skdp that protects rows, a :class:`~skdp.pipeline.DPPipeline` or
        :class:`~skdp.calibration.DPCalibratedClassifier` of such, or a pipeline of scikit-learn
        that ends in one and whose other steps learn nothing:
        :class:`~skdp.preprocessing.BoundsScaler`, :class:`~skdp.preprocessing.NormClipper`,
        :class:`~skdp.preprocessing.DPOneHotEncoder` with lists of all categories,
        :class:`~skdp.preprocessing.DPSimpleImputer` with ``strategy="constant"``, and
        ColumnTransformer of these with columns by name or position, FeatureUnion and Pipeline. The
        search sets its epsilon, delta, adjacency, ledger and random_state. Leave their defaults,
        which count as unset; values that differ from those of the search are an error.
    param_grid : dict or list of dict
        Lists of values by the name of a parameter, as in scikit-learn's GridSearchCV. Steps of a
        pipeline are parameters, too, so candidates may be of different classes. The grid is public:
        choose it without looking at the rows.
    epsilon : float, default=1.0
        Privacy loss of the whole search, above 0. ``float("inf")`` runs the same code without noise
        or bounds.
    delta : float or "auto", default="auto"
        Probability, in [0, 1), that the loss may exceed `epsilon`. "auto" is 1e-5, or ``0.1 /
        n_samples`` where that is less. With 0 the candidates must be pure, such as
        ``DPSGDClassifier(mechanism="laplace")``.
    adjacency : {"zero_out", "replace_one"}, default="zero_out"
        Which data sets are neighbouring. One record is replaced by a null record that contributes
        nothing ("zero_out"), or by any other record ("replace_one"). The second needs about twice
        the noise.
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
        only the best trial. "compose" fits each candidate once, with a share of the budget, and
        chooses by a noisy maximum. It has no score to publish, and needs a `scoring` that is a mean
        over rows. "auto" is the method with less noise, by public numbers; the report states both.
    average_over : {"rows", "groups"}, default="rows"
        With `groups`, what a score is a mean over. "rows" is what fits optimise: people with many
        rows count more, up to `rows_per_group`. With "groups" each person counts once, by one of
        their rows, drawn at random.
    rows_per_group : int or "auto", default="auto"
        For "rows" with `groups`: so many rows of a person are scored on at most, drawn at random.
        "auto" is 2 to 16, larger with less noise, and follows from public numbers.
    n_jobs : int, default=None
        Workers that share the trials, as in joblib. The result is the same to the last bit for
        every value.
    verbose : int, default=0
        Above 0, a fit shows how far it is, and nothing of the data (:ref:`progress`): how many
        candidates were tried before any noise, and for "compose" how many are fitted. The number of
        trials of "repeat" is secret, so that nothing is shown while they run. 1 moves a bar where
        tqdm is installed and a terminal or notebook shows it, and prints lines elsewhere. 2 always
        prints lines.
    random_state : int, RandomState instance or None, default=None
        None draws all randomness from the operating system. A seed makes the search reproducible,
        also for anyone who learns it and subtracts the noise. The report says that there was one.
    ledger : str, path or PrivacyLedger, default=None
        Budget of the study, to which the whole search is charged once, before any noise is drawn;
        see :class:`skdp.ledger.PrivacyLedger`. None uses the ledger that the environment variable
        ``SKDP_LEDGER`` names; without it nothing is recorded.

    Attributes
    ----------
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
    There is no ``cv_results_``: a table of trials would reveal their number, and the proof [1]_
    [2]_ [3]_ needs that to be secret. For the same reason fits inside give no warnings and print
    nothing, and a trial that fails has the worst score. Running time can't be hidden.

    A record is in one part only, so a trial costs the larger of fit and score, not the sum.
    doc/theory/selection.rst has the proofs. The split is random; a stratified split would read
    labels. Without `groups` several rows of one person may be in both parts, because the guarantee
    is for one row.

    References
    ----------
    .. [1] Liu and Talwar (2019). Private selection from private candidates.
       STOC.
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
        delta="auto",
        adjacency="zero_out",
        scoring=None,
        validation_size=0.25,
        n_trials="auto",
        method="auto",
        average_over="rows",
        rows_per_group="auto",
        n_jobs=None,
        verbose=0,
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
        self.average_over = average_over
        self.rows_per_group = rows_per_group
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state
        self.ledger = ledger

    def _settings(self):
        return ParameterGrid(self.param_grid)


class DPRandomizedSearch(BaseSearch):
    """Choose among settings that are drawn at random, with one privacy budget.

    Settings are drawn without reading a row; the rest is as in :class:`DPGridSearch`.

    **Guarantee.** One call is (`epsilon`, `delta`)-differentially private for one row (its features
    and its label) under `adjacency`, or with `groups` for one group. This covers all that is
    published (the choice, the chosen model and its score together), for any data and any
    candidates. ``privacy_report_`` lists what is assumed public and what is not covered: above all
    the running time, which reveals how many models were fitted.

    Parameters
    ----------
    estimator : estimator
        An estimator of skdp that protects rows, a :class:`~skdp.pipeline.DPPipeline` or
        :class:`~skdp.calibration.DPCalibratedClassifier` of such, or a pipeline of scikit-learn
        that ends in one and whose other steps learn nothing:
        :class:`~skdp.preprocessing.BoundsScaler`, :class:`~skdp.preprocessing.NormClipper`,
        :class:`~skdp.preprocessing.DPOneHotEncoder` with lists of all categories,
        :class:`~skdp.preprocessing.DPSimpleImputer` with ``strategy="constant"``, and
        ColumnTransformer of these with columns by name or position, FeatureUnion and Pipeline. The
        search sets its epsilon, delta, adjacency, ledger and random_state. Leave their defaults,
        which count as unset; values that differ from those of the search are an error.
    param_distributions : dict or list of dict
        Lists of values, or distributions with a method ``rvs``, by the name of a parameter, as in
        scikit-learn's RandomizedSearchCV. They are public: choose them without looking at the rows.
    n_iter : int, default=10
        Number of settings that are drawn.
    epsilon : float, default=1.0
        Privacy loss of the whole search, above 0. ``float("inf")`` runs the same code without noise
        or bounds.
    delta : float or "auto", default="auto"
        Probability, in [0, 1), that the loss may exceed `epsilon`. "auto" is 1e-5, or ``0.1 /
        n_samples`` where that is less. With 0 the candidates must be pure, such as
        ``DPSGDClassifier(mechanism="laplace")``.
    adjacency : {"zero_out", "replace_one"}, default="zero_out"
        Which data sets are neighbouring. One record is replaced by a null record that contributes
        nothing ("zero_out"), or by any other record ("replace_one"). The second needs about twice
        the noise.
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
        only the best trial. "compose" fits each candidate once, with a share of the budget, and
        chooses by a noisy maximum. It has no score to publish, and needs a `scoring` that is a mean
        over rows. "auto" is the method with less noise, by public numbers; the report states both.
    average_over : {"rows", "groups"}, default="rows"
        With `groups`, what a score is a mean over. "rows" is what fits optimise: people with many
        rows count more, up to `rows_per_group`. With "groups" each person counts once, by one of
        their rows, drawn at random.
    rows_per_group : int or "auto", default="auto"
        For "rows" with `groups`: so many rows of a person are scored on at most, drawn at random.
        "auto" is 2 to 16, larger with less noise, and follows from public numbers.
    n_jobs : int, default=None
        Workers that share the trials, as in joblib. The result is the same to the last bit for
        every value.
    verbose : int, default=0
        Above 0, a fit shows how far it is, and nothing of the data (:ref:`progress`): how many
        candidates were tried before any noise, and for "compose" how many are fitted. The number of
        trials of "repeat" is secret, so that nothing is shown while they run. 1 moves a bar where
        tqdm is installed and a terminal or notebook shows it, and prints lines elsewhere. 2 always
        prints lines.
    random_state : int, RandomState instance or None, default=None
        None draws all randomness from the operating system. A seed makes the search reproducible,
        also for anyone who learns it and subtracts the noise. The report says that there was one.
    ledger : str, path or PrivacyLedger, default=None
        Budget of the study, to which the whole search is charged once, before any noise is drawn;
        see :class:`skdp.ledger.PrivacyLedger`. None uses the ledger that the environment variable
        ``SKDP_LEDGER`` names; without it nothing is recorded.

    Attributes
    ----------
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
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X had string column names.

    See Also
    --------
    DPGridSearch : All settings of a grid.
    skdp.metrics.private_score : Score a model on other private records.
    skdp.accountant.calibrate_selection : What a trial may cost.

    Notes
    -----
    There is no ``cv_results_``: a table of trials would reveal their number, and the proof [1]_
    [2]_ [3]_ needs that to be secret. For the same reason fits inside give no warnings and print
    nothing, and a trial that fails has the worst score. Running time can't be hidden.

    A record is in one part only, so a trial costs the larger of fit and score, not the sum.
    doc/theory/selection.rst has the proofs. The split is random; a stratified split would read
    labels. Without `groups` several rows of one person may be in both parts, because the guarantee
    is for one row.

    References
    ----------
    .. [1] Liu and Talwar (2019). Private selection from private candidates.
       STOC.
    .. [2] Papernot and Steinke (2022). Hyperparameter tuning with Renyi differential privacy. ICLR.
    .. [3] Koskela, Redberg and Wang (2024). Privacy profiles for private selection. ICML.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import make_classification
    >>> from skdp.linear_model import DPLogisticRegression
    >>> from skdp.model_selection import DPRandomizedSearch
    >>> X, y = make_classification(n_samples=4000, n_features=5, random_state=0)
    >>> model = DPLogisticRegression(classes=[0, 1])
    >>> settings = {"data_norm": loguniform(0.1, 100.0)}
    >>> search = DPRandomizedSearch(model, settings, n_iter=4, epsilon=1.0)
    >>> search.fit(X, y).privacy_report_
    (1, 1e-05)-DP
    >>> sorted(search.best_params_)
    ['data_norm']
    """

    _parameter_constraints = {  # noqa: RUF012
        **CONSTRAINTS,
        "param_distributions": [dict, list],
        "n_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        estimator,
        param_distributions,
        *,
        n_iter=10,
        epsilon=1.0,
        delta="auto",
        adjacency="zero_out",
        scoring=None,
        validation_size=0.25,
        n_trials="auto",
        method="auto",
        average_over="rows",
        rows_per_group="auto",
        n_jobs=None,
        verbose=0,
        random_state=None,
        ledger=None,
    ):
        self.estimator = estimator
        self.param_distributions = param_distributions
        self.n_iter = n_iter
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.scoring = scoring
        self.validation_size = validation_size
        self.n_trials = n_trials
        self.method = method
        self.average_over = average_over
        self.rows_per_group = rows_per_group
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state
        self.ledger = ledger

    def _settings(self):
        drawn = public_choices(self.random_state)
        return ParameterSampler(self.param_distributions, self.n_iter, random_state=drawn)
