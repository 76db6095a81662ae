"""MAPIE: an interval's width is the exact error of one record, and each error is kept."""

import numpy as np
import pytest

from tests.site._edges import FITS, N_ROWS, covers, kept, make_records, make_regressor, sizes

pytest.importorskip("mapie")
from mapie.regression import CrossConformalRegressor, SplitConformalRegressor

HALF = N_ROWS // 2


@covers("SplitConformalRegressor")
def test_a_width_is_the_error_of_a_record():
    X, y = make_records()
    model = make_regressor(random_state=0).fit(X[:HALF], y[:HALF])
    intervals = SplitConformalRegressor(model, confidence_level=0.9, prefit=True)
    intervals.conformalize(X[HALF:], y[HALF:])
    assert sizes() == [HALF]
    _, ends = intervals.predict_interval(np.zeros((1, 4)))
    half_width = (ends[0, 1, 0] - ends[0, 0, 0]) / 2
    errors = np.abs(y[HALF:] - model.predict(X[HALF:]))
    assert np.isclose(half_width, errors, rtol=0, atol=1e-12).any()
    found = vars(vars(intervals)["_mapie_regressor"])["conformity_scores_"]
    np.testing.assert_allclose(np.sort(found), np.sort(errors))


@covers("CrossConformalRegressor")
def test_folds_are_fits_whose_reports_are_lost():
    X, y = make_records()
    intervals = CrossConformalRegressor(make_regressor(), confidence_level=0.9, cv=3)
    intervals.fit_conformalize(X, y)
    assert sorted(sizes()) == [80, 80, 80, N_ROWS]
    # They are in private attributes alone.
    assert len(kept(intervals)) == len(FITS)
    assert not hasattr(intervals, "privacy_report_")
