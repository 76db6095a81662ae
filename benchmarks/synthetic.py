"""Adult by synthetic rows: a private table is made, and models without privacy are trained on it.

The table is that of MST by smartnoise-synth, with delta 1e-5. Numbers are in 32 bins of equal width
between public bounds, amounts after a logarithm, and the words of a column are known, as in
utility.py. Models get all columns one-hot encoded; those of trees get the codes. Beside them are
`DPLogisticRegression` on the same columns with the same guarantee, and the models without privacy.
Nothing is chosen. Accuracy, area under the ROC curve and log loss are of Adult's test rows.

"Drawn alone" are rows that are drawn independently from what MST released. By default mbi 1.1.0
rounds counts and gives values out in the order of the rows, which ties columns to each other.

    python benchmarks/synthetic.py --data FOLDER --smartnoise-python PATH
"""

import math
import os
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import _common as bench
import numpy as np
import pandas as pd
from _data import DATA_SETS, load_frame
from _race import PEERS, _environment
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from skdp.linear_model import DPLogisticRegression

DELTA, N_BINS, PYTHON = 1e-5, 32, "SMARTNOISE_PYTHON"
MEASURES = ("accuracy", "auc", "log_loss")
NOTE = (
    "Bins and words are public, and nothing was chosen. What has no privacy has an epsilon of inf."
)


@cache
def load_codes():
    """Return codes of training and test rows, labels last, and the sizes of the columns."""
    about, frame = DATA_SETS["adult"], load_frame("adult").fillna("?")
    parts = [(frame["split"] == part).to_numpy() for part in ("train", "test")]
    target = frame[about["target"]]
    features = frame.drop(columns=["split", about["target"]])
    columns, sizes = [], []
    for name, column in {**features, "label": target == about["classes"][1]}.items():
        if name in about["bounds"]:
            low, high = about["bounds"][name]
            if name in about["logs"]:
                column, low, high = np.log1p(column), math.log1p(low), math.log1p(high)
            place = (column.to_numpy() - low) / (high - low) * N_BINS
            columns.append(np.clip(place.astype(int), 0, N_BINS - 1))
            sizes.append(N_BINS)
        else:
            codes, words = pd.factorize(column, sort=True)
            columns.append(codes)
            sizes.append(len(words))
    codes = np.column_stack(columns)
    return *(codes[part] for part in parts), np.array(sizes)


def synthesize(epsilon, seed):
    """Return synthetic rows of one release, drawn by default and alone."""
    codes, _, sizes = load_codes()
    python = os.environ[PYTHON]
    with tempfile.TemporaryDirectory() as folder:
        table, rows = (str(Path(folder) / name) for name in ("table.npz", "rows.npz"))
        np.savez(table, codes=codes, sizes=sizes, epsilon=epsilon, delta=DELTA, seed=seed)
        command = [python, str(PEERS / "smartnoise_mst.py"), table, rows]
        subprocess.run(command, env=_environment(python), check=True, capture_output=True)
        with np.load(rows) as file:
            return {"MST": file["default"], "MST, drawn alone": file["independent"]}


def measure(epsilon, seed):
    """Return the three measures by way, of one seed."""
    train, test, sizes = load_codes()
    encoder = OneHotEncoder(
        categories=[range(size) for size in sizes[:-1]], sparse_output=False, dtype=np.float64
    )
    models = {"logistic regression": make_pipeline(encoder, LogisticRegression(max_iter=1000))}
    models["trees"] = HistGradientBoostingClassifier(random_state=seed)
    tables = {"no privacy": train} if math.isinf(epsilon) else synthesize(epsilon, seed)
    fits = {
        (way, name): (model, of) for way, of in tables.items() for name, model in models.items()
    }
    if not math.isinf(epsilon):
        # A row has a one in each column.
        shared = {"data_norm": math.sqrt(len(sizes) - 1), "classes": [0, 1], "random_state": seed}
        ours = DPLogisticRegression(epsilon=epsilon, delta=DELTA, **shared)
        fits["skdp", "DPLogisticRegression"] = make_pipeline(encoder, ours), train
    found = {}
    for key, (model, rows) in fits.items():
        chances = model.fit(rows[:, :-1], rows[:, -1]).predict_proba(test[:, :-1])[:, 1]
        scores = accuracy_score, roc_auc_score, log_loss
        guesses = chances > 0.5, chances, chances
        found[key] = [score(test[:, -1], told) for score, told in zip(scores, guesses, strict=True)]
    return found


def main(arguments=None):
    """Measure and write the table."""
    machine = {"smartnoise_python": os.environ.get(PYTHON, "")}
    options = bench.read_options(
        __file__, __doc__, arguments, unnamed=machine, epsilons=[1.0], seeds=list(range(5))
    )
    os.environ[PYTHON] = options.smartnoise_python
    rows = []
    for epsilon in (*options.epsilons, math.inf):
        found = bench.run_jobs(measure, [(epsilon, seed) for seed in options.seeds], options)
        for way, model in found[0]:
            row = {"table": way, "model": model, "epsilon": epsilon}
            values = np.array([one[way, model] for one in found])
            for measured, of in zip(MEASURES, values.T, strict=True):
                told = bench.summarize(of, "mean", "se")
                row |= {measured: told["mean"], f"{measured}_se": told["se"]}
            rows.append(row)
    bench.write_table(pd.DataFrame(rows).round(4), "synthetic.csv", options, note=NOTE)


if __name__ == "__main__":
    bench.run_script(__file__)
