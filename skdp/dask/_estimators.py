"""Private whitening on Dask collections."""

from dataclasses import dataclass, replace

from skdp.dask._parts import RowReader
from skdp.dask._passes import NOT_COVERED, PARTITIONS, passes
from skdp.dask._table import set_columns
from skdp.dask._twins import DaskClassifierMixin, DaskTwin, constraints_of_twin
from skdp.linear_model import (
    DPHuberRegressor,
    DPLogisticRegression,
    DPQuantileRegressor,
    DPRidge,
)
from skdp.linear_model._fit import fit_to
from skdp.linear_model._row_bounds import RowTreatment
from skdp.linear_model.whitened._method import NOT_INFERRED

_NO_CLASSES = (
    "declare the class set, classes=[...]: reading it takes a pass, and tells whether a rare class "
    "occurs."
)


@dataclass(frozen=True)
class Reader(RowReader):
    """What workers get to know of an estimator; see `skdp.dask._parts.RowReader`."""

    # Messages name the estimator.
    estimator_name: str
    treatment: RowTreatment
    takes_sparse: bool

    def of(self, treatment):
        """Return what reads the same rows from now on, and treats them otherwise."""
        return replace(self, treatment=treatment)

    @property
    def name(self):
        return self.estimator_name

    @property
    def n_jobs(self):
        return self.treatment.n_jobs

    @property
    def checks_of_targets(self):
        accepted = "csr" if self.takes_sparse else False
        return {"accept_sparse": accepted, **self.treatment.family.checks_of_targets}

    def certified_rows(self, X):
        return self.treatment.bounds.read(X)

    def bounded_by(self, ball, X, is_null):
        return self.treatment.bounds.place(ball, X, is_null)

    def targets(self, y, exposure=None):
        return self.treatment.family.read(y, exposure)[0]

    def void_rows(self, targets):
        return self.treatment.family.void_rows(targets)

    def asked(self, rows, targets, n_threads, codes=None):
        return self.treatment.answering(rows, targets, n_threads, codes=codes)


def reader_of(model, method, family):
    """Return what workers get to know of a model on collections, by its method and its family."""
    return Reader(
        estimator_name=model._local.__name__,
        treatment=method.treatment(family),
        takes_sparse=method.takes_sparse,
    )


def columns_and_units(family, table):
    """Return the number of columns that a table's targets have in training, and their units.

    Before anything is learnt of targets, their units are the same whatever they are.
    """
    if family.reads_classes:
        raise ValueError(_NO_CLASSES)
    family.check_settings()
    # A column of targets is flat to those that take one target alone.
    is_flat = table.n_targets is None or not family.takes_several
    return family.n_columns(table.n_targets or 1), family.first_units(is_flat)


class DaskWhitened(DaskTwin):
    """Fits of private whitening whose queries are answered where the rows are."""

    _learnt_too = "_std_error_parts", "_estimand", "_is_of_rates"

    def _fit_parts(self, X, y, groups, exposure=None):
        """Fit the model; without exposures of rows there is None."""
        method, family = self._method(), self._family(has_exposure=exposure is not None)
        client, table = self._opened(X, y, groups, exposure)
        if method.inference and groups is not None:
            raise ValueError(NOT_INFERRED)
        set_columns(self, table)
        _, units = columns_and_units(family, table)

        with passes(table, reader_of(self, method, family), client=client) as rows:
            rows.count_records(groups)

            return fit_to(self, method, rows, units, (PARTITIONS,), (NOT_COVERED,))


class DaskDPRidge(DaskWhitened, DPRidge):
    r"""Ridge regression by private whitening, on Dask collections.

    Minimises, over rows :math:`x_i` in the units of a learnt ball,

    .. math:: \frac{1}{n} \sum_i \frac{1}{2} (y_i - x_i^\top w)^2 + \frac{\alpha}{2} \|w\|^2 .

    **Guarantee.** The fitted attributes are (`epsilon`, `delta`)-differentially private for one row
    (its features and its targets) under `adjacency`, for any data, whatever the other parameters;
    for a fit with `groups`, for one group, which is all rows of a person. ``privacy_report_`` lists
    what is assumed public and what is not covered.

    Parameters
    ----------
    alpha : float, default=1e-4
        Strength of the L2 penalty; scikit-learn's Ridge has ``n_samples * alpha``.
    fit_intercept : bool, default=True
        Whether to fit an intercept. It is penalised like the coefficients, by its distance from the
        middle of the bounds of the targets, given or learnt (from 0 without them). It belongs to a
        constant column, equal to a third of the ball's radius, or of `data_norm` where no ball is
        learnt.
    epsilon : float, default=1.0
        Privacy loss, above 0. ``float("inf")`` runs the same code without noise or bounds.
    delta : float or "auto", default="auto"
        Probability, in (0, 1), that the loss may exceed `epsilon`. "auto" is 1e-5, or ``0.1 / n``
        where that is less; n is the number of records, or of people where groups are given.
    adjacency : {"zero_out", "replace_one"}, default="zero_out"
        Which data sets are neighbouring. One record is replaced by a null record that contributes
        nothing ("zero_out"), or by any other record ("replace_one"). The second needs about twice
        the noise.
    moment_budget : float or "auto", default="auto"
        Share of the budget, in [0, 1) and in terms of the squared parameter of Gaussian
        differential privacy, for releasing the second moment of the rows. "auto" is 0.1, and 0
        above 2,000 columns, where computing the eigenvectors of the moment would take longer than
        the rest of the fit. With 0 rows aren't whitened, which is less accurate wherever columns
        are correlated or of uneven scale.
    public_moment : array-like of shape (n_features + 1, n_features + 1), default=None
        Second moment of public rows, in place of a released one: the mean of ``np.outer(z, z)``
        over rows ``z = (1, x)``, in the units of X, or ``moment_`` of an earlier model. With groups
        it is the mean over people of the sums over their rows. No budget is then spent on a moment.
        It is assumed public; a wrong one costs only accuracy. With ``epsilon=inf`` it is not
        needed: rows are whitened by their own moment.
    data_norm : float or None, default=None
        Public bound on the L2 norm of a row. None sets no bound: a ball that contains the rows is
        learnt, see `ball_budget`. A bound makes this cheaper. Where there is too much noise to
        learn a ball, rows are clipped to the bound in `fit` (not in `predict`).
    ball_budget : float or "auto", default="auto"
        Share of the budget (of the squared Gaussian-DP parameter), in [0, 1), for learning the ball
        that contains the rows: a centre, a scale for each column, and a radius. `alpha` penalises
        the scaled columns, as after a StandardScaler, and rows beyond the radius count less. For a
        regressor without `target_bounds`, a quarter of the share learns these. With 0 no ball is
        learnt, and public bounds clip the rows about 0. "auto" is 0.12, more for targets and where
        the records are few, and 0 where noise would hide the ball or where another setting refers
        to rows that are not scaled: see :doc:`/theory/ball`.
    target_bounds : pair of floats (low, high), default=None
        Public range of y. Targets beyond it are clipped to it, and training works on targets mapped
        to [-1, 1] (without an intercept: divided by the larger absolute bound). None learns a range
        of most targets, wherever they lie, from a share of the budget: see `ball_budget`. Where
        this share is 0, y is used unchanged, with a warning: the fit is still private, but accurate
        only if the targets are within about [-1, 1]. Where a range would be learnt, a fit with
        ``epsilon=float("inf")`` and an intercept subtracts the mean of y first.
    max_iter : int or "auto", default="auto"
        Number of steps, all of which are taken. Each reads all rows once, after up to eleven passes
        over the rows before the first step. "auto" follows from the released moment and public
        numbers: 10, 20 or 40, most where noise is small, and 100 where no moment is released.
    clipping_norm : float or "auto", default="auto"
        Clipping bound on the contribution of one row to a step: the length of its slopes times that
        of the whitened row. "auto" follows from the released moment and public numbers.
    step_size : float or "auto", default="auto"
        Length of the steps in whitened coordinates. "auto" is 1, the reciprocal of the largest
        curvature of the loss, with which steps don't diverge.
    average : bool, default=True
        Whether to return the mean of the later iterates. It costs no privacy.
    rows_per_group : float or "auto", default="auto"
        For fits with `groups`: bound on the contribution of a group to the second moment, as a
        number of rows of full length, at least 1. Groups with more are clipped to it there; the
        steps use all rows. "auto" is 2 to 16, larger with less noise, and follows from public
        numbers.
    inference : bool, default=False
        Whether to also release what standard errors and confidence intervals need, within the same
        budget: see `conf_int` and `summary`. It supports one target, or two classes. The
        coefficients then come from other steps, for which `step_size`, `average` and, where there
        is one, `momentum` must keep their defaults. "auto" then means a `moment_budget` of 0.3, and
        a `max_iter` of 32; `max_iter` must be at least 12. With a `data_norm` no ball is learnt
        (`ball_budget` must be "auto" or 0), and every row within it counts whole: take one that no
        row exceeds, as longer rows count less. Without it rows beyond the learnt radius count less,
        and intervals are of that weighted regression, not of the unweighted coefficient: see
        ``inference_quality_``. `DPRidge` has no intervals without bounds of targets, given or
        learnt. doc/theory/inference.rst derives them.
    n_jobs : int, default=None
        Threads that share a sum over all rows, as in joblib. They are used only where a sum has
        enough work to pay for them, and at most two where sums aren't compiled (the extra ``fast``
        of the package), because more would take longer. The result is the same to the last bit for
        every value.
    client : distributed.Client, default=None
        Whose workers compute the sums. None takes the current client, and without any reads one
        partition after another in this process. Memory doesn't grow with the rows: copies of many
        are in a temporary file.
    compute_chunk_sizes : bool, default=False
        Whether to count the rows of partitions whose number isn't known, such as a data frame's.
    verbose : int, default=0
        Above 0, a fit shows how far it is: the releases of its plan that are made, and nothing of
        the data (:ref:`progress`). 1 moves a bar where tqdm is installed and a terminal or notebook
        shows it, and prints lines elsewhere. 2 always prints lines.
    ledger : str, path or PrivacyLedger, default=None
        Budget of the study, to which a fit is charged before its noise is drawn; see
        :class:`skdp.ledger.PrivacyLedger`. None uses the ledger that the environment variable
        ``SKDP_LEDGER`` names; without it nothing is recorded.
    random_state : int, RandomState instance or None, default=None
        None draws all randomness from the operating system. A seed makes the fit reproducible, also
        for anyone who learns it and subtracts the noise. Fits with an equal seed share their noise
        (so do the folds of a cross-validation, which clones the seed), and their guarantees don't
        compose. The report says that there was a seed.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_outputs, n_features)
        Coefficients, in the units of y. A table of one target has the shape of a flat y here and in
        predictions, as for scikit-learn's Ridge; `intercept_` is an array then.
    intercept_ : float or ndarray of shape (n_outputs,)
        Intercept.
    target_bounds_ : tuple (low, high)
        Bounds to which predictions are clipped: those of the targets, given or learnt, with an
        entry for each of several learnt targets. Infinite where there are none, and without
        privacy.
    n_iter_ : int
        Steps taken.
    clipping_norm_ : float
        Bound to which a row's contribution to a step was clipped; see `clipping_norm`.
    step_size_ : float
        Length of the steps; see `step_size`.
    center_ : ndarray of shape (n_features,)
        Learnt centre of the rows; 0 without an intercept. This attribute and the next two exist
        only if a ball was learnt.
    scale_ : ndarray of shape (n_features,)
        Divisors of the columns: about the size of most of their entries that are not 0. Without
        privacy, their standard deviations.
    radius_ : float
        Radius of the ball. Rows ``(x - center_) / scale_`` that are longer count less, by the
        radius over their length.
    moment_ : ndarray of shape (n_features + 1, n_features + 1)
        Second moment of the rows (1, x) by which rows were whitened: the released moment, shrunk,
        plus what noise may hide. Rows beyond the ball, or `data_norm`, count in it as they did in
        the fit. It exists where a moment was released, with an intercept; see `public_moment`.
    coef_std_error_ : ndarray of the shape of `coef_`
        Standard errors, for sampling and privacy noise together; nan where there is none. This
        attribute and the next four exist only with ``inference=True``.
    intercept_std_error_ : float or ndarray of the shape of `intercept_`
        Standard error of the intercept.
    inference_quality_ : {"yes", "wide", "weighted", "no"}
        Whether intervals have their stated coverage of the coefficients, have at least that, are of
        the weighted regression instead, or can't be given. "weighted" is that of fits without
        `data_norm`: rows longer than ``radius_`` count less, and the coverage is at least that
        stated, of the weighted coefficients and not of the unweighted ones. No quality can detect
        large errors in few rows; `summary` says in how few.
    inference_reasons_ : tuple of str
        Why the quality isn't "yes".
    weighted_share_ : float
        Estimated share of the rows that count less, from released counts. It exists only where the
        quality may be "weighted". However small it is, weighted and unweighted coefficients may be
        far apart.
    privacy_report_ : skdp.accountant.PrivacyReport
        The guarantee of this fit.
    delta_ : float
        The delta of that guarantee; see `delta`.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X had string column names.

    See Also
    --------
    DPLogisticRegression : Private classification by the same algorithm.
    DPCDLasso : Private regression with coefficients of zero.
    DPSGDRegressor : Private regression on streams, with pure epsilon, or with outliers.

    Notes
    -----
    The fit releases one noisy second moment of the rows, and then takes noisy gradient steps over
    all rows in the coordinates in which that moment is about the identity. All batches are full, so
    the releases compose to one Gaussian exactly [1]_, and ``privacy_report_.mu`` is exact.
    Eigenvalues of the moment are shrunk according to the noise [2]_. doc/theory/whitening.rst has
    the proofs and the reasons for the automatic settings. Several targets are clipped and released
    together: each adds noise, but none takes a share of the budget.

    References
    ----------
    .. [1] Dong, Roth and Su (2022). Gaussian differential privacy. Journal of
       the Royal Statistical Society B. Corollary 3.3, on composition.
    .. [2] Bun, Allez, Bouchaud and Potters (2016). Rotational invariant estimator for general noisy
       matrices. IEEE Transactions on Information Theory. On shrinking eigenvalues.

    Examples
    --------
    >>> import dask.array as da
    >>> from skdp.dask import DaskDPRidge
    >>> X = da.random.default_rng(0).uniform(-1, 1, (10_000, 3), chunks=(2_500, 3))
    >>> model = DaskDPRidge(epsilon=1.0, data_norm=2.0, target_bounds=(-3, 3))
    >>> model.fit(X, X.sum(axis=1)).privacy_report_
    (1, 1e-05)-DP
    """

    _local = DPRidge
    _parameter_constraints = constraints_of_twin(DPRidge)

    def __init__(
        self,
        alpha=1e-4,
        *,
        fit_intercept=True,
        epsilon=1.0,
        delta="auto",
        adjacency="zero_out",
        moment_budget="auto",
        public_moment=None,
        data_norm=None,
        ball_budget="auto",
        target_bounds=None,
        max_iter="auto",
        clipping_norm="auto",
        step_size="auto",
        average=True,
        rows_per_group="auto",
        inference=False,
        n_jobs=None,
        client=None,
        compute_chunk_sizes=False,
        verbose=0,
        ledger=None,
        random_state=None,
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.moment_budget = moment_budget
        self.public_moment = public_moment
        self.data_norm = data_norm
        self.ball_budget = ball_budget
        self.target_bounds = target_bounds
        self.max_iter = max_iter
        self.clipping_norm = clipping_norm
        self.step_size = step_size
        self.average = average
        self.rows_per_group = rows_per_group
        self.inference = inference
        self.n_jobs = n_jobs
        self.client = client
        self.compute_chunk_sizes = compute_chunk_sizes
        self.verbose = verbose
        self.ledger = ledger
        self.random_state = random_state


class DaskDPLogisticRegression(DaskClassifierMixin, DaskWhitened, DPLogisticRegression):
    r"""Logistic regression by private whitening, on Dask collections.

    Minimises, over rows :math:`x_i` in the units of a learnt ball and labels
    :math:`y_i \in \{-1, 1\}`,

    .. math:: \frac{1}{n} \sum_i \log(1 + e^{-y_i x_i^\top w}) + \frac{\alpha}{2} \|w\|^2 ,

    and with several classes the multinomial logistic loss,

    .. math:: \frac{1}{n} \sum_i \Bigl(\log \sum_k e^{x_i^\top w_k} - x_i^\top w_{y_i}\Bigr)
              + \frac{\alpha}{2} \|W\|^2 .

    **Guarantee.** The fitted attributes are (`epsilon`, `delta`)-differentially private for one row
    (its features and its label) under `adjacency`, for any data, whatever the other parameters; for
    a fit with `groups`, for one group, which is all rows of a person. With ``classes=None`` the set
    of classes is read from y and assumed public. ``privacy_report_`` lists what is assumed public
    and what is not covered.

    Parameters
    ----------
    alpha : float, default=1e-4
        Strength of the L2 penalty; scikit-learn's LogisticRegression has
        ``C = 1 / (n_samples * alpha)``.
    fit_intercept : bool, default=True
        Whether to fit an intercept. It is penalised like the coefficients, as in LinearSVC. It
        belongs to a constant column, equal to a third of the ball's radius, or of `data_norm` where
        no ball is learnt.
    classes : array-like, default=None
        The class set. None reads it from y, which reveals whether a rare class occurs; declare it
        if that is not public. Labels outside it are refused, classes without a row are kept.
    epsilon : float, default=1.0
        Privacy loss, above 0. ``float("inf")`` runs the same code without noise or bounds.
    delta : float or "auto", default="auto"
        Probability, in (0, 1), that the loss may exceed `epsilon`. "auto" is 1e-5, or ``0.1 / n``
        where that is less; n is the number of records, or of people where groups are given.
    adjacency : {"zero_out", "replace_one"}, default="zero_out"
        Which data sets are neighbouring. One record is replaced by a null record that contributes
        nothing ("zero_out"), or by any other record ("replace_one"). The second needs about twice
        the noise.
    moment_budget : float or "auto", default="auto"
        Share of the budget, in [0, 1) and in terms of the squared parameter of Gaussian
        differential privacy, for releasing the second moment of the rows. "auto" is 0.1, and 0
        above 2,000 columns, where computing the eigenvectors of the moment would take longer than
        the rest of the fit. With 0 rows aren't whitened, which is less accurate wherever columns
        are correlated or of uneven scale.
    public_moment : array-like of shape (n_features + 1, n_features + 1), default=None
        Second moment of public rows, in place of a released one: the mean of ``np.outer(z, z)``
        over rows ``z = (1, x)``, in the units of X, or ``moment_`` of an earlier model. With groups
        it is the mean over people of the sums over their rows. No budget is then spent on a moment.
        It is assumed public; a wrong one costs only accuracy. With ``epsilon=inf`` it is not
        needed: rows are whitened by their own moment.
    data_norm : float or None, default=None
        Public bound on the L2 norm of a row. None sets no bound: a ball that contains the rows is
        learnt, see `ball_budget`. A bound makes this cheaper. Where there is too much noise to
        learn a ball, rows are clipped to the bound in `fit` (not in `predict`).
    ball_budget : float or "auto", default="auto"
        Share of the budget (of the squared Gaussian-DP parameter), in [0, 1), for learning the ball
        that contains the rows: a centre, a scale for each column, and a radius. `alpha` penalises
        the scaled columns, as after a StandardScaler, and rows beyond the radius count less. For a
        regressor without `target_bounds`, a quarter of the share learns these. With 0 no ball is
        learnt, and public bounds clip the rows about 0. "auto" is 0.12, more for targets and where
        the records are few, and 0 where noise would hide the ball or where another setting refers
        to rows that are not scaled: see :doc:`/theory/ball`.
    max_iter : int or "auto", default="auto"
        Number of steps, all of which are taken. Each reads all rows once, after up to eleven passes
        over the rows before the first step. "auto" follows from the released moment and public
        numbers: 10, 20 or 40, fewer where noise is large, and 100 where no moment is released.
    clipping_norm : float or "auto", default="auto"
        Clipping bound on the contribution of one row to a step: the length of its slopes times that
        of the whitened row. "auto" follows from the released moment and public numbers.
    step_size : float or "auto", default="auto"
        Length of the steps in whitened coordinates. "auto" is the reciprocal of the largest
        curvature of the loss, 4 for two classes and 2 for more, with which steps don't diverge.
    momentum : float or "auto", default="auto"
        Share of the last step, in [0, 1), that each step repeats. "auto" follows from the released
        moment and public numbers: none where noise is large.
    average : bool, default=True
        Whether to return the mean of the later iterates. It costs no privacy.
    rows_per_group : float or "auto", default="auto"
        For fits with `groups`: bound on the contribution of a group to the second moment, as a
        number of rows of full length, at least 1. Groups with more are clipped to it there; the
        steps use all rows. "auto" is 2 to 16, larger with less noise, and follows from public
        numbers.
    inference : bool, default=False
        Whether to also release what standard errors and confidence intervals need, within the same
        budget: see `conf_int` and `summary`. It supports one target, or two classes. The
        coefficients then come from other steps, for which `step_size`, `average` and, where there
        is one, `momentum` must keep their defaults. "auto" then means a `moment_budget` of 0.3, and
        a `max_iter` of 32; `max_iter` must be at least 12. With a `data_norm` no ball is learnt
        (`ball_budget` must be "auto" or 0), and every row within it counts whole: take one that no
        row exceeds, as longer rows count less. Without it rows beyond the learnt radius count less,
        and intervals are of that weighted regression, not of the unweighted coefficient: see
        ``inference_quality_``. `DPRidge` has no intervals without bounds of targets, given or
        learnt. doc/theory/inference.rst derives them.
    n_jobs : int, default=None
        Threads that share a sum over all rows, as in joblib. They are used only where a sum has
        enough work to pay for them, and at most two where sums aren't compiled (the extra ``fast``
        of the package), because more would take longer. The result is the same to the last bit for
        every value.
    client : distributed.Client, default=None
        Whose workers compute the sums. None takes the current client, and without any reads one
        partition after another in this process. Memory doesn't grow with the rows: copies of many
        are in a temporary file.
    compute_chunk_sizes : bool, default=False
        Whether to count the rows of partitions whose number isn't known, such as a data frame's.
    verbose : int, default=0
        Above 0, a fit shows how far it is: the releases of its plan that are made, and nothing of
        the data (:ref:`progress`). 1 moves a bar where tqdm is installed and a terminal or notebook
        shows it, and prints lines elsewhere. 2 always prints lines.
    ledger : str, path or PrivacyLedger, default=None
        Budget of the study, to which a fit is charged before its noise is drawn; see
        :class:`skdp.ledger.PrivacyLedger`. None uses the ledger that the environment variable
        ``SKDP_LEDGER`` names; without it nothing is recorded.
    random_state : int, RandomState instance or None, default=None
        None draws all randomness from the operating system. A seed makes the fit reproducible, also
        for anyone who learns it and subtracts the noise. Fits with an equal seed share their noise
        (so do the folds of a cross-validation, which clones the seed), and their guarantees don't
        compose. The report says that there was a seed.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients; one row if there are two classes.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    n_iter_ : int
        Steps taken.
    clipping_norm_ : float
        Bound to which a row's contribution to a step was clipped; see `clipping_norm`.
    step_size_ : float
        Length of the steps; see `step_size`.
    center_ : ndarray of shape (n_features,)
        Learnt centre of the rows; 0 without an intercept. This attribute and the next two exist
        only if a ball was learnt.
    scale_ : ndarray of shape (n_features,)
        Divisors of the columns: about the size of most of their entries that are not 0. Without
        privacy, their standard deviations.
    radius_ : float
        Radius of the ball. Rows ``(x - center_) / scale_`` that are longer count less, by the
        radius over their length.
    moment_ : ndarray of shape (n_features + 1, n_features + 1)
        Second moment of the rows (1, x) by which rows were whitened: the released moment, shrunk,
        plus what noise may hide. Rows beyond the ball, or `data_norm`, count in it as they did in
        the fit. It exists where a moment was released, with an intercept; see `public_moment`.
    momentum_ : float
        Share of the last step that each step repeated; see `momentum`.
    coef_std_error_ : ndarray of the shape of `coef_`
        Standard errors, for sampling and privacy noise together; nan where there is none. This
        attribute and the next four exist only with ``inference=True``.
    intercept_std_error_ : float or ndarray of the shape of `intercept_`
        Standard error of the intercept.
    inference_quality_ : {"yes", "wide", "weighted", "no"}
        Whether intervals have their stated coverage of the coefficients, have at least that, are of
        the weighted regression instead, or can't be given. "weighted" is that of fits without
        `data_norm`: rows longer than ``radius_`` count less, and the coverage is at least that
        stated, of the weighted coefficients and not of the unweighted ones. No quality can detect
        large errors in few rows; `summary` says in how few.
    inference_reasons_ : tuple of str
        Why the quality isn't "yes".
    weighted_share_ : float
        Estimated share of the rows that count less, from released counts. It exists only where the
        quality may be "weighted". However small it is, weighted and unweighted coefficients may be
        far apart.
    privacy_report_ : skdp.accountant.PrivacyReport
        The guarantee of this fit.
    delta_ : float
        The delta of that guarantee; see `delta`.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X had string column names.

    See Also
    --------
    DPRidge : Private regression by the same algorithm.
    DPCDClassifier : Private classification with coefficients of zero.
    DPSGDClassifier : Private classification on streams, with pure epsilon, or by the hinge loss.
    WALRClassifier : Logistic regression where only labels are private.

    Notes
    -----
    The fit releases one noisy second moment of the rows, and then takes noisy gradient steps over
    all rows in the coordinates in which that moment is about the identity. All batches are full, so
    the releases compose to one Gaussian exactly [1]_, and ``privacy_report_.mu`` is exact.
    Eigenvalues of the moment are shrunk according to the noise [2]_. doc/theory/whitening.rst has
    the proofs and the reasons for the automatic settings. The classes are clipped and released
    together: each adds noise, but none takes a share of the budget.

    Clipping lowers the risk of a rare class. The intercept of two classes is moved at the end to
    make up for that, from what was released, unless `clipping_norm`, `max_iter` or `step_size` is
    given, or rows have weights or are grouped.

    References
    ----------
    .. [1] Dong, Roth and Su (2022). Gaussian differential privacy. Journal of
       the Royal Statistical Society B. Corollary 3.3, on composition.
    .. [2] Bun, Allez, Bouchaud and Potters (2016). Rotational invariant estimator for general noisy
       matrices. IEEE Transactions on Information Theory. On shrinking eigenvalues.

    Examples
    --------
    >>> import dask.array as da
    >>> from skdp.dask import DaskDPLogisticRegression
    >>> X = da.random.default_rng(0).uniform(-1, 1, (10_000, 3), chunks=(2_500, 3))
    >>> model = DaskDPLogisticRegression(epsilon=1.0, data_norm=2.0, classes=[False, True])
    >>> model.fit(X, X.sum(axis=1) > 0).privacy_report_
    (1, 1e-05)-DP
    """

    _local = DPLogisticRegression
    _parameter_constraints = constraints_of_twin(DPLogisticRegression)

    def __init__(
        self,
        alpha=1e-4,
        *,
        fit_intercept=True,
        classes=None,
        epsilon=1.0,
        delta="auto",
        adjacency="zero_out",
        moment_budget="auto",
        public_moment=None,
        data_norm=None,
        ball_budget="auto",
        max_iter="auto",
        clipping_norm="auto",
        step_size="auto",
        momentum="auto",
        average=True,
        rows_per_group="auto",
        inference=False,
        n_jobs=None,
        client=None,
        compute_chunk_sizes=False,
        verbose=0,
        ledger=None,
        random_state=None,
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.classes = classes
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.moment_budget = moment_budget
        self.public_moment = public_moment
        self.data_norm = data_norm
        self.ball_budget = ball_budget
        self.max_iter = max_iter
        self.clipping_norm = clipping_norm
        self.step_size = step_size
        self.momentum = momentum
        self.average = average
        self.rows_per_group = rows_per_group
        self.inference = inference
        self.n_jobs = n_jobs
        self.client = client
        self.compute_chunk_sizes = compute_chunk_sizes
        self.verbose = verbose
        self.ledger = ledger
        self.random_state = random_state


class DaskDPHuberRegressor(DaskWhitened, DPHuberRegressor):
    r"""Regression that is robust to outliers, by private whitening, on Dask collections.

    Minimises, over rows :math:`x_i` in the units of a learnt ball and targets :math:`y_i`, with a
    released middle :math:`c` and a released spread :math:`s`,

    .. math:: \frac{1}{n} \sum_i h\Bigl(\frac{y_i - c}{s} - x_i^\top w\Bigr)
              + \frac{\alpha}{2} \|w\|^2 ,

    where Huber's loss h is half the squared error up to `huber_threshold`, and linear beyond it.

    **Guarantee.** The fitted attributes are (`epsilon`, `delta`)-differentially private for one row
    (its features and its target) under `adjacency`, for any data, whatever the other parameters;
    for a fit with `groups`, for one group, which is all rows of a person. ``privacy_report_`` lists
    what is assumed public and what is not covered.

    Parameters
    ----------
    alpha : float, default=1e-4
        Strength of the L2 penalty, for a loss of targets in units of their spread.
    huber_threshold : float, default=1.35
        Size of the error above which the loss is linear, in spreads of the targets. The spread is
        the distance between the quartiles of y divided by 1.349, which is the standard deviation of
        a normal distribution. It is that of y, not that of the errors, which scikit-learn's
        HuberRegressor estimates.
    fit_intercept : bool, default=True
        Whether to fit an intercept. It is penalised like the coefficients, by its distance from the
        middle of the bounds of the targets, given or learnt (from 0 without them). It belongs to a
        constant column, equal to a third of the ball's radius, or of `data_norm` where no ball is
        learnt.
    epsilon : float, default=1.0
        Privacy loss, above 0. ``float("inf")`` runs the same code without noise or bounds.
    delta : float or "auto", default="auto"
        Probability, in (0, 1), that the loss may exceed `epsilon`. "auto" is 1e-5, or ``0.1 / n``
        where that is less; n is the number of records, or of people where groups are given.
    adjacency : {"zero_out", "replace_one"}, default="zero_out"
        Which data sets are neighbouring. One record is replaced by a null record that contributes
        nothing ("zero_out"), or by any other record ("replace_one"). The second needs about twice
        the noise.
    moment_budget : float or "auto", default="auto"
        Share of the budget, in [0, 1) and in terms of the squared parameter of Gaussian
        differential privacy, for releasing the second moment of the rows. "auto" is 0.1, and 0
        above 2,000 columns, where computing the eigenvectors of the moment would take longer than
        the rest of the fit. With 0 rows aren't whitened, which is less accurate wherever columns
        are correlated or of uneven scale.
    public_moment : array-like of shape (n_features + 1, n_features + 1), default=None
        Second moment of public rows, in place of a released one: the mean of ``np.outer(z, z)``
        over rows ``z = (1, x)``, in the units of X, or ``moment_`` of an earlier model. With groups
        it is the mean over people of the sums over their rows. No budget is then spent on a moment.
        It is assumed public; a wrong one costs only accuracy. With ``epsilon=inf`` it is not
        needed: rows are whitened by their own moment.
    data_norm : float or None, default=None
        Public bound on the L2 norm of a row. None sets no bound: a ball that contains the rows is
        learnt, see `ball_budget`. A bound makes this cheaper. Where there is too much noise to
        learn a ball, rows are clipped to the bound in `fit` (not in `predict`).
    ball_budget : float or "auto", default="auto"
        Share of the budget (of the squared Gaussian-DP parameter), in [0, 1), for learning the ball
        that contains the rows: a centre, a scale for each column, and a radius. `alpha` penalises
        the scaled columns, as after a StandardScaler, and rows beyond the radius count less. For a
        regressor without `target_bounds`, a quarter of the share learns these. With 0 no ball is
        learnt, and public bounds clip the rows about 0. "auto" is 0.12, more for targets and where
        the records are few, and 0 where noise would hide the ball or where another setting refers
        to rows that are not scaled: see :doc:`/theory/ball`.
    target_bounds : pair of floats (low, high), default=None
        Public range of y, which may be far too wide. Targets and predictions beyond it are clipped
        to it. None takes twice the range of most targets, wherever they lie. That range is learnt
        from a share of the budget: see `ball_budget`. Where this share is 0, y is used unchanged,
        with a warning where there are no bounds. The fit is then still private, but accurate only
        if the bounds are narrow, or most targets are in [-1, 1].
    max_iter : int or "auto", default="auto"
        Number of steps, all of which are taken. Each reads all rows once, after up to eleven passes
        over the rows before the first step. "auto" follows from the released moment and public
        numbers.
    clipping_norm : float or "auto", default="auto"
        Clipping bound on the contribution of one row to a step: its slope, for targets in units of
        their spread, times the length of the whitened row. "auto" follows from the released moment
        and public numbers.
    step_size : float or "auto", default="auto"
        Length of the steps in whitened coordinates. "auto" is 1 divided by the curvature of a
        typical mean over rows.
    momentum : float or "auto", default="auto"
        Share of the last step, in [0, 1), that each step repeats.
    average : bool, default=True
        Whether to return the mean of the later iterates. It costs no privacy.
    rows_per_group : float or "auto", default="auto"
        For fits with `groups`: bound on the contribution of a group to the second moment, as a
        number of rows of full length, at least 1. Groups with more are clipped to it there; the
        steps use all rows. "auto" is 2 to 16, larger with less noise, and follows from public
        numbers.
    n_jobs : int, default=None
        Threads that share a sum over all rows, as in joblib. They are used only where a sum has
        enough work to pay for them, and at most two where sums aren't compiled (the extra ``fast``
        of the package), because more would take longer. The result is the same to the last bit for
        every value.
    client : distributed.Client, default=None
        Whose workers compute the sums. None takes the current client, and without any reads one
        partition after another in this process. Memory doesn't grow with the rows: copies of many
        are in a temporary file.
    compute_chunk_sizes : bool, default=False
        Whether to count the rows of partitions whose number isn't known, such as a data frame's.
    verbose : int, default=0
        Above 0, a fit shows how far it is: the releases of its plan that are made, and nothing of
        the data (:ref:`progress`). 1 moves a bar where tqdm is installed and a terminal or notebook
        shows it, and prints lines elsewhere. 2 always prints lines.
    ledger : str, path or PrivacyLedger, default=None
        Budget of the study, to which a fit is charged before its noise is drawn; see
        :class:`skdp.ledger.PrivacyLedger`. None uses the ledger that the environment variable
        ``SKDP_LEDGER`` names; without it nothing is recorded.
    random_state : int, RandomState instance or None, default=None
        None draws all randomness from the operating system. A seed makes the fit reproducible, also
        for anyone who learns it and subtracts the noise. Fits with an equal seed share their noise
        (so do the folds of a cross-validation, which clones the seed), and their guarantees don't
        compose. The report says that there was a seed.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients, in the units of y.
    intercept_ : float
        Intercept.
    target_bounds_ : tuple (low, high)
        Bounds to which predictions are clipped: those of the target, given or learnt. Infinite
        where there are none, and without privacy.
    n_iter_ : int
        Steps taken.
    clipping_norm_ : float
        Bound to which a row's contribution to a step was clipped; see `clipping_norm`.
    step_size_ : float
        Length of the steps; see `step_size`.
    momentum_ : float
        Share of the last step that each step repeated.
    center_ : ndarray of shape (n_features,)
        Learnt centre of the rows; 0 without an intercept. This attribute and the next two exist
        only if a ball was learnt.
    scale_ : ndarray of shape (n_features,)
        Divisors of the columns: about the size of most of their entries that are not 0. Without
        privacy, their standard deviations.
    radius_ : float
        Radius of the ball. Rows ``(x - center_) / scale_`` that are longer count less, by the
        radius over their length.
    moment_ : ndarray of shape (n_features + 1, n_features + 1)
        Second moment of the rows (1, x) by which rows were whitened: the released moment, shrunk,
        plus what noise may hide. Rows beyond the ball, or `data_norm`, count in it as they did in
        the fit. It exists where a moment was released, with an intercept; see `public_moment`.
    privacy_report_ : skdp.accountant.PrivacyReport
        The guarantee of this fit.
    delta_ : float
        The delta of that guarantee; see `delta`.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X had string column names.

    See Also
    --------
    DPQuantileRegressor : Quantiles, such as the median.
    DPRidge : The mean, where there are no outliers.

    Notes
    -----
    A range of most targets is learnt first, even with `target_bounds`. Then a histogram of targets
    gives their middle and spread, for 3 % of what range and ball leave of the budget. Slopes are at
    most `huber_threshold`, or 1, for any target. So outliers move the model little, including those
    that are clipped for privacy.

    References
    ----------
    .. [1] Dong, Roth and Su (2022). Gaussian differential privacy. Journal of
       the Royal Statistical Society B. Corollary 3.3, on composition.
    .. [2] Bun, Allez, Bouchaud and Potters (2016). Rotational invariant estimator for general noisy
       matrices. IEEE Transactions on Information Theory. On shrinking eigenvalues.

    Examples
    --------
    >>> import dask.array as da
    >>> from skdp.dask import DaskDPHuberRegressor
    >>> X = da.random.default_rng(0).uniform(-1, 1, (10_000, 3), chunks=(2_500, 3))
    >>> model = DaskDPHuberRegressor(epsilon=1.0)
    >>> model.fit(X, X[:, 0]).privacy_report_
    (1, 1e-05)-DP
    """

    _local = DPHuberRegressor
    _parameter_constraints = constraints_of_twin(DPHuberRegressor)

    def __init__(
        self,
        *,
        alpha=1e-4,
        huber_threshold=1.35,
        fit_intercept=True,
        epsilon=1.0,
        delta="auto",
        adjacency="zero_out",
        moment_budget="auto",
        public_moment=None,
        data_norm=None,
        ball_budget="auto",
        target_bounds=None,
        max_iter="auto",
        clipping_norm="auto",
        step_size="auto",
        momentum="auto",
        average=True,
        rows_per_group="auto",
        n_jobs=None,
        client=None,
        compute_chunk_sizes=False,
        verbose=0,
        ledger=None,
        random_state=None,
    ):
        self.alpha = alpha
        self.huber_threshold = huber_threshold
        self.fit_intercept = fit_intercept
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.moment_budget = moment_budget
        self.public_moment = public_moment
        self.data_norm = data_norm
        self.ball_budget = ball_budget
        self.target_bounds = target_bounds
        self.max_iter = max_iter
        self.clipping_norm = clipping_norm
        self.step_size = step_size
        self.momentum = momentum
        self.average = average
        self.rows_per_group = rows_per_group
        self.n_jobs = n_jobs
        self.client = client
        self.compute_chunk_sizes = compute_chunk_sizes
        self.verbose = verbose
        self.ledger = ledger
        self.random_state = random_state


class DaskDPQuantileRegressor(DaskWhitened, DPQuantileRegressor):
    r"""Regression of a quantile, such as the median, by private whitening, on Dask collections.

    Minimises the pinball loss, over rows :math:`x_i` in the units of a learnt ball and targets
    :math:`y_i`, with their released quantile :math:`c` and a released spread :math:`s`,

    .. math:: \frac{1}{n} \sum_i \rho_q\Bigl(\frac{y_i - c}{s} - x_i^\top w\Bigr)
              + \frac{\alpha}{2} \|w\|^2 , \qquad \rho_q(r) = \max(q r, (q - 1) r) ,

    smoothed within about a tenth of a spread. Then the intercept is moved so that, by a released
    count, the share q of the targets lies below the predictions.

    **Guarantee.** The fitted attributes are (`epsilon`, `delta`)-differentially private for one row
    (its features and its target) under `adjacency`, for any data, whatever the other parameters;
    for a fit with `groups`, for one group, which is all rows of a person. ``privacy_report_`` lists
    what is assumed public and what is not covered.

    Parameters
    ----------
    quantile : float, default=0.5
        The quantile q, above 0 and below 1. Values near 0 or 1 need many rows.
    alpha : float, default=1e-4
        Strength of the L2 penalty, for a loss of targets in units of their spread.
    fit_intercept : bool, default=True
        Whether to fit an intercept. It is penalised like the coefficients, by its distance from the
        middle of the bounds of the targets, given or learnt (from 0 without them). It belongs to a
        constant column, equal to a third of the ball's radius, or of `data_norm` where no ball is
        learnt.
    epsilon : float, default=1.0
        Privacy loss, above 0. ``float("inf")`` runs the same code without noise or bounds.
    delta : float or "auto", default="auto"
        Probability, in (0, 1), that the loss may exceed `epsilon`. "auto" is 1e-5, or ``0.1 / n``
        where that is less; n is the number of records, or of people where groups are given.
    adjacency : {"zero_out", "replace_one"}, default="zero_out"
        Which data sets are neighbouring. One record is replaced by a null record that contributes
        nothing ("zero_out"), or by any other record ("replace_one"). The second needs about twice
        the noise.
    moment_budget : float or "auto", default="auto"
        Share of the budget, in [0, 1) and in terms of the squared parameter of Gaussian
        differential privacy, for releasing the second moment of the rows. "auto" is 0.1, and 0
        above 2,000 columns, where computing the eigenvectors of the moment would take longer than
        the rest of the fit. With 0 rows aren't whitened, which is less accurate wherever columns
        are correlated or of uneven scale.
    public_moment : array-like of shape (n_features + 1, n_features + 1), default=None
        Second moment of public rows, in place of a released one: the mean of ``np.outer(z, z)``
        over rows ``z = (1, x)``, in the units of X, or ``moment_`` of an earlier model. With groups
        it is the mean over people of the sums over their rows. No budget is then spent on a moment.
        It is assumed public; a wrong one costs only accuracy. With ``epsilon=inf`` it is not
        needed: rows are whitened by their own moment.
    data_norm : float or None, default=None
        Public bound on the L2 norm of a row. None sets no bound: a ball that contains the rows is
        learnt, see `ball_budget`. A bound makes this cheaper. Where there is too much noise to
        learn a ball, rows are clipped to the bound in `fit` (not in `predict`).
    ball_budget : float or "auto", default="auto"
        Share of the budget (of the squared Gaussian-DP parameter), in [0, 1), for learning the ball
        that contains the rows: a centre, a scale for each column, and a radius. `alpha` penalises
        the scaled columns, as after a StandardScaler, and rows beyond the radius count less. For a
        regressor without `target_bounds`, a quarter of the share learns these. With 0 no ball is
        learnt, and public bounds clip the rows about 0. "auto" is 0.12, more for targets and where
        the records are few, and 0 where noise would hide the ball or where another setting refers
        to rows that are not scaled: see :doc:`/theory/ball`.
    target_bounds : pair of floats (low, high), default=None
        Public range of y, which may be far too wide. Targets and predictions beyond it are clipped
        to it. None takes twice the range of most targets, wherever they lie. That range is learnt
        from a share of the budget: see `ball_budget`. Where this share is 0, y is used unchanged,
        with a warning where there are no bounds. The fit is then still private, but accurate only
        if the bounds are narrow, or most targets are in [-1, 1].
    max_iter : int or "auto", default="auto"
        Number of steps, all of which are taken. Each reads all rows once, after up to eleven passes
        over the rows before the first step. "auto" follows from the released moment and public
        numbers.
    clipping_norm : float or "auto", default="auto"
        Clipping bound on the contribution of one row to a step: its slope, for targets in units of
        their spread, times the length of the whitened row. "auto" follows from the released moment
        and public numbers.
    step_size : float or "auto", default="auto"
        Length of the steps in whitened coordinates. "auto" is 1 divided by the curvature of a
        typical mean over rows.
    momentum : float or "auto", default="auto"
        Share of the last step, in [0, 1), that each step repeats.
    average : bool, default=True
        Whether to return the mean of the later iterates. It costs no privacy.
    rows_per_group : float or "auto", default="auto"
        For fits with `groups`: bound on the contribution of a group to the second moment, as a
        number of rows of full length, at least 1. Groups with more are clipped to it there; the
        steps use all rows. "auto" is 2 to 16, larger with less noise, and follows from public
        numbers.
    n_jobs : int, default=None
        Threads that share a sum over all rows, as in joblib. They are used only where a sum has
        enough work to pay for them, and at most two where sums aren't compiled (the extra ``fast``
        of the package), because more would take longer. The result is the same to the last bit for
        every value.
    client : distributed.Client, default=None
        Whose workers compute the sums. None takes the current client, and without any reads one
        partition after another in this process. Memory doesn't grow with the rows: copies of many
        are in a temporary file.
    compute_chunk_sizes : bool, default=False
        Whether to count the rows of partitions whose number isn't known, such as a data frame's.
    verbose : int, default=0
        Above 0, a fit shows how far it is: the releases of its plan that are made, and nothing of
        the data (:ref:`progress`). 1 moves a bar where tqdm is installed and a terminal or notebook
        shows it, and prints lines elsewhere. 2 always prints lines.
    ledger : str, path or PrivacyLedger, default=None
        Budget of the study, to which a fit is charged before its noise is drawn; see
        :class:`skdp.ledger.PrivacyLedger`. None uses the ledger that the environment variable
        ``SKDP_LEDGER`` names; without it nothing is recorded.
    random_state : int, RandomState instance or None, default=None
        None draws all randomness from the operating system. A seed makes the fit reproducible, also
        for anyone who learns it and subtracts the noise. Fits with an equal seed share their noise
        (so do the folds of a cross-validation, which clones the seed), and their guarantees don't
        compose. The report says that there was a seed.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients, in the units of y.
    intercept_ : float
        Intercept.
    target_bounds_ : tuple (low, high)
        Bounds to which predictions are clipped: those of the target, given or learnt. Infinite
        where there are none, and without privacy.
    n_iter_ : int
        Steps taken.
    clipping_norm_ : float
        Bound to which a row's contribution to a step was clipped; see `clipping_norm`.
    step_size_ : float
        Length of the steps; see `step_size`.
    momentum_ : float
        Share of the last step that each step repeated.
    center_ : ndarray of shape (n_features,)
        Learnt centre of the rows; 0 without an intercept. This attribute and the next two exist
        only if a ball was learnt.
    scale_ : ndarray of shape (n_features,)
        Divisors of the columns: about the size of most of their entries that are not 0. Without
        privacy, their standard deviations.
    radius_ : float
        Radius of the ball. Rows ``(x - center_) / scale_`` that are longer count less, by the
        radius over their length.
    moment_ : ndarray of shape (n_features + 1, n_features + 1)
        Second moment of the rows (1, x) by which rows were whitened: the released moment, shrunk,
        plus what noise may hide. Rows beyond the ball, or `data_norm`, count in it as they did in
        the fit. It exists where a moment was released, with an intercept; see `public_moment`.
    privacy_report_ : skdp.accountant.PrivacyReport
        The guarantee of this fit.
    delta_ : float
        The delta of that guarantee; see `delta`.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X had string column names.

    See Also
    --------
    DPHuberRegressor : A mean that is robust to outliers.
    DPRidge : The mean.

    Notes
    -----
    A range of most targets is learnt first, even with `target_bounds`. Then a histogram of targets
    gives their middle and spread, for 3 % of what range and ball leave of the budget. Slopes are at
    most `huber_threshold`, or 1, for any target. So outliers move the model little, including those
    that are clipped for privacy.

    References
    ----------
    .. [1] Dong, Roth and Su (2022). Gaussian differential privacy. Journal of
       the Royal Statistical Society B. Corollary 3.3, on composition.
    .. [2] Bun, Allez, Bouchaud and Potters (2016). Rotational invariant estimator for general noisy
       matrices. IEEE Transactions on Information Theory. On shrinking eigenvalues.

    Examples
    --------
    >>> import dask.array as da
    >>> from skdp.dask import DaskDPQuantileRegressor
    >>> X = da.random.default_rng(0).uniform(-1, 1, (10_000, 3), chunks=(2_500, 3))
    >>> model = DaskDPQuantileRegressor(quantile=0.9, epsilon=1.0)
    >>> model.fit(X, X[:, 0]).privacy_report_
    (1, 1e-05)-DP
    """

    _local = DPQuantileRegressor
    _parameter_constraints = constraints_of_twin(DPQuantileRegressor)

    def __init__(
        self,
        *,
        quantile=0.5,
        alpha=1e-4,
        fit_intercept=True,
        epsilon=1.0,
        delta="auto",
        adjacency="zero_out",
        moment_budget="auto",
        public_moment=None,
        data_norm=None,
        ball_budget="auto",
        target_bounds=None,
        max_iter="auto",
        clipping_norm="auto",
        step_size="auto",
        momentum="auto",
        average=True,
        rows_per_group="auto",
        n_jobs=None,
        client=None,
        compute_chunk_sizes=False,
        verbose=0,
        ledger=None,
        random_state=None,
    ):
        self.quantile = quantile
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.moment_budget = moment_budget
        self.public_moment = public_moment
        self.data_norm = data_norm
        self.ball_budget = ball_budget
        self.target_bounds = target_bounds
        self.max_iter = max_iter
        self.clipping_norm = clipping_norm
        self.step_size = step_size
        self.momentum = momentum
        self.average = average
        self.rows_per_group = rows_per_group
        self.n_jobs = n_jobs
        self.client = client
        self.compute_chunk_sizes = compute_chunk_sizes
        self.verbose = verbose
        self.ledger = ledger
        self.random_state = random_state
