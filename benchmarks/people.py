"""Error of coefficients where the guarantee is for a person who has many rows.

People are generated, the sicker with more rows: numbers of rows have a tail like a power, up to
`most`, and rows of a person are alike in half of their variance. No real table with ids of people
can be handed on with the package. The error is the length of the coefficients' difference, with the
intercept, to those of the same fit on all rows without privacy, over their length. `guarantee`:

- "groups": of a fit on all rows with ``groups=ids``;
- "one row": of a fit on one row of each person, drawn at random, which is private for a person too;
- "one row, no privacy": the same without noise, which is what leaving out rows costs by itself;
- "2 rows": of a fit on two rows of each, with an epsilon so small that two rows have the whole;
- "all rows": likewise for as many rows as anybody has.

    python benchmarks/people.py
"""

import itertools
from typing import NamedTuple

import _common as bench
import numpy as np
import pandas as pd

from skdp.accountant import calibrate, get_epsilon
from skdp.linear_model import DPLogisticRegression, DPRidge

ALPHA = 1e-5
METHODS = ("groups", "one row", "one row, no privacy", "2 rows", "all rows")


class People(NamedTuple):
    """Of a population: how many people, the power of the tail, most rows of one, and features."""

    n_people: int
    power: float
    most: int
    n_features: int


SETS = {
    "admissions": People(57_000, 1.8, 40, 30),
    "visits": People(20_000, 1.5, 40, 20),
    "small_clinic": People(2_000, 1.5, 40, 8),
    "long_illness": People(5_000, 0.8, 200, 10),
    "ten_rows_each": People(5_000, 0.01, 10, 10),
    "one_row_each": People(5_000, 1.5, 1, 10),
}


def generate(people, seed):
    """Return rows, decision values with what is each person's own, and ids."""
    generator = np.random.default_rng(seed)
    n_people, d = people.n_people, people.n_features
    sizes = (1.0 - generator.random(n_people)) ** (-1.0 / people.power)
    sizes = np.minimum(sizes, people.most).astype(int)
    ids = np.repeat(np.arange(n_people), sizes)
    own = generator.standard_normal((n_people, d))
    own[:, 0] += 0.7 * np.log(sizes)
    X = np.sqrt(0.5) * (own[ids] + generator.standard_normal((len(ids), d)))
    weights = 0.5 * generator.standard_normal(d)
    X[:, d // 2 :] = X[:, d // 2 :] > 1.0
    values = X @ weights - 1.0 + 0.5 * generator.standard_normal(n_people)[ids]
    X[:, : d // 2] = np.clip(X[:, : d // 2] / 3.0, -1.0, 1.0)
    return X, values, ids, generator


def at_most(ids, most, generator):
    """Return the places of so many rows of each person, chosen at random, and of all they have."""
    order = generator.permutation(len(ids))
    order = order[np.argsort(ids[order], kind="stable")]
    _, first, sizes = np.unique(ids[order], return_index=True, return_counts=True)
    return order[np.arange(len(ids)) - np.repeat(first, sizes) < most]


def coefficients(model):
    return np.append(model.coef_.ravel(), model.intercept_)


def error(name, task, epsilon, method, seed):
    """Return the relative error of a fit."""
    people = SETS[name]
    X, values, ids, generator = generate(people, seed)
    delta = 0.1 / people.n_people
    options = {"alpha": ALPHA, "delta": delta, "data_norm": np.sqrt(0.3 * people.n_features)}
    # All fits have the rows that the bound leaves.
    X *= np.minimum(1.0, options["data_norm"] / np.linalg.norm(X, axis=1))[:, np.newaxis]
    if task == "logistic":
        y = (generator.random(len(ids)) < 1.0 / (1.0 + np.exp(-values))).astype(int)
        model = DPLogisticRegression(classes=[0, 1], random_state=seed, **options)
    else:
        y = np.clip(0.3 * values + 0.3 * generator.standard_normal(len(ids)), -2.0, 2.0)
        model = DPRidge(target_bounds=(-2, 2), random_state=seed, **options)
    exact = {"epsilon": np.inf, "max_iter": 200 if task == "logistic" else 20, "average": False}
    best = coefficients(type(model)(**model.get_params() | exact).fit(X, y))
    most = {"2 rows": 2, "all rows": people.most}.get(method, 1)
    rows = slice(None) if method == "groups" else at_most(ids, most, generator)
    settings = {"epsilon": get_epsilon(most * calibrate(epsilon, delta), delta)}
    if method == "one row, no privacy":
        settings = exact
    groups = {"groups": ids} if method == "groups" else {}
    found = coefficients(model.set_params(**settings).fit(X[rows], y[rows], **groups))
    return np.linalg.norm(found - best) / np.linalg.norm(best)


def main(arguments=None):
    """Measure and write the table."""
    named = {"sets": list(SETS), "epsilons": (0.3, 1.0), "seeds": range(6)}
    options = bench.read_options(__file__, __doc__, arguments, **named)
    cells = list(itertools.product(options.sets, ("logistic", "ridge"), options.epsilons, METHODS))
    found = bench.run_cells(error, cells, options.seeds, options)
    table = pd.DataFrame(cells, columns=["set", "task", "epsilon", "guarantee"])
    sizes = {name: len(generate(SETS[name], 0)[2]) for name in options.sets}
    table.insert(1, "people", table["set"].map(lambda name: SETS[name].n_people))
    table.insert(2, "rows", table["set"].map(sizes))
    table.insert(3, "most", table["set"].map(lambda name: SETS[name].most))
    table["error"] = np.mean(found, axis=1)
    table["error_se"] = np.std(found, axis=1, ddof=1) / np.sqrt(len(options.seeds))
    bench.write_table(table.round(4), "people.csv", options, "People are generated.")


if __name__ == "__main__":
    bench.run_script(__file__)
