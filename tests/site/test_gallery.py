"""Each example of the gallery runs with few repeats, warns of nothing and draws something."""

import ast
import re
import runpy
import sys
import warnings
from pathlib import Path

import pytest

plt = pytest.importorskip("matplotlib.pyplot")

FOLDER = Path(__file__).parents[2] / "examples"
# The quick start has options instead of N_REPEATS, and tests of its own in test_examples.py.
EXAMPLES = sorted(path for path in FOLDER.glob("plot_*.py") if path.stem != "plot_quickstart")


def _with_few_repeats(source):
    """Return the source of an example with two repeats instead of many."""
    return re.subn(r"^N_REPEATS = \d+$", "N_REPEATS = 2", source, flags=re.MULTILINE)


def _is_empty(figure):
    """Tell whether a figure has nothing in it but empty axes."""
    return not any(axes.has_data() for axes in figure.axes)


@pytest.fixture(autouse=True)
def _no_figures_left():
    plt.close("all")
    yield
    plt.close("all")


def test_there_are_examples():
    assert EXAMPLES


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_and_draws(path, monkeypatch, tmp_path):
    source, n_constants = _with_few_repeats(path.read_text(encoding="utf-8"))
    assert n_constants == 1, "an example has one constant N_REPEATS, at the top"
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


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_has_a_title_and_cells(path):
    """sphinx-gallery needs both, and fails late where they are missing."""
    source = path.read_text(encoding="utf-8")
    title, *rest = ast.get_docstring(ast.parse(source)).splitlines()
    assert rest[:2] == ["=" * len(title), ""]
    assert len(re.findall(r"^# %%$", source, flags=re.MULTILINE)) >= 2


def test_an_empty_figure_is_noticed():
    figure, axes = plt.subplots()
    assert _is_empty(figure)
    axes.plot([0, 1], [0, 1])
    assert not _is_empty(figure)


def test_repeats_are_replaced_once():
    assert _with_few_repeats("a = 1\nN_REPEATS = 20\n") == ("a = 1\nN_REPEATS = 2\n", 1)
    assert _with_few_repeats("n_repeats = 20\n")[1] == 0
