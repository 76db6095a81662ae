"""Long tests beside the quick ones of `tests/model_selection/test_secrets.py`."""

import numpy as np
import pytest
from scipy.stats import binomtest

from skdp.accountant import TruncatedNegativeBinomial
from skdp.linear_model import DPLogisticRegression
from tests.door import (
    SCORE_PARTS,
    NoisyMaximum,
    make_stream,
    model_selection_trials_module as _trials,
)
from tests.model_selection._searches import records, search
from tests.model_selection.test_secrets import Watched


def test_joblib_sees_as_many_tasks_as_workers():
    X, y = records(60)
    for n_trials in (1, 2, 7):
        options = {"method": "repeat", "n_jobs": 2}
        assert Watched(search(**options), X, y, n_trials=n_trials).left["tasks"] == [2]


def test_the_number_of_trials_follows_its_law():
    """The share of searches with one trial is within what happens but once in 10**7 runs."""
    X, y = records(40)
    n_runs, law = 400, TruncatedNegativeBinomial.of_mean(2.0, 2.0)
    counts = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_trials, "_trial", lambda *args: counts.append(args[3]) or _dummy(args))
        for seed in range(n_runs):
            search(method="repeat", n_trials=2.0, delta=0.02, random_state=seed).fit(X, y)
    # P(K = 1), with the normalisation of the law.
    eta, rate = law.eta, law.stopping_rate
    chance = eta * rate**eta * (1.0 - rate) / (1.0 - rate**eta)
    assert binomtest(n_runs - counts.count(1), n_runs, chance).pvalue > 1e-7


def _dummy(args):
    return _trials.Outcome(0.5, args[3], 0, DPLogisticRegression(classes=[0, 1]))


def test_permute_and_flip_chooses_as_it_should():
    """Of two sums that are `scale` apart the smaller is taken with probability exp(-1) / 2."""
    stream, mechanism = make_stream(0), NoisyMaximum(3.0, SCORE_PARTS)
    for gap, chance in (
        (3, np.exp(-1.0) / 2),
        (1, np.exp(-1 / 3) / 2),
        (0, 0.5),
        (9, np.exp(-3) / 2),
    ):
        sums = SCORE_PARTS * np.array([7, 7 - gap])
        n_runs = 4000
        found = sum(mechanism.release(sums, stream) for _ in range(n_runs))
        assert binomtest(found, n_runs, chance).pvalue > 1e-7
    assert NoisyMaximum(0.0, SCORE_PARTS).release(np.array([1, 5, 5]), stream) == 1
    assert NoisyMaximum(1e-3, 1).release(np.array([0, 2**40]), stream) == 1
