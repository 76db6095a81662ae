import importlib.util
import sys
from pathlib import Path

import matplotlib
import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def quickstart(monkeypatch):
    matplotlib.use("agg")
    path = ROOT / "examples" / "plot_quickstart.py"
    spec = importlib.util.spec_from_file_location("plot_quickstart", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.long
def test_quickstart_prints_accuracies_and_the_report(quickstart, monkeypatch, tmp_path, capsys):
    output = tmp_path / "plot.png"
    monkeypatch.setattr(
        sys, "argv", ["plot_quickstart.py", "--seeds", "2", "--output", str(output)]
    )
    quickstart.main()
    printed = capsys.readouterr().out
    for text in ("0.1", "no privacy", "Privacy report: (1, 1e-05)-DP", "Not covered", str(output)):
        assert text in printed
    assert output.stat().st_size > 10_000


def test_quickstart_bounds_are_increasing_and_not_the_datas(quickstart):
    from sklearn.datasets import load_breast_cancer

    X = load_breast_cancer().data
    low, high = quickstart.public_bounds()
    assert (low < high).all()
    assert not np.isin(high, X.max(axis=0)).any()
    assert not (low == X.min(axis=0)).all()
