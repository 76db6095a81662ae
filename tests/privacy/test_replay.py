"""Rules 3 and 7 (CONTRIBUTING.rst) for every estimator and option, by replay.

A fit on a data set is compared with fits on neighbours that get its releases. What is released next
must not move further than the declared sensitivity; the number, order, shapes and types of
releases and random draws, and every attribute, text and pickled byte must be the same. In each of
these fits the epsilon of the releases that were made, worked out apart from our accountant, is at
most what the report says.
"""

import numpy as np
import pytest
from sklearn.base import clone

from skdp.linear_model import (
    DPCDLasso,
    DPLogisticRegression,
    DPRidge,
    DPSCDClassifier,
    DPSCDRegressor,
    DPSGDClassifier,
    DPSGDRegressor,
)
from skdp.utils.discovery import all_estimators
from tests.door import BLOCK, StrOptions
from tests.privacy._cases import (
    N_ROWS,
    Case,
    first_of_a_kind,
    label_neighbours,
)
from tests.privacy._corners import TELLING, K, neighbour
from tests.privacy._recipes import (
    CASES,
    LABEL_CASES,
    OF_COLUMNS,
    OF_RECORDS,
    PLAIN,
    PURE,
    TWO,
)
from tests.privacy._replay import (
    N_CALLS,
    broken_claims,
    check_corners,
    check_null_records,
    check_unrelated_data,
    compare_all,
    n_off_grid,
    noise_p_values,
    noisy_runs,
    record,
)

ROW_BATCHES = [case for case in CASES if case.draws_rows]
POISSON = [
    case
    for case in ROW_BATCHES
    if getattr(case.estimator, "mechanism", "gaussian") == "gaussian"
    and getattr(case.estimator, "solver", "dual") == "dual"
]


@pytest.mark.every
@pytest.mark.parametrize("case", first_of_a_kind(CASES), ids=str)
def test_a_record_at_every_corner(case, all_cases):
    """Every change needs the most telling corners alone."""
    check_corners(case, None if all_cases else TELLING)


@pytest.mark.parametrize("case", CASES + LABEL_CASES, ids=str)
def test_given_the_releases_all_data_look_the_same(case):
    """Nor does any decision hang on a mean, a median or a count, which one record hardly moves.

    Displays, reports and pickled bytes are among what is published. What was released is on its
    grid (tests/privacy/test_floating_point.py).
    """
    base = check_unrelated_data(case, texts=True)
    assert n_off_grid(base) == 0
    learnt = "feature_bounds_" if hasattr(case.estimator, "transform") else "coef_"
    assert {"display", "report", "pickle", "repr", learnt} <= base.published.keys()
    assert ("release 1/" in base.published["stdout"]) == ("verbose" in case.estimator.get_params())


@pytest.mark.parametrize("case", first_of_a_kind(CASES), ids=str)
def test_a_null_record_contributes_exactly_nothing(case):
    """Whatever its features and label were: every release is that of any other null record."""
    check_null_records(case, "far", "only the label")


def duplicates(case):
    X, y = case.records()
    X[:], y[:] = X[K], y[K]
    return X, y


def rare_class(case):
    X, y = case.records()
    if case.classes is not None:
        y[:], y[K] = case.classes[0], case.classes[1]
    return X, y


def one_row(case):
    X, y = case.records()
    return X[K : K + 1], y[K : K + 1]


def single_precision(case):
    X, y = case.records()
    return X.astype(np.float32), y


@pytest.mark.parametrize("case", first_of_a_kind(POISSON), ids=str)
def test_a_record_whose_batches_may_be_empty(case):
    small = Case(clone(case.estimator).set_params(batch_size=1, delta=1e-3), case.way)
    X, y = case.records(n_rows=5)
    broken, _, base = compare_all(small, X, y, ["at the bound", "1e308"], k=3)
    assert not broken
    assert min(batch.size for batch in base.batches) == 0


@pytest.mark.parametrize(
    "model",
    [
        DPSCDClassifier(clipping_norm=1e-3, max_iter=2, **TWO),
        DPSGDClassifier(clipping_norm=1e-3, max_iter=2, **TWO),
        DPSGDClassifier(loss="hinge", clipping_norm=1e-3, **PURE).set_params(**TWO),
        DPSGDRegressor(clipping_norm=1e-3, max_iter=2, random_state=0),
        DPCDLasso(clipping_norm=1e-3, max_iter=2, smoothness="bounds", random_state=0),
    ],
    ids=str,
)
def test_the_bound_is_reached_and_counts_the_intercept(model):
    """Of a row at the bound; without the intercept's column it would be exceeded."""
    case = Case(model)
    X, y = neighbour(case, *case.records(), "at the bound")
    broken, reach, _ = compare_all(case, X, y, [])
    assert not broken
    assert 0.999 < reach <= 1.0 + 1e-9


@pytest.mark.parametrize("share", [0.1, 0.0])
@pytest.mark.parametrize("model", [DPLogisticRegression(**TWO), DPRidge(random_state=0)], ids=str)
def test_moment_and_steps_of_whitened_rows_reach_their_bounds(model, share):
    """Of a row at the bound, and but for the grid that sums are on."""
    chosen = {"clipping_norm": 1e-3, "max_iter": 2, "moment_budget": share, **PLAIN}
    case = Case(clone(model).set_params(**chosen))
    X, y = neighbour(case, *case.records(), "at the bound")
    base = record(case, X, y)
    null = record(case, X, y, script=base.released, null=K)
    assert not broken_claims(base, null, k=K, null=True)[0]
    assert len(base.values) == 2 + (share > 0.0)
    for one, other, mechanism in zip(base.values, null.values, base.mechanisms, strict=True):
        reach = np.linalg.norm(one - other) / mechanism.contribution_bound
        assert 0.999 < reach <= 1.0 + 1e-5


@pytest.mark.parametrize("share", [0.3, 0.0])
def test_pairs_of_whitened_rows_reach_theirs(share):
    """At a right angle the moments of two rows are the furthest apart, and slopes turn round."""
    options = {"adjacency": "replace_one", "fit_intercept": False, "moment_budget": share, **PLAIN}
    case = Case(DPRidge(clipping_norm=1e-3, max_iter=2, random_state=0, **options))
    X, y = case.records()
    X[K] = np.eye(4)[0]
    base = record(case, X, y)
    opposite = record(case, *neighbour(case, X, y, "only the label"), script=base.released)
    X[K] = np.eye(4)[1]
    turned = record(case, X, y, script=base.released)
    for other in (turned, opposite):
        assert not broken_claims(base, other, k=K)[0]
    if share > 0.0:
        apart = np.linalg.norm(base.values[0] - turned.values[0])
        assert apart == pytest.approx(base.mechanisms[0].contribution_bound, rel=1e-5)
        assert apart == pytest.approx(np.sqrt(2.0), rel=1e-5)
    apart = np.linalg.norm(base.values[-1] - opposite.values[-1])
    assert apart == pytest.approx(2.0 * base.mechanisms[-1].contribution_bound, rel=1e-5)


@pytest.mark.parametrize(
    ("epsilon", "of_ball", "options"),
    [
        *((epsilon, 0, PLAIN) for epsilon in (0.3, 3.0, 30.0, 3e3)),
        *((epsilon, of_ball, {}) for epsilon, of_ball in ((0.3, 2), (3.0, 2), (30.0, 7), (3e3, 7))),
    ],
)
@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
def test_what_is_automatic_follows_from_releases(adjacency, epsilon, of_ball, options):
    """Of seeds and budgets that lead to different numbers of steps, with and without a ball."""
    model = DPLogisticRegression(epsilon=epsilon, adjacency=adjacency, **options, **TWO)
    case, found = Case(model), set()
    X, y = case.records(n_rows=200)
    for seed in range(3):
        base = record(case, X, y, random_state=seed)
        for data in ((X[::-1] ** 3, y), neighbour(case, X, y, "far")):
            other = record(case, *data, script=base.released, random_state=seed)
            assert base.log == other.log
            assert base.published == other.published
        found.add(base.estimator.n_iter_)
        spent = base.estimator.privacy_report_
        assert len(base.values) == spent.n_releases == base.estimator.n_iter_ + 1 + of_ball
    assert found <= {10, 20, 40}


@pytest.mark.parametrize("batch_size", [1, 3])
def test_the_bound_of_a_pair_is_reached_by_columns_that_are_all_alike(batch_size):
    """Of one row whose target changes its sign: all updates turn round, and what they add up to."""
    model = DPSCDRegressor(solver="primal", adjacency="replace_one", fit_intercept=False)
    model.set_params(batch_size=batch_size, feature_bounds=(-0.1, 0.1), clipping_norm=1e-3)
    case = Case(model.set_params(random_state=0))
    X, y = np.full((1, 4), 0.1), np.ones(1)
    broken, reach, _ = compare_all(case, X, y, ["only the label"], k=0)
    assert not broken
    assert 0.999 < reach <= 1.0 + 1e-9


@pytest.mark.parametrize(
    "case",
    [
        c
        for c in ROW_BATCHES
        if not getattr(c.estimator, "noisy_dual", False) and c.way != "personal"
    ],
    ids=str,
)
def test_given_the_releases_nothing_tells_who_was_drawn(case):
    """Published coefficients are the same for all coins, which subsampling keeps secret.

    With personal budgets the length of a step tells whose budgets its batch has. Disjoint batches
    are no secret: nothing is amplified by them.
    """
    X, y = case.records()
    base = record(case, X, y)
    other = record(case, X, y, script=base.released, random_state=1)
    if min(batch.size for batch in base.batches) < N_ROWS // N_CALLS:
        assert not all(map(np.array_equal, base.batches, other.batches))
    for name in (
        "coef_",
        "intercept_",
        "n_iter_",
        "clipping_norm_",
        "batch_size_",
        "privacy_report_",
    ):
        assert base.published[name] == other.published[name], name


@pytest.mark.parametrize("case", LABEL_CASES, ids=str)
def test_a_label_moves_the_release_by_at_most_its_sensitivity(case):
    """Of any record: a row of zeros, the longest one and a duplicate too."""
    X, y = case.records(N_ROWS + 3)
    X[N_ROWS], X[N_ROWS + 1], X[N_ROWS + 2] = 0.0, 5.0 * np.abs(X).max(axis=0), X[0]
    base = record(case, X, y, texts=True)
    assert len(base.values) == 1
    longest = 0.0
    for k, moved in label_neighbours(case, y):
        other = record(case, X, moved, script=base.released, texts=True)
        broken, reach = broken_claims(base, other, k=k)
        assert not broken
        longest = max(longest, reach)
    # Nor is it much looser than it must be.
    assert longest >= (0.95 if len(case.classes) == 2 else 0.67)


@pytest.mark.parametrize("case", LABEL_CASES, ids=str)
def test_a_label_of_the_longest_rows_beyond_the_first_block(case):
    """Whatever is read of public rows is read of all, not of those that are gathered first."""
    X, y = case.records(BLOCK + 20)
    X[:BLOCK] *= 0.01 / np.linalg.norm(X[:BLOCK], axis=1, keepdims=True)
    base = record(case, X, y)
    for k in BLOCK + np.argsort(np.linalg.norm(X[BLOCK:], axis=1))[-2:]:
        moved = y.copy()
        moved[k] = case.other_label(y[k])
        broken, reach = broken_claims(base, record(case, X, moved, script=base.released), k=k)
        assert not broken
        assert reach > 0.0


@pytest.mark.parametrize("make", [duplicates, rare_class, one_row, single_precision])
@pytest.mark.parametrize("case", LABEL_CASES, ids=str)
def test_a_label_of_unusual_data(case, make):
    X, y = make(case)
    k = 0 if make is one_row else K
    base = record(case, X, y)
    moved = y.copy()
    moved[k] = case.other_label(y[k])
    broken, reach = broken_claims(base, record(case, X, moved, script=base.released), k=k)
    assert not broken
    assert reach > 0.0


# They follow words and kinds of columns: test_fills_and_categories.py, test_table.py, test_kinds.py
# and test_replay_additive.py have the choices that matter.
OF_CATEGORIES = ("DPOneHotEncoder", "DPSimpleImputer", "DPTableVectorizer")
OF_CATEGORIES += ("DPAdditiveClassifier", "DPAdditiveRegressor")
MODELS = [case.estimator for case in OF_RECORDS] + OF_COLUMNS


def test_every_private_estimator_has_a_recipe():
    kinds = {type(model) for model in MODELS}
    assert [name for name, kind in all_estimators("private") if kind not in kinds] == []


@pytest.mark.parametrize(
    ("name", "estimator"),
    [found for found in all_estimators("private") if found[0] not in OF_CATEGORIES],
)
def test_every_choice_has_a_case(name, estimator):
    models = [model for model in MODELS if type(model) is estimator]
    for parameter, constraints in estimator._parameter_constraints.items():
        used = {str(getattr(model, parameter)) for model in models}
        for constraint in constraints:
            if constraint == "boolean":
                assert used == {"True", "False"}, (name, parameter)
            elif isinstance(constraint, StrOptions):
                assert constraint.options <= used, (name, parameter)


@pytest.mark.parametrize("case", first_of_a_kind(CASES + LABEL_CASES), ids=str)
def test_every_entry_has_noise_of_its_own_as_large_as_stated(case):
    """Halving the noise would give a p-value below 1e-6, but for once in a million times.

    That takes 101 entries of Gaussian noise, by their squares, and 196 of the Laplace mechanism's,
    by their lengths. There are so many of each shape of release.
    """
    laplace = getattr(case.estimator, "mechanism", "gaussian") == "laplace"
    runs = noisy_runs(case, 196 if laplace else 101)
    assert min(noise_p_values(*runs)) > 1e-6
