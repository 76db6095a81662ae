"""Log loss of private classifiers with and without `DPCalibratedClassifier`, for one total epsilon.

Tables of two classes are those of utility.py. "plain" is a fit with the whole budget, "calibrated"
one that has nine tenths of it, recalibrated from counts that have a tenth. Models:

- "default": `DPLogisticRegression`;
- "dpscd": `DPSCDClassifier` as it is by default, "dpscd_paper" the same with ``proximal=0``, which
  is the paper's;
- "hinge": `DPSCDClassifier` of the hinge loss, which has no probabilities of its own: plain ones
  are those that a logistic model would have at its decision values.

"without" is the log loss of scikit-learn's logistic regression without privacy. Losses are test
means over seeds, of probabilities that are cut to be 1e-4 at least; "se" is the standard error of
the difference.

    python benchmarks/calibrated.py --data FOLDER --cache FOLDER
"""

import itertools
import warnings

import _common as bench
import numpy as np
import pandas as pd
from _utility_sets import TABLES, load_table
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from skdp.calibration import DPCalibratedClassifier
from skdp.linear_model import DPLogisticRegression, DPSCDClassifier
from skdp.metrics._tuned import LEAST_PROBABILITY

NOTE = "Scaling and norms are public. Test log losses, means over seeds."
DELTA, ALPHA = 1e-5, 1e-4
SETS = (
    "breast_cancer",
    "phishing",
    "electricity",
    "credit",
    "rare",
    "hillstrom_visit",
    "bank_marketing",
    "adult",
)
MODELS = {
    "default": (DPLogisticRegression, {}),
    "dpscd": (DPSCDClassifier, {}),
    "dpscd_paper": (DPSCDClassifier, {"proximal": 0}),
    "hinge": (DPSCDClassifier, {"loss": "hinge"}),
}


def log_loss(values, y):
    """Return the log loss of decision values, and labels -1 and 1."""
    return float(-np.log(np.clip(expit(y * values), LEAST_PROBABILITY, 1.0)).mean())


def score(name, model, epsilon, seed):
    """Return the losses of a plain and of a calibrated fit."""
    table, (kind, settings) = load_table(name), MODELS[model]
    given = kind(data_norm=table.data_norm, classes=[-1.0, 1.0], **settings)
    spent = {"epsilon": epsilon, "delta": DELTA, "random_state": seed}
    with warnings.catch_warnings(action="ignore"):
        plain = given.set_params(**spent).fit(table.X_train, table.y_train)
        calibrated = DPCalibratedClassifier(given, **spent).fit(table.X_train, table.y_train)
    fitted = (plain, calibrated)
    return [log_loss(one.decision_function(table.X_test), table.y_test) for one in fitted]


def reference(name):
    """Return the loss without privacy."""
    table = load_table(name)
    model = LogisticRegression(C=1.0 / (ALPHA * len(table.y_train)), max_iter=1000)
    model.fit(table.X_train, table.y_train)
    return log_loss(model.decision_function(table.X_test), table.y_test)


def main(arguments=None):
    """Measure and write the table."""
    sets = bench.Some(TABLES, list(SETS))
    named = {"problems": sets, "models": MODELS, "epsilons": (0.1, 1.0), "seeds": range(5)}
    options = bench.read_options(__file__, __doc__, arguments, **named)
    rows = []
    for name in options.problems:
        known = reference(name)
        cells = list(itertools.product([name], options.models, options.epsilons))
        for cell, found in zip(
            cells, bench.run_cells(score, cells, options.seeds, options), strict=True
        ):
            plain, calibrated = found.mean(axis=0)
            se = bench.summarize(found[:, 1] - found[:, 0], "se")["se"]
            row = dict(zip(("problem", "model", "epsilon"), cell, strict=True))
            row |= {"plain": plain, "calibrated": calibrated, "se": se, "without": known}
            rows.append(row)
        table = pd.DataFrame(rows).round(4)
        bench.write_table(table, "calibrated.csv", options, NOTE, show=False)
    print(table.to_string(index=False))


if __name__ == "__main__":
    bench.run_script(__file__)
