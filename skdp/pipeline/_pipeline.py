"""Pipelines with one budget."""

import warnings

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.metaestimators import available_if

from skdp._estimator import BUDGET_CONSTRAINTS, RecordPrivateEstimator, is_private
from skdp._progress import progress
from skdp._rows.groups import encode_groups
from skdp._sklearn import StrOptions, _fit_context
from skdp.exceptions import LargeDeltaWarning
from skdp.ledger._account import ALREADY_CHARGED
from skdp.pipeline._budget import (
    assign_budgets,
    collect_reports,
    fit_model,
    fresh_steps,
    n_columns_of,
    plan_steps,
    protect_groups,
    share_ledger,
    sizes_of,
)
from skdp.pipeline._chain import (
    PipelineOfFloats,
    fit_chain,
    pass_bounds,
    refuse_further,
    warn_unbounded,
)
from skdp.pipeline._plan import NOTHING_PRIVATE, PipelineBudget, PipelineGroupBudget
from skdp.pipeline._rehearsal import Rehearsal, check_parameters
from skdp.pipeline._steps import (
    check_leaks,
    choose_by_type,
    find_leaks,
    n_public,
    passing_bounds,
    private_leaves,
    refitted_steps,
    reports_within,
    step_list,
    width_of_all,
    without_passing,
)

_AFTER_FIT = (
    *("predict", "predict_proba", "predict_log_proba", "decision_function"),
    *("transform", "score"),
)
_TYPES_READ = "the types of the columns, by which make_column_selector chooses"


def _transforms(pipeline):
    last = pipeline._final_estimator
    return last == "passthrough" or hasattr(last, "transform")


class DPPipeline(RecordPrivateEstimator, PipelineOfFloats):
    r"""A scikit-learn Pipeline with one budget for all that its steps learn.

    Private steps share the budget, steps that learn nothing from the records cost nothing, and
    steps that would learn from them without privacy are refused. The report therefore covers the
    whole pipeline.

    **Guarantee.** All fitted attributes, including those of the steps, are (`epsilon`,
    `delta`)-differentially private for one row (its features and its target) under `adjacency`, or
    for a fit with `groups`, for one group, which is all rows of a person. Steps that are named in
    `allow` are excepted, and so are frozen steps, whose earlier fits the report names.
    ``privacy_report_`` lists what is assumed public and what is not covered.

    Parameters
    ----------
    steps : list of (str, estimator)
        As in scikit-learn's Pipeline, and with ColumnTransformer, FeatureUnion and Pipeline inside.
        The `epsilon`, `delta`, `adjacency`, `ledger` and `random_state` of private steps are set
        here: leave them at their defaults, which count as not given. Values that differ from those
        here are an error.
    epsilon : float, default=1.0
        Total privacy loss, above 0. ``float("inf")`` adds no noise.
    delta : float or "auto", default="auto"
        Probability, in (0, 1), that the loss may exceed `epsilon`; "auto" is 1e-5, and ``0.1 / n``
        for more than 10,000 records.
    adjacency : {"zero_out", "replace_one"}, default="zero_out"
        Which data sets are neighbouring. One record is replaced by a null record that contributes
        nothing ("zero_out"), or by any other record ("replace_one"). The second needs about twice
        the noise.
    shares : "auto", dict or list of float, default="auto"
        Shares of the budget for the steps that spend some, in terms of the squared parameter of
        Gaussian differential privacy; only ratios count. A dict has names of steps as keys; the
        name of a container stands for all steps in it, in equal parts. A list is in the order of
        the steps. "auto" gives three quarters to a last step that predicts, and equal parts of the
        rest to the others.
    verbose : int, default=0
        Above 0, a fit shows which step it is at, and nothing of the data (:ref:`progress`). 1 moves
        a bar where tqdm is installed and a terminal or notebook shows it, and prints lines
        elsewhere. 2 always prints lines. A step with a `verbose` of its own shows its releases.
    ledger : str, path or PrivacyLedger, default=None
        Budget of the study, to which all steps are charged once, before any noise is drawn; see
        :class:`skdp.ledger.PrivacyLedger`. None uses the ledger that the environment variable
        ``SKDP_LEDGER`` names; without it nothing is recorded.
    random_state : int, RandomState instance or None, default=None
        None draws all randomness from the operating system. A seed makes the fit reproducible, also
        for anyone who learns it and subtracts the noise. The report says that there was one.
    allow : tuple of str, default=()
        Names of steps that may learn from the records without privacy, such as
        ``"columns__scaler"``, and of steps whose class is a subclass of one of skdp. The report
        names them as not covered.

    Attributes
    ----------
    privacy_report_ : skdp.accountant.PrivacyReport
        The guarantee of this fit, with a note for each step that spent something.
    steps : list of (str, estimator)
        The fitted steps; the given ones aren't changed.
    classes_ : ndarray of shape (n_classes,)
        Class labels, where the last step is a classifier.
    n_features_in_ : int
        Number of features seen in `fit`, where the first step knows it.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X had string column names.

    See Also
    --------
    make_private_pipeline : The same without names.
    skdp.inspection.total_report : What the steps of a plain Pipeline spent together.

    Notes
    -----
    Each step gets a part of the budget before the first noise is drawn. A part is a pair of numbers
    that compose exactly, however later steps depend on earlier releases [1]_. The bounds of a
    step's output (on the length of rows and on ranges of columns) propagate: they become the
    `data_norm` and `feature_bounds` of the next private step, if it has the defaults of these.
    doc/pipeline.rst lists which steps pass.

    References
    ----------
    .. [1] Dong, Roth and Su (2022). Gaussian differential privacy. Journal of the Royal Statistical
       Society B. Corollary 3.3, on composition.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from skdp.linear_model import DPLogisticRegression
    >>> from skdp.pipeline import DPPipeline
    >>> from skdp.preprocessing import BoundsScaler
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> scaler = BoundsScaler(feature_bounds=(0, 1000))
    >>> model = DPPipeline([("scale", scaler), ("model", DPLogisticRegression(classes=[0, 1]))])
    >>> model.fit(X, y).privacy_report_
    (1, 1e-05)-DP
    """

    _parameter_constraints = {  # noqa: RUF012
        "steps": [list, tuple],
        **BUDGET_CONSTRAINTS,
        "shares": [StrOptions({"auto"}), dict, list, tuple, np.ndarray],
        "verbose": ["verbose"],
        "allow": [tuple, list],
    }

    _reads_raw = True
    # scikit-learn's Pipeline has these as parameters, and would keep more than is released.
    memory = None
    transform_input = None

    def __init__(
        self,
        steps,
        *,
        epsilon=1.0,
        delta="auto",
        adjacency="zero_out",
        shares="auto",
        verbose=0,
        ledger=None,
        random_state=None,
        allow=(),
    ):
        self.steps = steps
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.shares = shares
        self.verbose = verbose
        self.ledger = ledger
        self.random_state = random_state
        self.allow = allow

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y=None, groups=None, **params):
        """Fit all steps, privately.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows, as the first step takes them.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Labels or targets, where the last step needs them.
        groups : array-like of shape (n_samples,), default=None
            The person, household, ... of each row, as hashable ids, which are passed to all steps.
            The guarantee is then for one group, with all its rows. The number of groups is public.
            With None each row is a record.
        **params : dict
            Refused: nothing else is planned for.

        Returns
        -------
        self : object
            The fitted pipeline.

        Raises
        ------
        BudgetExceededError
            If there is a ledger, and too little is left in it.
        ValueError
            If a step would learn from the records without privacy, if the budget is too small to be
            divided, or if a parameter or the input is invalid; no message quotes an entry of the
            data.
        TypeError
            If a step can't be part of a pipeline, or X is of a kind that a step doesn't take.
        """
        refuse_further(params)
        # Before scikit-learn's check, which knows no resampling and doesn't say what to do.
        open_parts = self._open_parts()
        self._validate_steps()
        X = self._as_read(X)
        n_rows, *sizes = sizes_of(X, y, self._final_estimator)
        groups, n_records = encode_groups(groups, n_rows)
        sizes = n_records, *sizes
        steps = passing_bounds(fresh_steps(self))
        check_parameters(step_list(self.steps))
        if groups is not None:
            protect_groups(step_list(steps))

        # Steps that learn nothing bound the rows.
        n_before = n_public(step_list(steps))
        # The last of these may predict, and then nothing could be made of rows by it.
        if n_before == len(steps):
            raise ValueError(NOTHING_PRIVATE)
        begin = progress().named("step", len(steps))
        rows, bounds = fit_chain(steps[:n_before], X, y, begin=begin)
        rest = steps[n_before:]
        pass_bounds(rest[0][1], bounds)

        width = n_columns_of(rows)
        if self.ledger is ALREADY_CHARGED:
            # The charge was planned from sizes alone, and so is what it pays for.
            width = width_of_all(step_list(steps[:n_before]), n_columns_of(X))
        budget = self._budget(n_records, groups is not None)
        plan = plan_steps(budget, self.shares, step_list(rest), width, sizes)
        # Who has charged for this fit has rehearsed it.
        if self.ledger is not ALREADY_CHARGED:
            Rehearsal(y, groups, budget, n_rows).of_all(step_list(rest), rows)
        run = plan.start(self.random_state)
        streams = run.spawn(len(plan.parts))

        own_settings = assign_budgets(plan, step_list(rest), streams)
        with warnings.catch_warnings():
            # The plan has reported it.
            warnings.simplefilter("ignore", LargeDeltaWarning)
            rows, bounds = fit_chain(rest[:-1], rows, y, bounds, groups, begin)
            begin(rest[-1][0])
            pass_bounds(rest[-1][1], bounds)
            fit_model(plan, rest[-1], rows, y, n_outputs=sizes[-1], groups=groups)
        warn_unbounded(*rest[-1], bounds)
        run.made_within(*(part.name for part in plan.parts))
        run.finish()

        steps = self.steps = without_passing(steps)
        self._step_reports = reports_within(step_list(steps, fitted=True))
        assumed = self._assumed(fitted=True)
        self.privacy_report_ = plan.joint_report(
            collect_reports(steps, own_settings, self.ledger),
            reproducible=run.reproducible,
            also_public=assumed,
            open_parts=open_parts,
        )
        return self

    @available_if(_transforms)
    def fit_transform(self, X, y=None, **params):
        """Fit all steps, privately, and return the transformed X, which isn't private.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows, as the first step takes them.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Labels or targets, where a step needs them.
        **params : dict
            Refused: nothing else is planned for.

        Returns
        -------
        X_transformed : array-like of shape (n_samples, n_outputs)
            The training rows after all steps.

        Raises
        ------
        ValueError
            As in `fit`.
        """
        return self.fit(X, y, **params).transform(X)

    # The last step's error is the one to be seen.
    @available_if(lambda pipeline: bool(pipeline._final_estimator.fit_predict))
    def fit_predict(self, X, y=None, **params):
        """Fit all steps, privately, and return the predictions for X, which aren't private.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows, as the first step takes them.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Labels or targets, where a step needs them.
        **params : dict
            Refused: nothing else is planned for.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Predictions for the training rows.

        Raises
        ------
        ValueError
            As in `fit`.
        """
        return self.fit(X, y, **params).predict(X)

    def set_params(self, **params):
        """Set parameters of the pipeline and of its steps.

        A new ledger is also set in steps that have the ledger of the pipeline, such as those of an
        earlier fit.

        Parameters
        ----------
        **params : dict
            Values by name, those of steps as in ``dpridge__alpha``.

        Returns
        -------
        self : object
            The pipeline.

        Raises
        ------
        ValueError
            If there is no such parameter.
        """
        if "ledger" in params:
            share_ledger(self, params["ledger"])
        return super().set_params(**params)

    def get_metadata_routing(self):
        """Return the metadata routing of the pipeline and its steps.

        Returns
        -------
        router : sklearn.utils.metadata_routing.MetadataRouter
            `fit` itself requests `groups` after ``set_fit_request(groups=True)``, and passes them
            to all steps, which need no request of their own. Otherwise as scikit-learn's Pipeline.

        Raises
        ------
        TypeError
            If a step has no metadata routing.
        """
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        for name, step in self.steps:
            mapping = MethodMapping()
            for caller in _AFTER_FIT:
                is_last = name == self.steps[-1][0]
                mapping.add(caller=caller, callee=caller if is_last else "transform")
            router.add(**{name: step}, method_mapping=mapping)
        return router

    def __getitem__(self, ind):
        """Return a step, or for a slice a private pipeline of some steps, which share them."""
        if not isinstance(ind, slice):
            return super().__getitem__(ind)
        if ind.step not in (1, None):
            raise ValueError("Pipeline slicing only supports a step of 1")
        options = self.get_params(deep=False) | {"steps": self.steps[ind]}
        return type(self)(**options)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        kind = tags.classifier_tags or tags.regressor_tags
        if kind is not None:
            kind.poor_score = is_private(self)
        return tags

    def _plan(self, n_records, n_features, n_outputs=1, *, by_group=False):
        """Return the plan of a fit of such sizes."""
        self._open_parts()
        steps = step_list(fresh_steps(self))
        if by_group:
            protect_groups(steps)
        n_before = n_public(steps)
        width = width_of_all(steps[:n_before], n_features)
        sizes = n_records, n_features, n_outputs
        budget = self._budget(n_records, by_group)
        return plan_steps(budget, self.shares, steps[n_before:], width, sizes)

    def _budget(self, n_records, by_group=False):
        kind = PipelineGroupBudget if by_group else PipelineBudget
        return kind(*self._promised(n_records), account=self._account())

    def _assumed(self, *, fitted=False):
        """Return what the steps assume public besides what plans do, or did as they were fitted."""
        leaves = private_leaves(step_list(self.steps, fitted=fitted))
        said = [words for leaf in leaves for words in leaf.estimator._assumed()]
        by_type = choose_by_type(step_list(self.steps))
        if by_type:
            said.append(_TYPES_READ)
        return tuple(dict.fromkeys(said))

    def _preview(self, *sizes, by_group=False):
        return self._plan(*sizes, by_group=by_group).joint_report(
            {},
            reproducible=self.random_state is not None,
            also_public=self._assumed(),
            open_parts=self._open_parts(),
        )

    def _refitted(self):
        steps = step_list(self.steps, fitted=True)
        # A fit refuses these, so that they were put in since.
        leaks = (step.path for step, _ in find_leaks(steps) if step.path not in self.allow)
        return (*refitted_steps(steps, self._step_reports), *leaks)

    def _open_parts(self):
        return check_leaks(step_list(self.steps), tuple(self.allow))


def make_private_pipeline(
    *steps,
    epsilon=1.0,
    delta="auto",
    adjacency="zero_out",
    shares="auto",
    verbose=0,
    ledger=None,
    random_state=None,
    allow=(),
):
    """Make a `DPPipeline` whose steps are named by their classes.

    Parameters
    ----------
    *steps : estimators
        In their order; the names are those of the classes in lower case.
    epsilon, delta : float
        The guarantee of the whole pipeline; see :class:`DPPipeline` for this and the other
        parameters.
    adjacency : {"zero_out", "replace_one"}, default="zero_out"
        Which data sets are neighbouring.
    shares : "auto", dict or list of float, default="auto"
        Shares of the budget for the steps.
    verbose : int, default=0
        Whether a fit shows which step it is at.
    ledger : str, path or PrivacyLedger, default=None
        Budget of the study.
    random_state : int, RandomState instance or None, default=None
        A seed of all noise, or None for none.
    allow : tuple of str, default=()
        Names of steps that may leak.

    Returns
    -------
    pipeline : DPPipeline
        Not fitted.

    Raises
    ------
    TypeError
        If a step can't be part of a pipeline.

    Examples
    --------
    >>> from skdp.linear_model import DPRidge
    >>> from skdp.pipeline import make_private_pipeline
    >>> from skdp.preprocessing import BoundsScaler
    >>> model = make_private_pipeline(BoundsScaler(), DPRidge(), epsilon=0.5)
    >>> [name for name, _ in model.steps]
    ['boundsscaler', 'dpridge']
    """
    return DPPipeline(
        make_pipeline(*steps).steps,
        epsilon=epsilon,
        delta=delta,
        adjacency=adjacency,
        shares=shares,
        verbose=verbose,
        ledger=ledger,
        random_state=random_state,
        allow=allow,
    )
