"""What a record can do to a pipeline: move each step's releases by their sensitivity, no more.

Later steps get what earlier ones made of the record, so a replay runs through all of them: given
the releases of all steps, nothing but the next release may depend on the record.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline

from skdp.accountant import ErasureEvent
from skdp.linear_model import DPLogisticRegression, DPSGDClassifier
from skdp.pipeline import make_private_pipeline
from skdp.preprocessing import (
    BoundsScaler,
    DPNormClipper,
    DPOneHotEncoder,
    DPQuantileClipper,
    DPSimpleImputer,
    DPStandardScaler,
)
from tests.privacy._cases import Case
from tests.privacy._replay import record
from tests.privacy._spending import exact_reach

K, N = 5, 80
TWO = {"classes": [0, 1]}
NUMBERS = ["age", "debt"]
# What record K may be instead; its words are others' too, as those of nobody else are an erasure.
OTHERS = (
    {"age": 1e300, "debt": -1e300, "word": "a"},
    {"age": np.nan, "debt": np.nan, "word": "b"},
    {"age": 0.0, "debt": 3.0, "word": None},
)


def prepared():
    """Private steps of each kind, side by side and one after the other."""
    impute = DPSimpleImputer(strategy="median", feature_bounds=(0, 100), add_indicator=True)
    return make_column_transformer(
        (make_pipeline(impute, DPStandardScaler(), DPQuantileClipper()), NUMBERS),
        (DPOneHotEncoder(), ["word"]),
    )


LASTS = {
    "whitened": DPLogisticRegression(max_iter=3, **TWO),
    "poisson": DPSGDClassifier(max_iter=1, batch_size=20, **TWO),
}


def records():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.uniform(0, 60, (N, 2)), columns=NUMBERS)
    frame["word"] = rng.choice(["a", "b", None], N)
    y = (frame["age"] > 30).to_numpy().astype(int)
    frame.loc[::7, "age"] = np.nan
    return frame, y


def case(last, adjacency):
    model = make_private_pipeline(
        prepared(), BoundsScaler((-3, 3)), DPNormClipper(), last, delta=1e-3, epsilon=2.0
    )
    return Case(model.set_params(adjacency=adjacency))


def check(base, other, *, null=False):
    """Compare two runs with the releases of one script."""
    assert base.log == other.log
    assert base.published == other.published
    events = base.estimator.privacy_report_.events
    noisy = [event for event in events if type(event) is not ErasureEvent]
    made = [event for event in noisy for _ in range(event.n_releases)]
    if base.batches:
        # The last step is reported as a pair, which was fixed before it was designed.
        of_last = base.estimator[-1].privacy_report_.events
        made = made[:-1] + [event for event in of_last for _ in range(event.n_releases)]
    multipliers = [mechanism.noise_multiplier for mechanism in base.mechanisms]
    assert multipliers == [event.noise_multiplier for event in made]
    farthest = 0.0
    for mechanism, event, value, moved in zip(
        base.mechanisms, made, base.values, other.values, strict=True
    ):
        # Two records may be twice as far apart as one contributes; a bound of a pair knows that.
        factor = 1.0 if null or event.pairwise else 2.0
        assert np.linalg.norm(value - moved) <= factor * exact_reach(mechanism, value, moved)
        farthest = max(farthest, np.linalg.norm(value - moved) / mechanism.contribution_bound)
    return farthest


@pytest.mark.long
@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
@pytest.mark.parametrize("name", LASTS)
def test_a_record_moves_releases_by_their_sensitivity_alone(name, adjacency):
    X, y = records()
    tried = case(LASTS[name], adjacency)
    base = record(tried, X, y)
    # Of the null record, all steps release nothing.
    null = record(tried, X, y, script=base.released, null=K)
    found = [check(base, null, null=True)]
    for other in OTHERS:
        moved, labels = X.copy(), y.copy()
        moved.loc[K, list(other)] = list(other.values())
        labels[K] = 1 - y[K]
        run = record(tried, moved, labels, script=base.released)
        found += [check(base, run), check(run, null, null=True)]
    assert max(found) > 0.5


@pytest.mark.long
def test_what_is_published_knows_the_rows_by_releases_alone():
    """Unrelated rows with the same releases leave the same pipeline behind."""
    X, y = records()
    tried = case(LASTS["whitened"], "zero_out")
    base = record(tried, X, y, texts=True)
    order = np.random.default_rng(1).permutation(N)
    other = X.iloc[order].reset_index(drop=True)
    other[NUMBERS] = other[NUMBERS] ** 0.5
    run = record(tried, other, y[::-1].copy(), script=base.released, texts=True)
    assert run.published == base.published


def test_seeds_of_steps_differ_and_follow_from_one():
    seeds = []
    X, y = records()
    for _ in range(2):
        model = case(LASTS["whitened"], "zero_out").estimator.set_params(random_state=7)
        run = record(Case(model), X, y, random_state=7)
        seeds.append([entry for entry in run.log if entry[0] != "release"])
        noise = [
            np.ravel((out - value) / mechanism.noise_std)[:40]
            for mechanism, value, out in zip(run.mechanisms, run.values, run.released, strict=True)
        ]
        values = np.concatenate(noise).round(3)
        assert np.unique(values).size > 0.9 * values.size
    assert seeds[0] == seeds[1]
