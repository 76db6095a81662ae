"""Error of coefficients where the guarantee is for a person who has many rows.

People are generated, the sicker with more rows: numbers of rows have a tail like a power, up to
`most`, and rows of a person are alike in half of their variance. No real table with ids of people
can be handed on with the package. The error is the length of the coefficients' difference, with the
intercept, to those of scikit-learn's fit on all rows, over their length. `guarantee`:

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
from sklearn.linear_model import LogisticRegression, Ridge

from skdp.accountant import calibrate, get_epsilon
from skdp.linear_model import DPLogisticRegression, DPRidge

ALPHA = 1e-5


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
    logs = generator.standard_exponential(n_people) / people.power
    # A share of a row more, so that the most is a whole number of rows.
    sizes = np.exp(np.minimum(logs, np.log(people.most + 0.5))).astype(int)
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


def optimum(task, X, y, bias):
    """Return coefficients of the sum of all rows' losses, without privacy, the intercept's last."""
    X = np.column_stack([X, np.full(len(X), bias)])
    n_people_alpha = ALPHA * len(X)
    if task == "ridge":
        found = Ridge(alpha=n_people_alpha, fit_intercept=False).fit(X, y).coef_
    else:
        model = LogisticRegression(C=1.0 / n_people_alpha, fit_intercept=False, tol=1e-6)
        found = model.fit(X, y).coef_[0]
    return np.append(found[:-1], bias * found[-1])


def errors(name, task, epsilon, seed):
    """Return the relative error of each method."""
    people = SETS[name]
    X, values, ids, generator = generate(people, seed)
    delta, data_norm = 0.1 / people.n_people, np.sqrt(0.3 * people.n_features)
    # All fits have the rows that the bound leaves.
    X *= np.minimum(1.0, data_norm / np.linalg.norm(X, axis=1))[:, np.newaxis]
    options = {"alpha": ALPHA, "delta": delta, "data_norm": data_norm, "random_state": seed}
    if task == "logistic":
        y = (generator.random(len(ids)) < 1.0 / (1.0 + np.exp(-values))).astype(int)
        model = DPLogisticRegression(classes=[0, 1], **options)
    else:
        y = np.clip(0.3 * values + 0.3 * generator.standard_normal(len(ids)), -2.0, 2.0) / 2.0
        model = DPRidge(target_bounds=(-1, 1), **options)
    best = optimum(task, X, y, data_norm / 3.0)

    def error_of(found):
        return np.linalg.norm(found - best) / np.linalg.norm(best)

    def error_at(most, **groups):
        # So many rows of a person have the whole epsilon together.
        share = get_epsilon(most * calibrate(epsilon, delta), delta)
        rows = slice(None) if groups else at_most(ids, most, generator)
        fitted = model.set_params(epsilon=share).fit(X[rows], y[rows], **groups)
        return error_of(np.append(fitted.coef_.ravel(), fitted.intercept_))

    one = at_most(ids, 1, generator)
    return {
        "groups": error_at(1, groups=ids),
        "one row": error_at(1),
        "one row, no privacy": error_of(optimum(task, X[one], y[one], data_norm / 3.0)),
        "2 rows": error_at(2),
        "all rows": error_at(people.most),
    }


def main(arguments=None):
    """Measure and write the table."""
    named = {"sets": list(SETS), "epsilons": (1.0,), "seeds": range(6)}
    options = bench.read_options(__file__, __doc__, arguments, **named)
    cells = list(itertools.product(options.sets, ("logistic", "ridge"), options.epsilons))
    jobs = [(*cell, seed) for cell in cells for seed in options.seeds]
    found = pd.DataFrame(bench.run_jobs(errors, jobs, options))
    labels = pd.DataFrame(jobs, columns=["set", "task", "epsilon", "seed"])
    found = found.join(labels).melt([*labels], var_name="guarantee", value_name="error")
    cell = ["set", "task", "epsilon", "guarantee"]
    table = found.groupby(cell, sort=False)["error"].agg(["mean", "sem"]).reset_index()
    table = table.sort_values(cell[:3], kind="stable", ignore_index=True)
    table.columns = [*cell, "error", "error_se"]
    sizes = {name: len(generate(SETS[name], 0)[2]) for name in options.sets}
    table.insert(1, "people", table["set"].map(lambda name: SETS[name].n_people))
    table.insert(2, "rows", table["set"].map(sizes))
    table.insert(3, "most", table["set"].map(lambda name: SETS[name].most))
    bench.write_table(table.round(4), "people.csv", options, "People are generated.")


if __name__ == "__main__":
    bench.run_script(__file__)
