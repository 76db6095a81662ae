"""Checks that every private estimator must pass, in this package or in yours."""

import math
import pickle
import struct
import warnings
from fractions import Fraction

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import get_tags

from skdp._release.mechanisms import ExponentialChoice, RandomizedResponse
from skdp._release.plan import resolve_delta
from skdp._rows.bounds import null_records
from skdp.exceptions import PrivacyWarning
from skdp.utils._replay import assert_within_bounds, spied_releases, texts_of_warnings

__all__ = ["check_private_estimator"]

_N_ROWS, _N_FEATURES = 240, 3
# The record that changes.
_RECORD = 17
# Parameters whose automatic values are published.
_RESOLVED = ("alpha", "clipping_norm", "eta0", "proximal", "target_bounds")
# A correlation of noise above this has a probability below 1e-9 under independence.
_CORRELATION_SIGMAS = 6.5
# Categories of one record, and what pickles of them, or of arrays that have them, contain.
_RARE_NUMBER, _RARE_WORD = 0.7390851332151607, "one record's word"
_TRACES = (
    *(struct.pack(order + "d", _RARE_NUMBER) for order in "<>"),
    *(_RARE_WORD.encode(code) for code in ("utf-8", "utf-32-le", "utf-32-be")),
)


def check_private_estimator(estimator):
    """Check that an estimator has the properties of every private estimator.

    Run it beside scikit-learn's ``check_estimator``. The checks fit clones of the estimator on
    small generated data with a few settings of `epsilon`, `n_jobs` and `random_state`; other
    parameters stay as they are. Unseeded checks fail by chance with a probability below 1e-6.

    Parameters
    ----------
    estimator : estimator instance
        A private classifier, regressor or transformer: it has the parameters `epsilon` and
        `random_state` and publishes ``privacy_report_``. Where its adjacency is "replace_label",
        features may be visible.

    Raises
    ------
    AssertionError
        If a property is violated; the message says which.

    Examples
    --------
    >>> from skdp.linear_model import DPSCDClassifier
    >>> from skdp.utils.estimator_checks import check_private_estimator
    >>> check_private_estimator(DPSCDClassifier())
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        for check in _CHECKS:
            check(estimator, *_data(estimator))


def _data(estimator, n_outputs=1, n_features=_N_FEATURES):
    """Rows of norm at most 1 and labels or targets in [-1, 1] that depend on them."""
    generator = np.random.RandomState(0)
    X = generator.standard_normal((_N_ROWS, n_features))
    X /= np.linalg.norm(X, axis=1, keepdims=True).max()
    scores = X @ generator.standard_normal((n_features, max(2, n_outputs)))
    if not is_classifier(estimator):
        return X, (scores / np.abs(scores).max())[:, :n_outputs].squeeze()
    labels = scores[:, 0] > 0 if n_outputs == 1 else scores.argmax(axis=1)
    return X, labels.astype(int)


def _fit(estimator, X, y, **parameters):
    if _reads_categories(estimator) and X.dtype.kind == "f":
        # Few values, of which gaps and what is rare stay.
        X = np.where(X == _RARE_NUMBER, X, np.sign(X))
    return clone(estimator).set_params(**parameters).fit(X, y)


def _weights(fitted):
    """Return the numbers that were learnt as one array; a transformer's promises are with them."""
    if hasattr(fitted, "coef_"):
        # A linear model of one's own may have no intercept.
        return np.append(np.ravel(fitted.coef_), getattr(fitted, "intercept_", []))
    arrays = [array for value in _public_state(fitted).values() for array in _arrays(value)]
    return np.concatenate([array.ravel() for array in arrays if array.dtype.kind == "f"])


def _arrays(value):
    """Return what a published number, array, or list or tuple of them consists of."""
    parts = value if isinstance(value, list | tuple) else [value]
    return [np.asarray(part) for part in parts]


def _public_state(fitted):
    return {name: value for name, value in vars(fitted).items() if name.endswith("_")}


def _reads_categories(estimator):
    return get_tags(estimator).input_tags.categorical


def _protects_labels_only(fitted):
    return fitted.privacy_report_.adjacency == "replace_label"


def _check_report_never_exceeds_the_request(estimator, X, y):
    for epsilon in (0.1, 1.0, 7.0):
        fitted = _fit(estimator, X, y, epsilon=epsilon, random_state=0)
        report = fitted.privacy_report_
        assert report.epsilon <= epsilon, "the report's epsilon exceeds the request"
        delta = resolve_delta(fitted.delta, len(X))
        assert report.delta <= delta, "the report's delta exceeds the request"
        spent = report.epsilon_at(delta)
        assert spent <= epsilon, "the noise that was calibrated gives more than the request"
        assert report.n_steps >= 1, "nothing was released"
    report = _fit(estimator, X, y, epsilon=math.inf).privacy_report_
    assert math.isinf(report.epsilon), "the report of a fit without noise promises privacy"


def _check_releases_made_are_releases_reported(estimator, X, y):
    with spied_releases() as made:
        report = _fit(estimator, X, y, random_state=0).privacy_report_
    # Erasures are what may go wrong in releases, and none of their own.
    events = [event for event in report.events if event.noise_multiplier < math.inf]
    n_releases = sum(event.n_releases for event in events)
    # Coordinates of a pass are parts of one release; a batch may be smaller than its mechanism's.
    sizes = [(np.size(one.result), getattr(one.mechanism, "size", None)) for one in made]
    n_made = sum(Fraction(size, whole or size or 1) for size, whole in sizes)
    assert n_releases in (n_made, len(made)), (
        "the number of releases isn't the number in the report"
    )
    multipliers = {release.mechanism.noise_multiplier for release in made}
    reported = {event.noise_multiplier for event in events}
    assert multipliers == reported, "the noise that was added isn't the noise in the report"
    for mechanism in (one.mechanism for one in made):
        enough = mechanism.noise_multiplier * mechanism.contribution_bound
        assert mechanism.noise_std >= enough, "less noise than multiplier times bound was added"


def _check_seeds(estimator, X, y):
    unseeded = []
    state = np.random.get_state()
    for _ in range(2):
        np.random.seed(0)
        unseeded.append(_fit(estimator, X, y, random_state=None))
    np.random.set_state(state)
    first, second = map(_weights, unseeded)
    # Weights that two seeds have in common are public; a penalty or a bound may put some at 0.
    seeded = (_weights(_fit(estimator, X, y, random_state=seed)) for seed in (3, 4))
    noisy = np.not_equal(*seeded) & (first != 0.0)
    agree = np.isin(first[noisy], second)
    # The same place may be chosen twice.
    if not _only_chooses(estimator, X, y):
        assert agree.size, "no weight has noise"
        assert not agree.any(), "unseeded fits agree, or follow numpy's global state"
    assert not unseeded[0].privacy_report_.reproducible, "an unseeded fit says it is reproducible"
    for make_seed in (lambda: 3, lambda: np.random.RandomState(3)):
        first, second = (_fit(estimator, X, y, random_state=make_seed()) for _ in range(2))
        assert np.array_equal(_weights(first), _weights(second)), "seeded fits differ"
        assert first.privacy_report_.reproducible, "a seeded fit doesn't say it is reproducible"
    state = np.random.RandomState(3)
    first, second = (_fit(estimator, X, y, random_state=state) for _ in range(2))
    shared = np.array_equal(_weights(first), _weights(second))
    if not _only_chooses(estimator, X, y):
        assert not shared, "two fits that draw from one RandomState share their noise"


def _only_chooses(estimator, X, y):
    """Return whether all that a fit releases are choices among few."""
    with spied_releases() as made:
        _fit(estimator, X, y, random_state=0)
    return all(isinstance(one.mechanism, ExponentialChoice) for one in made)


def _check_one_row_has_bounded_influence(estimator, X, y):
    """A row far beyond the bounds counts as one on them, in whichever direction it left.

    Where rows of a learnt ball are whole and count less, that is the limit: the target of a row
    counts by the radius over the row's length, and its prediction is rounded.
    """
    fitted = _fit(estimator, X, y)
    if _protects_labels_only(fitted):
        return
    is_whole = hasattr(fitted, "radius_")
    fits = []
    for size in (1e15, 1e9, 1e3):
        X_blown = X.copy()
        X_blown[7] *= size / np.linalg.norm(X[7])
        fits.append(_weights(_fit(estimator, X_blown, y, random_state=0)))
    largest, *others = fits
    scale = np.abs(largest).max()
    near = 1e-3 if is_whole else 1e-6
    for weights in others:
        same = np.allclose(weights, largest, rtol=near, atol=near * scale)
        assert same, "a row's size shows beyond the clip"


def _check_no_attribute_grows_with_rows(estimator, X, y):
    fitted = _fit(estimator, X, y, random_state=None)
    for name, value in vars(fitted).items():
        assert _N_ROWS not in np.shape(value), f"{name} has a dimension of n_samples"
    doubled = _fit(estimator, np.vstack([X, X]), np.concatenate([y, y]), random_state=None)
    growth = len(pickle.dumps(doubled)) - len(pickle.dumps(fitted))
    assert growth < _N_ROWS, "the pickle grows with n_samples"
    assert "privacy_report_" in _public_state(fitted), "privacy_report_ is missing"


def _check_nothing_but_releases_depends_on_the_data(estimator, X, y):
    """Two unrelated data sets of one shape give the same attributes where releases are the same."""
    with spied_releases() as made, texts_of_warnings() as warned:
        fitted = _fit(estimator, X, y, random_state=0)
    # Neither sums of rows and targets nor counts of signs and classes are the same; all occur.
    is_third = np.arange(len(y)) % 3 == 0
    signs = np.where(is_third, -1.0, 1.0)[:, np.newaxis]
    rows = X if _protects_labels_only(fitted) else 0.01 * signs * np.abs(X[::-1]) ** 3
    targets = np.where(is_third, y[::-1], 0) if is_classifier(estimator) else 0.3 * y[::-1] + 0.2
    with texts_of_warnings() as again:
        _replay(estimator, fitted, made, rows, targets)
    assert warned == again, "a warning depends on the data"


def _replay(estimator, fitted, made, X, y):
    """Fit other data, with releases that were made, and check that nothing else shows."""
    with spied_releases(script=made) as again:
        replayed = _fit(estimator, X, y, random_state=0)
    assert len(made) == len(again), "the number of releases depends on the data"
    assert vars(fitted).keys() == vars(replayed).keys(), "which attributes there are does"
    # Aggregates of labels have random names.
    for name in sorted(vars(fitted).keys() - {"aggregate_"}):
        value = getattr(fitted, name)
        same = pickle.dumps(value) == pickle.dumps(getattr(replayed, name))
        assert same, f"{name} depends on the data without noise"
    assert repr(fitted) == repr(replayed), "the repr depends on the data"


def _check_a_category_of_one_record_leaves_no_trace(estimator, X, y):
    """By itself, in a copy, and in what is published of the others."""
    if not _reads_categories(estimator):
        return
    cases = [(np.sign(X), _RARE_NUMBER)]
    if get_tags(estimator).input_tags.string:
        cases.append((np.where(X > 0.0, "up", "down").astype(object), _RARE_WORD))
    for common, rare in cases:
        X = common.copy()
        X[7] = rare
        for seed in range(20):
            copied = pickle.dumps(vars(_fit(estimator, X, y, epsilon=1.0, random_state=seed)))
            shown = any(trace in copied for trace in _TRACES)
            assert not shown, "a category of one record is in the pickle"
        with spied_releases() as made:
            fitted = _fit(estimator, common, y, random_state=0)
        _replay(estimator, fitted, made, X, y)


def _check_gaps_leave_no_trace(estimator, X, y):
    """Nor do types, which the gaps of a record change."""
    if not get_tags(estimator).input_tags.allow_nan:
        return
    X = np.sign(X) if _reads_categories(estimator) else X
    for given in (X, X > 0.0):
        with spied_releases() as made:
            fitted = _fit(estimator, given, y, random_state=0)
        for other in _with_gaps(given):
            _replay(estimator, fitted, made, other, y)


def _with_gaps(X):
    """Return rows of which one has gaps alone, as floats and as objects."""
    numbers, objects = X.astype(np.float64), X.astype(object)
    numbers[7], objects[7] = np.nan, None
    return numbers, objects


def _check_same_bits_for_every_n_jobs(estimator, X, y):
    if "n_jobs" not in estimator.get_params():
        return
    fits = (_fit(estimator, X, y, random_state=0, n_jobs=n_jobs) for n_jobs in (1, 2, 4))
    copies = {pickle.dumps(_public_state(fitted)) for fitted in fits}
    assert len(copies) == 1, "the result depends on n_jobs"


def _check_noise_of_columns_is_independent(estimator, X, y):
    """Columns that are alike are told apart by nothing but noise."""
    if not hasattr(estimator, "transform"):
        return
    n_features = 7
    X = np.tile(X[:, :1], n_features)
    fits = [_public_state(_fit(estimator, X, None, random_state=seed)) for seed in (0, 1)]
    for name in fits[0]:
        for one, other in zip(*(_arrays(fit[name]) for fit in fits), strict=True):
            if one.shape == (n_features,) and one.dtype.kind == "f" and (one != other).any():
                # A bound on all columns together bounds each.
                together = np.abs(one).max() == fits[0].get("norm_bound_")
                assert np.unique(one).size > 1 or together, f"{name} has one noise for all columns"


def _check_promises_hold_of_any_row(estimator, X, y):
    """What a transformer promises of its output holds of rows that are nothing like the records."""
    if not hasattr(estimator, "transform"):
        return
    fitted = _fit(estimator, X, y, random_state=0)
    longest_promised = getattr(fitted, "norm_bound_", math.inf)
    ranges_promised = getattr(fitted, "feature_bounds_", None)
    if math.isinf(longest_promised) and (ranges_promised is None or hasattr(fitted, "norm_bound_")):
        # Nothing is promised, and there may be words.
        return
    gapped = _with_gaps(X) if get_tags(estimator).input_tags.allow_nan else ()
    for rows in (X, 1e3 * X, 1e200 * X, 1e-200 * X, *gapped):
        transformed = np.asarray(fitted.transform(rows), dtype=np.float64)
        longest = np.linalg.norm(transformed, axis=1).max()
        assert longest <= longest_promised * (1.0 + 1e-9), "a row exceeds norm_bound_"
        if ranges_promised is None:
            continue
        low, high = (np.broadcast_to(bound, transformed.shape) for bound in ranges_promised)
        margin = 1e-9 * np.maximum(np.abs(low), np.abs(high))
        assert (low - margin <= transformed).all(), "an entry is below feature_bounds_"
        assert (transformed <= high + margin).all(), "an entry is above feature_bounds_"


def _unshrunk(estimator):
    """Return a clone that leaves noise in its coefficients, where it can be looked at."""
    parameters = estimator.get_params()
    # In a ball as small as rows of zeros, an L1 penalty and bounds of coefficients leave no noise.
    may_be_zero = not parameters.keys().isdisjoint({"shrinkage", "penalty"})
    off = {"shrinkage", "ball_budget"} if may_be_zero else set()
    unshrunk = clone(estimator)
    unshrunk.set_params(**dict.fromkeys(sorted(off & parameters.keys()), 0.0))
    if parameters.get("mechanism") == "auto":
        # Labels may be flipped too rarely to tell.
        unshrunk.set_params(mechanism="analytic")
    return unshrunk


def _check_noise_of_outputs_is_independent(estimator, X, y):
    """With rows of zeros nothing but noise is left in the coefficients."""
    if not is_classifier(estimator) and not estimator.__sklearn_tags__().target_tags.multi_output:
        return
    n_features = 400
    X, y = _data(estimator, n_outputs=3, n_features=n_features)
    fitted = _fit(estimator, X, y)
    if not hasattr(fitted, "coef_") or _protects_labels_only(fitted):
        # That rows are public may be used to remove what noise of all classes has in common.
        return
    coef = _fit(_unshrunk(estimator), np.zeros_like(X), y, random_state=0).coef_
    assert coef.shape == (3, n_features), "coef_ has the wrong shape for three outputs"
    nonzero = coef[coef != 0.0]
    assert 2 * nonzero.size > coef.size, "most coefficients have no noise"
    assert np.unique(nonzero).size == nonzero.size, "noise values occur twice"
    correlations = np.corrcoef(coef)[np.triu_indices(3, 1)]
    limit = _CORRELATION_SIGMAS / math.sqrt(n_features)
    assert np.abs(correlations).max() < limit, "noise of different outputs is correlated"


def _check_spread_shrinks_with_epsilon(estimator, X, y):
    # Automatic settings may grow with epsilon; with equal ones only the noise differs.
    estimator = _unshrunk(estimator)
    resolved = _fit(estimator, X, y)
    if not (hasattr(resolved, "coef_") or hasattr(resolved, "norm_bound_")):
        # Other attributes may be of any kind, such as directions, whose signs noise turns.
        return
    # A solver that stops by itself takes another number of steps under other noise.
    stops = estimator.get_params().get("solver") == "lbfgs"
    if "max_iter" in estimator.get_params() and hasattr(resolved, "n_iter_") and not stops:
        estimator.set_params(max_iter=resolved.n_iter_)
    for name in _RESOLVED:
        if name in estimator.get_params() and hasattr(resolved, name + "_"):
            value = getattr(resolved, name + "_")
            # A parameter that isn't public is None, and any number serves.
            value = 1.0 if value is None else value
            if np.isfinite(value).all():
                estimator = clone(estimator).set_params(**{name: value})
    spreads, relative = [], []
    # Noise may hide all categories of so few rows, or how long these rows are.
    hides = _reads_categories(estimator) or hasattr(resolved, "radius_")
    least = 1.0 if hides else 0.1
    for epsilon in (least, 10.0 * least, 100.0 * least):
        fits = (_fit(estimator, X, y, epsilon=epsilon, random_state=seed) for seed in range(12))
        weights = np.array([_weights(fitted) for fitted in fits])
        spreads.append(np.std(weights, axis=0).mean())
        # Where probabilities make up for noise, weights are the smaller the more of it there is.
        relative.append(spreads[-1] / max(np.sqrt(np.mean(weights**2, axis=0)).mean(), 1e-300))
    falls = [one[0] > one[1] > one[2] > 0.0 for one in (spreads, relative)]
    assert any(falls), "the spread doesn't shrink with epsilon"


def _check_releases_move_within_their_bounds(estimator, X, y):
    """A record that leaves or changes moves a release by no more than its noise is for.

    All fits have the releases of one, so that each release is compared given the same past.
    """
    if _reads_categories(estimator):
        # The set of counts that are released follows from the records, and a threshold hides it.
        return
    with spied_releases() as made:
        report = _fit(estimator, X, y, random_state=0).privacy_report_
    accounted = list(zip(report.names, report.events, strict=True))
    each = [(name, event) for name, event in accounted for _ in range(event.n_releases)]
    is_response = any(isinstance(one.mechanism, RandomizedResponse) for one in made)
    if len(each) != len(made) or is_response:
        # Parts of releases have no bound of their own, and a coin for a label has none.
        return
    names, events = zip(*each, strict=True)
    fits = {}
    labels_only = report.adjacency == "replace_label"
    for record, (row, target) in _records(estimator, X[_RECORD], y[_RECORD]).items():
        rows, targets = X.copy(), y.copy()
        rows[_RECORD], targets[_RECORD] = X[_RECORD] if labels_only else row, target
        with spied_releases(script=made) as fits[record]:
            _fit(estimator, rows, targets, random_state=0)
    null = None
    with spied_releases(script=made) as again, null_records([_RECORD]) as asked:
        _fit(estimator, X, y, random_state=0)
    if asked.consulted and not labels_only:
        null = "a null record"
        fits[null] = again
    numbers = {len(of_fit) for of_fit in fits.values()}
    assert numbers == {len(made)}, "the number of releases depends on the data"
    assert_within_bounds(fits, events, names, null=null)


def _records(estimator, row, target):
    """Return a row and a target for each thing that a record may become, by what it is."""
    far = 1e9 * np.where(row < 0.0, -1.0, 1.0)
    first = np.eye(row.size)[0]
    targets = [target, target]
    if is_classifier(estimator):
        targets[1] = 1 - target
    elif is_regressor(estimator):
        targets = [1e9, 1e9 if get_tags(estimator).target_tags.positive_only else -1e9]
    return {
        "as generated": (row, target),
        "0": (0.0 * row, target),
        "far away": (far, targets[0]),
        "far on the other side": (-far, targets[1]),
        "far in one column": (1e9 * first, targets[1]),
        "of another target": (row, targets[1]),
    }


# In the order in which they stand here.
_CHECKS = [check for name, check in globals().items() if name.startswith("_check_")]
