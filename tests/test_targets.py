"""Labels of declared classes, and how they are looked up."""

import numpy as np
import pytest

from tests.door import encode_labels


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        (np.array([3, -1, 3, 2]), [3, 2, -1]),
        (np.array([True, False, True]), [False, True]),
        (np.array([2**63, 5], dtype=np.uint64), np.array([5, 2**63], dtype=np.uint64)),
        (np.array([0.5, -0.0, np.inf]), [0.0, 0.5, np.inf]),
        # With fewer digits than the classes were declared with.
        (np.array([0.1, 0.3], dtype=np.float32), [0.3, 0.1]),
        # Two classes that are one label in single precision.
        (np.array([1.0, 2.0], dtype=np.float32), [1.0, 1.0 + 1e-12, 2.0]),
    ],
)
def test_numbers_have_the_codes_that_labels_have_one_by_one(y, classes):
    known = np.unique(np.asarray(classes)).astype(y.dtype)
    index = {label: code for code, label in enumerate(known.tolist())}
    expected = [index[label] for label in y.tolist()]
    targets = encode_labels(y, classes)[1]
    found = (targets[:, 0] > 0.0) if targets.shape[1] == 1 else targets.argmax(axis=1)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("label", [-7.0, 0.5, 7.0, np.nan, np.inf])
def test_a_number_that_is_no_class_is_refused(label):
    with pytest.raises(ValueError, match="not among the declared classes"):
        encode_labels(np.array([0.0, label, 1.0]), [0.0, 1.0])
