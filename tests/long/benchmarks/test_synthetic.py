"""The script of synthetic rows runs, with a stand-in for what makes them."""

import sys

import numpy as np

STAND_IN = {
    "__init__": "",
    "transform": """
class LabelTransformer:
    def __init__(self, nullable):
        assert not nullable

class TableTransformer:
    def __init__(self, columns):
        self.columns = columns
    def fit(self, rows):
        self.sizes = [len(set(column)) for column in zip(*rows)]
""",
    "mst/__init__": "",
    "mst/mst": """
from types import SimpleNamespace

class MSTSynthesizer:
    def __init__(self, epsilon, delta):
        assert (epsilon, delta) == (1.0, 1e-5)
    def fit(self, rows, transformer):
        assert len(transformer.columns) == len(rows[0])
        assert all(max(c) < n for c, n in zip(zip(*rows), transformer.sizes))
        self.rows, self.synthesizer = rows, SimpleNamespace(synthetic_data=self.draw)
    def draw(self, rows, method):
        # By default labels are those of other rows.
        assert method in ("round", "sample")
        labels = [row[-1] for row in self.rows]
        labels = labels[::-1] if method == "round" else labels
        return [(*row[:-1], label) for row, label in zip(self.rows, labels)]
    def sample(self, n):
        assert n == len(self.rows)
        return self.synthesizer.synthetic_data(rows=n)
""",
}


def test_models_of_synthetic_rows_are_beside_ours(run, tmp_path, monkeypatch):
    for name, text in STAND_IN.items():
        path = tmp_path / "site" / "snsynth" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    monkeypatch.setenv("SMARTNOISE_PYTHON", "")
    told = f"--smartnoise-python {sys.executable} --epsilons 1 --seeds 0 1"
    table = run("synthetic", told, "synthetic").set_index(["table", "model"])
    assert len(table) == 7
    # The stand-in gives the records themselves.
    for model in ("logistic regression", "trees"):
        alone, exact = (table.loc[way, model] for way in ("MST, drawn alone", "no privacy"))
        np.testing.assert_array_equal(alone["accuracy":], exact["accuracy":])
        assert (table.loc["MST", model]["accuracy":] != exact["accuracy":]).any()
