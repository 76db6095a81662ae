"""Long tests beside the quick ones of `tests/site/test_gallery.py`."""

import runpy
import sys
import warnings
from urllib.error import URLError

import pytest
import sklearn.datasets

from tests.site.test_gallery import (
    EXAMPLES,
    ON_REAL_TABLES,
    _is_empty,
    _no_figures_left,
    _with_few_repeats,
    plt,
)

FETCHERS = ("fetch_openml", "fetch_california_housing")


@pytest.fixture
def _no_network(monkeypatch):
    def fetch(*args, **kwargs):
        raise URLError("no network")

    for name in FETCHERS:
        monkeypatch.setattr(sklearn.datasets, name, fetch)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
@pytest.mark.usefixtures("_no_network")
def test_example_runs_and_draws(path, monkeypatch, tmp_path, capsys):
    source, n_constants = _with_few_repeats(path.read_text(encoding="utf-8"))
    assert n_constants == ("N_REPEATS" in source), "a constant N_REPEATS is at the top, once"
    script = tmp_path / path.name
    script.write_text(source, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(script)])
    # Agg warns that it can't show figures where there is a screen.
    shown = []
    monkeypatch.setattr(plt, "show", lambda: shown.append(plt.get_fignums()))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        runpy.run_path(str(script), run_name="__main__")
        assert shown, "an example ends by showing its figures"
        assert shown[-1], "an example makes a figure"
        for number in shown[-1]:
            figure = plt.figure(number)
            # The layout is made when a figure is drawn.
            figure.canvas.draw()
            assert not _is_empty(figure)
    assert ("a made-up twin" in capsys.readouterr().out) == (path in ON_REAL_TABLES)
