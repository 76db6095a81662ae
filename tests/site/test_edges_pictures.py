"""What the page of sharp edges says of scikit-learn's pictures of models and records."""

import numpy as np
import pytest
from scipy.stats.mstats import mquantiles
from sklearn.calibration import CalibrationDisplay
from sklearn.inspection import (
    DecisionBoundaryDisplay,
    PartialDependenceDisplay,
    partial_dependence,
)
from sklearn.metrics import (
    ConfusionMatrixDisplay,
    DetCurveDisplay,
    PrecisionRecallDisplay,
    PredictionErrorDisplay,
    RocCurveDisplay,
    confusion_matrix,
)
from sklearn.model_selection import KFold, LearningCurveDisplay, ValidationCurveDisplay

from skdp.metrics import private_calibration_curve, private_confusion_matrix, private_roc_curve
from tests.site._edges import (
    FITS,
    N_ROWS,
    assert_counts,
    assert_shares,
    covers,
    kept_reports,
    make_classifier,
    make_records,
    make_regressor,
)

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture
def data():
    return make_records()


@pytest.fixture
def fitted(data):
    model = make_classifier().fit(*data)
    FITS.clear()
    return model


@pytest.mark.long
@covers("LearningCurveDisplay", "ValidationCurveDisplay")
def test_displays_that_fit(data):
    for display, options in (
        (LearningCurveDisplay, {"train_sizes": [0.5, 1.0]}),
        (ValidationCurveDisplay, {"param_name": "alpha", "param_range": [1e-3, 1e-2]}),
    ):
        FITS.clear()
        found = display.from_estimator(make_classifier(), *data, cv=KFold(3), **options)
        assert len(FITS) == 6
        assert kept_reports(found.test_scores) == []
        assert_counts(found.test_scores, of=40)


@covers("partial_dependence", "PartialDependenceDisplay")
def test_partial_dependence_is_a_mean_over_records(data, fitted):
    X, _ = data
    told = {"grid_resolution": 5, "kind": "both", "response_method": "predict_proba"}
    found = partial_dependence(fitted, X, [0], **told)
    (grid,) = found["grid_values"]
    np.testing.assert_allclose(grid[[0, -1]], mquantiles(X[:, 0], [0.05, 0.95]))
    for i, value in enumerate(grid):
        rows = np.column_stack([np.full(N_ROWS, value), X[:, 1:]])
        lines = fitted.predict_proba(rows)[:, 1]
        np.testing.assert_allclose(found["individual"][0, :, i], lines)
        assert found["average"][0, i] == pytest.approx(lines.mean())
    display = PartialDependenceDisplay.from_estimator(fitted, X, [0], grid_resolution=5)
    np.testing.assert_allclose(display.deciles[0], mquantiles(X[:, 0], np.arange(0.1, 1.0, 0.1)))
    assert not FITS


@covers("DecisionBoundaryDisplay")
def test_a_boundary_is_drawn_between_extremes(data):
    X, y = data[0][:, :2], data[1]
    model = make_classifier().fit(X, y)
    FITS.clear()
    first, second = (
        DecisionBoundaryDisplay.from_estimator(
            model, rows, grid_resolution=5, response_method="predict"
        )
        for rows in (X, np.array([X.min(axis=0), X.max(axis=0)]))
    )
    # By default it goes on by 1.
    found = [first.xx0.min() + 1, first.xx1.min() + 1, first.xx0.max() - 1, first.xx1.max() - 1]
    np.testing.assert_allclose(found, [*X.min(axis=0), *X.max(axis=0)])
    np.testing.assert_array_equal(first.response, second.response)
    assert not FITS


@pytest.mark.long
@covers("ConfusionMatrixDisplay", "RocCurveDisplay", "PrecisionRecallDisplay")
@covers("DetCurveDisplay", "CalibrationDisplay")
def test_displays_count_records(data, fitted):
    X, y = data
    matrix = ConfusionMatrixDisplay.from_estimator(fitted, X, y)
    np.testing.assert_array_equal(matrix.confusion_matrix, confusion_matrix(y, fitted.predict(X)))
    ends = {"drop_intermediate": False}
    roc = RocCurveDisplay.from_estimator(fitted, X, y, **ends)
    assert_counts(roc.tpr, of=y.sum())
    assert_counts(roc.fpr, of=N_ROWS - y.sum())
    # A record a step.
    assert len(roc.tpr) == N_ROWS + 1
    det = DetCurveDisplay.from_estimator(fitted, X, y)
    assert_counts(det.fnr, of=y.sum())
    curve = PrecisionRecallDisplay.from_estimator(fitted, X, y)
    assert_counts(curve.recall, of=y.sum())
    assert_shares(curve.precision)
    calibration = CalibrationDisplay.from_estimator(fitted, X, y)
    assert_shares(calibration.prob_true)
    assert not FITS
    for private, display in (
        (private_confusion_matrix, ConfusionMatrixDisplay),
        (private_roc_curve, RocCurveDisplay),
        (private_calibration_curve, CalibrationDisplay),
    ):
        assert type(private(fitted, X, y, epsilon=1.0).display()) is display


@covers("PredictionErrorDisplay")
def test_a_point_for_each_record(data):
    X, y = data
    model = make_regressor().fit(X, y)
    FITS.clear()
    display = PredictionErrorDisplay.from_estimator(model, X, y)
    np.testing.assert_array_equal(display.y_true, y)
    np.testing.assert_array_equal(display.y_pred, model.predict(X))
    many = PredictionErrorDisplay.from_predictions(np.tile(y, 10), np.tile(y, 10))
    assert len(many.y_true) == 1000
    assert not FITS
