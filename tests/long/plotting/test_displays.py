"""Long tests beside the quick ones of `tests/plotting/test_displays.py`."""

import subprocess
import sys

import numpy as np
import pytest

from skdp.plotting import PrivacyDisplay

pytest.importorskip("matplotlib", reason="displays draw with matplotlib, the extra [plot]")
from tests.plotting.test_displays import INFINITE, REPORTS, closed_figures, legend_texts, report_of


@pytest.mark.parametrize("module", ["skdp", "skdp.plotting"])
def test_matplotlib_is_imported_when_something_is_drawn(module):
    code = f"import sys, {module}; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("group_size", [1, 3])
@pytest.mark.parametrize("kind", REPORTS)
def test_profile_is_what_the_report_says(kind, group_size):
    report = report_of(kind)
    display = PrivacyDisplay.from_report(report, kind="profile", group_size=group_size)
    assert len(display.x) == len(display.y) >= 2
    assert np.all(np.diff(display.x) <= 0)
    assert np.all(np.diff(display.y) >= 0)
    assert np.isfinite(display.x).all()
    assert (display.x == 0.0).sum() <= 1
    if report.epsilon == INFINITE:
        assert (display.y == 1.0).all()
        assert display.point is display.point_ is None
        return
    for epsilon, delta in zip(display.x[::9], display.y[::9], strict=True):
        assert epsilon == report.epsilon_at(delta, group_size=group_size)
    if group_size == 1:
        assert display.point == (report.epsilon, report.delta)
    else:
        assert display.point[0] > report.epsilon
        assert "groups of 3" in legend_texts(display)[1]
    assert display.point_.get_marker() == ("o" if report.delta > 0 else "v")
    display.figure_.canvas.draw()
