"""Long tests beside the quick ones of `tests/site/test_stories.py`."""

from importlib import import_module

import pytest

from tests.site.test_stories import FOLDER, twins


@pytest.mark.parametrize(("page", "n_terms"), [("hospital", 8), ("study", 4)])
def test_figures_are_those_of_the_pages(page, n_terms, monkeypatch, capsys, twins):
    plt = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.chdir(FOLDER)
    display = getattr(import_module("figures"), page)()
    assert len(display.axes_) == n_terms
    assert f":: stories/figures.py {page}\n" in (FOLDER / f"{page}.rst").read_text("utf-8")
    plt.close("all")
