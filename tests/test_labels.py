"""Labels, targets and ids in lists: each entry is read by itself, whatever is beside it."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from skdp.additive import DPAdditiveClassifier
from skdp.calibration import DPCalibratedClassifier
from skdp.linear_model import (
    DPLogisticRegression,
    DPRidge,
    DPSCDClassifier,
    DPSGDClassifier,
    DPSGDRegressor,
    WALRClassifier,
    label_aggregate,
)
from skdp.metrics import private_calibration_curve, private_score
from skdp.model_selection import DPGridSearch
from skdp.pipeline import make_private_pipeline
from skdp.preprocessing import BoundsScaler
from tests.door import as_targets, encode_groups, encode_labels, read_list

SMALL, LARGE = 2**53, 2**53 + 1
X = np.random.default_rng(0).uniform(-1, 1, (400, 2))
IS_LARGE = X[:, 0] > 0
FIRST = int(np.flatnonzero(~IS_LARGE)[0])
TWO = {"classes": [SMALL, LARGE], "epsilon": 20.0, "random_state": 0}
# Ways to write one label that is 2**53: NumPy makes floats, or words, of all others beside some.
SAME = [SMALL, float(SMALL), np.float64(SMALL), np.uint64(SMALL), np.float32(SMALL)]
SAME += [Decimal(SMALL), Fraction(SMALL), np.int64(SMALL)]


def labels_with(one):
    y = [LARGE if large else SMALL for large in IS_LARGE]
    y[FIRST] = one
    return y


def in_objects(y):
    return np.array([None, *y], dtype=object)[1:]


def in_series(y):
    return pd.Series(y, dtype=object)


FORMS = [list, tuple, in_objects, in_series]
CLASSIFIERS = [
    DPLogisticRegression(**TWO),
    DPSCDClassifier(**TWO),
    DPSGDClassifier(**TWO, max_iter=1),
    DPAdditiveClassifier(**TWO),
    DPCalibratedClassifier(DPLogisticRegression(classes=TWO["classes"]), epsilon=20.0),
    make_private_pipeline(
        BoundsScaler(), DPLogisticRegression(classes=TWO["classes"]), epsilon=20.0
    ),
    DPGridSearch(
        make_pipeline(BoundsScaler(), DPLogisticRegression(classes=TWO["classes"])),
        {"dplogisticregression__alpha": [0.1, 1.0]},
        epsilon=20.0,
    ),
    WALRClassifier(**TWO),
]


@pytest.mark.long
@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
def test_the_type_of_one_label_moves_no_other_in_fits(model):
    model = model.set_params(random_state=0)
    meant = model.fit(X, np.array(labels_with(SMALL))).decision_function(X)
    for one, form in [
        *zip(SAME, [list] * len(SAME), strict=True),
        *((SAME[1], f) for f in FORMS[1:]),
    ]:
        found = model.fit(X, form(labels_with(one))).decision_function(X)
        np.testing.assert_array_equal(found, meant)
        assert model.classes_.tolist() == [SMALL, LARGE]


@pytest.mark.long
@pytest.mark.parametrize("one", SAME, ids=lambda one: type(one).__name__)
def test_the_type_of_one_label_moves_no_other_in_scores(one):
    model = DPLogisticRegression(**TWO).fit(X, np.array(labels_with(SMALL)))
    asked = {"epsilon": 5.0, "random_state": 0}
    for form in FORMS:
        for scoring in ("accuracy", "f1", "roc_auc"):
            meant, found = (
                float(private_score(model, X, y, scoring=scoring, **asked))
                for y in (np.array(labels_with(SMALL)), form(labels_with(one)))
            )
            assert found == meant
        meant, found = (
            private_calibration_curve(model, X, y, **asked).prob_true
            for y in (np.array(labels_with(SMALL)), form(labels_with(one)))
        )
        np.testing.assert_array_equal(found, meant)


def test_aggregates_of_labels_in_lists():
    asked = {"classes": [SMALL, LARGE], "data_norm": 2.0, "epsilon": np.inf, "random_state": 0}
    meant = label_aggregate(X, np.array(labels_with(SMALL)), **asked).sums
    for one in SAME:
        np.testing.assert_array_equal(label_aggregate(X, labels_with(one), **asked).sums, meant)


@pytest.mark.parametrize(
    ("y", "classes", "meant"),
    [
        ([True, 0, 1.0, np.True_], [False, True], [1, 0, 1, 1]),
        (["1", "2", "1"], ["1", "2"], [0, 1, 0]),
        (["a", "b\0", "a\0"], ["a", "b"], None),
        ([1, "1"], [0, 1], None),
        (["1", 1], ["0", "1"], None),
        (["True", True], ["False", "True"], None),
        ([LARGE, 0.0], [0, SMALL], None),
        ([float(SMALL), LARGE, -1], [-1, SMALL, LARGE], [1, 2, 0]),
        # An entry of fewer digits is the class that these hold.
        ([np.float32(0.1), 0.3, np.float32(0.3)], [0.1, 0.3], [0, 1, 1]),
        ([b"a", "a"], ["a", "b"], None),
        ([None, 1], [0, 1], None),
        ([[1], [0.0]], [0, 1], [1, 0]),
    ],
)
def test_each_label_is_looked_up_by_itself(y, classes, meant):
    """And refused if it is none of the classes, though NumPy's type for all would make it one."""
    entries = np.asarray(read_list(y)).ravel()
    if meant is None:
        with pytest.raises(ValueError, match="not among the declared classes"):
            encode_labels(entries, classes)
        return
    targets = encode_labels(entries, classes)[1]
    found = (targets[:, 0] > 0.0) if targets.shape[1] == 1 else targets.argmax(axis=1)
    np.testing.assert_array_equal(found, meant)


@pytest.mark.parametrize(
    "y", [[0, 1, 1.0], [False, True, 1], ["a", "b", 1], [2**63, -1, 0], [0, 1, Decimal(1)]]
)
def test_labels_of_several_types_are_refused_where_classes_are_read(y):
    """They would be the classes of one type, which one label chooses."""
    with pytest.raises((TypeError, ValueError), match="kinds") as caught:
        DPLogisticRegression().fit(X[:300], y * 100)
    assert str(2**63) not in str(caught.value)


@pytest.mark.parametrize(
    ("y", "dtype"),
    [
        ([1, 2], "i"),
        ([1, np.int8(2)], "i"),
        ([True, np.False_], "b"),
        ([0.5, np.float64(1.0)], "f"),
        (["a", np.str_("bc")], "U"),
        ([np.datetime64("2020-01-01"), np.datetime64("2021-01-01")], "M"),
        ([np.datetime64("2020-01-01"), np.datetime64("2021-01-01", "ns")], "O"),
        ([1, 2.0], "O"),
        ([True, 1], "O"),
        (["a", 1], "O"),
        (["a", "a\0"], "O"),
        ([2**63, -1], "O"),
        ([2**70, 1], "O"),
        ([0.5, np.float32(0.1)], "O"),
    ],
)
def test_a_list_becomes_one_type_only_where_that_keeps_all_entries(y, dtype):
    assert read_list(y).dtype.kind == dtype
    assert read_list(y).shape == (2,)
    same = np.array(y)
    assert read_list(same) is same


@pytest.mark.parametrize(
    "classes",
    [[SMALL, LARGE, 0.5], [2**63 + 1, 2**63, -1], ["a", "a\0"]],
)
def test_classes_that_no_type_keeps_apart_are_refused(classes):
    with pytest.raises(ValueError, match="declare labels of one type"):
        encode_labels(np.array([0, 1]), classes)


@pytest.mark.parametrize("kind", [DPRidge, DPSGDRegressor])
def test_targets_in_lists_are_what_they_are_alone(kind):
    model = kind(target_bounds=(-1, 1), epsilon=20.0, random_state=0)
    y = np.round(X[:, 0], 3)
    meant = model.fit(X, y).coef_
    for one in (y[0], np.longdouble(y[0]), Decimal(float(y[0])), Fraction(float(y[0]))):
        np.testing.assert_array_equal(model.fit(X, [one, *y[1:].tolist()]).coef_, meant)
    large = [2**63, -1, 0.1, "0.1", True, np.float32(0.1)]
    alone = [as_targets(np.asarray(read_list([one])))[0, 0] for one in large]
    np.testing.assert_array_equal(as_targets(read_list(large))[:, 0], alone)


def test_ids_in_lists_are_equal_as_they_are_alone():
    """Python's equality: it doesn't follow what else is in the list."""
    pairs = [(1, 1.0, True), (1, "1", False), (SMALL, float(SMALL), True)]
    pairs += [(LARGE, float(SMALL), False), (np.int64(LARGE), float(SMALL), False)]
    pairs += [(True, 1, True), ("a", "a\0", False), ((1, "a"), (1.0, "a"), True)]
    for one, other, are_equal in pairs:
        for beside in ([], [0.5], ["word"], [7], [("a", "b")], [2**70]):
            codes, n_groups = encode_groups([one, other, *beside], 2 + len(beside))
            assert (codes[0] == codes[1]) is np.bool_(are_equal)
            assert n_groups == 2 - are_equal + len(beside)


def test_ids_on_dask_are_refused_if_they_are_of_several_types():
    groups = pytest.importorskip("skdp.dask._groups")
    for beside in (1.0, "1", True):
        with pytest.raises(TypeError, match="of one type"):
            groups.read_groups(np.array([2, 3, beside], dtype=object), 3, b"key")
