"""A pipeline with one budget for all that its steps learn."""

import re
import warnings

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length

from skdp._estimator import BUDGET_CONSTRAINTS, RecordPrivateEstimator, is_private
from skdp._plans._base import LARGE_DELTA
from skdp._plans._pipeline import Learner, PipelineBudget, plan_pipeline
from skdp.exceptions import PrivacyWarning
from skdp.ledger._account import COVERED
from skdp.linear_model._base import RowPrivateEstimator, encode_labels
from skdp.pipeline._chain import fit_chain, fit_last, forget, hand_on
from skdp.pipeline._shares import resolve_shares
from skdp.pipeline._tree import (
    all_leaves,
    check_leaks,
    declared_width,
    forest,
    handing,
    private_leaves,
    width_after,
    widths,
)
from skdp.utils._sklearn import StrOptions, _fit_context, quietly, refuse_foreign

_FURTHER = (
    "fit of a private pipeline takes X and y alone: what a step would learn from {!r} isn't "
    "planned for."
)
_NO_ROWS = "Found array with 0 sample(s) while a minimum of 1 is required."
_NO_Y = "This DPPipeline estimator requires y to be passed, but the target y is None."
_UNCOVERED = "step {!r} ({}), which learns from the records without privacy and is named in allow"
_LARGE_DELTA = re.escape(LARGE_DELTA)
_FROZEN = "what frozen steps were fitted on"


def _last_has(name):
    """Return a check that the last step has a method."""

    def check(pipeline):
        # Its error is the one to be seen.
        getattr(pipeline._final_estimator, name)
        return True

    return check


def _transforms(pipeline):
    last = pipeline._final_estimator
    return last == "passthrough" or hasattr(last, "transform")


class DPPipeline(RecordPrivateEstimator, Pipeline):
    r"""A scikit-learn Pipeline with one budget for all that its steps learn.

    Private steps share the budget, steps that learn nothing from the records cost nothing, and
    steps that would learn from them without privacy are refused. So what the pipeline says of its
    privacy is true of all of it.

    **Guarantee.** All fitted attributes, those of the steps included, are (`epsilon`,
    `delta`)-differentially private for one row (its features and its target) under `adjacency`,
    but for steps that are named in `allow`. What is assumed public and what is not covered is
    listed in ``privacy_report_``.

    Parameters
    ----------
    steps : list of (str, estimator)
        As in scikit-learn's Pipeline, ColumnTransformer, FeatureUnion and Pipeline inside included.
        The private ones' `epsilon`, `delta`, `adjacency`, `ledger` and `random_state` are set here.

    epsilon : float, default=1.0
        Privacy loss of everything, above 0. ``float("inf")`` adds no noise.

    delta : float, default=1e-5
        Probability, in (0, 1), that the loss may exceed `epsilon`.

    adjacency : {"zero_out", "replace_one"}, default="zero_out"
        What the guarantee compares: data sets in which one record is a null record that contributes
        nothing, or in which one record is any other. The second needs about twice the noise.

    shares : "auto", dict or list of float, default="auto"
        How much of the budget each step that spends some gets, in terms of the squared parameter
        of Gaussian differential privacy; only ratios count. A dict is by the names of steps, where
        that of a container stands for all that is in it, in equal parts; a list is in their order.
        "auto" gives a last step that predicts three quarters, and the others equal parts of the
        rest.

    ledger : str, path or PrivacyLedger, default=None
        Budget of the study that all steps are charged to, once and before there is noise, see
        :class:`skdp.ledger.PrivacyLedger`. None takes the one that the environment variable
        ``SKDP_LEDGER`` names, and without it records nothing.

    random_state : int, RandomState instance or None, default=None
        None draws all randomness from the operating system. A seed makes the fit reproducible, also
        for whoever learns it and subtracts the noise. The report says that there was one.

    allow : tuple of str, default=()
        Names of steps that may learn from the records without privacy, such as
        ``"columns__scaler"``. The report names them as not covered.

    Attributes
    ----------
    privacy_report_ : skdp.accountant.PrivacyReport
        The guarantee of this fit, with a note for each step that spent something.

    steps : list of (str, estimator)
        Fitted; those that were given aren't changed.

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
    Each step gets a part of the budget before the first noise is drawn, as a pair of numbers that
    add up exactly whatever later steps make of what earlier ones released [1]_, and what a step
    promises of its output, a longest row and ranges of columns, becomes the next private step's
    `data_norm` and `feature_bounds` if they are as its constructor makes them.
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
        "allow": [tuple, list],
    }

    # What scikit-learn's Pipeline has, and would keep or print more than is released.
    memory = None
    verbose = False
    transform_input = None

    def __init__(
        self,
        steps,
        *,
        epsilon=1.0,
        delta=1e-5,
        adjacency="zero_out",
        shares="auto",
        ledger=None,
        random_state=None,
        allow=(),
    ):
        self.steps = steps
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.shares = shares
        self.ledger = ledger
        self.random_state = random_state
        self.allow = allow

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y=None, **params):
        """Fit all steps, privately.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows, as the first step takes them.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Labels or targets, where the last step needs them.
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
            If a step would learn from the records without privacy, the budget is too small to be
            shared, or a parameter or the input is invalid; no message quotes an entry of the data.
        TypeError
            If a step can't be part of a pipeline, or X is of a kind that a step doesn't take.
        """
        # 1. scikit-learn's contract
        if params:
            raise ValueError(_FURTHER.format(sorted(params)[0]))
        self._validate_steps()
        n_rows, n_features, n_outputs = self._sizes(X, y)
        uncovered = self._uncovered()
        steps = self._fresh_steps()

        with handing(steps):
            # 2. steps that learn nothing bound the data
            n_public = _n_public(forest(steps))
            rows, promise = fit_chain(steps[:n_public], X, y)
            rest = steps[n_public:]
            if rest:
                hand_on(rest[0][1], promise)

            # 3. plan from public numbers
            width = rows.shape[1] if n_public else n_features
            plan = self._plan_steps(forest(rest), n_rows, width, n_outputs)
            streams = plan.start(self.random_state).spawn(len(plan.parts))

            # 4. solve
            self._spend(forest(rest), plan.parts, streams)
            with warnings.catch_warnings():
                # The plan has told it.
                warnings.filterwarnings("ignore", _LARGE_DELTA, PrivacyWarning)
                rows, promise = fit_chain(rest[:-1], rows, y, promise)
                hand_on(rest[-1][1], promise)
                self._fit_last(rest[-1], plan, rows, y, n_outputs)

        # 5. publish
        self.steps = steps
        self.privacy_report_ = plan.joint_report(
            self._cleaned(steps),
            reproducible=streams[0].reproducible,
            also_public=self._assumed(),
            uncovered=uncovered,
        )
        return self

    @available_if(_transforms)
    def fit_transform(self, X, y=None, **params):
        """Fit all steps, privately, and return what they make of X, which isn't private.

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

    @available_if(_last_has("fit_predict"))
    def fit_predict(self, X, y=None, **params):
        """Fit all steps, privately, and return what the last one says of X, which isn't private.

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

    def __getitem__(self, ind):
        """Return a step, or for a slice a private pipeline of some steps, which share them."""
        if not isinstance(ind, slice):
            return super().__getitem__(ind)
        if ind.step not in (1, None):
            raise ValueError("Pipeline slicing only supports a step of 1")
        return type(self)(self.steps[ind], **self._options())

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        kind = tags.classifier_tags or tags.regressor_tags
        if kind is not None:
            kind.poor_score = is_private(self)
        return tags

    def _options(self):
        parameters = self.get_params(deep=False)
        return {name: value for name, value in parameters.items() if name != "steps"}

    def _fresh_steps(self):
        """Return copies of the steps that know nothing of an earlier fit."""
        steps = [(name, clone(step, safe=False)) for name, step in self.steps]
        for leaf in private_leaves(forest(steps)):
            forget(leaf.estimator)
        return steps

    def _sizes(self, X, y):
        """Return the numbers of rows, of features, and of outputs of what predicts."""
        refuse_foreign(X, "X")
        refuse_foreign(y, "y")
        shape = (
            np.shape(X) if hasattr(X, "shape") else np.shape(quietly(np.asarray, X, dtype=object))
        )
        if shape[0] == 0:
            raise ValueError(_NO_ROWS)
        n_features = shape[1] if len(shape) == 2 else 1
        last = self._final_estimator
        if not isinstance(last, RowPrivateEstimator):
            return shape[0], n_features, 1
        if y is None:
            raise ValueError(_NO_Y)
        check_consistent_length(X, y)
        targets = quietly(np.asarray, y)
        if is_classifier(last):
            targets = encode_labels(targets.ravel(), last.classes)[1]
        return shape[0], n_features, 1 if targets.ndim == 1 else targets.shape[1]

    def _plan(self, n_rows, n_features, n_outputs=1):
        """Return the plan of a fit on rows of such sizes."""
        check_leaks(forest(self.steps), tuple(self.allow))
        steps = forest(self._fresh_steps())
        n_public = _n_public(steps)
        width = n_features
        for step in steps[:n_public]:
            width = width_after(step, width)
        return self._plan_steps(steps[n_public:], n_rows, width, n_outputs, n_features)

    def _plan_steps(self, steps, n_rows, width, n_outputs, stand_in=None):
        """Return the plan of steps of which the first gets rows of a width, None if not known."""
        found = []
        for step in steps:
            for leaf, n_columns in widths(step, width):
                if isinstance(leaf.estimator, RecordPrivateEstimator):
                    found.append((leaf, n_columns, leaf is steps[0] and n_columns is not None))
            width = width_after(step, width)
        learners = []
        for leaf, n_columns, is_exact in found:
            sizes = (n_rows, n_columns or declared_width(leaf.estimator) or stand_in or 1)
            releases = self._releases(leaf.estimator, *sizes, n_outputs)
            if releases(self.epsilon, self.delta):
                learners.append((leaf, releases, is_exact))
        shares = resolve_shares(self.shares, [leaf for leaf, *_ in learners])
        methods = {leaf.estimator.accountant for leaf, *_ in learners}
        accountant = methods.pop() if len(learners) == 1 else "pld"
        spent = (self.epsilon, self.delta, self.adjacency)
        budget = PipelineBudget(*spent, accountant, account=self._account())
        return plan_pipeline(
            budget,
            [
                Learner(leaf.path, share, releases, is_exact)
                for (leaf, releases, is_exact), share in zip(learners, shares, strict=True)
            ],
            n_rows=n_rows,
        )

    def _releases(self, step, n_rows, n_features, n_outputs):
        """Return a function of epsilon and delta that gives the events of a step's fit."""
        sizes = (n_rows, n_features)
        if isinstance(step, RowPrivateEstimator):
            sizes += (n_outputs,)
        step._validate_params()
        step = clone(step).set_params(adjacency=self.adjacency, ledger=COVERED)

        def releases(epsilon, delta):
            return step.set_params(epsilon=epsilon, delta=delta)._plan(*sizes).events

        return releases

    def _spend(self, steps, parts, streams):
        """Hand steps what they may spend; those that learn nothing have no part."""
        own = {part.name: (part, stream) for part, stream in zip(parts, streams, strict=True)}
        for leaf in private_leaves(steps):
            part, stream = own.get(leaf.path, (self, None))
            leaf.estimator.set_params(
                epsilon=part.epsilon,
                delta=part.delta,
                adjacency=self.adjacency,
                # All are charged together.
                ledger=COVERED,
                random_state=stream and stream.as_random_state(),
            )

    def _fit_last(self, last, plan, rows, y, n_outputs):
        """Fit the last step, whose design may have become known just now."""
        name, step = last
        if not isinstance(step, RowPrivateEstimator):
            fit_last(last, rows, y)
            return
        (part,) = [part for part in plan.parts if part.name == name]
        releases = self._releases(step, plan.n_rows, rows.shape[1], n_outputs)
        step.set_params(epsilon=part.fitting(releases, self.adjacency)).fit(rows, y)

    def _cleaned(self, steps):
        """Return the events of steps by name; what is published of them holds no seed."""
        released = {}
        for leaf in (*private_leaves(forest(steps)), *private_leaves(forest(steps, fitted=True))):
            step = leaf.estimator
            if (report := getattr(step, "privacy_report_", None)) is not None:
                released[leaf.path] = report.events
            # Another fit of it charges as any other.
            step.set_params(random_state=None, ledger=self.ledger)
        return released

    def _assumed(self):
        """Return what the steps assume public besides what plans do."""
        leaves = all_leaves(forest(self.steps))
        said = [
            words
            for leaf in private_leaves(forest(self.steps))
            for words in leaf.estimator._assumed()
        ]
        frozen = any(leaf.kind == "FrozenEstimator" for leaf in leaves)
        return tuple(dict.fromkeys([*said, *[_FROZEN] * frozen]))

    def _preview(self, *sizes):
        return self._plan(*sizes).joint_report(
            {},
            reproducible=self.random_state is not None,
            also_public=self._assumed(),
            uncovered=self._uncovered(),
        )

    def _uncovered(self):
        allowed = check_leaks(forest(self.steps), tuple(self.allow))
        return tuple(_UNCOVERED.format(leaf.path, leaf.kind) for leaf in allowed)


def make_private_pipeline(
    *steps,
    epsilon=1.0,
    delta=1e-5,
    adjacency="zero_out",
    shares="auto",
    ledger=None,
    random_state=None,
    allow=(),
):
    """Make a `DPPipeline` whose steps are named by their classes.

    Parameters
    ----------
    *steps : estimators
        In their order; the names are those of the classes in lower case.
    epsilon, delta, adjacency, shares, ledger, random_state, allow
        See :class:`DPPipeline`.

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
        ledger=ledger,
        random_state=random_state,
        allow=allow,
    )


def _n_public(steps):
    """Return how many steps there are before the first that may spend something."""
    private = [index for index, step in enumerate(steps) if private_leaves([step])]
    return private[0] if private else len(steps)
