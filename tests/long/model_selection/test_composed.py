"""Long tests beside the quick ones of `tests/model_selection/test_composed.py`."""

import pytest

from skdp.model_selection import DPGridSearch
from tests.model_selection.test_composed import CANDIDATES, table


@pytest.mark.parametrize("method", ["repeat", "compose"])
@pytest.mark.parametrize("name", CANDIDATES)
def test_raw_tables_go_through_a_search(name, method):
    X, y = table(2000)
    estimator, grid = CANDIDATES[name]
    search = DPGridSearch(estimator, grid, epsilon=4.0, method=method, random_state=0)
    report = search.fit(X, y).privacy_report_
    assert (report.epsilon, report.unit) == (4.0, "one row")
    assert 0.9 * 4.0 <= report.epsilon_at(report.delta) <= 4.0 * (1.0 + 1e-9)
    assert search.score(X, y) > 0.6
    assert list(search.feature_names_in_) == ["age", "job"]
    assert name == "listed" or search.best_estimator_.privacy_report_ is report
    by_type = [line for line in report.assumed_public if "types of" in line or "type of" in line]
    assert bool(by_type) == (name != "listed")
