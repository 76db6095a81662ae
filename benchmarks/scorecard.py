"""The area under the ROC curve that whole points lose to a model's decision values.

`DPAdditiveClassifier` gets the raw tables of additive.py. Of each seed a random quarter of the rows
is held out, and ranked by the model and by its scorecard of 20 points to double the odds. "lost" is
the mean over seeds of the difference of the areas, "se" its standard error, "bins" how many bins
all columns have together.

    python benchmarks/scorecard.py --data FOLDER
"""

import itertools

import _common as bench
import pandas as pd
from additive import DELTA, TABLES, load_table
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from skdp.additive import DPAdditiveClassifier

NOTE = "Raw tables; classes are public. Areas on rows held out, means over seeds."
SETS = ("adult", "bank_marketing", "hillstrom_visit")


def score(name, epsilon, seed):
    """Return the areas of decision values and of points, and the number of bins."""
    X, y = load_table(name)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, random_state=seed)
    model = DPAdditiveClassifier(
        classes=[0, 1], interactions=None, epsilon=epsilon, delta=DELTA, random_state=seed
    ).fit(X, y)
    card = model.to_points()
    by_model = roc_auc_score(y_test, model.decision_function(X_test))
    by_points = roc_auc_score(y_test, -card.points(X_test))
    return by_model, by_points, sum(len(term.labels) for term in card.terms)


def main(arguments=None):
    """Measure and write the table."""
    sets = bench.Some(TABLES, list(SETS))
    named = {"sets": sets, "epsilons": (1.0, 4.0), "seeds": range(5)}
    options = bench.read_options(__file__, __doc__, arguments, **named)
    cells = list(itertools.product(options.sets, options.epsilons))
    rows = []
    found = bench.run_cells(score, cells, options.seeds, options)
    for (name, epsilon), scores in zip(cells, found, strict=True):
        model, points, bins = scores.mean(axis=0)
        row = {"data": name, "epsilon": epsilon, "model": model, "points": points}
        row |= {"lost": model - points}
        row |= bench.summarize(scores[:, 0] - scores[:, 1], "se")
        rows.append({key: row[key] for key in ("data", "epsilon", "model", "points", "lost", "se")})
        rows[-1]["bins"] = round(bins)
    bench.write_table(pd.DataFrame(rows).round(4), "scorecard.csv", options, NOTE)


if __name__ == "__main__":
    bench.run_script(__file__)
