"""Releases of labels: what their holder runs, and what rows they are of."""

import math
from functools import partial
from secrets import token_hex
from typing import NamedTuple

import numpy as np

from skdp._checks import check_positive, check_public_weight
from skdp._families.targets import encode_labels
from skdp._families.weights import weigh
from skdp._release.plan import resolve_delta
from skdp._rows.bounds import clip_rows, row_norms, summation_slack
from skdp._rows.threads import single_threaded_blas
from skdp._sklearn import StrOptions, validate_arrays, validate_params
from skdp.ledger._account import resolve_account
from skdp.linear_model._base import COMMON_CONSTRAINTS, POSITIVE
from skdp.linear_model.walr import _tuned as tuned
from skdp.linear_model.walr._aggregate import SAME_SUMS, LabelAggregate, ResponseAggregate
from skdp.linear_model.walr._noise import best_design
from skdp.linear_model.walr._plan import LabelBudget, plan_walr
from skdp.linear_model.walr._solver import BLOCK, PublicRows

_COMMON_OPTIONS = ("fit_intercept", "epsilon", "delta", "ledger", "random_state")
CONSTRAINTS = {name: COMMON_CONSTRAINTS[name] for name in _COMMON_OPTIONS} | {
    "classes": ["array-like", None],
    "mechanism": [StrOptions({"auto", "analytic", "classic", "randomized_response"})],
    "noise_shape": [StrOptions({"auto", "adapted", "spherical"})],
    "data_norm": [POSITIVE, None],
}


class Options(NamedTuple):
    """The parameters of `label_aggregate`, by their names."""

    fit_intercept: bool
    epsilon: float
    delta: float | str
    ledger: object
    random_state: object
    classes: object
    mechanism: str
    noise_shape: str
    data_norm: float | None


_TOO_MANY_COLUMNS = (
    f"WALR takes {tuned.LARGEST_N_COLUMNS} columns at most: use fewer (user guide, sparse rows and "
    "many columns)."
)


@validate_params(CONSTRAINTS, prefer_skip_nested_validation=True)
def label_aggregate(
    X,
    y,
    *,
    public_weight=None,
    fit_intercept=True,
    classes=None,
    epsilon=1.0,
    delta="auto",
    mechanism="auto",
    noise_shape="auto",
    data_norm=None,
    ledger=None,
    random_state=None,
):
    """Release noisy sums of rows by label, from which others can train without the labels.

    The sums are (`epsilon`, `delta`)-differentially private for the label of one row. The features
    are public, and not protected. See :class:`WALRClassifier`, whose parameters these are.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Public rows.
    y : array-like of shape (n_samples,)
        Private labels.
    public_weight : array-like of shape (n_samples,), default=None
        Weight of each record, 0 or more. Weights are divided by their mean. A release needs noise
        for the longest row times its weight. Weights are assumed public: they must not depend on
        the labels. Without weights all records count equally.
    fit_intercept : bool, default=True
        Whether models will have intercepts.
    classes : array-like, default=None
        The class set; None reads it from y.
    epsilon : float, default=1.0
        Privacy loss, above 0; ``float("inf")`` adds no noise.
    delta : float or "auto", default="auto"
        Probability, in [0, 1), that the loss may exceed `epsilon`. "auto" is 1e-5, or ``0.1 /
        n_samples`` where that is less.
    mechanism : {"auto", "analytic", "classic", "randomized_response"}, default="auto"
        Gaussian noise on the sums, calibrated in one of two ways, or sums of flipped labels. "auto"
        chooses by public rows. Holders whose aggregates are to be added must all name the same.
    noise_shape : {"auto", "adapted", "spherical"}, default="auto"
        Whether Gaussian noise suits the rows or is the same for every column.
    data_norm : float, default=None
        Bound on the L2 norm of a row; None reads the largest from X. Holders whose aggregates are
        to be added must all give the same number.
    ledger : str, path or PrivacyLedger, default=None
        Budget to which the release is charged; see :class:`skdp.ledger.PrivacyLedger`. None uses
        the ledger that the environment variable ``SKDP_LEDGER`` names, if there is one.
    random_state : int, RandomState instance or None, default=None
        A seed makes the noise reproducible, and removable by anyone who learns it.

    Returns
    -------
    aggregate : LabelAggregate
        The release.

    Raises
    ------
    BudgetExceededError
        If there is a ledger, and too little is left in it.
    ValueError
        If a parameter or the input is invalid; no message quotes an entry of the data.
    TypeError
        If X is of a kind that can't be read.

    References
    ----------
    .. [1] Yuan and Lazarsfeld. Weighted aggregate logistic regression.
       Technical note, section "Label differential privacy".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skdp.linear_model import label_aggregate
    >>> X, y = load_iris(return_X_y=True)
    >>> label_aggregate(X, y, epsilon=2.0, classes=[0, 1, 2])
    LabelAggregate(150 rows, 3 classes, randomized_response, (2, 0)-DP for the label of one row)
    """
    X, y, names = validate_arrays(
        "label_aggregate", X, y, accept_sparse="csr", dtype=[np.float64, np.float32], order="C"
    )
    options = Options(
        fit_intercept=fit_intercept,
        epsilon=epsilon,
        delta=delta,
        ledger=ledger,
        random_state=random_state,
        classes=classes,
        mechanism=mechanism,
        noise_shape=noise_shape,
        data_norm=data_norm,
    )
    account = resolve_account(ledger, "label_aggregate", options._asdict())
    return release_labels(X, y, names, options, account, public_weight)[1]


def _weights(public_weight, n_rows):
    """Return public weights of mean 1 as an array of shape (n_rows,), or None if all are alike."""
    weights = weigh(check_public_weight(public_weight, n_rows))
    return None if weights.of_rows is None else weights.expand(n_rows)


def release_labels(X, y, feature_names, options, account, public_weight):
    """Return validated rows as `PublicRows`, and the aggregate of them and their labels."""
    weights = _weights(public_weight, len(y))
    classes, targets = encode_labels(y, options.classes)

    norms, norm_read = row_norms(X), options.data_norm is None
    data_norm = _largest(norms) if norm_read else check_positive(options.data_norm, "data_norm")
    # With this constant the intercept's noise and the others' cost about the same.
    bias = data_norm / X.shape[1] ** tuned.INTERCEPT_POWER if options.fit_intercept else 0.0
    promised = options.epsilon, resolve_delta(options.delta, len(y))
    budget = LabelBudget(*promised, mechanism=options.mechanism, account=account)
    rows = clip_rows(
        X,
        data_norm=data_norm,
        clip=budget.is_private,
        norm=norms,
        fit_intercept=options.fit_intercept,
        bias=bias,
    )

    if rows.n_columns > tuned.LARGEST_N_COLUMNS:
        raise ValueError(_TOO_MANY_COLUMNS)
    few, shape = rows.n_columns <= tuned.LARGEST_ADAPTED_COLUMNS, options.noise_shape
    plans = plan_walr(
        budget,
        compare=few,
        n_records=len(y),
        n_columns=rows.n_columns,
        n_classes=classes.size,
        rounding_slack=summation_slack(*X.shape, targets.shape[1], BLOCK),
    )
    public = PublicRows(rows, weights)
    multiplied = public.multiplied()
    adapted = shape == "adapted" or (shape == "auto" and few)
    with single_threaded_blas, np.errstate(all="ignore"):
        design = best_design(multiplied, plans, adapted=adapted)
        run = design.plan.start(options.random_state)

        released = design.release_sums(targets, run)
        part_sums = multiplied.total[np.newaxis]
    return public, make_aggregate(
        design.plan,
        run,
        released,
        classes=classes,
        data_norm=data_norm,
        bias=bias,
        part_sums=part_sums,
        feature_names=feature_names,
        classes_read=options.classes is None,
        norm_read=norm_read,
        weighted=weights is not None,
    )


def make_aggregate(
    plan,
    run,
    released,
    *,
    classes,
    data_norm,
    bias,
    part_sums,
    feature_names,
    classes_read,
    norm_read,
    weighted=False,
):
    """Return the aggregate of a run of a plan that released `ReleasedSums`, under a new name."""
    run.finish()
    aggregate = LabelAggregate
    if released.flip_probability is not None:
        aggregate = partial(ResponseAggregate, flip_probability=released.flip_probability)
    return aggregate(
        sums=released.sums,
        noise_cov=released.noise_cov,
        n_rows=plan.n_records,
        classes=classes,
        data_norm=data_norm,
        bias=bias,
        part_sums=part_sums,
        feature_names=feature_names,
        epsilon=plan.budget.epsilon,
        delta=plan.budget.delta,
        noise_multiplier=released.noise_multiplier,
        sensitivity=released.sensitivity,
        names=(token_hex(16),),
        reproducible=run.reproducible,
        classes_read=classes_read,
        norm_read=norm_read,
        weighted=weighted,
    )


def prepared_rows(X, aggregate, feature_names, public_weight=None):
    """Return validated rows as `PublicRows`, as an aggregate was made of; refuse other rows."""
    if not isinstance(aggregate, LabelAggregate):
        raise TypeError("aggregate must be a LabelAggregate, as made by label_aggregate.")
    shape = aggregate.n_rows, aggregate.n_features
    if X.shape != shape:
        raise ValueError(f"X has the shape {X.shape}, but the aggregate was made of {shape}.")
    if feature_names is not None and aggregate.feature_names not in (None, tuple(feature_names)):
        raise ValueError("X has other feature names than those that the aggregate was made of.")
    is_private, bias = math.isfinite(aggregate.epsilon), aggregate.bias
    rows = clip_rows(
        X, data_norm=aggregate.data_norm, clip=is_private, fit_intercept=bias > 0.0, bias=bias
    )
    public = PublicRows(rows, _weights(public_weight, X.shape[0]))
    reach = SAME_SUMS * public.n_rows * max(aggregate.data_norm, bias)
    with single_threaded_blas, np.errstate(all="ignore"):
        if (np.abs(public.total - aggregate.feature_sums) > reach).any():
            raise ValueError("X has other rows than the aggregate's, or other scales or weights.")
        if is_private:
            aggregate._check_rows(public.multiplied())
    return public


def _largest(norms):
    norm = float(norms.max())
    if norm != 0.0 and not 1e-30 <= norm <= 1e30:
        raise ValueError("X has rows too long or too short; scale them, or give data_norm.")
    return norm or 1.0
